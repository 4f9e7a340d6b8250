// Made from static/src by `make front`. Change the modules there, not this file.

// src/socket_model.js
var FIRST_WAIT = 500;
var LONGEST_WAIT = 5e3;
var [PLACES, LABELS, WIDE_LABELS, FILE] = [0, 1, 2, 3];
var LOST = { kind: "lost", text: "The connection is lost." };
var SocketModel = class {
  /** @type {Record<string, unknown>} */
  #traits = { link: "lost" };
  /** @type {Map<string, ((...values: any[]) => void)[]>} */
  #listeners = /* @__PURE__ */ new Map();
  /** Ids of requests without a reply. @type {Set<string>} */
  #unanswered = /* @__PURE__ */ new Set();
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
    this.#listeners.set(event, [...this.#listeners.get(event) ?? [], listener]);
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
      if (await this.browser.fetchStatus("/host.js") !== 403) return null;
      return await this.browser.fetchStatus("/") === 403 ? "closed" : "login";
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
    for (const id of this.#unanswered) this.#reply(
      /** @type {any} */
      { re: id, ok: false, error: LOST }
    );
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
    for (const listener of [...this.#listeners.get(event) ?? []]) listener(...values);
  }
};

// src/host.js
import widget from "./widget.js";
var scheme = location.protocol === "https:" ? "wss" : "ws";
var model = new SocketModel({
  openSocket: () => new WebSocket(`${scheme}://${location.host}/ws`),
  fetchStatus: async (path) => (await fetch(path, { method: "HEAD", cache: "no-store" })).status,
  setTitle(title) {
    document.title = title;
    const heading = document.querySelector("h1");
    if (heading) heading.textContent = title;
  }
});
document.addEventListener("visibilitychange", () => document.hidden || model.resetWait());
model.connect();
var el = document.getElementById("app");
if (el) widget.render({ model, el });
