/** The words of a question. */
import { formatNumber } from "./wording.js";

const CHECK = "Please check: "; // begins the reason of a question about earlier answers

/**
 * The line above a question: its number, and whether it checks earlier answers.
 * @param {number} n
 * @param {number | null | undefined} budget
 * @param {string} why
 */
export function describeNumber(n, budget, why) {
  const number = `Question ${formatNumber(n)}${budget ? ` of ${formatNumber(budget)}` : ""}`;
  return why.startsWith(CHECK) ? `${number} · checks earlier answers` : number;
}
