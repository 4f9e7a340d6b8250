import assert from "node:assert/strict";
import { test } from "node:test";
import { describeGoal } from "../../../../src/linkwise/app/page/static/src/goal_bar.js";

test("what is done of the budget, how fast, and how long the rest takes", () => {
  assert.equal(
    describeGoal(25, 60, 8.4),
    "25 of 60 answers · median 8.4 s per answer · about 5 minutes left",
  );
  assert.equal(describeGoal(58, 60, 12), "58 of 60 answers · median 12 s per answer · about 1 minute left");
});

test("after the budget nothing is left", () => {
  assert.equal(describeGoal(60, 60, 8), "60 of 60 answers · median 8.0 s per answer");
  assert.equal(describeGoal(61, 60, null), "61 of 60 answers");
});

test("without a budget there is the pace, if it is known", () => {
  assert.equal(describeGoal(5, null, 20.2), "median 20 s per answer");
  assert.equal(describeGoal(4, null, 20.2), "");
  assert.equal(describeGoal(0, null, null), "");
});
