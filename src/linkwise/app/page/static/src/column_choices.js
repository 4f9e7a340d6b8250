/** What a person chooses for the columns of a table, and how two rows look then. Nothing here touches the document. */
import { endSentence } from "./wording.js";

/** @import { Comparison, Field, Item, Question, TableColumn, TableColumns, Use } from "./protocol.d.ts" */

/** @type {Record<Use, string>} */
export const USE_LABELS = { compare: "Compare", show: "Show", id: "Id", ignore: "Ignore" };
export const TITLE = "Your columns";

/**
 * The uses that a column can have.
 * @param {TableColumn} column
 * @param {TableColumns} table
 * @returns {Use[]}
 */
export function listUses(column, { columns, facts }) {
  const isCurve = column.kind === "curve";
  const hasCurves = columns.some((one) => one.kind === "curve");
  if (isCurve || (column.use === "id" && facts)) return [column.use];
  const canName = !facts && column.is_unique;
  const canCompare = !hasCurves && (column.kind !== "other" || column.use === "compare");
  return [
    ...(canCompare ? /** @type {Use[]} */ (["compare"]) : []),
    "show",
    ...(canName || column.use === "id" ? /** @type {Use[]} */ (["id"]) : []),
    "ignore",
  ];
}

/**
 * The columns with another use or kind for one of them. There is at most one id.
 * @param {TableColumn[]} columns
 * @param {string} name
 * @param {Partial<Pick<TableColumn, "use" | "kind">>} change
 * @returns {TableColumn[]}
 */
export function changeColumn(columns, name, change) {
  return columns.map((one) => {
    if (one.name === name) return { ...one, ...change };
    return change.use === "id" && one.use === "id" ? { ...one, use: "show" } : one;
  });
}

/**
 * The columns that differ from those that the host has, as it takes them.
 * @param {TableColumn[]} before
 * @param {TableColumn[]} now
 */
export const listChanges = (before, now) =>
  now
    .filter((one, i) => one.use !== before[i].use || one.kind !== before[i].kind)
    .map(({ name, use, kind }) => ({ name, use, kind }));

/** @param {TableColumn} one */
const isText = (one) => one.kind === "text" && one.use === "compare";

/**
 * The two rows as a question will show them.
 * @param {TableColumns} table
 * @param {TableColumn[]} columns as they are chosen
 * @param {string} [task] the task that was chosen
 * @returns {Pick<Question, "first" | "second"> & Comparison}
 */
export function previewPair(table, columns, task) {
  const wasOfRecords = table.columns.filter(isText).length > 1 && table.first.text === undefined;
  const isOfRecords = task === undefined ? wasOfRecords : task === "duplicates";
  const pair = [table.first, table.second];
  const shown = [
    ...columns.filter((one) => one.use === "compare"),
    ...columns.filter((one) => one.use === "show"),
  ];
  const [first, second] = pair.map((item, i) =>
    table.has_side_table
      ? item
      : previewItem(item, i, columns, shown, isOfRecords && columns.filter(isText).length > 1),
  );
  const theirs = new Map(second.fields.map((field) => [field.name, field.value]));
  const differing = first.fields.filter((field) => theirs.get(field.name) !== field.value);
  const others = new Set(columns.filter((one) => one.use !== "compare").map((one) => one.name));
  const names = first.fields.map((field) => field.name);
  return {
    first,
    second,
    differing: Object.fromEntries(differing.map(({ name }) => [name, "plain"])),
    content: null,
    only_shown: names.filter((name) => table.has_side_table || others.has(name)),
  };
}

/**
 * @param {Item} item
 * @param {number} i
 * @param {TableColumn[]} columns
 * @param {TableColumn[]} shown
 * @param {boolean} isOfRecords whether texts are shown as columns
 * @returns {Item}
 */
function previewItem(item, i, columns, shown, isOfRecords) {
  const isWhole = /** @param {TableColumn} one */ (one) => !isOfRecords && isText(one);
  const isPicture = /** @param {TableColumn} one */ (one) => one.kind === "picture" && item.image;
  const before = new Map(item.fields.map((field) => [field.name, field]));
  /** @type {Field[]} */
  const fields = shown
    .filter((one) => one.values.length && !isWhole(one) && !isPicture(one))
    .map((one) => ({
      name: one.name,
      value: one.values[i],
      place: one.kind === "category" ? null : (before.get(one.name)?.place ?? null),
    }));
  const names = new Set(columns.map((one) => one.name));
  const compared = shown.filter((one) => one.use === "compare");
  const made = item.fields.filter(
    (field) => !names.has(field.name) && compared.some((one) => field.name.startsWith(`${one.name} (`)),
  );
  const texts = shown.filter(isWhole).map((one) => one.values[i]);
  const id = columns.find((one) => one.use === "id");
  return {
    row: item.row,
    name: id?.values[i] ?? `row ${item.row}`,
    fields: [...fields, ...made],
    ...(texts.length ? { text: texts.filter(Boolean).join("\n\n") } : {}),
    ...(item.image && shown.some((one) => one.kind === "picture") ? { image: item.image } : {}),
    ...(item.series ? { series: item.series } : {}),
  };
}

/**
 * What a change does to the answers; empty before there are any.
 * @param {TableColumns} table
 */
export const describeReplay = ({ facts, backup }) =>
  facts ? endSentence(`A change replays all ${facts}. A copy of the session is kept in ${backup}`) : "";

/**
 * What came of a change.
 * @param {string | null} backup
 * @param {string} changed
 */
export function describeReading(backup, changed) {
  const kept = backup ? endSentence(`All answers were replayed. The session as it was is in ${backup}`) : "";
  return `${kept} ${changed}`.trim();
}
