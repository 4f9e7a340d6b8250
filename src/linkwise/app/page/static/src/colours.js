/** The colours of the style sheet, for canvases. */
import { h } from "./dom.js";

const N_FAMILIES = 12; // colours that can be told apart
const N_SHADES = 4; // of each family; they repeat
const N_SLOTS = N_FAMILIES * N_SHADES;
const OPAQUE = 216; // of 255; both leave two bits for the shape
const FAINT = 20; // other clusters, while one is highlighted

/** @import { State } from "./protocol.d.ts" */

/** @typedef {[number, number, number]} Rgb */
/** @typedef {{ clusters: Rgb[], ink: string, paper: string }} Palette the last colour of clusters is that of noise */

/** Tell whether the notebook around the page is light or dark; if it does not say, follow the system. */
export function detectScheme() {
  const body = document.body;
  const jupyter = body.dataset.jpThemeLight;
  if (jupyter) return jupyter === "false" ? "dark" : "light";
  const vscode = body.dataset.vscodeThemeKind;
  if (vscode) return vscode.includes("light") ? "light" : "dark";
  const isDark = [body, document.documentElement].some((node) => node.classList.contains("dark"));
  return isDark ? "dark" : "light dark";
}

/**
 * The slot of each cluster in the palette, by its number: first the twelve colours, then their shades.
 * @param {Pick<State, "shades">} state
 * @returns {Map<number, number>}
 */
export const chooseSlots = ({ shades }) =>
  new Map(shades.map(([number, family, shade]) => [number, family + N_FAMILIES * (shade % N_SHADES)]));

/**
 * The name of a slot in the style sheet.
 * @param {number} slot
 */
export const slotName = (slot) =>
  slot < N_FAMILIES ? `cluster-${slot}` : `cluster-${slot % N_FAMILIES}-${Math.floor(slot / N_FAMILIES)}`;

/**
 * The shape of a slot, so that clusters of one colour family differ in more than a shade: 0 is a disc, 1 a square,
 * 2 a diamond, 3 a cross.
 * @param {number} slot
 */
export const slotShape = (slot) => Math.floor(slot / N_FAMILIES) % N_SHADES;

/**
 * How far a place is from the middle of a shape, as it is for a disc of radius 1: 1 at the edge, and a step across the
 * edge counts as far as it is long, so that all edges are equally soft.
 * @param {number} shape
 * @param {number} x
 * @param {number} y
 */
export function measureShape(shape, x, y) {
  const [across, up] = [Math.abs(x), Math.abs(y)];
  if (shape === 1) return Math.max(across, up) + 0.13;
  if (shape === 2) return (across + up) * Math.SQRT1_2 + 0.17;
  if (shape === 3) return Math.max(Math.min(across, up) + 0.62, Math.max(across, up));
  return Math.hypot(x, y);
}

/**
 * Whether some clusters share a colour family.
 * @param {Pick<State, "shades">} state
 */
export const hasFamilies = ({ shades }) => shades.some(([, , shade]) => shade > 0);

/**
 * Read the colours that hold in the current scheme. The result is null as long as the root is in no document:
 * JupyterLab inserts it only after rendering.
 * @param {HTMLElement} root
 * @returns {Palette | null}
 */
export function readPalette(root) {
  if (!root.isConnected) return null;
  const probe = h("span", { class: "lw-probe" });
  root.append(probe);
  const resolve = /** @param {string} name */ (name) => {
    probe.style.color = `var(--lw-${name})`;
    return getComputedStyle(probe).color;
  };
  const names = [...Array.from({ length: N_SLOTS }, (_, slot) => slotName(slot)), "cluster-none"];
  const palette = {
    clusters: names.map((name) => parseColour(resolve(name))),
    ink: resolve("ink"),
    paper: resolve("card"),
  };
  probe.remove();
  return palette;
}

/**
 * The red, green and blue of a computed CSS colour.
 * @param {string} colour
 */
export const parseColour = (colour) =>
  /** @type {Rgb} */ ((colour.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number));

/**
 * The colour of each label: red, green, blue, alpha. The last two bits of alpha are the shape.
 * @param {Palette} palette
 * @param {Map<number, number>} slots of the clusters
 * @param {number} noise the label that stands for noise
 * @param {number | null} highlighted the label that alone keeps its colour
 */
export function createColourTable(palette, slots, noise, highlighted) {
  const table = new Uint8Array(1024 * (noise > 255 ? 256 : 1));
  const setColour = /** @type {(label: number, colour: Rgb, shape: number) => void} */ (
    label,
    colour,
    shape,
  ) => {
    const isFaint = highlighted !== null && highlighted !== label;
    table.set([...colour, (isFaint ? FAINT : OPAQUE) + shape], 4 * label);
  };
  for (const [number, slot] of slots) setColour(number % noise, palette.clusters[slot], slotShape(slot));
  setColour(noise, palette.clusters[N_SLOTS], 0);
  return table;
}
