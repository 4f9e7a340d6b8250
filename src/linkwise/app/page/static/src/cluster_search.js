/** Search and order of a list of clusters, for more clusters than one can survey. */
import { FEW, findClusters, ORDERS, sortClusters } from "./cluster_order.js";
import { describeFound } from "./cluster_wording.js";
import { h, setText } from "./dom.js";
import { countClusters } from "./wording.js";

/** @import { Order } from "./cluster_order.js" */
/** @import { Page } from "./page.js" */
/** @import { Cluster, RowHits, State } from "./protocol.d.ts" */

const TYPING_MS = 200; // the host is asked once nothing was typed for this long
/**
 * What the host found: rows by cluster, and clusters that the state does not list.
 * @typedef {object} Found
 * @property {string} text what it searched for
 * @property {number} labels the labels that this is about
 * @property {Map<number, RowHits>} hits
 * @property {Cluster[]} clusters
 * @property {number} more clusters that were found and not described
 */
/** @type {Found} */
const NOTHING = { text: "", labels: -1, hits: new Map(), clusters: [], more: 0 };

export class ClusterSearch {
  /** @type {Found} */
  #found = NOTHING;
  /** The event that the host knew when it was asked. @type {number | undefined} */
  #event;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {Page} page
   * @param {() => void} show show the clusters that are found now
   */
  constructor(page, show) {
    this.page = page;
    this.show = show;
    this.field = h("input", {
      class: "lw-search",
      type: "search",
      placeholder: "Name, number or row",
      "aria-label": "Search clusters by name, number or row",
      "aria-keyshortcuts": "/",
      maxlength: "200",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.#type(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape" && this.text) this.#clear(event);
      },
    });
    this.orders = h(
      "select",
      { class: "lw-order", "aria-label": "Order of the clusters", onchange: () => this.show() },
      ORDERS.map(([order, label]) => h("option", { value: order }, label)),
    );
    this.count = h("p", { class: "lw-soft lw-found", hidden: true });
    this.node = h("div", { class: "lw-finder", hidden: true }, this.field, this.orders, this.count);
  }

  /** What is searched for; empty if nothing is. */
  get text() {
    return this.field.value.trim();
  }

  /** @returns {Order} */
  get order() {
    return /** @type {Order} */ (this.orders.value);
  }

  /**
   * The clusters to list, and the rows that were found in them.
   * @param {State} state
   * @param {Cluster} [own] list only clusters that this one can be merged with
   */
  select(state, own) {
    const isCurrent = this.#found.text === this.text && this.#found.labels === state.labels;
    const found = isCurrent ? this.#found : NOTHING;
    const isOffered = /** @param {Cluster} each */ ({ cluster }) =>
      !own || (cluster >= 0 && cluster !== own.cluster);
    const known = [...state.clusters, ...found.clusters].filter(isOffered);
    const withNoise = state.clusters.some((each) => each.cluster < 0);
    const total = countClusters(state) - (own ? 1 + Number(withNoise) : 0);
    const shown = sortClusters(this.text ? findClusters(known, this.text, found.hits) : known, this.order);
    this.node.hidden = total <= FEW && !this.text;
    this.orders.options[ORDERS.length - 1].hidden = state.clusters.some(
      (each) => each.answered === undefined,
    );
    this.count.hidden = !this.text;
    setText(this.count, describeFound(shown.length + found.more, total));
    if (this.text && this.#event !== state.event) this.#askLater(0, false);
    return { clusters: shown, hits: found.hits };
  }

  #type() {
    this.show();
    this.#askLater(TYPING_MS, true);
  }

  /** @param {KeyboardEvent} event */
  #clear(event) {
    event.preventDefault();
    event.stopPropagation(); // a dialog stays open
    this.field.value = "";
    this.#type();
  }

  /**
   * @param {number} ms
   * @param {boolean} isTyped whether screen readers hear the number that is found; they hear answers by themselves
   */
  #askLater(ms, isTyped) {
    this.#event = this.page.controller.state?.event;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(isTyped), ms);
  }

  /**
   * Ask the host for rows, and for clusters that are not listed.
   * @param {boolean} isTyped
   */
  async #ask(isTyped) {
    const { text, page } = this;
    if (!text || !this.field.isConnected) return;
    const reply = await page.controller.request({ do: "find", text });
    if (text !== this.text || !this.field.isConnected) return; // the person goes on typing
    if (reply.ok) {
      const { labels, clusters, more } = reply;
      const hits = new Map(reply.rows.map((/** @type {RowHits} */ each) => [each.cluster, each]));
      this.#found = { text, labels, hits, clusters, more };
      this.show();
    }
    if (isTyped) page.announce(this.count.textContent ?? "");
  }
}
