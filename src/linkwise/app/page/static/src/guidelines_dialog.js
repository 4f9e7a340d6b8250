/** Guidelines and examples: what "belong together" means here. They open by themselves the first time. */
import { createNotice, openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { renderExamples, renderMarking } from "./examples.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

const SEEN = "linkwise-guidelines"; // in the storage of the browser: the guidelines that were opened last
const HINT = "These guidelines say what belongs together here. Press I to read them again.";

/** @param {Page} page */
export function openGuidelines(page) {
  const { controller } = page;
  if (!hasGuidelines(controller.state) || page.hasDialog) return;
  const { box, body, heading } = openDialog(page, "Guidelines");
  const content = h("div", { class: "lw-body" });
  const notice = createNotice();
  body.append(content, notice.node, h("p", { class: "lw-soft" }, HINT));
  const show = () => {
    const { guidelines, examples = [], question } = controller.state ?? {};
    const hadFocus = content.contains(page.focused);
    const key = page.focused?.dataset.key;
    content.replaceChildren(
      ...(guidelines ? [h("p", { class: "lw-guidelines" }, guidelines)] : []),
      ...(examples.length ? [h("h3", {}, "Examples"), renderExamples(page, examples, notice.show)] : []),
      ...(question ? [renderMarking(page, question, notice.show)] : []),
    );
    if (!hadFocus) return;
    const buttons = [...content.querySelectorAll("button")];
    (buttons.find((node) => key && node.dataset.key === key) ?? heading).focus();
  };
  controller.watchers.add(show); // examples come from here and from other windows
  box.addEventListener("close", () => controller.watchers.delete(show));
  show();
}

/** @param {State | null} state */
export const hasGuidelines = (state) => Boolean(state?.guidelines || state?.examples);

/**
 * Open the guidelines unless this browser has shown them before.
 * @param {Page} page
 * @param {State} state
 */
export function introduceGuidelines(page, state) {
  if (!hasGuidelines(state)) return;
  const shown = state.guidelines || JSON.stringify(state.examples);
  try {
    if (localStorage.getItem(SEEN) === shown) return;
    localStorage.setItem(SEEN, shown);
  } catch {
    return; // without storage they would open on every visit
  }
  openGuidelines(page);
}
