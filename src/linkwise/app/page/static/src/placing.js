/** Where the cards of a screen lie. A layout follows from the steps of the person, so a step back is one step less. */

/** @import { Item, SortingScreen } from "./protocol.d.ts" */

/**
 * A pile: its rows that were there before, and the cards that were put there.
 * @typedef {{ known: number[], cards: number[] }} Pile
 */

/** @typedef {{ piles: Pile[], unsure: number[] }} Layout */

/** The numbers are a card (its row) or the places of piles. @typedef {["put", number, number] | ["new" | "doubt" | "free", number] | ["join", number, number]} Step */

/** Where the rows lie before the first step. @param {SortingScreen} screen @returns {Layout} */
function begin({ known, cards, lies }) {
  const isCard = /** @param {number} row */ (row) => cards.some((card) => card.row === row);
  const { piles, unsure } = lies ?? { piles: known.map((pile) => pile.map(({ row }) => row)), unsure: [] };
  return {
    piles: piles.map((rows) => ({
      known: rows.filter((row) => !isCard(row)),
      cards: rows.filter(isCard),
    })),
    unsure,
  };
}

/**
 * A layout without a card; a new pile that loses its last card is gone.
 * @param {Layout} layout
 * @param {number} card
 * @returns {Layout}
 */
function take({ piles, unsure }, card) {
  const without = /** @param {number[]} cards */ (cards) => cards.filter((each) => each !== card);
  return {
    piles: piles
      .map(({ known, cards }) => ({ known, cards: without(cards) }))
      .filter(({ known, cards }) => known.length + cards.length > 0),
    unsure: without(unsure),
  };
}

/**
 * The pile at a place, after a card was taken out of all of them: a pile before it may be gone.
 * @param {Layout} layout
 * @param {number} card
 * @param {number} place
 */
function putIn(layout, card, place) {
  const { known, cards } = layout.piles[place];
  if (cards.includes(card)) return layout; // it lies there already
  const mark = known[0] ?? cards[0];
  const left = take(layout, card);
  const piles = left.piles.map((pile) =>
    (pile.known[0] ?? pile.cards[0]) === mark ? { ...pile, cards: [...pile.cards, card] } : pile,
  );
  return { ...left, piles };
}

/**
 * @param {Layout} layout
 * @param {number} one
 * @param {number} other
 */
function join(layout, one, other) {
  const [first, second] = one < other ? [one, other] : [other, one];
  const { known, cards } = layout.piles[second];
  const piles = layout.piles
    .map((pile, at) =>
      at === first ? { known: [...pile.known, ...known], cards: [...pile.cards, ...cards] } : pile,
    )
    .filter((_, at) => at !== second);
  return { ...layout, piles };
}

/**
 * @param {Layout} layout
 * @param {Step} step
 * @returns {Layout}
 */
function apply(layout, [name, one, other = -1]) {
  if (name === "put") return putIn(layout, one, other);
  if (name === "join") return join(layout, one, other);
  const left = take(layout, one);
  if (name === "new") return { ...left, piles: [...left.piles, { known: [], cards: [one] }] };
  return name === "doubt" ? { ...left, unsure: [...left.unsure, one] } : left;
}

/**
 * Whether a step can be taken: steps may come from the memory of the browser.
 * @param {SortingScreen} screen
 * @param {Layout} layout
 * @param {Step} step
 */
export function isPossible(screen, layout, step) {
  if (!Array.isArray(step)) return false;
  const [name, one, other = -1] = step;
  const isPile = /** @param {number} place */ (place) => layout.piles[place] !== undefined;
  if (name === "join") return one !== other && isPile(one) && isPile(other);
  const isCard = screen.cards.some(({ row }) => row === one);
  return isCard && (["new", "doubt", "free"].includes(name) || (name === "put" && isPile(other)));
}

/**
 * Where the cards lie after some steps; those that cannot be taken, and all after them, are left out.
 * @param {SortingScreen} screen
 * @param {Step[]} steps
 * @returns {{ layout: Layout, steps: Step[] }}
 */
export function place(screen, steps) {
  /** @type {Layout} */
  let layout = begin(screen);
  for (const [at, step] of steps.entries()) {
    if (!isPossible(screen, layout, step)) return { layout, steps: steps.slice(0, at) };
    layout = apply(layout, step);
  }
  return { layout, steps };
}

/**
 * The place of the pile of a card; null if it lies in none.
 * @param {Layout} layout
 * @param {number} card
 */
export function findPile({ piles }, card) {
  const at = piles.findIndex(({ cards }) => cards.includes(card));
  return at < 0 ? null : at;
}

/**
 * The cards that have no place yet.
 * @param {SortingScreen} screen
 * @param {Layout} layout
 */
export const findLoose = (screen, layout) =>
  screen.cards.filter(({ row }) => findPile(layout, row) === null && !layout.unsure.includes(row));

/**
 * The card that is placed after another one: the next one without a place, also from the beginning; null if none is left.
 * @param {SortingScreen} screen
 * @param {Layout} layout
 * @param {number | null} card
 */
export function findNext(screen, layout, card) {
  const at = screen.cards.findIndex(({ row }) => row === card) + 1;
  const order = [...screen.cards.slice(at), ...screen.cards.slice(0, at)];
  const loose = new Set(findLoose(screen, layout));
  return order.find((item) => loose.has(item))?.row ?? null;
}

/**
 * What is stored: the rows of each pile, and the cards that nobody is sure about.
 * @param {Layout} layout
 */
export const listPiles = ({ piles, unsure }) => ({
  piles: piles.map(({ known, cards }) => [...known, ...cards]),
  unsure,
});

/**
 * What a screen is known by in the browser: its rows. The same rows come back after an undo, as another screen.
 * @param {SortingScreen} screen
 */
export const nameRows = ({ known, cards }) =>
  [...known, cards].map((items) => items.map(/** @param {Item} item */ ({ row }) => row).join("+")).join("|");
