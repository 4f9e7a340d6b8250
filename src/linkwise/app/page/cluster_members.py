"""The rows of one cluster, the least certain first, and the two halves into which it would be split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.app.page.cards import RowView
from linkwise.app.page.content import ClusterSummary, PageContent
from linkwise.app.page.requests import RefusedRequest
from linkwise.app.project.cluster_search import create_matcher

MOST_MEMBERS = 100_000  # listed at once: the least certain ones
MOST_MOVED = 5000  # rows at once: a request has at most 64 KiB
MOST_CUT = 20_000  # rows that decide where a cluster is cut
SHOWN_OF_HALF = 12
DEAR = 1000.0  # times a mean squared distance: breaking an answer costs more than any other cut


def list_members(content: PageContent, cluster: ClusterSummary, text: str) -> dict[str, Any]:
    """List the rows of a cluster in which a text is found, the least certain first.

    Parameters
    ----------
    content : PageContent
    cluster : ClusterSummary
    text : str
        Found in the name of a row, its text, or ``column: value``. A blank text is found in every row.

    Returns
    -------
    dict
        The ``rows``, the probability of each to be in the cluster (``certainty``; None if the learner does
        not estimate it), how many ``more`` there are, how many can move at once (``most_moved``), and the
        number of the ``labels``.
    """
    rows = np.flatnonzero(content.labels == cluster.number)
    confidence = content.now.confidence
    distance = _measure_distance(content.X[rows])
    order = np.lexsort((-distance, np.zeros(len(rows)) if confidence is None else confidence[rows].round(3)))
    rows = rows[order]
    if text.strip():
        matches = create_matcher(text)
        rows = rows[[matches(_write_row(content.view, row)) for row in rows.tolist()]]
    listed = rows[:MOST_MEMBERS]
    return {
        "labels": content.counter,
        "rows": listed.tolist(),
        "certainty": None if confidence is None else confidence[listed].round(3).tolist(),
        "more": len(rows) - len(listed),
        "most_moved": MOST_MOVED,
    }


def _measure_distance(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the squared distance of each row to the mean."""
    return np.asarray(np.square(X - X.mean(axis=0)).sum(axis=1), dtype=np.float64)


def _write_row(view: RowView, row: int) -> str:
    """Return all that is shown of a row as text, for a search."""
    text = view.items.content(row) if view.items.kind == "text" else ""
    fields = (f"{name}: {value}" for name, value in view.items.fields(row).items())
    return "\n".join([view.name(row), str(text), *fields])


def halve_cluster(content: PageContent, cluster: ClusterSummary) -> dict[str, Any]:
    """Cut a cluster in two by k-means that keeps the answers; above 20 000 rows a sample decides.

    Returns the ``halves``, the larger first, each with its ``size`` and its most typical ``rows``. Raises
    `RefusedRequest` if answers hold the cluster together, or its rows are all alike.
    """
    rows = np.flatnonzero(content.labels == cluster.number)
    if len(rows) > MOST_CUT:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_CUT, replace=False))
    X, known = content.X[rows], content.session.constraints[rows]
    if cluster.done or len(np.unique(X, axis=0)) < 2:
        reason = "all its rows are known to belong together" if cluster.done else "its rows are all alike"
        raise RefusedRequest("bad", f"This cluster cannot be split, because {reason}.")
    from linkwise.cluster.kmeans.pckmeans import PCKMeans  # loads scikit-learn, which takes half a second

    dear = DEAR * float(_measure_distance(X).mean())
    model = PCKMeans(2, w=dear, n_init=3, random_state=0).fit(X, constraints=known)
    if model.n_clusters_ < 2:
        raise RefusedRequest(
            "bad", "The answers hold this cluster together. Move single rows out of it instead."
        )
    halves = []
    for half in range(2):
        members = rows[model.labels_ == half]
        typical = members[np.argsort(_measure_distance(content.X[members]), kind="stable")]
        size = round(len(members) * cluster.size / len(rows))
        halves.append({"size": size, "rows": typical[:SHOWN_OF_HALF].tolist()})
    return {"labels": content.counter, "halves": sorted(halves, key=lambda half: -int(half["size"]))}
