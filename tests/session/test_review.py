"""Review: which pairs wait for a reviewer, and what a decision does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.errors import InfeasibleConstraintsError
from linkwise.session.team.agreement import count_by_source, describe_source
from session.session_examples import ALONE, N_ROWS, OF_ANOTHER_PILE, OF_NO_PILE, TRUTH, X, image, misplace

ROWS = st.integers(0, N_ROWS - 1)
OPINIONS = st.lists(
    st.tuples(st.sampled_from(["anna", "ben", "carl"]), ROWS, ROWS, st.booleans()).filter(
        lambda said: said[1] != said[2]
    ),
    min_size=1,
    max_size=12,
)


def begin(**options):
    return lw.Session(X, lw.KIN(random_state=0), **{"error_rate": 0.1} | options)


def say(session, person, first, second, is_same):
    session.add(first, second, "must-link" if is_same else "cannot-link", source=person)


def dispute(**options):
    """A session in which anna and ben disagree on one pair and agree on another."""
    session = begin(**options)
    for person, is_same in (("anna", True), ("ben", False)):
        say(session, person, 3, 0, is_same)
        say(session, person, 0, 1, False)
    return session


def test_a_disputed_pair_comes_with_who_answered_what_and_when():
    session = dispute()
    (case,) = session.review("carla")
    assert (case.first, case.second, case.is_disputed) == (0, 3, True)
    assert [(event.source, event.answer) for event in case.answers] == [("anna", "yes"), ("ben", "no")]
    assert [event.when for event in case.answers] == [e.when for e in session.history if e.first == 3]
    assert case.believed == session.evidence.verdict(0, 3)


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_decision_is_certain_and_ends_the_case(answer):
    session = dispute()
    number = session.decide(3, 0, answer, source="carla")
    assert session.evidence.verdict(0, 3) == answer
    assert session.history[-1].is_sure
    assert session.review("carla") == []
    against = [s for s in session.suspects if {s.first, s.second} == {0, 3}]
    assert [s.answer for s in against] == ["no" if answer == "yes" else "yes"]
    assert session.undo(number).source == "carla"
    assert len(session.review("carla")) == 1


def test_not_sure_decides_nothing_and_leaves_the_pair_to_other_reviewers():
    session = dispute()
    believed = session.evidence.verdict(0, 3)
    number = session.decide(0, 3, "unsure", source="carla")
    assert session.review("carla") == session.review(" carla ") == []
    (case,) = session.review("dora")
    assert case.answers[-1].source == "carla"
    assert session.evidence.verdict(0, 3) == believed
    session.undo(number)
    assert len(session.review("carla")) == 1


def test_an_annotator_who_was_not_sure_can_still_review_the_pair():
    session = begin()
    session.answer("unsure", source="anna")
    pair = session.history[-1].first, session.history[-1].second
    say(session, "anna", *pair, True)
    say(session, "ben", *pair, False)
    assert len(session.review("anna")) == 1


def test_a_suspect_that_nobody_disputes_waits_too():
    session = begin()
    for first, second, is_same in ((0, 1, True), (1, 2, True), (0, 2, True), (0, 3, False), (1, 3, False)):
        say(session, "anna", first, second, is_same)
    say(session, "ben", 2, 3, True)
    (suspect,) = session.suspects
    (case,) = session.review()
    assert (case.is_disputed, case.suspects) == (False, (suspect,))


def test_a_decision_against_what_is_certain_is_not_stored():
    session = dispute()
    session.import_constraints(lw.Constraints(N_ROWS, [(0, 1), (1, 4)]))
    n_events = len(session.events)
    with pytest.raises(InfeasibleConstraintsError, match="This contradicts what is certain: 0 = 1 = 4"):
        session.decide(0, 4, "no", source="carla")
    with pytest.raises(TypeError, match="is unknown: 'maybe'"):
        session.decide(0, 3, "maybe")
    assert len(session.events) == n_events


def test_nothing_waits_where_all_answers_count_as_right():
    session = begin(error_rate=0)
    session.add(0, 1, "must-link")
    assert session.review() == []


def test_a_confirmed_answer_waits_no_longer():
    session = dispute()
    session.set_sure(session.review()[0].answers[0].number)
    assert session.review() == []


def test_review_works_without_the_data_and_after_reopening(tmp_path):
    path = tmp_path / "a.linkwise"
    session = dispute()
    before = session.review("carla")
    session.save(path)
    with lw.Session.open(path) as without_data:
        assert without_data.review("carla") == before
        without_data.decide(0, 3, "yes", source="carla")
    with lw.Session.open(path, X) as reopened:
        assert reopened.review("carla") == []
        assert reopened.evidence.verdict(0, 3) == "yes"


def test_decisions_count_neither_as_agreement_nor_for_an_error_rate():
    session = dispute()
    session.decide(0, 3, "yes", source="carla")
    assert [(a.first, a.second) for a in session.agreement()] == [("anna", "ben")]
    carla = count_by_source(session.history)[-1]
    assert carla.n_certain == 1
    rate = session.error_rates.by_source["carla"]
    assert describe_source(carla, rate) == "0 answers; 1 pair added"


@settings(max_examples=8, deadline=None)
@given(OPINIONS, st.randoms(use_true_random=False))
def test_a_review_by_the_truth_ends_and_undo_takes_it_back(opinions, rng):
    """Whatever people say: each decision ends a case, nothing believed contradicts it, and undo is exact."""
    session = begin()
    for said in opinions:
        say(session, *said)
    before, cases = image(session), session.review("carla")
    numbers, decided = [], []
    while waiting := session.review("carla"):
        case = rng.choice(waiting)
        answer = TRUTH(case.first, case.second)
        numbers.append(session.decide(case.first, case.second, answer, source="carla"))
        decided.append((case.first, case.second, answer))
        assert all(session.evidence.verdict(i, j) == told for i, j, told in decided)
        assert {case.first, case.second} not in [{c.first, c.second} for c in session.review("carla")]
    for number in rng.sample(numbers, len(numbers)):
        session.undo(number)
    assert image(session) == before
    assert session.review("carla") == cases


def test_pairs_under_review_are_those_with_both_answers():
    rng = np.random.default_rng(0)
    session = begin()
    for _ in range(40):
        first, second = rng.choice(N_ROWS, 2, replace=False).tolist()
        say(session, str(rng.choice(["anna", "ben"])), first, second, bool(rng.random() < 0.5))
    words = {}
    for event in session.history:
        words.setdefault(frozenset((event.first, event.second)), set()).add(event.answer)
    disputed = {frozenset((c.first, c.second)) for c in session.review() if c.is_disputed}
    assert disputed == {pair for pair, said in words.items() if len(said) == 2}


# ---------------------------------------------------------------- other answers to doubtful pairs
def test_doubtful_pairs_are_given_to_whoever_has_not_answered_them():
    session = dispute()
    assert session.recheck(5, to="anna") == session.recheck(5, to="ben") == []
    (question,) = session.recheck(5, to="carla")
    assert ({question.first, question.second}, question.to) == ({0, 3}, "carla")
    session.answer("yes", question_id=question.id, source="carla", reliability=0.9)
    event = session.history[-1]
    assert (event.kind, event.answer, event.source, event.reliability) == ("answer", "yes", "carla", 0.9)
    assert session.recheck(5, to="carla") == []
    assert len(session.review("dora")) == 1  # a third answer decides nothing for certain


def test_pairs_are_rechecked_in_the_order_of_the_review():
    session = dispute()
    for person, is_same in (("anna", True), ("ben", False)):
        say(session, person, 1, 2, is_same)
    pairs = [{case.first, case.second} for case in session.review("carla")]
    assert [{q.first, q.second} for q in session.recheck(9, to="carla")] == pairs
    assert len(session.recheck(to="carla")) == 1


def test_an_unsure_answer_ends_a_recheck():
    session = dispute()
    session.answer("unsure", question_id=session.recheck(to="carla")[0].id, source="carla")
    assert session.recheck(to="carla") == []


def test_a_recheck_needs_a_number():
    with pytest.raises(ValueError, match="Pass a positive number of pairs"):
        dispute().recheck(0, to="carla")
    with pytest.raises(TypeError, match="not an integer"):
        dispute().recheck(1.5, to="carla")
    assert begin(error_rate=0).recheck(to="carla") == []


# ---------------------------------------------------------------- cards of screens
def misplaced(screen):
    session = misplace(screen)
    (case,) = session.review("carla")
    assert case.misplaced == session.suspects[0]
    assert [event.number for event in case.answers] == [2]
    return session, case


@pytest.mark.parametrize("screen", [OF_ANOTHER_PILE, OF_NO_PILE, ALONE])
@pytest.mark.parametrize("decision", ["yes", "no"])
def test_a_decision_about_a_card_is_one_event_that_moves_it_or_leaves_it(screen, decision):
    session, case = misplaced(screen)
    card, pile, better = case.misplaced.card, case.misplaced.pile, case.misplaced.better_pile
    (decided,) = case.resolve(decision)
    number = session.decide(*decided, source="carla")
    assert number == 3
    assert [event.kind for event in session.events] == ["sort", "sort", "add"]
    for rows, is_there in ((pile, decision == "yes"), (better, decision == "no")):
        if rows:
            assert session.evidence.verdict(card, rows[0]) == ("yes" if is_there else "no")
    assert session.review("ben") == []
    session.undo(number)
    assert session.review("carla") == [case]


def test_a_card_may_belong_to_neither_pile():
    session, case = misplaced(OF_ANOTHER_PILE)
    assert case.decisions == ("yes", "no", "unsure", "neither")
    for decided in case.resolve("neither"):
        session.decide(*decided, source="carla")
    card = case.misplaced.card
    for pile in (case.misplaced.pile, case.misplaced.better_pile):
        assert session.evidence.verdict(card, pile[0]) == "no"
    assert session.review("ben") == []
    assert misplaced(OF_NO_PILE)[1].decisions == misplaced(ALONE)[1].decisions == ("yes", "no", "unsure")


def test_a_card_that_a_reviewer_is_not_sure_about_is_left_to_others():
    session, case = misplaced(OF_ANOTHER_PILE)
    session.decide(*case.resolve("unsure")[0], source="carla")
    assert session.review("carla") == []
    assert [one.misplaced.card for one in session.review("ben")] == [16]


def test_a_second_opinion_on_a_card_comes_from_somebody_else():
    session, _ = misplaced(OF_ANOTHER_PILE)
    assert session.recheck(to="anna") == []
    assert [{one.first, one.second} for one in session.recheck(to="ben")] == [{0, 16}]
