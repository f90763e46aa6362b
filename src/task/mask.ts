/** Secrets do not belong into records: known forms, and the values of environment variables that are secret. */

/**
 * What a name says. Each exception is a name that people have and that is no secret: an author (GIT_AUTHOR_NAME), a keyboard,
 * a tokenizer's settings, the path of a socket, the program that asks for a password, the directory one is in.
 */
const SECRET_NAME = new RegExp(
  [
    "KEY(?!BOARD|MAP)",
    "TOKEN(?!IZ)",
    "SECRET",
    "CREDENTIAL",
    "AUTH(?!OR)",
    "PASSWORD|PASSWD|PASSPHRASE",
    "(?<!BY|COM|ASK)PASS(_|$)",
    "(?<=.)(?<!OLD)_PWD(_|$)",
    "(^|_)(PAT|PEM|DSN)(_|$)",
    "(?<!^XDG_SESSION_)COOKIE",
    "^OP_SESSION_",
    "WEBHOOK",
  ].join("|"),
  "i",
);
const PASSWORD_IN_URL = /:\/\/[^\s:/@]*:[^\s@/]+@/;
const PATTERNS: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, "[masked private key]"],
  [/\b(sk|rk|pk)-[A-Za-z0-9_-]{16,}/g, "[masked]"],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, "[masked]"],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, "[masked]"],
  [/\bglpat-[A-Za-z0-9_-]{16,}/g, "[masked]"],
  [/\bnpm_[A-Za-z0-9]{30,}/g, "[masked]"],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, "[masked]"],
  [/\bAKIA[0-9A-Z]{16}\b/g, "[masked]"],
  [/\bAIza[0-9A-Za-z_-]{30,}/g, "[masked]"],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+/g, "[masked]"],
  [/(\bBearer\s+)[A-Za-z0-9._~+/-]{16,}=*/gi, "$1[masked]"],
  [/(:\/\/[^\s:/@]*:)[^\s@/]+(@)/g, "$1[masked]$2"],
  [
    /\b([A-Za-z0-9_]*(?:api[_-]?key|secret|token|password|passwd)[A-Za-z0-9_]*["']?\s*[=:]\s*["']?)(?!\[masked)[^\s"',;]{8,}/gi,
    "$1[masked]",
  ],
];

export function maskSecrets(text: string, environment: Record<string, string | undefined> = {}): string {
  let masked = text;
  for (const value of secretValues(environment)) masked = masked.replaceAll(value, "[masked]");
  for (const [pattern, replacement] of PATTERNS) masked = masked.replace(pattern, replacement);
  return masked;
}

/**
 * The same value with every text in it masked. Text by text: once it is written as JSON, a secret may be escaped, and its mask
 * might not end where the text does.
 */
export function maskTexts<T>(value: T, environment: Record<string, string | undefined> = {}): T {
  const mask = (part: unknown): unknown => {
    if (typeof part === "string") return maskSecrets(part, environment);
    if (Array.isArray(part)) return part.map(mask);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, entry]) => [key, mask(entry)]));
  };
  return mask(value) as T;
}

/** The longest first: one may be the beginning of another. Short ones would blot out half of every text. */
function secretValues(environment: Record<string, string | undefined>): string[] {
  return Object.entries(environment)
    .flatMap(([name, value]) => (value !== undefined && value.length >= 8 && isSecret(name, value) ? [value] : []))
    .sort((a, b) => b.length - a.length);
}

/** An address may carry a password under any name: DATABASE_URL, HTTPS_PROXY. */
export function isSecret(name: string, value: string): boolean {
  return isSecretName(name) || PASSWORD_IN_URL.test(value);
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
