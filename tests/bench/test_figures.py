"""Printed figures beside ours: verdicts to both sides, reasons, and how they are counted."""

import csv
import math

import pytest
from bench.figures import (
    EXPLANATIONS,
    FIELDS,
    PROGRAM,
    READING,
    Explanation,
    Figure,
    count_verdicts,
    explain,
    find_needless,
    lay_out,
    read_explanations,
    write_differences,
    write_figures,
    write_layouts,
)
from bench.papers import reproduction
from bench.results import RESULTS

pytestmark = pytest.mark.slow


def figure(letter, printed=0.5, **more):
    place = {"table": "Table I", "task": "wine", "method": "A", "setting": "", **more}
    return Figure(**place, printed=printed, letter=letter)


@pytest.mark.parametrize(
    ("letter", "verdict"),
    [
        (0.5, "reproduced"),
        (0.5549, "reproduced"),  # 0.55 to the digits of the paper
        (0.4451, "reproduced"),
        (0.556, "higher"),
        (0.444, "lower"),
        (None, "not run"),
        (math.nan, "not run"),
    ],
)
def test_a_figure_is_reproduced_within_the_tolerance_to_both_sides(letter, verdict):
    assert figure(letter).verdict == verdict


def test_a_default_that_agrees_does_not_reproduce_a_figure():
    assert figure(0.9, default=0.5, authors=0.5).verdict == "higher"


@pytest.mark.parametrize(
    ("versions", "counted"),
    [
        ({"letter": 0.5, "authors": 0.5, "reading": 0.5}, "as printed"),
        ({"letter": 0.9, "authors": 0.5, "reading": 0.5}, "as the program"),
        ({"letter": None, "authors": 0.5}, "as the program"),
        ({"letter": 0.9, "authors": 0.1, "reading": 0.5}, "by a reading"),
        ({"letter": 0.9, "default": 0.5}, ""),
    ],
)
def test_a_figure_counts_once(versions, counted):
    assert figure(**versions).counted == counted


@pytest.mark.parametrize(
    ("letter", "errors", "verdict"),
    [
        (21.9, {}, "reproduced"),
        (22.1, {}, "higher"),
        (17.9, {}, "lower"),
        (24.0, {"letter": 2.0}, "reproduced"),
        (24.1, {"letter": 2.0, "authors": 9.0}, "higher"),
    ],
)
def test_rounds_are_judged_by_a_tenth_or_two_standard_errors(letter, errors, verdict):
    assert figure(letter, printed=20.0, is_count=True, errors=errors).verdict == verdict


def test_a_difference_has_the_first_reason_that_covers_it():
    reasons = [
        Explanation("p", "only iris", "x.csv", tasks=("iris",)),
        Explanation("p", "high", "x.csv", verdict="higher", method="A"),
        Explanation("p", "at 5 %", "x.csv", settings=("5 %",), table="Table I"),
        Explanation("q", "another paper", "x.csv"),
    ]
    assert explain("p", figure(0.9), reasons) == "high"
    assert explain("p", figure(0.9, task="iris"), reasons) == "only iris"
    assert explain("p", figure(0.1, setting="5 %"), reasons) == "at 5 %"
    assert explain("p", figure(0.1), reasons) == "unexplained"
    assert explain("p", figure(0.5), reasons) == ""
    assert explain("p", figure(None), reasons) == ""


def test_figures_are_written_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.figures.read_explanations", lambda: [Explanation("p", "why", "x")])
    figures = [
        figure(0.5),
        figure(0.9, reading=0.2),
        figure(None, runs={"authors": "3 runs"}),
        figure(0.1, printed=0.3, task="iris", authors=0.3),
    ]
    lines = write_figures(tmp_path / "p.csv", "p", figures)
    with (tmp_path / "p.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == lines
    assert count_verdicts(lines) == {
        "reproduced": 1, "higher": 1, "lower": 1, "not run": 1, "unexplained": 0,
        "as printed": 1, "as the program": 1, "none of them": 1,
    }  # fmt: skip
    assert lines[1]["letter"] == "0.900"
    assert lines[2]["letter"] == lines[2]["reason"] == ""
    assert lines[2]["authors_runs"] == "3 runs"
    assert (lines[1]["reading"], lines[1]["reading_verdict"]) == ("0.200", "lower")


def test_the_version_that_gives_a_figure_is_its_reason():
    assert explain("p", figure(0.9, authors=0.5), []) == PROGRAM
    assert explain("p", figure(0.9, reading=0.5), []) == READING
    assert explain("p", figure(0.9, authors=0.5), [Explanation("p", "typed", "x")]) == "typed"
    assert explain("p", figure(0.9, authors=0.9, reading=0.9), []) == "unexplained"


def test_a_table_is_laid_out_as_the_paper_does(tmp_path):
    figures = [
        figure(0.5, default=0.6),
        figure(0.9, method="B", default=0.5, authors=0.45),
        figure(None, task="iris", method="B"),
    ]
    assert lay_out(figures) == (
        ["task", "A", "B"],
        [
            ["wine", "0.50 / 0.50 / 0.60", "0.50 / 0.90 / 0.50 / 0.45 ↑ (program)"],
            ["iris", "", "0.50 / not run"],
        ],
    )
    by_setting = [figure(0.1, setting="5 %"), figure(0.5, setting="10 %")]
    assert lay_out(by_setting)[0] == ["task", "setting", "A"]
    write_layouts(tmp_path, "p", figures)
    assert [path.name for path in tmp_path.iterdir()] == ["p_table_i.csv"]


def test_differences_are_those_that_are_not_reproduced(tmp_path):
    lines = [dict.fromkeys(FIELDS, v) | {"verdict": v} for v in ("reproduced", "higher", "lower", "not run")]
    write_differences(tmp_path / "d.csv", lines)
    with (tmp_path / "d.csv").open(newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["higher", "lower"]


def test_the_front_page_counts_figures_that_were_run():
    line = ("Somebody (2000)", "20", "8", "3", "1", "4", "3", "1", "2", "5", "3", "", "2", "4")
    assert reproduction.shorten_summary(line) == ("Somebody (2000)", "20", "8", "3", "5", "3", "", "4")
    none = ("Nobody", *["0"] * 8, "2", "1", "1", "", "2")
    assert reproduction.shorten_summary(none) == (
        "Nobody", "none that can be compared", "", "", "2", "1", "1", "2"
    )  # fmt: skip


def test_claims_are_counted_by_version():
    claims = [{"letter_holds": "holds", "authors_holds": ""}, {"letter_holds": "does not"}]
    counts = [reproduction.count_held(claims, version) for version in ("letter", "authors", "reading")]
    assert counts == ["1", "", ""]


# ---------------------------------------------------------------- what is committed
def test_every_reason_names_a_table_that_is_there():
    assert EXPLANATIONS.exists()
    for each in read_explanations():
        assert each.paper in reproduction.PAPERS
        assert (RESULTS / each.evidence).exists(), each


@pytest.mark.parametrize("key", reproduction.PAPERS)
def test_committed_figures_are_those_of_the_committed_tables(key, tmp_path):
    """`python -m bench run reproduction` would write the same again."""
    paper = reproduction.PAPERS[key]
    if paper.read_figures is None:
        assert not (RESULTS / "reproduction" / f"{key}.csv").exists()
        return
    write_figures(tmp_path / "now.csv", key, paper.read_figures(RESULTS), paper.derive_reasons(RESULTS))
    committed = RESULTS / "reproduction" / f"{key}.csv"
    assert (tmp_path / "now.csv").read_text() == committed.read_text()


@pytest.mark.parametrize("key", [key for key, paper in reproduction.PAPERS.items() if paper.read_figures])
def test_every_typed_reason_is_needed(key):
    """A reason that is the first one of no figure is out of date."""
    needless = find_needless(key, reproduction.PAPERS[key].read_figures(RESULTS), read_explanations())
    assert not needless, "\n".join(needless)


def test_a_reason_that_covers_nothing_is_named():
    reasons = [
        Explanation("p", "high", "x.csv", verdict="higher"),
        Explanation("p", "low", "x.csv", verdict="lower", tasks=("iris",)),
        Explanation("p", "shadowed", "x.csv", method="A"),
        Explanation("q", "another paper", "x.csv"),
    ]
    low, shadowed = find_needless("p", [figure(0.9), figure(0.1)], reasons[:3]), reasons[2:]
    assert len(low) == 1
    assert "'low' covers no figure that differs (p, lower, iris)" in low[0]
    assert len(find_needless("p", [figure(0.9)], [reasons[0], *shadowed])) == 1


def test_typed_reasons_come_before_derived_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "bench.figures.read_explanations", lambda: [Explanation("p", "typed", "x", method="A")]
    )
    derived = [Explanation("p", "derived", "x")]
    lines = write_figures(tmp_path / "p.csv", "p", [figure(0.9), figure(0.9, method="B")], derived)
    assert [line["reason"] for line in lines] == ["typed", "derived"]
