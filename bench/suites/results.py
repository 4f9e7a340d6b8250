"""What a suite has measured: scores of all runs, and the tables, ranks and picture made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.suites.cell_store import Row
from bench.suites.comparison import (
    can_win,
    count_wins,
    critical_distance,
    friedman_test,
    rank_aligned_scores,
    rank_within_tasks,
    wilcoxon_tests,
)
from bench.suites.protocols import Suite
from bench.suites.summaries import Mean, mean_of, quartiles
from linkwise.text_files import write_records

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#e69f00", "#56b4e9")  # Okabe and Ito
LABELS = {"ari": "ARI", "rand": "Rand index", "nmi": "NMI", "nmi_geometric": "NMI (geometric mean)"}
DASHES = ("solid", "dashed", "dotted")
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #888; }
tbody tr:nth-child(even) { background: #f4f4f4; } img { max-width: 100%; }
"""

LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Header and lines."""


@dataclass(frozen=True, eq=False)
class Results:
    """Scores of some methods on some tasks.

    Attributes
    ----------
    suite : Suite
    tasks, methods, numbers : tuple of str
        What was measured; `numbers` are those of the protocol.
    scores : dict of ndarray of shape (n_runs, n_numbers)
        By task and method, in the order of runs; with folds a run is the mean of its folds.
    seconds : dict of float
        Mean time of a run with all its numbers and starts, by task and method.
    """

    suite: Suite
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    numbers: tuple[str, ...]
    scores: Mapping[tuple[str, str], NDArray[np.float64]]
    seconds: Mapping[tuple[str, str], float]

    def means(self) -> NDArray[np.float64]:
        """Return the mean scores, of shape (n_tasks, n_methods, n_numbers)."""
        return np.array([[self.scores[t, m].mean(axis=0) for m in self.methods] for t in self.tasks])


def gather_results(suite: Suite, methods: Sequence[str], rows: Iterable[Row]) -> Results:
    """Gather the rows of finished cells.

    Parameters
    ----------
    suite : Suite
    methods : sequence of str
    rows : iterable of dict
        With the fields task, method, run and a score for each number.

    Returns
    -------
    Results
        Of the tasks that all methods have been measured on.
    """
    numbers = tuple(f"{number:g}" for number in suite.protocol.numbers)
    by_run: dict[tuple[str, str], dict[int, list[list[float]]]] = {}
    times: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        key = row["task"], row["method"]
        scores = [float(row[number]) for number in numbers]
        by_run.setdefault(key, {}).setdefault(int(row["run"]), []).append(scores)
        times.setdefault(key, []).append(float(row["seconds"]))
    tasks = tuple(task for task in suite.tasks if all((task, method) in by_run for method in methods))
    scores_by = {
        key: np.array([np.mean(folds, axis=0) for _, folds in sorted(runs.items())])
        for key, runs in by_run.items()
    }
    seconds = {key: float(np.mean(values)) for key, values in times.items()}
    return Results(suite, tasks, tuple(methods), numbers, scores_by, seconds)


# ---------------------------------------------------------------- tables
def tabulate_scores(results: Results) -> Table:
    """Return mean and standard error of each method on each task, after each number."""
    lines = []
    for task in results.tasks:
        for method in results.methods:
            of = [mean_of(values) for values in results.scores[task, method].T]
            lines.append((task, method, *map(_with_error, of), f"{results.seconds[task, method]:.2f}"))
    return ("task", "method", *results.numbers, "seconds"), lines


def tabulate_summary(results: Results) -> Table:
    """Return the table for a paper: mean score and, in brackets, mean rank after each number; the best first.

    The last column counts, after the last number, on how many tasks the method is better than another one and
    worse, beyond chance, over all other methods. The last line is the critical distance of the mean ranks.
    """
    means = results.means()
    ranks = np.array([rank_within_tasks(means[:, :, at]) for at in range(len(results.numbers))])
    lines = []
    for at in np.argsort(ranks[-1], kind="stable"):
        method = results.methods[at]
        scores = (
            f"{mean:.3f} ({rank:.2f})"
            for mean, rank in zip(means[:, at].mean(axis=0), ranks[:, at], strict=True)
        )
        others = [other for other in results.methods if other != method]
        lines.append((method, *scores, _format_wins(results, method, others, -1)))
    if len(results.methods) > 1:
        distance = critical_distance(len(results.methods), len(results.tasks))
        lines.append(("critical distance", *([f"({distance:.2f})"] * len(results.numbers)), ""))
    return ("method", *results.numbers, "won:lost"), lines


def tabulate_ranks(results: Results) -> Table:
    """Return mean score, mean aligned rank and mean rank of each method over the tasks.

    The test of Friedman by aligned ranks says whether the methods differ at all. By the test of Nemenyi two
    of them differ where their mean ranks are further apart than the critical distance.
    """
    means = results.means()
    header = ["method", *(f"{head} {n}" for n in results.numbers for head in ("mean", "aligned", "rank"))]
    columns: list[list[str]] = []
    tests, distances = [], []
    for at in range(len(results.numbers)):
        scores = means[:, :, at]
        columns += [
            [f"{value:.3f}" for value in scores.mean(axis=0)],
            [f"{value:.2f}" for value in rank_aligned_scores(scores)],
            [f"{value:.2f}" for value in rank_within_tasks(scores)],
        ]
        can_test = min(scores.shape) > 1
        tests += ["", format_p(friedman_test(scores).p_value) if can_test else "not testable", ""]
        is_alone = len(results.methods) < 2
        distance = "" if is_alone else f"{critical_distance(len(results.methods), len(results.tasks)):.2f}"
        distances += ["", "", distance]
    lines = [(method, *(column[at] for column in columns)) for at, method in enumerate(results.methods)]
    lines += [("p, Friedman", *tests), ("critical distance, Nemenyi", *distances)]
    return tuple(header), lines


def tabulate_tests(results: Results) -> Table:
    """Return for each two methods the p-value of their difference over the tasks, corrected by Holm."""
    means = results.means()
    tests = [wilcoxon_tests(means[:, :, at]) for at in range(len(results.numbers))]
    lines = [
        (one, other, *(format_p(float(test[i, j])) for test in tests))
        for (i, one), (j, other) in combinations(enumerate(results.methods), 2)
    ]
    return ("method", "against", *results.numbers), lines


def tabulate_wins(results: Results) -> Table:
    """Return on how many tasks each method is better than each other, and worse, beyond chance."""
    lines = []
    for one in results.methods:
        for other in results.methods:
            if one == other:
                continue
            wins = (_format_wins(results, one, [other], at) for at in range(len(results.numbers)))
            lines.append((one, other, *wins))
    return ("method", "against", *results.numbers), lines


def _format_wins(results: Results, one: str, others: Sequence[str], at: int) -> str:
    """Return the tasks won and lost against some methods; a dash where there are none, or too few runs."""
    runs = _runs_at(results, one, at)
    if not others or not can_win(runs.shape[1]):
        return "-"
    wins = [count_wins(runs, _runs_at(results, other, at)) for other in others]
    return f"{sum(each.won for each in wins)}:{sum(each.lost for each in wins)}"


def _runs_at(results: Results, method: str, at: int) -> NDArray[np.float64]:
    """Scores of a method after one of the numbers, of shape (n_tasks, n_runs)."""
    return np.array([results.scores[task, method][:, at] for task in results.tasks])


def format_p(p_value: float) -> str:
    """Write a p-value; one that is not a number was not testable."""
    return "not testable" if np.isnan(p_value) else f"{p_value:.2g}"


def _with_error(mean: Mean) -> str:
    return f"{mean.value:.3f}" if np.isnan(mean.error) else f"{mean.value:.3f} ± {mean.error:.3f}"


def format_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Lay a table out in columns as wide as their widest text: words to the left, numbers to the right."""
    body = list(lines)
    columns = []
    for at, head in enumerate(header):
        texts = [head, *(line[at] for line in body)]
        width = max(map(len, texts))
        numbers = all(text in ("", "-") or text.lstrip("+-")[:1].isdigit() for text in texts[1:])
        columns.append([text.rjust(width) if numbers else text.ljust(width) for text in texts])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def format_latex(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table for LaTeX with the package booktabs: texts to the left, and numbers to the right."""
    begin, end = f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", "\\end{tabular}"
    rows = map(_latex_row, lines)
    return "\n".join([begin, "\\toprule", _latex_row(header), "\\midrule", *rows, "\\bottomrule", end, ""])


def _latex_row(cells: Sequence[str]) -> str:
    """A row of a table, with what has a meaning in LaTeX written as itself."""
    return " & ".join(cell.translate(LATEX) for cell in cells) + " \\\\"


# ---------------------------------------------------------------- files
def write_results(results: Results, folder: Path) -> Path:
    """Write the tables as CSV files, the summary for LaTeX too, learning curves, and a page of everything.

    Parameters
    ----------
    results : Results
    folder : Path
        Made where there is none.

    Returns
    -------
    Path
        The page, ``index.html``. The picture needs matplotlib (extra ``plot``).
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "summary": tabulate_summary(results),
        "scores": tabulate_scores(results),
        "ranks": tabulate_ranks(results),
        "tests": tabulate_tests(results),
        "wins": tabulate_wins(results),
    }
    for name, (header, lines) in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            write_records(file, [header, *lines])
    (folder / "summary.tex").write_text(format_latex(*tables["summary"]), encoding="utf-8")
    picture = ""
    if find_spec("matplotlib") is not None:
        (folder / "curves.svg").write_text(draw_curves(results), encoding="utf-8")
        picture = '<p><img src="curves.svg" alt="Learning curves"></p>'
    suite = results.suite
    page = folder / "index.html"
    page.write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(suite.name)}</title>"
        f"<style>{STYLE}</style><h1>{escape(suite.name)}</h1><p>{escape(suite.about)}</p>"
        f"<h2>Summary</h2>{_html(*tables['summary'])}{picture}"
        f"<h2>Ranks</h2>{_html(*tables['ranks'])}"
        f"<h2>Differences over the tasks: p-values</h2>{_html(*tables['tests'])}"
        f"<h2>Tasks won and lost beyond chance</h2>{_html(*tables['wins'])}"
        f"<h2>Scores</h2>{_html(*tables['scores'])}</html>\n",
        encoding="utf-8",
    )
    return page


def _html(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in line)}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def draw_curves(results: Results) -> str:
    """Draw the mean over the tasks after each number, the quartiles over runs as a band.

    Parameters
    ----------
    results : Results

    Returns
    -------
    str
        An SVG picture.
    """
    from io import StringIO

    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8 if len(results.methods) > len(COLOURS) else 6, 4), layout="constrained")
    FigureCanvasSVG(figure)
    axes: Any = figure.subplots()
    at, drawn = [float(number) for number in results.numbers], []
    for number, method in enumerate(results.methods):
        n_runs = min(len(results.scores[task, method]) for task in results.tasks)
        runs = np.mean([results.scores[task, method][:n_runs] for task in results.tasks], axis=0)
        low, high = quartiles(runs)
        colour = COLOURS[number % len(COLOURS)]
        dashes = DASHES[number // len(COLOURS) % len(DASHES)]  # for further methods when colours run out
        point, width = (None, 0) if len(at) > 1 else ("o", 4)  # a line and a band need two numbers
        drawn += axes.plot(at, runs.mean(axis=0), color=colour, linestyle=dashes, marker=point)
        axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=width)
    protocol = results.suite.protocol
    unit = protocol.kind if protocol.unit == "count" else f"constraints, {protocol.unit}"
    axes.set(xlabel=unit, ylabel=f"mean {LABELS[protocol.score]}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    numbers = [str(number) for number in range(len(drawn))]
    if len(results.methods) > len(COLOURS):
        legend = figure.legend(drawn, numbers, frameon=False, loc="outside right upper", fontsize="small")
    else:
        legend = axes.legend(drawn, numbers, frameon=False)
    for entry, method in zip(legend.get_texts(), results.methods, strict=True):
        entry.set_parse_math(False)  # a name may hold a $, or begin with _
        entry.set_text(method)
    with StringIO() as buffer, rc_context({"svg.hashsalt": "linkwise"}):  # the same picture each time
        figure.savefig(buffer, format="svg", metadata={"Date": None})
        return buffer.getvalue()
