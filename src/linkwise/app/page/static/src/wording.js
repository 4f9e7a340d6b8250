/** The words of the page that depend on what happened. */

/** @import { Answer, Cluster, ConflictLink, Counts, Link, RequestError, SessionEvent, State, Suspect } from "./protocol.d.ts" */

/** What the buttons say. @type {Record<Answer, string>} */
export const ANSWER_LABELS = { yes: "Same", no: "Different", unsure: "Not sure" };
/** The same within a sentence. @type {Record<Answer, string>} */
export const ANSWER_WORDS = { yes: "same", no: "different", unsure: "not sure" };

export const QUESTION = "Do these two belong together?";
export const NO_MORE_QUESTIONS = "There are no more questions";
export const BUDGET_SPENT = "The question limit is reached";
export const NOTHING_TO_UNDO = "There is nothing to undo.";
const EXHAUSTED = "No further answer would change the clusters.";
const EXHAUSTED_BUT_UNSURE = "Only pairs answered as not sure could still change the clusters.";
/** The keys that the page shares with the terminal. @type {[string, string][]} */
export const SHARED_KEYS = [
  ["Y", "Same: the two rows belong together"],
  ["N", "Different: they do not"],
  ["S", "Not sure: nothing follows, and the pair is not asked again"],
  ["U", "Undo the last answer, as often as you like"],
];

export const EARLY =
  "That answer came before you could read the next question, so it was ignored. Please answer this question.";
export const BUSY = "The last answer is still being saved, so this one was ignored.";
export const MEMORY_ONLY = "In memory only";
export const CONNECTED_AGAIN = "Connected again.";
export const SAVED_ANSWER = "Saved.";
export const CONFLICT = "Your answer conflicts with earlier answers";
export const ANOTHER_CONFLICT = "Your answer conflicts with another answer, too";
export const CONFLICT_ADVICE =
  "These answers cannot all hold, so the new one was not stored. Change one or take it back:";
export const HISTORY_ADVICE = "Changing an answer or taking it back can change the questions that follow.";
export const EMPTY_HISTORY = "There are no answers yet.";
export const SUSPECTS = "Answers that are probably wrong";
export const SUSPECTS_ADVICE =
  "“Flip answer” changes an answer to its opposite, and “I am sure” confirms it. Either way it is certain from then " +
  "on, and the answers that contradict it may be listed instead. “Move card” puts a card of a screen into the pile " +
  "where it probably belongs.";
export const NO_SUSPECTS = "No answer seems wrong so far.";

const SAVED = "Every answer marked as saved is in the session file.";
const RESTART = "Start it again and open the address that it prints.";
const ENDED = `linkwise stopped with an error. ${SAVED} ${RESTART}`;
/** @type {Record<string, string>} */
const BROKEN_LINKS = {
  lost: `The connection is lost. ${SAVED} Trying to reconnect…`,
  closed: `linkwise is no longer running, or was restarted. ${SAVED} ${RESTART}`,
  login: `linkwise was restarted and needs the password again. Reload this page to log in. ${SAVED}`,
};
/** @type {Record<string, string>} */
const FAILED_REQUESTS = {
  stale:
    "The question has changed, perhaps in another window. Your answer was not stored. This is the current question.",
  lost: "The connection broke before the answer was confirmed, so it may not be stored. Check the current question.",
};

/**
 * A sentence with its full stop, also if it ends in a name that has one.
 * @param {string} words
 */
export const endSentence = (words) => (/[.!?…]$/.test(words) ? words : `${words}.`);

/** @param {number} value */
export const formatNumber = (value) => Number(value).toLocaleString("en");

/**
 * A number with its noun.
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const formatCount = (n, one, many = `${one}s`) => `${formatNumber(n)} ${n === 1 ? one : many}`;

/** @param {number} share */
export const formatPercent = (share) =>
  share > 0 && share < 0.01 ? "under 1 %" : `${Math.round(share * 100)} %`;

/** @param {string} path */
export const fileName = (path) => path.split(/[\\/]/).at(-1) ?? path;

/** @param {Pick<Cluster, "cluster" | "name">} cluster */
export const clusterName = (cluster) =>
  cluster.name || (cluster.cluster < 0 ? "Noise" : `Cluster ${cluster.cluster}`);

/** @type {Record<string, (event: SessionEvent) => string>} */
const ABOUT_ANSWERS = {
  change: ({ target, answer }) =>
    `the change of answer ${target} to ${ANSWER_LABELS[answer] ?? "other piles"}`,
  note: ({ target }) => `the note on answer ${target}`,
  sure: ({ target }) => `the confirmation of answer ${target}`,
};

/**
 * An event of the session in a few words.
 * @param {SessionEvent} event
 */
export function describeEvent(event) {
  const [first, second] = event.names ?? [];
  if (event.kind === "import") return `${formatCount(event.pairs, "pair")} from ${event.text || "a file"}`;
  if (event.kind === "sort") {
    return `${formatCount(event.cards ?? 0, "card")} sorted into ${formatCount(event.piles ?? 0, "pile")}`;
  }
  if (event.kind in ABOUT_ANSWERS) return ABOUT_ANSWERS[event.kind](event);
  if (event.kind === "guidelines" || event.kind === "examples") return `the change of the ${event.kind}`;
  if (event.kind === "move") return `rows moved (${formatCount(event.pairs, "pair")})`;
  if (event.kind === "done") return `the cluster of ${first} is done`;
  if (event.kind === "name") {
    return event.text
      ? `the cluster of ${first} is named “${event.text}”`
      : `the cluster of ${first} has no name`;
  }
  return describePair(first, second, event.answer);
}

/** @param {SessionEvent | null} event the event that was undone; null if there was none */
export const describeUndo = (event) => (event ? `Taken back: “${describeEvent(event)}”.` : NOTHING_TO_UNDO);

/**
 * @param {string} first
 * @param {string} second
 * @param {Answer} answer
 */
export const describePair = (first, second, answer) => `${first} and ${second}: ${ANSWER_WORDS[answer]}`;

/**
 * @param {string} first
 * @param {string} second
 * @param {Answer} answer
 */
export const describeMark = (first, second, answer) =>
  `Saved: ${first} and ${second} are marked as ${ANSWER_WORDS[answer]}.`;

/**
 * The change of an answer, as a part of a sentence.
 * @param {string[]} names of the two rows
 * @param {Answer} answer
 */
export const describeChange = (names, answer) => `${names.join(" and ")} are now “${ANSWER_WORDS[answer]}”`;

/** @param {number} n answers that are probably wrong */
export const countSuspects = (n) =>
  n === 0 ? NO_SUSPECTS : `${formatCount(n, "answer")} ${n === 1 ? "is" : "are"} probably wrong.`;

/**
 * @param {Suspect} suspect
 * @param {string} who gave the answer; empty if whoever looks at the page did
 */
export function describeGrade(suspect, who) {
  if (suspect.card !== null) return `${who || "You"} put this card into a pile that is ${suspect.grade}.`;
  const answer = `answer “${ANSWER_LABELS[suspect.answer]}”`;
  return `${who ? `The ${answer} of ${who}` : `Your ${answer}`} is ${suspect.grade}.`;
}

/** @param {Suspect} suspect */
export const describeConfirmation = (suspect) =>
  `Saved: “${describePair(...suspect.names, suspect.answer)}” is certain from now on.`;

/** @param {number} n suspects that are not listed */
export const describeUnlisted = (n) =>
  n ? `The list shows the answers that are most probably wrong. ${formatNumber(n)} more are not shown.` : "";

/**
 * An answer that gave way to another one, as a part of a sentence.
 * @param {string} answer in words
 */
export const describeTakenBack = (answer) => `“${answer}” is taken back`;

/**
 * @param {Cluster} cluster
 * @param {Cluster} other
 */
export const describeMerge = (cluster, other) =>
  `Saved: ${clusterName(cluster)} and ${clusterName(other)} are merged.`;

/** @param {Cluster} cluster */
export const describeMergeEffect = (cluster) =>
  `This marks ${cluster.exemplar_names[0]}, the most typical row of this cluster, and the most typical row of the ` +
  "other cluster as same. You can undo it.";

/** @param {Cluster} cluster */
export const describeDone = (cluster) =>
  `Saved: all ${formatCount(cluster.size, "row")} of ${clusterName(cluster)} are marked as same.`;

/** @param {Cluster} cluster */
export const describeDoneEffect = (cluster) =>
  `This marks all its ${formatCount(cluster.size, "row")} as same, and no more questions are asked inside it. ` +
  "You can undo it.";

/** @param {string} name */
export const describeName = (name) =>
  name ? `Saved: the cluster is named ${name}` : "Saved: the cluster has no name";

/** @param {string} name of a file */
export const describeDownload = (name) => endSentence(`Downloaded ${name}`);

/** @param {string} reason */
export const describeRefusal = (reason) => `Not stored. ${reason}`;

/** @param {string} [moved] which rows a change moved that made room for an answer */
export const describeRetry = (moved = "") => joinSentences("Changed.", moved, "Your answer is sent again.");

/** @param {string[]} resolved what was changed to make room for an answer */
export const describeResolved = (resolved) =>
  resolved.length
    ? `${endSentence(`Already changed: ${resolved.join("; ")}`)} You can revert this in the history.`
    : "";

/** @param {string[]} resolved what was changed to make room for the answer */
export const describeUnstored = (resolved) =>
  `Your last answer was not stored. ${describeResolved(resolved)}`;

/** @param {string} time as the session stores it */
export function formatTime(time) {
  const when = new Date(time);
  if (Number.isNaN(when.getTime())) return "";
  return when.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}

/**
 * The time of an event and how it came about.
 * @param {SessionEvent} event
 */
export function describeDetails(event) {
  const parts = [
    `${event.number}`,
    formatTime(event.when),
    ["answer", "sort", "add", "move"].includes(event.kind) ? event.text : "",
    event.kind === "add" ? "added" : "",
    event.changed ? "changed" : "",
    event.sure ? "confirmed" : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** @param {number} n answers that were given before */
export const describeResumption = (n) => `Resumed with ${formatCount(n, "earlier answer")}.`;

/** @param {Answer} answer */
export const describeGuess = (answer) => `The current clustering suggests “${ANSWER_WORDS[answer]}”.`;

/**
 * Sentences with spaces between them, without the empty ones.
 * @param {string[]} sentences
 */
export const joinSentences = (...sentences) => sentences.filter(Boolean).join(" ");

/**
 * Why the page cannot reach its host.
 * @param {Link} link
 * @param {boolean} failed whether the host reported an error of its own
 */
export function describeLink(link, failed) {
  if (link === "open") return "";
  return failed ? ENDED : (BROKEN_LINKS[link] ?? BROKEN_LINKS.lost);
}

/** @param {RequestError} error */
export const describeError = (error) => FAILED_REQUESTS[error.kind] ?? error.text;

/**
 * How a link of a conflict came about.
 * @param {ConflictLink} link
 * @param {string} who gave the answer; empty if whoever looks at the page did
 */
export function describeSource({ kind, event, source }, who) {
  /** @type {Record<string, string>} */
  const words = {
    answer: who ? `answer of ${who}` : "your answer",
    add: `added by ${who || "you"}`,
    import: `imported${source ? ` from ${source}` : ""}`,
    sort: `rows that ${who || "you"} sorted`,
    move: `rows that ${who || "you"} moved`,
    done: "cluster marked as done",
  };
  return `${words[kind] ?? kind}, number ${event}`;
}

/** @param {State} state */
export const countClusters = (state) => state.clusters.length + (state.more_clusters || 0);

/** @param {number | null | undefined} index the adjusted Rand index of clusters and known classes, if there are any */
export const describeAgreement = (index) =>
  typeof index === "number"
    ? `Agreement with the known classes (adjusted Rand index): ${index.toFixed(2)}. 1 means identical, 0 is chance.`
    : "";

/**
 * What kinds of answers there are; pairs are left out if all answers are screens.
 * @param {Counts} counts
 */
export function describeKinds({ answers, yes, no, unsure, screens, cards }) {
  const pairs = [
    `${formatNumber(yes)} same`,
    `${formatNumber(no)} different`,
    `${formatNumber(unsure)} not sure`,
  ];
  const sorted = `${formatCount(screens, "screen")} with ${formatCount(cards, "card")}`;
  return [...(answers > screens || !screens ? pairs : []), ...(screens ? [sorted] : [])].join(", ");
}

/** @param {Counts} counts */
export function describeOtherFacts(counts) {
  const parts = [
    counts.added ? `${formatNumber(counts.added)} added` : "",
    counts.imported ? `${formatNumber(counts.imported)} imported` : "",
    counts.done ? `${formatCount(counts.done, "cluster")} done` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/**
 * Where the answers are.
 * @param {string | null} place path of the session file
 */
export const describePlace = (place) =>
  place
    ? `Each answer is saved at once, in ${place}`
    : "The answers are in memory only: export the session before you leave.";

/**
 * The learner, what it tells about itself and where the session is kept.
 * @param {State} state
 */
export function describeSession(state) {
  const where = state.place
    ? `Saved in ${state.place}`
    : "The session is in memory only: export it before you leave.";
  return [state.learner, ...(state.description ?? []), where]
    .filter(Boolean)
    .map((line) => (line === where ? line : endSentence(line)))
    .join(" ");
}

/**
 * Why the learner has no more questions.
 * @param {Counts} counts
 */
export const describeExhaustion = (counts) => (counts.unsure ? EXHAUSTED_BUT_UNSURE : EXHAUSTED);

/** @param {State} state */
export function describeNextQuestion(state) {
  const question = state.question;
  return question
    ? endSentence(`Next question: ${question.first.name} and ${question.second.name}`)
    : `${NO_MORE_QUESTIONS}.`;
}
