/** Pointer, wheel and keyboard over the plot. */

const CLICK = 4; // pixels that a pointer may move within a click
const STEP = 24; // pixels that an arrow key moves
const KEYBOARD_REACH = 40; // pixels around the cross
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * @typedef {object} Actions
 * @property {(dx: number, dy: number) => void} pan by pixels
 * @property {(factor: number, px: number, py: number) => void} zoom
 * @property {(px: number, py: number, reach?: number) => void} point
 * @property {() => void} leave the pointer is elsewhere
 * @property {(isPair: boolean) => boolean} choose the row that is pointed at, with Ctrl or Cmd as one of a pair;
 *   false if there is none
 * @property {(isKeyboard: boolean) => void} setKeyboard whether the cross points
 * @property {() => { width: number, height: number }} size
 * @property {() => boolean} isReady
 * @property {() => boolean} canZoom whether the wheel zooms; otherwise it scrolls the notebook
 */

/**
 * Drag pans, wheel and pinch zoom, a click or Enter chooses, arrow keys move.
 * @param {HTMLElement} node
 * @param {Actions} actions
 */
export function listenToGestures(node, actions) {
  listenToPointers(node, actions);
  listenToKeyboard(node, actions);
}

/**
 * @param {HTMLElement} node
 * @param {Actions} actions
 */
function listenToPointers(node, actions) {
  /** @type {Map<number, [number, number]>} */
  const touches = new Map();
  let [dragged, spread] = [0, 0];
  /** @type {(event: MouseEvent) => [number, number]} */
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
    if (dragged > CLICK && actions.isReady()) actions.pan(dx, dy);
  });
  node.addEventListener("pointerup", (event) => {
    const isClick = touches.delete(event.pointerId) && dragged <= CLICK;
    spread = 0;
    if (!isClick) return;
    actions.point(...locate(event), event.pointerType === "mouse" ? 9 : 18);
    actions.choose(event.ctrlKey || event.metaKey);
  });
  node.addEventListener("pointercancel", (event) => touches.delete(event.pointerId));
  node.addEventListener("pointerleave", actions.leave);
  const turnWheel = /** @param {WheelEvent} event */ (event) => {
    if (!actions.canZoom()) return;
    event.preventDefault();
    actions.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...locate(event));
  };
  node.addEventListener("wheel", turnWheel, { passive: false });
}

/**
 * @param {HTMLElement} node
 * @param {Actions} actions
 */
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
    if (event.altKey || (isPair && event.key !== "Enter") || !actions.isReady()) return;
    const direction = ARROWS[event.key];
    if (direction) {
      actions.setKeyboard(true);
      actions.pan(STEP * direction[0], STEP * direction[1]);
      pointAtCentre();
    } else if (event.key !== "Enter" || !actions.choose(isPair)) return;
    event.preventDefault();
  });
}
