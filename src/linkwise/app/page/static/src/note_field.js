/** The field for a note on the next answer or decision. It also measures how long the question was seen. */
import { createButton, renderKey } from "./controls.js";
import { h } from "./dom.js";
import { describeLostNote, NOTE, NOTE_HINT, NOTE_LABEL } from "./note_wording.js";
import { Stopwatch } from "./stopwatch.js";

/** @import { Page } from "./page.js" */
/** @import { Remark } from "./remark.js" */

export class NoteField {
  /** The question that the note is about. @type {string | null} */
  #question = null;
  #isPaused = false;
  #watch = new Stopwatch({ isHidden: () => document.hidden || this.#isPaused });

  /**
   * @param {Page} page
   * @param {{ label?: string, hint?: string, home?: HTMLElement }} [place] its words, and where the keys answer
   */
  constructor(page, { label = NOTE_LABEL, hint = NOTE_HINT, home = page.root } = {}) {
    this.page = page;
    this.home = home;
    this.field = h("textarea", {
      class: "lw-note-field",
      id: page.createId("note"),
      rows: 2,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#leave(event),
    });
    const advice = h("span", { class: "lw-soft", id: page.createId("note-hint") }, hint);
    this.field.setAttribute("aria-describedby", advice.id);
    this.node = h(
      "div",
      { class: "lw-note", id: page.createId("note-box"), hidden: true },
      h("label", { for: this.field.id }, label),
      advice,
      this.field,
    );
    this.opener = createButton([h("span", {}, NOTE), renderKey("A")], () => this.toggle(), {
      className: "lw-quiet",
      "aria-expanded": "false",
      "aria-controls": this.node.id,
      "aria-keyshortcuts": "A",
    });
  }

  /** Listen to whether the page is hidden. @returns {() => void} ends it */
  listen() {
    const update = () => this.#watch.update();
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }

  /** Close the field and stop the time of the question while something else is in its place. @param {boolean} isPaused */
  pause(isPaused) {
    this.#isPaused = isPaused;
    this.#watch.update();
    this.#setOpen(!isPaused && this.field.value !== "");
  }

  /** @param {string} question that is shown now */
  begin(question) {
    if (question === this.#question) return;
    const note = this.field.value.trim();
    this.#question = question;
    this.#watch.restart();
    this.#empty();
    if (note) this.page.controller.warn(describeLostNote(note));
  }

  /** @returns {Remark} */
  take() {
    const note = this.field.value.trim();
    this.#empty();
    return { seconds: this.#watch.seconds, ...(note && { note }) };
  }

  /**
   * @param {string | undefined} note
   * @param {string | null} question
   */
  restore(note, question) {
    if (!note) return;
    if (question !== this.#question) {
      this.page.controller.warn(describeLostNote(note));
      return;
    }
    this.field.value = note;
    this.#setOpen(true);
  }

  /** Open the field and write, or close it; what is written stays. */
  toggle() {
    const isOpen = this.node.hidden === true;
    this.#setOpen(isOpen);
    if (isOpen) this.field.focus();
  }

  #empty() {
    const hadFocus = this.page.focused === this.field;
    this.field.value = "";
    this.#setOpen(false);
    if (hadFocus) this.home.focus();
  }

  /** @param {boolean} isOpen */
  #setOpen(isOpen) {
    this.node.hidden = !isOpen;
    this.opener.setAttribute("aria-expanded", String(isOpen));
  }

  /** Go back to the question, where the keys answer. @param {KeyboardEvent} event */
  #leave(event) {
    const isDone = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey);
    if (!isDone || event.isComposing) return;
    event.preventDefault();
    if (!this.field.value.trim()) this.#setOpen(false);
    this.home.focus();
  }
}
