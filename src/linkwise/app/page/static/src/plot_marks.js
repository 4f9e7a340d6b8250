/** What is drawn over the points: rings around rows, and the cross of the keyboard. */

const DIAMOND = [
  [0, -1.25],
  [1.25, 0],
  [0, 1.25],
  [-1.25, 0],
];
const DIRECTIONS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
];

/** @typedef {{ tag: string, square: boolean, dashed?: boolean }} Sign a ring, or a diamond, with a short text, if any */
/** @typedef {Sign & { row: number }} RowMark a sign at a row */
/** @typedef {Sign & { x: number, y: number }} Mark a sign at a pixel */

/**
 * @typedef {object} Marks
 * @property {number} width of the canvas, in CSS pixels
 * @property {number} height
 * @property {number} size of a point
 * @property {string} ink
 * @property {string} paper
 * @property {Mark[]} marks
 * @property {[number, number] | null} hovered
 * @property {boolean} withCross
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @param {boolean} isSquare
 */
function traceRing(context, x, y, reach, isSquare) {
  context.beginPath();
  if (isSquare) {
    for (const [dx, dy] of DIAMOND) context.lineTo(x + dx * reach, y + dy * reach);
    context.closePath();
  } else context.arc(x, y, reach, 0, 7);
}

/**
 * Draw all marks anew.
 * @param {HTMLCanvasElement} canvas
 * @param {Marks} given
 */
export function drawMarks(canvas, { width, height, size, ink, paper, marks, hovered, withCross }) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = canvas.width / width;
  const stroke = /** @type {(colour: string, thickness: number) => void} */ (colour, thickness) =>
    Object.assign(context, { strokeStyle: colour, lineWidth: thickness }).stroke();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  for (const { x, y, tag, square, dashed } of marks) {
    if (!tag) {
      traceRing(context, x, y, size / 2 + 2, square);
      stroke(paper, 3.5);
      stroke(ink, 1.75);
      continue;
    }
    const reach = Math.max(9, size / 2 + 5);
    context.setLineDash(dashed ? [4, 3] : []);
    traceRing(context, x, y, reach, square);
    stroke(paper, 5);
    stroke(ink, 2.25);
    context.setLineDash([]);
    context.font = "700 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    Object.assign(context, { strokeStyle: paper, lineWidth: 4, lineJoin: "round" });
    context.strokeText(tag, x, y - reach - 10);
    context.fillStyle = ink;
    context.fillText(tag, x, y - reach - 10);
  }
  if (hovered) {
    traceRing(context, ...hovered, size / 2 + 3, false);
    stroke(paper, 4);
    stroke(ink, 1.5);
  }
  if (withCross) {
    context.beginPath();
    for (const [dx, dy] of DIRECTIONS) {
      context.moveTo(width / 2 + 4 * dx, height / 2 + 4 * dy);
      context.lineTo(width / 2 + 12 * dx, height / 2 + 12 * dy);
    }
    stroke(paper, 4);
    stroke(ink, 1.5);
  }
}
