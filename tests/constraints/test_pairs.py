"""Cells of CSV files: nothing that a spreadsheet would compute, and what was written is read back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from linkwise.constraints.files import escape_cell, find_row, read_labels
from linkwise.workspace.output import write_labels

FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://evil.example","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "=",
    "+",
    "-",
    "@",
    "-inf",
    "+x",
    "'=1+1",
    "''@x",
]
HARMLESS = ["", "a", "1", "-1", "+1", "-1.5", "+.5", "-1e-5", "1.", "a=b", "'a", "'", "a-b", "x@y", " ", "é"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_escaped_by_an_apostrophe(text):
    assert escape_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_other_cells_are_not_escaped(text):
    assert escape_cell(text) == text


@given(st.lists(st.text(alphabet="'=+-@\t\r1e. a"), unique=True, min_size=1))
def test_every_row_is_found_by_its_cell(ids):
    position = {name: row for row, name in enumerate(ids)}
    assert [find_row(escape_cell(name), position) for name in ids] == list(range(len(ids)))


def test_files_of_other_programs_name_rows_without_escapes():
    position = {"=a": 0, "'b": 1, "'=c": 2}
    assert [find_row(cell, position) for cell in ("=a", "'=a", "'b", "'=c", "''=c")] == [0, 0, 1, 2, 2]
    assert find_row("'=d", position) is None
    assert find_row("'d", {"d": 0}) is None, "only what looks like a formula has an apostrophe of ours"


def test_written_pairs_are_read_again(tmp_path):
    held = lw.Constraints(len(FORMULAS), must_link=[(0, 13), (2, 3)], cannot_link=[(0, 14), (5, 6)])
    held.to_csv(tmp_path / "pairs.csv", ids=FORMULAS)
    assert lw.Constraints.read_csv(tmp_path / "pairs.csv", ids=FORMULAS) == held
    with open(tmp_path / "pairs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert all(cell[0] == "'" for row in rows for cell in row[:2])


def test_written_clusters_are_read_again(tmp_path):
    file = io.StringIO(newline="")
    names = [name for name in FORMULAS if "\r" not in name]
    write_labels(names, list(range(len(names))), file)
    (tmp_path / "labels.csv").write_text(file.getvalue(), newline="")
    assert [int(label) for label in read_labels(tmp_path / "labels.csv", names)] == list(range(len(names)))


def test_a_negative_cluster_stays_a_number():
    file = io.StringIO()
    write_labels(["a"], [-1], file)
    assert file.getvalue() == "id,cluster\na,-1\n"
