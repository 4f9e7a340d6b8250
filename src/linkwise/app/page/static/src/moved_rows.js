/** The rows that are in another cluster than before, and for how long they are outlined. */

const SHOWN_MS = 1000;
const MOST = 2000; // rows that are outlined; of more, rows at equal distances

/** @typedef {Uint8Array | Uint16Array} Labels the highest number stands for noise */

/**
 * The rows with another label. Labels may have begun to take two bytes.
 * @param {Labels} before
 * @param {Labels} after
 */
export function findMovedRows(before, after) {
  if (before.length !== after.length) return [];
  const [was, is] = [before, after].map((labels) => (labels.BYTES_PER_ELEMENT === 1 ? 255 : 65535));
  /** @type {number[]} */
  const rows = [];
  for (let row = 0; row < after.length; row += 1) {
    const isNoise = after[row] === is;
    if (isNoise ? before[row] !== was : before[row] !== after[row] || before[row] === was) rows.push(row);
  }
  return rows;
}

/**
 * At most so many rows, at equal distances in their list.
 * @param {number[]} rows
 * @param {number} [most]
 */
export function thinOut(rows, most = MOST) {
  const step = Math.max(1, rows.length / most);
  return Array.from({ length: Math.min(rows.length, most) }, (_, i) => rows[Math.floor(i * step)]);
}

/**
 * Remembers which rows are outlined. Nothing moves or fades, so it is the same for people who prefer less motion.
 * @param {HTMLElement} node gets the number of rows that moved as `data-moved`, as long as they are outlined
 * @param {() => void} draw draws the marks anew
 */
export function createMovedRows(node, draw) {
  /** @type {number[]} */
  let shown = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const hide = () => {
    shown = [];
    delete node.dataset.moved;
    draw();
  };
  return {
    get rows() {
      return shown;
    },
    /** @param {number[]} rows */
    show(rows) {
      clearTimeout(timer);
      if (!rows.length) return hide();
      shown = thinOut(rows);
      node.dataset.moved = String(rows.length);
      timer = setTimeout(hide, SHOWN_MS);
      return draw();
    },
    close() {
      clearTimeout(timer);
    },
  };
}
