/** How large a terminal is: so that nobody who looks at it is cut off. */

export interface Size {
  columns: number;
  rows: number;
}

/** While nobody looks. */
export const DEFAULT_SIZE: Size = { columns: 120, rows: 40 };

const SMALLEST = 2;
const LARGEST = 1000;

/** The smallest of all, in each direction; null where there is none. */
export function smallestOf(sizes: Size[]): Size | null {
  if (sizes.length === 0) return null;
  const smallest = (each: (size: Size) => number): number =>
    Math.min(LARGEST, Math.max(SMALLEST, Math.min(...sizes.map(each))));
  return { columns: smallest(({ columns }) => columns), rows: smallest(({ rows }) => rows) };
}

export function isSame(one: Size, other: Size): boolean {
  return one.columns === other.columns && one.rows === other.rows;
}
