"""The measurement of learners whose answers may be wrong, on tiny inputs."""

import csv
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from bench.papers import noise as bench
from bench.papers import noise_report as report
from bench.papers import noise_runs as runs
from bench.papers import noise_team as team
from bench.suites.tasks import LabelledTask, scale_rows
from sklearn.metrics import adjusted_rand_score

from bench import data
from linkwise import COBRAS, KIN, TruthOracle

pytestmark = pytest.mark.slow

AT = (10, 30)


@pytest.fixture
def small(monkeypatch):
    """Three groups that are easy to tell apart, under the names of two sets, and few answers."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 6)
    X = rng.normal([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 0.5, (6, 3, 2)).swapaxes(0, 1).reshape(-1, 2)
    task = LabelledTask("easy", scale_rows(X), y, "made up")
    monkeypatch.setattr(data, "load", lambda name, source: task)
    monkeypatch.setattr(data, "names", lambda source: ["iris", "wine", "ecoli"])
    monkeypatch.setattr(bench, "GROUPS", {"development": ("iris", "wine"), "others": ("glass",)})
    monkeypatch.setattr(bench, "AT", AT)
    monkeypatch.setattr(bench, "ACC_AT", (20, 60))
    monkeypatch.setattr(report, "AIMED", 30)
    read_target = bench.read_target

    def renumber(name):
        """The targets after 100 and after 5000 answers, as if they were those after 30 and 60."""
        names = {"100": "30", "5000": "60"}
        return [{names.get(key, key): value for key, value in row.items()} for row in read_target(name)]

    monkeypatch.setattr(bench, "read_target", renumber)
    runs.prepare_learner.cache_clear()
    yield task
    runs.prepare_learner.cache_clear()


def read(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow(nightly=True)
def test_all_learners_are_measured(small, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench, "GROUPS", {"development": ("iris",), "others": ("glass",)})
    choices = ["--noise", "0", "0.1", "--kinds", "independent", "streaks", "--groups", "development"]
    bench.main(["--runs", "1", *choices, "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    folder = tmp_path / "noise"
    lines = read(folder / "table.csv")
    assert list(lines[0]) == ["task", "learner", "kind", "noise", "0", "10", "30", "lowest"]
    clean = {line["learner"]: line["30"] for line in lines if line["noise"] == "0"}
    assert clean == dict.fromkeys(set(runs.LEARNERS) - {"KIN-told"}, "1.000")
    assert [line["30"] for line in lines if line["learner"] == "nCOBRAS"] == ["0.86", "0.85"]  # at AIMED
    summary = read(folder / "summary.csv")
    assert {line["group"] for line in summary} == {"development"}
    assert [(line["learner"], line["kind"], line["noise"]) for line in summary if line["aim"]] == [
        ("KIN", "independent", "0"),
        ("KIN", "independent", "0.1"),
    ]
    assert {line["30"] for line in summary if line["noise"] == "0"} == {"0.000"}
    believing = {line["learner"] for line in read(folder / "answers.csv")}
    assert believing == {"KIN", "KIN-told", "COBRAS", "MinMax"}
    assert {line["learner"] for line in read(folder / "calibration.csv")} <= believing
    assert (folder / "development.png").exists()
    assert not (folder / "others.png").exists()
    for title in ("Mean ARI", "Mean loss", "Estimated error rates", "nCOBRAS"):
        assert title in printed


def test_the_whole_experiment_has_all_ways():
    cells = bench.list_cells(("iris", "wine"), tuple(runs.LEARNERS), runs.KINDS, bench.NOISE, 2)
    assert len(cells) == len(set(cells))
    wanted = {
        (learner, kind, noise)
        for learner in runs.LEARNERS
        for kind in runs.KINDS
        for noise in (bench.NOISE if kind == "independent" else ("0.1",))
        if (learner, noise) != ("KIN-told", "0")
    }
    for run in "01":
        for task in ("iris", "wine"):
            assert {cell[1:4] for cell in cells if (cell[0], cell[4]) == (task, run)} == wanted
    assert [cell[4] for cell in cells] == sorted(cell[4] for cell in cells)  # run 0 of all sets first


def test_a_choice_is_measured_with_what_it_is_compared_with(small, tmp_path, capsys):
    asked = ["--runs", "1", "--out", str(tmp_path), "--tasks", "iris"]
    bench.main([*asked, "--learners", "COBRAS", "--noise", "0.1", "--kinds", "streaks"])
    lines = read(tmp_path / "noise" / "table.csv")
    assert [(line["learner"], line["kind"], line["noise"]) for line in lines[:-2]] == [
        ("COBRAS", "streaks", "0.1"),
        ("COBRAS-plain", "independent", "0"),
    ]
    assert read(tmp_path / "noise" / "summary.csv") == []  # no whole group
    capsys.readouterr()
    bench.main([*asked, "--learners", "COBRAS", "--noise", "0.1", "--kinds", "streaks", "rows"])
    assert "runs.csv: 1 cells to run" in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
def test_a_cell_measures_what_fit_does(small):
    row = runs.measure(("iris", "KIN", "independent", "0.2", "3"), None, AT)
    oracle = TruthOracle(small.y, noise=0.2, random_state=3)
    model = KIN(random_state=3).fit(small.X, oracle=oracle, budget=30, error_rate=None)
    curve = [adjusted_rand_score(small.y, labels) for labels in model.history_]
    assert (row["10"], row["30"]) == (f"{curve[9]:.4f}", f"{curve[-1]:.4f}")
    assert row["lowest"] == f"{min(curve) - float(row['0']):.4f}"
    assert int(row["answers 30"]) == model.n_questions_
    is_hit = [oracle.is_wrong(*suspect.fact.pair, suspect.fact.answer) for suspect in model.suspects_]
    assert (row["suspects 30"], row["hits 30"]) == (str(len(is_hit)), str(sum(is_hit)))
    assert runs.read_bins(row["chances 30"])[:, 0].sum() == len(is_hit)
    assert float(row["longest_ms"]) >= float(row["median_ms"])


def test_a_plain_learner_believes_everything(small):
    row = runs.measure(("iris", "COBRAS-plain", "independent", "0.2", "1"), None, AT)
    oracle = TruthOracle(small.y, noise=0.2, random_state=1)
    model = COBRAS(random_state=1).fit(small.X, oracle=oracle, budget=30)
    wanted = adjusted_rand_score(small.y, model.history_[-1])
    assert row["30"] == f"{wanted:.4f}"
    assert {row[f"{name} 30"] for name in ("rate", "suspects", "hits", "chances")} == {""}


def test_a_majority_takes_three_answers_to_a_question(small):
    row = runs.measure(("iris", "KIN-majority", "independent", "0.1", "0"), None, AT)
    assert row["answers 10"] == "3"
    assert int(row["answers 30"]) <= 10


def test_the_votes_of_a_majority_err_independently(small):
    one, three = (runs.make_oracle(small, "independent", 0.3, 0, n_votes) for n_votes in (1, 3))
    pairs = list(combinations(range(len(small.y)), 2))
    wrong = [np.mean([o.is_wrong(*pair, o(*pair)) for pair in pairs]) for o in (one, three)]
    assert wrong[0] == pytest.approx(0.3, abs=0.07)
    assert wrong[1] == pytest.approx(3 * 0.3**2 * 0.7 + 0.3**3, abs=0.07)


@pytest.mark.parametrize("kind", runs.KINDS)
def test_every_kind_of_errors_is_drawn(small, kind):
    oracle = runs.make_oracle(small, kind, 0.1, 0)
    pairs = combinations(range(len(small.y)), 2)
    counts = Counter(oracle.is_wrong(*pair, oracle(*pair)) for pair in pairs)
    assert 0 < counts[True] < counts[False]


def test_bins_hold_all_suspects():
    chances, is_hit = np.array([0.5, 0.69, 0.7, 0.995, 1.0, 0.2]), np.array([1, 0, 1, 1, 1, 0], dtype=bool)
    bins = runs.read_bins(runs.format_bins(chances, is_hit))
    assert bins[:, 0].tolist() == [1, 2, 1, 0, 0, 0, 2]
    np.testing.assert_allclose(bins[1], [2, 1.19, 1])
    assert runs.read_bins(runs.format_bins(np.zeros(0), np.zeros(0, dtype=bool))).sum() == 0


def row(task, learner, noise, run, values, **more):
    """A measured row, whose numbers are the same at all numbers of answers unless they are given."""
    numbers = {"answers": "20", "wrong": "2", "rate": "0.15", "low": "0.09", "high": "0.21", "suspects": "2",
               "hits": "1", "chances": "0:0:0 2:1.2:1 " + " ".join(["0:0:0"] * 5)}  # fmt: skip
    return {
        "task": task, "learner": learner, "kind": "independent", "noise": noise, "run": str(run),
        **dict(zip(("0", "50", "100"), map(str, values), strict=True)),
        **{f"{name} {n}": value for name, value in numbers.items() for n in (50, 100)},
        "lowest": "-0.02", "median_ms": "3.0", "longest_ms": "9.0", **more,
    }  # fmt: skip


def test_losses_are_paired_with_the_plain_learner_without_errors():
    rows = [
        row("a", "KIN-plain", "0", 0, (0.5, 0.8, 0.9)),
        row("a", "KIN-plain", "0", 1, (0.5, 0.9, 1.0)),
        row("b", "KIN-plain", "0", 0, (0.5, 0.6, 0.7)),
        row("a", "KIN", "0.1", 1, (0.5, 0.8, 0.9)),
        row("a", "KIN", "0.1", 0, (0.5, 0.6, 0.7), lowest="-0.2", longest_ms="11.5"),
        row("b", "KIN", "0.1", 0, (0.5, 0.6, 0.8)),
    ]
    found = report.gather_runs(rows)
    way = "KIN", "independent", "0.1"
    np.testing.assert_allclose(report.find_losses(found, ("a", "b"), way, (50, 100)), [0.075, 0.025])
    targets = [{"group": "all", "learner": "KIN", "noise": "0.1", "of": "aim", "100": "0.03"}]
    head, lines = report.build_summary(found, {"all": ("a", "b"), "more": ("c",)}, (50, 100), targets)
    line = dict(zip(head, lines[0], strict=True))
    assert (line["50"], line["100"]) == ("0.075", "0.025")
    assert (line["lowest"], line["mean_lowest"]) == ("-0.200", "-0.080")
    assert (line["median_ms"], line["longest_ms"]) == ("3.0", "11.5")
    assert line["runs"] == "1"  # of the set with the fewest
    assert (line["aim"], line["reached"], line["held"]) == ("0.03", "yes", "no")  # one run falls too deep
    assert len(lines) == 2
    assert report.find_losses(report.gather_runs(rows[3:]), ("a",), way, (50, 100)) is None


@pytest.mark.parametrize(
    ("loss", "lowest", "met"),
    [
        (0.0304, -0.05, ("yes", "yes")),
        (0.031, 0.0, ("no", "yes")),
        (0.0, -0.051, ("yes", "no")),
        (-0.1, 0.1, ("yes", "yes")),
    ],
)
def test_a_missed_aim_is_marked(loss, lowest, met):
    assert report.check_aims("0.03", (50, 100), np.array([0.5, loss]), lowest) == met
    assert report.check_aims("", (50, 100), np.array([0.5, loss]), lowest) == ("", "")
    assert report.check_aims("0.03", (50, 100), None, lowest) == ("", "")


def test_rates_are_compared_with_the_answers_that_are_wrong():
    rows = [
        row("a", "KIN", "0.1", 0, (0, 0, 0)),  # 0.15, from 0.09 to 0.21
        row("a", "KIN", "0.1", 1, (0, 0, 0), **{"wrong 50": "5"}),
    ]
    assert report.describe_answers(rows, 100) == (
        "0.100",
        "0.150",
        "0.090",
        "0.210",
        "1.00",
        "2.0",
        "0.50",
        "0.50",
    )
    assert report.describe_answers(rows, 50) == (
        "0.175",
        "0.150",
        "0.090",
        "0.210",
        "0.50",
        "2.0",
        "0.50",
        "0.29",
    )
    head, lines = report.build_calibration(report.gather_runs(rows), {"all": ("a",)}, (50, 100))
    assert [dict(zip(head, line, strict=True)) for line in lines] == [
        {"group": "all", "learner": "KIN", "kind": "independent", "noise": "0.1", "answers": "100",
         "chance": "0.5-0.7", "suspects": "4", "mean_chance": "0.600", "wrong": "0.500"}
    ]  # fmt: skip


@pytest.mark.slow(nightly=True)
def test_long_runs_report_falls_and_waits(small, tmp_path, capsys):
    bench.main(["--acc", "--runs", "1", "--out", str(tmp_path)])
    assert "ACC" in capsys.readouterr().out
    lines = read(tmp_path / "noise" / "acc.csv")
    assert [line["learner"] for line in lines] == ["KIN", "KIN-plain", "ACC"]
    head = ["task", "learner", "noise", "0", "20", "60", "questions", "fall", "ms 20", "ms 60", "longest_ms"]
    assert list(lines[0]) == [*head, "aim", "met"]
    assert 0 <= float(lines[0]["fall"]) <= 1
    assert [line["aim"] for line in lines] == ["0.73", "", ""]
    assert lines[0]["met"] == (
        "yes" if float(lines[0]["60"]) >= 0.725 and lines[0]["fall"] <= "0.020" else "no"
    )
    assert (lines[2]["noise"], lines[2]["60"]) == ("0.2", "0.73")
    assert lines[2]["questions"] == ""


@pytest.mark.slow(nightly=True)
def test_a_team_has_a_rate_for_each_member(small, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench, "TEAM_AT", (10, 60))
    assert bench.main(["--team", "--runs", "2", "--tasks", "iris", "--out", str(tmp_path)]) == 0
    lines = {(line["team"], line["learner"]): line for line in read(tmp_path / "noise" / "team.csv")}
    assert tuple(lines) == team.WAYS
    printed = capsys.readouterr().out
    assert "Mean ARI with a team" in printed
    assert "the loss to one person without errors" in printed
    for (who, name), line in lines.items():
        rates = [line[source].split(" of ")[0] for source in team.TEAMS["with adversary"] if line[source]]
        assert len(rates) == {"exact": 0, "team": 4, "with adversary": 5}[who]
        assert who == "exact" or (len(set(rates)) == 1) == (name == "KIN")
        assert all(float(line[n]) <= 1 for n in ("0", "10", "60"))
        if rates:
            close, n_rates = map(int, line["close"].split("/"))
            assert 0 <= close <= n_rates <= 10
    again = (tmp_path / "noise" / "team.csv").read_bytes()
    assert bench.main(["--team", "--runs", "2", "--tasks", "iris", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "noise" / "team.csv").read_bytes() == again  # from the cells that are finished
    assert "0 cells to run" in capsys.readouterr().out


def team_row(task, way, run, ari, **members):
    """What a run of a team has left; each member as (estimated, wrong, inside, answers)."""
    row = {
        "task": task,
        "team": way[0],
        "learner": way[1],
        "run": run,
        "0": "0.1",
        "9": ari,
        "questions": "100",
    }
    for source in team.TEAMS["with adversary"]:
        of = zip(("rate", "wrong", "inside", "answers"), members.get(source, ("",) * 4), strict=True)
        row |= {f"{name} {source}": value for name, value in of}
    return row


def test_a_team_is_compared_with_one_exact_person():
    """The runs that all ways have, and the rates of members with enough answers."""
    aris = dict(zip(team.WAYS, ("0.9", "0.8", "0.7", "0.6", "0.5"), strict=True))
    anna, ben = ("0.06", "0.05", "1", "100"), ("0.20", "0.10", "0", "99")
    rows = [team_row("iris", way, "0", ari, anna=anna, ben=ben) for way, ari in aris.items()]
    rows.append(team_row("iris", team.WAYS[0], "1", "0.1"))  # the others lack this run
    head, lines = team.build_team_summary(rows, {"development": ["iris"], "others": ["wine"]}, [9])
    found = [dict(zip(head, line, strict=True)) for line in lines]
    assert [(line["team"], line["learner"]) for line in found] == list(team.WAYS)
    assert {(line["group"], line["runs"]) for line in found} == {("development", "1")}
    assert [line["9"] for line in found] == ["0.900", "0.800", "0.700", "0.600", "0.500"]
    assert [line["loss 9"] for line in found] == ["0.000", "0.100", "0.200", "0.300", "0.400"]
    assert [(line["error"], line["close"], line["inside"]) for line in found] == [("0.010", "1/1", "1/1")] * 5
    head, lines = team.build_team(rows, [9])
    line = dict(zip(head, lines[1], strict=True))
    assert (line["anna"], line["ben"], line["carla"]) == ("0.060 of 0.050", "0.200 of 0.100", "")
    assert (line["error"], line["close"], line["inside"]) == ("0.055", "1/2", "1/2")


def test_a_team_answers_the_sets_that_are_there(small):
    assert team.choose_tasks(None, bench.GROUPS, data.Source()) == ["iris", "wine"]
    assert team.choose_tasks(["wine"], bench.GROUPS, data.Source()) == ["wine"]
    cells = team.list_team_cells(["iris", "ecoli"], 2)
    assert len(set(cells)) == len(cells) == 20
    assert [cell[3] for cell in cells] == ["0"] * 10 + ["1"] * 10
    assert all("KIN" in bench.team_entries(cell) for cell in cells)
    entries = {cell[1]: bench.team_entries(cell)[2] for cell in cells}
    assert entries["exact"] != entries["team"] == entries["with adversary"]


def test_targets_are_about_what_is_measured():
    for file in ("noise.csv", "noise_acc.csv"):
        for target in bench.read_target(file):
            assert target["of"] in ("aim", "theirs")
            assert target["group"] in (*bench.GROUPS, *data.TASKS)
            assert target["learner"] in runs.LEARNERS or target["of"] == "theirs"
            assert target["source"]


def test_sets_of_scikit_learn_complete_a_folder(tmp_path):
    where = data.Source(tmp_path)
    assert "digits" in runs.find_tasks(where)
    assert len(runs.load("digits", where).y) > 1700
    assert "glass" not in runs.find_tasks(where)


def test_groups_are_known_sets_and_share_none():
    tasks = [task for group in bench.GROUPS.values() for task in group]
    assert len(tasks) == len(set(tasks)) == 19
    assert set(tasks) <= set(data.TASKS)
