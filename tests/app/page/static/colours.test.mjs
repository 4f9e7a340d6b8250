import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chooseSlots,
  createColourTable,
  hasFamilies,
  measureShape,
  slotName,
  slotShape,
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

test("the table has the colour and the shape of each label, and dims all but one", () => {
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
      [0, 216],
      [47, 219],
      [48, 216],
    ],
  );
  const dimmed = createColourTable(palette, slots, 255, 1);
  assert.deepEqual(
    [0, 1, 255].map((label) => read(dimmed, label)[1]),
    [20, 219, 20],
  );
});

test("every shape covers about as much as a disc, and fits into its square", () => {
  const n = 200;
  for (const shape of [0, 1, 2, 3]) {
    let inside = 0;
    for (let i = 0; i < n * n; i += 1) {
      const [x, y] = [(2 * (i % n) + 1) / n - 1, (2 * Math.floor(i / n) + 1) / n - 1];
      inside += measureShape(shape, x, y) < 1;
    }
    const share = (4 * inside) / (n * n) / Math.PI;
    assert.ok(share > 0.7 && share < 1.2, `shape ${shape} covers ${share} of a disc`);
  }
  assert.deepEqual([0, 11, 12, 24, 36, 47].map(slotShape), [0, 0, 1, 2, 3, 3]);
});
