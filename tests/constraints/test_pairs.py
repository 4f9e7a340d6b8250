"""Cells of CSV files: nothing that a spreadsheet would compute, and what was written is read back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import linkwise as lw
from linkwise.app.project.output import ANSWER_COLUMNS, write_answers, write_labels
from linkwise.constraints.files import find_row, read_labels
from linkwise.text_files import escape_cell, write_records

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
    names = FORMULAS
    write_labels(names, list(range(len(names))), file)
    (tmp_path / "labels.csv").write_text(file.getvalue(), newline="")
    assert [int(label) for label in read_labels(tmp_path / "labels.csv", names)] == list(range(len(names)))


def test_a_negative_cluster_stays_a_number():
    file = io.StringIO()
    write_labels(["a"], [-1], file)
    assert file.getvalue() == "id,cluster\na,-1\n"


CELLS = st.text(alphabet="=+-@\t\r\n\"',; ab1\ufeff", max_size=6)


@given(st.lists(CELLS, unique=True, min_size=2, max_size=6))
@example(["r0\r=1+0", "a"])
def test_what_is_written_is_read_back(tmp_path_factory, ids):
    folder = tmp_path_factory.mktemp("files")
    pairs = lw.Constraints(len(ids), must_link=[(0, 1)])
    pairs.to_csv(folder / "pairs.csv", ids=ids)
    assert lw.Constraints.read_csv(folder / "pairs.csv", ids=ids) == pairs
    labels = list(range(-1, len(ids) - 1))
    for names in (None, dict(enumerate(ids))):
        with open(folder / "labels.csv", "w", newline="", encoding="utf-8") as file:
            write_labels(ids, labels, file, names=names)
        assert read_labels(folder / "labels.csv", ids) == labels


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=4))
@example([["a", "b"], ["r0\r=1+0", "c"]])
def test_no_record_begins_within_a_cell(rows):
    file = io.StringIO(newline="")
    write_records(file, rows)
    read = list(csv.reader(io.StringIO(file.getvalue(), newline=""), strict=True))
    assert read == [[escape_cell(cell) for cell in row] for row in rows]


def test_answers_with_a_carriage_return_stay_in_their_record():
    cells = (1, "r0\r=1+0", "b", "yes", "=me", "now", "answer", "yes", "", None, "a\rb", None)
    record = dict(zip(ANSWER_COLUMNS, cells, strict=True))
    file = io.StringIO(newline="")
    write_answers([record], file)
    header, line = csv.reader(io.StringIO(file.getvalue(), newline=""), strict=True)
    assert tuple(header) == ANSWER_COLUMNS
    assert line == ["1", "r0\r=1+0", "b", "yes", "'=me", "now", "answer", "yes", "", "", "a\rb", ""]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("first", ["", "sep=;\r\n", '"sep=;"\n'])
def test_pairs_of_a_spreadsheet_are_read(tmp_path, encoding, first):
    path = tmp_path / "pairs.csv"
    path.write_bytes(f"{first}id_a;id_b;kind\na,b;c;must-link\n".encode(encoding))
    assert lw.Constraints.read_csv(path, ids=["a,b", "c"]).must_link.tolist() == [[0, 1]]
    path.write_bytes(f"{first}id_a;id_b;kind\na;x;must-link\n".encode(encoding))
    with pytest.raises(lw.ConstraintError, match=f"Line {3 if first else 2} of"):
        lw.Constraints.read_csv(path, ids=["a", "c"])


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["0", "-1"], [0, -1]),
        (["0.0", "-1.0"], [0, -1]),
        (["a", "-1"], ["a", "-1"]),
        (["a", "-1.0"], ["a", "-1.0"]),
    ],
)
def test_minus_one_is_noise_among_numbers_and_a_name_among_names(tmp_path, words, labels):
    path = tmp_path / "labels.csv"
    path.write_text("id,cluster\n" + "".join(f"{row},{word}\n" for row, word in enumerate(words)))
    assert read_labels(path, ["0", "1"]) == labels
