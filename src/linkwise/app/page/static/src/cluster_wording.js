/** The words about many clusters: search, order, colours and dragging. */
import { clusterName, formatCount, formatNumber } from "./wording.js";

/** @import { Cluster, RowHits } from "./protocol.d.ts" */

export const COLOUR_FAMILIES =
  "Clusters with similar colours lie near each other or were one cluster before. Click a colour to dim the other clusters.";

/**
 * How many clusters a search found.
 * @param {number} found
 * @param {number} total
 */
export const describeFound = (found, total) => `${formatNumber(found)} of ${formatCount(total, "cluster")}`;

/** @param {number} n clusters that are in no list */
export const describeUnlisted = (n) =>
  `${formatCount(n, "smaller cluster is", "smaller clusters are")} not listed. The search finds ${n === 1 ? "it" : "them"}, too.`;

/** @param {Cluster} cluster */
export const describeAnswered = ({ answered = 0 }) => `${formatCount(answered, "row")} answered`;

/**
 * A cluster that another one can be merged with.
 * @param {Cluster} cluster
 * @param {RowHits} [found] the rows that a search found in it
 * @param {string} [profile] what distinguishes it
 */
export const describeChoice = (cluster, found, profile) => {
  const typical = profile || `typical ${cluster.exemplar_names.slice(0, 3).join(", ")}`;
  const rows = found ? [`found ${found.names.join(", ")}`] : [];
  return [clusterName(cluster), formatCount(cluster.size, "row"), typical, ...rows].join(", ");
};

/**
 * What is dragged, and what happens if it is dropped.
 * @param {Cluster} cluster
 * @param {Cluster} [other] the one below the pointer
 */
export const describeDrag = (cluster, other) =>
  other
    ? `Merge ${clusterName(cluster)} with ${clusterName(other)}?`
    : `Drag ${clusterName(cluster)} onto another cluster`;
