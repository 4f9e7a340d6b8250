"""Examples of pairs: a few that show, beside the guidelines, what belongs together in one session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from linkwise.constraints.checks import check_row
from linkwise.constraints.facts import Answer, check_answer
from linkwise.errors import ConstraintError, DataMismatchError, SessionError, short_repr
from linkwise.session.remarks import check_note

MOST_EXAMPLES = 30  # in one session: everybody reads them, and a program gets them with each question


class Example(NamedTuple):
    """A pair that shows what belongs together. It counts as no answer.

    Attributes
    ----------
    first, second : int
        Positions of the two rows.
    answer : {"yes", "no"}
        Whether they belong together.
    reason : str, default=""
        Why, for whoever reads it.
    """

    first: int
    second: int
    answer: Answer
    reason: str = ""


def check_example(example: object, n_rows: int) -> Example:
    """Check a tuple of two rows, an answer and perhaps a reason."""
    if not isinstance(example, (tuple, list)) or len(example) not in (3, 4):
        raise TypeError(
            f"An example is not a tuple of three or four: {short_repr(example)}. "
            "Pass (first, second, answer) or (first, second, answer, reason)."
        )
    first, second = (check_row(row, n_rows) for row in example[:2])
    if first == second:
        raise ConstraintError(f"Row {first} is compared with itself. Pass two different rows.")
    answer = check_answer(example[2], first, second)
    if answer == "unsure":
        raise TypeError(
            f"The example about rows {first} and {second} is 'unsure', which shows nothing. "
            "Pass 'yes' or 'no'."
        )
    return Example(first, second, answer, check_note(example[3]) if len(example) == 4 else "")


def drop_repeated(examples: Iterable[Example]) -> list[Example]:
    """Keep the last example about each pair."""
    by_pair: dict[frozenset[int], Example] = {}
    for example in examples:
        by_pair.pop(frozenset(example[:2]), None)
        by_pair[frozenset(example[:2])] = example
    if len(by_pair) > MOST_EXAMPLES:
        raise SessionError(
            f"These would be {len(by_pair)} examples, and a session has up to {MOST_EXAMPLES}. "
            "Remove others first."
        )
    return list(by_pair.values())


def move_examples(examples: Iterable[Example], here: Mapping[int, int]) -> list[Example]:
    """Let examples name the rows by their new positions."""
    given = list(examples)
    gone = [each for each in given if not {each.first, each.second} <= here.keys()]
    if gone:
        raise DataMismatchError(
            f"The session has an example about rows {gone[0].first} and {gone[0].second}, and the data lack "
            "one of them. Pass data with all of them, or remove the example first (remove_example)."
        )
    return [each._replace(first=here[each.first], second=here[each.second]) for each in given]
