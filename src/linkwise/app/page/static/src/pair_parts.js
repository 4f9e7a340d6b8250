/** What each column says of a pair: a bar to the right speaks for one record, a bar to the left against it. */
import { h } from "./dom.js";

/** @import { PairParts } from "./protocol.d.ts" */

const AS_WHOLES = "as wholes";
/** Log-odds of the longest bar at least, so that what hardly counts looks so. */
const LEAST_SCALE = 2;

/**
 * A bar for each column, below the ends of their scale; nothing if the learner cannot tell them. Screen readers have
 * the sentences beside them.
 * @param {PairParts | null} [parts]
 */
export function renderParts(parts) {
  if (!parts) return [];
  const all = [...parts.columns, { name: AS_WHOLES, part: parts.whole }];
  const largest = Math.max(LEAST_SCALE, ...all.map(({ part }) => Math.abs(part)));
  const lines = all.flatMap(({ name, part }) => {
    const bar = h("span", { class: part > 0 ? "lw-part lw-pro" : "lw-part" });
    bar.style.width = `${(50 * Math.abs(part)) / largest}%`;
    return [h("span", { class: "lw-part-name" }, name), h("span", { class: "lw-part-track" }, bar)];
  });
  const ends = h(
    "span",
    { class: "lw-part-ends" },
    h("span", {}, "two records"),
    h("span", {}, "one record"),
  );
  return [h("span", { class: "lw-parts", "aria-hidden": "true" }, h("span", {}), ends, lines)];
}
