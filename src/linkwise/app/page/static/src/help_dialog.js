/** One screen of help: the keys, what happens to answers and where they are, and how the data were read. */
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { LATER } from "./later.js";
import { SORT_KEYS } from "./sorting_wording.js";
import { describePlace, SHARED_KEYS } from "./wording.js";

/** @import { Page } from "./page.js" */

/** @type {[string, string][]} */
const KEYS = [
  ...SHARED_KEYS,
  ["L", `Later: ${LATER[0].toLowerCase()}${LATER.slice(1)}`],
  ["W", "Why this question is asked"],
  ["G", "What the current clustering suggests"],
  ["A", "Add a note to the answer that you give next"],
  ["H", "History: change any answer or take it back"],
  ["E", "Results: what you got, and all exports"],
  ["/", "Search the clusters, if there are more than twelve"],
  ["+ − 0", "Zoom in, zoom out, show all rows"],
  ["← ↑ → ↓", "Move the plot while it has the focus; Enter opens the row at the cross"],
];

const PAIR_KEYS = ["Y", "N", "S", "U", "L", "G"]; // they do something else, or nothing, while the person sorts

/** @type {[string, string]} */
const GUIDELINES_KEY = ["I", "Guidelines: what belongs together here"];
/** @type {[string, string]} */
const COLUMNS_KEY = ["C", "Columns: what rows are compared by"];
/** @type {[string, string]} */
const REVIEW_KEY = ["R", "Review: decide pairs on which answers disagree or are probably wrong"];

/** @type {[string, string]} */
const TEAM_KEY = ["T", "Team: how often each person is wrong, and how often two of them agree"];

const ANSWERS = [
  "linkwise derives what follows from your answers, and does not ask about it. The clusters change with every answer.",
  "Undo takes the last answer back. In the history you can change any other answer, or take it back.",
];
const TEAM_ANSWERS = "Each person changes only their own answers.";

/** @param {Page} page */
export function openHelp(page) {
  const { body } = openDialog(page, "Help", "lw-help");
  const {
    guidelines,
    examples,
    n_review: toReview,
    table,
    team,
    place,
    notes = [],
  } = page.controller.state ?? {};
  const more = [
    ...(guidelines || examples ? [GUIDELINES_KEY] : []),
    ...(table ? [COLUMNS_KEY] : []),
    ...(toReview ? [REVIEW_KEY] : []),
    ...(team ? [TEAM_KEY] : []),
  ];
  const list = /** @param {[string, string][]} keys */ (keys) =>
    h(
      "dl",
      { class: "lw-keys" },
      keys.map(([letter, words]) => h("div", {}, h("dt", {}, h("kbd", {}, letter)), h("dd", {}, words))),
    );
  const sorting = page.controller.isSorting ? [h("h3", {}, "Keys while you sort"), list(SORT_KEYS)] : [];
  body.append(
    ...sorting,
    h("h3", {}, sorting.length ? "Other keys" : "Keys"),
    list([...KEYS.filter(([letter]) => !sorting.length || !PAIR_KEYS.includes(letter)), ...more]),
    h("p", { class: "lw-soft" }, "Keys work while this page has the focus, and never in a text field."),
    h("h3", {}, "Your answers"),
    ...[...ANSWERS, ...(team ? [TEAM_ANSWERS] : []), describePlace(place ?? null)].map((words) =>
      h("p", {}, words),
    ),
  );
  if (!notes.length) return;
  body.append(createReading(notes));
}

/**
 * How the data were read, to be opened.
 * @param {string[]} notes
 */
export const createReading = (notes) =>
  h(
    "details",
    {},
    h("summary", {}, "How the data were read"),
    h(
      "ul",
      { class: "lw-notes" },
      notes.map((note) => h("li", {}, note)),
    ),
  );
