"""The experiments of Halkidi et al. (2008) on tiny inputs, and the speed of a step beside a plain program."""

import csv

import numpy as np
import pytest
from bench.papers import halkidi, halkidi_runs
from bench.papers.halkidi_runs import OURS, Setting
from bench.speed import feature_weights as speed
from sklearn.metrics import rand_score

import linkwise as lw
from bench import data, harness
from reference import s_dbw as reference


@pytest.fixture
def folder(tmp_path):
    """Iris, of 30 made-up rows."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = np.column_stack([rng.normal(scale=0.3, size=30) + 5 * y, rng.normal(scale=3.0, size=30)])
    lines = [f"{a:.3f},{b:.3f},{c}" for (a, b), c in zip(X, y, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,class", *lines]) + "\n")
    return tmp_path


def lines_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- the runs
def test_sets_are_prepared(folder):
    assert halkidi_runs.names(folder) == ["iris"]
    assert halkidi_runs.names(None) == ["iris"]
    assert halkidi_runs.load("iris", "unit", None)[0].shape == (150, 4)
    X, y = halkidi_runs.load("iris", "raw", folder)
    assert (X.shape, len(set(y.tolist()))) == ((30, 2), 3)
    unit = halkidi_runs.load("iris", "unit", folder)[0]
    assert (unit.min(), unit.max()) == (0, 1)
    turned = halkidi_runs.rows_of("iris", "raw", "svd", 0, folder)
    apart, before = (np.linalg.norm(rows[:, None] - rows[None], axis=2) for rows in (turned, X))
    np.testing.assert_allclose(apart, before, atol=1e-9)
    assert halkidi_runs.rows_of("iris", "raw", "svd", 1, folder).shape == (30, 1)
    assert halkidi_runs.load("blobs50", "raw", None)[0].shape == (50, 4)


def test_constraints_are_so_many_of_each_kind():
    y = np.arange(100) % 3
    c = halkidi_runs.draw_constraints(y, 5, 6, 0)
    assert (len(c.must_link), len(c.cannot_link)) == (5, 6)
    assert not any(broken.any() for broken in c.find_violations(y))
    assert c == halkidi_runs.draw_constraints(y, 5, 6, 0)
    assert c != halkidi_runs.draw_constraints(y, 5, 6, 1)
    few = halkidi_runs.draw_constraints(y[:10], 1, 1, 0)
    assert (len(few.must_link), len(few.cannot_link)) == (1, 1)


@pytest.mark.parametrize("method", halkidi_runs.METHODS)
def test_a_cell_is_the_rand_index_of_a_method(method, folder):
    row = halkidi_runs.measure(Setting("iris", "raw", "svd", method, 10, 10).cell(1), folder)
    y = halkidi_runs.load("iris", "raw", folder)[1]
    c = halkidi_runs.draw_constraints(y, 10, 10, 1)
    labels = halkidi_runs.cluster_rows(method, halkidi_runs.rows_of("iris", "raw", "svd", 0, folder), 3, c, 1)
    assert float(row["rand"]) == pytest.approx(rand_score(y, labels), abs=1e-5)
    assert float(row["satisfied"]) == pytest.approx(lw.constraint_score(labels, c), abs=1e-4)


# ---------------------------------------------------------------- what is told
def test_every_figure_of_table_one_has_its_place():
    rows = harness.read_target("halkidi_table1.csv")
    assert {row["task"] for row in rows} == {*halkidi_runs.FILES, "protein"}
    assert all(0 < float(row[c]) < 0.5 for row in rows for c in halkidi_runs.COMPETITORS)
    assert sum(float(row[c]) >= halkidi.SIGNIFICANT for row in rows for c in halkidi_runs.COMPETITORS) == 1


def test_the_tests_are_one_tailed():
    ours, theirs = np.array([0.8, 0.9, 0.85]), np.array([0.5, 0.6, 0.52])
    for p, other in zip(halkidi.one_tailed(ours, theirs), halkidi.one_tailed(theirs, ours), strict=True):
        assert p < 0.01
        assert p + other == pytest.approx(1)
    same = np.array([0.5, 0.5])
    assert np.isnan(halkidi.one_tailed(same, same)).all()
    assert np.isnan(halkidi.one_tailed(same + 0.1, same)).all()
    two_sample, paired = halkidi.one_tailed(ours + 0.125, ours)
    assert 0 < two_sample < 0.05
    assert np.isnan(paired) or paired < 1e-6  # the differences are equal but for their last bits
    two_sample, paired = halkidi.one_tailed(ours, same[[0, 0, 0]])
    assert 0 < two_sample < 0.01
    assert 0 < paired < 0.01


def test_p_values_have_two_digits():
    assert halkidi.format_p(0.01234) == "0.012"
    assert halkidi.format_p(float("nan")) == "not testable"


@pytest.mark.parametrize(
    ("p", "printed", "difference", "words"),
    [
        (0.01, 0.001, 0.1, "confirmed"),
        (0.2, 0.001, 0.1, "not significant"),
        (0.9, 0.001, -0.1, "contrary"),
        (0.5, 0.001, 0.0, "equal"),
        (0.2, 0.43, 0.1, "as printed"),
        (0.01, 0.43, 0.1, "a win here, none printed"),
        (float("nan"), 0.001, 0.1, "not testable"),
        (float("nan"), 0.43, 0.0, "not testable"),
    ],
)
def test_verdicts(p, printed, difference, words):
    assert halkidi.judge_test(p, printed, difference) == words


def test_all_figures_are_printed(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(halkidi, "ROWS", (60,))
    monkeypatch.setattr(halkidi, "PERCENTS", (10, 20))
    monkeypatch.setattr(halkidi, "MORE", ("iris",))
    monkeypatch.setattr(halkidi, "DIMENSIONS", {"iris": (1, 2)})
    out = tmp_path / "out"
    assert halkidi.main(["--data", str(folder), "--out", str(out), "--runs", "2"]) == 0
    said = capsys.readouterr().out
    assert "are not available" in said
    assert "Table I" in said
    assert len(lines_of(out / "halkidi" / "accuracy.csv")) == 4
    tests = lines_of(out / "halkidi" / "table1.csv")
    assert len(tests) == 2 * 2 * 3
    assert {row["who"] for row in tests} == {OURS, halkidi_runs.PRINTED}
    assert [row["dimensions"] for row in lines_of(out / "halkidi" / "figure9.csv")] == ["1", "2"] * 2
    assert {row["must"] for row in lines_of(out / "halkidi" / "figure8.csv")} == {"10", "20"}
    assert all(float(row["seconds"]) >= 0 for row in lines_of(out / "halkidi" / "figure10.csv"))


def test_without_a_folder_there_is_iris(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(halkidi, "ROWS", (60,))
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    assert halkidi.main(["--out", str(tmp_path), "--runs", "2", "--only", "5,8,10"]) == 0
    assert "Missing sets: diabetes, ionosphere, soybean, spam." in capsys.readouterr().out
    assert {row["task"] for row in lines_of(tmp_path / "halkidi" / "figure10.csv")} == {"blobs60", "iris"}
    assert {row["task"] for row in lines_of(tmp_path / "halkidi" / "accuracy.csv")} == {"iris"}


# ---------------------------------------------------------------- speed
def test_the_plain_program_gives_the_same():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    assert speed.s_dbw(X, labels) == pytest.approx(lw.s_dbw_score(X, labels))
    assert speed.s_dbw(X, labels) == pytest.approx(reference.s_dbw(X, labels))


def test_steps_and_the_whole_have_their_lines(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    tiny = data.LabelledTask("tiny", rng.normal(size=(40, 3)) + y[:, None], y, "made up")
    monkeypatch.setattr(speed, "tasks", lambda where: [tiny])
    assert speed.main(["--repeats", "1", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "speed_feature_weights"
    (line,) = lines_of(folder / "steps.csv")
    assert (line["rows"], line["dimensions"], line["clusters"]) == ("40", "3", "2")
    plain = float(line["kmeans_ms"]) + float(line["s_dbw_ms"])
    assert float(line["times"]) == pytest.approx(plain / float(line["step_ms"]), rel=0.05, abs=1)
    assert [row["preset"] for row in lines_of(folder / "whole.csv")] == ["default", "paper"]
    assert "aim" in capsys.readouterr().out


def test_the_sets_that_are_timed():
    assert [task.name for task in speed.tasks(data.Source())] == ["breast_cancer"]
