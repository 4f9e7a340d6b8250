"""Functions and coroutine functions that answer the questions of a session."""

import asyncio
import signal
import threading
from collections import Counter
from concurrent.futures import ALL_COMPLETED
from types import SimpleNamespace

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.programs import answer as module
from linkwise.app.programs.replies import ProgramReply, check_reply
from linkwise.errors import InfeasibleConstraintsError, SessionError

N_ROWS = 12
TOO_SHORT = 0.05  # s: a time limit that is meant to be reached
X = np.random.default_rng(0).normal(size=(N_ROWS, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 4, axis=0)
Y = np.repeat([0, 1, 2], 4)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Repetitions come at once."""
    monkeypatch.setattr(module, "FIRST_DELAY_S", 0.001)


def begin(error_rate=None):
    return lw.Session(X, lw.COBRAS(n_init=1, random_state=0), error_rate=error_rate)


def same(first, second):
    return bool(Y[first] == Y[second])


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_function_answers_until_nothing_is_left(parallel):
    session, progress = begin(0), []
    done = lw.answer(session, same, parallel=parallel, source="rule", progress=lambda *n: progress.append(n))
    assert (done.n_failed, done.n_abstained, done.cost, done.reason) == (0, 0, 0.0, "exhausted")
    assert session.question is None
    assert done.n_answers == session.status.n_answers == len(progress)
    assert [n for n, _ in progress] == list(range(1, done.n_answers + 1))
    assert {event.source for event in session.history} == {"rule"}
    assert len({*zip(session.labels.tolist(), Y.tolist(), strict=True)}) == 3


def test_one_at_a_time_asks_what_a_person_is_asked():
    session, other, asked = begin(), begin(), []
    lw.answer(
        session, lambda q: asked.append((q.first, q.second, q.why)) or same(q.first, q.second), budget=5
    )
    for first, second, why in asked:
        q = other.question
        assert (q.first, q.second, q.why) == (first, second, why)
        other.answer(same(q.first, q.second), source="program")
    assert [e[:1] + e[2:] for e in map(as_tuple, session.events)] == [
        e[:1] + e[2:] for e in map(as_tuple, other.events)
    ]
    assert session.labels.tolist() == other.labels.tolist()


def as_tuple(event):
    return event.number, event.when, event.kind, event.first, event.second, event.answer, event.source


def test_without_a_time_limit_the_function_is_called_in_the_present_thread():
    threads = []
    lw.answer(begin(), lambda *_: threads.append(threading.current_thread()), timeout=None, budget=1)
    assert {*threads} == {threading.main_thread()}


def test_coroutines_run_side_by_side():
    n_running, most, are_two = 0, 0, asyncio.Event()

    async def judge(first, second):
        nonlocal n_running, most
        n_running += 1
        most = max(most, n_running)
        if n_running == 2:
            are_two.set()
        await are_two.wait()
        n_running -= 1
        return same(first, second)

    session = begin()
    done = lw.answer(session, judge, parallel=3, budget=6)
    assert (done.n_answers, done.reason) == (6, "budget")
    assert 1 < most <= 3
    assert all(same(e.first, e.second) == (e.answer == "yes") for e in session.history)


def test_a_coroutine_that_is_too_slow_is_cancelled_and_repeated():
    calls, cancelled = Counter(), []

    async def judge(first, second):
        calls[first, second] += 1
        try:
            await asyncio.sleep(60 if calls[first, second] == 1 else 0)
        except asyncio.CancelledError:
            cancelled.append((first, second))
            raise
        return same(first, second)

    done = lw.answer(begin(), judge, timeout=TOO_SHORT, retries=100, budget=1)
    assert (done.n_answers, done.n_failed) == (1, 0)
    assert cancelled[:1] == list(calls)


def test_a_function_that_never_returns_holds_up_nothing():
    stuck, never = set(), threading.Event()

    def judge(first, second):
        if not stuck or (first, second) in stuck:
            stuck.add((first, second))
            never.wait()
        return same(first, second)

    session = begin()
    done = lw.answer(session, judge, parallel=2, timeout=2 * TOO_SHORT, retries=0, budget=3)
    never.set()
    assert (done.n_answers, done.reason) == (3, "budget")
    assert stuck <= {(f.first, f.second) for f in done.failures}
    assert done.failures[0].error == "no reply within 0.1 s"


def test_errors_are_repeated_and_the_wait_doubles(monkeypatch):
    calls, waits = Counter(), []
    delay = module.delay_before
    monkeypatch.setattr(module, "delay_before", lambda *given: waits.append(delay(*given)) or waits[-1])

    def judge(first, second):
        calls[first, second] += 1
        if calls[first, second] < 4:
            raise ConnectionError("no line")
        return same(first, second)

    done = lw.answer(begin(), judge, budget=1)
    assert (done.n_answers, done.n_failed, [*calls.values()]) == (1, 0, [4])
    assert all(0.5 <= wait / (0.001 * 2**k) <= 1 for k, wait in enumerate(waits))


def test_a_question_that_fails_is_left_open_and_the_others_go_on():
    session = begin()
    first = session.question

    def judge(i, j):
        if {i, j} == {first.first, first.second}:
            raise ValueError("this pair is odd")
        return same(i, j)

    done = lw.answer(session, judge, retries=1, budget=4)
    assert (done.n_answers, done.n_failed, done.reason) == (4, 1, "budget")
    assert done.failures[0].error == "ValueError: this pair is odd"
    answered = [{e.first, e.second} for e in session.history]
    assert {first.first, first.second} not in answered


def test_a_program_that_always_fails_is_not_asked_for_ever():
    session, calls = begin(), []
    done = lw.answer(session, lambda *pair: calls.append(pair) or "perhaps", retries=1)
    assert (done.n_answers, done.n_failed, done.reason) == (0, 5, "failed")
    assert len(calls) == 10
    assert "'perhaps' (str). Pass 'same' or 'yes'" in done.failures[0].error
    assert session.events == []


def test_no_answer_leaves_the_question_to_others():
    session = lw.Session(X[2:6], lw.COBRAS(n_init=1, random_state=0), error_rate=None)
    first = session.question
    done = lw.answer(session, lambda i, j: None if i == first.first else same(i + 2, j + 2))
    assert done.n_abstained > 0
    assert done.reason == "unanswered"
    assert session.question is not None
    assert not [e for e in session.history if e.first == first.first and e.answer == "unsure"]


def test_a_program_without_any_answer_is_not_asked_for_ever(monkeypatch):
    monkeypatch.setattr(module, "MOST_ABSTENTIONS", 2)
    done = lw.answer(begin(), lambda *_: None, timeout=None)
    assert (done.n_answers, done.n_abstained, done.reason) == (0, 2, "unanswered")


def test_costs_end_it():
    done = lw.answer(begin(), lambda i, j: ProgramReply(same(i, j), cost=0.25), max_cost=0.5)
    assert (done.n_answers, done.cost, done.reason) == (2, 0.5, "cost")


def test_costs_count_across_runs_by_source(tmp_path):
    path, judge = tmp_path / "s.linkwise", lambda i, j: ProgramReply(same(i, j), cost=0.25)
    learner = lw.COBRAS(n_init=1, random_state=0)
    with lw.Session.open(path, X, learner, error_rate=None) as session:
        assert session.costs == {}
        assert lw.answer(session, judge, budget=3, source="judge").total_cost == 0.75
    with lw.Session.open(path, X) as session:
        done = lw.answer(session, judge, max_cost=1, source="judge")
        assert (done.n_answers, done.cost, done.total_cost, done.reason) == (1, 0.25, 1.0, "cost")
        assert lw.answer(session, judge, max_cost=1, source="judge").n_answers == 0
        assert lw.answer(session, judge, max_cost=0.5, source="other").n_answers == 2
        session.undo()  # what is spent is spent
        assert session.costs == {"judge": 1.0, "other": 0.5}


def test_replies_that_are_of_no_use_cost_as_well():
    session = begin()
    done = lw.answer(session, lambda i, j: ProgramReply("maybe", cost=0.5), retries=1, max_cost=1)
    assert (done.n_answers, done.cost, session.costs) == (0, 1.0, {"program": 1.0})


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_an_interrupt_keeps_all_answers(error, timeout):
    session, asked = begin(), []

    def judge(first, second):
        asked.append((first, second))
        if len(asked) == 4:
            raise error
        return same(first, second)

    with pytest.raises(error):
        lw.answer(session, judge, timeout=timeout)
    assert [(e.first, e.second) for e in session.history] == asked[:3]


def test_ctrl_c_waits_until_an_answer_is_stored():
    session = begin()
    store = session.answer

    def interrupted(*given, **named):
        signal.raise_signal(signal.SIGINT)
        store(*given, **named)

    session.answer = interrupted
    with pytest.raises(KeyboardInterrupt):
        lw.answer(session, same)
    assert session.status.n_answers == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_replies_that_have_come_are_stored_if_another_one_ends_it(monkeypatch):
    session, names = begin(), []
    monkeypatch.setattr(module, "FIRST_COMPLETED", ALL_COMPLETED)

    def judge(first, second):
        names.append((first, second))
        if len(names) == 1:
            raise KeyboardInterrupt
        return same(first, second)

    with pytest.raises(KeyboardInterrupt):
        lw.answer(session, judge, parallel=2, budget=2)
    assert session.status.n_answers == 1


def test_a_question_that_others_have_answered_meanwhile():
    session = begin()
    answers = session.answer

    def judge(first, second):
        if not session.events:  # someone else is quicker, and the program's answer counts, too
            answers(same(first, second), source="anna")
        return same(first, second)

    done = lw.answer(session, judge, budget=1)
    assert (done.n_answers, [e.source for e in session.history]) == (1, ["anna", "program"])


def test_a_second_answer_to_the_same_question_is_not_stored():
    session = begin()
    (first,) = session.questions(1, to="program")
    session.answer("no", question_id=first.id, source="program")
    left = [[first], []]
    session.questions = lambda *_, **__: left.pop(0)
    done = lw.answer(session, same)
    assert (done.n_answers, done.n_failed, done.reason) == (0, 0, "unanswered")
    assert session.status.n_answers == 1


def test_a_contradiction_is_an_error_only_where_all_answers_count_as_right():
    def judge(first, second):
        return sorted((first, second)) in ([0, 1], [1, 2])

    session = lw.Session(X[:3], lw.COBRAS(n_init=1, random_state=0), error_rate=0)
    session.add(0, 1, "must-link")
    (first,) = session.questions(1, to="program")
    session.add(1, 2, "must-link")
    session.questions = lambda *_, **__: [first]
    with pytest.raises(InfeasibleConstraintsError):
        lw.answer(session, lambda *_: "no")
    session = lw.Session(X[:3], lw.COBRAS(n_init=1, random_state=0), error_rate=None)
    assert lw.answer(session, judge).n_failed == 0


def test_the_error_rate_of_a_program_is_estimated():
    session = begin({"": 0, "coin": None})
    lw.answer(session, lw.TruthOracle(Y, noise=0.3, random_state=1), source="coin", budget=40)
    assert session.error_rates.by_source["coin"].rate > 0.05
    assert session.assumed_error_rate == {"": 0, "coin": None}


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (True, "yes"),
        (np.False_, "no"),
        ("unsure", "unsure"),
        (None, None),
        (1.0, "yes"),
        (0.7, "yes"),
        (0.56, "yes"),
        (0.54, "unsure"),
        (0.5, "unsure"),
        (0.46, "unsure"),
        (0.44, "no"),
        (np.float32(0.25), "no"),
        (0.3, "no"),
        (ProgramReply(0.9, 2, "alike"), "yes"),
    ],
)
def test_replies(reply, answer):
    assert check_reply(reply, 0, 1).answer == answer


@pytest.mark.parametrize(
    ("probability", "answer", "reliability"),
    [
        (1.0, "yes", 1.0),
        (0.75, "yes", 0.75),
        (0.7, "yes", 0.7),
        (0.69, "unsure", None),
        (0.31, "unsure", None),
        (0.3, "no", 0.7),
        (0.0, "no", 1.0),
    ],
)
def test_a_program_that_is_always_right_must_be_surer(probability, answer, reliability):
    found = check_reply(ProgramReply(probability, 2, "alike"), 0, 1, is_certain=True)
    assert (found.answer, found.cost, found.reason) == (answer, 2, "alike")
    assert found.reliability == pytest.approx(reliability)


@pytest.mark.parametrize(
    ("error_rate", "expected"),
    [
        (None, {("yes", 0.6), ("no", 0.75)}),
        ({"": 0, "judge": None}, {("yes", 0.6), ("no", 0.75)}),
        ({"": None, "judge": 0}, {("unsure", None), ("no", 0.75)}),
        (0, {("unsure", None), ("no", 0.75)}),
    ],
)
@pytest.mark.parametrize("parallel", [1, 3])
def test_a_probability_is_stored_as_the_reliability_of_the_answer(error_rate, expected, parallel):
    session = begin(error_rate)
    probability = lambda first, second: 0.6 if same(first, second) else 0.25  # noqa: E731
    lw.answer(session, probability, source="judge", budget=9, parallel=parallel)
    assert {(event.answer, event.reliability) for event in session.history} == expected


@pytest.mark.parametrize(
    "reply", ["maybe", 1, 1.2, float("nan"), ProgramReply("yes", -1), ProgramReply("yes", True)]
)
def test_replies_that_are_no_answers(reply):
    with pytest.raises(ValueError, match=r"Pass|The cost is not a number from 0 on"):
        check_reply(reply, 0, 1)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"oracle": 3}, TypeError, "oracle=3 is not a function"),
        ({"oracle": lambda: None}, TypeError, r"takes the arguments \(\)"),
        ({"parallel": 0}, ValueError, "parallel=0 is too small. Pass 1 or more"),
        ({"parallel": 1.5}, TypeError, "parallel=1.5 is not a whole number"),
        ({"retries": -1}, ValueError, "retries=-1 is too small"),
        ({"timeout": 0}, ValueError, "timeout=0 is not above 0"),
        ({"timeout": "1"}, TypeError, "timeout='1' is not a number"),
        ({"max_cost": float("nan")}, ValueError, "max_cost=nan is not above 0"),
        ({"budget": -1}, ValueError, "budget=-1 is negative"),
        ({"source": 3}, TypeError, "The source of an answer is not text: 3"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_asked(given, error, message):
    with pytest.raises(error, match=message):
        lw.answer(begin(), **({"oracle": same} | given))


def test_a_session_without_its_data_asks_nothing(tmp_path):
    with begin() as session:
        session.save(tmp_path / "s")
    with lw.Session.open(tmp_path / "s") as session, pytest.raises(SessionError, match="without its data"):
        lw.answer(session, same)


@pytest.mark.parametrize(
    ("reason", "note"),
    [
        ("", ""),
        (" the same\n name ", "the same\n name"),
        ("half \ud800", "half \\ud800"),
        ("x" * 3000, "x …"),
    ],
)
def test_the_reason_becomes_the_note(reason, note):
    session = begin()
    lw.answer(session, lambda i, j: ProgramReply(same(i, j), reason=reason), budget=3, parallel=2)
    assert {event.note[-len(note) :] if note else event.note for event in session.history} == {note}
    assert all(event.seconds >= 0 for event in session.history)


def test_seconds_run_from_sending_to_reply(monkeypatch):
    """What linkwise needs to store the answers before does not count."""
    times, call = iter([7.5, 99.0]), module._Call(begin().questions(1, to="program")[0])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    call.future = module.Future()
    call.future.add_done_callback(call.take_time)
    call.future.set_result(True)
    assert call.replied == 7.5
    late, call.future = call.future, module.Future()  # asked again meanwhile
    call.take_time(late)
    assert call.replied == 7.5
