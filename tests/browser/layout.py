"""What does not fit where it stands, at any width of the window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

WIDTHS = (320, 390, 600, 768, 901, 1060, 1440, 2560)

# A box has to fit into the one around it, with its margins: a negative one lets it hang over on purpose. What is
# around it may scroll, or cut it off with three dots. What is positioned is measured against what it is positioned in.
MISFITS = """() => {
  const page = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.documentElement;
  const px = (text) => Number.parseFloat(text) || 0;
  const isCut = (style) => style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
  const describe = (node) => `${node.tagName.toLowerCase()}.${[...node.classList].join(".")} "${node.textContent.trim().slice(0, 40)}"`;
  const found = [];
  for (const node of [page, ...page.querySelectorAll("*")]) {
    if (node.closest(".lw-hidden, svg *, head, option") || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    if (style.clipPath !== "none" || style.transform !== "none") continue;  // to be read aloud; turned
    if (["contents", "inline"].includes(style.display) && !node.matches("button, input, select, img")) continue;
    const over = node.scrollWidth - node.clientWidth;
    const clips = ["hidden", "clip"].includes(style.overflowX);
    const mayScroll = node.matches(".lw-members, .lw-table-scroll, .lw-code"); // sideways
    if (over > 1 && node.clientWidth && !mayScroll && !(clips && isCut(style)) && (node === page || style.overflowX !== "visible" || node.matches("button")))
      found.push(`${describe(node)} lacks ${over} pixels`);
    if (node === page) continue;
    let around = node.parentElement;
    if (["absolute", "fixed"].includes(style.position)) around = node.offsetParent ?? page;
    while (getComputedStyle(around).display === "contents") around = around.parentElement;
    if (getComputedStyle(around).overflowX !== "visible" && around !== page) continue;
    const box = node.getBoundingClientRect();
    const room = around.getBoundingClientRect();
    const right = box.right + px(style.marginRight) - room.right;
    const left = room.left - box.left + px(style.marginLeft);
    if (box.width && Math.max(right, left) > 1)
      found.push(`${describe(node)} is ${Math.max(right, left).toFixed(0)} pixels wider than ${describe(around).slice(0, 60)}`);
  }
  return found;
}"""


def find_misfits(page: Any, widths: Iterable[int] = WIDTHS) -> list[str]:
    """Look at a state of the page at many widths, and leave the window as it was."""
    size, found = page.viewport_size, []
    for width in widths:
        page.set_viewport_size({**size, "width": width})
        found += [f"{width} pixels: {misfit}" for misfit in page.evaluate(MISFITS)]
    page.set_viewport_size(size)
    return found
