"""Encode texts as points, by latent semantic analysis.

The method is that of Deerwester, Dumais, Furnas, Landauer and Harshman (1990).

Words are counted and weighted by 1 + log of the count, times the log of their rarity. Each text is scaled to
unit length, so that long and short texts can be compared. The strongest directions of that matrix are the
topics. A text becomes its coordinates on them, again of unit length, so that distances follow angles.

Words that are in more than half of the texts are left out. Where texts are clearly English, its stop words
are left out, too, which raises the mean ARI after 50 answers of KIN from 0.28 to 0.32 on twelve sets.

There are 20 topics, not the 100 that are usual for search. After 50 answers of COBRAS, the mean ARI with the
classes of five sets of news and TREC texts is 0.61 with 10 topics, 0.59 with 20, 0.58 with 50 and 0.54 with
100. With 20 there is room for more groups than the 3 to 9 of those sets.

Short texts such as names and addresses can be compared by groups of two and three letters within words
instead. Texts with an error of typing are then alike, although they share few words. Such texts have up to
100 directions, for they tell hundreds of people apart rather than a few topics. Of more than 5000 texts a
sample decides the directions, which is an approximation.

Short texts share few words even where they are about the same. `meaning.py` compares them by meaning.

In records an empty cell is unknown, so two of them are neither alike nor different. Each has a place of its
own, drawn by its row, half as far from another (squared) as texts that share nothing. At one place they would
be alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.data.encoding.encoded import DIGITS, Encoded, Feature
from linkwise.data.encoding.english import is_english, list_stop_words
from linkwise.data.encoding.meaning import MOST_WORDS, WIDTH, encode_meaning, hash_weights, uses_meaning
from linkwise.data.reading import Unit
from linkwise.errors import DataError
from linkwise.parallel import one_blas_thread
from linkwise.wording import count_noun, join_names

MOST_TOPICS = 20
MOST_OF_LETTERS = 100
MOST_LEARNED = 5_000  # texts, compared by letters, that decide the directions
LEAST_TEXTS = 2  # that a word must be in: a word of one text alone says nothing of its likeness to others
LARGEST_SHARE = 0.5  # of the texts that a word may be in
_DENSE = 200  # texts or words up to which all directions are computed, exactly
_NOTHING = 1e-9
_UNKNOWN = 0.5  # squared length of the place of an empty cell: two are then at a squared distance of 1


def encode_texts(
    texts: Sequence[str | None],
    source: str = "text",
    unit: Unit = "words",
    ids: Sequence[str] | None = None,
) -> Encoded:
    """Encode texts as points of unit length.

    Parameters
    ----------
    texts : sequence of str or None
        The text of each row; None is an empty text.
    source : str, default="text"
        The name of their column.
    unit : {"words", "letters", "meaning", "words,meaning"}, default="words"
        What texts are compared by: their words, groups of two and three letters within words, their meaning,
        or words and meaning with the same influence.
    ids : sequence of str, optional
        The id of each row, which draws the place of an empty cell among letters. By default its position.

    Returns
    -------
    Encoded
        One column for each topic, at most 20, or 100 of letters, and 512 of meaning. A text without any of
        the compared words is the origin. One without any of the compared letters has a place of its own.

    Raises
    ------
    DataError
        The texts hold no words, or all hold the same words.
    ImportError
        Texts are compared by meaning, and the encoder is not installed (the extra `meaning`).
    """
    encoded = learn_texts(texts, source, unit)[0]
    if unit == "letters":
        spread_unknown(encoded.X, source, list(map(str, range(len(texts)))) if ids is None else ids)
    return encoded


def spread_unknown(X: NDArray[np.float64], source: str, ids: Sequence[str]) -> None:
    """Move each row at the origin, in place, to a corner of a cube that its id and its column draw."""
    n_topics = X.shape[1]
    for row in np.flatnonzero(~X.any(axis=1)).tolist():
        digest = blake2b(f"{source}\0{ids[row]}".encode(), digest_size=32).digest()
        signs = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[:n_topics] * 2.0 - 1.0
        X[row] = signs * np.sqrt(_UNKNOWN / n_topics)


class TextSpace(NamedTuple):
    """The directions by which texts are compared, learned once and applied to any number of texts.

    `words`, or groups of letters, are compared, each with the weight of its `rarity`; there are none for
    meaning alone. `directions` is of shape (n_words, n_topics). `weights` is the SHA-256 of the weights
    of the encoder; empty if texts are not compared by meaning.
    """

    unit: Unit
    words: tuple[str, ...]
    rarity: NDArray[np.float64]
    directions: NDArray[np.float64]
    weights: str = ""

    @property
    def width(self) -> int:
        """How many numbers a text becomes."""
        return int(self.directions.shape[1]) + WIDTH * uses_meaning(self.unit)

    def place(self, texts: Sequence[str | None]) -> NDArray[Any]:
        """Place texts by their words or meaning; a text without any of the words is the origin."""
        parts: list[NDArray[Any]] = [] if self.unit == "meaning" else [self._place_words(texts)]
        if uses_meaning(self.unit):
            if hash_weights() != self.weights:
                raise DataError(
                    "The texts of these groups were compared with other weights than those of the encoder"
                    " that is installed. Install its version from before, or begin another session: --session"
                    " NEW"
                )
            parts.append(encode_meaning(texts))
        return np.hstack(parts)

    def _place_words(self, texts: Sequence[str | None]) -> NDArray[np.float64]:
        from sklearn.preprocessing import normalize

        counter = _make_counter("letters" if self.unit == "letters" else "words", self.words)
        counts = counter.transform(text or "" for text in texts)
        counts.data = np.log(counts.data) + 1.0
        weights = normalize(counts.multiply(self.rarity).tocsr())
        with one_blas_thread():
            return _to_unit_length(np.asarray(weights @ self.directions))


def learn_texts(
    texts: Sequence[str | None], source: str = "text", unit: Unit = "words"
) -> tuple[Encoded, TextSpace]:
    """Encode texts, and return the directions that place other texts among them; see `encode_texts`."""
    if unit == "meaning":
        return _learn_meaning(texts, source)
    if unit in ("words", "letters"):
        return _learn_words(texts, source, unit)
    (words, space), (meaning, of_meaning) = (
        _learn_words(texts, source, "words"),
        _learn_meaning(texts, source),
    )
    parts, features = [], []
    for part in (words, meaning):  # of the same mean squared distance between two rows
        factor = float(1 / np.sqrt(part.X.var(axis=0, dtype=np.float64).sum()))
        parts.append(part.X * factor)
        features += [replace(one, scale=one.scale / factor) for one in part.features]
    note = f"Words and meaning have the same influence on the texts of '{source}'."
    X: Any = np.hstack(parts, dtype=np.float32, casting="same_kind")
    encoded = Encoded(X, tuple(features), (*words.notes, meaning.notes[0], note))
    return encoded, space._replace(unit=unit, weights=of_meaning.weights)


def _learn_meaning(texts: Sequence[str | None], source: str) -> tuple[Encoded, TextSpace]:
    """Encode texts by their meaning, which needs no other texts."""
    X: Any = encode_meaning(texts)  # float32, half as large
    if np.ptp(X, axis=0).max() < _NOTHING:
        raise DataError(
            f"The texts of '{source}' are all the same, so nothing tells them apart. Use another column."
        )
    features = tuple(Feature(f"meaning {k}", source, None, "document") for k in range(1, WIDTH + 1))
    note = f"The texts of '{source}' are compared by their meaning, of up to {MOST_WORDS} words each."
    empty = _note_empty_texts(np.flatnonzero(~X.any(axis=1)), "meaning")
    space = TextSpace("meaning", (), np.empty(0), np.empty((0, 0)), hash_weights())
    return Encoded(X, features, (note, *empty)), space


def _learn_words(
    texts: Sequence[str | None], source: str, unit: Literal["words", "letters"]
) -> tuple[Encoded, TextSpace]:
    """Encode texts by their words, or by groups of letters."""
    words, counts = word_counts(texts, source) if unit == "words" else _count_letters(texts, source)
    without = unit == "words" and is_english(words, counts)
    kept, chosen = _select_words(counts, list_stop_words(words) if without else None)
    weights, rarity = _weigh_counts(counts[:, kept])
    with one_blas_thread():  # sums are then the same for any number of threads
        if unit == "letters" and len(texts) > MOST_LEARNED:
            places, directions, share = _find_topics_of_sample(weights, MOST_OF_LETTERS)
        else:
            most = MOST_TOPICS if unit == "words" else MOST_OF_LETTERS
            places, directions, share = _find_topics(weights, most)
    empty = np.flatnonzero(np.linalg.norm(places, axis=1) < _NOTHING)
    X = _to_unit_length(places)
    if np.ptp(X, axis=0).max() < _NOTHING:
        raise DataError(
            f"The texts of '{source}' hold the same {unit}, so nothing tells them apart. Use another column."
        )
    called = "topic" if unit == "words" else "letters"
    features = [Feature(f"{called} {k}", source, None, "document") for k in range(1, X.shape[1] + 1)]
    compared, into = ("word", "topic") if unit == "words" else ("letter group", "direction")
    note = f"The texts of '{source}' are compared by {count_noun(int(kept.sum()), compared)} ({chosen})"
    note += f": {count_noun(X.shape[1], into)} hold{'s' * (X.shape[1] == 1)} {share:.0%} of what differs."
    encoded = Encoded(X, tuple(features), (note, *_note_empty_texts(empty, unit)))
    return encoded, TextSpace(unit, tuple(words[kept].tolist()), rarity, directions)


def _to_unit_length(places: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(places, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(
        places, length, out=np.zeros_like(places), where=length >= _NOTHING
    )
    return np.round(scaled, DIGITS, out=scaled)


def _make_counter(unit: Unit, words: Sequence[str] | None = None) -> Any:
    """A counter of words, or of the groups of two and three letters within words, in lower case."""
    from sklearn.feature_extraction.text import CountVectorizer

    how = {} if unit == "words" else {"analyzer": "char_wb", "ngram_range": (2, 3)}
    return CountVectorizer(vocabulary=words, dtype=np.float64, **how)


def word_counts(texts: Sequence[str | None], source: str = "text") -> tuple[NDArray[Any], Any]:
    """Return the words of texts in alphabetical order, and how often each text has each: (n_texts, n_words).

    A word is two or more letters, digits or underscores in a row, in lower case.
    """
    counter = _make_counter("words")
    try:
        counts = counter.fit_transform(text or "" for text in texts)
    except ValueError:  # there is no other
        raise DataError(
            f"The texts of '{source}' hold no words (two or more letters in a row). Use another column."
        ) from None
    return counter.get_feature_names_out(), counts


def _count_letters(texts: Sequence[str | None], source: str) -> tuple[NDArray[Any], Any]:
    """Count the groups of two and three letters within the words of each text, in lower case."""
    counter = _make_counter("letters")
    try:
        counts = counter.fit_transform(text or "" for text in texts)
    except ValueError:  # there is no other
        raise DataError(f"The texts of '{source}' are empty. Use another column.") from None
    return counter.get_feature_names_out(), counts


def _select_words(counts: Any, stop_words: NDArray[np.bool_] | None = None) -> tuple[NDArray[np.bool_], str]:
    """Select the words that can tell texts apart, or all words if too few texts leave none."""
    n_texts = counts.shape[0]
    in_texts = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = (in_texts >= LEAST_TEXTS) & (in_texts <= LARGEST_SHARE * n_texts)
    if stop_words is not None and (kept & ~stop_words).any():
        return kept & ~stop_words, (
            "those in at least 2 texts and in at most half of all, without English stop words such as 'the'"
        )
    if not kept.any():
        return np.ones(counts.shape[1], dtype=bool), "all there are"
    return kept, "those in at least 2 texts and in at most half of all"


def _weigh_counts(counts: Any) -> tuple[Any, NDArray[np.float64]]:
    """Counts as weights, 1 + log of the count, times the rarity, rows of unit length; and the rarity."""
    from sklearn.feature_extraction.text import TfidfTransformer

    weigher = TfidfTransformer(sublinear_tf=True)
    return weigher.fit_transform(counts), weigher.idf_


def _find_topics(weights: Any, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Compute coordinates on the strongest directions, these, and their share of the variance."""
    from scipy.sparse.linalg import svds

    most = min(most, *weights.shape)
    if min(weights.shape) <= _DENSE:
        left, strength, right = np.linalg.svd(weights.toarray(), full_matrices=False)
    else:
        # to machine precision, unlike randomised methods: another version of a library finds the same topics
        start = np.random.default_rng(0).standard_normal(min(weights.shape))
        left, strength, right = svds(weights, k=most, v0=start)
    order = [k for k in np.argsort(-strength)[:most] if strength[k] > _NOTHING]
    # a direction and its contrary are one: the word that counts most is on the positive side
    sign = [np.sign(right[k, np.abs(right[k]).argmax()]) for k in order]
    places = np.ascontiguousarray(left[:, order]) * (strength[order] * sign)
    total = weights.multiply(weights).mean() * weights.shape[1] - np.square(weights.mean(axis=0)).sum()
    share = places.var(axis=0).sum() / total if total > _NOTHING else 0.0
    return places, np.ascontiguousarray((right[order] * np.array(sign)[:, None]).T), float(min(share, 1.0))


def _find_topics_of_sample(weights: Any, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The same, with directions that only a sample of the rows decides: an approximation for many rows."""
    chosen = np.sort(np.random.default_rng(0).permutation(weights.shape[0])[:MOST_LEARNED])
    _, directions, share = _find_topics(weights[chosen], most)
    return np.asarray(weights @ directions), directions, share


def _note_empty_texts(rows: NDArray[np.intp], unit: Unit) -> list[str]:
    if len(rows) == 0:
        return []
    one = len(rows) == 1
    lacks = f"{'is' if one else 'are'} empty"
    if unit != "meaning":
        lacks = f"hold{'s' * one} none of these {unit}"
    return [
        f"{count_noun(len(rows), 'text')} {lacks}: {'row' if one else 'rows'}"
        f" {join_names(rows.tolist(), 5)}, counted from 0. Such texts count as"
        f" {'unknown, neither alike nor different' if unit == 'letters' else 'alike'}."
    ]
