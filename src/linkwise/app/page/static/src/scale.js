/** Two numbers on the range of their column: where their marks go. */
import { s } from "./dom.js";
import { clamp } from "./numbers.js";

const [WIDTH, HEIGHT, MIDDLE] = [96, 20, 10];
export const CLEAR = 1; // units between two marks
/** How far a disc and a diamond reach from their middle, with the line of the diamond. */
export const REACH = { apart: [4, 6.75], stacked: [3.5, 5] };
const STROKE = 1.25; // from the edge of the diamond to the tip of its line

/**
 * Where the marks of two numbers go: side by side on the line, or A above B where they would touch.
 * @param {number | null} first
 * @param {number | null} second
 */
export function placeMarks(first, second) {
  const x = /** @param {number} place */ (place) => 8 + (WIDTH - 16) * clamp(place, 0, 1);
  const xs = [first, second].map((place) => (place === null ? null : x(place)));
  const room = REACH.apart[0] + REACH.apart[1] + CLEAR;
  const isStacked = xs[0] !== null && xs[1] !== null && Math.abs(xs[0] - xs[1]) < room;
  const reach = isStacked ? REACH.stacked : REACH.apart;
  const ys = isStacked ? [reach[0] + 0.5, HEIGHT - reach[1]] : [MIDDLE, MIDDLE];
  return { xs, ys, reach };
}

/**
 * A drawing of the range with a disc for A and a diamond for B; null if there is no number.
 * @param {number | null} first
 * @param {number | null} second
 * @param {boolean} isLit whether to draw a line between both
 */
export function renderScale(first, second, isLit) {
  if (first === null && second === null) return null;
  const { xs, ys, reach } = placeMarks(first, second);
  const box = { class: "lw-scale", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
  const drawing = s(
    "svg",
    { ...box, "aria-hidden": "true" },
    s("line", { x1: 4, x2: WIDTH - 4, y1: MIDDLE, y2: MIDDLE }),
  );
  const [a, b] = xs;
  if (a !== null && b !== null && isLit) {
    drawing.append(s("line", { class: "lw-distance", x1: a, x2: b, y1: MIDDLE, y2: MIDDLE }));
  }
  if (a !== null) drawing.append(s("circle", { cx: a, cy: ys[0], r: reach[0] }));
  if (b !== null) {
    const half = reach[1] - STROKE;
    const y = ys[1];
    drawing.append(
      s("path", { d: `M${b} ${y - half} L${b + half} ${y} L${b} ${y + half} L${b - half} ${y} Z` }),
    );
  }
  return drawing;
}
