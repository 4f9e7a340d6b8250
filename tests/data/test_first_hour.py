"""Small files as people have them, each with what was once misread: values, use of the columns, and notes."""

import datetime
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import linkwise as lw
from linkwise.data import encode, read_table
from linkwise.errors import DataError

FILES = Path(__file__).parent / "files"
FIRST = datetime.date(2017, 10, 5)
READ = {  # the first row, and of the columns that are used: their roles
    "cat45.tsv": ({"name": "S0", "x": 55}, {"name": "category", "x": "numeric"}),
    "columns.json": ({"a": 0, "b": 0}, {"a": "numeric", "b": "numeric"}),
    "pandas.json": ({"a": 0, "b": 0}, {"a": "numeric", "b": "numeric"}),
    "dat.dat": ({"name": "item 0", "price": 0.0}, {"name": "id", "price": "numeric"}),
    "dates.csv": (
        {"sold": FIRST, "shipped": FIRST, "updated": FIRST, "price": 33},
        {"sold": "date", "shipped": "date", "updated": "date", "price": "numeric"},
    ),
    "dup.csv": (
        {"gene": "g0", "1": 51, "call": "A", "2": 6, "call_2": "P"},
        {"gene": "id", "1": "numeric", "2": "numeric"},
    ),
    "geo.csv": ({"lat": 47.9165, "lon": 8.3398}, {"lat": "numeric", "lon": "numeric"}),
    "halfmissing.csv": ({"a": 31, "b": "76", "c": "z"}, {"a": "numeric", "c": "category"}),
    "idgap.csv": (
        {"ID#": "2", "Balance": 95, "Miles": 60},
        {"ID#": "id", "Balance": "numeric", "Miles": "numeric"},
    ),
    "idgap2.csv": (
        {"Cust No": "2", "Balance": 78, "Miles": 95},
        {"Cust No": "id", "Balance": "numeric", "Miles": "numeric"},
    ),
    "idhash.csv": (
        {"ID#": "1", "Balance": 29, "Miles": 48},
        {"ID#": "id", "Balance": "numeric", "Miles": "numeric"},
    ),
    "patient.csv": (
        {"patient": "1", "Balance": 79, "Miles": 47},
        {"patient": "id", "Balance": "numeric", "Miles": "numeric"},
    ),
    "names.csv": (
        {"country": "Land A0", "gdp": 17, "births": 71},
        {"country": "id", "gdp": "numeric", "births": "numeric"},
    ),
    "l1.csv": (
        {"ville": "Orléans 0", "prix": 0.5, "département": "Finistère"},
        {"ville": "id", "prix": "numeric", "département": "category"},
    ),
    "nohead.csv": (
        {"field 1": 0.4712, "field 2": 5.1215, "field 3": 7.874, "field 4": 8.1079},
        {f"field {n}": "numeric" for n in range(1, 5)},
    ),
    "sentinel.csv": (
        {"co": 8, "no2": 88, "temp": 22},
        {"co": "numeric", "no2": "numeric", "temp": "numeric"},
    ),
    "space.csv": (
        {"town": "town 0", "people": 4305, "share": 8.3},
        {"town": "id", "people": "numeric", "share": "numeric"},
    ),
    "space2.csv": (
        {"town": "town 0", "people": 5330, "share": 2.8},
        {"town": "id", "people": "numeric", "share": "numeric"},
    ),
    "space3.csv": (
        {"town": "town 0", "people": 7211, "share": 2.2},
        {"town": "id", "people": "numeric", "share": "numeric"},
    ),
    "state.csv": ({"state": "S21", "x": 78}, {"state": "category", "x": "numeric"}),
    "trunc.csv": ({"text": "gut 😀 Straße 0", "n": 0}, {"n": "numeric"}),
    "units.csv": (
        {
            "name": "app 0",
            "size": 575_000,
            "installs": 1_000_000,
            "price": 2.99,
            "mileage": 91_737,
            "pop": 9138,
            "netto": 7305.5,
            "disc": 45,
            "worth": 26_000_000_000,
            "rs": 483_000,
        },
        {"name": "id"}
        | dict.fromkeys(
            ["size", "installs", "price", "mileage", "pop", "netto", "disc", "worth", "rs"], "numeric"
        ),
    ),
    "wb.csv": (
        {"Country Name": "Land 0", "Country Code": "L00", "1960": 992, "1961": 354},
        {"Country Code": "id", "1960": "numeric", "1961": "numeric"},
    ),
    "nested.parquet": (
        {
            "name": "item 0",
            "price": 0.0,
            "tags": ["c"],
            "emb": [0.0, 0.0, 1.0],
            "addr.town": "Y",
            "addr.zip": "8000",
        },
        {"name": "id", "price": "numeric", "addr.town": "category", "addr.zip": "category"},
    ),
    "t.db": ({"a": 0, "b": 0.0}, {"a": "id", "b": "numeric"}),
    "t.geojson": (
        {"a": 0, "longitude": 0.0, "latitude": 0.0},
        {"a": "id", "longitude": "numeric", "latitude": "numeric"},
    ),
} | {
    name: ({"name": "item 0", "price": 0.0}, {"name": "id", "price": "numeric"})
    for name in ("t.arrow", "t.csv.gz", "t.feather", "t.zip")
}
ROLES = ("id", "numeric", "category", "date")
NOTES = {
    "dup.csv": "Names that occur twice have a number: call_2.",
    "halfmissing.csv": "Shown, but not compared: b.",
    "sentinel.csv": "These values count as missing: -200 in 8 cells.",
    "trunc.csv": "1 damaged character in line 62 read as '�': the file is UTF-8 everywhere else.",
    "wb.csv": "Lines 1 to 4 are skipped, because the table begins in line 5.",
}


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_as_its_owner_means_it(name):
    first, roles = READ[name]
    table = read_table(FILES / name, propose=True)
    assert pl.DataFrame(table.frame.to_native()).row(0, named=True) == first
    assert {column.name: column.role for column in table.columns if column.role in ROLES} == roles
    assert NOTES.get(name, "") in " ".join(table.notes)
    X = encode(table).X
    assert len(X) == len(table)
    assert np.isfinite(X).all()


def test_missing_values_that_are_written_as_numbers_are_none():
    frame = pl.DataFrame(read_table(FILES / "sentinel.csv", propose=True).frame.to_native())
    assert frame.null_count().row(0) == (3, 5, 0)


def test_curves_without_a_header():
    table = read_table(FILES / "ucr.tsv", propose=True)
    assert (table.kind, len(table)) == ("series", 40)
    assert encode(table).X.shape == (40, 30)
    assert [column.name for column in table.columns if column.role == "left out"] == ["class"]


def test_a_cube_of_numbers_is_pictures(tmp_path):
    np.save(tmp_path / "cube3d.npy", np.random.default_rng(0).random((60, 28, 28)))
    table = read_table(tmp_path / "cube3d.npy", propose=True)
    assert encode(table).X.shape == (60, 784)
    assert table.columns[29].name == "pixel 1,1"


def test_a_sparse_matrix():
    table = read_table(FILES / "m.mtx", propose=True)
    assert table.frame["x1"].to_list()[0] == pytest.approx(0.3375187690009446)
    assert len(table) == 60


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "mac.csv",
            r"'Besançon' in macintosh, 'Besanìon' in cp850. Add --encoding NAME, such as --encoding mac",
        ),
        ("cl.csv", r"No column is left to cluster by: 'id' \(id: .*'cluster' \(label"),
        ("obj.npy", r"it holds Python objects, which could run code. Save numbers or texts"),
    ],
)
def test_what_cannot_be_decided_names_the_way_out(name, message):
    with pytest.raises(DataError, match=message):
        read_table(FILES / name, propose=True)


def score_pairs(one, other):
    """The F1 of the pairs that are together."""
    count = lambda labels: sum(n * (n - 1) / 2 for n in Counter(labels).values())  # noqa: E731
    return 2 * count(zip(one, other, strict=True)) / (count(one) + count(other))


def test_duplicates_are_known_by_what_identifies_them():
    table = read_table(FILES / "duplicates.csv", propose=True)
    assert (table.reading.text, table.reading.text_by) == (("Site", "Address", "Phone", "Fund"), "letters")
    truth = json.loads((FILES / "duplicates_truth.json").read_text())
    y = [truth[name] for name in table.ids]
    asked = lw.RecordLinkage(random_state=0).fit(table, oracle=lw.TruthOracle(y), budget=20)
    assert score_pairs(y, asked.labels_.tolist()) > 0.95
    links = [pair for pair in combinations(range(len(y)), 2) if y[pair[0]] == y[pair[1]]][::30]
    given = lw.RecordLinkage(random_state=0).fit(table, constraints=lw.Constraints(len(y), links))
    assert score_pairs(y, given.labels_.tolist()) > 0.9


def test_every_file_is_asserted():
    named = {*READ, "ucr.tsv", "m.mtx", "mac.csv", "cl.csv", "obj.npy", "duplicates.csv", "long.csv"}
    assert {path.name for path in FILES.iterdir()} == {*named, "duplicates_truth.json"}


def test_long_names_are_all_there():
    table = read_table(FILES / "long.csv", propose=True)
    assert [column.role for column in table.columns] == ["numeric"] * 3
    assert table.columns[1].name == "Mean Software Developer Salary (unadjusted)"
