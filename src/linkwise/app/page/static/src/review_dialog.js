/** The pairs on which answers disagree or are probably wrong: one after the other, for whoever decides them. */
import { READ_MS } from "./controller.js";
import { createButton, renderIcon, renderKey } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { renderPair } from "./items.js";
import { NoteField } from "./note_field.js";
import { DECISION_HINT, DECISION_LABEL, describeNote } from "./note_wording.js";
import { ScreenView } from "./screen_view.js";
import {
  countReview,
  describeBelief,
  describeCardDecision,
  describeDecision,
  describeNextCase,
  describeOccasion,
  describeOpinion,
  nameCardDecision,
  REVIEW,
  REVIEW_ADVICE,
} from "./team.js";
import { ANSWER_LABELS, EARLY, joinSentences } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { Answer, ReviewCase, ReviewPair, SortingScreen } from "./protocol.d.ts" */
/** @import { Decision } from "./team.js" */

/** @typedef {{ first: number, second: number, card: number | null }} Place what a case is known by */

/** @type {Record<string, Decision>} */
const ANSWERS_BY_KEY = { y: "yes", n: "no", x: "neither", s: "unsure" };

/** @param {ReviewCase | null} found */
const nameCase = (found) =>
  found ? `${found.first.row}-${found.second.row}-${found.screen?.cards[0].row ?? ""}` : "";

/** @param {ReviewCase} found @returns {Place} */
const findPlace = ({ first, second, screen }) => ({
  first: first.row,
  second: second.row,
  card: screen?.cards[0].row ?? null,
});

/**
 * Whether a decision is about something else than a pair or a card with one pile.
 * @param {ReviewCase} found
 * @param {Decision} decision
 */
const isPossible = ({ screen }, decision) =>
  decision !== "neither" || Boolean(screen?.known.every((pile) => pile.length > 0));

/**
 * A card, loose beside its pile and the one where it probably belongs.
 * @param {Page} page
 * @param {SortingScreen} screen
 * @param {(decision: Decision) => void} decide
 */
function renderDoubt(page, screen, decide) {
  const view = new ScreenView(page, screen);
  const piles = screen.known.flatMap((pile, at) => {
    if (!pile.length) return [];
    const shown = view.renderPile({ known: pile.map(({ row }) => row), cards: [] }, at, "YN"[at]);
    shown.addEventListener("click", () => decide(at === 0 ? "yes" : "no"));
    return [shown];
  });
  return h(
    "div",
    { class: "lw-board", "data-kind": page.controller.state?.kind ?? "" },
    view.renderRow(screen.cards[0]),
    h("ul", { class: "lw-piles", "aria-label": "Piles" }, piles),
  );
}

/** @param {ReviewCase} found */
function renderOpinions({ answers, doubts, believed, screen }) {
  const opinions = answers.map((event) =>
    h(
      "li",
      {},
      event.kind === "sort" ? h("span", {}) : renderIcon(event.answer),
      h(
        "div",
        { class: "lw-description" },
        h("span", {}, describeOpinion(event)),
        h("span", { class: "lw-soft" }, describeOccasion(event)),
        event.note && h("span", { class: "lw-note-text" }, describeNote(event)),
      ),
    ),
  );
  const lines = believed && !screen ? [...doubts, describeBelief(believed)] : doubts;
  return [
    h("ul", { class: "lw-chain lw-opinions", "aria-label": "Answers to this pair" }, opinions),
    ...lines.map((line) => h("p", { class: "lw-soft" }, line)),
  ];
}

/**
 * The pairs that wait, so that a reviewer can choose another one.
 * @param {ReviewPair[]} pairs
 * @param {ReviewCase} shown
 * @param {(pair: Place) => void} choose
 */
function renderQueue(pairs, shown, choose) {
  const items = pairs.map((pair) => {
    const { first, second, card } = pair;
    const name = `${first}-${second}-${card ?? ""}`;
    return createButton(pair.names.join(" and "), () => choose({ first, second, card }), {
      "aria-current": name === nameCase(shown) && "true",
      "data-key": name,
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
  /** @param {Decision} answer */
  const decide = async (answer) => {
    if (!shown || !isPossible(shown, answer)) return;
    if (performance.now() - shownAt < READ_MS) {
      notice.show(EARLY, "warn");
      page.announce(EARLY);
      return;
    }
    const { first, second } = shown;
    const [card] = shown.screen?.cards ?? [];
    notice.show("");
    const { note } = field.take();
    const request = { do: "decide", ...findPlace(shown), answer, ...(note && { note }) };
    const words = card
      ? describeCardDecision(card.name, answer)
      : describeDecision([first.name, second.name], /** @type {Answer} */ (answer));
    const reply = await controller.store(request, { describe: () => words, show: notice.show });
    if (!reply?.ok) field.restore(note, nameCase(shown));
  };
  /** @param {ReviewCase} found */
  const renderRows = (found) =>
    found.screen ? [renderDoubt(page, found.screen, decide)] : renderPair(found);
  /** @param {ReviewCase} found */
  const renderButtons = (found) =>
    Object.entries(ANSWERS_BY_KEY)
      .filter(([, answer]) => isPossible(found, answer))
      .map(([key, answer]) => {
        const icon = !found.screen && answer !== "neither" && renderIcon(answer);
        const words = icon ? ANSWER_LABELS[answer] : nameCardDecision(answer);
        return createButton(
          [icon, h("span", {}, words), renderKey(key.toUpperCase())],
          () => decide(answer),
          {
            className: `lw-answer lw-${answer}`,
            "aria-keyshortcuts": key.toUpperCase(),
          },
        );
      });
  const bar = h("div", { class: "lw-answers", role: "group", "aria-label": "Your decision" });
  const notes = h("div", {}, field.opener, field.node);
  const advice = h("p", { class: "lw-soft" }, REVIEW_ADVICE);
  body.append(left, advice, pair, opinions, bar, notes, notice.node, queue);
  /** @param {ReviewCase | null} found */
  const show = (found) => {
    const isOther = nameCase(found) !== nameCase(shown);
    const hasMoved = shown !== null && isOther;
    shown = found;
    opinions.replaceChildren(...(found ? renderOpinions(found) : []));
    for (const node of [pair, opinions, bar, notes]) node.hidden = !found;
    if (!isOther) return;
    field.begin(nameCase(found));
    shownAt = performance.now();
    bar.replaceChildren(...(found ? renderButtons(found) : []));
    pair.replaceChildren(...(found ? renderRows(found) : []));
    if (hasMoved) page.announce(joinSentences(notice.node.textContent ?? "", describeNextCase(found)));
  };
  /** @param {Place} [chosen] the pair to show if it still waits */
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
  const reload = () => load(shown ? findPlace(shown) : undefined);
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
