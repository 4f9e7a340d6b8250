"""Files: each kind gives the same table, and each fault is named with its place."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.data import encode, from_frame, read_table
from linkwise.errors import DataError

ROWS = """\
id,size,colour,member,when,class
7,1.5,red,true,2024-01-01,a
8,2.5,blue,false,2024-01-03,b
9,4,red,true,2024-01-02,a
10,0.5,blue,true,2024-02-01,b
"""
FEATURES = ("size", "colour", "member", "when")


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def written(tmp_path, content, name="rows.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path, **how):
    with pytest.raises(DataError) as caught:
        read_table(path, **how)
    return str(caught.value)


def same(one, other):
    assert one.ids == other.ids
    assert one.columns == other.columns
    assert [one.item(row) for row in range(len(one))] == [other.item(row) for row in range(len(other))]
    np.testing.assert_array_equal(encode(one).X, encode(other).X)


def test_csv(csv_file):
    table = read_table(csv_file)
    assert table.ids == ("7", "8", "9", "10")
    assert table.features == FEATURES
    assert table.shown == ("class",)
    assert table.roles == {
        "id": "id", "size": "numeric", "colour": "category", "member": "category",
        "when": "date", "class": "label",
    }  # fmt: skip
    assert table.item(2) == {
        "size": "4", "colour": "red", "member": "true", "when": "2024-01-02", "class": "a",
    }  # fmt: skip


def test_every_format_gives_the_same_table(csv_file, tmp_path):
    table = read_table(csv_file)
    frame = pl.read_csv(csv_file, try_parse_dates=True)
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    frame.write_ndjson(tmp_path / "rows.json")
    frame.write_csv(tmp_path / "rows.tsv", separator="\t")
    for name in ("rows.parquet", "rows.jsonl", "rows.json", "rows.tsv"):
        same(read_table(tmp_path / name), table)
    same(from_frame(frame), table)
    same(from_frame(frame.to_pandas()), table)
    same(from_frame(frame.to_arrow()), table)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiter_is_found_and_reported(tmp_path, mark):
    path = written(tmp_path, ROWS.replace(",", mark))
    table = read_table(path)
    assert table.choices["delimiter"] == mark
    assert table.notes[0].startswith("Columns are separated by ")
    assert table.features == FEATURES
    assert read_table(path, delimiter=mark).columns == table.columns


def test_semicolons_win_over_decimal_commas(tmp_path):
    path = written(tmp_path, "a;b\n" + "".join(f"{i};{i},5\n" for i in range(9)))
    table = read_table(path)
    assert table.choices["delimiter"] == ";"
    assert table.features == ("a", "b")
    assert "Column 'b' is read as numbers: '0,5' is 0.5." in table.notes


def test_commas_within_quotes_may_be_lists(tmp_path):
    path = written(tmp_path, "a,b\n" + "".join(f'{i},"{i},5"\n' for i in range(9)))
    table = read_table(path)
    assert table.features == ("a",)
    assert any("decimal commas" in note and "decimal point" in note for note in table.notes)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_impossible_delimiter(csv_file, delimiter):
    assert "one character" in refusal(csv_file, delimiter=delimiter)


def test_delimiter_only_for_text(tmp_path):
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "rows.parquet")
    assert "for files such as .csv" in refusal(tmp_path / "rows.parquet", delimiter=",")


def test_byte_order_mark_and_windows_line_ends(csv_file, tmp_path):
    path = written(tmp_path, b"\xef\xbb\xbf" + ROWS.replace("\n", "\r\n").encode(), "windows.csv")
    same(read_table(path), read_table(csv_file))


def test_old_mac_line_ends(csv_file, tmp_path):
    same(read_table(written(tmp_path, ROWS.replace("\n", "\r"), "mac.csv")), read_table(csv_file))


def test_no_line_end_at_the_end(csv_file, tmp_path):
    same(read_table(written(tmp_path, ROWS.rstrip("\n"), "short.csv")), read_table(csv_file))


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.npy", "rows.parquet"])
def test_empty_file(tmp_path, name):
    path = written(tmp_path, b"", name)
    assert "The file is empty" in refusal(path)
    assert name in refusal(path)


@pytest.mark.parametrize("content", [" \n\n", "\ufeff"])
def test_file_of_nothing_but_space(tmp_path, content):
    assert "The file is empty" in refusal(written(tmp_path, content))
    assert "The file is empty" in refusal(written(tmp_path, content, "rows.jsonl"))


@pytest.mark.parametrize("header", ["a,b", "a,b\n", 'a,"b"\n', "a,b\n\n\n"])
def test_no_rows(tmp_path, header):
    assert "0 rows, but at least 2 are needed" in refusal(written(tmp_path, header))


def test_a_spreadsheet_is_refused_with_the_way_out(tmp_path):
    assert "Save the sheet as .xlsx or CSV" in refusal(written(tmp_path, "PK", "rows.ods"))
    assert "Save the sheet" not in refusal(written(tmp_path, "PK", "rows.zip"))


def test_not_utf8_names_the_byte(tmp_path):
    content = "a,b\n1,é\n".encode("latin-1")
    message = refusal(written(tmp_path, content))
    assert "not UTF-8: byte 6 " in message
    assert "0xe9" in message
    assert "byte 6 " in refusal(written(tmp_path, content, "rows.jsonl"))
    assert "byte 9 " in refusal(written(tmp_path, b"\xef\xbb\xbf" + content))


@pytest.mark.parametrize(
    ("content", "line", "fields"),
    [
        ("a,b\n1,2\n3\n5,6\n", 3, "1 field"),
        ("a,b\n1,2\n3,4,5\n5,6\n", 3, "3 fields"),
        ('a,b\n"x\ny",2\n3\n', 4, "1 field"),
        ("\na,b\n\n3,4,5\n", 4, "3 fields"),
        ("a,b\n1,2,\n3,4,\n", 2, "3 fields"),
    ],
)
def test_ragged_row_names_the_line(tmp_path, content, line, fields):
    message = refusal(written(tmp_path, content), delimiter=",")
    assert f"Line {line} has {fields}" in message
    assert "2 columns" in message


def test_unclosed_quote_names_the_line(tmp_path):
    assert "Line 3 cannot be read" in refusal(written(tmp_path, 'a,b\n1,2\n3,"4\n5,6\n'))


def test_unknown_column_names_the_nearest(csv_file, tmp_path):
    for how in ({"columns": ["Sise"]}, {"drop": ["sise"]}, {"id_column": "Sise"}):
        message = refusal(csv_file, **how)
        assert "Did you mean 'size'?" in message
        assert "id, size, colour, member, when, class" in message
    assert "Did you mean" not in refusal(csv_file, drop=["zzzzzz"])


def test_missing_file_stays_a_file_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["rows.ods", "rows", "rows.py"])
def test_unknown_ending(tmp_path, name):
    assert ".parquet" in refusal(written(tmp_path, "a\n1\n", name))


def test_file_without_column_names_is_reported(tmp_path):
    table = read_table(written(tmp_path, "1,2\n4.9,3.0\n4.7,3.2\n"))
    assert any("it is all numbers. If it is a row, add --no-header" in note for note in table.notes)
    table = read_table(written(tmp_path, "0,1\n4.9,3.0\n4.7,3.2\n"))
    assert not any("all numbers" in note for note in table.notes)


def test_written_index_is_the_id(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0, 4.0]}, index=["x", "y", "z"]).to_csv(tmp_path / "rows.csv")
    table = read_table(tmp_path / "rows.csv")
    assert table.ids == ("x", "y", "z")
    assert any("has no name: it is called 'column 1'" in note for note in table.notes)


def test_empty_lines_are_skipped_and_reported(tmp_path):
    table = read_table(written(tmp_path, "a,b\n1,2\n\n3,5\n\n\n"))
    assert len(table) == 2
    assert "1 empty line skipped." in table.notes


def test_one_column(tmp_path):
    table = read_table(written(tmp_path, "a\n1\n2\n4\n"))
    assert table.features == ("a",)
    assert not any("separated" in note for note in table.notes)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_big_integers_as_ids_are_exact(tmp_path, ending):
    ids = [9007199254740993, 18446744073709551615, 123456789012345678901234567890]
    text = {
        "csv": "id,a\n" + "".join(f"{i},{n}\n" for n, i in enumerate(ids)),
        "jsonl": "".join(json.dumps({"id": i, "a": n}) + "\n" for n, i in enumerate(ids)),
    }
    assert read_table(written(tmp_path, text[ending], f"rows.{ending}")).ids == tuple(map(str, ids))


def test_ids_stay_as_they_are_written(tmp_path):
    table = read_table(written(tmp_path, "id,a\n007,1\n7,2\n7.0,4\n7e0,5\nNA,6\n"))
    assert table.ids == ("007", "7", "7.0", "7e0", "NA")
    assert table.frame["a"].to_list() == [1, 2, 4, 5, 6]


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(ids=st.lists(WORDS, min_size=2, max_size=12, unique=True))
def test_any_text_survives_as_id(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("ids") / "rows.csv"
    pd.DataFrame({"who": ids, "a": range(len(ids))}).to_csv(path, index=False, lineterminator="\r\n")
    assert read_table(path, id_column="who", delimiter=",").ids == tuple(ids)
    path = path.with_suffix(".parquet")
    pl.DataFrame({"who": ids, "a": range(len(ids))}).write_parquet(path)
    assert read_table(path, id_column="who").ids == tuple(ids)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"id_column": "id"},
        {"columns": ["size", "class"]},
        {"drop": ["when"]},
        {"columns": "size"},
        {"id_column": "when", "drop": ("id",), "delimiter": ","},
    ],
)
def test_choices_give_the_same_table(csv_file, how):
    table = read_table(csv_file, **how)
    choices = json.loads(json.dumps(table.choices))
    assert set(choices) == {"id_column", "columns", "drop", "delimiter"}
    again = read_table(csv_file, **choices)
    same(again, table)
    assert again.notes == table.notes
    assert again.choices == table.choices


@pytest.mark.slow
def test_hundred_thousand_rows(tmp_path):
    n = 100_000
    values = np.random.default_rng(0).normal(size=(n, 4)).round(6)
    frame = pd.DataFrame(values, columns=list("abcd"))
    frame.insert(0, "id", np.arange(n) + 10**15)
    frame["kind"] = np.array(["x", "y", "z"])[np.arange(n) % 3]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_csv(tmp_path / "quoted.csv", index=False, quoting=1)
    for name in ("rows.csv", "quoted.csv"):
        table = read_table(tmp_path / name)
        encoded = encode(table, scale="none")
        assert encoded.X.shape == (n, 7)
        np.testing.assert_array_equal(encoded.X[:, :4], values)
        assert table.ids[-1] == str(10**15 + n - 1)
