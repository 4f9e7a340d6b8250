/** An answer may be confirmed before the state with what follows from it. */
/** @import { Controller } from "./controller.js" */
/** @import { Reply, State } from "./protocol.d.ts" */

/**
 * Wait for the state with what follows from a reply, and return how many rows moved by it.
 * @param {Controller} controller
 * @param {Reply} reply
 * @returns {Promise<{ moved?: number, others?: number }>} `others` counts other events that moved them, too
 */
export async function followUp(controller, reply) {
  if (!reply.ok) return {};
  const { follows: last = 0, moved } = reply;
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
  return controller.state?.moves?.find(({ event }) => event === last) ?? { moved };
}

/**
 * Whether the examples of two states differ; no event tells of them.
 * @param {State | null} before
 * @param {State} after
 */
export const hasOtherExamples = (before, after) =>
  JSON.stringify(before?.examples) !== JSON.stringify(after.examples);
