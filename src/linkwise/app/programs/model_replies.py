"""Read what a language model wrote: an answer with its probability, or piles of cards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from linkwise.app.programs.model_prompts import (
    ANSWER_WORDS,
    BAD_ANSWER,
    BAD_PILES,
    NO_JSON,
    describe_card_faults,
)
from linkwise.app.programs.pile_replies import Piles, list_faults
from linkwise.session.team.leases import Screen

THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
MOST_OBJECTS = 200  # that are tried in one reply
ANSWERS = {word: answer for answer, word in ANSWER_WORDS.items()} | {"yes": "yes", "no": "no"}


class ModelReplyError(ValueError):
    """A reply that is no answer; the message tells the model what is wrong."""


def read_answer(text: str) -> tuple[object, str]:
    """Return the answer, or the probability that the items belong together, and the reason.

    A probability that is none, or that is below 0.5, is left out.
    """
    fields = _find_object(text, "answer")
    given = fields["answer"]
    answer = ANSWERS.get(given.strip().lower()) if isinstance(given, str) else None
    if answer is None:
        raise ModelReplyError(BAD_ANSWER)
    sure = _read_probability(fields.get("probability"))
    if answer == "unsure" or sure is None:
        return answer, _read_reason(fields)
    return (sure if answer == "yes" else 1 - sure), _read_reason(fields)


def read_piles(text: str, shown: Screen) -> tuple[Piles, str]:
    """Return the piles and the reason; each card must have one place."""
    piles, reason = _parse_piles(text, shown)
    if fault := describe_card_faults(list_faults(piles, shown)):
        raise ModelReplyError(fault)
    return piles, reason


def mend_piles(text: str, shown: Screen) -> tuple[Piles, str]:
    """Return the piles of a reply with faults: cards without one place are unsure, if they are at most half.

    Unknown cards are left out. The cards beside a known card that stands in two piles are unsure, too: which
    of them belong to it is open.
    """
    piles, reason = _parse_piles(text, shown)
    faults = list_faults(piles, shown)
    n_known = len(shown.rows) - len(shown.cards)
    twice, unknown = {*faults["there twice"]}, {*faults["unknown"]}
    is_clear = [not any(item in twice and item <= n_known for item in pile) for pile in piles.piles]
    placed = [
        [item for item in pile if item not in twice | unknown]
        for pile, clear in zip(piles.piles, is_clear, strict=True)
        if clear
    ]
    named = {item for pile in placed for item in pile}
    unsure = [item for item in range(n_known + 1, len(shown.rows) + 1) if item not in named]
    is_about_piles = not shown.cards and any(faults.values())
    if is_about_piles or len({*unsure} - {*piles.unsure}) > len(shown.cards) / 2:
        raise ModelReplyError(describe_card_faults(faults))
    return Piles([pile for pile in placed if pile], unsure), reason


def _parse_piles(text: str, shown: Screen) -> tuple[Piles, str]:
    """Read the piles; a known pile cannot be unsure."""
    fields = _find_object(text, "piles")
    piles, unsure = fields["piles"], fields.get("unsure") or []
    if not isinstance(piles, list) or not all(isinstance(one, list) for one in (*piles, unsure)):
        raise ModelReplyError(BAD_PILES)
    n_known = len(shown.rows) - len(shown.cards)
    doubted = [card for card in _read_cards(unsure) if not 1 <= card <= n_known]
    return Piles([_read_cards(pile) for pile in piles], doubted), _read_reason(fields)


def _read_cards(cards: list[Any]) -> list[int]:
    found = [int(card) if isinstance(card, str) and card.strip().isdecimal() else card for card in cards]
    if not all(type(card) is int for card in found):
        raise ModelReplyError(BAD_PILES)
    return list(dict.fromkeys(found))


def _find_object(text: str, field: str) -> dict[str, Any]:
    """The last JSON object in a text that has a field; models may write words or a fence around it."""
    objects = [found for found in _read_objects(THOUGHTS.sub("", text)) if field in found]
    if not objects:
        raise ModelReplyError(NO_JSON)
    return objects[-1]


def _read_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, those inside others left out."""
    decoder, start = json.JSONDecoder(), 0
    for _ in range(MOST_OBJECTS):
        start = text.find("{", start)
        if start < 0:
            return
        with suppress(ValueError, RecursionError):
            found, end = decoder.raw_decode(text, start)
            yield found
            start = end
            continue
        start += 1


def _read_probability(value: object) -> float | None:
    """The probability that an answer is right; None if it is no number from 0.5 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    with suppress(ValueError, OverflowError):
        share = float(value)
        return share if 0.5 <= share <= 1 else None
    return None


def _read_reason(fields: dict[str, Any]) -> str:
    reason = fields.get("reason")
    return reason if isinstance(reason, str) else ""
