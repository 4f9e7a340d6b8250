/** The words about several people who answer at one session. */
import { formatSeconds } from "./note_wording.js";
import {
  ANSWER_LABELS,
  ANSWER_WORDS,
  endSentence,
  formatCount,
  formatNumber,
  formatTime,
} from "./wording.js";

/** @typedef {import("./protocol.d.ts").Answer | "neither"} Decision what a reviewer decides */
/** @import { Answer, ReviewCase, SessionEvent, State, Team } from "./protocol.d.ts" */

export const WAITING = "The others are answering the questions that are left";
export const WAITING_ADVICE = "You get the next question as soon as their answers make one worth asking.";

export const NO_NAME = "No name";
export const REVIEW = "Review";
export const REVIEW_ADVICE =
  "Answers about these pairs disagree or are probably wrong. “Same” and “Different” are certain from then on and " +
  "outrank all other answers. “Not sure” decides nothing, and the pair is not shown to you again. A card of a screen " +
  "that may lie in a wrong pile is shown beside its pile and the one where it probably belongs.";
export const OTHERS_ADVICE =
  "You can change your own answers. An answer of somebody else is changed by that person, or decided in a review.";
export const NO_REVIEW = "No pair needs your review.";

/**
 * Whether whoever looks at the page may change an event or take it back: of several people, each their own answers.
 * @param {State | null} state
 * @param {string} kind of the event
 * @param {string | null} source
 */
export const isOwn = (state, kind, source) =>
  !state?.team || kind === "done" || kind === "name" || (kind !== "import" && source === state.team.you);

/**
 * Who gave an answer, within a sentence; empty if whoever looks at the page did.
 * @param {State | null} state
 * @param {string} source
 */
export const nameSource = (state, source) =>
  source === (state?.team?.you ?? "") ? "" : source || "somebody without a name";

/** @param {number} n pairs that wait for a review */
export const countReview = (n) =>
  n === 0 ? NO_REVIEW : `${formatCount(n, "pair")} ${n === 1 ? "needs" : "need"} a review.`;

/**
 * Who gave an answer, and what it says.
 * @param {SessionEvent} event
 */
export const describeOpinion = ({ text, answer, kind }) =>
  `${text || NO_NAME}: ${kind === "sort" ? "sorted these rows" : ANSWER_LABELS[answer]}`;

/**
 * When an answer was given, and whether it answered no question.
 * @param {SessionEvent} event
 */
export const describeOccasion = ({ when, kind }) =>
  [formatTime(when), kind === "add" ? "added" : ""].filter(Boolean).join(" · ");

/** @param {"yes" | "no"} answer */
export const describeBelief = (answer) => `By all answers: ${ANSWER_LABELS[answer]}.`;

/**
 * @param {string[]} names of the two rows
 * @param {Answer} answer
 */
export function describeDecision(names, answer) {
  const end = answer === "unsure" ? "This pair is left to other reviewers." : "This is certain from now on.";
  return `Saved: ${names.join(" and ")} are “${ANSWER_WORDS[answer]}”. ${end} You can take it back in the history.`;
}

/** What becomes of a card that may lie in a wrong pile. @type {Record<Decision, [label: string, words: string]>} */
const CARD_DECISIONS = {
  yes: ["It stays", "stays in its pile. This is certain from now on"],
  no: ["It moves", "is in the pile where it probably belongs"],
  neither: ["Neither", "belongs to neither of these piles. This is certain from now on"],
  unsure: ["Not sure", "is left to other reviewers"],
};

/** @param {Decision} decision */
export const nameCardDecision = (decision) => CARD_DECISIONS[decision][0];

/**
 * @param {string} card
 * @param {Decision} decision
 */
export const describeCardDecision = (card, decision) => `Saved: ${card} ${CARD_DECISIONS[decision][1]}.`;

/** @param {ReviewCase | null} found the pair or the card that is shown next */
export function describeNextCase(found) {
  if (!found) return NO_REVIEW;
  const [card] = found.screen?.cards ?? [];
  const words = card ? `Next card: ${card.name}` : `Next pair: ${found.first.name} and ${found.second.name}`;
  return endSentence(words);
}

/** @param {Team} team */
export function describeCounts({ own, all, median_seconds: median }) {
  const parts = [`You: ${formatNumber(own)}`, `team: ${formatNumber(all)}`];
  const pace = formatSeconds(median);
  return [...parts, ...(pace ? [`your median: ${pace} per answer`] : [])].join(" · ");
}

/**
 * Who answers now.
 * @param {Team} team
 */
export function describePeople({ you, here }) {
  const others = here.filter((name) => name !== you);
  const also = others.length ? endSentence(`Also here: ${others.join(", ")}`) : "Nobody else is here now.";
  return `${endSentence(`You are ${you}`)} ${also}`;
}
