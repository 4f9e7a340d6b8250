/** A model, a display and a state for tests without a browser. */

export class FakeModel {
  listeners = new Map();
  sent = [];

  on(event, listener) {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  off(event, listener) {
    this.listeners.set(
      event,
      this.listeners.get(event).filter((each) => each !== listener),
    );
  }

  send(request) {
    this.sent.push(request);
  }

  notify(event, ...values) {
    for (const listener of this.listeners.get(event)) listener(...values);
  }
}

/** Records what the controller shows, as [method, ...arguments]. */
export function createDisplay() {
  const calls = [];
  const record =
    (name) =>
    (...values) =>
      calls.push([name, ...values]);
  const names = ["showNotice", "announce", "updateStatus", "updateSelection", "showConflict", "download"];
  return { calls, ...Object.fromEntries(names.map((name) => [name, record(name)])) };
}

export const createItem = (row) => ({ row, name: `row ${row}`, fields: [] });

export function createState(event, [first, second]) {
  return {
    event,
    question: { id: `${event}:${first}-${second}`, first: createItem(first), second: createItem(second) },
    clusters: [{ cluster: 0, size: 2, name: "" }],
    counts: { answers: event },
    undo: event ? {} : null,
  };
}
