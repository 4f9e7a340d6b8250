/** The words about columns and their weights by the answers. */
import { endSentence, joinSentences } from "./wording.js";

export const LOOK = "Choose other columns";
export const WEIGH = "Apply these weights";
export const RESTORE = "Take the weights back";
export const RESTORE_TASK = "Take the task back";
const MOST_NAMES = 5;

/** @param {string[]} names */
function joinNames(names) {
  const rest = names.length - MOST_NAMES;
  return rest > 0 ? `${names.slice(0, MOST_NAMES).join(", ")} and ${rest} more` : names.join(", ");
}

/**
 * @param {string[]} less
 * @param {string[]} more
 */
export function describeProposal(less, more) {
  const lower = endSentence(
    `Columns that your answers seem not to depend on would count less: ${joinNames(less)}`,
  );
  const higher = endSentence(`Columns that would count more: ${joinNames(more)}`);
  return [less.length ? lower : "", more.length ? higher : ""].filter(Boolean).join(" ");
}

/** @param {string[]} columns */
export function describeWeighed(columns) {
  return columns.length ? endSentence(`Your answers weigh these columns: ${joinNames(columns)}`) : "";
}

/** @param {string} task */
export function describeTask(task) {
  return task ? endSentence(`The columns are those of a task: ${task}`) : "";
}

/**
 * @param {string} backup
 * @param {string} changed
 */
export function describeRecoding(backup, changed) {
  return joinSentences(
    "All answers were replayed.",
    endSentence(`The session as it was is in ${backup}`),
    changed,
  );
}
