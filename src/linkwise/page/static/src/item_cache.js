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
    const known = this.#items.get(row);
    if (known) return known;
    const reply = await this.#request({ do: "item", rows: [row] });
    if (!reply.ok) return null;
    const [oldest] = this.#items.keys();
    if (this.#items.size > MOST_ITEMS) this.#items.delete(oldest);
    const item = /** @type {Item} */ (reply.items[0]);
    this.add(item);
    return item;
  }
}
