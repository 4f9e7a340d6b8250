/** Keys of the page. They work only within it, and not where the person writes. */

const NOT_HERE = "input, textarea, select, [contenteditable], dialog";

/**
 * The name of a key in lower case. On keyboards without Latin letters it is the letter in the same place on others.
 * @param {KeyboardEvent} event
 */
export function nameKey({ key, code }) {
  const place = /^(?:Key|Digit)(.)$/.exec(code ?? "");
  const isLatin = /^[ -~]$/.test(key) || key.length > 1;
  return (isLatin || !place ? key : place[1]).toLowerCase();
}

/**
 * @param {HTMLElement} root
 * @param {Record<string, () => void>} actions what a key does, by its name in lower case
 * @param {() => boolean} isActive whether keys do anything now
 */
export function listenToKeys(root, actions, isActive = () => true) {
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation(); // a notebook has keys of its own
    const target = /** @type {Element} */ (event.composedPath()[0]);
    if (event.defaultPrevented || event.isComposing || target.closest(NOT_HERE)) return;
    const act = actions[nameKey(event)];
    if (!act || !isActive()) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
}
