/** How long the person has seen the question. The time while the page is hidden does not count. */

export class Stopwatch {
  #seen = 0; // ms before the page was shown last
  /** When the page was shown last; null while it is hidden. @type {number | null} */
  #since = null;

  /** @param {{ now?: () => number, isHidden?: () => boolean }} [host] */
  constructor({ now = () => performance.now(), isHidden = () => document.hidden } = {}) {
    this.now = now;
    this.isHidden = isHidden;
  }

  /** Begin with another question. */
  restart() {
    this.#seen = 0;
    this.#since = this.isHidden() ? null : this.now();
  }

  /** Take into account that the page was hidden or shown. */
  update() {
    const now = this.now();
    if (this.#since !== null) this.#seen += now - this.#since;
    this.#since = this.isHidden() ? null : now;
  }

  /** The seconds so far, to the millisecond. */
  get seconds() {
    this.update();
    return Math.round(this.#seen) / 1000;
  }
}
