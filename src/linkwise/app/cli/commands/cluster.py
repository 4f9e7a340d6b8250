"""``linkwise cluster``: the clustering of a file that fits the pairs that are known, without asking."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from linkwise import methods
from linkwise.app.cli.cluster_reports import (
    name_rows_in_conflict,
    report_clusters,
    report_suspects,
    summarize_clusters,
    summarize_suspects,
)
from linkwise.app.project.column_advice import describe_proposals
from linkwise.app.project.data_source import (
    check_exists,
    read_pairs_of,
    read_rows,
    resolve_name,
    row_ids,
)
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.app.project.group_rows import is_in_files
from linkwise.app.project.method_choice import (
    DEFAULT_CLUSTERER,
    MethodChoice,
    build_clusterer,
    check_clusterer,
    choose_by_table,
)
from linkwise.app.project.options import ESTIMATE, check_reading, write_reading
from linkwise.app.project.output import (
    STDOUT,
    check_apart,
    check_different,
    check_ending,
    check_free,
    join_rows,
    open_output,
    write_joined,
    write_labels,
)
from linkwise.app.project.project import is_session
from linkwise.app.terminal import screen
from linkwise.app.terminal.progress import busy
from linkwise.app.terminal.protocol import emit
from linkwise.constraints.constraints import Constraints
from linkwise.data import Rows, Table
from linkwise.data.joining import ClusterColumns, Joined
from linkwise.data.reading import Reading
from linkwise.errors import DataError, InfeasibleConstraintsError, NothingAskedWarning
from linkwise.learn.base import ActiveLearner
from linkwise.methods import Method
from linkwise.types import Progress
from linkwise.wording import count_noun, quote_command


def cluster(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    *,
    constraints: Path | None = None,
    error_rate: float | str | None = None,
    as_is: bool = False,
    labels: Path | None = None,
    join: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Cluster the rows of `file`, and report what was made.

    Clusters go to the file `labels` and into the table `join`, to stdout without either; words for the person
    go to stderr.
    """
    method = check_clusterer(choice)
    file = resolve_name(file)
    _check_files(file, constraints, {"clusters": labels, "joined table": join}, force=force)
    if error_rate is not None and constraints is None:
        raise UsageError("--error-rate is about the pairs of --constraints. Use both, or neither.")
    with busy(f"reading {file.name}", "clusterings" if method.name == "cobs" else "clustering") as progress:
        rows = _read_rows(method, file, reading, progress, propose=not as_is)
        given, choice = choice, choose_by_table(choice, rows.table)
        method = check_clusterer(choice)
        ids = row_ids(rows.table)
        pairs, said = _read_pairs(constraints, rows.table, error_rate)
        with name_rows_in_conflict(ids):
            model = build_clusterer(choice, len(rows.table), rows.encoded.nominal)
            _fit(model, rows, pairs, progress)
        table = None if join is None else _join(model, file, rows, join)
    is_open = getattr(model, "n_tied_", 0) > 1 or (method.uses_pairs and not len(pairs.must_link))
    is_importable = is_open and not pairs.suspects  # `ask` takes no pairs that contradict each other
    is_proposed = choice != given
    next_step = None
    if is_importable and not as_json:
        next_step = _ask_instead(file, reading, given, constraints, is_proposed=is_proposed)
    title = f"{file.name}: {count_noun(len(rows.table), 'row')}"
    _report(method, title, rows, pairs, model, next_step, said, is_proposed=is_proposed)
    summary = summarize_clusters(method, model, pairs, rows.encoded) if as_json else {}
    if as_json and error_rate is not None:
        summary["suspects"] = summarize_suspects(pairs, ids)
    if join is not None and table is not None:
        write_joined(table, join)
    names = ids or list(map(str, range(len(rows.table))))
    _write(model.labels_.tolist(), summary, names, {"labels": labels, "join": join}, as_json)


def _fit(model: Any, rows: Rows, pairs: Constraints, progress: Progress | None) -> None:
    """Fit a clusterer, or a learner that asks nothing."""
    if not isinstance(model, ActiveLearner):
        model.fit(rows.X, constraints=pairs, progress=progress)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingAskedWarning)  # the report says so
        model.fit(rows, constraints=pairs)


def _join(model: Any, file: Path, rows: Rows, target: Path) -> Joined:
    """Put the clusters beside the columns of the file."""
    columns = ClusterColumns(model.labels_.astype(np.int64), None, None)
    return join_rows(columns, file, rows.table.reading, rows, target)


def _check_files(
    file: Path, constraints: Path | None, targets: Mapping[str, Path | None], *, force: bool
) -> None:
    """Refuse a session in place of data, and an output that would overwrite an input."""
    if is_session(file):
        way_out = quote_command("linkwise", "export", file, "--constraints", "PAIRS.csv")
        raise UsageError(f"{file} is a session. Pass its data file, and take the pairs along with: {way_out}")
    if is_in_files(file):
        what, ask = "folder" if file.is_dir() else "pattern", quote_command("linkwise", "ask", file)
        raise DataError(
            f"{file} is a {what} of tables, and cluster reads one. Pass a file, or answer questions about"
            f" groups of all rows: {ask}"
        )
    check_apart(targets.values(), [(check_exists(file), "the data"), (constraints, "the file of pairs")])
    check_ending(targets["joined table"])
    check_free(targets.values(), force=force)
    check_different(targets)


def _read_rows(
    method: Method, file: Path, reading: Reading, progress: Progress | None, *, propose: bool
) -> Rows:
    """Read the file as the method takes it: a tree needs no scale, and takes a category as one column."""
    if reading.side_file is not None:
        raise UsageError("--show FILE is about what a person sees, and nobody is asked here. Remove it.")
    check_reading(reading, file)
    if not method.with_codes:
        return read_rows(file, reading, progress=progress, propose=propose)
    if file.is_dir() or reading.text is not None or reading.is_of_series:
        raise UsageError(
            f"{method.name} makes rules on columns, which images, texts and curves do not have. "
            "Choose another --method."
        )
    if reading.scale is not None:
        raise UsageError(f"{method.name} counts every column alike, whatever its scale. Remove --scale.")
    return read_rows(file, replace(reading, scale="none"), "codes", propose=propose)


def _read_pairs(
    constraints: Path | None, table: Table, error_rate: float | str | None
) -> tuple[Constraints, tuple[str, ...]]:
    """Read the pairs; of contradictory ones say that those that are probably wrong can be left out."""
    if constraints is None:
        return Constraints(len(table)), ()
    try:
        return read_pairs_of(constraints, table, error_rate)
    except InfeasibleConstraintsError as error:
        if not error.chain or error.chain[0] == error.chain[-1]:
            raise
        raise InfeasibleConstraintsError(
            f"{error} With --error-rate {ESTIMATE} linkwise leaves out pairs that are probably wrong.",
            error.chain,
        ) from None


def _report(
    method: Method,
    title: str,
    rows: Rows,
    pairs: Constraints,
    model: Any,
    next_step: str | None,
    said: Sequence[str],
    *,
    is_proposed: bool,
) -> None:
    """Print what was read, what the clusters are, and the command that goes on, if there is one."""
    console = Console(stderr=True)
    title = f"{title}, {count_noun(pairs.n_constraints, 'pair')}"
    proposals = rows.table.proposals
    decided = [describe_proposals(proposals)] if proposals else []
    if is_proposed:
        decided.append(
            f"The method is {method.name}, which finds many small groups."
            f" --method {DEFAULT_CLUSTERER} finds a few large clusters instead."
        )
    notes = (*rows.table.notes, *rows.encoded.notes, *decided, *said)
    console.print(screen.draw_opening(title, notes), highlight=False)
    for part in report_suspects(pairs, row_ids(rows.table)):
        console.print(part, highlight=False)
    for part in report_clusters(method, model, pairs, rows.encoded, width=console.width):
        console.print(part, highlight=False)
    if next_step is not None:
        steps = screen.list_next_steps([("answer questions", next_step)])
        console.print(*steps, soft_wrap=True, highlight=False)


def _ask_instead(
    file: Path, reading: Reading, choice: MethodChoice, pairs: Path | None, *, is_proposed: bool
) -> str:
    """The command that asks about the pairs that would decide, by the same method."""
    offered = methods.options_of(methods.CLUSTERERS)
    chosen: list[object] = [
        word
        for name, value in choice.parameters.items()
        if value != offered[name].default
        for word in (offered[name].flag, value.absolute() if isinstance(value, Path) else value)
    ]
    seed = ("--seed", choice.seed) if choice.seed else ()
    method = () if is_proposed else ("--method", choice.name or DEFAULT_CLUSTERER)
    known = () if pairs is None else ("--constraints", pairs)
    return quote_command("linkwise", "ask", file, *write_reading(reading), *method, *chosen, *seed, *known)


def _write(
    labels: list[int],
    told: dict[str, Any],
    ids: Sequence[str],
    targets: Mapping[str, Path | None],
    as_json: bool,
) -> None:
    """Write the labels to their file, or to stdout if there is no file at all, and say where things are."""
    target = targets["labels"]
    is_for_stdout = target == STDOUT or not any(targets.values())
    if target not in (None, STDOUT):
        with open_output(target) as file:
            write_labels(ids, labels, file)
    if as_json:
        if is_for_stdout:
            for name, label in zip(ids, labels, strict=True):
                emit(type="row", id=name, cluster=label)
        paths = {name: str(path) for name, path in targets.items() if path is not None}
        emit(type="summary", **told, **({"labels": None} | paths))
    elif is_for_stdout:
        with open_output(STDOUT) as file:
            write_labels(ids, labels, file)
    for name, path in {"clusters": target, "joined table": targets["join"]}.items():
        if path not in (None, STDOUT) and not as_json:
            say(f"{name} written to {path}")
