"""Suites: which tasks, which protocol and how often, declared in TOML.

::

    name = "constraints"
    about = "Random constraints between rows out of 70 % of a set; ARI on the rows in no constraint."
    tasks = ["iris", "wine"]  # of the catalogue; further ones as [[task]]

    [protocol]
    kind = "constraints"      # or "questions"
    numbers = [10, 50, 100]   # of constraints, or of questions
    runs = 25
    share = 0.7               # of the rows may be in constraints or questions; or folds = 10
    score = "ari"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Literal

from bench.suites.declarations import build_declared, read_toml
from bench.suites.pair_kinds import Kind
from bench.suites.scores import SCORES
from bench.suites.tasks import TaskSpec, build_specs, read_tasks
from linkwise.errors import DataError

FOLDER = Path(__file__).with_name("declared")


@dataclass(frozen=True)
class Protocol:
    """How a method is run on a task and scored.

    Attributes
    ----------
    kind : {"questions", "constraints"}
        Whether the method asks, or gets random constraints.
    numbers : tuple of int
        Numbers of questions or of constraints after which it is scored, ascending.
    unit : {"count", "percent of pairs", "percent of rows"}
        What `numbers` of constraints are: counts, or percent of all pairs or of the rows that may be drawn.
    cannot_links : tuple of int
        Numbers of cannot-links, one for each of `numbers`, which are those of must-links then
        (`bench.suites.constraint_sets.draw_both_kinds`).
    runs : int
        Repetitions; run r has seed r.
    starts : int
        How often a method clusters with the same constraints; the score is the mean. Start s of run r has
        seed ``r * starts + s``.
    folds : int
        Number of folds of a cross-validation, of which each is left out once and alone is scored; 0 for none.
    share : float
        Without folds: the share of the rows that may be in questions or constraints.
    scored : {"all", "elsewhere"}
        Without folds: whether all rows are scored, or those in no constraint.
    pairs : {"any", "must-link", "cannot-link", "balanced"}
        Which constraints are drawn.
    closed : bool
        Whether what follows from the constraints is added.
    nested : bool
        Whether the constraints of a number contain those of the smaller numbers; by default each number has
        constraints of its own.
    wrong : float
        Share of wrong constraints, or probability that an answer is wrong.
    score : {"ari", "rand", "nmi", "nmi_geometric"}
    """

    kind: Literal["questions", "constraints"]
    numbers: tuple[float, ...]
    unit: Literal["count", "percent of pairs", "percent of rows"] = "count"
    cannot_links: tuple[float, ...] = ()
    runs: int = 10
    starts: int = 1
    folds: int = 0
    share: float = 1.0
    scored: Literal["all", "elsewhere"] = "all"
    pairs: Kind = "any"
    closed: bool = False
    nested: bool = False
    wrong: float = 0.0
    score: str = "ari"


def describe_protocol(protocol: Protocol) -> str:
    """Return what a protocol measures as a text: all fields but `runs` that are not the default."""
    values = ((field.name, getattr(protocol, field.name), field.default) for field in fields(protocol))
    return ", ".join(
        f"{name}={value!r}" for name, value, default in values if name != "runs" and value != default
    )


def shorten_protocol(protocol: Protocol) -> Protocol:
    """Return a protocol for a first look: one run and start, two folds, and the first two numbers."""
    return replace(
        protocol,
        numbers=protocol.numbers[:2],
        cannot_links=protocol.cannot_links[:2],
        runs=1,
        starts=1,
        folds=min(protocol.folds, 2),
    )


@dataclass(frozen=True)
class Suite:
    """Tasks and a protocol.

    Attributes
    ----------
    name, about : str
    protocol : Protocol
    tasks : dict of TaskSpec
        By name.
    methods : tuple of str
        Methods that take part where none are named.
    """

    name: str
    about: str
    protocol: Protocol
    tasks: Mapping[str, TaskSpec]
    methods: tuple[str, ...] = ()


def list_suites() -> dict[str, Path]:
    """Return the files of the declared suites, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def read_suite(name: str) -> Suite:
    """Read a suite.

    Parameters
    ----------
    name : str
        Name of a declared suite, or path of a TOML file.

    Returns
    -------
    Suite

    Raises
    ------
    DataError
        There is no such suite, or its declaration is wrong.
    """
    path = list_suites().get(name, Path(name))
    if not path.is_file():
        raise DataError(f"There is no suite {name!r}. Pass {', '.join(list_suites())}, or a TOML file.")
    declared = build_declared(_Declaration, read_toml(path), path.name)
    catalogue = read_tasks() | build_specs(declared.task, path.name)
    own = [task["name"] for task in declared.task]
    names = [*declared.tasks, *own]
    if unknown := [task for task in names if task not in catalogue]:
        raise DataError(f"{path.name} names the unknown task {unknown[0]!r}. Declare it as [[task]].")
    if not names:
        raise DataError(f"{path.name} names no task. Set tasks = [...], or declare one as [[task]].")
    return Suite(
        declared.name or path.stem,
        declared.about,
        _read_protocol(declared.protocol, path.name),
        {task: catalogue[task] for task in names},
        declared.methods,
    )


@dataclass(frozen=True)
class _Declaration:
    """What a file of a suite may hold."""

    name: str = ""
    about: str = ""
    tasks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    protocol: dict[str, Any] = field(default_factory=dict)
    task: tuple[dict[str, Any], ...] = ()


def _read_protocol(declared: Mapping[str, Any], where: str) -> Protocol:
    protocol = build_declared(Protocol, declared, f"The protocol of {where}")
    if protocol.score not in SCORES:
        raise DataError(f"The protocol of {where} has score = {protocol.score!r}. Set {', '.join(SCORES)}.")
    if not protocol.numbers or list(protocol.numbers) != sorted(set(protocol.numbers)):
        raise DataError(f"The numbers of {where} do not ascend. Set each once, the smallest first.")
    _check_ranges(protocol, where)
    _check_constraints(protocol, where)
    _check_rows(protocol, where)
    return protocol


def _check_ranges(protocol: Protocol, where: str) -> None:
    """Check each number of a protocol alone."""
    least = 1 if protocol.kind == "questions" else 0
    most = inf if protocol.unit == "count" else 100
    ranges = {
        "runs": (1, inf),
        "starts": (1, inf),
        "folds": (0, inf),
        "share": (0, 1),
        "wrong": (0, 1),
        "numbers": (least, most),
        "cannot_links": (0, most),
    }
    for name, (low, high) in ranges.items():
        given = getattr(protocol, name)
        values = given if isinstance(given, tuple) else (given,)
        if outside := [value for value in values if not low <= value <= high]:
            end = "or more" if high == inf else f"to {high}"
            raise DataError(f"The protocol of {where} has {outside[0]} in {name}. Set {low} {end}.")
    if protocol.folds == 1:
        raise DataError(f"The protocol of {where} has folds = 1. Set 2 or more, or 0 for none.")
    counts = (*protocol.numbers, *protocol.cannot_links) if protocol.unit == "count" else ()
    if broken := [number for number in counts if not float(number).is_integer()]:
        raise DataError(
            f"The protocol of {where} has {broken[0]} in numbers. Set whole numbers, or a unit in percent."
        )


def _check_rows(protocol: Protocol, where: str) -> None:
    """Check the fields about which rows are in constraints or questions, and which are scored."""
    if protocol.folds and (protocol.share != 1 or protocol.scored != "all"):
        name = "share" if protocol.share != 1 else "scored"
        raise DataError(f"The protocol of {where} has folds, which replace {name}. Remove one of them.")
    if protocol.kind == "questions" and protocol.scored != "all":
        raise DataError(
            f"The protocol of {where} asks questions, and scored = {protocol.scored!r} is about constraints."
            " Set folds, to score rows that no question shows."
        )


def _check_constraints(protocol: Protocol, where: str) -> None:
    """Check the fields about constraints against each other."""
    asked = {field: getattr(protocol, field) for field in ("nested", "cannot_links", "closed")}
    asked |= {"pairs": protocol.pairs != "any"}
    asked |= {"unit": protocol.unit != "count", "starts": protocol.starts > 1}
    if protocol.kind == "questions" and any(asked.values()):
        field = next(field for field, value in asked.items() if value)
        raise DataError(
            f"The protocol of {where} asks questions, and {field} is about constraints. Remove it."
        )
    if protocol.closed and protocol.wrong:
        raise DataError(f"The protocol of {where} closes wrong constraints. Remove closed or wrong.")
    if not protocol.cannot_links:
        return
    if len(protocol.cannot_links) != len(protocol.numbers):
        raise DataError(
            f"The protocol of {where} has {len(protocol.numbers)} numbers and {len(protocol.cannot_links)}"
            " cannot_links. Set as many."
        )
    if protocol.pairs != "any" or protocol.nested or protocol.wrong:
        raise DataError(f"The protocol of {where} has cannot_links. Remove pairs, nested and wrong.")
