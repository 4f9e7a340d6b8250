/**
 * The page that people answer on: one module in the anywidget protocol, shown by the local server and by notebooks.
 *
 * The host gives three traits: `state` (all that is shown), `labels` (the cluster of each row, one byte or two)
 * and `places` (two float32 a row). It takes requests and replies to each; a reply "ok" means that what was said
 * is on the disk. Whatever comes from the host is data: it becomes text nodes, never markup.
 *
 * In this order: small tools · words · colours · the plot · how an item looks · the panels · the dialogs · render.
 */

// ------------------------------------------------------------------------------------------------ small tools
const SVG = "http://www.w3.org/2000/svg";

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element; strings among the children become text. */
const h = (tag, props = {}, ...children) => filled(document.createElement(tag), props, children);

/** An SVG element. */
const s = (tag, props = {}, ...children) => filled(document.createElementNS(SVG, tag), props, children);

/** Set a text only where it is another one, so that nothing is laid out anew for nothing. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** The same for an attribute. */
function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Bytes, however the host hands them over. */
function bytesOf(value) {
  if (!value) return new Uint8Array(0);
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}

/** The same bytes as numbers of another type; copied only where they are not aligned. */
function numbersOf(value, Type) {
  const bytes = bytesOf(value);
  const size = Type.BYTES_PER_ELEMENT;
  const whole = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new Type(whole.buffer, whole.byteOffset, Math.floor(whole.byteLength / size));
}

/** Requests out, replies back. A refusal is a reply too: `{ok: false, error}`. */
function channel(model) {
  const prefix = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  const waiting = new Map();
  let count = 0;
  const receive = (message, buffers) => {
    const resolve = message && waiting.get(message.re);
    if (!resolve) return;
    waiting.delete(message.re);
    resolve({ ...message, file: buffers && buffers[0] });
  };
  model.on("msg:custom", receive);
  return {
    ask: (request) =>
      new Promise((resolve) => {
        const id = `${prefix}-${(count += 1)}`;
        waiting.set(id, resolve);
        model.send({ ...request, id });
      }),
    close: () => model.off("msg:custom", receive),
  };
}

// ------------------------------------------------------------------------------------------------ words
const SAID = { yes: "same", no: "different", unsure: "not sure" };
const KINDS = { yes: "must-link", no: "cannot-link" };
const number = (value) => Number(value).toLocaleString("en");
const counted = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
const percent = (share) => (share > 0 && share < 0.01 ? "under 1 %" : `${Math.round(share * 100)} %`);
const seconds = (time) => (time < 0.995 ? `${Math.max(1, Math.round(time * 1000))} ms` : `${time.toFixed(1)} s`);
const fileName = (path) => path.split(/[\\/]/).pop();
const clusterName = (cluster) => cluster.name || (cluster.cluster < 0 ? "No cluster" : `Cluster ${cluster.cluster}`);

/** What an event said, as one would say it. */
function eventInWords(event) {
  const [first, second] = event.names || [];
  if (event.kind === "import") return `${counted(event.pairs, "pair")} from ${event.text || "a file"}`;
  if (event.kind === "done") return `The cluster of ${first}: all its rows belong together`;
  if (event.kind === "name") {
    return event.text ? `The cluster of ${first} is called “${event.text}”` : `The cluster of ${first} has no name`;
  }
  return `${first} and ${second}: ${SAID[event.said] || event.said}`;
}

const READ_MS = 150; // nobody reads two items and presses a key sooner than this
const EARLY = "That came before you could read the next question, so it was not taken. Answer this one.";
const BUSY = "One moment: the last answer is still being saved. This one was not taken.";
const REFUSED = {
  stale: "The question had moved on, in another window perhaps. Your answer was not stored; this is what is asked now.",
  lost: "The connection broke before the answer was confirmed, so it may not be stored. Look at what is asked now.",
};

// ------------------------------------------------------------------------------------------------ colours
const N_COLOURS = 12;

/** Whether the notebook around is light or dark; where it does not tell, the system's choice holds. */
function schemeAround() {
  const body = document.body;
  const told = body.dataset.jpThemeLight;
  if (told) return told === "false" ? "dark" : "light";
  if (body.dataset.vscodeThemeKind) return body.dataset.vscodeThemeKind.includes("light") ? "light" : "dark";
  return body.classList.contains("dark") || document.documentElement.classList.contains("dark") ? "dark" : "light dark";
}

/**
 * The colours in this scheme: of clusters (the last one: no cluster) as [r, g, b], of ink and paper as CSS has them. Null as
 * long as the root is in no document: JupyterLab puts it there only after it was rendered.
 */
function coloursIn(root) {
  if (!root.isConnected) return null;
  const probe = h("span", { class: "lw-probe" });
  root.append(probe);
  const shown = (name) => {
    probe.style.color = `var(--lw-${name})`;
    return getComputedStyle(probe).color;
  };
  const names = [...Array(N_COLOURS).keys(), "none"];
  const found = { clusters: names.map((name) => numbersIn(shown(`cluster-${name}`))), ink: shown("ink"), paper: shown("card") };
  probe.remove();
  return found;
}

/** The red, green and blue of a colour as CSS has it. */
const numbersIn = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);

// ------------------------------------------------------------------------------------------------ the plot
const VERTEX = `#version 300 es
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
const FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 colour;
uniform float size;
out vec4 shown;
void main() {
  float inside = size > 2.5 ? clamp(size * 0.5 - length(gl_PointCoord - 0.5) * size, 0.0, 1.0) : 1.0;
  shown = vec4(colour.rgb, 1.0) * colour.a * inside;
}`;

/** Whether no graphics card stands behind WebGL; browsers do not always tell it as a caveat. */
function inSoftware(gl) {
  const card = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(gl.getParameter(card ? card.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

/** Points by a graphics card. Colours stand in a texture by label, so an answer costs one upload of a byte (or two) a row. */
function glPainter(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, powerPreference: "low-power", failIfMajorPerformanceCaveat: true });
  if (!gl || inSoftware(gl)) return null;
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const at = Object.fromEntries(["centre", "factor", "size"].map((name) => [name, gl.getUniformLocation(program, name)]));
  const buffer = (name) => {
    const made = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.enableVertexAttribArray(gl.getAttribLocation(program, name));
    return made;
  };
  const places = buffer("place");
  gl.vertexAttribPointer(gl.getAttribLocation(program, "place"), 2, gl.FLOAT, false, 0, 0);
  const labels = buffer("label");
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
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
      gl.uniform2f(at.centre, x, y);
      gl.uniform2f(at.factor, (2 * scale) / width, (2 * scale) / height);
      gl.uniform1f(at.size, Math.max(1, size * ratio));
      gl.drawArrays(gl.POINTS, 0, n);
    },
  };
}

/**
 * Where a disc covers pixels, and how much of them (256: all), for sixteen places of its corner within a pixel, quarter by
 * quarter; a small one is a square. As the shader has it.
 */
function stampsOf(size, stride) {
  const side = Math.ceil(size) + 1;
  const covered = (x, y) => {
    if (size > 2.5) return clamp(size / 2 - Math.hypot(x - size / 2, y - size / 2), 0, 1);
    return Number(Math.min(x, y) >= 0 && Math.max(x, y) < size);
  };
  return Array.from({ length: 16 }, (_, which) => {
    const [right, down] = [((which % 4) + 0.5) / 4, ((which >> 2) + 0.5) / 4];
    const found = [];
    for (let y = 0; y < side; y += 1) {
      for (let x = 0; x < side; x += 1) {
        const share = Math.round(256 * covered(x + 0.5 - right, y + 0.5 - down));
        if (share) found.push([y * stride + x, share]);
      }
    }
    return { at: Int32Array.from(found, ([at]) => at), share: Int32Array.from(found, ([, share]) => share) };
  });
}

/**
 * Points without a graphics card, put together in memory: WebGL in software, where there is such a thing, takes ten times as
 * long. The picture has a margin, so that a disc at the edge needs no care.
 */
function pixelPainter(canvas) {
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  let [places, labels, image, pixels, paper] = [new Float32Array(0), new Uint8Array(0), null, null, 0];
  let [outer, green, alpha] = [new Int32Array(0), new Int32Array(0), new Int32Array(0)]; // red and blue together, by label
  return {
    setPlaces: (values) => (places = values),
    setLabels: (values) => (labels = values),
    setColours(table, under) {
      const words = new Uint32Array(table.buffer);
      outer = Int32Array.from(words, (word) => word & 0xff00ff);
      green = Int32Array.from(words, (word) => word & 0xff00);
      alpha = Int32Array.from(words, (word) => (word >>> 24) + (word >>> 31));
      paper = new Uint32Array(Uint8Array.from([...under, 255]).buffer)[0];
    },
    paint({ ratio, x, y, scale, size }) {
      const [wide, tall, wanted] = [canvas.width, canvas.height, Math.max(1, size * ratio)];
      const margin = Math.ceil(wanted) + 1;
      const stride = wide + 2 * margin;
      if (!image || image.width !== stride || image.height !== tall + 2 * margin) {
        image = context.createImageData(stride, tall + 2 * margin);
        pixels = new Uint32Array(image.data.buffer);
      }
      pixels.fill(paper);
      const stamps = stampsOf(wanted, stride);
      const factor = scale * ratio;
      const [left, top] = [wide / 2 - x * factor - wanted / 2 + margin, tall / 2 + y * factor - wanted / 2 + margin];
      const [right, bottom] = [wide + margin, tall + margin];
      for (let row = 0; row < labels.length; row += 1) {
        const px = left + places[2 * row] * factor;
        const py = top - places[2 * row + 1] * factor;
        if (!(px >= 0 && px < right && py >= 0 && py < bottom)) continue;
        const [cx, cy] = [px | 0, py | 0];
        const { at, share } = stamps[(((py - cy) * 4) | 0) * 4 + (((px - cx) * 4) | 0)];
        const label = labels[row];
        const [rb, g, a] = [outer[label], green[label], alpha[label]];
        const corner = cy * stride + cx;
        for (let k = 0; k < at.length; k += 1) {
          const pixel = corner + at[k];
          const part = (a * share[k]) >> 8;
          const under = pixels[pixel];
          const [urb, ug] = [under & 0xff00ff, under & 0xff00];
          pixels[pixel] = 0xff000000 | ((urb + (Math.imul(rb - urb, part) >>> 8)) & 0xff00ff) | ((ug + (Math.imul(g - ug, part) >>> 8)) & 0xff00);
        }
      }
      context.putImageData(image, -margin, -margin);
    },
  };
}

/** Rows by cells of a grid, for the row nearest to a place. */
function gridOf(places) {
  const n = places.length / 2;
  const side = clamp(Math.round(Math.sqrt(n) / 2), 1, 1024);
  const cell = (value) => clamp(Math.floor(((value + 1) / 2) * side), 0, side - 1);
  const starts = new Uint32Array(side * side + 1);
  const cells = new Uint32Array(n);
  for (let row = 0; row < n; row += 1) {
    cells[row] = cell(places[2 * row + 1]) * side + cell(places[2 * row]);
    starts[cells[row] + 1] += 1;
  }
  for (let i = 0; i < side * side; i += 1) starts[i + 1] += starts[i];
  const next = starts.slice();
  const rows = new Uint32Array(n);
  for (let row = 0; row < n; row += 1) rows[next[cells[row]]++] = row;
  return (x, y, reach) => {
    let best = -1;
    let least = reach * reach;
    for (let j = cell(y - reach); j <= cell(y + reach); j += 1) {
      const end = starts[j * side + cell(x + reach) + 1];
      for (let k = starts[j * side + cell(x - reach)]; k < end; k += 1) {
        const row = rows[k];
        const far = (places[2 * row] - x) ** 2 + (places[2 * row + 1] - y) ** 2;
        if (far <= least) [best, least] = [row, far];
      }
    }
    return best;
  };
}

/** The part of the plane that is seen: its middle, and pixels a unit. */
function framed(places, width, height) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < places.length; i += 2) {
    if (places[i] < left) left = places[i];
    if (places[i] > right) right = places[i];
    if (places[i + 1] < low) low = places[i + 1];
    if (places[i + 1] > high) high = places[i + 1];
  }
  const margin = 36; // room for a ring and its letter
  const scale = Math.min((width - 2 * margin) / Math.max(right - left, 1e-6), (height - 2 * margin) / Math.max(high - low, 1e-6));
  return { x: (left + right) / 2, y: (low + high) / 2, scale };
}

/**
 * The scatter with what lies over it. `hover(row, x, y)` hears of the row under the pointer (-1: none), `choose(row)` of a
 * click or Enter. Drag pans, wheel and pinch zoom; with the keyboard a cross in the middle points.
 */
function scatter(root, { hover, choose, zoomable }) {
  let canvas = h("canvas", { class: "lw-points" });
  const over = h("canvas", {
    class: "lw-over", tabindex: "0", role: "img", "aria-roledescription": "scatter plot", "aria-label": "The rows, coloured by cluster",
  });
  const box = h("div", { class: "lw-scatter" }, canvas, over);
  let [painter, places, labels, grid, home, seen] = [null, new Float32Array(0), new Uint8Array(0), null, null, null];
  let [colours, slots, alone, hovered, marked, noise] = [null, [], null, -1, [], 255];
  let [width, height, frame, keyed] = [0, 0, 0, false];
  let stale = true; // whether the points have to be drawn again, or only what lies over them

  const start = () => {
    painter = glPainter(canvas);
    box.dataset.painter = painter ? "card" : "memory";
    if (painter) return;
    const fresh = h("canvas", { class: "lw-points", width: canvas.width, height: canvas.height });
    canvas.replaceWith(fresh); // a canvas keeps the kind of its first context
    canvas = fresh;
    painter = pixelPainter(canvas);
  };
  const upload = () => {
    painter.setPlaces(places);
    painter.setLabels(labels);
    tint();
  };
  const tint = () => {
    if (!painter || !colours) return;
    const table = new Uint8Array(1024 * (noise > 255 ? 256 : 1));
    const paintOne = (label, [r, g, b]) => {
      const alpha = alone === null || alone === label ? 217 : 20;
      table.set([r, g, b, alpha], 4 * label);
    };
    slots.forEach((slot, label) => paintOne(label, colours.clusters[slot % N_COLOURS]));
    paintOne(noise, colours.clusters[N_COLOURS]);
    painter.setColours(table, numbersIn(colours.paper));
  };
  const pointSize = () => {
    const zoomed = Math.sqrt(seen.scale / home.scale);
    return clamp(Math.sqrt((width * height * 0.3) / (places.length / 2)), 1.5, 8) * clamp(zoomed, 1, 3);
  };
  const screen = (row) => [
    width / 2 + (places[2 * row] - seen.x) * seen.scale, height / 2 - (places[2 * row + 1] - seen.y) * seen.scale,
  ];
  const paint = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (!painter || !seen || !width || !colours) return;
    if (stale) painter.paint({ ...seen, width, height, ratio: canvas.width / width, size: pointSize() });
    stale = false;
    overlay();
  };
  const marksLater = () => (frame = frame || requestAnimationFrame(paint));
  const later = () => {
    stale = true;
    marksLater();
  };

  // ---------------------------------------------------------------- what lies over the points
  const overlay = () => {
    const context = over.getContext("2d");
    const ratio = over.width / width;
    const { ink, paper } = colours;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const ring = (x, y, reach, square) => {
      context.beginPath();
      if (square) {
        [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]].forEach(([dx, dy], i) =>
          context[i ? "lineTo" : "moveTo"](x + dx * reach, y + dy * reach));
        context.closePath();
      } else context.arc(x, y, reach, 0, 7);
    };
    const stroked = (colour, thick) => Object.assign(context, { strokeStyle: colour, lineWidth: thick }).stroke();
    for (const { row, tag, square, dashed } of marked) {
      const [x, y] = screen(row);
      const reach = Math.max(9, pointSize() / 2 + 5);
      context.setLineDash(dashed ? [4, 3] : []);
      ring(x, y, reach, square);
      stroked(paper, 5);
      stroked(ink, 2.25);
      context.setLineDash([]);
      context.font = "700 12px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "middle";
      Object.assign(context, { strokeStyle: paper, lineWidth: 4, lineJoin: "round" }).strokeText(tag, x, y - reach - 10);
      context.fillStyle = ink;
      context.fillText(tag, x, y - reach - 10);
    }
    if (hovered >= 0) {
      ring(...screen(hovered), pointSize() / 2 + 3, false);
      stroked(paper, 4);
      stroked(ink, 1.5);
    }
    if (keyed) {
      context.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        context.moveTo(width / 2 + 4 * dx, height / 2 + 4 * dy);
        context.lineTo(width / 2 + 12 * dx, height / 2 + 12 * dy);
      }
      stroked(paper, 4);
      stroked(ink, 1.5);
    }
  };

  // ---------------------------------------------------------------- moving
  const look = (next) => {
    const scale = clamp(next.scale, home.scale * 0.5, home.scale * 5000);
    seen = { x: clamp(next.x, -1.5, 1.5), y: clamp(next.y, -1.5, 1.5), scale };
    later();
  };
  const zoom = (factor, px = width / 2, py = height / 2) => {
    if (!seen) return;
    const scale = clamp(seen.scale * factor, home.scale * 0.5, home.scale * 5000);
    const [dx, dy] = [px - width / 2, height / 2 - py];
    look({ x: seen.x + dx / seen.scale - dx / scale, y: seen.y + dy / seen.scale - dy / scale, scale });
    point(px, py);
  };
  const reset = () => {
    if (!home) return;
    seen = { ...home };
    later();
  };
  const under = (px, py, reach = 9) => {
    if (!seen || !places.length) return -1;
    grid = grid || gridOf(places);
    return grid(seen.x + (px - width / 2) / seen.scale, seen.y - (py - height / 2) / seen.scale, reach / seen.scale);
  };
  const point = (px, py, reach) => {
    const row = under(px, py, reach);
    if (row !== hovered) {
      hovered = row;
      over.style.cursor = row >= 0 ? "pointer" : "grab";
      marksLater();
    }
    if (row >= 0) hover(row, ...screen(row));
    else hover(-1, 0, 0);
  };
  const leave = () => {
    [hovered, keyed] = [-1, false];
    hover(-1, 0, 0);
    marksLater();
  };

  const touches = new Map();
  let [dragged, spread] = [0, 0];
  const where = (event) => {
    const edge = over.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  };
  const apart = () => {
    const [a, b] = [...touches.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    over.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, where(event));
    dragged = touches.size > 1 ? Infinity : 0;
    spread = touches.size === 2 ? apart() : 0;
    keyed = false;
  });
  over.addEventListener("pointermove", (event) => {
    const at = where(event);
    const from = touches.get(event.pointerId);
    if (!from) return point(...at);
    touches.set(event.pointerId, at);
    if (touches.size === 2) {
      const now = apart();
      const [a, b] = [...touches.values()];
      if (spread) zoom(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = now;
      return undefined;
    }
    dragged += Math.hypot(at[0] - from[0], at[1] - from[1]);
    if (dragged > 4 && seen) look({ ...seen, x: seen.x - (at[0] - from[0]) / seen.scale, y: seen.y + (at[1] - from[1]) / seen.scale });
    return undefined;
  });
  over.addEventListener("pointerup", (event) => {
    const click = touches.delete(event.pointerId) && dragged <= 4;
    spread = 0;
    if (!click) return;
    point(...where(event), event.pointerType === "mouse" ? 9 : 18);
    if (hovered >= 0) choose(hovered);
  });
  over.addEventListener("pointercancel", (event) => touches.delete(event.pointerId));
  over.addEventListener("pointerleave", leave);
  over.addEventListener("wheel", (event) => {
    if (!zoomable()) return; // elsewhere in a notebook a wheel scrolls
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...where(event));
  }, { passive: false });
  over.addEventListener("focus", () => {
    keyed = over.matches(":focus-visible");
    if (keyed) point(width / 2, height / 2, 40);
    marksLater();
  });
  over.addEventListener("blur", leave);
  over.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey || !seen) return;
    if (step) {
      keyed = true;
      look({ ...seen, x: seen.x + (24 * step[0]) / seen.scale, y: seen.y + (24 * step[1]) / seen.scale });
      point(width / 2, height / 2, 40);
    } else if (event.key === "Enter" && hovered >= 0) choose(hovered);
    else return;
    event.preventDefault();
  });

  const resize = () => {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [w, t] = [box.clientWidth, box.clientHeight];
    if (!w || !t) return;
    const fresh = w !== width || t !== height || canvas.width !== Math.round(w * ratio);
    if (!fresh) return;
    if (!colours) {
      colours = coloursIn(root);
      tint();
    }
    [width, height] = [w, t];
    for (const each of [canvas, over]) Object.assign(each, { width: Math.round(w * ratio), height: Math.round(t * ratio) });
    const moved = home && seen && (seen.scale !== home.scale || seen.x !== home.x || seen.y !== home.y);
    if (places.length) home = framed(places, width, height);
    if (!moved) seen = home && { ...home };
    stale = true;
    paint();
  };
  const observer = new ResizeObserver(resize);
  observer.observe(box);
  box.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    painter = null;
  }, true);
  box.addEventListener("webglcontextrestored", () => (start(), upload(), later()), true);

  return {
    node: box,
    zoom,
    reset,
    get slots() {
      return slots;
    },
    setPlaces(values) {
      places = values;
      [grid, home, seen] = [null, null, null];
    },
    /** The cluster of each row, and the colour of each cluster. */
    setLabels(values, given) {
      noise = values.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
      [slots, labels] = [given, values];
      if (alone !== null && alone !== noise && alone >= slots.length) alone = null;
      colours = colours || coloursIn(root);
      if (!places.length) return;
      if (!painter) start();
      if (home) {
        painter.setLabels(labels);
        tint();
        stale = true;
        paint();
      } else {
        upload();
        [width, height] = [0, 0];
        resize();
      }
    },
    labelOf: (row) => (labels[row] === noise ? -1 : labels[row]),
    mark(rows) {
      marked = rows;
      marksLater();
    },
    highlight(cluster) {
      alone = cluster === null ? null : cluster < 0 ? noise : cluster;
      tint();
      later();
    },
    recolour() {
      colours = coloursIn(root);
      tint();
      later();
    },
    close() {
      observer.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}

// ------------------------------------------------------------------------------------------------ how an item looks
const A = { tag: "A", square: false };
const B = { tag: "B", square: true };

/** The sign of the first or second item: a disc or a diamond, with its letter. */
const badge = ({ tag, square }) => h("span", { class: square ? "lw-badge lw-diamond" : "lw-badge" }, h("span", {}, tag));

/** Where two numbers stand between the lowest and the highest of their column. */
function scaleOf(first, second) {
  if (first === null && second === null) return null;
  const x = (place) => 6 + 84 * clamp(place, 0, 1);
  const drawing = s("svg", { class: "lw-scale", viewBox: "0 0 96 14", width: "96", height: "14", "aria-hidden": "true" },
    s("line", { x1: 4, x2: 92, y1: 7, y2: 7 }));
  if (first !== null) drawing.append(s("circle", { cx: x(first), cy: 7, r: 4 }));
  if (second !== null) {
    const at = x(second);
    drawing.append(s("path", { d: `M${at} 1.5 L${at + 5.5} 7 L${at} 12.5 L${at - 5.5} 7 Z` }));
  }
  return drawing;
}

/** A name that may be broken after its signs. */
const breakable = (name) => name.split(/(?<=[_./-])/).flatMap((part) => [part, h("wbr")]).slice(0, -1);

/** The fields of one or two items as a table; what differs is bold and has a sign. */
function fieldsOf(items, differ = []) {
  if (!items.some((item) => item.fields && item.fields.length)) return null;
  const differs = new Set(differ);
  const all = items.map((item) => new Map(item.fields.map((field) => [field.name, field])));
  const names = [...new Set(all.flatMap((fields) => [...fields.keys()]))];
  const places = items.length === 2 && names.some((name) => all.some((fields) => typeof (fields.get(name) || {}).place === "number"));
  const place = (field) => (field && typeof field.place === "number" ? field.place : null);
  const line = (name) => {
    const cells = all.map((fields) => fields.get(name));
    const other = differs.has(name);
    return h("tr", { class: other && "lw-differs" },
      h("th", { scope: "row" }, h("span", { class: "lw-mark", "aria-hidden": "true" }, other ? "≠" : ""), breakable(name), other && h("span", { class: "lw-hidden" }, ", differs")),
      cells.map((cell) => h("td", {}, cell ? cell.value : "—")),
      places && h("td", { class: "lw-where" }, scaleOf(...cells.map(place))));
  };
  return h("div", { class: "lw-fields", role: "region", tabindex: "0", "aria-label": "Values, column by column" },
    h("table", {},
      items.length === 2 && h("thead", {}, h("tr", {}, h("td", {}),
        h("th", { scope: "col" }, badge(A), items[0].name), h("th", { scope: "col" }, badge(B), items[1].name),
        places && h("th", { scope: "col", class: "lw-where lw-ends" }, h("span", {}, "low"), " ", h("span", {}, "high")))),
      h("tbody", {}, names.map(line))));
}

/** Curves over one another's range, so that heights can be compared. */
function curveOf(series, low, high) {
  const [wide, tall] = [300, 120];
  const x = (i) => 4 + ((wide - 8) * i) / Math.max(1, series.length - 1);
  const y = (value) => tall - 6 - ((tall - 12) * (value - low)) / (high - low || 1);
  let path = "";
  let drawing = false;
  series.forEach((value, i) => {
    if (typeof value === "number") path += `${drawing ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}${drawing ? "" : "h.01"}`;
    drawing = typeof value === "number";
  });
  return s("svg", { class: "lw-curve", viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `A curve of ${counted(series.length, "value")}` }, s("path", { d: path, "vector-effect": "non-scaling-stroke" }));
}

function pictureOf(item) {
  if (!item.image.startsWith("data:image/")) return h("p", {}, "This picture cannot be shown.");
  const picture = h("img", { class: "lw-picture", src: item.image, alt: `Picture of ${item.name}` });
  picture.addEventListener("load", () => picture.classList.toggle("lw-small", picture.naturalWidth < 96));
  return picture;
}

/** What is to be seen of items beside their fields: text, picture or curve; null where there is nothing. */
function contentsOf(items) {
  const values = items.flatMap((item) => item.series || []).filter((value) => typeof value === "number");
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const short = (value) => Number(value.toPrecision(4)).toLocaleString("en");
  return items.map((item) => {
    if (typeof item.text === "string") return h("blockquote", { class: "lw-text", tabindex: "0" }, item.text || "(empty)");
    if (typeof item.image === "string") return pictureOf(item);
    if (!item.series) return null;
    return h("div", { class: "lw-series" }, curveOf(item.series, low, high),
      values.length > 0 && h("div", { class: "lw-range", "aria-hidden": "true" }, h("span", {}, short(high)), h("span", {}, short(low))));
  });
}

/** Two items side by side, as they can be judged. */
function pairOf(question) {
  const items = [question.first, question.second];
  const contents = contentsOf(items);
  const figures = contents.some(Boolean) && h("div", { class: "lw-pair" }, items.map((item, i) =>
    h("figure", {}, h("figcaption", {}, badge(i ? B : A), item.name), contents[i])));
  return [figures, fieldsOf(items, question.differ)];
}

/** One item, whole. */
const itemOf = (item) => [contentsOf([item])[0], fieldsOf([item])];

/** One item in a few lines, for the pointer. */
function glimpseOf(item) {
  if (typeof item.text === "string") return h("p", {}, item.text.length > 160 ? `${item.text.slice(0, 159)}…` : item.text);
  const fields = (item.fields || []).slice(0, 6);
  return [contentsOf([item])[0], fields.length > 0 && h("dl", {}, fields.flatMap((field) => [h("dt", {}, field.name), h("dd", {}, field.value)]))];
}

// ------------------------------------------------------------------------------------------------ buttons
const ICONS = {
  yes: () => [s("circle", { cx: 9, cy: 10, r: 5.5 }), s("circle", { cx: 15, cy: 10, r: 5.5 })],
  no: () => [s("circle", { cx: 5.5, cy: 10, r: 4 }), s("circle", { cx: 18.5, cy: 10, r: 4 }), s("path", { d: "M12 3.5v13" })],
  unsure: () => [s("circle", { cx: 8, cy: 10, r: 4.5, "stroke-dasharray": "2.2 2.2" }), s("circle", { cx: 16, cy: 10, r: 4.5, "stroke-dasharray": "2.2 2.2" })],
  undo: () => [s("path", { d: "M8 4 4 8l4 4M4.5 8H14a5 5 0 0 1 0 9H9" })],
};
const icon = (name) => s("svg", { class: "lw-icon", viewBox: "0 0 24 20", width: 24, height: 20, "aria-hidden": "true" }, ICONS[name]());
const key = (letter) => h("kbd", { "aria-hidden": "true" }, letter);

function button(words, onclick, props = {}) {
  const { className = "", ...others } = props;
  return h("button", { type: "button", class: `lw-button ${className}`, onclick, ...others }, words);
}

/** A button that cannot be used now keeps its focus, so that the keyboard goes on. */
const setUsable = (node, usable) => setAttribute(node, "aria-disabled", String(!usable));

/** A text that a button opens and shuts. */
function disclosure(view, words, letter, className) {
  const text = h("p", { class: `lw-told ${className}`, id: view.id(className), hidden: true });
  const opener = button([h("span", {}, words), key(letter)], () => show(text.hidden),
    { className: "lw-quiet", "aria-expanded": "false", "aria-controls": text.id, "aria-keyshortcuts": letter });
  const show = (open) => {
    text.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (open) view.announce(text.textContent);
  };
  return { text, opener, toggle: () => show(text.hidden), shut: () => show(false) };
}

// ------------------------------------------------------------------------------------------------ the panels
function header(view) {
  const title = h("span", { class: "lw-title" });
  const saved = h("span", { class: "lw-saved" }, h("i", { "aria-hidden": "true" }), h("span", {}));
  const files = [["labels", "Clusters (CSV)"], ["constraints", "Pairs (CSV)"], ["session", "Session file"], ["rules", "Rules (text)"]];
  const list = h("div", { class: "lw-menu", id: view.id("export"), hidden: true }, files.map(([what, words]) =>
    button(words, () => (shut(), view.save(what)), { className: "lw-quiet", "data-what": what })));
  const opener = button("Export", () => (list.hidden ? unfold() : shut()), { className: "lw-plainer", "aria-expanded": "false", "aria-controls": list.id });
  const unfold = () => {
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    list.firstChild.focus();
  };
  const shut = () => {
    if (list.hidden) return;
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    opener.focus();
  };
  const menu = h("div", { class: "lw-export" }, opener, list);
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget)) {
      list.hidden = true;
      opener.setAttribute("aria-expanded", "false");
    }
  });
  menu.addEventListener("keydown", (event) => event.key === "Escape" && shut());
  const node = h("header", { class: "lw-header" },
    h("span", { class: "lw-brand" }, s("svg", { viewBox: "0 0 24 20", width: 26, height: 22, "aria-hidden": "true" }, ICONS.yes()), h("span", {}, "linkwise")),
    title, saved, h("div", { class: "lw-tools" },
      button("History", () => historyDialog(view), { className: "lw-plainer" }), menu,
      button("?", () => helpDialog(view), { className: "lw-plainer", "aria-label": "Keys and help", title: "Keys and help" })));
  return {
    node,
    update(state) {
      setText(title, state.title || "");
      list.lastChild.hidden = !state.rules;
      this.status();
    },
    status() {
      const place = view.state && view.state.place;
      const words = {
        saving: "Saving…",
        unsaved: "Not saved",
        saved: place ? `Saved in ${fileName(place)}` : "Kept in memory only",
        lost: view.failed ? "Ended" : "Connection lost",
      };
      saved.hidden = !view.state && view.link === "open";
      const now = view.link !== "open" ? "lost" : view.saved;
      saved.dataset.is = now === "saved" && !place ? "memory" : now;
      saved.title = place || "";
      setText(saved.lastChild, words[now]);
    },
  };
}

/** What to say of a link that is not open; `failed`: the host said that it had to end. */
function brokenInWords(link, failed) {
  if (failed) return ENDED;
  return { lost: LOST, closed: SHUT, login: LOGIN }[link] || LOST;
}
const ENDED = "linkwise had to end. Every answer marked saved is in the file. Start it again, and open the address that it prints.";
const LOGIN = "linkwise was started anew, and asks for the password again: reload this page to log in. Every answer marked saved is in the file.";
const LOST = "Connection lost. Every answer marked saved is in the file. Trying again…";
const SHUT = "linkwise is not running any more, or was started anew. Every answer marked saved is in the file. Start it again, and open the address that it prints.";

function questionPanel(view) {
  const heading = h("h2", { id: view.id("asked"), tabindex: "-1" });
  const card = h("section", { class: "lw-card lw-question", "aria-labelledby": heading.id });
  const count = h("p", { class: "lw-eyebrow" });
  const pair = h("div", { class: "lw-items" });
  const answer = (said, words, letter) => {
    const node = button([icon(said), h("span", {}, words), key(letter)], () => view.answer(said),
      { className: `lw-answer lw-${said}`, "aria-keyshortcuts": letter });
    return node;
  };
  const answers = [answer("yes", "Same", "Y"), answer("no", "Different", "N"), answer("unsure", "Not sure", "S")];
  const undo = button([icon("undo"), h("span", {}, "Undo"), key("U")], () => view.undo(), { className: "lw-quiet lw-undo", "aria-keyshortcuts": "U" });
  const why = disclosure(view, "Why this question?", "W", "lw-why");
  const guess = disclosure(view, "Guess", "G", "lw-guess");
  const bar = h("div", { class: "lw-answers", role: "group", "aria-label": "Your answer" }, answers);
  const more = h("div", { class: "lw-more" }, why.opener, guess.opener, h("span", { class: "lw-gap" }), undo);
  const notice = h("p", { class: "lw-notice", hidden: true });
  const finish = h("div", { class: "lw-finish", hidden: true });
  card.append(count, heading, pair, finish, bar, why.text, guess.text, notice, more);
  let shown = null;

  const ask = (state) => {
    const question = state.question;
    const n = state.counts.answers + 1;
    setText(count, state.budget ? `Question ${number(n)} of ${number(state.budget)}` : `Question ${number(n)}`);
    setText(heading, "Do these two belong together?");
    if (shown === question.id) return;
    shown = question.id;
    view.asked = performance.now();
    pair.replaceChildren(...pairOf(question).filter(Boolean));
    setText(why.text, question.why || "The learner gives no reason.");
    guess.shut();
    setText(guess.text, `The clustering so far would say: ${SAID[question.guess] || "nothing"}.`);
  };
  const end = (state) => {
    shown = null;
    setText(count, "Finished");
    setText(heading, state.ended === "budget" ? `All ${counted(state.budget, "question")} are answered` : "Nothing is left to ask");
    finish.replaceChildren(...finishOf(view, state).filter(Boolean));
  };
  const pending = (above, words) => {
    shown = null;
    setText(count, above);
    setText(heading, words);
    pair.replaceChildren(...[1, 2, 3, 4].map(() => h("div", { class: "lw-bone" })));
  };
  return {
    node: card,
    heading,
    why,
    guess,
    /** Before there is anything to ask: the data are read, or could not be. */
    wait({ loading, failed }) {
      pending(failed ? "It cannot go on" : "Loading", failed ? (view.state ? "linkwise had to end" : "linkwise could not open the data") : loading || "Reading the data");
      if (failed) pair.replaceChildren(h("p", { class: "lw-failed" }, failed), h("p", { class: "lw-soft" }, "The terminal in which linkwise was started says more."));
      [bar, more].forEach((each) => (each.hidden = true));
      card.setAttribute("aria-busy", String(!failed));
    },
    update(state) {
      const asking = Boolean(state.question);
      const ended = Boolean(!state.question && state.ended);
      if (asking) ask(state);
      else if (ended) end(state);
      else pending("One moment", "The next question is being worked out");
      more.hidden = false;
      finish.hidden = !ended;
      pair.hidden = ended;
      for (const node of [bar, why.opener, guess.opener]) node.hidden = ended;
      if (!asking) [why, guess].forEach((each) => each.shut());
      undo.title = state.undo ? `Takes back: ${eventInWords(state.undo)}` : "";
      card.setAttribute("aria-busy", String(!asking && !ended));
      this.usable();
    },
    usable() {
      const open = view.link === "open" && !view.waits();
      answers.forEach((node) => setUsable(node, open && view.state && view.state.question));
      setUsable(undo, open && view.state && view.state.undo);
    },
    notice(text, tone = "calm") {
      notice.hidden = !text;
      notice.dataset.tone = tone;
      setText(notice, text || "");
    },
  };
}

/** What was found, and where to go from here. */
function finishOf(view, state) {
  const { counts } = state;
  return [
    h("p", { class: "lw-lead" }, `${counted(state.clusters.length + (state.more_clusters || 0), "cluster")} in ${counted(state.rows, "row")}, from ${counted(counts.answers, "answer")}. `,
      state.ended === "budget" ? "More can be asked with a larger budget." : "All that the learner wanted to know is known."),
    typeof state.agreement === "number" && h("p", {}, `Agreement with the known classes, which nobody saw (ARI): ${state.agreement.toFixed(2)}. 1 is these classes exactly, 0 is chance.`),
    h("div", { class: "lw-answers" },
      button("Save the clusters", () => view.save("labels"), { className: "lw-answer lw-main" }),
      state.rules && button("Save the rules", () => view.save("rules"), { className: "lw-answer" })),
    h("p", { class: "lw-soft" }, "You may go on by yourself: choose two points in the plot and say whether they belong together, merge two clusters, name them, or change an earlier answer in the history."),
  ];
}

const BY_MOUSE = "Drag to move, turn the wheel to zoom, click a row to open it and to say where it belongs.";
const BY_FINGER = "Drag sideways to move, pinch to zoom, tap a row to open it and to say where it belongs.";

function plotPanel(view) {
  const tip = h("div", { class: "lw-tip", hidden: true, "aria-hidden": "true" });
  let [wanted, timer] = [-1, 0];
  const plot = scatter(view.root, {
    zoomable: () => view.root.contains(view.active()),
    choose: (row) => itemDialog(view, row),
    hover(row, x, y) {
      if (row === wanted && row >= 0 && !tip.hidden) return;
      wanted = row;
      clearTimeout(timer);
      tip.hidden = true;
      if (row < 0) return;
      timer = setTimeout(async () => {
        const item = await view.item(row);
        if (!item || wanted !== row) return;
        const cluster = view.clusterOf(row);
        tip.replaceChildren(h("strong", {}, item.name), ...[glimpseOf(item)].flat().filter(Boolean),
          h("p", { class: "lw-soft" }, cluster ? clusterName(cluster) : ""));
        tip.hidden = false;
        const [w, t] = [plotBox.clientWidth, plotBox.clientHeight];
        tip.style.left = `${clamp(x + 14, 4, Math.max(4, w - tip.offsetWidth - 4))}px`;
        tip.style.top = `${y + 16 + tip.offsetHeight > t ? Math.max(4, y - tip.offsetHeight - 14) : y + 16}px`;
        view.announce(`${item.name}, ${cluster ? clusterName(cluster) : ""}`);
      }, 70);
    },
  });
  const tools = h("div", { class: "lw-zoom", role: "group", "aria-label": "Zoom" },
    button("+", () => plot.zoom(1.5), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
    button("−", () => plot.zoom(1 / 1.5), { "aria-label": "Zoom out", title: "Zoom out (−)" }),
    button("Fit", () => plot.reset(), { "aria-label": "Fit all rows", title: "Fit all rows (0)" }));
  const plotBox = h("div", { class: "lw-plot" }, plot.node, tip);
  const chosen = h("div", { class: "lw-chosen", hidden: true });
  const told = h("p", { class: "lw-told", hidden: true });
  const node = h("section", { class: "lw-card lw-map", "aria-label": "Plot of all rows" }, plotBox,
    h("div", { class: "lw-under" }, h("p", { class: "lw-soft" }, window.matchMedia("(pointer: coarse)").matches ? BY_FINGER : BY_MOUSE), tools), chosen, told);
  const nameOf = (item) => h("strong", {}, item.name);
  const choice = () => {
    const [first, second] = view.chosen;
    chosen.hidden = !first && !second;
    told.hidden = true;
    const tell = (kind) => view.say({ do: "add", first: first.row, second: second.row, kind }, () => {
      view.choose([null, null]);
      return `Saved: ${first.name} and ${second.name} ${kind === "must-link" ? "belong together" : "are apart"}.`;
    });
    const reason = async () => {
      const reply = await view.ask({ do: "why", first: first.row, second: second.row });
      setText(told, reply.ok ? reply.text : reply.error.text);
      told.hidden = false;
      view.announce(told.textContent);
    };
    chosen.replaceChildren(
      h("p", {}, "First: ", first ? nameOf(first) : "choose a point", " · Second: ", second ? nameOf(second) : "choose a point"),
      ...[first && second && button("They belong together", () => tell("must-link")),
        first && second && button("They are apart", () => tell("cannot-link")),
        first && second && button("Why are they where they are?", reason, { className: "lw-quiet" }),
        button("Clear", () => (view.choose([null, null]), view.root.focus()), { className: "lw-quiet" })].filter(Boolean));
  };
  const marks = () => {
    const question = view.state && view.state.question;
    plot.mark([
      ...(question ? [{ ...A, row: question.first.row }, { ...B, row: question.second.row }] : []),
      ...view.chosen.flatMap((item, i) => (item ? [{ tag: i ? "2nd" : "1st", square: false, dashed: true, row: item.row }] : [])),
    ]);
  };
  return {
    node,
    plot,
    choice: () => (choice(), marks()),
    update(state, fresh) {
      if (fresh) {
        const places = numbersOf(view.model.get("places"), Float32Array);
        const labels = numbersOf(view.model.get("labels"), state.wide ? Uint16Array : Uint8Array);
        node.hidden = places.length === 0 || places.length !== 2 * labels.length;
        if (view.places !== view.model.get("places")) {
          view.places = view.model.get("places");
          plot.setPlaces(node.hidden ? new Float32Array(0) : places);
        }
        plot.setLabels(labels, state.colours || []);
      }
      marks();
    },
  };
}

function progressPanel(view) {
  const tile = (words) => {
    const [value, name, more] = [h("dd", {}), h("dt", {}, words), h("dd", { class: "lw-soft" })];
    const show = (first, second, third) => [[value, first], [name, second], [more, third]].forEach(([each, text]) => setText(each, text));
    return { node: h("div", {}, name, value, more), show };
  };
  const [answers, inferred, time] = [tile("answers"), tile("pairs inferred for free"), tile("to the next question")];
  const tiles = h("dl", { class: "lw-tiles" }, [answers, inferred, time].map((each) => each.node));
  const bars = h("div", { class: "lw-bars" });
  const advice = h("p", { class: "lw-advice" });
  const details = h("p", { class: "lw-soft" });
  let drawn = null;
  const heading = h("h3", { id: view.id("far") }, "So far");
  const node = h("section", { class: "lw-card lw-progress", "aria-labelledby": heading.id }, heading, tiles, h("div", { class: "lw-stable" }, bars, advice), details);
  const chart = (changes) => {
    const [wide, tall] = [160, 40];
    const most = Math.max(0.05, ...changes);
    const said = changes.length ? `Rows that moved at each of the last ${counted(changes.length, "answer")}; at the last one ${percent(changes.at(-1))}` : "No answers yet";
    return s("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "img", "aria-label": said },
      changes.map((share, i) => {
        const t = Math.max(1.5, (share / most) * (tall - 2));
        return s("rect", { x: 8 * (20 - changes.length + i) + 1, y: tall - t, width: 6, height: t, rx: 1 });
      }));
  };
  return {
    node,
    update(state) {
      const { counts, changes = [], advice: advised, seconds: taken } = state;
      const extra = [["volunteered", "volunteered"], ["imported", "imported"], ["done", "clusters done"]].filter(([name]) => counts[name])
        .map(([name, words]) => `${number(counts[name])} ${words}`).join(", ");
      answers.show(number(counts.answers), counts.answers === 1 ? "answer" : "answers",
        `${number(counts.yes)} same, ${number(counts.no)} different, ${number(counts.unsure)} not sure`);
      inferred.show(number(counts.inferred), "pairs inferred for free", extra);
      time.show(taken ? seconds(taken.last) : "–", "to the next question", taken ? `median ${seconds(taken.median)}` : "");
      bars.hidden = changes.length === 0;
      if (String(changes) !== drawn) bars.replaceChildren(chart(changes), h("p", { class: "lw-soft" }, "rows that moved, answer by answer"));
      drawn = String(changes);
      setText(advice, (!state.ended && advised && advised.text) || "");
      advice.dataset.stop = String(Boolean(advised && advised.stop));
      const words = [state.learner, ...(state.description || []), state.place ? `Saved in ${state.place}` : "Kept in memory only: export the session before you leave."];
      setText(details, words.filter(Boolean).map((line) => (/[.!?…]$/.test(line) || line === state.place ? line : `${line}.`)).join(" ").replace(/\.$/, ""));
    },
  };
}

function clustersPanel(view, plot) {
  const heading = h("h3", { id: view.id("clusters") }, "Clusters");
  const rulesButton = button("Show rules", () => toggleRules(), { className: "lw-quiet", "aria-expanded": "false" });
  const list = h("ul", { class: "lw-clusters" });
  const foot = h("p", { class: "lw-soft", hidden: true });
  const fidelity = h("p", { class: "lw-soft", hidden: true });
  const node = h("section", { class: "lw-card", "aria-labelledby": heading.id }, h("div", { class: "lw-row" }, heading, rulesButton), fidelity, list, foot);
  const rows = new Map();
  let [rules, shown, pinned] = [null, false, null];

  const toggleRules = async () => {
    shown = !shown;
    setText(rulesButton, shown ? "Hide rules" : "Show rules");
    rulesButton.setAttribute("aria-expanded", String(shown));
    if (shown) await loadRules();
    drawRules();
  };
  const loadRules = async () => {
    const counter = view.state.labels;
    fidelity.hidden = false;
    setText(fidelity, "Looking for rules…");
    const reply = await view.ask({ do: "rules" });
    rules = reply.ok ? { counter, of: new Map(reply.clusters.map((each) => [each.cluster, each.text])) } : { counter, of: new Map() };
    const right = reply.ok && reply.fidelity !== null ? [`The rules put ${percent(reply.fidelity)} of the rows where they are.`] : [];
    setText(fidelity, reply.ok ? [...right, ...(reply.notes || [])].join(" ") : reply.error.text);
  };
  const drawRules = () => {
    fidelity.hidden = !shown;
    for (const [cluster, row] of rows) {
      const lines = (shown && rules && rules.counter === view.state.labels && rules.of.get(cluster)) || [];
      const told = lines.map((line) => line.replace(/^cluster \d+: [\d,]+ rows?(, )?/, "")).filter(Boolean); // the row says so already
      row.rules.replaceChildren(...told.map((line) => h("li", {}, line)));
      row.rules.hidden = lines.length === 0;
    }
  };
  const highlight = (cluster) => plot.highlight(cluster === null ? pinned : cluster);
  const make = (number_) => {
    let [present, asked, drawn] = [null, null, ""]; // as it is, the name that was last asked for, what is on the screen
    const swatch = button("", () => {
      pinned = pinned === number_ ? null : number_;
      rows.forEach((row, each) => row.swatch.setAttribute("aria-pressed", String(each === pinned)));
      highlight(null);
    }, { className: "lw-swatch", "aria-pressed": "false" });
    const name = h("input", { class: "lw-name", maxlength: "200", autocomplete: "off", spellcheck: "false", "data-lm-suppress-shortcuts": "true" });
    const commit = async () => {
      const text = name.value.trim();
      if (text === asked) return;
      asked = text;
      const reply = await view.ask({ do: "name", cluster: present.cluster, name: text });
      if (reply.ok) view.announce(text ? `Saved: the cluster is called ${text}` : "Saved: the cluster has no name");
      else {
        view.notice(reply.error.text, "warn");
        asked = present.name;
        if (view.active() !== name) name.value = asked;
      }
    };
    name.addEventListener("change", commit);
    name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Escape") name.value = present.name;
      view.root.focus(); // which commits a name, and the keys answer again
    });
    const size = h("span", { class: "lw-size" });
    const share = h("span", { class: "lw-share", "aria-hidden": "true" }, h("i", {}));
    const like = h("p", { class: "lw-like" });
    const mergeButton = button("Merge…", () => mergeDialog(view, present), { className: "lw-quiet" });
    const doneButton = button("Done…", () => doneDialog(view, present), { className: "lw-quiet" });
    const done = h("span", { class: "lw-isdone" }, "✓ done");
    const ruleList = h("ul", { class: "lw-rules", hidden: true });
    const item = h("li", { class: "lw-cluster" }, swatch, name, size, share, like,
      h("div", { class: "lw-actions" }, done, mergeButton, doneButton), ruleList);
    item.addEventListener("pointerenter", () => highlight(number_));
    item.addEventListener("pointerleave", () => highlight(null));
    const update = (cluster, state) => {
      const before = present;
      present = cluster;
      const slot = cluster.cluster < 0 ? "none" : (plot.slots[cluster.cluster] ?? cluster.cluster) % N_COLOURS;
      const one = state.clusters.length < 2;
      const now = JSON.stringify([cluster, slot, state.rows, one]);
      if (now === drawn) return;
      drawn = now;
      if (!before || before.name !== cluster.name) {
        asked = cluster.name;
        if (view.active() !== name) name.value = cluster.name;
      }
      const words = clusterName(cluster);
      name.placeholder = clusterName({ ...cluster, name: "" });
      name.setAttribute("aria-label", `Name of ${words}`);
      swatch.setAttribute("aria-label", `Show only ${words} in the plot`);
      swatch.title = "Show only this cluster in the plot";
      item.style.setProperty("--lw-own", `var(--lw-cluster-${slot})`);
      setText(size, `${counted(cluster.size, "row")} · ${percent(cluster.size / state.rows)}`);
      share.firstChild.style.width = `${(100 * cluster.size) / state.rows}%`;
      if (!before || String(before.exemplars) !== String(cluster.exemplars)) {
        like.replaceChildren(h("span", {}, "like "), ...cluster.exemplars.map((row, i) =>
          button(cluster.short[i], () => itemDialog(view, row), { className: "lw-link" })));
      }
      done.hidden = !cluster.done;
      doneButton.hidden = cluster.done || cluster.cluster < 0;
      doneButton.setAttribute("aria-label", `Done: ${words}`);
      mergeButton.hidden = one || cluster.cluster < 0;
      mergeButton.setAttribute("aria-label", `Merge ${words} with another cluster`);
    };
    return { item, update, swatch, rules: ruleList };
  };
  return {
    node,
    update(state) {
      setText(heading, `Clusters (${number(state.clusters.length + (state.more_clusters || 0))})`);
      const there = new Set(state.clusters.map((each) => each.cluster));
      for (const [cluster, row] of rows) {
        if (there.has(cluster)) continue;
        row.item.remove();
        rows.delete(cluster);
        if (pinned === cluster) highlight((pinned = null));
      }
      state.clusters.forEach((cluster, i) => {
        if (!rows.has(cluster.cluster)) rows.set(cluster.cluster, make(cluster.cluster));
        const row = rows.get(cluster.cluster);
        row.update(cluster, state);
        if (list.children[i] !== row.item) list.insertBefore(row.item, list.children[i] || null);
      });
      rulesButton.hidden = !state.rules;
      foot.hidden = !state.more_clusters;
      setText(foot, `${counted(state.more_clusters || 0, "smaller cluster is", "smaller clusters are")} not listed.`);
      if (shown && rules && rules.counter !== state.labels) loadRules().then(drawRules);
      else drawRules();
    },
  };
}

// ------------------------------------------------------------------------------------------------ the dialogs
/** A modal dialog: focus stays in it, Escape and a click beside it shut it, and focus goes back where it was. */
function dialog(view, title, { className = "" } = {}) {
  const from = view.active();
  const id = view.id("dialog");
  const body = h("div", { class: "lw-body" });
  const foot = h("div", { class: "lw-foot" });
  const box = h("dialog", { class: `lw-dialog ${className}`, "aria-labelledby": id },
    h("div", { class: "lw-row" }, h("h2", { id, tabindex: "-1" }, title), button("×", () => close(), { className: "lw-quiet lw-close", "aria-label": "Close" })), body, foot);
  const stops = () => [...box.querySelectorAll("button, input, [tabindex='0']")].filter((node) => node.offsetParent !== null);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Tab") return;
    const [all, now] = [stops(), view.active()];
    const edge = event.shiftKey ? all[0] : all.at(-1);
    if (now !== edge && box.contains(now) && !(event.shiftKey && now.tabIndex < 0)) return;
    event.preventDefault();
    (event.shiftKey ? all.at(-1) : all[0]).focus();
  });
  const close = () => {
    if (!box.isConnected) return;
    box.close();
    box.remove(); // now: the event of closing comes later, when there may be another dialog
    (from && view.root.contains(from) && !from.closest("[hidden]") ? from : view.root).focus();
  };
  box.addEventListener("pointerdown", (event) => event.target === box && close());
  box.addEventListener("close", close); // Escape
  view.root.append(box);
  box.showModal();
  box.querySelector("h2").focus();
  return { box, body, foot, close };
}

async function itemDialog(view, row) {
  const item = await view.item(row);
  if (!item) return;
  const cluster = view.clusterOf(row);
  const { body, foot, close } = dialog(view, item.name);
  body.append(h("p", { class: "lw-soft" }, cluster ? `In ${clusterName(cluster)}, ${counted(cluster.size, "row")}` : ""), ...itemOf(item).filter(Boolean));
  const select = (i) => {
    const chosen = view.chosen.map((each) => (each && each.row === row ? null : each));
    chosen[i] = item;
    close();
    view.choose(chosen);
  };
  foot.append(button("Select as first", () => select(0)), button("Select as second", () => select(1)));
}

function mergeDialog(view, cluster) {
  const { body, close } = dialog(view, `Merge ${clusterName(cluster)} with…`);
  const others = view.state.clusters.filter((each) => each.cluster !== cluster.cluster && each.cluster >= 0);
  body.append(
    h("p", { class: "lw-soft" }, `Says that ${cluster.short[0]}, the row most typical of it, belongs together with the one most typical of the other. Undo takes this back.`),
    h("ul", { class: "lw-choices" }, others.map((other) => h("li", {}, button(`${clusterName(other)}, ${counted(other.size, "row")}, like ${other.short.join(", ")}`, async () => {
      close();
      await view.say({ do: "merge", first: cluster.cluster, second: other.cluster }, () => `Saved: ${clusterName(cluster)} and ${clusterName(other)} belong together.`,
        { first: cluster.exemplar, second: other.exemplar, said: "yes" });
    })))));
}

function doneDialog(view, cluster) {
  const { body, foot, close } = dialog(view, `Is ${clusterName(cluster)} done?`);
  body.append(h("p", {}, `All ${counted(cluster.size, "row")} of it are then taken to belong together, and nothing is asked inside it. Undo takes this back.`));
  foot.append(
    button("Yes, it is done", async () => {
      close();
      await view.say({ do: "done", cluster: cluster.cluster }, () => `Saved: all ${counted(cluster.size, "row")} of ${clusterName(cluster)} belong together.`);
    }, { className: "lw-main" }),
    button("Not yet", close));
}

/** The keys, and how the data were read. */
function helpDialog(view) {
  const { body } = dialog(view, "Keys");
  const keys = [["Y", "They are the same: they belong together"], ["N", "They are different"], ["S", "Not sure; something else is asked"], ["U", "Undo the last thing that was said"],
    ["W", "Why this question is asked"], ["G", "What the clustering so far would say"], ["H", "History: change or take back any answer"], ["+ − 0", "Zoom in, out, show all"],
    ["← ↑ → ↓", "Move in the plot, once it has the focus; Enter opens the row at the cross"]];
  body.append(
    h("dl", { class: "lw-keys" }, keys.flatMap(([letter, words]) => [h("dt", {}, h("kbd", {}, letter)), h("dd", {}, words)])),
    h("p", { class: "lw-soft" }, "Keys work while the focus is in here, and never in a text field."));
  const notes = view.state ? view.state.notes : [];
  if (notes.length) body.append(h("h3", {}, "How the data were read"), h("ul", { class: "lw-notes" }, notes.map((note) => h("li", {}, note))));
}

/** Every answer and whatever else was said, newest first; each can be changed or taken back. */
async function historyDialog(view) {
  const { box, body } = dialog(view, "History", { className: "lw-drawer" });
  const list = h("ol", { class: "lw-history" });
  const none = h("p", { class: "lw-soft", hidden: true }, "Nothing has been said yet.");
  const more = button("Show earlier ones", () => load(events.at(-1).number), { hidden: true });
  body.append(h("p", { class: "lw-soft" }, "An answer that is changed or taken back can change the questions that follow."), list, none, more);
  let events = [];
  const load = async (before = null, limit = 50) => {
    const reply = await view.ask({ do: "history", before, limit });
    if (!reply.ok || !box.isConnected) return reply.ok || view.notice(reply.error.text, "warn");
    events = before === null ? reply.events : [...events, ...reply.events];
    const held = box.contains(view.active()) && view.active().dataset.key;
    list.replaceChildren(...events.map(line));
    none.hidden = events.length > 0;
    more.hidden = !reply.more;
    const again = held && [...list.querySelectorAll("[data-key]")].find((node) => node.dataset.key === held);
    if (held) (again || box.querySelector("h2")).focus();
    return undefined;
  };
  const reload = () => load(null, clamp(events.length, 50, 200));
  view.watching.add(reload); // whoever changes something: here, in a dialog above, in another window
  box.addEventListener("close", () => view.watching.delete(reload));
  const act = (request, told) => view.say(request, told);
  const line = (event) => {
    const words = eventInWords(event);
    const pair = event.kind === "answer" || event.kind === "add";
    const kinds = event.kind === "add" ? ["yes", "no"] : ["yes", "no", "unsure"];
    const choices = pair && h("div", { class: "lw-segments", role: "group", "aria-label": `Answer about ${event.names.join(" and ")}` }, kinds.map((said) =>
      button(SAID[said], () => said !== event.said && act({ do: "change", event: event.number, said }, () => `Saved: ${event.names.join(" and ")} are now “${SAID[said]}”.`),
        { "aria-pressed": String(event.said === said), "data-key": `${event.number}-${said}` })));
    const when = new Date(event.when);
    return h("li", {},
      h("div", { class: "lw-what" }, pair ? h("span", {}, rowLink(view, event.names[0], event.first), "  –  ", rowLink(view, event.names[1], event.second)) : h("span", {}, words),
        h("span", { class: "lw-soft" }, [`${event.number}`, Number.isNaN(when.getTime()) ? "" : when.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" }),
          event.kind === "add" ? "volunteered" : "", event.changed ? "changed" : ""].filter(Boolean).join(" · "))),
      choices,
      button("Take back", () => act({ do: "take_back", event: event.number }, () => `Taken back: ${words}.`),
        { className: "lw-quiet", "aria-label": `Take back: ${words}`, "data-key": `${event.number}-back` }));
  };
  await load();
}

/** The name of a row, which shows it. */
const rowLink = (view, name, row) => button(name, () => itemDialog(view, row), { className: "lw-link lw-strong" });

/**
 * What was said contradicts what was said before: the chain, link by link, each with its ways out. When one is taken, what was
 * said is said again.
 */
function contradictionDialog(view, request, error, told, pair, given = []) {
  const { box, body, foot, close } = dialog(view, given.length ? "It contradicts something else, too" : "That contradicts what was said before", { className: "lw-wide" });
  const resolve = async (way, words) => {
    const reply = await view.ask(way);
    if (reply.ok) {
      close();
      view.notice("That is changed. What you said is said again.");
      await view.say(again(view, request, pair), told, pair, [...given, words]);
    } else if (reply.error.chain) draw(reply.error);
    else body.prepend(h("p", { class: "lw-notice", "data-tone": "warn" }, reply.error.text));
  };
  const ways = (link) => {
    if (link.event === null || link.event === undefined) return [h("span", { class: "lw-now" }, "just said")];
    const other = link.said === "yes" ? "no" : "yes";
    const words = { import: "Take back the import", done: "Take back “done”" }[link.kind] || "Take back";
    const about = `${link.names.join(" and ")}: ${SAID[link.said]}`;
    return [
      (link.kind === "answer" || link.kind === "add") && button(`Change to ${SAID[other]}`, () => resolve({ do: "change", event: link.event, said: other }, `${link.names.join(" and ")} are now “${SAID[other]}”`),
        { "aria-label": `Change to ${SAID[other]} (${about})` }),
      button(words, () => resolve({ do: "take_back", event: link.event }, `${about} is taken back`), { "aria-label": `${words} (${about})` }),
    ].filter(Boolean);
  };
  const sources = { answer: "your answer", add: "volunteered", import: "imported", done: "a cluster that is done" };
  const draw = (found) => {
    body.replaceChildren(
      h("p", {}, "It was not stored. One of these must give way; the links below cannot all hold:"),
      h("ol", { class: "lw-chain" }, found.chain.map((link) => h("li", { class: link.event === null || link.event === undefined ? "lw-new" : "" },
        icon(link.said === "yes" ? "yes" : "no"),
        h("div", { class: "lw-what" }, h("span", {}, rowLink(view, link.names[0], link.first), " and ", rowLink(view, link.names[1], link.second), `: ${SAID[link.said]}`),
          h("span", { class: "lw-soft" }, link.event === null || link.event === undefined ? "now" : `${sources[link.kind] || link.kind}, number ${link.event}`)),
        h("div", { class: "lw-ways" }, ways(link))))));
  };
  draw(error);
  const steps = given.length > 0 && `Already done on the way, and kept: ${given.join("; ")}.`;
  if (steps) foot.append(h("p", { class: "lw-soft lw-kept" }, `${steps} The history can change that back.`));
  const leave = () => {
    close();
    if (steps) view.early(`What you said last was not stored. ${steps} The history can change that back.`);
  };
  foot.append(button(given.length ? "Leave the rest as it is" : "Leave it as it was", leave, { className: "lw-main" }));
  return box;
}

/** The refused request once more; a question that has moved on meanwhile is said as a pair. */
function again(view, request, pair) {
  if (request.do !== "answer" && request.do !== "merge") return request;
  const question = view.state.question;
  const same = question && request.do === "answer" && new Set([question.first.row, question.second.row, pair.first, pair.second]).size === 2;
  if (same) return { do: "answer", question: question.id, said: pair.said };
  return { do: "add", first: pair.first, second: pair.second, kind: KINDS[pair.said] };
}

// ------------------------------------------------------------------------------------------------ render
let views = 0;

function render({ model, el }) {
  const own = `lw${(views += 1)}`;
  let ids = 0;
  const root = h("div", { class: "linkwise", tabindex: "-1", role: "region", "aria-label": "linkwise: questions and clusters", "data-lm-suppress-shortcuts": "true" });
  const { ask, close } = channel(model);
  const items = new Map();
  const linkNow = () => model.get("link") || "open"; // a notebook has no such trait
  const view = {
    model, root, ask, state: null, failed: false, pending: null, saved: "saved", asked: 0, warned: "", watching: new Set(), link: linkNow(), chosen: [null, null], places: null,
    id: (name) => `${own}-${name}-${(ids += 1)}`,
    active: () => root.getRootNode().activeElement,
    announce: (text) => setText(live, live.textContent === text ? `${text}\u00a0` : text),
    notice: (text, tone) => question.notice(text, tone),
    clusterOf: (row) => view.state && view.state.clusters.find((each) => each.cluster === plot.plot.labelOf(row)),
    async item(row) {
      if (!items.has(row)) {
        const reply = await ask({ do: "item", rows: [row] });
        if (!reply.ok) return null;
        if (items.size > 400) items.delete(items.keys().next().value);
        items.set(row, reply.items[0]);
      }
      return items.get(row);
    },
    choose(chosen) {
      view.chosen = chosen;
      plot.choice();
    },
    answer(said) {
      const asked = view.state && view.state.question;
      if (!asked) return undefined;
      if (!view.waits() && performance.now() - view.asked < READ_MS) return view.early(EARLY);
      return view.say({ do: "answer", question: asked.id, said }, null, { first: asked.first.row, second: asked.second.row, said });
    },
    undo() {
      if (!view.state || !view.state.undo) return view.notice("There is nothing to take back.");
      return view.say({ do: "undo" }, (reply) => (reply.undone ? `Taken back. ${eventInWords(reply.undone)}.` : "There was nothing to take back."));
    },
    /** Something was said too soon: it is dropped, since it may be meant for another question, and that is told. */
    early(words) {
      view.warned = words;
      view.notice(words, "warn");
      view.announce(words);
    },
    /** Whether something is on its way. An answer is, until it is confirmed or the next question is there. */
    waits() {
      const { pending, state } = view;
      const next = pending && pending.do === "answer" && state.question && state.question.id !== pending.question;
      return Boolean(pending) && !next;
    },
    /** Say something; while it is on its way, nothing else is said. `told(reply)` words what came of it; `given`: what gave way to it already. */
    async say(request, told, pair, given) {
      if (view.link !== "open") return;
      if (view.waits()) {
        view.early(BUSY);
        return;
      }
      [view.pending, view.warned] = [request, ""];
      const slow = setTimeout(() => (settle("saving"), question.usable()), 120);
      const reply = await ask(request);
      clearTimeout(slow);
      if (view.pending === request) {
        view.pending = null;
        settle(reply.ok || reply.error.kind !== "lost" ? "saved" : "unsaved");
        question.usable();
      }
      if (reply.ok) {
        const words = told ? told(reply) : "";
        if (!view.warned) view.notice(words); // else the warning came later
        const next = view.state.question;
        const following = next ? `Next question: ${next.first.name} and ${next.second.name}.` : "Nothing is left to ask.";
        view.announce(`${words || "Saved."} ${view.warned || ""} ${following}`.replace(/  +/g, " "));
      } else if (reply.error.kind === "contradiction" && reply.error.chain) {
        contradictionDialog(view, request, reply.error, told, pair, given);
      } else {
        view.notice(REFUSED[reply.error.kind] || reply.error.text, "warn");
        view.announce(`Not stored. ${REFUSED[reply.error.kind] || reply.error.text}`);
      }
    },
    async save(what) {
      const reply = await ask({ do: "export", what });
      if (!reply.ok) return view.notice(reply.error.text, "warn");
      const address = URL.createObjectURL(new Blob([bytesOf(reply.file)], { type: reply.type }));
      const link = h("a", { href: address, download: reply.name, hidden: true });
      root.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      return view.notice(`Handed to the browser: ${reply.name}`);
    },
  };
  const settle = (saved) => {
    view.saved = saved;
    head.status();
  };

  const live = h("p", { class: "lw-hidden", role: "status", "aria-live": "polite" });
  const banner = h("p", { class: "lw-banner", role: "alert", hidden: true });
  const head = header(view);
  const question = questionPanel(view);
  const plot = plotPanel(view);
  const progress = progressPanel(view);
  const clusters = clustersPanel(view, plot.plot);
  const working = h("div", { class: "lw-working", hidden: true, "aria-hidden": "true" });
  root.append(head.node, working, banner,
    h("div", { class: "lw-columns" },
      h("div", { class: "lw-left" }, question.node, progress.node),
      h("div", { class: "lw-right" }, plot.node, clusters.node)), live);
  el.append(root);

  // ---------------------------------------------------------------- what the host says
  let drawn = null;
  const onState = () => {
    const state = model.get("state");
    view.failed = Boolean(state && state.failed);
    if (!state || !state.counts) return question.wait(state || {});
    const first = view.state === null;
    const focused = root.contains(view.active());
    const before = view.state;
    view.state = state;
    if (before && before.event !== state.event) view.watching.forEach((changed) => changed());
    if (state.question) for (const item of [state.question.first, state.question.second]) items.set(item.row, item);
    question.update(state);
    const fresh = drawn !== state.labels || first;
    drawn = state.labels;
    plot.update(state, fresh);
    for (const panel of [head, progress, clusters]) panel.update(state);
    for (const panel of [progress, clusters]) panel.node.hidden = false;
    working.hidden = !state.busy;
    if (first && state.counts.answers && state.place) {
      view.notice(`Resumed: ${counted(state.counts.answers, "answer")} from before ${state.counts.answers === 1 ? "is" : "are"} here.`);
    }
    const at = view.active();
    if (focused && (!root.contains(at) || at.closest("[hidden]"))) root.focus(); // what had the focus is gone
    if (fresh || state.event !== before.event) root.dispatchEvent(new CustomEvent("linkwise:drawn", { bubbles: true, detail: state.labels }));
    return undefined;
  };
  const onLink = () => {
    const before = view.link;
    view.link = linkNow();
    banner.hidden = view.link === "open";
    setText(banner, view.link === "open" ? "" : brokenInWords(view.link, view.failed));
    root.dataset.link = view.link;
    if (before !== "open" && view.link === "open") {
      drawn = null; // the host may be another one by now: nothing of before is taken for granted
      items.clear();
      view.announce("Connected again.");
    }
    head.status();
    question.usable();
  };
  // ---------------------------------------------------------------- keys: only in here, and not where one writes
  const keys = {
    y: () => view.answer("yes"), n: () => view.answer("no"), s: () => view.answer("unsure"), u: () => view.undo(),
    w: () => view.state && view.state.question && question.why.toggle(), g: () => view.state && view.state.question && question.guess.toggle(),
    h: () => historyDialog(view), "+": () => plot.plot.zoom(1.5), "=": () => plot.plot.zoom(1.5), "-": () => plot.plot.zoom(1 / 1.5), 0: () => plot.plot.reset(),
    "?": () => helpDialog(view),
  };
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation();
    const at = event.composedPath()[0];
    if (event.defaultPrevented || event.isComposing || at.closest("input, textarea, select, [contenteditable], dialog")) return;
    const act = keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act();
  });

  // ---------------------------------------------------------------- light and dark
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const onScheme = () => {
    root.style.colorScheme = schemeAround();
    plot.plot.recolour();
  };
  const around = new MutationObserver(onScheme);
  around.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "class"] });
  dark.addEventListener("change", onScheme);
  root.style.colorScheme = schemeAround();

  for (const panel of [plot, progress, clusters]) panel.node.hidden = true;
  for (const [name, heard] of [["state", onState], ["link", onLink]]) model.on(`change:${name}`, heard);
  onState();
  onLink();
  if (model.get("link") !== undefined) root.focus({ preventScroll: true });
  return () => {
    for (const [name, heard] of [["state", onState], ["link", onLink]]) model.off(`change:${name}`, heard);
    close();
    around.disconnect();
    dark.removeEventListener("change", onScheme);
    plot.plot.close();
    root.remove();
  };
}

export default { render };
