/** Which clusters are listed, and in which order. All functions are pure. */

/** @import { Cluster } from "./protocol.d.ts" */

export const FEW = 12; // clusters that need neither search nor order: as many as there are distinct colours

/** @typedef {"size" | "number" | "name" | "answered"} Order */

/** @type {[Order, string][]} */
export const ORDERS = [
  ["number", "By number"],
  ["size", "Largest first"],
  ["name", "By name"],
  ["answered", "Least answered first"],
];

/** @param {string} text */
const escapePattern = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Tell whether a name contains a text, in any case. A number is found only as a whole: 12 is not in “Cluster 112”. A
 * blank text is in every name. The host finds rows by the same rule (`app/project/cluster_search.py`).
 * @param {string} text
 * @returns {(name: string) => boolean}
 */
export function createMatcher(text) {
  const wanted = text.trim().replace(/\s+/g, " ").toLowerCase();
  const before = /^[0-9]/.test(wanted) ? "(?<![0-9])" : "";
  const after = /[0-9]$/.test(wanted) ? "(?![0-9])" : "";
  const pattern = new RegExp(`${before}${escapePattern(wanted)}${after}`);
  return (name) => pattern.test(name.toLowerCase());
}

/**
 * The clusters with a name or a number that contains a text, and those that were found otherwise.
 * @param {Cluster[]} clusters
 * @param {string} text
 * @param {{ has(cluster: number): boolean }} others numbers of clusters that were found by a row
 */
export function findClusters(clusters, text, others) {
  const matches = createMatcher(text);
  return clusters.filter(({ cluster, name }) => {
    const number = cluster < 0 ? "Noise" : `Cluster ${cluster}`;
    return others.has(cluster) || matches(number) || (name !== "" && matches(name));
  });
}

/** @type {Record<Order, (one: Cluster, other: Cluster) => number>} */
const COMPARISONS = {
  size: (one, other) => other.size - one.size,
  number: () => 0,
  name: (one, other) =>
    Number(one.name === "") - Number(other.name === "") ||
    one.name.localeCompare(other.name, undefined, { numeric: true, sensitivity: "base" }),
  answered: (one, other) =>
    (one.answered ?? 0) / one.size - (other.answered ?? 0) / other.size || other.size - one.size,
};

/**
 * Clusters in an order. Equal ones are ordered by number, and noise is the last of them.
 * @param {Cluster[]} clusters
 * @param {Order} order
 */
export const sortClusters = (clusters, order) =>
  [...clusters].sort(
    (one, other) =>
      COMPARISONS[order](one, other) ||
      Number(one.cluster < 0) - Number(other.cluster < 0) ||
      one.cluster - other.cluster,
  );
