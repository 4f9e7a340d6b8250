"""COBRAS and COBRA with known classes: quality, the paper's protocol, and the effect of each change.

    python -m bench run cobras_quality  [--seeds N]
    python -m bench run cobras_rivals   --data DIR [--jobs N] [--learners NAME ...] [--repetitions N]
    python -m bench run cobras_protocol --data DIR [--jobs N] [--quick]
    python -m bench run cobras_ablation --data DIR [--jobs N] [--seeds N]

Van Craenendonck, Dumančić, Van Wolputte and Blockeel (2018), "COBRAS: Fast, Iterative, Active
Clustering with Pairwise Constraints".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers import cobras_protocol
from bench.papers.cobras_measured import LEARNERS, gather
from bench.papers.cobras_repetitions import keep_repetitions, missing_cells
from bench.papers.cobras_rivals import (
    POOL_FIELDS,
    RIVAL_FILES,
    measure_pool,
    measure_rival,
    rival_entries,
)
from bench.papers.cobras_runs import (
    FIELDS,
    FOLDS,
    QUESTIONS,
    REPETITIONS,
    bind_source,
    curves,
    entries,
    find_tasks,
    fold_cells,
    whole_cells,
)
from bench.papers.cobs_runs import bind_place
from bench.results import write_csv

SHOWN = (10, 25, 50, 100)
QUALITY_QUESTIONS = 100
QUICK_QUESTIONS = 50
NPU_QUESTIONS = 100  # it is slow
VARIANTS = (
    "COBRAS",
    "descend=smallest",
    "descend=largest",
    "descend=random",
    "impure_first=False",
    "max_split=None",
    "split_within_budget=False",
    "COBRAS.paper()",
)


def quality(options: argparse.Namespace) -> int:
    """Mean ARI on scikit-learn's sets beside the authors' program; 1 if any cell is below it.

    Once along one run of 100 questions, once at the end of runs with exactly so many: COBRAS may use the
    budget that it is given, and nobody should fare worse by naming it.
    """
    theirs = {row["task"]: [float(row[str(q)]) for q in SHOWN] for row in read_target("cobras_quality.csv")}
    folder = out_folder(options, "cobras")
    cells = [cell for q in SHOWN for cell in whole_cells(theirs, ["COBRAS"], options.seeds, q)]
    rows = run_cells(
        folder / "quality.csv",
        FIELDS,
        cells,
        bind_source(data.Source()),
        uses=entries,
        jobs=options.jobs,
        reuse=options.reuse,
    )
    by_budget = {q: curves(row for row in rows if row["questions"] == str(q)) for q in SHOWN}
    views = {
        f"along one run of {QUALITY_QUESTIONS} questions": dict.fromkeys(SHOWN, QUALITY_QUESTIONS),
        "at the end of runs with that budget": {q: q for q in SHOWN},
    }
    print(f"COBRAS, mean ARI over {options.seeds} seeds, all rows (in brackets: the authors' program)")
    fields, written, missed = ("task", *(f"{q} questions" for q in SHOWN)), [], 0
    for view, budgets in views.items():
        ours = {task: [by_budget[budgets[q]][task, "COBRAS"][q - 1] for q in SHOWN] for task in theirs}
        lines = [format_comparison(task, ours[task], theirs[task]) for task in theirs]
        missed += sum("MISS" in text for line in lines for text in line)
        written += [(view, *line) for line in lines]
        print(f"\n{view}\n{format_table(fields, lines)}")
    write_csv(folder / "quality_table.csv", ("view", *fields), written)
    print(f"\n{missed} of {len(written) * len(SHOWN)} cells are lower")
    return int(missed > 0)


def format_comparison(task: str, ours: Sequence[float], theirs: Sequence[float]) -> tuple[str, ...]:
    """One line of figures beside those to beat, which are known to two digits."""
    pairs = zip(ours, theirs, strict=True)
    return (task, *(f"{o:.3f} ({t:.2f}){' MISS' if round(float(o), 2) < t else ''}" for o, t in pairs))


def protocol(options: argparse.Namespace) -> int:
    """The paper's experiment: COBRA and COBRAS, then tables and claims with whatever else was measured."""
    where = find_source(options)
    tasks = find_tasks(where)
    repetitions = 1 if options.quick else options.repetitions
    questions = QUICK_QUESTIONS if options.quick else QUESTIONS
    folder = out_folder(options, "cobras", None if options.quick else where)
    if not options.report:
        cells = fold_cells(tasks, LEARNERS, repetitions, FOLDS, questions)
        run_cells(
            folder / "protocol.csv",
            FIELDS,
            missing_cells(folder, cells, entries, reuse=options.reuse),
            bind_source(where),
            uses=entries,
            jobs=options.jobs,
            reuse=options.reuse,
        )
    loaded = [data.load(task, where) for task in tasks]
    measured = gather(folder, tasks, [len(task.y) for task in loaded], questions)
    print(f"{repetitions} x {FOLDS}-fold cross-validation, {questions} questions, ARI on test rows")
    print("\n".join(list_departures(loaded)))
    print()
    print(cobras_protocol.write_report(measured, folder, plot=find_spec("matplotlib") is not None))
    print(f"\nCSV files and pictures are in {folder}")
    return 0


def rivals(options: argparse.Namespace) -> int:
    """COBS and NPU in the paper's experiment, small tasks first; `protocol` reports them."""
    where = find_source(options)
    tasks = options.tasks or find_tasks(where)
    tasks = sorted(tasks, key=lambda task: len(data.load(task, where).y))
    folder = out_folder(options, "cobras", where)
    common = {"jobs": options.jobs, "reuse": options.reuse}
    pools = out_folder(options, "cobs")
    if "COBS" in options.learners:
        run_cells(
            folder / "pools.csv",
            POOL_FIELDS,
            [(task,) for task in tasks],
            bind_place(measure_pool, where, pools),
            uses=("build_pool",),
            **common,
        )
    for learner in options.learners:
        questions = options.questions or (QUESTIONS if learner == "COBS" else NPU_QUESTIONS)
        cells = fold_cells(tasks, [learner], options.repetitions, FOLDS, questions)
        run_cells(
            folder / RIVAL_FILES[learner],
            FIELDS,
            missing_cells(folder, cells, rival_entries, reuse=options.reuse),
            bind_place(measure_rival, where, pools),
            uses=rival_entries,
            **common,
        )
        keep_repetitions(folder, [RIVAL_FILES[learner]])
    print(f"{', '.join(options.learners)}: {options.repetitions} repetitions. Now run cobras_protocol.")
    return 0


def list_departures(tasks: list[data.LabelledTask]) -> list[str]:
    """Where these tasks differ from the paper's."""
    names = {task.name for task in tasks}
    features = [f"{t.name}: {t.features}" for t in tasks if t.name in (data.FACES[0], data.NEWS[0])]
    lines = []
    if features:
        lines.append("; ".join(features) + " (the paper has 2048 Inception-V3 features for the faces)")
    missing = [name for name in data.OF_COBRAS if name not in names]
    if missing:
        lines.append(f"without {len(missing)} of the paper's tasks: {', '.join(missing)}")
    return lines


def ablation(options: argparse.Namespace) -> int:
    """COBRAS with one setting changed at a time, all rows; tasks that chose the settings, and others."""
    where = find_source(options)
    tasks = find_tasks(where)
    folder = out_folder(options, "cobras")
    cells = whole_cells(tasks, VARIANTS, options.seeds, QUALITY_QUESTIONS)
    rows = run_cells(
        folder / "ablation.csv",
        FIELDS,
        cells,
        bind_source(where),
        uses=entries,
        jobs=options.jobs,
        reuse=options.reuse,
    )
    ours = curves(rows)
    unseen = [task for task in tasks if task in (*data.FACES, *data.NEWS)]
    groups = {
        "UCI and bundled sets, at which was looked when the defaults were chosen": [
            task for task in tasks if task not in unseen
        ],
        "faces and newsgroups, at which was not looked": unseen,
    }
    written: list[tuple[str, ...]] = []
    for name, members in groups.items():
        if members:
            lines = variant_lines({v: np.array([ours[task, v] for task in members]) for v in VARIANTS})
            written += [(name, *line) for line in lines]
            print(f"\n{name}: {len(members)} tasks, mean ARI over {options.seeds} seeds")
            print(
                format_table(("COBRAS with", *map(str, SHOWN), "mean", "default is ahead by (± s.e.)"), lines)
            )
    write_csv(
        folder / "ablation_table.csv",
        ("tasks", "variant", *(f"ari_{q}" for q in SHOWN), "ari_mean", "default_ahead"),
        written,
    )
    _write_tasks(folder / "ablation_tasks.csv", tasks, ours)
    return 0


def variant_lines(scores: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    """Mean ARI of each variant, and by how much the default's mean over all questions is ahead.

    Parameters
    ----------
    scores : dict of ndarray of shape (n_tasks, n_questions)
        By variant; the default is called COBRAS.
    """
    lines = []
    for variant, ari in scores.items():
        ahead = (scores["COBRAS"] - ari).mean(axis=1)
        error = ahead.std(ddof=1) / np.sqrt(len(ahead)) if len(ahead) > 1 else np.nan
        lead = "" if variant == "COBRAS" else f"{ahead.mean():+.3f} ± {error:.3f}"
        mean = ari.mean(axis=0)
        name = "defaults" if variant == "COBRAS" else variant
        lines.append((name, *(f"{mean[q - 1]:.3f}" for q in SHOWN), f"{mean.mean():.3f}", lead))
    return lines


def _write_tasks(path: Path, tasks: list[str], ours: dict[tuple[str, ...], np.ndarray]) -> None:
    fields = ("task", "variant", *(f"ari_{q}" for q in SHOWN), "ari_mean")
    rows = (
        (task, v, *(f"{ours[task, v][q - 1]:.4f}" for q in SHOWN), f"{ours[task, v].mean():.4f}")
        for task in tasks
        for v in VARIANTS
    )
    write_csv(path, fields, rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.papers.cobras", description="COBRAS and COBRA")
    commands = parser.add_subparsers(required=True)
    for command in (quality, rivals, protocol, ablation):
        sub = commands.add_parser(
            command.__name__, prog=f"python -m bench run cobras_{command.__name__}", help=command.__doc__
        )
        add_common_options(sub)
        sub.set_defaults(command=command)
        if command in (protocol, rivals):
            sub.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
        if command is protocol:
            sub.add_argument("--quick", action="store_true", help="1 repetition, 50 questions")
            sub.add_argument("--report", action="store_true", help="run nothing; report what was measured")
        elif command is rivals:
            sub.add_argument(
                "--learners", nargs="+", choices=RIVAL_FILES, default=RIVAL_FILES, metavar="NAME"
            )
            sub.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks [default: all that are there]")
            sub.add_argument(
                "--questions", type=int, metavar="N", help="[default: 250 for COBS, 100 for NPU]"
            )
        else:
            sub.add_argument("--seeds", type=int, default=10, metavar="N")
    options = parser.parse_args(arguments)
    return int(options.command(options))


if __name__ == "__main__":
    sys.exit(main())
