"""`explain`: rules that are true, in the user's words."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

import linkwise as lw
from linkwise.data import encode, from_frame
from linkwise.reasons.clauses import Between


def customers(n=300, seed=0):
    """A table as people have it: numbers of several units, words, truth values, an id."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "customer": [f"c{i}" for i in range(n)],
            "age": rng.integers(18, 80, n),
            "income": np.round(rng.lognormal(10, 0.5, n), 2),
            "plan": rng.choice(["basic", "family", "pro", "student"], n),
            "online": rng.random(n) < 0.4,
        }
    )


def segments(frame):
    """Clusters that are rules themselves."""
    age, plan, online = (frame[name].to_numpy() for name in ("age", "plan", "online"))
    return np.where(plan == "student", "young", np.where(online & (age > 40), "online", "others"))


def holds(rule, frame):
    """For which rows of a table the clauses of a rule hold, as they are written."""
    ok = np.ones(len(frame), dtype=bool)
    for clause in rule.clauses:
        x = frame[clause.column]
        if isinstance(clause, Between):
            ok &= (x.to_numpy() > clause.above) & (x.to_numpy() <= clause.up_to)
        else:
            ok &= np.isin(
                [str(v).lower() if v in (True, False) else v for v in x.to_list()], list(clause.words)
            )
    return ok


# ---------------------------------------------------------------- truth
@pytest.mark.parametrize("seed", range(5))
def test_every_row_has_one_rule_and_rules_mean_what_they_say(seed):
    frame = customers(seed=seed)
    labels = np.random.default_rng(seed).integers(0, 3, len(frame)) + (frame["age"].to_numpy() > 50)
    found = lw.explain(labels, frame, fidelity=1.0)
    assert len(found.rules) > 5
    table = from_frame(frame)
    reached = np.stack([holds(rule, table.frame.to_native()) for rule in found.rules])
    assert (reached.sum(axis=0) == 1).all()
    for rule, rows in zip(found.rules, reached, strict=True):
        assert rule.n_rows == rows.sum()
        assert rule.n_right == (labels[rows] == rule.cluster).sum()
        np.testing.assert_array_equal(found.leaf_of == rule.leaf, rows)
    told = np.array([rule.cluster for rule in found.rules])[reached.argmax(axis=0)]
    assert found.fidelity == np.mean(told == labels)
    assert found.baseline == np.bincount(labels).max() / len(labels)
    for cluster in found.clusters:
        own, under = labels == cluster.cluster, told == cluster.cluster
        assert cluster.n_rows == own.sum()
        if cluster.rules:
            assert cluster.recall == pytest.approx((own & under).sum() / own.sum())
            assert cluster.precision == pytest.approx((own & under).sum() / under.sum())
        strays = dict(cluster.told_as)
        assert strays == {t: int((told[own] == t).sum()) for t in set(told[own]) - {cluster.cluster}}


def test_rules_that_made_the_clusters_are_found():
    frame = customers()
    found = lw.explain(segments(frame), frame, fidelity=1.0)
    assert found.fidelity == 1
    said = {str(rule): rule.cluster for rule in found.rules}
    assert said == {
        "plan = student": "young",
        "plan is not student and online = true and age > 40": "online",
        "plan is not student and online = true and age ≤ 40": "others",
        "plan is not student and online = false": "others",
    }


@pytest.mark.slow
@given(st.integers(0, 1000), st.sampled_from(["unit", "standard", "none"]))
@settings(max_examples=20, deadline=None)
def test_scale_does_not_change_what_is_reported(seed, scale):
    frame = customers(60, seed)
    labels = np.random.default_rng(seed).integers(0, 3, 60)
    said = [
        str(lw.explain(labels, encode(from_frame(frame), scale=s, categories="codes")))
        for s in (scale, "none")
    ]
    assert said[0] == said[1]
    assert said[1] == str(lw.explain(labels, frame))


def test_pandas_polars_tables_and_arrays_say_the_same():
    X, y = load_iris(return_X_y=True, as_frame=True)
    said = {
        str(lw.explain(y, given, **more))
        for given, more in [
            (X, {}),
            (pl.from_pandas(X), {}),
            (from_frame(X), {}),
            (X.to_numpy(), {"feature_names": list(X.columns)}),
        ]
    }
    assert len(said) == 1


def test_smaller_when_less_is_asked_for():
    X, y = load_wine(return_X_y=True)
    sizes = [len(lw.explain(y, X, fidelity=share).rules) for share in (0.0, 0.8, 0.9, 1.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 3, "every cluster keeps a rule"
    assert lw.explain(y, X, fidelity=1.0, max_leaves=50).fidelity == 1
    assert len(lw.explain(y, X, max_leaves=2, fidelity=1.0).rules) == 2


def test_a_cluster_without_a_rule_is_reported():
    X, y = load_wine(return_X_y=True)
    found = lw.explain(y, X, max_leaves=2)
    (lost,) = (cluster for cluster in found.clusters if not cluster.rules)
    assert np.isnan(lost.precision)
    assert lost.recall == 0
    assert sum(n for _, n in lost.told_as) == lost.n_rows
    assert f"cluster {lost.cluster}: {lost.n_rows} rows, no rule;" in str(found)


def test_the_tree_of_clusilc_is_its_explanation():
    X, y = load_wine(return_X_y=True)
    c = lw.Constraints.sample(y, 100, random_state=0)
    model = lw.ClusILC(3).fit(X, constraints=c)
    found = lw.explain(model, X, constraints=c)
    assert found.is_the_clustering
    assert (found.fidelity, len(found.rules)) == (1.0, model.n_leaves_)
    assert "The clusters are these 5 rules, for every one of 178 rows" in str(found)
    for rule in found.rules:
        inside = found.leaf_of == rule.leaf
        ends = np.vstack([c.must_link, c.cannot_link])
        touched = inside[ends].any(axis=1)
        broken = np.concatenate(c.find_violations(model.labels_))
        assert (rule.n_constraints, rule.n_satisfied) == (touched.sum(), (touched & ~broken).sum())
    np.testing.assert_array_equal(model.labels_, [found.rule_of(row).cluster for row in range(len(X))])


def test_clusilc_on_a_mixed_table_speaks_its_words():
    frame = customers()
    truth = segments(frame)
    encoded = encode(from_frame(frame), categories="codes")
    c = lw.Constraints.sample(truth, 200, random_state=0)
    model = lw.ClusILC(3, nominal=encoded.nominal).fit(encoded.X, constraints=c)
    said = str(lw.explain(model, encoded))
    assert "plan = student" in said
    assert re.search(r"age (>|≤) \d\d\b", said)


def test_names_of_a_frame_that_a_model_was_fitted_to():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = lw.ClusILC(3).fit(X, constraints=lw.Constraints.sample(y, 50, random_state=0))
    assert "petal" in str(lw.explain(model, X))


def test_any_fitted_clusterer_will_do():
    X = load_iris().data
    model = lw.COPKMeans(3, random_state=0).fit(X)
    assert str(lw.explain(model, X)) == str(lw.explain(model.labels_, X))


def test_large_data_are_described_by_a_sample_and_said_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    labels = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 2.0)
    found = lw.explain(labels, X, n_sample=200)
    assert found.approximation == "the tree grew on a sample of about 200 rows"
    assert "Approximate" in str(found)
    assert found.fidelity > 0.9
    assert sum(rule.n_rows for rule in found.rules) == 5000
    assert all(cluster.rules for cluster in found.clusters if cluster.n_rows > 50)
    assert str(found) == str(lw.explain(labels, X, n_sample=200))


def test_all_rows_are_taken_on_request():
    X = np.random.default_rng(0).normal(size=(30_001, 1))
    labels = (X[:, 0] > 0.5).astype(int)
    assert lw.explain(labels, X).approximation == "the tree grew on a sample of about 30000 rows"
    found = lw.explain(labels, X, n_sample=None)
    assert found.approximation is None
    assert found.fidelity == 1


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "all", True])
def test_a_sample_has_a_number_of_rows(wrong):
    with pytest.raises(ValueError, match=r"n_sample=.* is not a number of rows\. Pass an integer"):
        lw.explain([0, 1], [[0.0], [1.0]], n_sample=wrong)


# ---------------------------------------------------------------- forms
def test_forms_for_programs():
    X, y = load_wine(return_X_y=True)
    found = lw.explain(y, X)
    told = json.loads(found.to_json())
    assert told == found.to_dict()
    assert [cluster["rows"] for cluster in told["clusters"]] == np.bincount(y).tolist()

    tree = told["tree"]
    assert sum(node["rows"] for node in tree if "cluster" in node) == len(y)

    def told_cluster(row):
        node = tree[0]
        while "cluster" not in node:
            node = tree[node["yes" if row[node["column"]] > node["above"] else "no"]]
        return node["cluster"]

    np.testing.assert_array_equal(
        [told_cluster(row) for row in X], [found.rule_of(row).cluster for row in range(len(X))]
    )


@pytest.mark.parametrize("name", ['say "hi"', "a<b>&amp;", "x\ny", "back\\slash", "`code`", "a;b#c", "日本"])
def test_names_cannot_break_out_of_a_drawing(name):
    X = np.arange(10.0)[:, None]
    found = lw.explain((X[:, 0] > 4).astype(int), X, feature_names=[name])
    mermaid = found.to_mermaid().splitlines()
    assert mermaid[0] == "flowchart TD"
    assert len(mermaid) == 1 + 3 + 2
    for line in mermaid[1:]:
        assert re.fullmatch(r'  n\d+(\[".*"\]|\(".*"\)| -->\|(yes|no)\| n\d+)', line)
        inside = re.sub(r"#\d+;", "", line.partition('"')[2].rpartition('"')[0])
        assert not set('"<>&`\\;#') & set(inside)
    dot = found.to_dot().splitlines()
    assert len(dot) == 2 + 3 + 2 + 1
    assert all(len(re.sub(r"\\.", "", line).split('"')) in (1, 3) for line in dot)
    assert len(found.to_text().splitlines()) == 3


def test_the_drawn_tree_is_the_tree():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [2.0, 9.0]])
    found = lw.explain(["a", "a", "b", "c"], X, feature_names=["size", "weight"], fidelity=1.0)
    drawn = found.to_text()
    assert drawn.splitlines() == [
        "size > 1?",
        "├─ yes: weight > 5?",
        "│  ├─ yes: cluster c (1 row)",
        "│  └─ no:  cluster b (1 row)",
        "└─ no:  cluster a (2 rows)",
    ]


def test_the_plot_has_a_box_for_every_node():
    import matplotlib.pyplot as plt

    X, y = load_wine(return_X_y=True)
    found = lw.explain(y, X)
    ax = found.plot()
    boxes = [
        text.get_text()
        for text in ax.texts
        if text.get_bbox_patch().get_boxstyle().__class__.__name__ == "Round"
    ]
    assert len(boxes) == len(found.tree.tests)
    assert sum("cluster" in text for text in boxes) == len(found.rules)
    _, mine = plt.subplots()
    assert found.plot(mine) is mine
    plt.close("all")


# ---------------------------------------------------------------- bad input
X, Y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lw.explain(Y[:5], X), ValueError, "shape \\(5,\\), but X has 6 rows"),
        (lambda: lw.explain([Y, Y], X), ValueError, "Pass one label for each row"),
        (lambda: lw.explain([0.5, *Y[1:]], X), ValueError, "label of row 0 is 0.5"),
        (lambda: lw.explain([np.nan] * len(Y), X), ValueError, "label of row 0 is missing: nan"),
        (lambda: lw.explain(Y, X, feature_names=["a"]), ValueError, "1 names, but X has 2 columns"),
        (lambda: lw.explain(Y, X, feature_names=["a", "a"]), ValueError, "'a' twice"),
        (lambda: lw.explain(Y, pd.DataFrame(X), feature_names=["a", "b"]), ValueError, "names its columns"),
        (lambda: lw.explain(Y, X, max_leaves=0), ValueError, "max_leaves=0"),
        (lambda: lw.explain(Y, X, max_leaves=2.5), ValueError, "max_leaves=2.5"),
        (lambda: lw.explain(Y, X, fidelity=1.5), ValueError, "fidelity=1.5"),
        (lambda: lw.explain(Y, X, fidelity="all"), ValueError, "fidelity='all'"),
        (lambda: lw.explain(Y, X * np.nan), ValueError, "NaN/infinity"),
        (lambda: lw.explain(lw.COBRAS(), X), NotFittedError, "COBRAS instance is not fitted yet"),
        (lambda: lw.explain(lw.ClusILC(), X), NotFittedError, "ClusILC instance is not fitted yet"),
        (lambda: lw.explain(Y, X, constraints=lw.Constraints(5)), ValueError, "5 rows, but X has 6"),
        (lambda: lw.explain(Y, X, constraints=[(0, 1)]), TypeError, "Build it with"),
    ],
)
def test_what_is_wrong_is_reported(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_labels_may_be_noise_or_words_or_one():
    assert [c.cluster for c in lw.explain([-1, 0, 0, 1, 1, 1], X).clusters] == [-1, 0, 1]
    assert [c.cluster for c in lw.explain(["b", "a", "a", "b", "b", "b"], X).clusters] == ["a", "b"]
    one = lw.explain([7] * 6, X)
    assert (one.fidelity, one.baseline) == (1, 1)
    assert "every row" in str(one)
    assert lw.explain(np.array(Y, dtype=float), X).clusters[1].cluster == 1


def test_a_rule_may_name_what_is_missing():
    frame = pl.DataFrame({"size": [1.0, None, 2.0, 1.0], "kind": ["a", "b", None, None], "n": [1, 2, 1, 2]})
    found = lw.explain([0, 0, 1, 1], from_frame(frame, columns=frame.columns))
    assert found.fidelity == 1
    assert "missing" in str(found)


@pytest.mark.parametrize(
    "hide",
    [
        lambda y: [label if known else None for label, known in y],
        lambda y: pd.Series([label if known else None for label, known in y], dtype="string"),
        lambda y: pl.Series([label if known else None for label, known in y]),
        lambda y: np.ma.array([label for label, _ in y], mask=[not known for _, known in y]),
    ],
    ids=["list", "pandas", "polars", "masked"],
)
def test_rows_without_a_label_are_left_out(hide):
    X = np.arange(12.0)[:, None]
    y = [("low" if x < 6 else "high", row % 4 != 3) for row, x in enumerate(X[:, 0])]
    wanted = lw.Constraints(12, must_link=[(0, 2), (0, 3)], cannot_link=[(0, 11), (0, 10)])
    rules = lw.explain(hide(y), X, constraints=wanted)
    assert rules.fidelity == 1.0
    assert rules.n_rows == len(rules.labels) == 9
    assert rules.notes == ("Left out for want of a label: 3 rows.",)
    assert set(rules.labels) == {"low", "high"}
