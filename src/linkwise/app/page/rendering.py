"""Rows, questions, pairs to review, clusters and advice as values for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from linkwise.app.page.answer_list import describe_suspect
from linkwise.app.page.cards import RowView, list_differing_fields
from linkwise.app.page.cluster_list import ClusterSummary
from linkwise.app.project.cluster_search import RowHits
from linkwise.constraints.facts import Answer
from linkwise.learn.advice import StopAdvice
from linkwise.learn.learner import Question
from linkwise.session.state.status import Status, describe_advice
from linkwise.session.team.leases import OpenQuestion
from linkwise.session.team.review import ReviewCase
from linkwise.types import Labels
from linkwise.wording import NO_MORE_QUESTIONS


def render_row(view: RowView, labels: Labels, row: int) -> dict[str, Any]:
    """Return a row with its cluster."""
    return {**view.render(row), "cluster": int(labels[row])}


def render_pair(view: RowView, labels: Labels, pair: Question | OpenQuestion | ReviewCase) -> dict[str, Any]:
    """Return two rows, and the fields in which they differ."""
    first, second = render_row(view, labels, pair.first), render_row(view, labels, pair.second)
    return {"first": first, "second": second, "differing": list_differing_fields(first, second)}


def render_question(
    view: RowView,
    labels: Labels,
    question: Question | OpenQuestion,
    name: str | None,
    expected: Answer | None,
) -> dict[str, Any]:
    """Return a question with its reason and the likelier answer."""
    likely = "yes" if labels[question.first] == labels[question.second] else "no"
    pair = render_pair(view, labels, question)
    return {"id": name, **pair, "why": question.why, "guess": expected or likely}


def render_advice(status: Status, *, ended: bool) -> dict[str, Any]:
    """Return the advice of the learner after its sentences, as the terminal has them.

    Parameters
    ----------
    status : Status
    ended : bool
        Whether there are no more questions.

    Returns
    -------
    dict
        The fields of `StopAdvice`, where ``stop`` is None if the learner gives no advice, and ``text``.
    """
    fields = asdict(status.advice or StopAdvice(False, None))
    if ended:
        return {**fields, "stop": True, "text": f"{NO_MORE_QUESTIONS}."}
    if status.advice is None:
        return {**fields, "stop": None, "text": ""}
    return {**fields, "text": " ".join([*status.description, *describe_advice(status)])}


def describe_doubts(view: RowView, case: ReviewCase) -> list[str]:
    """Put into words what speaks against the answers about a pair."""
    return [
        describe_suspect(suspect, event.source, view.name)
        for suspect in case.suspects
        for event in case.answers
        if event.number == suspect.number
    ]


def render_cluster(view: RowView, cluster: ClusterSummary) -> dict[str, Any]:
    """Return one entry of the list of clusters."""
    return {
        "cluster": cluster.number,
        "size": cluster.size,
        "name": cluster.name,
        "exemplar": cluster.exemplars[0],
        "exemplars": list(cluster.exemplars),
        "exemplar_names": [view.name(row) for row in cluster.exemplars],
        "done": cluster.done,
        "answered": cluster.n_answered,
    }


def render_hits(view: RowView, hits: RowHits) -> dict[str, Any]:
    """Return the rows that a search found in a cluster."""
    return {"count": hits.count, "rows": hits.rows, "names": [view.name(row) for row in hits.rows]}
