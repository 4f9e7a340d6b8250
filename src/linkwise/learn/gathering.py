"""Rows that are worth sorting together: a screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol, runtime_checkable

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.sorting import MOST_SORTED, Pile, Sorting, make_sorting
from linkwise.errors import ConstraintError, short_repr
from linkwise.learn.abilities import SupportsGather
from linkwise.learn.batches import choose_batch
from linkwise.learn.run import Run
from linkwise.wording import join_names

SCREEN_SIZE = 9  # rows of a screen, unless somebody says otherwise
LEAST_SHOWN, MOST_NAMED = 2, 5
PAIRS_FOR_ROW = 2  # questions of a batch that are looked at for each row of a screen
WHY = "These rows are worth placing; each pile stands for a cluster that they may belong to."


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rows that are worth sorting together.

    Attributes
    ----------
    known : tuple of tuple of int
        Piles that are there already: rows of clusters that answers have reached.
    cards : tuple of int
        Rows that belong in one of these piles, or in a new one.
    why : str
        Why these rows, in a sentence for the person who sorts them.
    """

    known: tuple[Pile, ...]
    cards: Pile
    why: str = WHY

    @property
    def rows(self) -> Pile:
        """All rows."""
        return (*(row for pile in self.known for row in pile), *self.cards)


@runtime_checkable
class Sorter(Protocol):
    """An oracle that sorts several rows at once, such as `linkwise.TruthSorter`."""

    def sort(self, known: Sequence[Pile], cards: Pile, /) -> Iterable[Sequence[int]]:
        """Sort cards into piles.

        Parameters
        ----------
        known : sequence of tuple of int
            The piles that are there already.
        cards : tuple of int
            The other rows.

        Returns
        -------
        iterable of sequence of int
            The rows of each pile. Rows that are in none of them are not sure.
        """


def check_size(m: int) -> int:
    """Check the largest number of rows of a screen."""
    if isinstance(m, bool) or not isinstance(m, Integral):
        raise TypeError(
            f"The size of a screen is not a whole number: {short_repr(m)}. Pass a number of rows."
        )
    if not LEAST_SHOWN <= m <= MOST_SORTED:
        raise ValueError(
            f"A screen of {m} rows is out of range. Pass a number from {LEAST_SHOWN} to {MOST_SORTED}."
        )
    return int(m)


def gather_batch(
    run: Run, start: Callable[[], Run], m: int, held: Collection[int] = (), seed: int = 0
) -> Gathered | None:
    """Gather the rows of questions that are worth asking together; None if there are none.

    Nobody else uses `run`, see `choose_batch`. Rows that have answers are piles that are there already, one
    for each component; those without are cards, unless somebody else holds them.
    """
    evidence, component = run.evidence, {}
    for number, rows in enumerate(evidence.groups().rows):
        component.update(dict.fromkeys(rows.tolist(), number))
    known: dict[int, int] = {}
    cards: dict[int, None] = {}
    for question in choose_batch(run, start, PAIRS_FOR_ROW * m, seed=seed):
        if any(row in held and row not in component for row in question.pair):
            continue
        new = {component[row]: row for row in question.pair if component.get(row, -1) not in {-1, *known}}
        loose = [row for row in question.pair if row not in component and row not in cards]
        if len(known) + len(cards) + len(new) + len(loose) <= m:
            known.update(new)
            cards.update(dict.fromkeys(loose))
    if len(known) + len(cards) < LEAST_SHOWN:
        return None
    return Gathered(tuple((row,) for row in known.values()), tuple(cards))


def gather(
    learner: object, run: Run, start: Callable[[], Run], m: int, held: Sequence[Pile] = (), seed: int = 0
) -> Gathered | None:
    """Gather up to m rows that are worth sorting together, beside those of screens that are open.

    Learners that do not choose rows get those of their next questions (`gather_batch`).
    """
    if isinstance(learner, SupportsGather):
        found = learner.gather(run.state, m, held)
        taken = {row for rows in held for row in rows}
        return None if found is None else _loosen_first_row(run.evidence, *found, taken)
    return gather_batch(start(), start, m, {row for rows in held for row in rows}, seed)


def _loosen_first_row(
    evidence: Evidence, known: Sequence[Pile], cards: Pile, held: Collection[int]
) -> Gathered | None:
    """Count rows of piles that no answer has reached as cards: a learner begins with a row that it chose.

    Where somebody else holds such a row, it is left out.
    """
    reached = set(evidence.groups().row.tolist())
    loose = [row for pile in known if not reached & {*pile} for row in pile if row not in held]
    found = Gathered(tuple(pile for pile in known if reached & {*pile}), (*loose, *cards))
    return found if len(found.rows) >= LEAST_SHOWN else None


def take_piles(
    evidence: Evidence, piles: Iterable[Sequence[int]], unsure: Sequence[int], cards: Sequence[int]
) -> Sorting:
    """Order piles, and count as cards also rows of known piles whose relation was open, or is denied now."""
    given = [list(pile) for pile in piles if len(pile)]
    known = [(row, number) for number, pile in enumerate(given) for row in pile if row not in cards]
    decided = [
        row
        for at, (row, number) in enumerate(known)
        if any(evidence.verdict(other, row) != _answer(number, own) for other, own in known[:at])
    ]
    return make_sorting(given, unsure, (*decided, *cards))


def sort_rows(sorter: Sorter, shown: Gathered, evidence: Evidence) -> Sorting:
    """Let an oracle sort the rows of a screen; raise if what it returns is not about these rows."""
    piles = [[int(row) for row in pile] for pile in sorter.sort(shown.known, shown.cards)]
    return take_piles(evidence, *check_piles(piles, None, shown, str), shown.cards)


def check_piles(
    piles: Iterable[Sequence[int]],
    unsure: Iterable[int] | None,
    shown: Gathered,
    name_of: Callable[[int], str],
) -> tuple[list[list[int]], list[int]]:
    """Check that each card of a screen is in one pile or unsure, and that nothing else is.

    Known piles without new rows may be left out. If `unsure` is None, cards that are left out are unsure.

    Raises
    ------
    ConstraintError
        A row is not on the screen, in two places, or a card is missing.
    """
    given = [list(pile) for pile in piles if len(pile)]
    named = [row for pile in given for row in pile]
    doubted = [] if unsure is None else list(unsure)
    strangers = [row for row in (*named, *doubted) if row not in shown.rows]
    if strangers:
        raise ConstraintError(
            f"{_list_rows(strangers, name_of)} not on this screen. Remove it from the piles."
        )
    counts = Counter((*named, *doubted))
    twice = [row for row, n in counts.items() if n > 1]
    if twice:
        raise ConstraintError(f"{_list_rows(twice, name_of)} in two places. Put each row into one pile.")
    left = [row for row in shown.cards if row not in counts]
    if left and unsure is not None:
        raise ConstraintError(
            f"{_list_rows(left, name_of)} in no pile. Put it into one, or pass it as unsure."
        )
    place = {row: pile for pile in given for row in pile}
    for pile in shown.known:  # what is left out of a known pile stays in it
        rest = [row for row in pile if row not in counts]
        mate = next((row for row in pile if row in place), None)
        if mate is not None:
            place[mate].extend(rest)
        elif rest:
            given.append(rest)
    return given, doubted if unsure is not None else left


def _list_rows(rows: Sequence[int], name_of: Callable[[int], str]) -> str:
    """Name some rows, with the verb."""
    names = join_names([f"{name_of(row)}" for row in rows], MOST_NAMED)
    return f"Rows {names} are" if len(rows) > 1 else f"Row {names} is"


def _answer(one: int, other: int) -> str:
    """The answer about rows of two piles."""
    return "yes" if one == other else "no"
