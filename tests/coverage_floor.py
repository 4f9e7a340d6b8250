"""Hold the coverage of the library to its floor: ``python tests/coverage_floor.py build/coverage.json``."""

import json
import sys
from pathlib import Path

LINES, BRANCHES = 95.0, 90.0  # percent


def main(report: str) -> str:
    """The figures in a sentence; leaves with an error where one is below its floor."""
    totals = json.loads(Path(report).read_text())["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    found = f"Tests cover {lines:.1f} % of the lines and {branches:.1f} % of the branches of linkwise."
    if lines < LINES or branches < BRANCHES:
        sys.exit(f"{found} The floors are {LINES:.0f} % and {BRANCHES:.0f} %; {report} lists the rest.")
    return found


if __name__ == "__main__":
    print(main(sys.argv[1]))
