/** What a line of the list says about a cluster: what distinguishes it, or pictures of typical rows. */
import { createButton } from "./controls.js";
import { h, setText } from "./dom.js";
import { openItem } from "./item_dialog.js";
import { loadPictures } from "./row_values.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster } from "./protocol.d.ts" */

const MOST_NAMES = 3;

/**
 * Buttons that open rows.
 * @param {Page} page
 * @param {number[]} rows
 * @param {string[]} names
 */
export const renderLinks = (page, rows, names) =>
  rows.map((row, i) => createButton(names[i], () => openItem(page, row), { className: "lw-link" }));

/**
 * Pictures of rows, loaded once the strip is in sight.
 * @param {Page} page
 * @param {Cluster} cluster
 */
function createStrip(page, { exemplars, exemplar_names: names }) {
  const node = h("span", { class: "lw-strip" }, ...renderLinks(page, exemplars, names));
  loadPictures(page, node, exemplars, (at, picture) => node.children[at].replaceChildren(picture));
  return node;
}

/** @param {Page} page */
export function createProfile(page) {
  const line = h("p", { class: "lw-profile" });
  const node = h("div", { class: "lw-typical" });
  let drawn = "";
  return {
    nodes: [line, node],
    /**
     * @param {Cluster} cluster
     * @param {string | undefined} text what distinguishes it
     */
    update(cluster, text) {
      const { exemplars, exemplar_names: names } = cluster;
      const state = page.controller.state;
      const isImage = state?.kind === "image";
      setText(line, text ?? "");
      line.title = text ?? "";
      line.hidden = !state?.profiles; // its place is kept until it arrives, so that no row moves then
      const drawing = JSON.stringify([exemplars, isImage]);
      if (drawing === drawn) return; // a link may have the focus
      drawn = drawing;
      if (isImage) {
        node.replaceChildren(createStrip(page, cluster));
        return;
      }
      const links = renderLinks(page, exemplars.slice(0, MOST_NAMES), names);
      node.replaceChildren(h("span", {}, "typical "), ...links);
    },
  };
}
