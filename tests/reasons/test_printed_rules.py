"""Rules hold as they are printed: the text itself is evaluated on the table, in its own units."""

import datetime
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.data import encode, from_frame


def instant(text):
    return np.datetime64(datetime.datetime.fromisoformat(text), "us")


def holds(text, frame):
    """For which rows a printed rule holds."""
    ok = np.ones(len(frame), dtype=bool)
    if text == "every row":
        return ok
    for clause in re.split(r" and (?!before|up to)", text):
        if found := re.fullmatch(
            r"(\S+) (after|up to|from|before) (.+?)(?: and (before|up to) (.+))?", clause
        ):
            x = frame[found[1]].to_numpy().astype("datetime64[us]")
            for word, value in ((found[2], found[3]), (found[4], found[5])):
                if word:
                    at = instant(value.removesuffix(" UTC"))
                    ok &= {"after": x > at, "up to": x <= at, "from": x >= at, "before": x < at}[word]
        elif found := re.fullmatch(r"(\S+) (>|≤) (\S+)( days)?", clause):
            x = numbers(frame[found[1]])
            ok &= x > float(found[3]) if found[2] == ">" else x <= float(found[3])
        elif found := re.fullmatch(r"(\S+) < (\S+) ≤ (\S+)( days)?", clause):
            x = numbers(frame[found[2]])
            ok &= (x > float(found[1])) & (x <= float(found[3]))
        elif found := re.fullmatch(r"(\S+) (=|is not|is) (.+)", clause):
            words = [
                json.loads(w) if w[0] == '"' else w
                for w in re.findall(r'"(?:[^"\\]|\\.)*"|[^, ]+', found[3])
                if w != "or"
            ]
            ok &= np.isin(frame[found[1]].to_numpy().astype(str), words) ^ (found[2] == "is not")
        else:
            raise AssertionError(f"cannot read {clause!r}")
    return ok


def numbers(series):
    if series.dtype.kind == "m":
        return series.to_numpy() / np.timedelta64(1, "D")
    return series.to_numpy().astype(np.float64)


def assert_true_as_printed(frame, labels, given=None):
    found = lw.explain(labels, frame if given is None else given, fidelity=1.0, max_leaves=40)
    reached = []
    for cluster in found.clusters:
        for rule in cluster.rules:
            rows = holds(str(rule), frame)
            assert rows.sum() == rule.n_rows, str(rule)
            assert (labels[rows] == rule.cluster).sum() == rule.n_right, str(rule)
            reached.append(rows)
    assert (np.sum(reached, axis=0) == 1).all()


seeds = st.integers(0, 10**6)
MOMENTS = {
    "seconds in a minute": (60, 10**6),
    "seconds in half a day": (43_200, 10**6),
    "milliseconds": (5_000, 10**3),
    "days": (900, 86_400 * 10**6),
    "hours in a month": (720, 3_600 * 10**6),
}


@pytest.mark.parametrize("name", MOMENTS)
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_dates_and_times(name, seed):
    span, step = MOMENTS[name]
    rng = np.random.default_rng(seed)
    t = np.datetime64("2024-02-27", "us") + rng.integers(0, span, 40) * np.timedelta64(step, "us")
    frame = pd.DataFrame({"t": t})
    if frame["t"].nunique() > 1:
        assert_true_as_printed(frame, rng.integers(0, 3, 40))


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, 1.7e12])
@pytest.mark.parametrize("width", [0.05, 1.0, 1e5])
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_numbers_near_and_far_from_zero(offset, width, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": offset + width * rng.random(40), "b": rng.integers(0, 9, 40)})
    assert_true_as_printed(frame, rng.integers(0, 3, 40))


@given(seed=seeds, scale=st.sampled_from(["unit", "standard"]))
@settings(max_examples=20, deadline=None)
def test_numbers_with_few_digits_that_were_scaled(seed, scale):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": np.round(rng.normal(50, 20, 40), 1), "b": np.round(rng.random(40), 3)})
    encoded = encode(from_frame(frame), scale=scale)
    assert_true_as_printed(frame, rng.integers(0, 3, 40), encoded)


def test_durations_are_numbers_of_days():
    frame = pd.DataFrame({"wait": pd.to_timedelta([1, 2, 30, 31] * 5, "D")})
    labels = np.array([0, 0, 1, 1] * 5)
    assert_true_as_printed(frame, labels)
    assert "wait > 20 days" in str(lw.explain(labels, frame))


def test_a_day_is_whole_where_there_are_times():
    t = pd.to_datetime(["2024-01-05 09:00", "2024-01-05 17:00", "2024-01-06 09:00", "2024-01-06 17:00"] * 5)
    labels = np.array([0, 0, 1, 1] * 5)
    said = str(lw.explain(labels, pd.DataFrame({"t": t})))
    assert "t from 2024-01-06 00:00" in said
    assert "t before 2024-01-06 00:00" in said
    zoned = str(lw.explain(labels, pd.DataFrame({"t": t.tz_localize("UTC")})))
    assert "t from 2024-01-06 00:00 UTC" in zoned


WORDS = [
    "a b",
    "a  b",
    "a, b",
    "a or b",
    "x and y",
    "",
    " c",
    'say "hi"',
    "\x1b[32mz",
    "日本",
    "plain",
    "a\nb",
]


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_words_that_look_alike_are_distinguished(seed):
    rng = np.random.default_rng(seed)
    words = rng.permutation(WORDS)[: rng.integers(2, 8)]
    column = np.concatenate([words, words, rng.choice(words, 20)])
    frame = pd.DataFrame({"c": column})
    labels = rng.integers(0, 3, len(column))
    found = lw.explain(labels, from_frame(frame, columns=["c"]), fidelity=1.0, max_leaves=40)
    said = [str(rule) for rule in found.rules]
    assert len(set(said)) == len(said)
    assert all(text.isprintable() for text in said)
    assert found.to_text().replace("\n", "").isprintable()


# ---------------------------------------------------------------- what once failed
def test_a_tree_may_be_told_of_rows_that_miss_a_cluster():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 3, 60), rng.random(60)]
    model = lw.ClusILC(3, nominal=[0], max_leaves=6).fit(X)
    found = lw.explain(model, X[X[:, 0] == 1])
    assert "None" not in str(found)
    assert any(cluster["precision"] is None for cluster in json.loads(found.to_json())["clusters"])
    assert found.to_text()


def test_a_picture_takes_names_as_they_are(tmp_path):
    import matplotlib.pyplot as plt

    frame = pd.DataFrame({"cost $x_^": ["a $y", "b %_$"] * 10})
    found = lw.explain(np.array([0, 1] * 10), frame)
    found.plot().figure.savefig(tmp_path / "t.png")
    plt.close("all")


@pytest.mark.slow
def test_very_deep_trees_can_be_written():
    codes = np.arange(600)
    frame = pd.DataFrame({"c": [f"w{c}" for c in np.tile(codes, 2)]})
    found = lw.explain(np.tile(codes % 7, 2), from_frame(frame, columns=["c"]), max_leaves=560, fidelity=1.0)
    assert len(json.loads(found.to_json())["tree"]) == 2 * len(found.rules) - 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([np.inf, 0.0, 1.0], "label of row 0 is inf"),
        ([1e30, 0.0, 1.0], "label of row 0 is 1e\\+30"),
        ([1, "1", 1], "Some labels are numbers and others are words"),
    ],
)
def test_labels_that_are_none(labels, message):
    with pytest.raises(ValueError, match=message):
        lw.explain(labels, np.eye(3))


def test_labels_keep_their_names():
    assert [c.cluster for c in lw.explain(np.array([2**63 + 5, 0, 0], np.uint64), np.eye(3)).clusters] == [
        0,
        2**63 + 5,
    ]
    assert [c.cluster for c in lw.explain([True, False, False], np.eye(3)).clusters] == [False, True]
    assert [c.cluster for c in lw.explain(np.array([10, 2, 2], object), np.eye(3)).clusters] == [2, 10]


def test_one_cluster_a_row_is_refused_at_once():
    with pytest.raises(ValueError, match="1500 clusters of 1500 rows"):
        lw.explain(np.arange(1500), np.arange(1500.0)[:, None])


def test_a_bound_that_is_not_reached_is_reported():
    rng = np.random.default_rng(0)
    found = lw.explain(rng.integers(0, 3, 200), rng.random((200, 2)), fidelity=1.0)
    assert "No more than 9 rules were tried, which do not reach 100%." in str(found)
    assert repr(found).startswith("<Explanation: ")
    assert len(repr(found)) < 300


def test_a_very_small_cluster_needs_no_rule():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 0.3, (300, 2)), rng.normal(5, 0.3, (300, 2)), [[0.1, 0.1]]]
    labels = np.r_[np.zeros(300), np.ones(300), [2]].astype(int)
    found = lw.explain(labels, X)
    assert len(found.rules) == 2
    assert "cluster 2: 1 row, no rule; the rules put them into 0 (1)" in str(found)
