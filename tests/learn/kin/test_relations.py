"""Where similarity misleads: clusters that look different and are one, exceptions, and advice to stop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import linkwise as lw
from laws.followed_runs import share_of_wrong_rows
from linkwise.constraints.evidence import Evidence
from linkwise.learn.kin.calibration import (
    FAR,
    FAR_PRIOR,
    RATES,
    FarRate,
    share_chances,
    weigh_exception_rates,
)
from linkwise.learn.kin.confidence import (
    LIKELY,
    component_sizes,
    largest_part_chances,
    predict_known,
    relation_chances,
)
from linkwise.learn.kin.model import RIDGE
from linkwise.learn.kin.shown import item_labels
from linkwise.learn.run import Run

SEED = 0
LOOK_DIFFERENT = "These two clusters look different. Are they one all the same?"


def several_groups(n_rows=300, n_groups=12, n_classes=6, seed=0):
    """Rows in groups that are far apart, and classes of several groups each."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n_rows) % n_groups)
    return rng.normal(size=(n_groups, 20))[group] + 0.1 * rng.normal(size=(n_rows, 20)), group % n_classes


def learn(answers):
    found = FarRate.begin()
    for chance, is_yes in answers:
        found = found.learn(chance, is_yes=is_yes)
    return found


# ---------------------------------------------------------------- the far rate
def test_without_answers_it_is_the_prior():
    found = FarRate.begin()
    assert found.weights().sum() == pytest.approx(1)
    prior, least = beta(*FAR_PRIOR), 0.0004  # where the grid begins
    for rate, told in zip(RATES[:-1], found.weights().cumsum(), strict=False):
        expected = (prior.cdf(1.2 * rate) - prior.cdf(least)) / prior.sf(least)
        assert told == pytest.approx(expected, abs=0.06)
    assert found.mean() == pytest.approx(prior.mean() / prior.sf(least), abs=0.01)


def test_many_answers_tell_the_rate():
    found = learn([(0.0, at % 5 == 0) for at in range(100)])
    assert found.mean() == pytest.approx(0.2, abs=0.03)
    assert learn([(0.0, False)] * 60).mean() < 0.01


def test_answers_that_were_likely_anyway_say_nothing():
    assert (learn([(FAR, True), (0.6, False)]).told == 0).all()
    assert learn([(0.1, True)]).mean() < learn([(0.0, True)]).mean()


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=8), st.randoms())
def test_the_order_of_answers_does_not_matter(answers, random):
    mixed = random.sample(answers, len(answers))
    np.testing.assert_allclose(learn(answers).weights(), learn(mixed).weights(), atol=1e-9)


# ---------------------------------------------------------------- the exception rate
def test_rows_that_the_others_predict_are_no_exceptions():
    def expect(*predicted):
        share = np.full(len(predicted), 0.5)
        return weigh_exception_rates(np.array(predicted), share) @ RATES

    assert expect(*[0.9] * 40) < 0.02 < expect() < 0.2
    assert expect(*[0.05, 0.95] * 20) > 0.8
    assert expect(*[0.5] * 40) == pytest.approx(expect())  # what is as likely as by chance says nothing


def test_known_rows_are_predicted_by_the_others_alone():
    X, y = several_groups(n_rows=60, n_groups=4, n_classes=2)
    *_, run = play(X, y, 25)
    posterior = run.state.read()
    known, sharpness = posterior.known, posterior.learned.sharpness
    kernel = posterior.task.prepared.kernels.mean.astype(float)
    expected = []
    for at, item in enumerate(known.items):
        rest, label = np.delete(known.items, at), np.delete(known.label, at)
        if known.label[at] in label:
            of = np.equal.outer(label, np.arange(known.n_neighbourhoods)).astype(float)
            among = kernel[np.ix_(rest, rest)] + RIDGE * np.eye(len(rest))
            join, new = share_chances(kernel[[item]][:, rest] @ np.linalg.solve(among, of), sharpness)
            share = (label == known.label[at]).mean()
            expected.append((join[0, known.label[at]] + new[0] * share, share))
    assert len(expected) > 10
    np.testing.assert_allclose(np.transpose(predict_known(posterior)), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in (1, 2))]
)
def test_no_stop_is_advised_while_answers_are_random(seed):
    X, _ = several_groups(n_rows=120, n_groups=6, n_classes=3)
    y, learner = np.random.default_rng(seed).integers(0, 2, len(X)), lw.KIN(random_state=SEED)
    for run in play(X, y, 60):
        advice = learner.advise(run.state)
        assert advice is None or not advice.stop


# ---------------------------------------------------------------- chances and worth
def test_rows_of_a_cluster_are_shared_among_its_components():
    join = np.array([[0.75, 0.25, 0.0], [0.0, 0.0, 1.0], [0.1, 0.9, 0.0], [0.0, 0.0, 0.0]])
    labels, cluster, size = np.array([0, 1, 0, 2]), np.array([0, 0, 1]), np.array([4, 5, 10, 7])
    np.testing.assert_allclose(component_sizes(join, labels, cluster, size), [4, 10, 5], atol=1e-6)


def play(X, y, n, *, every=1):
    """A run and its state after each `every` of n right answers."""
    run = Run(lw.KIN(random_state=SEED), X, Evidence(len(X)), SEED)
    for at in range(n):
        if at % every == 0:
            yield run
        if run.question is None:
            return
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")


def test_the_largest_part_of_a_class_is_its_home():
    X, y = several_groups()
    for run in play(X, y, 60, every=6):
        posterior = run.state.read()
        if posterior.known.n_neighbourhoods == 0:
            continue
        labels = item_labels(posterior)
        parts = largest_part_chances(posterior, labels)
        size = np.bincount(labels, posterior.task.items.size)
        assert parts.shape == (len(RATES), len(size))
        assert (parts[:, size.argmax()] == 1).all()
        assert (np.diff(parts, axis=0) <= 1e-12).all()  # a larger rate makes fewer clusters that
        one = relation_chances(posterior)
        assert (one[posterior.placement.apart] == 0).all()
        np.testing.assert_array_equal(one, one.T)
    assert (parts == 1).all()  # in the end all classes are known to differ


# ---------------------------------------------------------------- questions and advice
def test_it_joins_groups_that_look_different():
    X, y = several_groups()
    asked, learner = [], lw.KIN(random_state=SEED)
    for run in play(X, y, 80):
        if share_of_wrong_rows(run.labels, y) == 0:
            break
        advice, question = learner.advise(run.state), run.question
        assert advice is None or not advice.stop, f"stop after {len(asked)} answers"
        asked.append(question.why == LOOK_DIFFERENT)
        if asked[-1]:
            chance = learner.chance(run.state, question.first, question.second)
            assert chance == run.state.read().learned.far_rate.mean() < LIKELY
            assert not asked[0]
    assert share_of_wrong_rows(run.labels, y) == 0
    assert sum(asked) > 5


def test_an_item_that_has_to_wait_gets_its_turn():
    X, y = several_groups(n_rows=90)
    waited = set()
    for run in play(X, y, 200):
        if run.question is not None and run.question.why == LOOK_DIFFERENT:
            waited.add(len(run.state.tried))
    assert len(waited) > 1
    assert run.question is None
    assert run.reason == "exhausted"
    assert share_of_wrong_rows(run.labels, y) == 0


def test_where_nothing_is_far_and_one_the_rate_falls():
    X, y = several_groups(n_groups=8, n_classes=8)
    run = list(play(X, y, 120))[-1]
    assert run.state.read().learned.far_rate.mean() < 0.02
    assert lw.KIN().advise(run.state).n_open == 0
