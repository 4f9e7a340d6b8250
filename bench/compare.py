"""Compare the speed of this checkout with that of an earlier commit, on this machine, in turn.

    python -m bench.compare [--base REV] [--rounds N] [--cells PART ...] [--keep]

Both versions are built in folders of their own below ``build/compare``, and the cells of
`bench.compare_cells` run in fresh processes on one thread: in each round once with either version, in
alternating order. The ratio of a cell is the median of the ratios of its rounds. It is slower if the ratio is
above 1 by more than the band: 10 %, or three times the spread of the rounds where that is more. Times are
processor times, so other programs on the machine matter little. Exits with 1 if a cell is slower.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.compare_cells import CELLS
from bench.results import RESULTS, write_table
from bench.suites.results import format_table

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 5
BAND, SPREADS = 0.10, 3.0
FIELDS = ("cell", "base_s", "now_s", "ratio", "band", "verdict")


class Verdict(NamedTuple):
    """How a cell of this checkout compares with the earlier commit."""

    ratio: float
    """Time now, in times of the base."""
    band: float
    """Share by which it may differ by chance."""

    def __str__(self) -> str:
        if self.ratio > 1 + self.band:
            return "slower"
        return "faster" if self.ratio < 1 / (1 + self.band) else "same"


def judge(base: Sequence[float], now: Sequence[float]) -> Verdict:
    """Compare the seconds of the rounds, which are paired.

    Parameters
    ----------
    base, now : sequence of float
        Seconds of each round.
    """
    ratios = [after / before for before, after in zip(base, now, strict=True)]
    middle = median(ratios)
    spread = median(abs(ratio - middle) for ratio in ratios) / middle
    return Verdict(middle, max(BAND, SPREADS * spread))


def build(tree: Path, where: Path) -> Path:
    """Install the linkwise of a source tree into an environment of its own, and return its Python.

    All other packages are those of the running environment.
    """
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", where], check=True)
    python = where / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    build_folder = f"--config-settings=build-dir={where}-objects"  # not that of the checkout
    subprocess.run([*command, "--ignore-installed", build_folder, tree], check=True)
    return python


def measure(python: Path, cell: str) -> float | None:
    """Seconds of a cell in a fresh process; None if this version cannot run it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(
        [python, Path(__file__).with_name("compare_cells.py"), cell],
        env=environment,
        cwd=python.parent,  # not the repository, whose src would be imported
        capture_output=True,
        text=True,
        check=False,
    )
    return float(json.loads(found.stdout)) if found.returncode == 0 else None


def compare(base: Path, now: Path, cells: Sequence[str], rounds: int) -> list[dict[str, str]]:
    """Run cells with both versions in turn; a line of the table for each."""
    lines = []
    for cell in cells:
        seconds: dict[Path, list[float]] = {base: [], now: []}
        for number in range(rounds):
            for python in (base, now) if number % 2 == 0 else (now, base):
                took = measure(python, cell)
                if took is None:
                    break
                seconds[python].append(took)
        if not len(seconds[base]) == len(seconds[now]) == rounds:
            broken = "now" if len(seconds[now]) < len(seconds[base]) else "at the base"
            line = dict.fromkeys(FIELDS[1:-1], "-") | {"cell": cell, "verdict": f"fails {broken}"}
        else:
            verdict = judge(seconds[base], seconds[now])
            line = {
                "cell": cell,
                "base_s": f"{median(seconds[base]):.3f}",
                "now_s": f"{median(seconds[now]):.3f}",
                "ratio": f"{verdict.ratio:.2f}",
                "band": f"{verdict.band:.2f}",
                "verdict": str(verdict),
            }
        lines.append(line)
        print("  ".join(line[field] for field in FIELDS), flush=True)
    return lines


def find_base(revision: str | None) -> str:
    """The commit to compare with: the given one, or where this branch left main, or the one before."""

    def ask(*arguments: str) -> str:
        command = ["git", "-C", ROOT, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    if revision is not None:
        found = ask("rev-parse", "--verify", "--quiet", revision + "^{commit}")
        if not found:
            raise SystemExit(f"There is no commit {revision!r}. Pass a commit, branch or tag.")
        return found
    head, fork = ask("rev-parse", "HEAD"), ask("merge-base", "HEAD", "main")
    return fork if fork and fork != head else ask("rev-parse", "HEAD~1")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description="Compare two versions.")
    parser.add_argument("--base", metavar="REV", help="commit to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    parser.add_argument(
        "--cells", nargs="+", default=[""], metavar="PART", help="cells with this in their name"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--keep", action="store_true", help="keep both builds")
    options = parser.parse_args(arguments)
    cells = [cell for cell in CELLS if any(part.lower() in cell.lower() for part in options.cells)]
    if not cells:
        raise SystemExit(f"No cell has such a name. Cells are: {'; '.join(CELLS)}.")
    commit, folder = find_base(options.base), ROOT / "build" / "compare"
    tree = folder / "tree"
    shutil.rmtree(folder, ignore_errors=True)  # what a run that was killed has left
    subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
    subprocess.run(
        ["git", "-C", ROOT, "worktree", "add", "--quiet", "--force", "--detach", tree, commit], check=True
    )
    try:
        print(f"Building {commit[:8]} and this checkout.", flush=True)
        base, now = build(tree, folder / "base"), build(ROOT, folder / "now")
        lines = compare(base, now, cells, options.rounds)
    finally:
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    write_table(options.out / "compare.csv", FIELDS, lines)
    print(format_table(FIELDS, [tuple(line.values()) for line in lines]))
    return int(any(line["verdict"] in ("slower", "fails now") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
