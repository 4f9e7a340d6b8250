/** Elements from tags, properties and children. What the host sends becomes text nodes, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | false | null | undefined} Child
 * @typedef {Child | Child[]} Children
 * @typedef {Record<string, any>} Props
 */

/**
 * @template {Element} T
 * @param {T} node
 * @param {Props} props
 * @param {Children[]} children
 * @returns {T}
 */
function fillElement(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...listChildren(...children));
  return node;
}

/**
 * The children that are to be shown, without null, undefined and false.
 * @param {Children[]} children
 * @returns {(Node | string)[]}
 */
export function listChildren(...children) {
  const shown = /** @param {Child} child */ (child) =>
    child !== null && child !== undefined && child !== false;
  return children
    .flat()
    .filter(shown)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props] attributes; `onclick` and the like are listeners
 * @param {...Children} children strings become text
 */
export const h = (tag, props = {}, ...children) => fillElement(document.createElement(tag), props, children);

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...Children} children
 */
export const s = (tag, props = {}, ...children) =>
  fillElement(document.createElementNS(SVG, tag), props, children);

/**
 * Set a text only if it differs, so that an unchanged page needs no layout.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set an attribute only if it differs.
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
