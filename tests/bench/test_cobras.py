"""The commands on tiny inputs: what they write, what they mark, what they conclude."""

import csv

import numpy as np
import pytest
from bench.papers import cobras, cobras_protocol
from bench.papers.cobras_protocol import LEARNERS, Measured, check_claims
from bench.papers.cobras_runs import CURVE, measure, whole_cells

from bench import data, harness
from linkwise.experiments.folds import split_folds

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
    monkeypatch.setattr(data, "names", lambda source: ["first", "yeast"])


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def claims(ari, seconds=None):
    """Verdicts about COBRAS.paper() when every task has the given ARI by learner."""
    each = np.array([ari[name] for name in LEARNERS], dtype=float)
    tasks = ["a", "b"]
    times = (
        np.ones((2, len(LEARNERS)))
        if seconds is None
        else np.array([[*seconds, seconds[-1]]] * 2, dtype=float)
    )
    m = Measured(tasks, LEARNERS, np.array([each, each]), times, times / 10, 1)
    names = [claim["claim"] for claim in harness.read_target("cobras_claims.csv")]
    return {name: line[2] == "holds" for name, line in zip(names, check_claims(m), strict=True)}


def flat(*levels):
    levels = (*levels, levels[-1])  # the authors' program as the printed method
    return {name: np.full(Q, level) for name, level in zip(LEARNERS, levels, strict=True)}


def test_claims_where_cobra_leads():
    found = claims(flat(0.6, 0.6, 0.6, 0.5, 0.58), seconds=[1, 1, 1, 2, 2])
    assert found["cobra10"]
    assert found["cobra25"]
    assert found["cobra25-small"]
    assert found["cobra50"]
    assert found["cobra-fast"]
    assert not found["cobra10-late"]
    assert not found["cobra50-early"]
    assert not found["overall"]


def test_claims_where_cobras_leads():
    found = claims(flat(0.5, 0.5, 0.5, 0.5, 0.6), seconds=[11, 2, 2, 1, 1])
    assert not found["cobra10"]
    assert not found["cobra25-small"]
    assert not found["cobra-fast"]
    assert not found["largest-cobra"]
    assert found["largest-cobras"]
    assert found["cobra10-late"]
    assert found["cobra50-early"]
    assert found["overall"]


def test_every_claim_is_checked():
    assert {c["claim"] for c in harness.read_target("cobras_claims.csv")} == set(cobras_protocol.CLAIMS)


def test_targets_stand_for_known_tasks():
    printed = {row["task"]: row for row in harness.read_target("cobras_datasets.csv")}
    assert set(printed) == {*data.UCI, *data.FACES, *data.NEWS}
    for name, row in printed.items():
        assert data.TASKS[name].counts == tuple(int(row[field]) for field in ("rows", "features", "classes"))
    assert {row["task"] for row in harness.read_target("cobras_quality.csv")} == set(data.BUNDLED)


@pytest.mark.usefixtures("small")
def test_questions_are_about_training_rows_only(monkeypatch):
    asked = []

    class Watched:
        def __init__(self, y):
            self.y = y

        def __call__(self, first, second):
            asked.append((first, second))
            return bool(self.y[first] == self.y[second])

    monkeypatch.setattr("bench.papers.cobras_runs.TruthOracle", Watched)
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


@pytest.mark.usefixtures("small")
def test_protocol_writes_curves_ranks_tasks_and_claims(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cobras, "QUICK_QUESTIONS", 12)
    monkeypatch.setattr(cobras, "FOLDS", 3)
    monkeypatch.setattr(cobras, "find_spec", lambda name: None)  # no plot
    assert cobras.main(["protocol", "--quick", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "cobras"
    ranks = rows_of(folder / "aligned_ranks.csv")
    assert [row["tasks"] for row in ranks] == ["all"] * 12 + ["without yeast"] * 12
    for row in ranks:
        entries = len(LEARNERS) * (2 if row["tasks"] == "all" else 1)
        mean = np.mean([float(row[name]) for name in LEARNERS])
        assert mean == pytest.approx((entries + 1) / 2, abs=1e-3)
    assert len(rows_of(folder / "tasks.csv")) == 2 * len(LEARNERS)
    assert len(rows_of(folder / "claims.csv")) == len(cobras_protocol.CLAIMS)
    told = capsys.readouterr().out
    assert "without 20 of the paper's tasks: iris" in told
    cobras.main(["protocol", "--quick", "--out", str(tmp_path)])
    assert "0 cells to run" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
def test_ablation_tells_tasks_apart_that_chose_the_defaults(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(data, "names", lambda source: ["first", "yeast", "news_similar3"])
    assert cobras.main(["ablation", "--seeds", "1", "--out", str(tmp_path)]) == 0
    groups = [row["tasks"] for row in rows_of(tmp_path / "cobras" / "ablation_table.csv")]
    assert groups.count(groups[0]) == groups.count(groups[-1]) == len(cobras.VARIANTS)
    assert "at which was not looked: 1 tasks" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("target", "status"), [("0.01", 0), ("1.01", 1)])
def test_quality_fails_below_a_target(tmp_path, monkeypatch, capsys, target, status):
    rows = [{"task": "first", **dict.fromkeys(map(str, cobras.SHOWN), target)}]
    monkeypatch.setattr(cobras, "read_target", lambda name: rows)
    assert cobras.main(["quality", "--seeds", "2", "--out", str(tmp_path)]) == status
    assert ("MISS" in capsys.readouterr().out) == bool(status)


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    from bench.plots import Panel, plot_panels

    path = tmp_path / "curves.png"
    plot_panels(path, [Panel("a", "ARI", {"x": np.arange(5)}), Panel("b", "rank", {"x": np.arange(5)}, True)])
    assert path.read_bytes().startswith(b"\x89PNG")
