import assert from "node:assert/strict";
import { test } from "node:test";
import * as wording from "../../../../src/linkwise/app/page/static/src/member_wording.js";

const cluster = { cluster: 2, name: "reds", size: 3 };

test("what is selected and listed", () => {
  assert.equal(wording.describeSelection(0, 5), wording.SELECT_ROWS);
  assert.equal(wording.describeSelection(1, 5), "1 row selected.");
  assert.equal(wording.describeSelection(5, 5), "5 rows selected. No more can move at once.");
  assert.equal(wording.describeListed(3, 0, ""), "The least certain rows come first.");
  assert.equal(wording.describeListed(3, 0, "red"), "3 rows found. The least certain rows come first.");
  assert.match(wording.describeListed(3, 1, ""), /1 row of the highest certainty is not listed/);
});

test("what was said of rows", () => {
  assert.equal(wording.describeMovedOut(1, cluster), "Saved: 1 row does not belong to reds.");
  assert.equal(wording.describeMovedTo(2, cluster), "Saved: 2 rows belong to reds.");
  assert.equal(wording.describeOwnCluster(1), "Saved: 1 row is a cluster of its own.");
  assert.equal(wording.describeOwnCluster(2), "Saved: 2 rows are a cluster of their own.");
});
