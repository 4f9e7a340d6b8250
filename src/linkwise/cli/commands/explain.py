"""``linkwise explain``: the clusters of a session, or of a file of labels, in rules; and why two rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from linkwise import datasets
from linkwise.asking.learner import Progress
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.files import read_labels
from linkwise.data import Encoded, Feature, Items, Rows, encode
from linkwise.datasets import scale_to_unit
from linkwise.reasons.explanation import Explanation, explain
from linkwise.reasons.sentences import cluster_lines, headline, shares_by_column, what_counts
from linkwise.reasons.telling_words import telling_words
from linkwise.reasons.why import Why, why
from linkwise.session.session import Session
from linkwise.terminal import screen
from linkwise.terminal.progress import busy
from linkwise.terminal.protocol import emit
from linkwise.wording import strip_controls
from linkwise.workspace.exit_codes import UsageError, say
from linkwise.workspace.origin import origin_of
from linkwise.workspace.output import check_apart, check_free
from linkwise.workspace.project import data_path, find_session, is_session
from linkwise.workspace.reading import Reading, option_name, read_pairs_file, read_rows, resolve_name, row_ids

FORMS: dict[str, Callable[[Explanation], str]] = {
    "tree": Explanation.to_text,
    "mermaid": Explanation.to_mermaid,
    "dot": Explanation.to_dot,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be told, and where it goes."""

    rows: tuple[str, str] | None = None
    form: str = "rules"
    max_leaves: int | None = None
    fidelity: float | None = None
    plot: Path | None = None
    force: bool = False
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A clustering with what it can be explained by.

    Attributes
    ----------
    labels : sequence
        Of every row.
    columns : Encoded or None
        In the user's units; None where rows are no records.
    items : Items or None
        What the rows are; None where they are records.
    constraints : Constraints
    ids : list of str
    why : callable
        ``why(first, second, explanation)``.
    shares : dict of str to float
        How much each column counts in a distance that was learned; empty where none was.
    counts : str
        The same in words.
    notes : tuple of str
    files : tuple of (Path or None, str)
        What must not be written over, and what it is called.
    """

    labels: Any
    columns: Encoded | None
    items: Items | None
    constraints: Constraints
    ids: list[str]
    why: Callable[[int, int, Explanation | None], Why]
    shares: dict[str, float] = field(default_factory=dict)
    counts: str = ""
    notes: tuple[str, ...] = ()
    files: tuple[tuple[Path | None, str], ...] = field(default=())


def explained(
    path: Path, reading: Reading, wanted: Wanted, *, labels: Path | None, constraints: Path | None
) -> None:
    """Explain the clusters of a session, or those of the file `labels`."""
    if wanted.rows is not None and wanted.form != "rules":
        raise UsageError(f"--rows says why in words; leave --format {wanted.form} out")
    path = resolve_name(path)
    check_free([wanted.plot], force=wanted.force)
    _check_plot(wanted.plot)
    with busy(f"reading {path.name}") as progress:
        if labels is None:
            subject = of_session(path, reading, constraints, progress)
        else:
            subject = of_labels(path, reading, labels, constraints, progress)
    check_apart([wanted.plot], subject.files)
    pair = None if wanted.rows is None else _positions(wanted.rows, subject.ids)
    found = _rules(subject, wanted)
    for note in subject.notes:
        say(note)
    if found is None:
        _without_columns(subject, wanted, pair)
    elif pair is not None:
        _tell_why(subject, found, pair, as_json=wanted.as_json)
    elif wanted.as_json:
        emit(type="explanation", **found.to_dict(), columns=subject.shares)
    elif wanted.form in FORMS:
        print(FORMS[wanted.form](found))
    else:
        _print_rules(found, subject.counts)
    if wanted.plot is not None and found is not None:
        _plot(found, wanted.plot)


def _rules(subject: Subject, wanted: Wanted) -> Explanation | None:
    """The clusters in rules; None where there are no columns to make them of."""
    if subject.columns is None:
        return None
    return explain(
        subject.labels,
        subject.columns,
        max_leaves=wanted.max_leaves,
        fidelity=wanted.fidelity,
        constraints=subject.constraints if subject.constraints.n_constraints else None,
    )


# ---------------------------------------------------------------- what is explained
def of_session(
    path: Path, reading: Reading, constraints: Path | None, progress: Progress | None = None
) -> Subject:
    """The clusters of a session as of its last answer."""
    for name in reading.given():
        raise UsageError(
            "a session knows how its data are read; "
            f"leave {option_name(name)} out, or describe its clusters by "
            "other columns: linkwise export SESSION --labels L.csv, then linkwise explain DATA --labels L.csv"
        )
    if constraints is not None:
        raise UsageError("a session has its own answers; --constraints goes with --labels")
    found = find_session(path, or_else="explain other clusters of it by --labels CLUSTERS.csv")
    with Session.open(found) as kept:
        source = origin_of(kept, found)
    data, columns, encoded, items, ids = _data_of(found, source, progress)
    session = Session.open(found, encoded.X, ids=ids)
    with session:
        # all that is needed later, since the file is let go
        labels, held, names = session.labels, session.constraints, session.ids
        evidence, stand_ins, shares = session.evidence, session.stand_ins, session.column_shares
    return Subject(
        labels,
        columns,
        items,
        held,
        names,
        lambda i, j, rules: why(labels, i, j, constraints=evidence, stand_ins=stand_ins, explanation=rules),
        {} if shares is None else shares_by_column(shares, encoded.features),
        "" if shares is None else what_counts(shares, encoded.features),
        files=((found, "the session itself"), (data, "its data")),
    )


def _data_of(
    path: Path, source: dict[str, Any], progress: Progress | None
) -> tuple[Path | None, Encoded | None, Encoded, Items | None, list[str] | None]:
    """The data of a session: file, columns in their own units, the same as clustered, items, ids."""
    if "demo" in source:
        bundled = datasets.load(source["demo"])
        features = tuple(Feature(name, name, None, "numeric") for name in bundled.names)
        units, scaled = (Encoded(X, features, ()) for X in (bundled.X, scale_to_unit(bundled.X)))
        return None, units, scaled, None, None
    data = data_path(path, source)
    if data is None or "choices" not in source:
        what = source.get("file", "data that are in no file")
        raise FileNotFoundError(
            f"{path} was made for {what}, which cannot be read here; explain the clusters of a file by "
            "linkwise explain DATA --labels CLUSTERS.csv, or in Python by linkwise.explain(labels, X)"
        )
    rows = read_rows(data, source, progress=progress)
    columns, items = _columns_or_items(rows, source["impute"])
    return data, columns, rows.encoded, items, row_ids(rows.table)


def _columns_or_items(rows: Rows, impute: Any) -> tuple[Encoded | None, Items | None]:
    """Of records the columns in their own units; what other rows are."""
    if rows.items.kind != "record":
        return None, rows.items
    return encode(rows.table, scale="none", impute=impute, categories="codes"), None


def of_labels(
    path: Path, reading: Reading, labels: Path, constraints: Path | None, progress: Progress | None = None
) -> Subject:
    """The clusters that a file ``id,cluster`` gives to the rows of a data file."""
    if is_session(path):
        raise UsageError(
            f"{path} is a session, which has clusters of its own; with --labels name the data file"
        )
    source = reading.source(path)
    rows = read_rows(path, source, progress=progress)
    table = rows.table
    columns, items = _columns_or_items(rows, source["impute"])
    filled = [note for note in (columns or rows.encoded).notes if note.startswith("Missing")]
    ids = row_ids(table)
    names = ids or list(map(str, range(len(table))))
    of_rows = read_labels(labels, names)
    held = Constraints(len(table)) if constraints is None else read_pairs_file(constraints, ids, len(table))
    return Subject(
        of_rows,
        columns,
        items,
        held,
        names,
        lambda i, j, rules: why(of_rows, i, j, constraints=held, explanation=rules),
        notes=(*table.notes, *filled),
        files=((path, "the data"), (labels, "the file of clusters"), (constraints, "the file of pairs")),
    )


def _positions(rows: tuple[str, str], ids: Sequence[str]) -> tuple[int, int]:
    position = {name: row for row, name in enumerate(ids)}
    for name in rows:
        if name not in position:
            raise UsageError(
                f"--rows {name}: there is no such row; rows are called {ids[0]!r}, {ids[-1]!r}, …"
            )
    if rows[0] == rows[1]:
        raise UsageError(f"--rows {rows[0]} {rows[1]} is one row; give two")
    return position[rows[0]], position[rows[1]]


# ---------------------------------------------------------------- told
def _without_columns(subject: Subject, wanted: Wanted, pair: tuple[int, int] | None) -> None:
    """Clusters of texts by their words; of others only why two rows."""
    items = subject.items
    assert items is not None
    of_rules = {
        "--format": wanted.form != "rules",
        "--max-leaves": wanted.max_leaves is not None,
        "--fidelity": wanted.fidelity is not None,
        "--plot": wanted.plot is not None,
    }
    for name, given in of_rules.items():
        if given:
            raise UsageError(
                f"{name} is about rules on columns, which {NAMES[items.kind]} have not; leave it out"
            )
    if pair is not None:
        _tell_why(subject, None, pair, as_json=wanted.as_json)
        return
    if items.kind != "text":
        raise UsageError(
            f"rules are made of columns, which {NAMES[items.kind]} have not; say why of two rows: --rows A "
            "B, or describe the clusters by a table about the same rows: linkwise export SESSION --labels "
            "L.csv, then linkwise explain TABLE --labels L.csv"
        )
    clusters = telling_words(subject.labels, [str(items.content(row)) for row in range(len(subject.ids))])
    if wanted.as_json:
        emit(
            type="words",
            clusters=[
                {"cluster": c.cluster, "rows": c.n_rows, "words": [w._asdict() for w in c.words]}
                for c in clusters
            ],
        )
        return
    console = Console()
    console.print("The words that tell each cluster from the others:", style="bold", highlight=False)
    for cluster in clusters:
        console.print()
        console.print(screen.draw_rules(cluster.lines(), width=console.width), highlight=False)


NAMES = {"text": "texts", "image": "images", "series": "curves"}


def _print_rules(found: Explanation, counts: str) -> None:
    console = Console()
    console.print(headline(found), style="bold", highlight=False, markup=False)
    if counts:
        console.print(strip_controls(counts), highlight=False, markup=False)
    for cluster in found.clusters:
        console.print()
        console.print(screen.draw_rules(cluster_lines(cluster), width=console.width), highlight=False)


def _tell_why(subject: Subject, found: Explanation | None, pair: tuple[int, int], *, as_json: bool) -> None:
    reason = subject.why(*pair, found)
    call = subject.ids.__getitem__
    if not as_json:
        console = Console()
        for sentence in reason.sentences(call):
            console.print(strip_controls(sentence), markup=False, highlight=False)
        return
    emit(
        type="why",
        ids=[call(row) for row in pair],
        together=reason.together,
        by=reason.by,
        answers=[
            {"ids": [call(fact.first), call(fact.second)], "answer": fact.answer} for fact in reason.facts
        ],
        against=[
            {"ids": [call(fact.first), call(fact.second)], "answer": fact.answer} for fact in reason.against
        ],
        parts=[{"stands_for_it": call(lead), "rows": size} for lead, size in reason.parts],
        clusters=list(reason.clusters),
        rules=[str(rule) for rule in reason.rules],
        fidelity=reason.fidelity if reason.rules else None,
        words=reason.sentences(call),
    )


def _check_plot(target: Path | None) -> None:
    if target is None:
        return
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise UsageError('--plot needs matplotlib: pip install "linkwise[plot]"') from None
    known = FigureCanvasBase.get_supported_filetypes()
    if target.suffix[1:].lower() not in known:
        endings = ", ".join(f".{ending}" for ending in sorted(known))
        raise UsageError(f"--plot {target} ends in no kind of picture; give one of {endings}")


def _plot(found: Explanation, target: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    figure = found.plot().figure
    assert isinstance(figure, Figure)
    figure.savefig(target)
    say(f"tree drawn to {target}")
