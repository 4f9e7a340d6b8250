"""Record linkage on tables with known matches: small files, and the curve of the prior."""

import csv
from pathlib import Path

import numpy as np
import pytest
from bench.papers import records, records_prior, records_sets

from linkwise.learn.records import match_prior

N_SONGS = 12


def read(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def checkouts(tmp_path, monkeypatch):
    """Two versions of each song, under the names of a set."""
    monkeypatch.setattr(match_prior, "CURVE", match_prior.CURVE)  # what a set leaves out is put back
    folder = tmp_path / records_sets.FOLDER / "song"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    titles = ["".join(rng.choice(list("abcdefgh"), 9)) for _ in range(N_SONGS)]
    rows = [
        f"{2 * at + copy},{title}{'x' * copy},{rng.choice(titles)}"
        for at, title in enumerate(titles)
        for copy in (0, 1)
    ]
    (folder / "songs.csv").write_text("\n".join(["id,title,release", *rows]))
    (folder / "gt.txt").write_text("\n".join(f"{2 * at} {2 * at + 1}" for at in range(N_SONGS)))
    for cached in (records_sets.read_frame,):
        monkeypatch.setattr(records_sets, cached.__name__, cached.__wrapped__)
        monkeypatch.setattr(records, cached.__name__, cached.__wrapped__)
    return tmp_path


def test_matches_are_read(checkouts):
    classes = records_sets.read_classes("song", checkouts)
    assert classes.tolist() == [at // 2 for at in range(2 * N_SONGS)]
    assert [column.name for column in records_sets.read_records("song", checkouts).columns] == [
        "title",
        "release",
    ]
    assert [column.name for column in records_sets.read_records("song_title", checkouts).columns] == ["title"]


def test_two_tables_are_read_as_one_with_their_origin(checkouts):
    folder = checkouts / records_sets.TWO_TABLES / "D1"
    folder.mkdir(parents=True)
    head = "id|http://shop#name|http://shop#street\n"
    (folder / "rest1.csv").write_text(f"{head}0|la grotta|high street\n1|fenix|elm road\n")
    (folder / "rest2.csv").write_text(f"{head}0|asian|mill lane\n1|la grota|high street\n")
    (folder / "gt.csv").write_text("D1|D2\n0|1\n")
    frame = records_sets.read_frame("restaurants", checkouts)
    assert frame.columns == ["id", "name", "street", records_sets.ORIGIN]
    assert records_sets.read_classes("restaurants", checkouts).tolist() == [0, 1, 2, 0]
    found = records_sets.read_records("restaurants", checkouts)
    assert [column.name for column in found.columns] == ["name", "street"]
    assert found.origin.tolist() == [0, 0, 1, 1]


def test_scores_are_those_of_the_definitions():
    perfect = records.score(np.array([0, 0, 1, 2]), np.array([5, 5, 3, 4], dtype=np.int32))
    assert set(perfect.values()) == {1.0}
    found = records.score(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1], dtype=np.int32))
    assert found["FP"] == pytest.approx(2 * 0.75 * 0.75 / 1.5)
    assert found["F1"] == pytest.approx(2 * 1 / (3 + 2))


def test_tables_are_written(checkouts, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "AT", (0, 5))
    out = tmp_path / "out"
    options = [
        "--checkouts",
        str(checkouts),
        "--sets",
        "song",
        "--wrong",
        "0",
        "--runs",
        "1",
        "--out",
        str(out),
    ]
    assert records.main(options) == 0
    (searched,) = read(out / "records" / "candidates.csv")
    assert (searched["rows"], searched["groups"], searched["largest"]) == ("24", "12", "2")
    assert float(searched["recall"]) > 0.9
    scores = read(out / "records" / "table.csv")
    assert [line["score"] for line in scores] == ["FP", "F1", "ARI"]
    assert 0 < float(scores[0]["0"]) < float(scores[0]["5"]) <= 1, "five answers are worth something"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SystemExit, match="lacks the files of song"):
        records.main(["--checkouts", str(tmp_path), "--sets", "song"])


def test_the_curve_is_learned(checkouts, tmp_path, monkeypatch):
    monkeypatch.setattr(records_prior, "PRIOR_SETS", ("song", "song_title"))
    assert records_prior.main(["--checkouts", str(checkouts), "--out", str(tmp_path / "out")]) == 0
    lines = read(tmp_path / "out" / "records_prior" / "table.csv")
    assert [line["left out"] for line in lines] == ["song", "song_title", "none"]
    constant, slope, bend = (float(lines[-1][name]) for name in ("constant", "slope", "bend"))
    assert constant < -4, "records without a common word do not match"
    assert slope / 4 + bend / 16 > 4, "those with some do more probably"
