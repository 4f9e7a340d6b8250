"""What holds of every learner, for the one that compares tables: sessions, undo, sameness and progress."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.parallel import n_threads
from record_worlds import draw_products, draw_world, score_pairs

WORLD = draw_world(n_people=40, seed=5)
ROWS = lw.read(WORLD.table, text=["name", "street", "phone"], text_by="letters")


def begin(**options):
    return lw.Session(ROWS, lw.RecordLinkage(random_state=0), **options)


def answer(session, n: int, error: float = 0.0):
    oracle = WORLD.oracle(error)
    for _ in range(n):
        question = session.question
        session.answer(oracle(question.first, question.second))
    return session


@pytest.mark.parametrize("rate", [0, None])
def test_a_session_finds_what_fit_finds(rate):
    session = answer(begin(error_rate=rate), 25)
    model = lw.RecordLinkage(random_state=0).fit(ROWS, oracle=WORLD.oracle(), budget=25, error_rate=rate)
    assert adjusted_rand_score(session.labels, model.labels_) == 1  # numbers of clusters stay in a session


def test_undo_goes_back_to_the_same_question():
    session = answer(begin(), 12)
    before = session.question, session.labels
    answer(session, 4)
    for _ in range(4):
        session.undo()
    assert (session.question.first, session.question.second) == (before[0].first, before[0].second)
    assert (session.labels == before[1]).all()


def test_a_session_goes_on_after_it_was_opened(tmp_path):
    path = tmp_path / "people.linkwise"
    with answer(begin(), 15) as session:
        session.save(path)
        question, labels = session.question, session.labels
    with lw.Session.open(path, ROWS) as again:
        assert (again.question.first, again.question.second) == (question.first, question.second)
        assert (again.labels == labels).all()


def test_an_answer_changes_no_copy():
    session = answer(begin(), 10)
    batch = session.questions(5)
    assert len({(one.first, one.second) for one in batch}) == 5
    assert (session.question.first, session.question.second) in {(one.first, one.second) for one in batch}


def test_a_copy_expects_of_its_question_what_the_run_expects():
    """Also where pairs that are no candidates were told since: they shift the places of the others."""
    session, oracle = begin(), WORLD.oracle()
    state = session._state
    rng = np.random.default_rng(0)
    for _ in range(25):
        question = session.question
        first, second = sorted(rng.choice(len(WORLD.person), 2, replace=False).tolist())
        if {first, second} != {question.first, question.second}:
            is_same = WORLD.person[first] == WORLD.person[second]
            session.add(first, second, "must-link" if is_same else "cannot-link")
        question = session.question
        copy = state.replay._run.fork()
        same = oracle(question.first, question.second)
        copy.answer("yes" if same else "no")
        session.answer(same)
        assert session.labels is not None
        assert copy.state.draws == state.replay._run.state.draws


def test_the_labels_follow_every_answer():
    session = begin()
    oracle = WORLD.oracle()
    for _ in range(40):
        question = session.question
        same = oracle(question.first, question.second)
        session.answer(same)
        labels = session.labels
        assert (labels[question.first] == labels[question.second]) == same


def test_no_pair_is_asked_twice():
    session = begin()
    oracle, seen = WORLD.oracle(), set()
    for _ in range(60):
        question = session.question
        pair = frozenset((question.first, question.second))
        assert pair not in seen
        seen.add(pair)
        session.answer(oracle(*pair))


def test_unsure_answers_do_not_stop_it():
    session = begin()
    for _ in range(10):
        session.answer("unsure")
    assert session.question is not None


def test_it_runs_out_and_says_so():
    world = draw_world(n_people=8, seed=1)
    model = lw.RecordLinkage(random_state=0).fit(world.table, oracle=world.oracle())
    assert model.reason_ == "exhausted"
    assert score_pairs(world.person, model.labels_) == 1


@pytest.mark.parametrize(
    ("draw", "error"),
    [
        pytest.param(draw_world, 0.0, id="people", marks=pytest.mark.slow(nightly=True)),
        pytest.param(draw_world, 0.1, id="people, errors"),
        pytest.param(draw_products, 0.0, id="products"),
    ],
)
@pytest.mark.parametrize("n_seeds", [1, pytest.param(3, marks=pytest.mark.slow(nightly=True))])
def test_more_answers_do_not_hurt(draw, error, n_seeds):
    """Also where different things are written nearly alike, so that far too many matches are expected."""
    scores = []
    for seed in range(n_seeds):
        world = draw(40, seed=10 + seed)
        model = lw.RecordLinkage(random_state=seed).fit(
            world.table,
            oracle=world.oracle(error, seed),
            budget=100,
            error_rate=None if error else 0,
        )
        scores.append([score_pairs(world.person, model.history_[at]) for at in (0, 9, 24, 49, 99)])
    mean = np.mean(scores, axis=0)
    assert (np.diff(mean) > -0.02).all(), mean
    assert mean[-1] > mean[0]


def test_the_number_of_threads_changes_nothing(monkeypatch):
    one = answer(begin(), 15).labels
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert n_threads() == 3
    assert (answer(begin(), 15).labels == one).all()


def test_screens_that_are_sorted_make_the_groups_better_and_measure_them():
    with begin() as session:
        before, sorter = score_pairs(WORLD.person, session.labels), lw.TruthSorter(WORLD.person)
        for _ in range(12):
            (shown,) = session.sets(9)
            session.sort(sorter.sort(shown.known, shown.cards), question_id=shown.id)
        assert score_pairs(WORLD.person, session.labels) > max(before, 0.95)
        assert "drawn at random" in " ".join(session.status.description)
        labels = session.labels
        for _ in range(12):
            session.undo()
        assert score_pairs(WORLD.person, session.labels) == before
    model = lw.RecordLinkage(random_state=0).fit(ROWS, oracle=sorter, budget_screens=12, screen_size=9)
    assert adjusted_rand_score(labels, model.labels_) == 1


def test_screens_of_two_people_have_no_card_in_common():
    with begin() as session:
        one, other = (session.sets(6, to=name)[0] for name in ("ann", "bob"))
        assert not set(one.cards) & set(other.cards)


def test_it_advises_to_stop_when_the_groups_are_right():
    world = draw_world(n_people=60, seed=7)
    rows = lw.read(world.table, text=["name", "street", "phone"], text_by="letters")
    oracle = world.oracle()
    with lw.Session(rows, lw.RecordLinkage(random_state=0)) as session:
        stops = []
        for _ in range(150):
            question = session.question
            session.answer(oracle(question.first, question.second))
            if session.status.advice is not None and session.status.advice.stop:
                stops.append(score_pairs(world.person, session.labels))
    assert len(stops) > 10
    assert np.mean(np.array(stops) > 0.9) >= 0.95


def test_advice_and_confidence_are_told():
    session = answer(begin(), 40)
    assert session.confidence.shape == (len(WORLD.person),)
    assert ((session.confidence >= 0) & (session.confidence <= 1)).all()
    assert "groups of several records" in " ".join(session.status.description)
