"""What people wait for beside questions: doubtful pairs, combined sessions, rules, and joined tables.

Each work runs in processes of its own, and `seconds` are medians. `processor` are the seconds of the
processor, on which other programs have little effect.

- Pairs: 160 random pairs of 500 rows are added to a session whose answers may be wrong. A tenth of them is
  wrong, and the labels are read after each.
- Combined sessions: a session takes 5000 answers about 2000 rows from another person's file. A tenth of
  them is wrong, or none.
- Rules: ``linkwise explain`` with a file of clusters; the table has 100 000 rows, 45 columns of numbers and 5
  of categories. The yardstick reads the same table with Polars and fits scikit-learn's tree to its numbers.
- Joined table: ``linkwise export --join`` of a million rows and 8 columns, after 20 answers. The yardstick
  reads the table with Polars and writes it again with one more column.

    python -m bench run speed_waits [--works WORK ...] [--scale S] [--repeats N] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from bench.results import RESULTS, write_table

FIELDS = ("work", "rows", "size", "seconds", "processor", "yardstick_s", "yardstick_processor", "times")
PAIRS, ANSWERS, CLUSTERS = 160, 5000, 8
READ_AND_FIT = """
import polars as pl
from sklearn.tree import DecisionTreeClassifier
table = pl.read_parquet("wide.parquet")
X = table.select(pl.selectors.float()).to_numpy()
y = pl.read_csv("clusters.csv")["cluster"].to_numpy()
DecisionTreeClassifier(max_leaf_nodes={leaves}, random_state=0).fit(X, y)
"""
READ_AND_WRITE = """
import polars as pl
table = pl.read_parquet("long.parquet")
table.with_columns(pl.Series("cluster", range(len(table)))).write_parquet("copy.parquet")
"""


def draw_rows(n: int, n_columns: int, seed: int) -> tuple[Any, Any]:
    """Blobs around centres, and their classes."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLUSTERS, n)
    return rng.uniform(-10, 10, (CLUSTERS, n_columns))[y] + 3 * rng.normal(size=(n, n_columns)), y


def draw_pairs(y: Any, n_pairs: int, share_wrong: float, seed: int) -> list[tuple[int, int, str]]:
    """Random pairs of rows with the kind of a constraint."""
    import numpy as np

    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, len(y), (2 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    is_yes = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(n_pairs) < share_wrong)
    kinds = np.where(is_yes, "must-link", "cannot-link").tolist()
    return [(first, second, kind) for (first, second), kind in zip(pairs.tolist(), kinds, strict=True)]


# ---------------------------------------------------------------- in Python
def time_pairs(scale: float) -> dict[str, float]:
    """Add pairs one by one, and read the labels after each."""
    import linkwise as lw

    X, y = draw_rows(int(500 * scale), 10, 0)
    pairs = draw_pairs(y, int(PAIRS * scale), 0.1, 1)
    session = lw.Session(X, lw.KIN(random_state=0), error_rate=None)
    _ = session.labels  # what is made once
    return time_work(lambda: [(session.add(*pair), session.labels) for pair in pairs], len(y), len(pairs))


def time_combining(scale: float, *, doubt: bool) -> dict[str, float]:
    """Take the answers of another session."""
    import linkwise as lw

    X, y = draw_rows(int(2000 * scale), 10, 0)
    rate = None if doubt else 0.0
    with TemporaryDirectory() as folder:
        path = Path(folder) / "other.linkwise"
        with lw.Session.open(path, X, lw.KIN(random_state=0), error_rate=rate) as other:
            for first, second, kind in draw_pairs(y, int(ANSWERS * scale), 0.1 * doubt, 1):
                other.add(first, second, kind, source="Bea")
        session = lw.Session(X, lw.KIN(random_state=0), error_rate=rate)
        return time_work(lambda: (session.combine(path), session.labels), len(y), int(ANSWERS * scale))


def time_work(work: Callable[[], object], n_rows: int, size: int) -> dict[str, float]:
    """Seconds of some work in this process."""
    busy, begun = process_time(), perf_counter()
    work()
    return {
        "rows": n_rows,
        "size": size,
        "seconds": perf_counter() - begun,
        "processor": process_time() - busy,
    }


# ---------------------------------------------------------------- commands
def time_command(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of a command, and of the processor."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time_in_turns(commands: list[list[str]], folder: Path, repeats: int) -> list[tuple[float, float]]:
    """Medians of each command; they take turns, so that a busy machine slows all alike."""
    turns = [[time_command(command, folder) for command in commands] for _ in range(repeats)]
    return [(median(t[0] for t in times), median(t[1] for t in times)) for times in zip(*turns, strict=True)]


def time_rules(scale: float, repeats: int) -> dict[str, float]:
    """Explain clusters by rules, beside scikit-learn's tree."""
    import numpy as np
    import polars as pl

    X, y = draw_rows(int(100_000 * scale), 50, 0)
    words = np.array(list("abcde"))[(X[:, 45:] // 5).astype(int) % 5]
    table = {"id": range(len(y)), **{f"x{j}": X[:, j] for j in range(45)}}
    with TemporaryDirectory() as name:
        folder = Path(name)
        pl.DataFrame(table | {f"c{j}": words[:, j] for j in range(5)}).write_parquet(folder / "wide.parquet")
        pl.DataFrame({"id": range(len(y)), "cluster": y}).write_csv(folder / "clusters.csv")
        explain = ["explain", "wide.parquet", "--labels", "clusters.csv", "--id", "id"]
        ours, theirs = time_in_turns(
            [
                [sys.executable, "-m", "linkwise", *explain],
                [sys.executable, "-c", READ_AND_FIT.format(leaves=3 * CLUSTERS)],
            ],
            folder,
            repeats,
        )
    return {"rows": len(y), "size": 50, **name_times(ours, theirs)}


def time_join(scale: float, repeats: int) -> dict[str, float]:
    """Write a table with its clusters, beside a copy of the table."""
    import polars as pl

    X, _ = draw_rows(int(1_000_000 * scale), 8, 0)
    with TemporaryDirectory() as name:
        folder = Path(name)
        pl.DataFrame({f"x{j}": X[:, j] for j in range(8)}).write_parquet(folder / "long.parquet")
        ask = [sys.executable, "-m", "linkwise", "ask", "long.parquet", "--terminal"]
        answers = "ynnnn" * 4
        subprocess.run(
            ask,
            cwd=folder,
            check=True,
            input="\n".join([*answers, "q"]),
            text=True,
            stdout=subprocess.DEVNULL,
        )
        export = ["export", "long.parquet", "--join", "joined.parquet", "--force"]
        ours, theirs = time_in_turns(
            [[sys.executable, "-m", "linkwise", *export], [sys.executable, "-c", READ_AND_WRITE]],
            folder,
            repeats,
        )
    return {"rows": len(X), "size": len(answers), **name_times(ours, theirs)}


def name_times(ours: tuple[float, float], theirs: tuple[float, float]) -> dict[str, float]:
    """Name the seconds of a work and of its yardstick; the ratio is that of the processor's."""
    return {
        "seconds": ours[0],
        "processor": ours[1],
        "yardstick_s": theirs[0],
        "yardstick_processor": theirs[1],
        "times": ours[1] / theirs[1],
    }


IN_PYTHON: dict[str, Callable[[float], dict[str, float]]] = {
    "pairs": time_pairs,
    "combine": lambda scale: time_combining(scale, doubt=True),
    "combine without doubt": lambda scale: time_combining(scale, doubt=False),
}
COMMANDS: dict[str, Callable[[float, int], dict[str, float]]] = {"explain": time_rules, "join": time_join}


def measure(work: str, scale: float, repeats: int) -> dict[str, float]:
    """Medians of one work."""
    if work in COMMANDS:
        return COMMANDS[work](scale, repeats)
    command = [sys.executable, "-m", "bench.speed.waits", "--child", work, "--scale", str(scale)]
    runs = [
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for _ in range(repeats)
    ]
    return {field: median(run[field] for run in runs) for field in runs[0]}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_waits", description="Time what people wait for."
    )
    works = (*IN_PYTHON, *COMMANDS)
    parser.add_argument("--works", nargs="+", choices=works, default=works, metavar="WORK", help="only these")
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="of all sizes")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        print(json.dumps(IN_PYTHON[options.child](options.scale)))
        return 0
    rows = []
    for work in options.works:
        found = measure(work, options.scale, options.repeats)
        counts = {field: str(int(found.pop(field))) for field in ("rows", "size")}
        rows.append({"work": work, **counts, **{field: f"{value:.3g}" for field, value in found.items()}})
        print(rows[-1], flush=True)
    write_table(options.out / "speed_waits.csv", FIELDS, [dict.fromkeys(FIELDS, "") | row for row in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
