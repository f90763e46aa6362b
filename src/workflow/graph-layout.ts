/**
 * Where everything goes in the picture of a workflow. The phases stand below each other in the order of the table, which is the order
 * of the work. The way to the next phase goes straight down; ways back run up on the right, ways ahead run down on the left.
 * Everything that leads to one phase on one side shares a lane, and the labels have a strip of their own between boxes and
 * lanes, so that nothing can lie on top of anything else.
 */
import { arrows, type Arrow } from "./graph-edges.js";
import type { Workflow } from "./types.js";

export interface Layout {
  width: number;
  height: number;
  boxes: Box[];
  routes: Route[];
}

export interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Route {
  from: string;
  to: string;
  /** The corners of the line, from the first phase to the second. */
  points: [number, number][];
  label: { lines: string[]; x: number; y: number; anchor: "start" | "end" };
}

export const LINE_HEIGHT = 15;
const MARGIN = 24;
const TOP = 84;
const GAP = 36;
const SLOT_PADDING = 9;
const ENTRY_HEIGHT = 20;
const LANE_WIDTH = 16;
const LABEL_FONT = 12;

type Side = "left" | "right";
type Ports = { exits: Map<Arrow, number>; entry: number; height: number };

/** `texts` are the lines that each box has to hold. */
export function layOut(workflow: Workflow, texts: Record<string, string[]>): Layout {
  const names = workflow.phases.map(({ name }) => name);
  const all = arrows(workflow);
  const rank = (name: string): number => names.indexOf(name);
  const straight = all.filter(({ from, to }) => rank(to) === rank(from) + 1);
  const sides: Record<Side, Arrow[]> = {
    right: all.filter(({ from, to }) => rank(to) < rank(from)),
    left: all.filter(({ from, to }) => rank(to) > rank(from) + 1),
  };
  const strip = {
    left: stripWidth(sides.left),
    right: stripWidth(sides.right),
  };
  const boxWidth = Math.max(150, ...names.flatMap((name) => texts[name] ?? []).map((line) => textWidth(line, 17) + 24));

  // From the top down: the height of a box follows from its text and from what leaves it at its sides.
  const ports: Record<Side, Map<string, Ports>> = { left: new Map(), right: new Map() };
  const boxes: Box[] = [];
  let y = TOP;
  for (const name of names) {
    const own = { left: portsOf(name, sides.left, "left", rank), right: portsOf(name, sides.right, "right", rank) };
    ports.left.set(name, own.left);
    ports.right.set(name, own.right);
    const height = Math.max((texts[name]?.length ?? 1) * LINE_HEIGHT + 20, own.left.height, own.right.height);
    boxes.push({ name, x: 0, y, width: boxWidth, height });
    const down = straight.find(({ from }) => from === name);
    y += height + GAP + Math.max(0, (down?.labels.length ?? 0) - 1) * LINE_HEIGHT;
  }
  const lanes = {
    left: assignLanes(sides.left, ports.left, boxes),
    right: assignLanes(sides.right, ports.right, boxes),
  };
  const laneCount = (side: Side): number => Math.max(0, ...[...lanes[side].values()].map((lane) => lane + 1));
  const left = MARGIN + (sides.left.length === 0 ? 0 : laneCount("left") * LANE_WIDTH + strip.left);
  for (const box of boxes) box.x = left;
  const right = left + boxWidth;

  const boxOf = new Map(boxes.map((box) => [box.name, box]));
  const routes = all.flatMap((arrow): Route[] => {
    const [from, to] = [boxOf.get(arrow.from), boxOf.get(arrow.to)];
    if (from === undefined || to === undefined) return [];
    if (straight.includes(arrow)) return [straightDown(arrow, from, to)];
    const side: Side = sides.left.includes(arrow) ? "left" : "right";
    const away = side === "right" ? 1 : -1;
    const edge = side === "right" ? right : left;
    const lane = edge + away * (strip[side] + (lanes[side].get(arrow.to) ?? 0) * LANE_WIDTH + LANE_WIDTH / 2);
    const start = from.y + (ports[side].get(arrow.from)?.exits.get(arrow) ?? 0);
    const end = to.y + (ports[side].get(arrow.to)?.entry ?? 0);
    const points: [number, number][] = [
      [edge, start],
      [lane, start],
      [lane, end],
      [edge, end],
    ];
    const label = {
      lines: arrow.labels,
      x: edge + away * 10,
      y: start - 5 - (arrow.labels.length - 1) * LINE_HEIGHT,
      anchor: side === "right" ? ("start" as const) : ("end" as const),
    };
    return [{ from: arrow.from, to: arrow.to, points, label }];
  });
  const longest = Math.max(0, ...straight.flatMap(({ labels }) => labels).map((text) => textWidth(text, LABEL_FONT)));
  const lanesEnd = right + (sides.right.length === 0 ? 0 : strip.right + laneCount("right") * LANE_WIDTH);
  const width = Math.max(lanesEnd, left + boxWidth / 2 + longest + 16) + MARGIN;
  return { width, height: y - GAP + MARGIN, boxes, routes };
}

/** An estimate that is a little too wide rather than too narrow, since nobody knows the reader's font. */
export function textWidth(text: string, size: number): number {
  return Math.ceil(text.length * size * 0.58);
}

function stripWidth(side: Arrow[]): number {
  return Math.max(0, ...side.flatMap(({ labels }) => labels).map((label) => textWidth(label, LABEL_FONT))) + 22;
}

function straightDown(arrow: Arrow, from: Box, to: Box): Route {
  const x = from.x + from.width / 2;
  const [start, end] = [from.y + from.height, to.y];
  const y = (start + end) / 2 - ((arrow.labels.length - 1) * LINE_HEIGHT) / 2 + 2;
  return {
    from: arrow.from,
    to: arrow.to,
    points: [
      [x, start],
      [x, end],
    ],
    label: { lines: arrow.labels, x: x + 10, y, anchor: "start" },
  };
}

/**
 * Heights, from the top of the box, at which lines leave and enter. Lines cross least when what goes up leaves above what comes from
 * below, nearest target first, and when what goes down leaves below what comes from above, farthest target first.
 */
function portsOf(name: string, side: Arrow[], which: Side, rank: (name: string) => number): Ports {
  const leaving = side.filter(({ from }) => from === name).sort((a, b) => rank(b.to) - rank(a.to));
  const entered = side.some(({ to }) => to === name);
  const exits = new Map<Arrow, number>();
  let height = 8;
  let entry = 0;
  const addEntry = (): void => {
    if (!entered) return;
    entry = height + ENTRY_HEIGHT / 2;
    height += ENTRY_HEIGHT;
  };
  if (which === "left") addEntry();
  for (const arrow of leaving) {
    height += arrow.labels.length * LINE_HEIGHT + SLOT_PADDING;
    exits.set(arrow, height - SLOT_PADDING + 3);
  }
  if (which === "right") addEntry();
  return { exits, entry, height: height + 8 };
}

/** The lane of each target, 0 next to the boxes. Short ways get the inner lanes; two ways share one if they do not meet. */
function assignLanes(side: Arrow[], ports: Map<string, Ports>, boxes: Box[]): Map<string, number> {
  const top = new Map(boxes.map(({ name, y }) => [name, y]));
  const spans = [...new Set(side.map(({ to }) => to))].map((target) => {
    const ends = side
      .filter(({ to }) => to === target)
      .map((arrow) => (top.get(arrow.from) ?? 0) + (ports.get(arrow.from)?.exits.get(arrow) ?? 0));
    ends.push((top.get(target) ?? 0) + (ports.get(target)?.entry ?? 0));
    return { target, from: Math.min(...ends), to: Math.max(...ends) };
  });
  const lanes: { from: number; to: number }[][] = [];
  const assigned = new Map<string, number>();
  for (const span of spans.sort((a, b) => a.to - a.from - (b.to - b.from))) {
    let lane = lanes.findIndex((taken) => taken.every((other) => other.to < span.from - 8 || other.from > span.to + 8));
    if (lane === -1) lane = lanes.push([]) - 1;
    lanes[lane]?.push(span);
    assigned.set(span.target, lane);
  }
  return assigned;
}
