"""Figure 5 and the claims of Struyf and Džeroski (2007) on tiny inputs: trials, verdicts, what is told."""

import csv

import numpy as np
import pytest
from bench.papers import clusilc, clusilc_claims, clusilc_curves, clusilc_data, clusilc_runs
from bench.papers.clusilc_cop import cop_k_means, draw_starts
from bench.papers.clusilc_runs import COP, COP_PRINTED, METHODS, OURS, PRINTED
from sklearn.metrics import rand_score

import linkwise as lw
from bench import harness
from linkwise.cluster.kmeans.components import build_blocks
from linkwise.errors import DataError
from linkwise.experiments.folds import split_folds
from linkwise.experiments.summaries import Mean
from reference.cop_kmeans import cop_k_means as plain

ROWS = 30


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Iris, wine and yeast as tables of a few made-up rows, in the counts that the targets then say."""
    rng = np.random.default_rng(0)
    sets = {}
    for name, k in (("iris", 3), ("wine", 2), ("yeast", 2)):
        y = np.arange(ROWS) % k
        X = rng.normal(size=(ROWS, 2), scale=0.4) + y[:, None]
        lines = [f"{i},{a:.3f},{b:.3f},{c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,a,b,class", *lines]) + "\n")
        sets[name] = clusilc_data.SETS[name] | {"rows": str(ROWS), "features": "2", "clusters": str(k)}
    monkeypatch.setattr(clusilc_data, "SMALL", (5, 20))
    for module in (clusilc, clusilc_data, clusilc_claims, clusilc_curves):
        monkeypatch.setattr(module, "SETS", sets)
    clusilc_data.load.cache_clear()
    yield tmp_path
    clusilc_data.load.cache_clear()


def row(**more):
    return dict.fromkeys(("rand", "cv", "nodes", "most_nodes", "most_seconds"), "1") | {
        "redraws": "0",
        "failed": "0",
        **more,
    }


# ---------------------------------------------------------------- what the paper says
def test_every_claim_is_looked_at():
    names = [line["claim"] for line in harness.read_target("clusilc_claims.csv")]
    assert set(names) == set(clusilc_claims.CLAIMS)
    assert len(set(names)) == len(names) == 15


def test_the_sets_are_those_of_table_1():
    words = [row["in_words"] for row in clusilc_data.SETS.values()]
    assert [words.count(word) for word in ("better", "worse", "comparable")] == [6, 1, 5]
    assert clusilc_data.counts("iris")[-1] == 500
    assert clusilc_data.counts("pendig")[-1] == 2000


def test_other_tables_are_refused(folder):
    assert clusilc_data.names(folder) == ["iris", "wine", "yeast"]
    assert clusilc_data.load("iris", folder).X.shape == (ROWS, 2)  # the id is no feature
    with (folder / "wine.csv").open("a") as file:
        file.write("30,0,0,1\n")
    with pytest.raises(DataError, match=r"wine.csv has \(31, 2\) rows and features"):
        clusilc_data.load("wine", folder)


# ---------------------------------------------------------------- trials
def test_a_trial_is_the_rand_index_of_eleven_fits(folder):
    task = clusilc_data.load("iris", folder)
    measured = clusilc_runs.measure(("iris", PRINTED, "20", "3"), folder)
    tests, scores = split_folds(ROWS, 10, 3), []
    for at, test in enumerate([np.arange(0), *tests]):
        y = task.y.copy()
        y[test] = -1
        c = lw.Constraints.sample(y, 20, np.random.default_rng([3, at, 20, 0]))
        assert not np.isin(np.r_[c.must_link, c.cannot_link], test).any()
        model = lw.ClusILC.authors(3).fit(task.X, constraints=c)
        scores.append(rand_score(task.y[test], model.labels_[test]) if at else model)
    assert measured["rand"] == f"{rand_score(task.y, scores[0].labels_):.4f}"
    assert measured["cv"] == f"{np.mean(scores[1:]):.4f}"
    assert int(measured["nodes"]) == 2 * scores[0].n_leaves_ - 1
    assert int(measured["most_nodes"]) >= int(measured["nodes"])


def test_constraints_without_an_answer_are_drawn_again(folder, monkeypatch):
    answers = iter([None, None, np.zeros(ROWS, int), *[None] * 101, *[np.zeros(ROWS, int)] * 9])
    monkeypatch.setattr(clusilc_runs, "warm_up", lambda method: None)
    monkeypatch.setattr(clusilc_runs, "cop_k_means", lambda *given: next(answers))
    measured = clusilc_runs.measure(("iris", COP_PRINTED, "20", "0"), folder)
    assert (measured["redraws"], measured["failed"]) == ("102", "1")
    found = {("iris", COP_PRINTED, 20): [measured]}
    np.testing.assert_allclose(clusilc_curves.refused_share(found, "iris", COP_PRINTED), 103 / 113)


@pytest.mark.parametrize("n_pairs", [4, 9])
def test_cop_k_means_equals_the_transcription(n_pairs):
    answers = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, apart = rng.normal(size=(12, 2)), rng.permuted(np.tile(np.arange(12), (n_pairs, 1)), axis=1)[:, :2]
        c = lw.Constraints(12, (), apart)
        centers = draw_starts(build_blocks(X, c), c.component_cannot_link, 2, np.random.default_rng(seed))
        wanted = plain(X, [], c.cannot_link.tolist(), centers, range(12))
        got = cop_k_means(X, c, 2, seed)
        assert (got is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_array_equal(got, wanted[0])
            answers += 1
    assert 0 < answers < 20


def test_must_linked_rows_stay_together():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    c = lw.Constraints(4, [(0, 3)], [(0, 1)])
    labels = cop_k_means(X, c, 2, 0)
    assert labels[0] == labels[3] != labels[1]


# ---------------------------------------------------------------- verdicts
@pytest.mark.parametrize(
    ("difference", "said"),
    [
        (Mean(0.03, 0.01), "better"),
        (Mean(-0.03, 0.01), "worse"),
        (Mean(0.03, 0.02), "comparable"),  # within two errors
        (Mean(0.019, 0.001), "comparable"),  # too small to be seen
        (Mean(0.3), "comparable"),  # a single set of constraints
    ],
)
def test_clear_differences(difference, said):
    assert clusilc_curves.judge_difference(difference) == said


def test_unknown_values_are_left_out():
    nan = np.nan
    lines = np.array([[0.1, 0.3], [0.4, nan], [nan, nan]])
    assert clusilc_curves.average_curve(lines).value == pytest.approx(0.3)
    assert clusilc_curves.mean(lines[:, 1]).value == pytest.approx(0.3)
    assert np.isnan(clusilc_curves.mean(np.full(3, nan)).value)


def found_of(cop_last="0.9", nodes=("3", "9")):
    """Iris with 10 and 20 constraints, two sets of each: ClusILC ahead on the fold, behind on all rows."""
    found = {}
    for at, count in enumerate((10, 20)):
        for method in (PRINTED, OURS):
            line = row(rand="0.7", cv="0.8", nodes=nodes[at], most_nodes=nodes[at], most_seconds="0.5")
            found["iris", method, count] = [line, line | {"cv": "0.82"}]
        for method in (COP, COP_PRINTED):
            line = row(rand=("0.6", cop_last)[at], cv="0.7", redraws=str(at * 99))
            found["iris", method, count] = [line, line]
    return found


def test_claims_are_decided_by_the_trials():
    looked = {name: check(found_of(), PRINTED) for name, check in clusilc_claims.CLAIMS.items()}
    assert looked["cv-comparable"] == ("0 of 1 (but iris better)", False)
    assert looked["cv-better"] == ("0 of 0", True)
    assert looked["all-surpasses"] == ("1 of 1, not on none", True)
    assert looked["all-rises"][1]
    assert looked["all-one"] == ("0 of 1 end at 0.99 or more; least iris, 0.90", False)
    assert looked["larger"] == ("1 of 1 sets", True)
    assert looked["smallest-tree"] == ("iris 9 nodes", True)
    assert looked["largest-tree"] == ("iris 9 nodes", False)
    assert looked["longest"] == ("iris 0.5 s", False)
    assert clusilc_claims.CLAIMS["all-one"](found_of("0.995"), PRINTED)[1]
    assert clusilc_claims.CLAIMS["all-surpasses"](found_of("0.71"), PRINTED)[1] is False
    assert clusilc_claims.CLAIMS["larger"](found_of(nodes=("9", "9")), PRINTED)[1] is False


def test_sets_of_constraints_for_an_answer():
    found = {("wine", m, 300): [row(redraws=str(n), failed="1")] for m, n in ((COP_PRINTED, 2189), (COP, 0))}
    assert clusilc_claims.redraws(found, PRINTED) == ("220 sets, worst 300", True)
    assert clusilc_claims.no_answer(found, PRINTED) == ("more than 90% refused: wine", False)
    assert clusilc_claims.no_answer(found, OURS) == ("more than 90% refused: none", False)


# ---------------------------------------------------------------- all of it
def test_everything_is_written_and_printed(folder, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["--data", str(folder), "--out", str(out), "--sets"]
    assert clusilc.main([*arguments, "1"]) == 0
    assert "24 cells to run" in capsys.readouterr().out
    clusilc.main([*arguments, "2"])
    said = capsys.readouterr().out
    assert "24 cells to run" in said
    for words in ("less COP-k-means", "Largest trees", "The paper's claims", "largest on yeast: 773"):
        assert words in said
    with (out / "clusilc" / "curves.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {(line["task"], line["method"]) for line in lines} == {
        (task, method) for task in ("iris", "wine", "yeast") for method in METHODS
    }
    assert all(0 <= float(line[field]) <= 1 for line in lines for field in ("rand", "cv", "refused"))
    assert (out / "clusilc" / "curves.png").stat().st_size < 150_000
    for name, n in (("beside", 3), ("costs", 3), ("claims", 15)):
        with (out / "clusilc" / f"{name}.csv").open(newline="") as file:
            assert len(list(csv.DictReader(file))) == n


def test_some_of_it(folder, tmp_path, capsys):
    arguments = ["--data", str(folder), "--out", str(tmp_path / "out"), "--quick", "--only", OURS]
    clusilc.main([*arguments, "--tasks", "wine"])
    assert "4 cells to run" in capsys.readouterr().out
    assert not (tmp_path / "out" / "clusilc_quick" / "claims.csv").exists()
    with pytest.raises(SystemExit, match="no method 'k-means'"):
        clusilc.main(["--data", str(folder), "--only", "k-means"])


def test_without_data_nothing_is_run(tmp_path):
    with pytest.raises(SystemExit, match="None of iris, hayes-roth"):
        clusilc.main(["--data", str(tmp_path)])
