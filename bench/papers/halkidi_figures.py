"""The printed figures of Halkidi et al. (2008), the p-values of Table I, beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from bench.harness import read_target
from bench.papers.halkidi_runs import COMPETITORS
from bench.papers.halkidi_tests import read_p
from bench.suites.cell_store import read_rows

DIGITS = 4
JUDGED = "second"  # part of the runs of the chosen reading; the first chose it


def read_figures(results: Path) -> Iterator[Figure]:
    """All figures of Table I; the paper prints no others."""
    ours = {(row["task"], row["competitor"]): row for row in read_rows(results / "halkidi" / "table1.csv")}
    chosen = {(row["task"], row["competitor"]): row for row in read_rows(results / "halkidi" / "chosen.csv")}
    for row in read_target("halkidi_table1.csv"):
        for competitor in COMPETITORS:
            found = ours.get((row["task"], competitor))
            letter = default = None
            if found is not None:
                letter, default = read_p(found["letter p"]), read_p(found["default p"])
            other = chosen.get((row["task"], competitor))
            yield Figure(
                "Table I", row["task"], competitor, "p", float(row[competitor]), letter, default,
                digits=DIGITS, is_p=True, reading=read_p(other[f"{JUDGED} p"]) if other else None,
                runs={"letter": "10 runs", "reading": "10 further runs"},
            )  # fmt: skip
