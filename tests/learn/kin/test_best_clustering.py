"""The clustering of the highest expected index, beside sums over all pairs."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.metrics import adjusted_rand_score

from linkwise.learn.kin import best_clustering
from linkwise.learn.kin.best_clustering import PairChances, find_best_clustering, find_slack

NOBODY = np.empty(0, dtype=np.int64)


def draw_pairs(seed, n=40, k=4, m=7, sizes=False):
    rng = np.random.default_rng(seed)
    same = rng.uniform(0, 0.3, (k, k))
    same = (same + same.T) / 2
    np.fill_diagonal(same, 1)
    alike = rng.uniform(0, 0.6, (m, m)) ** 2
    alike = (alike + alike.T) / 2 + 0.5 * np.eye(m)
    return PairChances(
        rng.dirichlet(np.full(k, 0.2), n) if k else np.zeros((n, 0)),
        rng.uniform(0, 1, n) * (k > 0),
        same,
        np.r_[np.arange(m), rng.integers(0, m, n - m)],
        alike,
        rng.integers(1, 5, n) if sizes else np.ones(n, dtype=np.int64),
    )


def all_pairs(pairs):
    """The (n, n) table of the definition."""
    joined = pairs.join * pairs.trust[:, None]
    joined[joined < 0.001] = 0
    trusted = np.outer(pairs.trust, pairs.trust)
    return joined @ pairs.same @ joined.T + (1 - trusted) * pairs.alike[np.ix_(pairs.fine, pairs.fine)]


def expect_by_definition(pairs, labels):
    """The expected index of labels, pair by pair."""
    weight = np.outer(pairs.size, pairs.size)[np.triu_indices(len(labels), 1)]
    p = all_pairs(pairs)[np.triu_indices(len(labels), 1)]
    is_together = (labels[:, None] == labels)[np.triu_indices(len(labels), 1)]
    right, together, belong = (weight * p)[is_together].sum(), weight[is_together].sum(), (weight * p).sum()
    by_chance = together * belong / weight.sum()
    return (right - by_chance) / ((together + belong) / 2 - by_chance)


@pytest.mark.parametrize("sizes", [False, True])
@pytest.mark.parametrize("k", [0, 1, 4])
@pytest.mark.parametrize("seed", range(8))
def test_the_expected_index_is_that_of_the_definition(seed, k, sizes):
    pairs = draw_pairs(seed, k=k, sizes=sizes)
    found = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((k, k), bool))
    assert found.expected_ari == pytest.approx(expect_by_definition(pairs, found.labels), abs=1e-9)
    assert sorted(set(found.labels.tolist())) == list(range(found.labels.max() + 1))


def test_certain_pairs_give_the_index_itself():
    y = np.random.default_rng(0).integers(0, 3, 30)
    pairs = PairChances(
        np.eye(3)[y], np.ones(30), np.eye(3), np.zeros(30, int), np.ones((1, 1)), np.ones(30, int)
    )
    labels = np.random.default_rng(1).integers(0, 4, 30)
    assert expect_by_definition(pairs, labels) == pytest.approx(adjusted_rand_score(y, labels))
    found = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((3, 3), bool))
    assert adjusted_rand_score(y, found.labels) == 1
    assert found.expected_ari == pytest.approx(1)


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_merged_by_average_linkage(seed, monkeypatch):
    """Without moves of single items it is a cut of SciPy's tree, the coarsest that is almost the best."""
    monkeypatch.setattr(best_clustering, "SWEEPS", 0)
    monkeypatch.setattr(best_clustering, "LOWEST", 0.0)
    pairs = draw_pairs(seed, k=0, m=12)._replace(fine=np.r_[np.arange(12), np.arange(12)])
    pairs = pairs._replace(trust=np.zeros(24), size=np.ones(24, int), join=np.zeros((24, 0)))
    found = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((0, 0), bool))
    far = 1 - pairs.alike
    np.fill_diagonal(far, 0)
    tree = linkage(far[np.triu_indices(12, 1)], "average")
    cuts = []
    for n_merges in range(12):
        of = np.arange(12)
        node = {i: [i] for i in range(12)}
        for at, (a, b) in enumerate(tree[:n_merges, :2].astype(int)):
            node[12 + at] = node[a] + node[b]
            of[node[12 + at]] = 12 + at
        cuts.append(of[pairs.fine])
    values = [expect_by_definition(pairs, cut) for cut in cuts]
    best = max(at for at, value in enumerate(values) if value >= max(values) - best_clustering.SLACK)
    assert adjusted_rand_score(cuts[best], found.labels) == 1


@pytest.mark.parametrize("seed", range(8))
def test_moves_of_single_items_never_lower_the_expected_index(seed, monkeypatch):
    pairs = draw_pairs(seed, sizes=True)
    after = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((4, 4), bool)).expected_ari
    monkeypatch.setattr(best_clustering, "SWEEPS", 0)
    before = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((4, 4), bool)).expected_ari
    assert after >= before - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_what_is_known_holds(seed):
    """Known items stay with their neighbourhood, and neighbourhoods that differ are apart."""
    rng = np.random.default_rng(seed)
    pairs = draw_pairs(seed)
    known = rng.choice(40, 10, replace=False)
    label = np.r_[np.arange(4), rng.integers(0, 4, 6)]
    apart = rng.random((4, 4)) < 0.5
    apart = np.triu(apart, 1) | np.triu(apart, 1).T
    same = np.where(apart, 0, 0.9)
    np.fill_diagonal(same, 1)
    found = find_best_clustering(pairs._replace(same=same), known, label, apart).labels
    of = [set(found[known[label == c]].tolist()) for c in range(4)]
    assert all(len(labels) == 1 for labels in of)
    assert not any(of[a] & of[b] for a, b in np.argwhere(apart).tolist())


def test_one_item_is_one_cluster():
    pairs = PairChances(np.zeros((1, 0)), np.zeros(1), np.zeros((0, 0)), np.zeros(1, int), np.ones((1, 1)),
                        np.ones(1, int))  # fmt: skip
    assert find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((0, 0), bool)).labels.tolist() == [0]


@pytest.mark.parametrize(("chance", "n_clusters"), [(0.03, 1), (0.015, 6)])
def test_what_is_hardly_together_is_not_merged(chance, n_clusters):
    """All clusterings are equally good here, and the coarsest is taken."""
    alike = np.full((6, 6), chance)
    pairs = PairChances(np.zeros((6, 0)), np.zeros(6), np.zeros((0, 0)), np.arange(6), alike, np.ones(6, int))
    found = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((0, 0), bool))
    assert found.labels.max() + 1 == n_clusters


def test_two_items_that_differ_do_not_split_the_others():
    """Each is in another half of one class; the halves are still one cluster, without one of the two."""
    alike = np.array([[0.9, 0.8, 0.02], [0.8, 0.9, 0.02], [0.02, 0.02, 0.9]])
    fine, known = np.repeat(np.arange(3), 10), np.array([0, 10])
    join, trust = np.zeros((30, 2)), np.zeros(30)
    join[known], trust[known] = np.eye(2), 1
    pairs = PairChances(join, trust, np.eye(2), fine, alike, np.ones(30, int))
    apart = ~np.eye(2, dtype=bool)
    labels = find_best_clustering(pairs, known, np.arange(2), apart).labels
    others = np.delete(labels, known)
    assert len(set(others[:18].tolist())) == 1
    assert set(others[:18].tolist()) & set(labels[known].tolist())
    assert labels[0] != labels[10]
    assert not set(others[18:].tolist()) & set(others[:18].tolist())


@pytest.mark.parametrize("seed", range(8))
def test_of_two_ways_to_keep_apart_the_better_one_is_taken(seed, monkeypatch):
    """It is at least as good as linkage that never merges what differs, and as linkage that is mended."""
    pairs, rng = draw_pairs(seed), np.random.default_rng(seed)
    known, apart = rng.choice(40, 4, replace=False), ~np.eye(4, dtype=bool)
    join, trust = pairs.join.copy(), pairs.trust.copy()
    join[known], trust[known] = np.eye(4), 1
    pairs = pairs._replace(join=join, trust=trust, same=np.eye(4))
    label = np.arange(4)
    best = find_best_clustering(pairs, known, label, apart)
    assert best.expected_ari == pytest.approx(expect_by_definition(pairs, best.labels), abs=1e-9)
    mend, link = best_clustering._mend, best_clustering._link_groups
    single = []
    monkeypatch.setattr(
        best_clustering, "_link_groups", lambda parts, g, _, slack: link(parts, g, g.barred, slack)
    )
    single.append(find_best_clustering(pairs, known, label, apart).expected_ari)
    monkeypatch.setattr(
        best_clustering,
        "_link_groups",
        lambda parts, g, _, slack: (mend(g, *link(parts, g, np.zeros_like(g.barred), slack)), 0.0),
    )
    single.append(find_best_clustering(pairs, known, label, apart).expected_ari)
    assert best.expected_ari == pytest.approx(max(single), abs=1e-9)


@pytest.mark.parametrize(
    ("n_known", "slack"), [(0, 0.001), (20, 0.001), (40, 0.002), (100, 0.005), (500, 0.005)]
)
def test_the_slack_grows_with_what_is_known(n_known, slack):
    assert find_slack(n_known) == pytest.approx(slack)
    pairs = draw_pairs(0, n=200, m=60)
    n_clusters = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((4, 4), bool), slack).labels.max() + 1
    most = find_best_clustering(pairs, NOBODY, NOBODY, np.zeros((4, 4), bool), 0.0).labels.max() + 1
    assert n_clusters <= most
