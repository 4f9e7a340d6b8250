/** Statements about whole clusters: merge two, or mark one as done. */
import { ClusterSearch } from "./cluster_search.js";
import { describeChoice, describeDrag } from "./cluster_wording.js";
import { createButton } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import {
  clusterName,
  describeDone,
  describeDoneEffect,
  describeMerge,
  describeMergeEffect,
} from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster, RowHits } from "./protocol.d.ts" */

/**
 * @param {Page} page
 * @param {Cluster} cluster
 * @param {Cluster} other
 */
const merge = (page, cluster, other) =>
  page.controller.store(
    { do: "merge", first: cluster.cluster, second: other.cluster },
    {
      describe: () => describeMerge(cluster, other),
      pair: { first: cluster.exemplar, second: other.exemplar, answer: "yes" },
    },
  );

/**
 * Choose the cluster to merge with, and merge.
 * @param {Page} page
 * @param {Cluster} cluster
 */
export function openMerge(page, cluster) {
  const { body, close } = openDialog(page, `Merge ${clusterName(cluster)} with…`);
  /**
   * @param {Cluster} other
   * @param {RowHits | undefined} found the rows that a search found in it
   */
  const renderChoice = (other, found) => {
    const choose = async () => {
      close();
      await merge(page, cluster, other);
    };
    return h("li", {}, createButton(describeChoice(other, found, page.profiles.get(other.cluster)), choose));
  };
  const list = h("ul", { class: "lw-choices" });
  const show = () => {
    const { state } = page.controller;
    if (!state) return;
    const { clusters, hits } = search.select(state, cluster);
    list.replaceChildren(...clusters.map((each) => renderChoice(each, hits.get(each.cluster))));
  };
  const search = new ClusterSearch(page, show);
  body.append(h("p", { class: "lw-soft" }, describeMergeEffect(cluster)), search.node, list);
  show();
}

/**
 * Ask whether to merge two clusters, and merge them.
 * @param {Page} page
 * @param {Cluster} cluster
 * @param {Cluster} other
 */
export function confirmMerge(page, cluster, other) {
  const { body, foot, close } = openDialog(page, describeDrag(cluster, other));
  const confirm = async () => {
    close();
    await merge(page, cluster, other);
  };
  body.append(h("p", {}, describeMergeEffect(cluster)));
  foot.append(createButton("Merge", confirm, { className: "lw-main" }), createButton("Cancel", close));
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
