/** A workflow as a picture that needs nothing else: no script, no font, no style sheet. */
import { describeWorker, isTerminal, stayingEvents, type Mark } from "./graph-edges.js";
import { layOut, LINE_HEIGHT, type Box, type Route } from "./graph-layout.js";
import type { Phase, Worker, Workflow } from "./types.js";

const FONT = "ui-sans-serif, system-ui, Helvetica, Arial, sans-serif";
const RADIUS = 9;
const CURRENT = { fill: "#ffe08a", stroke: "#8a5a00" };
const COLOURS: Record<Worker["kind"], { fill: string; stroke: string }> = {
  agent: { fill: "#eef4ff", stroke: "#3b6fb6" },
  human: { fill: "#fff4e5", stroke: "#b06a00" },
  orchestrator: { fill: "#eef7ee", stroke: "#3d7a45" },
  nobody: { fill: "#f1f1f1", stroke: "#555555" },
};
/** One colour for all that leads to a phase at the side, so that the eye can follow it. */
const LANES = ["#a23b3b", "#2f6f8f", "#7a4fa0", "#9a6a00", "#3d7a45", "#8f3f73", "#4a4a8f", "#5c6b1f"];
const STRAIGHT = "#333333";

export function toSvg(workflow: Workflow, mark?: Mark): string {
  const texts = Object.fromEntries(workflow.phases.map((phase) => [phase.name, boxText(workflow, phase, mark)]));
  const { width, height, boxes, routes } = layOut(workflow, texts);
  const targets = [...new Set(routes.filter(({ points }) => points.length > 2).map(({ to }) => to))];
  const colourOf = ({ to, points }: Route): string =>
    points.length === 2 ? STRAIGHT : (LANES[targets.indexOf(to) % LANES.length] ?? STRAIGHT);
  const start = boxes.find(({ name }) => name === workflow.initial);
  const about =
    mark === undefined
      ? `The workflow ${workflow.name}`
      : `The workflow ${workflow.name}; the task is in ${mark.current}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}">`,
    `<title>${escape(about)}</title>`,
    `<defs>${[...new Set([STRAIGHT, ...routes.map(colourOf)])].map(arrowHead).join("")}</defs>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="24" y="30" font-size="16" font-weight="bold" fill="#222222">${escape(workflow.name)}</text>`,
    ...(start === undefined ? [] : [startMark(start)]),
    ...lanesOf(routes).flatMap((lane) => [...lane.map(bridge), ...lane.map((route) => line(route, colourOf(route)))]),
    ...boxes.flatMap((box) => {
      const phase = workflow.phases.find(({ name }) => name === box.name);
      return phase === undefined ? [] : [boxShape(box, phase, texts[box.name] ?? [], mark)];
    }),
    ...routes.map((route) => label(route, colourOf(route))),
    "</svg>\n",
  ].join("\n");
}

function boxText(workflow: Workflow, phase: Phase, mark: Mark | undefined): string[] {
  const lines = [phase.name, describeWorker(phase)];
  const events = stayingEvents(workflow, phase.name);
  if (events.length > 0) lines.push(`↻ ${events.join(", ")}`);
  // In words too: not everybody sees the colour.
  if (phase.name === mark?.current) lines.push("● current");
  else if (mark?.visited?.includes(phase.name) === true) lines.push("✓ visited");
  return lines;
}

function boxShape(box: Box, phase: Phase, lines: string[], mark: Mark | undefined): string {
  const current = box.name === mark?.current;
  const { fill, stroke } = current ? CURRENT : COLOURS[phase.who.kind];
  const frame = (inset: number, thickness: number, colour: string): string =>
    `<rect x="${box.x + inset}" y="${box.y + inset}" width="${box.width - 2 * inset}" height="${box.height - 2 * inset}" rx="${RADIUS}" fill="${colour}" stroke="${stroke}" stroke-width="${thickness}"/>`;
  const middle = box.x + box.width / 2;
  const first = box.y + box.height / 2 - ((lines.length - 1) * LINE_HEIGHT) / 2 + 4;
  const texts = lines.map((text, index) => {
    const strong = index === 0 || text.startsWith("●");
    const style = strong ? 'font-size="14" font-weight="bold" fill="#111111"' : 'font-size="12" fill="#444444"';
    return `<text x="${middle}" y="${first + index * LINE_HEIGHT}" text-anchor="middle" ${style}>${escape(text)}</text>`;
  });
  const frames = [frame(0, current ? 4 : 1.5, fill), ...(isTerminal(phase) ? [frame(4, 1, "none")] : [])];
  return `<g>${[`<title>${escape(phase.purpose || phase.name)}</title>`, ...frames, ...texts].join("")}</g>`;
}

/** Lines that run together are drawn together. */
function lanesOf(routes: Route[]): Route[][] {
  const lanes = new Map<string, Route[]>();
  for (const route of routes) {
    const [, corner] = route.points;
    const key = `${route.to} ${corner?.[0] ?? 0}`;
    lanes.set(key, [...(lanes.get(key) ?? []), route]);
  }
  return [...lanes.values()];
}

/** White, below a line: where it crosses others it looks like a bridge. */
function bridge({ points }: Route): string {
  return `<path d="${roundedPath(points)}" fill="none" stroke="#ffffff" stroke-width="5"/>`;
}

function line({ points }: Route, colour: string): string {
  return `<path d="${roundedPath(points)}" fill="none" stroke="${colour}" stroke-width="1.5" marker-end="url(#${headId(colour)})"/>`;
}

function roundedPath(points: [number, number][]): string {
  return points
    .map(([x, y], index) => {
      const [before, after] = [points[index - 1], points[index + 1]];
      if (before === undefined) return `M${x} ${y}`;
      if (after === undefined) return `L${x} ${y}`;
      const [x1, y1] = towards([x, y], before);
      const [x2, y2] = towards([x, y], after);
      return `L${x1} ${y1}Q${x} ${y} ${x2} ${y2}`;
    })
    .join("");
}

function towards([x, y]: [number, number], [toX, toY]: [number, number]): [number, number] {
  const step = Math.min(RADIUS, (Math.abs(toX - x) + Math.abs(toY - y)) / 2);
  return [x + Math.sign(toX - x) * step, y + Math.sign(toY - y) * step];
}

function label({ label: { lines, x, y, anchor } }: Route, colour: string): string {
  const spans = lines.map((text, index) => `<tspan x="${x}" y="${y + index * LINE_HEIGHT}">${escape(text)}</tspan>`);
  return `<text font-size="12" text-anchor="${anchor}" fill="${colour}" stroke="#ffffff" stroke-width="3" paint-order="stroke">${spans.join("")}</text>`;
}

function startMark({ x, y, width }: Box): string {
  const middle = x + width / 2;
  return `<circle cx="${middle}" cy="${y - 32}" r="6" fill="${STRAIGHT}"/><path d="M${middle} ${y - 26}L${middle} ${y}" fill="none" stroke="${STRAIGHT}" stroke-width="1.5" marker-end="url(#${headId(STRAIGHT)})"/>`;
}

function arrowHead(colour: string): string {
  return `<marker id="${headId(colour)}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L10 5L0 10z" fill="${colour}"/></marker>`;
}

function headId(colour: string): string {
  return `head-${colour.slice(1)}`;
}

function escape(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
