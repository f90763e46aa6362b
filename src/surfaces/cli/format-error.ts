import type { Finding, PawlError } from "../../errors.js";
import type { Io } from "../io.js";
import { styleFor } from "../style.js";

const SHOWN = 12;
const WORDS = {
  refused: "refused",
  usage: "usage",
  invalid: "invalid",
  failed: "failed",
  halted: "waiting",
  interrupted: "interrupted",
};

export function formatError(error: PawlError, io: Io): string {
  const style = styleFor(io, io.errIsTerminal);
  const lines = [`${style.red(style.bold(`${WORDS[error.kind]}:`))} ${error.message}`];
  const details = error.findings.map(formatFinding).filter((line) => line !== "" && line !== error.message);
  for (const line of [...new Set(details)].slice(0, SHOWN)) lines.push(`  - ${line}`);
  if (details.length > SHOWN) lines.push(`  - and ${details.length - SHOWN} more`);
  if (error.hint !== undefined) lines.push(`  ${style.cyan("next:")} ${error.hint}`);
  return `${lines.join("\n")}\n`;
}

/** `file:line:column pointer: message (expected …, found …)`, with what is known. */
export function formatFinding(finding: Finding): string {
  const { file, line, column, pointer, message, expected, found } = finding;
  const place = file === undefined ? "" : [file, line, column].filter((part) => part !== undefined).join(":");
  const where = message.startsWith(file ?? "\0") && line === undefined ? "" : place;
  const what =
    pointer === undefined || pointer === "" || message.includes(pointer) ? message : `${pointer}: ${message}`;
  const detail =
    expected === undefined || message.includes(expected)
      ? ""
      : ` (expected ${expected}${found === undefined || found === "" ? "" : `, found ${found}`})`;
  return `${where === "" ? "" : `${where}: `}${what}${detail}`;
}
