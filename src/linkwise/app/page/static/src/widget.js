/**
 * The page on which people answer: one module in the anywidget protocol, shown by the local server and by notebooks.
 *
 * The host gives three traits: `state` (all that is shown), `labels` (the cluster of each row, in one byte or two) and
 * `places` (two float32 a row). It takes requests and replies to each; a reply "ok" means that the change is on the
 * disk. Whatever comes from the host is data: it becomes text nodes, never markup.
 */

import { openChannel } from "./channel.js";
import { ClustersPanel } from "./clusters_panel.js";
import { detectScheme } from "./colours.js";
import { introduceColumns, openColumns } from "./columns_dialog.js";
import { openConflict } from "./conflict_dialog.js";
import { Controller } from "./controller.js";
import { h, setText } from "./dom.js";
import { introduceGuidelines, openGuidelines } from "./guidelines_dialog.js";
import { createHeader } from "./header.js";
import { openHelp } from "./help_dialog.js";
import { openHistory } from "./history_dialog.js";
import { listenToKeys } from "./keys.js";
import { postpone } from "./later.js";
import { createMapPanel } from "./map_panel.js";
import { Page } from "./page.js";
import { createProgressPanel } from "./progress_panel.js";
import { QuestionCard } from "./question_card.js";
import { openResults } from "./results_dialog.js";
import { openReview } from "./review_dialog.js";
import { StartPage, sendFile } from "./start_page.js";
import { openTeam } from "./team_dialog.js";
import { CONNECTED_AGAIN, describeResumption, joinSentences } from "./wording.js";

/** @import { Model, State } from "./protocol.d.ts" */

/** @param {{ model: Model, el: HTMLElement }} given */
function render({ model, el }) {
  const channel = openChannel(model);
  const page = new Page(
    (page) =>
      new Controller(channel.send, {
        showNotice: (text, tone) => card.showNotice(text, tone),
        announce: (text) => page.announce(text),
        updateStatus() {
          header.updateStatus();
          card.updateStatus();
        },
        updateSelection: () => map.updateSelection(),
        showConflict: (conflict) => openConflict(page, conflict),
        download: (name, type, file) => page.download(name, type, file),
      }),
  );
  const { controller, root } = page;
  const header = createHeader(page);
  const card = new QuestionCard(page, () => {
    const { state } = controller;
    if (!state) return;
    card.update(state);
    map.update(state, false);
  });
  const map = createMapPanel(page, model);
  page.drawPlot = () => map.plot.writePicture();
  page.sortAgain = (event) => card.sorter.edit(event);
  const progress = createProgressPanel(page);
  const clusters = new ClustersPanel(page, map.plot);
  const banner = h("p", { class: "lw-banner", role: "alert", hidden: true });
  const working = h("div", { class: "lw-working", hidden: true, "aria-hidden": "true" });
  const left = h("div", { class: "lw-left" }, card.node, progress.node);
  const right = h("div", { class: "lw-right" }, map.node, clusters.node);
  const columns = h("div", { class: "lw-columns" }, left, right);
  const start = new StartPage(page, sendFile);
  root.append(header.node, working, banner, columns, page.live);
  el.append(root);

  // ---------------------------------------------------------------- what the host sends
  /** @type {number | null} */
  let drawnLabels = null;
  /** @param {State} state */
  const greet = (state) => {
    const isResumed = state.counts.answers > 0 && state.place;
    card.showNotice(joinSentences(start.kept, isResumed ? describeResumption(state.counts.answers) : ""));
    introduceGuidelines(page, state);
    introduceColumns(page, state);
  };
  /** @param {State} state */
  const showState = (state) => {
    const hadFocus = page.hasFocus;
    const before = controller.setState(state);
    const hasNewLabels = before === null || drawnLabels !== state.labels;
    drawnLabels = state.labels;
    card.update(state);
    map.update(state, hasNewLabels);
    for (const panel of [header, progress, clusters]) panel.update(state);
    working.hidden = !state.busy;
    if (before === null) greet(state);
    const focusIsGone = !page.hasFocus || page.focused?.closest("[hidden]");
    if (hadFocus && focusIsGone) root.focus();
    if (hasNewLabels || state.event !== before?.event) {
      root.dispatchEvent(new CustomEvent("linkwise:drawn", { bubbles: true, detail: state.labels }));
    }
  };
  const onState = () => {
    const state = model.get("state");
    controller.hasFailed = Boolean(state?.failed);
    const isStart = Boolean(state?.start);
    if (!isStart && start.node.contains(page.focused)) root.focus(); // it would be lost with its node
    if (!isStart) start.node.remove();
    else if (!start.node.isConnected) columns.before(start.node);
    columns.hidden = isStart;
    header.tools.hidden = isStart;
    if (isStart) start.update(state.start);
    else if (state?.counts) showState(state);
    else card.showOpening(state ?? {});
  };
  const onLink = () => {
    const isBack = controller.setLink(model.get("link") || "open"); // a notebook has no such trait
    if (isBack) {
      drawnLabels = null; // the host may be another one by now
      page.announce(CONNECTED_AGAIN);
    }
    banner.hidden = controller.link === "open";
    setText(banner, controller.linkProblem);
    if (page.hasDialog && !banner.hidden) page.announce(controller.linkProblem); // the banner is not heard then
    root.dataset.link = controller.link;
  };

  // ---------------------------------------------------------------- keys, light and dark
  const zoomIn = () => map.plot.zoom(1.5);
  const toggle = /** @param {"why" | "guess"} which */ (which) => {
    if (controller.state?.question && !card.sorter.isEditing) card[which].toggle();
  };
  const pairKeys = {
    y: () => controller.answer("yes"),
    n: () => controller.answer("no"),
    s: () => controller.answer("unsure"),
    l: () => postpone(controller),
    u: () => controller.undo(),
    g: () => toggle("guess"),
  };
  const keys = {
    w: () => toggle("why"),
    a: () => controller.state?.question && !card.sorter.isEditing && card.note.toggle(),
    h: () => openHistory(page),
    e: () => openResults(page),
    i: () => openGuidelines(page),
    c: () => openColumns(page),
    r: () => openReview(page),
    t: () => openTeam(page),
    "/": () => clusters.focusSearch(),
    "+": zoomIn,
    "=": zoomIn,
    "-": () => map.plot.zoom(1 / 1.5),
    0: () => map.plot.reset(),
    "?": () => openHelp(page),
  };
  const isOpen = () => !start.node.isConnected;
  listenToKeys(root, keys, isOpen);
  listenToKeys(root, pairKeys, () => isOpen() && !controller.isSorting);
  listenToKeys(root, card.sorter.keys, () => isOpen() && controller.isSorting);
  const unlisten = card.note.listen();
  const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
  const onScheme = () => {
    root.style.colorScheme = detectScheme();
    map.plot.recolour();
  };
  const observer = new MutationObserver(onScheme);
  const attributeFilter = ["data-jp-theme-light", "data-vscode-theme-kind", "class"];
  observer.observe(document.body, { attributes: true, attributeFilter });
  darkScheme.addEventListener("change", onScheme);
  root.style.colorScheme = detectScheme();

  model.on("change:state", onState);
  model.on("change:link", onLink);
  controller.setLink(model.get("link") || "open");
  onState();
  onLink();
  if (model.get("link") !== undefined) root.focus({ preventScroll: true });
  return () => {
    model.off("change:state", onState);
    model.off("change:link", onLink);
    channel.close();
    unlisten();
    observer.disconnect();
    darkScheme.removeEventListener("change", onScheme);
    map.close();
    root.remove();
  };
}

export default { render };
