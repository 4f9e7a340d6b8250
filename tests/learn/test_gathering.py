"""Rows that are gathered for sorting, what learners make of the piles, and oracles that sort."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.constraints.fallible import make_evidence
from linkwise.datasets import load
from linkwise.errors import ConstraintError
from linkwise.learn.gathering import Gathered, check_piles, gather, sort_rows, take_piles
from linkwise.learn.run import Run

WINE = load("wine")
X = (WINE.X - WINE.X.mean(axis=0)) / WINE.X.std(axis=0)
SORTER = lw.TruthSorter(WINE.y)
LEARNERS = {
    "KIN": lambda: lw.KIN(random_state=0),
    "COBRAS": lambda: lw.COBRAS(random_state=0),
    "NPU": lambda: lw.NPU(3, random_state=0),
}


def begin(name="KIN", rate=0, seed=0, **options):
    learner = LEARNERS[name]()
    return learner, Run(learner, X, make_evidence(len(X), None, rate), seed, **options)


def start_anew(run):
    return run.fork(shows_labels=False) or run.restart()


def gather_from(learner, run, m=9, held=()):
    return gather(learner, run, lambda: start_anew(run), m, held)


@pytest.mark.parametrize(
    "rate",
    [pytest.param(0, id="exact", marks=pytest.mark.slow(nightly=True)), pytest.param(None, id="fallible")],
)
@pytest.mark.parametrize("name", LEARNERS)
def test_screens_teach_at_least_as_much_as_as_many_pairs(name, rate):
    learner, run = begin(name, rate)
    _, by_pairs = begin(name, rate)
    oracle = lw.TruthOracle(WINE.y)
    for n in range(1, 5):
        run.sort(sort_rows(SORTER, gather_from(learner, run), run.evidence))
        by_pairs.answer(oracle(by_pairs.question.first, by_pairs.question.second))
        assert run.evidence.n_questions == n
    truth = WINE.y[run.evidence.groups().row]
    for i, row in enumerate(run.evidence.groups().row.tolist()):
        verdicts = run.evidence.verdicts(row, run.evidence.groups().row.tolist())
        wrong = [
            v for v, same in zip(verdicts, truth == truth[i], strict=True) if v == ("no" if same else "yes")
        ]
        assert wrong == []
    scores = [adjusted_rand_score(WINE.y, each.labels) for each in (run, by_pairs)]
    assert scores[0] > 0.85
    assert scores[0] >= scores[1]


@pytest.mark.parametrize(("name", "m"), [*product(LEARNERS, (2, 3, 9)), ("KIN", 40)])
def test_a_screen_has_new_rows_and_one_row_of_each_cluster(name, m):
    learner, run = begin(name)
    for n in range(3):
        shown = gather_from(learner, run, m)
        reached = set(run.evidence.groups().row.tolist())
        assert all(reached & {*pile} for pile in shown.known)
        assert m < 9 or (len(shown.known) > 0) == (n > 0)
        assert 2 <= len(shown.rows) == len(set(shown.rows)) <= m
        assert not reached & {*shown.cards}
        assert all(
            run.evidence.verdict(a, b) != "yes" for (a,) in shown.known for (b,) in shown.known if a != b
        )
        run.sort(sort_rows(SORTER, shown, run.evidence))


@pytest.mark.parametrize("rate", [0, None], ids=["exact", "fallible"])
def test_to_gather_changes_nothing_and_repeats_itself(rate):
    learner, run = begin(rate=rate)
    _, other = begin(rate=rate)
    for _ in range(4):
        shown = [gather_from(learner, run) for _ in range(2)]
        gather_from(learner, run, 5, [shown[0].rows])
        assert shown[0] == shown[1] == gather_from(learner, other)
        sorting = sort_rows(SORTER, shown[0], run.evidence)
        run.sort(sorting)
        other.sort(sorting)
        assert run.labels.tolist() == other.labels.tolist()
        assert (run.question.first, run.question.second) == (other.question.first, other.question.second)


@pytest.mark.parametrize("name", LEARNERS)
def test_screens_that_are_open_share_no_card(name):
    learner, run = begin(name)
    run.sort(sort_rows(SORTER, gather_from(learner, run), run.evidence))
    held = []
    for _ in range(3):
        shown = gather_from(learner, run, 6, held)
        if shown is None:
            break
        assert not {*shown.cards} & {row for rows in held for row in rows}
        held.append(shown.rows)
    assert len(held) > 1


def test_kin_counts_sorted_rows_as_asked_about():
    """Items without a coverage count a tenth; each card has one, but for the first of all."""
    learner, run = begin()
    for _ in range(3):
        run.sort(sort_rows(SORTER, gather_from(learner, run), run.evidence))
    known = run.state.believe().known
    assert len(known.items) > 12
    assert np.isnan(known.coverage).sum() == 1
    assert run.state.believe().learned.sharpness != begin()[1].state.believe().learned.sharpness


def test_kin_leaves_rows_that_nobody_can_place():
    learner, run = begin()
    run.sort(sort_rows(SORTER, gather_from(learner, run), run.evidence))
    shown = gather_from(learner, run)
    run.sort(take_piles(run.evidence, shown.known, shown.cards, shown.cards))
    again = gather_from(learner, run)
    assert not {*shown.cards} & {*again.cards}


def test_kin_shows_only_rows_that_may_be_shown():
    askable = np.arange(len(X)) % 3 == 0
    learner, run = begin(askable=askable)
    for _ in range(3):
        shown = gather_from(learner, run)
        assert askable[list(shown.rows)].all()
        run.sort(sort_rows(SORTER, shown, run.evidence))


def test_clusters_that_may_be_one_are_merged_on_a_screen():
    """Two known piles in one pile: their relation is what the screen has decided."""
    evidence = begin()[1].evidence
    assert take_piles(evidence, [[0, 1], [60]], [], [60]).cards == (1, 60)
    evidence.add(0, 1, "no")
    assert take_piles(evidence, [[0, 5], [1], [60, 70]], [], [5, 60, 70]).cards == (5, 60, 70)
    assert take_piles(evidence, [[0, 1], [60]], [], [60]).cards == (1, 60)


def test_doubtful_cards_are_shown_again():
    """With a fifth of the cards misplaced, some cards of later screens had a place already."""
    learner, run = begin(rate=None)
    sorter, again = lw.TruthSorter(WINE.y, misplaced=0.2, random_state=3), 0
    for _ in range(12):
        shown = gather_from(learner, run, 12)
        if shown is None:
            break
        again += len({*shown.cards} & {*run.evidence.groups().row.tolist()})
        run.sort(sort_rows(sorter, shown, run.evidence))
    assert again > 0
    assert adjusted_rand_score(WINE.y, run.labels) > 0.75
    assert 0.05 < run.evidence.error_rates().overall.rate < 0.35


# ---------------------------------------------------------------- oracles
def test_an_estimator_asks_an_oracle_that_sorts():
    model = lw.KIN(random_state=0).fit(X, oracle=SORTER, budget_screens=5, screen_size=12)
    assert (model.n_questions_, len(model.history_)) == (5, 5)
    assert adjusted_rand_score(WINE.y, model.labels_) > 0.9
    assert model.violations_ == 0
    assert lw.COBRAS(random_state=0).fit(X, oracle=SORTER, budget_screens=0).n_questions_ == 0


@pytest.mark.parametrize("name", LEARNERS)
def test_without_a_budget_rows_are_sorted_until_none_is_worth_it(name):
    rows = X[::6]
    model = LEARNERS[name]().fit(rows, oracle=lw.TruthSorter(WINE.y[::6]))
    assert adjusted_rand_score(WINE.y[::6], model.labels_) == 1
    assert model.n_questions_ < 20


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"oracle": SORTER, "budget": 3}, TypeError, "Pass budget_screens instead"),
        ({"oracle": lw.TruthOracle(WINE.y), "budget_screens": 3}, TypeError, "Pass linkwise.TruthSorter"),
        ({"oracle": SORTER, "screen_size": 1}, ValueError, "Pass a number from 2 to 100"),
        ({"oracle": SORTER, "screen_size": 101}, ValueError, "Pass a number from 2 to 100"),
        ({"oracle": SORTER, "screen_size": "9"}, TypeError, "Pass a number of rows"),
        ({"oracle": SORTER, "budget_screens": -1}, ValueError, "negative"),
    ],
)
def test_options_that_do_not_fit_are_named(options, kind, message):
    with pytest.raises(kind, match=message):
        lw.KIN(random_state=0).fit(X, **options)


def test_an_oracle_that_sorts_other_rows_is_refused():
    class Wrong:
        def sort(self, known, cards):
            return [[*cards, 177 if 177 not in cards else 176]]

    with pytest.raises(ConstraintError, match="not on this screen"):
        lw.KIN(random_state=0).fit(X, oracle=Wrong(), budget_screens=1)


def test_a_truth_sorter_follows_the_classes():
    sorter = lw.TruthSorter(["a", "b", "a", None, "c", "c"])
    assert sorter.sort([[0]], [1, 2, 3, 4, 5]) == [[0, 2], [1], [4, 5]]
    assert sorter.sort([[0], [2]], [1]) == [[0, 2], [1]]
    assert sorter.sort([], [3, 4]) == [[4]]


def test_about_the_given_share_of_cards_is_misplaced():
    y = np.repeat(np.arange(4), 300)
    sorter = lw.TruthSorter(y, misplaced=0.1, unsure=0.05, random_state=0)
    rng, n_wrong, n_unsure, n = np.random.default_rng(0), 0, 0, 0
    for _ in range(150):
        cards = rng.permutation(1200)[:8].tolist()
        heads = [row for row in (10, 310, 610, 910) if row not in cards]
        piles = sorter.sort([[row] for row in heads], cards)
        assert piles == sorter.sort([[row] for row in heads], cards)
        placed = {row: pile for pile in piles for row in pile}
        n_unsure += sum(card not in placed for card in cards)
        n_wrong += sum(
            y[placed[card][0]] != y[card] or len(placed[card]) == 1 for card in cards if card in placed
        )
        n += len(cards)
    assert 0.07 < n_wrong / n < 0.13
    assert 0.03 < n_unsure / n < 0.07


@pytest.mark.parametrize("option", ["misplaced", "unsure"])
def test_a_share_that_is_no_probability_is_refused(option):
    with pytest.raises(ValueError, match=f"{option} is not a probability: 2"):
        lw.TruthSorter([0, 1], **{option: 2})


# ---------------------------------------------------------------- checks of piles
SHOWN = Gathered(((1, 2), (3,)), (4, 5, 6))


@pytest.mark.parametrize(
    ("piles", "unsure", "message"),
    [
        ([[4, 5]], [], "Row #6 is in no pile"),
        ([[4]], [], "Rows #5, #6 are in no pile"),
        ([[4, 5], [6, 4]], [], "Row #4 is in two places"),
        ([[4, 5, 6]], [6], "Row #6 is in two places"),
        ([[4, 5, 6, 9, 8]], [], "Rows #9, #8 are not on this screen"),
    ],
)
def test_piles_that_cannot_be_meant_are_refused(piles, unsure, message):
    with pytest.raises(ConstraintError, match=message):
        check_piles(piles, unsure, SHOWN, lambda row: f"#{row}")


def test_what_is_left_out_of_known_piles_stays_there():
    assert check_piles([[4, 1], [5]], [6], SHOWN, str) == ([[4, 1, 2], [5], [3]], [6])
    assert check_piles([[4, 1, 3]], None, SHOWN, str) == ([[4, 1, 3, 2]], [5, 6])
