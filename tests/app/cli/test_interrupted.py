"""An answer is safe from the moment it is stored, wherever the interruption comes."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.session.session import Session


def test_labels_of_an_interrupted_answer_are_not_taken_for_new(tmp_path, monkeypatch):
    path = tmp_path / "s.linkwise"
    X = np.random.default_rng(0).random((25, 3))
    session = Session.open(path, X, lw.COBRAS(random_state=0))

    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(session._state.replay._run, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt), session:
        session.answer("no")
    with Session.open(path) as kept:
        assert [e.answer for e in kept.history] == ["no"]
        assert not kept.labels_are_current
    with Session.open(path, X):
        pass
    with Session.open(path) as kept:
        assert kept.labels_are_current
