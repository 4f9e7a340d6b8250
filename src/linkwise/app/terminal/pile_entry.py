"""What a person types about a screen: cards have numbers, and the piles that are there have letters."""

from __future__ import annotations

import re
from typing import NamedTuple

from linkwise.wording import join_names

PART = re.compile(r"(\?)?(?:(\d{1,4})(?:-(\d{1,4}))?|([a-z]{1,2}))")
HOW = "Type piles such as a 1 3 / b 2 / 4-5 / ?6"


class PileEntryError(ValueError):
    """A line that is no complete answer; the message says what to type."""


class PileEntry(NamedTuple):
    """The names of cards and known piles in each pile, and those of unsure cards."""

    piles: list[list[str]]
    unsure: list[str]


def list_letters(n: int) -> list[str]:
    """The names of n known piles: a, b, ..., z, aa, ab, ..."""
    return [(chr(96 + at // 26) if at >= 26 else "") + chr(97 + at % 26) for at in range(n)]


def parse_piles(text: str, n_known: int, n_cards: int) -> PileEntry:
    """Read a line such as ``a 1 3 / b 2 / 4-5 / ?6``; with ``*`` at its end each other card is alone.

    Raises
    ------
    PileEntryError
        A card is missing, there twice or unknown, or a word is no card.
    """
    line = text.strip().lower()
    is_rest_alone, line = line.endswith("*"), line.removesuffix("*")
    letters, numbers = list_letters(n_known), [str(n) for n in range(1, n_cards + 1)]
    piles: list[list[str]] = []
    unsure: list[str] = []
    used: list[str] = []
    for part in line.split("/"):
        pile: list[str] = []
        for word in part.replace(",", " ").split():
            is_unsure, names = _read_word(word)
            strangers = [name for name in names if name not in letters and name not in numbers]
            if strangers:
                raise PileEntryError(f"There is no card {strangers[0]}. {_list_cards(letters, numbers)}")
            twice = next((name for name in names if name in used), None)
            if twice is not None:
                raise PileEntryError(f"Card {twice} is there twice. Put it into one pile.")
            used += names
            (unsure if is_unsure else pile).extend(names)
        if pile:
            piles.append(pile)
    left = [name for name in numbers if name not in used]
    if left and not is_rest_alone:
        last = f"Add ?{left[0]} if you are not sure, or end the line with * if each is alone."
        cards = f"does card {left[0]}" if len(left) == 1 else f"do cards {join_names(left, 5)}"
        raise PileEntryError(f"Where {cards} go? {last}")
    if any(name in letters for name in unsure):
        raise PileEntryError(f"A pile that is there cannot be unsure. {HOW}.")
    return PileEntry([*piles, *([name] for name in left)], unsure)


def _read_word(word: str) -> tuple[bool, list[str]]:
    """Whether a word is about unsure cards, and their names: one, or those from one to another."""
    found = PART.fullmatch(word)
    if found is None:
        raise PileEntryError(f"{word!r} is neither a card nor a pile. {HOW}.")
    doubt, first, last, letter = found.groups()
    if letter is not None:
        return doubt is not None, [letter]
    names = [str(n) for n in range(int(first), int(last or first) + 1)]
    if not names:
        raise PileEntryError(f"{word!r} has no cards. Type the lower number first.")
    return doubt is not None, names


def _list_cards(letters: list[str], numbers: list[str]) -> str:
    parts = [f"The cards are 1 to {numbers[-1]}"] if numbers else []
    parts += [f"the piles {letters[0]} to {letters[-1]}"] if letters else []
    words = ", and ".join(parts)
    return f"{words[:1].upper()}{words[1:]}."
