/* What does not fit: a box has to fit into the one around it, with its margins, so that a negative one may hang over on
   purpose. What is around it may scroll, or cut it off with three dots. What is positioned is measured against what it
   is positioned in. */
() => {
  const page = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.documentElement;
  const px = (text) => Number.parseFloat(text) || 0;
  const describe = (node) =>
    `${node.tagName.toLowerCase()}.${[...node.classList].join(".")} "${node.textContent.trim().slice(0, 40)}"`;
  const isLeftOut = (node, style) =>
    node.closest(".lw-hidden, svg *, head, option") ||
    !node.checkVisibility() ||
    style.clipPath !== "none" || // read aloud alone
    style.transform !== "none" || // turned
    style.display === "contents" ||
    (style.display === "inline" && !node.matches("button, input, select, img"));
  const found = [];
  for (const node of [page, ...page.querySelectorAll("*")]) {
    const style = getComputedStyle(node);
    if (isLeftOut(node, style)) continue;
    const over = node.clientWidth ? node.scrollWidth - node.clientWidth : 0;
    const hasDots = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
    const mayBeOver = hasDots || node.matches(".lw-members, .lw-table-scroll, .lw-code");
    const holds = node === page || style.overflowX !== "visible" || node.matches("button");
    if (over > 1 && holds && !mayBeOver) found.push(`${describe(node)} lacks ${over} pixels`);
    if (node === page) continue;
    const isPositioned = ["absolute", "fixed"].includes(style.position);
    let around = (isPositioned ? node.offsetParent : node.parentElement) ?? page;
    while (getComputedStyle(around).display === "contents") around = around.parentElement;
    if (getComputedStyle(around).overflowX !== "visible" && around !== page) continue;
    const [box, room] = [node.getBoundingClientRect(), around.getBoundingClientRect()];
    const more = Math.max(box.right + px(style.marginRight) - room.right, room.left - box.left + px(style.marginLeft));
    if (box.width && more > 1) found.push(`${describe(node)} is ${more.toFixed()} pixels wider than ${describe(around)}`);
  }
  return found;
};
