"""`linkwise.read`, and frames where an array is usual: the same rows whichever library holds them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linkwise as lw
from linkwise.data import encode, from_frame, read_folder
from linkwise.data.sources import holds_numbers, is_frame, take_rows

N = 60
SHAPE = (N, 7)  # amount, visits, three cities, since, vip


def customers():
    """A frame as people have it: names of rows, an amount with a heavy tail, categories, dates."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer": [f"C{row:03d}" for row in range(N)],
            "amount": rng.lognormal(3, 1.5, N),
            "visits": rng.integers(0, 9, N),
            "city": rng.choice(["Rome", "Bern", "Oslo"], N),
            "since": rng.permutation(pd.date_range("2020-01-01", periods=N, freq="D")),
            "vip": rng.random(N) < 0.5,
        }
    )


FRAMES = {
    "pandas": lambda df: df,
    "string": lambda df: df.astype({"customer": "string", "city": "string"}),
    "string of arrow": lambda df: df.astype({"customer": "string[pyarrow]", "city": "string[pyarrow]"}),
    "objects": lambda df: df.astype(object),
    "nullable": lambda df: df.convert_dtypes(),
    "arrow dtypes": lambda df: df.convert_dtypes(dtype_backend="pyarrow"),
    "categorical": lambda df: df.astype({"city": "category"}),
    "with a time zone": lambda df: df.assign(since=df["since"].dt.tz_localize("UTC")),
    "named index": lambda df: df.set_index("customer"),
    "filtered": lambda df: df.set_axis(np.arange(N) * 3 + 1),
    "decimals": lambda df: df.assign(visits=[Decimal(int(value)) for value in df["visits"]]),
    "sparse": lambda df: df.assign(visits=pd.arrays.SparseArray(df["visits"])),
    "polars": pl.from_pandas,
    "pyarrow": lambda df: pa.Table.from_pandas(df, preserve_index=False),
}


@pytest.fixture(scope="module")
def rows():
    return lw.read(customers())


# ---------------------------------------------------------------- read
@pytest.mark.parametrize("convert", FRAMES.values(), ids=FRAMES)
def test_all_kinds_of_frames_are_the_same_rows(convert, rows):
    frame = convert(customers())
    found = lw.read(frame)
    assert found.ids == tuple(customers()["customer"])
    assert found.shape == SHAPE
    np.testing.assert_allclose(found.X, rows.X, atol=1e-12)
    assert repr(found) == repr(rows)
    assert lw.Session(frame).ids == list(found.ids)


def test_rows_say_what_was_decided(rows):
    assert repr(rows) == (
        "Rows: 60 rows, identified by 'customer'\n"
        "  compared: 1 amount (amount), 1 number (visits), 2 categories (city, vip), 1 date (since)\n"
        "  decided: 'amount' has a few values that are far larger than the others, so its logarithm is"
        " compared"
    )
    html = rows._repr_html_()
    assert "60 rows" in html
    assert "decided: &#x27;amount&#x27;" in html
    plain = lw.read(customers(), as_is=True, drop="vip")
    assert repr(plain) == (
        "Rows: 60 rows, identified by their position\n"
        "  compared: 2 numbers (amount, visits), 1 category (city), 1 date (since)\n"
        "  shown: 1 text (customer)\n"
        "  ignored: 1 category (vip)"
    )


def test_a_file_is_read_as_its_frame(tmp_path, rows):
    path = tmp_path / "customers.csv"
    customers().to_csv(path, index=False)
    np.testing.assert_allclose(lw.read(path).X, rows.X, atol=1e-9)
    assert lw.read(str(path), as_is=True, id="customer").table.reading.log is None


def test_a_folder_an_array_and_a_table_are_read(tmp_path):
    for name, text in (("a.txt", "red apples and pears"), ("b.txt", "a fast red car"), ("c.txt", "apples")):
        (tmp_path / name).write_text(text)
    found = lw.read(tmp_path)
    assert found.ids == read_folder(tmp_path).ids == ("a.txt", "b.txt", "c.txt")
    assert repr(found) == "Rows: 3 rows, identified by 'file'\n  compared: the texts of the folder"
    with pytest.raises(TypeError, match=r"is a folder, and id_column is about tables\. Remove it\."):
        lw.read(tmp_path, id="file")
    assert lw.read(np.array([[0.0, 5.0], [2.0, 1.0]])).X.tolist() == [[0, 1], [1, 0]]
    table = from_frame(customers(), columns=["visits"])
    assert lw.read(table).X.tolist() == encode(table).X.tolist()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda df: lw.read([1, 2]), TypeError, "source is a list. Pass the path of a file or folder"),
        (lambda df: lw.read(df["amount"]), TypeError, r"Pass series\.to_frame\(\)"),
        (lambda df: lw.read(pl.from_pandas(df).lazy()), TypeError, r"Call frame\.collect\(\)"),
        (lambda df: lw.read(lw.read(df)), TypeError, "source is read already"),
        (lambda df: lw.read(from_frame(df), id="customer"), TypeError, "Remove the options"),
        (lambda df: lw.read(df, id="custommer"), lw.DataError, "Did you mean 'customer'"),
        (lambda df: lw.read(df, colums=["visits"]), TypeError, "Did you mean columns"),
        (lambda df: lw.read("no.csv"), FileNotFoundError, "no.csv"),
        (lambda df: lw.Session(df["amount"].to_numpy()[:, None], id="customer"), TypeError, "Pass ids="),
        (lambda df: lw.Session(lw.read(df), id="customer"), TypeError, r"Pass id to linkwise\.read"),
        (lambda df: lw.Session("no.csv"), TypeError, r"but X is 'no\.csv'\. Pass linkwise\.read\(X\)\."),
        (lambda df: lw.KIN().fit(df), lw.DataError, r"not a number: 'C000'\. Pass linkwise\.read\(X\)"),
        (lambda df: lw.PCKMeans(2).fit(pl.from_pandas(df)), lw.DataError, r"Pass linkwise\.read\(X\)"),
        (lambda df: lw.KIN().fit(pa.Table.from_pandas(df)), lw.DataError, r"Pass linkwise\.read\(X\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_the_way_out(call, error, words):
    with pytest.raises(error, match=words):
        call(customers())


# ---------------------------------------------------------------- the index of pandas
@pytest.mark.parametrize(
    ("index", "names"),
    [
        (pd.Index(list("abc")), ("a", "b", "c")),
        (pd.Index([7, 9, 30], name="order"), ("7", "9", "30")),
        (pd.Index([7, 9, 30]), None),
        (pd.RangeIndex(3), None),
        (pd.Index(list("aab")), None),
        (pd.Index(["a", None, "b"]), None),
        (pd.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 2)]), None),
        (pd.Index(list("abc"), name="size"), None),
    ],
    ids=["texts", "named", "filtered", "range", "repeated", "missing", "several", "named as a column"],
)
def test_an_index_that_names_the_rows_becomes_their_ids(index, names):
    frame = pd.DataFrame({"size": [1.0, 2.0, 9.0]}, index=index)
    assert lw.read(frame).ids == names
    assert lw.read(frame, as_is=True).ids is None
    if names is not None:
        name = index.name or "index"
        assert lw.read(frame, as_is=True, id=name).ids == tuple(lw.Session(frame, id=name).ids) == names


# ---------------------------------------------------------------- where an array is usual
def test_rows_are_an_array_to_numpy(rows):
    assert len(rows) == N
    assert np.asarray(rows).tolist() == rows.X.tolist()
    assert np.asarray(rows, dtype=np.float32).dtype == np.float32
    copy = np.array(rows)
    copy[:] = 0
    assert rows.X.any()


def test_a_frame_of_numbers_is_taken_as_it_is():
    frame = customers()[["amount", "visits", "vip"]]
    wanted = frame.astype(float).to_numpy()
    for given in (frame, frame.convert_dtypes(), frame.astype(object), pl.from_pandas(frame)):
        assert is_frame(given)
        assert holds_numbers(given)
        session = lw.Session(given, lw.COBRAS(random_state=0))
        assert session.X.tolist() == wanted.tolist()
        assert session.source == {}
        assert take_rows(given, id="amount").shape == (N, 2)
    assert not is_frame(wanted)
    assert take_rows(wanted) is None


def test_gaps_in_numbers_name_the_way_out():
    gaps = pd.DataFrame({"size": [1.0, None, 9.0], "weight": [2.0, 3.0, 4.0]})
    with pytest.raises(lw.DataError, match=r"Or pass linkwise\.read\(X\), which fills gaps\."):
        lw.Session(gaps)
    assert lw.Session(lw.read(gaps)).X.tolist() == [[0, 0], [0.5, 0.5], [1, 1]]


def test_rules_of_rows_name_their_columns_in_their_own_units(rows):
    session = lw.Session(rows)
    labels = np.where(customers()["amount"] > 20, "large", "small")
    rules = lw.explain(labels, rows)
    assert rules.fidelity == 1.0
    assert "amount > 20" in rules.to_text()
    assert session.join(rows).columns[-3:].to_list() == ["cluster", "cluster_name", "confidence"]
