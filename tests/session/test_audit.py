"""Audits: which pairs of a program a person is asked, and what follows from the answers."""

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from linkwise.constraints.fallible import FallibleEvidence
from linkwise.errors import SessionDamagedError, SessionError, StaleAnswerError
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.session.journal.events import AuditPlan
from linkwise.session.session import Session
from linkwise.session.team.audit import describe_audit, draw_plan, estimate_share, measure_audit

N_ROWS = 30
KIND = np.arange(N_ROWS) % 3
X = np.column_stack([10.0 * KIND, 5.0 * (KIND == 1)]) + np.random.default_rng(0).normal(0, 0.2, (N_ROWS, 2))
WRONG = frozenset({4, 9, 13, 20, 27})  # of the answers of the program


def begin(path=None, n_answers=40, error_rate=None):
    """A session that a program answered, with a few errors."""
    learner = COBRAS(random_state=0)
    session = (
        Session(X, learner, error_rate=error_rate)
        if path is None
        else Session.open(path, X, learner, error_rate=error_rate)
    )
    for number, (i, j) in enumerate(list_pairs(n_answers)):
        is_same = (KIND[i] == KIND[j]) != (number in WRONG)
        session.add(i, j, "must-link" if is_same else "cannot-link", source="judge.py")
    return session


def list_pairs(n):
    rng = np.random.default_rng(1)
    every = [(i, j) for i in range(N_ROWS) for j in range(i + 1, N_ROWS)]
    return [every[at] for at in rng.permutation(len(every))[:n]]


def tell(session, question, answer=None):
    true = bool(KIND[question.first] == KIND[question.second])
    session.answer(true if answer is None else answer, question_id=question.id, source=question.to)


def pairs_of(questions):
    return [(q.first, q.second) for q in questions]


# ---------------------------------------------------------------- the pairs
def test_an_audit_asks_pairs_of_the_program_and_goes_on_after_a_restart(tmp_path):
    path = tmp_path / "one.linkwise"
    with begin(path) as session:
        asked = session.audit("judge.py", 12, by="anna")
        assert len(set(pairs_of(asked))) == 12
        assert set(pairs_of(asked)) <= set(list_pairs(40))
        assert {question.to for question in asked} == {"anna"}
        for question in reversed(asked[:5]):
            tell(session, question)
        with pytest.raises(StaleAnswerError):
            tell(session, asked[0])  # counts once
    with Session.open(path, X) as session:
        left = session.audit("judge.py", 30, by="anna")
        assert pairs_of(left) == pairs_of(asked[5:])
        assert pairs_of(session.audit("judge.py", 2, by="anna")) == pairs_of(left[:2])
        for question in left:
            tell(session, question)
        further = session.audit("judge.py", 100, by="anna")
        assert set(pairs_of(further)) == set(list_pairs(40)) - set(pairs_of(asked))  # all that are left
        for question in further:
            tell(session, question)
        assert session.audit("judge.py", by="anna") == []
        assert session.audit_report("judge.py", by="anna").n_wrong == len(WRONG)


def test_piles_are_audited_by_the_pairs_that_they_follow_from():
    session = Session(X, COBRAS(random_state=0), error_rate=None)
    for at in range(0, N_ROWS, 6):  # each screen has one misplaced card of six
        rows = list(range(at, at + 6))
        session.sort([[*rows[0::3], rows[1]], rows[2::3], [rows[4]]], source="judge.py")
    session.sort([[0, 9]], unsure=[10], source="judge.py")
    asked = session.audit("judge.py", 99, by="anna")
    yes = [(at, at + step) for at in range(0, N_ROWS, 6) for step in (1, 3)] + [
        (at + 2, at + 5) for at in range(0, N_ROWS, 6)
    ]
    no = [(at + one, at + other) for at in range(0, N_ROWS, 6) for one, other in ((0, 2), (0, 4), (2, 4))]
    assert set(pairs_of(asked)) == {*yes, *no, (0, 9)}
    for question in asked:
        tell(session, question)
    report = session.audit_report("judge.py", by="anna")
    assert (report.n_answers, report.n_checked) == (31, 31)
    assert (report.n_wrong_yes, report.n_wrong_no) == (5, 0)
    assert report.rate == pytest.approx(5 / 31)


def test_a_third_are_the_most_doubtful_answers_yes_and_no_by_turns():
    answers = {(i, i + 50): ("yes" if i % 5 else "no", i + 1) for i in range(50)}
    doubt = {pair: 0.3 if pair[0] < 20 else 0.01 for pair in answers}
    plan = draw_plan("judge", "", 15, answers, {}, fake_evidence(100, doubt), (0, 50))
    doubtful = [pair for pair, is_doubtful in zip(plan.pairs, plan.is_doubtful, strict=True) if is_doubtful]
    assert len(plan.pairs) == len(set(plan.pairs)) == 15
    assert len(doubtful) == 5
    assert all(doubt[pair] == 0.3 for pair in doubtful)
    assert sorted(answers[pair][0] for pair in doubtful) == ["no", "no", "yes", "yes", "yes"]
    none = draw_plan("judge", "", 15, answers, {}, fake_evidence(100, dict.fromkeys(answers, 0.01)), (0, 50))
    assert not any(none.is_doubtful)
    assert len(none.pairs) == 15


def fake_evidence(n_rows, doubt):
    def chance_of_error(first, second, _answer):
        return doubt[first, second]

    return SimpleNamespace(belief=SimpleNamespace(rows=np.arange(n_rows), chance_of_error=chance_of_error))


# ---------------------------------------------------------------- the rate
def test_the_rate_has_no_bias_and_its_interval_holds_it():
    rng = np.random.default_rng(0)
    n, error, n_covered, found = 150, 0.15, 0, []
    for number in range(300):
        pairs = [(i, i + n) for i in range(n)]
        is_wrong = rng.random(n) < error
        # errors are doubtful far more often than right answers are
        doubt = dict(
            zip(pairs, np.where(rng.random(n) < 0.5, is_wrong * 0.8, rng.random(n) * 0.2), strict=True)
        )
        answers = {pair: ("yes" if at % 2 else "no", at + 1) for at, pair in enumerate(pairs)}
        plan = draw_plan("judge", "", 30, answers, {}, fake_evidence(2 * n, doubt), (number, n))
        verdicts = {
            pair: (
                {"yes": "no", "no": "yes"}[answers[pair][0]] if is_wrong[pair[0]] else answers[pair][0],
                n + 1,
            )
            for pair in plan.pairs
        }
        report = measure_audit(plan, answers, verdicts, None, None)
        found.append(report.rate - is_wrong.mean())
        n_covered += report.low <= is_wrong.mean() <= report.high
    assert abs(np.mean(found)) < 0.015
    assert n_covered >= 0.93 * 300


def test_weights_widen_the_interval_and_equal_ones_do_not():
    is_wrong = np.array([True] * 3 + [False] * 17)
    share, low, high = estimate_share(is_wrong, np.full(20, 7.0))
    assert share == pytest.approx(0.15)
    assert (low, high) == pytest.approx((0.0524, 0.3604), abs=1e-4)  # Wilson for 3 of 20
    _, lower, higher = estimate_share(is_wrong, np.where(np.arange(20) % 2, 1.0, 9.0))
    assert higher - lower > high - low


def test_a_report_counts_kinds_of_errors_unsure_and_open_pairs():
    session = begin()
    session.add(*list_pairs(41)[40], "must-link", source="other")
    asked = session.audit("judge.py", 40)
    for question in asked[:-3]:
        tell(session, question)
    tell(session, asked[-1], "unsure")
    report = session.audit_report("judge.py")
    given = [event for event in session.history if event.source == "judge.py"]
    decided = set(pairs_of(asked[:-3]))
    wrong = [
        event
        for number, event in enumerate(given)
        if number in WRONG and (event.first, event.second) in decided
    ]
    assert (report.n_answers, report.n_checked, report.n_unsure, report.n_open) == (40, 37, 1, 2)
    assert report.n_wrong == len(wrong) > 0
    assert report.n_wrong_yes == sum(event.answer == "yes" for event in wrong)
    assert report.n_wrong_no == report.n_wrong - report.n_wrong_yes
    assert report.n_yes + report.n_no == report.n_checked
    assert report.low < report.rate < report.high
    assert report.believed == session.error_rates.by_source["judge.py"]
    session.undo()
    assert session.audit_report("judge.py").n_unsure == 0
    assert pairs_of(session.audit("judge.py")) == pairs_of(asked[-3:])


def test_an_answer_that_somebody_changed_counts_as_what_the_program_said():
    session = begin()
    asked = session.audit("judge.py", 40)
    number = min(WRONG)
    event = session.history[number]
    session.change(event.number, "yes" if event.answer == "no" else "no")
    report = session.audit_report("judge.py")
    assert (report.n_checked, report.n_wrong, report.n_open) == (1, 1, 39)
    assert (event.first, event.second) not in pairs_of(session.audit("judge.py", 40))
    assert len(asked) == 40


def test_few_pairs_estimate_nothing():
    session = begin()
    for question in session.audit("judge.py", 9):
        tell(session, question)
    report = session.audit_report("judge.py")
    assert (report.n_checked, report.rate, report.low, report.high) == (9, None, None, None)
    assert report.distance.finding == "few"
    words = describe_audit(report)
    assert words[1] == "These are too few pairs to estimate how often judge.py is wrong."
    assert "too few pairs" in words[2] or "in none of them" in words[2]


# ---------------------------------------------------------------- the distance
def compare(says, n=40):
    """Compare a program with the distance, which misleads in some pairs, same and different ones alike."""
    rng, number = np.random.default_rng(3), np.arange(n)
    pairs = [(2 * i, 2 * i + 1) for i in range(n)]
    is_same, is_misleading = number % 2 == 0, (number % 4 % 3 == 0) & (number < 0.7 * n)
    is_close = is_same != is_misleading
    rows = np.zeros((2 * n, 1))
    rows[1::2, 0] = np.where(is_close, 1.0, 5.0) + rng.random(n)
    given = [
        says(same, close, number) for number, (same, close) in enumerate(zip(is_same, is_close, strict=True))
    ]
    answers = {pair: ("yes" if yes else "no", 1) for pair, yes in zip(pairs, given, strict=True)}
    verdicts = {pair: ("yes" if same else "no", 2) for pair, same in zip(pairs, is_same, strict=True)}
    plan = AuditPlan("judge", "", 1, tuple(pairs), (False,) * n)
    return measure_audit(plan, answers, verdicts, None, rows)


def test_a_program_that_repeats_the_distance_is_found_out():
    report = compare(lambda same, close, number: close)
    found = report.distance
    assert (found.n_agreeing, found.n_misleading) == (40, found.n_wrong_there)
    assert (found.finding, found.n_wrong_elsewhere) == ("repeats", 0)
    assert describe_audit(report)[-1].endswith("Its answers add little to the distances.")


def test_a_program_with_errors_of_its_own_adds_to_the_distance():
    report = compare(lambda same, close, number: same != (number % 7 == 3))
    assert report.distance.finding == "corrects"
    assert report.distance.high < 0.5
    assert report.distance.n_misleading + report.distance.n_others == report.n_checked == 40


def test_without_clear_numbers_nothing_is_claimed():
    half = compare(lambda same, close, number: same != (number % 2 == (number // 4) % 2))
    assert half.distance.finding == "unclear"
    assert compare(lambda same, close, number: close, n=8).distance.finding == "few"


# ---------------------------------------------------------------- errors
def test_what_cannot_be_audited(tmp_path):
    session = begin()
    with pytest.raises(SessionError, match="'nobody' has given no answer"):
        session.audit("nobody")
    with pytest.raises(ValueError, match="cannot audit itself"):
        session.audit("judge.py", by="judge.py")
    with pytest.raises(ValueError, match="n is 0"):
        session.audit("judge.py", 0)
    with pytest.raises(TypeError, match="n is not an integer"):
        session.audit("judge.py", 1.5)
    with pytest.raises(SessionError, match=r"There is no audit of 'judge\.py' by 'ben'"):
        session.audit_report("judge.py", by="ben")
    with pytest.raises(SessionError, match="treats every answer as correct"):
        Session(X, COBRAS(random_state=0)).audit("judge.py")
    path = tmp_path / "one.linkwise"
    with begin(path) as session:
        for question in session.audit("judge.py", 10):
            tell(session, question)
        known = session.audit_report("judge.py")
    with Session.open(path) as session:
        with pytest.raises(SessionError, match="without its data"):
            session.audit("judge.py")
        report = session.audit_report("judge.py")
        assert report.distance is None
        assert (report.rate, report.n_wrong) == (known.rate, known.n_wrong)


@pytest.mark.parametrize(
    "text",
    [
        "3",
        "[[1, 2]]",
        '{"by": "", "pairs": [[2, 1]], "doubtful": [true]}',
        '{"by": "", "pairs": [[1, 99]], "doubtful": [true]}',
        '{"by": "", "pairs": [[1, 2], [1, 2]], "doubtful": [true, true]}',
        '{"by": "", "pairs": [[1, 2]], "doubtful": []}',
        '{"by": "", "pairs": [[1, 2]], "doubtful": [1]}',
        '{"by": 7, "pairs": [[1, 2]], "doubtful": [true]}',
        '{"by": "", "pairs": [[1, [2]]], "doubtful": [true]}',
        '{"by": "", "pairs": [[1, 2]]}',
    ],
)
def test_a_damaged_audit_is_noticed(tmp_path, text):
    path = tmp_path / "one.linkwise"
    begin(path, n_answers=0).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "INSERT INTO event (number, kind, happened, source, value) "
            "VALUES (1, 'audit', '2026-01-01T00:00:00+00:00', 'judge.py', ?)",
            (text,),
        )
    with pytest.raises(SessionDamagedError, match=r"Event 1 of the session is wrong\. Its audit"):
        Session.open(path)


def test_doubt_is_taken_from_what_is_believed():
    evidence = FallibleEvidence(4)
    for first, second, answer in [(0, 1, "yes"), (1, 2, "yes"), (0, 2, "no"), (0, 3, "no"), (1, 3, "no")]:
        evidence.add(first, second, answer, source="judge")
    evidence.add(0, 2, "yes", source="anna")
    evidence.believe()
    answers = {fact.pair: (fact.answer, at + 1) for at, fact in enumerate(evidence) if fact.source == "judge"}
    plan = draw_plan("judge", "", 3, answers, {}, evidence, (0, 6))
    doubtful = [pair for pair, is_ in zip(plan.pairs, plan.is_doubtful, strict=True) if is_]
    assert doubtful == [(0, 2)]
