"""Spreadsheets as input and output: cells keep their types, and nothing becomes a formula."""

import datetime
import io
import sys
import zipfile

import numpy as np
import openpyxl
import openpyxl.chart
import polars as pl
import pytest

from linkwise.data import read_table
from linkwise.data.joining import COLUMNS, ClusterColumns, join_file
from linkwise.data.read.spreadsheets import read_sheet, write_sheet
from linkwise.errors import DataError

DAY = datetime.date(2024, 2, 29)
CLUSTERS = ClusterColumns(np.array([0, 1, -1]), ["a", None, "=evil"], np.array([1.0, 0.123456, 0.5]))


def book(path, **sheets):
    file = openpyxl.Workbook()
    file.remove(file.active)
    for name, rows in sheets.items():
        sheet = file.create_sheet(name)
        for row in rows:
            sheet.append(row)
    file.save(path)
    return path


def cells(content):
    page = openpyxl.load_workbook(io.BytesIO(content)).active
    return [[cell.value for cell in row] for row in page.iter_rows()]


def test_cells_keep_their_types(tmp_path):
    rows = [
        ["id", "n", "share", "day", "at", "word", "yes", "code"],
        ["a", 1, 0.5, DAY, datetime.datetime(2024, 1, 1, 12, 30), "x", True, "007"],
        ["b", 2, 3, datetime.date(1999, 12, 31), datetime.datetime(2024, 1, 2), None, False, "010"],
    ]
    frame = read_sheet(book(tmp_path / "t.xlsx", s=rows).read_bytes()).frame
    assert frame.columns == rows[0]
    assert [list(row) for row in frame.rows()] == rows[1:]
    assert dict(frame.schema) == {
        "id": pl.String, "n": pl.Int64, "share": pl.Float64, "day": pl.Date, "at": pl.Datetime("us"),
        "word": pl.String, "yes": pl.Boolean, "code": pl.String,
    }  # fmt: skip


def test_the_first_sheet_is_read_unless_another_is_named(tmp_path):
    one, two = [["n"], [1], [2]], [["m"], [3], [5], [7]]
    path = book(tmp_path / "t.xlsx", one=one, two=two)
    table = read_table(path)
    assert table.frame["n"].to_list() == [1, 2]
    assert "Sheet 'one' is read, the first of 2. Add --sheet NAME" in table.notes[0]
    assert read_table(path, **table.choices).frame["n"].to_list() == [1, 2]
    assert read_table(path, sheet="two").frame["m"].to_list() == [3, 5, 7]
    with pytest.raises(DataError, match=r"t.xlsx: There is no sheet 'x'. The sheets are 'one'"):
        read_table(path, sheet="x")
    assert "sheet" not in read_table(book(tmp_path / "u.xlsx", one=one)).choices
    (tmp_path / "t.csv").write_text("n\n1\n2\n")
    with pytest.raises(DataError, match=r"t.csv: --sheet is for files such as \.xlsx"):
        read_table(tmp_path / "t.csv", sheet="one")


def test_times_are_hours_as_in_a_file_of_text(tmp_path):
    times = [datetime.time(6 + row % 5, 30 * (row % 2)) for row in range(40)]
    rows = [["start", "size", "note"], *([time, row % 7, None] for row, time in enumerate(times))]
    table = read_table(book(tmp_path / "t.xlsx", s=rows))
    assert table.roles["start"] == "numeric"
    assert table.frame["start"].to_list() == [time.hour + time.minute / 60 for time in times]
    assert table.item(1)["start"] == "07:30:00"
    assert "Column 'start' is read as hours: '06:00:00' is 6.0." in table.notes
    without = [[*row[:2], "x"] for row in rows[1:]]
    assert table.shown == ()  # a column without values is no help
    assert read_table(book(tmp_path / "t.xlsx", s=[rows[0], *without])).shown == ("note",)


def test_what_stands_below_a_table_is_no_row(tmp_path):
    table = [["id", "size"], ["a", 1], ["b", 2], [], ["c", 5]]
    found = read_table(book(tmp_path / "t.xlsx", s=[*table, [], ["Source: laboratory"], [], [None, "2024"]]))
    assert found.ids == ("a", "b", "c")
    assert "2 lines below the table are left out: 'Source: laboratory', '2024'." in found.notes
    assert read_table(book(tmp_path / "t.xlsx", s=[*table, ["d"]])).ids == ("a", "b", "c", "d")
    of_one = book(tmp_path / "t.xlsx", s=[["size"], [1], [2], [], [7]])
    assert read_table(of_one).frame["size"].to_list() == [1, 2, 7]


def test_empty_rows_errors_and_mixed_columns(tmp_path):
    rows = [[], ["n", None, "mixed", "wrong"], [1, 5, 3, "#N/A"], [], [2, 6, "n/a", 4], [3, 7, 1.5, 5], []]
    table = read_table(book(tmp_path / "t.xlsx", s=rows))
    assert table.frame.columns == ["n", "column 2", "mixed", "wrong"]
    assert table.frame["mixed"].to_list() == [3, None, 1.5]  # as in a file of text
    assert table.frame["wrong"].to_list() == [None, 4, 5]
    notes = " ".join(table.notes)
    assert "1 empty row skipped." in notes
    assert "Errors of formulas, such as #N/A, count as missing in wrong." in notes


@pytest.mark.parametrize(
    ("rows", "message"),
    [([], "Sheet 's' is empty"), ([["a"]], "0 rows, but at least 2")],
)
def test_sheets_that_hold_no_table(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        read_table(book(tmp_path / "t.xlsx", s=rows))


def test_a_table_below_other_rows(tmp_path):
    table = [["id", "region", "size"], ["a", "N", 1], ["b", "S", 2], ["c", "N", None], ["d", "N", 4]]
    path = book(tmp_path / "t.xlsx", s=[["Sales 2024"], [], ["by", "Anna"], *table])
    found = read_table(path)
    assert found.frame.columns == table[0]
    assert found.reading.skip_lines == 3
    assert "Lines 1 to 3 are skipped, because the table begins in line 4." in " ".join(found.notes)
    assert list(read_table(path, found.reading).ids) == list("abcd")
    assert len(read_table(path, skip_lines=4, no_header=True)) == 4


def test_a_sheet_without_column_names(tmp_path):
    rows = [
        ["red", None, 1.5],
        ["blue", None, 2.5],
        ["red", None, 0.5],
        ["blue", None, 4.0],
        ["red", None, 2.0],
    ]
    path = book(tmp_path / "t.xlsx", s=rows)
    found = read_table(path)
    assert found.frame.columns == ["field 1", "field 3"]
    assert found.reading.no_header
    assert len(found) == 5
    assert len(read_table(path, no_header=True)) == 5
    with pytest.raises(DataError, match="The sheet has 5 rows, and 5 are to be skipped"):
        read_table(path, skip_lines=5)


def test_what_a_spreadsheet_often_has_besides_a_table(tmp_path):
    table = [["id", "region", "size"], ["a", "N", 1], ["b", "S", 2], ["c", "N", 5]]
    with pytest.raises(DataError, match=r"has one cell, 'Sales', for 3 columns\. Use --skip-lines N"):
        read_table(book(tmp_path / "t.xlsx", s=[["Sales"], *table[:2]]))
    path = book(tmp_path / "t.xlsx", a=[], s=table)
    with pytest.raises(
        DataError, match=r"Sheet 'a' is empty\. Read another sheet, such as 's': --sheet NAME"
    ):
        read_table(path, sheet="a")
    about = [["About this file"], ["See the sheet with the orders."]]
    for one, others in ((path, "'a'"), (book(tmp_path / "u.xlsx", a=about, s=table, b=table), "'a', 'b'")):
        found = read_table(one)
        assert found.ids == ("a", "b", "c")
        assert found.notes[0].startswith("Sheet 's' is read, the first table of ")
        assert found.notes[0].endswith(f"such as {others}.")
        assert read_table(one, **found.choices).ids == found.ids
    with_formulas = [[*row, last] for row, last in zip(table, ["total", "=C2", "=C3", "=C4"], strict=True)]
    path = book(tmp_path / "t.xlsx", s=with_formulas)
    assert "no values for the formulas in total." in " ".join(read_sheet(path.read_bytes()).notes)
    without = [[*row, last] for row, last in zip(table, ["total", None, None, None], strict=True)]
    path = book(tmp_path / "t.xlsx", s=without)
    assert read_sheet(path.read_bytes()).notes == []
    with pytest.raises(DataError, match=r"has a password, or it is an older \.xls file"):
        read_sheet(b"\xd0\xcf\x11\xe0" + b"x" * 99)


def test_a_sheet_that_is_a_chart_is_no_table(tmp_path):
    file = openpyxl.Workbook()
    for row in [["id", "n"], ["a", 1], ["b", 3]]:
        file.active.append(row)
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(file.active, 2, 1, 2, 3))
    file.create_chartsheet("chart", 0).add_chart(chart)
    file.save(tmp_path / "t.xlsx")
    assert read_sheet((tmp_path / "t.xlsx").read_bytes()).frame["n"].to_list() == [1, 3]


def test_damaged_and_hostile_files(tmp_path):
    raw = book(tmp_path / "t.xlsx", s=[["a"], [1], [2]]).read_bytes()
    for content in (b"PK", raw[:-30], raw[: len(raw) // 2], b"a,b\n1,2\n"):
        with pytest.raises(DataError, match=r"cannot be read as \.xlsx"):
            read_sheet(content)
    far = _replace(raw, b'<row r="3"', b'<row r="3000000000"')
    with pytest.raises(DataError, match="more than 1048576 rows"):
        read_sheet(far)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/workbook.xml", b" " * (2**28 + 1))
    with pytest.raises(DataError, match="more than 250 times"):
        read_sheet(out.getvalue())


def _replace(raw, old, new):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as parts, zipfile.ZipFile(out, "w") as changed:
        for name in parts.namelist():
            changed.writestr(name, parts.read(name).replace(old, new))
    return out.getvalue()


def test_without_openpyxl_the_message_says_what_to_install(tmp_path, monkeypatch):
    path = book(tmp_path / "t.xlsx", s=[["a"], [1], [2]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r'pip install "linkwise\[tables\]"'):
        read_table(path)


# ---------------------------------------------------------------- writing
def test_nothing_that_is_written_becomes_a_formula_or_changes():
    moment = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    values = [
        "=1+1", "#N/A", 10**15 + 1, 7, 0.1, True, DAY, datetime.date(1850, 1, 1), moment, float("nan"), None,
        "end",
    ]  # fmt: skip
    content = write_sheet({"=name": values}, "s")
    back = [row[0] for row in cells(content)]
    assert back == [
        "=name", "=1+1", "#N/A", str(10**15 + 1), 7, 0.1, True, datetime.datetime(2024, 2, 29),
        "1850-01-01", "2024-01-01T12:00:00+00:00", None, None, "end",
    ]  # fmt: skip
    page = openpyxl.load_workbook(io.BytesIO(content)).active
    assert page["A1"].data_type == page["A2"].data_type == "s"


@pytest.mark.parametrize(
    ("value", "message"),
    [("x" * 40_000, "at most 32767"), ("\x01", "control characters"), (float("inf"), "infinity")],
    ids=["long", "control", "infinity"],
)
def test_cells_that_a_spreadsheet_cannot_hold(value, message):
    with pytest.raises(DataError, match=message):
        write_sheet({"a": [value]}, "s")


def test_more_rows_than_a_sheet_has():
    with pytest.raises(DataError, match="at most 1048576 rows"):
        write_sheet({"a": range(1_048_576)}, "s")


def test_a_spreadsheet_with_its_clusters(tmp_path):
    rows = [["id", "n", "day"], ["a", 1, DAY], ["b", 22, DAY], ["c", 3, None]]
    path = book(tmp_path / "t.xlsx", other=[["x"], [1]], s=rows)
    joined = join_file(path, read_table(path, sheet="s", drop=["day"]).reading, CLUSTERS, ".xlsx")
    day = datetime.datetime(2024, 2, 29)
    assert cells(joined.content) == [
        ["id", "n", "day", *COLUMNS],
        ["a", 1, day, 0, "a", 1],
        ["b", 22, day, 1, None, 0.1235],
        ["c", 3, None, -1, "=evil", 0.5],
    ]
    assert joined.notes == ["The new file holds the values of sheet 's', without its formats and formulas."]
    lines = (
        join_file(path, read_table(path, sheet="s").reading, CLUSTERS, ".csv").content.decode().splitlines()
    )
    assert lines[2] == "b,22,2024-02-29,1,,0.1235"


def test_a_text_file_as_a_spreadsheet(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,n,price,word\n007,1.50,€ 3,x\n008,NA,€ 4,=2\n009,3,€ 5,\n")
    joined = join_file(path, read_table(path).reading, CLUSTERS, ".xlsx")
    assert [row[:4] for row in cells(joined.content)] == [
        ["id", "n", "price", "word"],
        ["007", 1.5, "€ 3", "x"],
        ["008", "NA", "€ 4", "=2"],
        ["009", 3, "€ 5", None],
    ]
    path = tmp_path / "t.jsonl"
    path.write_text('{"n": 1, "o": [1]}\n{"n": 2, "o": [2]}\n{"n": 4, "o": [3]}\n')
    with pytest.raises(DataError, match="cannot hold lists, objects or bytes, which are in o"):
        join_file(path, read_table(path).reading, CLUSTERS, ".xlsx")
