"""Explain a clustering by rules on the columns, and measure how far the rules hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.trees.tree import Tree
from linkwise.constraints.checks import is_missing, is_sequence, list_labels, list_names
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Feature, Rows, Table, encode, from_frame
from linkwise.data.show.rows import encode_in_units
from linkwise.errors import short_repr
from linkwise.reasons import drawing
from linkwise.reasons.clauses import describe_tests
from linkwise.reasons.rule_set import RuleSet
from linkwise.reasons.rules import Name, as_dict, make_rules
from linkwise.reasons.sentences import describe_rules, draw_rules, headline
from linkwise.reasons.small_tree import grow_small_tree
from linkwise.validation import check_constraints_fit, check_rows, is_estimator, resolve_seed
from linkwise.wording import count_noun, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL_FIDELITY = 0.95
MOST_CLUSTERS = 1000
MOST_RULES, MOST_ROWS = 100_000, 2**31 - 1  # a tree has memory for so many
LEAVES_A_CLUSTER, FEWEST, MOST = 3, 8, 256  # rules by default
N_SAMPLE = 30_000  # rows; on 15 made sets of 100 000 rows the rules keep .002 rows fewer than by all


class Explanation(RuleSet):
    """A clustering in words; `print` shows them.

    Attributes
    ----------
    clusters : tuple of ClusterRules
        Rules, recall and precision of each cluster, in the order of the labels.
    tree : Tree
        The tests, in the units of X; its labels are positions in `clusters`.
    clauses : mapping of int to Clause
        The test of each inner node in the user's units. Its threshold is rounded as far as it still separates
        the rows of X in the node as the exact one does.
    labels : ndarray of shape (n_rows,)
        The clustering that is described.
    leaf_of : ndarray of shape (n_rows,)
        Node of the tree that each row reaches.
    fidelity : float
        Share of the rows that the rules put into their cluster.
    baseline : float
        Share of the rows in the largest cluster, which is the fidelity of a single rule for all rows.
    is_the_clustering : bool
        Whether these rules define the clustering, as with ClusILC, and do not only describe it.
    wanted : float
        The requested fidelity. `fidelity` is lower if `max_leaves` rules are too few.
    max_leaves : int
        Largest number of rules.
    approximation : str or None
        What was not computed exactly: of many rows the tree grows on a sample. Counts, recall,
        precision and fidelity always refer to all rows.
    notes : tuple of str
        Sentences about what was left out or chosen when the table was read.
    """

    def __str__(self) -> str:
        return describe_rules(self)

    def __repr__(self) -> str:
        return f"<Explanation: {headline(self)}>"

    def _repr_html_(self) -> str:
        return draw_rules(self)

    def to_text(self) -> str:
        """Draw the tree in characters, one test a line.

        Returns
        -------
        str
            The tree, on several lines.
        """
        return drawing.to_text(self)

    def to_mermaid(self) -> str:
        """Write the tree as a Mermaid flowchart.

        Returns
        -------
        str
            The source of the flowchart.
        """
        return drawing.to_mermaid(self)

    def to_dot(self) -> str:
        """Write the tree for Graphviz.

        Returns
        -------
        str
            The source in the DOT language.
        """
        return drawing.to_dot(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree with matplotlib; needs ``pip install "linkwise[plot]"``.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on. The default is a new figure.

        Returns
        -------
        Axes
            The axes with the tree.
        """
        from linkwise.reasons.drawing import plot

        return plot(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Convert the rules and the tree to dicts, lists, strings and numbers.

        Returns
        -------
        dict
            Values that JSON can hold.
        """
        return {
            "rows": self.n_rows,
            "fidelity": self.fidelity,
            "baseline": self.baseline,
            "is_the_clustering": self.is_the_clustering,
            "approximation": self.approximation,
            "clusters": [as_dict(cluster) for cluster in self.clusters],
            "tree": drawing.to_dict(self),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Convert the rules and the tree to JSON.

        Parameters
        ----------
        indent : int, optional
            Spaces for each level. The default is one line without indentation.

        Returns
        -------
        str
            The JSON text.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def explain(
    clustering: Any,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    max_leaves: int | None = None,
    fidelity: float | None = None,
    constraints: Constraints | None = None,
    n_sample: int | None = N_SAMPLE,
    random_state: int = 0,
) -> Explanation:
    """Describe a clustering by rules on the columns.

    Parameters
    ----------
    clustering : array-like of shape (n_rows,), or fitted clusterer
        Labels, numbers or words, from wherever they come; or a clusterer with ``labels_``, or a pipeline
        that ends in one. A fitted `ClusILC` is described by its own tree (in a pipeline, by its labels), any
        other clustering by a small one that is grown for it. Rows whose label is missing are left out.
    X : array-like of shape (n_rows, n_features), DataFrame, Rows, Table or Encoded
        What to describe it by. It need not be what was clustered: give columns that people know, in their
        own units. Categories of a table are asked for by name.
    feature_names : sequence of str, optional
        Names of the columns of an array; x0, x1, ... by default.
    max_leaves : int, optional
        Largest number of rules. The default is three for each cluster, at least 8 and at most 256.
    fidelity : float, optional
        Share of the rows that the rules must assign to their cluster, from 0 to 1. The default is 0.95. A
        tree of `max_leaves` is pruned as long as it keeps this share. Every cluster with more than 1 % of the
        rows keeps a rule if it has one in the larger tree.
    constraints : Constraints, optional
        Constraints to count for each rule. The default is the ``constraints_`` of a clusterer.
    n_sample : int or None, default=30000
        Number of rows above which the tree grows on a sample of about so many, which is an approximation. It
        contains every cluster, and all counts refer to all rows. None takes all rows.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    Explanation
        The rules of each cluster; `print` shows them.

    Raises
    ------
    TypeError
        The arguments are in the wrong order.
    ValueError
        The labels and `X` differ in length, or an option is out of its range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> iris = load_iris()
    >>> rules = lw.explain(iris.target, iris.data, feature_names=iris.feature_names)
    >>> print(rules.to_text())
    petal width (cm) > 0.8?
    ├─ yes: petal width (cm) > 1.7?
    │  ├─ yes: cluster 2 (46 rows, 45 right)
    │  └─ no:  cluster 1 (54 rows, 49 right)
    └─ no:  cluster 0 (50 rows)
    """
    if is_estimator(X):
        raise TypeError(
            f"X is a {type(X).__name__}, but the clustering comes first. Call explain(clustering, X)."
        )
    _refuse_swapped(clustering, X)
    share, most = _check_share(fidelity), _check_number("max_leaves", max_leaves, "rules", MOST_RULES)
    n_sample = _check_number("n_sample", n_sample, "rows", MOST_ROWS)
    own = getattr(clustering, "tree_", None)  # a pipeline has none: its tree asks about other columns
    clustering = last_step(clustering)
    if isinstance(own, Tree) and (fidelity is not None or max_leaves is not None):
        raise ValueError(
            "A ClusILC is described by its own tree. Remove max_leaves and fidelity, or pass its labels_."
        )
    rows, features, notes = _read_rows(X, feature_names, clustering if isinstance(own, Tree) else None)
    if isinstance(own, Tree):
        tree, codes, names = _number_leaves(own, rows)
    else:
        labels = _list_labels(clustering, len(rows))
        are_known = [labels.dtype.kind in "iubU" or not is_missing(label) for label in labels]
        known = np.flatnonzero(are_known)
        if 0 < len(known) < len(labels):
            unknown = count_noun(len(labels) - len(known), "row")
            notes = (*notes, f"Left out for want of a label: {unknown}.")
            constraints = (
                None if constraints is None else check_constraints_fit(constraints, len(rows))[known]
            )
            labels, rows = labels[known], rows[known]
        codes, names = _encode_labels(_checked_labels(labels))
        most = most or min(max(LEAVES_A_CLUSTER * len(names), FEWEST), MOST)
        tree = grow_small_tree(
            rows,
            codes,
            nominal=tuple(at for at, feature in enumerate(features) if feature.categories),
            max_leaves=most,
            fidelity=share,
            n_sample=n_sample or len(rows),
            seed=resolve_seed(random_state),
        )
    clauses, leaf = describe_tests(tree, rows, features), tree.apply(rows)
    wanted = _find_constraints(clustering, constraints, rows)
    return Explanation(
        make_rules(tree, clauses, leaf, codes, names, wanted),
        tree,
        clauses,
        np.array(names)[codes],
        leaf,
        float(np.mean(tree.label[leaf] == codes)),
        float(np.bincount(codes).max() / len(codes)),
        isinstance(own, Tree),
        0.0 if isinstance(own, Tree) else share,
        most or len(tree.leaves),
        None
        if isinstance(own, Tree) or n_sample is None or len(rows) <= n_sample
        else f"the tree grew on a sample of about {n_sample} rows",
        notes,
    )


# ---------------------------------------------------------------- checks
def last_step(clustering: Any) -> Any:
    """The clusterer at the end of a pipeline; anything else as it is."""
    return clustering[-1] if is_estimator(clustering) and hasattr(clustering, "steps") else clustering


def _refuse_swapped(clustering: Any, X: Any) -> None:
    """Raise an error if the table comes first and the labels second."""
    shapes = [np.shape(given) if hasattr(given, "shape") else () for given in (clustering, X)]
    is_table = len(shapes[0]) == 2 or isinstance(clustering, (Table, Encoded, Rows))
    if is_table and (len(shapes[1]) == 1 or (isinstance(X, (list, tuple)) and not _has_columns(X))):
        raise TypeError(
            f"The clustering is a {type(clustering).__name__} with columns and X a {type(X).__name__} "
            "without, as if they were swapped. The labels come first: explain(labels, X)."
        )


def _has_columns(values: Sequence[Any]) -> bool:
    return len(values) > 0 and isinstance(values[0], (list, tuple, np.ndarray))


def _check_share(fidelity: object) -> float:
    fidelity = USUAL_FIDELITY if fidelity is None else fidelity
    if (
        isinstance(fidelity, bool)
        or not isinstance(fidelity, (int, float, np.number))
        or not 0 <= fidelity <= 1
    ):
        raise ValueError(
            f"fidelity={short_repr(fidelity)} is not a share of the rows. Pass a number from 0 to 1."
        )
    return float(fidelity)


def _check_number(name: str, value: object, things: str, most: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(
            f"{name}={short_repr(value)} is not a number of {things}. Pass an integer of at least 1, or None."
        )
    return min(int(value), most)


def _read_rows(
    X: Any, feature_names: Sequence[str] | None, model: Any
) -> tuple[NDArray[Any], tuple[Feature, ...], tuple[str, ...]]:
    """The rows, the features of their columns, and notes on what was chosen in reading them."""
    if isinstance(X, Rows):
        X = encode_in_units(X) if model is None else X.encoded
    named = isinstance(X, (Encoded, Table)) or hasattr(X, "columns") or hasattr(X, "column_names")
    if named and feature_names is not None:
        raise ValueError(f"X is a {type(X).__name__}, which names its columns. Remove feature_names.")
    if model is None and named and not isinstance(X, Encoded):
        table = X if isinstance(X, Table) else from_frame(X)
        encoded = encode(table, scale="none", categories="codes")
        return encoded.X, encoded.features, table.notes
    if isinstance(X, Table):
        raise TypeError(
            "X is a Table, but the tree asks about the numbers that it was fitted to. "
            "Call explain(model, encoded) with what encode(table, ...) returned."
        )
    values = X.X if isinstance(X, Encoded) else X
    rows = check_rows(values) if model is None else check_rows(values, model, reset=False)
    if isinstance(X, Encoded):
        return rows, X.features, X.notes
    names = list(getattr(X, "column_names", X.columns)) if named else feature_names
    if names is not None and not is_sequence(names):
        raise TypeError(
            f"feature_names is {short_repr(names)}. Pass a list with the name of every column of X."
        )
    names = [f"x{j}" for j in range(rows.shape[1])] if names is None else list_names(names, "feature_names")
    if len(names) != rows.shape[1]:
        raise ValueError(
            f"feature_names has {len(names)} names, but X has {rows.shape[1]} columns. Pass a name for each."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"feature_names has {shorten(twice)!r} twice. Use each name once.")
    return rows, tuple(Feature(name, name, None, "numeric") for name in names), ()


def _find_constraints(
    clustering: Any, constraints: Constraints | None, rows: NDArray[Any]
) -> Constraints | None:
    """The constraints that are to be counted: those given, or those of the clusterer."""
    if constraints is None:
        own = getattr(clustering, "constraints_", None)
        return own if isinstance(own, Constraints) and own.n_rows == len(rows) else None
    return check_constraints_fit(constraints, len(rows))  # `rows` need not be what was clustered


def read_labels(clustering: Any, n_rows: int | None = None) -> NDArray[Any]:
    """One label per row, all numbers or all words; of a clusterer or a pipeline, those of its fit."""
    return _checked_labels(_list_labels(clustering, n_rows))


def _list_labels(clustering: Any, n_rows: int | None) -> NDArray[Any]:
    """The labels as they are given, some of which may be missing."""
    clustering = last_step(clustering)
    if is_estimator(clustering) and not hasattr(clustering, "labels_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(clustering).__name__} instance is not fitted yet. Call fit first.")
    given = getattr(clustering, "labels_", clustering)
    if not isinstance(given, Iterable):
        raise TypeError(
            f"The labels are {short_repr(given)}. Pass one label for each row, or a fitted clusterer."
        )
    listed: Any = given
    labels = list_labels(listed) if hasattr(given, "__array__") else np.array(list(given), dtype=object)
    if labels.ndim != 1 or len(labels) != (len(labels) if n_rows is None else n_rows):
        there = "" if n_rows is None else f", but X has {n_rows} rows"
        raise ValueError(f"The labels have shape {labels.shape}{there}. Pass one label for each row.")
    return labels


def _checked_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as integers, truth values or words."""
    if labels.dtype.kind in "iubU":
        return labels
    kinds = {bool: "b", np.bool_: "b", str: "U", np.str_: "U"}
    if set(map(type, labels.tolist())) == {int}:
        with suppress(OverflowError):
            return labels.astype(np.int64)
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise ValueError(
                f"The label of row {row} is missing: {short_repr(label)}. Remove the rows without a label."
            )
        is_number = isinstance(label, (int, float, np.number, Decimal))
        if not (isinstance(label, (bool, str)) or (is_number and label % 1 == 0 and abs(label) < 2**63)):
            raise ValueError(f"The label of row {row} is {short_repr(label)}. Pass whole numbers or words.")
    found = {kinds.get(type(label), "i") for label in labels.tolist()} or {"i"}
    if len(found) > 1:
        raise ValueError("Some labels are numbers and others are words. Pass one or the other.")
    return labels.astype({"b": bool, "U": str, "i": np.int64}[found.pop()])


def _encode_labels(labels: NDArray[Any]) -> tuple[NDArray[np.int32], list[Name]]:
    """Clusters 0, 1, ..., and their names."""
    found, codes = np.unique(labels, return_inverse=True)
    if len(found) > MOST_CLUSTERS:
        raise ValueError(
            f"There are {len(found)} clusters of {len(labels)} rows, but rules describe at most "
            f"{MOST_CLUSTERS}. Pass a clustering with fewer clusters."
        )
    return codes.ravel().astype(np.int32), found.tolist()


def _number_leaves(tree: Tree, rows: NDArray[Any]) -> tuple[Tree, NDArray[np.int32], list[Name]]:
    """A tree with clusters 0, 1, ... at its leaves, the cluster of each row, and the clusters' names."""
    names = np.unique(tree.label[tree.label >= 0])
    numbered = replace(tree, label=np.where(tree.label < 0, -1, np.searchsorted(names, tree.label)))
    return numbered, numbered.predict(rows).astype(np.int32), names.tolist()
