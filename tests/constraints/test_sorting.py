"""What follows from piles, how much each pair counts, and which cards are misplaced."""

from itertools import combinations, permutations

import numpy as np
import pytest

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.constraints.sorting import SortedRows, find_misplaced, make_sorting, read_sorting


def draw(seed, n_rows=30):
    """Random piles, some of whose rows had their place before."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(n_rows)[: rng.integers(2, 12)].tolist()
    place = rng.integers(-1, 4, len(rows)).tolist()
    piles = [[row for row, at in zip(rows, place, strict=True) if at == pile] for pile in range(4)]
    unsure = [row for row, at in zip(rows, place, strict=True) if at == -1]
    sorted_rows = [row for pile in piles for row in pile]
    known = set(rng.permutation(sorted_rows)[: len(sorted_rows) // 3].tolist())
    return make_sorting([p for p in piles if p], unsure, [row for row in rows if row not in known])


@pytest.mark.parametrize("seed", range(30))
def test_the_least_facts_say_all_that_the_piles_say_and_are_read_again(seed):
    sorting = draw(seed)
    evidence = Evidence(30)
    for row in sorting.order:
        evidence.add_sorted(sorting, row)
    for i, j in combinations([row for pile in sorting.piles for row in pile], 2):
        assert evidence.verdict(i, j) == ("yes" if sorting.pile_of[i] == sorting.pile_of[j] else "no")
    for row in sorting.unsure:
        assert evidence.verdict(sorting.piles[0][0], row) == "unsure"
    facts = sorting.facts()
    n_piles, n_sorted = len(sorting.piles), len(sorting.pile_of)
    n_needed = n_sorted - n_piles + n_piles * (n_piles - 1) // 2
    assert (
        sum(fact.answer != "unsure" for fact in facts) == n_needed
    )  # no set of pairs says the same with less
    assert len(evidence) == len(facts)
    assert evidence.n_questions == 1
    again = read_sorting(facts, sorting.cards)
    assert again == sorting
    assert hash(again) == hash(sorting)
    assert again.facts() == facts
    assert again != make_sorting(sorting.piles, sorting.unsure, ())


@pytest.mark.parametrize("seed", range(30))
def test_all_pairs_of_cards_share_the_answers(seed):
    sorting = draw(seed)
    facts = [fact for fact in sorting.shared_facts() if fact.answer != "unsure"]
    rows = [row for row in sorting.order if row in sorting.pile_of]
    cards = {*sorting.cards}
    assert {frozenset(fact.pair) for fact in facts} == {
        frozenset(pair) for pair in combinations(rows, 2) if cards & {*pair}
    }
    for row in cards & {*rows}:
        own = sorting.piles[sorting.pile_of[row]]
        total = sum(fact.share for fact in facts if fact.answer == "yes" and row in fact.pair)
        assert total == pytest.approx(1.0 if len(own) > 1 else 0.0)
        for pile in sorting.piles:
            if pile != own:
                said = [f.share for f in facts if row in f.pair and {*f.pair} & {*pile}]
                assert sum(said) == pytest.approx(2 * len(pile) / (len(pile) + len(own)))
    least = {(fact.pair, fact.answer) for fact in sorting.facts()}
    assert all(((fact.pair, fact.answer) in least) == sorting.is_least(fact) for fact in facts)


def test_piles_are_in_the_order_of_their_cards_and_known_rows_lead():
    sorting = make_sorting([[5, 9], [4], [7, 1, 8]], [2], [4, 8, 7, 9, 2])
    assert sorting.piles == ((5, 9), (1, 8, 7), (4,))
    assert sorting.order == (5, 1, 4, 8, 7, 9, 2)
    assert sorting.facts()[0] == Fact(5, 1, "no")
    assert [fact.pair for fact in sorting.facts_about(2)] == [(5, 2), (1, 2), (4, 2)]


def test_without_a_pile_nothing_follows():
    sorting = make_sorting([], [3, 1], [3, 1])
    assert (sorting.piles, sorting.unsure) == (((3,),), (1,))
    assert sorting.facts() == [Fact(3, 1, "unsure")]


def test_rows_that_are_gone_are_left_out():
    sorting = make_sorting([[0, 1], [2]], [3], [1, 2, 3])
    moved = sorting.move({1: 5, 2: 4, 3: 0})
    assert moved == make_sorting([[5], [4]], [0], [5, 4, 0])
    assert sorting.move({1: 5}) is None


@pytest.mark.parametrize("seed", range(40))
def test_misplaced_cards_are_the_fewest(seed):
    """Against all ways to let each pile be a part of one cluster, and no two of the same."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    rows = SortedRows(np.arange(n), rng.integers(0, 4, n), rng.random(n) < 0.8)
    label = rng.integers(0, 4, n)

    def cost(mask):
        return int(np.where(rows.is_card, 1, n)[mask].sum())

    ways = (np.array(to)[rows.pile] != label for to in permutations(range(4)))
    best = min(cost(way) for way in ways)
    found = find_misplaced(rows, label)
    assert not found[~rows.is_card].any()
    known_too = best - int(found.sum())
    assert known_too % n == 0
    assert known_too >= 0


def test_one_card_in_the_wrong_pile_is_one_error():
    rows = SortedRows(np.arange(8), np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.ones(8, dtype=bool))
    assert np.flatnonzero(find_misplaced(rows, np.array([0, 0, 0, 1, 1, 1, 1, 1]))).tolist() == [3]
    assert find_misplaced(SortedRows(*np.empty((3, 0), dtype=np.int64)), np.empty(0)).tolist() == []


# ---------------------------------------------------------------- answers that may be wrong
def sort_into(evidence, piles, cards=None, source=""):
    cards = [row for pile in piles for row in pile] if cards is None else cards
    sorting = make_sorting(piles, [], cards)
    for row in sorting.order:
        evidence.add_sorted(sorting, row, source=source)
    evidence.believe()
    return sorting


def tell(evidence, label, n=3):
    """Answers about each row of two clusters, so that their places are known well."""
    for i, j in combinations(range(len(label)), 2):
        if j - i <= n:
            evidence.add(i, j, "yes" if label[i] == label[j] else "no")
    evidence.believe()


def test_a_misplaced_card_is_one_suspect_and_one_error():
    evidence = FallibleEvidence(12)
    tell(evidence, [0] * 6 + [1] * 6)
    n_before = evidence.error_rates().overall.n_answers
    sort_into(evidence, [[0, 1, 2, 8], [6, 7, 9]], source="anna")
    (suspect,) = evidence.suspects()
    assert 8 in suspect.fact.pair
    assert suspect.fact.answer == "yes"
    assert list(evidence)[suspect.number].pair == suspect.fact.pair
    rates = evidence.error_rates()
    assert (rates.by_source["anna"].n_answers, rates.by_source["anna"].n_doubted) == (7, 1)
    assert rates.overall.n_answers == n_before + 7


def test_right_piles_raise_no_doubt():
    evidence = FallibleEvidence(12)
    tell(evidence, [0] * 6 + [1] * 6)
    sort_into(evidence, [[0, 1, 2], [6, 7, 9]], source="anna")
    assert evidence.suspects() == []
    assert evidence.error_rates().by_source["anna"].n_doubted == 0
    assert evidence.count_sorted() == {0: 1, 1: 1, 2: 1, 6: 1, 7: 1, 9: 1}


def test_piles_count_less_than_as_many_answers_about_pairs():
    """Twelve rows in two piles are not 66 independent answers: the rate is about cards."""
    shared, pairs = FallibleEvidence(30), FallibleEvidence(30)
    for start in range(3):
        sorting = sort_into(shared, [range(start, 6 + start), range(15 + start, 21 + start)])
        for fact in sorting.shared_facts():
            pairs.add(*fact.pair, fact.answer)
        pairs.believe()
    assert shared.belief.error_rate > pairs.belief.error_rate
    assert shared.n_questions == 3
    assert np.abs(shared.belief.net).sum() < np.abs(pairs.belief.net).sum() / 2


def test_a_certain_source_outranks_others_with_its_piles():
    evidence = FallibleEvidence(6, error_rate={"boss": 0, "": 0.1})
    for _ in range(5):
        evidence.add(0, 1, "no", source="anna")
    sort_into(evidence, [[0, 1], [2]], source="boss")
    assert evidence.verdict(0, 1) == "yes"
    assert evidence.verdict(1, 2) == "no"


def test_a_copy_does_not_share_its_piles():
    evidence = FallibleEvidence(12)
    sort_into(evidence, [[0, 1], [2, 3]])
    twin = evidence.copy()
    sort_into(twin, [[4, 5], [6, 0]])
    assert evidence.count_sorted().total() == 4
    assert twin.count_sorted().total() == 8
    assert evidence.verdict(4, 5) is None
