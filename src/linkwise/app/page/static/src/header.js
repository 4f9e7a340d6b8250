/** The line at the top: the title, whether all is saved, history, export and help. */
import { hasColumns, openColumns } from "./columns_dialog.js";
import { createButton, renderIcon } from "./controls.js";
import { h, setText } from "./dom.js";
import { hasGuidelines, openGuidelines } from "./guidelines_dialog.js";
import { openHelp } from "./help_dialog.js";
import { openHistory } from "./history_dialog.js";
import { fileName, MEMORY_ONLY } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

/** @type {[string, string][]} */
const EXPORTS = [
  ["labels", "Clusters (CSV)"],
  ["constraints", "Pairs (CSV)"],
  ["session", "Session file"],
  ["rules", "Rules (text)"],
];

/** @param {Page} page */
function createExportMenu(page) {
  const items = EXPORTS.map(([what, label]) => {
    const save = () => {
      close();
      page.controller.export(what);
    };
    return createButton(label, save, { className: "lw-quiet", "data-what": what });
  });
  const list = h("div", { class: "lw-menu", id: page.createId("export"), hidden: true }, items);
  const setOpen = /** @param {boolean} isOpen */ (isOpen) => {
    list.hidden = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
  };
  const open = () => {
    setOpen(true);
    items[0].focus();
  };
  const close = () => {
    if (list.hidden) return;
    setOpen(false);
    opener.focus();
  };
  const opener = createButton("Export", () => (list.hidden ? open() : close()), {
    className: "lw-plain",
    "aria-expanded": "false",
    "aria-controls": list.id,
  });
  const node = h("div", { class: "lw-export" }, opener, list);
  node.addEventListener("focusout", (event) => {
    if (!node.contains(/** @type {Node | null} */ (event.relatedTarget))) setOpen(false);
  });
  node.addEventListener("keydown", (event) => event.key === "Escape" && close());
  return { node, rules: items[items.length - 1] };
}

/** @param {Page} page */
export function createHeader(page) {
  const { controller } = page;
  const title = h("span", { class: "lw-title" });
  const status = h("span", {});
  const saved = h("span", { class: "lw-saved" }, h("i", { "aria-hidden": "true" }), status);
  const menu = createExportMenu(page);
  const guidelines = createButton("Guidelines", () => openGuidelines(page), {
    className: "lw-plain",
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "I",
    hidden: true,
  });
  const columns = createButton("Columns", () => openColumns(page), {
    className: "lw-plain",
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "C",
    hidden: true,
  });
  const node = h(
    "header",
    { class: "lw-header" },
    h("span", { class: "lw-brand" }, renderIcon("yes", { width: 26, height: 22 }), h("span", {}, "linkwise")),
    title,
    saved,
    h(
      "div",
      { class: "lw-tools" },
      guidelines,
      columns,
      createButton("History", () => openHistory(page), { className: "lw-plain" }),
      menu.node,
      createButton("?", () => openHelp(page), {
        className: "lw-plain",
        "aria-label": "Keys and help",
        title: "Keys and help",
      }),
    ),
  );
  const updateStatus = () => {
    const place = controller.state?.place ?? null;
    const words = {
      saving: "Saving…",
      unsaved: "Not saved",
      saved: place ? `Saved in ${fileName(place)}` : MEMORY_ONLY,
      lost: controller.hasFailed ? "Stopped" : "Connection lost",
    };
    const current = controller.link === "open" ? controller.saving : "lost";
    saved.hidden = !controller.state && controller.link === "open";
    saved.dataset.is = current === "saved" && !place ? "memory" : current;
    saved.title = place ?? "";
    setText(status, words[current]);
  };
  return {
    node,
    updateStatus,
    /** @param {State} state */
    update(state) {
      setText(title, state.title || "");
      columns.hidden = !hasColumns(state);
      guidelines.hidden = !hasGuidelines(state);
      menu.rules.hidden = !state.rules;
      updateStatus();
    },
  };
}
