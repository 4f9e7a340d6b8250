import assert from "node:assert/strict";
import { test } from "node:test";
import * as words from "../../../../src/linkwise/app/page/static/src/team_wording.js";

const ANNA = { answers: 12, unsure: 0, added: 0, gold: 0, gold_right: 0, median_seconds: null };

test("what a person answered", () => {
  assert.equal(words.describeAnswers(ANNA), "12 answers");
  assert.equal(words.describeAnswers({ ...ANNA, answers: 0, added: 3 }), "3 pairs added");
  const more = { answers: 1, unsure: 1, added: 2, gold: 3, gold_right: 2, median_seconds: 4.21 };
  assert.equal(
    words.describeAnswers(more),
    "1 answer, 1 of them not sure, 2 pairs added, 2 of 3 known pairs right, median 4.2 s",
  );
});

test("how often a person is wrong", () => {
  assert.equal(
    words.describeErrorRate([0.08, 0.03, 0.171], 10),
    "Wrong in about 8 % of the answers, probably between 3 % and 17 %.",
  );
  assert.equal(
    words.describeErrorRate([0.02, 0.001, 0.09], 10),
    "Wrong in about 2 % of the answers, probably at most 9 %.",
  );
  assert.equal(words.describeErrorRate([0, 0, 0], 10), "Taken as never wrong.");
  assert.equal(words.describeErrorRate([0.25, 0.25, 0.25], 10), "Taken as wrong in 25 %.");
  assert.equal(words.describeErrorRate(null, 10), "Not known yet: it takes 10 answers of same or different.");
});

test("how often two people agree", () => {
  assert.equal(
    words.describeShared({ common: 1, agreeing: 1 }),
    "The same answer in 1 of 1 shared question.",
  );
  assert.equal(words.describeKappa([0.8, 0.45, 0.951]), "Kappa 0.80, probably between 0.45 and 0.95.");
  assert.equal(words.describeKappa(null), "");
  const [many, few] = [
    { common: 20, kappa: [0.8, 0.4, 0.9] },
    { common: 9, kappa: null },
  ];
  const explain = (...pairs) => words.explainKappa({ pairs, least_common: 10 });
  assert.match(explain(many), /^Kappa compares .* by chance\.$/);
  assert.match(explain(many, few), /^Kappa compares .* Kappa is shown from 10 shared questions on\.$/);
  assert.equal(explain(few), "Kappa is shown from 10 shared questions on.");
  assert.equal(explain(), "");
});
