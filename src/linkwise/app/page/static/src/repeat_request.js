/** How a request is sent once more, after a change made room for it. */

/** @import { Answer, Kind, Request, State } from "./protocol.d.ts" */

/** @typedef {{ first: number, second: number, answer: Answer }} PairAnswer */

/** The kind of constraint that an answer means. @type {Record<"yes" | "no", Kind>} */
export const KINDS = { yes: "must-link", no: "cannot-link" };

/**
 * A refused request once more. If the question has changed meanwhile, the answer is sent as a pair.
 * @param {State | null} state
 * @param {Request} request
 * @param {PairAnswer} [pair]
 * @returns {Request}
 */
export function repeatRequest(state, request, pair) {
  if (!pair || pair.answer === "unsure" || !["answer", "merge", "split"].includes(request.do)) return request;
  const question = state?.question;
  if (question && request.do === "answer") {
    const rows = new Set([question.first.row, question.second.row, pair.first, pair.second]);
    if (rows.size === 2) return { do: "answer", question: question.id, answer: pair.answer };
  }
  return { do: "add", first: pair.first, second: pair.second, kind: KINDS[pair.answer] };
}
