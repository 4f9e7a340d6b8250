/** The list of clusters, with rules on demand. */
import { confirmMerge } from "./cluster_dialogs.js";
import { ClusterRow } from "./cluster_row.js";
import { ClusterSearch } from "./cluster_search.js";
import { COLOUR_FAMILIES, describeDrag, describeUnlisted } from "./cluster_wording.js";
import { hasFamilies } from "./colours.js";
import { createButton } from "./controls.js";
import { h, setText } from "./dom.js";
import { Drag } from "./drag.js";
import { countClusters, formatNumber, formatPercent } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster, State } from "./protocol.d.ts" */
/** @import { Scatter } from "./scatter.js" */

const PAUSE_MS = 200; // after a new state, so that profiles delay no answer that follows quickly

export class ClustersPanel {
  /** @type {Map<number, ClusterRow>} */
  #rows = new Map();
  /** Rules by cluster, and the labels that they are about. @type {{ labels: number, lines: Map<number, string[]> } | null} */
  #rules = null;
  #showsRules = false;
  /** The labels that the profiles are about. */
  #profiled = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #labels = -1;
  /** @type {number | null} */
  #pinned = null;

  /**
   * @param {Page} page
   * @param {Scatter} plot
   */
  constructor(page, plot) {
    this.page = page;
    this.plot = plot;
    this.heading = h("h3", { id: page.createId("clusters") }, "Clusters");
    this.rulesButton = createButton("Show rules", () => this.#toggleRules(), {
      className: "lw-quiet",
      "aria-expanded": "false",
    });
    this.fidelity = h("p", { class: "lw-soft", hidden: true });
    this.search = new ClusterSearch(page, () => page.controller.state && this.#show(page.controller.state));
    this.search.field.addEventListener("keydown", (event) => this.#leaveSearch(event));
    this.legend = h("p", { class: "lw-soft lw-legend", hidden: true }, COLOUR_FAMILIES);
    this.list = h("ul", { class: "lw-clusters" });
    this.drag = new Drag(page.root, this.list, {
      findSource: (node) => this.#findSpot(node),
      findTarget: (node) => this.#findSpot(node),
      describe: describeDrag,
      drop: (cluster, other) => confirmMerge(page, cluster, other),
      handle: ".lw-swatch",
    });
    this.foot = h("p", { class: "lw-soft", hidden: true });
    this.node = h(
      "section",
      { class: "lw-card", "aria-labelledby": this.heading.id, hidden: true },
      h("div", { class: "lw-row" }, this.heading, this.rulesButton),
      this.search.node,
      this.legend,
      this.fidelity,
      this.list,
      this.foot,
    );
  }

  /** @param {State} state */
  update(state) {
    setText(this.heading, `Clusters (${formatNumber(countClusters(state))})`);
    this.rulesButton.hidden = !state.rules;
    this.foot.hidden = !state.more_clusters;
    setText(this.foot, describeUnlisted(state.more_clusters || 0));
    this.legend.hidden = !hasFamilies(state);
    if (this.#labels !== state.labels) this.drag.cancel(); // one of the two may be gone
    this.#labels = state.labels;
    this.#show(state);
    const isStale = this.#showsRules && this.#rules && this.#rules.labels !== state.labels;
    if (isStale) this.#loadRules().then(() => this.#showRules());
    this.node.hidden = false;
    clearTimeout(this.#timer);
    if (state.profiles && this.#profiled !== state.labels) {
      this.#timer = setTimeout(() => this.#loadProfiles(), PAUSE_MS);
    }
  }

  /** Ask what distinguishes the clusters; an answer that was given meanwhile comes first. */
  async #loadProfiles() {
    const { controller } = this.page;
    const reply = await controller.request({ do: "profiles" });
    if (!reply.ok) return;
    this.#profiled = reply.labels;
    /** @type {{ cluster: number, text: string }[]} */
    const profiles = reply.profiles;
    this.page.profiles = new Map(profiles.map((each) => [each.cluster, each.text]));
    if (controller.state) this.#show(controller.state);
  }

  /**
   * Show the clusters that are searched for, in their order.
   * @param {State} state
   */
  #show(state) {
    const { clusters, hits } = this.search.select(state);
    this.node.classList.toggle("lw-many", !this.search.node.hidden);
    this.#removeRows(clusters, state);
    for (const [i, cluster] of clusters.entries()) {
      const row = this.#rows.get(cluster.cluster) ?? this.#createRow(cluster);
      row.update(cluster, state, this.plot.slots.get(cluster.cluster), this.search.order === "answered");
      row.showHits(hits.get(cluster.cluster) ?? null);
      const here = this.list.children[i] ?? null;
      if (here !== row.node) this.list.insertBefore(row.node, here);
    }
    this.#showRules();
  }

  /**
   * Take rows off the list that were not found, and forget those of clusters that exist no more.
   * @param {Cluster[]} clusters
   * @param {State} state
   */
  #removeRows(clusters, state) {
    const shown = new Set(clusters.map((each) => each.cluster));
    const present = new Set([...shown, ...state.clusters.map((each) => each.cluster)]);
    for (const [cluster, row] of this.#rows) {
      if (!shown.has(cluster)) row.node.remove();
      if (present.has(cluster)) continue;
      this.#rows.delete(cluster);
      if (this.#pinned === cluster) {
        this.#pinned = null;
        this.plot.highlight(null);
      }
    }
  }

  /**
   * From the search the keyboard goes to what was found, or back to the question.
   * @param {KeyboardEvent} event
   */
  #leaveSearch(event) {
    if (event.defaultPrevented || event.isComposing) return;
    const first = this.list.querySelector("button");
    if (event.key === "Escape") this.page.root.focus();
    else if ((event.key === "Enter" || event.key === "ArrowDown") && first) first.focus();
    else return;
    event.preventDefault();
  }

  focusSearch() {
    this.search.field.focus();
  }

  /**
   * The cluster of an element of the list, if it can be merged.
   * @param {Element} node
   */
  #findSpot(node) {
    const found = node.closest(".lw-cluster");
    const row = [...this.#rows.values()].find((each) => each.node === found);
    return row?.canMerge ? { node: row.node, thing: row.cluster } : null;
  }

  /** @param {Cluster} cluster */
  #createRow(cluster) {
    const id = cluster.cluster;
    const row = new ClusterRow(this.page, cluster, {
      pin: () => {
        this.#pinned = this.#pinned === id ? null : id;
        for (const [each, other] of this.#rows) other.setPinned(each === this.#pinned);
        this.plot.highlight(this.#pinned);
      },
      hover: (isHovered) => this.plot.highlight(isHovered ? id : this.#pinned),
    });
    this.#rows.set(id, row);
    return row;
  }

  async #toggleRules() {
    this.#showsRules = !this.#showsRules;
    setText(this.rulesButton, this.#showsRules ? "Hide rules" : "Show rules");
    this.rulesButton.setAttribute("aria-expanded", String(this.#showsRules));
    if (this.#showsRules) await this.#loadRules();
    this.#showRules();
  }

  async #loadRules() {
    const { controller } = this.page;
    const labels = controller.state?.labels ?? -1;
    this.fidelity.hidden = false;
    setText(this.fidelity, "Searching for rules…");
    const reply = await controller.request({ do: "rules" });
    if (!reply.ok) {
      this.#rules = { labels, lines: new Map() };
      setText(this.fidelity, reply.error.text);
      return;
    }
    /** @type {{ cluster: number, text: string[] }[]} */
    const clusters = reply.clusters;
    this.#rules = { labels, lines: new Map(clusters.map((each) => [each.cluster, each.text])) };
    const fidelity =
      reply.fidelity === null
        ? []
        : [`The rules put ${formatPercent(reply.fidelity)} of the rows into their clusters.`];
    setText(this.fidelity, [...fidelity, ...(reply.notes ?? [])].join(" "));
  }

  #showRules() {
    this.fidelity.hidden = !this.#showsRules;
    const rules = this.#rules;
    const isCurrent = this.#showsRules && rules?.labels === this.page.controller.state?.labels;
    for (const [cluster, row] of this.#rows) row.showRules((isCurrent && rules?.lines.get(cluster)) || []);
  }
}
