/** Statements about whole clusters: merge two, or mark one as done. */
import { ClusterSearch } from "./cluster_search.js";
import { describeChoice, describeDrag } from "./cluster_wording.js";
import { createButton } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { loadPictures } from "./row_values.js";
import { renderCards } from "./split_dialog.js";
import {
  clusterName,
  describeDone,
  describeDoneEffect,
  describeMerge,
  describeMergeEffect,
} from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster, RowHits } from "./protocol.d.ts" */

const SHOWN = 4; // rows of a cluster

/**
 * Choose one of the other clusters, each with pictures of its most typical rows if they have pictures.
 * @param {Page} page
 * @param {string} title
 * @param {Cluster} cluster the one that is not listed
 * @param {(other: Cluster) => void} choose
 * @param {string} [effect] what the choice does
 */
export function chooseCluster(page, title, cluster, choose, effect = "") {
  const { body, close } = openDialog(page, title);
  /**
   * @param {Cluster} other
   * @param {RowHits | undefined} found the rows that a search found in it
   */
  const renderChoice = (other, found) => {
    const words = describeChoice(other, found, page.profiles.get(other.cluster));
    const strip = page.controller.state?.kind === "image" && h("span", { class: "lw-strip" });
    const button = createButton([h("span", {}, words), strip], () => {
      close();
      choose(other);
    });
    if (strip)
      loadPictures(page, button, other.exemplars.slice(0, SHOWN), (_, picture) => strip.append(picture));
    return h("li", {}, button);
  };
  const list = h("ul", { class: "lw-choices" });
  const show = () => {
    const { state } = page.controller;
    if (!state) return;
    const { clusters, hits } = search.select(state, cluster);
    list.replaceChildren(...clusters.map((each) => renderChoice(each, hits.get(each.cluster))));
  };
  const search = new ClusterSearch(page, show);
  body.append(...(effect ? [h("p", { class: "lw-soft" }, effect)] : []), search.node, list);
  show();
}

/**
 * Choose the cluster to merge with, and merge.
 * @param {Page} page
 * @param {Cluster} cluster
 */
export const openMerge = (page, cluster) =>
  chooseCluster(page, `Merge ${clusterName(cluster)} with…`, cluster, (other) =>
    confirmMerge(page, cluster, other),
  );

/**
 * Show typical rows of two clusters, ask whether to merge them, and do it.
 * @param {Page} page
 * @param {Cluster} cluster
 * @param {Cluster} other
 */
export function confirmMerge(page, cluster, other) {
  const { body, foot, close } = openDialog(page, describeDrag(cluster, other), "lw-wide");
  const confirm = async () => {
    close();
    await page.controller.store(
      { do: "merge", first: cluster.cluster, second: other.cluster },
      {
        describe: () => describeMerge(cluster, other),
        pair: { first: cluster.exemplar, second: other.exemplar, answer: "yes" },
      },
    );
  };
  const looks = [cluster, other].map((each) =>
    h(
      "section",
      { "aria-label": clusterName(each) },
      h("h3", {}, clusterName(each)),
      renderCards(page, each.exemplars.slice(0, SHOWN)),
    ),
  );
  body.append(
    h("p", { class: "lw-soft" }, describeMergeEffect(cluster)),
    h("div", { class: "lw-halves" }, looks),
  );
  const main = createButton("Merge", confirm, { className: "lw-main" });
  foot.append(main, createButton("Cancel", close));
  main.focus();
}

/**
 * @param {Page} page
 * @param {Cluster} cluster
 */
export function openDone(page, cluster) {
  const { body, foot, close } = openDialog(page, `Is ${clusterName(cluster)} done?`);
  const confirm = async () => {
    close();
    await page.controller.store(
      { do: "done", cluster: cluster.cluster },
      { describe: () => describeDone(cluster) },
    );
  };
  body.append(h("p", {}, describeDoneEffect(cluster)));
  foot.append(
    createButton("Yes, it is done", confirm, { className: "lw-main" }),
    createButton("Not yet", close),
  );
}
