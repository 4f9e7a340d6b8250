/** Keys of the page. They work only within it, and not where the person writes. */

const NOT_HERE = "input, textarea, select, [contenteditable], dialog";

/**
 * @param {HTMLElement} root
 * @param {Record<string, () => void>} actions what a key does, by its name in lower case
 */
export function listenToKeys(root, actions) {
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation(); // a notebook has keys of its own
    const target = /** @type {Element} */ (event.composedPath()[0]);
    if (event.defaultPrevented || event.isComposing || target.closest(NOT_HERE)) return;
    const act = actions[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
}
