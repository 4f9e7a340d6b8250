"""Names of columns are resolved once, before anything is parsed and after nothing can break."""

import narwhals as nw
import polars as pl
import pytest

from linkwise.data import from_frame, read_table
from linkwise.data.columns.named_columns import NamedColumns, resolve_names
from linkwise.data.reading import Reading
from linkwise.errors import DataError


def resolve(frame, **given):
    return resolve_names(nw.from_native(pl.DataFrame(frame), eager_only=True), Reading.of(**given))


def test_names_come_back_as_tuples_with_the_id():
    table = {"uuid": ["a", "b"], "x": [1, 2], "y": [3, 4]}
    assert resolve(table) == NamedColumns("uuid", None, ())
    assert resolve(table, columns="x", drop=["uuid"]) == NamedColumns(None, ("x",), ("uuid",))
    assert resolve(table, id_column="x", text="uuid") == NamedColumns("x", None, (), ("uuid",))


def test_the_id_is_found_among_columns_without_another_use():
    table = {"id": ["a", "b"], "key": ["c", "d"]}
    assert resolve(table, columns=["id"]).id_column == "key"
    assert resolve(table, text="id").id_column == "key"
    assert resolve(table, drop=["id", "key"]).id_column is None


def test_dates_that_python_cannot_hold_are_found_before_ids_are_read(tmp_path):
    far = pl.Series([3_000_000, 1, 2], dtype=pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({"id": far, "x": [1, 2, 3]})
    frame.write_parquet(tmp_path / "far.parquet")
    with pytest.raises(DataError, match="outside the years 1 to 9999"):
        read_table(tmp_path / "far.parquet")
    with pytest.raises(DataError, match="outside the years 1 to 9999"):
        from_frame(frame)
    assert from_frame(frame, drop=["id"]).ids is None


@pytest.mark.parametrize("name", ["far.csv", "far.jsonl"])
def test_dates_that_are_far_only_once_they_are_parsed(tmp_path, name):
    times = ["9999-12-31T23:59:59-10:00", "2024-01-01T00:00:00-10:00", "2024-01-01T00:00:00-10:00"]
    frame = pl.DataFrame({"x": [1, 2, 3], "when": times})
    path = tmp_path / name
    frame.write_csv(path) if name.endswith("csv") else frame.write_ndjson(path)
    with pytest.raises(DataError, match=r"'when' holds dates outside the years 1 to 9999.*rows 0"):
        read_table(path)
    assert read_table(path, drop=["when"]).features == ("x",)
