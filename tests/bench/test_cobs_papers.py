"""The COBS experiments on tiny inputs: what is drawn, chosen, asked, scored and written."""

import csv

import numpy as np
import pytest
from bench.papers import cobs, cobs_runs
from bench.papers.cobs_runs import (
    GRID,
    MOST,
    PARTS,
    TASKS,
    TIES,
    Place,
    ari_at,
    ask_pairs,
    by_dbcv,
    by_silhouette,
    choose_clustering,
    draw_maker,
    draw_pairs,
    pool_of,
)
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.tasks import scale_rows
from sklearn.metrics import adjusted_rand_score, silhouette_score

from bench import data, harness
from linkwise import COBS, ActiveCOBS, TruthOracle
from linkwise.select.ranking import satisfied_weights

pytestmark = pytest.mark.slow


def made_up(name, source):
    """Three groups, of which two touch; a long one and a stray row make the algorithms differ."""
    rng = np.random.default_rng(len(name))
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal([[0.0, 0.0], [3.0, 0.0], [5.0, 2.0]], [0.5, 0.8], (12, 3, 2)).swapaxes(0, 1).reshape(-1, 2)
    X[0] = [9.0, -9.0]
    return data.LabelledTask(name, scale_rows(X), y, "made up")


@pytest.fixture
def small(monkeypatch):
    """Three tiny tasks, two of which the paper has, and two that are quick."""
    monkeypatch.setattr(cobs_runs, "load", made_up)
    monkeypatch.setattr(data, "names", lambda source: ["wine", "breast_cancer", "glass"])


@pytest.fixture
def place(tmp_path, small):
    return Place(data.Source(), tmp_path / "pools")


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- targets
def test_targets_are_about_the_ten_sets():
    table4 = harness.read_target("cobs_table4.csv")
    assert [row["task"] for row in table4] == list(TASKS)
    assert [row["task"] for row in harness.read_target("cobs_table3.csv")] == list(TASKS)
    assert all(sum(int(row[name]) for name in cobs.PICKED) == cobs.RUNS for row in table4)
    assert set(TASKS) <= set(data.UCI)


# ---------------------------------------------------------------- splits and scores
@pytest.mark.parametrize("n_rows", [10, 112, 333])
def test_pairs_are_distinct_and_of_seven_rows_in_ten(n_rows):
    rows, pairs = draw_pairs(n_rows, 3)
    assert len(rows) == round(0.7 * n_rows)
    assert np.array_equal(rows, np.unique(rows))
    assert set(pairs.ravel()) <= set(rows)
    assert len({frozenset(pair) for pair in pairs.tolist()}) == min(MOST, len(rows) * (len(rows) - 1) // 2)
    assert all(len(set(pair)) == 2 for pair in pairs.tolist())
    assert not np.array_equal(rows, draw_pairs(n_rows, 4)[0])


def test_rows_in_pairs_are_not_scored():
    y = np.array([0, 0, 1, 1, 2, 2])
    labels = np.array([5, 5, 5, 5, 0, 1])
    pairs = np.array([[4, 5], [5, 4]])
    assert score_elsewhere(y, labels, pairs) == adjusted_rand_score([0, 0, 1, 1], [5, 5, 5, 5])
    assert score_elsewhere(y, labels, pairs[:0]) == adjusted_rand_score(y, labels)


# ---------------------------------------------------------------- pools
@pytest.mark.slow(nightly=True)
def test_a_pool_is_the_sum_of_its_parts(place):
    whole = pool_of("wine", place)
    parts = [pool_of("wine", place, name) for name in PARTS]
    made = [(c.algorithm, tuple(c.parameters.items())) for part in parts for c in part.candidates]
    assert sorted(map(str, made)) == sorted(
        str((c.algorithm, tuple(c.parameters.items()))) for c in whole.candidates
    )
    for part in parts:
        for candidate in part.candidates:
            twin = next(c for c in whole.candidates if c[:2] == candidate[:2])
            assert np.array_equal(part.clustering(candidate.clustering), whole.clustering(twin.clustering))


@pytest.mark.slow(nightly=True)
def test_a_pool_by_degree_differs_in_spectral_clustering_alone(place):
    for part in PARTS:
        plain, by_degree = (pool_of("wine", place, f"{part}{end}") for end in ("", cobs_runs.BY_DEGREE))
        assert [c[:2] for c in plain.candidates] == [c[:2] for c in by_degree.candidates]
        same = len(plain) == len(by_degree) and np.array_equal(plain.labels, by_degree.labels)
        assert same == (not part.startswith("spectral"))


def test_a_pool_is_built_once(place, monkeypatch):
    pool_of("wine", place)
    pool_of.cache_clear()
    monkeypatch.setattr("linkwise.select.pool.plan_tasks", None)  # would be called to build another
    assert len(pool_of("wine", place).candidates) > 500
    assert len(list(place.pools.rglob("*.npz"))) == 1


def test_every_maker_of_a_clustering_may_be_named(place):
    pool = pool_of("wine", place)
    shared = int(pool.multiplicity.argmax())
    makers = {c.algorithm for c in pool.candidates if c.clustering == shared}
    assert {draw_maker(pool, shared, seed) for seed in range(300)} == makers


# ---------------------------------------------------------------- choices
@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("n", [1, 6, 40])
def test_the_choice_is_that_of_the_estimator(place, tie, n):
    task = made_up("wine", None)
    constraints = label_pairs(task.y, draw_pairs(len(task.y), 1)[1][:n])
    pool = pool_of("wine", place)
    tied, first = choose_clustering(pool, constraints, satisfied_weights(pool, constraints), tie, 0)
    model = COBS(tie=tie, random_state=0).fit(task.X, constraints=constraints)
    assert np.array_equal(pool.clustering(first), model.labels_)
    assert len(tied) == model.n_tied_


@pytest.mark.slow(nightly=True)
def test_silhouette_and_dbcv_choose_by_their_scores(place):
    task = made_up("wine", None)
    labels, _ = by_silhouette(task, place)
    pool = pool_of("wine", place, "k-means")
    best = max(silhouette_score(task.X, pool.clustering(c)) for c in range(len(pool)))
    assert silhouette_score(task.X, labels) == best
    labels, told = by_dbcv(task, place)
    assert (labels == -1).any()  # the stray row
    assert told.startswith("DBCV 0.")


# ---------------------------------------------------------------- questions
@pytest.mark.slow(nightly=True)
def test_active_cobs_is_followed_question_by_question(place):
    task, pool = made_up("wine", None), pool_of("wine", place)
    rows, _ = draw_pairs(len(task.y), 0)
    pairs = ask_pairs(task, pool, ActiveCOBS(), rows, 0)
    model = ActiveCOBS(random_state=0)
    model.fit(task.X, oracle=TruthOracle(task.y), budget=MOST, askable=rows)
    assert len(pairs) == model.n_questions_
    assert set(pairs.ravel()) <= set(rows)
    expected = [score_elsewhere(task.y, model.history_[min(n, len(pairs)) - 1], pairs[:n]) for n in GRID]
    assert ari_at(GRID, task.y, pool, pairs, "agreement", 0) == expected


# ---------------------------------------------------------------- commands
@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
def test_table4_is_measured_once(tmp_path, capsys, monkeypatch):
    target = {"task": "wine", "best": "0.5", "cobs": "0.2", "k-means": "1", "DBSCAN": "2", "spectral": "3"}
    monkeypatch.setattr(cobs, "read_target", lambda name: [target])
    asked = ["table4", "--runs", "4", "--out", str(tmp_path)]
    assert cobs.main(asked) == 0
    told = capsys.readouterr().out
    assert "8 of the sets are missing: dermatology" in told
    wine, other = rows_of(tmp_path / "cobs" / "table4.csv")
    assert (wine["paper"], other["paper"], wine["runs"]) == ("0.2", "", "4")
    assert sum(map(int, wine["picked_random"].split("/"))) == 4
    best = rows_of(tmp_path / "cobs" / "table4_best.csv")[0]
    assert max(float(best[part]) for part in PARTS) == float(wine["best"]) >= float(wine["random"])
    assert cobs.main(asked) == 0
    assert "0 cells to run" in capsys.readouterr().out
    assert rows_of(tmp_path / "cobs" / "table4.csv") == [wine, other]


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
def test_table3_has_a_line_for_each_method(tmp_path, capsys):
    assert cobs.main(["table3", "--quick", "--out", str(tmp_path)]) == 0
    lines = rows_of(tmp_path / "cobs_quick" / "table3.csv")
    assert [line["method"] for line in lines] == [*cobs.COLUMNS, *cobs.COLUMNS]
    for line in lines:
        is_ours = line["method"].startswith("dbscan_DBCV_") or line["method"].endswith("by_degree")
        assert (line["paper"] == "") == (line["task"] != "wine" or is_ours)
        assert (line["letter_error"] != "") == ("COBS" in line["method"])
        assert (line["letter"] == line["default"]) or "COBS" in line["method"]
    assert "as printed, with our defaults" in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
def test_active_and_sweeps_write_curves_with_errors(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cobs, "QUICK_RUNS", 2)
    monkeypatch.setattr("bench.papers.cobs_asking.find_spec", lambda name: None)  # no plot
    assert cobs.main(["active", "--quick", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "cobs_quick"
    lines = rows_of(folder / "active.csv")
    assert len(lines) == 2 * 2 * len(TIES) * len(GRID)
    assert {line["constraints"] for line in lines} == set(map(str, GRID))
    for line in lines:
        assert -1 <= float(line["lowest"]) <= float(line["ari"]) <= 1
        assert float(line["standard_error"]) >= 0
    monkeypatch.setattr(cobs, "QUICK_TASKS", ("wine",))
    assert cobs.main(["sweeps", "--quick", "--out", str(tmp_path)]) == 0
    assert len({line["strategy"] for line in rows_of(folder / "factors.csv")}) == 6
    assert len({line["strategy"] for line in rows_of(folder / "samples.csv")}) == 5
    told = capsys.readouterr().out
    assert "m = 1.05" in told
    assert "8 cells to run" in told  # m = 2 and the random pairs are there already


@pytest.mark.slow(nightly=True)
@pytest.mark.usefixtures("small")
def test_curves_are_drawn_in_rows(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(cobs, "QUICK_RUNS", 2)
    cobs.main(["active", "--quick", "--out", str(tmp_path)])
    assert (tmp_path / "cobs_quick" / "active.png").read_bytes().startswith(b"\x89PNG")


def test_without_any_set_there_is_advice(tmp_path, monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    with pytest.raises(SystemExit, match="--data"):
        cobs.main(["table4", "--data", str(tmp_path)])


def test_without_a_folder_the_kept_results_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    with pytest.raises(SystemExit, match="--out"):
        cobs.main(["table4"])
