"""Second opinions and gold pairs: who gets which, how many, and that the learner goes on as before."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import SessionError
from linkwise.session.journal.events import Event, Place
from linkwise.session.team.agreement import count_by_source, describe_source
from linkwise.session.team.extra_questions import (
    NARROW,
    WHY,
    WIDE,
    choose_gold,
    choose_second_opinions,
    scale_share,
)

N = 60
Y = np.arange(N) % 6
X = np.random.default_rng(1).normal(size=(6, 2))[Y] * 4 + np.random.default_rng(0).normal(size=(N, 2))
WHEN = "2026-01-01T00:00:00.000+00:00"
GOLD = lw.Constraints(N, [(0, 6), (1, 7), (2, 8)], [(0, 1), (3, 4)])
GOLD_PAIRS = {frozenset(p) for p in [(0, 6), (1, 7), (2, 8), (0, 1), (3, 4)]}


def begin(seed=0, **options):
    return lw.Session(X, lw.COBRAS(random_state=seed), **{"error_rate": 0.1} | options)


def says(q):
    return bool(Y[q.first] == Y[q.second])


def pair_of(q):
    return frozenset((q.first, q.second))


def work(session, people, n, **how):
    """People answer by turns; returns who was shown what."""
    shown = []
    for turn in range(n):
        person = people[turn % len(people)]
        for q in session.questions(1, to=person, **how):
            shown.append((person, pair_of(q), q.why == WHY))
            session.answer(says(q), question_id=q.id, source=person)
    return shown


def asked(n, source="anna", n_rows=400):
    """Events: one source answered pairs 0-1, 2-3 and so on."""
    rng = np.random.default_rng(0)
    pairs = {tuple(sorted(rng.choice(n_rows, 2, replace=False).tolist())) for _ in range(2 * n)}
    return [Event(k, "answer", WHEN, *p, "yes", source=source) for k, p in enumerate(sorted(pairs)[:n], 1)]


# ---------------------------------------------------------------- second opinions
def test_with_overlap_1_everything_is_shown_to_two_people_and_to_nobody_twice():
    session = begin()
    shown = work(session, ("anna", "ben", "carl"), 24, overlap=1)
    assert len({(person, pair) for person, pair, _ in shown}) == len(shown)
    times = Counter(pair for _, pair, _ in shown)
    assert set(times.values()) <= {1, 2}
    assert sum(n == 2 for n in times.values()) >= 10
    assert {a.n_common > 0 for a in session.agreement()} == {True}


def test_whoever_comes_late_gets_second_opinions_among_other_questions():
    session = begin(1)
    first = {pair for _, pair, _ in work(session, ("anna",), 8, overlap=0.5)}
    late = work(session, ("ben",), 60, overlap=0.5)
    are_second = [is_second for _, _, is_second in late]
    fresh = [at for at, is_second in enumerate(are_second) if not is_second]
    assert sum(are_second) > 1
    assert len(fresh) > 1
    for n in range(1, max(fresh) + 2):  # after the last question of the learner the others come in a row
        assert sum(are_second[:n]) <= (n + 1) // 2
    drawn = {pair_of(q) for q in session.questions(20, to="carl", overlap=0.5)}
    assert not drawn & first - {pair for _, pair, _ in late}  # none was left out


def test_a_batch_has_second_opinions_by_their_share_and_all_where_nothing_else_is_asked():
    session = begin(1)
    work(session, ("anna",), 8, overlap=1)
    batch = session.questions(3, to="ben", overlap=0.3)
    assert [q.why == WHY for q in batch].count(True) <= 1
    session.release("ben")
    assert all(q.why == WHY for q in session.questions(3, to="ben", overlap=1))


@pytest.mark.slow(nightly=True)
def test_where_others_hold_the_questions_of_the_learner_second_opinions_come_in_a_row():
    session = begin(1)
    work(session, ("anna",), 8, overlap=0.5)
    for _ in range(2):
        n_held = -1
        while n_held < (n_held := len(session.questions(200, to="carl"))):
            pass
        assert session.question is not None
        assert n_held < 200  # carl holds all
        (q,) = session.questions(1, to="ben", overlap=0.5)
        assert q.why == WHY
        session.answer(says(q), question_id=q.id, source="ben")


def test_the_share_is_drawn_by_the_seed():
    events = asked(300)
    chosen = choose_second_opinions(events, "ben", (), 0.2, seed=0)
    assert 40 <= len(chosen) <= 80  # 60 on average
    assert chosen == choose_second_opinions(events, "ben", (), 0.2, seed=0)
    assert chosen != choose_second_opinions(events, "ben", (), 0.2, seed=1)
    assert {*chosen} == {*choose_second_opinions(events[::-1], "ben", (), 0.2, seed=0)}
    assert {*chosen} < {*choose_second_opinions(events, "ben", (), 0.4, seed=0)}
    assert {*chosen} == {*choose_second_opinions(events, "carl", (), 0.2, seed=0)}


def test_own_answers_unnamed_ones_held_ones_and_volunteered_ones_have_no_second_opinion():
    events = asked(20)
    pairs = [(event.first, event.second) for event in events]
    assert choose_second_opinions(events, "anna", (), 1, seed=0) == []
    assert choose_second_opinions(asked(20, source=""), "ben", (), 1, seed=0) == []
    assert choose_second_opinions(events, "ben", {pairs[3]}, 1, seed=0) == [p for p in pairs if p != pairs[3]]
    added = [Event(99, "add", WHEN, 398, 399, "yes", source="anna")]
    assert choose_second_opinions(added, "ben", (), 1, seed=0) == []
    again = [*events, Event(99, "add", WHEN, *pairs[0], "no", source="carl")]
    assert pairs[0] not in choose_second_opinions(again, "ben", (), 1, seed=0)


@pytest.mark.parametrize(("half_width", "share"), [(0.5, 1), (WIDE, 1), (0.075, 0.5), (NARROW, 0), (0.01, 0)])
def test_the_share_falls_with_the_interval(half_width, share):
    assert scale_share(half_width) == pytest.approx(share)


def test_few_second_opinions_once_the_agreement_is_known():
    def left(n_common):
        events = asked(300)
        for number, event in enumerate(events[:n_common], 1000):
            pair = event.first, event.second
            events = [*events, Event(number, "answer", WHEN, *pair, "yes", source="ben")]
        return len(choose_second_opinions(events, "ben", (), 1, 0)) / (300 - n_common)

    assert left(0) == left(10) == 1
    assert 0 < left(25) < 1
    assert left(60) == 0


def test_whoever_is_new_gets_second_opinions_again():
    events = asked(100)
    both = [*events, *(replace(event, number=500 + event.number, source="ben") for event in events)]
    more = [*both, *(Event(900 + k, "answer", WHEN, 390 + k, 399, "no", source="anna") for k in range(9))]
    assert choose_second_opinions(more, "ben", (), 1, 0) == []
    assert len(choose_second_opinions(more, "carl", (), 1, 0)) == 9


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in (1, 2))]
)
def test_answers_in_any_order_lead_to_the_same_state_and_the_same_second_opinions(seed):
    states = []
    for order in (lambda _: None, random.Random(seed).shuffle):
        session = begin()
        for _ in range(3):
            batch = [q for to in ("anna", "ben") for q in session.questions(4, to=to, overlap=0.5)]
            order(batch)
            for q in batch:
                session.answer(says(q), question_id=q.id, source=q.to)
        question = session.question
        states.append(
            (
                session.labels.tolist(),
                None if question is None else pair_of(question),
                [(f.first, f.second, f.answer, f.source) for f in session.evidence],
                {pair_of(q) for q in session.questions(8, to="carl", overlap=0.5)},
            )
        )
    assert states[0] == states[1]


def test_a_second_opinion_contradicts_and_both_stay():
    session = begin()
    (q,) = session.questions(1, to="anna", overlap=1)
    session.answer(True, question_id=q.id, source="anna")
    (again,) = session.questions(1, to="ben", overlap=1)
    assert (pair_of(again), again.why) == (pair_of(q), WHY)
    assert pair_of(session.questions(1, to="carl", overlap=1)[0]) != pair_of(q)  # ben holds it
    session.answer(False, question_id=again.id, source="ben")
    assert [(e.source, e.answer) for e in session.history] == [("anna", "yes"), ("ben", "no")]
    assert session.status.n_answers == 2
    assert [case.is_disputed for case in session.review()] == [True]
    assert all(pair_of(one) != pair_of(q) for one in session.questions(8, to="dora", overlap=1))


def test_what_is_certain_has_no_second_opinion():
    session = begin()
    (q,) = session.questions(1, to="anna", overlap=1)
    session.answer(True, question_id=q.id, source="anna")
    session.set_sure(1)
    assert pair_of(session.questions(1, to="ben", overlap=1)[0]) != pair_of(q)


def test_second_opinions_survive_reopening_and_undo(tmp_path):
    session = begin()
    work(session, ("anna", "ben"), 12, overlap=0.5)
    wanted = [pair_of(q) for q in session.questions(6, to="carl", overlap=0.5)]
    session.save(tmp_path / "a.linkwise")
    with lw.Session.open(tmp_path / "a.linkwise", X) as reopened:
        assert [pair_of(q) for q in reopened.questions(6, to="carl", overlap=0.5)] == wanted
        assert reopened.labels.tolist() == session.labels.tolist()
        while reopened.undo() is not None:
            pass
        assert reopened.status.n_answers == 0


def test_without_overlap_nothing_changes():
    one, other = begin(), begin()
    assert work(one, ("anna", "ben"), 12) == work(other, ("anna", "ben"), 12, overlap=0)


@pytest.mark.parametrize("overlap", [-0.1, 1.1, float("nan")])
def test_overlap_is_a_share(overlap):
    with pytest.raises(ValueError, match=r"overlap is .*Pass a share of the questions, from 0 to 1\."):
        begin().questions(overlap=overlap)


@pytest.mark.parametrize("how", [{"overlap": 0.2}, {"gold": "gold.csv"}])
def test_a_session_without_errors_has_nothing_to_learn(how):
    with pytest.raises(SessionError, match="treats every answer as correct"):
        begin(error_rate=0).questions(to="anna", **how)


# ---------------------------------------------------------------- gold pairs
def with_gold(**options):
    session = begin(**options)
    session.import_constraints(GOLD, source="gold.csv")
    return session


def test_gold_pairs_are_spread_and_nobody_gets_one_twice():
    session = with_gold()
    shown = work(session, ("anna", "ben"), 60, gold="gold.csv")
    for person in ("anna", "ben"):
        own = [is_gold for who, _, is_gold in shown if who == person]
        assert [at for at, is_gold in enumerate(own, 1) if is_gold] == [6, 16, 26]
        pairs = [pair for who, pair, is_gold in shown if who == person and is_gold]
        assert len(pairs) == len({*pairs} & GOLD_PAIRS)


def test_people_get_gold_pairs_in_an_order_of_their_own():
    session = with_gold()
    events = [*session.history, *asked(100), *asked(100, source="ben")]
    anna, ben = (choose_gold(events, person, (), "gold.csv", 0) for person in ("anna", "ben"))
    assert {*anna} == {*ben} == {tuple(sorted(pair)) for pair in GOLD_PAIRS}
    assert anna != ben
    assert choose_gold(events, "anna", (), "other.csv", 0) == []
    assert choose_gold(events, "anna", {anna[0]}, "gold.csv", 0) == anna[1:]


def test_a_gold_answer_is_no_answer_to_the_learner_and_never_overrides():
    session, plain = with_gold(), with_gold()
    work(session, ("anna",), 5, gold="gold.csv")
    work(plain, ("anna",), 5)
    (q,) = session.questions(1, to="anna", gold="gold.csv")
    before = session.evidence.verdict(q.first, q.second)
    session.answer(not says(q), question_id=q.id, source="anna")
    assert session.history[-1].gold == before
    assert session.evidence.verdict(q.first, q.second) == before
    assert session.status.n_answers == plain.status.n_answers == 5
    assert session.evidence.n_questions == plain.evidence.n_questions
    assert pair_of(session.question) == pair_of(plain.question)
    assert session.labels.tolist() == plain.labels.tolist()
    assert [s.number for s in session.suspects] == [session.history[-1].number]
    assert session.review() == []
    (anna,) = count_by_source(session.history)
    assert (anna.n_answers, anna.n_gold, anna.n_gold_right) == (5, 1, 0)
    assert "; 0 of 1 gold pair right. linkwise assumes" in describe_source(
        anna, session.error_rates.by_source["anna"]
    )


def test_gold_pairs_tell_the_error_rate():
    session = with_gold(error_rate=None)
    pairs = lw.Constraints(N, [(i, i + 6) for i in range(20)])
    session.import_constraints(pairs, source="more.csv")
    for _ in range(200):
        for person in ("anna", "ben"):
            for q in session.questions(1, to=person, gold="more.csv"):
                is_wrong = person == "ben" and q.why == WHY
                session.answer(says(q) != is_wrong, question_id=q.id, source=person)
    anna, ben = count_by_source(session.history)
    assert anna.n_gold == anna.n_gold_right > 2
    assert ben.n_gold > ben.n_gold_right == 0
    rates = session.error_rates.by_source
    assert rates["ben"].rate > rates["anna"].rate


def test_without_its_import_a_gold_answer_is_an_ordinary_one(tmp_path):
    session = with_gold()
    work(session, ("anna",), 6, gold="gold.csv")
    assert [e.gold is not None for e in session.history[1:]] == [False] * 5 + [True]
    session.save(tmp_path / "a.linkwise")
    with lw.Session.open(tmp_path / "a.linkwise", X) as reopened:
        assert reopened.history == session.history
        assert reopened.labels.tolist() == session.labels.tolist()
        reopened.undo(1)
        assert not any(e.gold for e in reopened.history)
        assert reopened.status.n_answers == 6


def test_an_answer_before_the_import_is_no_gold_answer():
    session = begin()
    (q, *_) = session.questions(2, to="anna")
    (_, late) = session.questions(2, to="anna")
    session.answer(says(q), question_id=q.id, source="anna")
    kind = "must_link" if says(late) else "cannot_link"
    session.import_constraints(lw.Constraints(N, **{kind: [(late.first, late.second)]}), source="g")
    session.answer(says(late), question_id=late.id, source="anna")
    assert session.history[-1].place == Place(0, 1)
    assert session.history[-1].gold is None
    assert session.status.n_answers == 2


def test_not_sure_of_a_gold_pair_is_neither_right_nor_wrong():
    session = with_gold()
    work(session, ("anna",), 5, gold="gold.csv")
    (q,) = session.questions(1, to="anna", gold="gold.csv")
    session.answer("unsure", question_id=q.id, source="anna")
    assert count_by_source(session.history)[0].n_gold == 0
    assert session.questions(1, to="anna", gold="gold.csv")[0].why != WHY


def test_what_is_believed_does_not_depend_on_whether_the_learner_went_on():
    """Answers to several open questions wait for the learner; whoever reads must not see less than it."""
    session, rng = begin(error_rate=None), np.random.default_rng(0)
    for read in (lambda: session.error_rates, lambda: session.suspects, session.review):
        for q in session.questions(8, to="anna"):
            session.answer(bool(says(q) != (rng.random() < 0.3)), question_id=q.id, source="anna")
        first = read()
        assert session.question is not None  # takes the learner on
        assert read() == first
