/** The page before anything is open: sessions to go on with, a file to open, and the demos. */
import { createButton } from "./controls.js";
import { createNotice } from "./dialog.js";
import { h, setText } from "./dom.js";
import { formatCount, formatTime } from "./wording.js";

/** @import { Page } from "./page.js" */
/** @import { RecentSession, Request, StartState } from "./protocol.d.ts" */

const LARGE = 2 ** 20;
const FOLDER = "A folder is not copied. Use its path.";
const UNSENT = "The file could not be sent. Try again, or type its path.";

/** @param {RecentSession} session */
export function describeSession({ answers, clusters, when, problem }) {
  const counts =
    answers === undefined ? [] : [formatCount(answers, "answer"), formatCount(clusters ?? 0, "cluster")];
  return [...counts, formatTime(when), problem].filter(Boolean).join(" · ");
}

/**
 * Why a file is not sent; empty if it can be.
 * @param {{ name: string, size: number }} file
 * @param {StartState} state
 */
export function findObstacle({ name, size }, { largest }) {
  if (size <= largest) return "";
  return `${name} has more than ${Math.floor(largest / LARGE)} MiB. Use its path instead, which copies nothing.`;
}

export class StartPage {
  /** Where the file that was sent last is kept. */
  kept = "";
  /** @type {StartState | null} */
  #state = null;
  #isBusy = false;

  /**
   * @param {Page} page
   * @param {(name: string, file: File) => Promise<{ path?: string, text?: string }>} sendFile returns its path, or
   *   what is wrong
   */
  constructor(page, sendFile) {
    this.page = page;
    this.sendFile = sendFile;
    this.notice = createNotice();
    this.sessions = h("ul", { class: "lw-openings" });
    this.recent = this.#createCard("Go on with a session", this.sessions);
    this.files = h("ul", { class: "lw-table-tools", "aria-label": "Files here" });
    this.demos = h("ul", { class: "lw-openings" });
    this.where = h("p", { class: "lw-soft" });
    this.names = h("datalist", { id: page.createId("names") });
    this.path = h("input", {
      class: "lw-search",
      "aria-label": "Path of a file or a folder",
      placeholder: "Path of a file or a folder",
      list: this.names.id,
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      onfocus: () => this.#complete(),
      oninput: () => this.#complete(),
      onkeydown: /** @param {KeyboardEvent} event */ (event) => {
        if (event.key === "Enter" && !event.isComposing) this.#openPath();
      },
    });
    this.chosen = h("input", {
      type: "file",
      hidden: true,
      onchange: () => this.#send(this.chosen.files?.[0]),
    });
    const choose = createButton("Choose a file…", () => this.chosen.click());
    const drop = h(
      "div",
      { class: "lw-drop" },
      h("p", {}, h("strong", {}, "Drop a file here"), " or "),
      choose,
      this.chosen,
      this.where,
    );
    const open = createButton("Open", () => this.#openPath(), { className: "lw-main" });
    this.node = h(
      "div",
      { class: "lw-start" },
      h("h2", {}, "What do you want to cluster?"),
      this.notice.node,
      this.recent,
      this.#createCard(
        "Open a file",
        this.files,
        h("div", { class: "lw-open-path" }, this.path, this.names, open),
        drop,
      ),
      this.#createCard("Try an example", this.demos),
    );
    this.#listenToDrops(drop);
  }

  /**
   * @param {string} title
   * @param {...HTMLElement} content
   */
  #createCard(title, ...content) {
    const heading = h("h3", { id: this.page.createId("start") }, title);
    return h("section", { class: "lw-card", "aria-labelledby": heading.id }, heading, ...content);
  }

  /** @param {StartState} state */
  update(state) {
    this.#state = state;
    this.recent.hidden = state.sessions.length === 0;
    this.files.hidden = state.files.length === 0;
    this.files.replaceChildren(
      ...state.files.map((name) =>
        h(
          "li",
          {},
          createButton(name, () => this.#open({ do: "open", path: name })),
        ),
      ),
    );
    this.sessions.replaceChildren(
      ...state.sessions.map((session) =>
        this.#createOpening(
          session.data,
          describeSession(session),
          { do: "open", path: session.path },
          session,
        ),
      ),
    );
    this.demos.replaceChildren(
      ...state.demos.map(({ name, about }) => this.#createOpening(name, about, { do: "demo", name })),
    );
    this.chosen.accept = state.endings.join();
    setText(this.where, `It is copied to ${state.folder}, unless it is there already.`);
  }

  /**
   * @param {string} name
   * @param {string} about
   * @param {Request} request
   * @param {RecentSession} [session]
   */
  #createOpening(name, about, request, session) {
    const isElsewhere = session && session.folder !== this.#state?.folder;
    const words = [
      h("strong", {}, name),
      h("span", { class: "lw-soft" }, about),
      isElsewhere && h("span", { class: "lw-soft lw-place" }, session?.folder),
    ];
    return h(
      "li",
      {},
      createButton(words, () => this.#open(request), { className: "lw-opening" }),
    );
  }

  /**
   * @param {string} words
   * @param {"warn"} [tone]
   */
  #tell(words, tone) {
    this.notice.show(words, tone);
    if (words) this.page.announce(words);
  }

  #openPath() {
    this.#open({ do: "open", path: this.path.value });
  }

  /** @param {Request} request */
  async #open(request) {
    if (this.#isBusy) return;
    const before = this.page.focused;
    this.#isBusy = true;
    const reply = await this.page.controller.request(request);
    this.#isBusy = false;
    if (reply.ok) return;
    this.#tell([this.kept, reply.error.text].filter(Boolean).join(" "), "warn");
    this.kept = "";
    (before?.isConnected ? before : this.path).focus();
    this.notice.node.scrollIntoView({ block: "nearest" });
  }

  /** @param {File | undefined} file */
  async #send(file) {
    if (!file || !this.#state || this.#isBusy) return;
    this.chosen.value = ""; // the same file can be chosen again
    const obstacle = findObstacle(file, this.#state);
    if (obstacle) {
      this.#tell(obstacle, "warn");
      return;
    }
    this.#isBusy = true;
    this.#tell(`Copying ${file.name}…`);
    const { path, text } = await this.sendFile(file.name, file).catch(() => ({ path: "", text: UNSENT }));
    this.#isBusy = false;
    this.#tell(text ?? "", "warn");
    if (!path) return;
    this.kept = `${file.name} is kept as ${path}.`;
    this.path.value = path;
    await this.#open({ do: "open", path });
  }

  /** Show the paths that begin as the typed one. */
  async #complete() {
    const { value } = this.path;
    const reply = await this.page.controller.request({ do: "names", path: value });
    if (!reply.ok || value !== this.path.value) return;
    this.names.replaceChildren(
      .../** @type {string[]} */ (reply.names ?? []).map((name) => h("option", { value: name })),
    );
  }

  /** @param {HTMLElement} drop */
  #listenToDrops(drop) {
    const mark = /** @param {boolean} isOver */ (isOver) => drop.toggleAttribute("data-over", isOver);
    this.node.addEventListener("dragover", (event) => {
      event.preventDefault(); // else the browser leaves the page for the file
      mark(true);
    });
    this.node.addEventListener("dragleave", () => mark(false));
    this.node.addEventListener("drop", (event) => {
      event.preventDefault();
      mark(false);
      const isFolder = event.dataTransfer?.items[0]?.webkitGetAsEntry?.()?.isDirectory;
      if (isFolder) this.#tell(FOLDER, "warn");
      else this.#send(event.dataTransfer?.files[0]);
    });
  }
}

/**
 * Send a file to the server that serves this page.
 * @param {string} name
 * @param {File} file
 */
export async function sendFile(name, file) {
  const response = await fetch(`/file?name=${encodeURIComponent(name)}`, { method: "POST", body: file });
  return response.json();
}
