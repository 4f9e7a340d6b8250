import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMatcher,
  findClusters,
  ORDERS,
  sortClusters,
} from "../../../../src/linkwise/app/page/static/src/cluster_order.js";
import {
  describeAnswered,
  describeChoice,
  describeDrag,
  describeFound,
  describeUnlisted,
} from "../../../../src/linkwise/app/page/static/src/cluster_wording.js";

const NAMES = ["Reds", "dark red", "Cluster 1", "Cluster 12", "Cluster 112", "row 12", "a12b", "(x+y)"];
const CLUSTERS = [
  { cluster: 4, size: 30, name: "", answered: 3 },
  { cluster: -1, size: 20, name: "", answered: 0 },
  { cluster: 12, size: 10, name: "Zebras", answered: 0 },
  { cluster: 2, size: 10, name: "ants 10", answered: 9 },
  { cluster: 112, size: 5, name: "Ants 9", answered: 0 },
];
const numbers = (clusters) => clusters.map((each) => each.cluster);

test("a text is found anywhere, and a number only as a whole", () => {
  const find = (text) => NAMES.filter(createMatcher(text));
  assert.deepEqual(find("red"), ["Reds", "dark red"]);
  assert.deepEqual(find(" DARK   red "), ["dark red"]);
  assert.deepEqual(find("12"), ["Cluster 12", "row 12", "a12b"]);
  assert.deepEqual(find("cluster 1"), ["Cluster 1"]);
  assert.deepEqual(find("2"), []);
  assert.deepEqual(find("r 1"), ["Cluster 1"]);
  assert.deepEqual(find("(x+"), ["(x+y)"]);
  assert.deepEqual(find("."), []);
  assert.deepEqual(find("  "), NAMES);
});

test("clusters are found by name, by number, and by what else was found", () => {
  const find = (text, others = []) => numbers(findClusters(CLUSTERS, text, new Set(others)));
  assert.deepEqual(find("12"), [12]);
  assert.deepEqual(find("ants"), [2, 112]);
  assert.deepEqual(find("cluster 2"), [2]);
  assert.deepEqual(find("noise"), [-1]);
  assert.deepEqual(find("1"), []);
  assert.deepEqual(find("zeb", [4, 99]), [4, 12]);
});

test("every order is complete, and leaves what it is given as it was", () => {
  const before = structuredClone(CLUSTERS);
  const sorted = Object.fromEntries(ORDERS.map(([order]) => [order, numbers(sortClusters(CLUSTERS, order))]));
  assert.deepEqual(sorted, {
    number: [2, 4, 12, 112, -1],
    size: [4, -1, 2, 12, 112],
    name: [112, 2, 12, 4, -1],
    answered: [-1, 12, 112, 4, 2],
  });
  assert.deepEqual(CLUSTERS, before);
});

test("a choice names a cluster, its typical rows, and those that were found", () => {
  const cluster = { ...CLUSTERS[2], exemplar_names: ["a", "b"] };
  assert.equal(describeChoice(cluster), "Zebras, 10 rows, typical a, b");
  const found = { cluster: 12, count: 9, rows: [3], names: ["c"] };
  assert.equal(describeChoice(cluster, found), "Zebras, 10 rows, typical a, b, found c");
});

test("what is said about a drag", () => {
  const [zebras, four] = [CLUSTERS[2], CLUSTERS[0]];
  assert.equal(describeDrag(zebras), "Drag Zebras onto another cluster");
  assert.equal(describeDrag(zebras, four), "Merge Zebras with Cluster 4?");
});

test("what is said about a search", () => {
  assert.equal(describeFound(12, 1047), "12 of 1,047 clusters");
  assert.equal(describeUnlisted(1), "1 smaller cluster is not listed. The search finds it, too.");
  assert.equal(describeAnswered({ answered: 1 }), "1 row answered");
  assert.equal(describeAnswered({}), "0 rows answered");
});
