"""All printed figures and claims of the five papers beside ours, from committed tables.

    python -m bench run reproduction

It runs no method. It reads the tables that the other experiments wrote, writes one line a printed figure
with verdicts of the text, of the authors' program and of a chosen reading, and the reason of each difference
(`bench.figures`, `bench.papers.derived_reasons`), and one line a paper with the counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.figures import (
    COUNTED,
    NONE,
    Explanation,
    Figure,
    count_verdicts,
    write_differences,
    write_figures,
    write_layouts,
)
from bench.harness import format_table
from bench.papers import bckm_printed, cobs_claims, cobs_figures, halkidi_figures
from bench.papers.derived_reasons import derive_bckm, derive_cobs, derive_halkidi
from bench.results import RESULTS, write_csv
from bench.suites.cell_store import Row, read_rows


class Paper(NamedTuple):
    """Where the figures and claims of a paper come from."""

    name: str
    read_figures: Callable[[Path], Iterable[Figure]] | None = None
    """None if the paper prints no figure that can be compared."""
    write_claims: Callable[[Path], None] | None = None
    """None if the paper's experiment writes its claims itself."""
    derive_reasons: Callable[[Path], list[Explanation]] = lambda results: []
    """Reasons for differences that follow from measured tables."""


PAPERS = {
    "cobras": Paper("Van Craenendonck, Dumančić, Van Wolputte and Blockeel (2018)"),
    "cobs": Paper(
        "Van Craenendonck and Blockeel (2017)",
        cobs_figures.read_figures,
        cobs_claims.write_claims,
        derive_cobs,
    ),
    "clusilc": Paper("Struyf and Džeroski (2007)"),
    "halkidi": Paper("Halkidi et al. (2008)", halkidi_figures.read_figures, derive_reasons=derive_halkidi),
    "bckm": Paper("Okabe and Yamada (2018)", bckm_printed.read_figures, derive_reasons=derive_bckm),
}
SUMMARY_FIELDS = (
    "paper", "figures", *COUNTED, NONE, "not run", "not testable", "unexplained",
    "claims", "hold as printed", "hold as the program", "hold by a reading", "hold by default",
)  # fmt: skip
FRONT_FIELDS = (
    "paper", "printed figures", "as printed", "as the program", "claims", "hold as printed", "as the program",
    "by default",
)  # fmt: skip
CLAIM_VERSIONS = ("letter", "authors", "reading", "default")


def summarize_paper(key: str, results: Path) -> tuple[str, ...]:
    """Write the figures of one paper, and count its figures and claims."""
    paper = PAPERS[key]
    folder, figures = (
        results / "reproduction",
        list(paper.read_figures(results)) if paper.read_figures else [],
    )
    if paper.write_claims:
        paper.write_claims(results)
    write_layouts(folder, key, figures)
    lines = (
        write_figures(folder / f"{key}.csv", key, figures, paper.derive_reasons(results)) if figures else []
    )
    if lines:
        write_differences(folder / f"{key}_differences.csv", lines)
    counts, claims = count_verdicts(lines), read_claims(results / key / "claims.csv")
    names = (*COUNTED, NONE, "not run", "not testable", "unexplained")
    numbers = map(str, (len(lines), *(counts[name] for name in names), len(claims)))
    return (paper.name, *numbers, *(count_held(claims, version) for version in CLAIM_VERSIONS))


def count_held(claims: Sequence[Row], version: str) -> str:
    """Count the claims that hold for a version; empty if none was checked for it."""
    verdicts = [claim.get(f"{version}_holds", "") for claim in claims]
    return str(verdicts.count("holds")) if any(verdicts) else ""


def shorten_summary(line: Sequence[str]) -> tuple[str, ...]:
    """Shorten a line of the summary for the first page of the documentation."""
    of = dict(zip(SUMMARY_FIELDS, line, strict=True))
    has_figures = of["figures"] != "0"
    figures = [of[name] if has_figures else "" for name in ("figures", *COUNTED[:2])]
    figures[0] = figures[0] or "none that can be compared"
    claims = (of[name] for name in ("claims", "hold as printed", "hold as the program", "hold by default"))
    return (of["paper"], *figures, *claims)


def read_claims(path: Path) -> list[Row]:
    """The claims of a paper in words, each with a verdict; none if they were not checked."""
    return read_rows(path) if path.exists() else []


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run reproduction", description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    results = parser.parse_args(arguments).out
    lines = [summarize_paper(key, results) for key in PAPERS]
    write_csv(results / "reproduction" / "summary.csv", SUMMARY_FIELDS, lines)
    write_csv(results / "reproduction" / "front.csv", FRONT_FIELDS, map(shorten_summary, lines))
    print(format_table(SUMMARY_FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
