/** An answer may be confirmed before the state with what follows from it. */
/** @import { Controller } from "./controller.js" */
/** @import { Reply, State } from "./protocol.d.ts" */

/**
 * Wait for the state with what follows from a reply, and return which rows moved by it, in words.
 * @param {Controller} controller
 * @param {Reply} reply
 * @returns {Promise<string>} empty if the host does not know
 */
export async function followUp(controller, reply) {
  if (!reply.ok) return "";
  const { follows: last = 0, moved = "" } = reply;
  while (controller.state && controller.state.event < last) {
    await /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const notify = () => {
          controller.watchers.delete(notify);
          resolve();
        };
        controller.watchers.add(notify);
      })
    );
  }
  return controller.state?.moves?.find(({ event }) => event === last)?.moved ?? moved;
}

/**
 * Whether the examples of two states differ; no event tells of them.
 * @param {State | null} before
 * @param {State} after
 */
export const hasOtherExamples = (before, after) =>
  JSON.stringify(before?.examples) !== JSON.stringify(after.examples);
