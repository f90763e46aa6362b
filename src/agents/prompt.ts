/** Prompts are files with named slots, `{{brief}}`. A slot that nobody fills is an error: a prompt with a hole misleads. */
import { invalid, nearest } from "../errors.js";

export type Slots = Record<string, string>;

const SLOT = /\{\{\s*([a-z_]+)\s*\}\}/g;

export function fillPrompt(template: string, slots: Slots, file: string): string {
  return template.replace(SLOT, (whole, name: string, offset: number) => {
    const value = slots[name];
    if (value !== undefined) return value.trimEnd();
    const line = template.slice(0, offset).split("\n").length;
    const names = Object.keys(slots);
    const near = nearest(name, names);
    throw invalid(`${file}:${line}: the slot ${whole} is not known; there are: ${names.join(", ")}`, {
      findings: [{ message: `unknown slot ${name}`, file, line, expected: names.join(", "), found: name }],
      hint: near === undefined ? "remove it" : `did you mean {{${near}}}?`,
    });
  });
}
