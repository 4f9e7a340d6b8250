/** The team: what each person answered and how often they are wrong, and how often two of them agree. */
import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import {
  describeAnswers,
  describeErrorRate,
  describeKappa,
  describeShared,
  explainKappa,
  NO_COMMON,
  NO_NAME,
  TEAM,
} from "./team_wording.js";
import { joinSentences } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { TeamReport } from "./protocol.d.ts" */

/**
 * @param {string} title
 * @param {string} words
 * @param {string} more
 */
const renderEntry = (title, words, more) =>
  h("li", {}, h("strong", {}, title), h("span", {}, words), more && h("span", { class: "lw-soft" }, more));

/** @param {TeamReport} report */
function renderReport(report) {
  const { people, pairs, least_answers: leastAnswers } = report;
  const each = people.map((person) =>
    renderEntry(
      person.name || NO_NAME,
      describeErrorRate(person.error_rate, leastAnswers),
      `${describeAnswers(person)}.`,
    ),
  );
  const both = pairs.map((pair) =>
    renderEntry(
      pair.names.map((name) => name || NO_NAME).join(" and "),
      joinSentences(describeShared(pair), describeKappa(pair.kappa)),
      "",
    ),
  );
  const explanation = explainKappa(report);
  return [
    h("h3", {}, "Each person"),
    h("ul", { class: "lw-report" }, each),
    h("h3", {}, "Do they agree?"),
    pairs.length ? h("ul", { class: "lw-report" }, both) : h("p", { class: "lw-soft" }, NO_COMMON),
    ...(explanation ? [h("p", { class: "lw-soft" }, explanation)] : []),
  ];
}

/** @param {Page} page */
export async function openTeam(page) {
  const { controller } = page;
  if (!controller.state?.team || page.hasDialog) return;
  const { box, body } = openDialog(page, TEAM);
  const report = h("div", { class: "lw-body" });
  body.append(report);
  const load = async () => {
    const reply = await controller.request({ do: "team" });
    if (!box.isConnected) return;
    if (reply.ok) report.replaceChildren(...renderReport(reply.report));
    else controller.warn(reply.error.text);
  };
  controller.watchers.add(load); // others go on answering
  box.addEventListener("close", () => controller.watchers.delete(load));
  await load();
}
