"""The claims of Van Craenendonck and Blockeel (2017) in words, tested on the committed tables.

Words such as "clearly" and "usually" have no number in the paper. Here two figures differ if they are more
than 0.05 apart, an ARI below 0.3 is poor, one of 0.45 or more is good, and "most" is more than half. What the
paper calls significant, and what is far behind, must be more than two standard errors apart, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import hypot
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.harness import read_target
from bench.papers.cobs_figures import read_programs
from bench.papers.cobs_peers import PEERS
from bench.papers.cobs_runs import TASKS
from bench.results import write_csv
from bench.suites.cell_store import read_rows

CLEAR = 0.05  # ARI
FAR = 2 * CLEAR
GOOD, POOR = 0.45, 0.3
CLEAR_TASKS = TASKS[:8]  # the paper's "first eight", before hepatitis and glass
Q1 = {"kmeans_COBS": "kmeans_SI", "dbscan_COBS": "dbscan_DBCV", "spectral_COBS": "spectral_STS"}
Q2 = {"kmeans_COBS": "mpck_", "dbscan_COBS": "fosc", "spectral_COBS": "cosc_"}
TIES = {"letter": "random", "default": "agreement"}
VERSIONS = (*TIES, "authors")
FIELDS = ("claim", *(name for version in VERSIONS for name in (version, f"{version}_holds")))
FEW, LAST = "10", "100"
AT = (FEW, "25", "50", LAST)
SWEPT = ("wine", "dermatology")

Verdict = tuple[str, bool]
Table = dict[tuple[str, str], float]
"""ARI by task and method."""
Curves = dict[tuple[str, str, str], float]
"""By task, strategy and number of constraints."""


class Results(NamedTuple):
    """The tables of one version, with 50 constraints where nothing else is said."""

    alone: Table
    """Table III: COBS with one algorithm and choices without constraints."""
    peers: Table
    """Table III: clusterers that take constraints."""
    whole: Table
    """Table IV: method "cobs"."""
    picked: dict[str, Sequence[int]]
    """How often COBS chose k-means, DBSCAN, spectral clustering, by task."""
    pools: Table
    """Table V."""
    curves: Curves
    """Figures 2 to 4."""
    errors: Curves
    """The standard errors of the curves."""


def read_results(folder: Path, version: str) -> Results:
    """Read the committed tables."""
    if version == "authors":
        return _read_programs(folder)
    tie = TIES[version]
    rows4 = read_rows(folder / "table4.csv")
    return Results(
        _read_table(folder / "table3.csv", version),
        _read_table(folder / "table3_peers.csv", version),
        {(row["task"], "cobs"): float(row[tie]) for row in rows4},
        {row["task"]: [int(n) for n in row[f"picked_{tie}"].split("/")] for row in rows4},
        _read_table(folder / "table5.csv", version),
        _read_curves(folder, tie, "ari"),
        _read_curves(folder, tie, "standard_error"),
    )


def _read_programs(folder: Path) -> Results:
    """Tables III and IV as the programs that the paper ran, and as printed where they change nothing."""
    letter, rows4 = read_results(folder, "letter"), read_rows(folder / "table4.csv")
    known = {place: of.ari for place, of in read_programs(folder.parent).items()}
    alone, peers = (
        table | {place: ari for place, ari in known.items() if place in table}
        for table in (letter.alone, letter.peers)
    )
    whole = {(row["task"], "cobs"): float(row["by_degree"]) for row in rows4}
    picked = {row["task"]: [int(n) for n in row["picked_by_degree"].split("/")] for row in rows4}
    return Results(alone, peers, whole, picked, {}, {}, {})


def _read_table(path: Path, version: str) -> Table:
    return {(r["task"], r["method"]): float(r[version]) for r in read_rows(path) if r.get(version)}


def _read_curves(folder: Path, tie: str, column: str) -> Curves:
    return {
        (row["task"], row["strategy"], row["constraints"]): float(row[column])
        for name in ("active", "factors", "samples", "npu_curves")
        for row in read_rows(folder / f"{name}.csv")
        if row["ties"] == tie
    }


# ---------------------------------------------------------------- Q1 to Q4
def _constraints_choose_better(r: Results) -> Verdict:
    better = sum(r.alone[t, cobs] > r.alone[t, other] for t in TASKS for cobs, other in Q1.items())
    return f"{better} of {len(TASKS) * len(Q1)}", 2 * better > len(TASKS) * len(Q1)


def _losses_are_small(r: Results) -> Verdict:
    losses = [r.alone[t, other] - r.alone[t, cobs] for t in TASKS for cobs, other in Q1.items()]
    losses = [loss for loss in losses if loss > 0]
    small = sum(loss <= CLEAR for loss in losses)
    return f"{small} of {len(losses)} at most {CLEAR}", 2 * small > len(losses)


def _only_constraints_find_ionosphere(r: Results) -> Verdict:
    chosen, other = r.alone["ionosphere", "dbscan_COBS"], r.alone["ionosphere", "dbscan_DBCV"]
    return f"{chosen:.2f} / {other:.2f}", chosen >= GOOD > other


def _neither_is_always_better(r: Results) -> Verdict:
    texts, holds = [], True
    for cobs, start in Q2.items():
        rivals = [name for name in PEERS if name.startswith(start)]
        wins = sum(r.alone[t, cobs] > max(r.peers[t, name] for name in rivals) for t in TASKS)
        texts.append(f"{cobs.partition('_')[0]} {wins}")
        holds &= 0 < wins < len(TASKS)
    return f"COBS better on {', '.join(texts)} of {len(TASKS)} sets", holds


def _is_good_on_first_eight(r: Results) -> Verdict:
    good = [t for t in CLEAR_TASKS if r.whole[t, "cobs"] >= GOOD]
    return f"{len(good)} of {len(CLEAR_TASKS)}, {GOOD} or more", len(good) == len(CLEAR_TASKS)


def _no_rival_is_good_on_first_eight(r: Results) -> Verdict:
    good = {name: sum(r.peers[t, name] >= GOOD for t in CLEAR_TASKS) for name in PEERS}
    best = max(good, key=lambda name: good[name])
    return f"most {good[best]} of {len(CLEAR_TASKS)} ({best})", good[best] < len(CLEAR_TASKS)


def _is_superior_to_each(r: Results) -> Verdict:
    gaps = {name: fmean(r.whole[t, "cobs"] - r.peers[t, name] for t in TASKS) for name in PEERS}
    least = min(gaps, key=lambda name: gaps[name])
    return f"least mean lead {gaps[least]:+.2f} ({least})", gaps[least] > CLEAR


def _outperforms_most(r: Results) -> Verdict:
    ahead = [n for n in PEERS if fmean(r.whole[t, "cobs"] - r.peers[t, n] for t in TASKS) > 0]
    return f"higher mean than {len(ahead)} of {len(PEERS)}", 2 * len(ahead) > len(PEERS)


def _is_as_good_as_the_best(r: Results) -> Verdict:
    lead = {t: r.whole[t, "cobs"] - max(r.peers[t, name] for name in PEERS) for t in TASKS}
    mean = fmean(r.whole[t, "cobs"] - r.peers[t, name] for t in TASKS for name in PEERS)
    near = sum(gap >= -CLEAR for gap in lead.values())
    text = f"at most {CLEAR} behind the best on {near} of {len(TASKS)} sets, mean lead {mean:+.2f}"
    return text, 2 * near > len(TASKS) and mean > CLEAR


def _eigengap_is_good_on_iris_only(r: Results) -> Verdict:
    lead = {t: r.peers[t, "cosc_eigen"] - r.whole[t, "cobs"] for t in TASKS}
    worse = sum(gap < -CLEAR for gap in lead.values())
    return f"iris {lead['iris']:+.2f}, much worse on {worse}", lead["iris"] > 0 and worse >= 3


def _hard_sets_are_poor(r: Results) -> Verdict:
    best = {t: max(r.whole[t, "cobs"], *(r.peers[t, n] for n in PEERS)) for t in ("glass", "hepatitis")}
    return ", ".join(f"{t} at most {ari:.2f}" for t, ari in best.items()), max(best.values()) < POOR


def _chooses_dbscan_on_ionosphere(r: Results) -> Verdict:
    counts = r.picked["ionosphere"]
    return f"{counts[1]} of {sum(counts)} runs", counts[1] == max(counts)


def _mostly_chooses_spectral(r: Results) -> Verdict:
    others = [t for t in TASKS if t != "ionosphere"]
    mostly = sum(r.picked[t][2] == max(r.picked[t]) for t in others)
    return f"{mostly} of {len(others)} sets", 2 * mostly > len(others)


def _same_constraints_twice_are_not_better(r: Results) -> Verdict:
    better = [t for t in TASKS if r.pools[t, "cobs_ss"] > r.pools[t, "cobs_u"] + CLEAR]
    mean = fmean(r.pools[t, "cobs_ss"] - r.pools[t, "cobs_u"] for t in TASKS)
    return f"mean {mean:+.2f}, better on {len(better)} of {len(TASKS)}", mean < 0


def _splitting_is_better(r: Results) -> Verdict:
    better = sum(r.pools[t, "cobs_ss_split"] > r.pools[t, "cobs_ss"] for t in TASKS)
    return f"{better} of {len(TASKS)} sets", 2 * better > len(TASKS)


def _only_three_sets_gain(r: Results) -> Verdict:
    gain = {t for t in TASKS if r.pools[t, "cobs_ss_split"] > r.pools[t, "cobs_u"]}
    return ", ".join(t for t in TASKS if t in gain) or "none", gain == {"segmentation", "hepatitis", "glass"}


# ---------------------------------------------------------------- active COBS
def _lead(r: Results, task: str, one: str, other: str, n: str) -> tuple[float, float]:
    """How far one strategy is ahead of another, and the standard error of that."""
    ahead = r.curves[task, one, n] - r.curves[task, other, n]
    return ahead, hypot(r.errors[task, one, n], r.errors[task, other, n])


def _asking_beats_random(r: Results) -> Verdict:
    texts, holds = [], True
    for t in SWEPT:
        leads, errors = zip(*(_lead(r, t, "active", "random constraints", n) for n in AT), strict=True)
        # the scores of a run depend on each other: their mean may be no surer than one of them
        texts.append(f"{t} {fmean(leads):+.2f} ± {fmean(errors):.2f}")
        holds &= fmean(leads) > 2 * fmean(errors)
    return ", ".join(texts), holds


def _factor_matters_little(r: Results) -> Verdict:
    spread = max(_spread(r, "m = ", t, n) for t in SWEPT for n in AT)
    return f"largest difference {spread:.2f}", spread <= CLEAR


def _spread(r: Results, setting: str, task: str, n: str) -> float:
    """The largest difference that a setting of active COBS makes."""
    found = [
        ari for (t, name, at), ari in r.curves.items() if (t, at) == (task, n) and name.startswith(setting)
    ]
    return max(found) - min(found)


def _sample_matters_later(r: Results) -> Verdict:
    pairs = {t: (_spread(r, "s = ", t, FEW), _spread(r, "s = ", t, LAST)) for t in SWEPT}
    text = ", ".join(f"{t} {few:.2f} / {many:.2f}" for t, (few, many) in pairs.items())
    return text, all(few < many and few <= CLEAR for few, many in pairs.values())


def _npu(r: Results, task: str) -> list[str]:
    return list(dict.fromkeys(name for t, name, _ in r.curves if t == task and name.startswith("NPU")))


def _is_consistent_beside_npu(r: Results) -> Verdict:
    behind = [t for t in CLEAR_TASKS if any(_is_far_behind(r, t, n) for n in ("25", "50"))]
    return f"far behind NPU on {', '.join(behind) or 'no set'}", not behind


def _is_far_behind(r: Results, task: str, n: str) -> bool:
    """Whether active COBS is far behind NPU with one of the clusterers, and not by chance."""
    leads = [_lead(r, task, name, "active", n) for name in _npu(r, task)]
    return max(ahead - max(FAR, 2 * error) for ahead, error in leads) > 0


def _glass_is_hard_for_all(r: Results) -> Verdict:
    best = max(r.curves["glass", name, LAST] for name in ("active", *_npu(r, "glass")))
    return f"at most {best:.2f}", best < GOOD


def _npu_learns_hepatitis(r: Results) -> Verdict:
    npu = max(r.curves["hepatitis", name, LAST] for name in _npu(r, "hepatitis") if "MPCKMeans" in name)
    own = r.curves["hepatitis", "active", LAST]
    return f"{npu:.2f} / {own:.2f}", npu >= GOOD > own


CLAIMS: dict[str, Callable[[Results], Verdict]] = {
    "q1-most": _constraints_choose_better,
    "q1-small": _losses_are_small,
    "q1-ionosphere": _only_constraints_find_ionosphere,
    "q2-neither": _neither_is_always_better,
    "q3-first-eight": _is_good_on_first_eight,
    "q3-none": _no_rival_is_good_on_first_eight,
    "q3-superior": _is_superior_to_each,
    "q3-most": _outperforms_most,
    "q3-majority": _is_as_good_as_the_best,
    "q3-iris": _eigengap_is_good_on_iris_only,
    "q3-poor": _hard_sets_are_poor,
    "q3-dbscan": _chooses_dbscan_on_ionosphere,
    "q3-spectral": _mostly_chooses_spectral,
    "q4-twice": _same_constraints_twice_are_not_better,
    "q4-split": _splitting_is_better,
    "q4-three": _only_three_sets_gain,
    "active-better": _asking_beats_random,
    "active-factor": _factor_matters_little,
    "active-sample": _sample_matters_later,
    "npu-first-eight": _is_consistent_beside_npu,
    "npu-glass": _glass_is_hard_for_all,
    "npu-hepatitis": _npu_learns_hepatitis,
}


def check_claims(folder: Path) -> list[tuple[str, ...]]:
    """One line for each claim: its words, then what was measured and the verdict, for each version."""
    versions = [read_results(folder, version) for version in VERSIONS]
    return [
        (claim["words"], *(text for results in versions for text in _judge(claim["claim"], results)))
        for claim in read_target("cobs_claims.csv")
    ]


def _judge(claim: str, results: Results) -> tuple[str, str]:
    try:
        measured, holds = CLAIMS[claim](results)
    except (KeyError, ValueError):  # its experiment has not run in this version
        return "not run", "not run"
    return measured, "holds" if holds else "does not"


def write_claims(results: Path) -> None:
    """Write the claims and verdicts beside the tables."""
    write_csv(results / "cobs" / "claims.csv", FIELDS, check_claims(results / "cobs"))
