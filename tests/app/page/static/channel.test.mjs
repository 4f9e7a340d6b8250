import assert from "node:assert/strict";
import { test } from "node:test";
import { openChannel } from "../../../../src/linkwise/app/page/static/src/channel.js";
import { FakeModel } from "./fakes.mjs";

test("a reply reaches the request with its id, with its file", async () => {
  const model = new FakeModel();
  const channel = openChannel(model);
  const [first, second] = [channel.send({ do: "undo" }), channel.send({ do: "export" })];
  model.notify("msg:custom", { re: model.sent[1].id, ok: true }, ["file"]);
  model.notify("msg:custom", { re: model.sent[0].id, ok: false, error: {} });
  assert.equal((await second).file, "file");
  assert.equal((await first).ok, false);
});

test("a reply to another channel is ignored", () => {
  const model = new FakeModel();
  openChannel(model).send({ do: "undo" });
  openChannel(model).send({ do: "undo" });
  assert.notEqual(model.sent[0].id, model.sent[1].id);
  model.notify("msg:custom", { re: "unknown", ok: true });
  model.notify("msg:custom", null);
});

test("a closed channel hears nothing", () => {
  const model = new FakeModel();
  openChannel(model).close();
  assert.equal(model.listeners.get("msg:custom").length, 0);
});
