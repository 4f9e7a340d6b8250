// Made from static/src by `make front`. Change the modules there, not this file.

// src/channel.js
function openChannel(model) {
  const prefix = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  const open = /* @__PURE__ */ new Map();
  let count = 0;
  const receive = (message, buffers) => {
    const resolve = message && open.get(message.re);
    if (!resolve) return;
    open.delete(message.re);
    resolve({ ...message, file: buffers?.[0] });
  };
  model.on("msg:custom", receive);
  return {
    /**
     * @param {Request} request
     * @returns {Promise<Reply>}
     */
    send(request) {
      return new Promise((resolve) => {
        count += 1;
        const id = `${prefix}-${count}`;
        open.set(id, resolve);
        model.send({ ...request, id });
      });
    },
    close() {
      model.off("msg:custom", receive);
    }
  };
}

// src/cluster_order.js
var FEW = 12;
var ORDERS = [
  ["number", "By number"],
  ["size", "Largest first"],
  ["name", "By name"],
  ["answered", "Least answered first"]
];
var escapePattern = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
function createMatcher(text) {
  const wanted = text.trim().replace(/\s+/g, " ").toLowerCase();
  const before = /^[0-9]/.test(wanted) ? "(?<![0-9])" : "";
  const after = /[0-9]$/.test(wanted) ? "(?![0-9])" : "";
  const pattern = new RegExp(`${before}${escapePattern(wanted)}${after}`);
  return (name) => pattern.test(name.toLowerCase());
}
function findClusters(clusters, text, others) {
  const matches = createMatcher(text);
  return clusters.filter(({ cluster, name }) => {
    const number = cluster < 0 ? "Noise" : `Cluster ${cluster}`;
    return others.has(cluster) || matches(number) || name !== "" && matches(name);
  });
}
var COMPARISONS = {
  size: (one, other) => other.size - one.size,
  number: () => 0,
  name: (one, other) => Number(one.name === "") - Number(other.name === "") || one.name.localeCompare(other.name, void 0, { numeric: true, sensitivity: "base" }),
  answered: (one, other) => (one.answered ?? 0) / one.size - (other.answered ?? 0) / other.size || other.size - one.size
};
var sortClusters = (clusters, order) => [...clusters].sort(
  (one, other) => COMPARISONS[order](one, other) || Number(one.cluster < 0) - Number(other.cluster < 0) || one.cluster - other.cluster
);

// src/wording.js
var ANSWER_LABELS = { yes: "Same", no: "Different", unsure: "Not sure" };
var ANSWER_WORDS = { yes: "same", no: "different", unsure: "not sure" };
var QUESTION = "Do these two belong together?";
var NO_MORE_QUESTIONS = "There are no more questions";
var BUDGET_SPENT = "You have reached the question limit";
var NOTHING_TO_UNDO = "There is nothing to undo.";
var EXHAUSTED = "No further answer would change the clusters.";
var EXHAUSTED_BUT_UNSURE = "Only pairs that you were not sure of could still change the clusters.";
var SHARED_KEYS = [
  ["Y", "Same: the two rows belong together"],
  ["N", "Different: they do not"],
  ["S", "Not sure: nothing follows, and the pair is not asked again"],
  ["U", "Undo the last answer, as often as you like"]
];
var EARLY = "That answer came before you could read the next question, so it was ignored. Please answer this question.";
var BUSY = "The last answer is still being saved, so this one was ignored.";
var MEMORY_ONLY = "In memory only";
var CONNECTED_AGAIN = "Connected again.";
var SAVED_ANSWER = "Saved.";
var CONFLICT = "Your answer conflicts with earlier answers";
var ANOTHER_CONFLICT = "Your answer conflicts with another answer, too";
var CONFLICT_ADVICE = "These answers cannot all hold, so the new one was not stored. Change one or take it back:";
var HISTORY_ADVICE = "Changing an answer or taking it back can change the questions that follow.";
var EMPTY_HISTORY = "There are no answers yet.";
var SUSPECTS = "Answers that are probably wrong";
var SUSPECTS_ADVICE = "“Flip answer” changes an answer to its opposite, and “I am sure” confirms it. Either way it is certain from then on, and the answers that contradict it may be listed instead.";
var NO_SUSPECTS = "No answer seems wrong so far.";
var SAVED = "Every answer marked as saved is in the session file.";
var RESTART = "Start it again and open the address that it prints.";
var ENDED = `linkwise stopped with an error. ${SAVED} ${RESTART}`;
var BROKEN_LINKS = {
  lost: `The connection is lost. ${SAVED} Trying to reconnect…`,
  closed: `linkwise is no longer running, or was restarted. ${SAVED} ${RESTART}`,
  login: `linkwise was restarted and needs the password again. Reload this page to log in. ${SAVED}`
};
var FAILED_REQUESTS = {
  stale: "The question has changed, perhaps in another window. Your answer was not stored. This is the current question.",
  lost: "The connection broke before the answer was confirmed, so it may not be stored. Check the current question."
};
var SOURCES = {
  answer: "your answer",
  add: "added by you",
  import: "imported",
  done: "cluster marked as done"
};
var formatNumber = (value) => Number(value).toLocaleString("en");
var formatCount = (n, one, many = `${one}s`) => `${formatNumber(n)} ${n === 1 ? one : many}`;
var formatPercent = (share) => share > 0 && share < 0.01 ? "under 1 %" : `${Math.round(share * 100)} %`;
var fileName = (path) => path.split(/[\\/]/).at(-1) ?? path;
var clusterName = (cluster) => cluster.name || (cluster.cluster < 0 ? "Noise" : `Cluster ${cluster.cluster}`);
function describeEvent(event) {
  const [first, second] = event.names ?? [];
  if (event.kind === "import") return `${formatCount(event.pairs, "pair")} from ${event.text || "a file"}`;
  if (event.kind === "change")
    return `the change of answer ${event.target} to ${ANSWER_LABELS[event.answer]}`;
  if (event.kind === "note") return `the note on answer ${event.target}`;
  if (event.kind === "sure") return `the confirmation of answer ${event.target}`;
  if (event.kind === "guidelines" || event.kind === "examples") return `the change of the ${event.kind}`;
  if (event.kind === "done") return `the cluster of ${first} is done`;
  if (event.kind === "name") {
    return event.text ? `the cluster of ${first} is named “${event.text}”` : `the cluster of ${first} has no name`;
  }
  return describePair(first, second, event.answer);
}
var describeUndo = (event) => event ? `Taken back: “${describeEvent(event)}”.` : NOTHING_TO_UNDO;
var describePair = (first, second, answer) => `${first} and ${second}: ${ANSWER_WORDS[answer]}`;
var describeMark = (first, second, answer) => `Saved: ${first} and ${second} are marked as ${ANSWER_WORDS[answer]}.`;
var describeChange = (names, answer) => `${names.join(" and ")} are now “${ANSWER_WORDS[answer]}”`;
var countSuspects = (n) => n === 0 ? NO_SUSPECTS : `${formatCount(n, "answer")} ${n === 1 ? "is" : "are"} probably wrong.`;
var describeGrade = (suspect) => `You answered “${ANSWER_LABELS[suspect.answer]}”: ${suspect.grade}.`;
var describeConfirmation = (suspect) => `Saved: “${describePair(...suspect.names, suspect.answer)}” is certain from now on.`;
var describeUnlisted = (n) => n ? `The list shows the answers that are most probably wrong. ${formatNumber(n)} more are not shown.` : "";
var describeTakenBack = (answer) => `“${answer}” is taken back`;
var describeMerge = (cluster, other) => `Saved: ${clusterName(cluster)} and ${clusterName(other)} are merged.`;
var describeMergeEffect = (cluster) => `This marks ${cluster.exemplar_names[0]}, the most typical row of this cluster, and the most typical row of the other cluster as same. You can undo it.`;
var describeDone = (cluster) => `Saved: all ${formatCount(cluster.size, "row")} of ${clusterName(cluster)} are marked as same.`;
var describeDoneEffect = (cluster) => `This marks all its ${formatCount(cluster.size, "row")} as same, and no more questions are asked inside it. You can undo it.`;
var describeName = (name) => name ? `Saved: the cluster is named ${name}` : "Saved: the cluster has no name";
var describeDownload = (name) => `Downloaded ${name}.`;
var describeRefusal = (reason) => `Not stored. ${reason}`;
var describeRetry = (moved = "") => joinSentences("Changed.", moved, "Your answer is sent again.");
var describeResolved = (resolved) => resolved.length ? `Already changed: ${resolved.join("; ")}. You can revert this in the history.` : "";
var describeUnstored = (resolved) => `Your last answer was not stored. ${describeResolved(resolved)}`;
function formatTime(time) {
  const when = new Date(time);
  if (Number.isNaN(when.getTime())) return "";
  return when.toLocaleString(void 0, { dateStyle: "short", timeStyle: "short" });
}
function describeDetails(event) {
  const parts = [
    `${event.number}`,
    formatTime(event.when),
    event.kind === "answer" || event.kind === "add" ? event.text : "",
    event.kind === "add" ? "added" : "",
    event.changed ? "changed" : "",
    event.sure ? "confirmed" : ""
  ];
  return parts.filter(Boolean).join(" · ");
}
var describeResumption = (n) => `Resumed with ${formatCount(n, "earlier answer")}.`;
var describeGuess = (answer) => `The current clustering suggests “${ANSWER_WORDS[answer]}”.`;
var joinSentences = (...sentences) => sentences.filter(Boolean).join(" ");
function describeLink(link, failed) {
  if (link === "open") return "";
  return failed ? ENDED : BROKEN_LINKS[link] ?? BROKEN_LINKS.lost;
}
var describeError = (error) => FAILED_REQUESTS[error.kind] ?? error.text;
var describeSource = (link) => `${SOURCES[link.kind] ?? link.kind}, number ${link.event}`;
var countClusters = (state) => state.clusters.length + (state.more_clusters || 0);
function describeOtherFacts(counts) {
  const parts = [
    counts.added ? `${formatNumber(counts.added)} added` : "",
    counts.imported ? `${formatNumber(counts.imported)} imported` : "",
    counts.done ? `${formatCount(counts.done, "cluster")} done` : ""
  ];
  return parts.filter(Boolean).join(", ");
}
function describeSession(state) {
  const where = state.place ? `Saved in ${state.place}` : "The session is in memory only: export it before you leave.";
  return [state.learner, ...state.description ?? [], where].filter(Boolean).map((line) => line === where || /[.!?…]$/.test(line) ? line : `${line}.`).join(" ");
}
var describeExhaustion = (counts) => counts.unsure ? EXHAUSTED_BUT_UNSURE : EXHAUSTED;
function describeNextQuestion(state) {
  const question = state.question;
  return question ? `Next question: ${question.first.name} and ${question.second.name}.` : `${NO_MORE_QUESTIONS}.`;
}

// src/cluster_wording.js
var COLOUR_FAMILIES = "Clusters with similar colours lie near each other or were one cluster before. Click a colour to dim the other clusters.";
var describeFound = (found, total) => `${formatNumber(found)} of ${formatCount(total, "cluster")}`;
var describeUnlisted2 = (n) => `${formatCount(n, "smaller cluster is", "smaller clusters are")} not listed. The search finds ${n === 1 ? "it" : "them"}, too.`;
var describeAnswered = ({ answered = 0 }) => `${formatCount(answered, "row")} answered`;
var describeChoice = (cluster, found, profile) => {
  const typical = profile || `typical ${cluster.exemplar_names.slice(0, 3).join(", ")}`;
  const rows = found ? [`found ${found.names.join(", ")}`] : [];
  return [clusterName(cluster), formatCount(cluster.size, "row"), typical, ...rows].join(", ");
};
var describeDrag = (cluster, other) => other ? `Merge ${clusterName(cluster)} with ${clusterName(other)}?` : `Drag ${clusterName(cluster)} onto another cluster`;

// src/dom.js
var SVG = "http://www.w3.org/2000/svg";
function fillElement(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === void 0 || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...listChildren(...children));
  return node;
}
function listChildren(...children) {
  const shown = (
    /** @param {Child} child */
    (child) => child !== null && child !== void 0 && child !== false
  );
  return children.flat().filter(shown).map((child) => child instanceof Node ? child : String(child));
}
var h = (tag, props = {}, ...children) => fillElement(document.createElement(tag), props, children);
var s = (tag, props = {}, ...children) => fillElement(document.createElementNS(SVG, tag), props, children);
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

// src/cluster_search.js
var TYPING_MS = 200;
var NOTHING = { text: "", labels: -1, hits: /* @__PURE__ */ new Map(), clusters: [], more: 0 };
var ClusterSearch = class {
  /** @type {Found} */
  #found = NOTHING;
  /** The event that the host knew when it was asked. @type {number | undefined} */
  #event;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /**
   * @param {Page} page
   * @param {() => void} show show the clusters that are found now
   */
  constructor(page, show) {
    this.page = page;
    this.show = show;
    this.field = h("input", {
      class: "lw-search",
      type: "search",
      placeholder: "Name, number or row",
      "aria-label": "Search clusters by name, number or row",
      "aria-keyshortcuts": "/",
      maxlength: "200",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.#type(),
      onkeydown: (event) => {
        if (event.key === "Escape" && this.text) this.#clear(event);
      }
    });
    this.orders = h(
      "select",
      { class: "lw-order", "aria-label": "Order of the clusters", onchange: () => this.show() },
      ORDERS.map(([order, label]) => h("option", { value: order }, label))
    );
    this.count = h("p", { class: "lw-soft lw-found", hidden: true });
    this.node = h("div", { class: "lw-finder", hidden: true }, this.field, this.orders, this.count);
  }
  /** What is searched for; empty if nothing is. */
  get text() {
    return this.field.value.trim();
  }
  /** @returns {Order} */
  get order() {
    return (
      /** @type {Order} */
      this.orders.value
    );
  }
  /**
   * The clusters to list, and the rows that were found in them.
   * @param {State} state
   * @param {Cluster} [own] list only clusters that this one can be merged with
   */
  select(state, own) {
    const isCurrent = this.#found.text === this.text && this.#found.labels === state.labels;
    const found = isCurrent ? this.#found : NOTHING;
    const isOffered = (
      /** @param {Cluster} each */
      ({ cluster }) => !own || cluster >= 0 && cluster !== own.cluster
    );
    const known = [...state.clusters, ...found.clusters].filter(isOffered);
    const withNoise = state.clusters.some((each) => each.cluster < 0);
    const total = countClusters(state) - (own ? 1 + Number(withNoise) : 0);
    const shown = sortClusters(this.text ? findClusters(known, this.text, found.hits) : known, this.order);
    this.node.hidden = total <= FEW && !this.text;
    this.orders.options[ORDERS.length - 1].hidden = state.clusters.some(
      (each) => each.answered === void 0
    );
    this.count.hidden = !this.text;
    setText(this.count, describeFound(shown.length + found.more, total));
    if (this.text && this.#event !== state.event) this.#askLater(0, false);
    return { clusters: shown, hits: found.hits };
  }
  #type() {
    this.show();
    this.#askLater(TYPING_MS, true);
  }
  /** @param {KeyboardEvent} event */
  #clear(event) {
    event.preventDefault();
    event.stopPropagation();
    this.field.value = "";
    this.#type();
  }
  /**
   * @param {number} ms
   * @param {boolean} isTyped whether screen readers hear the number that is found; they hear answers by themselves
   */
  #askLater(ms, isTyped) {
    this.#event = this.page.controller.state?.event;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(isTyped), ms);
  }
  /**
   * Ask the host for rows, and for clusters that are not listed.
   * @param {boolean} isTyped
   */
  async #ask(isTyped) {
    const { text, page } = this;
    if (!text || !this.field.isConnected) return;
    const reply = await page.controller.request({ do: "find", text });
    if (text !== this.text || !this.field.isConnected) return;
    if (reply.ok) {
      const { labels, clusters, more } = reply;
      const hits = new Map(reply.rows.map((each) => [each.cluster, each]));
      this.#found = { text, labels, hits, clusters, more };
      this.show();
    }
    if (isTyped) page.announce(this.count.textContent ?? "");
  }
};

// src/controls.js
var DASHED = { "stroke-dasharray": "2.2 2.2" };
var ICONS = {
  yes: () => [s("circle", { cx: 9, cy: 10, r: 5.5 }), s("circle", { cx: 15, cy: 10, r: 5.5 })],
  no: () => [
    s("circle", { cx: 5.5, cy: 10, r: 4 }),
    s("circle", { cx: 18.5, cy: 10, r: 4 }),
    s("path", { d: "M12 3.5v13" })
  ],
  unsure: () => [
    s("circle", { cx: 8, cy: 10, r: 4.5, ...DASHED }),
    s("circle", { cx: 16, cy: 10, r: 4.5, ...DASHED })
  ],
  undo: () => [s("path", { d: "M8 4 4 8l4 4M4.5 8H14a5 5 0 0 1 0 9H9" })]
};
var renderIcon = (name, props = { class: "lw-icon", width: 24, height: 20 }) => s("svg", { viewBox: "0 0 24 20", "aria-hidden": "true", ...props }, ICONS[name]());
var renderKey = (letter) => h("kbd", { "aria-hidden": "true" }, letter);
function createButton(label, onclick, props = {}) {
  const { className = "", ...others } = props;
  return h("button", { type: "button", class: `lw-button ${className}`, onclick, ...others }, label);
}
var setEnabled = (node, isEnabled) => setAttribute(node, "aria-disabled", String(!isEnabled));
function createDisclosure(page, label, letter, className) {
  const text = h("p", { class: `lw-explanation ${className}`, id: page.createId(className), hidden: true });
  const opener = createButton(
    [h("span", {}, label), renderKey(letter)],
    () => setOpen(text.hidden === true),
    {
      className: "lw-quiet",
      "aria-expanded": "false",
      "aria-controls": text.id,
      "aria-keyshortcuts": letter
    }
  );
  const setOpen = (
    /** @param {boolean} isOpen */
    (isOpen) => {
      text.hidden = !isOpen;
      opener.setAttribute("aria-expanded", String(isOpen));
      if (isOpen) page.announce(text.textContent ?? "");
    }
  );
  return { text, opener, toggle: () => setOpen(text.hidden === true), close: () => setOpen(false) };
}

// src/numbers.js
var clamp = (value, low, high) => Math.min(high, Math.max(low, value));
function toBytes(value) {
  if (!value) return new Uint8Array(0);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return new Uint8Array(value);
}
function toTypedArray(value, Type) {
  const bytes = toBytes(value);
  const size = Type.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new Type(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / size));
}

// src/page.js
var nPages = 0;
var createLiveRegion = () => h("p", { class: "lw-hidden", role: "status", "aria-live": "polite" });
var Page = class {
  /** @type {Controller} */
  controller;
  /** What distinguishes each cluster, by number. @type {Map<number, string>} */
  profiles = /* @__PURE__ */ new Map();
  #prefix;
  #nIds = 0;
  /** @param {(page: Page) => Controller} createController */
  constructor(createController) {
    nPages += 1;
    this.#prefix = `lw${nPages}`;
    this.root = h("div", {
      class: "linkwise",
      tabindex: "-1",
      role: "region",
      "aria-label": "linkwise: questions and clusters",
      "data-lm-suppress-shortcuts": "true"
      // keys are ours, not JupyterLab's
    });
    this.live = createLiveRegion();
    this.controller = createController(this);
  }
  /**
   * An id that no other element of the document has.
   * @param {string} name
   */
  createId(name) {
    this.#nIds += 1;
    return `${this.#prefix}-${name}-${this.#nIds}`;
  }
  /** The element with the focus, also within a shadow root. */
  get focused() {
    const document2 = (
      /** @type {Document | ShadowRoot} */
      this.root.getRootNode()
    );
    return (
      /** @type {HTMLElement | null} */
      document2.activeElement ?? null
    );
  }
  get hasFocus() {
    return this.root.contains(this.focused);
  }
  /** The live region of the dialog on top. @returns {Element | undefined} */
  get #dialogRegion() {
    return [...this.root.querySelectorAll("dialog > [role=status]")].at(-1);
  }
  get hasDialog() {
    return this.#dialogRegion !== void 0;
  }
  /**
   * Tell screen readers. They would not read the same text twice, so it gets a space. While a dialog is open,
   * they read nothing outside it, so every dialog has a live region of its own.
   * @param {string} text
   */
  announce(text) {
    const live = this.#dialogRegion ?? this.live;
    setText(live, live.textContent === text ? `${text} ` : text);
  }
  /**
   * Hand a file to the browser.
   * @param {string} name
   * @param {string} type
   * @param {ArrayBufferView} file
   */
  download(name, type, file) {
    const address = URL.createObjectURL(new Blob([new Uint8Array(toBytes(file))], { type }));
    const link = h("a", { href: address, download: name, hidden: true });
    this.root.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 6e4);
  }
};

// src/dialog.js
function openDialog(page, title, className = "") {
  const before = page.focused;
  const heading = h("h2", { id: page.createId("dialog"), tabindex: "-1" }, title);
  const body = h("div", { class: "lw-body" });
  const foot = h("div", { class: "lw-foot" });
  const closeButton = createButton("×", () => close(), {
    className: "lw-quiet lw-close",
    "aria-label": "Close"
  });
  const box = h(
    "dialog",
    { class: `lw-dialog ${className}`, "aria-labelledby": heading.id },
    h("div", { class: "lw-row" }, heading, closeButton),
    body,
    foot,
    createLiveRegion()
  );
  const close = () => {
    if (!box.isConnected) return;
    box.close();
    box.remove();
    const canReturn = before && page.root.contains(before) && !before.closest("[hidden]");
    (canReturn ? before : page.root).focus();
  };
  box.addEventListener("keydown", (event) => event.key === "Tab" && keepFocus(page, box, event));
  box.addEventListener("pointerdown", (event) => event.target === box && close());
  box.addEventListener("close", close);
  page.root.append(box);
  box.showModal();
  heading.focus();
  return { box, body, foot, heading, close };
}
function createNotice() {
  const node = h("p", { class: "lw-notice", hidden: true });
  return {
    node,
    /** @type {(words: string, tone?: "warn") => void} */
    show(words, tone) {
      node.textContent = words;
      node.dataset.tone = tone ?? "";
      node.hidden = !words;
    }
  };
}
function keepFocus(page, box, event) {
  const stops = [...box.querySelectorAll("button, input, select, textarea, [tabindex='0']")].filter((node) => node instanceof HTMLElement).filter((node) => node.offsetParent !== null);
  const [first, last] = [stops[0], stops[stops.length - 1]];
  const { focused } = page;
  const isInside = focused && box.contains(focused);
  const isAtEdge = focused === (event.shiftKey ? first : last);
  const isOnHeading = event.shiftKey && focused !== null && focused.tabIndex < 0;
  if (isInside && !isAtEdge && !isOnHeading) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

// src/cluster_dialogs.js
var merge = (page, cluster, other) => page.controller.store(
  { do: "merge", first: cluster.cluster, second: other.cluster },
  {
    describe: () => describeMerge(cluster, other),
    pair: { first: cluster.exemplar, second: other.exemplar, answer: "yes" }
  }
);
function openMerge(page, cluster) {
  const { body, close } = openDialog(page, `Merge ${clusterName(cluster)} with…`);
  const renderChoice = (other, found) => {
    const choose = async () => {
      close();
      await merge(page, cluster, other);
    };
    return h("li", {}, createButton(describeChoice(other, found, page.profiles.get(other.cluster)), choose));
  };
  const list = h("ul", { class: "lw-choices" });
  const show = () => {
    const { state } = page.controller;
    if (!state) return;
    const { clusters, hits } = search.select(state, cluster);
    list.replaceChildren(...clusters.map((each) => renderChoice(each, hits.get(each.cluster))));
  };
  const search = new ClusterSearch(page, show);
  body.append(h("p", { class: "lw-soft" }, describeMergeEffect(cluster)), search.node, list);
  show();
}
function confirmMerge(page, cluster, other) {
  const { body, foot, close } = openDialog(page, describeDrag(cluster, other));
  const confirm = async () => {
    close();
    await merge(page, cluster, other);
  };
  body.append(h("p", {}, describeMergeEffect(cluster)));
  foot.append(createButton("Merge", confirm, { className: "lw-main" }), createButton("Cancel", close));
}
function openDone(page, cluster) {
  const { body, foot, close } = openDialog(page, `Is ${clusterName(cluster)} done?`);
  const confirm = async () => {
    close();
    await page.controller.store(
      { do: "done", cluster: cluster.cluster },
      { describe: () => describeDone(cluster) }
    );
  };
  body.append(h("p", {}, describeDoneEffect(cluster)));
  foot.append(
    createButton("Yes, it is done", confirm, { className: "lw-main" }),
    createButton("Not yet", close)
  );
}

// src/cluster_drag.js
var CLICK = 6;
var EDGE = 44;
var STEP = 9;
var STEP_MS = 16;
var NOT_HERE = "input, .lw-link, .lw-actions, .lw-rules";
var ClusterDrag = class {
  /** Where the pointer went down. @type {{ row: Row, id: number, x: number, y: number } | null} */
  #press = null;
  /** @type {Row | null} */
  #target = null;
  /** @type {HTMLElement | null} */
  #label = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** Where the pointer is. */
  #at = { x: 0, y: 0 };
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} list
   * @param {(node: Element) => Row | null} findRow the row of an element, if its cluster can be merged
   * @param {(cluster: Cluster, other: Cluster) => void} drop
   */
  constructor(root, list, findRow, drop) {
    this.root = root;
    this.list = list;
    this.findRow = findRow;
    this.drop = drop;
    list.addEventListener("pointerdown", (event) => this.#begin(event));
    list.addEventListener("pointermove", (event) => this.#move(event));
    list.addEventListener("pointerup", (event) => this.#end(event));
    list.addEventListener("pointercancel", () => this.cancel());
    const onKey = (
      /** @param {KeyboardEvent} event */
      (event) => {
        if (event.key !== "Escape" || !this.#label) return;
        event.stopPropagation();
        this.cancel();
      }
    );
    root.addEventListener("keydown", onKey, true);
  }
  /** @param {PointerEvent} event */
  #begin(event) {
    const node = (
      /** @type {Element} */
      event.target
    );
    const isHandle = node.closest(".lw-swatch") !== null || event.pointerType === "mouse";
    if (event.button || !event.isPrimary || !isHandle || node.closest(NOT_HERE)) return;
    const row = this.findRow(node);
    this.#press = row && { row, id: event.pointerId, x: event.clientX, y: event.clientY };
  }
  /** @param {PointerEvent} event */
  #move(event) {
    const press = this.#press;
    if (!press || press.id !== event.pointerId) return;
    if (!(event.buttons & 1)) {
      this.cancel();
      return;
    }
    this.#at = { x: event.clientX, y: event.clientY };
    if (!this.#label && Math.hypot(this.#at.x - press.x, this.#at.y - press.y) > CLICK) this.#start(press);
    if (this.#label) this.#follow();
  }
  /** @param {{ row: Row, id: number }} press */
  #start({ row, id }) {
    this.list.setPointerCapture(id);
    document.getSelection()?.removeAllRanges();
    this.#label = h("div", { class: "lw-dragging", "aria-hidden": "true" });
    this.root.append(this.#label);
    this.root.dataset.drags = "";
    row.node.dataset.drag = "source";
    this.#timer = setInterval(() => this.#scroll(), STEP_MS);
  }
  /** Show what is dragged at the pointer, and where it would be dropped. */
  #follow() {
    const [press, label, { x, y }] = [this.#press, this.#label, this.#at];
    if (!press || !label) return;
    const document2 = (
      /** @type {Document | ShadowRoot} */
      this.root.getRootNode()
    );
    const below = document2.elementFromPoint(x, y);
    const row = below && this.list.contains(below) ? this.findRow(below) : null;
    if (this.#target) delete this.#target.node.dataset.drag;
    this.#target = row && row.node !== press.row.node ? row : null;
    if (this.#target) this.#target.node.dataset.drag = "target";
    setText(label, describeDrag(press.row.cluster, this.#target?.cluster));
    const edge = this.root.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = label;
    label.style.left = `${clamp(x - edge.left + 12, 4, Math.max(4, edge.width - offsetWidth - 4))}px`;
    label.style.top = `${clamp(y - edge.top - offsetHeight - 10, 4, edge.height - offsetHeight - 4)}px`;
  }
  /** Scroll the list, or the page around it, while the pointer is near their ends. */
  #scroll() {
    const { top, bottom } = this.list.getBoundingClientRect();
    const isBox = this.list.scrollHeight > this.list.clientHeight + 1;
    const { y } = this.#at;
    const isAbove = y < Math.max(0, isBox ? top : 0) + EDGE;
    const isBelow = y > Math.min(window.innerHeight, isBox ? bottom : window.innerHeight) - EDGE;
    if (!isAbove && !isBelow) return;
    (isBox ? this.list : window).scrollBy(0, isAbove ? -STEP : STEP);
    this.#follow();
  }
  /** @param {PointerEvent} event */
  #end(event) {
    const [press, target, isDragged] = [this.#press, this.#target, this.#label !== null];
    if (!press || press.id !== event.pointerId) return;
    this.cancel();
    if (!isDragged) return;
    const ignore = (
      /** @param {Event} click */
      (click) => click.stopPropagation()
    );
    this.root.addEventListener("click", ignore, { capture: true, once: true });
    setTimeout(() => this.root.removeEventListener("click", ignore, true), 0);
    if (target) this.drop(press.row.cluster, target.cluster);
  }
  /** Forget what is dragged, since the list has changed or the person gave up. */
  cancel() {
    clearInterval(this.#timer);
    for (const row of [this.#press?.row, this.#target]) if (row) delete row.node.dataset.drag;
    this.#label?.remove();
    delete this.root.dataset.drags;
    [this.#press, this.#target, this.#label] = [null, null, null];
  }
};

// src/scale.js
var [WIDTH, HEIGHT, MIDDLE] = [96, 20, 10];
var [SLIGHT, LARGE] = [0.05, 0.25];
var CLEAR = 1;
var REACH = { apart: [4, 6.75], stacked: [3.5, 5] };
var STROKE = 1.25;
var DIFFERENCES = { slight: ", differs slightly", plain: ", differs", large: ", differs much" };
function gradeDifference(first, second) {
  if (first === null || second === null) return "plain";
  const distance = Math.abs(first - second);
  if (distance < SLIGHT) return "slight";
  return distance < LARGE ? "plain" : "large";
}
function placeMarks(first, second) {
  const x = (
    /** @param {number} place */
    (place) => 8 + (WIDTH - 16) * clamp(place, 0, 1)
  );
  const xs = [first, second].map((place) => place === null ? null : x(place));
  const room = REACH.apart[0] + REACH.apart[1] + CLEAR;
  const isStacked = xs[0] !== null && xs[1] !== null && Math.abs(xs[0] - xs[1]) < room;
  const reach = isStacked ? REACH.stacked : REACH.apart;
  const ys = isStacked ? [reach[0] + 0.5, HEIGHT - reach[1]] : [MIDDLE, MIDDLE];
  return { xs, ys, reach };
}
function renderScale(first, second) {
  if (first === null && second === null) return null;
  const { xs, ys, reach } = placeMarks(first, second);
  const box = { class: "lw-scale", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
  const drawing = s(
    "svg",
    { ...box, "aria-hidden": "true" },
    s("line", { x1: 4, x2: WIDTH - 4, y1: MIDDLE, y2: MIDDLE })
  );
  const [a, b] = xs;
  if (a !== null && b !== null && gradeDifference(first, second) === "large") {
    drawing.append(s("line", { class: "lw-distance", x1: a, x2: b, y1: MIDDLE, y2: MIDDLE }));
  }
  if (a !== null) drawing.append(s("circle", { cx: a, cy: ys[0], r: reach[0] }));
  if (b !== null) {
    const half = reach[1] - STROKE;
    const y = ys[1];
    drawing.append(
      s("path", { d: `M${b} ${y - half} L${b + half} ${y} L${b} ${y + half} L${b - half} ${y} Z` })
    );
  }
  return drawing;
}

// src/items.js
var FIRST = { tag: "A", square: false };
var SECOND = { tag: "B", square: true };
var GLIMPSE_LETTERS = 160;
var GLIMPSE_FIELDS = 6;
var renderBadge = ({ tag, square }) => h("span", { class: square ? "lw-badge lw-diamond" : "lw-badge" }, h("span", {}, tag));
var renderBreakable = (name) => name.split(/(?<=[_./-])/).flatMap((part) => [part, h("wbr")]).slice(0, -1);
var placeOf = (field) => typeof field?.place === "number" ? field.place : null;
var renderTableHead = (items, hasScale) => h(
  "thead",
  {},
  h(
    "tr",
    {},
    h("td", {}),
    h("th", { scope: "col" }, renderBadge(FIRST), items[0].name),
    h("th", { scope: "col" }, renderBadge(SECOND), items[1].name),
    hasScale && h(
      "th",
      { scope: "col", class: "lw-scale-cell lw-ends" },
      h("span", {}, "low"),
      " ",
      h("span", {}, "high")
    )
  )
);
function renderFields(items, differ = []) {
  if (!items.some((item) => item.fields?.length)) return null;
  const differing = new Set(differ);
  const all = items.map((item) => new Map(item.fields.map((field) => [field.name, field])));
  const names = [...new Set(all.flatMap((fields) => [...fields.keys()]))];
  const hasScale = items.length === 2 && names.some((name) => all.some((fields) => placeOf(fields.get(name)) !== null));
  const renderLine = (
    /** @param {string} name */
    (name) => {
      const cells = all.map((fields) => fields.get(name));
      const isOther = differing.has(name);
      const [first, second] = [placeOf(cells[0]), placeOf(cells[1])];
      const grade = gradeDifference(first, second);
      return h(
        "tr",
        { class: isOther && "lw-differs", "data-grade": isOther && grade },
        h(
          "th",
          { scope: "row" },
          h("span", { class: "lw-mark", "aria-hidden": "true" }, isOther ? "≠" : ""),
          renderBreakable(name),
          isOther && h("span", { class: "lw-hidden" }, DIFFERENCES[grade])
        ),
        cells.map((cell) => h("td", {}, cell?.value)),
        hasScale && h("td", { class: "lw-scale-cell" }, renderScale(first, second))
      );
    }
  );
  return h(
    "div",
    { class: "lw-fields", role: "region", tabindex: "0", "aria-label": "Values, column by column" },
    h(
      "table",
      {},
      items.length === 2 && renderTableHead(items, hasScale),
      h("tbody", {}, names.map(renderLine))
    )
  );
}
function curvePath(series, low, high, width, height) {
  const x = (
    /** @param {number} i */
    (i) => 4 + (width - 8) * i / Math.max(1, series.length - 1)
  );
  const y = (
    /** @param {number} value */
    (value) => height - 6 - (height - 12) * (value - low) / (high - low || 1)
  );
  let path = "";
  let isDrawing = false;
  for (const [i, value] of series.entries()) {
    if (typeof value === "number") {
      path += `${isDrawing ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}${isDrawing ? "" : "h.01"}`;
    }
    isDrawing = typeof value === "number";
  }
  return path;
}
function renderCurve(series, low, high) {
  const [width, height] = [300, 120];
  return s(
    "svg",
    {
      class: "lw-curve",
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `A curve of ${formatCount(series.length, "value")}`
    },
    s("path", { d: curvePath(series, low, high, width, height), "vector-effect": "non-scaling-stroke" })
  );
}
function renderPicture(name, image) {
  if (!image.startsWith("data:image/")) return h("p", {}, "This picture cannot be shown.");
  const picture = h("img", { class: "lw-picture", src: image, alt: `Picture of ${name}` });
  picture.addEventListener("load", () => picture.classList.toggle("lw-small", picture.naturalWidth < 96));
  return picture;
}
function renderContents(items) {
  const values = items.flatMap((item) => item.series ?? []).filter(
    /** @returns {value is number} */
    (value) => typeof value === "number"
  );
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const shorten = (
    /** @param {number} value */
    (value) => Number(value.toPrecision(4)).toLocaleString("en")
  );
  return items.map((item) => {
    const picture = typeof item.image === "string" && renderPicture(item.name, item.image);
    if (typeof item.text === "string") {
      return [picture, h("blockquote", { class: "lw-text", tabindex: "0" }, item.text || "(empty)")];
    }
    if (picture) return picture;
    if (!item.series) return null;
    const range = h(
      "div",
      { class: "lw-range", "aria-hidden": "true" },
      h("span", {}, shorten(high)),
      h("span", {}, shorten(low))
    );
    return h("div", { class: "lw-series" }, renderCurve(item.series, low, high), values.length > 0 && range);
  });
}
function renderPair(question) {
  const items = [question.first, question.second];
  const contents = renderContents(items);
  const renderFigure = (
    /** @type {(item: Item, i: number) => HTMLElement} */
    (item, i) => h("figure", {}, h("figcaption", {}, renderBadge(i ? SECOND : FIRST), item.name), contents[i])
  );
  const figures = contents.some(Boolean) && h("div", { class: "lw-pair" }, items.map(renderFigure));
  return listChildren(figures, renderFields(items, question.differing));
}
var renderItem = (item) => listChildren(renderContents([item])[0], renderFields([item]));
function renderGlimpse(item) {
  if (typeof item.text === "string") {
    const isLong = item.text.length > GLIMPSE_LETTERS;
    const text = isLong ? `${item.text.slice(0, GLIMPSE_LETTERS - 1)}…` : item.text;
    return listChildren(item.image && renderPicture(item.name, item.image), h("p", {}, text));
  }
  const fields = (item.fields ?? []).slice(0, GLIMPSE_FIELDS);
  const list = fields.flatMap((field) => [h("dt", {}, field.name), h("dd", {}, field.value)]);
  return listChildren(renderContents([item])[0], fields.length > 0 && h("dl", {}, list));
}

// src/item_dialog.js
async function openItem(page, row) {
  const { controller } = page;
  const item = await controller.loadItem(row);
  if (!item) return;
  const cluster = controller.clusterOf(row);
  const { body, foot, close } = openDialog(page, item.name);
  const where = cluster ? `In ${clusterName(cluster)}, ${formatCount(cluster.size, "row")}` : "";
  body.append(h("p", { class: "lw-soft" }, where), ...renderItem(item));
  const select = (
    /** @param {0 | 1} position */
    (position) => {
      const selection = [...controller.selection];
      if (selection[1 - position]?.row === row) selection[1 - position] = null;
      selection[position] = item;
      close();
      controller.select(selection);
    }
  );
  foot.append(
    createButton("Select as first", () => select(0)),
    createButton("Select as second", () => select(1))
  );
}
var createRowLink = (page, name, row) => createButton(name, () => openItem(page, row), { className: "lw-link lw-strong" });

// src/row_values.js
function loadPictures(page, node, rows, show) {
  const load = async () => {
    const items = await page.controller.loadItems([...new Set(rows)]);
    for (const { row, name, image } of items) {
      if (!image?.startsWith("data:image/")) continue;
      for (const [at, each] of rows.entries()) {
        if (each === row) show(at, h("img", { src: image, alt: `Picture of ${name}`, title: name }));
      }
    }
  };
  const look = (
    /** @type {IntersectionObserverCallback} */
    (entries, observer2) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer2.disconnect();
      load();
    }
  );
  const observer = new IntersectionObserver(look, { rootMargin: "300px" });
  observer.observe(node);
}
function renderValues(page, { first, second, names, values = [] }) {
  if (page.controller.state?.kind === "image") {
    const strip = h("span", { class: "lw-strip" });
    loadPictures(page, strip, [first, second], (_, picture) => strip.append(picture));
    return strip;
  }
  if (!values.some(Boolean)) return null;
  return h(
    "span",
    { class: "lw-values lw-soft" },
    values.map((line, i) => h("span", {}, `${names[i]}: ${line}`))
  );
}

// src/cluster_profile.js
var MOST_NAMES = 3;
var renderLinks = (page, rows, names) => rows.map((row, i) => createButton(names[i], () => openItem(page, row), { className: "lw-link" }));
function createStrip(page, { exemplars, exemplar_names: names }) {
  const node = h("span", { class: "lw-strip" }, ...renderLinks(page, exemplars, names));
  loadPictures(page, node, exemplars, (at, picture) => node.children[at].replaceChildren(picture));
  return node;
}
function createProfile(page) {
  const line = h("p", { class: "lw-profile" });
  const node = h("div", { class: "lw-typical" });
  let drawn = "";
  return {
    nodes: [line, node],
    /**
     * @param {Cluster} cluster
     * @param {string | undefined} text what distinguishes it
     */
    update(cluster, text) {
      const { exemplars, exemplar_names: names } = cluster;
      const state = page.controller.state;
      const isImage = state?.kind === "image";
      setText(line, text ?? "");
      line.title = text ?? "";
      line.hidden = !state?.profiles;
      const drawing = JSON.stringify([exemplars, isImage]);
      if (drawing === drawn) return;
      drawn = drawing;
      if (isImage) {
        node.replaceChildren(createStrip(page, cluster));
        return;
      }
      const links = renderLinks(page, exemplars.slice(0, MOST_NAMES), names);
      node.replaceChildren(h("span", {}, "typical "), ...links);
    }
  };
}

// src/colours.js
var N_FAMILIES = 12;
var N_SHADES = 4;
var N_SLOTS = N_FAMILIES * N_SHADES;
var OPAQUE = 217;
var FAINT = 20;
function detectScheme() {
  const body = document.body;
  const jupyter = body.dataset.jpThemeLight;
  if (jupyter) return jupyter === "false" ? "dark" : "light";
  const vscode = body.dataset.vscodeThemeKind;
  if (vscode) return vscode.includes("light") ? "light" : "dark";
  const isDark = [body, document.documentElement].some((node) => node.classList.contains("dark"));
  return isDark ? "dark" : "light dark";
}
var chooseSlots = ({ shades }) => new Map(shades.map(([number, family, shade]) => [number, family + N_FAMILIES * (shade % N_SHADES)]));
var slotName = (slot) => slot < N_FAMILIES ? `cluster-${slot}` : `cluster-${slot % N_FAMILIES}-${Math.floor(slot / N_FAMILIES)}`;
var hasFamilies = ({ shades }) => shades.some(([, , shade]) => shade > 0);
function readPalette(root) {
  if (!root.isConnected) return null;
  const probe = h("span", { class: "lw-probe" });
  root.append(probe);
  const resolve = (
    /** @param {string} name */
    (name) => {
      probe.style.color = `var(--lw-${name})`;
      return getComputedStyle(probe).color;
    }
  );
  const names = [...Array.from({ length: N_SLOTS }, (_, slot) => slotName(slot)), "cluster-none"];
  const palette = {
    clusters: names.map((name) => parseColour(resolve(name))),
    ink: resolve("ink"),
    paper: resolve("card")
  };
  probe.remove();
  return palette;
}
var parseColour = (colour) => (
  /** @type {Rgb} */
  (colour.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number)
);
function createColourTable(palette, slots, noise, highlighted) {
  const table = new Uint8Array(1024 * (noise > 255 ? 256 : 1));
  const setColour = (
    /** @type {(label: number, colour: Rgb) => void} */
    (label, colour) => {
      const isFaint = highlighted !== null && highlighted !== label;
      table.set([...colour, isFaint ? FAINT : OPAQUE], 4 * label);
    }
  );
  for (const [number, slot] of slots) setColour(number % noise, palette.clusters[slot]);
  setColour(noise, palette.clusters[N_SLOTS]);
  return table;
}

// src/cluster_row.js
var ClusterRow = class {
  /** The name that was last sent. */
  #sentName = "";
  /** What is on the screen, as JSON. */
  #drawn = "";
  #drawnHits = "null";
  /**
   * @param {Page} page
   * @param {Cluster} cluster
   * @param {Handlers} handlers
   */
  constructor(page, cluster, { pin, hover }) {
    this.page = page;
    this.cluster = cluster;
    this.swatch = createButton("", pin, {
      className: "lw-swatch",
      "aria-pressed": "false",
      title: "Show only this cluster in the plot. Drag it onto another cluster to merge the two."
    });
    this.name = h("input", {
      class: "lw-name",
      maxlength: "200",
      autocomplete: "off",
      spellcheck: "false",
      "data-lm-suppress-shortcuts": "true"
    });
    this.size = h("span", { class: "lw-size" });
    this.bar = h("i", {});
    this.profile = createProfile(page);
    this.done = h("span", { class: "lw-done" }, "✓ done");
    this.mergeButton = createButton("Merge…", () => openMerge(page, this.cluster), { className: "lw-quiet" });
    this.doneButton = createButton("Done…", () => openDone(page, this.cluster), { className: "lw-quiet" });
    this.hits = h("p", { class: "lw-typical lw-hits", hidden: true });
    this.rules = h("ul", { class: "lw-rules", hidden: true });
    this.node = h(
      "li",
      { class: "lw-cluster" },
      this.swatch,
      this.name,
      this.size,
      h("span", { class: "lw-share", "aria-hidden": "true" }, this.bar),
      ...this.profile.nodes,
      h("div", { class: "lw-actions" }, this.done, this.mergeButton, this.doneButton),
      this.hits,
      this.rules
    );
    this.node.addEventListener("pointerenter", () => hover(true));
    this.node.addEventListener("pointerleave", () => hover(false));
    this.name.addEventListener("change", () => this.#sendName());
    this.name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Escape") this.name.value = this.cluster.name;
      page.root.focus();
    });
  }
  get canMerge() {
    return !this.mergeButton.hidden;
  }
  /** @param {boolean} isPinned */
  setPinned(isPinned) {
    this.swatch.setAttribute("aria-pressed", String(isPinned));
  }
  /** @param {string[]} lines */
  showRules(lines) {
    const texts = lines.map((line) => line.replace(/^cluster \d+: [\d,]+ rows?(, )?/, "")).filter(Boolean);
    this.rules.replaceChildren(...texts.map((line) => h("li", {}, line)));
    this.rules.hidden = lines.length === 0;
  }
  /** @param {RowHits | null} found the rows that a search found in this cluster */
  showHits(found) {
    const drawing = JSON.stringify(found);
    if (drawing === this.#drawnHits) return;
    this.#drawnHits = drawing;
    this.hits.hidden = !found;
    if (!found) return;
    const rest = found.count - found.rows.length;
    this.hits.replaceChildren(
      ...listChildren(
        h("span", {}, "found "),
        renderLinks(this.page, found.rows, found.names),
        rest > 0 && h("span", {}, `and ${formatNumber(rest)} more`)
      )
    );
  }
  /**
   * @param {Cluster} cluster
   * @param {State} state
   * @param {number | undefined} slot of its colour in the palette
   * @param {boolean} [withAnswered] whether to show how many of its rows have an answer
   */
  update(cluster, state, slot, withAnswered = false) {
    const isNoise = cluster.cluster < 0;
    const colour = isNoise || slot === void 0 ? "cluster-none" : slotName(slot);
    const isOnly = state.clusters.length < 2;
    this.profile.update(cluster, this.page.profiles.get(cluster.cluster));
    const drawing = JSON.stringify([cluster, colour, state.rows, isOnly, withAnswered]);
    if (drawing === this.#drawn) return;
    const before = this.#drawn ? this.cluster : null;
    [this.#drawn, this.cluster] = [drawing, cluster];
    if (before?.name !== cluster.name) {
      this.#sentName = cluster.name;
      if (this.page.focused !== this.name) this.name.value = cluster.name;
    }
    const label = clusterName(cluster);
    this.name.placeholder = clusterName({ ...cluster, name: "" });
    this.name.setAttribute("aria-label", `Name of ${label}`);
    this.swatch.setAttribute("aria-label", `Show only ${label} in the plot`);
    this.node.style.setProperty("--lw-own", `var(--lw-${colour})`);
    const share = withAnswered ? describeAnswered(cluster) : formatPercent(cluster.size / state.rows);
    setText(this.size, `${formatCount(cluster.size, "row")} · ${share}`);
    this.bar.style.width = `${100 * cluster.size / state.rows}%`;
    this.done.hidden = !cluster.done;
    this.doneButton.hidden = cluster.done || isNoise;
    this.doneButton.setAttribute("aria-label", `Done: ${label}`);
    this.mergeButton.hidden = isOnly || isNoise;
    this.mergeButton.setAttribute("aria-label", `Merge ${label} with another cluster`);
  }
  async #sendName() {
    const { controller } = this.page;
    const text = this.name.value.trim();
    if (text === this.#sentName) return;
    this.#sentName = text;
    const reply = await controller.request({ do: "name", cluster: this.cluster.cluster, name: text });
    if (reply.ok) {
      this.page.announce(describeName(text));
      return;
    }
    controller.warn(reply.error.text);
    this.#sentName = this.cluster.name;
    if (this.page.focused !== this.name) this.name.value = this.#sentName;
  }
};

// src/clusters_panel.js
var PAUSE_MS = 200;
var ClustersPanel = class {
  /** @type {Map<number, ClusterRow>} */
  #rows = /* @__PURE__ */ new Map();
  /** Rules by cluster, and the labels that they are about. @type {{ labels: number, lines: Map<number, string[]> } | null} */
  #rules = null;
  #showsRules = false;
  /** The labels that the profiles are about. */
  #profiled = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #labels = -1;
  /** @type {number | null} */
  #pinned = null;
  /**
   * @param {Page} page
   * @param {Scatter} plot
   */
  constructor(page, plot) {
    this.page = page;
    this.plot = plot;
    this.heading = h("h3", { id: page.createId("clusters") }, "Clusters");
    this.rulesButton = createButton("Show rules", () => this.#toggleRules(), {
      className: "lw-quiet",
      "aria-expanded": "false"
    });
    this.fidelity = h("p", { class: "lw-soft", hidden: true });
    this.search = new ClusterSearch(page, () => page.controller.state && this.#show(page.controller.state));
    this.search.field.addEventListener("keydown", (event) => this.#leaveSearch(event));
    this.legend = h("p", { class: "lw-soft lw-legend", hidden: true }, COLOUR_FAMILIES);
    this.list = h("ul", { class: "lw-clusters" });
    this.drag = new ClusterDrag(
      page.root,
      this.list,
      (node) => this.#findRow(node),
      (cluster, other) => confirmMerge(page, cluster, other)
    );
    this.foot = h("p", { class: "lw-soft", hidden: true });
    this.node = h(
      "section",
      { class: "lw-card", "aria-labelledby": this.heading.id, hidden: true },
      h("div", { class: "lw-row" }, this.heading, this.rulesButton),
      this.search.node,
      this.legend,
      this.fidelity,
      this.list,
      this.foot
    );
  }
  /** @param {State} state */
  update(state) {
    setText(this.heading, `Clusters (${formatNumber(countClusters(state))})`);
    this.rulesButton.hidden = !state.rules;
    this.foot.hidden = !state.more_clusters;
    setText(this.foot, describeUnlisted2(state.more_clusters || 0));
    this.legend.hidden = !hasFamilies(state);
    if (this.#labels !== state.labels) this.drag.cancel();
    this.#labels = state.labels;
    this.#show(state);
    const isStale = this.#showsRules && this.#rules && this.#rules.labels !== state.labels;
    if (isStale) this.#loadRules().then(() => this.#showRules());
    this.node.hidden = false;
    clearTimeout(this.#timer);
    if (state.profiles && this.#profiled !== state.labels) {
      this.#timer = setTimeout(() => this.#loadProfiles(), PAUSE_MS);
    }
  }
  /** Ask what distinguishes the clusters; an answer that was given meanwhile comes first. */
  async #loadProfiles() {
    const { controller } = this.page;
    const reply = await controller.request({ do: "profiles" });
    if (!reply.ok) return;
    this.#profiled = reply.labels;
    const profiles = reply.profiles;
    this.page.profiles = new Map(profiles.map((each) => [each.cluster, each.text]));
    if (controller.state) this.#show(controller.state);
  }
  /**
   * Show the clusters that are searched for, in their order.
   * @param {State} state
   */
  #show(state) {
    const { clusters, hits } = this.search.select(state);
    this.node.classList.toggle("lw-many", !this.search.node.hidden);
    this.#removeRows(clusters, state);
    for (const [i, cluster] of clusters.entries()) {
      const row = this.#rows.get(cluster.cluster) ?? this.#createRow(cluster);
      row.update(cluster, state, this.plot.slots.get(cluster.cluster), this.search.order === "answered");
      row.showHits(hits.get(cluster.cluster) ?? null);
      const here = this.list.children[i] ?? null;
      if (here !== row.node) this.list.insertBefore(row.node, here);
    }
    this.#showRules();
  }
  /**
   * Take rows off the list that were not found, and forget those of clusters that exist no more.
   * @param {Cluster[]} clusters
   * @param {State} state
   */
  #removeRows(clusters, state) {
    const shown = new Set(clusters.map((each) => each.cluster));
    const present = /* @__PURE__ */ new Set([...shown, ...state.clusters.map((each) => each.cluster)]);
    for (const [cluster, row] of this.#rows) {
      if (!shown.has(cluster)) row.node.remove();
      if (present.has(cluster)) continue;
      this.#rows.delete(cluster);
      if (this.#pinned === cluster) {
        this.#pinned = null;
        this.plot.highlight(null);
      }
    }
  }
  /**
   * From the search the keyboard goes to what was found, or back to the question.
   * @param {KeyboardEvent} event
   */
  #leaveSearch(event) {
    if (event.defaultPrevented || event.isComposing) return;
    const first = this.list.querySelector("button");
    if (event.key === "Escape") this.page.root.focus();
    else if ((event.key === "Enter" || event.key === "ArrowDown") && first) first.focus();
    else return;
    event.preventDefault();
  }
  focusSearch() {
    this.search.field.focus();
  }
  /**
   * The row of an element of the list, if its cluster can be merged.
   * @param {Element} node
   */
  #findRow(node) {
    const found = node.closest(".lw-cluster");
    const row = [...this.#rows.values()].find((each) => each.node === found);
    return row?.canMerge ? row : null;
  }
  /** @param {Cluster} cluster */
  #createRow(cluster) {
    const id = cluster.cluster;
    const row = new ClusterRow(this.page, cluster, {
      pin: () => {
        this.#pinned = this.#pinned === id ? null : id;
        for (const [each, other] of this.#rows) other.setPinned(each === this.#pinned);
        this.plot.highlight(this.#pinned);
      },
      hover: (isHovered) => this.plot.highlight(isHovered ? id : this.#pinned)
    });
    this.#rows.set(id, row);
    return row;
  }
  async #toggleRules() {
    this.#showsRules = !this.#showsRules;
    setText(this.rulesButton, this.#showsRules ? "Hide rules" : "Show rules");
    this.rulesButton.setAttribute("aria-expanded", String(this.#showsRules));
    if (this.#showsRules) await this.#loadRules();
    this.#showRules();
  }
  async #loadRules() {
    const { controller } = this.page;
    const labels = controller.state?.labels ?? -1;
    this.fidelity.hidden = false;
    setText(this.fidelity, "Searching for rules…");
    const reply = await controller.request({ do: "rules" });
    if (!reply.ok) {
      this.#rules = { labels, lines: /* @__PURE__ */ new Map() };
      setText(this.fidelity, reply.error.text);
      return;
    }
    const clusters = reply.clusters;
    this.#rules = { labels, lines: new Map(clusters.map((each) => [each.cluster, each.text])) };
    const fidelity = reply.fidelity === null ? [] : [`The rules put ${formatPercent(reply.fidelity)} of the rows into their clusters.`];
    setText(this.fidelity, [...fidelity, ...reply.notes ?? []].join(" "));
  }
  #showRules() {
    this.fidelity.hidden = !this.#showsRules;
    const rules = this.#rules;
    const isCurrent = this.#showsRules && rules?.labels === this.page.controller.state?.labels;
    for (const [cluster, row] of this.#rows) row.showRules(isCurrent && rules?.lines.get(cluster) || []);
  }
};

// src/column_choices.js
var USE_LABELS = { compare: "Compare", show: "Show", id: "Id", ignore: "Ignore" };
var TITLE = "Your columns";
function listUses(column, { columns, facts }) {
  const isCurve = column.kind === "curve";
  const hasCurves = columns.some((one) => one.kind === "curve");
  if (isCurve || column.use === "id" && facts) return [column.use];
  const canName = !facts && column.is_unique;
  const canCompare = !hasCurves && (column.kind !== "other" || column.use === "compare");
  return [
    ...canCompare ? (
      /** @type {Use[]} */
      ["compare"]
    ) : [],
    "show",
    ...canName || column.use === "id" ? (
      /** @type {Use[]} */
      ["id"]
    ) : [],
    "ignore"
  ];
}
function changeColumn(columns, name, change) {
  return columns.map((one) => {
    if (one.name === name) return { ...one, ...change };
    return change.use === "id" && one.use === "id" ? { ...one, use: "show" } : one;
  });
}
var listChanges = (before, now) => now.filter((one, i) => one.use !== before[i].use || one.kind !== before[i].kind).map(({ name, use, kind }) => ({ name, use, kind }));
function previewPair(table, columns) {
  const pair = [table.first, table.second];
  const shown = [
    ...columns.filter((one) => one.use === "compare"),
    ...columns.filter((one) => one.use === "show")
  ];
  const [first, second] = pair.map(
    (item, i) => table.has_side_table ? item : previewItem(item, i, columns, shown)
  );
  const theirs = new Map(second.fields.map((field) => [field.name, field.value]));
  const differing = first.fields.filter((field) => theirs.get(field.name) !== field.value);
  return { first, second, differing: differing.map((field) => field.name) };
}
function previewItem(item, i, columns, shown) {
  const isText = (
    /** @param {TableColumn} one */
    (one) => one.kind === "text" && one.use === "compare"
  );
  const isPicture = (
    /** @param {TableColumn} one */
    (one) => one.kind === "picture" && item.image
  );
  const before = new Map(item.fields.map((field) => [field.name, field]));
  const fields = shown.filter((one) => one.values.length && !isText(one) && !isPicture(one)).map((one) => ({
    name: one.name,
    value: one.values[i],
    place: one.kind === "category" ? null : before.get(one.name)?.place ?? null
  }));
  const names = new Set(columns.map((one) => one.name));
  const compared = shown.filter((one) => one.use === "compare");
  const made = item.fields.filter(
    (field) => !names.has(field.name) && compared.some((one) => field.name.startsWith(`${one.name} (`))
  );
  const texts = shown.filter(isText).map((one) => one.values[i]);
  const id = columns.find((one) => one.use === "id");
  return {
    row: item.row,
    name: id?.values[i] ?? `row ${item.row}`,
    fields: [...fields, ...made],
    ...texts.length ? { text: texts.filter(Boolean).join("\n\n") } : {},
    ...item.image && shown.some((one) => one.kind === "picture") ? { image: item.image } : {},
    ...item.series ? { series: item.series } : {}
  };
}
var describeReplay = ({ facts, backup }) => facts ? `A change replays all ${facts}. A copy of the session is kept in ${backup}.` : "";
function describeReading(backup, changed) {
  const kept = backup ? `All answers were replayed. The session as it was is in ${backup}.` : "";
  return `${kept} ${changed}`.trim();
}

// src/columns_dialog.js
var INTRODUCTION = "linkwise compares rows by the columns set to Compare.";
var FOLLOWED = "your answers follow it";
var MANY = 12;
var NOTHING2 = "–";
var HEADINGS = ["Column", "Kind", "Example", "Missing", "Influence", "Use"];
var describeShare = (share) => share === null ? NOTHING2 : formatPercent(share).replace("under ", "< ");
var hasColumns = (state) => Boolean(state?.table);
function introduceColumns(page, state) {
  if (state.table?.is_new) openColumns(page);
}
async function openColumns(page, task) {
  if (!hasColumns(page.controller.state) || page.hasDialog) return;
  const { body, foot, close } = openDialog(page, TITLE, "lw-table-dialog");
  body.append(h("p", { class: "lw-soft" }, "Reading the columns…"));
  const reply = await page.controller.request({ do: "table" });
  if (!reply.ok) {
    body.replaceChildren(h("p", { class: "lw-notice", "data-tone": "warn" }, reply.error.text));
    return;
  }
  new ColumnTable(
    page,
    /** @type {any} */
    reply,
    { body, foot, close }
  ).choose(task);
}
var ColumnTable = class {
  /** Shown lines by the name of their column. @type {Map<string, { node: HTMLElement, show: (column: TableColumn) => void }>} */
  #lines = /* @__PURE__ */ new Map();
  /**
   * @param {Page} page
   * @param {TableColumns} table
   * @param {{ body: HTMLElement, foot: HTMLElement, close: () => void }} dialog
   */
  constructor(page, table, { body, foot, close }) {
    this.page = page;
    this.table = table;
    this.columns = table.columns;
    this.task = null;
    this.follows = false;
    this.largest = Math.max(...table.columns.map((one) => one.influence ?? 0)) || 1;
    this.close = close;
    this.notice = createNotice();
    this.preview = h("div", { class: "lw-items" });
    this.replay = h("p", { class: "lw-soft lw-gap" }, describeReplay(table));
    this.start = createButton(table.facts ? "Apply" : "Start", () => this.#apply(), {
      className: "lw-main"
    });
    const list = h("tbody", { role: "rowgroup" });
    for (const column of table.columns) {
      const line = this.#createLine(column);
      this.#lines.set(column.name, line);
      list.append(line.node);
    }
    const head = HEADINGS.map((words) => h("th", { scope: "col", role: "columnheader" }, words));
    const region = h(
      "div",
      { class: "lw-table-scroll", role: "region", tabindex: "0", "aria-label": "Columns" },
      h(
        "table",
        { class: "lw-table", role: "table" },
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
        list
      )
    );
    const notes = table.notes.map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`).join(" ");
    body.replaceChildren(
      h("p", { class: "lw-soft" }, [INTRODUCTION, notes].filter(Boolean).join(" ")),
      ...this.#createTools(),
      region,
      h(
        "section",
        { class: "lw-preview", "aria-label": "Preview of a question" },
        h("h3", {}, "A question will look like this"),
        this.preview
      )
    );
    foot.replaceChildren(this.notice.node, this.replay, this.start);
    this.#show();
    if (!table.facts) this.start.focus();
  }
  /** Suggested tasks, and a field that finds columns by name. */
  #createTools() {
    const tasks = this.table.tasks.map(({ name, label }) => createButton(label, () => this.choose(name)));
    const find = h("input", {
      class: "lw-search",
      type: "search",
      placeholder: `Search ${formatCount(this.columns.length, "column")}`,
      "aria-label": "Search the columns by name"
    });
    find.addEventListener("input", () => {
      const words = find.value.trim().toLowerCase();
      for (const [name, { node }] of this.#lines) node.hidden = !name.toLowerCase().includes(words);
    });
    const tools = [...tasks, ...this.columns.length > MANY ? [find] : []];
    return tools.length ? [h("div", { class: "lw-table-tools" }, tools)] : [];
  }
  /**
   * Choose the uses of a task, if the columns look like it.
   * @param {ColumnTask["name"] | undefined} name
   */
  choose(name) {
    const task = this.table.tasks.find((one) => one.name === name);
    if (!task) return;
    this.columns = this.columns.map((one) => ({
      ...one,
      use: task.uses[one.name] ?? one.use,
      kind: task.kinds[one.name] ?? one.kind
    }));
    this.task = task;
    this.follows = name === "answers";
    this.#show();
  }
  /** @param {TableColumn} given as the host has it */
  #createLine(given) {
    const { name } = given;
    const change = (
      /** @param {Partial<TableColumn>} values */
      (values) => {
        this.columns = changeColumn(this.columns, name, values);
        this.#show();
      }
    );
    const kind = createKindChoice(given, (value) => change({ kind: value }));
    const use = createUseChoice(
      this.page,
      given,
      listUses(given, this.table),
      (value) => change({ use: value })
    );
    const badge = h("span", { class: "lw-proposed" }, "Proposed: ");
    const undo = createButton("", () => change(this.#revert(given)), { className: "lw-link" });
    const reason = h("span", {});
    const why = h("p", { class: "lw-soft" }, badge, reason, " ", undo);
    const influence = createInfluence(this.largest);
    const cell = (
      /** @type {(label: string, content: any) => HTMLElement} */
      (label, content) => h("td", { role: "cell", class: `lw-of-${label}` }, content)
    );
    const missing = cell("missing", describeShare(given.missing || null));
    missing.toggleAttribute("data-empty", !given.missing);
    const counts = cell("influence", influence.node);
    const node = h(
      "tr",
      { role: "row" },
      h("th", { scope: "row", role: "rowheader" }, h("span", { class: "lw-column-name" }, name), why),
      cell("kind", kind.node),
      cell("example", h("span", { class: "lw-example" }, given.example || NOTHING2)),
      missing,
      counts,
      cell("use", use.node)
    );
    const show = (
      /** @param {TableColumn} column */
      (column) => {
        const isSame = column.use === given.use && column.kind === given.kind;
        node.dataset.use = column.use;
        kind.show(column.kind);
        use.show(column.use);
        influence.show(isSame ? column.influence : null);
        counts.toggleAttribute("data-empty", !isSame || column.influence === null);
        const found = explainUse(given, column, this.follows);
        setText(reason, found.reason);
        badge.hidden = !found.isProposed;
        const canReject = given.is_proposed && given.otherwise && !(this.table.facts && given.use === "id");
        undo.hidden = isSame && !canReject;
        setText(undo, isSame ? "Undo" : "Reset");
        undo.setAttribute("aria-label", `${isSame ? "Undo the proposal for" : "Reset"} ${name}`);
        why.hidden = !given.reason && isSame;
      }
    );
    return { node, show };
  }
  /**
   * What the column becomes by a click on undo.
   * @param {TableColumn} given
   */
  #revert(given) {
    const now = this.columns.find((one) => one.name === given.name);
    const isSame = now?.use === given.use && now.kind === given.kind;
    if (isSame && given.otherwise) return { use: given.otherwise[0], kind: given.otherwise[1] };
    return { use: given.use, kind: given.kind };
  }
  #show() {
    for (const column of this.columns) this.#lines.get(column.name)?.show(column);
    this.preview.replaceChildren(...renderPair(previewPair(this.table, this.columns)));
    const hasChanges = this.#hasChanges();
    setEnabled(this.start, hasChanges || !this.table.facts);
    this.notice.show("");
  }
  #hasChanges() {
    const hasUses = listChanges(this.table.columns, this.columns).length > 0;
    return hasUses || Boolean(this.task?.changes_learner);
  }
  async #apply() {
    if (this.start.getAttribute("aria-disabled") === "true") return;
    const columns = listChanges(this.table.columns, this.columns);
    if (!this.#hasChanges()) {
      this.close();
      return;
    }
    setEnabled(this.start, false);
    this.notice.show("Reading the rows…");
    const reply = await this.page.controller.store(
      { do: "read", columns, task: this.task?.name ?? null },
      { describe: (found) => describeReading(found.backup, found.changed) }
    );
    if (reply?.ok) {
      this.close();
      return;
    }
    this.#show();
    this.notice.show(reply?.error.text ?? "linkwise cannot be reached.", "warn");
  }
};
function explainUse(given, chosen, follows) {
  const isSame = chosen.use === given.use && chosen.kind === given.kind;
  const isFollowed = follows && !isSame && chosen.use === "compare";
  return {
    reason: isFollowed ? FOLLOWED : given.reason,
    isProposed: isFollowed || given.is_proposed && isSame
  };
}
function createKindChoice({ name, kind, kinds }, choose) {
  if (kinds.length < 2) {
    const node2 = h("span", {}, kind);
    return { node: node2, show: (
      /** @param {string} value */
      (value) => setText(node2, value)
    ) };
  }
  const all = kinds.includes(kind) ? kinds : [kind, ...kinds];
  const node = h(
    "select",
    { class: "lw-order", "aria-label": `Kind of ${name}` },
    all.map((one) => h("option", { value: one }, one))
  );
  node.addEventListener("change", () => choose(node.value));
  return {
    node,
    show(value) {
      node.value = value;
    }
  };
}
function createUseChoice(page, given, uses, choose) {
  const group = page.createId("use");
  const inputs = uses.map(
    (use) => h("input", { type: "radio", name: group, value: use, class: "lw-hidden", onchange: () => choose(use) })
  );
  const node = h(
    "div",
    { class: "lw-uses", role: "radiogroup", "aria-label": `Use of ${given.name}` },
    inputs.map((input, i) => h("label", {}, input, h("span", {}, USE_LABELS[uses[i]])))
  );
  return {
    node,
    show(use) {
      for (const input of inputs) input.checked = input.value === use;
    }
  };
}
function createInfluence(largest) {
  const fill = h("i", {});
  const bar = h("span", { class: "lw-influence-bar", "aria-hidden": "true" }, fill);
  const words = h("span", {});
  return {
    node: h("span", { class: "lw-influence" }, bar, words),
    show(share) {
      bar.hidden = share === null;
      fill.style.width = `${100 * (share ?? 0) / largest}%`;
      setText(words, describeShare(share));
    }
  };
}

// src/note_wording.js
var NOTE = "Add a note";
var NOTE_LABEL = "Note on your next answer";
var NOTE_HINT = "Enter goes back to the question";
var DECISION_LABEL = "Note on your decision";
var DECISION_HINT = "Enter goes back to the pair";
var describeLostNote = (note) => `The question has changed. This note is not saved, unless the history shows it: “${note}”`;
function describeNote({ note, note_author: author, text }) {
  if (!note) return "";
  return author && author !== text ? `Note by ${author}: ${note}` : `Note: ${note}`;
}
function formatSeconds(seconds) {
  if (seconds === null || seconds === void 0) return "";
  return `${seconds < 10 ? seconds.toFixed(1) : formatNumber(Math.round(seconds))} s`;
}
var describeNoteOf = (names) => `Note on ${names.join(" and ")}`;
var describeSavedNote = (isEmpty) => isEmpty ? "The note is removed." : "The note is saved.";

// src/team.js
var WAITING = "The others are answering the questions that are left";
var WAITING_ADVICE = "You get the next question as soon as their answers make one worth asking.";
var NO_NAME = "No name";
var REVIEW = "Review";
var REVIEW_ADVICE = "Answers about these pairs disagree or are probably wrong. “Same” and “Different” are certain from then on and outrank all other answers. “Not sure” decides nothing, and the pair is not shown to you again.";
var OTHERS_ADVICE = "You can change your own answers. An answer of somebody else is changed by that person, or decided in a review.";
var NO_REVIEW = "No pair needs your review.";
var isOwn = (state, kind, source) => !state?.team || kind === "done" || kind === "name" || kind !== "import" && source === state.team.you;
var countReview = (n) => n === 0 ? NO_REVIEW : `${formatCount(n, "pair")} ${n === 1 ? "needs" : "need"} a review.`;
var describeOpinion = ({ text, answer }) => `${text || NO_NAME}: ${ANSWER_LABELS[answer]}`;
var describeOccasion = ({ when, kind }) => [formatTime(when), kind === "add" ? "added" : ""].filter(Boolean).join(" · ");
var describeBelief = (answer) => `By all answers: ${ANSWER_LABELS[answer]}.`;
function describeDecision(names, answer) {
  const end = answer === "unsure" ? "This pair is left to other reviewers." : "This is certain from now on.";
  return `Saved: ${names.join(" and ")} are “${ANSWER_WORDS[answer]}”. ${end} You can take it back in the history.`;
}
var describeNextCase = (found) => found ? `Next pair: ${found.first.name} and ${found.second.name}.` : NO_REVIEW;
function describeCounts({ own, all, median_seconds: median }) {
  const parts = [`You: ${formatNumber(own)}`, `team: ${formatNumber(all)}`];
  const pace = formatSeconds(median);
  return [...parts, ...pace ? [`your median: ${pace} per answer`] : []].join(" · ");
}
function describePeople({ you, here }) {
  const others = here.filter((name) => name !== you);
  return `You are ${you}. ${others.length ? `Also here: ${others.join(", ")}.` : "Nobody else is here now."}`;
}

// src/conflict_dialog.js
var TAKE_BACK = { import: "Take back the import", done: "Take back “done”" };
function renderResolutions(page, link, resolve) {
  if (!isOwn(page.controller.state, link.kind, link.source) && link.event !== null) {
    return [h("span", { class: "lw-soft" }, link.source || NO_NAME)];
  }
  if (link.event === null) return [h("span", { class: "lw-new-answer" }, "new answer")];
  const about = describePair(...link.names, link.answer);
  const other = link.answer === "yes" ? "no" : "yes";
  const label = `Change to ${ANSWER_LABELS[other]}`;
  const change = () => resolve({ do: "change", event: link.event, answer: other }, describeChange(link.names, other));
  const takeBack = () => resolve({ do: "take_back", event: link.event }, describeTakenBack(about));
  const canChange = link.kind === "answer" || link.kind === "add";
  const words = TAKE_BACK[link.kind] ?? "Take back";
  return listChildren(
    canChange && createButton(label, change, { "aria-label": `${label} (${about})` }),
    createButton(words, takeBack, { "aria-label": `${words} (${about})` })
  );
}
function renderLink(page, link, resolve) {
  const [first, second] = link.names;
  const pair = h(
    "span",
    {},
    createRowLink(page, first, link.first),
    " and ",
    createRowLink(page, second, link.second),
    `: ${ANSWER_WORDS[link.answer]}`
  );
  return h(
    "li",
    { class: link.event === null && "lw-new" },
    renderIcon(link.answer),
    h(
      "div",
      { class: "lw-description" },
      pair,
      renderValues(page, link),
      link.event !== null && h("span", { class: "lw-soft" }, describeSource(link))
    ),
    h("div", { class: "lw-resolutions" }, renderResolutions(page, link, resolve))
  );
}
function openConflict(page, conflict) {
  const { controller } = page;
  const isSecond = conflict.resolved.length > 0;
  const title = isSecond ? ANOTHER_CONFLICT : CONFLICT;
  const { body, foot, close } = openDialog(page, title, "lw-wide");
  const resolve = async (request, change) => {
    const reply = await controller.request(request);
    if (reply.ok) {
      close();
      await controller.retry(conflict, change, reply.moved);
    } else if (reply.error.chain) draw(reply.error.chain);
    else {
      body.prepend(h("p", { class: "lw-notice", "data-tone": "warn" }, reply.error.text));
      page.announce(reply.error.text);
    }
  };
  const draw = (chain) => {
    body.replaceChildren(
      h("p", {}, CONFLICT_ADVICE),
      h(
        "ol",
        { class: "lw-chain" },
        chain.map((link) => renderLink(page, link, resolve))
      )
    );
  };
  draw(conflict.error.chain);
  if (isSecond) foot.append(h("p", { class: "lw-soft lw-steps" }, describeResolved(conflict.resolved)));
  const leave = () => {
    close();
    if (!isSecond) return;
    const words = describeUnstored(conflict.resolved);
    controller.warn(words);
    conflict.show?.(words, "warn");
  };
  const label = isSecond ? "Keep the remaining answers" : "Keep the earlier answers";
  foot.append(createButton(label, leave, { className: "lw-main" }));
}

// src/follow_up.js
async function followUp(controller, reply) {
  if (!reply.ok) return "";
  const { follows: last = 0, moved = "" } = reply;
  while (controller.state && controller.state.event < last) {
    await /** @type {Promise<void>} */
    new Promise((resolve) => {
      const notify = () => {
        controller.watchers.delete(notify);
        resolve();
      };
      controller.watchers.add(notify);
    });
  }
  return controller.state?.moves?.find(({ event }) => event === last)?.moved ?? moved;
}
var hasOtherExamples = (before, after) => JSON.stringify(before?.examples) !== JSON.stringify(after.examples);

// src/item_cache.js
var MOST_ITEMS = 400;
var ItemCache = class {
  /** @type {Map<number, Item>} */
  #items = /* @__PURE__ */ new Map();
  #request;
  /** @param {(request: Request) => Promise<Reply>} request send a request to the host */
  constructor(request) {
    this.#request = request;
  }
  /** @param {Item} item */
  add(item) {
    this.#items.set(item.row, item);
  }
  clear() {
    this.#items.clear();
  }
  /**
   * How a row looks; asked of the host unless it is remembered. Null if the host gives an error.
   * @param {number} row
   * @returns {Promise<Item | null>}
   */
  async load(row) {
    const [item] = await this.loadAll([row]);
    return item ?? null;
  }
  /**
   * How some rows look; none if the host gives an error.
   * @param {number[]} rows at most as many as the host gives at once
   * @returns {Promise<Item[]>}
   */
  async loadAll(rows) {
    const known = new Map(rows.map((row) => [row, this.#items.get(row)]));
    const unknown = rows.filter((row) => !known.get(row));
    if (unknown.length) {
      const reply = await this.#request({ do: "item", rows: unknown });
      if (!reply.ok) return [];
      for (
        const item of
        /** @type {Item[]} */
        reply.items
      ) {
        const [oldest] = this.#items.keys();
        if (this.#items.size > MOST_ITEMS) this.#items.delete(oldest);
        known.set(item.row, item);
        this.add(item);
      }
    }
    return rows.flatMap((row) => known.get(row) ?? []);
  }
};

// src/remark.js
async function storeWithRemark(draft, question, request, store) {
  const remark = draft.take();
  const reply = await store({ ...request, ...remark });
  if (!reply?.ok) draft.restore(remark.note, question);
}

// src/repeat_request.js
var KINDS = { yes: "must-link", no: "cannot-link" };
function repeatRequest(state, request, pair) {
  if (!pair || pair.answer === "unsure" || request.do !== "answer" && request.do !== "merge")
    return request;
  const question = state?.question;
  if (question && request.do === "answer") {
    const rows = /* @__PURE__ */ new Set([question.first.row, question.second.row, pair.first, pair.second]);
    if (rows.size === 2) return { do: "answer", question: question.id, answer: pair.answer };
  }
  return { do: "add", first: pair.first, second: pair.second, kind: KINDS[pair.answer] };
}

// src/controller.js
var READ_MS = 150;
var SLOW_MS = 120;
var Controller = class {
  /** @type {State | null} */
  state = null;
  hasFailed = false;
  /** @type {Link} */
  link = "open";
  /** @type {"saved" | "saving" | "unsaved"} */
  saving = "saved";
  askedAt = 0;
  // when the question was shown
  /** What goes with the next answer. @type {Draft} */
  draft = { take: () => ({ seconds: 0 }), restore() {
  } };
  /** @type {Selection} */
  selection = [null, null];
  /** Called after every change of the session. @type {Set<() => void>} */
  watchers = /* @__PURE__ */ new Set();
  /** @type {Uint8Array | Uint16Array} */
  #labels = new Uint8Array(0);
  /** @type {Request | null} */
  #pending = null;
  #warning = "";
  #wasOpen = false;
  // whether the host was reached before
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
    if (before?.table?.encoding !== state.table?.encoding) this.#items.clear();
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
    if (isBack) this.#items.clear();
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
    await storeWithRemark(
      this.draft,
      question.id,
      { do: "answer", question: question.id, answer },
      (sent) => this.store(sent, { pair })
    );
  }
  async undo() {
    if (!this.state?.undo) {
      this.display.showNotice(NOTHING_TO_UNDO);
      return;
    }
    const describe = (
      /** @param {Reply & { ok: true }} reply */
      (reply) => describeUndo(reply.undone)
    );
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
  /** @param {string} what */
  async export(what) {
    const reply = await this.request({ do: "export", what });
    if (!reply.ok) {
      this.warn(reply.error.text);
      return;
    }
    if (reply.file) this.display.download(reply.name, reply.type, reply.file);
    this.display.showNotice(describeDownload(reply.name));
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
    if (this.link !== "open") return void 0;
    if (this.isPending) {
      this.#warn(BUSY);
      return void 0;
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
    const store = (
      /** @param {Request} sent */
      (sent) => this.store(sent, context)
    );
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
    const next = this.state ? describeNextQuestion(this.state) : "";
    this.display.announce(joinSentences(words || SAVED_ANSWER, moved, this.#warning, next));
  }
  /** @param {"saved" | "saving" | "unsaved"} saving */
  #setSaving(saving) {
    this.saving = saving;
    this.display.updateStatus();
  }
};

// src/examples.js
var MARK = "Use as an example";
var UNMARK = "Remove example";
var MARK_QUESTION = "Make the present question an example:";
var findExample = (page, first, second) => page.controller.state?.examples?.find(
  (each) => [each.first, each.second].includes(first) && [each.first, each.second].includes(second)
);
function addExample(page, { first, second, names, answer, reason }, show) {
  const words = `Saved: ${names.join(" and ")} are an example of “${ANSWER_WORDS[answer]}”.`;
  return page.controller.store(
    { do: "example", first, second, answer, note: reason },
    { describe: () => words, show }
  );
}
function removeExample(page, { first, second, names }, show) {
  const words = `Saved: ${names.join(" and ")} are no longer an example.`;
  return page.controller.store(
    { do: "example", first, second, answer: "none" },
    { describe: () => words, show }
  );
}
var renderExamples = (page, examples, show) => h(
  "ul",
  { class: "lw-chain lw-opinions", "aria-label": "Examples" },
  examples.map(
    (example) => h(
      "li",
      {},
      renderIcon(example.answer),
      h(
        "div",
        { class: "lw-description" },
        h(
          "span",
          {},
          createRowLink(page, example.names[0], example.first),
          "  –  ",
          createRowLink(page, example.names[1], example.second)
        ),
        h("span", { class: "lw-soft" }, ANSWER_LABELS[example.answer]),
        example.reason && h("span", { class: "lw-note-text" }, example.reason)
      ),
      createButton("Remove", () => removeExample(page, example, show), {
        className: "lw-quiet",
        "aria-label": `Remove the example: ${example.names.join(" and ")}`
      })
    )
  )
);
function renderMarking(page, { first, second }, show) {
  const answers = ["yes", "no"];
  const names = (
    /** @type {[string, string]} */
    [first.name, second.name]
  );
  const buttons = answers.map(
    (answer) => createButton(
      [renderIcon(answer), h("span", {}, ANSWER_LABELS[answer])],
      () => addExample(page, { first: first.row, second: second.row, names, answer, reason: "" }, show),
      { "data-key": answer }
    )
  );
  return h(
    "div",
    { class: "lw-marking", role: "group", "aria-label": `${MARK_QUESTION} ${names.join(" and ")}` },
    h("span", {}, `${MARK_QUESTION} ${names.join(" – ")}`),
    buttons
  );
}

// src/guidelines_dialog.js
var SEEN = "linkwise-guidelines";
var HINT = "These guidelines say what belongs together here. Press I to read them again.";
function openGuidelines(page) {
  const { controller } = page;
  if (!hasGuidelines(controller.state) || page.hasDialog) return;
  const { box, body, heading } = openDialog(page, "Guidelines");
  const content = h("div", { class: "lw-body" });
  const notice = createNotice();
  body.append(content, notice.node, h("p", { class: "lw-soft" }, HINT));
  const show = () => {
    const { guidelines, examples = [], question } = controller.state ?? {};
    const hadFocus = content.contains(page.focused);
    const key = page.focused?.dataset.key;
    content.replaceChildren(
      ...guidelines ? [h("p", { class: "lw-guidelines" }, guidelines)] : [],
      ...examples.length ? [h("h3", {}, "Examples"), renderExamples(page, examples, notice.show)] : [],
      ...question ? [renderMarking(page, question, notice.show)] : []
    );
    if (!hadFocus) return;
    const buttons = [...content.querySelectorAll("button")];
    (buttons.find((node) => key && node.dataset.key === key) ?? heading).focus();
  };
  controller.watchers.add(show);
  box.addEventListener("close", () => controller.watchers.delete(show));
  show();
}
var hasGuidelines = (state) => Boolean(state?.guidelines || state?.examples);
function introduceGuidelines(page, state) {
  if (!hasGuidelines(state)) return;
  const shown = state.guidelines || JSON.stringify(state.examples);
  try {
    if (localStorage.getItem(SEEN) === shown) return;
    localStorage.setItem(SEEN, shown);
  } catch {
    return;
  }
  openGuidelines(page);
}

// src/later.js
var LATER = "The question comes back after others, and this is no answer";
var POSTPONED = "The question comes back after others.";
var NO_OTHER_QUESTION = "There is no other question to ask now.";
async function postpone(controller) {
  const question = controller.state?.question;
  if (!question) return;
  const describe = (
    /** @param {Reply & { ok: true }} reply */
    (reply) => reply.other ? POSTPONED : NO_OTHER_QUESTION
  );
  await controller.store({ do: "later", question: question.id }, { describe });
}

// src/help_dialog.js
var KEYS = [
  ...SHARED_KEYS,
  ["L", `Later: ${LATER[0].toLowerCase()}${LATER.slice(1)}`],
  ["W", "Why this question is asked"],
  ["G", "What the current clustering suggests"],
  ["A", "Add a note to the answer that you give next"],
  ["H", "History: change any answer or take it back"],
  ["/", "Search the clusters, if there are more than twelve"],
  ["+ − 0", "Zoom in, zoom out, show all rows"],
  ["← ↑ → ↓", "Move the plot while it has the focus; Enter opens the row at the cross"]
];
var GUIDELINES_KEY = ["I", "Guidelines: what belongs together here"];
var COLUMNS_KEY = ["C", "Columns: what rows are compared by"];
var REVIEW_KEY = ["R", "Review: decide pairs on which answers disagree or are probably wrong"];
var TEAM_KEY = ["T", "Team: how often each person is wrong, and how often two of them agree"];
function openHelp(page) {
  const { body } = openDialog(page, "Keys");
  const { guidelines, examples, n_review: toReview, table, team } = page.controller.state ?? {};
  const more = [
    ...guidelines || examples ? [GUIDELINES_KEY] : [],
    ...table ? [COLUMNS_KEY] : [],
    ...toReview ? [REVIEW_KEY] : [],
    ...team ? [TEAM_KEY] : []
  ];
  const lines = [...KEYS, ...more].flatMap(([letter, words]) => [
    h("dt", {}, h("kbd", {}, letter)),
    h("dd", {}, words)
  ]);
  const scope = "Keys work while this page has the focus, and never in a text field.";
  body.append(h("dl", { class: "lw-keys" }, lines), h("p", { class: "lw-soft" }, scope));
  const notes = page.controller.state?.notes ?? [];
  if (!notes.length) return;
  body.append(
    h("h3", {}, "How the data were read"),
    h(
      "ul",
      { class: "lw-notes" },
      notes.map((note) => h("li", {}, note))
    )
  );
}

// src/note_dialog.js
function openNote(page, event) {
  const { body, foot, close } = openDialog(page, describeNoteOf(event.names));
  const field = h("textarea", { class: "lw-note-field", rows: 4, "aria-label": describeNoteOf(event.names) });
  field.value = event.note ?? "";
  const notice = createNotice();
  const save = async () => {
    const note = field.value.trim();
    const describe = () => describeSavedNote(!note);
    const reply = await page.controller.store(
      { do: "note", event: event.number, note },
      { describe, show: notice.show }
    );
    if (reply?.ok) close();
  };
  body.append(field, notice.node);
  foot.append(
    createButton("Save the note", save, { className: "lw-main" }),
    createButton("Leave it as it is", close)
  );
  field.focus();
}

// src/history_dialog.js
var PAGE_EVENTS = 50;
var MOST_EVENTS = 200;
function renderChoices(event, store) {
  const answers = event.kind === "add" ? ["yes", "no"] : ["yes", "no", "unsure"];
  const pair = event.names.join(" and ");
  const change = (
    /** @param {Answer} answer */
    (answer) => {
      if (answer === event.answer) return;
      store({ do: "change", event: event.number, answer }, `Saved: ${describeChange(event.names, answer)}.`);
    }
  );
  return h(
    "div",
    { class: "lw-segments", role: "group", "aria-label": `Answer about ${pair}` },
    answers.map(
      (answer) => createButton(ANSWER_LABELS[answer], () => change(answer), {
        "aria-pressed": String(event.answer === answer),
        "data-key": `${event.number}-${answer}`
      })
    )
  );
}
function renderExampleButton(page, { number, first, second, names, answer, note }, show) {
  const found = findExample(page, first, second);
  const isSame = found?.answer === answer;
  const pair = { first, second, names: (
    /** @type {[string, string]} */
    names
  ), reason: note ?? "" };
  const toggle = () => isSame ? removeExample(page, pair, show) : addExample(page, { ...pair, answer: answer === "yes" ? "yes" : "no" }, show);
  return createButton(isSame ? UNMARK : MARK, toggle, {
    className: "lw-quiet",
    "aria-label": `${isSame ? UNMARK : MARK}: ${names.join(" and ")}`,
    "data-key": `${number}-example`
  });
}
function renderEvent(page, event, store, show) {
  const words = describeEvent(event);
  const isPair = event.kind === "answer" || event.kind === "add";
  const canRevise = isOwn(page.controller.state, event.kind, event.text);
  const takeBack = () => store({ do: "take_back", event: event.number }, describeUndo(event));
  const title = isPair ? h(
    "span",
    {},
    createRowLink(page, event.names[0], event.first),
    "  –  ",
    createRowLink(page, event.names[1], event.second)
  ) : h("span", {}, words);
  return h(
    "li",
    {},
    h(
      "div",
      { class: "lw-description" },
      title,
      isPair && renderValues(page, event),
      h(
        "span",
        { class: "lw-soft" },
        [describeDetails(event), formatSeconds(event.seconds)].filter(Boolean).join(" · ")
      ),
      event.note && h("span", { class: "lw-note-text" }, describeNote(event))
    ),
    isPair && (canRevise ? renderChoices(event, store) : h("span", {}, ANSWER_LABELS[event.answer])),
    h(
      "div",
      { class: "lw-acts" },
      isPair && createButton(event.note ? "Edit the note" : NOTE, () => openNote(page, event), {
        className: "lw-quiet",
        "aria-label": `${event.note ? "Edit the note" : NOTE}: ${words}`,
        "aria-haspopup": "dialog",
        "data-key": `${event.number}-note`
      }),
      isPair && event.answer !== "unsure" && renderExampleButton(page, event, show),
      canRevise && createButton("Take back", takeBack, {
        className: "lw-quiet",
        "aria-label": `Take back: ${words}`,
        "data-key": `${event.number}-back`
      })
    )
  );
}
async function openHistory(page) {
  const { controller } = page;
  const { box, body, heading } = openDialog(page, "History", "lw-drawer");
  const list = h("ol", { class: "lw-history" });
  const none = h("p", { class: "lw-soft", hidden: true }, EMPTY_HISTORY);
  const more = createButton("Show earlier answers", () => load(events.at(-1)?.number), { hidden: true });
  const notice = createNotice();
  const advice = controller.state?.team ? `${HISTORY_ADVICE} ${OTHERS_ADVICE}` : HISTORY_ADVICE;
  body.append(...listChildren(h("p", { class: "lw-soft" }, advice), notice.node, list, none, more));
  const store = async (request, words) => {
    notice.show("");
    await controller.store(request, { describe: () => words, show });
  };
  let loaded = Promise.resolve();
  const show = (
    /** @type {ShowOutcome} */
    async (outcome, tone) => {
      await loaded;
      notice.show(outcome, tone);
    }
  );
  let events = [];
  const load = async (before = null, limit = PAGE_EVENTS) => {
    const reply = await controller.request({ do: "history", before, limit });
    if (!box.isConnected) return;
    if (!reply.ok) {
      controller.warn(reply.error.text);
      return;
    }
    events = before === null ? reply.events : [...events, ...reply.events];
    const key = page.focused && box.contains(page.focused) ? page.focused.dataset.key : void 0;
    list.replaceChildren(...events.map((event) => renderEvent(page, event, store, show)));
    none.hidden = events.length > 0;
    more.hidden = !reply.more;
    if (!key) return;
    const buttons = [...list.querySelectorAll("button")];
    (buttons.find((node) => node.dataset.key === key) ?? heading).focus();
  };
  const reload = () => {
    loaded = load(null, clamp(events.length, PAGE_EVENTS, MOST_EVENTS));
  };
  controller.watchers.add(reload);
  box.addEventListener("close", () => controller.watchers.delete(reload));
  await load();
}

// src/header.js
var EXPORTS = [
  ["labels", "Clusters (CSV)"],
  ["constraints", "Pairs (CSV)"],
  ["session", "Session file"],
  ["rules", "Rules (text)"]
];
function createExportMenu(page) {
  const items = EXPORTS.map(([what, label]) => {
    const save = () => {
      close();
      page.controller.export(what);
    };
    return createButton(label, save, { className: "lw-quiet", "data-what": what });
  });
  const list = h("div", { class: "lw-menu", id: page.createId("export"), hidden: true }, items);
  const setOpen = (
    /** @param {boolean} isOpen */
    (isOpen) => {
      list.hidden = !isOpen;
      opener.setAttribute("aria-expanded", String(isOpen));
    }
  );
  const open = () => {
    setOpen(true);
    items[0].focus();
  };
  const close = () => {
    if (list.hidden) return;
    setOpen(false);
    opener.focus();
  };
  const opener = createButton("Export", () => list.hidden ? open() : close(), {
    className: "lw-plain",
    "aria-expanded": "false",
    "aria-controls": list.id
  });
  const node = h("div", { class: "lw-export" }, opener, list);
  node.addEventListener("focusout", (event) => {
    if (!node.contains(
      /** @type {Node | null} */
      event.relatedTarget
    )) setOpen(false);
  });
  node.addEventListener("keydown", (event) => event.key === "Escape" && close());
  return { node, rules: items[items.length - 1] };
}
function createHeader(page) {
  const { controller } = page;
  const title = h("span", { class: "lw-title" });
  const status = h("span", {});
  const saved = h("span", { class: "lw-saved" }, h("i", { "aria-hidden": "true" }), status);
  const menu = createExportMenu(page);
  const guidelines = createButton("Guidelines", () => openGuidelines(page), {
    className: "lw-plain",
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "I",
    hidden: true
  });
  const columns = createButton("Columns", () => openColumns(page), {
    className: "lw-plain",
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "C",
    hidden: true
  });
  const node = h(
    "header",
    { class: "lw-header" },
    h("span", { class: "lw-brand" }, renderIcon("yes", { width: 26, height: 22 }), h("span", {}, "linkwise")),
    title,
    saved,
    h(
      "div",
      { class: "lw-tools" },
      guidelines,
      columns,
      createButton("History", () => openHistory(page), { className: "lw-plain" }),
      menu.node,
      createButton("?", () => openHelp(page), {
        className: "lw-plain",
        "aria-label": "Keys and help",
        title: "Keys and help"
      })
    )
  );
  const updateStatus = () => {
    const place = controller.state?.place ?? null;
    const words = {
      saving: "Saving…",
      unsaved: "Not saved",
      saved: place ? `Saved in ${fileName(place)}` : MEMORY_ONLY,
      lost: controller.hasFailed ? "Stopped" : "Connection lost"
    };
    const current = controller.link === "open" ? controller.saving : "lost";
    saved.hidden = !controller.state && controller.link === "open";
    saved.dataset.is = current === "saved" && !place ? "memory" : current;
    saved.title = place ?? "";
    setText(status, words[current]);
  };
  return {
    node,
    updateStatus,
    /** @param {State} state */
    update(state) {
      setText(title, state.title || "");
      columns.hidden = !hasColumns(state);
      guidelines.hidden = !hasGuidelines(state);
      menu.rules.hidden = !state.rules;
      updateStatus();
    }
  };
}

// src/keys.js
var NOT_HERE2 = "input, textarea, select, [contenteditable], dialog";
function listenToKeys(root, actions) {
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation();
    const target = (
      /** @type {Element} */
      event.composedPath()[0]
    );
    if (event.defaultPrevented || event.isComposing || target.closest(NOT_HERE2)) return;
    const act = actions[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
}

// src/map_choice.js
function createMapChoice(page) {
  const place = async (by) => {
    if (isRunning && by === "neighbours") return;
    const reply = await page.controller.request({ do: "map", by });
    if (!reply.ok) page.announce(reply.error.text);
  };
  const near = createButton("", () => place("neighbours"), { className: "lw-quiet" });
  const axes = createButton("Map by axes", () => place("axes"), { className: "lw-quiet" });
  const node = h(
    "div",
    { class: "lw-map-choice", role: "group", "aria-label": "Places of the rows" },
    near,
    axes
  );
  let isRunning = false;
  return {
    node,
    /** @param {State} state */
    update(state) {
      node.hidden = !state.map;
      if (!state.map) return;
      const { by, running } = state.map;
      setText(near, running ? "Placing the rows …" : by === "axes" ? "Map by neighbours" : "Map anew");
      setEnabled(near, !running);
      axes.hidden = by === "axes" && !running;
      if (isRunning && !running) page.announce(state.axes ?? "");
      isRunning = running;
    }
  };
}

// src/moved_rows.js
var SHOWN_MS = 1e3;
var MOST = 2e3;
function findMovedRows(before, after) {
  if (before.length !== after.length) return [];
  const [was, is] = [before, after].map((labels) => labels.BYTES_PER_ELEMENT === 1 ? 255 : 65535);
  const rows = [];
  for (let row = 0; row < after.length; row += 1) {
    const isNoise = after[row] === is;
    if (isNoise ? before[row] !== was : before[row] !== after[row] || before[row] === was) rows.push(row);
  }
  return rows;
}
function thinOut(rows, most = MOST) {
  const step = Math.max(1, rows.length / most);
  return Array.from({ length: Math.min(rows.length, most) }, (_, i) => rows[Math.floor(i * step)]);
}
function createMovedRows(node, draw) {
  let shown = [];
  let timer;
  const hide = () => {
    shown = [];
    delete node.dataset.moved;
    draw();
  };
  return {
    get rows() {
      return shown;
    },
    /** @param {number[]} rows */
    show(rows) {
      clearTimeout(timer);
      if (!rows.length) return hide();
      shown = thinOut(rows);
      node.dataset.moved = String(rows.length);
      timer = setTimeout(hide, SHOWN_MS);
      return draw();
    },
    close() {
      clearTimeout(timer);
    }
  };
}

// src/gestures.js
var CLICK2 = 4;
var STEP2 = 24;
var KEYBOARD_REACH = 40;
var ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
function listenToGestures(node, actions) {
  listenToPointers(node, actions);
  listenToKeyboard(node, actions);
}
function listenToPointers(node, actions) {
  const touches = /* @__PURE__ */ new Map();
  let [dragged, spread] = [0, 0];
  const locate = (event) => {
    const edge = node.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  };
  const pinch = () => {
    const [a, b] = [...touches.values()];
    const now = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (spread) actions.zoom(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    spread = now;
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    node.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, locate(event));
    dragged = touches.size > 1 ? Infinity : 0;
    spread = 0;
    if (touches.size === 2) pinch();
    actions.setKeyboard(false);
  });
  node.addEventListener("pointermove", (event) => {
    const at = locate(event);
    const from = touches.get(event.pointerId);
    if (!from) {
      actions.point(...at);
      return;
    }
    touches.set(event.pointerId, at);
    if (touches.size === 2) {
      pinch();
      return;
    }
    const [dx, dy] = [at[0] - from[0], at[1] - from[1]];
    dragged += Math.hypot(dx, dy);
    if (dragged > CLICK2 && actions.isReady()) actions.pan(dx, dy);
  });
  node.addEventListener("pointerup", (event) => {
    const isClick = touches.delete(event.pointerId) && dragged <= CLICK2;
    spread = 0;
    if (!isClick) return;
    actions.point(...locate(event), event.pointerType === "mouse" ? 9 : 18);
    actions.choose(event.ctrlKey || event.metaKey);
  });
  node.addEventListener("pointercancel", (event) => touches.delete(event.pointerId));
  node.addEventListener("pointerleave", actions.leave);
  const turnWheel = (
    /** @param {WheelEvent} event */
    (event) => {
      if (!actions.canZoom()) return;
      event.preventDefault();
      actions.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 15e-4)), ...locate(event));
    }
  );
  node.addEventListener("wheel", turnWheel, { passive: false });
}
function listenToKeyboard(node, actions) {
  const pointAtCentre = () => {
    const { width, height } = actions.size();
    actions.point(width / 2, height / 2, KEYBOARD_REACH);
  };
  node.addEventListener("focus", () => {
    const isKeyboard = node.matches(":focus-visible");
    actions.setKeyboard(isKeyboard);
    if (isKeyboard) pointAtCentre();
  });
  node.addEventListener("blur", actions.leave);
  node.addEventListener("keydown", (event) => {
    const isPair = event.ctrlKey || event.metaKey;
    if (event.altKey || isPair && event.key !== "Enter" || !actions.isReady()) return;
    const direction = ARROWS[event.key];
    if (direction) {
      actions.setKeyboard(true);
      actions.pan(STEP2 * direction[0], STEP2 * direction[1]);
      pointAtCentre();
    } else if (event.key !== "Enter" || !actions.choose(isPair)) return;
    event.preventDefault();
  });
}

// src/nearest_row.js
function indexRows(places) {
  const n = places.length / 2;
  const side = clamp(Math.round(Math.sqrt(n) / 2), 1, 1024);
  const cellOf = (
    /** @param {number} value */
    (value) => clamp(Math.floor((value + 1) / 2 * side), 0, side - 1)
  );
  const starts = new Uint32Array(side * side + 1);
  const cells = new Uint32Array(n);
  for (let row = 0; row < n; row += 1) {
    cells[row] = cellOf(places[2 * row + 1]) * side + cellOf(places[2 * row]);
    starts[cells[row] + 1] += 1;
  }
  for (let i = 0; i < side * side; i += 1) starts[i + 1] += starts[i];
  const next = starts.slice();
  const rows = new Uint32Array(n);
  for (let row = 0; row < n; row += 1) {
    rows[next[cells[row]]] = row;
    next[cells[row]] += 1;
  }
  return (x, y, reach) => {
    let nearest = -1;
    let least = reach * reach;
    for (let line = cellOf(y - reach); line <= cellOf(y + reach); line += 1) {
      const end = starts[line * side + cellOf(x + reach) + 1];
      for (let k = starts[line * side + cellOf(x - reach)]; k < end; k += 1) {
        const row = rows[k];
        const squared = (places[2 * row] - x) ** 2 + (places[2 * row + 1] - y) ** 2;
        if (squared <= least) [nearest, least] = [row, squared];
      }
    }
    return nearest;
  };
}

// src/pixel_painter.js
function createStamps(size, stride) {
  const side = Math.ceil(size) + 1;
  const coverage = (
    /** @type {(x: number, y: number) => number} */
    (x, y) => {
      if (size > 2.5) return clamp(size / 2 - Math.hypot(x - size / 2, y - size / 2), 0, 1);
      return Number(Math.min(x, y) >= 0 && Math.max(x, y) < size);
    }
  );
  return Array.from({ length: 16 }, (_, position) => {
    const [right, down] = [(position % 4 + 0.5) / 4, ((position >> 2) + 0.5) / 4];
    const found = [];
    for (let y = 0; y < side; y += 1) {
      for (let x = 0; x < side; x += 1) {
        const share = Math.round(256 * coverage(x + 0.5 - right, y + 0.5 - down));
        if (share) found.push([y * stride + x, share]);
      }
    }
    return { at: Int32Array.from(found, ([at]) => at), share: Int32Array.from(found, ([, share]) => share) };
  });
}
function createPixelPainter(canvas) {
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  let places = new Float32Array(0);
  let labels = new Uint8Array(0);
  let image = null;
  let pixels = new Uint32Array(0);
  let paper = 0;
  let [redBlue, green, alpha] = [new Int32Array(0), new Int32Array(0), new Int32Array(0)];
  return {
    setPlaces(values) {
      places = values;
    },
    setLabels(values) {
      labels = values;
    },
    setColours(table, paperColour) {
      const words = new Uint32Array(table.buffer);
      redBlue = Int32Array.from(words, (word) => word & 16711935);
      green = Int32Array.from(words, (word) => word & 65280);
      alpha = Int32Array.from(words, (word) => (word >>> 24) + (word >>> 31));
      paper = new Uint32Array(Uint8Array.from([...paperColour, 255]).buffer)[0];
    },
    paint({ ratio, x, y, scale, size }) {
      if (!context) return;
      const [width, height, diameter] = [canvas.width, canvas.height, Math.max(1, size * ratio)];
      const margin = Math.ceil(diameter) + 1;
      const stride = width + 2 * margin;
      if (!image || image.width !== stride || image.height !== height + 2 * margin) {
        image = context.createImageData(stride, height + 2 * margin);
        pixels = new Uint32Array(image.data.buffer);
      }
      pixels.fill(paper);
      const stamps = createStamps(diameter, stride);
      const factor = scale * ratio;
      const left = width / 2 - x * factor - diameter / 2 + margin;
      const top = height / 2 + y * factor - diameter / 2 + margin;
      const [right, bottom] = [width + margin, height + margin];
      for (let row = 0; row < labels.length; row += 1) {
        const px = left + places[2 * row] * factor;
        const py = top - places[2 * row + 1] * factor;
        if (!(px >= 0 && px < right && py >= 0 && py < bottom)) continue;
        const [cx, cy] = [px | 0, py | 0];
        const { at, share } = stamps[((py - cy) * 4 | 0) * 4 + ((px - cx) * 4 | 0)];
        const label = labels[row];
        const [rb, g, a] = [redBlue[label], green[label], alpha[label]];
        const corner = cy * stride + cx;
        for (let k = 0; k < at.length; k += 1) {
          const pixel = corner + at[k];
          const part = a * share[k] >> 8;
          const below = pixels[pixel];
          const [belowRb, belowG] = [below & 16711935, below & 65280];
          const newRb = belowRb + (Math.imul(rb - belowRb, part) >>> 8) & 16711935;
          const newG = belowG + (Math.imul(g - belowG, part) >>> 8) & 65280;
          pixels[pixel] = 4278190080 | newRb | newG;
        }
      }
      context.putImageData(image, -margin, -margin);
    }
  };
}

// src/webgl_painter.js
var VERTEX = `#version 300 es
in vec2 place;
in uint label;
uniform vec2 centre, factor;
uniform float size;
uniform highp sampler2D colours;
flat out vec4 colour;
void main() {
  gl_Position = vec4((place - centre) * factor, 0.0, 1.0);
  gl_PointSize = size;
  colour = texelFetch(colours, ivec2(int(label & 255u), int(label >> 8u)), 0);
}`;
var FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 colour;
uniform float size;
out vec4 shown;
void main() {
  float inside = size > 2.5 ? clamp(size * 0.5 - length(gl_PointCoord - 0.5) * size, 0.0, 1.0) : 1.0;
  shown = vec4(colour.rgb, 1.0) * colour.a * inside;
}`;
function isSoftware(gl) {
  const card = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(
    gl.getParameter(card ? card.UNMASKED_RENDERER_WEBGL : gl.RENDERER)
  );
}
function createProgram(gl) {
  const program = gl.createProgram();
  for (
    const [type, source] of
    /** @type {[number, string][]} */
    [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT]
    ]
  ) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const isUsable = gl.getProgramParameter(program, gl.LINK_STATUS) || gl.isContextLost();
  return isUsable ? program : null;
}
function createWebglPainter(canvas) {
  const gl = canvas.getContext("webgl2", {
    antialias: false,
    powerPreference: "low-power",
    failIfMajorPerformanceCaveat: true
  });
  if (!gl || isSoftware(gl)) return null;
  const program = createProgram(gl);
  if (!program) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniforms = {
    centre: gl.getUniformLocation(program, "centre"),
    factor: gl.getUniformLocation(program, "factor"),
    size: gl.getUniformLocation(program, "size")
  };
  const bindBuffer = (
    /** @param {string} name */
    (name) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(gl.getAttribLocation(program, name));
      return buffer;
    }
  );
  const places = bindBuffer("place");
  gl.vertexAttribPointer(gl.getAttribLocation(program, "place"), 2, gl.FLOAT, false, 0, 0);
  const labels = bindBuffer("label");
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
    gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  let n = 0;
  return {
    setPlaces(values) {
      n = values.length / 2;
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    },
    setLabels(values) {
      const type = values.BYTES_PER_ELEMENT === 1 ? gl.UNSIGNED_BYTE : gl.UNSIGNED_SHORT;
      gl.bindBuffer(gl.ARRAY_BUFFER, labels);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      gl.vertexAttribIPointer(gl.getAttribLocation(program, "label"), 1, type, 0, 0);
    },
    setColours(table) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, table.length / 1024, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
    },
    paint({ width, height, ratio, x, y, scale, size }) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(uniforms.centre, x, y);
      gl.uniform2f(uniforms.factor, 2 * scale / width, 2 * scale / height);
      gl.uniform1f(uniforms.size, Math.max(1, size * ratio));
      gl.drawArrays(gl.POINTS, 0, n);
    }
  };
}

// src/painter.js
function choosePainter(canvas) {
  const webgl = createWebglPainter(canvas);
  if (webgl) return { painter: webgl, usesCard: true, canvas };
  const fresh = (
    /** @type {HTMLCanvasElement} */
    canvas.cloneNode()
  );
  canvas.replaceWith(fresh);
  return { painter: createPixelPainter(fresh), usesCard: false, canvas: fresh };
}

// src/plot_marks.js
var DIAMOND = [
  [0, -1.25],
  [1.25, 0],
  [0, 1.25],
  [-1.25, 0]
];
var DIRECTIONS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1]
];
function traceRing(context, x, y, reach, isSquare) {
  context.beginPath();
  if (isSquare) {
    for (const [dx, dy] of DIAMOND) context.lineTo(x + dx * reach, y + dy * reach);
    context.closePath();
  } else context.arc(x, y, reach, 0, 7);
}
function drawMarks(canvas, { width, height, size, ink, paper, marks, hovered, withCross }) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = canvas.width / width;
  const stroke = (
    /** @type {(colour: string, thickness: number) => void} */
    (colour, thickness) => Object.assign(context, { strokeStyle: colour, lineWidth: thickness }).stroke()
  );
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  for (const { x, y, tag, square, dashed } of marks) {
    if (!tag) {
      traceRing(context, x, y, size / 2 + 2, square);
      stroke(paper, 3.5);
      stroke(ink, 1.75);
      continue;
    }
    const reach = Math.max(9, size / 2 + 5);
    context.setLineDash(dashed ? [4, 3] : []);
    traceRing(context, x, y, reach, square);
    stroke(paper, 5);
    stroke(ink, 2.25);
    context.setLineDash([]);
    context.font = "700 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    Object.assign(context, { strokeStyle: paper, lineWidth: 4, lineJoin: "round" });
    context.strokeText(tag, x, y - reach - 10);
    context.fillStyle = ink;
    context.fillText(tag, x, y - reach - 10);
  }
  if (hovered) {
    traceRing(context, ...hovered, size / 2 + 3, false);
    stroke(paper, 4);
    stroke(ink, 1.5);
  }
  if (withCross) {
    context.beginPath();
    for (const [dx, dy] of DIRECTIONS) {
      context.moveTo(width / 2 + 4 * dx, height / 2 + 4 * dy);
      context.lineTo(width / 2 + 12 * dx, height / 2 + 12 * dy);
    }
    stroke(paper, 4);
    stroke(ink, 1.5);
  }
}

// src/viewport.js
var MARGIN = 36;
function fitRows(places, { width, height }) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < places.length; i += 2) {
    if (places[i] < left) left = places[i];
    if (places[i] > right) right = places[i];
    if (places[i + 1] < low) low = places[i + 1];
    if (places[i + 1] > high) high = places[i + 1];
  }
  const scale = Math.min(
    (width - 2 * MARGIN) / Math.max(right - left, 1e-6),
    (height - 2 * MARGIN) / Math.max(high - low, 1e-6)
  );
  return { x: (left + right) / 2, y: (low + high) / 2, scale };
}
var isSameViewport = (one, other) => one.x === other.x && one.y === other.y && one.scale === other.scale;
var limitViewport = (viewport, home) => ({
  x: clamp(viewport.x, -1.5, 1.5),
  y: clamp(viewport.y, -1.5, 1.5),
  scale: clamp(viewport.scale, home.scale * 0.5, home.scale * 5e3)
});
function zoomAt(viewport, home, size, factor, px, py) {
  const { scale } = limitViewport({ ...viewport, scale: viewport.scale * factor }, home);
  const [dx, dy] = [px - size.width / 2, size.height / 2 - py];
  const x = viewport.x + dx / viewport.scale - dx / scale;
  const y = viewport.y + dy / viewport.scale - dy / scale;
  return limitViewport({ x, y, scale }, home);
}
var panBy = (viewport, home, dx, dy) => limitViewport(
  { ...viewport, x: viewport.x - dx / viewport.scale, y: viewport.y + dy / viewport.scale },
  home
);
var toPixels = (viewport, { width, height }, x, y) => [
  width / 2 + (x - viewport.x) * viewport.scale,
  height / 2 - (y - viewport.y) * viewport.scale
];
var toUnits = (viewport, { width, height }, px, py) => [
  viewport.x + (px - width / 2) / viewport.scale,
  viewport.y - (py - height / 2) / viewport.scale
];
function pointSize(viewport, home, { width, height }, nRows) {
  const zoom = Math.sqrt(viewport.scale / home.scale);
  return clamp(Math.sqrt(width * height * 0.3 / nRows), 1.5, 8) * clamp(zoom, 1, 3);
}

// src/scatter.js
var REACH2 = 9;
var Scatter = class {
  /** @type {Painter | null} */
  #painter = null;
  /** @type {Float32Array} */
  #places = new Float32Array(0);
  /** @type {Uint8Array | Uint16Array} */
  #labels = new Uint8Array(0);
  #noise = 255;
  /** @type {ReturnType<typeof indexRows> | null} */
  #findRow = null;
  /** @type {Viewport | null} */
  #home = null;
  /** @type {Viewport | null} */
  #viewport = null;
  /** @type {Palette | null} */
  #palette = null;
  /** @type {Map<number, number>} */
  #slots = /* @__PURE__ */ new Map();
  /** @type {number | null} */
  #highlighted = null;
  #hovered = -1;
  /** @type {RowMark[]} */
  #marks = [];
  #size = { width: 0, height: 0 };
  #frame = 0;
  #withCross = false;
  #isStale = true;
  // whether the points have to be drawn again, or only what lies over them
  /**
   * @param {HTMLElement} root
   * @param {Handlers} handlers
   */
  constructor(root, handlers) {
    this.root = root;
    this.handlers = handlers;
    this.points = h("canvas", { class: "lw-points" });
    this.overlay = h("canvas", {
      class: "lw-overlay",
      tabindex: "0",
      role: "img",
      "aria-roledescription": "scatter plot",
      "aria-label": "The rows, coloured by cluster"
    });
    this.node = h("div", { class: "lw-scatter" }, this.points, this.overlay);
    listenToGestures(this.overlay, {
      pan: (dx, dy) => this.#pan(dx, dy),
      zoom: (factor, px, py) => this.zoom(factor, px, py),
      point: (px, py, reach) => this.#point(px, py, reach),
      leave: () => this.#leave(),
      choose: (isPair) => this.#choose(isPair),
      setKeyboard: (isKeyboard) => {
        this.#withCross = isKeyboard;
        this.#drawLater();
      },
      size: () => this.#size,
      isReady: () => this.#viewport !== null,
      canZoom: handlers.canZoom
    });
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(this.node);
    const lose = (
      /** @param {Event} event */
      (event) => {
        event.preventDefault();
        this.#painter = null;
      }
    );
    const restore = () => {
      this.#upload();
      this.#paintLater();
    };
    this.node.addEventListener("webglcontextlost", lose, true);
    this.node.addEventListener("webglcontextrestored", restore, true);
  }
  /** The slot of each cluster in the palette. */
  get slots() {
    return this.#slots;
  }
  /** @param {Float32Array} places two coordinates a row, within [-1, 1] */
  setPlaces(places) {
    this.#places = places;
    [this.#findRow, this.#home, this.#viewport] = [null, null, null];
  }
  /**
   * The cluster of each row, and the slot of each cluster in the palette.
   * @param {Uint8Array | Uint16Array} labels the highest number stands for noise
   * @param {Map<number, number>} slots
   */
  setLabels(labels, slots) {
    this.#noise = labels.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
    [this.#labels, this.#slots] = [labels, slots];
    const highlighted = this.#highlighted;
    if (highlighted !== null && highlighted !== this.#noise && !slots.has(highlighted)) {
      this.#highlighted = null;
    }
    this.#palette ??= readPalette(this.root);
    if (!this.#places.length) return;
    if (this.#home && this.#painter) {
      this.#painter.setLabels(labels);
      this.#setColours();
      this.#isStale = true;
      this.#paint();
    } else {
      this.#upload();
      this.#size = { width: 0, height: 0 };
      this.#resize();
    }
  }
  /** @param {RowMark[]} marks */
  mark(marks) {
    this.#marks = marks;
    this.#drawLater();
  }
  /** @param {number | null} cluster the one that alone keeps its colour */
  highlight(cluster) {
    this.#highlighted = cluster !== null && cluster < 0 ? this.#noise : cluster;
    this.#setColours();
    this.#paintLater();
  }
  /** Follow a change between light and dark. */
  recolour() {
    this.#palette = readPalette(this.root);
    this.#setColours();
    this.#paintLater();
  }
  /** Show all rows. */
  reset() {
    if (!this.#home) return;
    this.#viewport = { ...this.#home };
    this.#paintLater();
  }
  /**
   * @param {number} factor
   * @param {number} [px] the pixel that stays where it is; by default the centre
   * @param {number} [py]
   */
  zoom(factor, px = this.#size.width / 2, py = this.#size.height / 2) {
    if (!this.#viewport || !this.#home) return;
    this.#viewport = zoomAt(this.#viewport, this.#home, this.#size, factor, px, py);
    this.#paintLater();
    this.#point(px, py);
  }
  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }
  // ---------------------------------------------------------------- drawing
  #upload() {
    if (!this.#painter) {
      const { painter, usesCard, canvas } = choosePainter(this.points);
      [this.#painter, this.points] = [painter, canvas];
      this.node.dataset.painter = usesCard ? "card" : "memory";
    }
    this.#painter.setPlaces(this.#places);
    this.#painter.setLabels(this.#labels);
    this.#setColours();
  }
  #setColours() {
    const palette = this.#palette;
    if (!this.#painter || !palette) return;
    const table = createColourTable(palette, this.#slots, this.#noise, this.#highlighted);
    this.#painter.setColours(table, parseColour(palette.paper));
  }
  #drawLater() {
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }
  #paintLater() {
    this.#isStale = true;
    this.#drawLater();
  }
  #paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const [viewport, home, palette, size] = [this.#viewport, this.#home, this.#palette, this.#size];
    if (!this.#painter || !viewport || !home || !size.width || !palette) return;
    const diameter = pointSize(viewport, home, size, this.#places.length / 2);
    const ratio = this.points.width / size.width;
    if (this.#isStale) this.#painter.paint({ ...viewport, ...size, ratio, size: diameter });
    this.#isStale = false;
    drawMarks(this.overlay, {
      ...size,
      size: diameter,
      ink: palette.ink,
      paper: palette.paper,
      marks: this.#marks.map(({ row, ...sign }) => {
        const [x, y] = this.#locate(viewport, row);
        return { x, y, ...sign };
      }),
      hovered: this.#hovered >= 0 ? this.#locate(viewport, this.#hovered) : null,
      withCross: this.#withCross
    });
  }
  /**
   * @param {Viewport} viewport
   * @param {number} row
   */
  #locate(viewport, row) {
    return toPixels(viewport, this.#size, this.#places[2 * row], this.#places[2 * row + 1]);
  }
  #resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [width, height] = [this.node.clientWidth, this.node.clientHeight];
    if (!width || !height) return;
    const isSame = width === this.#size.width && height === this.#size.height;
    if (isSame && this.points.width === Math.round(width * ratio)) return;
    if (!this.#palette) {
      this.#palette = readPalette(this.root);
      this.#setColours();
    }
    this.#size = { width, height };
    for (const canvas of [this.points, this.overlay]) {
      Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    }
    const hasMoved = this.#home && this.#viewport && !isSameViewport(this.#viewport, this.#home);
    if (this.#places.length) this.#home = fitRows(this.#places, this.#size);
    if (!hasMoved) this.#viewport = this.#home && { ...this.#home };
    this.#isStale = true;
    this.#paint();
  }
  // ---------------------------------------------------------------- pointing and moving
  /**
   * @param {number} dx
   * @param {number} dy
   */
  #pan(dx, dy) {
    if (!this.#viewport || !this.#home) return;
    this.#viewport = panBy(this.#viewport, this.#home, dx, dy);
    this.#paintLater();
  }
  /**
   * @param {number} px
   * @param {number} py
   * @param {number} [reach]
   */
  #point(px, py, reach = REACH2) {
    const viewport = this.#viewport;
    let row = -1;
    if (viewport && this.#places.length) {
      this.#findRow ??= indexRows(this.#places);
      row = this.#findRow(...toUnits(viewport, this.#size, px, py), reach / viewport.scale);
    }
    if (row !== this.#hovered) {
      this.#hovered = row;
      this.overlay.style.cursor = row >= 0 ? "pointer" : "grab";
      this.#drawLater();
    }
    if (viewport && row >= 0) this.handlers.hover(row, ...this.#locate(viewport, row));
    else this.handlers.hover(-1, 0, 0);
  }
  #leave() {
    [this.#hovered, this.#withCross] = [-1, false];
    this.handlers.hover(-1, 0, 0);
    this.#drawLater();
  }
  #choose(isPair) {
    if (this.#hovered < 0) return false;
    this.handlers.choose(this.#hovered, isPair);
    return true;
  }
};

// src/map_panel.js
var BY_MOUSE = "Drag to move, scroll to zoom, click a row to open it. Ctrl-click two rows to pair them.";
var BY_FINGER = "Drag sideways to move, pinch to zoom, tap a row to open it.";
var HOVER_MS = 70;
function createTip(page) {
  const node = h("div", { class: "lw-tooltip", hidden: true, "aria-hidden": "true" });
  let row = -1;
  let timer;
  const show = async (x, y) => {
    const shown = row;
    const item = await page.controller.loadItem(shown);
    if (!item || shown !== row) return;
    const cluster = page.controller.clusterOf(shown);
    const name = cluster ? clusterName(cluster) : "";
    node.replaceChildren(
      h("strong", {}, item.name),
      ...renderGlimpse(item),
      h("p", { class: "lw-soft" }, name)
    );
    node.hidden = false;
    const { clientWidth, clientHeight } = (
      /** @type {HTMLElement} */
      node.parentElement
    );
    const isLow = y + 16 + node.offsetHeight > clientHeight;
    node.style.left = `${clamp(x + 14, 4, Math.max(4, clientWidth - node.offsetWidth - 4))}px`;
    node.style.top = `${isLow ? Math.max(4, y - node.offsetHeight - 14) : y + 16}px`;
    page.announce(`${item.name}, ${name}`);
  };
  return {
    node,
    /** @type {(hovered: number, x: number, y: number) => void} */
    hover(hovered, x, y) {
      if (hovered === row && row >= 0 && !node.hidden) return;
      row = hovered;
      clearTimeout(timer);
      node.hidden = true;
      if (row >= 0) timer = setTimeout(() => show(x, y), HOVER_MS);
    }
  };
}
function createSelection(page) {
  const { controller } = page;
  const node = h("div", { class: "lw-chosen", hidden: true });
  const reason = h("p", { class: "lw-explanation", hidden: true });
  const explain = async (first, second) => {
    const reply = await controller.request({ do: "why", first: first.row, second: second.row });
    setText(reason, reply.ok ? reply.text : reply.error.text);
    reason.hidden = false;
    page.announce(reason.textContent ?? "");
  };
  const clear = () => {
    controller.select([null, null]);
    page.root.focus();
  };
  const renderButtons = (first, second) => {
    if (!first || !second) return [];
    return [
      createButton("Mark as same", () => controller.mark(first, second, "yes")),
      createButton("Mark as different", () => controller.mark(first, second, "no")),
      createButton("Explain their clusters", () => explain(first, second), { className: "lw-quiet" })
    ];
  };
  const pick = async (row) => {
    const [item, [first, second]] = [await controller.loadItem(row), controller.selection];
    if (!item) return;
    if (first?.row === row) controller.select([second, null]);
    else if (second?.row === row) controller.select([first, null]);
    else controller.select(first && !second ? [first, item] : [item, null]);
    page.announce((node.firstElementChild?.textContent ?? "").trim());
  };
  const renderName = (
    /** @param {Item | null} item */
    (item) => item ? h("strong", {}, item.name) : "select a point"
  );
  const update = () => {
    const [first, second] = controller.selection;
    node.hidden = !first && !second;
    reason.hidden = true;
    node.replaceChildren(
      ...listChildren(
        h("p", {}, "First: ", renderName(first), " · Second: ", renderName(second)),
        renderButtons(first, second),
        createButton("Clear", clear, { className: "lw-quiet" })
      )
    );
  };
  return { node, reason, update, pick };
}
function createMapPanel(page, model) {
  const { controller } = page;
  const tip = createTip(page);
  const selection = createSelection(page);
  const plot = new Scatter(page.root, {
    canZoom: () => page.hasFocus,
    // elsewhere in a notebook the wheel scrolls
    choose: (row, isPair) => isPair ? selection.pick(row) : openItem(page, row),
    hover: tip.hover
  });
  const zoom = h(
    "div",
    { class: "lw-zoom", role: "group", "aria-label": "Zoom" },
    createButton("+", () => plot.zoom(1.5), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
    createButton("−", () => plot.zoom(1 / 1.5), { "aria-label": "Zoom out", title: "Zoom out (−)" }),
    createButton("Fit", () => plot.reset(), { "aria-label": "Fit all rows", title: "Fit all rows (0)" })
  );
  const axes = h("p", { class: "lw-soft lw-axes", hidden: true });
  const choice = createMapChoice(page);
  const isTouch = window.matchMedia("(pointer: coarse)").matches;
  const node = h(
    "section",
    { class: "lw-card lw-map", "aria-label": "Plot of all rows", hidden: true },
    h("div", { class: "lw-plot" }, plot.node, tip.node),
    h("div", { class: "lw-plot-meaning" }, axes, choice.node),
    h("div", { class: "lw-plot-footer" }, h("p", { class: "lw-soft" }, isTouch ? BY_FINGER : BY_MOUSE), zoom),
    selection.node,
    selection.reason
  );
  let places = null;
  let drawn = null;
  const updateMarks = () => {
    const question = controller.state?.question;
    const asked = question ? [
      { ...FIRST, row: question.first.row },
      { ...SECOND, row: question.second.row }
    ] : [];
    const tags = ["1st", "2nd"];
    const selected = controller.selection.flatMap(
      (item, i) => item ? [{ tag: tags[i], square: false, dashed: true, row: item.row }] : []
    );
    const outlined = moved.rows.map((row) => ({ tag: "", square: false, row }));
    plot.mark([...outlined, ...asked, ...selected]);
  };
  const moved = createMovedRows(plot.node, updateMarks);
  const updateRows = (state) => {
    const coordinates = toTypedArray(model.get("places"), Float32Array);
    const bytes = model.get("labels");
    const labels = state.two_bytes ? toTypedArray(bytes, Uint16Array) : toTypedArray(bytes, Uint8Array);
    controller.setLabels(labels);
    node.hidden = coordinates.length === 0 || coordinates.length !== 2 * labels.length;
    if (places !== model.get("places")) {
      places = model.get("places");
      plot.setPlaces(node.hidden ? new Float32Array(0) : coordinates);
    }
    plot.setLabels(labels, chooseSlots(state));
    if (drawn) moved.show(findMovedRows(drawn, labels));
    drawn = labels;
  };
  return {
    node,
    plot,
    updateSelection() {
      selection.update();
      updateMarks();
    },
    close() {
      moved.close();
      plot.close();
    },
    /**
     * @param {State} state
     * @param {boolean} hasNewLabels
     */
    update(state, hasNewLabels) {
      if (hasNewLabels || places !== model.get("places")) updateRows(state);
      choice.update(state);
      axes.hidden = !state.axes;
      setText(axes, state.axes ?? "");
      updateMarks();
    }
  };
}

// src/column_wording.js
var LOOK = "Choose other columns";
var WEIGH = "Apply these weights";
var RESTORE = "Take the weights back";
var MOST_NAMES2 = 5;
function joinNames(names) {
  const rest = names.length - MOST_NAMES2;
  return rest > 0 ? `${names.slice(0, MOST_NAMES2).join(", ")} and ${rest} more` : names.join(", ");
}
function describeProposal(less, more) {
  const lower = `Columns that your answers seem not to depend on would count less: ${joinNames(less)}.`;
  const higher = `Columns that would count more: ${joinNames(more)}.`;
  return [less.length ? lower : "", more.length ? higher : ""].filter(Boolean).join(" ");
}
function describeWeighed(columns) {
  return columns.length ? `Your answers weigh these columns: ${joinNames(columns)}.` : "";
}
function describeRecoding(backup, changed) {
  return `All answers were replayed. The session as it was is in ${backup}. ${changed}`.trim();
}

// src/column_offer.js
var NOTHING3 = { follows: "", less: [], more: [], weighed: [] };
function createColumnOffer(page) {
  let shown = NOTHING3;
  const choose = (action) => page.controller.store(
    { do: "columns", action, columns: action === "weigh" ? [...shown.less, ...shown.more] : shown.weighed },
    { describe: (reply) => describeRecoding(reply.backup, reply.changed) }
  );
  const words = h("p", {});
  const look = createButton(LOOK, () => openColumns(page, "answers"), { "aria-haspopup": "dialog" });
  const accept = createButton(WEIGH, () => choose("weigh"));
  const restore = createButton(RESTORE, () => choose("restore"));
  const node = h("div", { class: "lw-column-offer", hidden: true }, words, look, accept, restore);
  return {
    node,
    /** @param {State} state */
    update({ columns }) {
      node.hidden = !columns;
      shown = columns ?? NOTHING3;
      const { follows, less, more, weighed } = shown;
      setText(
        words,
        [follows, describeWeighed(weighed), describeProposal(less, more)].filter(Boolean).join(" ")
      );
      look.hidden = !follows;
      accept.hidden = !(less.length || more.length);
      restore.hidden = !weighed.length;
    }
  };
}

// src/goal_bar.js
function describeGoal(done, budget, seconds) {
  const pace = formatSeconds(seconds);
  const left = budget ? Math.max(0, budget - done) : 0;
  return [
    budget ? `${formatNumber(done)} of ${formatCount(budget, "answer")}` : "",
    pace ? `median ${pace} per answer` : "",
    pace && left ? `about ${formatMinutes(left * Number(seconds) / 60)} left` : ""
  ].filter(Boolean).join(" · ");
}
function formatMinutes(minutes) {
  return minutes < 1.5 ? "1 minute" : formatCount(Math.round(minutes), "minute");
}
function createGoalBar() {
  const [fill, caption] = [h("i", {}), h("p", { class: "lw-soft" })];
  const bar = h(
    "div",
    { class: "lw-goal-bar", role: "progressbar", "aria-label": "Answers of the budget" },
    fill
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
      fill.style.width = `${100 * done / state.budget}%`;
      const values = { valuemin: 0, valuemax: state.budget, valuenow: done, valuetext: text };
      for (const [name, value] of Object.entries(values)) bar.setAttribute(`aria-${name}`, String(value));
    }
  };
}

// src/stopwatch.js
var Stopwatch = class {
  #seen = 0;
  // ms before the page was shown last
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
    return Math.round(this.#seen) / 1e3;
  }
};

// src/note_field.js
var NoteField = class {
  /** The question that the note is about. @type {string | null} */
  #question = null;
  #watch = new Stopwatch();
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
      onkeydown: (event) => this.#leave(event)
    });
    const advice = h("span", { class: "lw-soft", id: page.createId("note-hint") }, hint);
    this.field.setAttribute("aria-describedby", advice.id);
    this.node = h(
      "div",
      { class: "lw-note", id: page.createId("note-box"), hidden: true },
      h("label", { for: this.field.id }, label),
      advice,
      this.field
    );
    this.opener = createButton([h("span", {}, NOTE), renderKey("A")], () => this.toggle(), {
      className: "lw-quiet",
      "aria-expanded": "false",
      "aria-controls": this.node.id,
      "aria-keyshortcuts": "A"
    });
  }
  /** Listen to whether the page is hidden. @returns {() => void} ends it */
  listen() {
    const update = () => this.#watch.update();
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
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
    return { seconds: this.#watch.seconds, ...note && { note } };
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
    const isDone = event.key === "Escape" || event.key === "Enter" && !event.shiftKey;
    if (!isDone || event.isComposing) return;
    event.preventDefault();
    if (!this.field.value.trim()) this.#setOpen(false);
    this.home.focus();
  }
};

// src/review_dialog.js
var ANSWERS_BY_KEY = { y: "yes", n: "no", s: "unsure" };
var nameCase = (found) => found ? `${found.first.row}-${found.second.row}` : "";
function renderOpinions({ answers, doubts, believed }) {
  const opinions = answers.map(
    (event) => h(
      "li",
      {},
      renderIcon(event.answer),
      h(
        "div",
        { class: "lw-description" },
        h("span", {}, describeOpinion(event)),
        h("span", { class: "lw-soft" }, describeOccasion(event)),
        event.note && h("span", { class: "lw-note-text" }, describeNote(event))
      )
    )
  );
  const lines = believed ? [...doubts, describeBelief(believed)] : doubts;
  return [
    h("ul", { class: "lw-chain lw-opinions", "aria-label": "Answers to this pair" }, opinions),
    ...lines.map((line) => h("p", { class: "lw-soft" }, line))
  ];
}
function renderQueue(pairs, shown, choose) {
  const items = pairs.map((pair) => {
    const isShown = pair.first === shown.first.row && pair.second === shown.second.row;
    return createButton(pair.names.join(" and "), () => choose({ first: pair.first, second: pair.second }), {
      "aria-current": isShown && "true",
      "data-key": `${pair.first}-${pair.second}`
    });
  });
  return h("div", { class: "lw-choices", role: "group", "aria-label": "Pairs that need a review" }, items);
}
async function openReview(page) {
  const { controller } = page;
  if (!controller.state?.n_review || page.hasDialog) return;
  const { box, body, heading } = openDialog(page, REVIEW, "lw-wide");
  const left = h("p", { class: "lw-eyebrow" });
  const pair = h("div", { class: "lw-items" });
  const opinions = h("div", { class: "lw-body" });
  const queue = h("div", {});
  const notice = createNotice();
  const field = new NoteField(page, { label: DECISION_LABEL, hint: DECISION_HINT, home: heading });
  let shown = null;
  let shownAt = 0;
  const decide = async (answer) => {
    if (!shown) return;
    if (performance.now() - shownAt < READ_MS) {
      notice.show(EARLY, "warn");
      page.announce(EARLY);
      return;
    }
    const { first, second } = shown;
    notice.show("");
    const { note } = field.take();
    const request = { do: "decide", first: first.row, second: second.row, answer, ...note && { note } };
    const words = describeDecision([first.name, second.name], answer);
    const reply = await controller.store(request, { describe: () => words, show: notice.show });
    if (!reply?.ok) field.restore(note, nameCase(shown));
  };
  const buttons = Object.entries(ANSWERS_BY_KEY).map(([key, answer]) => {
    const label = [renderIcon(answer), h("span", {}, ANSWER_LABELS[answer]), renderKey(key.toUpperCase())];
    return createButton(label, () => decide(answer), {
      className: `lw-answer lw-${answer}`,
      "aria-keyshortcuts": key.toUpperCase()
    });
  });
  const bar = h("div", { class: "lw-answers", role: "group", "aria-label": "Your decision" }, buttons);
  const notes = h("div", {}, field.opener, field.node);
  const advice = h("p", { class: "lw-soft" }, REVIEW_ADVICE);
  body.append(left, advice, pair, opinions, bar, notes, notice.node, queue);
  const show = (found) => {
    const isOther = found?.first.row !== shown?.first.row || found?.second.row !== shown?.second.row;
    const hasMoved = shown !== null && isOther;
    shown = found;
    opinions.replaceChildren(...found ? renderOpinions(found) : []);
    for (const node of [pair, opinions, bar, notes]) node.hidden = !found;
    if (!isOther) return;
    field.begin(nameCase(found));
    shownAt = performance.now();
    pair.replaceChildren(...found ? renderPair(found) : []);
    if (hasMoved) page.announce(joinSentences(notice.node.textContent ?? "", describeNextCase(found)));
  };
  const load = async (chosen) => {
    const reply = await controller.request({ do: "review", ...chosen });
    if (!box.isConnected) return;
    if (!reply.ok) {
      controller.warn(reply.error.text);
      return;
    }
    const key = page.focused?.dataset.key;
    const hadFocus = box.contains(page.focused);
    show(reply.shown);
    setText(left, countReview(reply.cases.length + reply.more));
    queue.replaceChildren(...reply.cases.length > 1 ? [renderQueue(reply.cases, reply.shown, load)] : []);
    const isLost = !box.contains(page.focused) || page.focused?.closest("[hidden]");
    if (!hadFocus || !isLost) return;
    const buttons2 = [...queue.querySelectorAll("button")];
    (buttons2.find((node) => key && node.dataset.key === key) ?? heading).focus();
  };
  const reload = () => load(shown ? { first: shown.first.row, second: shown.second.row } : void 0);
  box.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    const isOther = event.target === field.field || event.ctrlKey || event.altKey || event.metaKey;
    if (isOther || event.repeat || !shown || key !== "a" && !ANSWERS_BY_KEY[key]) return;
    event.preventDefault();
    if (key === "a") field.toggle();
    else decide(ANSWERS_BY_KEY[key]);
  });
  controller.watchers.add(reload);
  box.addEventListener("close", () => controller.watchers.delete(reload));
  await load();
}

// src/suspects_dialog.js
function renderActions(suspect, store) {
  const { event, names } = suspect;
  const about = describePair(...names, suspect.answer);
  const opposite = suspect.answer === "yes" ? "no" : "yes";
  const create = (
    /** @type {(label: string, key: string, onclick: () => void) => HTMLButtonElement} */
    ((label, key, onclick) => createButton(label, onclick, { "aria-label": `${label} (${about})`, "data-key": `${event}-${key}` }))
  );
  const turned = `Saved: ${describeChange(names, opposite)}.`;
  return [
    create(
      "Take back",
      "back",
      () => store({ do: "take_back", event }, (reply) => describeUndo(reply.undone))
    ),
    create("Flip answer", "turn", () => store({ do: "change", event, answer: opposite }, () => turned)),
    create("I am sure", "sure", () => store({ do: "sure", event }, () => describeConfirmation(suspect)))
  ];
}
function renderSuspect(page, suspect, store) {
  const [first, second] = suspect.names;
  const pair = h(
    "span",
    {},
    createRowLink(page, first, suspect.first),
    " and ",
    createRowLink(page, second, suspect.second)
  );
  return h(
    "li",
    {},
    renderIcon(suspect.answer),
    h(
      "div",
      { class: "lw-description" },
      pair,
      renderValues(page, suspect),
      h("span", {}, describeGrade(suspect)),
      h("span", { class: "lw-soft" }, suspect.reason)
    ),
    isOwn(page.controller.state, "answer", suspect.source) ? h("div", { class: "lw-resolutions" }, renderActions(suspect, store)) : h("span", { class: "lw-soft" }, suspect.source || NO_NAME)
  );
}
async function openSuspects(page) {
  const { controller } = page;
  const { box, body, heading } = openDialog(page, SUSPECTS, "lw-wide");
  const list = h("ol", { class: "lw-chain lw-suspects" });
  const none = h("p", { hidden: true }, NO_SUSPECTS);
  const more = h("p", { class: "lw-soft", hidden: true });
  const problem = createNotice();
  const advice = controller.state?.team ? `${SUSPECTS_ADVICE} ${OTHERS_ADVICE}` : SUSPECTS_ADVICE;
  body.append(h("p", { class: "lw-soft" }, advice), problem.node, list, none, more);
  const store = async (request, describe) => {
    problem.show("");
    await controller.store(request, {
      describe,
      show: (words, tone) => problem.show(tone ? words : "", tone)
    });
  };
  const load = async () => {
    const reply = await controller.request({ do: "suspects" });
    if (!box.isConnected) return;
    if (!reply.ok) {
      controller.warn(reply.error.text);
      return;
    }
    const suspects = reply.suspects;
    const key = page.focused && list.contains(page.focused) ? page.focused.dataset.key : void 0;
    const hadFocus = list.contains(page.focused);
    list.replaceChildren(...suspects.map((suspect) => renderSuspect(page, suspect, store)));
    none.hidden = suspects.length > 0;
    more.textContent = describeUnlisted(reply.more);
    more.hidden = !reply.more;
    if (!hadFocus) return;
    const buttons = [...list.querySelectorAll("button")];
    (buttons.find((node) => key && node.dataset.key === key) ?? heading).focus();
  };
  controller.watchers.add(load);
  box.addEventListener("close", () => controller.watchers.delete(load));
  await load();
}

// src/team_wording.js
var TEAM = "Team";
var NO_NAME2 = "No name";
var NO_COMMON = "No two people have answered the same pair yet.";
var KAPPA_ADVICE = "Kappa compares the agreement with chance: 1 means that they always agree, 0 that they agree as often as by chance.";
function describeAnswers({ answers, unsure, added, gold, gold_right: right, median_seconds: median }) {
  const pace = formatSeconds(median);
  const parts = [
    answers || !(added || gold) ? formatCount(answers, "answer") : "",
    unsure ? `${unsure} of them not sure` : "",
    added ? `${formatCount(added, "pair")} added` : "",
    gold ? `${right} of ${formatCount(gold, "known pair")} right` : "",
    pace ? `median ${pace}` : ""
  ];
  return parts.filter(Boolean).join(", ");
}
function describeErrorRate(rate, least) {
  if (!rate) return `Not known yet: it takes ${least} answers of same or different.`;
  const [share, low, high] = rate;
  if (low === high)
    return share === 0 ? "Taken as never wrong." : `Taken as wrong in ${formatPercent(share)}.`;
  const range = low < 0.01 ? `at most ${formatPercent(high)}` : `between ${bounds(low, high)}`;
  return `Wrong in about ${formatPercent(share)} of the answers, probably ${range}.`;
}
var bounds = (low, high) => `${formatPercent(low)} and ${formatPercent(high)}`;
var describeShared = ({ common, agreeing }) => `The same answer in ${agreeing} of ${formatCount(common, "shared question")}.`;
function describeKappa(kappa) {
  if (!kappa) return "";
  const [value, low, high] = kappa.map((number) => number.toFixed(2));
  return `Kappa ${value}, probably between ${low} and ${high}.`;
}
function explainKappa({ pairs, least_common: least }) {
  const isShown = pairs.some(({ kappa }) => kappa);
  const isMissing = pairs.some(({ common }) => common < least);
  return joinSentences(
    isShown ? KAPPA_ADVICE : "",
    isMissing ? `Kappa is shown from ${least} shared questions on.` : ""
  );
}

// src/team_dialog.js
var renderEntry = (title, words, more) => h("li", {}, h("strong", {}, title), h("span", {}, words), more && h("span", { class: "lw-soft" }, more));
function renderReport(report) {
  const { people, pairs, least_answers: leastAnswers } = report;
  const each = people.map(
    (person) => renderEntry(
      person.name || NO_NAME2,
      describeErrorRate(person.error_rate, leastAnswers),
      `${describeAnswers(person)}.`
    )
  );
  const both = pairs.map(
    (pair) => renderEntry(
      pair.names.map((name) => name || NO_NAME2).join(" and "),
      joinSentences(describeShared(pair), describeKappa(pair.kappa)),
      ""
    )
  );
  const explanation = explainKappa(report);
  return [
    h("h3", {}, "Each person"),
    h("ul", { class: "lw-report" }, each),
    h("h3", {}, "Do they agree?"),
    pairs.length ? h("ul", { class: "lw-report" }, both) : h("p", { class: "lw-soft" }, NO_COMMON),
    ...explanation ? [h("p", { class: "lw-soft" }, explanation)] : []
  ];
}
async function openTeam(page) {
  const { controller } = page;
  if (!controller.state?.team || page.hasDialog) return;
  const { box, body } = openDialog(page, TEAM);
  const report = h("div", { class: "lw-body" });
  body.append(report);
  const load = async () => {
    const reply = await controller.request({ do: "team" });
    if (!box.isConnected) return;
    if (reply.ok) report.replaceChildren(...renderReport(reply.report));
    else controller.warn(reply.error.text);
  };
  controller.watchers.add(load);
  box.addEventListener("close", () => controller.watchers.delete(load));
  await load();
}

// src/progress_panel.js
var DOUBT = "Rows that are probably in a wrong cluster";
var [WIDTH2, HEIGHT2, BAR, MOST_BARS] = [160, 40, 8, 20];
function createTile() {
  const [value, name, details] = [h("dd", {}), h("dt", {}), h("dd", { class: "lw-soft" })];
  return {
    node: h("div", {}, name, value, details),
    /** @type {(value: string, name: string, details: string) => void} */
    show(first, second, third) {
      setText(value, first);
      setText(name, second);
      setText(details, third);
    }
  };
}
function createTeamLine(page) {
  const [counts, people] = [h("strong", {}), h("span", { class: "lw-soft" })];
  const opener = createButton([h("span", {}, TEAM), renderKey("T")], () => openTeam(page), {
    className: "lw-quiet",
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "T"
  });
  const node = h("div", { class: "lw-team", hidden: true }, h("p", {}, counts, " ", people), opener);
  return {
    node,
    /** @param {Team | undefined} team */
    update(team) {
      node.hidden = !team;
      setText(counts, team ? describeCounts(team) : "");
      setText(people, team ? describePeople(team) : "");
    }
  };
}
function renderChart(changes) {
  const most = Math.max(0.05, ...changes);
  const last = changes.at(-1);
  const label = last === void 0 ? "No answers yet" : `Rows moved by each of the last ${formatCount(changes.length, "answer")}; the last one moved ${formatPercent(last)}`;
  const bars = changes.map((share, i) => {
    const height = Math.max(1.5, share / most * (HEIGHT2 - 2));
    const x = BAR * (MOST_BARS - changes.length + i) + 1;
    return s("rect", { x, y: HEIGHT2 - height, width: BAR - 2, height, rx: 1 });
  });
  const box = { viewBox: `0 0 ${WIDTH2} ${HEIGHT2}`, width: WIDTH2, height: HEIGHT2 };
  return s("svg", { ...box, role: "img", "aria-label": label }, bars);
}
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
        valuetext: percent
      };
      for (const [name, value] of Object.entries(values)) bar.setAttribute(`aria-${name}`, value);
      setText(caption, `${DOUBT}: ${percent}`);
    }
  };
}
function createProgressPanel(page) {
  const [answers, inferred] = [createTile(), createTile()];
  const chart = h("div", { class: "lw-bars" });
  const advice = h("p", { class: "lw-advice" });
  const goal = createGoalBar();
  const doubt = createDoubtBar();
  const errors = h("p", { class: "lw-soft", hidden: true });
  const suspects = createButton("", () => openSuspects(page), { hidden: true, "aria-haspopup": "dialog" });
  const toReview = h("span", {});
  const review = createButton([toReview, renderKey("R")], () => openReview(page), {
    hidden: true,
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "R"
  });
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
    columns.node,
    errors,
    suspects,
    review,
    details
  );
  let drawn = "";
  return {
    node,
    /** @param {State} state */
    update(state) {
      const { counts, changes = [] } = state;
      team.update(state.team);
      const [yes, no, unsure] = [counts.yes, counts.no, counts.unsure].map(formatNumber);
      const kinds = `${yes} same, ${no} different, ${unsure} not sure`;
      answers.show(formatNumber(counts.answers), counts.answers === 1 ? "answer" : "answers", kinds);
      inferred.show(formatNumber(counts.inferred), "pairs inferred", describeOtherFacts(counts));
      chart.hidden = changes.length === 0;
      if (String(changes) !== drawn) {
        const caption = h("p", { class: "lw-soft" }, "rows moved by each answer");
        chart.replaceChildren(renderChart(changes), caption);
      }
      drawn = String(changes);
      setText(advice, !state.ended && state.advice?.text || "");
      goal.update(state);
      doubt.update(state.advice?.wrong);
      advice.dataset.stop = String(Boolean(state.advice?.stop));
      columns.update(state);
      setText(errors, state.errors ?? "");
      errors.hidden = !state.errors;
      setText(suspects, countSuspects(state.n_suspects ?? 0));
      suspects.hidden = !state.n_suspects;
      setText(toReview, countReview(state.n_review ?? 0));
      review.hidden = !state.n_review;
      setText(details, describeSession(state));
      node.hidden = false;
    }
  };
}

// src/question_wording.js
var CHECK = "Please check: ";
function describeNumber(n, budget, why) {
  const number = `Question ${formatNumber(n)}${budget ? ` of ${formatNumber(budget)}` : ""}`;
  return why.startsWith(CHECK) ? `${number} · checks earlier answers` : number;
}

// src/question_card.js
var ANSWER_KEYS = [
  ["yes", "Y"],
  ["no", "N"],
  ["unsure", "S"]
];
var NEXT_STEPS = "You can continue on your own: select two points in the plot and mark them as same or different, merge two clusters, name them, or change an earlier answer in the history.";
function renderFinish(page, state) {
  const { controller } = page;
  const found = formatCount(countClusters(state), "cluster");
  const from = `${formatCount(state.rows, "row")}, from ${formatCount(state.counts.answers, "answer")}.`;
  const reason = state.ended === "budget" ? "A larger budget allows more questions." : describeExhaustion(state.counts);
  const agreement = typeof state.agreement === "number" && h(
    "p",
    {},
    `Agreement with the known classes (adjusted Rand index): ${state.agreement.toFixed(2)}. `,
    "1 means identical, 0 is chance."
  );
  const saveLabels = () => controller.export("labels");
  const saveRules = () => controller.export("rules");
  return listChildren(
    h("p", { class: "lw-lead" }, `${found} in ${from} ${reason}`),
    agreement,
    h(
      "div",
      { class: "lw-answers" },
      createButton("Save the clusters", saveLabels, { className: "lw-answer lw-main" }),
      state.rules && createButton("Save the rules", saveRules, { className: "lw-answer" })
    ),
    h("p", { class: "lw-soft" }, NEXT_STEPS)
  );
}
var QuestionCard = class {
  /** The question that is shown. @type {string | null} */
  #shown = null;
  /** @param {Page} page */
  constructor(page) {
    const { controller } = page;
    this.page = page;
    this.eyebrow = h("p", { class: "lw-eyebrow" });
    this.heading = h("h2", { id: page.createId("asked"), tabindex: "-1" });
    this.pair = h("div", { class: "lw-items" });
    this.finish = h("div", { class: "lw-finish", hidden: true });
    this.buttons = ANSWER_KEYS.map(
      ([answer, letter]) => createButton(
        [renderIcon(answer), h("span", {}, ANSWER_LABELS[answer]), renderKey(letter)],
        () => controller.answer(answer),
        { className: `lw-answer lw-${answer}`, "aria-keyshortcuts": letter }
      )
    );
    this.undo = createButton(
      [renderIcon("undo"), h("span", {}, "Undo"), renderKey("U")],
      () => controller.undo(),
      { className: "lw-quiet lw-undo", "aria-keyshortcuts": "U" }
    );
    this.later = createButton([h("span", {}, "Later"), renderKey("L")], () => postpone(controller), {
      className: "lw-quiet",
      "aria-keyshortcuts": "L",
      title: LATER
    });
    this.why = createDisclosure(page, "Why this question?", "W", "lw-why");
    this.guess = createDisclosure(page, "Guess", "G", "lw-guess");
    this.note = new NoteField(page);
    controller.draft = this.note;
    this.bar = h("div", { class: "lw-answers", role: "group", "aria-label": "Your answer" }, this.buttons);
    this.more = h(
      "div",
      { class: "lw-more" },
      this.why.opener,
      this.guess.opener,
      this.note.opener,
      this.later,
      h("span", { class: "lw-gap" }),
      this.undo
    );
    this.notice = h("p", { class: "lw-notice", hidden: true });
    this.node = h(
      "section",
      { class: "lw-card lw-question", "aria-labelledby": this.heading.id },
      this.eyebrow,
      this.heading,
      this.pair,
      this.finish,
      this.bar,
      this.note.node,
      this.why.text,
      this.guess.text,
      this.notice,
      this.more
    );
  }
  /**
   * Show that the data are being read, or why they could not be.
   * @param {Opening} waiting
   */
  showOpening({ loading, failed }) {
    const { state } = this.page.controller;
    if (failed) {
      const words = state ? "linkwise stopped with an error" : "linkwise could not open the data";
      this.#showPlaceholder("Stopped", words);
      this.pair.replaceChildren(
        h("p", { class: "lw-failed" }, failed),
        h("p", { class: "lw-soft" }, "The terminal in which linkwise was started shows more.")
      );
    } else this.#showPlaceholder("Loading", loading || "Reading the data");
    for (const node of [this.bar, this.more]) node.hidden = true;
    this.node.setAttribute("aria-busy", String(!failed));
  }
  /** @param {State} state */
  update(state) {
    const { question } = state;
    const isWaiting = !question && state.ended === "waiting";
    const hasEnded = Boolean(!question && state.ended && !isWaiting);
    if (question) this.#showQuestion(state, question);
    else if (isWaiting) this.#showPlaceholder("One moment", WAITING, WAITING_ADVICE);
    else if (hasEnded) this.#showEnd(state);
    else this.#showPlaceholder("One moment", "Choosing the next question");
    this.more.hidden = false;
    this.finish.hidden = !hasEnded;
    this.pair.hidden = hasEnded;
    for (const node of [this.bar, this.why.opener, this.guess.opener, this.note.opener, this.later])
      node.hidden = hasEnded;
    if (!question) for (const each of [this.why, this.guess]) each.close();
    this.undo.title = state.undo ? `Undo “${describeEvent(state.undo)}”` : "";
    this.node.setAttribute("aria-busy", String(!question && !hasEnded));
    this.updateStatus();
  }
  /** Enable what can be used now. */
  updateStatus() {
    const { controller } = this.page;
    const isReady = controller.link === "open" && !controller.isPending;
    for (const node of [...this.buttons, this.later])
      setEnabled(node, isReady && Boolean(controller.state?.question));
    setEnabled(this.undo, isReady && Boolean(controller.state?.undo));
  }
  /**
   * @param {string} text
   * @param {"calm" | "warn"} [tone]
   */
  showNotice(text, tone = "calm") {
    this.notice.hidden = !text;
    this.notice.dataset.tone = tone;
    setText(this.notice, text);
  }
  /**
   * @param {State} state
   * @param {Question} question
   */
  #showQuestion(state, question) {
    setText(this.eyebrow, describeNumber(state.counts.answers + 1, state.budget, question.why));
    setText(this.heading, QUESTION);
    const shown = `${question.id} ${state.table?.encoding ?? ""}`;
    if (this.#shown === shown) return;
    this.#shown = shown;
    this.page.controller.askedAt = performance.now();
    this.note.begin(question.id);
    this.pair.replaceChildren(...renderPair(question));
    setText(this.why.text, question.why || "The learner gives no reason.");
    this.guess.close();
    setText(this.guess.text, describeGuess(question.guess));
  }
  /** @param {State} state */
  #showEnd(state) {
    this.#shown = null;
    setText(this.eyebrow, "Finished");
    setText(this.heading, state.ended === "budget" ? BUDGET_SPENT : NO_MORE_QUESTIONS);
    this.finish.replaceChildren(...renderFinish(this.page, state));
  }
  /**
   * @param {string} eyebrow
   * @param {string} heading
   * @param {string} [advice] in place of the two rows
   */
  #showPlaceholder(eyebrow, heading, advice = "") {
    this.#shown = null;
    setText(this.eyebrow, eyebrow);
    setText(this.heading, heading);
    if (advice) this.pair.replaceChildren(h("p", { class: "lw-soft" }, advice));
    else this.pair.replaceChildren(...[1, 2, 3, 4].map(() => h("div", { class: "lw-placeholder" })));
  }
};

// src/widget.js
function render({ model, el }) {
  const channel = openChannel(model);
  const page = new Page(
    (page2) => new Controller(channel.send, {
      showNotice: (text, tone) => card.showNotice(text, tone),
      announce: (text) => page2.announce(text),
      updateStatus() {
        header.updateStatus();
        card.updateStatus();
      },
      updateSelection: () => map.updateSelection(),
      showConflict: (conflict) => openConflict(page2, conflict),
      download: (name, type, file) => page2.download(name, type, file)
    })
  );
  const { controller, root } = page;
  const header = createHeader(page);
  const card = new QuestionCard(page);
  const map = createMapPanel(page, model);
  const progress = createProgressPanel(page);
  const clusters = new ClustersPanel(page, map.plot);
  const banner = h("p", { class: "lw-banner", role: "alert", hidden: true });
  const working = h("div", { class: "lw-working", hidden: true, "aria-hidden": "true" });
  const left = h("div", { class: "lw-left" }, card.node, progress.node);
  const right = h("div", { class: "lw-right" }, map.node, clusters.node);
  root.append(header.node, working, banner, h("div", { class: "lw-columns" }, left, right), page.live);
  el.append(root);
  let drawnLabels = null;
  const showState = (state) => {
    const hadFocus = page.hasFocus;
    const before = controller.setState(state);
    const hasNewLabels = before === null || drawnLabels !== state.labels;
    drawnLabels = state.labels;
    card.update(state);
    map.update(state, hasNewLabels);
    for (const panel of [header, progress, clusters]) panel.update(state);
    working.hidden = !state.busy;
    if (before === null && state.counts.answers && state.place) {
      card.showNotice(describeResumption(state.counts.answers));
    }
    if (before === null) {
      introduceGuidelines(page, state);
      introduceColumns(page, state);
    }
    const focusIsGone = !page.hasFocus || page.focused?.closest("[hidden]");
    if (hadFocus && focusIsGone) root.focus();
    if (hasNewLabels || state.event !== before?.event) {
      root.dispatchEvent(new CustomEvent("linkwise:drawn", { bubbles: true, detail: state.labels }));
    }
  };
  const onState = () => {
    const state = model.get("state");
    controller.hasFailed = Boolean(state?.failed);
    if (state?.counts) showState(state);
    else card.showOpening(state ?? {});
  };
  const onLink = () => {
    const isBack = controller.setLink(model.get("link") || "open");
    if (isBack) {
      drawnLabels = null;
      page.announce(CONNECTED_AGAIN);
    }
    banner.hidden = controller.link === "open";
    setText(banner, controller.linkProblem);
    if (page.hasDialog && !banner.hidden) page.announce(controller.linkProblem);
    root.dataset.link = controller.link;
  };
  const zoomIn = () => map.plot.zoom(1.5);
  const toggle = (
    /** @param {"why" | "guess"} which */
    (which) => {
      if (controller.state?.question) card[which].toggle();
    }
  );
  listenToKeys(root, {
    y: () => controller.answer("yes"),
    n: () => controller.answer("no"),
    s: () => controller.answer("unsure"),
    l: () => postpone(controller),
    u: () => controller.undo(),
    w: () => toggle("why"),
    g: () => toggle("guess"),
    a: () => controller.state?.question && card.note.toggle(),
    h: () => openHistory(page),
    i: () => openGuidelines(page),
    c: () => openColumns(page),
    r: () => openReview(page),
    t: () => openTeam(page),
    "/": () => clusters.focusSearch(),
    "+": zoomIn,
    "=": zoomIn,
    "-": () => map.plot.zoom(1 / 1.5),
    0: () => map.plot.reset(),
    "?": () => openHelp(page)
  });
  const unlisten = card.note.listen();
  const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
  const onScheme = () => {
    root.style.colorScheme = detectScheme();
    map.plot.recolour();
  };
  const observer = new MutationObserver(onScheme);
  const attributeFilter = ["data-jp-theme-light", "data-vscode-theme-kind", "class"];
  observer.observe(document.body, { attributes: true, attributeFilter });
  darkScheme.addEventListener("change", onScheme);
  root.style.colorScheme = detectScheme();
  model.on("change:state", onState);
  model.on("change:link", onLink);
  controller.setLink(model.get("link") || "open");
  onState();
  onLink();
  if (model.get("link") !== void 0) root.focus({ preventScroll: true });
  return () => {
    model.off("change:state", onState);
    model.off("change:link", onLink);
    channel.close();
    unlisten();
    observer.disconnect();
    darkScheme.removeEventListener("change", onScheme);
    map.close();
    root.remove();
  };
}
var widget_default = { render };
export {
  widget_default as default
};
