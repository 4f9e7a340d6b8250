"""Ways to choose the number of clusters of a clusterer that takes constraints (`bench.papers.cobs_readings`).

Each yields the names of its readings, and the numbers of clusters that they choose. "letter" is the way of
`bench.papers.cobs_peers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import silhouette_score

from linkwise import Constraints
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from linkwise.cluster.graph.random_walk import embed_graph, laplacian_eigenvalues
from linkwise.cluster.kmeans.components import add_implied
from linkwise.cluster.validity.silhouette import silhouette_scorer
from linkwise.rng import rng_at
from linkwise.select.cvcp import make_independent_folds

NUMBERS = range(2, 11)  # of clusters
NEIGHBOURS, FOLDS = 10, 5
LETTER = "letter"

Fit = Callable[[np.ndarray, Constraints, int, int], Any]
"""Fit a clusterer: rows, constraints, number of clusters, seed."""


class Problem(NamedTuple):
    """A task, and a clusterer of it."""

    X: np.ndarray
    constraints: Constraints
    fit: Fit
    run: int
    models: dict[int, Any]
    """Fitted with all constraints, by number of clusters."""

    def model(self, k: int) -> Any:
        """The clusterer, fitted with all constraints."""
        if k not in self.models:
            self.models[k] = self.fit(self.X, self.constraints, k, self.run)
        return self.models[k]


# ---------------------------------------------------------------- numbers of clusters
def choose_best(scores: dict[int, float]) -> int:
    """The number of clusters of the highest score; of equal ones the smallest."""
    return max(scores, key=lambda k: (scores[k], -k))


def choose_by_silhouette(problem: Problem) -> Iterator[tuple[str, int]]:
    """By the silhouette of the rows, and of rows under the learned metric if there is but one."""
    models = {k: problem.model(k) for k in NUMBERS}
    score = silhouette_scorer(problem.X)
    scores = {k: score(model.labels_) for k, model in models.items()}
    yield LETTER, choose_best(scores)
    yield "2 to 9 clusters", choose_best({k: value for k, value in scores.items() if k < NUMBERS[-1]})
    if all(len(model.metrics_) == 1 and model.metrics_.ndim == 2 for model in models.values()):
        learned = {k: measure_learned_silhouette(problem.X, model) for k, model in models.items()}
        yield "learned metric", choose_best(learned)


def measure_learned_silhouette(X: np.ndarray, model: Any) -> float:
    """The silhouette under a diagonal metric; -1 without two clusters."""
    found = len(np.unique(model.labels_))
    return silhouette_score(X * np.sqrt(model.metrics_[0]), model.labels_) if 1 < found < len(X) else -1.0


def choose_by_satisfied(problem: Problem) -> Iterator[tuple[str, int]]:
    """By the number of satisfied constraints."""
    broken = {k: count_broken(problem, k) for k in NUMBERS}
    least = [k for k, number in broken.items() if number == min(broken.values())]
    yield LETTER, min(least)
    yield "largest of ties", max(least)
    yield "random of ties", int(rng_at(problem.run, len(problem.X)).choice(least))
    yield "2 to 9 clusters", choose_best({k: -n for k, n in broken.items() if k < NUMBERS[-1]})


def choose_by_folds(problem: Problem, *, with_pairs: bool = True) -> Iterator[tuple[str, int]]:
    """By cross-validation, with folds of rows or of pairs, by both F-measures or that of must-links."""
    for draw_folds, name in FOLDS_OF[: 1 + with_pairs]:
        found: dict[int, list[tuple[float, float]]] = {k: [] for k in NUMBERS}
        for training, test in draw_folds(problem.constraints, problem.run):
            for k, of_folds in found.items():
                labels = problem.fit(problem.X, training, k, problem.run).labels_
                of_folds.append(measure_f(test, labels))
        both = {k: average_known([average_known(fold) for fold in of_folds]) for k, of_folds in found.items()}
        yield name, choose_best(both)
        if name == LETTER:
            yield "2 to 9 clusters", choose_best({k: f for k, f in both.items() if k < NUMBERS[-1]})
        must = {k: average_known([of_must for of_must, _ in of_folds]) for k, of_folds in found.items()}
        yield join_parts(name, "F of must-links"), choose_best(must)


def average_known(values: Iterable[float]) -> float:
    """The mean of the values that are not NaN; 0 if none is."""
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else 0.0


def join_parts(*parts: str) -> str:
    """What a reading changes; "letter" if nothing."""
    return " + ".join(part for part in parts if part not in ("", LETTER)) or LETTER


def draw_row_folds(constraints: Constraints, seed: int) -> Iterator[tuple[Constraints, Constraints]]:
    """Folds as in `CVCPSearch`: training and test constraints, with those that follow."""
    for training, held in make_independent_folds(constraints, FOLDS, seed):
        test = add_implied(constraints[held])
        if test.n_constraints:
            yield training, Constraints(constraints.n_rows, held[test.must_link], held[test.cannot_link])


def draw_pair_folds(constraints: Constraints, seed: int) -> Iterator[tuple[Constraints, Constraints]]:
    """Random folds of the given pairs."""
    n_must = len(constraints.must_link)
    fold = rng_at(seed, 5).permutation(constraints.n_constraints) % FOLDS
    of_must, of_cannot = fold[:n_must], fold[n_must:]
    for number in range(FOLDS):
        training, test = (
            Constraints(
                constraints.n_rows,
                constraints.must_link[(of_must == number) == is_test],
                constraints.cannot_link[(of_cannot == number) == is_test],
            )
            for is_test in (False, True)
        )
        yield training, test


FOLDS_OF = ((draw_row_folds, LETTER), (draw_pair_folds, "folds of pairs"))


def measure_f(test: Constraints, labels: np.ndarray) -> tuple[float, float]:
    """F of must-links and of cannot-links; NaN for a kind that the test lacks."""
    must, cannot = (
        labels[pairs[:, 0]] == labels[pairs[:, 1]] for pairs in (test.must_link, test.cannot_link)
    )
    wrong = int((~must).sum() + cannot.sum())
    kinds = ((int(must.sum()), len(must)), (int((~cannot).sum()), len(cannot)))
    f_must, f_cannot = (2 * right / (2 * right + wrong) if given else float("nan") for right, given in kinds)
    return f_must, f_cannot


def list_eigenvalues(X: np.ndarray, constraints: Constraints) -> np.ndarray:
    """List the first eigenvalues of the graph that COSC cuts, ascending."""
    weights = build_neighbour_graph(X, constraints, NEIGHBOURS).weights
    placed = embed_graph(weights, min(NUMBERS.stop, weights.shape[0]))
    assert placed is not None
    return laplacian_eigenvalues(weights, placed)


def find_widest_share(values: np.ndarray) -> int:
    """Find the number of clusters after which the gap is the largest share of the next eigenvalue.

    The default of COSC adds a little to that eigenvalue, so that no gap near zero is wide.
    """
    return 2 + int((np.diff(values)[1:] / values[2:]).argmax())


def choose_by_gap(problem: Problem) -> Iterator[tuple[str, int]]:
    """By the widest gap between eigenvalues, as it is as a share of the next (letter), or always 2 or 3."""
    values = list_eigenvalues(problem.X, problem.constraints)
    yield "widest gap", 2 + int(np.diff(values)[1:].argmax())
    yield LETTER, find_widest_share(values)
    yield "2 clusters", 2
    yield "3 clusters", 3


def choose_first_satisfied(problem: Problem) -> Iterator[tuple[str, int]]:
    """By the number of satisfied constraints; no further number is tried once all are satisfied."""
    broken: dict[int, int] = {}
    for k in NUMBERS:
        broken[k] = count_broken(problem, k)
        if broken[k] == 0:
            break
    yield LETTER, min(broken, key=lambda k: (broken[k], k))


def count_broken(problem: Problem, k: int) -> int:
    """The number of constraints that a clustering breaks."""
    broken = problem.constraints.find_violations(problem.model(k).labels_)
    return sum(int(kind.sum()) for kind in broken)


Choice = Callable[[Problem], Iterator[tuple[str, int]]]
CHOICES: dict[str, Choice] = {
    "mpck_SI": choose_by_silhouette,
    "mpck_NumSat": choose_by_satisfied,
    "mpck_CVCP": choose_by_folds,
    "cosc_eigen": choose_by_gap,
    "cosc_NumSat": choose_first_satisfied,
    "cosc_CVCP": choose_by_folds,
}
