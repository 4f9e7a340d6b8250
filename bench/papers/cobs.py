"""COBS and active COBS: Tables III to V and the figures of the paper, beside ours.

    python -m bench run cobs_table4 --data DIR
    python -m bench run cobs_table3 --data DIR
    python -m bench run cobs_peers --data DIR
    python -m bench run cobs_pools --data DIR
    python -m bench run cobs_active --data DIR
    python -m bench run cobs_npu --data DIR
    python -m bench run cobs_sweeps --data DIR

Van Craenendonck and Blockeel (2017), "Constraint-based clustering selection". ``--quick`` runs sets that come
with scikit-learn five times, and never fails.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.cobs_asking import (
    Setting,
    draw_curves,
    format_curves,
    format_sweeps,
    measure_curves,
    read_curves,
    write_curves,
)
from bench.papers.cobs_peers import (
    LETTER,
    LONG,
    NPU_AT,
    NPU_FIELDS,
    PEER_FIELDS,
    PEERS,
    POOLS,
    REFITS,
    REFITTED,
    measure_npu,
    measure_peer,
    name_refit,
    npu_cells,
    npu_entries,
    peer_cells,
    peer_entries,
)
from bench.papers.cobs_runs import (
    BEST_FIELDS,
    BY_DEGREE,
    CHOICE_FIELDS,
    CHOOSING,
    PARTS,
    SELECTOR_FIELDS,
    SELECTORS,
    TASKS,
    TIES,
    bind_place,
    choice_cells,
    measure_best,
    measure_choice,
    measure_selector,
    selector_entries,
)
from bench.results import write_csv
from bench.suites.cell_store import Row, read_rows
from bench.suites.summaries import Mean, mean_of

CONSTRAINTS, RUNS, QUICK_RUNS = 50, 25, 5
NO_EXCEPTIONS: Mapping[str, int] = {}
LONG_RUNS = 10  # of Table V on the two largest sets, as printed
VERSION_FIELDS = ("task", "method", "letter", "letter_error", "default", "default_error", "paper", "runs")
SIDE_BY_SIDE = "as printed, with our defaults (in brackets: the paper)"
QUICK_TASKS = ("iris", "wine", "breast_cancer")
SWEPT = ("wine", "dermatology")
PEERS_AT = (10, 25, 50, 100)
PICKED = ("k-means", "DBSCAN", "spectral")
COLUMNS = {  # of Table III: who chooses among the clusterings of which algorithm
    "kmeans_SI": "", "kmeans_COBS": "k-means",
    "dbscan_DBCV": "", "dbscan_DBCV_squared": "", "dbscan_DBCV_noise": "", "dbscan_DBCV_squared_noise": "",
    "dbscan_COBS": "DBSCAN",
    "spectral_STS": "", "spectral_COBS": "spectral", "spectral_COBS_by_degree": f"spectral{BY_DEGREE}",
}  # fmt: skip


def read_setting(options: argparse.Namespace, wanted: Sequence[str] = TASKS) -> Setting:
    """Sets, runs and the folder that the options of a command amount to."""
    where = data.Source() if options.quick else find_source(options)
    wanted = QUICK_TASKS if options.quick else wanted
    tasks = [task for task in wanted if task in data.names(where)]
    missing = [task for task in wanted if task not in tasks]
    if not tasks:
        raise SystemExit("None of the paper's sets is there. Pass their folder with --data, or use --quick.")
    if missing:
        print(f"{len(missing)} of the sets are missing: {', '.join(missing)}")
    folder = out_folder(options, "cobs_quick") if options.quick else out_folder(options, "cobs", where)
    return Setting(
        tasks, where, folder, QUICK_RUNS if options.quick else options.runs, options.jobs, options.reuse
    )


# ---------------------------------------------------------------- what COBS chose
Key = tuple[str, str, str]  # task, algorithms, tie
Chosen = dict[Key, list[Row]]


def collect_choices(s: Setting, algorithms: Sequence[str], ties: Sequence[str]) -> Chosen:
    """All runs of COBS, gathered."""
    cells = choice_cells(s.tasks, algorithms, ties, CONSTRAINTS, s.runs)
    work = bind_place(measure_choice, s.where, s.folder)
    gathered: Chosen = {}
    for row in run_cells(
        s.folder / "choices.csv", CHOICE_FIELDS, cells, work, uses=CHOOSING, jobs=s.jobs, reuse=s.reuse
    ):
        gathered.setdefault((row["task"], row["algorithms"], row["tie"]), []).append(row)
    return gathered


def average_ari(rows: Sequence[Row]) -> Mean:
    return mean_of([float(row["ari"]) for row in rows])


def count_algorithms(rows: Iterable[Row]) -> str:
    """How often k-means, DBSCAN and spectral clustering."""
    found = Counter(row["algorithm"].partition(",")[0] for row in rows)
    return "/".join(str(found[name]) for name in PICKED)


def find_printed(target: str, task: str) -> Row | None:
    """The paper's row about a set."""
    return next((row for row in read_target(target) if row["task"] == task), None)


# ---------------------------------------------------------------- Table IV
def table4(options: argparse.Namespace) -> int:
    """The best of the pool, COBS after 50 constraints, and what it chose."""
    s = read_setting(options)
    cells = [(task, part) for task in s.tasks for part in ("all", f"all{BY_DEGREE}", *PARTS)]
    work = bind_place(measure_best, s.where, s.folder)
    rows = run_cells(
        s.folder / "best.csv", BEST_FIELDS, cells, work, uses=CHOOSING, jobs=s.jobs, reuse=s.reuse
    )
    best = {(row["task"], row["algorithms"]): float(row["ari"]) for row in rows}
    ours = collect_choices(s, ["all"], TIES) | collect_choices(s, [f"all{BY_DEGREE}"], ["random"])
    fields = (
        "task", "best", "best_by_degree", "best_paper", "random", "random_error", "agreement",
        "agreement_error", "by_degree", "by_degree_error", "paper", "picked_random", "picked_agreement",
        "picked_by_degree", "picked_paper", "runs",
    )  # fmt: skip
    lines = [(*table4_line(task, best, ours), str(s.runs)) for task in s.tasks]
    write_csv(s.folder / "table4.csv", fields, lines)
    print(f"\nTable IV: {CONSTRAINTS} constraints, {s.runs} runs; ties at random as printed, or by our rule")
    print(format_table(fields, lines))
    print("\nBest ARI of each algorithm in the pool")
    parts = [(task, *(f"{best[task, part]:.3f}" for part in PARTS)) for task in s.tasks]
    write_csv(s.folder / "table4_best.csv", ("task", *PARTS), parts)
    print(format_table(("task", *PARTS), parts))
    return 0


def table4_line(task: str, best: Mapping[tuple[str, str], float], ours: Chosen) -> tuple[str, ...]:
    end = f"all{BY_DEGREE}"
    by = {tie: ours[task, "all", tie] for tie in TIES} | {BY_DEGREE: ours[task, end, "random"]}
    means = {tie: average_ari(rows) for tie, rows in by.items()}
    theirs = find_printed("cobs_table4.csv", task)
    return (
        task, f"{best[task, 'all']:.3f}", f"{best[task, end]:.3f}", theirs["best"] if theirs else "",
        *means["random"].texts(3), *means["agreement"].texts(3), *means[BY_DEGREE].texts(3),
        theirs["cobs"] if theirs else "",
        *(count_algorithms(by[tie]) for tie in ("random", "agreement", BY_DEGREE)),
        "/".join(theirs[name] for name in PICKED) if theirs else "",
    )  # fmt: skip


# ---------------------------------------------------------------- Table III
def table3(options: argparse.Namespace) -> int:
    """One algorithm at a time, tuned without constraints and by COBS after 50; the columns Q1."""
    s = read_setting(options)
    cells = [(task, selector) for task in s.tasks for selector in SELECTORS]
    work = bind_place(measure_selector, s.where, s.folder)
    alone = {
        (row["task"], row["selector"]): Mean(float(row["ari"]))
        for row in run_cells(
            s.folder / "selectors.csv",
            SELECTOR_FIELDS,
            cells,
            work,
            uses=selector_entries,
            jobs=s.jobs,
            reuse=s.reuse,
        )
    }
    by_cobs = collect_choices(s, [*PICKED, f"spectral{BY_DEGREE}"], TIES)
    lines = []
    for task in s.tasks:
        theirs = find_printed("cobs_table3.csv", task)
        for column, algorithm in COLUMNS.items():
            means = (
                [average_ari(by_cobs[task, algorithm, tie]) for tie in ("random", "agreement")]
                if algorithm
                else [alone[task, column]] * 2
            )
            figure = theirs.get(column, "") if theirs else ""
            lines.append(
                (task, column, *means[0].texts(3), *means[1].texts(3), figure, str(s.runs) * bool(algorithm))
            )
    write_csv(s.folder / "table3.csv", VERSION_FIELDS, lines)
    print(f"\nTable III, Q1: {CONSTRAINTS} constraints, {s.runs} runs, {SIDE_BY_SIDE}")
    print(format_table(("task", *COLUMNS), compare_lines(lines)))
    return 0


# ---------------------------------------------------------------- figures
def active(options: argparse.Namespace) -> int:
    """ARI after 1 to 100 questions of active COBS, and after as many random constraints."""
    s = read_setting(options)
    curves = measure_curves(s, {"active": ("active", "2", "1000"), "random constraints": ("random", "", "")})
    write_curves(s.folder / "active.csv", curves)
    draw_curves(s.folder / "active.png", s.tasks, curves, columns=5)
    print(f"\nMean ARI of {s.runs} runs by number of constraints")
    print(format_curves(s.tasks, curves))
    return 0


def sweeps(options: argparse.Namespace) -> int:
    """Active COBS with other update factors (Figure 2) and other sizes of the sample (Figure 3)."""
    s = read_setting(options, SWEPT)
    swept = {
        "factors": {f"m = {m}": ("active", m, "1000") for m in ("1.05", "1.5", "2", "5", "10")},
        "samples": {f"s = {size}": ("active", "2", size) for size in ("50", "200", "1000", "5000")},
    }
    for name, strategies in swept.items():
        curves = measure_curves(s, {**strategies, "random constraints": ("random", "", "")})
        write_curves(s.folder / f"{name}.csv", curves)
        draw_curves(s.folder / f"{name}.png", s.tasks, curves)
        print(f"\nMean ARI of {s.runs} runs by number of constraints")
        print(format_sweeps(s.tasks, curves))
    return 0


# ---------------------------------------------------------------- clusterers that take constraints
def peers(options: argparse.Namespace) -> int:
    """Clusterers that take constraints, tuned: Table III, columns Q2, and with other numbers Figure 1."""
    s, at = read_setting(options), tuple(options.at)
    names = [name for name in PEERS if options.only is None or name in options.only.split(",")]
    methods = both_versions(["cobs_u", *names])
    found = collect_peers(s, methods, at)
    if CONSTRAINTS in at:
        tabled = {key: [means[at.index(CONSTRAINTS)]] for key, means in found.items()}
        write_comparison(s, tabled, tuple(names), "cobs_table3.csv", "table3_peers")
    if len(at) > 1:
        curves = {(task, method, TIES[0]): means for (task, method), means in found.items()}
        write_curves(s.folder / "peers.csv", curves, at)
        for file, end in (("peers_letter.png", LETTER), ("peers.png", "")):
            version = {
                (task, name, TIES[0]): found[task, f"{name}{end}"]
                for task in s.tasks
                for name in ("cobs_u", *names)
            }
            draw_curves(s.folder / file, s.tasks, version, columns=5, at=at)
    print(f"\nMean ARI of all sets by number of random constraints, {s.runs} runs")
    means = [(m, *average_tasks(s.tasks, found, m)) for m in methods]
    write_csv(s.folder / f"peers_means_{'_'.join(map(str, at))}.csv", ("method", *map(str, at)), means)
    print(format_table(("method", *map(str, at)), means))
    return 0


def pools(options: argparse.Namespace) -> int:
    """COBS over clusterers that take constraints: Table V."""
    s = read_setting(options)
    runs = dict.fromkeys(LONG, LONG_RUNS)
    found = collect_peers(s, both_versions(POOLS), (CONSTRAINTS,), runs)
    write_comparison(s, found, tuple(POOLS), "cobs_table5.csv", "table5", runs)
    return 0


def npu(options: argparse.Namespace) -> int:
    """Active COBS beside NPU with clusterers that find the number of clusters: Figure 4.

    The table and the pictures show all finished runs, and active COBS as `active` has measured it. The
    version as printed has "random" in the column of ties, which is how its active COBS breaks them.
    """
    s = read_setting(options)
    methods = [name for name in REFITS if options.only is None or name in options.only.split(";")]
    work, path = bind_place(measure_npu, s.where, s.folder), s.folder / "npu.csv"
    cells = npu_cells(s.tasks, methods, s.runs)
    run_cells(path, NPU_FIELDS, cells, work, uses=npu_entries, jobs=s.jobs, reuse=s.reuse)
    runs = gather_runs(read_rows(path))
    curves = read_curves(s.folder / "active.csv", {"active": "active COBS"}, NPU_AT)
    for tie, end in (("random", LETTER), ("agreement", "")):
        for task, name in product(s.tasks, REFITTED):
            if found := runs.get((task, name_refit(task, name, end) or "")):
                curves[task, name, tie] = [mean_of(scores) for scores in zip(*found, strict=True)]
    draw_curves(s.folder / "npu_letter.png", s.tasks, curves, columns=5, at=NPU_AT, tie="random")
    draw_curves(s.folder / "npu.png", s.tasks, curves, columns=5, at=NPU_AT)
    write_curves(s.folder / "npu_curves.csv", curves, NPU_AT)
    print(f"\nMean ARI after {', '.join(map(str, NPU_AT))} questions")
    for tie, version in (("random", "as printed"), ("agreement", "with our defaults")):
        names = list(dict.fromkeys(name for _, name, t in curves if t == tie))
        lines = [
            (task, *(" ".join(f"{m.value:.2f}" for m in curves.get((task, name, tie), ())) for name in names))
            for task in s.tasks
        ]
        print(format_table((version, *names), lines))
    return 0


def gather_runs(rows: Iterable[Row]) -> dict[tuple[str, str], list[list[float]]]:
    """The scores at each of NPU_AT of all runs, by task and method; the last of a run that is there twice."""
    found = {(row["task"], row["method"], row["run"]): [float(row[str(n)]) for n in NPU_AT] for row in rows}
    gathered: dict[tuple[str, str], list[list[float]]] = {}
    for (task, method, _), scores in found.items():
        gathered.setdefault((task, method), []).append(scores)
    return gathered


def both_versions(names: Iterable[str]) -> list[str]:
    """The methods as printed, then with our defaults."""
    names = list(names)
    return [*(f"{name}{LETTER}" for name in names), *names]


def collect_peers(
    s: Setting, methods: Iterable[str], numbers: Sequence[int], runs: Mapping[str, int] = NO_EXCEPTIONS
) -> dict[tuple[str, str], list[Mean]]:
    """Mean ARI of each task and method at each number of constraints; some tasks may have their own runs."""
    methods = list(methods)
    work = bind_place(measure_peer, s.where, s.folder)
    cells = [
        cell
        for cell in peer_cells(s.tasks, methods, numbers, s.runs)
        if int(cell[-1]) < runs.get(cell[0], s.runs)
    ]
    gathered: dict[tuple[str, str, int], list[float]] = {}
    for row in run_cells(
        s.folder / "peer_runs.csv", PEER_FIELDS, cells, work, uses=peer_entries, jobs=s.jobs, reuse=s.reuse
    ):
        key = row["task"], row["method"], int(row["constraints"])
        gathered.setdefault(key, []).append(float(row["ari"]))
    return {(task, m): [mean_of(gathered[task, m, n]) for n in numbers] for task in s.tasks for m in methods}


def write_comparison(
    s: Setting,
    found: dict[tuple[str, str], list[Mean]],
    columns: tuple[str, ...],
    target: str,
    file: str,
    runs: Mapping[str, int] = NO_EXCEPTIONS,
) -> None:
    """All figures of a table: as printed, with our defaults, and the paper's; then a line for each set."""
    lines = []
    for task in s.tasks:
        theirs = find_printed(target, task)
        for column in columns:
            letter, default = (found[task, name][0] for name in both_versions([column]))
            figure = theirs[column] if theirs else ""
            n_runs = str(runs.get(task, s.runs))
            lines.append((task, column, *letter.texts(3), *default.texts(3), figure, n_runs))
    fields = ("task", "method", "letter", "letter_error", "default", "default_error", "paper", "runs")
    write_csv(s.folder / f"{file}.csv", fields, lines)
    print(
        f"\n{CONSTRAINTS} constraints, {s.runs} runs: as printed, with our defaults (in brackets: the paper)"
    )
    print(format_table(("task", *columns), compare_lines(lines)))


def compare_lines(lines: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One line for each set, a column for each method: as printed, our default, in brackets the paper's."""
    by_task: dict[str, list[str]] = {}
    for task, _, letter, _, default, _, figure, _ in lines:
        printed = f" ({float(figure):.2f})" if figure else ""
        by_task.setdefault(task, []).append(f"{float(letter):.2f} {float(default):.2f}{printed}")
    return [(task, *texts) for task, texts in by_task.items()]


def average_tasks(
    tasks: Sequence[str], found: dict[tuple[str, str], list[Mean]], method: str
) -> tuple[str, ...]:
    columns = zip(*(found[task, method] for task in tasks), strict=True)
    return tuple(f"{sum(m.value for m in column) / len(tasks):.3f}" for column in columns)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.papers.cobs", description="COBS and active COBS")
    commands = parser.add_subparsers(required=True)
    for command in (table4, table3, peers, pools, active, npu, sweeps):
        sub = commands.add_parser(
            command.__name__, prog=f"python -m bench run cobs_{command.__name__}", help=command.__doc__
        )
        add_common_options(sub)
        sub.add_argument("--runs", type=int, default=RUNS, metavar="N")
        sub.add_argument("--quick", action="store_true", help=f"scikit-learn's sets, {QUICK_RUNS} runs")
        if command is peers:
            sub.add_argument(
                "--at", nargs="+", type=int, default=PEERS_AT, metavar="N", help="numbers of constraints"
            )
            sub.add_argument("--only", metavar="A,B", help=f"methods, of {', '.join(PEERS)}")
        if command is npu:
            sub.add_argument("--only", metavar="A;B", help=f"methods, of {'; '.join(REFITS)}")
        sub.set_defaults(command=command)
    options = parser.parse_args(arguments)
    return int(options.command(options))


if __name__ == "__main__":
    sys.exit(main())
