"""The tables of a suite hold what was measured."""

import re
from html import escape
from xml.etree import ElementTree

import numpy as np
import pytest
from bench.suites.comparison import critical_distance
from bench.suites.protocols import Protocol, Suite
from bench.suites.results import (
    COLOURS,
    LABELS,
    Results,
    draw_curves,
    format_latex,
    gather_results,
    tabulate_summary,
    tabulate_tests,
    tabulate_wins,
    write_results,
)
from bench.suites.scores import SCORES
from bench.suites.tasks import TaskSpec

TASKS = ("iris", "wine")
SUITE = Suite("mine", "Mine.", Protocol("constraints", (5, 20)), {name: TaskSpec(name) for name in TASKS})


def made_up(n_runs=8):
    """`good` wins on both tasks after 20, `alike` equals `bad` there, and after 5 `bad` is the best."""
    noise = (np.arange(n_runs) - (n_runs - 1) / 2) / 1000
    curves = {"bad": (0.9, 0.2), "good": (0.8, 0.75), "alike": (0.1, 0.2)}
    scores = {
        (task, method): np.column_stack([first + noise, last + (method == "good") * noise])
        for task in TASKS
        for method, (first, last) in curves.items()
    }
    return Results(SUITE, TASKS, tuple(curves), ("5", "20"), scores, dict.fromkeys(scores, 1.0))


def test_the_summary_has_means_ranks_and_wins_and_the_best_first():
    header, lines = tabulate_summary(made_up())
    assert header == ("method", "5", "20", "won:lost")
    distance = f"({critical_distance(3, 2):.2f})"
    assert lines == [
        ("good", "0.800 (2.00)", "0.750 (1.00)", "4:0"),
        ("bad", "0.900 (1.00)", "0.200 (2.50)", "0:2"),
        ("alike", "0.100 (3.00)", "0.200 (2.50)", "0:2"),
        ("critical distance", distance, distance, ""),
    ]
    wins = {line[:2]: line[2:] for line in tabulate_wins(made_up())[1]}
    assert wins["good", "bad"] == ("0:2", "2:0")
    assert wins["bad", "alike"] == ("2:0", "0:0")


def test_each_two_methods_are_tested():
    header, lines = tabulate_tests(made_up())
    assert header == ("method", "against", "5", "20")
    assert [line[:2] for line in lines] == [("bad", "good"), ("bad", "alike"), ("good", "alike")]
    assert lines[1][2:] == ("1", "not testable")  # two tasks cannot show a difference


def test_the_table_for_latex():
    text = format_latex(("method", "10 %"), [("a_b.py:{c}", "0.5 ± 0.1"), (r"~^\x", "-")])
    assert text == (
        "\\begin{tabular}{lr}\n\\toprule\nmethod & 10 \\% \\\\\n\\midrule\n"
        "a\\_b.py:\\{c\\} & 0.5 $\\pm$ 0.1 \\\\\n"
        "\\textasciitilde{}\\textasciicircum{}\\textbackslash{}x & - \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )


def test_too_few_runs_for_a_win_are_told_from_no_win():
    for n_runs, won in ((5, "-"), (6, "4:0")):
        assert tabulate_summary(made_up(n_runs))[1][0][-1] == won
    assert {line[2:] for line in tabulate_wins(made_up(5))[1]} == {("-", "-")}


def test_a_single_method_has_no_critical_distance():
    results = made_up()
    alone = Results(SUITE, TASKS, ("bad",), results.numbers, results.scores, results.seconds)
    assert [line[0] for line in tabulate_summary(alone)[1]] == ["bad"]


def test_folds_of_a_run_are_averaged_and_tasks_that_one_method_lacks_are_left_out():
    rows = [
        {"task": task, "method": method, "run": run, "fold": fold, "5": five, "20": "1", "seconds": "2"}
        for task, method in (("iris", "a"), ("iris", "b"), ("wine", "a"))
        for run, fold, five in (("1", "0", "0.5"), ("0", "0", "0"), ("0", "1", "0.5"))
    ]
    results = gather_results(SUITE, ["a", "b"], rows)
    assert results.tasks == ("iris",)
    assert results.scores["iris", "a"].tolist() == [[0.25, 1], [0.5, 1]]


def test_every_score_has_a_label():
    assert set(LABELS) == set(SCORES)


def test_curves_of_many_methods_differ_by_dashes():
    results = made_up()
    names = tuple("abcdefghij")
    scores = {(task, name): results.scores[task, "bad"] for task in TASKS for name in names}
    for n, is_dashed in ((7, False), (8, True)):
        drawn = draw_curves(Results(SUITE, TASKS, names[:n], results.numbers, scores, results.seconds))
        assert ("stroke-dasharray: 5.55,2.4" in drawn) == is_dashed


def rename(results, old, new):
    """The results with another name of a method."""
    methods = tuple(new if name == old else name for name in results.methods)
    scores = {(task, new if name == old else name): each for (task, name), each in results.scores.items()}
    return Results(results.suite, results.tasks, methods, results.numbers, scores, results.seconds)


@pytest.mark.parametrize("name", ["_a", "$a$", "$\\frac{", "<b>&amp;--><script>"])
def test_a_method_is_drawn_by_its_name_whatever_it_holds(name):
    drawn, plain = (draw_curves(rename(made_up(), "bad", each)) for each in (name, "x" * len(name)))
    ElementTree.fromstring(drawn)
    assert drawn.count('xlink:href="#DejaVuSans-') == plain.count('xlink:href="#DejaVuSans-')


def test_a_report_shows_names_as_text(tmp_path):
    evil = "<x-evil onload='a'>\"&amp;</x-evil>"
    results = rename(made_up(), "bad", evil)
    suite = Suite(evil, evil, results.suite.protocol, results.suite.tasks)
    scores, seconds = (
        {(evil if task == "iris" else task, method): each for (task, method), each in found.items()}
        for found in (results.scores, dict.fromkeys(results.scores, 1.0))
    )
    named = Results(suite, (evil, "wine"), results.methods, results.numbers, scores, seconds)
    page = write_results(named, tmp_path).read_text(encoding="utf-8")
    assert "<x-evil" not in page
    assert page.count(escape(evil)) >= 8
    assert "x-evil" not in re.sub("<!--.*?-->", "", (tmp_path / "curves.svg").read_text(encoding="utf-8"))


def test_the_curves_name_their_unit():
    percent = Suite("mine", "Mine.", Protocol("constraints", (5, 20), "percent of rows"), SUITE.tasks)
    for suite, unit in ((SUITE, "constraints"), (percent, "constraints, percent of rows")):
        results = made_up()
        drawn = Results(suite, TASKS, results.methods, results.numbers, results.scores, results.seconds)
        assert f"<!-- {unit} -->" in draw_curves(drawn)
        assert "<!-- mean ARI -->" in draw_curves(drawn)
        assert draw_curves(drawn) == draw_curves(drawn)


def test_a_single_number_is_drawn_as_a_point():
    results = made_up()
    one = {key: scores[:, :1] for key, scores in results.scores.items()}
    drawn = draw_curves(Results(SUITE, TASKS, results.methods, ("5",), one, results.seconds))
    for colour in COLOURS[: len(results.methods)]:  # in the picture and in its legend
        assert drawn.count(f"fill: {colour}; stroke: {colour}") == 2
        assert f"fill: {colour}; stroke: {colour}" not in draw_curves(results)
