"""The rows of a session in the plane, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import SessionError
from linkwise.reasons.sentences import format_percent
from linkwise.session.row_maps import project_on_components
from linkwise.session.session import Session
from linkwise.wording import count_noun, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (*(f"C{number}" for number in range(10) if number != 7), "navy", "gold", "teal")
"""Of the twelve families of clusters; C7 is grey."""
MARKERS = "os^DvPX<>*"
"""Of the clusters of one family."""
NO_CLUSTER = -1
MOST_CLUSTERS = 20  # in the legend; smaller ones are drawn in grey
LONGEST_NAME = 40  # characters
MANY_ROWS = 2000  # with more, points are small
SMALL, LARGE = 8, 30  # squared points
GREY = "0.7"


class _Group(NamedTuple):
    """Rows that are drawn alike, and their entry in the legend."""

    rows: NDArray[np.int64]
    colour: str
    marker: str
    text: str


def plot(session: Session, ax: Axes | None = None) -> Axes:
    """Draw the rows of a session, in the colours of their clusters; needs ``pip install "linkwise[plot]"``.

    Parameters
    ----------
    session : Session
        The session, opened with its data.
    ax : Axes of matplotlib, optional
        The axes to draw on. The default is a new figure.

    Returns
    -------
    Axes
        The axes: the first two principal components of the rows, with the share of the variance that each
        shows. The legend has the names and sizes of the clusters. Above 20 clusters the smallest ones are
        grey and have one entry.

    Raises
    ------
    SessionError
        The session was opened without its data.
    ImportError
        matplotlib is not installed.
    """
    if session.X is None:
        raise SessionError(
            "The session is open without its data, so there is nothing to plot. "
            "Open it with Session.open(path, X)."
        )
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Plots need matplotlib. Install it: pip install "linkwise[plot]"') from error
    groups, projection = _list_groups(session), project_on_components(session.X)
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    drawn = [
        ax.scatter(
            projection.places[group.rows, 0],
            projection.places[group.rows, 1],
            s=SMALL if session.n_rows > MANY_ROWS else LARGE,
            color=group.colour,
            marker=group.marker,
            rasterized=True,
        )
        for group in groups
    ]
    first, second = (f"{format_percent(share)} of the variance" for share in projection.shares)
    ax.set_xlabel(f"first principal component ({first})")
    ax.set_ylabel(f"second principal component ({second})")
    numbers = [str(number) for number in range(len(groups))]
    legend = ax.legend(drawn, numbers, loc="upper left", bbox_to_anchor=(1, 1))
    for entry, group in zip(legend.get_texts(), groups, strict=True):
        entry.set_parse_math(False)  # a name may hold a $, or begin with _
        entry.set_text(group.text)
    return ax


def _list_groups(session: Session) -> list[_Group]:
    """The largest clusters by number, after all other rows."""
    with session._lock:
        now = session._snapshots.take()  # a figure shows no question
    labels, names, shades = now.labels, now.names, now.shades
    found, sizes = np.unique(labels[labels != NO_CLUSTER], return_counts=True)
    order = found[np.argsort(-sizes, kind="stable")].tolist()
    listed, smaller = sorted(order[:MOST_CLUSTERS]), order[MOST_CLUSTERS:]
    groups = []
    for rest, text in (
        ([NO_CLUSTER], "no cluster"),
        (smaller, count_noun(len(smaller), "smaller cluster")),
    ):
        rows = np.flatnonzero(np.isin(labels, rest))
        if len(rows):
            groups.append(_Group(rows, GREY, ".", f"{text} ({len(rows)})"))
    for label in listed:
        rows, (family, shade) = np.flatnonzero(labels == label), shades[label]
        name = shorten(names.get(label) or f"cluster {label}", LONGEST_NAME)
        colour, marker = COLOURS[family % len(COLOURS)], MARKERS[shade % len(MARKERS)]
        groups.append(_Group(rows, colour, marker, f"{name} ({len(rows)})"))
    return groups
