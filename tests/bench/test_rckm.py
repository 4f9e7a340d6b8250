"""The readings of RCKM: ours is the method, and each other one is a fit that ends."""

import numpy as np
import pytest
from bench.papers import rckm

import linkwise as lw
from linkwise.cluster.similarity.spaces import make_space

pytestmark = pytest.mark.slow


def problem():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 2)) + 2 * y[:, None], y


def test_ours_is_the_method(monkeypatch):
    monkeypatch.setattr(rckm, "N_ROUNDS", 9)
    X, y = problem()
    c = lw.Constraints.sample(y, 80, 0)
    labels, used = rckm.fit_reading(rckm.OURS, make_space(X, "linear"), c, 2, 3)
    model = lw.RCKM(2, n_rounds=9, fallback=False, random_state=3).fit(X, constraints=c)
    np.testing.assert_array_equal(labels, model.labels_)
    assert used == model.n_rounds_


@pytest.mark.parametrize("name", rckm.READINGS)
def test_every_reading_ends(monkeypatch, name):
    monkeypatch.setattr(rckm, "N_ROUNDS", 4)
    X, y = problem()
    labels, used = rckm.fit_reading(
        rckm.READINGS[name], make_space(X, "linear"), lw.Constraints.sample(y, 80, 0), 2, 0
    )
    assert len(np.unique(labels)) == 2
    assert 1 <= used <= 4


def test_the_program_is_the_preset(monkeypatch):
    monkeypatch.setattr(rckm, "N_ROUNDS", 9)
    X, y = problem()
    c = lw.Constraints.sample(y, 80, 0)
    reading = rckm.READINGS["program, same centres"]
    labels, _ = rckm.fit_reading(reading, make_space(X, "linear"), c, 2, 3)
    model = lw.RCKM.authors(2, n_rounds=9, random_state=3).fit(X, constraints=c)
    np.testing.assert_array_equal(labels, model.labels_)


def test_a_line_of_the_table():
    found = [
        {"task": "spiral", "reading": "ours", "percent": p, "nmi": nmi}
        for p, nmi in (("1", ".1"), ("5", ".2"), ("5", ".4"), ("10", ".09"))
    ]
    assert rckm.find_printed(["spiral"]) == [0.05, 0.07, 0.09]
    assert rckm.build_line("ours", ["spiral"], found) == ("ours", "0.10", "0.30", "0.09", "0.09")
