/** Modal dialogs. */
import { createButton } from "./controls.js";
import { h } from "./dom.js";
import { createLiveRegion } from "./page.js";

/** @import { Page } from "./page.js" */

/**
 * Open a dialog. The focus stays in it, Escape and a click outside close it, and the focus returns to where it was.
 * @param {Page} page
 * @param {string} title
 * @param {string} [className]
 */
export function openDialog(page, title, className = "") {
  const before = page.focused;
  const heading = h("h2", { id: page.createId("dialog"), tabindex: "-1" }, title);
  const body = h("div", { class: "lw-body" });
  const foot = h("div", { class: "lw-foot" });
  const closeButton = createButton("×", () => close(), {
    className: "lw-quiet lw-close",
    "aria-label": "Close",
  });
  const box = h(
    "dialog",
    { class: `lw-dialog ${className}`, "aria-labelledby": heading.id },
    h("div", { class: "lw-row" }, heading, closeButton),
    body,
    foot,
    createLiveRegion(),
  );
  const close = () => {
    if (!box.isConnected) return;
    box.close();
    box.remove(); // now: the close event comes later, when there may be another dialog
    const canReturn = before && page.root.contains(before) && !before.closest("[hidden]");
    (canReturn ? before : page.root).focus();
  };
  box.addEventListener("keydown", (event) => event.key === "Tab" && keepFocus(page, box, event));
  box.addEventListener("pointerdown", (event) => event.target === box && close());
  // Escape: the close event comes later, when the focus may be elsewhere, but not every Escape can be cancelled
  box.addEventListener("cancel", (event) => event.target === box && close());
  box.addEventListener("close", close);
  page.root.append(box);
  box.showModal();
  heading.focus();
  return { box, body, foot, heading, close };
}

/** A notice inside a dialog, because the notice of the page is behind it. */
export function createNotice() {
  const node = h("p", { class: "lw-notice", hidden: true });
  return {
    node,
    /** @type {(words: string, tone?: "warn") => void} */
    show(words, tone) {
      node.textContent = words;
      node.dataset.tone = tone ?? "";
      node.hidden = !words;
    },
  };
}

/**
 * Wrap the Tab key around within a dialog.
 * @param {Page} page
 * @param {HTMLDialogElement} box
 * @param {KeyboardEvent} event
 */
function keepFocus(page, box, event) {
  /** @type {HTMLElement[]} */
  const stops = [...box.querySelectorAll("button, input, select, textarea, [tabindex='0']")]
    .filter((node) => node instanceof HTMLElement)
    .filter((node) => node.offsetParent !== null);
  const [first, last] = [stops[0], stops[stops.length - 1]];
  const { focused } = page;
  const isInside = focused && box.contains(focused);
  const isAtEdge = focused === (event.shiftKey ? first : last);
  const isOnHeading = event.shiftKey && focused !== null && focused.tabIndex < 0;
  if (isInside && !isAtEdge && !isOnHeading) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}
