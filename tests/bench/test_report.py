"""The report on made-up results: what is run, what is run again, what the page says."""

import importlib
import json
import subprocess
from types import SimpleNamespace

import pytest
from bench.report import __main__ as report
from bench.report import page, sections


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
    commands_and = SimpleNamespace(commands=commands, say=lambda status: ran_status.update(status=status))
    return commands_and


def test_every_section_names_a_command_and_its_files():
    found = sections.sections()
    assert len({section.name for section in found}) == len(found)
    files = [shown.file for section in found for shown in section.shows]
    assert len(set(files)) == len(files)
    for section in found:
        assert callable(importlib.import_module(section.module).main)
        assert section.shows
        for shown in section.shows:
            assert shown.file.endswith((".csv", ".png"))


def test_what_is_measured_is_not_measured_again(ran, tmp_path, monkeypatch):
    arguments = ["--out", str(tmp_path), "--only", "cobras,speed_kin", "--data", "there"]
    report.main(arguments)
    assert [command[2] for command in ran.commands] == ["bench.papers.cobras", "bench.speed.kin"]
    assert "--data" not in ran.commands[0]
    assert ran.commands[1][-2:] == ["--out", str(tmp_path / "speed_kin.csv")]
    report.main(arguments)
    assert len(ran.commands) == 2
    monkeypatch.setattr(report, "code", lambda: "other")
    report.main(arguments)
    assert len(ran.commands) == 4


def test_what_failed_is_measured_again_and_what_missed_is_not(ran, tmp_path):
    arguments = ["--out", str(tmp_path), "--only", "passive", "--data", "there", "--jobs", "2"]
    for status, times in ((2, 1), (1, 2), (0, 2)):
        ran.say(status)
        report.main(arguments)
        assert len(ran.commands) == times
    assert ran.commands[0][-4:] == ["--data", "there", "--jobs", "2"]
    held = json.loads((tmp_path / "report" / "state.json").read_text())["passive"]
    assert (held["status"], held["machine"]["commit"]) == (1, "abc1234")


def test_the_quick_part_has_its_own_options(ran, tmp_path):
    report.main(["--quick", "--out", str(tmp_path)])
    quick = [section for section in sections.sections() if section.quick is not None]
    assert [command[2] for command in ran.commands] == [section.module for section in quick]
    assert "A quick run" in (tmp_path / "report" / "index.html").read_text()
    for command, section in zip(ran.commands, quick, strict=True):
        assert tuple(command[3 : 3 + len(section.quick)]) == section.quick


def test_the_page_marks_what_is_missed_and_says_why(tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "cobs").mkdir()
    (tmp_path / "cobs" / "table3_table.csv").write_text(
        "task,spectral_COBS,dbscan_DBCV\nwine,0.88 (0.89),0.24 (0.32) *\niris,0.80 (0.81),0.60 (0.56)\n"
    )
    (section,) = [s for s in sections.sections() if s.name == "cobs_table3"]
    told = page.write_page(tmp_path, [section], {}, quick=False)
    html = (tmp_path / "report" / "index.html").read_text()
    assert told == "1 of 2 rows of figures are reached"
    assert "A quick run" not in html
    assert 'class="number missed">0.24 (0.32) *<' in html
    assert 'class="number missed">0.60' not in html
    assert "Missed: wine: dbscan_DBCV 0.24 (0.32) *. The paper leaves open" in html


@pytest.mark.parametrize(
    ("row", "compared", "missed"),
    [
        ({"task": "iris", "reached": "no"}, True, True),
        ({"task": "iris", "reached": "yes"}, True, False),
        ({"task": "iris", "reached": ""}, False, False),
        ({"n": "500", "missed": "-"}, True, False),
        ({"n": "500", "missed": "setup_s"}, True, True),
        ({"claim": "x", "as printed, verdict": "does not"}, True, True),
        ({"task": "wine", "KMeans": "0.86 (0.82)"}, True, False),
        ({"claim": "wine (in brackets)", "ari": "0.4"}, False, False),
    ],
)
def test_what_counts_as_compared_and_as_missed(row, compared, missed):
    assert (page.is_compared(row), page.misses(row)) == (compared, missed)


def test_texts_cannot_break_the_page(tmp_path):
    assert "<b>" not in page.table_of([{"task": "<b>iris", "ari": "0.5"}])
    assert page.explained("no section", {"task": "iris"}) == "Not explained yet."


def test_tables_are_drawn(tmp_path):
    rows = [{"n": str(n), "seconds": str(n / 100), "peer": "", "threads": "1"} for n in (10, 100)]
    shown = sections.Shown("x.csv", "", "n", ("seconds", "peer"), "threads")
    assert page.lines_drawn(rows, shown).startswith('<img alt="" src="data:image/png')
    ranks = [{"group": g, "learner": m, "10": "1.5", "25": "2.5"} for g in "ab" for m in ("KIN", "COBRAS")]
    assert page.ranks_drawn(ranks).count("<img") == 2
    assert page.ranks_drawn([{"method": "KMeans", "ari_50": "0.7", "rank_50": "3.0"}]).count("<img") == 1


def test_what_a_quick_run_keeps_apart_is_found(tmp_path):
    (section,) = [s for s in sections.sections() if s.name == "clusilc"]
    shown = section.shows[0]
    assert page.found(tmp_path, section, shown) is None
    file = tmp_path / shown.file.replace("clusilc/", "clusilc_quick/")
    file.parent.mkdir()
    file.write_text("claim,verdict\nx,holds\n")
    assert page.found(tmp_path, section, shown).n_compared == 1


def test_no_such_section(tmp_path):
    with pytest.raises(SystemExit, match="no section kin; there are active, cobras"):
        report.main(["--only", "kin", "--out", str(tmp_path)])


def test_what_broke_off_is_told(ran, tmp_path):
    (tmp_path / "fosc").mkdir()
    (tmp_path / "fosc" / "fosc.csv").write_text("task,reached\nwine,yes\n")
    ran.say(137)
    report.main(["--only", "fosc", "--out", str(tmp_path)])
    html = (tmp_path / "report" / "index.html").read_text()
    assert "broke off with status 137" in html


def test_the_page_holds_all_sections_whatever_is_measured(ran, tmp_path):
    report.main(["--only", "fosc", "--out", str(tmp_path)])
    html = (tmp_path / "report" / "index.html").read_text()
    assert all(f'<h2 id="{section.name}">' in html for section in sections.sections())
