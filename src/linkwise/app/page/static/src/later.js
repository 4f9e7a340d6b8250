/** A question that is put off: it comes back after others. */
/** @import { Controller } from "./controller.js" */
/** @import { Reply } from "./protocol.d.ts" */

export const LATER = "The question comes back after others, and this is no answer";
export const POSTPONED = "The question comes back after others.";
export const NO_OTHER_QUESTION = "There is no other question to ask now.";

/** @param {Controller} controller */
export async function postpone(controller) {
  const question = controller.state?.question;
  if (!question) return;
  const describe = /** @param {Reply & { ok: true }} reply */ (reply) =>
    reply.other ? POSTPONED : NO_OTHER_QUESTION;
  await controller.store({ do: "later", question: question.id }, { describe });
}
