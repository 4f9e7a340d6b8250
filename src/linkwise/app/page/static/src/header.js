/** The line at the top: the title, whether all is saved, history, export and help. */
import { hasColumns, openColumns } from "./columns_dialog.js";
import { createButton, renderIcon } from "./controls.js";
import { h, setText } from "./dom.js";
import { hasGuidelines, openGuidelines } from "./guidelines_dialog.js";
import { openHelp } from "./help_dialog.js";
import { openHistory } from "./history_dialog.js";
import { openResults, RESULTS } from "./results_dialog.js";
import { fileName, MEMORY_ONLY } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

/** @param {Page} page */
export function createHeader(page) {
  const { controller } = page;
  const title = h("span", { class: "lw-title" });
  const status = h("span", {});
  const saved = h("span", { class: "lw-saved" }, h("i", { "aria-hidden": "true" }), status);
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
  const tools = h(
    "div",
    { class: "lw-tools" },
    guidelines,
    columns,
    createButton("History", () => openHistory(page), { className: "lw-plain" }),
    createButton(RESULTS, () => openResults(page), {
      className: "lw-plain",
      "aria-haspopup": "dialog",
      "aria-keyshortcuts": "E",
    }),
    createButton("?", () => openHelp(page), {
      className: "lw-plain",
      "aria-label": "Keys and help",
      title: "Keys and help",
    }),
  );
  const node = h(
    "header",
    { class: "lw-header" },
    h("span", { class: "lw-brand" }, renderIcon("yes", { width: 26, height: 22 }), h("span", {}, "linkwise")),
    title,
    saved,
    tools,
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
    tools,
    updateStatus,
    /** @param {State} state */
    update(state) {
      setText(title, state.title || "");
      columns.hidden = !hasColumns(state);
      guidelines.hidden = !hasGuidelines(state);
      updateStatus();
    },
  };
}
