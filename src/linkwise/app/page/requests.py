"""Checks of requests: they come from outside and are never trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from linkwise.constraints.sorting import MOST_SORTED
from linkwise.data.show.column_views import KINDS, USES, Kind, Use
from linkwise.errors import SessionError
from linkwise.session.journal.events import BESIDE, check_note
from linkwise.wording import merge_full_stops

Request = Mapping[str, Any]
Choice = TypeVar("Choice", bound=str)

MOST_ROWS = 50  # items at a time
MOST_EVENTS = 200  # events at a time
MOST_LETTERS = 200  # of a name
JOINERS = {0x200C: None, 0x200D: None}  # spelling in Persian, and of some emoji
PERSONAL = "personal"  # in a state: what each person is shown instead
LONGEST_ID = 64
LONGEST_SCREEN_ID = 2000
LARGEST = 2**53  # integers above are no integers in a browser


class RefusedRequest(Exception):  # becomes a reply
    """A request that cannot be met, with the kind of the error, a text, and further fields of the error."""

    def __init__(self, kind: str, text: str, **more: Any) -> None:
        super().__init__(text)
        self.kind, self.text, self.more = kind, text, more


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request.

    `body` is JSON: ``re`` (the id of the request), ``ok``, and the result or the ``error``. `changed`
    tells whether the request changed the state, and `moves_places` whether the rows have other places in
    the plot.
    """

    body: dict[str, Any]
    file: bytes | None = None
    changed: bool = field(default=False)
    moves_places: bool = field(default=False)


def request_id(request: object) -> str | None:
    """Return the id that a reply repeats; None where there is none that could be one."""
    given = request.get("id") if isinstance(request, dict) else None
    return given if isinstance(given, str) and len(given) <= LONGEST_ID else None


def refuse(request: object, kind: str, text: str, **more: Any) -> Reply:
    """Return the reply to a request that is not met."""
    error = {"kind": kind, "text": merge_full_stops(text), **more}
    return Reply({"re": request_id(request), "ok": False, "error": error})


def read_integer(request: Request, name: str, limit: int = LARGEST) -> int:
    """Return a number from 0 to `limit` - 1."""
    value = request.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass a whole number.")
    if not 0 <= value < limit:
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass a number from 0 to {limit - 1}.")
    return value


def read_choice(request: Request, name: str, allowed: Sequence[Choice]) -> Choice:
    """Return one of the allowed words."""
    value = request.get(name)
    if not isinstance(value, str) or value not in allowed:
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass {', '.join(allowed)}.")
    return allowed[allowed.index(value)]


def read_text(request: Request, name: str, most: int = MOST_LETTERS) -> str:
    """Return a text that is not too long."""
    value = request.get(name)
    if not isinstance(value, str):
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass text.")
    if len(value) > most:
        raise RefusedRequest("bad", f"{name} has {len(value)} letters. Use at most {most}.")
    if not value.translate(JOINERS).isprintable():
        raise RefusedRequest("bad", f"{name} holds letters that cannot be shown. Remove them.")
    return value


def read_names(request: Request, name: str) -> list[str]:
    """Return a list of texts."""
    value = request.get(name)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass a list of names.")
    return list(value)


def read_column_choices(request: Request) -> dict[str, tuple[Use, Kind]]:
    """Return the use and the kind that a person chose for some columns."""
    value = request.get("columns")
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise RefusedRequest("bad", f"columns is {_shown(value)}. Pass a list of columns.")
    choices: dict[str, tuple[Use, Kind]] = {}
    for one in value:
        name = one.get("name")
        if not isinstance(name, str) or name in choices:
            raise RefusedRequest("bad", f"name is {_shown(name)}. Pass each column once, by its name.")
        choices[name] = read_choice(one, "use", USES), read_choice(one, "kind", KINDS)
    return choices


def read_note(request: Request) -> str:
    """Return the note of a request; empty if it has none."""
    try:
        return check_note(request.get("note", ""))
    except (TypeError, SessionError) as error:
        raise RefusedRequest("bad", str(error)) from None


def read_remark(request: Request) -> dict[str, Any]:
    """Return what is stored beside an answer."""
    try:
        return {name: check(request[name]) for name, check in BESIDE.items() if name in request}
    except (TypeError, ValueError, SessionError) as error:
        raise RefusedRequest("bad", str(error)) from None


def read_rows(request: Request, n_rows: int, most: int = MOST_ROWS) -> list[int]:
    """Return some rows of the data."""
    value = request.get("rows")
    if not isinstance(value, list) or not 0 < len(value) <= most:
        raise RefusedRequest("bad", f"rows is {_shown(value)}. Pass a list of 1 to {most} rows.")
    return [read_integer({"rows": row}, "rows", n_rows) for row in value]


def read_flag(request: Request, name: str) -> bool:
    """Return true or false, and false where it is missing."""
    value = request.get(name, False)
    if not isinstance(value, bool):
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass true or false.")
    return value


def read_size(request: Request, sizes: Sequence[int]) -> int:
    """Return one of the allowed numbers of rows of a screen."""
    value = request.get("size")
    if isinstance(value, bool) or not isinstance(value, int) or value not in sizes:
        raise RefusedRequest("bad", f"size is {_shown(value)}. Pass {', '.join(map(str, sizes))}.")
    return value


def read_piles(request: Request, n_rows: int) -> list[list[int]]:
    """Return the rows of each pile."""
    value = request.get("piles")
    if not isinstance(value, list) or not 0 < len(value) <= MOST_SORTED:
        raise RefusedRequest("bad", f"piles is {_shown(value)}. Pass a list of 1 to {MOST_SORTED} piles.")
    return [read_pile({"piles": pile}, "piles", n_rows) for pile in value]


def read_pile(request: Request, name: str, n_rows: int) -> list[int]:
    """Return the rows of one pile, or those that somebody is not sure about."""
    value = request.get(name)
    if not isinstance(value, list) or len(value) > MOST_SORTED:
        raise RefusedRequest("bad", f"{name} is {_shown(value)}. Pass lists of at most {MOST_SORTED} rows.")
    return [read_integer({name: row}, name, n_rows) for row in value]


def _shown(value: object) -> str:
    """Shorten what was given."""
    if value is None:
        return "missing"
    shown = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
