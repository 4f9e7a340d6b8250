/** Statements about whole clusters: merge two, or mark one as done. */
import { createButton } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import {
  clusterName,
  describeDone,
  describeDoneEffect,
  describeMerge,
  describeMergeEffect,
  formatCount,
} from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster } from "./protocol.d.ts" */

/**
 * @param {Page} page
 * @param {Cluster} cluster
 */
export function openMerge(page, cluster) {
  const { controller } = page;
  const { body, close } = openDialog(page, `Merge ${clusterName(cluster)} with…`);
  const clusters = controller.state?.clusters ?? [];
  const others = clusters.filter((each) => each.cluster !== cluster.cluster && each.cluster >= 0);
  const merge = /** @param {Cluster} other */ async (other) => {
    close();
    await controller.store(
      { do: "merge", first: cluster.cluster, second: other.cluster },
      {
        describe: () => describeMerge(cluster, other),
        pair: { first: cluster.exemplar, second: other.exemplar, answer: "yes" },
      },
    );
  };
  const renderChoice = /** @param {Cluster} other */ (other) => {
    const label = `${clusterName(other)}, ${formatCount(other.size, "row")}, typical ${other.exemplar_names.join(", ")}`;
    return h(
      "li",
      {},
      createButton(label, () => merge(other)),
    );
  };
  body.append(
    h("p", { class: "lw-soft" }, describeMergeEffect(cluster)),
    h("ul", { class: "lw-choices" }, others.map(renderChoice)),
  );
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
