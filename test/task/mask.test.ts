import { describe, expect, it } from "vitest";
import { isSecret, isSecretName, maskSecrets } from "../../src/task/mask.js";

describe("secrets by their form", () => {
  // Put together here, so that no scanner takes the test's own words for secrets.
  const a = (length: number): string => "aB3".repeat(length).slice(0, length);
  const cases: [string, string, string][] = [
    ["an API key", `use sk-${a(24)} now`, "use [masked] now"],
    ["an API key with a project", `sk-proj-${a(30)}_x-y`, "[masked]"],
    ["a GitHub token", `ghp_${a(36)}`, "[masked]"],
    ["a GitHub server token", `x gho_${a(36)}, y`, "x [masked], y"],
    ["a fine-grained GitHub token", `github_pat_${a(40)}_${a(10)}`, "[masked]"],
    ["a GitLab token", `glpat-${a(20)}`, "[masked]"],
    ["an npm token", `npm_${a(36)}`, "[masked]"],
    ["a Slack token", `xoxb-${a(20)}-${a(10)}`, "[masked]"],
    ["an AWS key id", `AKIA${"A1".repeat(8)}`, "[masked]"],
    ["a Google key", `AIza${a(35)}`, "[masked]"],
    ["a JSON web token", `eyJ${a(20)}.eyJ${a(20)}.${a(20)}`, "[masked]"],
    ["a bearer header", `Authorization: Bearer ${a(24)}==`, "Authorization: Bearer [masked]"],
    [
      "a password in a URL",
      "git clone https://me:hunter2@example.org/x",
      "git clone https://me:[masked]@example.org/x",
    ],
    [
      "a token in a URL",
      `https://x-access-token:${a(20)}@github.com/o/r`,
      "https://x-access-token:[masked]@github.com/o/r",
    ],
    ["a password without a user in a URL", "redis://:hunter2@example.org/0", "redis://:[masked]@example.org/0"],
    ["an assignment", "API_KEY=abcd1234efgh", "API_KEY=[masked]"],
    ["an assignment in quotes", `export MY_SECRET="abcd1234 efgh"`, `export MY_SECRET="[masked] efgh"`],
    ["a line of YAML", "  password: correct-horse", "  password: [masked]"],
    ["a field of JSON", '{"apiKey": "abcd1234efgh", "n": 1}', '{"apiKey": "[masked]", "n": 1}'],
    ["a field of JSON without blanks", '{"access_token":"abcd1234efgh"}', '{"access_token":"[masked]"}'],
    [
      "a private key",
      `before\n-----BEGIN RSA PRIVATE KEY-----\n${a(64)}\n${a(64)}\n-----END RSA PRIVATE KEY-----\nafter`,
      "before\n[masked private key]\nafter",
    ],
    ["a private key that was cut off", `-----BEGIN PRIVATE KEY-----\n${a(64)}`, "[masked private key]"],
    ["several at once", `sk-${a(20)} ghp_${a(36)} sk-${a(20)}`, "[masked] [masked] [masked]"],
  ];
  it.each(cases)("%s", (_what, text, masked) => expect(maskSecrets(text)).toBe(masked));

  it.each([
    "The plan is valid; the task-runner asks a risk-averse reviewer-of-everything-there-is.",
    "commit 5879dfc0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    `sha256 ${"0123456789abcdef".repeat(4)}`,
    "see http://localhost:3000/path and mail me@example.org",
    "https://github.com/owner/repo.git",
    "git@github.com:owner/repo.git",
    "password: short",
    "the token is kept in state.json",
    "author: Ada Lovelace",
    "tokens: 42",
    "src/auth/secret-santa.ts:10:5",
    "-----BEGIN CERTIFICATE-----",
    "C:\\Users\\me\\project",
  ])("leaves alone: %s", (text) => expect(maskSecrets(text)).toBe(text));
});

describe("secrets of the environment", () => {
  const env = {
    OPENAI_API_KEY: "plain-looking words",
    DB_PASSWORD: 'p"a\\s$&s$1w',
    SESSION_SECRET: "plain-looking words and more",
    GH_TOKEN: "short",
    UNSET_TOKEN: undefined,
    EMPTY_TOKEN: "",
    HOME: "/home/ada-lovelace",
    GIT_AUTHOR_NAME: "Ada Lovelace",
    GIT_AUTHOR_EMAIL: "ada@example.org",
  };

  it.each([
    ["wherever they stand", "say plain-looking words!", "say [masked]!"],
    ["every time", "plain-looking words,plain-looking words", "[masked],[masked]"],
    ["whole, where one begins like another", "plain-looking words and more", "[masked]"],
    ["with characters that mean something elsewhere", 'x p"a\\s$&s$1w y', "x [masked] y"],
    ["unless they are too short to be told from a word", "a short text", "a short text"],
    [
      "and no others",
      "/home/ada-lovelace by Ada Lovelace <ada@example.org>",
      "/home/ada-lovelace by Ada Lovelace <ada@example.org>",
    ],
  ])("%s", (_what, text, masked) => expect(maskSecrets(text, env)).toBe(masked));

  it.each([
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "PGPASSWORD",
    "npm_config_//r/:_authToken",
    "DOCKER_AUTH_CONFIG",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "DB_PASS",
    "DBPASS",
    "DB_PASS_RO",
    "MYSQL_PWD",
    "GITHUB_PAT",
    "DOCKER_PAT",
    "MY_PASSPHRASE",
    "PRIVATE_PEM",
    "SESSION_COOKIE",
    "OP_SESSION_x",
    "SLACK_WEBHOOK_URL",
    "SENTRY_DSN",
    "github_pat",
  ])("%s is one", (name) => expect(isSecretName(name)).toBe(true));
  it.each([
    "PATH",
    "HOME",
    "LANG",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "NODE_OPTIONS",
    "CI",
    "PWD",
    "OLDPWD",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "SESSION_MANAGER",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
    "XDG_SESSION_COOKIE",
    "XDG_SESSION_CLASS",
    "XAUTHORITY",
    "KEYBOARD",
    "KEYMAP",
    "TOKENIZERS_PARALLELISM",
    "COMPASS",
    "BYPASS_CACHE",
    "PATTERN",
    "PASSENGER_ROOT",
  ])("%s is none", (name) => expect(isSecretName(name)).toBe(false));

  it.each([
    ["DATABASE_URL", "postgres://u:pw@h/db", true],
    ["REDIS_URL", "redis://:hunter22@h:6379/0", true],
    ["https_proxy", "http://me:pw@proxy:3128", true],
    ["JDBC", "jdbc:postgresql://u:p%40w@h/db", true],
    ["DATABASE_URL", "postgres://u@h:5432/db", false],
    ["HOMEPAGE", "http://localhost:3000/@me", false],
    ["REMOTE", "git@github.com:owner/repo.git", false],
    ["DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus", false],
    ["DB_PASS", "pw", true],
  ])("%s=%s is a secret: %s", (name, value, expected) => expect(isSecret(name, value)).toBe(expected));

  it("an address with a password is masked whole where it is that of a variable", () => {
    const address = "postgres://ada:pw@db.example.org/main";
    expect(maskSecrets(`cannot reach ${address}!`, { DATABASE_URL: address })).toBe("cannot reach [masked]!");
  });
});
