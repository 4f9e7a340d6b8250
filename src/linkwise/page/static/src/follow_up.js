/** An answer may be confirmed before the state with what follows from it. */
/** @import { Controller } from "./controller.js" */
/** @import { Reply } from "./protocol.d.ts" */

/**
 * Wait for the state with what follows from a reply.
 * @param {Controller} controller
 * @param {Reply} reply
 */
export async function followUp(controller, reply) {
  const last = reply.ok ? (reply.follows ?? 0) : 0;
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
}
