/** The cards and piles of a screen as elements. A card keeps its element wherever it lies. */
import { chooseSlots, slotName, slotShape } from "./colours.js";
import { createButton, renderKey } from "./controls.js";
import { h } from "./dom.js";
import { openItem } from "./item_dialog.js";
import { isCut, renderGlimpses } from "./items.js";
import { NEW_PILE, UNSURE } from "./sorting_wording.js";
import { clusterName } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Pile } from "./placing.js" */
/** @import { Item, SortingScreen } from "./protocol.d.ts" */

const LETTERS = 400; // of a text on a card
export const KEYED = 9; // piles that have a key

/** @type {Record<"new" | "doubt", [string, string]>} */
const TARGETS = { new: ["N", NEW_PILE], doubt: ["S", UNSURE] };

/**
 * The name of the cluster of a known row.
 * @param {Page} page
 * @param {number} row
 */
export const nameCluster = ({ controller }, row) =>
  clusterName(controller.clusterOf(row) ?? { cluster: controller.labelOf(row), name: "" });

export class ScreenView {
  /**
   * @param {Page} page
   * @param {SortingScreen} screen
   */
  constructor(page, screen) {
    this.page = page;
    this.screen = screen;
    this.known = screen.known.flat();
    const items = [...this.known, ...screen.cards];
    const looks = renderGlimpses(items, { letters: LETTERS, columns: screen.columns });
    /** What is seen of each row. @type {Map<number, (Node | string)[]>} */
    this.looks = new Map(items.map(({ row }, i) => [row, looks[i]]));
    /** @type {Map<number, HTMLElement>} */
    this.cards = new Map(screen.cards.map((item) => [item.row, this.#renderCard(item)]));
  }

  /** @param {number[]} rows */
  listCards(rows) {
    return rows.flatMap((row) => this.cards.get(row) ?? []);
  }

  /** The button of a card, which has its focus. @param {number | null} row */
  findButton(row) {
    return this.cards.get(row ?? -1)?.querySelector("button") ?? null;
  }

  /** Frame the card that keys place. @param {number | null} current */
  mark(current) {
    for (const [row, node] of this.cards) {
      node.toggleAttribute("data-current", row === current);
      this.findButton(row)?.setAttribute("aria-pressed", String(row === current));
    }
  }

  /** @param {Item} item */
  #renderCard(item) {
    const look = h("div", { class: "lw-look", id: this.page.createId("card") }, this.looks.get(item.row));
    const name = h(
      "button",
      { type: "button", class: "lw-card-name", "aria-pressed": "false", "aria-describedby": look.id },
      item.name,
    );
    return h("li", { "data-card": item.row }, name, look, this.#renderMore(item));
  }

  /** A button that opens the whole row, if a card shows less. @param {Item} item */
  #renderMore(item) {
    if (!isCut(item, LETTERS, this.screen.columns)) return null;
    return createButton("More", () => openItem(this.page, item.row), {
      className: "lw-link",
      "aria-label": `More of ${item.name}`,
      "aria-haspopup": "dialog",
    });
  }

  /**
   * @param {Pile} pile
   * @param {number} at
   * @param {string} [number] its number, or the key that chooses it
   */
  renderPile({ known, cards }, at, number = String(at + 1)) {
    const rows = this.known.filter(({ row }) => known.includes(row));
    const name = rows.length ? nameCluster(this.page, rows[0].row) : NEW_PILE;
    const words = h("span", {}, h("span", { class: "lw-hidden" }, `Pile ${number}: `), name);
    const head = this.#renderHead(number, [rows.length > 0 && this.#renderDot(rows[0].row), words]);
    const standing = rows.map((item) => this.renderRow(item));
    return h("li", { class: "lw-pile", "data-pile": at }, head, standing, this.#renderList(cards));
  }

  /** A row that cannot be moved. @param {Item} item */
  renderRow(item) {
    return h(
      "div",
      { class: "lw-known" },
      h("strong", {}, item.name),
      h("div", { class: "lw-look" }, this.looks.get(item.row)),
      this.#renderMore(item),
    );
  }

  /**
   * A place that is no pile yet.
   * @param {"new" | "doubt"} to
   * @param {number[]} [cards]
   */
  renderTarget(to, cards = []) {
    const [key, name] = TARGETS[to];
    const head = this.#renderHead(key, [h("span", {}, name)]);
    return h("li", { class: "lw-pile lw-target", "data-pile": to }, head, this.#renderList(cards));
  }

  /**
   * @param {string} key
   * @param {(HTMLElement | false)[]} content
   */
  #renderHead(key, content) {
    const isKeyed = !(Number(key) > KEYED);
    return createButton([renderKey(key), ...content], () => {}, {
      className: "lw-pile-head",
      "aria-keyshortcuts": isKeyed && key,
    });
  }

  /** The colour of the cluster of a row. @param {number} row */
  #renderDot(row) {
    const { controller } = this.page;
    const slot = controller.state ? chooseSlots(controller.state).get(controller.labelOf(row)) : undefined;
    const dot = h("span", { class: "lw-dot", "aria-hidden": "true" });
    dot.dataset.shape = String(slot === undefined ? 0 : slotShape(slot));
    dot.style.setProperty("--lw-own", `var(--lw-${slot === undefined ? "cluster-none" : slotName(slot)})`);
    return dot;
  }

  /** @param {number[]} cards */
  #renderList(cards) {
    return cards.length > 0 && h("ul", { class: "lw-cards" }, this.listCards(cards));
  }
}
