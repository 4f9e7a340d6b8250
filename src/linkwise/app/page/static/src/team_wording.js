/** The words about how often people are wrong, and how often they agree. */
import { formatSeconds } from "./note_wording.js";
import { formatCount, formatPercent, joinSentences } from "./wording.js";

/** @import { TeamReport } from "./protocol.d.ts" */

export const TEAM = "Team";
export const NO_NAME = "No name";
export const NO_COMMON = "No two people have answered the same pair yet.";
const KAPPA_ADVICE =
  "Kappa compares the agreement with chance: 1 means that they always agree, 0 that they agree as often as by chance.";

/** @param {TeamReport["people"][number]} person */
export function describeAnswers({ answers, unsure, added, gold, gold_right: right, median_seconds: median }) {
  const pace = formatSeconds(median);
  const parts = [
    answers || !(added || gold) ? formatCount(answers, "answer") : "",
    unsure ? `${unsure} of them not sure` : "",
    added ? `${formatCount(added, "pair")} added` : "",
    gold ? `${right} of ${formatCount(gold, "known pair")} right` : "",
    pace ? `median ${pace}` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/**
 * How often a person is wrong, in plain words.
 * @param {TeamReport["people"][number]["error_rate"]} rate
 * @param {number} least answers of yes or no, from which there is an estimate
 */
export function describeErrorRate(rate, least) {
  if (!rate) return `Not known yet: it takes ${least} answers of same or different.`;
  const [share, low, high] = rate;
  if (low === high)
    return share === 0 ? "Taken as never wrong." : `Taken as wrong in ${formatPercent(share)}.`;
  const range = low < 0.01 ? `at most ${formatPercent(high)}` : `between ${bounds(low, high)}`;
  return `Wrong in about ${formatPercent(share)} of the answers, probably ${range}.`;
}

/**
 * @param {number} low
 * @param {number} high
 */
const bounds = (low, high) => `${formatPercent(low)} and ${formatPercent(high)}`;

/** @param {TeamReport["pairs"][number]} pair */
export const describeShared = ({ common, agreeing }) =>
  `The same answer in ${agreeing} of ${formatCount(common, "shared question")}.`;

/** @param {TeamReport["pairs"][number]["kappa"]} kappa */
export function describeKappa(kappa) {
  if (!kappa) return "";
  const [value, low, high] = kappa.map((number) => number.toFixed(2));
  return `Kappa ${value}, probably between ${low} and ${high}.`;
}

/**
 * What kappa is, and from when on it is shown.
 * @param {TeamReport} report
 */
export function explainKappa({ pairs, least_common: least }) {
  const isShown = pairs.some(({ kappa }) => kappa);
  const isMissing = pairs.some(({ common }) => common < least);
  return joinSentences(
    isShown ? KAPPA_ADVICE : "",
    isMissing ? `Kappa is shown from ${least} shared questions on.` : "",
  );
}
