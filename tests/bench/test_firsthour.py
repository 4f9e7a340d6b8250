"""The measurement of public files: a copy lacks its labels, and nothing else of it changes."""

import csv
import json
import random

import numpy as np
import openpyxl
import pytest
from bench.firsthour import measure
from bench.firsthour.files import PublicFile, copy_without_labels, read_manifest

from linkwise.data.reading import Reading


def place(tmp_path, path, content, **fields):
    file = PublicFile("one", "owner/name", "0" * 40, path, "a file", **fields)
    original = file.find(tmp_path / "checkouts")
    original.parent.mkdir(parents=True)
    original.write_bytes(content)
    folder = tmp_path / "copy"
    folder.mkdir()
    return copy_without_labels(file, tmp_path / "checkouts", folder)


def test_the_manifest_names_each_file_once_and_readings_that_there_are():
    files = read_manifest()
    assert len(files) > 60
    assert len({(file.repository, file.path) for file in files.values()}) == len(files)
    for file in files.values():
        assert len(file.commit) == 40
        assert file.label is None or file.truth is None
        Reading.of(**(file.chosen or {})).check()


@pytest.mark.parametrize(
    ("content", "wanted", "fields"),
    [
        (b"a,class,b\r\n1,x,2\r\n3,y,4\r\n", b"a,b\r\n1,2\r\n3,4\r\n", {"label": "class"}),
        (b'\xef\xbb\xbfa;k\n"1;5";x\n', b'\xef\xbb\xbfa\n"1;5"\n', {"label": "k", "delimiter": ";"}),
        (b"x,1.5\ny,2.5\n", b"1.5\n2.5\n", {"label": 0}),
        (b'x\t"so\ny\tno\n', b'"so\nno\n', {"label": 0, "delimiter": "\t"}),
        (b"k,name\nx,caf\xe9\ny,th\xe9\n", b"name\ncaf\xe9\nth\xe9\n", {"label": "k"}),
    ],
    ids=["crlf", "mark", "no-header", "tabs", "latin-1"],
)
def test_a_delimited_copy_lacks_one_column(tmp_path, content, wanted, fields):
    copy, classes = place(tmp_path, "data/t.csv", content, **fields)
    assert copy.read_bytes() == wanted
    assert classes == ["x", "y"][: len(classes)]


def test_objects_lack_one_name_and_a_missing_class_is_unknown(tmp_path):
    content = json.dumps([{"a": 1, "k": "x"}, {"a": None, "k": None}]).encode()
    copy, classes = place(tmp_path, "t.json", content, label="k")
    assert json.loads(copy.read_text()) == [{"a": 1}, {"a": None}]
    assert classes == ["x", ""]


def test_a_sheet_lacks_one_column(tmp_path):
    book, whole = openpyxl.Workbook(), tmp_path / "whole.xlsx"
    for row in (("a", "k", "b"), (1, "x", "p"), (2.5, None, "q")):
        book.worksheets[0].append(row)
    book.save(whole)
    copy, classes = place(tmp_path, "t.xlsx", whole.read_bytes(), label="k")
    read = openpyxl.load_workbook(copy).worksheets[0].iter_rows(values_only=True)
    assert list(read) == [("a", "b"), (1, "p"), (2.5, "q")]
    assert classes == ["x", ""]


def test_curves_lack_what_follows_the_last_colon(tmp_path):
    content = b"@univariate false\n@classLabel true a b\n@data\n1,2:3,4:a\n5,6:7,8:b\n"
    copy, classes = place(tmp_path, "t.ts", content, label="class")
    assert copy.read_text().splitlines() == [
        "@univariate false", "@classLabel false", "@data", "1,2:3,4", "5,6:7,8",
    ]  # fmt: skip
    assert classes == ["a", "b"]


def test_an_archive_lacks_its_arrays_of_classes(tmp_path):
    whole = tmp_path / "whole.npz"
    np.savez(whole, X_train=np.zeros((2, 3)), y_train=np.array([1, 2]), y_test=np.array([1]))
    copy, classes = place(tmp_path, "t.npz", whole.read_bytes(), label="y_train")
    with np.load(copy) as arrays:
        assert arrays.files == ["X_train"]
    assert classes == ["1", "2"]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [("r,s\n2,0\n", [[0, 2], [1], [3]]), ("r,s\n0,1\n3,1\n", [[0, 1, 3], [2]])],
    ids=["pair", "chain"],
)
def test_rows_of_one_thing_share_a_class(tmp_path, lines, wanted):
    truth = {"path": "gt.csv", "separator": ",", "header": True}
    beside = tmp_path / "checkouts" / "owner+name" / "gt.csv"
    file = PublicFile("one", "owner/name", "0" * 40, "t.csv", "a file", truth=truth)
    beside.parent.mkdir(parents=True)
    beside.write_text(lines)
    file.find(tmp_path / "checkouts").write_text("id,name\n0,a\n1,b\n2,a\n3,c\n")
    _, classes = copy_without_labels(file, tmp_path / "checkouts", tmp_path)
    groups = {one: [at for at, other in enumerate(classes) if other == one] for one in classes}
    assert sorted(groups.values()) == wanted


@pytest.mark.slow
def test_both_tables_are_written_and_a_failure_is_a_result(tmp_path, monkeypatch):
    draw = random.Random(0)
    rows = [
        (f"{kind * 10 + draw.random():.3f}", f"{draw.random():.3f}", kind)
        for kind in range(3)
        for _ in range(20)
    ]
    good = PublicFile("good", "o/n", "0" * 40, "good.csv", "three groups", label="k")
    bad = PublicFile("bad", "o/n", "0" * 40, "bad.unknown", "no table", truth=None)
    monkeypatch.setattr(measure, "read_manifest", lambda: {"good": good, "bad": bad})
    original = good.find(tmp_path)
    original.parent.mkdir()
    original.write_text("a,b,k\n" + "".join(f"{a},{b},{k}\n" for a, b, k in rows))
    bad.find(tmp_path).write_bytes(b"\x00\x01\x02")
    assert measure.main(["--checkouts", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    with open(tmp_path / "out" / "firsthour" / "opening.csv", newline="", encoding="utf-8") as file:
        opened = {row["file"]: row for row in csv.DictReader(file)}
    assert (opened["good"]["reached"], opened["bad"]["reached"]) == ("yes", "no")
    assert "bad.unknown" in opened["bad"]["said"]
    assert str(tmp_path) not in opened["bad"]["said"]
    with open(tmp_path / "out" / "firsthour" / "table.csv", newline="", encoding="utf-8") as file:
        table = {row["file"]: row for row in csv.DictReader(file)}
    assert set(table) == {"good", "mean of 1"}
    assert float(table["good"]["alone 50"]) == 1
