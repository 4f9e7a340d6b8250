/** The rows that the page has seen, so that it asks the host for each only once. */

/** @import { Item, Reply, Request } from "./protocol.d.ts" */

const MOST_ITEMS = 400; // rows that are remembered

export class ItemCache {
  /** @type {Map<number, Item>} */
  #items = new Map();
  #request;

  /** @param {(request: Request) => Promise<Reply>} request send a request to the host */
  constructor(request) {
    this.#request = request;
  }

  /** @param {Item} item */
  add(item) {
    this.#items.set(item.row, item);
  }

  clear() {
    this.#items.clear();
  }

  /**
   * How a row looks; asked of the host unless it is remembered. Null if the host gives an error.
   * @param {number} row
   * @returns {Promise<Item | null>}
   */
  async load(row) {
    const [item] = await this.loadAll([row]);
    return item ?? null;
  }

  /**
   * How some rows look; none if the host gives an error.
   * @param {number[]} rows at most as many as the host gives at once
   * @returns {Promise<Item[]>}
   */
  async loadAll(rows) {
    const known = new Map(rows.map((row) => [row, this.#items.get(row)]));
    const unknown = rows.filter((row) => !known.get(row));
    if (unknown.length) {
      const reply = await this.#request({ do: "item", rows: unknown });
      if (!reply.ok) return [];
      for (const item of /** @type {Item[]} */ (reply.items)) {
        const [oldest] = this.#items.keys();
        if (this.#items.size > MOST_ITEMS) this.#items.delete(oldest);
        known.set(item.row, item);
        this.add(item);
      }
    }
    return rows.flatMap((row) => known.get(row) ?? []);
  }
}
