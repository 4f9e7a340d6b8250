/** The page as its panels see it: the controller, the root element, and where the focus is. */
import { h, setText } from "./dom.js";
import { toBytes } from "./numbers.js";

/** @import { Controller } from "./controller.js" */

let nPages = 0; // a notebook may show several

export class Page {
  /** @type {Controller} */
  controller;
  #prefix;
  #nIds = 0;

  /** @param {(page: Page) => Controller} createController */
  constructor(createController) {
    nPages += 1;
    this.#prefix = `lw${nPages}`;
    this.root = h("div", {
      class: "linkwise",
      tabindex: "-1",
      role: "region",
      "aria-label": "linkwise: questions and clusters",
      "data-lm-suppress-shortcuts": "true", // keys are ours, not JupyterLab's
    });
    this.live = h("p", { class: "lw-hidden", role: "status", "aria-live": "polite" });
    this.controller = createController(this);
  }

  /**
   * An id that no other element of the document has.
   * @param {string} name
   */
  createId(name) {
    this.#nIds += 1;
    return `${this.#prefix}-${name}-${this.#nIds}`;
  }

  /** The element with the focus, also within a shadow root. */
  get focused() {
    const document = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    return /** @type {HTMLElement | null} */ (document.activeElement ?? null);
  }

  get hasFocus() {
    return this.root.contains(this.focused);
  }

  /**
   * Tell screen readers. The same text twice would not be read, so it gets a space.
   * @param {string} text
   */
  announce(text) {
    setText(this.live, this.live.textContent === text ? `${text}\u00a0` : text);
  }

  /**
   * Hand a file to the browser.
   * @param {string} name
   * @param {string} type
   * @param {ArrayBufferView} file
   */
  download(name, type, file) {
    const address = URL.createObjectURL(new Blob([new Uint8Array(toBytes(file))], { type }));
    const link = h("a", { href: address, download: name, hidden: true });
    this.root.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }
}
