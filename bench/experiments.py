"""Read ``experiments.toml``, the registry of experiments.

An experiment is a module of ``bench/`` that runs with ``python -m``, and an entry of the registry, which
``python -m bench`` and the report read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.methods import CLUSTERERS

FILE = Path(__file__).parent / "experiments.toml"


class Shown(NamedTuple):
    """A table (.csv) or a picture (.png) that the report shows."""

    file: str
    """Where it is in the folder of results."""
    caption: str
    x: str = ""
    """Column over which `lines` are drawn, both on scales of powers of ten."""
    lines: tuple[str, ...] = ()
    by: str = ""
    """A column each of whose values has lines of its own."""
    ranks: bool = False
    """Whether columns hold mean ranks, which are drawn on an axis."""


class Experiment(NamedTuple):
    """One measurement, or several that share their runs."""

    name: str
    title: str
    topic: str
    """The paper whose figures are compared, or a subject."""
    about: str
    """What is measured, in a sentence or two."""
    module: str
    """The module that runs it."""
    uses: tuple[str, ...]
    """Where it enters linkwise: public names or modules. In the file ``@clusterers`` means all clusterers.
    Results are current until something behind these names changes."""
    command: str = ""
    """The sub-command of a module that runs several experiments."""
    options: tuple[str, ...] = ()
    """Options of the whole experiment."""
    quick: tuple[str, ...] | None = None
    """Options of its quick form; None where there is no such form."""
    in_quick_report: bool = True
    """Whether the quick form takes minutes at most, and belongs to the quick report."""
    data: bool = True
    """Whether it reads a folder of data sets."""
    derived: bool = False
    """Whether it only reads the results of others; it runs again for every report."""
    shows: tuple[Shown, ...] = ()
    """What the report shows of it."""


def read_experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in order."""
    with FILE.open("rb") as file:
        entries = tomllib.load(file)["experiment"]
    return {entry["name"]: _read_entry(entry) for entry in entries}


def select_experiments(names: Iterable[str]) -> list[Experiment]:
    """Return the experiments of some names, or stop with the list of those that there are."""
    known, names = read_experiments(), list(names)
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"There is no experiment {', '.join(unknown)}. Choose from {', '.join(known)}.")
    return [known[name] for name in names]


def _read_entry(entry: dict[str, Any]) -> Experiment:
    lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list) and key != "shows"}
    lists["uses"] = tuple(used for name in entry["uses"] for used in _public_names(name))
    shows = tuple(_read_shown(shown) for shown in entry.get("shows", ()))
    return Experiment(**{**entry, **lists, "shows": shows})


def _public_names(name: str) -> tuple[str, ...]:
    """The names that one name of a file stands for."""
    return tuple(method.class_name for method in CLUSTERERS.values()) if name == "@clusterers" else (name,)


def _read_shown(entry: dict[str, Any]) -> Shown:
    return Shown(**{**entry, "lines": tuple(entry.get("lines", ()))})
