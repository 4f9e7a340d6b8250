/** Two ways to draw the points of the plot behind one interface. */
import { createPixelPainter } from "./pixel_painter.js";
import { createWebglPainter } from "./webgl_painter.js";

/**
 * The part of the plane that is drawn.
 * @typedef {object} Picture
 * @property {number} width of the canvas, in CSS pixels
 * @property {number} height
 * @property {number} ratio device pixels per CSS pixel
 * @property {number} x the centre, in plot units
 * @property {number} y
 * @property {number} scale CSS pixels per plot unit
 * @property {number} size of a point, in CSS pixels
 */

/**
 * @typedef {object} Painter
 * @property {(places: Float32Array) => void} setPlaces
 * @property {(labels: Uint8Array | Uint16Array) => void} setLabels
 * @property {(table: Uint8Array, paper: number[]) => void} setColours four bytes a label: red, green, blue, alpha
 * @property {(picture: Picture) => void} paint
 */

/**
 * Choose the graphics card where there is one. WebGL in software takes 0.9 microseconds a point, our own loop a
 * tenth of that.
 * @param {HTMLCanvasElement} canvas
 * @returns {{ painter: Painter, usesCard: boolean, canvas: HTMLCanvasElement }} the canvas that is drawn on
 */
export function choosePainter(canvas) {
  const webgl = createWebglPainter(canvas);
  if (webgl) return { painter: webgl, usesCard: true, canvas };
  // a canvas keeps the kind of its first context
  const fresh = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  canvas.replaceWith(fresh);
  return { painter: createPixelPainter(fresh), usesCard: false, canvas: fresh };
}
