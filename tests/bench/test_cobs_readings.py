"""Readings of the rivals of COBS, on tiny inputs: what is fitted, how the number of clusters is chosen."""

import csv
import json

import numpy as np
import pytest
from bench.papers import cobs_choices, cobs_peers, cobs_readings
from bench.papers.cobs_choices import LETTER, Problem
from bench.papers.cobs_readings import FOLDED, WHOLE
from bench.papers.cobs_runs import draw_pairs
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.tasks import scale_rows

import linkwise as lw
from bench import data

pytestmark = pytest.mark.slow


def make_task(name="wine", source=None):
    """Three groups, of which two touch."""
    rng = np.random.default_rng(len(name))
    y = np.repeat([0, 1, 2], 24)
    X = rng.normal(np.array([[0.0, 0.0], [3.0, 0.0], [5.0, 2.0]])[y], 0.7)
    return data.LabelledTask(name, scale_rows(X), y, "made up")


@pytest.fixture
def task(monkeypatch):
    monkeypatch.setattr(data, "load", make_task)
    monkeypatch.setattr(data, "names", lambda source: ["wine", "glass"])
    monkeypatch.setattr(cobs_choices, "NUMBERS", range(2, 5))
    return make_task()


def make_problem(task, clusterer="mpck: letter", run=1):
    pairs = draw_pairs(len(task.y), run)[1][: cobs_readings.PAIRS]
    constraints = label_pairs(task.y, pairs)
    return Problem(task.X, constraints, cobs_readings.CLUSTERERS[clusterer], run, {}), pairs


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("method", ["mpck_SI", "mpck_NumSat", "mpck_CVCP", "cosc_NumSat", "cosc_CVCP"])
def test_the_letter_is_that_of_the_tuned_peers(task, monkeypatch, method):
    monkeypatch.setattr(cobs_peers, "CLUSTERS", {"n_clusters": [2, 3, 4]})
    problem, pairs = make_problem(task, f"{method[:4]}: letter")
    chosen = dict(cobs_choices.CHOICES[method](problem))[LETTER]
    printed = cobs_peers.PRINTED_PEERS[method](task, problem.constraints, None, 1)
    theirs, ours = (score_elsewhere(task.y, x, pairs) for x in (printed, problem.model(chosen).labels_))
    assert ours == theirs


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("clusterer", cobs_readings.CLUSTERERS)
def test_each_clusterer_is_measured(task, clusterer):
    row = cobs_readings.measure(("wine", clusterer, WHOLE, "0"), data.Source())
    found = json.loads(row["found"])
    assert {key.partition("_")[0] for key in found} == {clusterer.partition(":")[0]}
    assert all(-1 <= ari <= 1 and 2 <= k <= 4 for ari, k in found.values())
    assert not any("CVCP" in key for key in found)


def test_what_each_clusterer_changes(task):
    metrics = {name: make_problem(task, name)[0].model(3).metrics_.shape for name in cobs_readings.CLUSTERERS
               if name.startswith("mpck")}  # fmt: skip
    assert metrics["mpck: letter"] == (3, 2)
    assert metrics["mpck: one metric"] == metrics["mpck: one metric, perturbed mean"] == (1, 2)
    assert metrics["mpck: full metrics"] == (3, 2, 2)
    assert metrics["mpck: one full metric"] == (1, 2, 2)


def test_centres_that_are_left_over_lie_near_the_mean():
    X = np.arange(40.0).reshape(20, 2) + 1
    centres = cobs_readings.draw_perturbed_centres(X, lw.Constraints(20, [(0, 1), (1, 2)]), 3, 0)
    np.testing.assert_allclose(centres[0], X[:3].mean(axis=0))
    assert (np.abs(centres[1:] / X.mean(axis=0) - 1) <= 0.35).all()
    assert len(cobs_readings.draw_perturbed_centres(X, lw.Constraints(20), 2, 0)) == 2


def test_ties_of_satisfied_constraints(task):
    problem, _ = make_problem(task)
    problem = problem._replace(constraints=lw.Constraints(len(task.X), [(0, 1)]))
    chosen = dict(cobs_choices.choose_by_satisfied(problem))
    assert (chosen[LETTER], chosen["largest of ties"]) == (2, 4)
    assert 2 <= chosen["random of ties"] <= 4


def test_folds_of_pairs_use_every_pair_once_as_a_test(task):
    constraints = make_problem(task)[0].constraints
    folds = list(cobs_choices.draw_pair_folds(constraints, 0))
    assert sum(test.n_constraints for _, test in folds) == constraints.n_constraints
    assert all(a.n_constraints + b.n_constraints == constraints.n_constraints for a, b in folds)
    for training, test in cobs_choices.draw_row_folds(constraints, 0):
        ends = [np.vstack([c.must_link, c.cannot_link]) for c in (training, test)]
        assert not np.intersect1d(*ends).size


def test_f_measures():
    test = lw.Constraints(6, [(0, 1), (2, 3)], [(0, 4)])
    labels = np.array([0, 0, 1, 0, 0, 1])  # one must-link and the cannot-link are wrong
    assert cobs_choices.measure_f(test, labels) == (pytest.approx(2 / 4), 0.0)
    of_must, of_cannot = cobs_choices.measure_f(lw.Constraints(6, [(0, 1)]), labels)
    assert (of_must, np.isnan(of_cannot)) == (1.0, True)
    assert cobs_choices.average_known([0.5, float("nan")]) == 0.5
    assert cobs_choices.average_known([]) == 0.0


@pytest.mark.slow(nightly=True)
def test_readings_are_written(task, tmp_path, capsys):
    options = ["--out", str(tmp_path), "--runs", "2", "--only", "cosc: letter;mpck: one metric"]
    assert cobs_readings.main(options) == 0
    assert "widest gap" in capsys.readouterr().out
    with (tmp_path / "cobs" / "readings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["task"] for row in rows} == {"wine", "glass"}
    assert {row["runs"] for row in rows} == {"2"}
    readings = {row["reading"] for row in rows if row["method"] == "mpck_CVCP"}
    assert {"one metric", "one metric + folds of pairs", "one metric + F of must-links"} <= readings
    assert {row["method"] for row in rows} == set(cobs_choices.CHOICES)
    with (tmp_path / "cobs" / "readings_gaps.csv").open(newline="") as file:
        gaps = {(row["method"], row["reading"]): row for row in csv.DictReader(file)}
    assert gaps["cosc_eigen", "2 clusters"]["figures"] == "2"
    assert cobs_readings.is_told(LETTER, "2 to 9 clusters")
    assert not cobs_readings.is_told("full metrics", "folds of pairs")
    assert cobs_readings.is_told("WekaUT", "F of must-links")
    assert not cobs_readings.is_told("WekaUT", "true number")
    kinds = cobs_readings.list_cells(["wine"], ["mpck: ten starts"], [WHOLE, FOLDED], range(5, 7))
    assert [cell[2:] for cell in kinds] == [(WHOLE, "5"), (WHOLE, "6")]


@pytest.mark.parametrize("program", ["mpck: WekaUT", "cosc: COSC 1.1"])
def test_programs_have_folds_of_rows_only(task, program):
    found = json.loads(cobs_readings.measure(("wine", program, FOLDED, "5"), data.Source())["found"])
    assert {key.partition("|")[2] for key in found} == {
        LETTER, "2 to 9 clusters", "F of must-links", "true number",
    }  # fmt: skip


def test_the_widest_share_is_that_of_the_next_eigenvalue():
    assert cobs_choices.find_widest_share(np.array([0.0, 0.001, 0.01, 0.5, 0.9, 1.0])) == 3
    assert cobs_choices.find_widest_share(np.array([0.0, 1e-6, 1e-3, 0.5, 0.9, 1.0])) == 2


def test_without_data_nothing_is_run(monkeypatch):
    monkeypatch.setattr(data, "names", lambda source: [])
    with pytest.raises(SystemExit, match="None of the paper's sets"):
        cobs_readings.main([])
