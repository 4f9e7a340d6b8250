"""Time and memory of record linkage: reading records, candidates, features of pairs, and questions.

    python -m bench run speed_records --music DIR [--sizes 10000 1000000] [--quick] [--keep] [--out DIR]

The rows are songs of MusicBrainz 20K with copies of other spellings (Saeedi, Peukert and Rahm, 2017,
Comparative evaluation of distributed clustering schemes for multi-source entity resolution, ADBIS). DIR (or
LINKWISE_MUSIC) has music20K.csv and ground_truth.txt, in each line of which are the numbers of the rows of
one song. Fewer rows are those of whole songs. For more rows, each further copy of the set exchanges half of
the words of title, album and artist for words of other titles, alike in all rows of one song, so these rows
are other songs. Recall is the share of the pairs of rows of one song that are candidates. Each size runs in a
process of its own; the processor's time is that of all threads.

``--keep`` keeps the rows of other sizes in the table.
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from bench.results import RESULTS, write_table
from bench.speed.kin import peak_mib

SIZES = (10_000, 100_000, 1_000_000)
QUICK = (2_000,)
WORDS = ("title", "album", "artist")  # columns of which words are exchanged
MOST_MEASURED = 1_000_000  # pairs whose features are measured
N_ROUNDS = 30
STEPS = ("records", "candidates", "features", "first")
FIELDS = (
    "n", *(f"{step}_{what}" for step in STEPS for what in ("s", "cpu_s", "MiB")), "pairs_a_row", "recall",
    "round_s", "longest_round_s",
)  # fmt: skip


# ---------------------------------------------------------------- rows
def draw_rows(music: Path, n: int, folder: Path) -> None:
    """Write n rows, and the number of the song of each."""
    import numpy as np
    import polars as pl

    with (music / "music20K.csv").open(newline="", encoding="utf-8", errors="replace") as file:
        rows = list(csv.DictReader(file))
    song = number_songs(rows, (music / "ground_truth.txt").read_text())
    if n < len(rows):
        drawn = np.random.default_rng(0).permutation(max(song) + 1).tolist()
        chosen = set(drawn[: max(2, round(n * len(drawn) / len(rows)))])
        kept = [at for at, one in enumerate(song) if one in chosen]
        rows, song = [rows[at] for at in kept], [song[at] for at in kept]
        n = len(rows)
    columns = [name for name in rows[0] if name != "id"]
    drawn_rows = list(copy_rows(rows, song, n))
    pl.DataFrame({name: [row[name] for row, _ in drawn_rows] for name in columns}).write_parquet(
        folder / "rows.parquet"
    )
    np.save(folder / "songs.npy", np.array([number for _, number in drawn_rows]))


def number_songs(rows: list[dict[str, str]], lines: str) -> list[int]:
    """Number the songs: rows that stand in one line are of the same song."""
    at = {row["id"].strip(): place for place, row in enumerate(rows)}
    above = list(range(len(rows)))

    def find(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for line in lines.splitlines():
        known = [at[word] for word in line.split() if word in at]
        for other in known[1:]:
            above[find(other)] = find(known[0])
    numbers: dict[int, int] = {}
    return [numbers.setdefault(find(place), len(numbers)) for place in range(len(rows))]


def copy_rows(rows: list[dict[str, str]], song: list[int], n: int) -> Iterator[tuple[dict[str, str], int]]:
    """Yield n rows with their songs: the rows, and then copies of them as other songs."""
    words = sorted({word for row in rows for word in row["title"].split()})
    n_songs = max(song) + 1
    for number in range(n):
        copy, at = divmod(number, len(rows))
        row = dict(rows[at])
        rng = random.Random(song[at] * 1009 + copy)
        for name in WORDS if copy else ():
            text = row[name].split()
            start = rng.randrange(1000)
            for k in range((len(text) + 1) // 2):
                text[(start + k) % len(text)] = rng.choice(words)
            row[name] = " ".join(text)
        yield row, song[at] + copy * n_songs


# ---------------------------------------------------------------- what is measured
def measure(folder: Path) -> dict[str, float]:
    """Time and memory of each step of this process, and what was found."""
    import narwhals as nw
    import numpy as np
    import polars as pl

    from linkwise import RecordLinkage, TruthOracle
    from linkwise.constraints.evidence import Evidence
    from linkwise.learn.records.candidates import find_candidates
    from linkwise.learn.records.features import measure_pairs
    from linkwise.learn.records.match_prior import chance_of_cosine
    from linkwise.learn.records.pairs import prepare_records
    from linkwise.learn.records.records import make_records
    from linkwise.learn.run import Run

    frame = nw.from_native(pl.read_parquet(folder / "rows.parquet"))
    song = np.load(folder / "songs.npy")
    found: dict[str, float] = {"n": len(song)}

    def time_step(step: str, function: Any, *arguments: Any, **options: Any) -> Any:
        before = perf_counter(), process_time()
        result = function(*arguments, **options)
        found[f"{step}_s"] = perf_counter() - before[0]
        found[f"{step}_cpu_s"] = process_time() - before[1]
        found[f"{step}_MiB"] = peak_mib()
        print(f"{len(song)} rows, {step}: {found[f'{step}_s']:.1f} s", file=sys.stderr, flush=True)
        return result

    records = time_step("records", make_records, frame, frame.columns)
    pairs = time_step("candidates", find_candidates, records, chance_of_cosine, seed=0)
    size = np.bincount(song)
    found["pairs_a_row"] = len(pairs) / len(song)
    found["recall"] = float((song[pairs.first] == song[pairs.second]).sum() / (size * (size - 1) // 2).sum())
    time_step("features", measure_pairs, records, pairs.first[:MOST_MEASURED], pairs.second[:MOST_MEASURED])
    del pairs

    def begin() -> Run:
        prepared, rows = prepare_records(records, 0, None), np.arange(float(len(song)))[:, None]
        run = Run(RecordLinkage(random_state=0), rows, Evidence(len(song)), 0, prepared=prepared)
        assert run.question is not None, "some pairs are in doubt"
        return run

    run, oracle, rounds = time_step("first", begin), TruthOracle(song), []
    while len(rounds) < N_ROUNDS and (question := run.question) is not None:
        start = perf_counter()
        run.answer(oracle(question.first, question.second))
        _ = run.question
        rounds.append(perf_counter() - start)
    found |= {"round_s": float(np.median(rounds)), "longest_round_s": max(rounds)}
    return found


def run_child(step: str, *arguments: object) -> dict[str, float]:
    """Run a step in a new process."""
    command = [sys.executable, "-m", "bench.speed.records", "--child", step, *map(str, arguments)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_records", description="Time records.")
    parser.add_argument(
        "--music", type=Path, metavar="DIR", help="folder of MusicBrainz 20K (or LINKWISE_MUSIC)"
    )
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK[0]} rows")
    parser.add_argument("--keep", action="store_true", help="keep the rows of other sizes in the table")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        step, *rest = options.child
        if step == "draw":
            draw_rows(Path(rest[0]), int(rest[1]), Path(rest[2]))
        print(json.dumps(measure(Path(rest[0])) if step == "measure" else {}))
        return 0
    music = options.music or (Path(os.environ["LINKWISE_MUSIC"]) if "LINKWISE_MUSIC" in os.environ else None)
    if music is None:
        print("No folder of MusicBrainz 20K was given, so nothing is measured. Pass it with --music.")
        return 0
    table, rows = options.out / "speed_records.csv", []
    for n in options.sizes or (QUICK if options.quick else SIZES):
        with TemporaryDirectory() as name:
            run_child("draw", music, n, name)
            found = run_child("measure", name)
        rows.append({"n": str(found["n"])} | {field: f"{found[field]:.4g}" for field in FIELDS[1:]})
        print(", ".join(f"{field} {value}" for field, value in rows[-1].items()), flush=True)
    if options.keep and table.exists():
        with table.open(newline="") as file:
            rows += [row for row in csv.DictReader(file) if row["n"] not in {one["n"] for one in rows}]
    write_table(table, FIELDS, sorted(rows, key=lambda row: int(row["n"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
