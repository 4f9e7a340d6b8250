"""The commands on tiny inputs: what they write, what they mark, what they conclude."""

import csv
import sys
from functools import partial

import numpy as np
import pytest
from bench.papers import cobras, cobras_claims, cobras_rivals
from bench.papers.cobras_claims import check_claims
from bench.papers.cobras_measured import COBRA, LEARNERS, METHODS, PROGRAM, Measured, gather
from bench.papers.cobras_protocol import write_report
from bench.papers.cobras_repetitions import keep_repetitions, missing_cells
from bench.papers.cobras_rivals import PRINTED_NPU, RIVAL_FILES, measure_rival
from bench.papers.cobras_runs import CURVE, FIELDS, entries, find_tasks, fold_cells, measure, whole_cells
from bench.papers.cobs_runs import Place
from bench.peers import cobras as program
from bench.suites.cell_store import append_row
from bench.suites.folds import split_folds

from bench import data, harness

pytestmark = pytest.mark.slow

Q = 50


@pytest.fixture
def small(monkeypatch):
    """Two tiny tasks instead of scikit-learn's sets."""

    def load(name, source):
        rng = np.random.default_rng(len(name))
        y = np.repeat([0, 1, 2], 10)
        return data.LabelledTask(name, rng.normal(3 * y[:, None], 1.0, (30, 2)), y, "made up")

    monkeypatch.setattr(data, "load", load)
    monkeypatch.setattr("bench.papers.cobras_runs.load", load)
    monkeypatch.setattr("bench.papers.cobras_rivals.load", load)
    monkeypatch.setattr("bench.papers.cobs_runs.load", load)
    monkeypatch.setattr(data, "names", lambda source: ["first", "yeast"])


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def measured(ari, seconds=None, tasks=("a", "b"), repetitions=1):
    """Means when every task has the given ARI by learner; the others were not run."""
    learners = [*LEARNERS, *PROGRAM, *RIVAL_FILES]
    shape = len(tasks), len(learners)
    values = np.full((*shape, Q), np.nan)
    times, counts = np.full(shape, np.nan), np.zeros(shape, dtype=int)
    for name, level in ari.items():
        at = learners.index(name)
        values[:, at] = level
        times[:, at] = (seconds or {}).get(name, 1.0)
        counts[:, at] = repetitions
    sizes, pools = np.arange(1, 1 + len(tasks)), np.full(len(tasks), 5.0)
    return Measured(list(tasks), learners, values, times, times / 10, counts, sizes, pools)


def flat(cobra10, cobra25, cobra50, cobras, **rivals):
    """Levels of COBRA, of all three versions of COBRAS, and of rivals."""
    both = (*zip(COBRA, (cobra10, cobra25, cobra50), strict=True), ("COBRAS", cobras))
    program = {f"{name} (program)": level for name, level in both}
    printed = {f"{name}.paper()": level for name, level in both}
    return {**dict(both), **printed, "COBRAS.authors()": cobras, **program, **rivals}


def claims(m, version=0):
    """Verdicts by claim."""
    names = [claim["claim"] for claim in harness.read_target("cobras_claims.csv")]
    return {name: line[2 + 2 * version] for name, line in zip(names, check_claims(m), strict=True)}


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_claims_where_cobra_leads(version):
    seconds = dict.fromkeys(("COBRAS", "COBRAS.paper()", "COBRAS (program)"), 2.0)
    found = claims(measured(flat(0.6, 0.6, 0.5, 0.58), seconds), version)
    for name in ("cobra10", "cobra25", "cobra25-small", "cobra10-early", "small-n", "cobra-faster"):
        assert found[name] == "holds"
    assert found["cobra50-early"] == "holds"
    for name in ("cobra50", "cobra10-late", "overall", "large-n"):
        assert found[name] == "does not"
    for name in (
        "best",
        "cobs",
        "npu-mpckmeans",
        "npu-cosc",
        "npu-slow",
        "cobs-slow",
        "cobras-fast",
        "toy-cobra",
    ):
        assert found[name] == "not testable"


@pytest.mark.slow(nightly=True)
def test_claims_where_cobras_leads():
    rivals = {"COBS": 0.3, "NPU + MPCKMeans": 0.2, PRINTED_NPU: 0.2, "NPU + COSC": 0.4}
    seconds = {
        "COBRA-10.paper()": 11.0,
        "COBRA-25.paper()": 2.0,
        "NPU + MPCKMeans": 9.0,
        PRINTED_NPU: 9.0,
        "NPU + COSC": 20.0,
        "COBS": 0.1,
    }
    found = claims(measured(flat(0.5, 0.5, 0.54, 0.6, **rivals), seconds))
    for name in ("best", "overall", "cobs", "npu-mpckmeans", "npu-cosc", "cobra10-late", "cobra50-early"):
        assert found[name] == "holds"
    for name in ("large-n", "cobras-largest", "npu-slow", "cobs-slow", "cobs-selects-fast", "cobras-fast"):
        assert found[name] == "holds"
    for name in (
        "cobra10",
        "cobra-faster",
        "cobra-fastest",
        "cobra-largest",
        "small-n",
        "npu-mpckmeans-early",
    ):
        assert found[name] == "does not"


def test_a_claim_about_a_rival_rests_on_its_tasks_and_says_how_many():
    m = measured(flat(0.5, 0.5, 0.5, 0.6, COBS=0.3))
    m.repetitions[1, m.learners.index("COBS")] = 0
    m.ari[1, m.learners.index("COBS")] = np.nan
    m.ari[0, m.learners.index("COBS"), 20:] = np.nan
    names = [claim["claim"] for claim in harness.read_target("cobras_claims.csv")]
    line = dict(zip(names, check_claims(m), strict=True))["cobs"]
    assert line[2] == "holds"
    assert "1 tasks, 1 to 20" in line[1]


@pytest.mark.slow(nightly=True)
def test_a_rival_on_few_tasks_decides_nothing():
    m = measured(flat(0.5, 0.5, 0.5, 0.6, COBS=0.3), tasks="abc")
    m.repetitions[1:, m.learners.index("COBS")] = 0
    m.seconds[1:, m.learners.index("COBS")] = np.nan
    found = claims(m)
    assert {found[name] for name in ("cobs", "cobs-slow")} == {"not testable"}
    assert "COBS on 1 of 1 tasks" in str(check_claims(m))


def test_the_printed_cobras_is_compared_with_the_printed_npu():
    m = measured(flat(0.5, 0.5, 0.5, 0.6, **{"NPU + MPCKMeans": 0.7, PRINTED_NPU: 0.4}))
    verdicts = [claims(m, version)["npu-mpckmeans"] for version in range(3)]
    assert verdicts == ["holds", "does not", "holds"]


def test_every_claim_is_checked():
    assert {c["claim"] for c in harness.read_target("cobras_claims.csv")} == set(cobras_claims.CLAIMS)


def test_targets_stand_for_known_tasks():
    printed = {row["task"]: row for row in harness.read_target("cobras_datasets.csv")}
    assert set(printed) == {*data.UCI, *data.FACES, *data.NEWS}
    for name, row in printed.items():
        assert data.TASKS[name].counts == tuple(int(row[field]) for field in ("rows", "features", "classes"))
    assert {row["task"] for row in harness.read_target("cobras_quality.csv")} == set(data.BUNDLED)


class Watched:
    """The truth, and a list of the pairs that were asked about."""

    def __init__(self, asked, y):
        self.asked, self.y = asked, y

    def __call__(self, first, second):
        self.asked.append((first, second))
        return bool(self.y[first] == self.y[second])


@pytest.mark.usefixtures("small")
def test_questions_are_about_training_rows_only(monkeypatch):
    asked = []
    monkeypatch.setattr("bench.papers.cobras_runs.TruthOracle", partial(Watched, asked))
    row = measure(("first", "COBRAS", "0", "2", "5", "20"), data.Source())
    test = set(split_folds(30, 5, 0)[2].tolist())
    assert len(asked) == int(row["asked"]) > 0
    assert not test & {row for pair in asked for row in pair}


@pytest.mark.usefixtures("small")
def test_a_cell_repeats_itself():
    cell = whole_cells(["first"], ["COBRAS"], 1, 15)[0]
    first, again = (measure(cell, data.Source())[CURVE] for _ in range(2))
    assert first == again
    assert len(first.split()) == 15


def append_cells(path, task, learner, repetition, folds, level, questions=4):
    for fold in folds:
        cell = (task, learner, str(repetition), str(fold), "3", str(questions))
        times = dict.fromkeys(("seconds", "seconds_100", "longest_wait_s"), "1.5")
        curve = {CURVE: " ".join([str(level)] * questions)}
        append_row(path, {**dict(zip(FIELDS, cell, strict=True)), "code": "", "asked": "4", **times, **curve})


def test_only_whole_repetitions_and_the_last_row_of_a_cell_count(tmp_path):
    path = tmp_path / "protocol.csv"
    append_cells(path, "a", "COBRAS", 0, [0], 0.9)  # measured again below
    append_cells(path, "a", "COBRAS", 0, range(3), 0.5)
    append_cells(path, "a", "COBRAS", 1, range(3), 0.3)
    append_cells(path, "a", "COBRAS", 2, range(2), 0.1)
    append_cells(path, "b", "COBRAS", 0, range(3), 0.7, questions=6)
    append_cells(tmp_path / RIVAL_FILES["COBS"], "a", "COBS", 0, range(3), 0.2, questions=2)
    m = gather(tmp_path, ["a", "b"], [10, 20], 5)
    at = m.learners.index("COBRAS")
    assert m.repetitions[:, at].tolist() == [2, 0]
    np.testing.assert_allclose(m.ari[0, at, :4], 0.4)
    assert m.seconds[0, at] == 1.5
    found = m.shared(["COBRAS", "COBS", "NPU + COSC"])
    assert (found.tasks, found.learners, found.n_questions) == (["a"], ["COBRAS", "COBS"], 2)


def test_only_tasks_of_the_paper_are_run(monkeypatch):
    monkeypatch.setattr(data, "names", lambda source: [*data.TASKS, "mine"])
    found = find_tasks(data.Source())
    assert {*data.OF_COBRAS, "digits", "mine"} <= set(found)
    assert not {"coil20", "letter"} & set(found)


def test_a_repetition_of_other_code_is_measured_again_unless_it_may_be_reused(tmp_path):
    append_cells(tmp_path / "protocol.csv", "a", "COBRAS", 0, range(3), 0.5)  # with no key
    keep_repetitions(tmp_path, ["protocol.csv"])
    cells = fold_cells(["a"], ["COBRAS"], 2, 3, 4)
    assert missing_cells(tmp_path, cells, entries, reuse=True) == cells[3:]
    assert missing_cells(tmp_path, cells, entries, reuse=False) == cells


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
def test_protocol_writes_curves_ranks_tasks_and_claims(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cobras, "QUICK_QUESTIONS", 12)
    monkeypatch.setattr(cobras, "FOLDS", 3)
    monkeypatch.setattr(cobras, "find_spec", lambda name: None)  # no plot
    assert cobras.main(["protocol", "--quick", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "cobras"
    ranks = rows_of(folder / "aligned_ranks.csv")
    own = [*COBRA, "COBRAS"]
    assert [row["version"] for row in ranks] == ["letter"] * 12 + ["default"] * 12
    for row in ranks:
        assert np.mean([float(row[name]) for name in own]) == pytest.approx((2 * len(own) + 1) / 2, abs=0.01)
    assert len(rows_of(folder / "tasks.csv")) == 2 * len(LEARNERS)
    assert len(rows_of(folder / "claims.csv")) == len(cobras_claims.CLAIMS)
    assert {row["learner"] for row in rows_of(folder / "coverage.csv")} == set(LEARNERS)
    printed = capsys.readouterr().out
    assert "without 20 of the paper's tasks: iris" in printed
    cobras.main(["protocol", "--quick", "--out", str(tmp_path)])
    assert "0 cells to run" in capsys.readouterr().out
    before = (folder / "claims.csv").read_text()
    (folder / "protocol.csv").unlink()  # the kept repetitions are enough to go on
    cobras.main(["protocol", "--quick", "--out", str(tmp_path)])
    assert "0 cells to run" in capsys.readouterr().out
    cobras.main(["protocol", "--quick", "--report", "--out", str(tmp_path)])
    assert "cells to run" not in capsys.readouterr().out
    assert (folder / "claims.csv").read_text() == before


@pytest.mark.slow(nightly=True)
def test_the_report_has_all_methods_and_draws_the_figures(tmp_path):
    pytest.importorskip("matplotlib")
    m = measured(flat(0.5, 0.5, 0.54, 0.6, **dict.fromkeys(RIVAL_FILES, 0.3)), tasks=("iris", "yeast"))
    printed = write_report(m, tmp_path, plot=True)
    assert "NPU + COSC" in printed
    ranks = rows_of(tmp_path / "aligned_ranks.csv")
    assert all(row[name] for row in ranks for name in METHODS)
    assert rows_of(tmp_path / "times.csv")[0]["/ COBS"] == f"{1 / 6:.3f}"  # with its pool
    for name in ("curves.png", "ranks.png", "times.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("learner", RIVAL_FILES)
def test_rivals_ask_about_training_rows_only(tmp_path, monkeypatch, learner):
    asked = []
    monkeypatch.setattr(cobras_rivals, "TruthOracle", partial(Watched, asked))
    row = measure_rival(("first", learner, "0", "2", "5", "6"), Place(data.Source(), tmp_path))
    test = set(split_folds(30, 5, 0)[2].tolist())
    assert len(asked) == int(row["asked"]) > 0
    assert not test & {row for pair in asked for row in pair}
    assert len(row[CURVE].split()) == 6


@pytest.mark.usefixtures("small")
def test_rivals_are_run_on_small_tasks_first(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(
        cobras, "run_cells", lambda path, fields, cells, *rest, **more: given.append((path.name, cells))
    )
    options = ["--learners", "COBS", "NPU + COSC", "--repetitions", "2", "--out", str(tmp_path)]
    assert cobras.main(["rivals", *options]) == 0
    assert [name for name, _ in given] == ["pools.csv", RIVAL_FILES["COBS"], RIVAL_FILES["NPU + COSC"]]
    assert given[0][1] == [("first",), ("yeast",)]
    assert given[1][1] == fold_cells(["first", "yeast"], ["COBS"], 2, 10, 250)
    assert given[2][1] == fold_cells(["first", "yeast"], ["NPU + COSC"], 2, 10, 100)


STAND_IN = """
class Part:
    def __init__(self, indices): self.indices = indices
class Cluster:
    def __init__(self, parts): self.super_instances = parts
class Clustering:
    def __init__(self, clusters): self.clusters = clusters
    def construct_cluster_labeling(self): return list(self.labels)
class COBRAS_kmeans:
    def __init__(self, data, querier, max_questions, train):
        self.data, self.querier, self.most, self.train = data, querier, max_questions, sorted(train)
    def create_superinstance(self, indices): return Part(indices)
    def split_superinstance(self, part, k): return [Part(part.indices[at::k]) for at in range(k)]
    def merge_containing_clusters(self, stored):
        for at in range(3):
            self.clustering.labels = [row % (at + 2) for row in range(len(self.data))]
            self.ml.append((self.train[0], self.train[at + 1]))
            self.querier.query_points(*self.ml[-1])
        self.clustering.labels = [0] * len(self.data)
    def cluster(self):
        self.ml, self.clustering = [], Clustering([])
        self.merge_containing_clusters(None)
        return None, [self.clustering.labels] * 3, [1, 2, 3], self.ml, []
"""


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("learner", ["COBRAS (program)", "COBRA-10 (program)"])
def test_the_program_runs_in_another_python_on_the_same_folds(tmp_path, monkeypatch, small, learner):
    package = tmp_path / "cobras_ts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(STAND_IN)
    for name in ("cluster", "clustering", "cobras_kmeans"):
        (package / f"{name}.py").write_text("from cobras_ts.parts import *")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    row = program.measure(("first", learner, "0", "3", "5"), sys.executable, data.Source())
    curve = np.array(row[CURVE].split(), float)
    assert row["asked"] == "3.0"
    assert len(curve) == 5
    assert curve[-1] == 0  # all rows in one cluster
    if "-" in learner:  # the states after the first answers differ
        assert curve[0] != curve[-1]


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
def test_ablation_tells_tasks_apart_that_chose_the_defaults(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(data, "names", lambda source: ["first", "yeast", "news_similar3"])
    assert cobras.main(["ablation", "--seeds", "1", "--out", str(tmp_path)]) == 0
    groups = [row["tasks"] for row in rows_of(tmp_path / "cobras" / "ablation_table.csv")]
    assert groups.count(groups[0]) == groups.count(groups[-1]) == len(cobras.VARIANTS)
    assert "at which was not looked: 1 tasks" in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("target", "status"), [("0.01", 0), ("1.01", 1)])
def test_quality_fails_below_a_target(tmp_path, monkeypatch, capsys, target, status):
    rows = [{"task": "first", **dict.fromkeys(map(str, cobras.SHOWN), target)}]
    monkeypatch.setattr(cobras, "read_target", lambda name: rows)
    assert cobras.main(["quality", "--seeds", "2", "--out", str(tmp_path)]) == status
    assert ("MISS" in capsys.readouterr().out) == bool(status)


@pytest.mark.slow(nightly=True)
def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    from bench.plots import Panel, plot_panels

    path = tmp_path / "curves.png"
    plot_panels(path, [Panel("a", "ARI", {"x": np.arange(5)}), Panel("b", "rank", {"x": np.arange(5)}, True)])
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["protocol", "rivals"])
def test_without_a_folder_the_kept_results_are_refused(command, monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    monkeypatch.setattr(cobras, "run_cells", lambda *given, **more: pytest.fail("a cell was run"))
    with pytest.raises(SystemExit, match="--out"):
        cobras.main([command])
