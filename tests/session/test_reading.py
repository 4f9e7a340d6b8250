"""To read a session changes nothing, whenever somebody reads."""

import pytest

import linkwise as lw
from session.session_examples import ALL_LEARNERS, N_ROWS, X, image


@pytest.mark.parametrize("learner", ALL_LEARNERS.values(), ids=ALL_LEARNERS)
def test_a_session_that_is_read_after_every_event_equals_its_replay(learner, tmp_path):
    """Rows 12 and 13 are identical, and some facts about them follow from others."""
    pairs = lw.Constraints(N_ROWS, [(7, 2)], [(6, 13), (8, 9), (6, 3), (3, 8)])
    events = [
        lambda s: s.answer("yes"),
        lambda s: s.import_constraints(pairs),
        lambda s: s.add(13, 3, "cannot-link"),
        lambda s: s.set_done(7),
        lambda s: s.answer("unsure"),
        lambda s: s.answer("no"),
    ]
    path = tmp_path / "s.linkwise"
    with lw.Session.open(path, X, learner()) as read:
        for event in events:
            if read.question is not None:
                event(read)
            with lw.Session.open(path, X) as replayed:
                assert image(read) == image(replayed)
