/** What the answers have brought so far, and whether to stop. */
import { createColumnOffer } from "./column_offer.js";
import { createButton, renderKey } from "./controls.js";
import { h, s, setText } from "./dom.js";
import { createGoalBar } from "./goal_bar.js";
import { openResults, RESULTS } from "./results_dialog.js";
import { openReview } from "./review_dialog.js";
import { openSuspects } from "./suspects_dialog.js";
import { countReview, describeCounts, describePeople } from "./team.js";
import { openTeam } from "./team_dialog.js";
import { TEAM } from "./team_wording.js";
import {
  countSuspects,
  describeAgreement,
  describeKinds,
  describeOtherFacts,
  describeSession,
  formatCount,
  formatNumber,
  formatPercent,
} from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { State, Team } from "./protocol.d.ts" */

const DOUBT = "Rows that are probably in a wrong cluster";
const [WIDTH, HEIGHT, BAR, MOST_BARS] = [160, 40, 8, 20];

function createTile() {
  const [value, name, details] = [h("dd", {}), h("dt", {}), h("dd", { class: "lw-soft" })];
  return {
    node: h("div", {}, name, value, details),
    /** @type {(value: string, name: string, details: string) => void} */
    show(first, second, third) {
      setText(value, first);
      setText(name, second);
      setText(details, third);
    },
  };
}

/**
 * Who answers, if several people do.
 * @param {Page} page
 */
function createTeamLine(page) {
  const [counts, people] = [h("strong", {}), h("span", { class: "lw-soft" })];
  const opener = createButton([h("span", {}, TEAM), renderKey("T")], () => openTeam(page), {
    className: "lw-quiet",
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "T",
  });
  const node = h("div", { class: "lw-team", hidden: true }, h("p", {}, counts, " ", people), opener);
  return {
    node,
    /** @param {Team | undefined} team */
    update(team) {
      node.hidden = !team;
      setText(counts, team ? describeCounts(team) : "");
      setText(people, team ? describePeople(team) : "");
    },
  };
}

/** @param {number[]} changes */
function renderChart(changes) {
  const most = Math.max(0.05, ...changes);
  const last = changes.at(-1);
  const label =
    last === undefined
      ? "No answers yet"
      : `Rows moved by each of the last ${formatCount(changes.length, "answer")}; ` +
        `the last one moved ${formatPercent(last)}`;
  const bars = changes.map((share, i) => {
    const height = Math.max(1.5, (share / most) * (HEIGHT - 2));
    const x = BAR * (MOST_BARS - changes.length + i) + 1;
    return s("rect", { x, y: HEIGHT - height, width: BAR - 2, height, rx: 1 });
  });
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
  return s("svg", { ...box, role: "img", "aria-label": label }, bars);
}

/** A bar that is as long as the share of the rows that are probably in a wrong cluster, so it falls. */
function createDoubtBar() {
  const [fill, caption] = [h("i", {}), h("p", { class: "lw-soft" })];
  const bar = h("div", { class: "lw-doubt-bar", role: "meter", "aria-label": DOUBT }, fill);
  const node = h("div", { class: "lw-doubt", hidden: true }, bar, caption);
  return {
    node,
    /** @param {number | null | undefined} wrong share of the rows */
    update(wrong) {
      node.hidden = typeof wrong !== "number";
      if (typeof wrong !== "number") return;
      fill.style.width = `${100 * wrong}%`;
      const percent = formatPercent(wrong);
      const values = {
        valuemin: "0",
        valuemax: "100",
        valuenow: String(Math.round(100 * wrong)),
        valuetext: percent,
      };
      for (const [name, value] of Object.entries(values)) bar.setAttribute(`aria-${name}`, value);
      setText(caption, `${DOUBT}: ${percent}`);
    },
  };
}

/** @param {Page} page */
export function createProgressPanel(page) {
  const [answers, inferred] = [createTile(), createTile()];
  const chart = h("div", { class: "lw-bars" });
  const advice = h("p", { class: "lw-advice" });
  const results = createButton([RESULTS, renderKey("E")], () => openResults(page), {
    hidden: true,
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "E",
  });
  const goal = createGoalBar();
  const doubt = createDoubtBar();
  const errors = h("p", { class: "lw-soft", hidden: true });
  const suspects = createButton("", () => openSuspects(page), { hidden: true, "aria-haspopup": "dialog" });
  const toReview = h("span", {});
  const review = createButton([toReview, renderKey("R")], () => openReview(page), {
    hidden: true,
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "R",
  });
  const agreement = h("p", { class: "lw-soft" });
  const details = h("p", { class: "lw-soft" });
  const team = createTeamLine(page);
  const columns = createColumnOffer(page);
  const heading = h("h3", { id: page.createId("progress") }, "So far");
  const node = h(
    "section",
    { class: "lw-card lw-progress", "aria-labelledby": heading.id, hidden: true },
    heading,
    team.node,
    h("dl", { class: "lw-tiles" }, answers.node, inferred.node),
    goal.node,
    doubt.node,
    h("div", { class: "lw-stable" }, chart, advice),
    results,
    columns.node,
    errors,
    suspects,
    review,
    agreement,
    details,
  );
  let drawn = "";
  return {
    node,
    /** @param {State} state */
    update(state) {
      const { counts, changes = [] } = state;
      team.update(state.team);
      answers.show(
        formatNumber(counts.answers),
        counts.answers === 1 ? "answer" : "answers",
        describeKinds(counts),
      );
      inferred.show(formatNumber(counts.inferred), "pairs inferred", describeOtherFacts(counts));
      chart.hidden = changes.length === 0;
      if (String(changes) !== drawn) {
        const caption = h("p", { class: "lw-soft" }, "rows moved by each answer");
        chart.replaceChildren(renderChart(changes), caption);
      }
      drawn = String(changes);
      setText(advice, (!state.ended && state.advice?.text) || "");
      goal.update(state);
      doubt.update(state.advice?.wrong);
      results.hidden = !state.advice?.stop || Boolean(state.ended);
      advice.dataset.stop = String(Boolean(state.advice?.stop));
      columns.update(state);
      setText(errors, state.errors ?? "");
      errors.hidden = !state.errors;
      setText(suspects, countSuspects(state.n_suspects ?? 0));
      suspects.hidden = !state.n_suspects;
      setText(toReview, countReview(state.n_review ?? 0));
      review.hidden = !state.n_review;
      setText(agreement, describeAgreement(state.agreement));
      agreement.hidden = typeof state.agreement !== "number";
      setText(details, describeSession(state));
      node.hidden = false;
    },
  };
}
