"""The measurement of everyday data: the sets that are made, and their whole path through the command line."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from bench.papers import everyday

pytestmark = pytest.mark.slow


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("name", everyday.SETS)
def test_a_set_and_its_classes_have_the_same_rows(name, tmp_path):
    everyday.make(tmp_path, name, 0.1, 3)
    file, truth = tmp_path / everyday.SETS[name].file, rows_of(tmp_path / "truth" / f"{name}.csv")
    assert len({row["class"] for row in truth}) >= 5
    ids = [row["id"] for row in truth]
    if file.suffix == ".npy":
        assert np.linalg.norm(np.load(file), axis=1) == pytest.approx(1)
        assert len(rows_of(tmp_path / "titles.csv")) == len(truth)
    elif file.suffix == ".jsonl":
        assert [json.loads(line)["ticket"] for line in file.read_text("utf-8").splitlines()] == ids
    else:
        rows = rows_of(file)
        assert [next(iter(row.values())) for row in rows] == ids
        assert all((tmp_path / row["picture"]).is_file() for row in rows if "picture" in row)


@pytest.mark.slow(nightly=True)
def test_the_same_seed_writes_the_same_file(tmp_path):
    written = []
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        everyday.make(tmp_path / folder, "customers", 0.1, seed)
        written.append((tmp_path / folder / "customers.csv").read_bytes())
    assert written[0] == written[1] != written[2]


def test_the_judge_answers_by_id_and_by_position(tmp_path):
    (tmp_path / "truth.csv").write_text("id,class\na,x\nb,y\nc,x\n", encoding="utf-8")
    asked = [("1", ["a", "c"]), ("2", ["a", "b"]), ("3", ["0", "2"])]
    answered = subprocess.run(
        [sys.executable, everyday.ROOT / "bench" / "judge_by_truth.py", tmp_path / "truth.csv"],
        input="".join(json.dumps({"id": name, "ids": ids}) + "\n" for name, ids in asked),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    answers = [json.loads(line)["answer"] for line in answered.splitlines()]
    assert answers == ["yes", "no", "yes"]


@pytest.mark.slow(nightly=True)
def test_a_table_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(everyday, "AT", (0, 40))
    assert everyday.main(["--sets", "customers", "--rows", "0.1", "--runs", "1", "--out", str(tmp_path)]) == 0
    as_it_is, proposed, chosen = rows_of(tmp_path / "everyday" / "table.csv")
    assert (as_it_is["options"], proposed["options"]) == ("--as-is", "none")
    assert float(proposed["40"]) >= float(as_it_is["40"])
    assert float(chosen["40"]) > 0.8 > float(chosen["0"]) - 0.2


def test_a_refusal_is_told(tmp_path):
    with pytest.raises(RuntimeError, match=r"ask nothing\.csv: linkwise: .*nothing\.csv"):
        everyday.linkwise(tmp_path, "ask", "nothing.csv")
