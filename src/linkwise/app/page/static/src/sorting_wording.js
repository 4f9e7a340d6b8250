/** The words about rows that are sorted into piles. */
import { endSentence, formatCount, joinSentences } from "./wording.js";

/** @import { SortingOffer } from "./protocol.d.ts" */

export const SORT_QUESTION = "Which of these belong together?";
export const SORT_ADVICE =
  "Put each card into a pile: drag it, or choose it and then the pile. Rows of two piles are different. If two piles " +
  "are one, drag one onto the other.";
export const SORT_AGAIN = "Sort again";
export const LIES = "Your cards lie where you put them. Done replaces the piles of that answer.";
export const CHOOSING = "Choosing the rows to sort…";
export const NOTHING_TO_SORT =
  "There are no rows to sort now: others have them, or no place is worth asking for. You can go on with two at a time.";
export const CHOOSE_CARD = "Every card has a place. Choose a card first to move it.";
export const NO_STEP = "No card is placed yet. Use Undo to take back your last answer.";
export const JOINING = "Which two piles are one? Type their numbers, or press Escape.";
/** @param {string} pile */
export const describeJoining = (pile) => `${pile} is one with which pile? Type its number, or press Escape.`;
export const LOOSE = "Cards without a place";
export const UNSURE = "Not sure";
export const NEW_PILE = "New pile";
export const KEPT = "Your cards lie where you put them before.";
export const LOST_CARDS =
  "These rows were sorted or answered elsewhere, so the places that you gave them were not stored. Here are the next rows.";

/** What the keys do while rows are sorted. @type {[string, string][]} */
export const SORT_KEYS = [
  ["1 – 9", "Put the card with the frame into this pile, and go on to the next card"],
  ["N", "A new pile for this card"],
  ["S", "Not sure: nothing follows for this card"],
  ["U", "One step back"],
  ["M", "Two piles are one: type both numbers"],
  ["← ↑ → ↓", "Another card; Backspace takes a card out of its pile"],
  ["Enter", "Done, once every card has a place"],
];

/**
 * A pile within a sentence.
 * @param {number} number
 * @param {string} name of its cluster; empty for a new pile
 */
export const describePile = (number, name) => (name ? `pile ${number}, ${name}` : `pile ${number}`);

/** @param {number} n cards without a place */
const countLeft = (n) =>
  n ? `${formatCount(n, "card")} left.` : "Every card has a place. Press Enter to finish.";

/**
 * What was done with a card.
 * @param {string} card
 * @param {string} where
 * @param {number} n cards without a place
 */
export const describePlaced = (card, where, n) =>
  joinSentences(endSentence(`${card}: ${where}`), countLeft(n));

/**
 * @param {string} pile
 * @param {number} n cards without a place
 */
export const describeJoined = (pile, n) =>
  joinSentences(endSentence(`The two piles are one: ${pile}`), countLeft(n));

/** @param {number} n cards without a place */
export const describeStepBack = (n) => `One step back. ${countLeft(n)}`;

/** @param {number} number */
export const describeNoPile = (number) =>
  joinSentences(endSentence(`There is no pile ${number}`), "Press N for a new one.");

/**
 * Which cards still need a place.
 * @param {string[]} names
 */
export function describeMissing(names) {
  const [most, rest] = [names.slice(0, 5), Math.max(0, names.length - 5)];
  const listed = rest ? `${most.join(", ")} and ${rest} more` : most.join(", ");
  const verb = names.length === 1 ? "needs" : "need";
  return `${listed} still ${verb} a place. Press S if you are not sure.`;
}

/**
 * @param {number} cards
 * @param {number} piles
 */
export const describeSorted = (cards, piles) =>
  `Saved: ${formatCount(cards, "card")} sorted into ${formatCount(piles, "pile")}.`;

/** @param {number} event */
export const describeSortedAgain = (event) => `Saved: answer ${event} has the new piles.`;

/**
 * What is dragged, and what happens if it is dropped.
 * @param {string} thing
 * @param {string} [where]
 */
export const describeDrop = (thing, where) => (where ? `${thing}: ${where}?` : `Drag ${thing} onto a pile`);

/**
 * Why the other way to answer may be quicker; empty if nothing speaks for it.
 * @param {boolean} isSorting
 * @param {SortingOffer} offer
 * @param {boolean} hasChosen whether the person chose how to answer
 */
export function describeOffer(isSorting, { size, factor, pairs }, hasChosen) {
  if (factor !== null) {
    const isOther = isSorting !== (size !== null);
    const times = (size === null ? 1 / factor : factor).toFixed(1);
    const how = size === null ? "two at a time is" : `sorting ${size} rows is`;
    return isOther ? `At your pace so far, ${how} about ${times} times as fast.` : "";
  }
  if (isSorting || hasChosen || size === null || pairs === null) return "";
  return `You can also sort ${size} rows at once: one screen tells about as much as ${formatCount(pairs, "question")}.`;
}
