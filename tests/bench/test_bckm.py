"""Tables of Okabe and Yamada (2018) on tiny inputs: how sets are prepared, what is scored, what is told."""

import csv

import numpy as np
import pytest
from bench.papers import bckm, bckm_data, bckm_figures
from bench.speed import bckm as speed
from sklearn.metrics import normalized_mutual_info_score

import linkwise as lw
from bench import harness


@pytest.fixture
def folder(tmp_path):
    """Iris and glass (with an id) as tables, tr23 as texts: a few made-up rows each."""
    rng = np.random.default_rng(0)
    for name, k in (("iris", 3), ("glass", 6)):
        y = np.arange(36) % k
        X = rng.normal(size=(36, 2), scale=0.3) + y[:, None]
        lines = [f"{i},{a:.3f},{b:.3f},{c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
        header = "id,a,b,class" if name == "glass" else "no,a,b,class"
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    counts = rng.integers(0, 3, (20, 30))
    indptr = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))])
    rows, cells = np.nonzero(counts)
    np.savez(
        tmp_path / "tr23.npz",
        data=counts[rows, cells].astype(np.int32),
        indices=cells.astype(np.int32),
        indptr=indptr.astype(np.int32),
        shape=np.array(counts.shape),
        y=np.arange(20) % 6,
    )
    return tmp_path


def test_every_figure_of_the_paper_has_its_place():
    rows = harness.read_target("bckm_table2.csv")
    keys = [(row["task"], row["method"], row["percent"]) for row in rows]
    assert len(set(keys)) == len(keys)
    ours = [key for key in keys if key[1] in ("BCKM", "CKM", "RCKM", "PCP")]
    assert len(ours) == 12 * 3 * 4
    assert {key[1] for key in keys} - {key[1] for key in ours} == {
        "BSTC",
        "KBST",
        "SPCL",
        "ITML",
    }  # not on all sets
    assert {row["task"] for row in rows} == set(bckm_data.CLUSTERS)
    assert sum(row["misprint"] == "yes" for row in rows) == 9
    for file in ("bckm_table3.csv", "bckm_table4.csv"):
        assert len(harness.read_target(file)) == 36


def test_times_are_multiples_of_those_of_bckm():
    def runs(*seconds):
        return [{"seconds": text} for text in seconds]

    found = {
        ("iris", "raw", "BCKM", "1"): runs("1.0", "3.0"),
        ("iris", "raw", "ITML", "1"): runs("8.0", "8.0"),
        ("iris", "raw", "KBST", "1"): runs("1.0"),
        ("glass", "raw", "ITML", "1"): runs("1.0"),
    }
    paper = {(r["method"], r["percent"]): float(r["seconds"])
             for r in harness.read_target("bckm_table3_methods.csv") if r["task"] == "iris"}  # fmt: skip
    theirs = paper["ITML", "1"] / paper["BCKM", "1"]
    told = {line[1]: line[2] for line in bckm.build_table3(found)}
    assert told["ITML"] == f"4 [{theirs:.2g}]"
    assert told["KBST"].startswith("0.5")
    assert len(bckm.build_table3(found)) == 2


def test_sets_are_prepared(folder):
    assert bckm_data.names(folder) == ["iris", "glass", "tr23"]
    assert bckm_data.load("glass", "raw", folder).X.shape == (36, 2)  # the id is no feature
    scaled = bckm_data.load("glass", "standardized", folder).X
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    texts = bckm_data.load("tr23", "raw", folder)
    np.testing.assert_allclose(np.sqrt((texts.X.multiply(texts.X)).sum(axis=1)), 1)
    assert len(set(texts.y)) == 6


def test_a_cell_is_the_nmi_of_each_start(folder):
    row = bckm.measure(("iris", "raw", "BCKM", "5", "3"), 2, folder)
    task = bckm_data.load("iris", "raw", folder)
    c = lw.Constraints.sample(task.y, 31, 3)
    for seed, (nmi, rounds) in enumerate(zip(row["nmi"].split(), row["rounds"].split(), strict=True)):
        model = lw.BCKM(3, random_state=seed).fit(task.X, constraints=c)
        score = normalized_mutual_info_score(task.y, model.labels_, average_method="geometric")
        assert (nmi, rounds) == (f"{score:.4f}", str(model.n_rounds_))


@pytest.mark.parametrize("method", bckm.RIVALS)
def test_rivals_are_run_where_they_are_named(folder, method):
    for task in ("iris", "tr23"):
        row = bckm.measure((task, "raw", method, "5", "0"), 1, folder)
        assert 0 <= float(row["nmi"]) <= 1


@pytest.mark.parametrize(
    ("task", "method", "nmi", "told"),
    [
        ("iris", "BCKM", "0.76", "yes"),  # paper: 0.81
        ("iris", "BCKM", "0.75", "no"),
        ("iris", "CKM, authors", "0.74", "yes"),  # 0.78
        ("tr11", "CKM", "0.6", "misprint"),
        ("sonar", "PCP, linear", "0.0", "yes"),  # 0.03
        (bckm.SEVEN, "RCKM", "0.62", "yes"),
    ],
)
def test_what_counts_as_reached(task, method, nmi, told):
    line = bckm.build_line((task, "raw", method, "1"), [{"nmi": nmi, "rounds": "4"}])
    assert (line[8], line[9]) == (told, "4.0")


def test_everything_is_written_and_printed(folder, tmp_path, capsys):
    out = tmp_path / "out"
    code = bckm.main(
        ["--data", str(folder), "--sets", "1", "--seeds", "1", "--only", "BCKM;CKM", "--out", str(out)]
    )
    said = capsys.readouterr().out
    with (out / "bckm" / "table2_raw.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["task"] for line in lines} == {"iris", "glass", "tr23"}
    assert {line["method"] for line in lines} == {"BCKM", "CKM"}
    reached = sum(line["reached"] == "yes" for line in lines if line["method"] == "BCKM")
    assert f"BCKM: {reached} of 9 figures are at most 0.05 lower than printed" in said
    compared = [line for line in lines if line["method"] == "BCKM" and line["reached"] in ("yes", "no")]
    higher = sum(round(float(line["nmi"]), 2) > round(float(line["paper"]) + 0.05, 2) for line in compared)
    assert f"; {higher} are more than 0.05 higher than printed" in said
    assert code == int(reached < 30 * 9 / 36)
    assert "Rounds of BCKM" in said


def test_without_data_nothing_is_run(tmp_path):
    with pytest.raises(SystemExit, match="None of iris, ecoli"):
        bckm.main(["--data", str(tmp_path)])


def test_seconds_on_few_rows(folder, tmp_path, capsys):
    speed.main(
        ["--data", str(folder), "--rows", "3000", "--rounds", "3", "--repeats", "1", "--out", str(tmp_path)]
    )
    with (tmp_path / "speed_bckm" / "sets.csv").open(newline="") as file:
        assert [line["task"] for line in csv.DictReader(file)] == ["iris", "glass", "tr23"]
    with (tmp_path / "speed_bckm" / "large.csv").open(newline="") as file:
        (line,) = csv.DictReader(file)
    assert (line["rows"], line["rounds"]) == ("3000", "3")
    assert float(line["seconds"]) > 0


def test_figures_are_drawn_from_few_rows(folder, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(bckm_figures, "CURVES", ("glass",))
    out = tmp_path / "out"
    options = ["--data", str(folder), "--out", str(out), "--sets", "2", "--tasks", "iris,glass"]
    assert bckm_figures.main(options) == 0
    with (out / "bckm_figures" / "figure2.csv").open() as file:
        curves = list(csv.DictReader(file))
    assert {row["task"] for row in curves} == {"glass"}
    assert {row["percent"] for row in curves} <= set(bckm_figures.PERCENT)
    for name in ("figure2.png", "figure3.csv", "figure3.png"):
        assert (out / "bckm_figures" / name).stat().st_size > 0
    assert not (out / "bckm_figures" / "figure4.png").exists()


def test_a_run_that_ends_early_keeps_its_last_value():
    place = {"task": "a", "version": "letter", "percent": "1", "satisfied": ""}
    rows = [place | {"nmi": text} for text in ("0.2 0.4", "0.6")]
    assert bckm_figures.build_curves(rows) == [
        ("a", "letter", "1", "1", "0.4000"),
        ("a", "letter", "1", "2", "0.5000"),
    ]
    assert bckm_figures.build_shares(rows) == []


def test_components_of_the_kernel_are_its_eigenvectors_about_their_mean():
    rng = np.random.default_rng(0)
    hypotheses, alphas = rng.integers(0, 3, (20, 4)), rng.random(4)
    K = sum(alpha * (h[:, None] == h) for h, alpha in zip(hypotheses.T, alphas, strict=True))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    found = bckm_figures.kernel_components(hypotheses, alphas)
    value = np.linalg.eigvalsh(centred)[::-1][:2]
    np.testing.assert_allclose(found.T @ found, np.diag(value), atol=1e-9)


def test_clusters_are_numbered_as_their_classes():
    y = np.array([0, 0, 1, 1, 2])
    np.testing.assert_array_equal(bckm_figures.match_classes(np.array([2, 2, 0, 0, 1]), y), y)
    assert bckm_figures.match_classes(np.array([0, 1, 2, 3, 4]), y).tolist() != y.tolist()
