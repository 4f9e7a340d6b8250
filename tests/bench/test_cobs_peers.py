"""The clusterers that COBS is compared with, on tiny inputs: what is measured, drawn and told."""

import csv
from functools import partial
from itertools import product

import numpy as np
import pytest
from bench.papers import cobs, cobs_peers, cobs_runs
from bench.papers.cobs_runs import Place, draw_pairs
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.summaries import Mean
from bench.suites.tasks import scale_rows
from sklearn.base import clone

import linkwise as lw
from bench import data, harness
from linkwise.select.clusterings import PRESETS, Preset

pytestmark = pytest.mark.slow

SMALL = Preset(clusters=(2, 3), n_runs=1, n_eps=2, min_pts=(2,), neighbours=(4,), sigmas=())


def made_up(name, source):
    """Three groups, of which two touch."""
    rng = np.random.default_rng(len(name))
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(np.array([[0.0, 0.0], [3.0, 0.0], [5.0, 2.0]])[y], 0.7)
    return data.LabelledTask(name, scale_rows(X), y, "made up")


@pytest.fixture
def place(tmp_path, monkeypatch):
    for module in (cobs_runs, cobs_peers):
        monkeypatch.setattr(module, "load", made_up)
    monkeypatch.setattr(data, "names", lambda source: ["wine", "glass"])
    monkeypatch.setattr(cobs_peers, "CLUSTERS", {"n_clusters": [2, 3]})
    monkeypatch.setattr(cobs_peers, "COBS", partial(lw.COBS, preset=SMALL))
    monkeypatch.setitem(PRESETS, "paper", SMALL)
    return Place(data.Source(), tmp_path / "pools")


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_targets_have_a_column_for_each_method():
    for target, methods in (("cobs_table3.csv", cobs_peers.PEERS), ("cobs_table5.csv", cobs_peers.POOLS)):
        for row in harness.read_target(target):
            assert all(-1 <= float(row[method]) <= 1 for method in methods)
    assert [row["task"] for row in harness.read_target("cobs_table5.csv")] == list(cobs_runs.TASKS)


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("method", cobs_peers.METHODS)
def test_a_run_is_the_score_elsewhere(place, method):
    task = made_up("wine", None)
    row = cobs_peers.measure_peer(("wine", method, "20", "1"), place)
    pairs = draw_pairs(36, 1)[1][:20]
    labels = cobs_peers.METHODS[method](task, label_pairs(task.y, pairs), place, 1)
    assert row["ari"] == f"{score_elsewhere(task.y, labels, pairs):.4f}"
    assert row["n_clusters"] == str(len(set(labels.tolist()) - {-1}))


def test_who_may_use_constraints_does(place):
    """Three groups of which two touch: a plain cut does not find them, constraints tell."""
    task = made_up("wine", None)
    known = label_pairs(task.y, draw_pairs(36, 0)[1][:90])
    labels = cobs_peers.METHODS["mpck_NumSat"](task, known, place, 0)
    assert lw.constraint_score(labels, known) > 0.9


@pytest.mark.slow(nightly=True)
def test_npu_asks_askable_rows_and_is_scored_elsewhere(place, monkeypatch):
    asked = []

    class Watched(lw.TruthOracle):
        def __call__(self, first, second):
            asked.append((first, second))
            return super().__call__(first, second)

    monkeypatch.setattr(cobs_peers, "TruthOracle", Watched)
    monkeypatch.setattr(cobs_peers, "MOST", 12)
    monkeypatch.setattr(cobs_peers, "NPU_AT", (5, 10, 100))
    row = cobs_peers.measure_npu(("wine", "NPU + MPCKMeans, NumSat", "2"), place)
    assert set(np.ravel(asked)) <= set(draw_pairs(36, 2)[0].tolist())
    assert set(row) == {"5", "10", "100"}
    assert all(-1 <= float(value) <= 1 for value in row.values())


@pytest.mark.slow(nightly=True)
def test_tables_and_curves_are_written(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cobs, "PEERS_AT", (10, 50))
    few = {name: cobs_peers.PEERS[name] for name in ("mpck_SI", "fosc")}
    monkeypatch.setattr(cobs, "PEERS", few)
    options = ["--runs", "2", "--out", str(tmp_path), "--data", str(tmp_path)]
    assert cobs.main(["peers", *options]) == 0
    said = capsys.readouterr().out
    lines = rows_of(tmp_path / "cobs" / "table3_peers.csv")
    assert [(line["task"], line["method"]) for line in lines] == [
        (task, method) for task in ("wine", "glass") for method in few
    ]
    for line in lines:
        beside = f"{float(line['letter']):.2f} {float(line['default']):.2f} ({float(line['paper']):.2f})"
        assert beside in said
        assert line["runs"] == "2"
    curves = rows_of(tmp_path / "cobs" / "peers.csv")
    assert {line["constraints"] for line in curves} == {"10", "50"}
    assert {line["strategy"] for line in curves} == set(cobs.both_versions([*few, "cobs_u"]))


@pytest.mark.slow(nightly=True)
def test_pools_and_npu_are_written(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cobs_peers, "MOST", 6)
    monkeypatch.setattr(cobs_runs, "MOST", 6)
    options = ["--runs", "1", "--out", str(tmp_path), "--data", str(tmp_path)]
    assert cobs.main(["pools", *options]) == 0
    assert {line["method"] for line in rows_of(tmp_path / "cobs" / "table5.csv")} == set(cobs_peers.POOLS)
    assert cobs.main(["active", *options]) == 0
    options += ["--only", "NPU + MPCKMeans, SI, letter;NPU + MPCKMeans, SI;NPU + FOSC"]
    assert cobs.main(["npu", *options]) == 0
    curves = rows_of(tmp_path / "cobs" / "npu_curves.csv")
    names = {"active COBS", "NPU + MPCKMeans, SI", "NPU + FOSC"}
    assert {(line["strategy"], line["ties"]) for line in curves} == {*product(names, cobs_runs.TIES)}
    assert "active COBS" in capsys.readouterr().out


def test_what_is_the_same_in_both_versions_of_npu_runs_once():
    cells = cobs_peers.npu_cells(["wine", "segmentation"], cobs_peers.REFITS, 2)
    assert len(cells) == len(set(cells)) == 2 * (7 + 7)
    assert {run for *_, run in cells[: len(cells) // 2]} == {"0"}
    printed = {task: {m for t, m, _ in cells if t == task and m.endswith(", letter")} for task, *_ in cells}
    tuned = {f"NPU + MPCKMeans, {tuning}, letter" for tuning in ("SI", "NumSat")}
    assert printed == {"wine": tuned, "segmentation": {*tuned, "NPU + COSC, eigengap, letter"}}
    for method, made in cobs_peers.REFITS.items():
        twin = cobs_peers.REFITS[method.removesuffix(", letter")]
        assert (repr(made(0)) == repr(twin(0))) is not method.endswith(", letter")


def test_curves_are_read_as_they_were_written(tmp_path):
    curves = {("wine", "active", tie): [Mean(0.5, 0.1, 0.2), Mean(0.75)] for tie in cobs_runs.TIES}
    cobs.write_curves(tmp_path / "curves.csv", curves, (10, 25))
    found = cobs.read_curves(tmp_path / "curves.csv", {"active": "active COBS"}, (25, 10))
    assert {key: means[1] for key, means in found.items()} == {
        ("wine", "active COBS", tie): Mean(0.5, 0.1, 0.2) for tie in cobs_runs.TIES
    }
    assert cobs.read_curves(tmp_path / "none.csv", {}, (10,)) == {}


def test_as_printed_is_not_our_default():
    task = made_up("wine", None)
    estimators = [estimator for estimator, _ in cobs_peers.list_clusterers(SMALL, 0, len(task.X))]
    printed = [cobs_peers.print_clusterer(clone(estimator)).get_params() for estimator in estimators]
    assert all(now != then.get_params() for now, then in zip(printed, estimators, strict=True))
    assert [type(each) for each in estimators] == [lw.MPCKMeans, lw.MPCKMeans, lw.FOSC, lw.COSC]
