/** The keys, and how the data were read. */
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { LATER } from "./later.js";
import { SHARED_KEYS } from "./wording.js";

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

/** @type {[string, string]} */
const GUIDELINES_KEY = ["I", "Guidelines: what belongs together here"];
/** @type {[string, string]} */
const COLUMNS_KEY = ["C", "Columns: what rows are compared by"];
/** @type {[string, string]} */
const REVIEW_KEY = ["R", "Review: decide pairs on which answers disagree or are probably wrong"];

/** @type {[string, string]} */
const TEAM_KEY = ["T", "Team: how often each person is wrong, and how often two of them agree"];

/** @param {Page} page */
export function openHelp(page) {
  const { body } = openDialog(page, "Keys");
  const { guidelines, examples, n_review: toReview, table, team } = page.controller.state ?? {};
  const more = [
    ...(guidelines || examples ? [GUIDELINES_KEY] : []),
    ...(table ? [COLUMNS_KEY] : []),
    ...(toReview ? [REVIEW_KEY] : []),
    ...(team ? [TEAM_KEY] : []),
  ];
  const lines = [...KEYS, ...more].flatMap(([letter, words]) => [
    h("dt", {}, h("kbd", {}, letter)),
    h("dd", {}, words),
  ]);
  const scope = "Keys work while this page has the focus, and never in a text field.";
  body.append(h("dl", { class: "lw-keys" }, lines), h("p", { class: "lw-soft" }, scope));
  const notes = page.controller.state?.notes ?? [];
  if (!notes.length) return;
  body.append(
    h("h3", {}, "How the data were read"),
    h(
      "ul",
      { class: "lw-notes" },
      notes.map((note) => h("li", {}, note)),
    ),
  );
}
