/** Which part of the plane the plot shows. All functions are pure. */
import { clamp } from "./numbers.js";

const MARGIN = 36; // pixels: room for a ring and its letter

/** @typedef {{ width: number, height: number }} Size of the plot, in CSS pixels */
/** @typedef {{ x: number, y: number, scale: number }} Viewport centre in plot units, pixels per unit */

/**
 * The viewport that shows all rows.
 * @param {Float32Array} places
 * @param {Size} size
 * @returns {Viewport}
 */
export function fitRows(places, { width, height }) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < places.length; i += 2) {
    if (places[i] < left) left = places[i];
    if (places[i] > right) right = places[i];
    if (places[i + 1] < low) low = places[i + 1];
    if (places[i + 1] > high) high = places[i + 1];
  }
  const scale = Math.min(
    (width - 2 * MARGIN) / Math.max(right - left, 1e-6),
    (height - 2 * MARGIN) / Math.max(high - low, 1e-6),
  );
  return { x: (left + right) / 2, y: (low + high) / 2, scale };
}

/** @type {(one: Viewport, other: Viewport) => boolean} */
export const isSameViewport = (one, other) =>
  one.x === other.x && one.y === other.y && one.scale === other.scale;

/**
 * Keep a viewport near the rows, and its zoom within what makes sense.
 * @param {Viewport} viewport
 * @param {Viewport} home the one that shows all rows
 * @returns {Viewport}
 */
export const limitViewport = (viewport, home) => ({
  x: clamp(viewport.x, -1.5, 1.5),
  y: clamp(viewport.y, -1.5, 1.5),
  scale: clamp(viewport.scale, home.scale * 0.5, home.scale * 5000),
});

/**
 * Zoom so that the point under a pixel stays there.
 * @param {Viewport} viewport
 * @param {Viewport} home
 * @param {Size} size
 * @param {number} factor
 * @param {number} px
 * @param {number} py
 */
export function zoomAt(viewport, home, size, factor, px, py) {
  const { scale } = limitViewport({ ...viewport, scale: viewport.scale * factor }, home);
  const [dx, dy] = [px - size.width / 2, size.height / 2 - py];
  const x = viewport.x + dx / viewport.scale - dx / scale;
  const y = viewport.y + dy / viewport.scale - dy / scale;
  return limitViewport({ x, y, scale }, home);
}

/**
 * Move the rows by some pixels.
 * @param {Viewport} viewport
 * @param {Viewport} home
 * @param {number} dx
 * @param {number} dy
 */
export const panBy = (viewport, home, dx, dy) =>
  limitViewport(
    { ...viewport, x: viewport.x - dx / viewport.scale, y: viewport.y + dy / viewport.scale },
    home,
  );

/**
 * From plot units to pixels.
 * @param {Viewport} viewport
 * @param {Size} size
 * @param {number} x
 * @param {number} y
 * @returns {[number, number]}
 */
export const toPixels = (viewport, { width, height }, x, y) => [
  width / 2 + (x - viewport.x) * viewport.scale,
  height / 2 - (y - viewport.y) * viewport.scale,
];

/**
 * From pixels to plot units.
 * @param {Viewport} viewport
 * @param {Size} size
 * @param {number} px
 * @param {number} py
 * @returns {[number, number]}
 */
export const toUnits = (viewport, { width, height }, px, py) => [
  viewport.x + (px - width / 2) / viewport.scale,
  viewport.y - (py - height / 2) / viewport.scale,
];

/**
 * The size of a point: larger where there are few, and when zoomed in.
 * @param {Viewport} viewport
 * @param {Viewport} home
 * @param {Size} size
 * @param {number} nRows
 */
export function pointSize(viewport, home, { width, height }, nRows) {
  const zoom = Math.sqrt(viewport.scale / home.scale);
  return clamp(Math.sqrt((width * height * 0.3) / nRows), 1.5, 8) * clamp(zoom, 1, 3);
}
