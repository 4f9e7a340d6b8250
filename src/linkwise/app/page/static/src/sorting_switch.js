/** Whether the person answers about two rows at a time or sorts several, and how many. The browser remembers it. */
import { createButton } from "./controls.js";
import { h, setText } from "./dom.js";
import { describeOffer } from "./sorting_wording.js";

/** @import { SortingOffer, State } from "./protocol.d.ts" */

const KEY = "linkwise:sorting";
export const NARROW = 560; // pixels, as in the style sheet

/** What the person chose last; null if nothing. @returns {{ isSorting: boolean, size: number } | null} */
function readChoice() {
  try {
    const { isSorting, size } = JSON.parse(localStorage.getItem(KEY) ?? "");
    return typeof isSorting === "boolean" && typeof size === "number" ? { isSorting, size } : null;
  } catch {
    return null; // there is no storage, or nothing in it
  }
}

/**
 * @param {(isAnew: boolean, isOpened: boolean) => void} change called when the person chose: whether other rows are
 *   wanted than those that are open, and whether sorting begins
 * @param {() => number} getWidth of the page, in pixels
 */
export function createSortingSwitch(change, getWidth) {
  let [isSorting, size, hasChosen] = [false, 0, false];
  const choice = readChoice();
  if (choice) [isSorting, size, hasChosen] = [choice.isSorting, choice.size, true];
  const choose = /** @type {(isOn: boolean, rows: number) => void} */ (isOn, rows) => {
    const [isAnew, isOpened] = [isOn && rows !== size, isOn && !isSorting];
    [isSorting, size, hasChosen] = [isOn, rows, true];
    try {
      localStorage.setItem(KEY, JSON.stringify({ isSorting, size }));
    } catch {
      // it holds until the page is closed
    }
    change(isAnew, isOpened);
  };
  const pairs = createButton("Two at a time", () => choose(false, size));
  const several = createButton("Sort several", () =>
    choose(true, hasChosen ? size : (offered?.size ?? size)),
  );
  const sizes = h("select", {
    class: "lw-order",
    "aria-label": "Rows on a screen",
    onchange: () => choose(true, Number(sizes.value)),
  });
  const node = h(
    "div",
    { class: "lw-how" },
    h("div", { class: "lw-segments", role: "group", "aria-label": "How to answer" }, pairs, several),
    sizes,
  );
  const hint = h("p", { class: "lw-soft", hidden: true });
  /** What the host offers last. @type {SortingOffer | null} */
  let offered = null;
  return {
    node,
    hint,
    get isSorting() {
      return isSorting;
    },
    get size() {
      return size;
    },
    /**
     * @param {State} state
     * @param {boolean} canSort
     * @param {State["sorting"]} [latest] what the last screen says, if it is newer than the state
     */
    update(state, canSort, latest = state.sorting) {
      node.hidden = !canSort;
      hint.hidden = true;
      if (!latest || !canSort) return;
      if (!sizes.options.length) {
        sizes.append(...latest.sizes.map((n) => h("option", { value: n }, `${n} rows`)));
      }
      if (!latest.sizes.includes(size)) size = latest.start;
      sizes.value = String(size);
      sizes.hidden = !isSorting;
      pairs.setAttribute("aria-pressed", String(!isSorting));
      several.setAttribute("aria-pressed", String(isSorting));
      offered = getWidth() < NARROW ? latest.narrow : latest.wide;
      setText(hint, describeOffer(isSorting, offered, hasChosen));
      hint.hidden = !hint.textContent;
    },
  };
}
