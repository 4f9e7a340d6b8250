"""What takes part in the distance between rows, and whether the rows fit linkwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from linkwise.data.columns.near_copies import NearCopies, find_near_copies
from linkwise.data.columns.table import Table
from linkwise.data.encoding.encoded import Encoded, block_of
from linkwise.wording import merge_full_stops

MOST_NAMED = 8  # columns whose shares are named
_MOST_OF_IT = 0.505  # share from which one column decides: two of equal weight differ by rounding


@dataclass(frozen=True, slots=True)
class ColumnSurvey:
    """The shares that columns take of the distance between rows.

    Attributes
    ----------
    shares : dict of str to float
        For each column, or block of texts, pictures or lists, its share of the mean squared distance between
        two random rows, the largest first. They add up to 1, or are all 0 if numbers are too large to
        measure.
    blocks : frozenset of str
        The names in `shares` that are blocks of texts, pictures or lists.
    copies : NearCopies or None
        How many rows have copies that are written nearly alike, if many do. Then this is record linkage.
    """

    shares: Mapping[str, float]
    blocks: frozenset[str] = frozenset()
    copies: NearCopies | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning of record linkage, the shares, and a warning where one column decides; at most three."""
        notes = (*self._note_copies(), *self._note_shares(), *self._warn_of_largest())
        return tuple(map(merge_full_stops, notes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes without the shares."""
        return (*self._note_copies(), *self._warn_of_largest())

    def _note_copies(self) -> tuple[str, ...]:
        if self.copies is None:
            return ()
        n_copies = self.copies.group_size - 1
        few = "one other row that is" if n_copies == 1 else f"about {n_copies} other rows that are"
        return (
            f"{_percent(self.copies.share)} of the rows have {few} written nearly alike. If your groups are "
            "such records of the same person or thing, this is record linkage. Use --method records with "
            "--text-by letters, which learns from answers what a match is (in Python, RecordLinkage).",
        )

    def _note_shares(self) -> tuple[str, ...]:
        if len(self.shares) < 2 or not any(self.shares.values()):
            return ()
        n, low, high = len(self.shares), min(self.shares.values()), max(self.shares.values())
        if n > MOST_NAMED and high < 2 / n:
            return (f"Each of {n} columns has {_percent(low)} to {_percent(high)} of the influence.",)
        named = dict(islice(self.shares.items(), MOST_NAMED - (n > MOST_NAMED)))
        told = [f"{name} {_percent(share)}" for name, share in named.items()]
        if n > MOST_NAMED:
            told.append(f"{n - len(named)} others {_percent(1 - sum(named.values()))}")
        return (f"Influence of each column: {', '.join(told)}.",)

    def _warn_of_largest(self) -> tuple[str, ...]:
        largest, share = next(iter(self.shares.items()), ("", 0.0))
        if len(self.shares) < 2 or share <= _MOST_OF_IT:
            return ()
        if largest in self.blocks:
            lower = "--weight lowers the weight of a block (in Python, weights={...})."
        else:
            lower = (
                "--weight lowers the weight of a column, and --drop leaves it out "
                "(in Python, weights={...} and drop=[...])."
            )
        what = "Block" if largest in self.blocks else "Column"
        return (f"{what} '{largest}' takes more than half of the distance and so decides most. {lower}",)


def survey_columns(table: Table, encoded: Encoded) -> ColumnSurvey:
    """Measure how much each column counts.

    Parameters
    ----------
    table : Table
        The table.
    encoded : Encoded
        The same rows as numbers.

    Returns
    -------
    ColumnSurvey
        The shares, which follow from the data alone.
    """
    largest_first = measure_shares(encoded)
    blocks = frozenset(filter(None, map(block_of, encoded.features)))
    frame = table.frame.drop([name for name, role in table.roles.items() if role == "cycle"])
    copies = None if table.proposals else find_near_copies(frame, table.reading.id_column)
    return ColumnSurvey(largest_first, blocks=blocks, copies=copies)


def measure_shares(encoded: Encoded) -> dict[str, float]:
    """Measure how much each column counts, as in `ColumnSurvey.shares`."""
    # the samples of a curve count as one
    names = ["curve" if one.role == "sample" else block_of(one) or one.source for one in encoded.features]
    shares = dict.fromkeys(names, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = encoded.X.var(axis=0)
        total = float(spreads.sum())
    if 0 < total < np.inf:
        for name, spread in zip(names, spreads.tolist(), strict=True):
            shares[name] += spread / total
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _percent(share: float) -> str:
    """A share in percent, with a digit more where it is small."""
    return f"{share:.0%}" if share >= 0.0995 or share == 0 else f"{share:.1%}"
