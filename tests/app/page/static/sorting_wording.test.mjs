import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describeDrop,
  describeMissing,
  describeOffer,
  describePlaced,
  describeSorted,
} from "../../../../src/linkwise/app/page/static/src/sorting_wording.js";
import { describeKinds } from "../../../../src/linkwise/app/page/static/src/wording.js";

const NONE = { size: null, factor: null, pairs: null };
const START = { size: 9, factor: null, pairs: 7 };

test("sorting is offered until the person chose", () => {
  const words = "You can also sort 9 rows at once: one screen tells about as much as 7 questions.";
  assert.equal(describeOffer(false, START, false), words);
  assert.equal(describeOffer(false, START, true), "");
  assert.equal(describeOffer(true, START, false), "");
  assert.equal(describeOffer(false, NONE, false), "");
});

test("the quicker way is offered by the pace of the person, whatever was chosen", () => {
  const [faster, slower] = [
    { size: 12, factor: 1.64, pairs: 10 },
    { ...NONE, factor: 0.5 },
  ];
  const words = "At your pace so far, sorting 12 rows is about 1.6 times as fast.";
  assert.equal(describeOffer(false, faster, true), words);
  assert.equal(describeOffer(true, faster, true), "");
  assert.equal(
    describeOffer(true, slower, true),
    "At your pace so far, two at a time is about 2.0 times as fast.",
  );
  assert.equal(describeOffer(false, slower, false), "");
});

test("cards without a place are listed, and of many the first", () => {
  assert.equal(describeMissing(["lion"]), "lion still needs a place. Press S if you are not sure.");
  assert.ok(describeMissing(["a", "b"]).startsWith("a, b still need a place."));
  assert.ok(describeMissing([..."abcdefgh"]).startsWith("a, b, c, d, e and 3 more still need a place."));
});

test("what was done with a card, and what is left", () => {
  assert.equal(describePlaced("lion", "pile 2, cats", 1), "lion: pile 2, cats. 1 card left.");
  assert.ok(describePlaced("lion", "not sure", 0).startsWith("lion: not sure. Every card has a place."));
  assert.equal(describeSorted(9, 4), "Saved: 9 cards sorted into 4 piles.");
  assert.equal(describeSorted(1, 1), "Saved: 1 card sorted into 1 pile.");
  assert.equal(describeDrop("lion", "pile 2"), "lion: pile 2?");
  assert.equal(describeDrop("lion"), "Drag lion onto a pile");
});

test("progress counts screens beside answers about pairs", () => {
  const counts = { answers: 0, yes: 0, no: 0, unsure: 0, screens: 0, cards: 0 };
  const pairs = "2 same, 1 different, 0 not sure";
  assert.equal(describeKinds(counts), "0 same, 0 different, 0 not sure");
  assert.equal(describeKinds({ ...counts, answers: 3, yes: 2, no: 1 }), pairs);
  assert.equal(describeKinds({ ...counts, answers: 1, screens: 1, cards: 9 }), "1 screen with 9 cards");
  assert.equal(
    describeKinds({ ...counts, answers: 5, yes: 2, no: 1, screens: 2, cards: 15 }),
    `${pairs}, 2 screens with 15 cards`,
  );
});
