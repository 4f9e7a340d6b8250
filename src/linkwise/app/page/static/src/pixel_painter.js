/** Points drawn without a graphics card. */
import { measureShape } from "./colours.js";
import { clamp } from "./numbers.js";

/** @import { Painter } from "./painter.js" */

const SQUARE = 2.5; // device pixels up to which a point is a square, whatever its shape
const OPEN = 1 / 256; // share of a pixel from which what lies below is seen

/**
 * Which pixels a point covers, and how much of each (256 is all), for sixteen positions of its corner within a
 * pixel. A small one is drawn as a square, as in the shader.
 * @param {number} size of a disc, in device pixels
 * @param {number} stride pixels in a line of the picture
 * @param {number} [shape]
 */
export function createStamps(size, stride, shape = 0) {
  const side = Math.ceil(size) + 1;
  const coverage = /** @type {(x: number, y: number) => number} */ (x, y) => {
    const radius = size / 2;
    if (size > SQUARE)
      return clamp(radius - radius * measureShape(shape, x / radius - 1, y / radius - 1), 0, 1);
    return Number(Math.min(x, y) >= 0 && Math.max(x, y) < size);
  };
  return Array.from({ length: 16 }, (_, position) => {
    const [right, down] = [((position % 4) + 0.5) / 4, ((position >> 2) + 0.5) / 4];
    /** @type {[number, number][]} */
    const found = [];
    for (let y = 0; y < side; y += 1) {
      for (let x = 0; x < side; x += 1) {
        const share = Math.round(256 * coverage(x + 0.5 - right, y + 0.5 - down));
        if (share) found.push([y * stride + x, share]);
      }
    }
    return { at: Int32Array.from(found, ([at]) => at), share: Int32Array.from(found, ([, share]) => share) };
  });
}

/**
 * A painter that sets pixels in memory, from the uppermost point down, so that points below others cost little. The
 * picture has a margin, so that a disc at the edge needs no care. Which points are seen depends on the labels only
 * where their shapes or opacities differ. Otherwise only these points are painted again, until the view changes.
 * @param {HTMLCanvasElement} canvas
 * @returns {Painter}
 */
export function createPixelPainter(canvas) {
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  /** @type {Float32Array} */
  let places = new Float32Array(0);
  /** @type {Uint8Array | Uint16Array} */
  let labels = new Uint8Array(0);
  /** @type {ImageData | null} */
  let image = null;
  let pixels = new Uint32Array(0);
  let sums = new Float32Array(0); // red, green, blue and the share that is still open, by pixel
  let paper = [0, 0, 0];
  /** @type {Uint8Array} */
  let table = new Uint8Array(0);
  let alphas = new Float32Array(0); // by label
  let shapes = new Uint8Array(0);
  let [hasShapes, hasFaint] = [false, false];
  // the points that are seen, the uppermost first: their rows, the pixels of their corners and their stamps
  let seen = {
    view: "",
    count: 0,
    rows: new Int32Array(0),
    corners: new Int32Array(0),
    positions: new Uint8Array(0),
  };

  /**
   * Paint a point over what is below all points before it, and tell whether any of it is seen.
   * @param {number} label
   * @param {number} corner
   * @param {{ at: Int32Array, share: Int32Array }} stamp
   */
  const cover = (label, corner, { at, share }) => {
    const alpha = alphas[label];
    let isSeen = false;
    for (let k = 0; k < at.length; k += 1) {
      const pixel = 4 * (corner + at[k]);
      const open = sums[pixel + 3];
      if (open < OPEN) continue;
      const part = (open * alpha * share[k]) / 256;
      sums[pixel] += part * table[4 * label];
      sums[pixel + 1] += part * table[4 * label + 1];
      sums[pixel + 2] += part * table[4 * label + 2];
      sums[pixel + 3] = open - part;
      isSeen = true;
    }
    return isSeen;
  };

  /** Paint only the points that were seen before. @param {ReturnType<typeof createStamps>} stamps */
  const paintSeen = (stamps) => {
    const { count, rows, corners, positions } = seen;
    for (let k = 0; k < count; k += 1) {
      const label = labels[rows[k]];
      cover(label, corners[k], stamps[16 * shapes[label] + positions[k]]);
    }
  };

  /**
   * Paint all points, and remember those that are seen if that depends on the view alone.
   * @param {ReturnType<typeof createStamps>} stamps
   * @param {{ left: number, top: number, right: number, bottom: number, factor: number, stride: number }} frame
   * @param {string} view empty if nothing is to be remembered
   */
  const paintAll = (stamps, { left, top, right, bottom, factor, stride }, view) => {
    const n = labels.length;
    if (view && seen.rows.length !== n) {
      seen = { ...seen, rows: new Int32Array(n), corners: new Int32Array(n), positions: new Uint8Array(n) };
    }
    const { rows, corners, positions } = seen;
    let count = 0;
    for (let row = n - 1; row >= 0; row -= 1) {
      const px = left + places[2 * row] * factor;
      const py = top - places[2 * row + 1] * factor;
      if (!(px >= 0 && px < right && py >= 0 && py < bottom)) continue;
      const [cx, cy] = [px | 0, py | 0];
      const position = (((py - cy) * 4) | 0) * 4 + (((px - cx) * 4) | 0);
      const corner = cy * stride + cx;
      const label = labels[row];
      if (!cover(label, corner, stamps[16 * shapes[label] + position]) || !view) continue;
      [rows[count], corners[count], positions[count]] = [row, corner, position];
      count += 1;
    }
    if (view) [seen.view, seen.count] = [view, count];
  };

  /** Lay the points over the paper. */
  const compose = () => {
    for (let pixel = 0, at = 0; pixel < pixels.length; pixel += 1, at += 4) {
      const open = sums[at + 3];
      pixels[pixel] =
        0xff000000 |
        ((sums[at + 2] + open * paper[2] + 0.5) << 16) |
        ((sums[at + 1] + open * paper[1] + 0.5) << 8) |
        (sums[at] + open * paper[0] + 0.5);
    }
  };

  return {
    setPlaces(values) {
      places = values;
      seen.view = "";
    },
    setLabels(values) {
      labels = values;
    },
    setColours(colours, paperColour) {
      table = colours;
      const parts = Uint8Array.from({ length: table.length / 4 }, (_, label) => table[4 * label + 3]);
      alphas = Float32Array.from(parts, (part) => part / 255);
      shapes = Uint8Array.from(parts, (part) => part & 3);
      hasShapes = shapes.some(Boolean);
      hasFaint = new Set(parts.filter(Boolean).map((part) => part & ~3)).size > 1;
      paper = paperColour;
    },
    paint({ ratio, x, y, scale, size }) {
      if (!context) return;
      const [width, height, diameter] = [canvas.width, canvas.height, Math.max(1, size * ratio)];
      const margin = Math.ceil(diameter) + 1;
      const stride = width + 2 * margin;
      if (!image || image.width !== stride || image.height !== height + 2 * margin) {
        image = context.createImageData(stride, height + 2 * margin);
        pixels = new Uint32Array(image.data.buffer);
        sums = new Float32Array(4 * pixels.length);
      }
      sums.fill(0);
      for (let at = 3; at < sums.length; at += 4) sums[at] = 1;
      const stamps = [0, 1, 2, 3].flatMap((shape) => createStamps(diameter, stride, shape));
      const isByView = !hasFaint && (!hasShapes || diameter <= SQUARE);
      const view = isByView ? [width, height, ratio, diameter, x, y, scale, labels.length].join() : "";
      const factor = scale * ratio;
      const frame = {
        left: width / 2 - x * factor - diameter / 2 + margin,
        top: height / 2 + y * factor - diameter / 2 + margin,
        right: width + margin,
        bottom: height + margin,
        factor,
        stride,
      };
      if (view && seen.view === view) paintSeen(stamps);
      else paintAll(stamps, frame, view);
      compose();
      context.putImageData(image, -margin, -margin);
    },
  };
}
