/** The page as its panels see it: the controller, the root element, and where the focus is. */
import { h, setText } from "./dom.js";
import { toBytes } from "./numbers.js";

/** @import { Controller } from "./controller.js" */

let nPages = 0; // a notebook may show several

/** An element that screen readers read out whenever its text changes. */
export const createLiveRegion = () => h("p", { class: "lw-hidden", role: "status", "aria-live": "polite" });

export class Page {
  /** @type {Controller} */
  controller;
  /** The plot as an SVG picture, with the names of the clusters; null while there is none. @type {() => string | null} */
  drawPlot = () => null;
  /** Sort the rows of an earlier answer again. @type {(event: number) => void} */
  sortAgain = () => {};
  /** What distinguishes each cluster, by number. @type {Map<number, string>} */
  profiles = new Map();
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
    this.live = createLiveRegion();
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

  /** The live region of the dialog on top. @returns {Element | undefined} */
  get #dialogRegion() {
    return [...this.root.querySelectorAll("dialog > [role=status]")].at(-1);
  }

  get hasDialog() {
    return this.#dialogRegion !== undefined;
  }

  /**
   * Tell screen readers. They would not read the same text twice, so it gets a space. While a dialog is open,
   * they read nothing outside it, so every dialog has a live region of its own.
   * @param {string} text
   */
  announce(text) {
    const live = this.#dialogRegion ?? this.live;
    setText(live, live.textContent === text ? `${text}\u00a0` : text);
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
