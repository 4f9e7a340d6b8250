/** The row nearest to a point of the plot. */
import { clamp } from "./numbers.js";

/**
 * Sort rows into the cells of a grid over [-1, 1] × [-1, 1].
 * @param {Float32Array} places two coordinates a row
 * @returns {(x: number, y: number, reach: number) => number} the nearest row within `reach`, or -1
 */
export function indexRows(places) {
  const n = places.length / 2;
  const side = clamp(Math.round(Math.sqrt(n) / 2), 1, 1024);
  const cellOf = /** @param {number} value */ (value) =>
    clamp(Math.floor(((value + 1) / 2) * side), 0, side - 1);
  const starts = new Uint32Array(side * side + 1);
  const cells = new Uint32Array(n);
  for (let row = 0; row < n; row += 1) {
    cells[row] = cellOf(places[2 * row + 1]) * side + cellOf(places[2 * row]);
    starts[cells[row] + 1] += 1;
  }
  for (let i = 0; i < side * side; i += 1) starts[i + 1] += starts[i];
  const next = starts.slice();
  const rows = new Uint32Array(n);
  for (let row = 0; row < n; row += 1) {
    rows[next[cells[row]]] = row;
    next[cells[row]] += 1;
  }
  return (x, y, reach) => {
    let nearest = -1;
    let least = reach * reach;
    for (let line = cellOf(y - reach); line <= cellOf(y + reach); line += 1) {
      const end = starts[line * side + cellOf(x + reach) + 1];
      for (let k = starts[line * side + cellOf(x - reach)]; k < end; k += 1) {
        const row = rows[k];
        const squared = (places[2 * row] - x) ** 2 + (places[2 * row + 1] - y) ** 2;
        if (squared <= least) [nearest, least] = [row, squared];
      }
    }
    return nearest;
  };
}
