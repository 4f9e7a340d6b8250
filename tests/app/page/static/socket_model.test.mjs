import assert from "node:assert/strict";
import { test } from "node:test";
import { SocketModel } from "../../../../src/linkwise/app/page/static/src/socket_model.js";

/** A model and its sockets; `statuses` is what the server answers to HEAD requests. */
function setUp(statuses = {}) {
  const [sockets, titles] = [[], []];
  const model = new SocketModel({
    openSocket() {
      const socket = { readyState: 0, sent: [], send: (text) => socket.sent.push(text) };
      sockets.push(socket);
      return socket;
    },
    async fetchStatus(path) {
      if (!(path in statuses)) throw new Error("no server");
      return statuses[path];
    },
    setTitle: (title) => titles.push(title),
  });
  model.connect();
  const open = () => {
    Object.assign(sockets.at(-1), { readyState: 1 });
    sockets.at(-1).onmessage({ data: JSON.stringify({ state: {} }) });
  };
  return { model, sockets, titles, open };
}

const later = () => new Promise((resolve) => setImmediate(resolve));

test("states, labels, places and files arrive", () => {
  const { model, sockets, titles } = setUp();
  const heard = [];
  model.on("change:state", () => heard.push("state"));
  model.on("msg:custom", (message, files) => heard.push(message, ...files.map((file) => [...file])));
  const [{ onmessage }] = sockets;
  onmessage({ data: JSON.stringify({ state: { title: "wine" } }) });
  onmessage({ data: Uint8Array.of(0, 0, 0, 0, 9).buffer });
  onmessage({ data: Uint8Array.of(2, 0, 0, 0, 7, 8).buffer });
  const reply = new TextEncoder().encode('{"re":"a","ok":true}');
  onmessage({ data: Uint8Array.of(3, 0, 0, 0, reply.length, 0, 0, 0, ...reply, 1, 2).buffer });
  assert.deepEqual(titles, ["wine · linkwise"]);
  assert.deepEqual([...model.get("places")], [9]);
  assert.deepEqual([...model.get("labels")], [7, 8]);
  assert.deepEqual(heard, ["state", { re: "a", ok: true }, [1, 2]]);
});

test("the link is open when a state comes, before it is drawn", () => {
  const { model, sockets } = setUp();
  const heard = [];
  model.on("change:link", () => heard.push(model.get("link")));
  model.on("change:state", () => heard.push(model.get("state").title));
  Object.assign(sockets[0], { readyState: 1 });
  assert.equal(model.get("link"), "lost"); // the socket is open, but the page still shows what was before
  for (const title of ["old", "new"]) sockets[0].onmessage({ data: JSON.stringify({ state: { title } }) });
  assert.deepEqual(heard, ["open", "old", "new"]);
});

test("a request without a connection fails as lost, once", async () => {
  const { model } = setUp();
  const heard = [];
  model.on("msg:custom", (message) => heard.push(message));
  model.send({ id: "x", do: "undo" });
  await later();
  assert.deepEqual(
    heard.map(({ re, ok, error }) => [re, ok, error.kind]),
    [["x", false, "lost"]],
  );
});

test("a broken socket fails what is open and is opened again", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { model, sockets, open } = setUp();
  const lost = [];
  model.on("msg:custom", ({ re }) => lost.push(re));
  open();
  model.send({ id: "x", do: "undo" });
  assert.equal(JSON.parse(sockets[0].sent[0]).id, "x");
  sockets[0].onclose();
  assert.equal(model.get("link"), "lost");
  assert.deepEqual(lost, ["x"]);
  await later();
  for (const wait of [500, 1000, 2000, 4000, 5000, 5000]) {
    const n = sockets.length;
    context.mock.timers.tick(wait - 1);
    assert.equal(sockets.length, n);
    context.mock.timers.tick(1);
    assert.equal(sockets.length, n + 1);
    sockets.at(-1).onclose();
    await later();
  }
  open();
  assert.equal(model.get("link"), "open");
});

test("a server that refuses this page is told from one that is gone", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [statuses, link] of [
    [{ "/host.js": 200 }, "lost"],
    [{ "/host.js": 403, "/": 403 }, "closed"],
    [{ "/host.js": 403, "/": 200 }, "login"],
  ]) {
    const { model, sockets, open } = setUp(statuses);
    open();
    sockets[0].onclose();
    await later();
    assert.equal(model.get("link"), link);
  }
});

test("a listener that is taken off hears nothing", () => {
  const { model, open } = setUp();
  const hear = () => assert.fail("heard");
  model.on("change:link", hear);
  model.off("change:link", hear);
  open();
});
