/** The answers that are probably wrong; each can be taken back, turned round or confirmed. */
import { createButton, renderIcon } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { createRowLink } from "./item_dialog.js";
import { renderValues } from "./row_values.js";
import { describeCardDecision, isOwn, NO_NAME, nameSource, OTHERS_ADVICE } from "./team.js";
import {
  describeChange,
  describeConfirmation,
  describeGrade,
  describePair,
  describeUndo,
  describeUnlisted,
  NO_SUSPECTS,
  SUSPECTS,
  SUSPECTS_ADVICE,
} from "./wording.js";

/** @import { Conflict } from "./controller.js" */
/** @import { Page } from "./page.js" */
/** @import { Request, Suspect } from "./protocol.d.ts" */

/** @typedef {(request: Request, describe: Conflict["describe"]) => void} Store */

/**
 * @param {Suspect} suspect
 * @param {Store} store
 */
function renderActions(suspect, store) {
  const { event, names, card } = suspect;
  const isCard = card !== null;
  const about = isCard ? names[0] : describePair(...names, suspect.answer);
  const opposite = suspect.answer === "yes" ? "no" : "yes";
  const name = isCard ? `${event}-${card}` : event;
  const create = /** @type {(label: string, key: string, onclick: () => void) => HTMLButtonElement} */ (
    (label, key, onclick) =>
      createButton(label, onclick, { "aria-label": `${label} (${about})`, "data-key": `${name}-${key}` })
  );
  const turned = isCard ? describeCardDecision(names[0], "no") : `Saved: ${describeChange(names, opposite)}.`;
  const turn = { do: "change", event, ...(isCard ? { card } : { answer: opposite }) };
  const confirmed = isCard ? describeCardDecision(names[0], "yes") : describeConfirmation(suspect);
  return [
    create(isCard ? "Take back the screen" : "Take back", "back", () =>
      store({ do: "take_back", event }, (reply) => describeUndo(reply.undone)),
    ),
    create(isCard ? "Move card" : "Flip answer", "turn", () => store(turn, () => turned)),
    create("I am sure", "sure", () => store({ do: "sure", event, card }, () => confirmed)),
  ];
}

/**
 * @param {Page} page
 * @param {Suspect} suspect
 * @param {Store} store
 */
function renderSuspect(page, suspect, store) {
  const [first, second] = suspect.names;
  const pair = h(
    "span",
    {},
    createRowLink(page, first, suspect.first),
    ...(suspect.card === null ? [" and ", createRowLink(page, second, suspect.second)] : []),
  );
  return h(
    "li",
    {},
    suspect.card === null ? renderIcon(suspect.answer) : h("span", {}),
    h(
      "div",
      { class: "lw-description" },
      pair,
      suspect.card === null && renderValues(page, suspect),
      h("span", {}, describeGrade(suspect, nameSource(page.controller.state, suspect.source))),
      suspect.place && h("span", {}, suspect.place),
      h("span", { class: "lw-soft" }, suspect.reason),
    ),
    isOwn(page.controller.state, "answer", suspect.source)
      ? h("div", { class: "lw-resolutions" }, renderActions(suspect, store))
      : h("span", { class: "lw-soft" }, suspect.source || NO_NAME),
  );
}

/** @param {Page} page */
export async function openSuspects(page) {
  const { controller } = page;
  const { box, body, heading } = openDialog(page, SUSPECTS, "lw-wide");
  const list = h("ol", { class: "lw-chain lw-suspects" });
  const none = h("p", { hidden: true }, NO_SUSPECTS);
  const more = h("p", { class: "lw-soft", hidden: true });
  const problem = createNotice();
  const advice = controller.state?.team ? `${SUSPECTS_ADVICE} ${OTHERS_ADVICE}` : SUSPECTS_ADVICE;
  body.append(h("p", { class: "lw-soft" }, advice), problem.node, list, none, more);
  /** @type {Store} */
  const store = async (request, describe) => {
    problem.show("");
    await controller.store(request, {
      describe,
      show: (words, tone) => problem.show(tone ? words : "", tone),
    });
  };
  const load = async () => {
    const reply = await controller.request({ do: "suspects" });
    if (!box.isConnected) return;
    if (!reply.ok) {
      controller.warn(reply.error.text);
      return;
    }
    /** @type {Suspect[]} */
    const suspects = reply.suspects;
    const key = page.focused && list.contains(page.focused) ? page.focused.dataset.key : undefined;
    const hadFocus = list.contains(page.focused);
    list.replaceChildren(...suspects.map((suspect) => renderSuspect(page, suspect, store)));
    none.hidden = suspects.length > 0;
    more.textContent = describeUnlisted(reply.more);
    more.hidden = !reply.more;
    if (!hadFocus) return;
    const buttons = [...list.querySelectorAll("button")];
    (buttons.find((node) => key && node.dataset.key === key) ?? heading).focus();
  };
  controller.watchers.add(load); // changes come from here and from other windows
  box.addEventListener("close", () => controller.watchers.delete(load));
  await load();
}
