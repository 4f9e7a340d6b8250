/** Short lines about the rows of a pair, below their names in lists. */
import { h } from "./dom.js";

/** @import { Page } from "./page.js" */

/**
 * Load pictures of rows into nodes once they are in sight. Rows of other kinds stay as they are.
 * @param {Page} page
 * @param {HTMLElement} node
 * @param {number[]} rows
 * @param {(at: number, picture: HTMLElement) => void} show
 */
export function loadPictures(page, node, rows, show) {
  const load = async () => {
    const items = await page.controller.loadItems([...new Set(rows)]);
    for (const { row, name, image } of items) {
      if (!image?.startsWith("data:image/")) continue;
      for (const [at, each] of rows.entries()) {
        if (each === row) show(at, h("img", { src: image, alt: `Picture of ${name}`, title: name }));
      }
    }
  };
  const look = /** @type {IntersectionObserverCallback} */ (entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    load();
  };
  const observer = new IntersectionObserver(look, { rootMargin: "300px" }); // a little before they are seen
  observer.observe(node);
}

/**
 * A line about each row of a pair, or their pictures. Null if the host has nothing to say about them.
 * @param {Page} page
 * @param {{ first: number, second: number, names: string[], values?: string[] }} pair
 */
export function renderValues(page, { first, second, names, values = [] }) {
  if (page.controller.state?.kind === "image") {
    const strip = h("span", { class: "lw-strip" });
    loadPictures(page, strip, [first, second], (_, picture) => strip.append(picture));
    return strip;
  }
  if (!values.some(Boolean)) return null;
  return h(
    "span",
    { class: "lw-values lw-soft" },
    values.map((line, i) => h("span", {}, `${names[i]}: ${line}`)),
  );
}
