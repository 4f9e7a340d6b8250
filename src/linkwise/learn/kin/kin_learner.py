"""KIN: kernel inference over neighbourhoods, for an unknown number of clusters.

A neighbourhood is a set of items that answers have put together. The modules, in the order of the method:

1. `kernels`: the items and their similarity, which changes as it learns from answers.
2. `prior_belief`: what to expect before any answer.
3. `calibration`, `model`, `posterior`: how likely each item belongs to each neighbourhood, or to none.
4. `relations`: how likely two neighbourhoods are one.
5. `best_clustering`, `shown`: the clusters to show.
6. `confidence`: how certain they are, and when to stop.
7. `state`, `questions`, `piles`: what was asked, and what to ask next, in pairs or several rows at once.

There are four kinds of questions:

- two neighbourhoods that may be one, as long as one of their items is likely enough to belong to the other,
- two neighbourhoods that look different, if an answer about them is worth far more than one about an item,
- the item that explains most of what is uncertain, against the likeliest neighbourhood,
- and against further ones, while they are likely enough.

Other learners place each row among all neighbourhoods (Basu, Banerjee and Mooney 2004; Xiong, Azimi and Fern
2014). New here: unlikely relations stay open, and an item starts a neighbourhood as soon as the likely ones
are ruled out, or is assumed to be in the only one that is left. That saves most questions, and no number of
clusters is needed. The item is chosen as in Gaussian process regression, by how much it lessens the variance
of the uncertain ones (Cohn, Ghahramani and Jordan 1996).

After "unsure" another pair is tried, and then the relation stays open. When nothing else is left, the open
relations are asked about, too, so that in the end everything is known.

Cost: see `linkwise.learn.kin.kernels` for the time before the first question; O(n²) a question for n items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.belief import N_WITNESSES, Nearness
from linkwise.constraints.sorting import Pile, Sorting
from linkwise.learn.advice import StopAdvice
from linkwise.learn.item_labels import ItemLabels
from linkwise.learn.kin.confidence import (
    advise_to_stop,
    certainty,
    describe_certainty,
    describe_expectation,
    describe_next_answer,
    expected_changes,
    forecast,
)
from linkwise.learn.kin.kernels import (
    Rows,
    Table,
    find_cells,
    make_items,
    make_kernels,
    make_views,
    scale_rows,
)
from linkwise.learn.kin.model import expect_classes
from linkwise.learn.kin.piles import gather, hear_sorting
from linkwise.learn.kin.posterior import (
    PreparedItems,
    Task,
    current_kernel,
)
from linkwise.learn.kin.prior_belief import are_unit_rows, expect_weights, find_prior_belief
from linkwise.learn.kin.questions import (
    answer_chance,
    hear_answer,
    hear_place,
    next_question,
)
from linkwise.learn.kin.shown import item_labels, row_labels
from linkwise.learn.kin.state import KINState
from linkwise.learn.learner import Asking, Problem
from linkwise.types import Progress

STEPS = 5  # of `prepare`, for whoever waits


class KINLearner:
    """What asks in `KIN`, without what fits.

    Sessions need no more. It loads no scikit-learn, which takes half of the time in which a command begins.
    """

    def __init__(self, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the seed.

        Parameters
        ----------
        deep : bool, default=True
            Not used; estimators have it.

        Returns
        -------
        dict
            ``random_state``.
        """
        return {"random_state": self.random_state}

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> PreparedItems:
        """Compute the items, their kernel and the prior clustering."""
        n_done = 0

        def step() -> None:
            nonlocal n_done
            n_done += 1
            if progress is not None:
                progress(n_done, STEPS)

        items = make_items(X, seed)
        rows = scale_rows(X[items.first])
        step()
        kernels = make_kernels(make_views(rows), seed, step)
        prior = find_prior_belief(rows, kernels.mean, seed, are_directions=are_unit_rows(X[items.first]))
        step()
        return PreparedItems(items, rows, kernels, prior, find_cells(items))

    def start(self, problem: Problem) -> KINState:
        """Return the state of a run that has asked nothing yet."""
        return KINState(Task.of(problem))

    def ask(self, state: KINState) -> Asking:
        """Ask which neighbourhoods are one, then place an item; in the end nothing is left open."""
        if state.open is None:
            state.learn()
            state.open = next_question(state)
        while (asked := state.open) is not None:
            answer = yield asked.question
            hear_answer(state, asked, answer)
            state.open = next_question(state)
        state.asked = None
        return row_labels(state.believe())

    def fork(self, state: KINState, problem: Problem) -> KINState:
        """The same state, for a run that is tried out."""
        return state.fork(problem)

    def hear(self, state: KINState, first: int, second: int) -> None:
        """Take up an answer about the place of an item whose turn it was not.

        It counts as if it were the item's turn. If the answer leaves the place open, the item's turn is next.
        """
        row, item = state.task.row, state.task.items.of
        a, b = int(item[first]), int(item[second])
        before, answer = state.posterior_of_last_belief(), state.task.evidence.current().verdict(a, b)
        is_placed = before.placed.mask
        if a != b and is_placed[a] != is_placed[b] and {first, second} == {int(row[a]), int(row[b])}:
            hear_place(state, before, *((b, a) if is_placed[a] else (a, b)), answer)
        state.believe()

    def gather(self, state: KINState, m: int, held: Sequence[Pile]) -> tuple[tuple[Pile, ...], Pile] | None:
        """Gather rows that are worth sorting together: representatives of neighbourhoods, and new rows."""
        return gather(state.fork(state.task.problem), m, held)

    def hear_sorting(self, state: KINState, sorting: Sorting) -> Iterator[int]:
        """Give sorted rows their places, one after the other."""
        return hear_sorting(state, sorting)

    def nearness(self, state: KINState) -> Nearness:
        """What KIN's kernel says about who belongs together."""
        posterior = state.last_posterior()
        kernel, item = current_kernel(posterior), posterior.task.items.of
        power, unknown = posterior.learned.sharpness

        def similarity(rows: Rows) -> Table:
            return kernel.rows(item[rows])[:, item[rows]].astype(np.float64)

        prior, mean = posterior.task.prepared.prior, posterior.task.prepared.kernels.mean
        n_expected = prior.n_classes
        if posterior.known.n_neighbourhoods:
            n_expected = expect_classes(posterior.known, prior.n_classes)
        weights = expect_weights(prior.n_classes)

        def chances(rows: Rows) -> Table:
            items = item[rows]
            return weights.chances(prior.similarity(mean, items), prior.sharing(items))

        def witnesses(row: int) -> Rows:
            order = np.argsort(-kernel.row(int(item[row])).round(6), kind="stable")[: N_WITNESSES + 1]
            found: Rows = posterior.task.row[order[order != item[row]]]
            return found

        key = posterior.learned.kernel_key + np.array([power, unknown, n_expected]).tobytes()
        return Nearness(
            similarity, power, unknown, chances=chances, n_expected=n_expected, witnesses=witnesses, key=key
        )

    def current_labels(self, state: KINState) -> ItemLabels:
        """The clustering that KIN shows now."""
        return row_labels(state.read())

    def chance(self, state: KINState, first: int, second: int) -> float:
        """The probability that the answer to KIN's present question is "yes"."""
        return answer_chance(state, first, second)

    def expect_moves(self, state: KINState) -> float:
        """How many rows the answer to KIN's present question is expected to move; all while it knows none."""
        posterior = state.posterior_of_last_belief()
        if len(posterior.known.items) == 0:
            return float(len(posterior.task.items.of))
        return expected_changes(posterior, state.asked) or 0.0

    def confidence(self, state: KINState) -> NDArray[np.float64] | None:
        """The probability that each row is in its cluster; None before the first answer."""
        posterior = state.read()
        if len(posterior.known.items) == 0 or posterior.n_facts == 0:
            return None
        return certainty(posterior).clip(0, 1)

    def describe(self, state: KINState) -> list[str]:
        """How many clusters it expects, how certain they are, and how much the next answer may change."""
        posterior = state.read()
        k, n_rows = posterior.known.n_neighbourhoods, len(posterior.task.items.of)
        n_shown = int(item_labels(posterior).max()) + 1
        if k == 0 or posterior.n_facts == 0:
            return [describe_expectation(n_shown)]
        expected = forecast(posterior, state.asked)
        certainty = describe_certainty(k, n_shown, expected.n_unsure, n_rows)
        return [certainty, *describe_next_answer(expected, n_rows)]

    def advise(self, state: KINState) -> StopAdvice | None:
        """Whether to stop, and how many rows are probably misplaced; None before the first answer."""
        posterior = state.read()
        if len(posterior.known.items) == 0 or posterior.n_facts == 0:
            return None
        return advise_to_stop(forecast(posterior, state.asked), len(posterior.task.items.of))
