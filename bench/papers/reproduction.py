"""All printed figures and claims of the five papers beside ours, from committed tables.

    python -m bench run reproduction

It runs no method. It reads the tables that the other experiments wrote, writes one line a printed figure with
a verdict and the reason of each difference (`bench.figures`), and one line a paper with the counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.figures import Figure, count_verdicts, write_differences, write_figures, write_layouts
from bench.harness import format_table
from bench.papers import bckm_printed, cobs_figures
from bench.results import RESULTS, write_csv
from linkwise.experiments.cell_store import Row, read_rows

PAPERS: dict[str, tuple[str, Callable[[Path], Iterable[Figure]] | None]] = {
    "cobras": ("Van Craenendonck, Dumančić, Van Wolputte and Blockeel (2018)", None),  # prints no figure
    "cobs": ("Van Craenendonck and Blockeel (2017)", cobs_figures.read_figures),
    "clusilc": ("Struyf and Džeroski (2007)", None),
    "halkidi": ("Halkidi et al. (2008)", None),
    "bckm": ("Okabe and Yamada (2018)", bckm_printed.read_figures),
}
SUMMARY_FIELDS = (
    "key", "paper", "figures", "reproduced", "higher", "lower", "not run", "unexplained", "share",
    "claims", "hold for the letter", "hold for the default",
)  # fmt: skip


def summarize_paper(key: str, results: Path) -> tuple[str, ...]:
    """Write the figures of one paper, and count its figures and claims."""
    paper, read_figures = PAPERS[key]
    folder, figures = results / "reproduction", list(read_figures(results)) if read_figures else []
    write_layouts(folder, key, figures)
    lines = write_figures(folder / f"{key}.csv", key, figures) if figures else []
    if lines:
        write_differences(folder / f"{key}_differences.csv", lines)
    counts, claims = count_verdicts(lines), read_claims(results / key / "claims.csv")
    run = sum(counts[verdict] for verdict in ("reproduced", "higher", "lower"))
    share = f"{100 * counts['reproduced'] / run:.0f} %" if run else ""
    numbers = [counts[name] for name in ("reproduced", "higher", "lower", "not run", "unexplained")]
    held = [
        sum(claim[f"{version}_holds"] == "holds" for claim in claims) for version in ("letter", "default")
    ]
    return (key, paper, *map(str, (len(lines), *numbers)), share, *map(str, (len(claims), *held)))


def read_claims(path: Path) -> list[Row]:
    """The claims of a paper in words, each with a verdict; none if they were not checked."""
    return read_rows(path) if path.exists() else []


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run reproduction", description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    results = parser.parse_args(arguments).out
    lines = [summarize_paper(key, results) for key in PAPERS]
    write_csv(results / "reproduction" / "summary.csv", SUMMARY_FIELDS, lines)
    print(format_table(SUMMARY_FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
