import assert from "node:assert/strict";
import { test } from "node:test";
import { compareLetters } from "../../../../src/linkwise/app/page/static/src/letters.js";

const write = (parts) => parts.map(({ text, differs }) => (differs ? `[${text}]` : text)).join("");
const compare = (first, second) => compareLetters(first, second)?.map(write) ?? null;

test("letters that one text has alone are marked", () => {
  assert.deepEqual(compare("Tiny Garden", "TinyGardn"), ["Tiny[ ]Gard[e]n", "TinyGardn"]);
  assert.deepEqual(compare("Ann Stone", "Ann Store"), ["Ann Sto[n]e", "Ann Sto[r]e"]);
});

test("letters outside of the basic plane stay whole", () => {
  assert.deepEqual(compare("ab😀", "ab😁"), ["ab[😀]", "ab[😁]"]);
});

test("texts that are the same, too different or too long are not marked", () => {
  assert.equal(compare("Ann", "Ann"), null);
  assert.equal(compare("Ann Stone", "Bob Hill"), null);
  assert.equal(compare("", "Ann"), null);
  assert.equal(compare("a".repeat(201), "a".repeat(200)), null);
});
