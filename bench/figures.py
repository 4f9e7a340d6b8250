"""Printed figures of a paper beside ours, each with a verdict and, where they differ, the reason.

Three versions are judged apart: the text and nothing else (the letter); the authors' program, or the preset
that follows it; and a reading of what the text leaves open that was chosen by its result, on runs that did
not choose it. A version gives a figure if it is within `TOLERANCE`, to both sides, or for numbers of rounds
within `SHARE` or two standard errors. Each figure counts once: for the letter if it gives it, else for the
program, else for the reading.

A letter that does not give it is higher or lower. ``targets/explanations.toml`` holds the reason for a
difference, and where it was measured. Other reasons follow from a measured table
(`bench.papers.derived_reasons`). A difference without a reason is unexplained.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.results import write_csv
from bench.suites.cell_store import Row

TOLERANCE = 0.05
SHARE = 0.1  # of a printed number of rounds
PROGRAM = "The authors' program gives it."
READING = "A reading that was chosen by its result gives it, in runs that did not choose it."
COUNTED = ("as printed", "as the program", "by a reading")
NONE = "none of them"
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
    "reading",
    "verdict",
    "authors_verdict",
    "reading_verdict",
    "letter_runs",
    "authors_runs",
    "reading_runs",
    "counted",
    "reason",
)
RUNS = ("letter_runs", "authors_runs", "reading_runs")
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
    default, authors, reading : float or None
        Of our default, of the authors' program or the preset that follows it, and of a chosen reading.
    digits : int
        Decimals of the printed figure; ours is rounded to them before the two are compared.
    is_p : bool
        Whether it is the p-value of a test; NaN then stands for samples without variance, not testable.
    is_count : bool
        Whether it is a mean number of rounds.
    errors : dict of float
        Standard errors of a count by version: "letter", "authors", "reading".
    runs : dict of str
        What each version rests on.
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
    reading: float | None = None
    is_count: bool = False
    errors: Mapping[str, float] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether the printed method gives the printed figure: one of `VERDICTS`."""
        return self.judge("letter")

    def judge(self, version: str) -> str:
        """Whether a version ("letter", "authors", "reading") gives the printed figure: one of `VERDICTS`."""
        value: float | None = getattr(self, version)
        if value is None or math.isnan(value):
            return "not testable" if value is not None and self.is_p else "not run"
        difference = round(value, self.digits) - self.printed
        tolerance = TOLERANCE
        if self.is_count:
            tolerance = max(SHARE * self.printed, 2 * self.errors.get(version, 0.0))
        if abs(difference) <= tolerance + 1e-9:
            return "reproduced"
        return "higher" if difference > 0 else "lower"

    @property
    def counted(self) -> str:
        """For which version it counts, one of `COUNTED`; empty for none."""
        for version, name in zip(("letter", "authors", "reading"), COUNTED, strict=True):
            if self.judge(version) == "reproduced":
                return name
        return ""


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
    if found:
        return found.reason
    return {COUNTED[1]: PROGRAM, COUNTED[2]: READING}.get(figure.counted, "unexplained")


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
            *(_format(getattr(figure, version), figure.digits) for version in FIELDS[5:9]),
            *(figure.judge(version) for version in ("letter", "authors", "reading")),
            *(figure.runs.get(version, "") for version in ("letter", "authors", "reading")),
            figure.counted,
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
    authors' program. An arrow says where the letter is higher or lower, and "(program)" or "(reading)" which
    other version gives the printed figure.
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
    arrow += {COUNTED[1]: " (program)", COUNTED[2]: " (reading)"}.get(figure.counted, "")
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
    fields = [name for name in FIELDS if name not in ("default", "authors", "reading", *RUNS)]
    differing = [line for line in lines if line["verdict"] in ("higher", "lower")]
    write_csv(path, fields, ([line[name] for name in fields] for line in differing))


def count_verdicts(lines: Iterable[Row]) -> Counter[str]:
    """Count figures by verdict and by what they count for, and those that differ for no known reason."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts[line["verdict"]] += 1
        verdicts = [line[name] for name in ("verdict", "authors_verdict", "reading_verdict")]
        if any(verdict in COMPARED for verdict in verdicts):
            counts[line["counted"] or NONE] += 1
        counts["unexplained"] += line["reason"] == "unexplained"
    return counts
