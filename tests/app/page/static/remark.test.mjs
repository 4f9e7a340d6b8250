import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller } from "../../../../src/linkwise/app/page/static/src/controller.js";
import { describeNote, formatSeconds } from "../../../../src/linkwise/app/page/static/src/note_wording.js";
import { Stopwatch } from "../../../../src/linkwise/app/page/static/src/stopwatch.js";
import { describeCounts } from "../../../../src/linkwise/app/page/static/src/team.js";
import { createDisplay, createState } from "./fakes.mjs";

test("the time while the page is hidden does not count", () => {
  let [time, hidden] = [1000, false];
  const watch = new Stopwatch({ now: () => time, isHidden: () => hidden });
  const pass = (ms, isHidden) => {
    time += ms;
    hidden = isHidden;
    watch.update();
  };
  watch.restart();
  pass(1500, true);
  pass(60_000, false);
  pass(250, false);
  time += 0.6;
  assert.equal(watch.seconds, 1.751);
  assert.equal(watch.seconds, 1.751);
  watch.restart();
  time += 20;
  assert.equal(watch.seconds, 0.02);
  hidden = true;
  watch.restart();
  pass(5000, true);
  assert.equal(watch.seconds, 0);
});

/** A controller with a draft whose note is given by hand. */
function setUp(note) {
  const [display, requests, restored] = [createDisplay(), [], []];
  const request = (sent) => new Promise((resolve) => requests.push({ sent, resolve }));
  const controller = new Controller(request, display);
  controller.setState(createState(0, [3, 5]));
  controller.askedAt = Number.NEGATIVE_INFINITY;
  controller.draft = {
    take: () => ({ seconds: 2.5, ...(note && { note }) }),
    restore: (...given) => restored.push(given),
  };
  return { controller, display, requests, restored };
}

test("an answer takes its note along, and the note does not come back", async () => {
  const { controller, requests, restored } = setUp("why");
  const stored = controller.answer("no");
  assert.deepEqual(requests[0].sent, {
    do: "answer",
    question: "0:3-5",
    answer: "no",
    seconds: 2.5,
    note: "why",
  });
  requests[0].resolve({ ok: true });
  await stored;
  assert.deepEqual(restored, []);
});

test("a note whose answer is not stored comes back for its question", async () => {
  const { controller, requests, restored } = setUp("why");
  const stored = controller.answer("no");
  requests[0].resolve({ ok: false, error: { kind: "failed", text: "The disk is full." } });
  await stored;
  assert.deepEqual(restored, [["why", "0:3-5"]]);
  controller.link = "lost";
  await controller.answer("no");
  assert.equal(requests.length, 1);
  assert.deepEqual(restored.at(-1), ["why", "0:3-5"]);
});

test("an answer that is repeated after a conflict takes the note of now", async () => {
  const { controller, display, requests } = setUp("why");
  const stored = controller.answer("no");
  requests[0].resolve({ ok: false, error: { kind: "contradiction", text: "", chain: [] } });
  await stored;
  const [, conflict] = display.calls.find(([name]) => name === "showConflict");
  controller.draft.take = () => ({ seconds: 9 });
  controller.retry(conflict, "a change");
  assert.deepEqual(requests[1].sent, { do: "answer", question: "0:3-5", answer: "no", seconds: 9 });
});

test("a note in words names who wrote it if that was another person", () => {
  assert.equal(describeNote({ note: "", text: "anna", note_author: "ben" }), "");
  assert.equal(describeNote({ note: "x", text: "anna", note_author: "anna" }), "Note: x");
  assert.equal(describeNote({ note: "x", text: "anna", note_author: "ben" }), "Note by ben: x");
  assert.equal(describeNote({ note: "x", text: "", note_author: "" }), "Note: x");
});

test("seconds in words", () => {
  assert.equal(formatSeconds(null), "");
  assert.equal(formatSeconds(undefined), "");
  assert.equal(formatSeconds(0), "0.0 s");
  assert.equal(formatSeconds(9.94), "9.9 s");
  assert.equal(formatSeconds(61.5), "62 s");
  assert.equal(
    describeCounts({ own: 3, all: 8, median_seconds: 4.21 }),
    "You: 3 · team: 8 · your median: 4.2 s per answer",
  );
  assert.equal(describeCounts({ own: 0, all: 8, median_seconds: null }), "You: 0 · team: 8");
});
