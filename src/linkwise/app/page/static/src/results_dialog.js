/** What a person takes away: the clusters, what remains doubtful, files, and how to go on in Python. */

import { describeUnlisted } from "./cluster_wording.js";
import { chooseSlots, slotName, slotShape } from "./colours.js";
import { createButton } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { createRowLink } from "./item_dialog.js";
import { describeCertainty } from "./member_wording.js";
import { openMembers } from "./members_dialog.js";
import { renderCards } from "./split_dialog.js";
import { clusterName, countClusters, describeDownload, formatCount } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster, State } from "./protocol.d.ts" */

export const RESULTS = "Results";
const [SHOWN, MOST_LISTED] = [3, 30]; // rows of a cluster; clusters
const NOTHING_DOUBTFUL = "Every row is in its cluster with a probability of 95 % or more.";
const LOOK = "These rows are the least certain. Open a cluster to move rows that are in the wrong one.";
/** @type {[string, string][]} */
const FILES = [
  ["labels", "Clusters (CSV)"],
  ["constraints", "Pairs (CSV)"],
  ["rules", "Rules (text)"],
  ["session", "Session file"],
];

/**
 * @param {Page} page
 * @param {string} title
 * @param {...(Node | string | false | null)} content
 */
function createSection(page, title, ...content) {
  const heading = h("h3", { id: page.createId("section") }, title);
  return h("section", { class: "lw-result", "aria-labelledby": heading.id }, heading, ...content);
}

/** @param {Page} page */
function renderClusters(page) {
  const state = /** @type {State} */ (page.controller.state);
  const isShown = state.kind !== "record";
  const slots = chooseSlots(state);
  const render = /** @param {Cluster} cluster */ (cluster) => {
    const slot = slots.get(cluster.cluster);
    const dot = h("span", { class: "lw-dot", "aria-hidden": "true" });
    dot.dataset.shape = String(slot === undefined ? 0 : slotShape(slot));
    dot.style.setProperty("--lw-own", `var(--lw-${slot === undefined ? "cluster-none" : slotName(slot)})`);
    const profile = page.profiles.get(cluster.cluster);
    return h(
      "li",
      {},
      h(
        "div",
        { class: "lw-row" },
        h("span", {}, dot, h("strong", {}, clusterName(cluster)), ` ${formatCount(cluster.size, "row")}`),
        createButton("Rows…", () => openMembers(page, cluster), {
          className: "lw-quiet",
          "aria-label": `Rows of ${clusterName(cluster)}`,
        }),
      ),
      profile && h("p", { class: "lw-soft" }, profile),
      isShown && renderCards(page, cluster.exemplars.slice(0, SHOWN)),
    );
  };
  const more = countClusters(state) - Math.min(state.clusters.length, MOST_LISTED);
  return createSection(
    page,
    "Clusters",
    h("ul", { class: "lw-result-list" }, state.clusters.slice(0, MOST_LISTED).map(render)),
    more > 0 && h("p", { class: "lw-soft" }, describeUnlisted(more)),
  );
}

/**
 * @param {Page} page
 * @param {{ row: number, name: string, value: string, cluster: number, certainty: number }[] | null} doubtful
 */
function renderDoubtful(page, doubtful) {
  if (!doubtful) return null;
  const { state } = page.controller;
  const render = /** @param {(typeof doubtful)[number]} row */ ({ row, name, value, cluster, certainty }) => {
    const home = state?.clusters.find((each) => each.cluster === cluster) ?? { cluster, name: "" };
    return h(
      "li",
      {},
      createRowLink(page, name, row),
      h("span", {}, ` in ${clusterName(home)}, ${describeCertainty(certainty)}`),
      value && h("span", { class: "lw-soft" }, ` ${value}`),
    );
  };
  return createSection(
    page,
    "Rows to look at",
    h("p", { class: "lw-soft" }, doubtful.length ? LOOK : NOTHING_DOUBTFUL),
    doubtful.length > 0 && h("ol", { class: "lw-doubtful" }, doubtful.map(render)),
  );
}

/**
 * @param {Page} page
 * @param {[string, string][]} tables endings and names
 * @param {(words: string, tone?: "warn") => void} show
 */
function renderFiles(page, tables, show) {
  const { controller } = page;
  const form = h(
    "select",
    { class: "lw-order", "aria-label": "Kind of file" },
    tables.map(([ending, label]) => h("option", { value: ending }, label)),
  );
  const saveTable = () => controller.export("table", { ending: form.value }, show);
  const savePicture = () => {
    const picture = page.drawPlot();
    const name = `${controller.state?.title || "linkwise"}.svg`;
    if (picture) page.download(name, "image/svg+xml", new TextEncoder().encode(picture));
    show(picture ? describeDownload(name) : "There is no plot to save.", picture ? undefined : "warn");
  };
  const create = /** @type {(what: string, label: string) => HTMLElement} */ (what, label) =>
    createButton(label, () => controller.export(what, {}, show), { "data-what": what });
  const files = FILES.filter(([what]) => what !== "rules" || controller.state?.rules);
  return createSection(
    page,
    "Export",
    tables.length > 0 &&
      h(
        "div",
        { class: "lw-marking" },
        createButton("My table with clusters", saveTable, { className: "lw-main", "data-what": "table" }),
        form,
      ),
    h(
      "div",
      { class: "lw-marking" },
      files.map(([what, label]) => create(what, label)),
      createButton("Picture of the plot (SVG)", savePicture, { "data-what": "picture" }),
    ),
  );
}

/** @param {Page} page */
export async function openResults(page) {
  const { controller } = page;
  const { state } = controller;
  if (!state || page.hasDialog) return;
  const { box, body } = openDialog(page, RESULTS, "lw-results");
  const notice = createNotice();
  const found = `${formatCount(countClusters(state), "cluster")} of ${formatCount(state.rows, "row")}`;
  const lead = `${found}, from ${formatCount(state.counts.answers, "answer")}. ${state.advice?.text ?? ""}`;
  body.append(h("p", { class: "lw-lead" }, lead.trim()), renderClusters(page));
  const reply = await controller.request({ do: "results" });
  if (!box.isConnected) return;
  if (!reply.ok) {
    notice.show(reply.error.text, "warn");
    body.append(notice.node);
    return;
  }
  const code = reply.python && h("pre", { class: "lw-code", tabindex: "0" }, reply.python);
  const copy = () => {
    navigator.clipboard?.writeText(reply.python);
    notice.show("Copied.");
  };
  body.append(
    ...[
      renderDoubtful(page, reply.doubtful),
      renderFiles(page, reply.tables, notice.show),
      code && createSection(page, "Go on in Python", code, createButton("Copy", copy)),
      notice.node,
    ].filter((node) => node !== null && node !== ""),
  );
}
