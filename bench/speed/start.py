"""The time from a command to what a person waits for: help, or the first question.

Each command runs in a process of its own, three times. Its time ends with its first line of output, or with
the first question. The table of a million rows has 8 columns of numbers. The wide ones have 100 000 columns
and 5 rows, as CSV and as JSON lines: more columns than linkwise reads, and it says so. Beside them Python
imports scikit-learn and Polars, which read such a table and cluster it.

    python -m bench run speed_start [--rows N] [--columns N] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.results import RESULTS, write_table

FIELDS = ("work", "seconds", "said")
REPEATS = 3
IMPORT_PEERS = "import polars, sklearn.cluster"


def draw_tables(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write the three tables."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, n_rows)
    X = rng.uniform(-10, 10, (20, 8))[y] + rng.normal(size=(n_rows, 8))
    pl.DataFrame({f"x{j}": X[:, j] for j in range(8)}).write_parquet(folder / "rows.parquet")
    names = [f"c{j}" for j in range(n_columns)]
    wide = rng.normal(size=(5, n_columns)).round(3)
    lines = [",".join(names), *(",".join(map(str, row)) for row in wide.tolist())]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    records = (json.dumps(dict(zip(names, row, strict=True))) for row in wide.tolist())
    (folder / "wide.jsonl").write_text("\n".join(records) + "\n")


def time_first_line(command: list[str], folder: Path) -> tuple[float, str]:
    """Seconds until a command says something, and what it says."""
    for session in folder.glob("*.linkwise"):
        session.unlink()
    started, line, pipe = perf_counter(), "", subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
    ) as child:
        for line in child.stdout or ():
            if '"question"' in line or "--json" not in command:
                break
        seconds = perf_counter() - started
        child.kill()
    return seconds, line.strip()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_start", description="Time first answers."
    )
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="of the long table")
    parser.add_argument("--columns", type=int, default=100_000, metavar="N", help="of the wide tables")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args(arguments)
    python, ask = [sys.executable, "-c"], [sys.executable, "-m", "linkwise", "ask"]
    works = {
        "import linkwise": [*python, "import linkwise; print(1)"],
        IMPORT_PEERS: [*python, f"{IMPORT_PEERS}; print(1)"],
        "linkwise --help": [sys.executable, "-m", "linkwise", "--help"],
        "ask, long": [*ask, "rows.parquet", "--json"],
        "ask, wide CSV": [*ask, "wide.csv", "--json"],
        "ask, wide JSON lines": [*ask, "wide.jsonl", "--json"],
    }
    rows = []
    with TemporaryDirectory() as name:
        draw_tables(Path(name), options.rows, options.columns)
        for work, command in works.items():
            found = [time_first_line(command, Path(name)) for _ in range(REPEATS)]
            row = {"work": work, "seconds": f"{median(seconds for seconds, _ in found):.3g}"}
            rows.append(row | {"said": "question" if '"question"' in found[0][1] else found[0][1][:60]})
            print("  ".join(f"{field}={rows[-1][field]}" for field in FIELDS), flush=True)
    write_table(options.out / "speed_start.csv", FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
