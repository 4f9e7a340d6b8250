"""The search for clusters: by a name, a number, or the name or the text of a row.

A text is found anywhere in a name, in any case, but a number only as a whole: ``12`` finds cluster 12 and row
12, and not cluster 112. `cluster_order.js` of the page matches the names of clusters by the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from linkwise.data.show.items import Items
from linkwise.types import Labels

MOST_HITS = 3  # rows of one cluster that are named


def cluster_names(number: int, name: str) -> tuple[str, str]:
    """Return the name that a person gave a cluster, or an empty one, and the name that it has without."""
    return name, "Noise" if number < 0 else f"Cluster {number}"


@dataclass(slots=True)
class RowHits:
    """The number of rows of one cluster that a search found, and the first of them."""

    count: int = 0
    rows: list[int] = field(default_factory=list)


def create_matcher(text: str) -> Callable[[str], bool]:
    """Return a function that tells whether a name contains the text; a blank text is in no name."""
    wanted = " ".join(text.split()).lower()
    if not wanted:
        return lambda name: False
    before = r"(?<![0-9])" if wanted[0] in "0123456789" else ""
    after = r"(?![0-9])" if wanted[-1] in "0123456789" else ""
    if not before and not after:
        return lambda name: wanted in name.lower()
    search = re.compile(before + re.escape(wanted) + after).search
    return lambda name: wanted in (lower := name.lower()) and search(lower) is not None


def name_with_text(name_of: Callable[[int], str], items: Items) -> Callable[[int], str]:
    """Return a function that gives the name of a row and the text that people see of it, for a search.

    The text is that of a row of texts, or the free text of a side table, such as a title.
    """
    texts = None if items.side is None else items.side.texts
    if texts is not None:
        return lambda row: f"{name_of(row)}\n{texts[row]}"
    if items.holds_words:
        return lambda row: f"{name_of(row)}\n{items.content(row)!s}"
    return name_of


def find_rows(
    matches: Callable[[str], bool], name_of: Callable[[int], str], labels: Labels
) -> dict[int, RowHits]:
    """Return the rows whose names match, by cluster."""
    hits: dict[int, RowHits] = {}
    for row, cluster in enumerate(labels.tolist()):
        if matches(name_of(row)):
            found = hits.setdefault(cluster, RowHits())
            found.count += 1
            if len(found.rows) < MOST_HITS:
                found.rows.append(row)
    return hits
