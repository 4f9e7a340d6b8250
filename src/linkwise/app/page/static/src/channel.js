/** @import { Model, Reply, Request } from "./protocol.d.ts" */

/**
 * Send requests to the host and match its replies. A failed request has a reply, too: `{ok: false, error}`.
 * @param {Model} model
 */
export function openChannel(model) {
  const prefix = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  /** @type {Map<string, (reply: Reply) => void>} */
  const open = new Map();
  let count = 0;
  /**
   * @param {any} message
   * @param {ArrayBufferView[]} [buffers]
   */
  const receive = (message, buffers) => {
    const resolve = message && open.get(message.re);
    if (!resolve) return; // a reply to another view of the same model
    open.delete(message.re);
    resolve({ ...message, file: buffers?.[0] });
  };
  model.on("msg:custom", receive);
  return {
    /**
     * @param {Request} request
     * @returns {Promise<Reply>}
     */
    send(request) {
      return new Promise((resolve) => {
        count += 1;
        const id = `${prefix}-${count}`;
        open.set(id, resolve);
        model.send({ ...request, id });
      });
    },
    close() {
      model.off("msg:custom", receive);
    },
  };
}
