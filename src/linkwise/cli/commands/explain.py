"""``linkwise explain``: the clusters of a session, or of a file of labels, in rules; and why two rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from linkwise.asking.learner import Progress
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.files import read_labels
from linkwise.data import Encoded, Items, Rows
from linkwise.data.demo_sets import load_demo
from linkwise.reasons.explanation import Explanation, explain
from linkwise.reasons.sentences import describe_cluster, describe_shares, headline, shares_by_column
from linkwise.reasons.telling_words import telling_words
from linkwise.reasons.why import Why, why
from linkwise.session.session import Session
from linkwise.terminal import screen
from linkwise.terminal.progress import busy
from linkwise.terminal.protocol import emit
from linkwise.wording import strip_controls
from linkwise.workspace.exit_codes import UsageError, say
from linkwise.workspace.item_rows import read_session_rows
from linkwise.workspace.options import ExplainOptions, Reading, flag_of
from linkwise.workspace.origin import origin_of
from linkwise.workspace.output import check_apart, check_free
from linkwise.workspace.project import data_path, find_session, is_session
from linkwise.workspace.reading import (
    columns_of_rules,
    read_pairs_file,
    read_shown_rows,
    resolve_name,
    row_ids,
)

FORMS: dict[str, Callable[[Explanation], str]] = {
    "tree": Explanation.to_text,
    "mermaid": Explanation.to_mermaid,
    "dot": Explanation.to_dot,
}


@dataclass(frozen=True, slots=True)
class ExplainedClusters:
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


def explain_clusters(
    path: Path, reading: Reading, request: ExplainOptions, *, labels: Path | None, constraints: Path | None
) -> None:
    """Explain the clusters of a session, or those of the file `labels`."""
    if request.rows is not None and request.form != "rules":
        raise UsageError(f"--rows explains in words. Leave --format {request.form} out.")
    path = resolve_name(path)
    check_free([request.plot], force=request.force)
    _check_plot(request.plot)
    with busy(f"reading {path.name}") as progress:
        if labels is None:
            subject = load_session_clusters(path, reading, constraints, progress)
        else:
            subject = load_labelled_clusters(path, reading, labels, constraints, progress)
    check_apart([request.plot], subject.files)
    pair = None if request.rows is None else _find_rows(request.rows, subject.ids)
    found = _make_rules(subject, request)
    for note in subject.notes:
        say(note)
    if found is None:
        _explain_without_columns(subject, request, pair)
    elif pair is not None:
        _print_why(subject, found, pair, as_json=request.as_json)
    elif request.as_json:
        emit(type="explanation", **found.to_dict(), columns=subject.shares)
    elif request.form in FORMS:
        print(FORMS[request.form](found))
    else:
        _print_rules(found, subject.counts)
    if request.plot is not None and found is not None:
        _save_plot(found, request.plot)


def _make_rules(subject: ExplainedClusters, request: ExplainOptions) -> Explanation | None:
    """The clusters in rules; None where there are no columns to make them of."""
    if subject.columns is None:
        return None
    return explain(
        subject.labels,
        subject.columns,
        max_leaves=request.max_leaves,
        fidelity=request.fidelity,
        constraints=subject.constraints if subject.constraints.n_constraints else None,
    )


# ---------------------------------------------------------------- what is explained
def load_session_clusters(
    path: Path, reading: Reading, constraints: Path | None, progress: Progress | None = None
) -> ExplainedClusters:
    """The clusters of a session as of its last answer."""
    for name in reading.settings():
        raise UsageError(
            f"A session stores how its data are read. Leave {flag_of(name)} out, or describe its clusters by "
            "other columns: linkwise export SESSION --labels L.csv, then linkwise explain DATA --labels L.csv"
        )
    if constraints is not None:
        raise UsageError(
            "A session has its own answers. Leave --constraints out, or add --labels CLUSTERS.csv."
        )
    found = find_session(path, or_else="explain other clusters of it by --labels CLUSTERS.csv")
    with Session.open(found) as kept:
        source = origin_of(kept, found)
    data, columns, encoded, items, ids = _read_session_data(found, source, progress)
    session = Session.open(found, encoded.X, ids=ids)
    with session:
        # all that is needed later, since the file is let go
        labels, held, names = session.labels, session.constraints, session.ids
        evidence, representatives, shares = session.evidence, session.representatives, session.column_shares
    return ExplainedClusters(
        labels,
        columns,
        items,
        held,
        names,
        lambda i, j, rules: why(
            labels, i, j, constraints=evidence, representatives=representatives, explanation=rules
        ),
        {} if shares is None else shares_by_column(shares, encoded.features),
        "" if shares is None else describe_shares(shares, encoded.features),
        files=((found, "the session itself"), (data, "its data")),
    )


def _read_session_data(
    path: Path, source: dict[str, Any], progress: Progress | None
) -> tuple[Path | None, Encoded | None, Encoded, Items | None, list[str] | None]:
    """The data of a session: file, columns in their own units, the same as clustered, items, ids."""
    if "demo" in source:
        bundled = load_demo(source["demo"])
        return None, bundled.units, bundled.rows, None if bundled.units else bundled.items, None
    data = data_path(path, source)
    if data is None or "choices" not in source:
        what = source.get("file", "data that are in no file")
        raise FileNotFoundError(
            f"{path} was made for {what}, which cannot be read here. Explain the clusters of a file by "
            "linkwise explain DATA --labels CLUSTERS.csv, or in Python by linkwise.explain(labels, X)"
        )
    rows = read_session_rows(data, source, path, progress)
    columns, items = _columns_or_items(rows, source["impute"])
    return data, columns, rows.encoded, items, row_ids(rows.table)


def _columns_or_items(rows: Rows, impute: Any) -> tuple[Encoded | None, Items | None]:
    """The columns in their own units; where there are none, what the rows are."""
    columns = columns_of_rules(rows, impute)
    return columns, rows.items if columns is None else None


def load_labelled_clusters(
    path: Path, reading: Reading, labels: Path, constraints: Path | None, progress: Progress | None = None
) -> ExplainedClusters:
    """The clusters that a file ``id,cluster`` gives to the rows of a data file."""
    if is_session(path):
        raise UsageError(
            f"{path} is a session, which has clusters of its own. With --labels, name the data file."
        )
    source = reading.source(path)
    rows = read_shown_rows(path, source, Path(), progress)
    table = rows.table
    columns, items = _columns_or_items(rows, source["impute"])
    filled = [note for note in (columns or rows.encoded).notes if note.startswith("Missing")]
    ids = row_ids(table)
    names = ids or list(map(str, range(len(table))))
    of_rows = read_labels(labels, names)
    held = Constraints(len(table)) if constraints is None else read_pairs_file(constraints, ids, len(table))
    return ExplainedClusters(
        of_rows,
        columns,
        items,
        held,
        names,
        lambda i, j, rules: why(of_rows, i, j, constraints=held, explanation=rules),
        notes=(*table.notes, *filled),
        files=((path, "the data"), (labels, "the file of clusters"), (constraints, "the file of pairs")),
    )


def _find_rows(rows: tuple[str, str], ids: Sequence[str]) -> tuple[int, int]:
    position = {name: row for row, name in enumerate(ids)}
    for name in rows:
        if name not in position:
            raise UsageError(
                f"--rows names a row that does not exist: {name}. Rows are called {ids[0]!r}, {ids[-1]!r}, …"
            )
    if rows[0] == rows[1]:
        raise UsageError(f"--rows names one row twice: {rows[0]}. Give two rows.")
    return position[rows[0]], position[rows[1]]


# ---------------------------------------------------------------- told
def _explain_without_columns(
    subject: ExplainedClusters, request: ExplainOptions, pair: tuple[int, int] | None
) -> None:
    """Clusters of texts by their words; of others only why two rows."""
    items = subject.items
    assert items is not None
    of_rules = {
        "--format": request.form != "rules",
        "--max-leaves": request.max_leaves is not None,
        "--fidelity": request.fidelity is not None,
        "--plot": request.plot is not None,
    }
    for name, given in of_rules.items():
        if given:
            raise UsageError(
                f"{name} is about rules on columns, which {NAMES[items.kind]} do not have. Leave {name} out."
            )
    if pair is not None:
        _print_why(subject, None, pair, as_json=request.as_json)
        return
    if items.kind != "text":
        raise UsageError(
            f"Rules are about columns, which {NAMES[items.kind]} do not have. Explain two rows with "
            "--rows A B. Or describe the clusters by a table about the same rows: "
            "linkwise export SESSION --labels L.csv, then linkwise explain TABLE --labels L.csv"
        )
    clusters = telling_words(subject.labels, [str(items.content(row)) for row in range(len(subject.ids))])
    if request.as_json:
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
        console.print(screen.draw_rules(describe_cluster(cluster), width=console.width), highlight=False)


def _print_why(
    subject: ExplainedClusters, found: Explanation | None, pair: tuple[int, int], *, as_json: bool
) -> None:
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
        raise UsageError('--plot needs matplotlib. Install it: pip install "linkwise[plot]"') from None
    known = FigureCanvasBase.get_supported_filetypes()
    if target.suffix[1:].lower() not in known:
        endings = ", ".join(f".{ending}" for ending in sorted(known))
        raise UsageError(f"--plot names no kind of picture: {target}. End it in one of {endings}.")


def _save_plot(found: Explanation, target: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    figure = found.plot().figure
    assert isinstance(figure, Figure)
    figure.savefig(target)
    say(f"tree drawn to {target}")
