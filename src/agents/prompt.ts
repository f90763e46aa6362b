/** Prompts are files with named slots, `{{brief}}`. A slot that nobody fills is an error: a prompt with a hole misleads. */
import { invalid, nearest } from "../errors.js";

export type Slots = Record<string, string>;

/** Whatever stands there: a slot that is written wrongly must not go to the agent as it is. */
const SLOT = /\{\{(.*?)\}\}/g;

export function fillPrompt(template: string, slots: Slots, file: string): string {
  return template.replace(SLOT, (whole, inside: string, offset: number) => {
    const name = inside.trim();
    // Its own ones only: every object has a `constructor`.
    const value = Object.hasOwn(slots, name) ? slots[name] : undefined;
    if (value !== undefined) return value.trimEnd();
    const line = template.slice(0, offset).split("\n").length;
    const names = Object.keys(slots);
    const near = nearest(name, names);
    throw invalid(`${file}:${line}: the slot ${whole} is not known; there are: ${names.join(", ")}`, {
      findings: [{ message: `unknown slot ${name}`, file, line, expected: names.join(", "), found: name }],
      hint: near === undefined ? "remove it, or name one of those" : `did you mean {{${near}}}?`,
    });
  });
}
