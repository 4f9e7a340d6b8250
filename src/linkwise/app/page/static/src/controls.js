/** Buttons, icons, and texts that a button opens. */
import { h, s, setAttribute } from "./dom.js";

/** @import { Children, Props } from "./dom.js" */
/** @import { Page } from "./page.js" */

const DASHED = { "stroke-dasharray": "2.2 2.2" };
const ICONS = {
  yes: () => [s("circle", { cx: 9, cy: 10, r: 5.5 }), s("circle", { cx: 15, cy: 10, r: 5.5 })],
  no: () => [
    s("circle", { cx: 5.5, cy: 10, r: 4 }),
    s("circle", { cx: 18.5, cy: 10, r: 4 }),
    s("path", { d: "M12 3.5v13" }),
  ],
  unsure: () => [
    s("circle", { cx: 8, cy: 10, r: 4.5, ...DASHED }),
    s("circle", { cx: 16, cy: 10, r: 4.5, ...DASHED }),
  ],
  undo: () => [s("path", { d: "M8 4 4 8l4 4M4.5 8H14a5 5 0 0 1 0 9H9" })],
};

/**
 * @param {keyof typeof ICONS} name
 * @param {Props} [props]
 */
export const renderIcon = (name, props = { class: "lw-icon", width: 24, height: 20 }) =>
  s("svg", { viewBox: "0 0 24 20", "aria-hidden": "true", ...props }, ICONS[name]());

/** @param {string} letter */
export const renderKey = (letter) => h("kbd", { "aria-hidden": "true" }, letter);

/**
 * @param {Children} label
 * @param {() => void} onclick
 * @param {Props} [props] `className` is added to that of a button
 */
export function createButton(label, onclick, props = {}) {
  const { className = "", ...others } = props;
  return h("button", { type: "button", class: `lw-button ${className}`, onclick, ...others }, label);
}

/**
 * A disabled button keeps its focus, so that the keyboard goes on.
 * @param {Element} node
 * @param {boolean} isEnabled
 */
export const setEnabled = (node, isEnabled) => setAttribute(node, "aria-disabled", String(!isEnabled));

/**
 * A text that a button opens and closes.
 * @param {Page} page
 * @param {string} label
 * @param {string} letter
 * @param {string} className
 */
export function createDisclosure(page, label, letter, className) {
  const text = h("p", { class: `lw-explanation ${className}`, id: page.createId(className), hidden: true });
  const opener = createButton(
    [h("span", {}, label), renderKey(letter)],
    () => setOpen(text.hidden === true),
    {
      className: "lw-quiet",
      "aria-expanded": "false",
      "aria-controls": text.id,
      "aria-keyshortcuts": letter,
    },
  );
  const setOpen = /** @param {boolean} isOpen */ (isOpen) => {
    text.hidden = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) page.announce(text.firstChild?.textContent ?? ""); // what follows it is for the eye
  };
  return { text, opener, toggle: () => setOpen(text.hidden === true), close: () => setOpen(false) };
}
