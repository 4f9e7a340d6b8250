"""A role for Sphinx: a number of the text, read from the table that it was measured in.

``:measured:`cobs/table4.csv; random; task=wine``` is the value of the column ``random`` in the one line whose
``task`` is ``wine``. Conditions are separated by ``;`` and all have to hold; ``!=`` excludes. Instead of a
column there can be ``count`` (the number of lines that fit), or ``mean COLUMN``, ``min COLUMN``, ``max
COLUMN``. A last part such as ``.2f`` says how the number is written. Files are in ``bench/results``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxRole

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
SUMMARIES: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "min": min, "max": max}
FORMAT = re.compile(r"[+]?\.\d[fg%]")
CONDITION = re.compile(r"(?P<column>[^!=]+?)\s*(?P<negated>!?)=\s*(?P<value>.*)")


def read_measured(text: str, results: Path = RESULTS) -> str:
    """Return what the role shows.

    Raises
    ------
    ValueError
        No line fits, or several do, or a column is missing.
    """
    file, what, *rest = [part.strip() for part in text.split(";")]
    number_format = rest.pop() if rest and FORMAT.fullmatch(rest[-1]) else ""
    with (results / file).open(newline="") as opened:
        lines = list(csv.DictReader(opened))
    for condition in rest:
        lines = [line for line in lines if _holds(line, condition, text)]
    if what == "count":
        return str(len(lines))
    summary, _, column = what.rpartition(" ") if what.split(" ")[0] in SUMMARIES else ("", "", what)
    if not lines or column not in lines[0]:
        raise ValueError(f"{text!r}: no line fits, or there is no column {column!r}.")
    if summary:
        return format(SUMMARIES[summary]([float(line[column]) for line in lines]), number_format or ".2f")
    if len(lines) > 1:
        raise ValueError(f"{text!r}: {len(lines)} lines fit. Add a condition.")
    value = lines[0][column]
    return format(float(value), number_format) if number_format else value


def _holds(line: dict[str, str], condition: str, text: str) -> bool:
    found = CONDITION.fullmatch(condition)
    if not found or found["column"] not in line:
        raise ValueError(f"{text!r}: {condition!r} is no condition on a column of that file.")
    return (line[found["column"]] == found["value"]) is not bool(found["negated"])


class MeasuredRole(SphinxRole):
    """``:measured:`FILE; COLUMN; CONDITION; FORMAT```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Read the number."""
        try:
            shown = read_measured(self.text)
        except (OSError, ValueError) as error:
            message = self.inliner.reporter.error(f"measured: {error}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        return [nodes.Text(shown.replace("-", "−") if re.fullmatch(r"-[\d.]+", shown) else shown)], []


def setup(app: Any) -> dict[str, bool]:
    """Register the role."""
    app.add_role("measured", MeasuredRole())
    return {"parallel_read_safe": True}
