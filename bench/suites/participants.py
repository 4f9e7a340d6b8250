"""The methods that take part in an experiment: those of linkwise by name, and other programs by an adapter.

An adapter is a function of a few lines in a file or a module of its own, named as ``peers.py:kmeans``. For
random constraints it gets ``(X, constraints, n_clusters, seed)``, for questions ``(X, oracle, budget,
n_clusters, seed, askable)``; it returns one label for each row or, for questions, the labels after each
question as well::

    def kmeans(X, constraints, n_clusters, seed):
        return KMeans(n_clusters, random_state=seed).fit_predict(X)
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.suites.code_keys import Program, read_program
from bench.suites.tasks import LabelledTask
from linkwise import methods
from linkwise.constraints.constraints import Constraints
from linkwise.errors import DataError
from linkwise.learn.learner import Oracle

Labels = NDArray[Any]
LABELLED = re.compile(r"([^=(:]*[^=(:\s])\s*=\s*(.+)", re.DOTALL)  # "Mine=peers.py:kmeans", not "COBRA(n=25)"


class Participant(NamedTuple):
    """A method that takes part.

    Attributes
    ----------
    name : str
    cluster : callable
        ``cluster(task, constraints, seed)`` returns labels.
    ask : callable
        ``ask(task, oracle, budget, seed, askable)`` returns the labels after each question, the last ones
        last.
    uses : tuple of str
        Where it enters linkwise.
    version : str
        Key of an adapter's files, since `uses` does not cover them.
    """

    name: str
    cluster: Callable[[LabelledTask, Constraints, int], Labels]
    ask: Callable[[LabelledTask, Oracle, int, int, NDArray[np.int64]], Sequence[Labels]]
    uses: tuple[str, ...]
    version: str = ""


def split_label(name: str) -> tuple[str, str]:
    """Split ``LABEL=NAME`` into what tables and figures call a method, and the name of the method.

    Parameters
    ----------
    name : str
        A name as for `find_participant`, with or without a label before it.

    Returns
    -------
    tuple of two str
        Label and name; without a label both are the name.
    """
    found = LABELLED.fullmatch(name)
    return (found[1].strip(), found[2]) if found else (name, name)


@cache
def find_participant(name: str) -> Participant:
    """Find a method by its name.

    Parameters
    ----------
    name : str
        A class of linkwise with its parameters, if any (``KIN``, ``COBRA(25)``, ``COBRAS.paper()``), a name
        of the command line (``pckmeans``), or an adapter (``peers.py:kmeans``, ``package.module:kmeans``).

    Returns
    -------
    Participant

    Raises
    ------
    DataError
        There is no such method.
    """
    if ":" in name:
        return _find_adapter(name)
    class_name, _, written = name.partition("(")
    class_name, _, preset = class_name.partition(".")
    entries = [m for m in methods.METHODS if class_name in (m.class_name, m.name) and m.kind != "search"]
    if not entries:
        known = sorted({method.class_name for method in methods.METHODS if method.kind != "search"})
        raise DataError(
            f"There is no method {name!r}. Pass one of {', '.join(known)}, or an adapter as FILE.py:FUNCTION."
        )
    built = entries[0].load()
    parameters = _read_parameters(name, written)
    make = getattr(built, preset, None) if preset else built
    if make is None:
        raise DataError(f"{built.__name__} has no preset {preset!r}.")
    return _of_class(name, built, make, parameters)


def _read_parameters(name: str, written: str) -> tuple[list[Any], dict[str, Any]]:
    """Read the parameters in ``COBRA(25, seed=1)``: literals alone, nothing is evaluated."""
    import ast

    if not written:
        return [], {}
    try:
        call = ast.parse(f"f({written}", mode="eval").body
        assert isinstance(call, ast.Call)
        given = [ast.literal_eval(value) for value in call.args]
        return given, {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except (SyntaxError, ValueError, AssertionError) as error:
        raise DataError(f"The parameters of {name!r} cannot be read. Write them as COBRA(25).") from error


# ---------------------------------------------------------------- methods of linkwise
def _of_class(
    name: str, built: Any, make: Callable[..., Any], parameters: tuple[list[Any], dict[str, Any]]
) -> Participant:
    known = dict(inspect.signature(make).parameters)
    if any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()
    ):  # a preset passes them on
        known |= inspect.signature(built).parameters
    given, named = parameters

    def build(task: LabelledTask, seed: int) -> Any:
        offered: dict[str, Any] = {"n_clusters": task.n_clusters, "random_state": seed}
        if task.kernel != "linear":  # the default of all methods that can take it
            offered["kernel"] = task.kernel
        told = {key: value for key, value in offered.items() if key in known} | named
        for key, _ in zip(known, given, strict=False):  # what is given by position
            told.pop(key, None)
        try:
            return make(*given, **told)
        except TypeError as error:
            raise DataError(f"{name} does not have these parameters. {error}.") from error

    def cluster(task: LabelledTask, constraints: Constraints, seed: int) -> Labels:
        with warnings.catch_warnings(action="ignore"):
            return np.asarray(build(task, seed).fit(task.X, constraints=constraints).labels_)

    def ask(
        task: LabelledTask, oracle: Oracle, budget: int, seed: int, askable: NDArray[np.int64]
    ) -> Sequence[Labels]:
        model = build(task, seed)
        if not hasattr(model, "ask"):
            raise DataError(f"{name} asks no questions. Choose a learner.")
        with warnings.catch_warnings(action="ignore"):
            model.fit(task.X, oracle=oracle, budget=budget, askable=askable)
        return list(model.history_) or [model.labels_]

    return Participant(name, cluster, ask, (built.__name__, "Constraints", "TruthOracle"))


# ---------------------------------------------------------------- adapters
def _find_adapter(name: str) -> Participant:
    place, _, function_name = name.rpartition(":")
    module, file, folders = _load_module(place)
    function = getattr(module, function_name, None)
    if not callable(function):
        raise DataError(f"{place} has no function {function_name!r}.")

    def cluster(task: LabelledTask, constraints: Constraints, seed: int) -> Labels:
        _check_takes(name, function, ("X", "constraints", "n_clusters", "seed"))
        # a copy, since the next method gets the same rows
        found: ArrayLike = function(task.X.copy(), constraints, task.n_clusters, seed)
        return _check_labels(name, found, task, (1,))

    def ask(
        task: LabelledTask, oracle: Oracle, budget: int, seed: int, askable: NDArray[np.int64]
    ) -> Sequence[Labels]:
        _check_takes(name, function, ("X", "oracle", "budget", "n_clusters", "seed", "askable"))
        found: ArrayLike = function(task.X.copy(), oracle, budget, task.n_clusters, seed, askable.copy())
        return list(np.atleast_2d(_check_labels(name, found, task, (1, 2))))

    program = read_program(file, folders) if file.suffix == ".py" else Program("", ())
    return Participant(name, cluster, ask, ("Constraints", "TruthOracle", *program.entries), program.key)


def _check_takes(name: str, function: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    """Check that a function takes some arguments by position."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        kind = "questions" if "oracle" in arguments else "constraints"
        raise DataError(
            f"{name} cannot be called. For {kind} write a function of ({', '.join(arguments)})."
        ) from error
    except ValueError:  # a compiled function without a signature
        return


def _check_labels(name: str, found: ArrayLike, task: LabelledTask, dimensions: tuple[int, ...]) -> Labels:
    """One label for each row, in one clustering or several."""
    labels = np.asarray(found)
    if labels.ndim not in dimensions or labels.shape[-1] != len(task.y):
        raise DataError(
            f"{name} returned an array of shape {labels.shape}. Return one label for each of the"
            f" {len(task.y)} rows."
        )
    return labels


def _load_module(place: str) -> tuple[ModuleType, Path, list[Path]]:
    """Return a module or the module in a file, its file, and the folders of what it may import."""
    if not place.endswith(".py"):
        try:
            module = import_module(place)
        except ImportError as error:
            raise DataError(f"The module {place} cannot be imported: {error}.") from error
        file = Path(module.__file__ or "").resolve()
        above = place.count(".") + (file.name == "__init__.py")
        return module, file, [Path.cwd(), *file.parents[above : above + 1]]
    file = Path(place)
    if not file.is_file():
        raise DataError(f"There is no file {place}.")
    folder = file.resolve().parent
    if os.fspath(folder) not in sys.path:  # it may import what is beside it, as a script
        sys.path.append(os.fspath(folder))
    spec = importlib.util.spec_from_file_location(f"linkwise program {place}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up; no import has such a name
    spec.loader.exec_module(module)
    return module, file, [Path.cwd(), folder]
