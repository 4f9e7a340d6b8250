"""Check that the columns that a person names exist, and that each has one use."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import combinations

from linkwise.errors import DataError
from linkwise.wording import join_names


def unknown_column(name: str, names: Sequence[str]) -> str:
    """Describe a column that does not exist, and suggest the closest name."""
    folded = {other.casefold(): other for other in reversed(names)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    hint = f" Did you mean '{folded[near[0]]}'?" if near else ""
    return f"There is no column '{name}'.{hint} The columns are: {join_names(names, 30)}."


def to_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Convert column names to a tuple; a single string is one name."""
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def check_names(
    there: list[str],
    id_column: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    text: Sequence[str] = (),
    image: Sequence[str] = (),
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
) -> None:
    """Check that all named columns exist, and that each has one use; see `Reading`."""
    single = [] if id_column is None else [id_column]
    known = set(there)
    for name in (*single, *text, *image, *(columns or ()), *drop, *show, *hide):
        if name not in known:
            raise DataError(unknown_column(name, there))
    uses: dict[str, set[str]] = {
        "the id": set() if id_column is None else {id_column},
        "a feature": set(columns or ()),
        "the text": set(text),
        "a picture": set(image),
        "dropped": set(drop),
        "only shown": set(show),
        "hidden": set(hide),
    }
    for one, other in combinations(uses, 2):
        if (one, other) == ("a feature", "hidden"):
            continue
        for name in uses[one] & uses[other]:
            raise DataError(f"Column '{name}' is to be {one} and {other}. Use it in one option.")
