/** What a run cost, as far as the agent says so. Pure, and never throws; what is not reported is unknown, never 0. */
import { valueAt } from "../system/json-pointer.js";
import type { NumberRule, PresetResult } from "./preset.js";
import { hasGap, matches, readEvents } from "./printed.js";

export interface Usage {
  /** In US dollars. */
  cost: number | "unknown";
  /** All that the model read, cached or not. */
  inputTokens: number | "unknown";
  /** All that the model wrote, its reasoning included. */
  outputTokens: number | "unknown";
}

export function usageOf(stdout: string, result?: PresetResult): Usage {
  const read = (rule: NumberRule | undefined): number | "unknown" => {
    const value = rule === undefined || result === undefined ? undefined : numberBy(rule, stdout, result.format);
    // A model that was asked has read something. Agents print 0 for a failed request, or for a model whose price they lack.
    return value === undefined || !Number.isFinite(value) || value <= 0 ? "unknown" : value;
  };
  return {
    cost: read(result?.cost),
    inputTokens: read(result?.inputTokens),
    outputTokens: read(result?.outputTokens),
  };
}

function numberBy(rule: NumberRule, stdout: string, format: PresetResult["format"]): number | undefined {
  if (format === "text") return numberInText(stdout, rule);
  // A sum needs every event; a total only the last one.
  const events = readEvents(stdout, format, { lenient: rule.sum !== true })?.filter((event) =>
    matches(event, rule.when),
  );
  if (events === undefined || events.length === 0) return undefined;
  const numbers = (rule.sum === true ? events : events.slice(-1)).map((event) => numberIn(event, rule.at ?? []));
  return numbers.every((number) => number !== undefined) ? add(numbers) : undefined;
}

/** The first pointer has to lead to a number; parts that the agent leaves out add nothing. */
function numberIn(event: unknown, pointers: string[]): number | undefined {
  const [first, ...others] = pointers.map((pointer) => valueAt(event, pointer));
  if (typeof first !== "number") return undefined;
  return add([first, ...others.filter((value) => typeof value === "number")]);
}

function numberInText(text: string, { pattern, sum }: NumberRule): number | undefined {
  if (pattern === undefined || (sum === true && hasGap(text))) return undefined;
  const numbers = [...text.matchAll(new RegExp(pattern, "g"))].map(([, found = ""]) => parseNumber(found));
  if (sum !== true) return numbers.at(-1);
  return numbers.length > 0 && numbers.every((number) => number !== undefined) ? add(numbers) : undefined;
}

/** As it is printed for people: 12,345 or 4.2k or 1.5M. */
function parseNumber(text: string): number | undefined {
  const [, digits, suffix = ""] = /^\s*([\d.,]+)\s*([km]?)\s*$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return add([Number(digits.replaceAll(",", "")) * (FACTORS[suffix.toLowerCase()] ?? 1)]);
}

const FACTORS: Record<string, number> = { k: 1000, m: 1_000_000 };

/** Prices are decimal fractions: without rounding 0.1 + 0.2 would end in …04. */
function add(numbers: number[]): number {
  return Number(numbers.reduce((sum, number) => sum + number, 0).toFixed(10));
}
