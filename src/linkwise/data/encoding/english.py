"""Whether texts are clearly English, and the words of English that say nothing of what a text is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_SHARE = 0.08  # of all words: 0.1 to 0.3 in English texts, about 0 in those of other languages

# scikit-learn lists these, too, although bills and systems are what texts are about
WITH_MEANING = (
    "amount back bill bottom call cry describe detail empty fill find fire found front full interest keep"
    " last mill mine move name part serious show side sincere system thick thin top"
)
# what somebody asks for: a question word, a refusal or a wish tells one request from another
OF_REQUESTS = (
    "again already before after can cannot cant could couldnt don how i me my never no none not nothing our"
    " please should since still until us we what when where whether which who whose why without would yet you"
    " your"
)
# stop words that are words of other European languages, too, many of them frequent
OF_OTHER_LANGUAGES = (
    "all also am an are as at be but by co con de do due eg etc even for go had has have he her hers ie "
    "in inc is ltd may me more most must my no not of off on once one or our ours over per put re see so "
    "ten then to un under up us via was we were will"
)


@cache
def _read_stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) - set(f"{WITH_MEANING} {OF_REQUESTS}".split())


def list_stop_words(words: Sequence[str] | NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the stop words among some words in lower case."""
    stop_words = _read_stop_words()
    return np.array([word in stop_words for word in words], dtype=bool)


def is_english(words: Sequence[str] | NDArray[Any], counts: Any) -> bool:
    """Whether texts are clearly English: many of their words are stop words that other languages lack.

    `counts`, of shape (n_texts, n_words), tells how often each text has each word.
    """
    telling = _read_stop_words() - set(OF_OTHER_LANGUAGES.split())
    are_telling = np.array([word in telling for word in words], dtype=bool)
    times = np.asarray(counts.sum(axis=0)).ravel()
    return bool(times[are_telling].sum() >= LEAST_SHARE * times.sum())
