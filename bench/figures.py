"""Printed figures of a paper beside ours, each with a verdict and, where they differ, the reason.

A figure is reproduced if the printed method gives it within `TOLERANCE`, to both sides. One that is not is
higher or lower. ``targets/explanations.toml`` holds the reason for a difference, and where it was measured.
Other reasons follow from a measured table (`bench.papers.derived_reasons`). A difference without a reason is
unexplained.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.results import write_csv
from bench.suites.cell_store import Row

TOLERANCE = 0.05
COMPARED = ("reproduced", "higher", "lower")
VERDICTS = (*COMPARED, "not run", "not testable")
FIELDS = (
    "table",
    "task",
    "method",
    "setting",
    "printed",
    "letter",
    "default",
    "authors",
    "verdict",
    "reason",
)
EXPLANATIONS = Path(__file__).resolve().parent / "targets" / "explanations.toml"


@dataclass(frozen=True)
class Figure:
    """A figure that a paper prints, and ours.

    Attributes
    ----------
    table : str
        As the paper numbers it, for example "Table IV".
    task, method : str
        Its line and column.
    setting : str
        What else it belongs to, for example "5 %"; may be empty.
    printed : float
        The paper's.
    letter : float or None
        Of the printed method; None if it was not run.
    default, authors : float or None
        Of our default, and of the authors' program or the preset that follows it.
    digits : int
        Decimals of the printed figure; ours is rounded to them before the two are compared.
    is_p : bool
        Whether it is the p-value of a test; NaN then stands for samples without variance, not testable.
    """

    table: str
    task: str
    method: str
    setting: str
    printed: float
    letter: float | None
    default: float | None = None
    authors: float | None = None
    digits: int = 2
    is_p: bool = False

    @property
    def verdict(self) -> str:
        """Whether the printed method gives the printed figure: one of `VERDICTS`."""
        if self.letter is None or math.isnan(self.letter):
            return "not testable" if self.letter is not None and self.is_p else "not run"
        difference = round(self.letter, self.digits) - self.printed
        if abs(difference) <= TOLERANCE + 1e-9:
            return "reproduced"
        return "higher" if difference > 0 else "lower"


@dataclass(frozen=True)
class Explanation:
    """Why some figures of a paper differ; an empty field stands for all.

    Attributes
    ----------
    paper, table, method, verdict : str
    tasks, settings : sequence of str
    reason : str
        One sentence.
    evidence : str
        The table in the folder of results that shows it.
    """

    paper: str
    reason: str
    evidence: str
    table: str = ""
    method: str = ""
    verdict: str = ""
    tasks: Sequence[str] = ()
    settings: Sequence[str] = ()

    def covers(self, paper: str, figure: Figure) -> bool:
        """Whether this is the reason for a figure's difference."""
        return (
            self.paper == paper
            and self.table in ("", figure.table)
            and self.method in ("", figure.method)
            and self.verdict in ("", figure.verdict)
            and (not self.tasks or figure.task in self.tasks)
            and (not self.settings or figure.setting in self.settings)
        )


def read_explanations(path: Path = EXPLANATIONS) -> list[Explanation]:
    """All reasons of ``targets/explanations.toml``."""
    return [Explanation(**entry) for entry in tomllib.loads(path.read_text())["explanation"]]


def find_explanation(paper: str, figure: Figure, explanations: Iterable[Explanation]) -> Explanation | None:
    """The first explanation of a figure that differs; None if there is none, or no difference."""
    if figure.verdict not in ("higher", "lower"):
        return None
    return next((each for each in explanations if each.covers(paper, figure)), None)


def explain(paper: str, figure: Figure, explanations: Iterable[Explanation]) -> str:
    """Return the reason for a difference, "unexplained" if none is known, and nothing where there is none."""
    if figure.verdict not in ("higher", "lower"):
        return ""
    found = find_explanation(paper, figure, explanations)
    return found.reason if found else "unexplained"


def find_needless(paper: str, figures: Iterable[Figure], explanations: Iterable[Explanation]) -> list[str]:
    """Describe the explanations of a paper that are the reason for no figure, each in one sentence."""
    explanations, used = list(explanations), []
    for figure in figures:
        if found := find_explanation(paper, figure, explanations):
            used.append(found)
    return [
        f"The reason {each.reason!r} covers no figure that differs ({', '.join(_list_conditions(each))}). "
        "Remove it from explanations.toml."
        for each in explanations
        if each.paper == paper and each not in used
    ]


def _list_conditions(each: Explanation) -> list[str]:
    conditions = (each.paper, each.table, each.method, each.verdict, *each.tasks, *each.settings)
    return [condition for condition in conditions if condition]


def write_figures(
    path: Path, paper: str, figures: Iterable[Figure], derived: Iterable[Explanation] = ()
) -> list[Row]:
    """Write the figures of one paper with verdicts and reasons, and return the lines.

    The reasons of ``targets/explanations.toml`` come before derived ones.
    """
    explanations = [*read_explanations(), *derived]
    lines = [
        (
            figure.table,
            figure.task,
            figure.method,
            figure.setting,
            f"{figure.printed:.{figure.digits}f}",
            *(_format(value, figure.digits) for value in (figure.letter, figure.default, figure.authors)),
            figure.verdict,
            explain(paper, figure, explanations),
        )
        for figure in figures
    ]
    write_csv(path, FIELDS, lines)
    return [dict(zip(FIELDS, line, strict=True)) for line in lines]


def _format(value: float | None, digits: int) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.{digits + 1}f}"


def lay_out(figures: Iterable[Figure]) -> tuple[list[str], list[list[str]]]:
    """Lay the figures of one table out: a line for each task and setting, a column for each method.

    A cell holds the printed figure, that of the letter, of the default, and, where it was run, of the
    authors' program. An arrow says where the letter is higher or lower.
    """
    figures = list(figures)
    methods = list(dict.fromkeys(figure.method for figure in figures))
    settings = {figure.setting for figure in figures if figure.setting}
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for figure in figures:
        place = (figure.task, figure.setting) if len(settings) > 1 else (figure.task,)
        lines.setdefault(place, {})[figure.method] = _tell(figure)
    head = ["task", "setting"] if len(settings) > 1 else ["task"]
    return [*head, *methods], [[*place, *(of.get(m, "") for m in methods)] for place, of in lines.items()]


def _tell(figure: Figure) -> str:
    versions = [figure.letter, figure.default, figure.authors]
    ours = [_format(value, figure.digits - 1) for value in versions if value is not None]
    arrow = {"higher": " ↑", "lower": " ↓"}.get(figure.verdict, "")
    return " / ".join([f"{figure.printed:.{figure.digits}f}", *(ours or ["not run"])]) + arrow


def write_layouts(folder: Path, paper: str, figures: Iterable[Figure]) -> None:
    """Write each table of a paper as `lay_out` gives it, for example ``cobs_table_iii_q1.csv``."""
    by_table: dict[str, list[Figure]] = {}
    for figure in figures:
        by_table.setdefault(figure.table, []).append(figure)
    for table, of_table in by_table.items():
        name = re.sub(r"\W+", "_", f"{paper} {table}").lower()
        write_csv(folder / f"{name}.csv", *lay_out(of_table))


def write_differences(path: Path, lines: Iterable[Row]) -> None:
    """Write the figures that are higher or lower than printed, with the reasons."""
    fields = [field for field in FIELDS if field not in ("default", "authors")]
    differing = [line for line in lines if line["verdict"] in ("higher", "lower")]
    write_csv(path, fields, ([line[field] for field in fields] for line in differing))


def count_verdicts(lines: Iterable[Row]) -> Counter[str]:
    """Figures by verdict; those that differ for no known reason are also counted as "unexplained"."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts[line["verdict"]] += 1
        counts["unexplained"] += line["reason"] == "unexplained"
    return counts
