/** The words of a question. */
import { formatNumber } from "./wording.js";

const CHECK = "Please check: "; // begins the reason of a question about earlier answers

const FEW = 2; // answers, of which there is nothing to check yet
const BEGINNING = 8; // questions that mostly look for clusters, or for what tells matches apart
const OF_RECORDS = "The first questions show linkwise which columns tell matching records apart from others.";
const OF_CLUSTERS =
  "The first questions look for how many clusters there are. Most of their answers are “different”.";

/**
 * What a person should know of the first questions; empty later.
 * @param {number} n number of the question
 * @param {string} learner who asks
 */
export function describeBeginning(n, learner) {
  if (n > BEGINNING) return "";
  return learner.startsWith("RecordLinkage") ? OF_RECORDS : OF_CLUSTERS;
}

/**
 * The line above a question: its number, and whether it checks earlier answers.
 * @param {number} n
 * @param {number | null | undefined} budget
 * @param {string} why
 */
export function describeNumber(n, budget, why) {
  const number = `Question ${formatNumber(n)}${budget ? ` of ${formatNumber(budget)}` : ""}`;
  return n > FEW && why.startsWith(CHECK) ? `${number} · checks earlier answers` : number;
}
