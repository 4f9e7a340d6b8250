"""Merged cells of a spreadsheet: each has their value, and column names may stand in several rows."""

import io
import zipfile

import openpyxl
import pytest

from linkwise.data import read_table
from linkwise.data.read.merged_cells import MOST_HEADER_ROWS, find_merged_ranges
from linkwise.data.read.spreadsheets import read_sheet
from linkwise.errors import DataError

ROWS = [["region", "shop", "sales"], ["north", "a", 1], [None, "b", 2], ["south", "c", 5], [None, "d", 7]]


def merged(path, rows, *ranges):
    file = openpyxl.Workbook()
    for row in rows:
        file.active.append(row)
    for one in ranges:
        file.active.merge_cells(one)
    file.save(path)
    return path.read_bytes()


def test_each_merged_cell_has_their_value(tmp_path):
    raw = merged(tmp_path / "t.xlsx", ROWS, "A2:A3", "A4:A5")
    sheet = read_sheet(raw)
    assert sheet.frame["region"].to_list() == ["north", "north", "south", "south"]
    assert sheet.frame["sales"].to_list() == [1, 2, 5, 7]
    assert sheet.notes == ["Merged cells have their value in each cell: A2:A3, A4:A5."]
    notes = read_table(tmp_path / "t.xlsx").notes
    assert sheet.notes[0] in notes
    assert not any("missing" in note for note in notes)
    assert read_sheet(merged(tmp_path / "t.xlsx", ROWS)).frame["region"].null_count() == 2


def test_empty_rows_and_columns_do_not_move_merged_cells(tmp_path):
    rows = [
        [],
        [None, *ROWS[0]],
        *([None, *row] for row in ROWS[1:3]),
        [],
        [None, *ROWS[3]],
        [None, *ROWS[4]],
    ]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, "B3:B5", "B6:B7", "E1:F9", "A1:A9"))
    assert sheet.frame["region"].to_list() == ["north", "north", "south", "south"]
    assert sheet.notes == [
        "Merged cells have their value in each cell: B3:B5, B6:B7.",
        "1 empty row skipped.",
    ]


def test_merged_cells_across_columns_and_without_a_value(tmp_path):
    rows = [["a", "b", "c", "d"], [1, None, 3, 4], [5, None, 7, None], [9, 10, None, 12]]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, "A2:B3", "C4:C9"))
    assert sheet.frame.rows() == [(1, 1, 3, 4), (1, 1, 7, None), (9, 10, None, 12)]
    assert sheet.notes == ["Merged cells have their value in each cell: A2:B3."]


def test_a_heading_over_all_columns_stays_in_the_first_one(tmp_path):
    rows = [*ROWS[:3], ["the south", None, None], *ROWS[3:]]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, "A4:C4"))
    assert sheet.frame["sales"].to_list() == [1, 2, None, 5, 7]
    (note,) = sheet.notes
    assert "over all columns have their value in the first one alone: A4:C4. If they are headings" in note


def test_column_names_in_two_rows(tmp_path):
    rows = [["id", "size", None, "date"], [None, "width", "height", None], ["x", 1, 2, "a"], ["y", 3, 5, "b"]]
    joined = ["id", "size width", "size height", "date"]
    for ranges in (["A1:A2", "B1:C1", "D1:D2"], ["B1:C1"]):
        sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, *ranges))
        assert sheet.frame.columns == joined
        assert sheet.frame.row(0) == ("x", 1, 2, "a")
        assert "The column names stand in 2 rows and are joined, such as 'size width'." in sheet.notes


def test_a_name_over_columns_that_have_none_of_their_own(tmp_path):
    rows = [["id", "size", None], ["x", 1, 2], ["y", 3, 5]]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, "B1:C1"))
    assert sheet.frame.columns == ["id", "size", "size 2"]
    assert "Columns under one merged name have numbers: size 2." in sheet.notes
    texts = [["id", "colour", None], ["x", "red", "blue"], ["y", "blue", "red"]]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", texts, "B1:C1"))
    assert sheet.frame.rows() == [("x", "red", "blue"), ("y", "blue", "red")], "texts may be values"
    twice = [["id", "size", None, "id"], ["x", 1, 2, 3], ["y", 3, 5, 4]]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", twice, "B1:C1"))
    assert sheet.frame.columns == ["id", "size", "size 2", "id_2"]


def test_a_merged_cell_beside_the_table_is_no_name_in_many_rows(tmp_path):
    rows = [["north", "id", "n"], *([None, f"r{k}", k] for k in range(2 * MOST_HEADER_ROWS))]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, f"A1:A{len(rows)}"))
    assert sheet.frame.columns == ["north", "id", "n"]
    assert len(sheet.frame) == len(rows) - 1


@pytest.mark.parametrize("end", ["B", "C"])
def test_a_merged_title_is_no_column_name(tmp_path, end):
    width = ord(end) - ord("A") + 1
    rows = [
        ["Sales", *[None] * (width - 1)],
        ["id", "n", "m"][:width],
        ["a", 1, 4][:width],
        ["b", 2, 5][:width],
    ]
    sheet = read_sheet(merged(tmp_path / "t.xlsx", rows, f"A1:{end}1"))
    assert sheet.frame.columns == rows[1]
    assert sheet.skip_lines == 1


def test_ranges_in_damaged_and_hostile_files(tmp_path):
    refs = (b'"A1:B2"', b"'AA3:AA3'", b'"A:B"', b'"C2:C1"')
    part = b"".join(b"<x:mergeCell  ref=" + ref + b"/>" for ref in refs)
    assert [merged.name for merged in find_merged_ranges(part)] == ["A1:B2"]
    raw = merged(tmp_path / "t.xlsx", ROWS, "A2:A3")
    many = b'<mergeCell ref="A2:B1048576"/>' * 9
    with pytest.raises(DataError, match="Merged cells overlap each other"):
        read_sheet(_replace(raw, b'<mergeCell ref="A2:A3" />', many))


def _replace(raw, old, new):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as parts, zipfile.ZipFile(out, "w") as changed:
        for name in parts.namelist():
            content = parts.read(name)
            assert old in content or "sheet1" not in name
            changed.writestr(name, content.replace(old, new))
    return out.getvalue()
