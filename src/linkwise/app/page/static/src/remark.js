/** What goes with an answer: a note, and how long the person saw the question. */

/** @import { Reply, Request } from "./protocol.d.ts" */

/** @typedef {{ seconds: number, note?: string }} Remark */

/**
 * What the controller needs of a draft.
 * @typedef {object} Draft
 * @property {() => Remark} take what goes with an answer that is sent now; the note leaves its field
 * @property {(note: string | undefined, question: string | null) => void} restore the answer was not stored
 */

/**
 * Send an answer with its note and its seconds. If it is not stored, the note comes back.
 * @param {Draft} draft
 * @param {string | null} question that the note was written about
 * @param {Request} request
 * @param {(request: Request) => Promise<Reply | undefined>} store
 */
export async function storeWithRemark(draft, question, request, store) {
  const remark = draft.take();
  const reply = await store({ ...request, ...remark });
  if (!reply?.ok) draft.restore(remark.note, question);
}
