/** The page in a browser of its own: the widget, with a model over a socket. */
import { SocketModel } from "./socket_model.js";
import widget from "./widget.js";

const scheme = location.protocol === "https:" ? "wss" : "ws";
const model = new SocketModel({
  openSocket: () => new WebSocket(`${scheme}://${location.host}/ws`),
  fetchStatus: async (path) => (await fetch(path, { method: "HEAD", cache: "no-store" })).status,
  setTitle(title) {
    document.title = title;
    const heading = document.querySelector("h1");
    if (heading) heading.textContent = title;
  },
});

// browsers slow down a page that is not shown; when it comes back, it should not have to wait
document.addEventListener("visibilitychange", () => document.hidden || model.resetWait());

model.connect();
const el = document.getElementById("app");
if (el) widget.render({ model, el });
