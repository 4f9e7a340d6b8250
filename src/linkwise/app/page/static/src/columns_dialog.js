/** The columns of a table: what linkwise reads in them, and what a person uses them for. */
import {
  changeColumn,
  describeReading,
  describeReplay,
  listChanges,
  listUses,
  previewPair,
  TITLE,
  USE_LABELS,
} from "./column_choices.js";
import { createButton, setEnabled } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { createReading } from "./help_dialog.js";
import { renderPair } from "./items.js";
import { endSentence, formatCount, formatPercent } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { ColumnTask, State, TableColumn, TableColumns, Use } from "./protocol.d.ts" */

const INTRODUCTION = "linkwise compares rows by the columns set to Compare.";
const FOLLOWED = "your answers follow it";
const MANY = 12; // columns from which they can be searched
const NOTHING = "–";
const HEADINGS = ["Column", "Kind", "Example", "Missing", "Influence", "Use"];

/** @param {number | null} share */
const describeShare = (share) => (share === null ? NOTHING : formatPercent(share).replace("under ", "< "));

/** @param {State | null} state */
export const hasColumns = (state) => Boolean(state?.table);

/**
 * Open the columns before the first answer.
 * @param {Page} page
 * @param {State} state
 */
export function introduceColumns(page, state) {
  if (state.table?.is_new) openColumns(page);
}

/**
 * @param {Page} page
 * @param {ColumnTask["name"]} [task] whose uses are chosen at first, to be applied by a click
 */
export async function openColumns(page, task) {
  if (!hasColumns(page.controller.state) || page.hasDialog) return;
  const { body, foot, close } = openDialog(page, TITLE, "lw-table-dialog");
  body.append(h("p", { class: "lw-soft" }, "Reading the columns…"));
  const reply = await page.controller.request({ do: "table" });
  if (!reply.ok) {
    body.replaceChildren(h("p", { class: "lw-notice", "data-tone": "warn" }, reply.error.text));
    return;
  }
  new ColumnTable(page, /** @type {any} */ (reply), { body, foot, close }).choose(task);
}

class ColumnTable {
  /** Shown lines by the name of their column. @type {Map<string, { node: HTMLElement, show: (column: TableColumn) => void }>} */
  #lines = new Map();

  /**
   * @param {Page} page
   * @param {TableColumns} table
   * @param {{ body: HTMLElement, foot: HTMLElement, close: () => void }} dialog
   */
  constructor(page, table, { body, foot, close }) {
    this.page = page;
    this.table = table;
    this.columns = table.columns;
    /** The task whose button was pressed last. @type {ColumnTask | null} */
    this.task = null;
    this.follows = false; // whether what the answers follow is proposed
    this.largest = Math.max(...table.columns.map((one) => one.influence ?? 0)) || 1;
    this.close = close;
    this.notice = createNotice();
    this.preview = h("div", { class: "lw-items" });
    this.replay = h("p", { class: "lw-soft lw-gap" }, describeReplay(table));
    this.start = createButton(table.facts ? "Apply" : "Start", () => this.#apply(), {
      className: "lw-main",
    });
    const list = h("tbody", { role: "rowgroup" });
    for (const column of table.columns) {
      const line = this.#createLine(column);
      this.#lines.set(column.name, line);
      list.append(line.node);
    }
    const head = HEADINGS.map((words) => h("th", { scope: "col", role: "columnheader" }, words));
    const region = h(
      "div",
      { class: "lw-table-scroll", role: "region", tabindex: "0", "aria-label": "Columns" },
      h(
        "table",
        { class: "lw-table", role: "table" },
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
        list,
      ),
    );
    const notes = table.notes
      .map((note) => endSentence(`${note[0].toUpperCase()}${note.slice(1)}`))
      .join(" ");
    body.replaceChildren(
      h(
        "div",
        { class: "lw-reading" },
        h("p", { class: "lw-soft" }, [INTRODUCTION, notes].filter(Boolean).join(" ")),
        table.reading.length ? createReading(table.reading) : null,
      ),
      ...this.#createTools(),
      region,
      h(
        "section",
        { class: "lw-preview", "aria-label": "Preview of a question" },
        h("h3", {}, "A question will look like this"),
        this.preview,
      ),
    );
    foot.replaceChildren(this.notice.node, this.replay, this.start);
    this.#show();
    if (!table.facts) this.start.focus();
  }

  /** Suggested tasks, and a field that finds columns by name. */
  #createTools() {
    const tasks = this.table.tasks.map(({ name, label }) => createButton(label, () => this.choose(name)));
    const find = h("input", {
      class: "lw-search",
      type: "search",
      placeholder: `Search ${formatCount(this.columns.length, "column")}`,
      "aria-label": "Search the columns by name",
    });
    find.addEventListener("input", () => {
      const words = find.value.trim().toLowerCase();
      for (const [name, { node }] of this.#lines) node.hidden = !name.toLowerCase().includes(words);
    });
    const tools = [...tasks, ...(this.columns.length > MANY ? [find] : [])];
    return tools.length ? [h("div", { class: "lw-table-tools" }, tools)] : [];
  }

  /**
   * Choose the uses of a task, if the columns look like it.
   * @param {ColumnTask["name"] | undefined} name
   */
  choose(name) {
    const task = this.table.tasks.find((one) => one.name === name);
    if (!task) return;
    this.columns = this.columns.map((one) => ({
      ...one,
      use: task.uses[one.name] ?? one.use,
      kind: task.kinds[one.name] ?? one.kind,
    }));
    this.task = task;
    this.follows = name === "answers";
    this.#show();
  }

  /** @param {TableColumn} given as the host has it */
  #createLine(given) {
    const { name } = given;
    const change = /** @param {Partial<TableColumn>} values */ (values) => {
      this.columns = changeColumn(this.columns, name, values);
      this.#show();
    };
    const kind = createKindChoice(given, (value) => change({ kind: value }));
    const use = createUseChoice(this.page, given, listUses(given, this.table), (value) =>
      change({ use: value }),
    );
    const badge = h("span", { class: "lw-proposed" }, "Proposed: ");
    const undo = createButton("", () => change(this.#revert(given)), { className: "lw-link" });
    const reason = h("span", {});
    const why = h("p", { class: "lw-soft" }, badge, reason, " ", undo);
    const influence = createInfluence(this.largest);
    const cell = /** @type {(label: string, content: any) => HTMLElement} */ (label, content) =>
      h("td", { role: "cell", class: `lw-of-${label}` }, content);
    const missing = cell("missing", describeShare(given.missing || null));
    missing.toggleAttribute("data-empty", !given.missing);
    const counts = cell("influence", influence.node);
    const node = h(
      "tr",
      { role: "row" },
      h("th", { scope: "row", role: "rowheader" }, h("span", { class: "lw-column-name" }, name), why),
      cell("kind", kind.node),
      cell("example", h("span", { class: "lw-example" }, given.example || NOTHING)),
      missing,
      counts,
      cell("use", use.node),
    );
    const show = /** @param {TableColumn} column */ (column) => {
      const isSame = column.use === given.use && column.kind === given.kind;
      node.dataset.use = column.use;
      kind.show(column.kind);
      use.show(column.use);
      influence.show(isSame ? column.influence : null);
      counts.toggleAttribute("data-empty", !isSame || column.influence === null);
      const found = explainUse(given, column, this.follows);
      setText(reason, found.reason);
      badge.hidden = !found.isProposed;
      const canReject = given.is_proposed && given.otherwise && !(this.table.facts && given.use === "id");
      undo.hidden = isSame && !canReject;
      setText(undo, isSame ? "Undo" : "Reset");
      undo.setAttribute("aria-label", `${isSame ? "Undo the proposal for" : "Reset"} ${name}`);
      why.hidden = !given.reason && isSame;
    };
    return { node, show };
  }

  /**
   * What the column becomes by a click on undo.
   * @param {TableColumn} given
   */
  #revert(given) {
    const now = this.columns.find((one) => one.name === given.name);
    const isSame = now?.use === given.use && now.kind === given.kind;
    if (isSame && given.otherwise) return { use: given.otherwise[0], kind: given.otherwise[1] };
    return { use: given.use, kind: given.kind };
  }

  #show() {
    for (const column of this.columns) this.#lines.get(column.name)?.show(column);
    this.preview.replaceChildren(...renderPair(previewPair(this.table, this.columns, this.task?.name)));
    const hasChanges = this.#hasChanges();
    setEnabled(this.start, hasChanges || !this.table.facts);
    this.notice.show("");
  }

  #hasChanges() {
    const hasUses = listChanges(this.table.columns, this.columns).length > 0;
    return hasUses || Boolean(this.task?.changes_learner);
  }

  async #apply() {
    if (this.start.getAttribute("aria-disabled") === "true") return;
    const columns = listChanges(this.table.columns, this.columns);
    if (!this.#hasChanges()) {
      this.close();
      return;
    }
    setEnabled(this.start, false);
    this.notice.show("Reading the rows…");
    const reply = await this.page.controller.store(
      { do: "read", columns, task: this.task?.name ?? null },
      { describe: (found) => describeReading(found.backup, found.changed) },
    );
    if (reply?.ok) {
      this.close();
      return;
    }
    this.#show();
    this.notice.show(reply?.error.text ?? "linkwise cannot be reached.", "warn");
  }
}

/**
 * Why a column is used so, and whether that is proposed.
 * @param {TableColumn} given as the host has it
 * @param {TableColumn} chosen
 * @param {boolean} follows whether rows are compared by what the answers follow
 */
function explainUse(given, chosen, follows) {
  const isSame = chosen.use === given.use && chosen.kind === given.kind;
  const isFollowed = follows && !isSame && chosen.use === "compare";
  return {
    reason: isFollowed ? FOLLOWED : given.reason,
    isProposed: isFollowed || (given.is_proposed && isSame),
  };
}

/**
 * A list of kinds where there is a choice.
 * @param {TableColumn} given
 * @param {(kind: string) => void} choose
 */
function createKindChoice({ name, kind, kinds }, choose) {
  if (kinds.length < 2) {
    const node = h("span", {}, kind);
    return { node, show: /** @param {string} value */ (value) => setText(node, value) };
  }
  const all = kinds.includes(kind) ? kinds : [kind, ...kinds];
  const node = h(
    "select",
    { class: "lw-order", "aria-label": `Kind of ${name}` },
    all.map((one) => h("option", { value: one }, one)),
  );
  node.addEventListener("change", () => choose(node.value));
  return {
    node,
    show(/** @type {string} */ value) {
      node.value = value;
    },
  };
}

/**
 * One button for each use, of which one is pressed.
 * @param {Page} page
 * @param {TableColumn} given
 * @param {Use[]} uses
 * @param {(use: Use) => void} choose
 */
function createUseChoice(page, given, uses, choose) {
  const group = page.createId("use");
  const inputs = uses.map((use) =>
    h("input", { type: "radio", name: group, value: use, class: "lw-hidden", onchange: () => choose(use) }),
  );
  const node = h(
    "div",
    { class: "lw-uses", role: "radiogroup", "aria-label": `Use of ${given.name}` },
    inputs.map((input, i) => h("label", {}, input, h("span", {}, USE_LABELS[uses[i]]))),
  );
  return {
    node,
    show(/** @type {Use} */ use) {
      for (const input of inputs) input.checked = input.value === use;
    },
  };
}

/**
 * A bar with a number.
 * @param {number} largest the influence of a full bar
 */
function createInfluence(largest) {
  const fill = h("i", {});
  const bar = h("span", { class: "lw-influence-bar", "aria-hidden": "true" }, fill);
  const words = h("span", {});
  return {
    node: h("span", { class: "lw-influence" }, bar, words),
    show(/** @type {number | null} */ share) {
      bar.hidden = share === null;
      fill.style.width = `${(100 * (share ?? 0)) / largest}%`;
      setText(words, describeShare(share));
    },
  };
}
