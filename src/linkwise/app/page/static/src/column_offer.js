/** What the answers say about columns: other columns that they follow, weights, and the way back. */

import {
  describeProposal,
  describeRecoding,
  describeTask,
  describeWeighed,
  LOOK,
  RESTORE,
  RESTORE_TASK,
  WEIGH,
} from "./column_wording.js";
import { openColumns } from "./columns_dialog.js";
import { createButton } from "./controls.js";
import { h, setText } from "./dom.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

const NOTHING = { follows: "", less: [], more: [], weighed: [], task: "" };

/** @param {Page} page */
export function createColumnOffer(page) {
  /** @type {NonNullable<State["columns"]>} */
  let shown = NOTHING;
  /** @param {"weigh" | "restore"} action */
  const choose = (action) =>
    page.controller.store(
      {
        do: "columns",
        action,
        columns:
          action === "weigh" ? [...shown.less, ...shown.more] : shown.task ? [shown.task] : shown.weighed,
      },
      { describe: (reply) => describeRecoding(reply.backup, reply.changed) },
    );
  const words = h("p", {});
  const look = createButton(LOOK, () => openColumns(page, "answers"), { "aria-haspopup": "dialog" });
  const accept = createButton(WEIGH, () => choose("weigh"));
  const restore = createButton(RESTORE, () => choose("restore"));
  const node = h("div", { class: "lw-column-offer", hidden: true }, words, look, accept, restore);
  return {
    node,
    /** @param {State} state */
    update({ columns }) {
      node.hidden = !columns;
      shown = columns ?? NOTHING;
      const { follows, less, more, weighed, task } = shown;
      setText(
        words,
        [follows, describeWeighed(weighed), describeTask(task), describeProposal(less, more)]
          .filter(Boolean)
          .join(" "),
      );
      look.hidden = !follows;
      accept.hidden = !(less.length || more.length);
      restore.hidden = !(weighed.length || task);
      setText(restore, task ? RESTORE_TASK : RESTORE);
    },
  };
}
