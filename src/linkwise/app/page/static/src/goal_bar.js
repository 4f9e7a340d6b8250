/** How far the answers have come towards the budget, and how fast they come. */
import { h, setText } from "./dom.js";
import { formatSeconds } from "./note_wording.js";
import { formatCount, formatNumber } from "./wording.js";

/** @import { State } from "./protocol.d.ts" */

const FEW = 5; // answers; a median of fewer says little

/**
 * The pace, and with a budget what is done and how long the rest will take; empty if nothing is known.
 * @param {number} done answers
 * @param {number | null} budget
 * @param {number | null | undefined} seconds that an answer takes
 */
export function describeGoal(done, budget, seconds) {
  const pace = done < FEW ? "" : formatSeconds(seconds);
  const left = budget ? Math.max(0, budget - done) : 0;
  return [
    budget ? `${formatNumber(done)} of ${formatCount(budget, "answer")}` : "",
    pace ? `median ${pace} per answer` : "",
    pace && left ? `about ${formatMinutes((left * Number(seconds)) / 60)} left` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {number} minutes */
function formatMinutes(minutes) {
  return minutes < 1.5 ? "1 minute" : formatCount(Math.round(minutes), "minute");
}

export function createGoalBar() {
  const [fill, caption] = [h("i", {}), h("p", { class: "lw-soft" })];
  const bar = h(
    "div",
    { class: "lw-goal-bar", role: "progressbar", "aria-label": "Answers of the budget" },
    fill,
  );
  const node = h("div", { class: "lw-goal", hidden: true }, bar, caption);
  return {
    node,
    /** @param {State} state */
    update(state) {
      const text = describeGoal(state.counts.answers, state.budget, state.seconds_per_answer);
      node.hidden = !text;
      setText(caption, text);
      bar.hidden = !state.budget;
      if (!state.budget) return;
      const done = Math.min(state.counts.answers, state.budget);
      fill.style.width = `${(100 * done) / state.budget}%`;
      const values = { valuemin: 0, valuemax: state.budget, valuenow: done, valuetext: text };
      for (const [name, value] of Object.entries(values)) bar.setAttribute(`aria-${name}`, String(value));
    },
  };
}
