/** All answers, newest first; each can be changed or taken back. */
import { createButton } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h, listChildren } from "./dom.js";
import { addExample, findExample, MARK, removeExample, UNMARK } from "./examples.js";
import { createRowLink } from "./item_dialog.js";
import { openNote } from "./note_dialog.js";
import { describeNote, formatSeconds, NOTE } from "./note_wording.js";
import { clamp } from "./numbers.js";
import { renderValues } from "./row_values.js";
import { SORT_AGAIN } from "./sorting_wording.js";
import { isOwn, OTHERS_ADVICE } from "./team.js";
import {
  ANSWER_LABELS,
  describeChange,
  describeDetails,
  describeEvent,
  describeUndo,
  EMPTY_HISTORY,
  HISTORY_ADVICE,
} from "./wording.js";

/** @import { ShowOutcome } from "./controller.js" */
/** @import { Page } from "./page.js" */
/** @import { Answer, Request, SessionEvent } from "./protocol.d.ts" */

/** @typedef {(request: Request, words: string) => void} Store */

const PAGE_EVENTS = 50; // loaded at a time
const MOST_EVENTS = 200; // that the host gives at once

/**
 * Buttons that change an answer.
 * @param {SessionEvent} event
 * @param {Store} store
 */
function renderChoices(event, store) {
  /** @type {Answer[]} */
  const answers = event.kind === "add" ? ["yes", "no"] : ["yes", "no", "unsure"];
  const pair = event.names.join(" and ");
  const change = /** @param {Answer} answer */ (answer) => {
    if (answer === event.answer) return;
    store({ do: "change", event: event.number, answer }, `Saved: ${describeChange(event.names, answer)}.`);
  };
  return h(
    "div",
    { class: "lw-segments", role: "group", "aria-label": `Answer about ${pair}` },
    answers.map((answer) =>
      createButton(ANSWER_LABELS[answer], () => change(answer), {
        "aria-pressed": String(event.answer === answer),
        "data-key": `${event.number}-${answer}`,
      }),
    ),
  );
}

/**
 * A button that makes the pair of an answer an example of what belongs together, or removes it.
 * @param {Page} page
 * @param {SessionEvent} event
 * @param {ShowOutcome} show
 */
function renderExampleButton(page, { number, first, second, names, answer, note }, show) {
  const found = findExample(page, first, second);
  const isSame = found?.answer === answer;
  const pair = { first, second, names: /** @type {[string, string]} */ (names), reason: note ?? "" };
  const toggle = () =>
    isSame
      ? removeExample(page, pair, show)
      : addExample(page, { ...pair, answer: answer === "yes" ? "yes" : "no" }, show);
  return createButton(isSame ? UNMARK : MARK, toggle, {
    className: "lw-quiet",
    "aria-label": `${isSame ? UNMARK : MARK}: ${names.join(" and ")}`,
    "data-key": `${number}-example`,
  });
}

/**
 * @param {Page} page
 * @param {SessionEvent} event
 * @param {Store} store
 * @param {ShowOutcome} show
 * @param {() => void} close
 */
function renderEvent(page, event, store, show, close) {
  const words = describeEvent(event);
  const isPair = event.kind === "answer" || event.kind === "add";
  const canRevise = isOwn(page.controller.state, event.kind, event.text);
  const takeBack = () => store({ do: "take_back", event: event.number }, describeUndo(event));
  const sortAgain = () => {
    close();
    page.sortAgain(event.number);
  };
  const title = isPair
    ? h(
        "span",
        {},
        createRowLink(page, event.names[0], event.first),
        "  –  ",
        createRowLink(page, event.names[1], event.second),
      )
    : h("span", {}, words);
  return h(
    "li",
    {},
    h(
      "div",
      { class: "lw-description" },
      title,
      isPair && renderValues(page, event),
      h(
        "span",
        { class: "lw-soft" },
        [describeDetails(event), formatSeconds(event.seconds)].filter(Boolean).join(" · "),
      ),
      event.note && h("span", { class: "lw-note-text" }, describeNote(event)),
    ),
    isPair && (canRevise ? renderChoices(event, store) : h("span", {}, ANSWER_LABELS[event.answer])),
    h(
      "div",
      { class: "lw-acts" },
      isPair &&
        createButton(event.note ? "Edit the note" : NOTE, () => openNote(page, event), {
          className: "lw-quiet",
          "aria-label": `${event.note ? "Edit the note" : NOTE}: ${words}`,
          "aria-haspopup": "dialog",
          "data-key": `${event.number}-note`,
        }),
      isPair && event.answer !== "unsure" && renderExampleButton(page, event, show),
      canRevise &&
        event.kind === "sort" &&
        createButton(SORT_AGAIN, sortAgain, {
          className: "lw-quiet",
          "aria-label": `${SORT_AGAIN}: ${words}`,
          "data-key": `${event.number}-sort`,
        }),
      canRevise &&
        createButton("Take back", takeBack, {
          className: "lw-quiet",
          "aria-label": `Take back: ${words}`,
          "data-key": `${event.number}-back`,
        }),
    ),
  );
}

/** @param {Page} page */
export async function openHistory(page) {
  const { controller } = page;
  const { box, body, heading, close } = openDialog(page, "History", "lw-drawer");
  const list = h("ol", { class: "lw-history" });
  const none = h("p", { class: "lw-soft", hidden: true }, EMPTY_HISTORY);
  const more = createButton("Show earlier answers", () => load(events.at(-1)?.number), { hidden: true });
  const notice = createNotice();
  const advice = controller.state?.team ? `${HISTORY_ADVICE} ${OTHERS_ADVICE}` : HISTORY_ADVICE;
  body.append(...listChildren(h("p", { class: "lw-soft" }, advice), notice.node, list, none, more));
  /** @type {Store} */
  const store = async (request, words) => {
    notice.show("");
    await controller.store(request, { describe: () => words, show });
  };
  let loaded = Promise.resolve();
  /** A button of a line that is not loaded yet may seem to be chosen: the outcome comes after the list. */
  const show = /** @type {ShowOutcome} */ async (outcome, tone) => {
    await loaded;
    notice.show(outcome, tone);
  };
  /** @type {SessionEvent[]} */
  let events = [];
  /**
   * @param {number | null} [before] load only events before this one
   * @param {number} [limit]
   */
  const load = async (before = null, limit = PAGE_EVENTS) => {
    const reply = await controller.request({ do: "history", before, limit });
    if (!box.isConnected) return;
    if (!reply.ok) {
      controller.warn(reply.error.text);
      return;
    }
    events = before === null ? reply.events : [...events, ...reply.events];
    const key = page.focused && box.contains(page.focused) ? page.focused.dataset.key : undefined;
    list.replaceChildren(...events.map((event) => renderEvent(page, event, store, show, close)));
    none.hidden = events.length > 0;
    more.hidden = !reply.more;
    if (!key) return;
    const buttons = [...list.querySelectorAll("button")];
    (buttons.find((node) => node.dataset.key === key) ?? heading).focus();
  };
  const reload = () => {
    loaded = load(null, clamp(events.length, PAGE_EVENTS, MOST_EVENTS));
  };
  controller.watchers.add(reload); // changes come from here, from a dialog above and from other windows
  box.addEventListener("close", () => controller.watchers.delete(reload));
  await load();
}
