/**
 * The rows of a cluster as a list in which some can be selected: tiles for pictures and curves, lines for texts, a table
 * for records. Only what is in sight is drawn, so a hundred thousand rows cost no more than twenty.
 */
import { h, listChildren, setAttribute } from "./dom.js";
import { openItem } from "./item_dialog.js";
import { renderGlimpse } from "./items.js";
import { describeCertainty } from "./member_wording.js";

/** @import { Page } from "./page.js" */
/** @import { Item } from "./protocol.d.ts" */

/** Pixels of a row by its kind; `width` is the least width of a tile, and lines take the whole width. */
const SHAPES = {
  image: { height: 148, width: 116 },
  series: { height: 124, width: 180 },
  text: { height: 68, width: Infinity },
  record: { height: 38, width: Infinity },
};
/**
 * @param {Item} item
 * @returns {keyof typeof SHAPES}
 */
const findKind = ({ text, image, series }) =>
  typeof text === "string" ? "text" : image ? "image" : series ? "series" : "record";

const MOST_COLUMNS = 12; // of a record
const COLUMN = 108; // pixels
const MARGIN = 3; // lines that are drawn above and below what is in sight
const AT_ONCE = 50; // rows that the host gives at once

export class MemberList {
  /** @type {number[]} */
  rows = [];
  /** Selected rows. @type {Set<number>} */
  selected = new Set();
  /** @type {number[] | null} */
  #certainty = null;
  most = 0; // rows that can be selected
  #focus = 0; // position
  #anchor = 0; // where a range begins
  /** @type {Map<number, HTMLElement>} drawn nodes by position */
  #nodes = new Map();
  #isPlanned = false;
  /** @type {number[]} */
  #wanted = [];

  /**
   * @param {Page} page
   * @param {string} label
   * @param {() => void} onSelect called when the selection has changed
   */
  constructor(page, label, onSelect) {
    this.page = page;
    this.onSelect = onSelect;
    this.kind = "record";
    this.shape = SHAPES.record;
    this.id = page.createId("member");
    this.head = h("div", { class: "lw-member-head", hidden: true, "aria-hidden": "true" });
    this.all = h("div", { class: "lw-members-all" });
    this.node = h(
      "div",
      {
        class: "lw-members",
        role: "listbox",
        tabindex: "0",
        "aria-multiselectable": "true",
        "aria-label": label,
      },
      this.head,
      this.all,
    );
    this.node.addEventListener("scroll", () => this.#plan());
    this.node.addEventListener("keydown", (event) => this.#press(event));
    this.node.addEventListener("focus", () => this.#markFocus());
    this.#observer.observe(this.node);
  }

  #observer = new ResizeObserver(() => this.#redraw());

  close() {
    this.#observer.disconnect();
  }

  /**
   * Show other rows. Selected rows that are not among them are not selected any more.
   * @param {number[]} rows
   * @param {number[] | null} certainty
   * @param {number} most rows that can be selected
   */
  async show(rows, certainty, most) {
    this.#wanted = rows;
    this.most = most;
    const [first] = rows.length ? await this.page.controller.loadItems(rows.slice(0, 1)) : [];
    if (this.#wanted !== rows) return; // others are to be shown by now
    if (first) this.#setKind(findKind(first));
    const there = new Set(rows);
    this.rows = rows;
    this.#certainty = certainty;
    for (const row of this.selected) if (!there.has(row)) this.selected.delete(row);
    this.#focus = Math.min(this.#focus, Math.max(0, rows.length - 1));
    this.#anchor = this.#focus;
    this.#redraw();
    this.onSelect();
  }

  /** @param {keyof typeof SHAPES} kind of the rows */
  #setKind(kind) {
    this.kind = kind;
    this.shape = SHAPES[kind];
    this.node.dataset.kind = kind;
  }

  clear() {
    this.selected.clear();
    this.#redraw();
    this.onSelect();
  }

  // ---------------------------------------------------------------- drawing
  /** How many rows are side by side. */
  get #across() {
    return Math.max(1, Math.floor(this.node.clientWidth / this.shape.width));
  }

  #redraw() {
    for (const node of this.#nodes.values()) node.remove();
    this.#nodes.clear();
    this.all.style.height = `${Math.ceil(this.rows.length / this.#across) * this.shape.height}px`;
    this.#draw();
  }

  #plan() {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.#draw();
    });
  }

  /** Draw what is in sight, and remove what is not any more. */
  #draw() {
    const [across, { height }] = [this.#across, this.shape];
    const first = Math.max(0, Math.floor(this.node.scrollTop / height) - MARGIN);
    const last = Math.ceil((this.node.scrollTop + this.node.clientHeight) / height) + MARGIN;
    const [from, to] = [first * across, Math.min(this.rows.length, last * across)];
    for (const [at, node] of this.#nodes) {
      if (at >= from && at < to) continue;
      node.remove();
      this.#nodes.delete(at);
    }
    /** @type {number[]} */
    const missing = [];
    for (let at = from; at < to; at += 1) {
      if (this.#nodes.has(at)) continue;
      this.#create(at, across);
      missing.push(at);
    }
    for (let i = 0; i < missing.length; i += AT_ONCE) this.#fill(missing.slice(i, i + AT_ONCE));
    this.#markFocus();
  }

  /**
   * An empty place for a row, which is filled when the host has told how it looks.
   * @param {number} at
   * @param {number} across
   */
  #create(at, across) {
    const [row, { height }] = [this.rows[at], this.shape];
    const node = h("div", {
      class: "lw-member",
      role: "option",
      id: `${this.id}-${at}`,
      "aria-setsize": this.rows.length,
      "aria-posinset": at + 1,
      "aria-selected": String(this.selected.has(row)),
    });
    Object.assign(node.style, {
      top: `${Math.floor(at / across) * height}px`,
      height: `${height}px`,
      left: `${(100 * (at % across)) / across}%`,
      width: `${100 / across}%`,
    });
    node.addEventListener("click", (event) => this.#click(at, event.shiftKey));
    node.addEventListener("dblclick", () => openItem(this.page, row));
    this.#nodes.set(at, node);
    this.all.append(node);
  }

  /** @param {number[]} places */
  async #fill(places) {
    const rows = this.rows;
    const items = await this.page.controller.loadItems(places.map((at) => rows[at]));
    if (rows !== this.rows) return;
    const found = new Map(items.map((item) => [item.row, item]));
    for (const at of places) {
      const [node, item] = [this.#nodes.get(at), found.get(rows[at])];
      if (node && item) node.replaceChildren(...this.#render(item, at));
    }
  }

  /**
   * @param {Item} item
   * @param {number} at
   */
  #render(item, at) {
    const share = this.#certainty?.[at];
    const certainty =
      share !== undefined &&
      h("span", { class: "lw-certainty", "data-low": share < 0.8 }, describeCertainty(share));
    const name = h("span", { class: "lw-member-name" }, item.name);
    const tick = h("span", { class: "lw-tick", "aria-hidden": "true" });
    if (this.kind !== "record") {
      const { fields: _, ...content } = item;
      const look = h("span", { class: "lw-member-look" }, renderGlimpse({ ...content, fields: [] }));
      return listChildren(tick, look, name, certainty);
    }
    const fields = item.fields.slice(0, MOST_COLUMNS);
    this.#showHead(fields.map((field) => field.name));
    return listChildren(
      tick,
      name,
      certainty || h("span", {}),
      fields.map((field) => h("span", { title: `${field.name}: ${field.value}` }, field.value)),
    );
  }

  /** @param {string[]} names the columns of records */
  #showHead(names) {
    if (!this.head.hidden) return;
    this.head.hidden = false;
    this.head.replaceChildren(...["", "", "", ...names].map((name) => h("span", { title: name }, name)));
    this.node.style.setProperty("--lw-across", String(names.length));
    this.node.style.setProperty("--lw-least", `${names.length * COLUMN + 260}px`);
  }

  // ---------------------------------------------------------------- selecting
  /**
   * @param {number} at
   * @param {boolean} isRange
   */
  #click(at, isRange) {
    this.#focus = at;
    if (isRange) this.#selectRange(at);
    else this.#toggle(at);
    this.node.focus({ preventScroll: true });
    this.#markFocus();
  }

  /** @param {number} at */
  #toggle(at) {
    const row = this.rows[at];
    if (row === undefined) return;
    this.#anchor = at;
    if (!this.selected.delete(row) && this.selected.size < this.most) this.selected.add(row);
    this.#markSelected();
  }

  /** @param {number} at the other end */
  #selectRange(at) {
    const [from, to] = [Math.min(at, this.#anchor), Math.max(at, this.#anchor)];
    for (const row of this.rows.slice(from, to + 1)) {
      if (this.selected.size < this.most) this.selected.add(row);
    }
    this.#markSelected();
  }

  #markSelected() {
    for (const [at, node] of this.#nodes) {
      setAttribute(node, "aria-selected", String(this.selected.has(this.rows[at])));
    }
    this.onSelect();
  }

  #markFocus() {
    for (const [at, node] of this.#nodes) node.toggleAttribute("data-focus", at === this.#focus);
    const node = this.#nodes.get(this.#focus);
    if (node) setAttribute(this.node, "aria-activedescendant", node.id);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const across = this.#across;
    const screen = across * Math.max(1, Math.floor(this.node.clientHeight / this.shape.height) - 1);
    /** @type {Record<string, number>} */
    const steps = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: across,
      ArrowUp: -across,
      PageDown: screen,
      PageUp: -screen,
      Home: -this.rows.length,
      End: this.rows.length,
    };
    const step = steps[event.key];
    if (step !== undefined) this.#go(step, event.shiftKey);
    else if (event.key === " ") this.#toggle(this.#focus);
    else if (event.key === "Enter") openItem(this.page, this.rows[this.#focus]);
    else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) {
      this.#anchor = 0;
      this.#selectRange(this.rows.length - 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {number} step
   * @param {boolean} isRange whether what is passed is selected
   */
  #go(step, isRange) {
    if (!isRange) this.#anchor = -1;
    else if (this.#anchor < 0) this.#anchor = this.#focus;
    this.#focus = Math.min(this.rows.length - 1, Math.max(0, this.#focus + step));
    const { height } = this.shape;
    const top = Math.floor(this.#focus / this.#across) * height;
    const head = this.head.offsetHeight;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top + height + head > this.node.scrollTop + this.node.clientHeight) {
      this.node.scrollTop = top + height + head - this.node.clientHeight;
    }
    if (isRange) this.#selectRange(this.#focus);
    else this.#anchor = this.#focus;
    this.#draw();
  }
}
