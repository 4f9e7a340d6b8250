"""What the answers of each source have cost, stored with the session."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import SessionDamagedError

X = np.random.default_rng(0).normal(size=(12, 2))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "s.linkwise"
    lw.Session.open(path, X, lw.COBRAS(random_state=0)).close()
    return path


def test_two_clients_add_to_the_same_costs(path):
    with lw.Session.open(path, X) as one, lw.Session.open(path) as other:
        assert one.add_cost("judge", 0.5) == 0.5
        assert other.add_cost("judge", 1) == 1.5
        assert one.costs == other.costs == {"judge": 1.5}


def test_costs_never_overflow(path):
    with lw.Session.open(path, X) as session:
        session.add_cost("judge", 1e308)
        assert session.add_cost("judge", 1e308) < np.inf
    with lw.Session.open(path) as session:
        assert session.costs["judge"] > 1e308


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf")])
def test_a_cost_is_a_number_from_0_on(cost):
    session = lw.Session(X, lw.COBRAS(random_state=0))
    with pytest.raises(ValueError, match="The cost is out of range"):
        session.add_cost("judge", cost)
    assert session.costs == {}


@pytest.mark.parametrize("text", ["[]", "-1", '"1"', "null", "1e999", "true", "NaN", '{"a": 1}'])
def test_damaged_costs_are_noticed(path, text):
    with lw.Session.open(path) as session:
        session.add_cost("judge", 1)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE event SET value = ?", (text,))
    with pytest.raises(SessionDamagedError, match=r"Event 1 of the session is wrong.*cost is not a number"):
        lw.Session.open(path)
