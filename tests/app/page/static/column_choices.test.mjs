import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changeColumn,
  describeReading,
  describeReplay,
  listChanges,
  listUses,
  previewPair,
} from "../../../../src/linkwise/app/page/static/src/column_choices.js";

const column = (name, kind, use, values, more = {}) => ({
  name,
  kind,
  kinds: [kind],
  use,
  example: values[0] ?? "",
  missing: 0,
  influence: null,
  reason: "",
  is_proposed: false,
  otherwise: null,
  is_unique: false,
  values,
  ...more,
});
const field = (name, value, place = null) => ({ name, value, place });
const TABLE = {
  columns: [
    column("sku", "text", "id", ["P1", "P2"], { is_unique: true }),
    column("title", "text", "compare", ["a lamp", "a chair"]),
    column("price", "number", "compare", ["5", "7"]),
    column("maker", "category", "show", ["Ada", "Ada"]),
    column("batch", "number", "ignore", ["1", "2"], { is_unique: true }),
  ],
  notes: [],
  reading: [],
  has_side_table: false,
  first: { row: 0, name: "P1", text: "a lamp", fields: [field("price", "5", 0.2), field("maker", "Ada")] },
  second: { row: 4, name: "P2", text: "a chair", fields: [field("price", "7", 0.9), field("maker", "Ada")] },
  facts: "",
  backup: null,
};

test("the preview of what is read already is what a question shows", () => {
  const { first, second, differing, only_shown: onlyShown } = previewPair(TABLE, TABLE.columns);
  assert.deepEqual([first, second], [TABLE.first, TABLE.second]);
  assert.deepEqual(differing, { price: "plain" });
  assert.deepEqual(onlyShown, ["maker"]);
});

test("the preview follows the uses", () => {
  let columns = changeColumn(TABLE.columns, "title", { use: "show" });
  columns = changeColumn(columns, "maker", { use: "ignore" });
  columns = changeColumn(columns, "batch", { use: "id" });
  const { first, second, differing, only_shown: onlyShown } = previewPair(TABLE, columns);
  assert.equal(first.text, undefined);
  assert.deepEqual(
    second.fields.map((one) => [one.name, one.value]),
    [
      ["price", "7"],
      ["sku", "P2"],
      ["title", "a chair"],
    ],
  );
  assert.equal(second.name, "2");
  assert.deepEqual(Object.keys(differing), ["price", "sku", "title"]);
  assert.deepEqual(onlyShown, ["sku", "title"]);
});

test("rows without an id are named by their positions, and a kind changes the scale", () => {
  let columns = changeColumn(TABLE.columns, "sku", { use: "ignore" });
  columns = changeColumn(columns, "price", { kind: "category" });
  const { second } = previewPair(TABLE, columns);
  assert.equal(second.name, "row 4");
  assert.deepEqual(second.fields[0], field("price", "7"));
});

test("another table beside the data is shown as it is", () => {
  const columns = changeColumn(TABLE.columns, "price", { use: "ignore" });
  assert.equal(previewPair({ ...TABLE, has_side_table: true }, columns).first, TABLE.first);
});

test("there is one id, and the host hears of every change", () => {
  const columns = changeColumn(TABLE.columns, "batch", { use: "id" });
  assert.deepEqual(listChanges(TABLE.columns, columns), [
    { name: "sku", use: "show", kind: "text" },
    { name: "batch", use: "id", kind: "number" },
  ]);
  assert.deepEqual(listChanges(TABLE.columns, TABLE.columns), []);
});

test("a column has the uses that it can have", () => {
  const [sku, title, , , batch] = TABLE.columns;
  assert.deepEqual(listUses(sku, TABLE), ["compare", "show", "id", "ignore"]);
  assert.deepEqual(listUses(title, TABLE), ["compare", "show", "ignore"]);
  const answered = { ...TABLE, facts: "3 answers" };
  assert.deepEqual(listUses(sku, answered), ["id"]);
  assert.deepEqual(listUses(batch, answered), ["compare", "show", "ignore"]);
  const curve = column("curve", "curve", "compare", []);
  const curves = { ...TABLE, columns: [sku, curve, batch] };
  assert.deepEqual(listUses(curve, curves), ["compare"]);
  assert.deepEqual(listUses(batch, curves), ["show", "id", "ignore"]);
});

test("what a change does is said only if there are answers", () => {
  assert.equal(describeReplay(TABLE), "");
  assert.equal(
    describeReplay({ ...TABLE, facts: "23 answers", backup: "a-before.linkwise" }),
    "A change replays all 23 answers. A copy of the session is kept in a-before.linkwise.",
  );
  assert.equal(describeReading(null, ""), "");
  assert.equal(
    describeReading("a-before.linkwise", "The file has changed."),
    "All answers were replayed. The session as it was is in a-before.linkwise. The file has changed.",
  );
});

test("texts of records are shown column by column", () => {
  const text = (name) => ({ ...TABLE.columns[0], name, kind: "text", use: "compare", values: ["a", "b"] });
  const table = {
    ...TABLE,
    columns: [text("name"), text("street")],
    first: { ...TABLE.first, text: undefined },
  };
  const names = (task) => previewPair(table, table.columns, task).first.fields.map((field) => field.name);
  assert.deepEqual(names(), ["name", "street"]);
  assert.deepEqual(names("duplicates"), ["name", "street"]);
  assert.deepEqual(names("texts"), []);
});
