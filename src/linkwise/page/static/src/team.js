/** The words about several people who answer at one session. */
import { formatNumber } from "./wording.js";

/** @import { Team } from "./protocol.d.ts" */

export const WAITING = "The others are answering the questions that are left";
export const WAITING_ADVICE = "You get the next question as soon as their answers make one worth asking.";

/** @param {Team} team */
export const describeCounts = ({ own, all }) => `You: ${formatNumber(own)} · team: ${formatNumber(all)}`;

/**
 * Who answers now.
 * @param {Team} team
 */
export function describePeople({ you, here }) {
  const others = here.filter((name) => name !== you);
  return `You are ${you}. ${others.length ? `Also here: ${others.join(", ")}.` : "Nobody else is here now."}`;
}
