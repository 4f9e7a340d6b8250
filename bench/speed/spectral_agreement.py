"""Compare the spectral clustering of the pool of COBS with scikit-learn's: the differences and their causes.

Each graph of Van Craenendonck and Blockeel (2017), Table II, is clustered for 2 to 10 clusters: once by
linkwise, and three times by scikit-learn's ``SpectralClustering``, from three random states. sigma = 0.01
is left out, because scikit-learn's solver hangs there. A case (graph, number of clusters) is

- connected, if the graph is;
- well defined, if it is connected and scikit-learn's three results agree (adjusted Rand index of at least
  0.95 for every two of them);
- agreeing, if it is well defined and ours agrees with each of theirs;
- no worse, if it is well defined and our sum of squares is at most the smallest of theirs (plus a millionth
  of it). All are measured at the same positions, in our eigenvectors.

The experiment lists well-defined cases that do not agree, or are worse, with a cause that can be measured:
different eigenvectors (sine of the largest angle between the two spaces), or else which side has the better
optimum of k-means.

    python -m bench run speed_spectral_agreement [--quick] [--data DIR] [--out DIR]

Without a folder of data it uses scikit-learn's sets. With --quick it uses few graphs of two of these.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from bench.results import RESULTS, write_table
from bench.suites.tasks import scale_rows
from scipy.linalg import subspace_angles
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import SpectralClustering
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from bench import data, harness
from linkwise.cluster.graph.random_walk import embed_graph
from linkwise.select.clusterings import PRESETS
from linkwise.select.spectral import build_gaussian_graph, build_knn_graphs, spectral_labels

SAME = 0.95
STATES = (0, 1, 2)
NAMES = ("iris", "wine", "ionosphere", "digits", "segmentation")
DIGITS = 400  # rows
FIELDS = ("data", "graphs", "cases", "connected", "well defined", "agreeing", "no worse")


class Case(NamedTuple):
    """One graph, one number of clusters."""

    connected: bool
    well_defined: bool
    agreeing: bool
    no_worse: bool
    words: str
    """What differs, where something does."""


def rows_of(name: str, source: data.Source) -> np.ndarray:
    if name == "digits":
        return np.ascontiguousarray(scale_rows(data.load("digits", data.Source()).X[:DIGITS]))
    return np.ascontiguousarray(data.load(name, source).X)


def graphs(X: np.ndarray, kind: str, quick: bool) -> Iterator[tuple[str, Any]]:
    """Graphs of one kind, and what each is called."""
    preset = PRESETS["quick" if quick else "paper"]
    if kind == "neighbours":
        nearest = NearestNeighbors(n_neighbors=max(preset.neighbours)).fit(X)
        graph = build_knn_graphs(nearest.kneighbors(X, return_distance=False))
        for k in preset.neighbours:
            yield f"k={k}", graph(k)
    else:
        for sigma in preset.sigmas:
            if sigma > 0.01:
                yield f"sigma={sigma}", build_gaussian_graph(X, sigma)


def cases(words: str, graph: Any, clusters: Sequence[int]) -> Iterator[Case]:
    """All cases of one graph."""
    connected = connected_components(sp.csr_array(graph))[0] == 1
    ours = spectral_labels(graph.copy(), clusters, (0,))
    if not connected:
        yield from [Case(False, False, False, False, "")] * len(clusters)
        return
    places = embed_graph(graph.copy(), max(clusters))
    for k, labels in zip(clusters, ours, strict=True):
        theirs = [
            SpectralClustering(k, affinity="precomputed", random_state=state).fit(graph).labels_
            for state in STATES
        ]
        if min(adjusted_rand_score(a, b) for a, b in combinations(theirs, 2)) < SAME:
            yield Case(True, False, False, False, "")
        elif labels is None or places is None:
            yield Case(True, True, False, False, f"{words} K={k}: we fail")
        else:
            yield compare_case(f"{words} K={k}", graph, places[:, :k], labels, theirs)


def compare_case(
    words: str, graph: Any, places: np.ndarray, labels: np.ndarray, theirs: list[np.ndarray]
) -> Case:
    """One well-defined case."""
    least = min(adjusted_rand_score(labels, t) for t in theirs)
    ours, best = sum_of_squares(places, labels), min(sum_of_squares(places, t) for t in theirs)
    agreeing, no_worse = least >= SAME, ours <= best * (1 + 1e-6) + 1e-12
    reason = ""
    if not (agreeing and no_worse):
        reason = f"{words}: ARI {least:.3f}, our sum of squares / theirs {ours / best:.6f}, "
        reason += explain_difference(graph, places, ours < best)
    return Case(True, True, agreeing, no_worse, reason)


def sum_of_squares(places: np.ndarray, labels: np.ndarray) -> float:
    means = np.array([places[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    return float(((places - means[labels]) ** 2).sum())


def explain_difference(graph: Any, places: np.ndarray, better: bool) -> str:
    """Other eigenvectors, or another optimum of k-means."""
    other = spectral_embedding(graph, n_components=places.shape[1], drop_first=False, random_state=0)
    sine = float(np.sin(subspace_angles(normalise(places), normalise(other)).max()))
    if sine > 1e-3:
        return f"other eigenvectors (sine {sine:.1e})"
    return "ours is the better optimum of k-means" if better else "theirs is the better optimum of k-means"


def normalise(places: np.ndarray) -> np.ndarray:
    return places / np.linalg.norm(places, axis=0)


def measure(name: str, X: np.ndarray, kind: str, quick: bool) -> tuple[dict[str, str], list[str]]:
    """A line of the table, and what differs."""
    clusters = [2, 3, 5] if quick else list(PRESETS["paper"].clusters)
    found = [case for words, graph in graphs(X, kind, quick) for case in cases(words, graph, clusters)]
    defined = [case for case in found if case.well_defined]
    line = {
        "data": name, "graphs": kind, "cases": str(len(found)),
        "connected": str(sum(case.connected for case in found)), "well defined": str(len(defined)),
        "agreeing": format_share([case.agreeing for case in defined]),
        "no worse": format_share([case.no_worse for case in defined]),
    }  # fmt: skip
    return line, [case.words for case in defined if case.words]


def format_share(true: list[bool]) -> str:
    return f"{np.mean(true):.3f}" if true else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_spectral_agreement",
        description="Compare spectral clustering with scikit-learn's.",
    )
    parser.add_argument("--quick", action="store_true", help="few graphs of two bundled sets")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn tells of graphs in several parts each time
    source = data.Source() if options.quick else harness.find_source(
        argparse.Namespace(data=options.data, openml=False)
    )  # fmt: skip
    there = {*data.names(source), "digits"}
    names = ("iris", "wine") if options.quick else [name for name in NAMES if name in there]
    print("".join(f"{field:>14}" for field in FIELDS))
    table = []
    for name in names:
        for kind in ("neighbours", "Gaussian"):
            line, different = measure(name, rows_of(name, source), kind, options.quick)
            table.append(line)
            print("".join(f"{line[field]:>14}" for field in FIELDS), flush=True)
            for words in different:
                print(f"    {words}", flush=True)
    write_table(options.out / "speed_spectral_agreement.csv", FIELDS, table)


if __name__ == "__main__":
    main()
