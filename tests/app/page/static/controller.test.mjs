import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller } from "../../../../src/linkwise/app/page/static/src/controller.js";
import { repeatRequest } from "../../../../src/linkwise/app/page/static/src/repeat_request.js";
import { BUSY, EARLY } from "../../../../src/linkwise/app/page/static/src/wording.js";
import { createDisplay, createItem, createState } from "./fakes.mjs";

/** A controller whose replies are given by hand, at a question that was read. */
function setUp() {
  const [display, requests] = [createDisplay(), []];
  const request = (sent) => new Promise((resolve) => requests.push({ sent, resolve }));
  const controller = new Controller(request, display);
  controller.setState(createState(0, [3, 5]));
  controller.askedAt = Number.NEGATIVE_INFINITY;
  const notices = () => display.calls.filter(([name]) => name === "showNotice").map(([, text]) => text);
  return { controller, display, requests, notices };
}

test("an answer names the question and is confirmed after the reply", async () => {
  const { controller, display, requests } = setUp();
  const stored = controller.answer("yes");
  assert.deepEqual(requests[0].sent, { do: "answer", question: "0:3-5", answer: "yes", seconds: 0 });
  assert.equal(controller.isPending, true);
  assert.ok(!display.calls.some(([name]) => name === "announce"));
  controller.setState(createState(1, [3, 7]));
  requests[0].resolve({ ok: true });
  await stored;
  assert.deepEqual(display.calls.at(-1), ["announce", "Saved. Next question: row 3 and row 7."]);
  assert.equal(controller.saving, "saved");
});

test("an answer that is confirmed early stays open until its state comes", async () => {
  const { controller, display, requests } = setUp();
  const stored = controller.answer("yes");
  requests[0].resolve({ ok: true, follows: 2 });
  await Promise.resolve();
  const { question } = createState(0, [3, 5]);
  controller.setState({ ...createState(1, [3, 5]), question }); // of another person's answer
  await controller.answer("yes");
  assert.equal(requests.length, 1);
  assert.equal(controller.isPending, true);
  assert.equal(controller.saving, "saved");
  controller.setState(createState(2, [3, 7]));
  await stored;
  assert.equal(controller.isPending, false);
  assert.ok(display.calls.at(-1)[1].endsWith("Next question: row 3 and row 7."));
});

test("what an answer of one of several people moved comes with the state that follows", async () => {
  const { controller, requests, notices } = setUp();
  const answer = async (follows, moves) => {
    const stored = controller.answer("yes");
    requests.at(-1).resolve({ ok: true, follows });
    await Promise.resolve();
    controller.setState({ ...createState(follows, [3, 5 + follows]), moves });
    controller.askedAt = Number.NEGATIVE_INFINITY;
    await stored;
    return notices().at(-1);
  };
  const entry = (event, moved) => ({ event, moved });
  assert.equal(await answer(2, [entry(1, "9 rows moved."), entry(2, "3 rows moved.")]), "3 rows moved.");
  assert.equal(await answer(5, [entry(2, "3 rows moved."), entry(5, "No row moved.")]), "No row moved.");
  assert.equal(await answer(6, [entry(5, "No row moved.")]), "");
});

test("whoever watches the session is told of other examples, although no event tells of them", () => {
  const { controller } = setUp();
  let n = 0;
  controller.watchers.add(() => n++);
  const examples = [{ first: 3, second: 5, names: ["a", "b"], answer: "yes", reason: "" }];
  for (const state of [{}, { examples }, { examples: [...examples] }, {}]) {
    controller.setState({ ...createState(0, [3, 5]), ...state });
  }
  assert.equal(n, 2);
});

test("what an answer moved is shown and announced, and not guessed", async () => {
  const { controller, display, requests, notices } = setUp();
  const answer = async (reply) => {
    const stored = controller.answer("yes");
    requests.at(-1).resolve({ ok: true, ...reply });
    await stored;
    return [notices().at(-1), display.calls.at(-1)[1]];
  };
  const next = "Next question: row 3 and row 5.";
  assert.deepEqual(await answer({ moved: "3 rows moved." }), [
    "3 rows moved.",
    `Saved. 3 rows moved. ${next}`,
  ]);
  assert.deepEqual(await answer({ moved: "No row moved." }), [
    "No row moved.",
    `Saved. No row moved. ${next}`,
  ]);
  assert.deepEqual(await answer({}), ["", `Saved. ${next}`]);
});

test("what a change moved follows what was changed, and does not hide a warning", async () => {
  const { controller, display, requests, notices } = setUp();
  const change = { do: "change", event: 1, answer: "no" };
  let stored = controller.store(change, { describe: () => "Changed it." });
  requests[0].resolve({ ok: true, moved: "1 row moved." });
  await stored;
  assert.equal(notices().at(-1), "Changed it. 1 row moved.");
  stored = controller.store(change);
  await controller.answer("no");
  requests[1].resolve({ ok: true, moved: "2 rows moved." });
  await stored;
  assert.equal(notices().at(-1), BUSY);
  assert.ok(display.calls.at(-1)[1].startsWith(`Saved. 2 rows moved. ${BUSY}`));
});

test("an answer before the question can be read is ignored", async () => {
  const { controller, requests, notices } = setUp();
  controller.askedAt = performance.now();
  await controller.answer("no");
  assert.equal(requests.length, 0);
  assert.deepEqual(notices(), [EARLY]);
});

test("an answer while another is being saved is ignored, and the warning outlasts the reply", async () => {
  const { controller, requests, notices } = setUp();
  const stored = controller.answer("yes");
  await controller.answer("no");
  assert.equal(requests.length, 1);
  requests[0].resolve({ ok: true });
  await stored;
  assert.deepEqual(notices(), [BUSY]);
});

test("the next question may be answered before the last reply", async () => {
  const { controller, requests } = setUp();
  controller.answer("yes");
  controller.setState(createState(1, [3, 7]));
  assert.equal(controller.isPending, false);
  controller.askedAt = Number.NEGATIVE_INFINITY;
  controller.answer("no");
  assert.equal(requests.length, 2);
});

test("nothing is sent without a connection or a question, and a lost reply is not saved", async () => {
  const { controller, requests, notices } = setUp();
  const stored = controller.answer("yes");
  requests[0].resolve({ ok: false, error: { kind: "lost", text: "" } });
  await stored;
  assert.equal(controller.saving, "unsaved");
  assert.match(notices().at(-1), /may not be stored/);
  controller.setLink("lost");
  assert.match(controller.linkProblem, /connection is lost/);
  await controller.answer("yes");
  controller.setLink("open");
  controller.setState({ ...createState(1, [0, 1]), question: null });
  await controller.answer("yes");
  assert.equal(requests.length, 1);
});

test("whoever stores gets the reply, or nothing if nothing was sent", async () => {
  const { controller, requests } = setUp();
  const stored = controller.store({ do: "sure", event: 3 });
  assert.equal(await controller.store({ do: "sure", event: 4 }), undefined);
  const refused = { ok: false, error: { kind: "bad", text: "These answers conflict." } };
  requests[0].resolve(refused);
  assert.equal(await stored, refused);
  controller.setLink("lost");
  assert.equal(await controller.store({ do: "sure", event: 4 }), undefined);
});

test("undo says what it took back, or that there is nothing", async () => {
  const { controller, requests, notices } = setUp();
  await controller.undo();
  assert.deepEqual(notices(), ["There is nothing to undo."]);
  controller.setState(createState(1, [3, 7]));
  const stored = controller.undo();
  const undone = { kind: "answer", names: ["a", "b"], answer: "unsure" };
  requests[0].resolve({ ok: true, undone, moved: "1,200 rows moved." });
  await stored;
  assert.equal(notices().at(-1), "Taken back: “a and b: not sure”. 1,200 rows moved.");
});

test("a conflict is shown with what is needed to send the answer again", async () => {
  const { controller, display, requests } = setUp();
  const stored = controller.mark(createItem(1), createItem(2), "yes");
  assert.deepEqual(requests[0].sent, { do: "add", first: 1, second: 2, kind: "must-link" });
  requests[0].resolve({ ok: false, error: { kind: "contradiction", text: "", chain: [{ event: 4 }] } });
  await stored;
  const [name, conflict] = display.calls.at(-1);
  assert.equal(name, "showConflict");
  assert.deepEqual(conflict.resolved, []);
  controller.select([createItem(1), createItem(2)]);
  const again = controller.retry(conflict, "first change", "4 rows moved.");
  const words = "Changed. 4 rows moved. Your answer is sent again.";
  assert.deepEqual(display.calls.slice(-2), [
    ["showNotice", words],
    ["announce", words],
  ]);
  requests[1].resolve({ ok: false, error: { kind: "contradiction", text: "", chain: [{ event: 2 }] } });
  await again;
  assert.deepEqual(display.calls.at(-1)[1].resolved, ["first change"]);
});

test("the dialog that sent a request shows what came of it, also after a conflict", async () => {
  const { controller, display, requests } = setUp();
  const shown = [];
  const context = { describe: () => "Saved.", show: (...words) => shown.push(words) };
  const stored = controller.store({ do: "change", event: 3, answer: "no" }, context);
  requests[0].resolve({ ok: false, error: { kind: "contradiction", text: "", chain: [{ event: 4 }] } });
  await stored;
  assert.deepEqual(shown, []);
  const again = controller.retry(display.calls.at(-1)[1], "first change", "4 rows moved.");
  requests[1].resolve({ ok: true, moved: "2 rows moved." });
  await again;
  const refused = controller.store({ do: "change", event: 3, answer: "yes" }, context);
  requests[2].resolve({ ok: false, error: { kind: "bad", text: "That is not possible." } });
  await refused;
  assert.deepEqual(shown, [
    ["Changed. 4 rows moved. Your answer is sent again."],
    ["Saved. 2 rows moved."],
    ["Not stored. That is not possible.", "warn"],
  ]);
});

test("the first connection is no reconnection", () => {
  const { controller } = setUp();
  assert.deepEqual(
    ["lost", "open", "open", "lost", "closed", "open"].map((link) => controller.setLink(link)),
    [false, false, false, false, false, true],
  );
});

test("rows are asked for once, and again after a reconnection", async () => {
  const { controller, requests } = setUp();
  assert.equal((await controller.loadItem(3)).name, "row 3"); // the question brought it
  const load = async () => {
    const item = controller.loadItem(9);
    requests.at(-1).resolve({ ok: true, items: [createItem(9)] });
    return item;
  };
  controller.setLink("open");
  await load();
  assert.equal((await controller.loadItem(9)).row, 9);
  assert.equal(requests.length, 1);
  controller.setLink("lost");
  assert.equal(controller.setLink("open"), true);
  await load();
  assert.equal(requests.length, 2);
});

test("the highest label is noise, in one byte and in two", () => {
  const { controller } = setUp();
  controller.setLabels(Uint8Array.of(0, 255));
  assert.deepEqual(
    [0, 1].map((row) => controller.labelOf(row)),
    [0, -1],
  );
  controller.setLabels(Uint16Array.of(255, 65535));
  assert.deepEqual(
    [0, 1].map((row) => controller.labelOf(row)),
    [255, -1],
  );
  assert.equal(controller.clusterOf(0), undefined);
});

test("watchers hear of every new event and of nothing else", () => {
  const { controller } = setUp();
  let heard = 0;
  controller.watchers.add(() => (heard += 1));
  controller.setState(createState(0, [3, 5]));
  assert.equal(heard, 0);
  controller.setState(createState(1, [3, 7]));
  assert.equal(heard, 1);
});

test("a repeated answer goes to the question while it is about the same rows, and else becomes a pair", () => {
  const pair = { first: 5, second: 3, answer: "no" };
  const request = { do: "answer", question: "old", answer: "no" };
  assert.deepEqual(repeatRequest(createState(2, [3, 5]), request, pair), {
    do: "answer",
    question: "2:3-5",
    answer: "no",
  });
  const added = { do: "add", first: 5, second: 3, kind: "cannot-link" };
  assert.deepEqual(repeatRequest(createState(2, [3, 7]), request, pair), added);
  assert.deepEqual(repeatRequest(null, { do: "merge", first: 0, second: 1 }, pair), added);
  const change = { do: "change", event: 1, answer: "no" };
  assert.equal(repeatRequest(null, change, pair), change);
});
