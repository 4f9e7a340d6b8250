"""Columns that answers follow, found where the compared ones say nothing, and not elsewhere."""

from itertools import permutations

import numpy as np
import pytest

import linkwise as lw
from linkwise import datasets
from linkwise.cluster.metric import answer_fit
from linkwise.cluster.metric.answer_fit import find_predictors, has_no_excess, list_pairs, measure_excess
from linkwise.constraints.facts import Fact

SEEDS = range(8)


def facts_of(*pairs):
    return [Fact(first, second, answer, asked=True) for first, second, answer in pairs]


def answer(X, truth, n, seed, wrong=0.0):
    """The answers to the questions of KIN, some of which are wrong."""
    rng = np.random.default_rng(seed)
    session = lw.Session(X, lw.KIN(random_state=seed), error_rate=None)
    while len(session.history) < n and (question := session.question) is not None:
        is_same = truth[question.first] == truth[question.second]
        session.answer(bool(is_same != (rng.random() < wrong)))
    return list(session.evidence)


def category(values):
    return lambda rows: (values[rows][:, None] != values[rows]).astype(float)


def find(facts, X, **others):
    return find_predictors(facts, X, ["x"], lambda rows: {name: one(rows) for name, one in others.items()})


def draw_uniform(seed, n=120):
    """Rows whose numbers have nothing to do with their three groups, and columns that do."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    blurred = np.where(rng.random(n) < 0.15, rng.integers(3, size=n), truth)
    others = {
        "kind": category(truth),
        "blurred": category(blurred),
        **{f"random {at}": category(rng.integers(4, size=n)) for at in range(6)},
    }
    return rng.random((n, 4)), truth, others


def test_the_column_that_the_answers_follow_is_found():
    found = []
    for seed in SEEDS:
        X, truth, others = draw_uniform(seed)
        fit = find(answer(X, truth, 40, seed), X, **others)
        if fit is not None:
            found.append(fit)
            assert fit.names[0] == "kind"
            assert set(fit.names) <= {"kind", "blurred"}
            assert fit.predictors[0].share == 1
            assert (fit.n_pairs, fit.compared) == (40, ("x",))
    assert len(found) >= len(SEEDS) / 2


def test_wrong_answers_do_not_always_hide_the_column():
    found = []
    for seed in SEEDS:
        X, truth, others = draw_uniform(seed)
        fit = find(answer(X, truth, 40, seed, wrong=0.1), X, **others)
        found.append(() if fit is None else fit.names)
    assert sum("kind" in names for names in found) >= 3
    assert not any(name.startswith("random") for names in found for name in names)


def test_columns_that_say_nothing_are_never_found():
    for seed in range(3):
        X, truth, others = draw_uniform(seed)
        others = {name: one for name, one in others.items() if name.startswith("random")}
        assert find(answer(X, truth, 40, seed), X, **others) is None


@pytest.mark.parametrize("wrong", [0.0, 0.1])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_nothing_is_found_where_the_compared_columns_predict(name, wrong):
    bundled = datasets.load(name)
    taken = np.random.default_rng(0).permutation(len(bundled.X))[:120]
    X = bundled.X[taken] / bundled.X.max(axis=0)
    facts = answer(X, bundled.y[taken], 40, 0, wrong)
    for n in range(20, 41, 5):
        assert find(facts[:n], X, kind=category(bundled.y[taken])) is None


def test_few_answers_say_nothing():
    X, truth, others = draw_uniform(0)
    facts = answer(X, truth, 40, 0)
    assert find(facts[:19], X, **others) is None
    assert not has_no_excess(facts[:19])
    unsure = [Fact(fact.first, fact.second, "unsure") for fact in facts]
    assert find([*facts[:19], *unsure], X, **others) is None


def test_answers_of_one_kind_say_nothing():
    X, _, others = draw_uniform(0)
    facts = facts_of(*((row, row + 1, "no") for row in range(0, 60, 2)))
    assert find(facts, X, **others) is None


def test_rows_that_cannot_be_measured_say_nothing():
    X, truth, others = draw_uniform(0)
    assert find(answer(X, truth, 40, 0), 1e200 * X, **others) is None


# ---------------------------------------------------------------- the parts
def test_the_excess_by_hand():
    assert measure_excess(facts_of((0, 1, "yes"))) == 0  # nothing was known of any cluster
    # row 2 may be in {0, 1}, 2 of the 2 + 1 that it may be in
    assert measure_excess(facts_of((0, 1, "yes"), (2, 0, "yes"))) == pytest.approx((1 / 3) / (2 / 9) ** 0.5)
    assert measure_excess(facts_of((0, 1, "yes"), (2, 0, "no"))) == pytest.approx((-2 / 3) / (2 / 9) ** 0.5)
    # row 2 is not in {0, 1}, so it may be with 3, or with neither; then 3 may be in {0, 1}, as 2 was
    given = facts_of((0, 1, "yes"), (2, 0, "no"), (3, 2, "no"), (3, 1, "yes"))
    expected = (0 - 2 / 3) + (0 - 1 / 2) + (1 - 2 / 3)
    assert measure_excess(given) == pytest.approx(expected / (2 / 9 + 1 / 4 + 2 / 9) ** 0.5)


def test_answers_that_follow_from_others_do_not_count():
    given = facts_of((0, 1, "yes"), (2, 0, "no"))
    again = facts_of((1, 0, "yes"), (2, 1, "no"), (0, 2, "unsure"))
    assert measure_excess([*given, *again]) == measure_excess(given)


def test_pairs_that_nobody_asked_about_count_as_known():
    known = [Fact(0, 1, "yes"), Fact(2, 0, "no")]
    assert measure_excess(known) == 0
    assert measure_excess([*known, *facts_of((3, 0, "yes"))]) == pytest.approx((1 / 2) / (1 / 4) ** 0.5)


def test_the_strength_is_that_over_all_permutations():
    rng = np.random.default_rng(0)
    n = 6
    weight = np.triu(rng.normal(size=(n, n)), 1)
    scores = rng.normal(size=(n, n))
    scores = np.triu(scores, 1) + np.triu(scores, 1).T
    every = [(weight * scores[np.ix_(order, order)]).sum() for order in map(list, permutations(range(n)))]
    expected = (every[0] - np.mean(every)) / np.std(every)
    assert answer_fit._measure_strength(weight, scores) == pytest.approx(expected)


def test_the_components_follow_from_the_answers():
    seen = list_pairs(facts_of((7, 3, "yes"), (3, 9, "no"), (5, 7, "yes"), (1, 9, "unsure")))
    assert seen.rows.tolist() == [3, 5, 7, 9]
    assert seen.is_same.tolist() == [True, False, True]
    assert len(set(seen.cluster[:3].tolist())) == 1
    assert seen.apart.tolist() == [[False] * 3 + [True]] * 3 + [[True] * 3 + [False]]


def test_of_many_rows_the_last_answers_are_looked_at():
    facts = facts_of(*((row, row + 1, "no") for row in range(0, 400, 2)))
    seen = list_pairs(facts)
    assert len(seen.rows) == answer_fit.MOST_ROWS
    assert seen.rows.max() == 399
