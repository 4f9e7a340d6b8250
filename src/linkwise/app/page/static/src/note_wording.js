/** The words about notes and about how long answers take. */
import { formatNumber } from "./wording.js";

/** @import { SessionEvent } from "./protocol.d.ts" */

export const NOTE = "Add a note";
export const NOTE_LABEL = "Note on your next answer";
export const NOTE_HINT = "Enter goes back to the question";
export const DECISION_LABEL = "Note on your decision";
export const DECISION_HINT = "Enter goes back to the pair";

/** @param {string} note whose question is gone */
export const describeLostNote = (note) =>
  `The question has changed. This note is not saved, unless the history shows it: “${note}”`;

/**
 * A note, and who wrote it if that was somebody else than who answered.
 * @param {SessionEvent} event
 */
export function describeNote({ note, note_author: author, text }) {
  if (!note) return "";
  return author && author !== text ? `Note by ${author}: ${note}` : `Note: ${note}`;
}

/**
 * How long an answer took; empty if that is unknown.
 * @param {number | null | undefined} seconds
 */
export function formatSeconds(seconds) {
  if (seconds === null || seconds === undefined) return "";
  return `${seconds < 10 ? seconds.toFixed(1) : formatNumber(Math.round(seconds))} s`;
}

/** @param {string[]} names of the two rows */
export const describeNoteOf = (names) => `Note on ${names.join(" and ")}`;

/** @param {boolean} isEmpty */
export const describeSavedNote = (isEmpty) => (isEmpty ? "The note is removed." : "The note is saved.");
