"""Figure 5 and the claims of Struyf and Džeroski (2007) on tiny inputs: trials, verdicts, what is told."""

import csv
from argparse import Namespace

import numpy as np
import pytest
from bench.papers import (
    clusilc,
    clusilc_claims,
    clusilc_curves,
    clusilc_data,
    clusilc_further,
    clusilc_runs,
)
from bench.papers.clusilc_runs import (
    AUTHORS,
    COP,
    COP_AUTHORS,
    COP_LETTER,
    LETTER,
    METHODS,
    OURS,
    TREES,
    VERSIONS,
)
from bench.suites.constraint_sets import draw_constraints
from bench.suites.folds import split_folds
from bench.suites.summaries import Mean
from sklearn.metrics import rand_score

import linkwise as lw
from bench import harness
from linkwise.errors import DataError

pytestmark = pytest.mark.slow

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
    for module in (clusilc, clusilc_data, clusilc_claims, clusilc_curves, clusilc_further):
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
    measured = clusilc_runs.measure(("iris", AUTHORS, "20", "3"), folder)
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
    monkeypatch.setattr(clusilc_runs, "refuses", lambda *given: False)
    monkeypatch.setattr(clusilc_runs, "cluster_rows", lambda *given: (next(answers), 0))
    measured = clusilc_runs.measure(("iris", COP_AUTHORS, "20", "0"), folder)
    assert (measured["redraws"], measured["failed"]) == ("102", "1")
    found = {("iris", COP_AUTHORS, 20): [measured]}
    np.testing.assert_allclose(clusilc_curves.refused_share(found, "iris", COP_AUTHORS), 103 / 113)


@pytest.mark.parametrize("count", [20, 30, 60])
def test_the_steps_alone_refuse_the_constraints_that_the_estimator_refuses(folder, count):
    rows, known = clusilc_data.load("iris", folder), np.arange(3, ROWS)
    refused = []
    for draw in range(60):
        seed = (draw, 1, 25, draw)
        c = draw_constraints(rows.y, count, rows=known, random_state=np.random.default_rng(seed))
        labels, _ = clusilc_runs.cluster_rows(COP_AUTHORS, rows, c, draw)
        refused.append(labels is None)
        assert clusilc_runs.refuses(rows, known, count, seed) == refused[-1]
    assert 0 < sum(refused) < 60


def test_a_cell_may_say_how_often_constraints_are_drawn_again(folder, monkeypatch):
    monkeypatch.setattr(clusilc_runs, "warm_up", lambda method: None)
    monkeypatch.setattr(clusilc_runs, "cluster_rows", lambda *given: (None, 0))
    measured = clusilc_runs.measure(("iris", COP_AUTHORS, "20", "0", "3"), folder)
    assert (measured["redraws"], measured["failed"]) == ("33", "11")


def test_trials_that_failed_run_again_with_more_redraws(folder, tmp_path, monkeypatch):
    whole = {"failed": "0", "redraws": "5", "cv": "0.9"}
    trials = [
        {"task": "iris", "method": COP_AUTHORS, "constraints": "20", "set": str(number), **found}
        for number, found in enumerate([whole, {"failed": "2", "redraws": "200", "cv": "0.1"}])
    ]
    monkeypatch.setattr(clusilc, "measure", measure_again)
    options = Namespace(redraws=1000, finished=False, jobs=1, reuse=False)
    path = tmp_path / "redrawn.csv"
    rows = clusilc.redraw_failed(trials, path, folder, options)
    assert rows[0] is trials[0]
    assert [rows[1][field] for field in ("set", "most_redraws", "cv")] == ["1", "1000", "0.8"]
    options.finished = True
    assert [row["cv"] for row in clusilc.redraw_failed(trials, path, folder, options)] == ["0.9", "0.8"]
    options.redraws = 2000
    assert clusilc.redraw_failed(trials, path, folder, options) == trials


def measure_again(cell, folder):
    return {"failed": "0", "redraws": cell[4], "cv": "0.8"}


@pytest.mark.parametrize("method", [COP_LETTER, COP_AUTHORS])
def test_must_linked_rows_stay_together(method):
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    c = lw.Constraints(4, [(0, 3)], [(0, 1)])
    labels, _ = clusilc_runs.cluster_rows(method, clusilc_data.Set(X, np.zeros(4), 2), c, 0)
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


def found_of(cop_last="0.9", nodes=("3", "25")):
    """Iris with 10 and 20 constraints, two sets of each: ClusILC ahead on the fold, behind on all rows."""
    found = {}
    for at, count in enumerate((10, 20)):
        for method in METHODS:
            if method in TREES:
                line = row(rand="0.7", cv="0.8", nodes=nodes[at], most_nodes=nodes[at], most_seconds="0.5")
                found["iris", method, count] = [line, line | {"cv": "0.82"}]
            else:
                line = row(rand=("0.6", cop_last)[at], cv="0.7", redraws=str(at * 99))
                found["iris", method, count] = [line, line]
    return found


def test_a_fit_that_waited_is_not_the_longest():
    found = found_of()
    tree = next(iter(TREES))
    found["iris", tree, 20] = [row(most_seconds=seconds) for seconds in ("0.7", "0.6", "90")]
    found["iris", tree, 10] = found["iris", tree, 10] + found["iris", tree, 10][:1]
    assert clusilc_curves.longest_fit(found, "iris", tree) == 0.7


def check(claim, found, version="letter", **further):
    return clusilc_claims.CLAIMS[claim](found, version, further)


def test_claims_are_decided_by_the_trials():
    found = found_of()
    assert check("cv-comparable", found) == ("0 of 1 (but iris better)", False)
    assert check("cv-better", found) == ("0 of 0", None)
    assert check("all-surpasses", found) == ("1 of 1, not on none", True)
    assert check("all-rises", found)[1]
    flat = found_of(cop_last="0.6")
    assert check("all-rises", flat) == ("0 of 1, not on iris", False)
    ends = [{"task": "iris", "method": COP_LETTER, "constraints": "80", "rand": "0.995"}]
    assert check("all-rises", flat, ends=ends) == ("1 of 1, on iris only past 20", True)
    assert check("larger", found) == ("1 of 1 sets", True)
    assert check("overfits", found)[1] is False
    assert check("smallest-tree", found) == ("iris 25 nodes", True)
    assert check("smallest-tree", found_of(nodes=("3", "9"))) == ("iris 9 nodes", False)  # 23 in the paper
    assert check("largest-tree", found) == ("iris 25 nodes", False)
    assert check("longest", found) == ("iris 0.5 s", False)
    assert check("all-surpasses", found_of("0.71"))[1] is False
    for trees, told in (("0.9700", (" on iris only past 20", True)), ("0.9800", (" not on iris", False))):
        ends = [{"task": "iris", "method": COP_LETTER, "constraints": "80", "rand": "0.995", "trees": trees}]
        text, holds = check("all-surpasses", found_of("0.71"), ends=ends)
        assert (text.rpartition(",")[2], holds) == told
    assert check("larger", found_of(nodes=("9", "9")))[1] is False


def test_a_rand_index_of_1_is_judged_by_longer_curves():
    def end(task, constraints, rand, method=COP_LETTER):
        return {"task": task, "method": method, "constraints": constraints, "rand": rand}

    ends = [end("iris", "500", "0.9931"), end("pendig", "64000", "1.0000"), end("iris", "9", "0.1", COP)]
    assert check("all-one", {}, ends=ends) == ("2 of 2 with up to 64000", True)
    assert check("all-one", {}, ends=[*ends, end("wine", "800", "0.9800")])[1] is False
    assert check("all-one", {}, "authors", ends=ends) == ("", None)
    assert check("all-large", {}, ends=ends) == ("pendig 64000, iris 500", True)
    assert check("all-large", {}, ends=[*ends, end("wine", "99000", "1")])[1] is False
    assert check("all-large", {}, "default", ends=ends)[1] is None


def test_a_version_that_did_not_run_is_not_tested():
    found = {key: rows for key, rows in found_of().items() if key[1] != LETTER}
    lines = clusilc_claims.check_claims(found)
    assert {line[2] for line in lines} == {"not testable"}
    assert "holds" in {line[4] for line in lines}


def test_sets_of_constraints_for_an_answer():
    found = {("wine", m, 300): [row(redraws=str(n), failed="1")] for m, n in ((COP_LETTER, 10990), (COP, 0))}
    assert check("redraws", found) == ("1100 sets, worst 300", True)
    assert check("redraws", found_of()) == ("", None)
    assert check("no-answer", found) == ("fewer than one answer in 60 sets: wine", False)
    assert check("no-answer", found, "default") == ("fewer than one answer in 60 sets: none", False)


def test_sets_for_an_answer_of_the_authors_version_are_those_that_were_counted():
    answered = {
        (task, COP_AUTHORS, count): [row(redraws="0", failed="0")]
        for task in clusilc_claims.NO_ANSWER
        for count in (200, 300)
    }
    draws = [
        {"task": task, "constraints": str(count), "needed": needed}
        for task in clusilc_claims.NO_ANSWER
        for count, needed in ((200, "480.0"), (300, "1000.0"))
    ]
    assert check("redraws", answered, "authors") == ("1, 1 sets, worst 200", False)
    assert check("redraws", answered, "authors", draws=draws) == ("480, 1000 sets, worst 300", True)
    assert check("no-answer", answered, "authors", draws=draws)[1] is True
    few = [{**line, "needed": "60.0"} if line["task"] == "wine" else line for line in draws]
    assert check("no-answer", answered, "authors", draws=few)[1] is False


def test_draws_are_counted_until_an_answer(folder, monkeypatch):
    refused = iter([True, True, False, *[True] * 4])
    monkeypatch.setattr(clusilc_further, "MOST_REDRAWS", 3)
    monkeypatch.setattr(clusilc_further, "refuses", lambda *given: next(refused))
    assert clusilc_further.measure_draws(("iris", "5", "0"), folder) == {"needed": "3"}
    assert clusilc_further.measure_draws(("iris", "5", "1"), folder) == {"needed": ""}
    answers = iter([{"needed": "1"}, {"needed": ""}])

    def run(part, fields, cells, work):
        return [dict(zip(fields, cell, strict=True)) | next(answers) for cell in cells]

    monkeypatch.setattr(clusilc_further, "counts", lambda task: (5,))
    assert clusilc_further.run_draws(["iris"], 2, run)[1] == [("iris", "5", "2", "1", "2.5", "1.5", "1")]


def test_methods_are_compared_on_the_sets_of_constraints_that_both_had():
    found = found_of()
    found["iris", LETTER, 10] = found["iris", LETTER, 10][:1]
    found["iris", LETTER, 20] = found["iris", LETTER, 20][:1]
    assert clusilc_curves.less(found, "iris", *VERSIONS["letter"], "cv").shape == (1, 2)


# ---------------------------------------------------------------- all of it
@pytest.mark.slow(nightly=True)
def test_everything_is_written_and_printed(folder, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["--data", str(folder), "--out", str(out), "--sets"]
    assert clusilc.main([*arguments, "1"]) == 0
    assert "36 cells to run" in capsys.readouterr().out
    clusilc.main([*arguments, "2"])
    said = capsys.readouterr().out
    assert "36 cells to run" in said
    for words in ("less COP-k-means", "largest trees", "The paper's claims", "largest on yeast: 773"):
        assert words in said
    with (out / "clusilc" / "curves.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {(line["task"], line["method"]) for line in lines} == {
        (task, method) for task in ("iris", "wine", "yeast") for method in METHODS
    }
    assert all(0 <= float(line[field]) <= 1 for line in lines for field in ("rand", "cv", "refused"))
    assert (out / "clusilc" / "curves.png").stat().st_size < 150_000
    for name, n in (("beside", 3), ("trees", 3), ("differences", 18), ("claims", 15)):
        with (out / "clusilc" / f"{name}.csv").open(newline="") as file:
            assert len(list(csv.DictReader(file))) == n


@pytest.mark.slow(nightly=True)
def test_some_of_it(folder, tmp_path, capsys):
    arguments = ["--data", str(folder), "--out", str(tmp_path / "out"), "--quick", "--only", OURS]
    clusilc.main([*arguments, "--tasks", "wine"])
    assert "4 cells to run" in capsys.readouterr().out
    assert not (tmp_path / "out" / "clusilc_quick" / "claims.csv").exists()
    with pytest.raises(SystemExit, match="no method 'k-means'"):
        clusilc.main(["--data", str(folder), "--only", "k-means"])


@pytest.mark.slow(nightly=True)
def test_finished_sets_are_reported(folder, tmp_path, capsys):
    """Each method on each data set counts as far as it came."""
    arguments = ["--data", str(folder), "--out", str(tmp_path / "out"), "--tasks", "iris"]
    with pytest.raises(SystemExit, match="no finished set of constraints"):
        clusilc.main([*arguments, "--finished"])
    clusilc.main([*arguments, "--sets", "2"])
    path = tmp_path / "out" / "clusilc" / "trials.csv"
    lines = path.read_text().splitlines(keepends=True)
    gone = [line for line in lines if line.startswith(f'iris,"{LETTER}",20,1')]
    path.write_text("".join(line for line in lines if line not in gone))
    clusilc.main([*arguments, "--finished"])
    with (path.parent / "curves.csv").open(newline="") as file:
        sets = {(line["task"], line["method"], line["sets"]) for line in csv.DictReader(file)}
    assert len(gone) == 1
    assert ("iris", LETTER, "1") in sets
    assert ("iris", OURS, "2") in sets
    capsys.readouterr()


def test_trials_run_set_after_set():
    """So an interrupted run has whole sets of constraints."""
    cells = clusilc.list_cells(["iris", "wine"], [LETTER, OURS], Namespace(sets=3, quick=False))
    in_a_set = 2 * (len(clusilc.counts("iris")) + len(clusilc.counts("wine")))
    assert len(cells) == len(set(cells)) == 3 * in_a_set
    assert [cell[3] for cell in cells] == sorted(cell[3] for cell in cells)
    assert list(dict.fromkeys(cell[:2] for cell in cells)) == [
        (task, method) for task in ("iris", "wine") for method in (LETTER, OURS)
    ]


def test_without_data_nothing_is_run(tmp_path):
    with pytest.raises(SystemExit, match="None of iris, hayes-roth"):
        clusilc.main(["--data", str(tmp_path)])


# ---------------------------------------------------------------- why some results differ
def test_the_number_of_constraints_is_doubled_until_the_classes_are_found(folder, monkeypatch):
    scores = iter([0.6, 0.0, 0.995, 0.8])
    monkeypatch.setattr(clusilc_further, "fit_all", lambda *given: next(scores))
    measured = clusilc_further.measure_end(("iris", COP, "0"), folder)
    assert measured == {"needed": "80", "rand": "0.9950", "trees": "0.8000"}
    monkeypatch.setattr(clusilc_further, "fit_all", lambda *given: 0.5)
    monkeypatch.setattr(clusilc_further, "MANY_ROWS", 10)
    measured = clusilc_further.measure_end(("iris", COP_LETTER, "0"), folder)
    assert measured == {"needed": "320", "rand": "0.5000", "trees": ""}


def test_all_classes_are_found_with_all_constraints(folder):
    rows = clusilc_data.load("iris", folder)
    assert clusilc_further.fit_all(rows, COP, 400, 0) == 1.0
    assert clusilc_further.fit_all(rows, COP_AUTHORS, 400, 0) == 1.0


def test_no_solution_is_a_rand_index_of_0(folder, monkeypatch):
    monkeypatch.setattr(clusilc_further, "cluster_rows", lambda *given: (None, 0))
    assert clusilc_further.fit_all(clusilc_data.load("iris", folder), COP, 5, 0) == 0


@pytest.mark.parametrize("way", clusilc_further.WAYS)
def test_few_constraints_are_not_refused(folder, way):
    assert clusilc_further.measure_refusal(("iris", way, "2", "0"), folder) == {"refused": "0"}


def test_a_set_without_a_solution_is_refused(folder, monkeypatch):
    def refuse(*given, **more):
        raise lw.InfeasibleConstraintsError("no", reason="no")

    monkeypatch.setattr(clusilc_further.COPKMeans, "fit", refuse)
    assert clusilc_further.measure_refusal(("iris", "letter", "2", "0"), folder) == {"refused": "1"}


@pytest.mark.slow(nightly=True)
def test_all_parts_are_written(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(clusilc_further, "LONGER", {"wine": (10, 30)})
    monkeypatch.setattr(clusilc_further, "REFUSALS", ("iris",))
    monkeypatch.setattr(clusilc_further, "REFUSAL_COUNTS", (10,))
    monkeypatch.setattr(clusilc_further, "SCALED", ("iris", "glass"))  # glass is not there
    arguments = ["--data", str(folder), "--out", str(tmp_path), "--sets", "2"]
    assert clusilc_further.main(arguments) == 0
    assert "ends: " in capsys.readouterr().out
    for name, n in (
        ("ends", 9),
        ("longer", 6),
        ("scaled", 6),
        ("refusals", 4),
        ("draws", 6),
        ("sets", 3),
        ("sizes", 6),
    ):
        with (tmp_path / "clusilc" / f"{name}.csv").open(newline="") as file:
            assert len(list(csv.DictReader(file))) == n, name


def test_without_data_no_part_is_run(tmp_path):
    with pytest.raises(SystemExit, match="None of iris"):
        clusilc_further.main(["--data", str(tmp_path), "--out", str(tmp_path / "out")])
