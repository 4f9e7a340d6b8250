/** The plot with its buttons, and the two rows that were selected in it. */
import { chooseSlots } from "./colours.js";
import { createButton } from "./controls.js";
import { h, listChildren, setText } from "./dom.js";
import { openItem } from "./item_dialog.js";
import { FIRST, renderGlimpse, SECOND } from "./items.js";
import { createMapChoice } from "./map_choice.js";
import { createMovedRows, findMovedRows } from "./moved_rows.js";
import { clamp, toTypedArray } from "./numbers.js";
import { Scatter } from "./scatter.js";
import { clusterName } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Item, Model, State } from "./protocol.d.ts" */

const BY_MOUSE = "Drag to move, scroll to zoom, click a row to open it. Ctrl-click two rows to pair them.";
const BY_FINGER = "Drag sideways to move, pinch to zoom, tap a row to open it.";
const HOVER_MS = 70; // how long the pointer rests before a row is shown

/**
 * The row under the pointer, in a box beside it.
 * @param {Page} page
 */
function createTip(page) {
  const node = h("div", { class: "lw-tooltip", hidden: true, "aria-hidden": "true" });
  let row = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /**
   * @param {number} x
   * @param {number} y
   */
  const show = async (x, y) => {
    const shown = row;
    const item = await page.controller.loadItem(shown);
    if (!item || shown !== row) return;
    const cluster = page.controller.clusterOf(shown);
    const name = cluster ? clusterName(cluster) : "";
    node.replaceChildren(
      h("strong", {}, item.name),
      ...renderGlimpse(item),
      h("p", { class: "lw-soft" }, name),
    );
    node.hidden = false;
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (node.parentElement);
    const isLow = y + 16 + node.offsetHeight > clientHeight;
    node.style.left = `${clamp(x + 14, 4, Math.max(4, clientWidth - node.offsetWidth - 4))}px`;
    node.style.top = `${isLow ? Math.max(4, y - node.offsetHeight - 14) : y + 16}px`;
    page.announce(`${item.name}, ${name}`);
  };
  return {
    node,
    /** @type {(hovered: number, x: number, y: number) => void} */
    hover(hovered, x, y) {
      if (hovered === row && row >= 0 && !node.hidden) return;
      row = hovered;
      clearTimeout(timer);
      node.hidden = true;
      if (row >= 0) timer = setTimeout(() => show(x, y), HOVER_MS);
    },
  };
}

/**
 * The two selected rows, and what you can say about them.
 * @param {Page} page
 */
function createSelection(page) {
  const { controller } = page;
  const node = h("div", { class: "lw-chosen", hidden: true });
  const reason = h("p", { class: "lw-explanation", hidden: true });
  /**
   * @param {Item} first
   * @param {Item} second
   */
  const explain = async (first, second) => {
    const reply = await controller.request({ do: "why", first: first.row, second: second.row });
    setText(reason, reply.ok ? reply.text : reply.error.text);
    reason.hidden = false;
    page.announce(reason.textContent ?? "");
  };
  const clear = () => {
    controller.select([null, null]);
    page.root.focus();
  };
  /**
   * @param {Item | null} first
   * @param {Item | null} second
   */
  const renderButtons = (first, second) => {
    if (!first || !second) return [];
    return [
      createButton("Mark as same", () => controller.mark(first, second, "yes")),
      createButton("Mark as different", () => controller.mark(first, second, "no")),
      createButton("Explain their clusters", () => explain(first, second), { className: "lw-quiet" }),
    ];
  };
  /** @param {number} row one that is selected, too; a selected one is let go */
  const pick = async (row) => {
    const [item, [first, second]] = [await controller.loadItem(row), controller.selection];
    if (!item) return;
    if (first?.row === row) controller.select([second, null]);
    else if (second?.row === row) controller.select([first, null]);
    else controller.select(first && !second ? [first, item] : [item, null]);
    page.announce((node.firstElementChild?.textContent ?? "").trim());
  };
  const renderName = /** @param {Item | null} item */ (item) =>
    item ? h("strong", {}, item.name) : "select a point";
  const update = () => {
    const [first, second] = controller.selection;
    node.hidden = !first && !second;
    reason.hidden = true;
    node.replaceChildren(
      ...listChildren(
        h("p", {}, "First: ", renderName(first), " · Second: ", renderName(second)),
        renderButtons(first, second),
        createButton("Clear", clear, { className: "lw-quiet" }),
      ),
    );
  };
  return { node, reason, update, pick };
}

/**
 * @param {Page} page
 * @param {Model} model
 */
export function createMapPanel(page, model) {
  const { controller } = page;
  const tip = createTip(page);
  const selection = createSelection(page);
  const plot = new Scatter(page.root, {
    canZoom: () => page.hasFocus, // elsewhere in a notebook the wheel scrolls
    choose: (row, isPair) => (isPair ? selection.pick(row) : openItem(page, row)),
    hover: tip.hover,
  });
  const zoom = h(
    "div",
    { class: "lw-zoom", role: "group", "aria-label": "Zoom" },
    createButton("+", () => plot.zoom(1.5), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
    createButton("−", () => plot.zoom(1 / 1.5), { "aria-label": "Zoom out", title: "Zoom out (−)" }),
    createButton("Fit", () => plot.reset(), { "aria-label": "Fit all rows", title: "Fit all rows (0)" }),
  );
  const axes = h("p", { class: "lw-soft lw-axes", hidden: true });
  const choice = createMapChoice(page);
  const isTouch = window.matchMedia("(pointer: coarse)").matches;
  const node = h(
    "section",
    { class: "lw-card lw-map", "aria-label": "Plot of all rows", hidden: true },
    h("div", { class: "lw-plot" }, plot.node, tip.node),
    h("div", { class: "lw-plot-meaning" }, axes, choice.node),
    h("div", { class: "lw-plot-footer" }, h("p", { class: "lw-soft" }, isTouch ? BY_FINGER : BY_MOUSE), zoom),
    selection.node,
    selection.reason,
  );
  /** @type {unknown} */
  let places = null;
  /** @type {import("./moved_rows.js").Labels | null} */
  let drawn = null; // the labels
  const updateMarks = () => {
    const question = controller.isSorting ? null : controller.state?.question;
    const asked = question
      ? [
          { ...FIRST, row: question.first.row },
          { ...SECOND, row: question.second.row },
        ]
      : [];
    const tags = ["1st", "2nd"];
    const selected = controller.selection.flatMap((item, i) =>
      item ? [{ tag: tags[i], square: false, dashed: true, row: item.row }] : [],
    );
    const outlined = moved.rows.map((row) => ({ tag: "", square: false, row }));
    plot.mark([...outlined, ...asked, ...selected]);
  };
  const moved = createMovedRows(plot.node, updateMarks);
  /** @param {State} state */
  const updateRows = (state) => {
    const coordinates = toTypedArray(model.get("places"), Float32Array);
    const bytes = model.get("labels");
    const labels = state.two_bytes ? toTypedArray(bytes, Uint16Array) : toTypedArray(bytes, Uint8Array);
    controller.setLabels(labels);
    node.hidden = coordinates.length === 0 || coordinates.length !== 2 * labels.length;
    if (places !== model.get("places")) {
      places = model.get("places");
      plot.setPlaces(node.hidden ? new Float32Array(0) : coordinates);
    }
    plot.setLabels(labels, chooseSlots(state));
    if (drawn) moved.show(findMovedRows(drawn, labels));
    drawn = labels;
  };
  return {
    node,
    plot,
    updateSelection() {
      selection.update();
      updateMarks();
    },
    close() {
      choice.close();
      moved.close();
      plot.close();
    },
    /**
     * @param {State} state
     * @param {boolean} hasNewLabels
     */
    update(state, hasNewLabels) {
      if (hasNewLabels || places !== model.get("places")) updateRows(state);
      choice.update(state);
      axes.hidden = !state.axes;
      setText(axes, state.axes ?? "");
      updateMarks();
    },
  };
}
