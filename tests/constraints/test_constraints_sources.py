"""Where constraints come from: labels, samples of pairs, and files."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise import Constraints
from reference.constraints import brute, relations, told, truths


# ---------------------------------------------------------------- from labels
@given(st.lists(st.integers(-1, 3), max_size=12))
def test_from_labels_equals_all_labelled_pairs(y):
    known = [(i, j) for i in range(len(y)) for j in range(i) if y[i] >= 0 and y[j] >= 0]
    must = [(i, j) for i, j in known if y[i] == y[j]]
    cannot = [(i, j) for i, j in known if y[i] != y[j]]
    assert relations(Constraints.from_labels(y)) == brute(len(y), must, cannot)


UNKNOWN = np.nan
SAME = [
    np.array([0, 0, 1, -1, -1]),
    np.array([2.5, 2.5, 7.0, UNKNOWN, -1.0]),
    ["a", "a", "b", None, -1],
    ["a", "a", "b", UNKNOWN, None],  # NumPy would make the text "nan" of it
    np.array(["a", "a", "b", None, UNKNOWN], dtype=object),
    [1, 1.0, 2, None, None],
    pd.Series(["a", "a", "b", None, None]),
    pd.Series([5, 5, 6, None, None], dtype="Int64"),
    pd.Categorical(["x", "x", "y", None, None]),
    pd.Series(["x", "x", "y", None, None], dtype="string"),
    pd.Series([True, True, False, pd.NA, None], dtype="boolean"),
    pd.Series(["x", "x", "y", pd.NA, np.nan], dtype=object),
    pd.to_datetime(pd.Series(["2024-01-31", "2024-01-31", "2024-02-01", None, None])),
    np.array(["2024-01-31", "2024-01-31", "2024-02-01", "NaT", "NaT"], dtype="M8[ns]"),
    np.ma.masked_array([1, 1, 2, 2, 1], mask=[0, 0, 0, 1, 1]),
    np.ma.masked_array(["a", "a", "b", "b", "a"], mask=[0, 0, 0, 1, 1]),
    pl.Series(["a", "a", "b", None, None]),
    pl.Series([1.0, 1.0, 2.0, None, float("nan")]),
    pl.Series(["2024-01-31", "2024-01-31", "2024-02-01", None, None]).str.to_date(),
    pa.chunked_array([["a", "a"], ["b", None, None]]),
]


@pytest.mark.parametrize("y", SAME, ids=[f"{type(y).__module__}-{n}" for n, y in enumerate(SAME)])
def test_labels_may_have_any_type(y):
    assert relations(Constraints.from_labels(y)) == relations(Constraints(5, [(0, 1)], [(0, 2)]))


def test_labels_must_have_one_entry_for_each_row():
    with pytest.raises(ValueError, match=r"labels have shape \(2, 2\)\. Pass one label for each row"):
        Constraints.from_labels([[0, 1], [1, 0]])


# ---------------------------------------------------------------- sampling
@given(st.lists(st.integers(-1, 2), max_size=12), st.data(), st.integers(0, 99))
def test_samples_are_distinct_correct_and_repeatable(y, data, seed):
    y = np.array(y, dtype=int)
    known = int((y >= 0).sum())
    total = known * (known - 1) // 2
    n = data.draw(st.integers(0, total))
    c = Constraints.sample(y, n, seed)
    assert c.n_constraints == n
    assert c.n_duplicates == 0
    pairs = np.vstack([c.must_link, c.cannot_link])
    assert (y[pairs] >= 0).all()
    assert lw.constraint_score(y, c) == 1.0
    assert c == Constraints.sample(y, n, seed) == Constraints.sample(y, n, np.random.default_rng(seed))
    if n == total:
        assert len({tuple(pair) for pair in pairs.tolist()}) == total
    with pytest.raises(ValueError, match=f"Pass an integer from 0 to {total}"):
        Constraints.sample(y, total + 1, seed)
    with pytest.raises(ValueError, match="pairs cannot be drawn"):
        Constraints.sample(y, -1, seed)


@pytest.mark.slow
def test_samples_are_uniform():
    """Each of the 28 pairs of 8 rows is drawn in about a quarter of the samples of 7 pairs."""
    y = np.arange(8) // 2
    counts = np.zeros((8, 8))
    for seed in range(2000):
        c = Constraints.sample(y, 7, seed)
        np.add.at(counts, tuple(np.vstack([c.must_link, c.cannot_link]).T), 1)
    drawn = counts[np.triu_indices(8, 1)]
    assert drawn.sum() == 14_000
    # 5 standard deviations of a share of 1/4 in 2000 draws
    assert np.abs(drawn - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)


def test_samples_of_many_rows_are_correct_pairs():
    y = np.random.default_rng(0).integers(0, 5, 3_000_000)
    c = Constraints.sample(y, 2000, 1)
    assert c.n_constraints == 2000
    assert lw.constraint_score(y, c) == 1.0
    assert c.must_link.max() > 2_000_000


# ---------------------------------------------------------------- files
ODD = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@settings(deadline=None)
@given(truths(max_rows=6), st.data())
def test_a_file_returns_the_pairs_for_any_ids(problem, data):
    y, pairs = problem
    ids = data.draw(st.lists(ODD, min_size=len(y), max_size=len(y), unique=True))
    weights = st.lists(st.floats(1e-300, 1e300), min_size=len(pairs), max_size=len(pairs))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    w = np.array(data.draw(weights | st.just([1.0] * len(pairs))))
    c = told(y, pairs, must_link_weight=w[same], cannot_link_weight=w[~same])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        c.to_csv(path, ids=ids)
        assert Constraints.read_csv(path, ids=ids) == c
        c.to_csv(path)
        assert Constraints.read_csv(str(path), n_rows=len(y)) == c


def test_a_file_of_pairs_is_plain_csv(tmp_path):
    path = tmp_path / "pairs.csv"
    Constraints(3, [(0, 1)], [(2, 1)]).to_csv(path, ids=["x", "y, z", 7])
    assert path.read_text() == 'id_a,id_b,kind\nx,"y, z",must-link\n"y, z",7,cannot-link\n'
    Constraints(3, [(0, 1)], [(2, 1)], must_link_weight=[0.5]).to_csv(path)
    assert path.read_text() == "id_a,id_b,kind,weight\n0,1,must-link,0.5\n1,2,cannot-link,1.0\n"


def test_one_weight_other_than_1_adds_a_column(tmp_path):
    c = Constraints(4, [(0, 1), (1, 2)], [(2, 3)], must_link_weight=[1, 0.5])
    c.to_csv(tmp_path / "pairs.csv")
    assert Constraints.read_csv(tmp_path / "pairs.csv", n_rows=4) == c


def test_labels_link_the_rows_of_a_class_in_their_order():
    c = Constraints.from_labels([i % 2 for i in range(60)])
    assert c.must_link.tolist() == [[i, i + 2] for i in range(58)]
    assert c.cannot_link.tolist() == [[0, 1]]


def test_ids_match_exactly_before_they_match_without_blanks(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("\ufeffid_a, id_b ,kind , note\n a,a,cannot-link,x\n\n b ,a, must-link ,y\n")
    c = Constraints.read_csv(path, ids=["a", " a", "b"])
    assert (c.must_link.tolist(), c.cannot_link.tolist()) == ([[0, 2]], [[0, 1]])


FILES = [
    ("", r"is empty\. Its first line must be id_a,id_b,kind"),
    ("a,b,kind\n", "Line 1 of .* has no column 'id_a': 'a,b,kind'"),
    (
        "id_a,id_b,kind\n0,1,must-link\n0,9,must-link\n",
        r"Line 3 of .*: id_b is '9', .* '0', '1', …\. Fix the id",
    ),
    (
        "id_a,id_b,kind\n0,1,must link\n",
        r"Line 2 of .* unknown kind: 'must link'\. Write must-link or",
    ),
    ("id_a,id_b,kind\n0,1\n", "Line 2 of .* has 2 values, but there are 3 columns"),
    ("id_a,id_b,kind,weight\n0,1,must-link,heavy\n", "Line 2 of .* not a number: 'heavy'"),
    (
        "id_a,id_b,kind,weight\n0,1,must-link,-1\n",
        r"Line 2 of .* out of range: '-1'\. Write a finite number",
    ),
    (
        "id_a,id_b,kind\n0,1,must-link\n1,2,must-link\n0,2,cannot-link\n",
        r"pairs.csv contradict each other: 0 = 1 = 2, but 0 ≠ 2",
    ),
]


@pytest.mark.parametrize(("text", "words"), FILES)
def test_errors_in_a_file_are_named_with_their_line(tmp_path, text, words):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(lw.ConstraintError, match=words):
        Constraints.read_csv(path, n_rows=4)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_delimiters_are_read(tmp_path, mark):
    path = tmp_path / "pairs.csv"
    path.write_text("id_a,id_b,kind,weight\na 1,b,must-link,2\nb,c,cannot-link,1\n".replace(",", mark))
    c = Constraints.read_csv(path, ids=["a 1", "b", "c"])
    assert (c.must_link.tolist(), c.cannot_link.tolist()) == ([[0, 1]], [[1, 2]])


def test_binary_files_and_duplicate_ids_raise_errors(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"id_a,id_b,kind\nfur,f\x81r,must-link\n")
    with pytest.raises(lw.ConstraintError, match=r"is not UTF-8: byte 20"):
        Constraints.read_csv(path, ids=["fur", "für"])
    with pytest.raises(lw.ConstraintError, match="Rows 0 and 2 have the same id: 'a'"):
        Constraints.read_csv(path, ids=["a", "b", "a"])
    with pytest.raises(TypeError, match=r"Pass n_rows .*, or ids"):
        Constraints.read_csv(path)
    with pytest.raises(ValueError, match="2 ids for 3 rows"):
        Constraints(3).to_csv(path, ids=["a", "b"])


def test_a_contradiction_in_a_file_names_ids_or_is_kept(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id_a,id_b,kind\nx,y,must-link\nx,y,cannot-link\n")
    with pytest.raises(lw.InfeasibleConstraintsError, match="x = y, but x ≠ y") as caught:
        Constraints.read_csv(path, ids=["x", "y"])
    assert caught.value.chain == (0, 1)
    with pytest.warns(lw.ConstraintWarning):
        assert len(Constraints.read_csv(path, ids=["x", "y"], on_conflict="keep").conflicts) == 1


@pytest.mark.parametrize(
    ("pairs", "where"),
    [
        ("3,1,must-link\n0,2,must-link\n0,1,cannot-link\n1,2,must-link\n3,0,cannot-link\n", "3, 4, 5"),
        ("2,0,cannot-link\n1,3,must-link\n3,0,must-link\n3,0,must-link\n1,0,cannot-link\n", "3, 4, 6"),
    ],
)
def test_a_contradiction_in_a_file_names_its_lines(tmp_path, pairs, where):
    """The first line of each pair, whichever of its rows comes first."""
    path = tmp_path / "pairs.csv"
    path.write_text(f"id_a,id_b,kind\n{pairs}")
    with pytest.raises(lw.InfeasibleConstraintsError, match=rf"\(lines {where}\)\. Remove one of them"):
        Constraints.read_csv(path, n_rows=4)


def test_a_row_separated_from_itself_in_a_file_names_its_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id_a,id_b,kind\n0,1,must-link\n2,2,cannot-link\n")
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"^Line 3 of .* '2' from itself\. Remove it\.$"):
        Constraints.read_csv(path, n_rows=4)
