import assert from "node:assert/strict";
import { mock, test } from "node:test";
import {
  createMovedRows,
  findMovedRows,
  thinOut,
} from "../../../../src/linkwise/app/page/static/src/moved_rows.js";

test("rows with another label have moved", () => {
  const [before, after] = [Uint8Array.of(0, 1, 255, 255, 2), Uint8Array.of(0, 2, 255, 1, 255)];
  assert.deepEqual(findMovedRows(before, after), [1, 3, 4]);
  assert.deepEqual(findMovedRows(before, before), []);
  assert.deepEqual(findMovedRows(before, Uint8Array.of(1, 2)), [], "these are other rows");
});

test("noise is noise in one byte and in two", () => {
  const [before, after] = [Uint8Array.of(0, 255, 255, 7), Uint16Array.of(0, 65535, 255, 300)];
  assert.deepEqual(findMovedRows(before, after), [2, 3]);
  assert.deepEqual(findMovedRows(after, before), [2, 3]);
});

test("of many rows some are outlined, at equal distances", () => {
  assert.deepEqual(thinOut([4, 5, 6], 3), [4, 5, 6]);
  assert.deepEqual(
    thinOut(
      Array.from({ length: 10 }, (_, i) => i),
      5,
    ),
    [0, 2, 4, 6, 8],
  );
  assert.equal(thinOut(Array.from({ length: 5000 }, (_, i) => i)).length, 2000);
});

test("rows are outlined for a second after the last that moved", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const node = { dataset: {} };
  let drawn = 0;
  const moved = createMovedRows(node, () => {
    drawn += 1;
  });
  moved.show([3, 4]);
  assert.deepEqual([moved.rows, node.dataset.moved, drawn], [[3, 4], "2", 1]);
  mock.timers.tick(900);
  moved.show([5]);
  mock.timers.tick(900);
  assert.deepEqual([moved.rows, node.dataset.moved], [[5], "1"]);
  mock.timers.tick(100);
  assert.deepEqual([moved.rows, node.dataset.moved, drawn], [[], undefined, 3]);
  moved.show([6]);
  moved.show([]);
  assert.deepEqual([moved.rows, node.dataset.moved], [[], undefined]);
  moved.close();
  mock.timers.reset();
});
