"""All printed figures and claims of the five papers beside ours, from committed tables.

    python -m bench run reproduction

It runs no method. It reads the tables that the other experiments wrote, writes one line a printed figure with
a verdict and the reason of each difference (`bench.figures`, `bench.papers.derived_reasons`), and one line a
paper with the counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.figures import (
    COMPARED,
    VERDICTS,
    Explanation,
    Figure,
    count_verdicts,
    write_differences,
    write_figures,
    write_layouts,
)
from bench.harness import format_table
from bench.papers import bckm_printed, cobs_claims, cobs_figures, halkidi_figures
from bench.papers.derived_reasons import derive_bckm, derive_cobs
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
    "halkidi": Paper("Halkidi et al. (2008)", halkidi_figures.read_figures),
    "bckm": Paper("Okabe and Yamada (2018)", bckm_printed.read_figures, derive_reasons=derive_bckm),
}
SUMMARY_FIELDS = (
    "paper", "figures", "reproduced", "higher", "lower", "not run", "not testable", "unexplained",
    "share reproduced",
    "claims", "hold as printed", "hold by default",
)  # fmt: skip
FRONT_FIELDS = (
    "paper", "printed figures that the printed method gives", "claims that hold for it", "for our default"
)  # fmt: skip


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
    run = sum(counts[verdict] for verdict in COMPARED)
    share = f"{100 * counts['reproduced'] / run:.0f} %" if run else ""
    numbers = [counts[name] for name in (*VERDICTS, "unexplained")]
    held = [
        sum(claim[f"{version}_holds"] == "holds" for claim in claims) for version in ("letter", "default")
    ]
    return (paper.name, *map(str, (len(lines), *numbers)), share, *map(str, (len(claims), *held)))


def shorten_summary(line: Sequence[str]) -> tuple[str, ...]:
    """Shorten a line of the summary for the first page of the documentation."""
    of = dict(zip(SUMMARY_FIELDS, line, strict=True))
    n_run = sum(int(of[verdict]) for verdict in COMPARED)
    figures = f"{of['reproduced']} of {n_run}" if n_run else "prints none that can be compared"
    claims = (f"{of[field]} of {of['claims']}" for field in ("hold as printed", "hold by default"))
    return (of["paper"], figures, *claims)


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
