/** The package is installed under its usual name, and its types know it by the other one only. */
declare module "node-pty" {
  export * from "@lydell/node-pty";
}
