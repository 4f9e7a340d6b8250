import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chooseSlots,
  createColourTable,
  hasFamilies,
  slotName,
} from "../../../../src/linkwise/app/page/static/src/colours.js";

test("each shade of a family has a slot, and after four they repeat", () => {
  const shades = [
    [0, 0, 0],
    [1, 11, 0],
    [2, 3, 1],
    [5, 3, 3],
    [7, 3, 4],
    [90, 11, 3],
  ];
  const slots = chooseSlots({ shades });
  assert.deepEqual([...slots.keys()], [0, 1, 2, 5, 7, 90]);
  assert.deepEqual([...slots.values()], [0, 11, 15, 39, 3, 47]);
  assert.deepEqual([...slots.values()].map(slotName), [
    "cluster-0",
    "cluster-11",
    "cluster-3-1",
    "cluster-3-3",
    "cluster-3",
    "cluster-11-3",
  ]);
});

test("families are explained once two clusters share one", () => {
  assert.equal(hasFamilies({ shades: [] }), false);
  assert.equal(hasFamilies({ shades: [[0, 0, 0]] }), false);
  assert.equal(
    hasFamilies({
      shades: [
        [0, 0, 0],
        [4, 0, 1],
      ],
    }),
    true,
  );
});

test("the table has the colour of each label, and dims all but one", () => {
  const clusters = Array.from({ length: 49 }, (_, slot) => [slot, 0, 0]);
  const palette = { clusters, ink: "", paper: "" };
  const read = (table, label) => [table[4 * label], table[4 * label + 3]];
  const slots = new Map([
    [0, 0],
    [1, 47],
  ]);
  const table = createColourTable(palette, slots, 255, null);
  assert.deepEqual(
    [0, 1, 255].map((label) => read(table, label)),
    [
      [0, 217],
      [47, 217],
      [48, 217],
    ],
  );
  const dimmed = createColourTable(palette, slots, 255, 1);
  assert.deepEqual(
    [0, 1, 255].map((label) => read(dimmed, label)[1]),
    [20, 217, 20],
  );
});
