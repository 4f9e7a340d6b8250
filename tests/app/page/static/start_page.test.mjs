import assert from "node:assert/strict";
import test from "node:test";
import { describeSession, findObstacle } from "../../../../src/linkwise/app/page/static/src/start_page.js";

const session = { path: "", folder: "", data: "", when: "", problem: null };

test("a session is described by what it has", () => {
  assert.equal(describeSession({ ...session, answers: 1, clusters: 3 }), "1 answer · 3 clusters");
  assert.equal(
    describeSession({ ...session, problem: "This session cannot be read." }),
    "This session cannot be read.",
  );
});

test("only a file above the limit is kept back", () => {
  const state = { folder: "", files: [], sessions: [], demos: [], endings: [], largest: 3 * 2 ** 20 };
  assert.equal(findObstacle({ name: "a.csv", size: state.largest }, state), "");
  assert.match(
    findObstacle({ name: "a.csv", size: state.largest + 1 }, state),
    /^a\.csv has more than 3 MiB\./,
  );
});
