/** Drag one thing onto another. A mouse drags all of it, a finger its handle alone, if it has one. */

import { h, setText } from "./dom.js";
import { clamp } from "./numbers.js";

const CLICK = 6; // pixels that a pointer may move within a click
const EDGE = 44; // pixels from the end of the list where it scrolls
const STEP = 9; // pixels that it scrolls
const STEP_MS = 16;
const NOT_HERE = "input, .lw-link, .lw-actions, .lw-rules"; // a press there means something else

/**
 * What can be dragged, or dropped on, and the element that shows it.
 * @template T
 * @typedef {{ node: HTMLElement, thing: T }} Spot
 */

/**
 * What is dragged where.
 * @template T
 * @typedef {object} DragRules
 * @property {(node: Element) => Spot<T> | null} findSource
 * @property {(node: Element, thing: T) => Spot<T> | null} findTarget where the thing can be dropped
 * @property {(thing: T, target?: T) => string} describe what is dragged, and what happens if it is dropped
 * @property {(thing: T, target: T) => void} drop
 * @property {string} [handle] what a finger drags, as a selector
 */

/** @template T */
export class Drag {
  /** Where the pointer went down. @type {{ spot: Spot<T>, id: number, x: number, y: number } | null} */
  #press = null;
  /** @type {Spot<T> | null} */
  #target = null;
  /** @type {HTMLElement | null} */
  #label = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** Where the pointer is. */
  #at = { x: 0, y: 0 };

  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} area
   * @param {DragRules<T>} rules
   */
  constructor(root, area, rules) {
    this.root = root;
    this.area = area;
    this.rules = rules;
    area.addEventListener("pointerdown", (event) => this.#begin(event));
    area.addEventListener("pointermove", (event) => this.#move(event));
    area.addEventListener("pointerup", (event) => this.#end(event));
    area.addEventListener("pointercancel", () => this.cancel());
    area.addEventListener("dragstart", (event) => event.preventDefault()); // of a picture
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
    const { handle, findSource } = this.rules;
    const isHandle = event.pointerType === "mouse" || Boolean(handle && node.closest(handle));
    if (event.button || !event.isPrimary || !isHandle || node.closest(NOT_HERE)) return;
    const spot = findSource(node);
    this.#press = spot && { spot, id: event.pointerId, x: event.clientX, y: event.clientY };
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

  /** @param {{ spot: Spot<T>, id: number }} press */
  #start({ spot, id }) {
    this.area.setPointerCapture(id);
    document.getSelection()?.removeAllRanges();
    this.#label = h("div", { class: "lw-dragging", "aria-hidden": "true" });
    this.root.append(this.#label);
    this.root.dataset.drags = "";
    spot.node.dataset.drag = "source";
    this.#timer = setInterval(() => this.#scroll(), STEP_MS);
  }

  /** Show what is dragged at the pointer, and where it would be dropped. */
  #follow() {
    const [press, label, { x, y }] = [this.#press, this.#label, this.#at];
    if (!press || !label) return;
    const { describe, findTarget } = this.rules;
    const document = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const below = document.elementFromPoint(x, y);
    const spot = below && this.area.contains(below) ? findTarget(below, press.spot.thing) : null;
    if (this.#target) delete this.#target.node.dataset.drag;
    this.#target = spot && spot.node !== press.spot.node ? spot : null;
    if (this.#target) this.#target.node.dataset.drag = "target";
    setText(label, describe(press.spot.thing, this.#target?.thing));
    const edge = this.root.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = label;
    label.style.left = `${clamp(x - edge.left + 12, 4, Math.max(4, edge.width - offsetWidth - 4))}px`;
    label.style.top = `${clamp(y - edge.top - offsetHeight - 10, 4, edge.height - offsetHeight - 4)}px`;
  }

  /** Scroll the area, or the page around it, while the pointer is near their ends. */
  #scroll() {
    const { top, bottom } = this.area.getBoundingClientRect();
    const isBox = this.area.scrollHeight > this.area.clientHeight + 1;
    const { y } = this.#at;
    const isAbove = y < Math.max(0, isBox ? top : 0) + EDGE;
    const isBelow = y > Math.min(window.innerHeight, isBox ? bottom : window.innerHeight) - EDGE;
    if (!isAbove && !isBelow) return;
    (isBox ? this.area : window).scrollBy(0, isAbove ? -STEP : STEP);
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
    if (target) this.rules.drop(press.spot.thing, target.thing);
  }

  /** Forget what is dragged, since the list has changed or the person gave up. */
  cancel() {
    clearInterval(this.#timer);
    for (const spot of [this.#press?.spot, this.#target]) if (spot) delete spot.node.dataset.drag;
    this.#label?.remove();
    delete this.root.dataset.drags;
    [this.#press, this.#target, this.#label] = [null, null, null];
  }
}
