/** The two parts into which a cluster would be split, side by side. */
import { createButton } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { renderGlimpse } from "./items.js";
import { describeSplit, SPLIT_EFFECT } from "./member_wording.js";
import { clusterName, formatCount } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster, Item } from "./protocol.d.ts" */

/**
 * Rows as small cards, the most typical first.
 * @param {Page} page
 * @param {number[]} rows
 */
export function renderCards(page, rows) {
  const node = h("ul", { class: "lw-cards" });
  page.controller.loadItems(rows).then((items) => {
    const render = /** @param {Item} item */ (item) =>
      h("li", {}, h("span", { class: "lw-member-name" }, item.name), renderGlimpse(item));
    node.replaceChildren(...items.map(render));
  });
  return node;
}

/**
 * @param {Page} page
 * @param {Cluster} cluster
 */
export async function openSplit(page, cluster) {
  const { controller } = page;
  const { body, foot, close } = openDialog(page, `Split ${clusterName(cluster)}?`, "lw-wide");
  body.append(h("p", { class: "lw-soft" }, "Searching for the best cut…"));
  const reply = await controller.request({ do: "halves", cluster: cluster.cluster });
  if (!reply.ok) {
    body.replaceChildren(h("p", { class: "lw-notice", "data-tone": "warn" }, reply.error.text));
    foot.append(createButton("Close", close));
    return;
  }
  /** @type {{ size: number, rows: number[] }[]} */
  const halves = reply.halves;
  const confirm = async () => {
    close();
    const [first, second] = halves.map(({ rows }) => rows[0]);
    await controller.store(
      { do: "split", first, second },
      { describe: () => describeSplit(cluster), pair: { first, second, answer: "no" } },
    );
  };
  body.replaceChildren(
    h("p", { class: "lw-soft" }, SPLIT_EFFECT),
    h(
      "div",
      { class: "lw-halves" },
      halves.map(({ size, rows }, i) =>
        h(
          "section",
          { "aria-label": `Part ${i + 1}` },
          h("h3", {}, `Part ${i + 1}, ${formatCount(size, "row")}`),
          renderCards(page, rows),
        ),
      ),
    ),
  );
  const main = createButton("Split", confirm, { className: "lw-main" });
  foot.append(main, createButton("Cancel", close));
  main.focus();
}
