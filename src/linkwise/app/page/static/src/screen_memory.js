/** Where the cards of an unfinished screen lie, in the memory of this tab, so that a reload does not lose them. */

/** @import { Step } from "./placing.js" */

const KEY = "linkwise:cards";

/**
 * The steps on some rows that this tab remembers.
 * @param {string} rows
 * @returns {Step[]}
 */
export function recall(rows) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "");
    return kept.rows === rows && Array.isArray(kept.steps) ? kept.steps : [];
  } catch {
    return []; // there is no storage, or nothing in it
  }
}

/**
 * @param {string} rows
 * @param {Step[]} steps
 */
export function remember(rows, steps) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ rows, steps }));
  } catch {
    // a reload loses the places
  }
}
