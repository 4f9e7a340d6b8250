/** The guidelines of the session: what "belong together" means here. They open by themselves the first time. */
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

const SEEN = "linkwise-guidelines"; // in the storage of the browser: the guidelines that were opened last

/** @param {Page} page */
export function openGuidelines(page) {
  const guidelines = page.controller.state?.guidelines;
  if (!guidelines || page.hasDialog) return;
  const { body } = openDialog(page, "Guidelines");
  const hint = "These guidelines say what belongs together here. Press I to read them again.";
  body.append(h("p", { class: "lw-guidelines" }, guidelines), h("p", { class: "lw-soft" }, hint));
}

/**
 * Open the guidelines unless this browser has shown them before.
 * @param {Page} page
 * @param {State} state
 */
export function introduceGuidelines(page, { guidelines }) {
  if (!guidelines) return;
  try {
    if (localStorage.getItem(SEEN) === guidelines) return;
    localStorage.setItem(SEEN, guidelines);
  } catch {
    return; // without storage they would open on every visit
  }
  openGuidelines(page);
}
