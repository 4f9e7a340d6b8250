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

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from linkwise.errors import DataError
from linkwise.experiments.pair_kinds import Kind
from linkwise.experiments.scores import SCORES
from linkwise.experiments.tasks import TaskSpec, build_specs, read_tasks

FOLDER = Path(__file__).with_name("suites")


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
        (`linkwise.experiments.constraint_sets.draw_both_kinds`).
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
    """Return the files of the suites that come with linkwise, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def read_suite(name: str) -> Suite:
    """Read a suite.

    Parameters
    ----------
    name : str
        Name of a suite of linkwise, or path of a TOML file.

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
        raise DataError(f"There is no suite {name!r}. Give {', '.join(list_suites())}, or a TOML file.")
    try:
        declared = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path.name} is no TOML file: {error}.") from error
    catalogue = read_tasks() | build_specs(declared.get("task", []), path.name)
    own = [task["name"] for task in declared.get("task", [])]
    names = [*declared.get("tasks", []), *own]
    if unknown := [task for task in names if task not in catalogue]:
        raise DataError(f"{path.name} names the unknown task {unknown[0]!r}. Declare it as [[task]].")
    if not names:
        raise DataError(f"{path.name} names no task. Give tasks = [...], or declare one as [[task]].")
    return Suite(
        declared.get("name", path.stem),
        declared.get("about", ""),
        _read_protocol(declared.get("protocol", {}), path.name),
        {task: catalogue[task] for task in names},
        tuple(declared.get("methods", ())),
    )


def _read_protocol(declared: Mapping[str, Any], where: str) -> Protocol:
    known = {field.name for field in fields(Protocol)}
    if unknown := sorted(declared.keys() - known):
        raise DataError(
            f"The protocol of {where} has the unknown field {unknown[0]!r}."
            f" Fields are {', '.join(sorted(known))}."
        )
    for field in ("kind", "numbers"):
        if field not in declared:
            raise DataError(f"The protocol of {where} has no {field}. Give it.")
    lists = {field: tuple(value) for field, value in declared.items() if isinstance(value, list)}
    protocol = Protocol(**{**declared, **lists})
    allowed = {
        "kind": ("questions", "constraints"),
        "unit": ("count", "percent of pairs", "percent of rows"),
        "scored": ("all", "elsewhere"),
        "pairs": get_args(Kind),
        "score": tuple(SCORES),
    }
    for field, values in allowed.items():
        if getattr(protocol, field) not in values:
            raise DataError(
                f"The protocol of {where} has {field} = {getattr(protocol, field)!r}."
                f" Give {', '.join(values)}."
            )
    if not protocol.numbers or list(protocol.numbers) != sorted(set(protocol.numbers)):
        raise DataError(f"The numbers of {where} do not ascend. Give each once, the smallest first.")
    _check_constraints(protocol, where)
    return protocol


def _check_constraints(protocol: Protocol, where: str) -> None:
    """Check the fields about constraints against each other."""
    asked = {field: getattr(protocol, field) for field in ("nested", "cannot_links", "closed")}
    asked |= {"unit": protocol.unit != "count", "starts": protocol.starts > 1}
    if protocol.kind == "questions" and any(asked.values()):
        field = next(field for field, value in asked.items() if value)
        raise DataError(
            f"The protocol of {where} asks questions, and {field} is about constraints. Leave it out."
        )
    if not protocol.cannot_links:
        return
    if len(protocol.cannot_links) != len(protocol.numbers):
        raise DataError(
            f"The protocol of {where} has {len(protocol.numbers)} numbers and {len(protocol.cannot_links)}"
            " cannot_links. Give as many."
        )
    if protocol.pairs != "any" or protocol.nested or protocol.wrong:
        raise DataError(f"The protocol of {where} has cannot_links. Leave out pairs, nested and wrong.")
