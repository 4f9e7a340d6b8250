"""A session and its data: the same up to rounding, or refused in words."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.errors import ConstraintError, DataMismatchError, SessionError
from linkwise.session.journal.description import data_difference, fingerprint, fingerprint_difference
from linkwise.session.session import Session
from session.session_examples import LEARNERS, N_ROWS, TRUTH, X, answer_by, image


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "s.linkwise"
    with Session.open(found, X, LEARNERS["COBRAS"](), ids=[f"r{i}" for i in range(N_ROWS)]) as session:
        answer_by(session, TRUTH, 4)
    return found


def one_value(X, by):
    changed = X.copy()
    changed[5, 1] += by
    return changed


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (X[:-1], "14 rows, 2 columns, not 13 rows, 2 columns"),
        (X[:, :1], "14 rows, 2 columns, not 14 rows, 1 column"),
        (X.T, "14 rows, 2 columns, not 2 rows, 14 columns"),
        (X[::-1], r"another order of rows \(column 0 and 1 more\)"),
        (X[[1, 0, *range(2, N_ROWS)]], r"another order of rows \(column 0 and 1 more\)"),
        (X[:, ::-1], r"other values .* \(column 0 and 1 more\)"),
        (one_value(X, 1e-6), r"other values .* \(column 1\)"),
        (X * 2, r"other values .* \(column 0 and 1 more\)"),
    ],
    ids=[
        "rows",
        "columns",
        "turned",
        "reversed",
        "two rows exchanged",
        "two columns exchanged",
        "value",
        "scale",
    ],
)
def test_other_data_are_refused_in_words(path, other, words):
    with pytest.raises(DataMismatchError, match=rf"begun with other data.*{words}") as error:
        Session.open(path, other)
    assert str(path) in str(error.value)
    assert "carry the answers over by id" in str(error.value)
    with Session.open(path, X) as session:
        assert session.status.n_answers == 4


@pytest.mark.parametrize("column", [0, 7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_changed_value_in_many_is_seen(column, dtype):
    rng = np.random.default_rng(1)
    many = rng.normal(size=(100_000, 8)).astype(dtype)
    was = fingerprint(many)
    many[77_777, column] += dtype(1e-4)
    assert fingerprint_difference(was, fingerprint(many)) is not None
    assert f"column {column}" in fingerprint_difference(was, fingerprint(many))


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([1, 2, 50, 5000]),
    size=st.floats(-30, 30),
    offset=st.floats(-1e6, 1e6),
)
def test_the_last_bits_do_not_matter(seed, n, size, offset):
    """Noise of a few units in the last place, and sums in any order."""
    rng = np.random.default_rng(seed)
    data = (rng.normal(size=(n, 3)) + offset) * 10**size
    noisy = data * (1 + rng.uniform(-1e-15, 1e-15, data.shape))
    assert fingerprint_difference(fingerprint(data), fingerprint(noisy)) is None
    assert fingerprint_difference(fingerprint(data), fingerprint(np.asfortranarray(data))) is None


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 300), columns=st.integers(1, 4))
def test_any_exchange_of_rows_is_seen(seed, n, columns):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 3, (n, columns)).astype(float)
    order = np.arange(n)
    i, j = rng.integers(0, n, 2)
    order[[i, j]] = order[[j, i]]
    assume((data[i] != data[j]).any())
    assert fingerprint_difference(fingerprint(data), fingerprint(data[order])) is not None


def test_a_fingerprint_does_not_depend_on_blocks(monkeypatch):
    data = np.random.default_rng(0).normal(size=(1000, 3))
    was = fingerprint(data)
    monkeypatch.setattr("linkwise.session.journal.description.BLOCK_ROWS", 7)
    assert fingerprint_difference(was, fingerprint(data)) is None


@pytest.mark.parametrize(
    "same",
    [X.tolist(), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X * (1 + 1e-15)],
    ids=["list", "Fortran", "strided", "noise"],
)
def test_the_same_data_in_another_form(path, same):
    with Session.open(path, X) as session, Session.open(path, same) as other:
        assert image(other) == image(session)


def test_float32_and_float64_of_the_same_values_are_the_same_data(tmp_path):
    path, single = tmp_path / "s.linkwise", X.astype(np.float32)
    with Session.open(path, single, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 4)
        was = session.history
    with Session.open(path, single.astype(np.float64)) as session:
        assert session.history == was
        assert session.question is not None


@pytest.mark.parametrize("begun", [np.float64, np.float32])
@pytest.mark.parametrize("rounded", [1e-30, 1.0, 1e30])
def test_the_width_of_floats_does_not_matter(tmp_path, begun, rounded):
    """A session begun with floats of one width goes on with the other; other rows are still noticed."""
    path, data = tmp_path / "s.linkwise", X * rounded
    with Session.open(path, data.astype(begun), LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 4)
        was = session.history
    for width in (np.float32, np.float64):
        with Session.open(path, data.astype(width)) as session:
            assert session.history == was
            assert session.question is not None
        for other in (data[::-1], one_value(data, 1e-3 * rounded)):
            with pytest.raises(DataMismatchError, match="other values or another order"):
                Session.open(path, other.astype(width))


def test_a_format_without_the_width_is_compared_by_both():
    """Earlier sessions did not store it."""
    stored = {name: value for name, value in fingerprint(X).items() if name != "width"}
    for width in (np.float32, np.float64):
        assert data_difference(stored, X.astype(width)) is None
        assert data_difference(stored, X[::-1].astype(width)) is not None


def test_values_beyond_float32_are_other_data(tmp_path):
    path = tmp_path / "s.linkwise"
    Session.open(path, X.astype(np.float32), LEARNERS["COBRAS"]()).close()
    with pytest.raises(DataMismatchError):
        Session.open(path, X * 1e60)


def test_the_sums_of_a_fingerprint_are_those_of_the_file_format():
    """Another weighting would refuse every session there is."""
    data = np.array([[1.0, -2.0], [0.5, 3.0], [4.0, 0.25]])
    stored = fingerprint(data)
    row = np.arange(1, 4)
    assert stored["shape"] == [3, 2]
    assert stored["scale"] == [5.5, 5.25]
    wanted = [(np.cos(row)[:, None] * data).sum(axis=0), (np.sin(1.7 * row)[:, None] * data).sum(axis=0)]
    np.testing.assert_allclose(stored["sketch"], wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (one_value(X, np.nan), ValueError, r"NaN/infinity: 1 value, the first in row \d+, column \d+"),
        (one_value(X, np.inf), ValueError, "infinity"),
        (np.empty((0, 2)), ValueError, r"0 sample\(s\)"),
        (X[:, 0], ValueError, r"of shape \(14,\), but a table"),
        ([["a", "b"]] * N_ROWS, ValueError, "not a number: 'a'"),
    ],
)
def test_data_that_cannot_be_clustered(path, tmp_path, wrong, kind, words):
    for attempt in (
        lambda: Session.open(path, wrong),
        lambda: Session.open(tmp_path / "new.linkwise", wrong, LEARNERS["COBRAS"]()),
        lambda: lw.Session(wrong, LEARNERS["COBRAS"]()),
    ):
        with pytest.raises(kind, match=words):
            attempt()
    assert not (tmp_path / "new.linkwise").exists()


@pytest.mark.parametrize("n_rows", [1, 2])
def test_the_smallest_data(tmp_path, n_rows):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X[:n_rows], LEARNERS["COBRAS"]()) as session:
        assert len(answer_by(session, lambda *_: "no")) == n_rows - 1
        assert session.labels.tolist() == list(range(n_rows))
        was = image(session)
    with Session.open(path, X[:n_rows]) as session:
        assert image(session) == was


# ---------------------------------------------------------------- ids and source
@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(ids=st.lists(st.text(max_size=6), min_size=N_ROWS, max_size=N_ROWS, unique=True))
def test_ids_come_back_as_they_were(ids):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.linkwise")
        Session.open(path, X, LEARNERS["COBRA"](), ids=ids).close()
        with Session.open(path, X, ids=ids) as session:
            assert session.ids == ids
        with Session.open(path) as session:
            assert session.ids == ids


def test_ids_that_look_like_numbers_stay_text(tmp_path):
    ids = ["007", "7", "7.0", "1,5", 'say "a"', "ä", "日本", " x", "x ", "", "a\nb", *"abc"]
    path, pairs = tmp_path / "s.linkwise", tmp_path / "pairs.csv"
    with Session.open(path, X, LEARNERS["COBRAS"](), ids=ids) as session:
        answer_by(session, TRUTH, 6)
        session.constraints.to_csv(pairs, ids=session.ids)
        other = lw.Session(X, LEARNERS["COBRAS"](), ids=ids)
        assert other.import_csv(pairs) == session.constraints.n_constraints
        assert other.constraints == session.constraints


def test_ids_may_be_given_as_numbers(tmp_path):
    path = tmp_path / "s.linkwise"
    ids = np.arange(100, 100 + N_ROWS)
    Session.open(path, X, LEARNERS["COBRAS"](), ids=ids).close()
    with Session.open(path, X, ids=ids) as session:
        assert session.ids == [str(i) for i in range(100, 100 + N_ROWS)]


def test_other_ids_are_refused(path):
    for ids in ([f"r{i}" for i in range(N_ROWS)][::-1], [f"s{i}" for i in range(N_ROWS)], ["r0"]):
        with pytest.raises(DataMismatchError, match=r"with other ids\. Open it with the ids"):
            Session.open(path, X, ids=ids)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([f"r{i % 13}" for i in range(N_ROWS)], "Rows 0 and 13 have the same id: 'r0'"),
        ([1, "1", *range(2, N_ROWS)], "Rows 0 and 1 have the same id: '1'"),
        ([f"r{i}" for i in range(5)], "5 ids for 14 rows"),
        (["a", None, *range(N_ROWS - 2)], r"Row 1 has no id: None"),
        ([0.5, float("nan"), *range(N_ROWS - 2)], r"Row 1 has no id: nan"),
    ],
)
def test_ids_that_name_no_row(tmp_path, ids, words):
    path = tmp_path / "s.linkwise"
    with pytest.raises(ConstraintError, match=words):
        Session.open(path, X, LEARNERS["COBRAS"](), ids=ids)
    assert not path.exists()


def test_a_source_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "s.linkwise"
    with pytest.raises(SessionError, match=r"cannot store source as JSON .*set is not a type of JSON"):
        Session.open(path, X, LEARNERS["COBRAS"](), source={"columns": {"a", "b"}})
    assert not path.exists()


HALF = "caf\udce9"  # as a file name comes that is no UTF-8


def test_an_id_with_half_a_character_is_refused(tmp_path):
    path = tmp_path / "s.linkwise"
    with pytest.raises(ConstraintError, match=r"The id of row 1 is not valid Unicode: 'caf\\udce9'"):
        Session.open(path, X, LEARNERS["COBRAS"](), ids=["a", HALF, *map(str, range(2, N_ROWS))])
    assert not path.exists()


def test_a_name_with_half_a_character_is_refused(path):
    with Session.open(path, X) as session:
        with pytest.raises(SessionError, match=r"The name 'caf\\udce9' is not valid Unicode"):
            session.set_name(0, HALF)
        session.set_name(0, "café \U0001f34e")
    with Session.open(path) as session:
        assert session.names == {0: "café \U0001f34e"}


def test_files_whose_names_are_no_unicode(tmp_path):
    """Where data and pairs came from is kept as well as it can be."""
    path, pairs = tmp_path / HALF, tmp_path / f"{HALF}.csv"
    lw.Constraints(N_ROWS, [(0, 3)]).to_csv(pairs)
    with Session.open(path, X, LEARNERS["COBRAS"](), source={"file": HALF}) as session:
        assert session.import_csv(pairs) == 1
    with Session.open(path, X) as session:
        assert session.source == {"file": HALF}
        assert session.events[0].source == r"caf\udce9.csv"


@pytest.mark.parametrize("source", [["a"], "a.csv", 5])
def test_a_source_that_is_no_object_is_refused(source):
    with pytest.raises(TypeError, match="Pass a dict"):
        lw.Session(X, LEARNERS["COBRAS"](), source=source)


@pytest.mark.parametrize("source", [{"scale": np.nan}, {"rows": [[]] * 600_000}, {"text": "x" * 9_000_000}])
def test_a_source_that_no_file_would_give_back_is_refused(source):
    with pytest.raises(SessionError, match="cannot store source"):
        lw.Session(X, LEARNERS["COBRAS"](), source=source)


# ---------------------------------------------------------------- from one data set to another
def test_answers_are_carried_over_by_id(path, tmp_path):
    """Rows were added, left out and put in another order."""
    with Session.open(path) as old:
        gone = old.history[-1].first
        facts = [(f"r{e.first}", f"r{e.second}", e.answer) for e in old.history]
    kept = [row for row in np.random.default_rng(0).permutation(N_ROWS) if row != gone]
    ids = [*(f"r{i}" for i in kept), "new"]
    data = np.vstack([X[kept], X[:1] + 1])
    known = [f for f in facts if f[0] in ids and f[1] in ids]
    target = tmp_path / "t.linkwise"
    with Session.open(target, data, LEARNERS["COBRAS"](), ids=ids) as session:
        assert session.carry_over(path) == (len(known), len(facts) - len(known))
        for first, second, answer in known:
            assert session.evidence.verdict(ids.index(first), ids.index(second)) == answer
        session.carry_over(path)
        assert [(e.kind, e.source) for e in session.history] == [("import", "s.linkwise")]
        was = image(session)
    with Session.open(target, data) as session:
        assert image(session) == was


def test_doubts_are_carried_over_too(tmp_path):
    with Session.open(tmp_path / "a.linkwise", X, LEARNERS["COBRAS"]()) as old:
        for said in ("unsure", "no", "unsure"):
            old.answer(said)
        doubted = [(e.first, e.second) for e in old.history if e.answer == "unsure"]
    session = lw.Session(X, LEARNERS["COBRAS"]())
    assert session.carry_over(tmp_path / "a.linkwise") == (3, 0)
    assert [session.evidence.verdict(*pair) for pair in doubted] == ["unsure", "unsure"]


def test_answers_of_strangers_are_not_carried_over(path):
    session = lw.Session(X, LEARNERS["COBRAS"]())  # its rows are 0, 1, ...; the others' are r0, r1, ...
    assert session.carry_over(path) == (0, 4)
    assert session.events == []


def test_a_position_is_not_taken_for_an_id(tmp_path):
    """Numbers from 1 on are ids here, and positions count from 0."""
    with Session.open(tmp_path / "a.linkwise", X, LEARNERS["COBRAS"]()) as old:
        old.add(7, 9, "must-link")
    session = lw.Session(X, LEARNERS["COBRAS"](), ids=range(1, N_ROWS + 1))
    assert session.carry_over(tmp_path / "a.linkwise") == (0, 1)
    session = lw.Session(X, LEARNERS["COBRAS"](), ids=range(N_ROWS))  # each id is the position of its row
    assert session.carry_over(tmp_path / "a.linkwise") == (1, 0)
    assert session.evidence.verdict(7, 9) == "yes"
