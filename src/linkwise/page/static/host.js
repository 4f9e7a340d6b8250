/**
 * The page's host: the anywidget model over a socket.
 *
 * Text frames carry JSON (requests out; states and replies in), binary frames places, labels and files. When the socket breaks,
 * it is opened again after growing waits, and requests without a reply are told to be lost: what they said may not be stored.
 * The trait `link` says how the socket is: "open", "lost" (tried again), "closed" (this page is not let in any more) or "login"
 * (the password is wanted again).
 */
import widget from "./widget.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
const [PLACES, LABELS, WIDE_LABELS, FILE] = [0, 1, 2, 3];

const traits = { link: "lost" };
const heard = new Map();
const waiting = new Set();
let socket = null;
let wait = FIRST_WAIT;

const tell = (event, ...what) => [...(heard.get(event) || [])].forEach((listener) => listener(...what));

function set(name, value) {
  traits[name] = value;
  tell(`change:${name}`);
}

const model = {
  get: (name) => traits[name],
  on: (event, listener) => heard.set(event, [...(heard.get(event) || []), listener]),
  off: (event, listener) => heard.set(event, (heard.get(event) || []).filter((each) => each !== listener)),
  send(request) {
    waiting.add(request.id);
    if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
    else queueMicrotask(lose);
  },
};

/** A reply to the view that asked. */
function reply(message, file) {
  waiting.delete(message.re);
  tell("msg:custom", message, file ? [file] : []);
}

/** Requests that will have no reply. */
function lose() {
  for (const id of waiting) reply({ re: id, ok: false, error: { kind: "lost", text: "The connection is lost." } });
}

function receive({ data }) {
  if (typeof data === "string") {
    const message = JSON.parse(data);
    if ("re" in message) return reply(message);
    document.title = message.state.title ? `${message.state.title} · linkwise` : "linkwise";
    document.querySelector("h1").textContent = document.title;
    return set("state", message.state);
  }
  const kind = new Uint8Array(data, 0, 1)[0];
  if (kind === PLACES) traits.places = new Uint8Array(data, 4);
  else if (kind === LABELS || kind === WIDE_LABELS) traits.labels = new Uint8Array(data, 4);
  else if (kind === FILE) {
    const end = 8 + new DataView(data).getUint32(4, true);
    reply(JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, end - 8))), new Uint8Array(data, end));
  }
  return undefined;
}

/** Whether a server is there that does not know this page: "closed", or "login" where a password opens it; null: none is there. */
async function turnedAway() {
  const asked = async (path) => (await fetch(path, { method: "HEAD", cache: "no-store" })).status;
  try {
    if ((await asked("/host.js")) !== 403) return null;
    return (await asked("/")) === 403 ? "closed" : "login"; // only the first page asks for a password
  } catch {
    return null;
  }
}

function connect() {
  const fresh = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket = fresh;
  fresh.binaryType = "arraybuffer";
  fresh.onopen = () => {
    wait = FIRST_WAIT;
    set("link", "open");
  };
  fresh.onmessage = receive;
  fresh.onclose = async () => {
    if (traits.link === "open") set("link", "lost");
    lose();
    const away = await turnedAway();
    if (away) set("link", away);
    setTimeout(connect, wait);
    wait = Math.min(LONGEST_WAIT, 2 * wait);
  };
}

// a page that is not shown is slowed down by the browser; when it comes back, it should not wait for its turn
document.addEventListener("visibilitychange", () => document.hidden || (wait = FIRST_WAIT));

connect();
widget.render({ model, el: document.getElementById("app") });
