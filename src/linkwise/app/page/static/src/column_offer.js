/** The offer to weigh columns by the answers, and to take the weights back. */
import { describeProposal, describeRecoding, describeWeighed, RESTORE, WEIGH } from "./column_wording.js";
import { createButton } from "./controls.js";
import { h, setText } from "./dom.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

const NOTHING = { less: [], more: [], weighed: [] };

/** @param {Page} page */
export function createColumnOffer(page) {
  /** @type {NonNullable<State["columns"]>} */
  let shown = NOTHING;
  /** @param {"weigh" | "restore"} action */
  const choose = (action) =>
    page.controller.store(
      { do: "columns", action, columns: action === "weigh" ? [...shown.less, ...shown.more] : shown.weighed },
      { describe: (reply) => describeRecoding(reply.backup, reply.changed) },
    );
  const words = h("p", {});
  const accept = createButton(WEIGH, () => choose("weigh"));
  const restore = createButton(RESTORE, () => choose("restore"));
  const node = h("div", { class: "lw-column-offer", hidden: true }, words, accept, restore);
  return {
    node,
    /** @param {State} state */
    update({ columns }) {
      node.hidden = !columns;
      shown = columns ?? NOTHING;
      const { less, more, weighed } = shown;
      setText(words, [describeWeighed(weighed), describeProposal(less, more)].filter(Boolean).join(" "));
      accept.hidden = !(less.length || more.length);
      restore.hidden = !weighed.length;
    },
  };
}
