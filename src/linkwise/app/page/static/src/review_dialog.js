/** The pairs on which answers disagree or are probably wrong: one after the other, for whoever decides them. */
import { READ_MS } from "./controller.js";
import { createButton, renderIcon, renderKey } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { renderPair } from "./items.js";
import { NoteField } from "./note_field.js";
import { DECISION_HINT, DECISION_LABEL, describeNote } from "./note_wording.js";
import {
  countReview,
  describeBelief,
  describeDecision,
  describeNextCase,
  describeOccasion,
  describeOpinion,
  REVIEW,
  REVIEW_ADVICE,
} from "./team.js";
import { ANSWER_LABELS, EARLY, joinSentences } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Answer, ReviewCase, ReviewPair } from "./protocol.d.ts" */

/** @type {Record<string, Answer>} */
const ANSWERS_BY_KEY = { y: "yes", n: "no", s: "unsure" };

/** @param {ReviewCase | null} found */
const nameCase = (found) => (found ? `${found.first.row}-${found.second.row}` : "");

/** @param {ReviewCase} found */
function renderOpinions({ answers, doubts, believed }) {
  const opinions = answers.map((event) =>
    h(
      "li",
      {},
      renderIcon(event.answer),
      h(
        "div",
        { class: "lw-description" },
        h("span", {}, describeOpinion(event)),
        h("span", { class: "lw-soft" }, describeOccasion(event)),
        event.note && h("span", { class: "lw-note-text" }, describeNote(event)),
      ),
    ),
  );
  const lines = believed ? [...doubts, describeBelief(believed)] : doubts;
  return [
    h("ul", { class: "lw-chain lw-opinions", "aria-label": "Answers to this pair" }, opinions),
    ...lines.map((line) => h("p", { class: "lw-soft" }, line)),
  ];
}

/**
 * The pairs that wait, so that a reviewer can choose another one.
 * @param {ReviewPair[]} pairs
 * @param {ReviewCase} shown
 * @param {(pair: { first: number, second: number }) => void} choose
 */
function renderQueue(pairs, shown, choose) {
  const items = pairs.map((pair) => {
    const isShown = pair.first === shown.first.row && pair.second === shown.second.row;
    return createButton(pair.names.join(" and "), () => choose({ first: pair.first, second: pair.second }), {
      "aria-current": isShown && "true",
      "data-key": `${pair.first}-${pair.second}`,
    });
  });
  return h("div", { class: "lw-choices", role: "group", "aria-label": "Pairs that need a review" }, items);
}

/** @param {Page} page */
export async function openReview(page) {
  const { controller } = page;
  if (!controller.state?.n_review || page.hasDialog) return;
  const { box, body, heading } = openDialog(page, REVIEW, "lw-wide");
  const left = h("p", { class: "lw-eyebrow" });
  const pair = h("div", { class: "lw-items" });
  const opinions = h("div", { class: "lw-body" });
  const queue = h("div", {});
  const notice = createNotice();
  const field = new NoteField(page, { label: DECISION_LABEL, hint: DECISION_HINT, home: heading });
  /** @type {ReviewCase | null} */
  let shown = null;
  let shownAt = 0;
  /** @param {Answer} answer */
  const decide = async (answer) => {
    if (!shown) return;
    if (performance.now() - shownAt < READ_MS) {
      notice.show(EARLY, "warn");
      page.announce(EARLY);
      return;
    }
    const { first, second } = shown;
    notice.show("");
    const { note } = field.take();
    const request = { do: "decide", first: first.row, second: second.row, answer, ...(note && { note }) };
    const words = describeDecision([first.name, second.name], answer);
    const reply = await controller.store(request, { describe: () => words, show: notice.show });
    if (!reply?.ok) field.restore(note, nameCase(shown));
  };
  const buttons = Object.entries(ANSWERS_BY_KEY).map(([key, answer]) => {
    const label = [renderIcon(answer), h("span", {}, ANSWER_LABELS[answer]), renderKey(key.toUpperCase())];
    return createButton(label, () => decide(answer), {
      className: `lw-answer lw-${answer}`,
      "aria-keyshortcuts": key.toUpperCase(),
    });
  });
  const bar = h("div", { class: "lw-answers", role: "group", "aria-label": "Your decision" }, buttons);
  const notes = h("div", {}, field.opener, field.node);
  const advice = h("p", { class: "lw-soft" }, REVIEW_ADVICE);
  body.append(left, advice, pair, opinions, bar, notes, notice.node, queue);
  /** @param {ReviewCase | null} found */
  const show = (found) => {
    const isOther = found?.first.row !== shown?.first.row || found?.second.row !== shown?.second.row;
    const hasMoved = shown !== null && isOther;
    shown = found;
    opinions.replaceChildren(...(found ? renderOpinions(found) : []));
    for (const node of [pair, opinions, bar, notes]) node.hidden = !found;
    if (!isOther) return;
    field.begin(nameCase(found));
    shownAt = performance.now();
    pair.replaceChildren(...(found ? renderPair(found) : []));
    if (hasMoved) page.announce(joinSentences(notice.node.textContent ?? "", describeNextCase(found)));
  };
  /** @param {{ first: number, second: number }} [chosen] the pair to show if it still waits */
  const load = async (chosen) => {
    const reply = await controller.request({ do: "review", ...chosen });
    if (!box.isConnected) return;
    if (!reply.ok) {
      controller.warn(reply.error.text);
      return;
    }
    const key = page.focused?.dataset.key;
    const hadFocus = box.contains(page.focused);
    show(reply.shown);
    setText(left, countReview(reply.cases.length + reply.more));
    queue.replaceChildren(...(reply.cases.length > 1 ? [renderQueue(reply.cases, reply.shown, load)] : []));
    const isLost = !box.contains(page.focused) || page.focused?.closest("[hidden]");
    if (!hadFocus || !isLost) return;
    const buttons = [...queue.querySelectorAll("button")];
    (buttons.find((node) => key && node.dataset.key === key) ?? heading).focus();
  };
  const reload = () => load(shown ? { first: shown.first.row, second: shown.second.row } : undefined);
  box.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    const isOther = event.target === field.field || event.ctrlKey || event.altKey || event.metaKey;
    if (isOther || event.repeat || !shown || (key !== "a" && !ANSWERS_BY_KEY[key])) return;
    event.preventDefault();
    if (key === "a") field.toggle();
    else decide(ANSWERS_BY_KEY[key]);
  });
  controller.watchers.add(reload); // changes come from here and from other windows
  box.addEventListener("close", () => controller.watchers.delete(reload));
  await load();
}
