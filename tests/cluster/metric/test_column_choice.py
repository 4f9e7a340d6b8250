"""Weights of columns by the answers: higher for columns that matter, and none made up."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.metric.column_choice import propose_columns
from linkwise.data import encode, from_frame

MATTER = ("income", "orders", "age", "segment")
ALSO = ("region", "newsletter", "height", "shoe", "weekday", "noise")
N_ANSWERS = 20
SEEDS = range(10)


def draw_customers(seed, n=400, k=5):
    """Customers of k groups: four columns follow the group, six do not, of which one has 15 values."""
    import polars as pl

    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    numbers = (rng.normal(size=(k, 3)) * 1.6)[truth] + rng.normal(size=(n, 3)) * 0.6
    kind = np.where(rng.random(n) < 0.85, truth % 3, rng.integers(3, size=n))
    frame = {
        **dict(zip(MATTER, numbers.T, strict=False)),
        "segment": np.array(["retail", "trade", "public"])[kind],
        "region": [f"r{value}" for value in rng.integers(15, size=n)],
        "newsletter": np.array(["on", "off"])[rng.integers(2, size=n)],
        "height": rng.normal(size=n),
        "shoe": rng.uniform(size=n),
        "weekday": np.array(["mon", "tue", "wed", "thu", "fri"])[rng.integers(5, size=n)],
        "noise": rng.uniform(size=n),
    }
    return pl.DataFrame(frame), truth


def encode_without(frame, drop=()):
    return encode(from_frame(frame, drop=drop))


def answer(session, truth, n):
    while len(session.history) < n and (question := session.question) is not None:
        session.answer(bool(truth[question.first] == truth[question.second]))


def sources_of(encoded):
    return [feature.source for feature in encoded.features]


def propose_for(seed, n_answers=N_ANSWERS):
    frame, truth = draw_customers(seed)
    encoded = encode_without(frame)
    session = lw.Session(encoded.X)
    answer(session, truth, n_answers)
    return session.propose_columns(sources_of(encoded))


def draw_pairs(rng, truth, n):
    """As many pairs within groups as between them."""
    pairs = rng.integers(len(truth), size=(20 * n, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return pairs[same][: n // 2], pairs[~same][: n // 2]


def test_answers_find_the_columns_that_do_not_matter():
    found = [proposal for seed in SEEDS if (proposal := propose_for(seed, 40)) is not None]
    lowered = [name for proposal in found for name in proposal.less]
    right = sum(name in ALSO for name in lowered)
    assert len(found) >= 7
    assert right >= 3.5 * len(found)  # of six
    assert len(lowered) - right <= 3
    for proposal in found:
        assert list(proposal.weights) == [*MATTER, *ALSO]
        assert not set(proposal.less) & set(proposal.more)
        assert proposal.n_pairs >= 40
        assert proposal.gain > 0
        assert min(proposal.weights.values()) >= 0.5
        assert max(proposal.weights[name] for name in proposal.less) < 2 / 3
        assert min(proposal.weights[name] for name in proposal.more) > 3 / 2


def test_all_columns_together_count_as_much_as_before():
    frame, truth = draw_customers(0)
    encoded = encode_without(frame)
    names = sources_of(encoded)
    must, cannot = draw_pairs(np.random.default_rng(0), truth, 60)
    weights = propose_columns(encoded.X, names, must, cannot).weights
    says = encoded.X.var(axis=0)
    assert says @ [weights[name] for name in names] == pytest.approx(says.sum())


@pytest.mark.parametrize(
    ("n_seeds", "most"), [(20, 1), pytest.param(60, 4, marks=pytest.mark.slow(nightly=True))]
)
@pytest.mark.parametrize("kind", ["all matter", "answers are random"])
def test_nothing_is_proposed_where_nothing_is_known(kind, n_seeds, most):
    n_proposed = 0
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        truth = rng.integers(5, size=300)
        X = rng.normal(size=(300, 6)) + 3 * rng.normal(size=(5, 6))[truth]
        asked = truth if kind == "all matter" else rng.permutation(truth)
        must, cannot = draw_pairs(rng, asked, 40)
        n_proposed += propose_columns(X, list("abcdef"), must, cannot) is not None
    assert n_proposed <= most


def test_few_answers_are_no_ground_for_a_proposal():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    X = np.column_stack([truth, 5 * rng.normal(size=60)])
    must, cannot = draw_pairs(rng, truth, 40)
    found = propose_columns(X, ["a", "b"], must, cannot)
    assert (found.less, found.more) == (("b",), ("a",))
    assert propose_columns(X, ["a", "b"], must[:9], cannot[:10]) is None
    assert propose_columns(X, ["a", "b"], must[:3], cannot) is None
    assert propose_columns(X, ["a", "a"], must, cannot) is None
    assert propose_columns(X, ["a", "b"], must, cannot) == propose_columns(
        X * 2.0**20, ["a", "b"], must, cannot
    )


def test_sources_must_fit_the_data(tmp_path):
    session = lw.Session(np.eye(5))
    with pytest.raises(ValueError, match="sources has 1 name, and X has 5 columns"):
        session.propose_columns(["a"])
    session.save(tmp_path / "s.linkwise")
    session.close()
    with lw.Session.open(tmp_path / "s.linkwise") as kept:
        assert kept.propose_columns(["a"] * 5) is None


def measure_ari(seed, way, n_answers=100):
    """ARI of KIN with all columns, by the weights that are proposed, or with the right columns alone."""
    frame, truth = draw_customers(seed)
    encoded = encode_without(frame, ALSO if way == "by hand" else ())
    session = lw.Session(encoded.X)
    for n in range(N_ANSWERS, n_answers, 10) if way == "proposal" else ():
        answer(session, truth, n)
        proposal = session.propose_columns(sources_of(encoded))
        if proposal is not None:
            weights = [proposal.weights[source] for source in sources_of(encoded)]
            session.recode(encoded.X * np.sqrt(weights))
            break
    answer(session, truth, n_answers)
    return adjusted_rand_score(truth, session.labels)


@pytest.mark.slow(nightly=True)
def test_the_weights_are_as_good_as_columns_chosen_by_hand():
    ways = ("all", "proposal", "by hand")
    ari = np.array([[measure_ari(seed, way) for way in ways] for seed in range(5)])
    every, proposed, chosen = ari.mean(axis=0)
    assert proposed > chosen - 0.05
    assert proposed > every
