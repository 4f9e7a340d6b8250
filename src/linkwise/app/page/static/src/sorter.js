/** Several rows that the person sorts into piles: by keys, by dragging, or by a card and then its pile. */
import { createButton, renderKey, setEnabled } from "./controls.js";
import { h, setText } from "./dom.js";
import { Drag } from "./drag.js";
import { findLoose, findNext, findPile, isPossible, listPiles, nameRows, place } from "./placing.js";
import { storeWithRemark } from "./remark.js";
import { recall, remember } from "./screen_memory.js";
import { KEYED, nameCluster, ScreenView } from "./screen_view.js";
import * as words from "./sorting_wording.js";
import { BUSY } from "./wording.js";

/** @import { NoteField } from "./note_field.js" */
/** @import { Page } from "./page.js" */
/** @import { Layout, Step } from "./placing.js" */
/** @import { SortingOffers, SortingScreen, State } from "./protocol.d.ts" */

/**
 * What can be dragged, and where it can be dropped: a card, a pile by its place, or one of the other places.
 * @typedef {{ card: number } | { pile: number } | { to: "new" | "doubt" | "free" }} Thing
 */

export class Sorter {
  /** @type {SortingScreen | null} */
  screen = null;
  /** What the last screen says about how to go on. @type {SortingOffers | undefined} */
  offers;
  takesFocus = false; // whether the first card of the next screen gets the focus, wherever it is
  /** @type {Step[]} */
  #steps = [];
  /** @type {Layout} */
  #layout = { piles: [], unsure: [] };
  #size = 0;
  /** The card that keys place. @type {number | null} */
  #current = null;
  /** The screen that was asked for last, and the one that was sent. */
  #asked = "";
  #sent = "";
  /** The steps on the screen that was sent last; an undo brings them back. @type {{ rows: string, steps: Step[] }} */
  #undone = { rows: "", steps: [] };
  /** The numbers of piles to join, while they are typed. @type {number[] | null} */
  #joining = null;
  /** The elements of the screen. @type {ScreenView | null} */
  #view = null;

  /**
   * @param {Page} page
   * @param {NoteField} note
   * @param {() => void} onScreen called when another screen is shown
   * @param {() => void} redraw called when an earlier answer takes the place of the question, or leaves it
   */
  constructor(page, note, onScreen, redraw) {
    this.page = page;
    this.note = note;
    this.onScreen = onScreen;
    this.redraw = redraw;
    this.advice = h("p", { class: "lw-soft" }, words.SORT_ADVICE);
    this.piles = h("ul", { class: "lw-piles", "aria-label": "Piles" });
    this.heading = h("h3", { id: page.createId("loose") });
    this.loose = h("ul", { class: "lw-cards lw-loose", "aria-labelledby": this.heading.id });
    this.empty = h("p", { class: "lw-soft" }, words.CHOOSING);
    this.finish = createButton([h("span", {}, "Done"), renderKey("Enter")], () => this.done(), {
      className: "lw-answer lw-main",
    });
    this.stepBack = createButton([h("span", {}, "Step back"), renderKey("U")], () => this.goBack(), {
      className: "lw-answer lw-unsure",
      "aria-keyshortcuts": "U",
    });
    this.cancel = createButton("Cancel", () => this.leave(), { className: "lw-answer" });
    this.bar = h("div", { class: "lw-answers lw-sorting-bar", hidden: true }, this.finish, this.stepBack);
    this.board = h("div", { class: "lw-board", hidden: true }, this.piles, this.heading, this.loose);
    this.node = h("div", { class: "lw-sorter", hidden: true }, this.advice, this.empty, this.board, this.bar);
    this.board.addEventListener("click", (event) => this.#click(event));
    this.board.addEventListener("keydown", (event) => this.#pressOnCard(event));
    this.board.addEventListener("focusin", (event) => this.#focus(event));
    page.root.addEventListener("keydown", (event) => this.#pressOnPage(event));
    this.drag = new Drag(page.root, this.board, {
      findSource: (node) => this.#findSource(node),
      findTarget: (node, thing) => this.#findTarget(node, thing),
      describe: (thing, target) => this.#describeDrop(thing, target),
      drop: (thing, target) => this.#drop(thing, target),
    });
    const digits = Array.from({ length: KEYED }, (_, i) => [String(i + 1), () => this.#typeNumber(i + 1)]);
    /** What keys do while rows are sorted. @type {Record<string, () => void>} */
    this.keys = {
      ...Object.fromEntries(digits),
      n: () => this.#move("new"),
      s: () => this.#move("doubt"),
      u: () => this.goBack(),
      m: () => this.#beginJoin(),
      escape: () => this.#endJoin(),
    };
    /** What keys do while a card has the focus. @type {Record<string, () => void>} */
    this.cardKeys = {
      Enter: () => this.done(),
      Backspace: () => this.#move("free"),
      ArrowLeft: () => this.#walk(-1, 0),
      ArrowRight: () => this.#walk(1, 0),
      ArrowUp: () => this.#walk(0, -1),
      ArrowDown: () => this.#walk(0, 1),
    };
  }

  // ---------------------------------------------------------------- screens
  /**
   * Show the rows to sort in a state of the session; they are asked for when it has changed.
   * @param {State} state
   * @param {number} size
   * @param {boolean} [isAnew] whether other rows than those that are open are wanted
   */
  async update(state, size, isAnew = false) {
    this.#size = size;
    if (this.isEditing) {
      this.updateStatus();
      return;
    }
    const asked = `${state.event} ${state.table?.encoding ?? ""} ${size}`;
    if (asked === this.#asked && !isAnew) {
      this.updateStatus();
      return;
    }
    this.#asked = asked;
    const reply = await this.page.controller.request({ do: "screen", size, anew: isAnew });
    if (this.#asked !== asked) return;
    if (!reply.ok) {
      this.#asked = ""; // the next state asks again
      if (reply.error.kind !== "lost") this.page.controller.warn(reply.error.text);
      return;
    }
    this.offers = reply.sorting;
    if (isAnew) this.screen = null; // the person gave it up
    this.#show(reply.screen, `${state.table?.encoding ?? ""}`);
    this.onScreen();
  }

  /** Whether an earlier answer is sorted again. */
  get isEditing() {
    return this.screen?.event !== undefined;
  }

  /** Show the rows of an earlier answer where they lie, in place of the question. @param {number} event */
  async edit(event) {
    const reply = await this.page.controller.request({ do: "sorted", event });
    if (!reply.ok) {
      this.page.controller.warn(reply.error.text);
      return;
    }
    this.#asked = ""; // the rows to sort may be on their way
    this.#show(reply.screen, this.board.dataset.encoding ?? "");
    this.note.pause(true);
    this.redraw();
    this.#draw(true);
    this.#tell(words.LIES);
  }

  /** Go back from an earlier answer to the question. */
  leave() {
    this.page.root.focus(); // the next card or question takes it from there
    [this.screen, this.#steps] = [null, []];
    this.cancel.remove();
    this.note.pause(false);
    this.redraw();
  }

  /** Forget what is shown: the person answers about two rows at a time. The tab remembers where the cards lie. */
  close() {
    if (!this.#asked && !this.screen) return;
    [this.#asked, this.screen] = ["", null];
    this.drag.cancel();
    for (const list of [this.piles, this.loose]) list.replaceChildren();
  }

  /**
   * @param {SortingScreen | null} screen
   * @param {string} encoding of the rows
   */
  #show(screen, encoding) {
    const hadFocus = this.#hasFocus;
    const before = this.screen;
    const isSame = before !== null && before.id === screen?.id && this.board.dataset.encoding === encoding;
    this.screen = screen;
    this.board.dataset.encoding = encoding;
    setText(this.empty, words.NOTHING_TO_SORT);
    this.empty.hidden = screen !== null;
    for (const node of [this.board, this.bar, this.advice]) node.hidden = screen === null;
    if (!screen) return;
    if (!isSame) this.#begin(screen, before);
    this.#draw(hadFocus || this.takesFocus);
    this.takesFocus = false;
  }

  /**
   * Begin with other rows, where they lay if this tab knows it.
   * @param {SortingScreen} screen
   * @param {SortingScreen | null} before
   */
  #begin(screen, before) {
    const rows = this.#nameRows(screen);
    const isLost = before !== null && before.id !== this.#sent && this.#steps.length > 0;
    const kept = rows === this.#undone.rows ? this.#undone.steps : recall(rows);
    const { layout, steps } = place(screen, this.isEditing ? [] : kept);
    [this.#layout, this.#steps, this.#joining] = [layout, steps, null];
    this.#current = this.isEditing ? (screen.cards[0]?.row ?? null) : findNext(screen, layout, null);
    this.drag.cancel();
    if (this.isEditing) this.bar.append(this.cancel);
    else this.note.begin(screen.id);
    this.#view = new ScreenView(this.page, screen);
    this.board.dataset.kind = this.page.controller.state?.kind ?? "";
    if (steps.length) this.#tell(words.KEPT);
    else if (isLost && !this.isEditing) this.page.controller.warn(words.LOST_CARDS);
  }

  /** The name of some rows in the memory of the tab, which may show other sessions. @param {SortingScreen} screen */
  #nameRows(screen) {
    const { state } = this.page.controller;
    return `${state?.place ?? state?.title} ${nameRows(screen)}`;
  }

  get #hasFocus() {
    const { focused, root } = this.page;
    return focused === root || this.node.contains(focused);
  }

  // ---------------------------------------------------------------- what the person does
  /** @param {number} number */
  #typeNumber(number) {
    if (this.#joining === null) {
      if (this.#layout.piles[number - 1]) this.#move("put", number - 1);
      else this.page.controller.warn(words.describeNoPile(number));
      return;
    }
    if (!this.#layout.piles[number - 1]) {
      this.page.controller.warn(words.describeNoPile(number));
      return;
    }
    const numbers = [...new Set([...this.#joining, number])];
    this.#joining = numbers;
    if (numbers.length === 2) this.#join(numbers[0] - 1, numbers[1] - 1);
    else this.#tell(words.describeJoining(capitalize(this.#namePile(number - 1))));
  }

  #beginJoin() {
    if (!this.screen) return;
    this.#joining = [];
    this.#tell(words.JOINING);
  }

  #endJoin() {
    if (this.#joining === null) return;
    this.#joining = null;
    this.#tell("");
  }

  /**
   * @param {number} one
   * @param {number} other
   */
  #join(one, other) {
    this.#joining = null;
    if (!this.#take(["join", one, other])) return;
    this.#draw(true);
    this.#tell(words.describeJoined(this.#namePile(Math.min(one, other)), this.#nLoose));
  }

  /**
   * Place the current card, and go on to the next one.
   * @param {"put" | "new" | "doubt" | "free"} how
   * @param {number} [pile]
   */
  #move(how, pile = -1) {
    const card = this.#current;
    if (!this.screen) return;
    if (card === null) {
      this.page.controller.warn(words.CHOOSE_CARD);
      return;
    }
    this.#place(card, how, pile);
  }

  /**
   * @param {number} card
   * @param {"put" | "new" | "doubt" | "free"} how
   * @param {number} pile
   */
  #place(card, how, pile) {
    const step = /** @type {Step} */ (how === "put" ? [how, card, pile] : [how, card]);
    if (!this.screen || !this.#take(step)) return;
    this.#current = how === "free" ? card : findNext(this.screen, this.#layout, card);
    this.#draw(true);
    const at = findPile(this.#layout, card);
    const where = at === null ? (how === "doubt" ? "not sure" : "no place") : this.#namePile(at);
    this.#tell(words.describePlaced(this.#nameCard(card), where, this.#nLoose));
  }

  /** @param {Step} step @returns {boolean} whether it could be taken */
  #take(step) {
    if (!this.screen || !isPossible(this.screen, this.#layout, step)) return false;
    this.#follow(this.screen, [...this.#steps, step]);
    return true;
  }

  /**
   * @param {SortingScreen} screen
   * @param {Step[]} steps
   */
  #follow(screen, steps) {
    const placed = place(screen, steps);
    [this.#layout, this.#steps] = [placed.layout, placed.steps];
    if (!this.isEditing) remember(this.#nameRows(screen), steps);
  }

  goBack() {
    if (!this.screen) return;
    const last = this.#steps.at(-1);
    this.#joining = null;
    if (!last) {
      this.page.controller.warn(words.NO_STEP);
      return;
    }
    this.#follow(this.screen, this.#steps.slice(0, -1));
    this.#current = last[0] === "join" ? this.#current : last[1];
    this.#draw(true);
    this.#tell(words.describeStepBack(this.#nLoose));
  }

  /** Store the piles, or say which cards still need a place. */
  async done() {
    const { screen } = this;
    const { controller } = this.page;
    if (!screen) return;
    const missing = findLoose(screen, this.#layout);
    if (missing.length) {
      this.#current = missing[0].row;
      this.#draw(true);
      controller.warn(words.describeMissing(missing.map(({ name }) => name)));
      return;
    }
    if (controller.isPending) {
      controller.warn(BUSY);
      return;
    }
    if (screen.event !== undefined) {
      await this.#replace(screen.event);
      return;
    }
    this.#sent = screen.id;
    this.#undone = { rows: this.#nameRows(screen), steps: this.#steps };
    const answer = { do: "sort", screen: screen.id, ...listPiles(this.#layout) };
    const describe = () => words.describeSorted(screen.cards.length, answer.piles.length);
    await storeWithRemark(controller.draft, screen.id, answer, async (sent) => {
      const reply = await controller.store(sent, { describe });
      if (reply?.ok) remember("", []);
      else if (reply?.error.kind !== "lost") this.#sent = ""; // a lost one may be stored
      return reply;
    });
    if (this.#sent || !controller.state || this.screen !== screen) return;
    this.#asked = ""; // perhaps these are not the rows to sort any more
    await this.update(controller.state, this.#size);
  }

  /** Replace the piles of an earlier answer. @param {number} event */
  async #replace(event) {
    const describe = () => {
      this.leave(); // here, because a conflict may be resolved before it is stored
      return words.describeSortedAgain(event);
    };
    const request = { do: "change", event, ...listPiles(this.#layout) };
    if (this.#steps.length) await this.page.controller.store(request, { describe });
    else this.leave();
  }

  // ---------------------------------------------------------------- pointer and focus
  /** @param {Event} event */
  #focus(event) {
    const card = this.#findCard(/** @type {Element} */ (event.target));
    if (card !== null) this.#choose(card);
  }

  /** @param {KeyboardEvent} event */
  #pressOnCard(event) {
    const node = /** @type {Element} */ (event.target);
    const act = node.closest(".lw-card-name") ? this.cardKeys[event.key] : undefined;
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  }

  /** Enter also finishes where no element has the focus. @param {KeyboardEvent} event */
  #pressOnPage(event) {
    const isOnPage = event.composedPath()[0] === this.page.root && this.page.controller.isSorting;
    if (event.key === "Enter" && isOnPage && !event.repeat) this.done();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const node = /** @type {Element} */ (event.target);
    if (node.closest(".lw-link")) return;
    const card = this.#findCard(node);
    const target = this.#findPlace(node);
    if (card !== null) {
      this.#choose(card);
      this.#view?.findButton(card)?.focus({ preventScroll: true });
    } else if (target && "pile" in target) this.#move("put", target.pile);
    else if (target && "to" in target && target.to !== "free") this.#move(target.to);
  }

  /** Make a card the one that keys place. @param {number} card */
  #choose(card) {
    if (this.#current === card) return;
    this.#current = card;
    this.#view?.mark(card);
  }

  /**
   * Go to the nearest card in a direction.
   * @param {number} right
   * @param {number} down
   */
  #walk(right, down) {
    const cards = this.#view?.cards ?? new Map();
    const from = cards.get(this.#current) ?? cards.values().next().value;
    if (!from) return;
    const [x, y] = findMiddle(from);
    const ways = [...cards].flatMap(([row, node]) => {
      const [dx, dy] = findMiddle(node).map((value, i) => value - [x, y][i]);
      const ahead = right * dx + down * dy;
      return ahead > 4 ? [{ row, cost: ahead + 3 * Math.abs(right * dy + down * dx) }] : [];
    });
    const nearest = ways.sort((one, other) => one.cost - other.cost)[0]?.row ?? this.#current;
    this.#view?.findButton(nearest)?.focus();
  }

  /** The card of an element. @param {Element} node */
  #findCard(node) {
    const found = node.closest("[data-card]");
    return found instanceof HTMLElement ? Number(found.dataset.card) : null;
  }

  /** The place of an element. @param {Element} node @returns {Exclude<Thing, { card: number }> | null} */
  #findPlace(node) {
    const found = node.closest("[data-pile]");
    if (!(found instanceof HTMLElement)) return this.loose.contains(node) ? { to: "free" } : null;
    const { pile } = found.dataset;
    return pile === "new" || pile === "doubt" ? { to: pile } : { pile: Number(pile) };
  }

  /** @param {Element} node */
  #findSource(node) {
    const card = this.#findCard(node);
    const shown = card === null ? undefined : this.#view?.cards.get(card);
    if (card !== null) return shown ? { node: shown, thing: /** @type {Thing} */ ({ card }) } : null;
    const target = this.#findPlace(node);
    return target && "pile" in target ? this.#spot(target) : null;
  }

  /**
   * @param {Element} node
   * @param {Thing} thing that is dragged
   */
  #findTarget(node, thing) {
    const target = this.#findPlace(node);
    const isPossible = target && ("card" in thing || "pile" in target);
    return isPossible ? this.#spot(target) : null;
  }

  /** @param {Exclude<Thing, { card: number }>} thing */
  #spot(thing) {
    const name = "pile" in thing ? thing.pile : thing.to;
    const found = name === "free" ? this.loose : this.piles.querySelector(`[data-pile="${name}"]`);
    return found instanceof HTMLElement ? { node: found, thing: /** @type {Thing} */ (thing) } : null;
  }

  /** @type {(thing: Thing, target?: Thing) => string} */
  #describeDrop(thing, target) {
    const name = "card" in thing ? this.#nameCard(thing.card) : this.#describeThing(thing);
    return words.describeDrop(name, target && this.#describeThing(target));
  }

  /** @param {Thing} thing */
  #describeThing(thing) {
    if ("pile" in thing) return this.#namePile(thing.pile);
    return { new: "new pile", doubt: "not sure", free: "no place" }["to" in thing ? thing.to : "free"];
  }

  /** @type {(thing: Thing, target: Thing) => void} */
  #drop(thing, target) {
    if ("pile" in thing && "pile" in target) this.#join(thing.pile, target.pile);
    else if ("card" in thing && "pile" in target) this.#place(thing.card, "put", target.pile);
    else if ("card" in thing && "to" in target) this.#place(thing.card, target.to, -1);
  }

  // ---------------------------------------------------------------- words
  get #nLoose() {
    return this.screen ? findLoose(this.screen, this.#layout).length : 0;
  }

  /** @param {number} card */
  #nameCard(card) {
    return this.screen?.cards.find(({ row }) => row === card)?.name ?? "";
  }

  /** @param {number} at */
  #namePile(at) {
    const [row] = this.#layout.piles[at]?.known ?? [];
    return words.describePile(at + 1, row === undefined ? "" : nameCluster(this.page, row));
  }

  /** Say what was done, in sight and for screen readers. @param {string} text */
  #tell(text) {
    this.page.controller.display.showNotice(text);
    if (text) this.page.announce(text);
  }

  // ---------------------------------------------------------------- what is shown
  /** @param {boolean} takesFocus whether the current card gets the focus */
  #draw(takesFocus) {
    const [screen, view] = [this.screen, this.#view];
    if (!screen || !view) return;
    this.piles.replaceChildren(
      ...this.#layout.piles.map((pile, at) => view.renderPile(pile, at)),
      view.renderTarget("new"),
      view.renderTarget("doubt", this.#layout.unsure),
    );
    const loose = findLoose(screen, this.#layout).map(({ row }) => row);
    this.loose.replaceChildren(...view.listCards(loose));
    setText(this.heading, `${words.LOOSE} (${loose.length})`);
    for (const node of [this.loose, this.heading]) node.hidden = loose.length === 0;
    view.mark(this.#current);
    this.updateStatus();
    if (takesFocus && !this.page.hasDialog) (view.findButton(this.#current) ?? this.finish).focus();
  }

  /** Enable what can be used now. */
  updateStatus() {
    const { controller } = this.page;
    const isReady = controller.link === "open" && !controller.isPending;
    setEnabled(this.finish, isReady && this.screen !== null && this.#nLoose === 0);
    setEnabled(this.stepBack, this.#steps.length > 0);
  }
}

/** @param {string} text */
const capitalize = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {HTMLElement} node */
function findMiddle(node) {
  const { left, top, width, height } = node.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}
