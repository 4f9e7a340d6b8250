"""What the report shows: ``sections.toml``, read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "sections.toml"


class Shown(NamedTuple):
    """A table (.csv) or a picture (.png) in the folder of results."""

    file: str
    caption: str
    x: str = ""
    """Column over which `lines` are drawn."""
    lines: tuple[str, ...] = ()
    by: str = ""
    """A column whose values are lines of their own."""
    ranks: bool = False
    """Whether columns hold mean ranks, which are drawn on an axis."""


class Section(NamedTuple):
    """One measurement."""

    name: str
    title: str
    about: str
    module: str
    shows: tuple[Shown, ...]
    options: tuple[str, ...] = ()
    """Of the whole."""
    quick: tuple[str, ...] | None = None
    """Options of what takes minutes at most; None where nothing does."""
    data: bool = True
    """Whether it takes ``--data``."""
    file: str = ""
    """Where ``--out`` is a file, its name; else it is the folder of results."""


def sections() -> tuple[Section, ...]:
    """All sections, in order."""
    with FILE.open("rb") as file:
        return tuple(_section(dict(given)) for given in tomllib.load(file)["section"])


def _section(given: dict[str, object]) -> Section:
    shows = tuple(Shown(**{**one, "lines": tuple(one.get("lines", ()))}) for one in given.pop("shows"))  # type: ignore[attr-defined]
    for name in ("options", "quick"):
        if name in given:
            given[name] = tuple(given[name])  # type: ignore[arg-type]
    return Section(shows=shows, **given)  # type: ignore[arg-type]
