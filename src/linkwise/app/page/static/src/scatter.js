/** The scatter plot: the rows by cluster, and what is drawn over them. */
import { createColourTable, parseColour, readPalette } from "./colours.js";
import { h } from "./dom.js";
import { listenToGestures } from "./gestures.js";
import { indexRows } from "./nearest_row.js";
import { choosePainter } from "./painter.js";
import { drawMarks } from "./plot_marks.js";
import { fitRows, isSameViewport, panBy, pointSize, toPixels, toUnits, zoomAt } from "./viewport.js";

/** @import { Palette } from "./colours.js" */
/** @import { Painter } from "./painter.js" */
/** @import { RowMark } from "./plot_marks.js" */
/** @import { Viewport } from "./viewport.js" */

const MOST_DRAWN = 20_000; // rows in a picture; of more every second, third, … is drawn
const REACH = 9; // pixels around the pointer
// the shapes that `measureShape` measures, as paths of radius 1: a disc, a square, a diamond, a cross
const SHAPES = [
  "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z",
  "M-.87-.87h1.74v1.74h-1.74z",
  "M0-1.18L1.18,0L0,1.18L-1.18,0z",
  "M-1-.38h.62v-.62h.76v.62h.62v.76h-.62v.62h-.76v-.62h-.62z",
];

/**
 * @typedef {object} Handlers
 * @property {(row: number, px: number, py: number) => void} hover -1: no row is under the pointer
 * @property {(row: number, isPair: boolean) => void} choose a click, or Enter; with Ctrl or Cmd a row of a pair
 * @property {() => boolean} canZoom whether the wheel zooms
 */

export class Scatter {
  /** @type {Painter | null} */
  #painter = null;
  /** @type {Float32Array} */
  #places = new Float32Array(0);
  /** @type {Uint8Array | Uint16Array} */
  #labels = new Uint8Array(0);
  #noise = 255;
  /** @type {ReturnType<typeof indexRows> | null} */
  #findRow = null;
  /** @type {Viewport | null} */
  #home = null;
  /** @type {Viewport | null} */
  #viewport = null;
  /** @type {Palette | null} */
  #palette = null;
  /** @type {Map<number, number>} */
  #slots = new Map();
  /** @type {number | null} */
  #highlighted = null;
  #hovered = -1;
  /** @type {RowMark[]} */
  #marks = [];
  #size = { width: 0, height: 0 };
  #frame = 0;
  #withCross = false;
  #isStale = true; // whether the points have to be drawn again, or only what lies over them

  /**
   * @param {HTMLElement} root
   * @param {Handlers} handlers
   */
  constructor(root, handlers) {
    this.root = root;
    this.handlers = handlers;
    this.points = h("canvas", { class: "lw-points" });
    this.overlay = h("canvas", {
      class: "lw-overlay",
      tabindex: "0",
      role: "img",
      "aria-roledescription": "scatter plot",
      "aria-label": "The rows, coloured by cluster",
    });
    this.node = h("div", { class: "lw-scatter" }, this.points, this.overlay);
    listenToGestures(this.overlay, {
      pan: (dx, dy) => this.#pan(dx, dy),
      zoom: (factor, px, py) => this.zoom(factor, px, py),
      point: (px, py, reach) => this.#point(px, py, reach),
      leave: () => this.#leave(),
      choose: (isPair) => this.#choose(isPair),
      setKeyboard: (isKeyboard) => {
        this.#withCross = isKeyboard;
        this.#drawLater();
      },
      size: () => this.#size,
      isReady: () => this.#viewport !== null,
      canZoom: handlers.canZoom,
    });
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(this.node);
    const lose = /** @param {Event} event */ (event) => {
      event.preventDefault();
      this.#painter = null;
    };
    const restore = () => {
      this.#upload();
      this.#paintLater();
    };
    this.node.addEventListener("webglcontextlost", lose, true);
    this.node.addEventListener("webglcontextrestored", restore, true);
  }

  /** The slot of each cluster in the palette. */
  get slots() {
    return this.#slots;
  }

  /** @param {Float32Array} places two coordinates a row, within [-1, 1] */
  setPlaces(places) {
    this.#places = places;
    [this.#findRow, this.#home, this.#viewport] = [null, null, null];
  }

  /**
   * The cluster of each row, and the slot of each cluster in the palette.
   * @param {Uint8Array | Uint16Array} labels the highest number stands for noise
   * @param {Map<number, number>} slots
   */
  setLabels(labels, slots) {
    this.#noise = labels.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
    [this.#labels, this.#slots] = [labels, slots];
    const highlighted = this.#highlighted;
    if (highlighted !== null && highlighted !== this.#noise && !slots.has(highlighted)) {
      this.#highlighted = null;
    }
    this.#palette ??= readPalette(this.root);
    if (!this.#places.length) return;
    if (this.#home && this.#painter) {
      this.#painter.setLabels(labels);
      this.#setColours();
      this.#isStale = true;
      this.#paint();
    } else {
      this.#upload();
      this.#size = { width: 0, height: 0 };
      this.#resize();
    }
  }

  /** @param {RowMark[]} marks */
  mark(marks) {
    this.#marks = marks;
    this.#drawLater();
  }

  /** @param {number | null} cluster the one that alone keeps its colour */
  highlight(cluster) {
    this.#highlighted = cluster !== null && cluster < 0 ? this.#noise : cluster;
    this.#setColours();
    this.#paintLater();
  }

  /** Follow a change between light and dark. */
  recolour() {
    this.#palette = readPalette(this.root);
    this.#setColours();
    this.#paintLater();
  }

  /** Show all rows. */
  reset() {
    if (!this.#home) return;
    this.#viewport = { ...this.#home };
    this.#paintLater();
  }

  /**
   * @param {number} factor
   * @param {number} [px] the pixel that stays where it is; by default the centre
   * @param {number} [py]
   */
  zoom(factor, px = this.#size.width / 2, py = this.#size.height / 2) {
    if (!this.#viewport || !this.#home) return;
    this.#viewport = zoomAt(this.#viewport, this.#home, this.#size, factor, px, py);
    this.#paintLater();
    this.#point(px, py);
  }

  /** What is seen as an SVG picture; null before anything is. */
  writePicture() {
    const [viewport, palette, size] = [this.#viewport, this.#palette, this.#size];
    if (!viewport || !palette || !this.#places.length) return null;
    const colours = createColourTable(palette, this.#slots, this.#noise, null);
    const n = this.#places.length / 2;
    const step = Math.ceil(n / MOST_DRAWN);
    const radius = pointSize(viewport, this.#home ?? viewport, size, n) / 2;
    const dots = [];
    for (let row = 0; row < n; row += step) {
      const [x, y] = this.#locate(viewport, row);
      const [r, g, b, alpha] = colours.subarray(4 * this.#labels[row]);
      const at = `translate(${x.toFixed(1)},${y.toFixed(1)})`;
      dots.push(`<use href="#shape-${alpha & 3}" transform="${at}" fill="rgb(${r},${g},${b})"/>`);
    }
    const { width, height } = size;
    const box = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    const shapes = `<defs>${SHAPES.map((path, k) => `<path id="shape-${k}" d="${path}" transform="scale(${radius.toFixed(2)})"/>`).join("")}</defs>`;
    const paper = `<rect width="100%" height="100%" fill="${palette.paper}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${shapes}${paper}<g fill-opacity=".85">${dots.join("")}</g></svg>\n`;
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  // ---------------------------------------------------------------- drawing
  #upload() {
    if (!this.#painter) {
      const { painter, usesCard, canvas } = choosePainter(this.points);
      [this.#painter, this.points] = [painter, canvas];
      this.node.dataset.painter = usesCard ? "card" : "memory";
    }
    this.#painter.setPlaces(this.#places);
    this.#painter.setLabels(this.#labels);
    this.#setColours();
  }

  #setColours() {
    const palette = this.#palette;
    if (!this.#painter || !palette) return;
    const table = createColourTable(palette, this.#slots, this.#noise, this.#highlighted);
    this.#painter.setColours(table, parseColour(palette.paper));
  }

  #drawLater() {
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  #paintLater() {
    this.#isStale = true;
    this.#drawLater();
  }

  #paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const [viewport, home, palette, size] = [this.#viewport, this.#home, this.#palette, this.#size];
    if (!this.#painter || !viewport || !home || !size.width || !palette) return;
    const diameter = pointSize(viewport, home, size, this.#places.length / 2);
    const ratio = this.points.width / size.width;
    if (this.#isStale) this.#painter.paint({ ...viewport, ...size, ratio, size: diameter });
    this.#isStale = false;
    drawMarks(this.overlay, {
      ...size,
      size: diameter,
      ink: palette.ink,
      paper: palette.paper,
      marks: this.#marks.map(({ row, ...sign }) => {
        const [x, y] = this.#locate(viewport, row);
        return { x, y, ...sign };
      }),
      hovered: this.#hovered >= 0 ? this.#locate(viewport, this.#hovered) : null,
      withCross: this.#withCross,
    });
  }

  /**
   * @param {Viewport} viewport
   * @param {number} row
   */
  #locate(viewport, row) {
    return toPixels(viewport, this.#size, this.#places[2 * row], this.#places[2 * row + 1]);
  }

  #resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [width, height] = [this.node.clientWidth, this.node.clientHeight];
    if (!width || !height) return;
    const isSame = width === this.#size.width && height === this.#size.height;
    if (isSame && this.points.width === Math.round(width * ratio)) return;
    if (!this.#palette) {
      this.#palette = readPalette(this.root);
      this.#setColours();
    }
    this.#size = { width, height };
    for (const canvas of [this.points, this.overlay]) {
      Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    }
    const hasMoved = this.#home && this.#viewport && !isSameViewport(this.#viewport, this.#home);
    if (this.#places.length) this.#home = fitRows(this.#places, this.#size);
    if (!hasMoved) this.#viewport = this.#home && { ...this.#home };
    this.#isStale = true;
    this.#paint();
  }

  // ---------------------------------------------------------------- pointing and moving
  /**
   * @param {number} dx
   * @param {number} dy
   */
  #pan(dx, dy) {
    if (!this.#viewport || !this.#home) return;
    this.#viewport = panBy(this.#viewport, this.#home, dx, dy);
    this.#paintLater();
  }

  /**
   * @param {number} px
   * @param {number} py
   * @param {number} [reach]
   */
  #point(px, py, reach = REACH) {
    const viewport = this.#viewport;
    let row = -1;
    if (viewport && this.#places.length) {
      this.#findRow ??= indexRows(this.#places);
      row = this.#findRow(...toUnits(viewport, this.#size, px, py), reach / viewport.scale);
    }
    if (row !== this.#hovered) {
      this.#hovered = row;
      this.overlay.style.cursor = row >= 0 ? "pointer" : "grab";
      this.#drawLater();
    }
    if (viewport && row >= 0) this.handlers.hover(row, ...this.#locate(viewport, row));
    else this.handlers.hover(-1, 0, 0);
  }

  #leave() {
    [this.#hovered, this.#withCross] = [-1, false];
    this.handlers.hover(-1, 0, 0);
    this.#drawLater();
  }

  #choose(/** @type {boolean} */ isPair) {
    if (this.#hovered < 0) return false;
    this.handlers.choose(this.#hovered, isPair);
    return true;
  }
}
