/** How rows look: fields, texts, pictures and curves. */
import { h, listChildren, s } from "./dom.js";
import { compareLetters } from "./letters.js";
import { renderScale } from "./scale.js";
import { formatCount } from "./wording.js";

/** @import { Comparison, Field, Grade, Item, Question } from "./protocol.d.ts" */

export const FIRST = { tag: "A", square: false };
export const SECOND = { tag: "B", square: true };
/** How screen readers tell a difference, after the name of its column. @type {Record<Grade, string>} */
const DIFFERENCES = { slight: ", differs slightly", plain: ", differs", most: ", differs most" };
const ONLY_SHOWN = "Only shown, not compared";
/** @type {Comparison} */
const NO_COMPARISON = { differing: {}, content: null, only_shown: [] };
const GLIMPSE_LETTERS = 160;
const GLIMPSE_FIELDS = 6;

/**
 * The sign of the first or second row: a disc or a diamond with its letter.
 * @param {{ tag: string, square: boolean }} sign
 */
const renderBadge = ({ tag, square }) =>
  h("span", { class: square ? "lw-badge lw-diamond" : "lw-badge" }, h("span", {}, tag));

/**
 * A name that may wrap after its punctuation.
 * @param {string} name
 */
const renderBreakable = (name) =>
  name
    .split(/(?<=[_./-])/)
    .flatMap((part) => [part, h("wbr")])
    .slice(0, -1);

/**
 * The values of a column. Where two words differ in some letters, these are marked; numbers differ by their amount.
 * @param {(Field | undefined)[]} cells
 */
function renderValues(cells) {
  const [first, second] = cells.map((cell) => cell?.value ?? "");
  const isNumber = cells.some((cell) => placeOf(cell) !== null);
  const parts = cells.length === 2 && !isNumber ? compareLetters(first, second) : null;
  return cells.map((cell, at) =>
    h(
      "td",
      {},
      parts
        ? parts[at].map(({ text, differs }) => (differs ? h("span", { class: "lw-letters" }, text) : text))
        : cell?.value,
    ),
  );
}

/** @param {Field | undefined} field */
const placeOf = (field) => (typeof field?.place === "number" ? field.place : null);

/**
 * @param {Item[]} items
 * @param {boolean} hasScale
 */
const renderTableHead = (items, hasScale) =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("td", {}),
      h("th", { scope: "col" }, renderBadge(FIRST), items[0].name),
      h("th", { scope: "col" }, renderBadge(SECOND), items[1].name),
      hasScale &&
        h(
          "th",
          { scope: "col", class: "lw-scale-cell lw-ends" },
          h("span", {}, "low"),
          " ",
          h("span", {}, "high"),
        ),
    ),
  );

/**
 * The fields of one or two rows as a table. Fields that differ have a sign; those that differ most are highlighted.
 * Fields that rows are not compared by stand at the end, below a line that says so.
 * @param {Item[]} items
 * @param {Comparison} [comparison]
 */
export function renderFields(items, comparison = NO_COMPARISON) {
  if (!items.some((item) => item.fields?.length)) return null;
  const all = items.map((item) => new Map(item.fields.map((field) => [field.name, field])));
  const names = [...new Set(all.flatMap((fields) => [...fields.keys()]))];
  const [onlyShown, hasScale] = [
    new Set(comparison.only_shown),
    items.length === 2 && names.some((name) => all.some((fields) => placeOf(fields.get(name)) !== null)),
  ];
  const renderLine = /** @param {string} name */ (name) => {
    const cells = all.map((fields) => fields.get(name));
    const isShown = onlyShown.has(name);
    const grade = comparison.differing[name];
    const [first, second] = [placeOf(cells[0]), placeOf(cells[1])];
    const words = isShown ? `${grade ? DIFFERENCES.plain : ""}, only shown` : (DIFFERENCES[grade] ?? "");
    return h(
      "tr",
      { class: isShown ? "lw-only-shown" : grade && "lw-differs", "data-grade": !isShown && grade },
      h(
        "th",
        { scope: "row" },
        h("span", { class: "lw-mark", "aria-hidden": "true" }, grade ? "≠" : ""),
        renderBreakable(name),
        words && h("span", { class: "lw-hidden" }, words),
      ),
      renderValues(cells),
      hasScale && h("td", { class: "lw-scale-cell" }, renderScale(first, second, grade === "most")),
    );
  };
  const last = names.filter((name) => onlyShown.has(name));
  const heading = h(
    "tr",
    {},
    h("th", { scope: "rowgroup", colspan: items.length + (hasScale ? 2 : 1), class: "lw-group" }, ONLY_SHOWN),
  );
  return h(
    "div",
    { class: "lw-fields", role: "region", tabindex: "0", "aria-label": "Values, column by column" },
    h(
      "table",
      {},
      items.length === 2 && renderTableHead(items, hasScale),
      h("tbody", {}, names.filter((name) => !onlyShown.has(name)).map(renderLine)),
      last.length > 0 && h("tbody", {}, heading, last.map(renderLine)),
    ),
  );
}

/**
 * The path of a curve; missing values leave gaps.
 * @param {(number | null)[]} series
 * @param {number} low the lowest value of all curves shown together
 * @param {number} high
 * @param {number} width
 * @param {number} height
 */
export function curvePath(series, low, high, width, height) {
  const x = /** @param {number} i */ (i) => 4 + ((width - 8) * i) / Math.max(1, series.length - 1);
  const y = /** @param {number} value */ (value) =>
    height - 6 - ((height - 12) * (value - low)) / (high - low || 1);
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

/**
 * @param {(number | null)[]} series
 * @param {number} low
 * @param {number} high
 */
function renderCurve(series, low, high) {
  const [width, height] = [300, 120];
  return s(
    "svg",
    {
      class: "lw-curve",
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `A curve of ${formatCount(series.length, "value")}`,
    },
    s("path", { d: curvePath(series, low, high, width, height), "vector-effect": "non-scaling-stroke" }),
  );
}

/**
 * @param {string} name
 * @param {string} image
 */
function renderPicture(name, image) {
  if (!image.startsWith("data:image/")) return h("p", {}, "This picture cannot be shown.");
  return h("img", { class: "lw-picture", src: image, alt: `Picture of ${name}` });
}

/**
 * The picture, text or curve of each row; null where there is none.
 * @param {Item[]} items
 */
function renderContents(items) {
  const values = items
    .flatMap((item) => item.series ?? [])
    .filter(/** @returns {value is number} */ (value) => typeof value === "number");
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const shorten = /** @param {number} value */ (value) => Number(value.toPrecision(4)).toLocaleString("en");
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
      h("span", {}, shorten(low)),
    );
    return h("div", { class: "lw-series" }, renderCurve(item.series, low, high), values.length > 0 && range);
  });
}

/**
 * Two rows side by side.
 * @param {Pick<Question, "first" | "second"> & Comparison} question
 */
export function renderPair(question) {
  const items = [question.first, question.second];
  const contents = renderContents(items);
  const renderFigure = /** @type {(item: Item, i: number) => HTMLElement} */ (item, i) =>
    h(
      "figure",
      { "data-grade": question.content },
      h("figcaption", {}, renderBadge(i ? SECOND : FIRST), item.name),
      contents[i],
    );
  const figures = contents.some(Boolean) && h("div", { class: "lw-pair" }, items.map(renderFigure));
  return listChildren(figures, renderFields(items, question));
}

/**
 * A whole row.
 * @param {Item} item
 */
export const renderItem = (item) => listChildren(renderContents([item])[0], renderFields([item]));

/**
 * A row in a few lines, for the pointer.
 * @param {Item} item
 */
export const renderGlimpse = (item) => renderGlimpses([item])[0];

/**
 * Rows in a few lines each; their curves have one scale.
 * @param {Item[]} items
 * @param {{ letters?: number, columns?: string[] }} [most] the letters of a text, and the columns that are shown
 */
export function renderGlimpses(items, { letters = GLIMPSE_LETTERS, columns } = {}) {
  const contents = renderContents(items);
  return items.map((item, at) => {
    if (typeof item.text === "string") {
      const isLong = item.text.length > letters;
      const text = isLong ? `${item.text.slice(0, letters - 1)}…` : item.text;
      return listChildren(item.image && renderPicture(item.name, item.image), h("p", {}, text));
    }
    const fields = selectFields(item, columns);
    const list = fields.flatMap((field) => [h("dt", {}, field.name), h("dd", {}, field.value)]);
    return listChildren(contents[at], fields.length > 0 && h("dl", {}, list));
  });
}

/**
 * @param {Item} item
 * @param {string[]} [columns]
 */
const selectFields = ({ fields = [] }, columns) =>
  columns ? fields.filter(({ name }) => columns.includes(name)) : fields.slice(0, GLIMPSE_FIELDS);

/**
 * Whether a glimpse leaves out a part of a row.
 * @param {Item} item
 * @param {number} letters
 * @param {string[]} columns
 */
export const isCut = (item, letters, columns) =>
  typeof item.text === "string"
    ? item.text.length > letters || item.fields.length > 0
    : selectFields(item, columns).length < item.fields.length;
