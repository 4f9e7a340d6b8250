"""Words that distinguish clusters of texts: many texts of a cluster contain them, and few others.

Rules need columns with a meaning, and the topics by which texts are compared have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwise.data.encoding.texts import LEAST_TEXTS, word_counts
from linkwise.reasons.cluster_names import call_cluster
from linkwise.reasons.explanation import read_labels
from linkwise.reasons.rules import Name
from linkwise.reasons.sentences import format_percent
from linkwise.wording import count_noun, shorten

LONGEST_WORD = 30  # characters that are shown


class TellingWord(NamedTuple):
    """A word, and the share of texts with it: within the cluster, and among all others."""

    word: str
    inside: float
    outside: float


@dataclass(frozen=True, slots=True)
class ClusterWords:
    """A cluster, its number of texts, and the words that distinguish it, the strongest first."""

    cluster: Name
    n_rows: int
    words: tuple[TellingWord, ...]

    def lines(self) -> list[str]:
        """Lines about the cluster, one for each word."""
        shares = [
            f"  {shorten(word, LONGEST_WORD)}: in {format_percent(inside)} of its texts,"
            f" in {format_percent(outside)} of the others"
            for word, inside, outside in self.words
        ]
        return [
            f"{call_cluster(self.cluster)}: {count_noun(self.n_rows, 'row')}",
            *(shares or ["  no word is more frequent here"]),
        ]


class TextCounts(NamedTuple):
    """The words of texts in alphabetical order, and a sparse matrix with 1 for each word of each text."""

    words: Any
    counts: Any


def telling_words(labels: Any, texts: Sequence[str | None], most: int = 5) -> list[ClusterWords]:
    """Find the words by which clusters of texts differ most.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        The cluster of each text.
    texts : sequence of str or None, of length n_rows
        The texts; None for a row without one.
    most : int, default=5
        Number of words for each cluster.

    Returns
    -------
    list of ClusterWords
        In the order of the labels. The score of a word is its share of the texts within the cluster, less
        its share of all others, times the log of its rarity (so that "and" scores low). Words of a single
        text are left out.

    Examples
    --------
    >>> import linkwise as lw
    >>> texts = ["red apple pie", "apple tart", "fast car", "old car", "car"]
    >>> for cluster in lw.telling_words([0, 0, 1, 1, 1], texts, most=1):
    ...     print(*cluster.lines(), sep=chr(10))
    cluster 0: 2 rows
      apple: in 100% of its texts, in 0% of the others
    cluster 1: 3 rows
      car: in 100% of its texts, in 0% of the others
    """
    return rank_words(count_texts(texts), read_labels(labels, len(texts)), most)


def count_texts(texts: Sequence[str | None]) -> TextCounts:
    """Find which texts have which words."""
    words, counts = word_counts(texts)
    counts.data[:] = 1.0
    return TextCounts(words, counts)


def rank_words(counted: TextCounts, of_rows: Any, most: int) -> list[ClusterWords]:
    """Find the words by which clusters differ most, of texts that are counted; see `telling_words`."""
    words, counts = counted
    in_texts = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log((1 + len(of_rows)) / (1 + in_texts))
    found = []
    for cluster in np.unique(of_rows):
        rows = of_rows == cluster
        n_rows, n_others = int(rows.sum()), int((~rows).sum())
        held = np.asarray(counts[np.flatnonzero(rows)].sum(axis=0)).ravel()
        inside, outside = held / n_rows, (in_texts - held) / max(n_others, 1)
        gain = np.where(in_texts >= LEAST_TEXTS, inside - outside, 0.0) * rarity
        best = [k for k in np.argsort(-gain, kind="stable")[:most] if gain[k] > 0]
        telling = tuple(TellingWord(str(words[k]), float(inside[k]), float(outside[k])) for k in best)
        found.append(ClusterWords(cluster.item(), n_rows, telling))
    return found
