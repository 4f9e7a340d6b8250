"""Rows in several files, and questions about groups of them."""

import json
import signal

import numpy as np
import polars as pl
import pytest

from linkwise.large import (
    chunks,
    mixed_groups,
    new_rows,
    repeated_rows,
    table_files,
    table_labels,
    table_passes,
)
from patience import patience
from running_command import start_code

N_ROWS, KINDS = 900, 3


def write_events(folder, ending=".parquet", n_files=3):
    """Rows of three kinds, with numbers, categories and missing values, in several files."""
    rng = np.random.default_rng(0)
    kind = rng.integers(KINDS, size=N_ROWS)
    amount = np.round(rng.normal(100.0 * kind, 3), 3)
    frame = pl.DataFrame(
        {
            "key": [f"e{at}" for at in range(N_ROWS)],
            "amount": [None if at % 97 == 5 else value for at, value in enumerate(amount.tolist())],
            "colour": np.array(["green", "red", "yellow"])[kind],
            "is_new": rng.random(N_ROWS) < 0.5,
            "remark": [f"remark {at}" for at in range(N_ROWS)],
        }
    )
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(N_ROWS), n_files)):
        name = folder / f"part-{number}{ending}"
        rows = frame[part]
        rows.write_parquet(name) if ending == ".parquet" else rows.write_csv(name)
    return kind


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for module in (chunks, mixed_groups, table_files, table_passes, table_labels, new_rows, repeated_rows):
        monkeypatch.setattr(module, "BLOCK", 64)
    monkeypatch.setattr(table_labels, "PART", 128)


@pytest.fixture
def kind(tmp_path):
    return write_events(tmp_path / "events")


@pytest.fixture
def ask(linkwise, tmp_path, kind):
    def run(*options, said="q\n", data="events/*.parquet"):
        return linkwise(
            "ask", tmp_path / data, "--terminal", "--id", "key", "--impute", "median", *options, said=said
        )

    return run


def answer_by_kind(linkwise, path, kind, n):
    """Answer n questions, or all there are, by the kinds of the rows; each reply shows the next one."""
    said = ""
    for _ in range(n + 1):
        lines = [json.loads(line) for line in linkwise("ask", path, "--json", said=said).stdout.splitlines()]
        questions = [line for line in lines if line["type"] == "question"]
        if len(questions) <= len(said) // 2:
            return
        first, second = (kind[int(key[1:])] for key in questions[-1]["ids"])
        said = "y\n" if first == second else "n\n"


STOPPED = """
import os, signal, sys
from linkwise.__main__ import main
from linkwise.large import checkpoints, chunks, mixed_groups, new_rows, repeated_rows, table_files
from linkwise.large import table_labels, table_passes
for module in (chunks, mixed_groups, table_files, table_passes, table_labels, new_rows, repeated_rows):
    module.BLOCK = 64
table_labels.PART = 128
checkpoints.SAVE_S = 0.0
*names, work = sys.argv[1].split(".")
owner, stop = sys.modules["linkwise.large." + names[0]], int(sys.argv[2])
for name in names[1:]:
    owner = getattr(owner, name)
done = getattr(owner, work)
def count_and_stop(*args, **options):
    global stop
    stop -= 1
    if stop < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return done(*args, **options)
setattr(owner, work, count_and_stop)
sys.argv[:] = ["linkwise", *sys.argv[3:]]
main()
"""


def kill_in_a_pass(work, stop, *command):
    """Run a command in another process, which is killed at a call of a function of `linkwise.large`."""
    with start_code(STOPPED, work, stop, *command) as process:
        assert process.wait(patience()) == -signal.SIGKILL


def count_calls(monkeypatch, owner, name):
    """Count the calls of a function."""
    calls, work = [], getattr(owner, name)

    def count(*args, **options):
        calls.append(1)
        return work(*args, **options)

    monkeypatch.setattr(owner, name, count)
    return calls
