"""Spreadsheets on the command line: input, another sheet, and the joined table."""

import sys

import openpyxl
import pytest


@pytest.fixture
def path(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "orders"
    other = book.create_sheet("returns")
    for sheet, step in ((book.active, 1), (other, 7)):
        sheet.append(["id", "size", "price"])
        for n in range(12):
            sheet.append([f"r{n}", n % 3 + step, n * step / 4])
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_a_session_keeps_its_sheet(path, tmp_path, linkwise):
    begun = linkwise("ask", path, "--sheet", "returns", said="n\nq\n")
    assert begun.exit_code == 0, begun.stderr
    for options in ((), ("--sheet", "returns")):
        assert "resumed: 1 answer" in linkwise("ask", path, *options, said="q\n").stdout
    refused = linkwise("ask", path, "--sheet", "orders", said="q\n")
    assert refused.exit_code == 2
    assert "with --sheet returns, not --sheet orders" in " ".join(refused.stderr.split())
    assert "Add --replay" in " ".join(refused.stderr.split())
    changed = linkwise("ask", path, "--sheet", "orders", "--replay", said="q\n")
    assert changed.exit_code == 0, changed.stderr
    target = tmp_path / "out.xlsx"
    assert linkwise("export", path, "--join", target).exit_code == 0
    rows = list(openpyxl.load_workbook(target).active.iter_rows(values_only=True))
    assert rows[0] == ("id", "size", "price", "cluster", "cluster_name", "confidence")
    assert [row[2] for row in rows[1:]] == [n / 4 for n in range(12)]
    assert all(isinstance(row[3], int) for row in rows[1:])


def test_without_openpyxl_one_line_says_what_to_do(path, tmp_path, linkwise, monkeypatch):
    data = tmp_path / "u.csv"
    data.write_text("id,size\n" + "".join(f"r{n},{n % 3}\n" for n in range(12)))
    linkwise("ask", data, said="n\nq\n")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for done in (
        linkwise("ask", path, said="q\n"),
        linkwise("ask", data, "--session", tmp_path / "n.linkwise", "--show", path, said="q\n"),
        linkwise("export", data, "--join", tmp_path / "out.xlsx"),
    ):
        assert done.exit_code == 2
        assert 'pip install "linkwise[tables]"' in done.stderr
