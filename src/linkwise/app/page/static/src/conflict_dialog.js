/** An answer that conflicts with earlier ones: the chain, link by link, each with the ways to resolve it. */
import { createButton, renderIcon } from "./controls.js";
import { openDialog } from "./dialog.js";
import { h, listChildren } from "./dom.js";
import { createRowLink } from "./item_dialog.js";
import { renderValues } from "./row_values.js";
import { isOwn, NO_NAME, nameSource } from "./team.js";
import {
  ANOTHER_CONFLICT,
  ANSWER_LABELS,
  ANSWER_WORDS,
  CONFLICT,
  CONFLICT_ADVICE,
  describeChange,
  describePair,
  describeResolved,
  describeSource,
  describeTakenBack,
  describeUnstored,
} from "./wording.js";

/** @import { Conflict } from "./controller.js" */
/** @import { Page } from "./page.js" */
/** @import { ConflictLink, Request } from "./protocol.d.ts" */

/** @typedef {(request: Request, change: string) => void} Resolve sends a change, and then the new answer again */

/** @type {Record<string, string>} */
const TAKE_BACK = { import: "Take back the import", done: "Take back “done”" };

/**
 * The buttons of a link.
 * @param {Page} page
 * @param {ConflictLink} link
 * @param {Resolve} resolve
 */
function renderResolutions(page, link, resolve) {
  if (!isOwn(page.controller.state, link.kind, link.source) && link.event !== null) {
    return [h("span", { class: "lw-soft" }, link.source || NO_NAME)];
  }
  if (link.event === null) return [h("span", { class: "lw-new-answer" }, "new answer")];
  const about = describePair(...link.names, link.answer);
  const other = link.answer === "yes" ? "no" : "yes";
  const label = `Change to ${ANSWER_LABELS[other]}`;
  const change = () =>
    resolve({ do: "change", event: link.event, answer: other }, describeChange(link.names, other));
  const takeBack = () => resolve({ do: "take_back", event: link.event }, describeTakenBack(about));
  const canChange = link.kind === "answer" || link.kind === "add";
  const words = TAKE_BACK[link.kind] ?? "Take back";
  return listChildren(
    canChange && createButton(label, change, { "aria-label": `${label} (${about})` }),
    createButton(words, takeBack, { "aria-label": `${words} (${about})` }),
  );
}

/**
 * @param {Page} page
 * @param {ConflictLink} link
 * @param {Resolve} resolve
 */
function renderLink(page, link, resolve) {
  const [first, second] = link.names;
  const pair = h(
    "span",
    {},
    createRowLink(page, first, link.first),
    " and ",
    createRowLink(page, second, link.second),
    `: ${ANSWER_WORDS[link.answer]}`,
  );
  return h(
    "li",
    { class: link.event === null && "lw-new" },
    renderIcon(link.answer),
    h(
      "div",
      { class: "lw-description" },
      pair,
      renderValues(page, link),
      link.event !== null &&
        h("span", { class: "lw-soft" }, describeSource(link, nameSource(page.controller.state, link.source))),
    ),
    h("div", { class: "lw-resolutions" }, renderResolutions(page, link, resolve)),
  );
}

/**
 * @param {Page} page
 * @param {Conflict} conflict
 */
export function openConflict(page, conflict) {
  const { controller } = page;
  const isSecond = conflict.resolved.length > 0;
  const title = isSecond ? ANOTHER_CONFLICT : CONFLICT;
  const { body, foot, close } = openDialog(page, title, "lw-wide");
  /** @type {Resolve} */
  const resolve = async (request, change) => {
    const reply = await controller.request(request);
    if (reply.ok) {
      close();
      await controller.retry(conflict, change, reply.moved);
    } else if (reply.error.chain) draw(reply.error.chain);
    else {
      body.prepend(h("p", { class: "lw-notice", "data-tone": "warn" }, reply.error.text));
      page.announce(reply.error.text);
    }
  };
  /** @param {ConflictLink[]} chain */
  const draw = (chain) => {
    body.replaceChildren(
      h("p", {}, CONFLICT_ADVICE),
      h(
        "ol",
        { class: "lw-chain" },
        chain.map((link) => renderLink(page, link, resolve)),
      ),
    );
  };
  draw(conflict.error.chain);
  if (isSecond) foot.append(h("p", { class: "lw-soft lw-steps" }, describeResolved(conflict.resolved)));
  const leave = () => {
    close();
    if (!isSecond) return;
    const words = describeUnstored(conflict.resolved);
    controller.warn(words);
    conflict.show?.(words, "warn");
  };
  const label = isSecond ? "Keep the remaining answers" : "Keep the earlier answers";
  foot.append(createButton(label, leave, { className: "lw-main" }));
}
