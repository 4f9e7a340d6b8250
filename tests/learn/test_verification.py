"""Which pair is worth another question, where answers may be wrong."""

from __future__ import annotations

import numpy as np

import linkwise as lw
from linkwise.constraints.belief import Nearness
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn.verification import (
    CHECK_CLUSTER,
    CHECK_ROW,
    CHECK_WITNESS,
    ENOUGH,
    choose_check,
    expect_moves,
)

PLACES = np.array([0.0, 0.1, 0.25, 0.45, 5.0, 5.1, 5.25, 5.45])[:, None]
KERNEL = np.exp(-np.square(PLACES - PLACES.T) / 2)
NEAR = Nearness(lambda rows: KERNEL[np.ix_(rows, rows)])
TRUE = [(0, 1, "yes"), (1, 2, "yes"), (4, 5, "yes"), (5, 6, "yes"), (0, 4, "no")]


def believing(*said, known=None, rate=0.1):
    evidence = FallibleEvidence(8, known, error_rate=rate)
    for fact in said:
        evidence.add(*fact)
        evidence.believe(NEAR)
    return evidence


def check(evidence, *rows, askable=None):
    return choose_check(evidence, rows, NEAR, askable)


def test_without_an_answer_nothing_is_checked():
    assert check(believing()) is None
    assert check(believing((0, 1, "unsure")), 0, 1) is None
    assert check(believing(known=lw.Constraints(8, [(0, 1)])), 0, 1) is None


def test_an_answer_against_the_distances_is_checked_through_another_row():
    """Row 3 is near the rows 0, 1 and 2, and one answer says that it is apart from row 2."""
    first, second, why = check(believing(*TRUE, (2, 3, "no")), 3)
    assert (first, second, why) == (3, 1, CHECK_ROW)


def test_answers_that_agree_with_the_distances_are_not_checked():
    assert check(believing(*TRUE, (2, 3, "yes"), (1, 3, "yes"), rate=0.02), 3) is None


def test_two_clusters_that_may_be_one_are_checked():
    """One answer keeps them apart, and it may be wrong."""
    evidence = believing((0, 1, "yes"), (2, 3, "yes"), (0, 2, "no"))
    first, second, why = check(evidence)
    assert {first, second} in ({0, 3}, {1, 2}, {1, 3})
    assert why == CHECK_CLUSTER


def test_two_clusters_are_checked_if_the_next_question_moves_no_more_rows():
    """Each cluster has two of the four rows that answers name, and each of these stands for two of eight."""
    evidence = believing((0, 1, "yes"), (2, 3, "yes"), (0, 2, "no"))
    moved = 4 * max(evidence.belief.together[0, 1], evidence.belief.together[1, 0])
    for next_moves, is_checked in ((0.99 * moved, True), (1.01 * moved, False)):
        chosen = choose_check(evidence, (), NEAR, None, lambda moves=next_moves: moves)
        assert (chosen is not None) == is_checked


def test_the_place_of_the_row_in_question_is_checked_whatever_the_next_question_moves():
    evidence = believing(*TRUE, (2, 3, "no"))
    assert choose_check(evidence, (3,), NEAR, None, lambda: np.inf)[2] == CHECK_ROW


def test_a_question_is_expected_to_move_an_equal_share_of_the_rows():
    evidence = FallibleEvidence(8)
    evidence.add(0, 1, "yes")  # given, not asked
    assert expect_moves(evidence) == 8
    evidence.add(1, 2, "no", asked=True)
    assert expect_moves(evidence) == 4


def test_only_askable_rows_are_shown():
    askable = np.ones(8, dtype=bool)
    evidence = believing(*TRUE, (2, 3, "no"))
    askable[1] = False
    assert check(evidence, 3, askable=askable)[:2] == (3, 0)
    askable[3] = False
    chosen = check(evidence, 3, askable=askable)
    assert chosen is None or 3 not in chosen[:2]
    assert check(evidence, 3, askable=np.zeros(8, dtype=bool)) is None


def test_no_pair_is_checked_that_was_answered_whatever_the_answer():
    said = [*TRUE, (2, 3, "no")]
    for _ in range(30):
        evidence = believing(*said)
        chosen = check(evidence, 3)
        if chosen is None:
            break
        assert frozenset(chosen[:2]) not in {frozenset(fact.pair) for fact in evidence}
        said.append((*chosen[:2], "unsure"))
    else:
        raise AssertionError("there are 28 pairs only")


def with_witnesses(*, known=(), n_rows=ENOUGH + 2, given=None):
    """The eight rows of `PLACES`, and others about which nothing is known."""
    near = Nearness(
        lambda rows: KERNEL[np.ix_(rows, rows)],
        witnesses=lambda row: np.array([other for other in np.argsort(-KERNEL[row]) if other != row][:5]),
    )
    evidence = FallibleEvidence(n_rows, given, error_rate=0.1)
    for fact in known:
        evidence.add(*fact)
        evidence.believe(near)
    return evidence, near


def test_where_all_rows_were_compared_a_row_nearby_is_asked_about_instead():
    """The first answer keeps rows apart that are close to each other, and no third row is known."""
    evidence, near = with_witnesses(known=[(0, 3, "no")])
    first, second, why = choose_check(evidence, (0, 3), near, None)
    assert (first, second, why) == (1, 3, CHECK_WITNESS)
    askable = np.ones(evidence.n_rows, dtype=bool)
    askable[1] = False
    assert choose_check(evidence, (0, 3), near, askable)[:2] == (2, 3)
    askable[3] = False
    assert choose_check(evidence, (0,), near, askable) is None


def test_a_first_answer_that_the_rows_agree_with_needs_no_witness():
    evidence, near = with_witnesses(known=[(2, 3, "yes")])
    assert choose_check(evidence, (2, 3), near, None) is None


def test_a_witness_is_asked_about_only_if_enough_rows_are_open():
    """It would save the rows about which nothing is known; constraints may say it, too."""
    first_answer = [(0, 3, "no")]
    evidence, near = with_witnesses(known=first_answer, n_rows=ENOUGH + 1)
    assert choose_check(evidence, (0, 3), near, None) is None
    given = lw.Constraints(ENOUGH + 4, [(9, 10)])
    evidence, near = with_witnesses(known=first_answer, n_rows=ENOUGH + 4, given=given)
    assert choose_check(evidence, (0, 3), near, None)[2] == CHECK_WITNESS
    given = lw.Constraints(ENOUGH + 4, [(9, 10), (10, 11)])
    evidence, near = with_witnesses(known=first_answer, n_rows=ENOUGH + 4, given=given)
    assert choose_check(evidence, (0, 3), near, None) is None


def test_what_is_certain_is_not_checked():
    """The closest pair would be (3, 1); constraints say already that both belong together."""
    given = lw.Constraints(8, [(1, 3)])
    chosen = check(believing(*TRUE, (2, 3, "no"), known=given), 3)
    assert chosen is None or {*chosen[:2]} != {1, 3}
