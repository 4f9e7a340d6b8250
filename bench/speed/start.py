"""The time from a command to what a person waits for: help, or the first question.

Each command runs in a process of its own, three times. Its time ends with its first line of output, or with
the first question: in JSON, or on the page, as a client that opens the address gets it. The long table has a
million rows and 8 columns of numbers, and the short one has 300 rows of it. `processor` is the time of the
processor until the command was ended, on which other programs have little effect. The wide tables have
100 000 columns and 5 rows, as CSV and as JSON lines: more columns than linkwise reads, and it says so. Beside
them Python imports scikit-learn and Polars, which read such a table and cluster it.

    python -m bench run speed_start [--rows N] [--columns N] [--works WORK ...] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.results import RESULTS, write_table
from bench.speed.load import wait_for_first_question

FIELDS = ("work", "seconds", "processor", "said")
REPEATS = 3
SHORT = 300  # rows
IMPORT_PEERS = "import polars, sklearn.cluster"


def draw_tables(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write the three tables."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, n_rows)
    X = rng.uniform(-10, 10, (20, 8))[y] + rng.normal(size=(n_rows, 8))
    pl.DataFrame({f"x{j}": X[:, j] for j in range(8)}).write_parquet(folder / "rows.parquet")
    pl.DataFrame({f"x{j}": X[:SHORT, j] for j in range(8)}).write_csv(folder / "short.csv")
    names = [f"c{j}" for j in range(n_columns)]
    wide = rng.normal(size=(5, n_columns)).round(3)
    lines = [",".join(names), *(",".join(map(str, row)) for row in wide.tolist())]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    records = (json.dumps(dict(zip(names, row, strict=True))) for row in wide.tolist())
    (folder / "wide.jsonl").write_text("\n".join(records) + "\n")


def time_first_line(command: list[str], folder: Path) -> tuple[float, float, str]:
    """Seconds until a command says something, its processor seconds in all, and what it says."""
    for session in folder.glob("*.linkwise"):
        session.unlink()
    busy, started, line, pipe = read_children(), perf_counter(), "", subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
    ) as child:
        for line in child.stdout or ():
            if "serve" in command and "http://" in line:
                address = line[line.index("http://") :].split()[0]
                line = "question" if wait_for_first_question(address) else "no question"
                break
            if '"question"' in line or not {"--json", "serve"} & set(command):
                break
        seconds = perf_counter() - started
        child.send_signal(signal.SIGKILL)
    return seconds, read_children() - busy, line.strip()


def read_children() -> float:
    """Processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_start", description="Time first answers."
    )
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="of the long table")
    parser.add_argument("--columns", type=int, default=100_000, metavar="N", help="of the wide tables")
    parser.add_argument("--works", nargs="+", metavar="WORK", help="only these")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args(arguments)
    python, ask = [sys.executable, "-c"], [sys.executable, "-m", "linkwise", "ask"]
    serve = [sys.executable, "-m", "linkwise", "serve", "--no-browser"]
    works = {
        "import linkwise": [*python, "import linkwise; print(1)"],
        IMPORT_PEERS: [*python, f"{IMPORT_PEERS}; print(1)"],
        "linkwise --help": [sys.executable, "-m", "linkwise", "--help"],
        "ask, long": [*ask, "rows.parquet", "--json"],
        "page, long": [*serve, "rows.parquet"],
        "page, short": [*serve, "short.csv"],
        "ask, wide CSV": [*ask, "wide.csv", "--json"],
        "ask, wide JSON lines": [*ask, "wide.jsonl", "--json"],
    }
    rows = []
    with TemporaryDirectory() as name:
        draw_tables(Path(name), options.rows, options.columns)
        for work, command in works.items():
            if options.works and work not in options.works:
                continue
            found = [time_first_line(command, Path(name)) for _ in range(REPEATS)]
            seconds, processor, said = zip(*found, strict=True)
            row = {"work": work, "seconds": f"{median(seconds):.3g}", "processor": f"{median(processor):.3g}"}
            rows.append(row | {"said": "question" if '"question"' in said[0] else said[0][:60]})
            print("  ".join(f"{field}={rows[-1][field]}" for field in FIELDS), flush=True)
    write_table(options.out / "speed_start.csv", FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
