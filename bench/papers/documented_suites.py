"""The suites whose tables the documentation shows.

    python -m bench run documented_suites --data DIR [--only constraints questions] [--quick] [--jobs N]

Beside the clusterers a program from `docs/peers.py` takes part, k-means without constraints. Results go to
bench/results/suites, a folder for each suite.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from bench.harness import add_common_options, find_source, out_folder
from bench.suites.__main__ import main as run_suite
from bench.suites.protocols import read_suite

PEERS: dict[str, tuple[str, ...]] = {"constraints": ("peers.py:kmeans",), "questions": ()}
FOLDER = Path(__file__).resolve().parents[2] / "docs"  # of the file with these programs


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run documented_suites", description="Suites of the docs"
    )
    add_common_options(parser)
    parser.add_argument("--only", nargs="+", default=list(PEERS), choices=list(PEERS), help="suites")
    parser.add_argument("--quick", action="store_true", help="one run of two tasks")
    options = parser.parse_args(arguments)
    source, out = find_source(options), out_folder(options, "suites").resolve()
    for name in options.only:
        command = ["run", name, "--methods", *read_suite(name).methods, *PEERS[name]]
        command += ["--out", str(out), "--jobs", str(options.jobs)]
        command += [] if source.folder is None else ["--data", str(source.folder.resolve())]
        command += [f"--{flag}" for flag in ("openml", "quick", "reuse") if getattr(options, flag)]
        with contextlib.chdir(FOLDER):
            if run_suite(command):
                return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
