"""Parts of messages, each in one place: answers, numbers with nouns, short lists, commands to type.

The sentences that the terminal and the page share are here, too; the page's modules repeat them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from math import ceil

ANSWER_WORDS = {"yes": "Same", "no": "Different", "unsure": "Not sure"}  # as the buttons of the page say
QUESTION = "Do these two belong together?"
NO_MORE_QUESTIONS = "There are no more questions"
EXHAUSTED = "No further answer would change the clusters."
EXHAUSTED_BUT_UNSURE = "Only pairs answered as not sure could still change the clusters."
BUDGET_SPENT = "The question limit is reached"
NOTHING_TO_UNDO = "There is nothing to undo."
STALE_ANSWER = "The question has changed, perhaps in another window."
LATER = "Later: the question comes back after others, and this is no answer"
POSTPONED = "The question comes back after others."
NO_OTHER_QUESTION = "There is no other question to ask now."
KEYS = {
    "y": "Same: the two rows belong together",
    "n": "Different: they do not",
    "s": "Not sure: nothing follows, and the pair is not asked again",
    "u": "Undo the last answer, as often as you like",
}
JOINERS = "\u200c\u200d"  # not printable by themselves, but parts of words and of emoji


def answer_word(answer: object) -> str:
    """Put an answer into the word that the page and the terminal show: ``yes`` is ``Same``."""
    return ANSWER_WORDS.get(str(answer), str(answer))


def count_noun(number: int, noun: str) -> str:
    """``1 answer``, ``2 answers``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def round_number(number: float, *, up: bool = False) -> int:
    """Round to a whole number, of two digits from 100 on: 3423.4 is 3400, or 3500 rounded up."""
    whole = ceil(round(number, 6)) if up else round(number)  # a share of the rows times the rows is inexact
    unit: int = 10 ** max(0, len(str(whole)) - 2)
    return (-(-whole // unit) if up else round(whole / unit)) * unit


def join_names(names: Iterable[object], most: int = 8) -> str:
    """Join names by commas; after `most` of them only count the rest."""
    texts = [shorten(str(name), 200) for name in names]
    rest = len(texts) - most
    return ", ".join(texts) if rest <= 0 else f"{', '.join(texts[:most])} and {rest} more"


def shorten(text: str, most: int = 60) -> str:
    """Cut a text that is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def strip_controls(text: str) -> str:
    """Join a text to one line without control characters: data must not steer the terminal."""
    spaced = " ".join(text.split())
    return "".join(c if c.isprintable() or c in JOINERS else "·" for c in spaced)


def strip_full_stop(sentence: object) -> str:
    """Remove the full stop of a sentence that another sentence quotes after a colon."""
    return str(sentence).removesuffix(".")


def merge_full_stops(text: str) -> str:
    """Leave one full stop where a sentence ends in a name that ends in one, such as ``Acme Inc.``."""
    return _DOUBLED.sub(r"\1", text)


_DOUBLED = re.compile(r"(?<!\.)(\.|\.{3}|[?!])\.(?=\s|$)")


def quote_command(*words: object) -> str:
    """Quote a command so that it can be typed into a shell."""
    return shlex.join(str(word) for word in words)
