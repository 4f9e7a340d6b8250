import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findLoose,
  findNext,
  findPile,
  isPossible,
  listPiles,
  nameRows,
  place,
} from "../../../../src/linkwise/app/page/static/src/placing.js";
import { createItem } from "./fakes.mjs";

const SCREEN = {
  id: "2:7,8|10,11,12,13",
  known: [[createItem(7)], [createItem(8)]],
  cards: [10, 11, 12, 13].map(createItem),
  columns: [],
  why: "",
};

const lay = (...steps) => place(SCREEN, steps).layout;
const pilesAfter = (...steps) => listPiles(lay(...steps));

test("a screen begins with its known piles, and all cards are loose", () => {
  assert.deepEqual(pilesAfter(), { piles: [[7], [8]], unsure: [] });
  assert.deepEqual(
    findLoose(SCREEN, lay()).map(({ row }) => row),
    [10, 11, 12, 13],
  );
});

test("an earlier answer begins with its cards where they lie, and steps are only those that follow", () => {
  const lies = { piles: [[7, 8, 10], [11]], unsure: [12, 13] };
  const again = { ...SCREEN, event: 3, lies };
  const { layout } = place(again, []);
  assert.deepEqual(layout.piles, [
    { known: [7, 8], cards: [10] },
    { known: [], cards: [11] },
  ]);
  assert.deepEqual(listPiles(layout), lies);
  const steps = [
    ["put", 11, 0],
    ["new", 12],
  ];
  assert.deepEqual(listPiles(place(again, steps).layout), { piles: [[7, 8, 10, 11], [12]], unsure: [13] });
});

test("cards go into known piles, new ones, and among those that nobody is sure about", () => {
  const steps = [
    ["put", 10, 1],
    ["new", 11],
    ["put", 12, 2],
    ["doubt", 13],
  ];
  assert.deepEqual(pilesAfter(...steps), { piles: [[7], [8, 10], [11, 12]], unsure: [13] });
  assert.deepEqual(findLoose(SCREEN, lay(...steps)), []);
});

test("a card that is placed once more leaves its earlier place", () => {
  assert.deepEqual(pilesAfter(["put", 10, 0], ["put", 10, 1]), { piles: [[7], [8, 10]], unsure: [] });
  assert.deepEqual(pilesAfter(["doubt", 10], ["put", 10, 1]), { piles: [[7], [8, 10]], unsure: [] });
  assert.deepEqual(pilesAfter(["put", 10, 0], ["doubt", 10]), { piles: [[7], [8]], unsure: [10] });
  assert.deepEqual(pilesAfter(["put", 10, 0], ["free", 10]), { piles: [[7], [8]], unsure: [] });
  assert.deepEqual(pilesAfter(["put", 10, 0], ["put", 10, 0]), { piles: [[7, 10], [8]], unsure: [] });
});

test("a new pile is gone with its last card, and the card finds the pile that moved up", () => {
  const steps = [
    ["new", 10],
    ["new", 11],
  ];
  assert.deepEqual(pilesAfter(...steps, ["put", 10, 3]).piles, [[7], [8], [11, 10]]);
  assert.deepEqual(pilesAfter(...steps, ["new", 10]).piles, [[7], [8], [11], [10]]);
  assert.deepEqual(pilesAfter(...steps, ["free", 11]).piles, [[7], [8], [10]]);
  assert.deepEqual(pilesAfter(["new", 10], ["put", 10, 2]).piles, [[7], [8], [10]]);
});

test("two piles become one, in either order and of any kind", () => {
  const cards = [
    ["put", 10, 0],
    ["put", 11, 1],
    ["new", 12],
  ];
  assert.deepEqual(pilesAfter(...cards, ["join", 1, 0]).piles, [[7, 8, 10, 11], [12]]);
  assert.deepEqual(pilesAfter(...cards, ["join", 0, 1]).piles, [[7, 8, 10, 11], [12]]);
  assert.deepEqual(pilesAfter(...cards, ["join", 1, 2]).piles, [
    [7, 10],
    [8, 11, 12],
  ]);
  assert.deepEqual(pilesAfter(...cards, ["join", 0, 1], ["put", 13, 1]).piles, [
    [7, 8, 10, 11],
    [12, 13],
  ]);
});

test("no step loses a card or a known row, or has one twice", () => {
  const names = ["put", "new", "doubt", "free", "join"];
  let seed = 1;
  const draw = (n) => {
    seed = (seed * 48271) % 2147483647;
    return seed % n;
  };
  for (let run = 0; run < 300; run += 1) {
    const steps = [];
    for (let at = 0; at < 12; at += 1) {
      const name = names[draw(5)];
      const step = name === "join" ? [name, draw(5), draw(5)] : [name, 10 + draw(4), draw(5)];
      if (isPossible(SCREEN, lay(...steps), step)) steps.push(step);
    }
    const { piles, unsure } = pilesAfter(...steps);
    const loose = findLoose(SCREEN, lay(...steps)).map(({ row }) => row);
    const rows = [...piles.flat(), ...unsure, ...loose].sort((a, b) => a - b);
    assert.deepEqual(rows, [7, 8, 10, 11, 12, 13], JSON.stringify(steps));
    assert.ok(
      piles.every((pile) => pile.length),
      JSON.stringify(steps),
    );
  }
});

test("steps that cannot be taken end what the browser remembers", () => {
  for (const wrong of [
    ["put", 10, 2],
    ["put", 99, 0],
    ["put", 7, 0],
    ["put", 10],
    ["new", 99],
    ["join", 0, 0],
    ["join", 0, 5],
    ["eat", 10],
    [],
    null,
    "new",
  ]) {
    const { layout, steps } = place(SCREEN, [["put", 11, 0], wrong, ["put", 12, 0]]);
    assert.deepEqual(steps, [["put", 11, 0]], JSON.stringify(wrong));
    assert.deepEqual(listPiles(layout).piles, [[7, 11], [8]]);
  }
});

test("the next card is the one after the last, then from the beginning", () => {
  assert.equal(findNext(SCREEN, lay(), null), 10);
  assert.equal(findNext(SCREEN, lay(["new", 10]), 10), 11);
  assert.equal(findNext(SCREEN, lay(["new", 13]), 13), 10);
  assert.equal(findNext(SCREEN, lay(["new", 12], ["new", 13]), 11), 10);
  assert.equal(findNext(SCREEN, lay(...[10, 11, 12, 13].map((card) => ["put", card, 0])), 13), null);
});

test("the pile of a card is known by its place", () => {
  const layout = lay(["put", 10, 1], ["doubt", 11]);
  assert.deepEqual(
    [10, 11, 12].map((card) => findPile(layout, card)),
    [1, null, null],
  );
});

test("the same rows have the same name, however the screen is called", () => {
  assert.equal(nameRows(SCREEN), nameRows({ ...SCREEN, id: "5:7,8|10,11,12,13" }));
  assert.notEqual(nameRows(SCREEN), nameRows({ ...SCREEN, known: [[createItem(7), createItem(8)]] }));
  assert.notEqual(nameRows(SCREEN), nameRows({ ...SCREEN, cards: SCREEN.cards.slice(1) }));
});
