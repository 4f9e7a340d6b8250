/** The offer to leave out columns that the answers do not depend on, and to take them in again. */
import { describeLeftOut, describeProposal, describeRecoding, LEAVE_OUT, RESTORE } from "./column_wording.js";
import { createButton } from "./controls.js";
import { h, setText } from "./dom.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

/** @param {Page} page */
export function createColumnOffer(page) {
  /** @type {{ drop: string[], left_out: string[] }} */
  let shown = { drop: [], left_out: [] };
  /** @param {"leave_out" | "restore"} action */
  const choose = (action) =>
    page.controller.store(
      { do: "columns", action, columns: action === "leave_out" ? shown.drop : shown.left_out },
      { describe: (reply) => describeRecoding(reply.backup, reply.changed) },
    );
  const words = h("p", {});
  const accept = createButton(LEAVE_OUT, () => choose("leave_out"));
  const restore = createButton(RESTORE, () => choose("restore"));
  const node = h("div", { class: "lw-column-offer", hidden: true }, words, accept, restore);
  return {
    node,
    /** @param {State} state */
    update({ columns }) {
      node.hidden = !columns;
      shown = columns ?? { drop: [], left_out: [] };
      const { drop, left_out: leftOut } = shown;
      const sentences = [
        leftOut.length ? describeLeftOut(leftOut) : "",
        drop.length ? describeProposal(drop) : "",
      ];
      setText(words, sentences.filter(Boolean).join(" "));
      accept.hidden = !drop.length;
      restore.hidden = !leftOut.length;
    },
  };
}
