/** The model of anywidget over a socket. */

/** @import { Model, Request } from "./protocol.d.ts" */

const FIRST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 5000;
const [PLACES, LABELS, WIDE_LABELS, FILE] = [0, 1, 2, 3]; // the first byte of a binary frame
const LOST = { kind: "lost", text: "The connection is lost." };

/**
 * @typedef {object} Browser what the model needs of a browser
 * @property {() => WebSocket} openSocket
 * @property {(path: string) => Promise<number>} fetchStatus the HTTP status of a HEAD request
 * @property {(title: string) => void} setTitle
 */

/**
 * Text frames carry JSON (requests out; states and replies in), binary frames carry places, labels and files. When
 * the socket breaks, it is opened again after growing waits, and requests without a reply fail as lost: what they say
 * may not be stored. The trait `link` says how the socket is: "open" (a state has arrived), "lost" (tried again),
 * "closed" (this page is not let in any more) or "login" (the password is needed again).
 * @implements {Model}
 */
export class SocketModel {
  /** @type {Record<string, unknown>} */
  #traits = { link: "lost" };
  /** @type {Map<string, ((...values: any[]) => void)[]>} */
  #listeners = new Map();
  /** Ids of requests without a reply. @type {Set<string>} */
  #unanswered = new Set();
  /** @type {WebSocket | null} */
  #socket = null;
  #wait = FIRST_WAIT;

  /** @param {Browser} browser */
  constructor(browser) {
    this.browser = browser;
  }

  /** @param {string} name */
  get(name) {
    return this.#traits[name];
  }

  /**
   * @param {string} event
   * @param {(...values: any[]) => void} listener
   */
  on(event, listener) {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  /**
   * @param {string} event
   * @param {(...values: any[]) => void} listener
   */
  off(event, listener) {
    const others = (this.#listeners.get(event) ?? []).filter((each) => each !== listener);
    this.#listeners.set(event, others);
  }

  /** @param {Request & { id: string }} request */
  send(request) {
    this.#unanswered.add(request.id);
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(request));
    else queueMicrotask(() => this.#failUnanswered());
  }

  connect() {
    const socket = this.browser.openSocket();
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = () => this.#reconnect();
  }

  /** Try the next time soon: the page is looked at again. */
  resetWait() {
    this.#wait = FIRST_WAIT;
  }

  async #reconnect() {
    if (this.#traits.link === "open") this.#set("link", "lost");
    this.#failUnanswered();
    const refusal = await this.#findRefusal();
    if (refusal) this.#set("link", refusal);
    setTimeout(() => this.connect(), this.#wait);
    this.#wait = Math.min(LONGEST_WAIT, 2 * this.#wait);
  }

  /** Tell whether a server runs that does not know this page, and whether a password opens it. */
  async #findRefusal() {
    try {
      if ((await this.browser.fetchStatus("/host.js")) !== 403) return null;
      // only the first page asks for a password
      return (await this.browser.fetchStatus("/")) === 403 ? "closed" : "login";
    } catch {
      return null;
    }
  }

  /** @param {string | ArrayBuffer} data */
  #receive(data) {
    if (typeof data !== "string") {
      this.#receiveBytes(data);
      return;
    }
    const message = JSON.parse(data);
    if ("re" in message) this.#reply(message);
    else {
      this.browser.setTitle(message.state.title ? `${message.state.title} · linkwise` : "linkwise");
      this.#openLink();
      this.#set("state", message.state);
    }
  }

  /** A state has arrived: from now on the page shows what the server knows. */
  #openLink() {
    if (this.#traits.link === "open") return;
    this.resetWait();
    this.#set("link", "open");
  }

  /** @param {ArrayBuffer} data */
  #receiveBytes(data) {
    const kind = new Uint8Array(data, 0, 1)[0];
    if (kind === PLACES) this.#traits.places = new Uint8Array(data, 4);
    else if (kind === LABELS || kind === WIDE_LABELS) this.#traits.labels = new Uint8Array(data, 4);
    else if (kind === FILE) {
      const end = 8 + new DataView(data).getUint32(4, true);
      const reply = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, end - 8)));
      this.#reply(reply, new Uint8Array(data, end));
    }
  }

  /**
   * @param {{ re: string }} message
   * @param {Uint8Array} [file]
   */
  #reply(message, file) {
    this.#unanswered.delete(message.re);
    this.#notify("msg:custom", message, file ? [file] : []);
  }

  /** Fail the requests that get no reply. */
  #failUnanswered() {
    for (const id of this.#unanswered) this.#reply(/** @type {any} */ ({ re: id, ok: false, error: LOST }));
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  #set(name, value) {
    this.#traits[name] = value;
    this.#notify(`change:${name}`);
  }

  /**
   * @param {string} event
   * @param {...unknown} values
   */
  #notify(event, ...values) {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(...values);
  }
}
