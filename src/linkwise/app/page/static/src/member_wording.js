/** The words about the rows of a cluster. */
import { clusterName, endSentence, formatCount } from "./wording.js";

/** @import { Cluster } from "./protocol.d.ts" */

export const LEAST_CERTAIN_FIRST = "The least certain rows come first.";
export const SELECT_ROWS = "Select rows that are in the wrong cluster.";
export const FILTER = "Filter by text, or by column: value";

/** @param {number} share the probability that a row is in its cluster */
export const describeCertainty = (share) => `${Math.round(100 * share)} %`;

/**
 * @param {number} selected
 * @param {number} most rows that can move at once
 */
export const describeSelection = (selected, most) => {
  if (!selected) return SELECT_ROWS;
  const words = `${formatCount(selected, "row")} selected.`;
  return selected < most ? words : `${words} No more can move at once.`;
};

/**
 * @param {number} listed
 * @param {number} more rows that are not listed
 * @param {string} text what they are filtered by
 */
export function describeListed(listed, more, text) {
  const found = text ? `${formatCount(listed + more, "row")} found.` : "";
  const rest = more
    ? `${formatCount(more, "row")} of the highest certainty ${more === 1 ? "is" : "are"} not listed; a filter finds ${more === 1 ? "it" : "them"}.`
    : "";
  return [found, LEAST_CERTAIN_FIRST, rest].filter(Boolean).join(" ");
}

/**
 * @param {number} n rows
 * @param {Cluster} cluster where they were
 */
export const describeMovedOut = (n, cluster) =>
  endSentence(
    `Saved: ${formatCount(n, "row")} ${n === 1 ? "does" : "do"} not belong to ${clusterName(cluster)}`,
  );

/**
 * @param {number} n rows
 * @param {Cluster} other
 */
export const describeMovedTo = (n, other) =>
  endSentence(`Saved: ${formatCount(n, "row")} ${n === 1 ? "belongs" : "belong"} to ${clusterName(other)}`);

/** @param {number} n rows */
export const describeOwnCluster = (n) =>
  `Saved: ${formatCount(n, "row")} ${n === 1 ? "is" : "are"} a cluster of ${n === 1 ? "its" : "their"} own.`;

/** @param {Cluster} cluster */
export const describeSplit = (cluster) => `Saved: ${clusterName(cluster)} is split.`;

export const SPLIT_EFFECT =
  "This marks the first rows of both parts as different. The other rows follow what linkwise finds, and you can undo it.";
