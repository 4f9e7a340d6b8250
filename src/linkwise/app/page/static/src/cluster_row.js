/** One line of the list of clusters. */
import { openMerge } from "./cluster_dialogs.js";
import { createProfile, renderLinks } from "./cluster_profile.js";
import { describeAnswered } from "./cluster_wording.js";
import { slotName, slotShape } from "./colours.js";
import { createButton } from "./controls.js";
import { h, listChildren, setText } from "./dom.js";
import { openMembers } from "./members_dialog.js";
import { clusterName, describeName, formatCount, formatNumber, formatPercent } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Cluster, RowHits, State } from "./protocol.d.ts" */

/**
 * @typedef {object} Handlers
 * @property {() => void} pin keep the cluster highlighted
 * @property {(isHovered: boolean) => void} hover
 */

export class ClusterRow {
  /** The name that was last sent. */
  #sentName = "";
  /** What is on the screen, as JSON. */
  #drawn = "";
  #drawnHits = "null";

  /**
   * @param {Page} page
   * @param {Cluster} cluster
   * @param {Handlers} handlers
   */
  constructor(page, cluster, { pin, hover }) {
    this.page = page;
    this.cluster = cluster;
    this.swatch = createButton("", pin, {
      className: "lw-swatch",
      "aria-pressed": "false",
      title: "Show only this cluster in the plot. Drag it onto another cluster to merge the two.",
    });
    this.name = h("input", {
      class: "lw-name",
      maxlength: "200",
      autocomplete: "off",
      spellcheck: "false",
      "data-lm-suppress-shortcuts": "true",
    });
    this.size = h("span", { class: "lw-size" });
    this.bar = h("i", {});
    this.profile = createProfile(page);
    this.done = h("span", { class: "lw-done" }, "✓ done");
    this.mergeButton = createButton("Merge…", () => openMerge(page, this.cluster), { className: "lw-quiet" });
    this.openButton = createButton("Rows…", () => openMembers(page, this.cluster), { className: "lw-quiet" });
    this.hits = h("p", { class: "lw-typical lw-hits", hidden: true });
    this.rules = h("ul", { class: "lw-rules", hidden: true });
    this.node = h(
      "li",
      { class: "lw-cluster" },
      this.swatch,
      this.name,
      this.size,
      h("span", { class: "lw-share", "aria-hidden": "true" }, this.bar),
      ...this.profile.nodes,
      h("div", { class: "lw-actions" }, this.done, this.openButton, this.mergeButton),
      this.hits,
      this.rules,
    );
    this.node.addEventListener("pointerenter", () => hover(true));
    this.node.addEventListener("pointerleave", () => hover(false));
    this.name.addEventListener("change", () => this.#sendName());
    this.name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Escape") this.name.value = this.cluster.name;
      page.root.focus(); // which sends the name, and the keys answer again
    });
  }

  get canMerge() {
    return !this.mergeButton.hidden;
  }

  /** @param {boolean} isPinned */
  setPinned(isPinned) {
    this.swatch.setAttribute("aria-pressed", String(isPinned));
  }

  /** @param {string[]} lines */
  showRules(lines) {
    const texts = lines.map((line) => line.replace(/^cluster \d+: [\d,]+ rows?(, )?/, "")).filter(Boolean);
    this.rules.replaceChildren(...texts.map((line) => h("li", {}, line)));
    this.rules.hidden = lines.length === 0;
  }

  /** @param {RowHits | null} found the rows that a search found in this cluster */
  showHits(found) {
    const drawing = JSON.stringify(found);
    if (drawing === this.#drawnHits) return;
    this.#drawnHits = drawing;
    this.hits.hidden = !found;
    if (!found) return;
    const rest = found.count - found.rows.length;
    this.hits.replaceChildren(
      ...listChildren(
        h("span", {}, "found "),
        renderLinks(this.page, found.rows, found.names),
        rest > 0 && h("span", {}, `and ${formatNumber(rest)} more`),
      ),
    );
  }

  /**
   * @param {Cluster} cluster
   * @param {State} state
   * @param {number | undefined} slot of its colour in the palette
   * @param {boolean} [withAnswered] whether to show how many of its rows have an answer
   */
  update(cluster, state, slot, withAnswered = false) {
    const isNoise = cluster.cluster < 0;
    const colour = isNoise || slot === undefined ? "cluster-none" : slotName(slot);
    const isOnly = state.clusters.length < 2;
    this.profile.update(cluster, this.page.profiles.get(cluster.cluster));
    const drawing = JSON.stringify([cluster, colour, state.rows, isOnly, withAnswered]);
    if (drawing === this.#drawn) return;
    const before = this.#drawn ? this.cluster : null;
    [this.#drawn, this.cluster] = [drawing, cluster];
    if (before?.name !== cluster.name) {
      this.#sentName = cluster.name;
      if (this.page.focused !== this.name) this.name.value = cluster.name;
    }
    const label = clusterName(cluster);
    this.name.placeholder = clusterName({ ...cluster, name: "" });
    this.name.setAttribute("aria-label", `Name of ${label}`);
    this.swatch.setAttribute("aria-label", `Show only ${label} in the plot`);
    this.node.style.setProperty("--lw-own", `var(--lw-${colour})`);
    this.swatch.dataset.shape = String(slot === undefined ? 0 : slotShape(slot));
    const share = withAnswered ? describeAnswered(cluster) : formatPercent(cluster.size / state.rows);
    setText(this.size, `${formatCount(cluster.size, "row")} · ${share}`);
    this.bar.style.width = `${(100 * cluster.size) / state.rows}%`;
    this.done.hidden = !cluster.done;
    this.openButton.setAttribute("aria-label", `Rows of ${label}`);
    this.mergeButton.hidden = isOnly || isNoise;
    this.mergeButton.setAttribute("aria-label", `Merge ${label} with another cluster`);
  }

  async #sendName() {
    const { controller } = this.page;
    const text = this.name.value.trim();
    if (text === this.#sentName) return;
    this.#sentName = text;
    const reply = await controller.request({ do: "name", cluster: this.cluster.cluster, name: text });
    if (reply.ok) {
      this.page.announce(describeName(text));
      return;
    }
    controller.warn(reply.error.text);
    this.#sentName = this.cluster.name;
    if (this.page.focused !== this.name) this.name.value = this.#sentName;
  }
}
