"""``linkwise explain``: the clusters of a session, or of a file of labels, in rules; and why two rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from linkwise.app.cli.commands.explained_clusters import (
    ExplainedClusters,
    load_labelled_clusters,
    load_session_clusters,
)
from linkwise.app.project.data_source import resolve_name
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.app.project.options import ExplainOptions
from linkwise.app.project.output import check_apart, check_free
from linkwise.app.terminal import screen
from linkwise.app.terminal.pair_views import draw_means
from linkwise.app.terminal.progress import busy
from linkwise.app.terminal.protocol import emit
from linkwise.data import Items
from linkwise.data.reading import Reading
from linkwise.learn.pair_explanation import DoubtfulDecision
from linkwise.reasons.duplicates import compare_duplicates
from linkwise.reasons.explanation import MOST_CLUSTERS, Explanation, explain
from linkwise.reasons.near_rows import describe_near_rows
from linkwise.reasons.sentences import format_percent, headline
from linkwise.reasons.shortened import Shortened, shorten_clusters, shorten_rules
from linkwise.reasons.shown_clusters import WORTH, ShownCluster, describe_shown_clusters
from linkwise.reasons.telling_words import telling_words
from linkwise.reasons.why import Why
from linkwise.wording import join_names, strip_controls

FORMS: dict[str, Callable[[Explanation], str]] = {
    "tree": Explanation.to_text,
    "mermaid": Explanation.to_mermaid,
    "dot": Explanation.to_dot,
}
NAMES = {"text": "texts", "image": "images", "series": "curves", "record": "embeddings"}
DOUBTS = "The least certain decisions; linkwise explain PATH --rows A B shows the reasons:"
MOST_DOUBTS = 10
MEAN_WIDTH = 40  # cells of a mean curve
NEARNESS = {"text": "their words", "image": "their pictures", "series": "their curves"}


def explain_clusters(
    path: Path,
    reading: Reading,
    request: ExplainOptions,
    *,
    session_file: Path | None = None,
    labels: Path | None = None,
    constraints: Path | None = None,
    as_is: bool = False,
) -> None:
    """Explain the clusters of a session, or those of the file `labels`."""
    if request.rows is not None and request.form != "rules":
        raise UsageError(f"--rows explains in words. Remove --format {request.form}.")
    if session_file is not None and labels is not None:
        raise UsageError("--session and --labels both name clusters. Use one of them.")
    path = resolve_name(path)
    check_free([request.plot], force=request.force)
    _check_plot(request.plot)
    with busy(f"reading {path.name}") as progress:
        if labels is None:
            find = None if request.rows is None else partial(_find_rows, request.rows)
            subject = load_session_clusters(path, session_file, reading, constraints, progress, find)
        else:
            subject = load_labelled_clusters(path, reading, labels, constraints, progress, as_is=as_is)
    check_apart([request.plot], subject.files)
    pair = None if request.rows is None else _find_rows(request.rows, subject.ids)
    found = _make_rules(subject, request)
    for note in subject.notes:
        say(note)
    if subject.seen is not None:
        say(subject.seen.sentence)
    if pair is None and subject.seen is not None and not _asks_for_rules(request) and not _is_worth(found):
        _print_shown(subject, found, request)
    elif pair is None and subject.cells is not None and not _asks_for_rules(request):
        _print_duplicates(subject, subject.cells, request)
    elif subject.columns is None:
        _explain_without_columns(subject, request, pair)
    elif pair is not None:
        _print_why(subject, found, pair, as_json=request.as_json)
    elif found is not None:
        _print_explanation(subject, found, request)
    if request.plot is not None and found is not None:
        _save_plot(found, request.plot)


def _make_rules(subject: ExplainedClusters, request: ExplainOptions) -> Explanation | None:
    """The clusters in rules; None where there are no columns to make them of, or too many clusters."""
    if subject.columns is None:
        return None
    n_clusters = len(set(subject.labels))
    if n_clusters > MOST_CLUSTERS:
        is_told_otherwise = subject.seen is not None or subject.cells is not None
        if (request.rows is not None or is_told_otherwise) and not _asks_for_rules(request):
            return None
        raise UsageError(
            f"There are {n_clusters} clusters, but rules describe at most {MOST_CLUSTERS}. Explain two rows"
            " with --rows A B, or use fewer clusters with --labels CLUSTERS.csv."
        )
    return explain(
        subject.labels,
        subject.columns,
        max_leaves=request.max_leaves,
        fidelity=request.fidelity,
        constraints=subject.constraints if subject.constraints.n_constraints else None,
    )


def _find_rows(rows: tuple[str, str], ids: Sequence[str]) -> tuple[int, int]:
    position = {name: row for row, name in enumerate(ids)}
    for name in rows:
        if name not in position:
            raise UsageError(
                f"--rows names a row that does not exist: {name}. Use two rows, such as {ids[0]!r} and"
                f" {ids[-1]!r}."
            )
    if rows[0] == rows[1]:
        raise UsageError(f"--rows names one row twice: {rows[0]}. Use two rows.")
    return position[rows[0]], position[rows[1]]


# ---------------------------------------------------------------- told
def _explain_without_columns(
    subject: ExplainedClusters, request: ExplainOptions, pair: tuple[int, int] | None
) -> None:
    """Clusters of texts by their words, and of curves and images by typical rows; or why two rows."""
    items = subject.items
    assert items is not None
    of_rules = {
        "--format": request.form != "rules",
        "--max-leaves": request.max_leaves is not None,
        "--fidelity": request.fidelity is not None,
        "--plot": request.plot is not None,
    }
    kind = "text" if items.holds_words else items.kind
    for name, given in of_rules.items():
        if given:
            raise UsageError(
                f"{name} is about rules on columns, which {NAMES[kind]} do not have. Remove {name}."
            )
    if pair is not None:
        _print_why(subject, None, pair, as_json=request.as_json)
        return
    if not items.holds_words:
        say(f"Rows are compared by {NEARNESS[items.kind]}. Explain two of them with --rows A B.")
        _print_examples(subject, items, request)
        return
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
    shown = shorten_clusters(
        [one.lines() for one in clusters], [one.n_rows for one in clusters], show_all=request.show_all
    )
    _print_clusters("The words that tell each cluster from the others:", "", shown)


def _print_duplicates(
    subject: ExplainedClusters, cells: Mapping[str, Sequence[str]], request: ExplainOptions
) -> None:
    """Clusters of records of the same things by what their rows share, and what differs."""
    found = compare_duplicates(subject.labels, cells)
    if request.as_json:
        for group in found.groups:
            ids = [subject.ids[row] for row in group.rows]
            emit(
                type="duplicates", cluster=group.cluster, ids=ids, same=group.shared, differs=group.different
            )
        for doubt in subject.doubts:
            rows = doubt.first, doubt.second
            emit(
                type="doubt",
                ids=[subject.ids[row] for row in rows],
                clusters=[int(subject.labels[row]) for row in rows],
                chance=doubt.chance,
            )
        emit(type="summary", clusters=len(found.groups), alone=found.n_alone, columns=subject.effects)
        return
    described = [group.lines(subject.ids) for group in found.groups]
    if subject.doubts:
        lines = [_describe_doubt(doubt, subject) for doubt in subject.doubts]
        shown = lines if request.show_all else lines[:MOST_DOUBTS]
        _print_clusters(DOUBTS, "", Shortened([shown], ""))
        print()
    sizes = [len(group.rows) for group in found.groups]
    _print_clusters(
        found.headline, subject.counts, shorten_clusters(described, sizes, show_all=request.show_all)
    )


def _describe_doubt(doubt: DoubtfulDecision, subject: ExplainedClusters) -> str:
    """Say which two groups may be one, or which group may be two."""
    first, second = (subject.ids[row] for row in (doubt.first, doubt.second))
    one, other = (int(subject.labels[row]) for row in (doubt.first, doubt.second))
    chance = f"one is {doubt.chance:.0%} probable"
    if one == other:
        return f"  cluster {one} may be two: {first} and {second} ({chance})"
    return f"  clusters {one} and {other} may be one: {first} and {second} ({chance})"


def _is_worth(found: Explanation | None) -> bool:
    """Whether rules on columns that were only shown describe the clusters."""
    return found is not None and found.fidelity >= WORTH


def _asks_for_rules(request: ExplainOptions) -> bool:
    given = (request.max_leaves, request.fidelity, request.plot)
    return request.form != "rules" or any(one is not None for one in given)


def _print_shown(subject: ExplainedClusters, found: Explanation | None, request: ExplainOptions) -> None:
    """Clusters by what people see of their rows, which is not what was compared."""
    seen = subject.seen
    assert seen is not None
    clusters = describe_shown_clusters(subject.labels, subject.compared.X, seen.columns, seen.texts)

    def show(row: int) -> str:
        return f"{subject.ids[row]} {seen.show(row)}".rstrip()

    if found is not None:
        columns = dict.fromkeys(feature.source for feature in seen.columns.features) if seen.columns else ()
        say(
            f"Rules on {join_names(columns)} would put only {format_percent(found.fidelity)} of the rows into"
            " their cluster, so they are left out. --format tree shows them."
        )
    _print_described(clusters, [one.lines(show) for one in clusters], subject, request)


def _print_examples(subject: ExplainedClusters, items: Items, request: ExplainOptions) -> None:
    """Clusters of curves and images by typical rows, and curves by the mean of each cluster."""
    clusters = describe_shown_clusters(subject.labels, subject.compared.X)
    described = [
        one.lines(lambda row: f"{subject.ids[row]} {subject.title(row)}".rstrip()) for one in clusters
    ]
    if items.kind == "series":
        means = draw_means(np.asarray(subject.labels), items, MEAN_WIDTH)
        described = [
            [*lines, *mean] if one.examples else lines  # no mean of the rows in no cluster
            for one, lines, mean in zip(clusters, described, means, strict=True)
        ]
    _print_described(clusters, described, subject, request)


def _print_described(
    clusters: Sequence[ShownCluster],
    described: Sequence[list[str]],
    subject: ExplainedClusters,
    request: ExplainOptions,
) -> None:
    if request.as_json:
        emit(type="examples", clusters=[_serialize_shown(one, subject.ids) for one in clusters])
        return
    shown = shorten_clusters(described, [one.n_rows for one in clusters], show_all=request.show_all)
    title = "The rows nearest to the mean of each cluster:"
    if any(one.profile or one.words for one in clusters):
        title = "What people see of the clusters, and the rows nearest to the mean of each:"
    _print_clusters(title, "", shown)


def _serialize_shown(cluster: ShownCluster, ids: Sequence[str]) -> dict[str, Any]:
    return {
        "cluster": cluster.cluster,
        "rows": cluster.n_rows,
        "profile": cluster.profile,
        "words": [word._asdict() for word in cluster.words],
        "examples": [ids[row] for row in cluster.examples],
    }


def _print_explanation(subject: ExplainedClusters, found: Explanation, request: ExplainOptions) -> None:
    if request.as_json:
        emit(type="explanation", **found.to_dict(), columns=subject.shares)
    elif request.form in FORMS:
        print(FORMS[request.form](found))
    else:
        shown = shorten_rules(found.clusters, show_all=request.show_all)
        _print_clusters(headline(found), subject.counts, shown)


def _print_clusters(title: str, counts: str, shown: Shortened) -> None:
    console = Console()
    console.print(title, style="bold", highlight=False, markup=False)
    if counts:
        console.print(strip_controls(counts), highlight=False, markup=False)
    for lines in shown.clusters:
        console.print()
        console.print(screen.draw_rules(lines, width=console.width), highlight=False)
    if shown.rest:
        console.print(f"\n{shown.rest}", highlight=False, markup=False)


def _print_why(
    subject: ExplainedClusters, found: Explanation | None, pair: tuple[int, int], *, as_json: bool
) -> None:
    readable = found if subject.seen is None or _is_worth(found) else None
    reason = subject.why(*pair, readable)
    call = subject.ids.__getitem__
    sentences = reason.sentences(call)
    if subject.pair is None:
        sentences += _describe_nearness(subject, reason, readable)
    else:
        sentences += subject.pair.sentences()
    if not as_json:
        console = Console()
        for sentence in sentences:
            console.print(strip_controls(sentence), markup=False, highlight=False)
        if subject.pair is not None:
            console.print(screen.draw_parts(subject.pair), highlight=False)
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
        columns={} if subject.pair is None else subject.pair.columns,
        words=sentences,
    )


def _describe_nearness(subject: ExplainedClusters, reason: Why, found: Explanation | None) -> list[str]:
    """Sentences about the rows near both, where neither answers nor rules say why."""
    if reason.by == "answers" or found is not None:
        return []
    kind = "record" if subject.items is None else subject.items.kind
    by = NEARNESS.get(kind, "the numbers that are compared")
    first, *others = describe_near_rows(
        subject.labels, subject.compared.X, reason.first, reason.second, subject.ids.__getitem__
    )
    return [f"By {by}: {first[0].lower()}{first[1:]}", *others]


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
