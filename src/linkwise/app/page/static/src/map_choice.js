/** The buttons that choose how the plot places the rows. */
import { createButton, setEnabled } from "./controls.js";
import { h, setText } from "./dom.js";

/** @import { Page } from "./page.js" */
/** @import { State } from "./protocol.d.ts" */

const PAUSE_MS = 1500; // in which the first question is drawn, before the map takes the processor

/** @param {Page} page */
export function createMapChoice(page) {
  /** @param {"axes" | "neighbours"} by */
  const place = async (by) => {
    if (isRunning && by === "neighbours") return;
    isAwaited = by === "neighbours";
    const reply = await page.controller.request({ do: "map", by });
    if (!reply.ok) page.announce(reply.error.text);
  };
  const near = createButton("", () => place("neighbours"), { className: "lw-quiet" });
  const axes = createButton("Map by axes", () => place("axes"), { className: "lw-quiet" });
  const node = h(
    "div",
    { class: "lw-map-choice", role: "group", "aria-label": "Places of the rows" },
    near,
    axes,
  );
  let isRunning = false;
  let isAwaited = false; // whether a person asked for the map, and is told when it is ready
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let proposal;
  const placeUnasked = async () => {
    proposal = undefined; // rows that are read otherwise are placed anew
    if (page.controller.state?.map?.proposed) await page.controller.request({ do: "map", by: "neighbours" });
  };
  return {
    node,
    close: () => clearTimeout(proposal),
    /** @param {State} state */
    update(state) {
      node.hidden = !state.map;
      if (!state.map) return;
      const { by, running } = state.map;
      setText(near, running ? "Placing the rows …" : by === "axes" ? "Map by neighbours" : "Map anew");
      setEnabled(near, !running);
      axes.hidden = by === "axes" && !running;
      if (isRunning && !running && isAwaited) page.announce(state.axes ?? "");
      isRunning = running;
      if (state.map.proposed) proposal ??= setTimeout(placeUnasked, PAUSE_MS);
    },
  };
}
