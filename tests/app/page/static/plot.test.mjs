import assert from "node:assert/strict";
import { test } from "node:test";
import { curvePath } from "../../../../src/linkwise/app/page/static/src/items.js";
import { indexRows } from "../../../../src/linkwise/app/page/static/src/nearest_row.js";
import {
  createPixelPainter,
  createStamps,
} from "../../../../src/linkwise/app/page/static/src/pixel_painter.js";
import {
  fitRows,
  panBy,
  toPixels,
  toUnits,
  zoomAt,
} from "../../../../src/linkwise/app/page/static/src/viewport.js";

/** Numbers in [-1, 1] that are the same every time. */
function drawPlaces(n) {
  let state = 1;
  return Float32Array.from({ length: 2 * n }, () => {
    state = (state * 48271) % 2147483647;
    return (2 * state) / 2147483647 - 1;
  });
}

test("the nearest row is that of a search through all rows", () => {
  const places = drawPlaces(500);
  const findRow = indexRows(places);
  const probes = drawPlaces(200);
  for (let i = 0; i < 200; i += 1) {
    const [x, y] = [1.1 * probes[2 * i], 1.1 * probes[2 * i + 1]];
    let [nearest, least] = [-1, 0.05];
    for (let row = 0; row < 500; row += 1) {
      const distance = Math.hypot(places[2 * row] - x, places[2 * row + 1] - y);
      if (distance <= least) [nearest, least] = [row, distance];
    }
    assert.equal(findRow(x, y, 0.05), nearest);
  }
});

test("no row is found where none is near", () => {
  assert.equal(indexRows(Float32Array.of(-1, -1))(1, 1, 0.1), -1);
});

test("all rows fit, also a single one", () => {
  const size = { width: 300, height: 200 };
  const places = drawPlaces(50);
  const home = fitRows(places, size);
  for (let row = 0; row < 50; row += 1) {
    const [px, py] = toPixels(home, size, places[2 * row], places[2 * row + 1]);
    assert.ok(px >= 35 && px <= 265 && py >= 35 && py <= 165);
  }
  const one = fitRows(Float32Array.of(0.5, 0.5), size);
  assert.deepEqual([one.x, one.y], [0.5, 0.5]);
  assert.ok(Number.isFinite(one.scale));
});

test("zooming keeps the point under the pointer, and panning moves it by as many pixels", () => {
  const size = { width: 300, height: 200 };
  const home = { x: 0, y: 0, scale: 100 };
  const before = toUnits(home, size, 100, 50);
  const zoomed = zoomAt(home, home, size, 3, 100, 50);
  const after = toUnits(zoomed, size, 100, 50);
  for (const i of [0, 1]) assert.ok(Math.abs(before[i] - after[i]) < 1e-12);
  const panned = panBy(zoomed, home, 30, -20);
  const [px, py] = toPixels(panned, size, ...before);
  assert.ok(Math.abs(px - 130) < 1e-9 && Math.abs(py - 30) < 1e-9);
  assert.equal(zoomAt(home, home, size, 1e9, 0, 0).scale, 500_000);
  assert.equal(zoomAt(home, home, size, 1e-9, 0, 0).scale, 50);
});

test("a stamp covers the area of its disc, at every position", () => {
  for (const size of [4, 7.5]) {
    for (const { share } of createStamps(size, 100)) {
      const area = share.reduce((a, b) => a + b, 0) / 256;
      const radius = size / 2; // the edge fades over one pixel
      assert.ok(Math.abs(area - Math.PI * (radius ** 2 - radius + 1 / 3)) < 0.3);
    }
  }
  assert.equal(createStamps(1, 100)[0].at.length, 1);
});

/** A canvas that keeps what was put on it. */
function createCanvas() {
  const shown = { pixels: null };
  const context = {
    createImageData: (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
    putImageData: (image) => {
      shown.pixels = [...new Uint32Array(image.data.buffer)];
    },
  };
  return { canvas: { width: 60, height: 40, getContext: () => context }, shown };
}

test("points that were painted before are painted as by a new painter", () => {
  const places = drawPlaces(4000);
  const labels = Uint8Array.from(places.subarray(0, 4000), (place) => Math.floor(2.5 * (place + 1)));
  const table = (opacities) => {
    const colours = new Uint8Array(1024);
    for (const [label, opacity] of opacities.entries()) {
      colours.set([50 * label, 255 - 50 * label, 7 * label, opacity], 4 * label);
    }
    return colours;
  };
  const [plain, faint, shaped] = [
    [216, 216, 216, 216, 216],
    [216, 20, 20, 20, 20],
    [216, 217, 218, 219, 216],
  ].map(table);
  const view = { ratio: 1, x: 0, y: 0, scale: 18, size: 1.5 };
  const { canvas, shown } = createCanvas();
  const painter = createPixelPainter(canvas);
  painter.setPlaces(places);
  const steps = [
    [labels, plain, view],
    [labels.map((label) => 4 - label), plain, view],
    [labels, faint, view],
    [labels, plain, view],
    [labels, shaped, { ...view, size: 4 }],
    [labels.map((label) => (label + 1) % 5), shaped, { ...view, size: 4 }],
    [labels, plain, { ...view, x: 0.4, scale: 30 }],
    [labels.map((label) => 4 - label), plain, { ...view, x: 0.4, scale: 30 }],
  ];
  for (const [step, [now, colours, at]] of steps.entries()) {
    painter.setLabels(now);
    painter.setColours(colours, [250, 251, 252]);
    painter.paint(at);
    const found = shown.pixels;
    const fresh = createCanvas();
    const other = createPixelPainter(fresh.canvas);
    other.setPlaces(places);
    other.setLabels(now);
    other.setColours(colours, [250, 251, 252]);
    other.paint(at);
    assert.deepEqual(found, fresh.shown.pixels, `step ${step}`);
  }
});

test("the last point lies above the others, and shows the paper a little", () => {
  const { canvas, shown } = createCanvas();
  const painter = createPixelPainter(canvas);
  painter.setPlaces(Float32Array.of(0, 0, 0, 0, 0, 0, 0, 0));
  painter.setLabels(Uint8Array.of(0, 0, 0, 1));
  const colours = new Uint8Array(1024);
  colours.set([200, 0, 0, 216, 0, 100, 0, 216]);
  painter.setColours(colours, [255, 255, 255]);
  painter.paint({ ratio: 1, x: 0, y: 0, scale: 10, size: 1 });
  const [drawn] = shown.pixels.filter((pixel) => pixel >>> 0 !== 0xffffffff);
  const open = 1 - 216 / 255;
  const red = Math.round(open * (1 - open) * 200 * (1 + open + open ** 2)) + Math.round(255 * open ** 4);
  assert.ok(Math.abs((drawn & 255) - red) <= 1);
  assert.ok(Math.abs(((drawn >>> 8) & 255) - (1 - open) * 100) <= 2);
});

test("a curve has a gap where values are missing", () => {
  const path = curvePath([0, 1, null, 1, null], 0, 1, 108, 112);
  assert.equal(path.match(/M/g).length, 2);
  assert.equal(path.match(/L/g).length, 1);
  assert.ok(path.startsWith("M4.0 106.0h.01L29.0 6.0"));
});
