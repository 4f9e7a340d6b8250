"""A tree of tests on columns, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel


class Condition(NamedTuple):
    """A test of one column: ``x > value``, or ``x == value`` where `equals`."""

    column: int
    value: float
    equals: bool = False

    def holds(self, X: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return for which rows of X the test holds."""
        x = X[rows, self.column].astype(
            np.float64
        )  # a threshold between two floats of 32 bits is none of them
        found: NDArray[np.bool_] = (x == self.value) if self.equals else (x > self.value)
        return found


Path = tuple[tuple[Condition, bool], ...]
"""The conditions that lead to a node, and their answers."""

Way = tuple[tuple[int, bool], ...]
"""The nodes that lead to a node, and their answers."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree: a test or a label at each node; node 0 is the root.

    `tests` are None at a leaf. `yes` and `no` are the nodes that follow, -1 at a leaf. `label` is the
    cluster of a leaf, -1 elsewhere.
    """

    tests: tuple[Condition | None, ...]
    yes: NDArray[np.int32]
    no: NDArray[np.int32]
    label: NDArray[np.int32]

    @property
    def leaves(self) -> NDArray[np.int64]:
        """Nodes that are leaves, from yes to no."""
        return np.array([node for node, _ in self.paths()], dtype=np.int64)

    def apply(self, X: NDArray[Any]) -> NDArray[np.int32]:
        """Return the leaf that each row of X reaches."""
        if len(X) == 0:
            return np.empty(0, dtype=np.int32)
        tests = [test or Condition(-1, 0.0) for test in self.tests]
        column = np.array([test.column for test in tests], dtype=np.int32)
        value = np.array([test.value for test in tests])
        equals = np.array([test.equals for test in tests], dtype=np.uint8)
        rows = np.ascontiguousarray(X, dtype=None if X.dtype in (np.float32, np.float64) else np.float64)
        yes, no = np.ascontiguousarray(self.yes), np.ascontiguousarray(self.no)
        return native.apply_tree(rows, column, value, equals, yes, no, parallel.n_threads())

    def predict(self, X: NDArray[Any]) -> NDArray[np.int32]:
        """The label of the leaf that each row of X reaches."""
        labels: NDArray[np.int32] = self.label[self.apply(X)]
        return labels

    def ways(self) -> list[tuple[int, Way]]:
        """Every leaf with the nodes that lead to it and their answers, from yes to no."""
        found: list[tuple[int, Way]] = []
        waiting: list[tuple[int, Way]] = [(0, ())]
        while waiting:
            node, way = waiting.pop()
            if self.tests[node] is None:
                found.append((node, way))
            else:
                no, yes = int(self.no[node]), int(self.yes[node])
                waiting += [(no, (*way, (node, False))), (yes, (*way, (node, True)))]
        return found

    def paths(self) -> list[tuple[int, Path]]:
        """Every leaf with the tests that lead to it and their answers, from yes to no."""
        tests = {node: test for node, test in enumerate(self.tests) if test is not None}
        return [(leaf, tuple((tests[node], a) for node, a in way)) for leaf, way in self.ways()]


def build_tree(leaves: list[tuple[Path, int]]) -> Tree:
    """Build the tree with these leaves, from yes to no, each with its path and label."""
    tests: list[Condition | None] = []
    follows: list[list[int]] = []  # no and yes of each node
    label: list[int] = []
    waiting = [(0, len(leaves), 0, -1, False)]  # leaves from and to, depth, the node above, its answer
    while waiting:
        begin, end, depth, above, answer = waiting.pop()
        node = len(tests)
        if above >= 0:
            follows[above][answer] = node
        path, own = leaves[begin]
        is_leaf = len(path) == depth
        tests.append(None if is_leaf else path[depth][0])
        label.append(own if is_leaf else -1)
        follows.append([-1, -1])
        if not is_leaf:
            cut = next(at for at in range(begin, end) if not leaves[at][0][depth][1])
            waiting += [(cut, end, depth + 1, node, False), (begin, cut, depth + 1, node, True)]
    no, yes = np.array(follows, dtype=np.int32).T
    return Tree(tuple(tests), yes, no, np.array(label, dtype=np.int32))
