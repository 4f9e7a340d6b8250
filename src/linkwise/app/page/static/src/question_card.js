/** The question, the buttons that answer it, and what is shown when there are no more questions. */
import { createButton, createDisclosure, renderIcon, renderKey, setEnabled } from "./controls.js";
import { h, listChildren, setText } from "./dom.js";
import { renderPair } from "./items.js";
import { LATER, postpone } from "./later.js";
import { NoteField } from "./note_field.js";
import { renderParts } from "./pair_parts.js";
import { describeBeginning, describeNumber } from "./question_wording.js";
import { openResults, RESULTS } from "./results_dialog.js";
import { Sorter } from "./sorter.js";
import { createSortingSwitch } from "./sorting_switch.js";
import { SORT_AGAIN, SORT_QUESTION } from "./sorting_wording.js";
import { WAITING, WAITING_ADVICE } from "./team.js";
import {
  ANSWER_LABELS,
  BUDGET_SPENT,
  countClusters,
  describeEvent,
  describeExhaustion,
  describeGuess,
  formatCount,
  joinSentences,
  NO_MORE_QUESTIONS,
  QUESTION,
} from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Answer, Question, State, Opening } from "./protocol.d.ts" */

/** @type {[Answer, string][]} */
const ANSWER_KEYS = [
  ["yes", "Y"],
  ["no", "N"],
  ["unsure", "S"],
];
const NEXT_STEPS =
  "You can continue on your own: select two points in the plot and mark them as same or different, merge two " +
  "clusters, name them, or change an earlier answer in the history.";

/**
 * What was found, and what to do next.
 * @param {Page} page
 * @param {State} state
 */
function renderFinish(page, state) {
  const found = formatCount(countClusters(state), "cluster");
  const from = `${formatCount(state.rows, "row")}, from ${formatCount(state.counts.answers, "answer")}.`;
  const reason =
    state.ended === "budget" ? "A larger budget allows more questions." : describeExhaustion(state.counts);
  return listChildren(
    h("p", { class: "lw-lead" }, `${found} in ${from} ${reason}`),
    h(
      "div",
      { class: "lw-answers" },
      createButton([RESULTS, renderKey("E")], () => openResults(page), { className: "lw-answer lw-main" }),
    ),
    h("p", { class: "lw-soft" }, NEXT_STEPS),
  );
}

export class QuestionCard {
  /** The question that is shown. @type {string | null} */
  #shown = null;

  /**
   * @param {Page} page
   * @param {() => void} redraw called when the person chose another way to answer
   */
  constructor(page, redraw) {
    const { controller } = page;
    this.page = page;
    this.eyebrow = h("p", { class: "lw-eyebrow" });
    this.heading = h("h2", { id: page.createId("asked"), tabindex: "-1" });
    this.beginning = h("p", { class: "lw-soft", hidden: true });
    this.pair = h("div", { class: "lw-items" });
    this.finish = h("div", { class: "lw-finish", hidden: true });
    this.buttons = ANSWER_KEYS.map(([answer, letter]) =>
      createButton(
        [renderIcon(answer), h("span", {}, ANSWER_LABELS[answer]), renderKey(letter)],
        () => controller.answer(answer),
        { className: `lw-answer lw-${answer}`, "aria-keyshortcuts": letter },
      ),
    );
    this.undoKey = renderKey("U");
    this.undo = createButton(
      [renderIcon("undo"), h("span", {}, "Undo"), this.undoKey],
      () => controller.undo(),
      { className: "lw-quiet lw-undo", "aria-keyshortcuts": "U" },
    );
    this.later = createButton([h("span", {}, "Later"), renderKey("L")], () => postpone(controller), {
      className: "lw-quiet",
      "aria-keyshortcuts": "L",
      title: LATER,
    });
    this.why = createDisclosure(page, "Why this question?", "W", "lw-why");
    this.guess = createDisclosure(page, "Guess", "G", "lw-guess");
    this.note = new NoteField(page);
    controller.draft = this.note;
    this.isAnew = false; // whether other rows to sort are wanted than those that are open
    this.how = createSortingSwitch(
      (isAnew, isOpened) => {
        this.isAnew = isAnew;
        this.sorter.takesFocus = isOpened;
        redraw();
      },
      () => page.root.clientWidth,
    );
    this.sorter = new Sorter(page, this.note, () => this.#showScreen(), redraw);
    this.bar = h("div", { class: "lw-answers", role: "group", "aria-label": "Your answer" }, this.buttons);
    this.more = h(
      "div",
      { class: "lw-more" },
      this.why.opener,
      this.guess.opener,
      this.note.opener,
      this.later,
      h("span", { class: "lw-gap" }),
      this.undo,
    );
    this.notice = h("p", { class: "lw-notice", hidden: true });
    this.node = h(
      "section",
      { class: "lw-card lw-question", "aria-labelledby": this.heading.id },
      h("div", { class: "lw-ask" }, this.eyebrow, this.how.node),
      this.how.hint,
      this.heading,
      this.beginning,
      this.pair,
      this.finish,
      this.bar,
      this.sorter.node,
      this.note.node,
      this.why.text,
      this.guess.text,
      this.notice,
      this.more,
    );
  }

  /**
   * Show that the data are being read, or why they could not be.
   * @param {Opening} waiting
   */
  showOpening({ loading, failed }) {
    const { state } = this.page.controller;
    if (failed) {
      const words = state ? "linkwise stopped with an error" : "linkwise could not open the data";
      this.#showPlaceholder("Stopped", words);
      this.pair.replaceChildren(
        h("p", { class: "lw-failed" }, failed),
        h("p", { class: "lw-soft" }, "The terminal in which linkwise was started shows more."),
      );
    } else {
      const words = loading || "reading the data"; // as the terminal says it, within a line
      this.#showPlaceholder("Loading", words[0].toUpperCase() + words.slice(1));
    }
    for (const node of [this.bar, this.more, this.sorter.node, this.how.node]) node.hidden = true;
    this.node.setAttribute("aria-busy", String(!failed));
  }

  /** @param {State} state */
  update(state) {
    const { question } = state;
    const isWaiting = !question && state.ended === "waiting";
    const isEditing = this.sorter.isEditing;
    const hasEnded = Boolean(!question && state.ended && !isWaiting && !isEditing);
    const canSort = Boolean(state.sorting && (question || isWaiting) && !isEditing);
    const isSorting = isEditing || (canSort && this.how.isSorting);
    this.page.controller.isSorting = isSorting;
    this.how.update(state, canSort);
    if (isSorting) this.#showSorting(state);
    else if (question) this.#showQuestion(state, question);
    else if (isWaiting) this.#showPlaceholder("One moment", WAITING, WAITING_ADVICE);
    else if (hasEnded) this.#showEnd(state);
    else this.#showPlaceholder("One moment", "Choosing the next question");
    this.#showParts(question !== null && !isSorting, hasEnded, isSorting);
    if (!question) this.why.close();
    this.undo.title = state.undo ? `Undo “${describeEvent(state.undo)}”` : "";
    this.node.setAttribute("aria-busy", String(!question && !hasEnded && !isSorting));
    this.updateStatus();
  }

  /**
   * @param {boolean} isPair whether two rows are shown
   * @param {boolean} hasEnded
   * @param {boolean} isSorting
   */
  #showParts(isPair, hasEnded, isSorting) {
    this.more.hidden = this.sorter.isEditing;
    if (this.sorter.isEditing) this.why.close();
    this.beginning.hidden = !isPair || !this.beginning.textContent;
    this.finish.hidden = !hasEnded;
    this.sorter.node.hidden = !isSorting;
    for (const node of [this.why.opener, this.note.opener]) node.hidden = hasEnded;
    for (const node of [this.pair, this.bar, this.guess.opener, this.later])
      node.hidden = hasEnded || isSorting;
    this.undoKey.hidden = isSorting; // there the key is one step back
    if (isSorting) this.undo.removeAttribute("aria-keyshortcuts");
    else this.undo.setAttribute("aria-keyshortcuts", "U");
    if (!isPair) this.guess.close();
    if (!isSorting) this.sorter.close();
  }

  /** @param {State} state */
  #showSorting(state) {
    this.#shown = null;
    const next = describeNumber(state.counts.answers + 1, state.budget, "");
    const { isEditing, screen } = this.sorter;
    setText(this.eyebrow, isEditing ? `${SORT_AGAIN}: answer ${screen?.event}` : next);
    setText(this.heading, SORT_QUESTION);
    this.sorter.update(state, this.how.size, this.isAnew);
    this.isAnew = false;
  }

  /** Other rows are there to be sorted. */
  #showScreen() {
    const { state, isSorting } = this.page.controller;
    if (!state || !isSorting) return;
    setText(this.why.text, this.sorter.screen?.why ?? "");
    this.how.update(state, true, this.sorter.offers);
  }

  /** Enable what can be used now. */
  updateStatus() {
    const { controller } = this.page;
    const isReady = controller.link === "open" && !controller.isPending;
    for (const node of [...this.buttons, this.later])
      setEnabled(node, isReady && Boolean(controller.state?.question));
    this.sorter.updateStatus();
    setEnabled(this.undo, isReady && Boolean(controller.state?.undo));
  }

  /**
   * @param {string} text
   * @param {"calm" | "warn"} [tone]
   */
  showNotice(text, tone = "calm") {
    this.notice.hidden = !text;
    this.notice.dataset.tone = tone;
    setText(this.notice, text);
  }

  /**
   * @param {State} state
   * @param {Question} question
   */
  #showQuestion(state, question) {
    setText(this.eyebrow, describeNumber(state.counts.answers + 1, state.budget, question.why));
    setText(this.heading, QUESTION);
    setText(this.beginning, describeBeginning(state.counts.answers + 1, state.learner));
    const shown = `${question.id} ${state.table?.encoding ?? ""}`; // the same rows may look otherwise
    if (this.#shown === shown) return;
    this.#shown = shown;
    this.page.controller.askedAt = performance.now();
    this.note.begin(question.id);
    this.pair.replaceChildren(...renderPair(question));
    setText(this.why.text, question.why || "The learner gives no reason.");
    this.guess.close();
    this.guess.text.replaceChildren(
      joinSentences(describeGuess(question.guess), question.parts?.text ?? ""),
      ...renderParts(question.parts),
    );
  }

  /** @param {State} state */
  #showEnd(state) {
    this.#shown = null;
    setText(this.eyebrow, "Finished");
    setText(this.heading, state.ended === "budget" ? BUDGET_SPENT : NO_MORE_QUESTIONS);
    this.finish.replaceChildren(...renderFinish(this.page, state));
  }

  /**
   * @param {string} eyebrow
   * @param {string} heading
   * @param {string} [advice] in place of the two rows
   */
  #showPlaceholder(eyebrow, heading, advice = "") {
    this.#shown = null;
    setText(this.eyebrow, eyebrow);
    setText(this.heading, heading);
    if (advice) this.pair.replaceChildren(h("p", { class: "lw-soft" }, advice));
    else this.pair.replaceChildren(...[1, 2, 3, 4].map(() => h("div", { class: "lw-placeholder" })));
  }
}
