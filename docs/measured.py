"""A role for Sphinx: a number of the text, read from the table that it was measured in.

``:measured:`cobs/table4.csv; random; task=wine``` is the value of the column ``random`` in the one line whose
``task`` is ``wine``. Conditions are separated by ``;`` and all have to hold; ``!=`` excludes. Instead of a
column there can be ``count`` (the number of lines that fit), or ``mean COLUMN``, ``min COLUMN``, ``max
COLUMN``. A last part such as ``.2f`` says how the number is written. Files are in ``bench/results``.

``.. measured-table:: FILE`` makes a table of such numbers. Its option ``columns`` has ``HEAD: PARTS`` for
each column, separated by ``|``, and each line of its content is ``LABEL: PARTS``. A cell is what the parts of
its line and of its column name together.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

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


def join_parts(file: str, line: str, column: str) -> str:
    """Return the text of the role for one cell: its value, then conditions, then a format."""
    parts = [part.strip() for part in f"{line}; {column}".split(";") if part.strip()]
    formats = [part for part in parts if FORMAT.fullmatch(part)]
    conditions = [part for part in parts if "=" in part]
    return "; ".join(
        [
            file,
            *(part for part in parts if part not in formats and part not in conditions),
            *conditions,
            *formats,
        ]
    )


class MeasuredTable(SphinxDirective):
    """``.. measured-table:: FILE``."""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012, as Sphinx declares it
        "columns": directives.unchanged_required,
        "label": directives.unchanged,
        "widths": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        heads, columns = zip(*(one.split(": ", 1) for one in self.options["columns"].split("|")), strict=True)
        widths = [f"   :widths: {self.options['widths']}"] if "widths" in self.options else []
        lines = [
            ".. list-table::",
            "   :header-rows: 1",
            *widths,
            "",
            f"   * - {self.options.get('label', '')}",
        ]
        lines += [f"     - {head.strip()}" for head in heads]
        for line in filter(None, self.content):
            label, _, parts = line.rpartition(": ")
            lines.append(f"   * - {label}")
            lines += [
                f"     - :measured:`{join_parts(self.arguments[0], parts, column)}`" for column in columns
            ]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Register the role."""
    app.add_role("measured", MeasuredRole())
    app.add_directive("measured-table", MeasuredTable)
    return {"parallel_read_safe": True}
