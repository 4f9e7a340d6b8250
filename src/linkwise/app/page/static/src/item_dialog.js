/** A row in a dialog, where it can be selected for a pair. */
import { createButton } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { renderItem } from "./items.js";
import { clusterName, formatCount } from "./wording.js";

/** @import { Selection } from "./controller.js" */
/** @import { Page } from "./page.js" */

/**
 * @param {Page} page
 * @param {number} row
 */
export async function openItem(page, row) {
  const { controller } = page;
  const item = await controller.loadItem(row);
  if (!item) return;
  const cluster = controller.clusterOf(row);
  const { body, foot, close } = openDialog(page, item.name);
  const where = cluster ? `In ${clusterName(cluster)}, ${formatCount(cluster.size, "row")}` : "";
  body.append(h("p", { class: "lw-soft" }, where), ...renderItem(item));
  const select = /** @param {0 | 1} position */ (position) => {
    /** @type {Selection} */
    const selection = [...controller.selection];
    if (selection[1 - position]?.row === row) selection[1 - position] = null;
    selection[position] = item;
    close();
    controller.select(selection);
  };
  foot.append(
    createButton("Select as first", () => select(0)),
    createButton("Select as second", () => select(1)),
  );
}

/**
 * The name of a row as a link that opens it.
 * @param {Page} page
 * @param {string} name
 * @param {number} row
 */
export const createRowLink = (page, name, row) =>
  createButton(name, () => openItem(page, row), { className: "lw-link lw-strong" });
