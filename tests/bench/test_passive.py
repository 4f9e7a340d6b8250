"""The comparison with random constraints on tiny inputs: who takes part, what is scored, what is told."""

import csv

import numpy as np
import pytest
from bench.papers import cobs_runs, passive
from bench.papers.cobs_runs import Place, draw_pairs
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.summaries import Mean
from bench.suites.tasks import scale_rows
from sklearn.cluster import KMeans

import linkwise as lw
from bench import data, harness

pytestmark = pytest.mark.slow


def made_up(name, source):
    """Three groups, of which two touch."""
    rng = np.random.default_rng(len(name))
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(np.array([[0.0, 0.0], [3.0, 0.0], [5.0, 2.0]])[y], 0.7)
    return data.LabelledTask(name, scale_rows(X), y, "made up")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(data, "load", made_up)
    monkeypatch.setattr(cobs_runs, "load", made_up)
    monkeypatch.setattr(data, "BUNDLED", ("iris", "wine"))


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_targets_name_known_methods_and_sets():
    rows = harness.read_target("passive.csv")
    assert {row["task"] for row in rows} == set(data.BUNDLED)
    assert len({(row["task"], row["method"]) for row in rows}) == len(rows)
    assert {"KMeans", "PCKMeans", "MPCKMeans"} <= {row["method"] for row in rows}


def test_all_clusterers_take_part():
    made = {name: make(3, 5) for name, make in passive.methods().items()}
    assert {
        "KMeans",
        "COBS",
        "PCKMeans",
        "MPCKMeans",
        "FOSC",
        "COSC",
        "ClusILC",
        "ITML + KMeans",
        "RCA + KMeans",
    } <= set(made)
    for name, model in made.items():
        if name.endswith(" + KMeans"):
            learner, model = model
            assert type(learner).__name__ == name.removeprefix("full ").removesuffix(" + KMeans")
            assert getattr(learner, "random_state", 5) == 5
        assert type(model).__name__ == name.split(" + ")[-1]
        assert model.get_params().get("random_state", 5) == 5
        assert name == "COBS" or model.get_params().get("n_clusters", 3) == 3


@pytest.mark.parametrize("method", ["KMeans", "PCKMeans", "RCA + KMeans"])
def test_a_run_is_the_score_elsewhere(small, tmp_path, method):
    task, place = made_up("iris", None), Place(data.Source(), tmp_path)
    row = passive.measure(("scikit-learn", "iris", method, "50", "3"), place)
    pairs = draw_pairs(36, 3)[1][:50]
    c = label_pairs(task.y, pairs)
    if "KMeans" in method.split(" + "):
        X = lw.RCA().fit_transform(task.X, constraints=c) if "RCA" in method else task.X
        labels = KMeans(3, n_init=10, random_state=3).fit(X).labels_
    else:
        labels = lw.PCKMeans(3, random_state=3).fit(task.X, constraints=c).labels_
    assert row["ari"] == f"{score_elsewhere(task.y, labels, pairs):.4f}"
    assert row["satisfied"] == f"{lw.constraint_score(labels, c):.4f}"
    assert row["n_clusters"] == "3"


def test_an_impossible_run_is_a_failure(small, tmp_path, monkeypatch):
    def refused(*given):
        raise lw.InfeasibleConstraintsError("3 = 5, but 3 ≠ 5")

    monkeypatch.setattr(passive, "cluster_task", refused)
    row = passive.measure(("scikit-learn", "iris", "PCKMeans", "50", "0"), Place(data.Source(), tmp_path))
    assert (row["ari"], row["failed"]) == ("", "3 = 5, but 3 ≠ 5")
    line = passive.build_line(("scikit-learn", "iris", "PCKMeans"), [row, row])
    assert line[-1] == "2"
    assert passive.print_misses([line]) == 1


def test_rows_that_a_method_refuses_are_no_failure(small, tmp_path, monkeypatch):
    def refused(*given):
        raise lw.DataError("at most 2000 rows")

    monkeypatch.setattr(passive, "cluster_task", refused)
    row = passive.measure(("scikit-learn", "iris", "PCP", "50", "0"), Place(data.Source(), tmp_path))
    line = passive.build_line(("scikit-learn", "iris", "PCP"), [row, row])
    assert (row["ari"], line[-1]) == ("", "0")
    assert passive.build_table([line]) == [("scikit-learn", "iris", "")]
    assert passive.print_misses([line]) == 0


@pytest.mark.parametrize(
    ("ours", "target", "told"),
    [(0.72, 0.74, "yes"), (0.714, 0.74, "no"), (np.nan, 0.7, "no"), (0.1, None, "")],
)
def test_what_counts_as_reached(ours, target, told):
    assert passive.format_reached(Mean(ours), target) == told


def test_all_is_written_and_goes_on_where_it_stopped(small, tmp_path, capsys, monkeypatch):
    arguments = ["--only", "KMeans,MPCKMeans", "--runs", "2", "--out", str(tmp_path)]
    passive.main(arguments)
    said = capsys.readouterr().out
    lines = rows_of(tmp_path / "passive" / "passive.csv")
    assert [(line["task"], line["method"]) for line in lines] == [
        (task, method) for task in ("iris", "wine") for method in ("KMeans", "MPCKMeans")
    ]
    for line in lines:
        assert 0 <= float(line["satisfied"]) <= 1
        assert line["reached"] == ("yes" if float(line["ari"]) >= float(line["target"]) - 0.02 else "no")
        assert f"({line['target']})" in said
        missed = f"missed: {line['method']} on {line['task']}, {line['ari']}"
        assert (missed in said) == (line["reached"] == "no")
    monkeypatch.setattr(passive, "cluster_task", None)
    passive.main(arguments)
    assert "0 cells to run" in capsys.readouterr().out


def test_ranks_and_the_best_for_several_numbers_of_constraints(small, tmp_path):
    wanted = ["--only", "KMeans,PCKMeans,MPCKMeans", "--runs", "2", "--constraints", "30,10"]
    assert passive.main([*wanted, "--out", str(tmp_path)]) == 0
    folder = tmp_path / "passive"
    runs, ranks, best = (rows_of(folder / f"{name}.csv") for name in ("runs", "ranks", "best"))
    assert not (folder / "table.csv").exists()
    for n in ("10", "30"):
        places = []
        for line in ranks:
            own = [r for r in runs if (r["method"], r["constraints"]) == (line["method"], n)]
            assert float(line[f"ari_{n}"]) == pytest.approx(np.mean([float(r["ari"]) for r in own]), abs=1e-3)
            places.append(float(line[f"rank_{n}"]))
        assert np.mean(places) == pytest.approx(3.5, abs=0.06)
        for line in best:
            means = {}
            for r in runs:
                if (r["task"], r["constraints"]) == (line["task"], n):
                    means.setdefault(r["method"], []).append(float(r["ari"]))
            means = {method: np.mean(values) for method, values in means.items()}
            names, most = line[n].rsplit(" ", 1)
            assert float(most) == pytest.approx(max(means.values()), abs=0.006)
            assert set(names.split(", ")) == {m for m, v in means.items() if v >= max(means.values()) - 0.01}


@pytest.mark.parametrize("numbers", ["0", "50,101"])
def test_numbers_of_constraints_that_cannot_be(tmp_path, numbers):
    with pytest.raises(SystemExit, match="from 1 to 100"):
        passive.main(["--constraints", numbers, "--out", str(tmp_path)])


def test_no_such_method(tmp_path):
    with pytest.raises(SystemExit, match=r"no method KMean\. Choose from KMeans, COBS"):
        passive.main(["--only", "KMean", "--out", str(tmp_path)])


def test_the_paper_s_sets_need_their_folder(tmp_path):
    assert {origin for origin, _ in passive.list_tasks(data.Source())} == {"scikit-learn"}
    (tmp_path / "wine.csv").write_text("")
    assert ("paper", "wine") in passive.list_tasks(data.Source(tmp_path))
