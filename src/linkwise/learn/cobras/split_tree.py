"""What a fitted COBRA or COBRAS tells: its super-instances, how they were split and merged, and new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.cluster.nearest_row import NearestRow
from linkwise.constraints.evidence import Evidence
from linkwise.learn.base import ActiveLearner
from linkwise.learn.learner import Problem
from linkwise.learn.super_instances import Node, SuperInstanceState, group
from linkwise.types import Labels
from linkwise.validation import check_rows
from linkwise.wording import count_noun

if TYPE_CHECKING:
    from matplotlib.axes import Axes


State = TypeVar("State", bound=SuperInstanceState)


class SplitTree(NamedTuple):
    """How rows were split into super-instances; node 0 holds all rows, and parents come before their parts.

    Each array has an entry for each node: its `parent`, -1 for node 0; `question`, the number of answered
    questions when it was made; the row that represents it, -1 if none may be shown; the number and the
    mean of its rows; of a leaf the super-instance that it is, and the cluster of most of its rows, -1 for
    nodes that were split.
    """

    parent: NDArray[np.int64]
    question: NDArray[np.int64]
    representative: NDArray[np.int64]
    size: NDArray[np.int64]
    mean: NDArray[np.float64]
    super_instance: NDArray[np.int64]
    cluster: NDArray[np.int64]

    @property
    def children(self) -> list[list[int]]:
        """The parts of each node, in ascending order; empty for leaves."""
        found: list[list[int]] = [[] for _ in self.parent]
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(node)
        return found

    def find_leaf(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Send rows down the tree, at each split to the part with the nearest mean.

        Return the leaf of each.
        """
        at = np.zeros(len(X), dtype=np.int64)
        for node, parts in enumerate(self.children):
            rows = np.flatnonzero(at == node) if parts else at[:0]
            if len(rows):
                some, means = np.ascontiguousarray(X[rows]), np.ascontiguousarray(self.mean[parts])
                nearest = native.nearest_points(some, means, parallel.n_threads())[0]
                at[rows] = np.array(parts)[nearest]
        return at

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the splits as a dendrogram, the first question at the top, leaves in colours of clusters.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; those of a new figure by default.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return plot_splits(self, ax)


class MergeTree(NamedTuple):
    """How answers joined super-instances, in the order of the answers.

    `children`, of shape (n_merges, 2), are the merged nodes: super-instances 0 to s - 1, and s + i for
    the i-th merge. `question` is the number of the question whose answer joined them, from 1; 0 for
    constraints that were given.
    """

    children: NDArray[np.int64]
    question: NDArray[np.int64]


class SuperInstanceLearner(ActiveLearner):
    """A learner that splits rows into super-instances and merges these by answers."""

    super_instances_: NDArray[np.int64] | None
    representatives_: NDArray[np.int64] | None
    tree_: SplitTree | None
    merges_: MergeTree | None

    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to the cluster of the super-instance that it reaches.

        A row goes down the splits of `tree_`, at each to the part with the nearest mean, and gets the label
        that most rows of its super-instance have. After `fit` without an oracle there are no super-instances,
        and a row gets the label of the nearest fitted row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row. Nearly all fitted rows get their own labels. Exceptions are rows that an
            answer placed apart from their super-instance, and rows on the border of two parts.
        """
        check_is_fitted(self, "labels_")
        rows = check_rows(X, self, reset=False)
        if self.tree_ is None:
            return self._nearest_row.find(rows)
        found: Labels = self.tree_.cluster[self.tree_.find_leaf(rows)].astype(np.int32)
        return found

    def describe(self, state: SuperInstanceState) -> list[str]:
        """How many clusters the super-instances form; nothing before the first split.

        Parameters
        ----------
        state : SuperInstanceState
            The state of the run. If a subclass keeps a state of another type, the list is empty.

        Returns
        -------
        list of str
            Two sentences, or none.
        """
        if not isinstance(state, SuperInstanceState) or not state.splits:
            return []
        now = group(state.partition, state.evidence)
        n_open = int(np.triu(~now.apart).sum())
        parts = f"The rows are split into {len(state.partition.instances)} parts, which form"
        clusters = count_noun(len(now.apart), "cluster")
        if n_open:
            pairs = count_noun(n_open, "pair")
            return [f"{parts} at most {clusters}.", f"{pairs} of clusters may still belong together."]
        return [f"{parts} {clusters}.", "A finer split may show more."]

    def fork(self, state: State, problem: Problem) -> State:
        """Copy the state of a run, so that answers can be tried out.

        Parameters
        ----------
        state : SuperInstanceState
            The state of the run.
        problem : Problem
            The problem of the copy.

        Returns
        -------
        SuperInstanceState
            The state of the copy.
        """
        return state.fork(problem)

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        labels = super()._unasked(X, evidence, seed)
        self.super_instances_ = self.representatives_ = self.tree_ = self.merges_ = None
        self._nearest_row = NearestRow.remember(X, labels)
        return labels

    def _keep_more(self, X: NDArray[Any], state: SuperInstanceState) -> None:
        partition = state.partition
        self.super_instances_ = partition.at.astype(np.int64)
        self.representatives_ = partition.representatives()
        self.tree_ = build_split_tree(state, self.labels_)
        self.merges_ = find_merges(state.evidence, self.representatives_)


def build_split_tree(state: SuperInstanceState, labels: Labels) -> SplitTree:
    """Build the tree of all splits of a run, with the labels that most rows of its leaves have."""
    number = {s.place: at for at, s in enumerate(state.partition.instances)}
    nodes: list[Node] = [state.splits[0].whole] if state.splits else [Node.of(state.partition.instances[0])]
    parent, question, at = [-1], [0], {nodes[0].place: 0}
    for split in state.splits:
        for part in split.parts:
            at[part.place] = len(nodes)
            parent.append(at[split.whole.place])
            question.append(split.n_questions)
            nodes.append(part)
    split_nodes = set(parent)
    votes = np.zeros((len(number), int(labels.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(votes, (state.partition.at, labels), 1)
    leaf = [-1 if i in split_nodes else number[node.place] for i, node in enumerate(nodes)]
    super_instance = np.array(leaf, dtype=np.int64)
    return SplitTree(
        np.array(parent),
        np.array(question),
        np.array([node.representative for node in nodes]),
        np.array([node.size for node in nodes]),
        np.array([node.mean for node in nodes], dtype=np.float64),
        super_instance,
        np.where(super_instance >= 0, votes.argmax(axis=1)[super_instance], -1),
    )


def find_merges(evidence: Evidence, representatives: NDArray[np.int64]) -> MergeTree:
    """Find which answers joined super-instances, given by their representatives."""
    group: dict[int, int] = {}  # towards a row that names the group
    node = {int(row): number for number, row in enumerate(representatives) if row >= 0}

    def name(row: int) -> int:
        while (above := group.setdefault(row, row)) != row:
            group[row] = group[above]
            row = above
        return row

    children, question = [], []
    n_given = len(evidence) - evidence.n_questions
    for number, fact in enumerate(evidence.read_believed(0)):
        one, other = name(fact.first), name(fact.second)
        if fact.answer != "yes" or one == other:
            continue
        group[other] = one
        theirs = node.pop(other, None)
        if theirs is not None and one in node:
            children.append(sorted((node[one], theirs)))
            question.append(max(0, number - n_given + 1))
            theirs = len(representatives) + len(children) - 1
        if theirs is not None:
            node[one] = theirs
    return MergeTree(np.array(children, dtype=np.int64).reshape(-1, 2), np.array(question, dtype=np.int64))


# ---------------------------------------------------------------- a picture
# The splits of COBRA and COBRAS, drawn by matplotlib as a dendrogram.
WIDTH, HEIGHT = 0.35, 4.0  # inches of a leaf, and of the figure
MOST_NAMED = 60  # leaves; the names of more would overlap


def plot_splits(tree: Any, ax: Axes | None = None) -> Axes:
    """Draw the nodes of a SplitTree from the question that made them, leaves in colours of clusters."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Plots need matplotlib. Install it: pip install "linkwise[plot]"') from error
    children = tree.children
    x = place_nodes(children)
    leaves = [node for node, parts in enumerate(children) if not parts]
    if ax is None:
        _, ax = plt.subplots(figsize=(max(4.0, WIDTH * len(leaves)), HEIGHT), layout="constrained")
    end = int(tree.question.max()) + 1
    colours = plt.get_cmap("tab10" if tree.cluster.max() < 10 else "tab20")
    for node, parts in enumerate(children):
        made = int(tree.question[node])
        if not parts:
            colour = colours(int(tree.cluster[node]) % colours.N)
            ax.plot([x[node], x[node]], [made, end], color=colour, linewidth=2)
            continue
        split = int(tree.question[parts[0]])
        ax.plot([x[node], x[node]], [made, split], color="0.5", linewidth=1)
        ax.plot([x[parts[0]], x[parts[-1]]], [split, split], color="0.5", linewidth=1)
    leaves.sort(key=lambda node: x[node])
    if len(leaves) <= MOST_NAMED:
        names = [f"{tree.representative[node]} ({tree.size[node]})" for node in leaves]
        ax.set_xticks([x[node] for node in leaves], names, rotation=90, size=7)
        ax.set_xlabel("representative (number of rows)")
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(leaves)} super-instances")
    ax.set_ylabel("questions answered")
    ax.set_ylim(end, -0.5)
    return ax


def place_nodes(children: list[list[int]]) -> list[float]:
    """Place leaves side by side, and each other node above the middle of its first and last part."""
    x, open_, n_leaves = [0.0] * len(children), [0], 0
    while open_:
        node = open_.pop()
        open_.extend(reversed(children[node]))
        if not children[node]:
            x[node], n_leaves = float(n_leaves), n_leaves + 1
    for node in reversed(range(len(children))):  # parts have higher numbers than what they are parts of
        if children[node]:
            x[node] = float(np.mean([x[children[node][0]], x[children[node][-1]]]))
    return x
