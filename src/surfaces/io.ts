/** How a surface talks to the world; a test, a REPL and a process give their own. */
export interface Io {
  cwd: string;
  env: Record<string, string | undefined>;
  user: string;
  /** Results. */
  out(text: string): void;
  /** Logs and errors. */
  err(text: string): void;
  /** What long work says as it goes on; what nobody reads in time is left out, and not kept. */
  live(text: string): void;
  /** May colours and live output be used on `out` / `err`? */
  outIsTerminal: boolean;
  errIsTerminal: boolean;
  inIsTerminal: boolean;
  /** How wide the terminal is now. */
  columns: () => number;
  now: () => Date;
  /** Runs long work so that Ctrl-C interrupts it, and it alone. */
  interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** The streams themselves, for whoever reads lines or keys. Asked for late: opening standard input costs every start. */
  streams(): { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream };
  /** Told when a command has gone to its task's transcript: a REPL records those that did not. */
  recorded?(): void;
}
