"""Every learner in every degenerate world: it asks, ends, and keeps every answer, whatever these are."""

import numpy as np
import pytest

import linkwise as lw
from laws.worlds import ANSWERS, CELLS, QUESTIONS, SEED, WORLDS_OF_ITEMS, learner_and_prepared
from linkwise.constraints.evidence import Evidence
from linkwise.learn.abilities import (
    SupportsAdvise,
    SupportsColumnShares,
    SupportsConfidence,
    SupportsDescribe,
    SupportsRepresentatives,
)
from linkwise.learn.run import Run
from registry import night_marks

ASKING = ("COBRA, 25 parts", "COBRAS", "MinMax", "NPU", "ActiveFeatureWeights", "ActiveCOBS")
TYPICAL = ("2 rows", "8 rows", "12 identical rows", "8 rows in 3 classes", "many rows")
"""Worlds for laws that ask little of the rows."""

MOST_TAKEN = 2  # ways of answering that a world takes by day
OF_ITEMS_BY_DAY = (
    "constant columns, many rows",
    "a cluster and a far row",
    "many rows, 300 in 100 classes",
    "identical rows, more than are sampled",
    "many rows, 1 to show",
)
"""KIN treats the rows of the other large worlds in the same way."""
AT_NIGHT = {world.name for world in WORLDS_OF_ITEMS} - {*OF_ITEMS_BY_DAY}


def ways_to_answer(at, world):
    """Some ways of answering: each world takes others than its neighbours, so that all are taken often."""
    if world.name == "8 rows":
        return tuple(ANSWERS)
    step = len(ANSWERS) // MOST_TAKEN
    return tuple(list(ANSWERS)[(at + i * step) % len(ANSWERS)] for i in range(MOST_TAKEN))


each_cell = pytest.mark.parametrize(
    ("entry", "world"),
    [
        pytest.param(
            entry,
            world,
            id=f"{entry.name}: {world.name}",
            marks=night_marks(entry) if world.name in TYPICAL else pytest.mark.slow(nightly=True),
        )
        for entry, world in CELLS
    ],
)
BY_DAY = [
    (entry, world, ways_to_answer(at, world))
    for at, (entry, world) in enumerate(CELLS)
    if world.name not in AT_NIGHT
]
BY_NIGHT = [(entry, world, tuple(ANSWERS)) for entry, world in CELLS if world.name != "8 rows"]
SESSIONS = [
    pytest.param(
        entry,
        world,
        marks=() if world.name in TYPICAL else pytest.mark.slow(nightly=True),
        id=f"{entry.name}: {world.name}",
    )
    for entry, world in CELLS
    if world.askable is None
    and entry.is_storable  # sessions of ActiveCOBS: tests/session
    and (entry.name == "KIN" or (entry.name in ASKING and world.name in TYPICAL))
]


def begin(entry, world):
    learner, prepared = learner_and_prepared(entry, world)
    evidence = Evidence(len(world.X), world.constraints)
    options = {"prepared": prepared, "askable": world.mask, "budget": world.budget}
    return learner, Run(learner, world.X, evidence, SEED, **options)


def assert_labels_respect(labels, evidence):
    n_clusters = int(labels.max()) + 1
    assert labels.shape == (evidence.n_rows,)
    assert labels.dtype == np.int32
    assert np.bincount(labels, minlength=n_clusters).all(), "a cluster without rows"
    together, apart = evidence.pairs_with_answer("yes"), evidence.pairs_with_answer("no")
    assert (labels[together[:, 0]] == labels[together[:, 1]]).all()
    assert (labels[apart[:, 0]] != labels[apart[:, 1]]).all()


def told_beside(learner, run):
    """Compute everything that the page shows beside a question; it must not fail."""
    n_rows, words, rows, shares = run.evidence.n_rows, [], None, None
    if isinstance(learner, SupportsDescribe):
        words = list(learner.describe(run.state))
        assert all(isinstance(line, str) for line in words)
    if (
        isinstance(learner, SupportsRepresentatives)
        and (rows := learner.representatives(run.state)) is not None
    ):
        assert ((rows >= 0) & (rows < n_rows)).all()
    if isinstance(learner, SupportsColumnShares) and (shares := learner.column_shares(run.state)) is not None:
        np.testing.assert_allclose(shares.sum(), 1)
    if isinstance(learner, SupportsConfidence) and (sure := learner.confidence(run.state)) is not None:
        assert sure.shape == (n_rows,)
        assert ((sure >= 0) & (sure <= 1 + 1e-9)).all()
        advice = learner.advise(run.state) if isinstance(learner, SupportsAdvise) else None
        if advice is not None and advice.wrong is not None:  # else it is too early to tell
            # a row may be an exception, and its cluster only a part of its class
            assert (1 - sure).mean() - 1e-9 <= advice.wrong <= advice.most_wrong <= 1
    return [words, *(None if part is None else part.tolist() for part in (rows, shares))]


def ask(entry, world, answer_of):
    """All questions with their answers, and the labels at each; what a run may never do is checked."""
    learner, run = begin(entry, world)
    steps = []
    while (q := run.question) is not None:
        assert run.evidence.verdict(q.first, q.second) is None, "what is known was asked"
        if world.askable is not None:
            assert {q.first, q.second} <= set(world.askable)
        answer = answer_of(len(steps), q.first, q.second)
        steps.append((q.first, q.second, answer, run.labels, told_beside(learner, run)))
        run.answer(answer)  # any answer is consistent, since nothing was known
        assert_labels_respect(run.labels, run.evidence)
    assert_labels_respect(run.labels, run.evidence)
    return run, steps


def n_classes(run):
    """Number of classes by the answers, if no others belong together."""
    return int(run.evidence.to_constraints().component.max()) + 1


def assert_truth_is_found(run):
    """Who asked until nothing was left knows every pair, and shows just that."""
    n, labels = len(run.labels), run.labels
    verdicts = np.array([[run.evidence.verdict(i, j) for j in range(n)] for i in range(n)])
    assert set(verdicts.ravel().tolist()) <= {"yes", "no"}
    np.testing.assert_array_equal(labels[:, None] == labels, verdicts == "yes")


def test_large_worlds_take_all_ways_of_answering_together():
    large = [
        (entry.name, way)
        for entry, world, ways in BY_DAY
        for way in ways
        if world.budget is not None and world.has_distinct_rows and world.constraints is None
        if world.askable is None
    ]
    assert {way for _, way in large} == {way for name, way in large if name == "KIN"} == {*ANSWERS}


@pytest.mark.parametrize(
    ("entry", "world", "ways"),
    [
        *(
            pytest.param(entry, world, ways, id=f"{entry.name}: {world.name}", marks=night_marks(entry))
            for entry, world, ways in BY_DAY
        ),
        *(
            pytest.param(
                *case,
                id=f"{case[0].name}: {case[1].name}, all ways to answer",
                marks=pytest.mark.slow(nightly=True),
            )
            for case in BY_NIGHT
        ),
    ],
)
def test_it_asks_on_and_ends(entry, world, ways):
    told = {}
    for kind in ways:
        run, steps = ask(entry, world, ANSWERS[kind])
        assert run.reason == ("budget" if len(steps) == world.budget else "exhausted")
        complete = world.budget is None and world.askable is None and world.has_distinct_rows
        sure = all(answer != "unsure" for _, _, answer, *_ in steps)
        if entry.exact and complete and sure and not (entry.known_k and n_classes(run) > 4):
            assert_truth_is_found(run)
        told[kind] = run, steps
        if not steps:
            break  # nothing is asked, whatever would be answered
    # in another order, with nothing remembered of these runs but what was prepared, which none may change
    for kind in reversed([*told][::2]):
        run, steps = told[kind]
        learner, again = begin(entry, world)
        for first, second, answer, labels, words in steps:
            assert (again.question.first, again.question.second) == (first, second), kind
            np.testing.assert_array_equal(again.labels, labels)
            assert told_beside(learner, again) == words
            again.tell(first, second, answer, asked=True)
        assert again.question is None
        assert again.reason == run.reason
        np.testing.assert_array_equal(again.labels, run.labels)


class Broken(Exception):
    """What an oracle raises."""


@each_cell
def test_an_oracle_that_raises_loses_nothing(entry, world, monkeypatch):
    learner, prepared = learner_and_prepared(entry, world)
    monkeypatch.setattr(type(learner), "prepare", lambda self, X, seed, *, progress=None: prepared)
    for after in (0, 4):
        raise_after(after, entry, world)


def raise_after(after, entry, world):
    said, model = [], entry.make(random_state=SEED)

    def oracle(first, second):
        if len(said) == after:
            raise Broken
        said.append((first, second))
        return len(said) % 3 != 0

    try:
        model.fit(
            world.X, oracle=oracle, constraints=world.constraints, askable=world.askable, budget=QUESTIONS
        )
    except Broken:
        assert model.reason_ == "stopped"
    else:
        assert model.reason_ != "stopped"
        assert len(said) < after or model.reason_ == "exhausted"
    assert model.n_questions_ == len(model.history_) == len(said)
    for number, pair in enumerate(said, start=1):
        assert model.constraints_.relation(*pair) == ("cannot-link" if number % 3 == 0 else "must-link")
    assert model.violations_ == 0
    assert len(model.labels_) == len(world.X)
    assert set(model.predict(world.X)) <= set(model.labels_)


@pytest.mark.parametrize(("entry", "world"), SESSIONS)
def test_a_session_that_is_opened_again_asks_the_same(entry, world, tmp_path, monkeypatch):
    learner, prepared = learner_and_prepared(entry, world)
    monkeypatch.setattr(type(learner), "prepare", lambda self, X, seed, *, progress=None: prepared)
    for number, answer_of in enumerate((ANSWERS["yes"], ANSWERS["no"])):
        path = tmp_path / f"{number}.linkwise"
        with lw.Session.open(path, world.X, entry.make(random_state=SEED)) as session:
            if world.constraints is not None:
                session.import_constraints(world.constraints)
            for at in range(5):
                if (q := session.question) is not None:
                    session.answer(answer_of(at, q.first, q.second))
            here, labels, words = session.question, session.labels, session.status.description
        with lw.Session.open(path, world.X) as session:
            there = session.question
            assert (there is None) == (here is None)
            if here is not None:
                assert (there.first, there.second) == (here.first, here.second)
            np.testing.assert_array_equal(session.labels, labels)
            assert session.status.description == words
