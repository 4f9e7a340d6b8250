"""Clusters by what people see of their rows: columns, words and typical rows.

Rules need columns that were compared and have a meaning. Embeddings and curves have none. A table that is
only shown may describe their clusters in part, and the rows in the middle of a cluster are examples of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.data import Encoded
from linkwise.errors import DataError
from linkwise.reasons.cluster_names import NOISE, call_cluster
from linkwise.reasons.explanation import read_labels
from linkwise.reasons.profiles import create_profiler
from linkwise.reasons.rules import Name
from linkwise.reasons.sentences import format_percent
from linkwise.reasons.telling_words import LONGEST_WORD, TellingWord, telling_words
from linkwise.wording import count_noun, shorten

N_EXAMPLES = 3
N_WORDS = 4
SMALLEST_SHARE = 0.1  # of the difference of a word's shares; below, it says nothing about the cluster
WORTH = 0.8  # fidelity from which rules on columns that were only shown describe the clusters
LONGEST = 60  # characters of an example


@dataclass(frozen=True, slots=True)
class ShownCluster:
    """A cluster by what people see of its rows.

    Attributes
    ----------
    cluster : str or int
        Its label; -1 for the rows in no cluster.
    n_rows : int
    profile : str
        What distinguishes its columns; empty if nothing does.
    words : tuple of TellingWord
        The words that are more frequent in it, the strongest first.
    examples : tuple of int
        The rows nearest to its mean, the nearest first; empty for the rows in no cluster.
    """

    cluster: Name
    n_rows: int
    profile: str
    words: tuple[TellingWord, ...]
    examples: tuple[int, ...]

    def lines(self, show: Callable[[int], str]) -> list[str]:
        """Lines about the cluster; ``show(row)`` describes a row."""
        lines = [f"{call_cluster(self.cluster)}: {count_noun(self.n_rows, 'row')}"]
        if self.profile:
            lines.append(f"  {self.profile}")
        if self.words:
            shares = (
                f"{shorten(word, LONGEST_WORD)} in {format_percent(inside)}"
                f" (others {format_percent(outside)})"
                for word, inside, outside in self.words
            )
            lines.append(f"  words: {' · '.join(shares)}")
        if not self.examples:
            return lines
        typical = " · ".join(shorten(show(row), LONGEST) for row in self.examples)
        return [*lines, f"  typical rows: {typical}"]


def describe_shown_clusters(
    labels: ArrayLike, X: ArrayLike, columns: Encoded | None = None, texts: Sequence[str | None] | None = None
) -> list[ShownCluster]:
    """Describe clusters by what people see of their rows, in the order of the labels.

    `X` is what was compared; it decides which rows are typical. `columns`, in their own units, and
    `texts` are what people see.
    """
    of_rows, rows = read_labels(labels), np.asarray(X, dtype=np.float64)
    names, group = np.unique(of_rows, return_inverse=True)
    profiles = {} if columns is None else create_profiler(columns)(group.astype(np.int32))
    words = _words_by_cluster(group, texts)
    found = []
    for at, name in enumerate(names.tolist()):
        members = np.flatnonzero(group == at)
        typical = () if name == NOISE else _find_typical(rows, members)
        found.append(ShownCluster(name, len(members), profiles.get(at, ""), words.get(at, ()), typical))
    return found


def _words_by_cluster(
    group: NDArray[np.intp], texts: Sequence[str | None] | None
) -> dict[int, tuple[TellingWord, ...]]:
    """The words of each cluster whose shares differ by enough; none where no text has a word."""
    if texts is None:
        return {}
    try:
        told = telling_words(group, texts, N_WORDS)
    except DataError:
        return {}
    return {
        int(str(one.cluster)): tuple(
            word for word in one.words if word.inside - word.outside >= SMALLEST_SHARE
        )
        for one in told
    }


def _find_typical(rows: NDArray[np.float64], members: NDArray[np.intp]) -> tuple[int, ...]:
    """The rows of a cluster that are nearest to its mean."""
    here = rows[members]
    away = ((here - here.mean(axis=0)) ** 2).sum(axis=1)
    return tuple(members[np.argsort(away, kind="stable")[:N_EXAMPLES]].tolist())
