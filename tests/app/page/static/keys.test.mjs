import assert from "node:assert/strict";
import { test } from "node:test";
import { nameKey } from "../../../../src/linkwise/app/page/static/src/keys.js";

test("a key is known by its letter, and by its place where letters are not Latin", () => {
  const name = (key, code) => nameKey({ key, code });
  assert.equal(name("Y", "KeyY"), "y");
  assert.equal(name("y", "KeyZ"), "y"); // a German keyboard
  assert.equal(name("н", "KeyY"), "y"); // a Russian one
  assert.equal(name("ס", "KeyX"), "x"); // a Hebrew one
  assert.equal(name("٣", "Digit3"), "3"); // an Arabic one
  assert.equal(name("?", "Slash"), "?");
  assert.equal(name("Escape", "Escape"), "escape");
  assert.equal(name("ж", "Semicolon"), "ж");
  assert.equal(name("y", undefined), "y"); // a touch keyboard
});
