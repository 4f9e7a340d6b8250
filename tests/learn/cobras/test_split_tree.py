"""What a fitted COBRA or COBRAS tells: super-instances, representatives, splits, merges and a dendrogram."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise.learn.cobras.split_tree import MOST_NAMED, find_merges, place_nodes
from linkwise.learn.oracles import TruthOracle

X, y = load_iris(return_X_y=True)


def fit(make=lw.COBRAS, budget=40, **more):
    return make(random_state=0).fit(X, oracle=TruthOracle(y), budget=budget, **more)


@pytest.mark.parametrize("make", [lw.COBRAS, lw.COBRAS.paper, lw.COBRA])
@pytest.mark.parametrize("budget", [0, 1, 7, 40, None])
def test_the_tree_is_a_tree_of_the_super_instances(make, budget):
    model = fit(make, budget)
    tree, number = model.tree_, model.super_instances_
    n_parts = len(model.representatives_)
    assert sorted(set(number.tolist())) == list(range(n_parts))
    assert (tree.parent[0], tree.question[0], tree.size[0]) == (-1, 0, len(X))
    assert (tree.parent[1:] < np.arange(1, len(tree.parent))).all()
    assert (tree.question[1:] >= tree.question[tree.parent[1:]]).all()
    assert tree.question.max() <= model.n_questions_
    leaves = np.flatnonzero(tree.super_instance >= 0)
    assert sorted(tree.super_instance[leaves].tolist()) == list(range(n_parts))
    assert leaves.tolist() == [node for node, parts in enumerate(tree.children) if not parts]
    for node, parts in enumerate(tree.children):
        if parts:
            assert len(parts) >= 2
            assert tree.size[parts].sum() == tree.size[node]
            assert len(set(tree.question[parts].tolist())) == 1
    for leaf in leaves:
        rows = np.flatnonzero(number == tree.super_instance[leaf])
        assert len(rows) == tree.size[leaf]
        np.testing.assert_allclose(tree.mean[leaf], X[rows].mean(axis=0))
        assert tree.representative[leaf] == model.representatives_[tree.super_instance[leaf]]
        assert tree.representative[leaf] in rows


def test_rows_of_a_super_instance_share_a_label_unless_an_answer_separates_them():
    model = fit(budget=None)
    pairs = (model.constraints_.must_link, model.constraints_.cannot_link)
    named = np.concatenate(pairs).ravel()
    for part in range(len(model.representatives_)):
        rows = np.flatnonzero(model.super_instances_ == part)
        others = np.setdiff1d(rows, named)
        assert len(np.unique(model.labels_[others])) <= 1


def test_nearly_all_fitted_rows_reach_their_super_instance():
    for make in (lw.COBRAS, lw.COBRA):
        model = fit(make)
        reached = model.tree_.super_instance[model.tree_.find_leaf(X)]
        assert (reached == model.super_instances_).mean() >= 0.97


def test_merges_join_the_representatives_of_each_cluster():
    for make in (lw.COBRAS, lw.COBRA):
        model = fit(make, None)
        n_parts = len(model.representatives_)
        group = {part: {part} for part in range(n_parts)}
        for at, (a, b) in enumerate(model.merges_.children.tolist()):
            group[n_parts + at] = group.pop(a) | group.pop(b)
        labels = model.labels_[model.representatives_]
        found = {frozenset(parts) for parts in group.values()}
        assert found == {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}
        assert (np.diff(model.merges_.question) >= 0).all()
        assert model.merges_.question.min() >= 1


def test_a_merge_is_at_the_question_that_completes_it():
    evidence = lw.Evidence(6, lw.Constraints(6, [(0, 1)]))
    for pair, answer in (
        ((1, 2), "no"),
        ((3, 4), "yes"),
        ((0, 3), "yes"),
        ((4, 5), "unsure"),
        ((5, 2), "yes"),
    ):
        evidence.add(*pair, answer, asked=True)
    merges = find_merges(evidence, np.array([0, 1, 2, 4, 5]))
    assert merges.children.tolist() == [[0, 1], [3, 5], [2, 4]]
    assert merges.question.tolist() == [0, 3, 5]


def test_rows_that_may_not_be_shown_represent_nothing():
    model = fit(askable=np.arange(0, 150, 10), budget=None)
    assert set(model.representatives_.tolist()) <= set(range(0, 150, 10))
    nobody = fit(askable=[], budget=None)
    assert nobody.representatives_.tolist() == [-1]
    assert nobody.merges_.children.shape == (0, 2)
    assert set(nobody.predict(X).tolist()) == {0}


def test_without_an_oracle_there_are_no_super_instances():
    model = fit()
    model.fit(X, constraints=lw.Constraints.sample(y, 30, 0))
    assert model.tree_ is model.merges_ is model.super_instances_ is model.representatives_ is None
    free = np.unique(X, axis=0, return_index=True)[1]
    np.testing.assert_array_equal(model.predict(X[free]), model.labels_[free])


def test_the_dendrogram_shows_every_super_instance():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    model = fit()
    ax = model.tree_.plot()
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert sorted(int(name.split()[0]) for name in names) == sorted(model.representatives_.tolist())
    assert len(ax.lines) == len(model.tree_.parent) + sum(map(bool, model.tree_.children))
    _, own = plt.subplots()
    many = fit(lambda **seed: lw.COBRA(MOST_NAMED + 1, **seed))
    assert many.tree_.plot(own) is own
    assert own.get_xlabel() == f"{MOST_NAMED + 1} super-instances"
    plt.close("all")


def test_parents_stand_above_the_middle_of_their_parts():
    assert place_nodes([[1, 4], [2, 3], [], [], []]) == [1.25, 0.5, 0.0, 1.0, 2.0]


def test_it_says_how_many_clusters_its_parts_form():
    """On wine the first split is at question 3, into four parts, and question 6 ends the first merging."""
    X, y = load_wine(return_X_y=True)
    session = lw.Session(minmax_scale(X), lw.COBRAS.authors(random_state=0))
    described = [session.status.description]
    while len(described) < 8:
        session.answer(bool(y[session.question.first] == y[session.question.second]))
        described.append(session.status.description)
    assert described[:3] == [()] * 3  # nothing is known before the split
    assert described[3] == (
        "The rows are split into 4 parts, which form at most 4 clusters.",
        "5 pairs of clusters may still belong together.",  # an answer before it has separated two
    )
    assert described[5] == (
        "The rows are split into 4 parts, which form at most 3 clusters.",
        "1 pair of clusters may still belong together.",
    )
    assert described[6] == (
        "The rows are split into 4 parts, which form 3 clusters.",
        "A finer split may show more.",
    )
