/** Points drawn without a graphics card. */
import { measureShape } from "./colours.js";
import { clamp } from "./numbers.js";

/** @import { Painter } from "./painter.js" */

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
    if (size > 2.5) return clamp(radius - radius * measureShape(shape, x / radius - 1, y / radius - 1), 0, 1);
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
 * A painter that sets pixels in memory. The picture has a margin, so that a disc at the edge needs no care.
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
  let paper = 0;
  // colours by label: red and blue in one number, green, and how much they cover
  let [redBlue, green, alpha] = [new Int32Array(0), new Int32Array(0), new Int32Array(0)];
  let shapes = new Uint8Array(0);
  return {
    setPlaces(values) {
      places = values;
    },
    setLabels(values) {
      labels = values;
    },
    setColours(table, paperColour) {
      const words = new Uint32Array(table.buffer);
      redBlue = Int32Array.from(words, (word) => word & 0xff00ff);
      green = Int32Array.from(words, (word) => word & 0xff00);
      shapes = Uint8Array.from(words, (word) => (word >>> 24) & 3);
      alpha = Int32Array.from(words, (word) => (word >>> 24) + (word >>> 31));
      paper = new Uint32Array(Uint8Array.from([...paperColour, 255]).buffer)[0];
    },
    paint({ ratio, x, y, scale, size }) {
      if (!context) return;
      const [width, height, diameter] = [canvas.width, canvas.height, Math.max(1, size * ratio)];
      const margin = Math.ceil(diameter) + 1;
      const stride = width + 2 * margin;
      if (!image || image.width !== stride || image.height !== height + 2 * margin) {
        image = context.createImageData(stride, height + 2 * margin);
        pixels = new Uint32Array(image.data.buffer);
      }
      pixels.fill(paper);
      const stamps = [0, 1, 2, 3].map((shape) => createStamps(diameter, stride, shape));
      const factor = scale * ratio;
      const left = width / 2 - x * factor - diameter / 2 + margin;
      const top = height / 2 + y * factor - diameter / 2 + margin;
      const [right, bottom] = [width + margin, height + margin];
      for (let row = 0; row < labels.length; row += 1) {
        const px = left + places[2 * row] * factor;
        const py = top - places[2 * row + 1] * factor;
        if (!(px >= 0 && px < right && py >= 0 && py < bottom)) continue;
        const [cx, cy] = [px | 0, py | 0];
        const label = labels[row];
        const { at, share } = stamps[shapes[label]][(((py - cy) * 4) | 0) * 4 + (((px - cx) * 4) | 0)];
        const [rb, g, a] = [redBlue[label], green[label], alpha[label]];
        const corner = cy * stride + cx;
        for (let k = 0; k < at.length; k += 1) {
          const pixel = corner + at[k];
          const part = (a * share[k]) >> 8;
          const below = pixels[pixel];
          const [belowRb, belowG] = [below & 0xff00ff, below & 0xff00];
          const newRb = (belowRb + (Math.imul(rb - belowRb, part) >>> 8)) & 0xff00ff;
          const newG = (belowG + (Math.imul(g - belowG, part) >>> 8)) & 0xff00;
          pixels[pixel] = 0xff000000 | newRb | newG;
        }
      }
      context.putImageData(image, -margin, -margin);
    },
  };
}
