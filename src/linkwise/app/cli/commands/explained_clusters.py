"""What ``linkwise explain`` explains: the clusters of a session, or those of a file of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from linkwise.app.project.data_source import (
    columns_of_rules,
    describe_source,
    read_pairs_of,
    read_shown_rows,
    row_ids,
)
from linkwise.app.project.embeddings import SeenRows, find_seen_rows
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.group_rows import read_session_rows
from linkwise.app.project.options import flag_of
from linkwise.app.project.origin import origin_of
from linkwise.app.project.project import data_path, find_session, is_session
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.files import read_labels
from linkwise.data import Encoded, Items, Rows, Table
from linkwise.data.cells import MISSING
from linkwise.data.demo_sets import load_demo
from linkwise.data.reading import Reading
from linkwise.learn.pair_explanation import DoubtfulDecision, PairExplanation, describe_effects
from linkwise.reasons.explanation import Explanation
from linkwise.reasons.sentences import describe_shares, shares_by_column
from linkwise.reasons.why import Why, why
from linkwise.session.session import Session
from linkwise.types import Progress
from linkwise.wording import quote_command

MOST_IN_TITLE = 2  # columns


def _untitled(_row: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class ExplainedClusters:
    """A clustering with what it can be explained by.

    `columns` are in the user's units, for the rules; None if the rows are not records. `items` are None
    if they are. `seen` are the columns or texts that people see; None if they see what is `compared`.
    `shares` tell how much each column counts in a distance that was learned, and `counts` says it in
    words. `effects` tell how much each column counts for a match of two records, and `pair` what speaks for
    that of one pair. `doubts` are the least certain decisions. `cells` are those of each column, of records
    of the same things; ``title(row)`` says beside the id what a row is. `files` must not be overwritten, and
    have names for messages.
    """

    labels: Any
    columns: Encoded | None
    compared: Encoded
    items: Items | None
    seen: SeenRows | None
    constraints: Constraints
    ids: list[str]
    why: Callable[[int, int, Explanation | None], Why]
    shares: dict[str, float] = field(default_factory=dict)
    counts: str = ""
    effects: dict[str, float] = field(default_factory=dict)
    pair: PairExplanation | None = None
    doubts: Sequence[DoubtfulDecision] = ()
    cells: dict[str, list[str]] | None = None
    title: Callable[[int], str] = _untitled
    notes: tuple[str, ...] = ()
    files: tuple[tuple[Path | None, str], ...] = field(default=())


def load_session_clusters(
    path: Path,
    session_file: Path | None,
    reading: Reading,
    constraints: Path | None,
    progress: Progress | None = None,
    find_pair: Callable[[Sequence[str]], tuple[int, int]] | None = None,
) -> ExplainedClusters:
    """The clusters of a session as of its last answer, and what speaks for a match of one pair."""
    found = find_session(path, session_file, or_else="explain other clusters of it by --labels CLUSTERS.csv")
    for name in reading.settings():
        export = quote_command("linkwise", "export", path, "--labels")
        raise UsageError(
            f"{path.name} is explained by its session {found.name}, which stores how the data are read. "
            f"Remove {flag_of(name)}, or describe the clusters by other columns: {export} L.csv, then "
            "linkwise explain DATA --labels L.csv"
        )
    if constraints is not None:
        raise UsageError(
            f"{path.name} is explained by its session {found.name}, which has its own answers. Remove "
            "--constraints, or add --labels CLUSTERS.csv."
        )
    with Session.open(found) as kept:
        source = origin_of(kept, found)
    data = data_path(found, source) if session_file is None else path
    read = _read_session_data(found, source, data, progress)
    encoded = read.compared
    session = Session.open(found, read.rows or encoded.X, ids=read.ids)
    with session:
        # all that is needed later, since the file is let go
        labels, held, names = session.labels, session.constraints, session.ids
        evidence, representatives, shares = session.evidence, session.representatives, session.column_shares
        effects, doubts = session.column_effects, session.list_doubts()
        pair = None if find_pair is None else session.explain_pair(*find_pair(names))
    cells = read.cells
    if effects is not None and read.rows is not None:
        cells = _list_cells(read.rows.table)
    counts = "" if shares is None else describe_shares(shares, encoded.features)
    return ExplainedClusters(
        labels,
        read.columns,
        encoded,
        read.items,
        read.seen,
        held,
        names,
        lambda i, j, rules: why(
            labels, i, j, constraints=evidence, representatives=representatives, explanation=rules
        ),
        {} if shares is None else shares_by_column(shares, encoded.features),
        describe_effects(effects) if effects is not None else counts,
        effects={} if effects is None else effects,
        pair=pair,
        doubts=doubts or [],
        cells=cells,
        title=read.title,
        files=((found, "the session itself"), (data, "its data")),
    )


class ReadRows(NamedTuple):
    """The rows as they are compared, and what describes them."""

    compared: Encoded
    columns: Encoded | None
    items: Items | None
    seen: SeenRows | None
    ids: list[str] | None
    cells: dict[str, list[str]] | None = None
    title: Callable[[int], str] = _untitled
    rows: Rows | None = None


def _read_session_data(
    path: Path, source: dict[str, Any], data: Path | None, progress: Progress | None
) -> ReadRows:
    """The rows of a session, which are in the file `data` unless they are bundled."""
    if "demo" in source:
        bundled = load_demo(source["demo"])
        items = None if bundled.units else bundled.items
        return ReadRows(bundled.rows, bundled.units, items, None, None)
    if data is None or "choices" not in source:
        what = source.get("file", "data that are in no file")
        raise FileNotFoundError(
            f"{path} was made for {what}, which cannot be read here. Explain the clusters of a file by "
            "linkwise explain DATA --labels CLUSTERS.csv, or in Python by linkwise.explain(labels, X)"
        )
    rows = read_session_rows(data, source, path, progress)
    return _describe_rows(rows, data, "begin a session with")


def _describe_rows(rows: Rows, data: Path, way: str) -> ReadRows:
    """The columns in their own units; where there are none, what the rows are."""
    columns = columns_of_rules(rows)
    items = rows.items if columns is None else None
    table, seen = rows.table, find_seen_rows(rows, data.name, way)
    cells = _list_cells(rows.table) if table.reading.text_by == "letters" and rows.side is None else None
    return ReadRows(rows.encoded, columns, items, seen, row_ids(table), cells, _make_title(rows), rows)


def _list_cells(table: Table) -> dict[str, list[str]]:
    """The cells of each column as a person reads them; empty where there is none."""
    rows = [table.item(row) for row in range(len(table))]
    names = [name for name in table.frame.columns if name in rows[0]]
    return {name: ["" if row[name] == MISSING else row[name] for row in rows] for name in names}


def _make_title(rows: Rows) -> Callable[[int], str]:
    """What says beside the id what a row is: the columns that are shown of it."""
    if rows.side is not None:
        cells = rows.side.cells
        return lambda row: ", ".join(cells(row).values())
    names, table = rows.table.shown[:MOST_IN_TITLE], rows.table
    return lambda row: ", ".join(table.item(row, names).values()) if names else ""


def load_labelled_clusters(
    path: Path,
    reading: Reading,
    labels: Path,
    constraints: Path | None,
    progress: Progress | None = None,
    *,
    as_is: bool = False,
) -> ExplainedClusters:
    """The clusters that a file ``id,cluster`` gives to the rows of a data file."""
    if is_session(path):
        raise UsageError(
            f"{path} is a session, which has clusters of its own. With --labels, name the data file."
        )
    source = describe_source(reading, path)
    rows = read_shown_rows(path, source, Path(), progress, propose=not as_is)
    table = rows.table
    read = _describe_rows(rows, path, "add")
    filled = [note for note in (read.columns or rows.encoded).notes if note.startswith("Missing")]
    ids = row_ids(table)
    names = ids or list(map(str, range(len(table))))
    of_rows = read_labels(labels, names)
    clustering = SimpleNamespace(labels_=of_rows, leaves_noise=True)  # -1 as `linkwise cluster` writes it
    joined = () if rows.side is None else rows.side.notes
    held, said = Constraints(len(table)), tuple[str, ...]()
    if constraints is not None:
        held, said = read_pairs_of(constraints, table)
    return ExplainedClusters(
        of_rows,
        read.columns,
        rows.encoded,
        read.items,
        read.seen,
        held,
        names,
        lambda i, j, rules: why(clustering, i, j, constraints=held, explanation=rules),
        cells=read.cells,
        title=read.title,
        notes=(*table.notes, *joined, *filled, *said),
        files=((path, "the data"), (labels, "the file of clusters"), (constraints, "the file of pairs")),
    )
