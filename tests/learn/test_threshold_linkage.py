"""Record linkage: the threshold between groups, found by questions, and answers that hold."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.data import encode, read_table
from linkwise.errors import DataError
from linkwise.learn import threshold_linkage
from linkwise.learn.learner import Problem
from linkwise.learn.run import Run
from linkwise.learn.threshold_linkage import estimate_threshold

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "data"
sys.path.insert(0, str(EXAMPLES))
import make_everyday  # noqa: E402


def make_groups(n_groups=60, width=0.02, seed=0):
    """Points in small groups of one to four, each group within `width`."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups), rng.integers(1, 5, n_groups))
    centres = rng.permutation(n_groups)[:, None] + 0.0
    return centres[y] + rng.uniform(0, width, (len(y), 1)), y


@pytest.mark.parametrize("width", [0.001, 0.02, 0.3])
def test_bisection_finds_separate_groups_in_few_questions(width):
    X, y = make_groups(width=width)
    model = lw.ThresholdLinkage().fit(X, oracle=lw.TruthOracle(y), budget=9)
    assert adjusted_rand_score(y, model.labels_) == 1


def test_contacts_are_linked_within_100_questions(tmp_path):
    make_everyday.make(tmp_path, ["contacts"], 0.4, seed=7)
    how = {"id_column": "record", "text": ["name", "street", "phone"], "text_by": "letters"}
    X = encode(read_table(tmp_path / "contacts.csv", **how)).X
    truth = np.loadtxt(tmp_path / "truth" / "contacts.csv", str, delimiter=",", skiprows=1)[:, 1]
    model = lw.ThresholdLinkage().fit(X, oracle=lw.TruthOracle(truth), budget=100)
    assert adjusted_rand_score(truth, model.history_[30]) > 0.9
    assert adjusted_rand_score(truth, model.labels_) > 0.95


def test_answers_hold_whatever_the_threshold_is():
    X, y = make_groups()
    constraints = lw.Constraints(len(X), must_link=[(0, len(X) - 1)], cannot_link=[(2, 3), (1, 2)])
    model = lw.ThresholdLinkage().fit(X, oracle=lw.TruthOracle(y), budget=0, constraints=constraints)
    assert model.violations_ == 0


def estimate_by_answers(answers):
    """The threshold where pairs of rows meet at heights 1, 2, ... with these answers; None: no answer."""
    rows = 2 * len(answers)
    pairs = np.arange(rows).reshape(-1, 2)
    joins = np.column_stack([np.zeros(len(answers) - 1, dtype=np.int64), pairs[1:, 0]])
    heights = np.arange(1.0, len(answers) + 1)
    merges = threshold_linkage.LinkageMerges(
        np.vstack([pairs, joins]), np.r_[heights, 100.0 + np.arange(len(joins))]
    )
    evidence = Evidence(rows)
    for pair, answer in zip(pairs.tolist(), answers, strict=True):
        if answer is not None:
            evidence.add(*pair, answer)
    return estimate_threshold(merges, evidence)


@pytest.mark.parametrize(
    ("answers", "low", "high"),
    [
        ([None] * 10, 9.5, 9.5),  # half of the 19 merges
        (["unsure"] * 10, 9.5, 9.5),
        (["yes"] * 10 + ["no"] * 10, 10.5, 10.5),
        ([None] * 9 + ["yes", None, None, None, None, None, None, "no"] + [None] * 3, 11, 17),
        (["yes", "yes", "no"] + ["yes"] * 5 + ["no"] * 12, 8.5, 8.5),  # one is wrong
        (["yes"] * 8 + ["no"] * 8 + ["yes"] + ["no"] * 3, 8.5, 8.5),
        (["yes"] * 5 + ["no", "yes"] * 5 + ["no"] * 5, 8, 13),
        (["no"] * 20, 0, 2),
        (["yes"] * 20, 100, 119),
    ],
)
def test_yes_and_no_are_equally_likely_at_the_threshold(answers, low, high):
    threshold = estimate_by_answers(answers)
    assert low <= threshold.height <= high
    assert (np.diff(threshold.chance) <= 0).all()
    assert ((threshold.chance > 0) & (threshold.chance < 1)).all()
    below, above = threshold.chances(np.array([threshold.height - 1, threshold.height]))
    assert above - 0.1 <= 0.5 <= below + 0.1


@pytest.mark.parametrize(("answer", "expected"), [("unsure", 1.5), ("no", 0.5), ("yes", 1.5)])
def test_merges_of_equal_height_count_all_or_none(answer, expected):
    pairs = np.column_stack([np.zeros(8, dtype=np.int64), np.arange(1, 9)])
    merges = threshold_linkage.LinkageMerges(pairs, np.repeat([1.0, 2.0], 4))
    evidence = Evidence(9)
    for pair in ((0, 1), (2, 3)):
        evidence.add(*pair, answer)
    assert estimate_threshold(merges, evidence).height == expected


def make_records(seed, n_groups=40):
    """Groups of two to five records, of which many are as near to those of other groups."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups), rng.integers(2, 6, n_groups))
    width = 0.45 * np.exp(0.4 * rng.standard_normal(n_groups))
    return rng.standard_normal((n_groups, 8))[y] + width[y, None] * rng.standard_normal((len(y), 8)), y


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, pytest.param(0.0, marks=pytest.mark.slow(nightly=True))])
def test_more_answers_about_overlapping_groups_do_no_harm(noise):
    found = []
    for seed in range(3):
        X, y = make_records(seed)
        oracle = lw.TruthOracle(y, noise=noise, random_state=seed)
        model = lw.ThresholdLinkage().fit(X, oracle=oracle, budget=60, error_rate=None if noise else 0)
        found.append([adjusted_rand_score(y, model.history_[at]) for at in (0, 9, 24, 59)])
    start, *later = np.mean(found, axis=0)
    assert min(later) > start - (0.05 if noise else 0.02)
    assert later[-1] > start + (0.02 if noise else 0.08)


def test_an_answer_that_the_distances_contradict_is_a_suspect():
    X, y = make_groups(width=0.02)
    evidence = FallibleEvidence(len(X), error_rate=0.1)
    run = Run(lw.ThresholdLinkage(), X, evidence, 0)
    for _ in range(30):
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert evidence.suspects() == []
    far = int(np.abs(X[:, 0] - X[0, 0]).argmax())
    run.tell(0, far, "yes")
    assert [suspect.fact.pair for suspect in evidence.suspects()] == [(0, far)]


def test_a_merge_that_nobody_can_judge_is_left_open():
    X, _ = make_groups(12)
    model = lw.ThresholdLinkage().fit(X, oracle=lambda i, j: "unsure")
    assert model.reason_ == "exhausted"


def test_too_many_rows_raise_an_error(monkeypatch):
    monkeypatch.setattr(threshold_linkage, "MOST_ROWS", 5)
    with pytest.raises(DataError, match="There are 6 rows"):
        lw.ThresholdLinkage().fit(np.arange(6.0)[:, None], oracle=lambda i, j: True)


def test_groups_and_single_rows_are_described():
    X = np.array([[0.0], [0.1], [5.0], [5.2], [9.0]])
    learner = lw.ThresholdLinkage()
    evidence = Evidence(len(X))
    for first, second, answer in ((0, 1, "yes"), (2, 3, "yes"), (3, 4, "no")):
        evidence.add(first, second, answer)
    state = learner.start(Problem(X, learner.prepare(X, 0), evidence, 0))
    assert state.labels.tolist() == [0, 0, 1, 1, 2]
    assert learner.describe(state) == ("There are 2 groups of several rows, and 1 row alone.",)


def test_the_description_counts_the_rows_alone_that_the_session_has():
    X, y = make_groups()
    session = lw.Session(X, lw.ThresholdLinkage(random_state=0))
    oracle = lw.TruthOracle(y)
    for _ in range(12):
        question = session.question
        session.answer(oracle(question.first, question.second))
    session.add(0, int(np.flatnonzero(y == y[0])[1]), "cannot-link")
    sizes = np.bincount(session.labels)
    groups, alone = int((sizes > 1).sum()), int((sizes == 1).sum())
    assert session.status.description == (
        f"There are {groups} groups of several rows, and {alone} row{'' if alone == 1 else 's'} alone.",
    )


def test_new_rows_join_a_group_or_none():
    X, y = make_groups()
    model = lw.ThresholdLinkage().fit(X, oracle=lw.TruthOracle(y), budget=20)
    assert (model.predict(X) == model.labels_).all()
    assert 0.02 <= model.threshold_ < 1
    assert model.predict(X[:3] + 0.001).tolist() == model.labels_[:3].tolist()
    assert model.predict([[-3.0], [1000.0]]).tolist() == [-1, -1]


# ---------------------------------------------------------------- pairs that are given, and no oracle
def draw_duplicates(y, n, seed=0):
    """Some of the pairs of rows in one group."""
    pairs = [(a, b) for a in range(len(y)) for b in range(a + 1, len(y)) if y[a] == y[b]]
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:n]
    return lw.Constraints(len(y), [pairs[at] for at in chosen])


@pytest.mark.parametrize("n_pairs", [0, 3, 20, 60])
def test_given_duplicates_set_the_threshold(n_pairs):
    """Few of them would tell too little, so the widest gap between merges decides."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    X = rng.normal(size=(60, 20))[y] + rng.normal(size=(len(y), 20)) * 0.1
    with warnings.catch_warnings(action="ignore", category=lw.NothingAskedWarning):
        model = lw.ThresholdLinkage().fit(X, constraints=draw_duplicates(y, n_pairs))
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert (model.predict(X) == model.labels_).all()
    assert model.predict(X[:2] + 100).tolist() == [-1, -1]


def test_duplicates_of_contacts_are_found_by_given_ones(tmp_path):
    make_everyday.make(tmp_path, ["contacts"], 0.2, seed=7)
    X = encode(read_table(tmp_path / "contacts.csv", propose=True)).X
    y = np.loadtxt(tmp_path / "truth" / "contacts.csv", str, delimiter=",", skiprows=1)[:, 1]
    model = lw.ThresholdLinkage().fit(X, constraints=draw_duplicates(y, 30))
    assert model.violations_ == 0
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_few_pairs_of_a_wide_group_do_not_join_everything():
    """Recall alone would be best if all rows were one group."""
    X, y = make_groups(width=0.02)
    links = draw_duplicates(y, 30)
    both = lw.Constraints(len(y), [*links.must_link.tolist(), (0, len(y) - 1)])
    model = lw.ThresholdLinkage().fit(X, constraints=both)
    assert model.labels_[0] == model.labels_[-1]
    assert adjusted_rand_score(np.where(y == y[-1], y[0], y), model.labels_) > 0.95


@pytest.mark.parametrize("copies", [0, 1])
def test_the_rows_are_merged_once_before_the_first_question(monkeypatch, copies):
    X, y = make_groups(20)
    X, y = np.vstack([X, X[:copies]]), np.r_[y, y[:copies]]
    calls, agglomerate = [], threshold_linkage.native.agglomerate
    monkeypatch.setattr(
        threshold_linkage.native,
        "agglomerate",
        lambda *given: calls.append(len(given[1])) or agglomerate(*given),
    )
    session = lw.Session(X, lw.ThresholdLinkage())
    first = session.question
    assert calls == [len(X), *([len(X) - 1] if copies else [])]
    session.answer(bool(y[first.first] == y[first.second]))
    assert session.question is not None
    assert len(calls) == 2 + copies
