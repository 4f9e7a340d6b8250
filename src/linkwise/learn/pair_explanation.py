"""Why two rows match or not, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from linkwise.wording import count_noun, join_names

LEAST = 0.3  # log-odds from which a column is named
MOST_NAMED = 4  # columns of each side in a sentence


class PairExplanation(NamedTuple):
    """What speaks for and against the match of two rows, in log-odds.

    Attributes
    ----------
    start : float
        Log-odds of a match before the two rows are compared.
    columns : dict of str to float
        What each column adds: more than 0 speaks for a match.
    whole : float
        What the comparison of the rows as wholes adds.
    missing : tuple of str
        Columns in which at least one of both has no value. They may add something, too: a column that
        usually differs and cannot be compared is a little in favour.

    Notes
    -----
    The log-odds of a match are the sum of all three.
    """

    start: float
    columns: dict[str, float]
    whole: float
    missing: tuple[str, ...] = ()

    @property
    def log_odds(self) -> float:
        """Log-odds of a match."""
        return self.start + sum(self.columns.values()) + self.whole

    @property
    def chance(self) -> float:
        """Probability of a match by the columns, whatever the answers about the two rows are."""
        return float(expit(self.log_odds))

    @property
    def decisive(self) -> str | None:
        """The column without which the conclusion would be the opposite; the one that adds most of several.

        None if there is no such column that counts.
        """
        total = self.log_odds
        counting = {
            name: part
            for name, part in self.columns.items()
            if abs(part) >= LEAST and name not in self.missing
        }
        found = [name for name, part in counting.items() if (total - part > 0) != (total > 0)]
        return max(found, key=lambda name: abs(self.columns[name]), default=None)

    def sentences(self) -> list[str]:
        """Put into words what speaks for a match and what against it.

        Returns
        -------
        list of str
            A few sentences.
        """
        known = [name for name in self.columns if name not in self.missing]
        order = sorted(known, key=lambda name: -abs(self.columns[name]))
        pro = [name for name in order if self.columns[name] >= LEAST]
        contra = [name for name in order if self.columns[name] <= -LEAST]
        sides = []
        if pro:
            sides.append(f"{_list_columns(pro)} {_verb(pro)} for one record")
        if contra:
            sides.append(f"{_list_columns(contra)} {_verb(contra)} against {'it' if pro else 'one record'}")
        found = [f"{', '.join(sides)}." if sides else "No column speaks clearly for or against one record."]
        if self.missing:
            found.append(f"{_list_columns(self.missing)} cannot be compared, because a value is missing.")
        if abs(self.whole) >= LEAST:
            found.append(f"Compared as wholes, they look like {_conclude(self.whole)}.")
        found.append(f"All in all, one record is {_format_chance(self.chance)} probable.")
        if self.decisive is not None:
            found.append(f"Without '{self.decisive}' they would look like {_conclude(-self.log_odds)}.")
        return found


class DoubtfulDecision(NamedTuple):
    """A decision about two groups, or two parts of one group, that is hardly certain.

    Attributes
    ----------
    first, second : int
        Two rows that the decision is about.
    chance : float
        Probability that both are in one group: the decision is that they are from 0.5 on.
    """

    first: int
    second: int
    chance: float


def describe_effects(effects: Mapping[str, float]) -> str:
    """Put into words how much each column counts; "" stands for the rows as wholes.

    Parameters
    ----------
    effects : mapping of str to float
        How far the log-odds that each column adds are from their mean, on average.

    Returns
    -------
    str
        A sentence with the share of each column; empty if nothing counts.
    """
    total = sum(effects.values())
    if total == 0:
        return ""
    order = sorted(effects, key=lambda name: -effects[name])
    shares = [f"{name or 'the records as wholes'} {effects[name] / total:.0%}" for name in order]
    return f"What counts when two records are compared: {join_names(shares)}."


def _list_columns(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        quoted.append(count_noun(len(names) - MOST_NAMED, "more column"))
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _verb(names: Sequence[str]) -> str:
    return "speaks" if len(names) == 1 else "speak"


def _conclude(log_odds: float) -> str:
    return "one record" if log_odds > 0 else "two records"


def _format_chance(chance: float) -> str:
    """A probability in per cent, never 0% or 100%."""
    return f"{np.clip(chance, 0.01, 0.99):.0%}"
