"""Notice that a column spells one value in several ways, and merge the spellings if that is asked for.

Two spellings are variants of one value if they differ only in upper and lower case, in spaces, or in accents
on Latin and Greek letters. In a column without other values, Y and yes are variants as well, and T and true.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.columns.roles import to_words, value_kind
from linkwise.wording import count_noun, join_names, shorten

if TYPE_CHECKING:
    import narwhals as nw

MOST_SPELLINGS = 10_000  # a column with more different texts holds no categories
_ACCENTS = re.compile(r"(?<=[a-zα-ω])[\u0300-\u036f]+")  # on other letters such marks make another letter
_ABBREVIATIONS = ({"y": "yes", "n": "no"}, {"t": "true", "f": "false"})


class Variants(NamedTuple):
    """Values of a column that are spelled in several ways.

    `spellings` has all spellings of each such value, the most frequent first, under the one that stands
    for the value; `counts` tells how often each occurs.
    """

    spellings: dict[str, list[str]]
    counts: dict[str, int]

    @property
    def replacements(self) -> dict[str, str]:
        """The spelling that replaces each other one."""
        return {one: value for value, some in self.spellings.items() for one in some if one != value}


def fold_spelling(word: str) -> str:
    """Reduce a word to what all its variants share, apart from abbreviations."""
    folded = unicodedata.normalize("NFD", " ".join(word.split()).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", folded))


def fold_words(words: Iterable[str]) -> dict[str, str]:
    """For each word of a column, the form that all its variants share."""
    folded = {word: fold_spelling(word) for word in words}
    for full in _ABBREVIATIONS:
        if set(folded.values()) <= {*full, *full.values()}:
            return {word: full.get(form, form) for word, form in folded.items()}
    return folded


def match_spellings(known: Sequence[str]) -> Callable[[str], str]:
    """Return a function that gives the known word of which a word is a variant, or the word itself."""
    by_form = {form: word for word, form in fold_words(known).items()}
    for full in _ABBREVIATIONS:
        if by_form.keys() <= set(full.values()):
            by_form |= {short: by_form[form] for short, form in full.items() if form in by_form}
    return lambda word: by_form.get(fold_spelling(word), word)


def find_variants(series: nw.Series[Any]) -> Variants | None:
    """Find the values of a column of categories that have several spellings; None if there are none."""
    if value_kind(series) != "words" or series.n_unique() > MOST_SPELLINGS:
        return None
    found = Counter(to_words(series))
    counts = Counter({word: n for word, n in found.items() if word is not None})
    values: dict[str, list[str]] = defaultdict(list)
    for word, form in fold_words(counts).items():
        values[form].append(word)
    several = [sorted(some, key=lambda w: (-counts[w], w)) for some in values.values() if len(some) > 1]
    if not several:
        return None
    several.sort(key=lambda some: (-sum(counts[word] for word in some), some))
    return Variants({_choose_spelling(some, counts): some for some in several}, dict(counts))


def merge_variants(series: nw.Series[Any], variants: Variants) -> nw.Series[Any]:
    """Replace each spelling of a value by the one that stands for it."""
    import narwhals as nw

    by = variants.replacements
    words = [None if word is None else by.get(word, word) for word in to_words(series)]
    return nw.new_series(series.name, words, nw.String, backend=series.implementation)


def propose_merging(name: str, variants: Variants) -> str:
    """Say that a column has variants, and how they become one value."""
    value, spellings = next(iter(variants.spellings.items()))
    others = len(variants.spellings) - 1
    more = f", and {count_noun(others, 'other value')} in several ways" if others else ""
    return (
        f"Column '{name}' has {len(spellings)} spellings of {shorten(value)!r} ({_quote(spellings)}){more}."
        " Add --merge-variants to treat them as one (in Python, merge_variants=True)."
    )


def describe_merging(name: str, variants: Variants) -> str:
    """Say which spellings of a column were merged, and in how many cells."""
    n_changed = sum(variants.counts[one] for one in variants.replacements)
    merged = [
        f"{_quote(other for other in some if other != value)} as {shorten(value)!r}"
        for value, some in variants.spellings.items()
    ]
    return (
        f"Column '{name}': {count_noun(n_changed, 'cell')} spelled otherwise count as one value each:"
        f" {join_names(merged, 5)}."
    )


def _choose_spelling(some: list[str], counts: Counter[str]) -> str:
    """The most frequent spelling, once surplus spaces are left out; a whole word before its abbreviation."""
    tidy: Counter[str] = Counter()
    for word in some:
        tidy[" ".join(word.split())] += counts[word]
    longest = max(map(len, tidy)) if len({fold_spelling(word) for word in tidy}) > 1 else 0
    return min((word for word in tidy if len(word) >= longest), key=lambda word: (-tidy[word], word))


def _quote(words: Iterable[str]) -> str:
    return join_names((repr(shorten(word)) for word in words), 5)
