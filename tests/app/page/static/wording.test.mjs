import assert from "node:assert/strict";
import { test } from "node:test";
import { toBytes, toTypedArray } from "../../../../src/linkwise/app/page/static/src/numbers.js";
import { describeNumber } from "../../../../src/linkwise/app/page/static/src/question_wording.js";
import { nameSource } from "../../../../src/linkwise/app/page/static/src/team.js";
import * as wording from "../../../../src/linkwise/app/page/static/src/wording.js";

test("numbers and shares", () => {
  assert.equal(wording.formatCount(1, "row"), "1 row");
  assert.equal(wording.formatCount(1234, "row"), "1,234 rows");
  assert.deepEqual([0, 0.004, 0.5].map(wording.formatPercent), ["0 %", "under 1 %", "50 %"]);
});

test("the name of a file is found in paths of all systems", () => {
  assert.equal(wording.fileName("/home/me/a.linkwise"), "a.linkwise");
  assert.equal(wording.fileName("C:\\data\\a.linkwise"), "a.linkwise");
});

test("clusters are called by name, number, or noise", () => {
  assert.equal(wording.clusterName({ cluster: 3, name: "reds" }), "reds");
  assert.equal(wording.clusterName({ cluster: 3, name: "" }), "Cluster 3");
  assert.equal(wording.clusterName({ cluster: -1, name: "" }), "Noise");
});

test("events", () => {
  const describe = (event) => wording.describeEvent({ names: ["a", "b"], ...event });
  assert.equal(describe({ kind: "answer", answer: "yes" }), "a and b: same");
  assert.equal(describe({ kind: "add", answer: "no" }), "a and b: different");
  assert.equal(describe({ kind: "import", pairs: 2, text: "pairs.csv" }), "2 pairs from pairs.csv");
  const change = { kind: "change", target: 3, answer: "yes", names: [] };
  assert.equal(describe(change), "the change of answer 3 to Same");
  const sure = { kind: "sure", target: 3, answer: "yes" };
  assert.equal(describe(sure), "the confirmation of answer 3");
  assert.equal(describe({ kind: "move", pairs: 2 }), "rows moved (2 pairs)");
  assert.equal(describe({ kind: "done" }), "the cluster of a is done");
  assert.equal(describe({ kind: "name", text: "reds" }), "the cluster of a is named “reds”");
  assert.equal(describe({ kind: "name", text: "" }), "the cluster of a has no name");
});

test("what was stored, taken back or changed", () => {
  const cluster = { cluster: 2, name: "", size: 3, exemplar_names: ["a", "b"] };
  const other = { ...cluster, name: "reds" };
  assert.equal(wording.describeMark("a", "b", "no"), "Saved: a and b are marked as different.");
  assert.equal(wording.describeMerge(cluster, other), "Saved: Cluster 2 and reds are merged.");
  assert.match(
    wording.describeMergeEffect(cluster),
    /^This marks a, the most typical row of this cluster, and /,
  );
  assert.equal(wording.describeDone(other), "Saved: all 3 rows of reds are marked as same.");
  assert.match(wording.describeDoneEffect(other), /^This marks all its 3 rows as same, /);
  assert.equal(wording.describeUndo(null), "There is nothing to undo.");
  assert.equal(wording.describeChange(["a", "b"], "unsure"), "a and b are now “not sure”");
  assert.deepEqual(["reds", ""].map(wording.describeName), [
    "Saved: the cluster is named reds",
    "Saved: the cluster has no name",
  ]);
});

test("the way out of a conflict", () => {
  assert.equal(wording.describeResolved([]), "");
  const resolved = ["“a and b: same” is taken back", "c and d are now “same”"];
  assert.equal(
    wording.describeUnstored(resolved),
    "Your last answer was not stored. Already changed: “a and b: same” is taken back; c and d are now “same”. " +
      "You can revert this in the history.",
  );
  assert.equal(wording.describeRetry(undefined), "Changed. Your answer is sent again.");
});

test("answers that are probably wrong", () => {
  assert.deepEqual([0, 1, 2].map(wording.countSuspects), [
    "No answer seems wrong so far.",
    "1 answer is probably wrong.",
    "2 answers are probably wrong.",
  ]);
  const suspect = { names: ["a", "b"], answer: "no", grade: "very likely wrong", card: null };
  assert.equal(wording.describeGrade(suspect, ""), "Your answer “Different” is very likely wrong.");
  assert.equal(wording.describeGrade(suspect, "ben"), "The answer “Different” of ben is very likely wrong.");
  const card = { ...suspect, card: 7 };
  assert.equal(wording.describeGrade(card, ""), "You put this card into a pile that is very likely wrong.");
  assert.equal(
    wording.describeGrade(card, "ben"),
    "ben put this card into a pile that is very likely wrong.",
  );
  assert.equal(wording.describeConfirmation(suspect), "Saved: “a and b: different” is certain from now on.");
  assert.equal(wording.describeUnlisted(0), "");
  assert.match(wording.describeUnlisted(1200), /1,200 more are not shown\.$/);
});

test("whose answers conflict", () => {
  const state = { team: { you: "anna", own: 0, all: 0, here: [] } };
  const describe = (kind, source, seen = state) =>
    wording.describeSource({ kind, source, event: 3 }, nameSource(seen, source));
  assert.equal(describe("answer", "anna"), "your answer, number 3");
  assert.equal(describe("answer", "ben"), "answer of ben, number 3");
  assert.equal(describe("answer", ""), "answer of somebody without a name, number 3");
  assert.equal(describe("answer", "", {}), "your answer, number 3");
  assert.equal(describe("answer", "judge", {}), "answer of judge, number 3");
  assert.equal(describe("add", "ben"), "added by ben, number 3");
  assert.equal(describe("move", "ben"), "rows that ben moved, number 3");
  assert.equal(describe("move", "anna"), "rows that you moved, number 3");
  assert.equal(describe("import", "pairs.csv"), "imported from pairs.csv, number 3");
  assert.equal(describe("done", ""), "cluster marked as done, number 3");
});

test("the details of an event", () => {
  assert.equal(wording.describeDetails({ number: 4, when: "?", kind: "answer", changed: false }), "4");
  const sure = { number: 4, when: "?", kind: "answer", changed: false, sure: true };
  assert.equal(wording.describeDetails(sure), "4 · confirmed");
  const added = { number: 4, when: "2026-05-01T12:00:00Z", kind: "add", changed: true };
  assert.match(wording.describeDetails(added), /^4 · .*26.* · added · changed$/);
});

test("a link is open, broken, or ended by an error of the host", () => {
  assert.equal(wording.describeLink("open", false), "");
  const said = ["lost", "closed", "login"].map((link) => wording.describeLink(link, false));
  assert.equal(new Set(said).size, 3);
  assert.match(wording.describeLink("lost", true), /stopped with an error/);
});

test("other facts than answers", () => {
  assert.equal(wording.describeOtherFacts({ added: 0, imported: 0, done: 0 }), "");
  const counts = { added: 2, imported: 1200, done: 1 };
  assert.equal(wording.describeOtherFacts(counts), "2 added, 1,200 imported, 1 cluster done");
});

test("the number of a question says whether it checks earlier answers", () => {
  assert.equal(describeNumber(1200, null, "The two are far apart."), "Question 1,200");
  assert.equal(describeNumber(3, 10, ""), "Question 3 of 10");
  const why = "Please check: earlier answers do not yet tell where row A belongs.";
  assert.equal(describeNumber(3, 10, why), "Question 3 of 10 · checks earlier answers");
});

test("the session in a few sentences", () => {
  const state = { learner: "COBRAS", description: ["Asks much."], place: "/a.b/c" };
  assert.equal(wording.describeSession(state), "COBRAS. Asks much. Saved in /a.b/c");
  assert.match(wording.describeSession({ ...state, place: null }), /in memory only/);
});

test("bytes are viewed as numbers whatever their type and alignment", () => {
  const numbers = Float32Array.of(0.5, -1);
  for (const given of [numbers.buffer, new DataView(numbers.buffer), new Uint8Array(numbers.buffer)]) {
    assert.deepEqual([...toTypedArray(given, Float32Array)], [0.5, -1]);
  }
  const shifted = new Uint8Array(9);
  shifted.set(new Uint8Array(numbers.buffer), 1);
  assert.deepEqual([...toTypedArray(shifted.subarray(1), Float32Array)], [0.5, -1]);
  assert.equal(toBytes(null).length, 0);
});
