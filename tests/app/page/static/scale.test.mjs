import assert from "node:assert/strict";
import { test } from "node:test";
import { CLEAR, placeMarks } from "../../../../src/linkwise/app/page/static/src/scale.js";

const PLACES = Array.from({ length: 61 }, (_, i) => i / 60);

test("the marks of two numbers never cover each other and stay in the drawing", () => {
  let nStacked = 0;
  for (const first of PLACES) {
    for (const second of PLACES) {
      const { xs, ys, reach } = placeMarks(first, second);
      const [across, down] = [Math.abs(xs[0] - xs[1]), Math.abs(ys[0] - ys[1])];
      const room = reach[0] + reach[1];
      assert.ok(Math.max(across, down) >= room + CLEAR, `${first} and ${second}`);
      for (const i of [0, 1]) {
        assert.ok(xs[i] >= reach[i] && xs[i] + reach[i] <= 96, `${first} and ${second}`);
        assert.ok(ys[i] >= reach[i] && ys[i] + reach[i] <= 20, `${first} and ${second}`);
      }
      if (down > 0) {
        nStacked += 1;
        assert.ok(ys[0] < ys[1], "A is above B");
      }
    }
  }
  assert.ok(nStacked > 61 && nStacked < 61 * 61 * 0.4, "only close numbers are stacked");
});

test("a number alone stands on the line", () => {
  assert.deepEqual(placeMarks(0.5, null).xs, [48, null]);
  assert.deepEqual(placeMarks(null, 0.5).ys, [10, 10]);
});
