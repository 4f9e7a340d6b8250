// the module once more on the page, as in a notebook, with a model of its own
async () => {
  const module = await import("/widget.js");
  const item = (row, name, place) => ({
    row, name, cluster: 0, fields: [{ name: "x", value: String(row), place }],
  });
  const state = {
    protocol: 1, title: "second", kind: "record", place: null, rows: 2, two_bytes: false, labels: 1, event: 0, busy: false,
    question: { id: "0:0-1", differing: { x: "most" }, content: null, only_shown: [], why: "", guess: "yes", first: item(0, "p", 0), second: item(1, "q", 1) },
    ended: null, budget: null,
    counts: { answers: 0, yes: 0, no: 0, unsure: 0, added: 0, imported: 0, done: 0, inferred: 0 },
    shades: [[0, 0, 0]], changes: [], advice: { stop: null, text: "" },
    clusters: [{ cluster: 0, size: 2, name: "", exemplar: 0, exemplars: [0], exemplar_names: ["p"], done: false }],
    more_clusters: 0, learner: "COBRAS", description: [], undo: null,
  };
  const traits = {
    state,
    labels: new DataView(new Uint8Array([0, 0]).buffer),
    places: new DataView(new Float32Array([-1, 0, 1, 0]).buffer),
  };
  const el = document.createElement("div");
  el.id = "second";
  document.body.append(el);
  window.sent = [];
  const model = { get: (name) => traits[name], on() {}, off() {}, send: (message) => window.sent.push(message) };
  window.gone = module.default.render({ el, model });
}
