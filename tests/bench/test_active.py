"""The measurement of learners beside each other, on tiny inputs."""

import csv
import itertools

import numpy as np
import pytest
from bench.multi_group_sets import MULTI_GROUP_SETS
from bench.papers import active as bench
from bench.papers import active_calibration as calibration
from bench.papers import active_report as report
from bench.suites.scores import score_curve
from bench.suites.tasks import scale_rows
from sklearn.metrics import adjusted_rand_score

from bench import data, made_sets
from linkwise import KIN, Session, TruthOracle
from linkwise.constraints.evidence import Evidence
from linkwise.learn.run import Run
from linkwise.validation import check_rows, resolve_seed

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch):
    """Three groups that are easy to tell apart, under the names of two sets, and few questions."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    X = rng.normal([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 0.5, (8, 3, 2)).swapaxes(0, 1).reshape(-1, 2)
    monkeypatch.setattr(
        data, "load", lambda name, source: data.LabelledTask(name, scale_rows(X), y, "made up")
    )
    monkeypatch.setattr(data, "names", lambda source: ["iris", "wine", "yale"])
    monkeypatch.setattr(bench, "GROUPS", {"first": ("iris", "wine"), "second": ("glass",), "many": ("yale",)})
    monkeypatch.setattr(
        bench,
        "PARTS",
        (bench.Part("", ("first", "second"), (10, 25)), bench.Part("many_", ("many",), (3, 5, 25))),
    )


def read(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow(nightly=True)
def test_all_learners_are_measured_and_groups_held_against_their_aims(small, tmp_path, capsys):
    assert bench.main(["--runs", "2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    lines = read(tmp_path / "active" / "table.csv")
    assert [(line["task"], line["learner"]) for line in lines] == [
        (task, learner) for task in ("iris", "wine", "first") for learner in bench.USUAL
    ]
    assert list(lines[0]) == ["task", "learner", "0", "10", "25", "quartiles", "aim", "met"]
    assert {line["25"] for line in lines} == {"1.00"}
    assert [line["met"] for line in lines if line["task"] == "first"] == ["yes", "", ""]
    assert lines[-3]["aim"] == "- 0.52 0.63"
    assert lines[0]["quartiles"].split()[1:] == ["1.00-1.00", "1.00-1.00"]
    assert "COBRAS" in printed
    beside = read(tmp_path / "active" / "aims.csv")
    assert {line["learner"] for line in beside} == {"KIN"}
    assert beside == [line for line in lines if line["met"]]
    ranks = read(tmp_path / "active" / "ranks.csv")
    assert [line["learner"] for line in ranks] == list(bench.USUAL)
    assert [(line["duel"], line["25"]) for line in read(tmp_path / "active" / "duels.csv")] == [
        ("KIN : COBRAS", "0:0"),
        ("KIN : MinMax", "0:0"),
    ]
    assert (tmp_path / "active" / "curves.png").exists()


@pytest.mark.slow(nightly=True)
def test_sets_with_many_classes_have_numbers_and_files_of_their_own(small, tmp_path, capsys):
    folder = tmp_path / "active"
    asked = ["--seeds", "2", "--learners", "COBRAS", "MinMax", "--out", str(tmp_path)]
    assert bench.main([*asked, "--groups", "many"]) == 0
    assert not (folder / "table.csv").exists()
    lines = read(folder / "many_table.csv")
    assert list(lines[0]) == ["task", "learner", "0", "3", "5", "25", "quartiles", "aim", "met"]
    assert [(line["task"], line["learner"]) for line in lines] == [
        (task, learner) for task in ("yale", "many") for learner in ("COBRAS", "MinMax")
    ]
    assert [line["learner"] for line in read(folder / "many_ranks.csv")] == ["COBRAS", "MinMax"]
    assert read(folder / "many_duels.csv") == []  # without KIN
    assert (folder / "many_curves.png").exists()
    for file in ("start.csv", "many_runs.csv"):
        assert len(read(folder / file)) == 4
    capsys.readouterr()
    bench.main([*asked, "--runs", "3"])  # also the other groups, and one run more
    assert "start.csv: 2 cells to run" in capsys.readouterr().out
    assert len(read(folder / "many_runs.csv")) == 6
    assert len(read(folder / "runs.csv")) == 12


def test_the_start_is_the_clustering_before_the_first_question(small):
    """Also of a learner that is given more questions."""
    for learner in ("KIN", "COBRAS", "MinMax"):
        task = data.load("iris", None)
        model = bench.LEARNERS[learner](3, 0)
        X, seed = check_rows(task.X, model), resolve_seed(0)
        run = Run(model, X, Evidence(len(X)), seed, prepared=model.prepare(X, seed), budget=25)
        wanted = adjusted_rand_score(task.y, run.labels)
        assert bench.measure_start(("iris", learner, "0"), None) == {"0": f"{wanted:.4f}"}


@pytest.mark.slow(nightly=True)
def test_a_task_outside_the_groups_is_measured_as_the_first_groups_are(small, tmp_path):
    bench.main(["--runs", "1", "--learners", "COBRAS", "--tasks", "sonar", "--out", str(tmp_path)])
    lines = read(tmp_path / "active" / "table.csv")
    assert [(line["task"], line["25"]) for line in lines] == [("sonar", "1.00")]


def test_bands_ranks_and_duels():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, (4, 10))
    rows = [
        {"task": task, "learner": learner, "run": str(run), "10": str(0.5 + gain + noise[at, run])}
        for at, (task, learner, gain) in enumerate(
            [("a", "x", 0.2), ("b", "x", -0.1), ("a", "y", 0.0), ("b", "y", 0.0)]
        )
        for run in reversed(range(10))
    ]
    runs = report.group_runs(rows, ("10",))
    np.testing.assert_allclose(runs["a", "x"][:, 0], 0.7 + noise[0])
    assert report.find_learners(runs, ("a", "b"), ("x", "y", "z")) == ["x", "y"]
    np.testing.assert_allclose(
        report.average_tasks(runs, ("a", "b"), "y")[:, 0], 0.5 + noise[2:].mean(axis=0)
    )
    assert (report.quartiles(runs["a", "x"])[:, 0] == np.quantile(0.7 + noise[0], (0.25, 0.75))).all()
    assert report.duel(runs, ("a", "b"), "x", "y").tolist() == [[1], [1]]
    assert report.duel(runs, ("a", "b"), "x", "x").tolist() == [[0], [0]]
    assert report.ranks(runs, ("a", "b"), ("x", "y")).tolist() == [[2.0], [3.0]]


def test_a_missed_aim_is_marked():
    columns = ("0", "10", "25", "50", "100", "200")
    aims = bench.find_aims("second", "KIN", columns)
    assert aims == ["", "0.49", "0.58", "0.67", "0.77", "0.88"]
    assert bench.check_aims(np.array([0.0, 0.486, 0.6, 0.7, 0.8, 0.9]), aims) == "yes"
    assert bench.check_aims(np.array([0.0, 0.484, 0.6, 0.7, 0.8, 0.9]), aims) == "no"
    assert bench.find_aims("second", "COBRAS", columns) == [""] * 6
    assert bench.check_aims(np.zeros(6), [""] * 6) == ""


def test_an_aim_of_three_digits_is_compared_and_shown_with_three():
    columns = ("50", "100", "200", "400")
    aims = bench.find_aims("groups", "KIN", columns)
    assert aims == ["", "0.97", "0.995", ""]
    for reached, shown, verdict in ((0.9946, "0.995", "yes"), (0.9944, "0.994", "no")):
        means = np.array([0.8, 0.966, reached, 1.0])
        assert bench.check_aims(means, aims) == verdict
        assert bench.format_means(means, aims) == ["0.80", "0.97", shown, "1.00"]


def test_the_last_group_has_a_part_of_its_own():
    part = bench.find_part("moons_4")
    assert part.prefix == "groups_"
    assert bench.GROUPS["groups"] == tuple(MULTI_GROUP_SETS)
    assert len(bench.GROUPS["groups"]) == 18
    first = bench.PARTS[0]
    assert first.drawn == ("first", "second", "groups")
    assert set(first.at) <= set(part.at)


def test_a_picture_shows_groups_of_other_parts_at_its_own_numbers(monkeypatch, tmp_path):
    parts = bench.Part("", ("a", "b"), (10,), drawn=("a", "c")), bench.Part("c_", ("c",), (10, 400))
    rows = [
        {"task": task, "learner": "KIN", "run": "0", "0": "0.1", "10": "0.2"} for task in ("x", "y", "free")
    ]
    rows.append({"task": "z", "learner": "KIN", "run": "0", "0": "0.3", "10": "0.4", "400": "0.5"})
    monkeypatch.setattr(bench, "GROUPS", {"a": ("x",), "b": ("y",), "c": ("z",)})
    drawn = []
    monkeypatch.setattr(bench, "draw_curves", lambda *given: drawn.append(given))
    for part in parts:
        bench.draw_part(part, rows, tmp_path)
    (path, runs, groups, _, at), (path_c, runs_c, groups_c, _, at_c) = drawn
    assert (path.name, groups, at) == ("curves.png", {"a": ("x",), "c": ("z",)}, (0, 10))
    assert {task: values.tolist() for (task, _), values in runs.items()} == {
        "x": [[0.1, 0.2]],
        "z": [[0.3, 0.4]],
    }
    assert (path_c.name, groups_c, at_c) == ("c_curves.png", {"c": ("z",)}, (0, 10, 400))
    assert {task: values.tolist() for (task, _), values in runs_c.items()} == {"z": [[0.3, 0.4, 0.5]]}


@pytest.mark.slow(nightly=True)
def test_a_cell_holds_the_run_of_fit_and_the_advice_on_its_way(small):
    task, at = data.load("iris", None), (3, 10, 25)
    oracle = TruthOracle(task.y)
    for learner in bench.USUAL:
        row = bench.measure(("iris", learner, "1"), None, at)
        model = bench.LEARNERS[learner](3, 1).fit(task.X, oracle=oracle, budget=25)
        curve = score_curve(task.y, model.history_, 25)
        assert {n: row[n] for n in ("3", "10", "25")} == {str(n): f"{curve[n - 1]:.4f}" for n in at}
        assert ("true 25" in row) == ("stop 25" in row) == (learner == "KIN")
    session = Session(task.X, KIN(random_state=1))
    for _ in range(25):
        if session.question is not None:
            session.answer(oracle(session.question.first, session.question.second))
    row = bench.measure(("iris", "KIN", "1"), None, at)
    advice = session.status.advice
    assert row["stop 25"] == str(int(advice.stop))
    assert float(row["wrong 25"]) == pytest.approx(advice.wrong, rel=1e-4)
    assert row["true 25"] == "0.0000"


@pytest.mark.slow(nightly=True)
def test_the_calibration_covers_all_finished_groups(small, tmp_path, capsys):
    asked = ["--runs", "1", "--out", str(tmp_path), "--learners"]
    bench.main([*asked, "KIN", "--tasks", "iris", "wine"])
    assert "The advice of KIN" in capsys.readouterr().out
    bench.main([*asked, "COBRAS", "--tasks", "yale"])  # another part, without KIN
    for line in read(tmp_path / "active" / "calibration.csv"):
        assert list(line) == list(calibration.CALIBRATION_HEAD)
        assert (line["group"], line["answers"], line["runs"], line["true"]) == ("first", "25", "2", "0.000")


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("name", made_sets.SHAPES)
def test_made_sets_are_as_hard_as_declared(name):
    shape, task = made_sets.SHAPES[name], data.load(name, data.Source())
    assert len(np.unique(task.y)) == shape.n_classes
    assert task.X.shape[1] == shape.n_features
    sizes = np.bincount(task.y)
    assert shape.sizes[0] <= sizes.min()
    assert sizes.max() <= shape.sizes[1]
    np.testing.assert_allclose(np.linalg.norm(task.X, axis=1), 1.0)
    assert made_sets.agreeing_share(task.X, task.y) == pytest.approx(shape.agreement, abs=0.01)


def test_targets_are_about_what_is_measured():
    for row in bench.read_target("active.csv"):
        assert row["group"] in (*bench.GROUPS, *itertools.chain(*bench.GROUPS.values()))
        assert row["learner"] in bench.LEARNERS
        assert row["source"]
