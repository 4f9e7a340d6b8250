/** Examples of pairs: they show, beside the guidelines, what belongs together. */
import { createButton, renderIcon } from "./controls.js";
import { h } from "./dom.js";
import { createRowLink } from "./item_dialog.js";
import { ANSWER_LABELS, ANSWER_WORDS } from "./wording.js";

/** @import { ShowOutcome } from "./controller.js" */
/** @import { Page } from "./page.js" */
/** @import { Example, Item } from "./protocol.d.ts" */

export const MARK = "Use as an example";
export const UNMARK = "Remove example";
const MARK_QUESTION = "Make the present question an example:";

/**
 * The example about a pair, if there is one.
 * @param {Page} page
 * @param {number} first
 * @param {number} second
 */
export const findExample = (page, first, second) =>
  page.controller.state?.examples?.find(
    (each) => [each.first, each.second].includes(first) && [each.first, each.second].includes(second),
  );

/**
 * Make a pair an example, or replace the one about this pair.
 * @param {Page} page
 * @param {Pick<Example, "first" | "second" | "names" | "answer" | "reason">} pair
 * @param {ShowOutcome} show
 */
export function addExample(page, { first, second, names, answer, reason }, show) {
  const words = `Saved: ${names.join(" and ")} are an example of “${ANSWER_WORDS[answer]}”.`;
  return page.controller.store(
    { do: "example", first, second, answer, note: reason },
    { describe: () => words, show },
  );
}

/**
 * @param {Page} page
 * @param {Pick<Example, "first" | "second" | "names">} pair
 * @param {ShowOutcome} show
 */
export function removeExample(page, { first, second, names }, show) {
  const words = `Saved: ${names.join(" and ")} are no longer an example.`;
  return page.controller.store(
    { do: "example", first, second, answer: "none" },
    { describe: () => words, show },
  );
}

/**
 * The list of examples, each with a button that removes it.
 * @param {Page} page
 * @param {Example[]} examples
 * @param {ShowOutcome} show
 */
export const renderExamples = (page, examples, show) =>
  h(
    "ul",
    { class: "lw-chain lw-opinions", "aria-label": "Examples" },
    examples.map((example) =>
      h(
        "li",
        {},
        renderIcon(example.answer),
        h(
          "div",
          { class: "lw-description" },
          h(
            "span",
            {},
            createRowLink(page, example.names[0], example.first),
            "  –  ",
            createRowLink(page, example.names[1], example.second),
          ),
          h("span", { class: "lw-soft" }, ANSWER_LABELS[example.answer]),
          example.reason && h("span", { class: "lw-note-text" }, example.reason),
        ),
        createButton("Remove", () => removeExample(page, example, show), {
          className: "lw-quiet",
          "aria-label": `Remove the example: ${example.names.join(" and ")}`,
        }),
      ),
    ),
  );

/**
 * Buttons that make the pair of the present question an example, in one action.
 * @param {Page} page
 * @param {{ first: Item, second: Item }} question
 * @param {ShowOutcome} show
 */
export function renderMarking(page, { first, second }, show) {
  /** @type {("yes" | "no")[]} */
  const answers = ["yes", "no"];
  const names = /** @type {[string, string]} */ ([first.name, second.name]);
  const buttons = answers.map((answer) =>
    createButton(
      [renderIcon(answer), h("span", {}, ANSWER_LABELS[answer])],
      () => addExample(page, { first: first.row, second: second.row, names, answer, reason: "" }, show),
      { "data-key": answer },
    ),
  );
  return h(
    "div",
    { class: "lw-marking", role: "group", "aria-label": `${MARK_QUESTION} ${names.join(" and ")}` },
    h("span", {}, `${MARK_QUESTION} ${names.join(" – ")}`),
    buttons,
  );
}
