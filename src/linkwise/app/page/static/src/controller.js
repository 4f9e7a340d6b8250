/** What the page knows and what it asks of the host. Nothing here touches the document. */

import { followUp, hasOtherExamples } from "./follow_up.js";
import { ItemCache } from "./item_cache.js";
import { storeWithRemark } from "./remark.js";
import { KINDS, repeatRequest } from "./repeat_request.js";
import {
  BUSY,
  describeDownload,
  describeError,
  describeLink,
  describeMark,
  describeNextQuestion,
  describeRefusal,
  describeRetry,
  describeUndo,
  EARLY,
  joinSentences,
  NOTHING_TO_UNDO,
  SAVED_ANSWER,
} from "./wording.js";

/** @import { Draft } from "./remark.js" */
/** @import { Answer, Cluster, ConflictLink, Display, Item, Link, Reply, Request, RequestError, State } from "./protocol.d.ts" */
/** @import { PairAnswer } from "./repeat_request.js" */

export const READ_MS = 150; // nobody reads two rows and presses a key sooner than this
const SLOW_MS = 120; // after this the page shows that it is saving

/** @typedef {[Item | null, Item | null]} Selection the two rows that were selected in the plot */

/** @typedef {(words: string, tone?: "warn") => void} ShowOutcome shows what came of a request in the dialog that sent it */

/**
 * An answer that was not stored because it conflicts with earlier ones.
 * @typedef {object} Conflict
 * @property {Request} request
 * @property {RequestError & { chain: ConflictLink[] }} error
 * @property {PairAnswer} [pair] what the request says
 * @property {(reply: Reply & { ok: true }) => string} [describe]
 * @property {ShowOutcome} [show]
 * @property {string[]} resolved what was changed already to make room for it
 */

export class Controller {
  /** @type {State | null} */
  state = null;
  hasFailed = false;
  /** @type {Link} */
  link = "open";
  /** @type {"saved" | "saving" | "unsaved"} */
  saving = "saved";
  askedAt = 0; // when the question was shown
  isSorting = false; // several rows at once, in place of the question about two
  /** What goes with the next answer. @type {Draft} */
  draft = { take: () => ({ seconds: 0 }), restore() {} };
  /** @type {Selection} */
  selection = [null, null];
  /** Called after every change of the session. @type {Set<() => void>} */
  watchers = new Set();
  /** @type {Uint8Array | Uint16Array} */
  #labels = new Uint8Array(0);
  /** @type {Request | null} */
  #pending = null;
  #warning = "";
  #wasOpen = false; // whether the host was reached before
  /** @type {ItemCache} */
  #items;

  /**
   * @param {(request: Request) => Promise<Reply>} request send a request to the host
   * @param {Display} display
   */
  constructor(request, display) {
    this.request = request;
    this.display = display;
    this.#items = new ItemCache(request);
  }

  // ---------------------------------------------------------------- what the host sends
  /**
   * @param {State} state
   * @returns {State | null} the state before
   */
  setState(state) {
    const before = this.state;
    this.state = state;
    if (before?.table?.encoding !== state.table?.encoding) this.#items.clear(); // rows look otherwise
    if (state.question) {
      for (const item of [state.question.first, state.question.second]) this.#items.add(item);
    }
    const hasChanged = before?.event !== state.event || hasOtherExamples(before, state);
    if (before && hasChanged) for (const notify of this.watchers) notify();
    return before;
  }

  /**
   * @param {Link} link
   * @returns {boolean} whether the connection is back
   */
  setLink(link) {
    const isBack = this.#wasOpen && this.link !== "open" && link === "open";
    this.link = link;
    this.#wasOpen ||= link === "open";
    if (isBack) this.#items.clear(); // the host may be another one by now
    this.display.updateStatus();
    return isBack;
  }

  /** @param {Uint8Array | Uint16Array} labels */
  setLabels(labels) {
    this.#labels = labels;
  }

  /** Why the host cannot be reached; empty if it can. */
  get linkProblem() {
    return describeLink(this.link, this.hasFailed);
  }

  /**
   * The cluster of a row; noise is -1.
   * @param {number} row
   */
  labelOf(row) {
    const noise = this.#labels.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
    return this.#labels[row] === noise ? -1 : this.#labels[row];
  }

  /**
   * @param {number} row
   * @returns {Cluster | undefined}
   */
  clusterOf(row) {
    const label = this.labelOf(row);
    return this.state?.clusters.find((each) => each.cluster === label);
  }

  /**
   * How a row looks; null if the host cannot tell.
   * @param {number} row
   */
  loadItem(row) {
    return this.#items.load(row);
  }

  /** How some rows look; none if the host cannot tell. @param {number[]} rows */
  loadItems(rows) {
    return this.#items.loadAll(rows);
  }

  // ---------------------------------------------------------------- what the person does
  /** @param {Answer} answer */
  async answer(answer) {
    const question = this.state?.question;
    if (!question) return;
    if (!this.isPending && performance.now() - this.askedAt < READ_MS) {
      this.#warn(EARLY);
      return;
    }
    const pair = { first: question.first.row, second: question.second.row, answer };
    await storeWithRemark(this.draft, question.id, { do: "answer", question: question.id, answer }, (sent) =>
      this.store(sent, { pair }),
    );
  }

  async undo() {
    if (!this.state?.undo) {
      this.display.showNotice(NOTHING_TO_UNDO);
      return;
    }
    const describe = /** @param {Reply & { ok: true }} reply */ (reply) => describeUndo(reply.undone);
    await this.store({ do: "undo" }, { describe });
  }

  /**
   * Say how two selected rows stand to each other.
   * @param {Item} first
   * @param {Item} second
   * @param {"yes" | "no"} answer
   */
  async mark(first, second, answer) {
    const request = { do: "add", first: first.row, second: second.row, kind: KINDS[answer] };
    const describe = () => {
      this.select([null, null]);
      return describeMark(first.name, second.name, answer);
    };
    await this.store(request, { describe });
  }

  /** @param {Selection} selection */
  select(selection) {
    this.selection = selection;
    this.display.updateSelection();
  }

  /**
   * Download a file of the host.
   * @param {string} what
   * @param {{ ending?: string }} [more]
   * @param {ShowOutcome} [show]
   */
  async export(what, more = {}, show = () => {}) {
    const reply = await this.request({ do: "export", what, ...more });
    if (!reply.ok) {
      this.warn(reply.error.text);
      show(reply.error.text, "warn");
      return;
    }
    if (reply.file) this.display.download(reply.name, reply.type, reply.file);
    const words = joinSentences(describeDownload(reply.name), ...(reply.notes ?? []));
    this.display.showNotice(words);
    this.display.announce(words);
    show(words);
  }

  // ---------------------------------------------------------------- storing
  /** Whether a request is on its way. An answer is, until it is confirmed or the next question is there. */
  get isPending() {
    const [pending, question] = [this.#pending, this.state?.question];
    if (!pending) return false;
    const hasNext = pending.do === "answer" && question && question.id !== pending.question;
    return !hasNext;
  }

  /**
   * Send a request that changes the session. While one is on its way, no other is sent.
   * @param {Request} request
   * @param {{ describe?: Conflict["describe"], pair?: PairAnswer, show?: ShowOutcome, resolved?: string[] }} [context]
   * @returns {Promise<Reply | undefined>} the reply; undefined if nothing was sent
   */
  async store(request, { describe, pair, show, resolved = [] } = {}) {
    if (this.link !== "open") return undefined;
    if (this.isPending) {
      this.#warn(BUSY);
      return undefined;
    }
    [this.#pending, this.#warning] = [request, ""];
    const slow = setTimeout(() => this.#setSaving("saving"), SLOW_MS);
    const reply = await this.request(request);
    clearTimeout(slow);
    const isSaved = reply.ok || reply.error.kind !== "lost";
    if (this.#pending === request) this.#setSaving(isSaved ? "saved" : "unsaved");
    const followed = await followUp(this, reply);
    if (this.#pending === request) this.#pending = null;
    this.display.updateStatus();
    if (reply.ok) {
      const [words, moved] = [describe ? describe(reply) : "", followed];
      show?.(joinSentences(words, moved));
      this.#confirm(words, moved);
    } else if (reply.error.kind === "contradiction" && reply.error.chain) {
      const error = { ...reply.error, chain: reply.error.chain };
      this.display.showConflict({ request, error, describe, pair, show, resolved });
    } else {
      const words = describeError(reply.error);
      this.display.showNotice(words, "warn");
      this.display.announce(describeRefusal(words));
      show?.(describeRefusal(words), "warn");
    }
    return reply;
  }

  /**
   * Send the request of a conflict once more, after something was changed to make room for it.
   * @param {Conflict} conflict
   * @param {string} change what was changed
   * @param {string} [moved] which rows the change moved
   */
  async retry({ request, describe, pair, show, resolved }, change, moved) {
    const words = describeRetry(moved);
    this.display.showNotice(words);
    this.display.announce(words);
    show?.(words);
    const again = repeatRequest(this.state, request, pair);
    const context = { describe, pair, show, resolved: [...resolved, change] };
    const store = /** @param {Request} sent */ (sent) => this.store(sent, context);
    if (request.do !== "answer") await store(again);
    else await storeWithRemark(this.draft, this.state?.question?.id ?? null, again, store);
  }

  /**
   * Warn in sight and for screen readers. A warning outlasts the reply that is on its way.
   * @param {string} words
   */
  #warn(words) {
    this.#warning = words;
    this.warn(words);
  }

  /** @param {string} words */
  warn(words) {
    this.display.showNotice(words, "warn");
    this.display.announce(words);
  }

  /**
   * @param {string} words
   * @param {string} moved
   */
  #confirm(words, moved) {
    if (!this.#warning) this.display.showNotice(joinSentences(words, moved));
    const next = this.state && !this.isSorting ? describeNextQuestion(this.state) : "";
    this.display.announce(joinSentences(words || SAVED_ANSWER, moved, this.#warning, next));
  }

  /** @param {"saved" | "saving" | "unsaved"} saving */
  #setSaving(saving) {
    this.saving = saving;
    this.display.updateStatus();
  }
}
