"""Golden records: one row for each cluster, by a rule for each column."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.data import read_table
from linkwise.data.golden_records import merge_file, merge_rows
from linkwise.errors import DataError

PEOPLE = pl.DataFrame(
    {
        "key": ["a", "b", "c", "d", "e"],
        "name": ["Ann", "Ann", "Ann Stone", "Bob", None],
        "phone": ["0581", None, "0582", "0700", " "],
        "changed": ["2024-03-01", "2025-01-01", "2023-12-31", "", None],
        "age": [31, 32, 33, None, 50],
    }
)
LABELS = np.array([1, 1, 1, 0, 0])
IDS = PEOPLE["key"].to_list()


def merge(**rules):
    return merge_rows(PEOPLE, LABELS, IDS, rules).frame


def test_the_most_frequent_value_is_taken_then_the_longest_then_the_first():
    found = merge_rows(PEOPLE, LABELS, IDS)
    assert found.frame["name"].to_list() == ["Ann", "Bob"]
    assert found.frame["phone"].to_list() == ["0581", "0700"], "as often and as long as the other, but first"
    tied = merge_rows(pl.DataFrame({"name": ["Ann", "Ann Stone"]}), np.array([0, 0]), ["0", "1"])
    assert tied.frame["name"].to_list() == ["Ann Stone"]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("frequent", ["Ann", "Bob"]),
        ("complete", ["Ann Stone", "Bob"]),
        ("first", ["Ann", "Bob"]),
        ("newest:age", ["Ann Stone", "Bob"]),
        ("newest:changed", ["Ann", "Bob"]),
    ],
)
def test_each_column_has_a_rule(rule, expected):
    assert merge(name=rule)["name"].to_list() == expected


def test_the_newest_value_is_that_of_the_latest_row_that_has_one():
    assert merge(phone="newest:changed")["phone"].to_list() == ["0581", "0700"], "the latest row has none"
    assert merge(age="newest:changed")["age"].to_list() == [32, 50]


def test_ids_number_and_cluster_are_told():
    found = merge_rows(PEOPLE, LABELS, IDS).frame
    assert found.columns == [*PEOPLE.columns, "n_rows", "row_ids", "cluster"]
    assert found["n_rows"].to_list() == [3, 2]
    assert found["row_ids"].to_list() == ["a; b; c", "d; e"]
    assert found["cluster"].to_list() == [1, 0]
    assert found["key"].to_list() == ["a", "d"]


def test_no_value_is_left_out_in_silence():
    assert merge_rows(PEOPLE, LABELS, IDS).several == {"name": 1, "phone": 1, "changed": 1, "age": 1}
    assert merge_rows(PEOPLE, np.arange(5), IDS).several == {}


def test_rows_in_no_cluster_stay_alone():
    found = merge_rows(PEOPLE, np.array([0, -1, 0, -1, -1]), IDS)
    assert found.frame["row_ids"].to_list() == ["a; c", "b", "d", "e"]
    assert found.frame["cluster"].to_list() == [0, -1, -1, -1]


def test_a_name_that_is_taken_gets_a_number():
    table = PEOPLE.rename({"age": "n_rows", "phone": "cluster"})
    assert merge_rows(table, LABELS, IDS).frame.columns[-3:] == ["n_rows_2", "row_ids", "cluster_2"]


@pytest.mark.parametrize("kind", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, lambda frame: frame])
def test_the_frame_stays_of_its_kind(kind):
    frame = kind(PEOPLE)
    found = merge_rows(frame, LABELS, IDS).frame
    assert isinstance(found, type(frame))
    same = pl.from_pandas(found) if isinstance(found, pd.DataFrame) else pl.DataFrame(found)
    assert same["age"].to_list() == [31, 50]
    assert same["row_ids"].to_list() == ["a; b; c", "d; e"]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"nmae": "first"}, "does not exist: 'nmae'"),
        ({"name": "newest:chnaged"}, "does not exist: 'chnaged'"),
        ({"name": "longest"}, "is 'longest'. Use one of frequent, complete, first"),
        ({"name": "newest:name"}, "neither dates nor numbers"),
    ],
)
def test_a_wrong_rule_is_an_error(rules, message):
    with pytest.raises(DataError, match=message):
        merge_rows(PEOPLE, LABELS, IDS, rules)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_cells_of_files_stay_as_they_are_written(tmp_path, ending):
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    table = read_table(path)
    out = merge_file(path, table.reading, LABELS, IDS, ending, {"name": "complete"})
    read = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}[ending]
    found = read(io.BytesIO(out.content), **({"infer_schema": False} if ending == ".csv" else {}))
    assert found["name"].to_list() == ["Ann Stone", "Bob"]
    assert found["phone"].to_list() == ["0581", "0700"]
    assert found["row_ids"].to_list() == ["a; b; c", "d; e"]
    assert out.notes[-2] == "5 rows became 2 golden records."
    assert "'name' of 1 cluster" in out.notes[-1]


def test_ids_that_look_like_formulas_are_escaped(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("key,name,n\n=a,x,1\n=b,y,2\n")
    out = merge_file(path, read_table(path).reading, np.array([0, 0]), ["=a", "=b"], ".csv", {})
    assert out.content.decode().splitlines()[1].endswith("'=a; =b,0")


def test_a_session_merges_by_position_or_by_id():
    session = lw.Session(np.array([[0.0], [0.1], [5.0]]), ids=["a", "b", "c"])
    session.add(0, 1, "must-link")
    session.add(1, 2, "cannot-link")
    table = pl.DataFrame({"key": ["c", "b", "a"], "name": ["Cy", "Bo", "Bob"]})
    found = session.golden(table, {"name": "complete"}, id_column="key")
    assert found.frame["name"].to_list() == ["Cy", "Bob"]
    assert found.frame["row_ids"].to_list() == ["c", "b; a"]
    with pytest.raises(DataError, match="another order"):
        session.golden(table)
    with pytest.raises(DataError, match="2 rows, but the session has 3"):
        session.golden(table[:2])
