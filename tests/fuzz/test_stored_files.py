"""Damaged files beside a session lead to one sentence or to the same results, with little memory and time."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from fuzz.stored_files import KINDS
from patience import patience


def run(*options):
    """The lines that the trials printed, in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("stored_files.py")), *map(str, options)]
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=10 * patience(),
        check=False,
        env={**os.environ, **one, "POLARS_MAX_THREADS": "1"},
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]}\n{done.stderr[-2000:]}"
    return lines


def check_lines(lines):
    broken = [pair for pair in pairwise(lines) if "broken" in pair[1]]
    assert not broken, "\n".join(map(str, broken[:5]))
    assert [line["kind"] for line in lines if "kind" in line] == list(KINDS)


def test_files_that_are_cut_or_changed_or_unpack_without_end():
    lines = run()
    check_lines(lines)
    assert min(line["tried"] for line in lines if "tried" in line) > 35


@pytest.mark.slow(nightly=True)
def test_more_files_that_are_changed():
    check_lines(run("--seed", 2, "--n", 1000))
