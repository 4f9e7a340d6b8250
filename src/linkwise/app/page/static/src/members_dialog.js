/** A cluster from the inside: its rows, which can be moved, and what can be said of it as a whole. */
import { chooseCluster, openDone, openMerge } from "./cluster_dialogs.js";
import { createButton, setEnabled } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { MemberList } from "./member_list.js";
import {
  describeListed,
  describeMovedOut,
  describeMovedTo,
  describeOwnCluster,
  describeSelection,
  FILTER,
} from "./member_wording.js";
import { openSplit } from "./split_dialog.js";
import { clusterName, formatCount } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster } from "./protocol.d.ts" */

const TYPING_MS = 200; // the host is asked once nothing was typed for this long

/**
 * @param {Page} page
 * @param {Cluster} opened
 */
export async function openMembers(page, opened) {
  const { controller } = page;
  let cluster = opened;
  let labels = -1;
  const { box, body, foot, heading, close } = openDialog(page, clusterName(cluster), "lw-members-dialog");
  const notice = createNotice();
  const told = h("p", { class: "lw-soft", "aria-live": "polite" });
  const chosen = h("p", { class: "lw-gap", "aria-live": "polite" });
  const field = h("input", {
    class: "lw-search",
    type: "search",
    placeholder: FILTER,
    "aria-label": FILTER,
    maxlength: "200",
    autocomplete: "off",
    spellcheck: "false",
  });
  /**
   * @param {object} request
   * @param {(n: number) => string} describe
   */
  const move = async (request, describe) => {
    const rows = [...list.selected];
    if (!rows.length) return;
    const reply = await controller.store(
      { do: "move", rows, labels, ...request },
      { describe: () => describe(rows.length), show: notice.show },
    );
    if (reply?.ok) list.clear();
  };
  const create = /** @type {(label: string, act: () => void) => HTMLButtonElement} */ (label, act) =>
    createButton(label, () => list.selected.size && act(), { "data-move": "" });
  const moves = [
    create("Not in this cluster", () => move({ to: "out" }, (n) => describeMovedOut(n, cluster))),
    create("Move to…", () =>
      chooseCluster(page, `Move ${formatCount(list.selected.size, "row")} to…`, cluster, (other) =>
        move({ to: "cluster", cluster: other.cluster }, (n) => describeMovedTo(n, other)),
      ),
    ),
    create("New cluster", () => move({ to: "new" }, describeOwnCluster)),
  ];
  const showSelection = () => {
    setText(chosen, describeSelection(list.selected.size, list.most));
    for (const button of moves) setEnabled(button, list.selected.size > 0);
  };
  const list = new MemberList(page, "Rows of this cluster", () => showSelection());
  const split = createButton("Split…", () => openSplit(page, cluster), { className: "lw-quiet" });
  const merge = createButton("Merge…", () => openMerge(page, cluster), { className: "lw-quiet" });
  const done = createButton("Done…", () => openDone(page, cluster), { className: "lw-quiet" });
  heading.after(h("div", { class: "lw-whole" }, split, merge, done));
  body.append(field, told, list.node, notice.node);
  foot.append(chosen, ...moves);

  const load = async () => {
    const text = field.value.trim();
    const now = controller.state?.clusters.find((each) => each.cluster === opened.cluster);
    cluster = now ?? cluster;
    setText(heading, `${clusterName(cluster)}, ${formatCount(cluster.size, "row")}`);
    done.hidden = cluster.done || cluster.cluster < 0;
    split.hidden = cluster.done || cluster.cluster < 0 || cluster.size < 2;
    merge.hidden = cluster.cluster < 0 || (controller.state?.clusters.length ?? 0) < 2;
    const reply = await controller.request({ do: "members", cluster: opened.cluster, text });
    if (!box.isConnected || text !== field.value.trim()) return;
    if (!reply.ok) {
      close();
      controller.warn(reply.error.text);
      return;
    }
    labels = reply.labels;
    setText(told, describeListed(reply.rows.length, reply.more, text));
    list.show(reply.rows, reply.certainty, reply.most_moved);
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, TYPING_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !field.value) return;
    event.preventDefault(); // the dialog stays open
    event.stopPropagation();
    field.value = "";
    load();
  });
  controller.watchers.add(load); // changes come from here and from other windows
  box.addEventListener("close", () => {
    controller.watchers.delete(load);
    list.close();
  });
  showSelection();
  await load();
  list.node.focus({ preventScroll: true });
}
