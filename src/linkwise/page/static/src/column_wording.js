/** The words about columns that the answers do not depend on. */

export const LEAVE_OUT = "Leave out of the comparison";
export const RESTORE = "Compare by them again";

/** @param {string[]} names */
function joinNames(names) {
  const [last, ...others] = [...names].reverse();
  return others.length ? `${others.reverse().join(", ")} and ${last}` : last;
}

/** @param {string[]} columns */
export function describeProposal(columns) {
  return `Your answers seem not to depend on ${joinNames(columns)}.`;
}

/** @param {string[]} columns */
export function describeLeftOut(columns) {
  return `The comparison leaves out ${joinNames(columns)}.`;
}

/**
 * @param {string} backup
 * @param {string} changed
 */
export function describeRecoding(backup, changed) {
  return `All answers were replayed. The session as it was is in ${backup}. ${changed}`.trim();
}
