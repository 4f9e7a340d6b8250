"""The report on made-up results: what is run, what is run again, what the page says."""

import json
import subprocess
from types import SimpleNamespace

import pytest
from bench.experiments import Shown, read_experiments
from bench.report import page

from bench import __main__ as command
from bench import runner

pytestmark = pytest.mark.slow

ALL = read_experiments()


@pytest.fixture
def ran(monkeypatch):
    """Commands that would have run."""
    commands = []

    def run(command, **settings):
        if command[0] == "git":
            return SimpleNamespace(returncode=0, stdout="abc1234\n")
        commands.append(command)
        return SimpleNamespace(returncode=ran_status["status"])

    ran_status = {"status": 0}
    monkeypatch.setattr(subprocess, "run", run)
    return SimpleNamespace(commands=commands, exit_with=lambda status: ran_status.update(status=status))


def report(*arguments):
    return command.main(["report", *map(str, arguments)])


def test_what_is_current_is_not_run_again(ran, tmp_path, monkeypatch):
    arguments = ["--out", tmp_path, "--only", "cobras_quality,speed_kin", "--data", "there"]
    report(*arguments)
    assert [command[2] for command in ran.commands] == ["bench.papers.cobras", "bench.speed.kin"]
    assert ran.commands[0][3] == "quality"
    assert "--data" not in ran.commands[0]
    assert ran.commands[1][-2:] == ["--out", str(tmp_path)]
    report(*arguments)
    assert len(ran.commands) == 2
    unchanged = runner.fingerprint
    monkeypatch.setattr(
        runner, "fingerprint", lambda *names: "other" if "KIN" in names else unchanged(*names)
    )
    report(*arguments)
    assert [command[2] for command in ran.commands[2:]] == ["bench.speed.kin"]


def test_what_failed_is_measured_again_and_what_missed_is_not(ran, tmp_path):
    arguments = ["--out", tmp_path, "--only", "passive", "--data", "there", "--jobs", "2"]
    for status, times in ((2, 1), (1, 2), (0, 2)):
        ran.exit_with(status)
        report(*arguments)
        assert len(ran.commands) == times
    assert ran.commands[0][-4:] == ["--data", "there", "--jobs", "2"]
    held = json.loads((tmp_path / "report" / "state.json").read_text())["passive"]
    assert (held["status"], held["machine"]["commit"]) == (1, "abc1234")


@pytest.mark.slow(nightly=True)
def test_the_quick_report_runs_short_forms(ran, tmp_path):
    report("--quick", "--out", tmp_path)
    quick = [one for one in ALL.values() if one.shows and one.quick is not None and one.in_quick_report]
    assert [command[2] for command in ran.commands] == [experiment.module for experiment in quick]
    assert "A quick run" in (tmp_path / "report" / "index.html").read_text()
    for ran_command, experiment in zip(ran.commands, quick, strict=True):
        given = ran_command[3 + bool(experiment.command) :]
        assert tuple(given[: len(experiment.quick)]) == experiment.quick


def test_old_entries_are_shown_and_measured_again(ran, tmp_path):
    """Their keys were those of the whole library, and one experiment had another name."""
    (tmp_path / "cobras").mkdir()
    (tmp_path / "cobras" / "quality_table.csv").write_text("view,task\nalong,iris\n")
    (tmp_path / "report").mkdir()
    entry = {"code": "0123abcd", "command": ["bench.papers.cobras", "quality", "--out", str(tmp_path)],
             "status": 0, "seconds": 61.0, "ended": "2026-01-01", "machine": {"cores": "2"}}  # fmt: skip
    (tmp_path / "report" / "state.json").write_text(json.dumps({"cobras": entry}))
    report("--page", "--out", tmp_path)
    assert "2026-01-01 after 61 s, code 0123abcd" in (tmp_path / "report" / "index.html").read_text()
    report("--only", "cobras_quality", "--out", tmp_path)
    # the first reads results only, and so belongs to every report
    assert [command[2] for command in ran.commands] == ["bench.papers.reproduction", "bench.papers.cobras"]


def test_the_page_marks_what_is_missed_and_says_why(tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "passive").mkdir()
    (tmp_path / "passive" / "table.csv").write_text(
        "task,COBS,PCKMeans\niris,0.88 (0.89),0.24 (0.32) *\nwine,0.80 (0.81),0.60 (0.56)\n"
    )
    summary = page.write_page(tmp_path, [ALL["passive"]], {}, quick=False)
    html = (tmp_path / "report" / "index.html").read_text()
    assert summary == "1 of 2 rows of figures are reached"
    assert "A quick run" not in html
    assert 'class="number missed">0.24 (0.32) *<' in html
    assert 'class="number missed">0.60' not in html
    assert "Missed: iris: PCKMeans 0.24 (0.32) *. These are five runs." in html


@pytest.mark.parametrize(
    ("row", "compared", "missed"),
    [
        ({"task": "iris", "reached": "no"}, True, True),
        ({"task": "iris", "reached": "yes"}, True, False),
        ({"task": "iris", "reached": ""}, False, False),
        ({"n": "500", "missed": "-"}, True, False),
        ({"n": "500", "missed": "setup_s"}, True, True),
        ({"claim": "x", "as printed, verdict": "does not"}, True, True),
        ({"task": "x", "verdict": "higher"}, True, True),
        ({"task": "x", "letter_verdict": "lower"}, True, True),
        ({"task": "x", "verdict": "reproduced"}, True, False),
        ({"claim": "x", "letter_holds": "does not", "default_holds": "holds"}, True, True),
        ({"task": "wine", "KMeans": "0.86 (0.82)"}, True, False),
        ({"claim": "wine (in brackets)", "ari": "0.4"}, False, False),
    ],
)
def test_what_counts_as_compared_and_as_missed(row, compared, missed):
    assert (page.is_compared(row), page.misses(row)) == (compared, missed)


def test_texts_cannot_break_the_page(tmp_path):
    assert "<b>" not in page.render_table([{"task": "<b>iris", "ari": "0.5"}])
    assert page.explain_miss("nothing", {"task": "iris"}) == "Not explained yet."


@pytest.mark.slow(nightly=True)
def test_tables_are_drawn(tmp_path):
    rows = [{"n": str(n), "seconds": str(n / 100), "peer": "", "threads": "1"} for n in (10, 100)]
    shown = Shown("x.csv", "", "n", ("seconds", "peer"), "threads")
    assert page.draw_lines(rows, shown).startswith('<img alt="" src="data:image/png')
    ranks = [{"group": g, "learner": m, "10": "1.5", "25": "2.5"} for g in "ab" for m in ("KIN", "COBRAS")]
    assert page.draw_ranks(ranks).count("<img") == 2
    assert page.draw_ranks([{"method": "KMeans", "ari_50": "0.7", "rank_50": "3.0"}]).count("<img") == 1


def test_what_a_quick_run_keeps_apart_is_found(tmp_path):
    experiment = ALL["clusilc"]
    shown = experiment.shows[0]
    assert page.read_file(tmp_path, experiment, shown) is None
    file = tmp_path / shown.file.replace("clusilc/", "clusilc_quick/")
    file.parent.mkdir()
    file.write_text("claim,verdict\nx,holds\n")
    assert page.read_file(tmp_path, experiment, shown).n_compared == 1


def test_an_unknown_experiment_stops_the_report(tmp_path):
    with pytest.raises(SystemExit, match="no experiment kin"):
        report("--only", "kin", "--out", tmp_path)


def test_the_page_tells_what_broke_off(ran, tmp_path):
    (tmp_path / "fosc").mkdir()
    (tmp_path / "fosc" / "fosc.csv").write_text("task,reached\nwine,yes\n")
    ran.exit_with(137)
    report("--only", "fosc", "--out", tmp_path)
    html = (tmp_path / "report" / "index.html").read_text()
    assert "broke off with status 137" in html


def test_the_page_holds_all_experiments_whatever_is_run(ran, tmp_path):
    report("--only", "fosc", "--out", tmp_path)
    html = (tmp_path / "report" / "index.html").read_text()
    for experiment in ALL.values():
        assert (f'<h2 id="{experiment.name}">' in html) == bool(experiment.shows)
