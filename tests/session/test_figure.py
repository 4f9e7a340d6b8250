"""The plot of a session: axes that say what they show, and a legend of clusters."""

import warnings

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import SessionError
from linkwise.session import figure as module
from linkwise.session.row_maps import project_on_components

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def session_of(X, kinds):
    """A session whose clusters are known."""
    session = lw.Session(X, lw.COBRAS(random_state=0))
    first = {}
    together = [(first.setdefault(kind, row), row) for row, kind in enumerate(kinds)]
    leads = list(first.values())
    apart = [(a, b) for at, a in enumerate(leads) for b in leads[:at]]
    session.import_constraints(lw.Constraints(len(X), [p for p in together if p[0] != p[1]], apart))
    return session


def entries(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_axes_are_components_with_their_share_of_the_variance():
    X = np.random.default_rng(0).normal(size=(60, 3)) * [3, 1, 0]
    session = session_of(X, np.arange(60) % 2)
    ax = lw.plot(session)
    ratio = X.var(axis=0)  # columns are nearly the components
    shares = project_on_components(X).shares
    assert shares == pytest.approx(np.linalg.eigvalsh(np.cov(X.T))[:0:-1] / np.trace(np.cov(X.T)))
    assert ax.get_xlabel() == f"first principal component ({shares[0]:.0%} of the variance)"
    assert ax.get_ylabel() == f"second principal component ({shares[1]:.0%} of the variance)"
    assert ratio[2] == 0
    assert sum(len(points.get_offsets()) for points in ax.collections) == 60


def test_the_legend_has_names_as_they_are_and_sizes():
    session = session_of(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 2])
    session.set_name(0, "_$\\frac$ a")
    session.set_name(3, "n" * 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = lw.plot(session)
        ax.figure.canvas.draw()
    assert sorted(entries(ax)) == sorted(["_$\\frac$ a (3)", f"{'n' * 39}… (2)", "cluster 2 (1)"])


def test_the_smallest_of_many_clusters_share_one_entry():
    n = module.MOST_CLUSTERS + 5
    kinds = np.repeat(np.arange(n), [2] * 20 + [1] * 5)
    session = session_of(np.random.default_rng(0).normal(size=(len(kinds), 2)), kinds)
    ax = lw.plot(session)
    assert len(entries(ax)) == module.MOST_CLUSTERS + 1
    assert entries(ax)[0] == "5 smaller clusters (5)"
    looks = {(tuple(p.get_facecolor()[0]), p.get_paths()[0].vertices.tobytes()) for p in ax.collections}
    assert len(looks) == len(entries(ax)), "two clusters look alike"


def test_axes_that_are_given_are_used():
    import matplotlib.pyplot as plt

    _, mine = plt.subplots()
    mine.scatter([0], [0])
    assert lw.plot(session_of(np.eye(2), [0, 1]), mine) is mine
    assert len(mine.collections) == 3


@pytest.mark.parametrize("X", [np.zeros((3, 2)), np.arange(3.0)[:, None]])
def test_flat_data_are_drawn_and_say_how_little_they_show(X):
    ax = lw.plot(lw.Session(X))
    assert "(0% of the variance)" in ax.get_ylabel()


def test_without_data_there_is_nothing_to_plot(tmp_path):
    session = lw.Session(np.eye(2))
    session.save(tmp_path / "s.linkwise")
    session.close()
    with (
        lw.Session.open(tmp_path / "s.linkwise") as held,
        pytest.raises(SessionError, match="without its data"),
    ):
        lw.plot(held)
