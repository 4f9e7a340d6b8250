import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

const SOURCES = new URL("../../../../src/linkwise/app/page/static/src/", import.meta.url);
const MODULES = [
  "team.js",
  "column_choices.js",
  ...readdirSync(SOURCES).filter((name) => /wording\.js$/.test(name)),
];
const DOUBLED = /(?<!\.)\.\.(?!\.)|[?!…]\.|\. \.|\.\.\.\./;

const NAMES = ["Acme Inc.", "Who?", "Wait…"];
const PARTS = {
  kind: ["answer", "add", "move", "import", "name", "done", "change"],
  answer: ["yes", "no"],
  grade: ["likely wrong"],
};

/** Whatever a function reads of a thing: names that end in a full stop, and numbers. */
function createThing(name, kind, answer) {
  const item = { row: 1, name, fields: [] };
  return {
    kind,
    answer,
    name,
    title: name,
    text: name,
    source: name,
    note: name,
    note_author: name,
    reason: name,
    you: name,
    place: name,
    learner: name,
    backup: name,
    changed: name,
    facts: "6 answers",
    file: name,
    here: [name, NAMES[0], NAMES[1]],
    names: [name, NAMES[0]],
    exemplar_names: [name, NAMES[0]],
    description: [name],
    first: item,
    second: item,
    question: { first: item, second: item },
    team: { you: "anna" },
    clusters: [],
    counts: { unsure: 1 },
    cluster: 2,
    size: 3,
    number: 4,
    event: 4,
    target: 4,
    pairs: 5,
    answers: 6,
    own: 6,
    all: 7,
    common: 8,
    agreeing: 7,
    answered: 2,
    added: 1,
    imported: 2,
    done: 1,
    when: "2026-05-01T12:00:00Z",
    median_seconds: 2,
    grade: "likely wrong",
    unsure: 1,
    gold: 2,
    gold_right: 1,
    more_clusters: 0,
  };
}

const things = NAMES.flatMap((name) =>
  PARTS.kind.flatMap((kind) => PARTS.answer.map((answer) => createThing(name, kind, answer))),
);
const values = [...NAMES, "", "yes", 0, 3, null, true, NAMES, [], ...things];

/** All that a function says, with every choice of arguments that it can take. */
function listSentences(describe) {
  const found = [];
  const rows =
    describe.length > 1
      ? values.filter((value) => !things.includes(value) || things.indexOf(value) % 5 === 0)
      : values;
  const call = (given) => {
    if (given.length < Math.max(1, describe.length)) {
      for (const value of rows) call([...given, value]);
      return;
    }
    try {
      found.push(describe(...given));
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    }
  };
  call([]);
  return found.filter((words) => typeof words === "string");
}

for (const name of MODULES) {
  test(`no two full stops meet in ${name}`, async () => {
    const functions = Object.entries(await import(new URL(name, SOURCES))).filter(
      ([, each]) => typeof each === "function",
    );
    const said = functions.flatMap(([what, describe]) =>
      listSentences(describe).map((words) => `${what}: ${words}`),
    );
    assert.ok(said.length > 0);
    assert.deepEqual([...new Set(said.filter((words) => DOUBLED.test(words)))], []);
  });
}
