/** Drag a cluster of the list onto another one. A mouse drags a row or its colour, a finger the colour alone. */

import { describeDrag } from "./cluster_wording.js";
import { h, setText } from "./dom.js";
import { clamp } from "./numbers.js";

/** @import { Cluster } from "./protocol.d.ts" */

const CLICK = 6; // pixels that a pointer may move within a click
const EDGE = 44; // pixels from the end of the list where it scrolls
const STEP = 9; // pixels that it scrolls
const STEP_MS = 16;
const NOT_HERE = "input, .lw-link, .lw-actions, .lw-rules"; // a press there means something else

/** @typedef {{ node: HTMLElement, cluster: Cluster }} Row */

export class ClusterDrag {
  /** Where the pointer went down. @type {{ row: Row, id: number, x: number, y: number } | null} */
  #press = null;
  /** @type {Row | null} */
  #target = null;
  /** @type {HTMLElement | null} */
  #label = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** Where the pointer is. */
  #at = { x: 0, y: 0 };

  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} list
   * @param {(node: Element) => Row | null} findRow the row of an element, if its cluster can be merged
   * @param {(cluster: Cluster, other: Cluster) => void} drop
   */
  constructor(root, list, findRow, drop) {
    this.root = root;
    this.list = list;
    this.findRow = findRow;
    this.drop = drop;
    list.addEventListener("pointerdown", (event) => this.#begin(event));
    list.addEventListener("pointermove", (event) => this.#move(event));
    list.addEventListener("pointerup", (event) => this.#end(event));
    list.addEventListener("pointercancel", () => this.cancel());
    const onKey = /** @param {KeyboardEvent} event */ (event) => {
      if (event.key !== "Escape" || !this.#label) return;
      event.stopPropagation();
      this.cancel();
    };
    root.addEventListener("keydown", onKey, true);
  }

  /** @param {PointerEvent} event */
  #begin(event) {
    const node = /** @type {Element} */ (event.target);
    const isHandle = node.closest(".lw-swatch") !== null || event.pointerType === "mouse";
    if (event.button || !event.isPrimary || !isHandle || node.closest(NOT_HERE)) return;
    const row = this.findRow(node);
    this.#press = row && { row, id: event.pointerId, x: event.clientX, y: event.clientY };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const press = this.#press;
    if (!press || press.id !== event.pointerId) return;
    if (!(event.buttons & 1)) {
      this.cancel(); // it was released elsewhere
      return;
    }
    this.#at = { x: event.clientX, y: event.clientY };
    if (!this.#label && Math.hypot(this.#at.x - press.x, this.#at.y - press.y) > CLICK) this.#start(press);
    if (this.#label) this.#follow();
  }

  /** @param {{ row: Row, id: number }} press */
  #start({ row, id }) {
    this.list.setPointerCapture(id);
    document.getSelection()?.removeAllRanges();
    this.#label = h("div", { class: "lw-dragging", "aria-hidden": "true" });
    this.root.append(this.#label);
    this.root.dataset.drags = "";
    row.node.dataset.drag = "source";
    this.#timer = setInterval(() => this.#scroll(), STEP_MS);
  }

  /** Show what is dragged at the pointer, and where it would be dropped. */
  #follow() {
    const [press, label, { x, y }] = [this.#press, this.#label, this.#at];
    if (!press || !label) return;
    const document = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const below = document.elementFromPoint(x, y);
    const row = below && this.list.contains(below) ? this.findRow(below) : null;
    if (this.#target) delete this.#target.node.dataset.drag;
    this.#target = row && row.node !== press.row.node ? row : null;
    if (this.#target) this.#target.node.dataset.drag = "target";
    setText(label, describeDrag(press.row.cluster, this.#target?.cluster));
    const edge = this.root.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = label;
    label.style.left = `${clamp(x - edge.left + 12, 4, Math.max(4, edge.width - offsetWidth - 4))}px`;
    label.style.top = `${clamp(y - edge.top - offsetHeight - 10, 4, edge.height - offsetHeight - 4)}px`;
  }

  /** Scroll the list, or the page around it, while the pointer is near their ends. */
  #scroll() {
    const { top, bottom } = this.list.getBoundingClientRect();
    const isBox = this.list.scrollHeight > this.list.clientHeight + 1;
    const { y } = this.#at;
    const isAbove = y < Math.max(0, isBox ? top : 0) + EDGE;
    const isBelow = y > Math.min(window.innerHeight, isBox ? bottom : window.innerHeight) - EDGE;
    if (!isAbove && !isBelow) return;
    (isBox ? this.list : window).scrollBy(0, isAbove ? -STEP : STEP);
    this.#follow();
  }

  /** @param {PointerEvent} event */
  #end(event) {
    const [press, target, isDragged] = [this.#press, this.#target, this.#label !== null];
    if (!press || press.id !== event.pointerId) return;
    this.cancel();
    if (!isDragged) return;
    const ignore = /** @param {Event} click */ (click) => click.stopPropagation();
    this.root.addEventListener("click", ignore, { capture: true, once: true });
    setTimeout(() => this.root.removeEventListener("click", ignore, true), 0);
    if (target) this.drop(press.row.cluster, target.cluster);
  }

  /** Forget what is dragged, since the list has changed or the person gave up. */
  cancel() {
    clearInterval(this.#timer);
    for (const row of [this.#press?.row, this.#target]) if (row) delete row.node.dataset.drag;
    this.#label?.remove();
    delete this.root.dataset.drags;
    [this.#press, this.#target, this.#label] = [null, null, null];
  }
}
