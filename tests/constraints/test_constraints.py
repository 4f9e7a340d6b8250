"""Constraints as a value: what is refused, what follows, and what is left after a cut."""

import copy
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise import Constraints
from reference.closure import closed
from reference.constraints import brute, relations, told, truths


# ---------------------------------------------------------------- what is said and what follows
@given(truths())
def test_the_truth_satisfies_its_constraints(problem):
    y, pairs = problem
    c = told(y, pairs)
    assert not any(broken.any() for broken in c.find_violations(y))
    assert lw.constraint_score(y, c) == 1.0


@pytest.mark.slow
@settings(deadline=None)
@given(truths())
def test_implied_relations_equal_the_closure(problem):
    y, pairs = problem
    c = told(y, pairs)
    assert relations(c) == brute(len(y), c.must_link, c.cannot_link)
    named = {tuple(sorted(c.component[pair].tolist())) for pair in c.cannot_link}
    assert {tuple(pair) for pair in c.component_cannot_link.tolist()} == named


@given(truths(), st.randoms(use_true_random=False))
def test_order_duplicates_and_orientation_do_not_matter(problem, random):
    y, pairs = problem
    again = np.vstack([pairs, pairs[:, ::-1], pairs])[random.sample(range(3 * len(pairs)), 3 * len(pairs))]
    one, other = told(y, pairs), told(y, again)
    assert one == other
    assert hash(one) == hash(other)
    assert one.n_constraints == len({frozenset(pair) for pair in pairs.tolist()})
    assert other.n_duplicates == len(again) - other.n_constraints


@pytest.mark.parametrize("kind", [list, tuple, set, np.array, pd.DataFrame, iter, lambda p: (q for q in p)])
def test_pairs_in_any_container(kind):
    given_pairs = kind([(0, 1), (3, 2)])
    assert Constraints(4, given_pairs).must_link.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_positions_of_any_integer_type(dtype):
    c = Constraints(dtype(4), np.array([[0, 1]], dtype=dtype), [(dtype(2), dtype(3))])
    assert (c.must_link.tolist(), c.cannot_link.tolist()) == ([[0, 1]], [[2, 3]])
    assert c.must_link.dtype == c.component.dtype == np.int64


@pytest.mark.parametrize("empty", [(), [], np.empty((0, 2)), np.empty((0, 2), int), iter(())])
def test_no_pairs_is_legal(empty):
    c = Constraints(3, empty)
    assert (c.n_constraints, c.n_duplicates, len(c), c.shape) == (0, 0, 3, (3,))
    assert c.component.tolist() == [0, 1, 2]
    assert lw.constraint_score([0, 0, 0], c) == 1.0


def test_no_rows_is_legal():
    c = Constraints(0)
    assert len(c) == len(c[[]]) == len(Constraints.from_labels([])) == len(Constraints.sample([], 0)) == 0


def test_violated_counts_noise_as_one_cluster():
    c = Constraints(5, [(0, 1), (1, 2)], [(0, 3), (3, 4)])
    must, cannot = c.find_violations([-1, -1, 0, 0, 0])
    assert (must.tolist(), cannot.tolist()) == ([False, True], [False, True])
    assert lw.constraint_score([-1, -1, 0, 0, 0], c) == 0.5
    with pytest.raises(ValueError, match=r"labels have shape \(3,\), but the constraints are about 5 rows"):
        c.find_violations([0, 0, 0])


# ---------------------------------------------------------------- what is refused
REFUSED = [
    (
        {"must_link": [(0, 1), (0, 5)]},
        lw.ConstraintError,
        r"must-link 1 names row 5, .* 0 to 4 \(n_rows=5",
    ),
    ({"cannot_link": [(0, -1)]}, lw.ConstraintError, r"cannot-link 0 names row -1, .*Positions count from 0"),
    ({"must_link": np.array([[0, 1], [9, 2]])}, lw.ConstraintError, "must-link 1 names row 9"),
    ({"must_link": [(0, 1), (0, 2.0)]}, TypeError, r"must-link 1 holds 2\.0 \(float\)\. .*integers"),
    ({"must_link": [(0, 1), (True, 2)]}, TypeError, r"must-link 1 holds True \(bool\)"),
    ({"cannot_link": [(np.bool_(1), 2)]}, TypeError, "cannot-link 0 holds .*bool"),
    ({"cannot_link": [("0", "1")]}, TypeError, r"cannot-link 0 holds '0' \(str\)"),
    ({"cannot_link": np.array([[0.0, 1.0]])}, TypeError, r"cannot-link 0 holds float64 values\. .*integers"),
    ({"must_link": np.array([[True, False]])}, TypeError, "must-link 0 holds bool values"),
    ({"must_link": [(0, 1, 2)]}, lw.ConstraintError, r"must-link 0 is not a pair: \(0, 1, 2\)\. Pass two"),
    ({"must_link": [0, 1]}, lw.ConstraintError, r"must-link 0 is not a pair: 0\. Pass two"),
    ({"must_link": np.zeros((2, 3), int)}, lw.ConstraintError, r"must-links have shape \(2, 3\)"),
    ({"cannot_link": [(0, 1), (3, 3)]}, lw.InfeasibleConstraintsError, "1 separates row 3"),
    (
        {"must_link": [(0, 1), (2, 1)], "cannot_link": [(3, 4), (1, 2)]},
        lw.InfeasibleConstraintsError,
        r"1 = 2, but 1 ≠ 2 \(must-link 1 and cannot-link 1\)\. Remove one",
    ),
    (
        {"must_link": [(3, 1), (1, 4), (4, 0), (3, 2)], "cannot_link": [(0, 2), (4, 3)]},
        lw.InfeasibleConstraintsError,
        r"3 = 1 = 4, but 3 ≠ 4\. .*on_conflict='keep'",
    ),
    (
        {"must_link": [(0, 1)], "must_link_weight": [1, 2]},
        lw.ConstraintError,
        r"for 1 pairs\. Pass one weight",
    ),
    ({"must_link": [(0, 1)], "must_link_weight": [0]}, lw.ConstraintError, r"must_link_weight\[0\] is 0\.0"),
    ({"cannot_link": [(0, 1)], "cannot_link_weight": [np.nan]}, lw.ConstraintError, r"\[0\] is nan"),
    ({"must_link": [(0, 1)], "must_link_weight": [1e301]}, lw.ConstraintError, r"1e\+301\. .* at most 1e"),
    (
        {"on_conflict": "ignore"},
        ValueError,
        r"on_conflict is unknown: 'ignore'\. Pass 'raise', 'keep' or 'believe'\.",
    ),
    (
        {"on_conflict": "believe", "error_rate": 0},
        ValueError,
        r"not a share of wrong pairs: 0\. Pass a number",
    ),
    ({"on_conflict": "believe", "error_rate": 0.5}, ValueError, r"not a share of wrong pairs: 0\.5\."),
    ({"on_conflict": "believe", "error_rate": "a"}, ValueError, r"not a share of wrong pairs: 'a'\."),
    ({"error_rate": 0.1}, ValueError, r"error_rate is 0\.1, but on_conflict is 'raise'\. Pass on_conflict"),
]


@pytest.mark.parametrize(
    ("row", "kind", "words"),
    [
        (True, TypeError, r"not an integer: True \(bool\). Pass positions"),
        ("a", TypeError, r"not an integer: 'a' \(str\). Pass positions"),
        (1.0, TypeError, r"not an integer: 1\.0 \(float\)"),
        (5, lw.ConstraintError, "no row 5: the rows are 0 to 4"),
        (-1, lw.ConstraintError, "no row -1: the rows are 0 to 4"),
    ],
)
def test_rows_that_do_not_exist_raise_errors(row, kind, words):
    for pair in ((row, 0), (0, row)):
        with pytest.raises(kind, match=words):
            Constraints(5).relation(*pair)


@pytest.mark.parametrize("n", [2**31, 2**63, 10**30])
def test_too_many_rows_raise_errors(n):
    with pytest.raises(lw.ConstraintError, match=rf"out of range: {n}\. Pass .* at most 2147483647"):
        Constraints(n)
    with pytest.raises(lw.ConstraintError, match=f"must-link 0 names row {n}, but data have at most"):
        Constraints(5, [(n, -1)])


@pytest.mark.parametrize(("options", "kind", "words"), REFUSED)
def test_bad_constraints_raise_errors_that_name_them(options, kind, words):
    with pytest.raises(kind, match=words):
        Constraints(5, **options)


@pytest.mark.parametrize(
    ("n", "kind"), [(-1, lw.ConstraintError), (3.0, TypeError), (True, TypeError), ("3", TypeError)]
)
def test_bad_numbers_of_rows_raise_errors(n, kind):
    with pytest.raises(kind, match="Pass the number of rows"):
        Constraints(n)


def test_errors_are_value_errors_and_hold_the_chain():
    assert issubclass(lw.ConstraintError, ValueError)
    assert issubclass(lw.InfeasibleConstraintsError, lw.ConstraintError)
    with pytest.raises(lw.InfeasibleConstraintsError) as caught:
        Constraints(10, [(7, 3), (9, 7)], [(3, 9)])
    assert caught.value.chain == (3, 7, 9)


def test_a_row_joined_to_itself_is_dropped_with_a_warning():
    with pytest.warns(lw.ConstraintWarning, match=r"joins row 2 to itself\. 2 such pairs dropped") as caught:
        c = Constraints(4, [(0, 1), (2, 2), (3, 3)], must_link_weight=[5, 6, 7])
    assert caught[0].filename == __file__
    assert (c.must_link.tolist(), c.must_link_weight.tolist()) == ([[0, 1]], [5.0])


@pytest.mark.slow
@given(truths(), st.data())
def test_every_contradiction_is_found(problem, data):
    y, pairs = problem
    wrong = data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ np.array(wrong, dtype=bool)
    must, cannot = pairs[same], pairs[~same]
    together, apart = closed(len(y), must.tolist(), cannot.tolist())
    if not (together & apart).any():
        assert relations(Constraints(len(y), must, cannot)) == brute(len(y), must, cannot)
        return
    with pytest.raises(lw.InfeasibleConstraintsError) as caught:
        Constraints(len(y), must, cannot)
    assert_contradiction(caught.value.chain, must, cannot)
    with pytest.warns(lw.ConstraintWarning, match="contradict each other") as warned:
        kept = Constraints(len(y), must, cannot, on_conflict="keep")
    assert warned[0].filename == __file__
    inside = {tuple(sorted(p)) for p in cannot.tolist() if together[p[0], p[1]]}
    assert {tuple(p) for p in kept.conflicts.tolist()} == inside
    assert not (kept.component_cannot_link[:, 0] == kept.component_cannot_link[:, 1]).any()
    for twin in (pickle.loads(pickle.dumps(kept)), copy.deepcopy(kept), kept[:]):  # said once, not again
        assert twin == kept
        np.testing.assert_array_equal(twin.conflicts, kept.conflicts)


def assert_contradiction(chain, must, cannot):
    linked = {frozenset(pair) for pair in must.tolist()}
    assert all(frozenset(chain[at : at + 2]) in linked for at in range(len(chain) - 1))
    assert frozenset((chain[0], chain[-1])) in {frozenset(pair) for pair in cannot.tolist()}


# ---------------------------------------------------------------- cutting
@st.composite
def cuts(draw, repeats=True):
    """Constraints with their truth, and some rows of theirs."""
    y, pairs = draw(truths())
    rows = st.lists(st.integers(0, len(y) - 1), max_size=18 if repeats else None, unique=not repeats)
    return y, told(y, pairs), np.array(draw(rows), dtype=int)


@pytest.mark.slow
@settings(deadline=None)
@given(cuts())
def test_a_selection_implies_what_the_whole_implies_for_its_rows(problem):
    y, c, rows = problem
    cut = c[rows]
    assert len(cut) == len(rows)
    assert relations(cut) == [[c.relation(i, j) for j in rows] for i in rows]
    assert lw.constraint_score(y[rows], cut) == 1.0


@pytest.mark.slow
@settings(deadline=None)
@given(cuts(), st.data())
def test_selecting_twice_equals_selecting_once(problem, data):
    _, c, rows = problem
    assume(len(rows))
    again = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12)), dtype=int)
    twice, once = c[rows][again], c[rows[again]]
    assert relations(twice) == relations(once)
    np.testing.assert_array_equal(twice.component, once.component)
    np.testing.assert_array_equal(twice.component_cannot_link, once.component_cannot_link)


@given(cuts())
def test_selecting_all_rows_changes_nothing(problem):
    _, c, _ = problem
    assert c[:] == c
    assert c[np.arange(len(c))] == c
    assert c[np.ones(len(c), bool)] == c
    assert c[(slice(None), ...)] == c  # as scikit-learn asks
    assert c[[0], ...] == c[[0]]


@given(cuts(repeats=False))
def test_masks_slices_and_negative_positions_select_rows(problem):
    y, c, rows = problem
    n = len(y)
    mask = np.isin(np.arange(n), rows)
    assert c[mask] == c[np.flatnonzero(mask)] == c[mask.tolist()]
    assert c[rows - n] == c[rows]
    assert c[1:-1] == c[np.arange(n)[1:-1]]
    assert c[::-2] == c[np.arange(n)[::-2]]
    assert len(c[0]) == len(c[np.int64(-1)]) == 1


@pytest.mark.parametrize("rows", [[0, 7], [True, False], [0.5], -8])
def test_selecting_rows_that_do_not_exist_raises_errors(rows):
    with pytest.raises(IndexError):
        Constraints(7)[rows]


def test_bootstrap_rows_are_joined_to_their_copies():
    c = Constraints(4, [(0, 1)], [(1, 2)])
    cut = c[[2, 1, 2, 3, 3]]
    assert cut.must_link.tolist() == [[0, 2], [3, 4]]
    assert cut.cannot_link.tolist() == [[0, 1]]


def test_weights_survive_a_selection_and_implied_pairs_get_the_smallest_weight():
    c = Constraints(
        6,
        [(0, 1), (1, 2), (3, 4)],
        [(2, 3), (0, 5)],
        must_link_weight=[4, 3, 9],
        cannot_link_weight=[5, 2],
    )
    cut = c[[0, 2, 4, 5]]  # rows 1 and 3, which joined the others, are gone
    assert (cut.must_link.tolist(), cut.must_link_weight.tolist()) == ([[0, 1]], [3.0])
    kept = dict(zip(map(tuple, cut.cannot_link.tolist()), cut.cannot_link_weight.tolist(), strict=True))
    assert kept[0, 3] == 2.0  # was given as it is
    followed = {pair: weight for pair, weight in kept.items() if pair != (0, 3)}
    assert set(followed.values()) == {3.0}  # 2 ≠ 3 and 3 = 4 and 1 = 2, the weakest of which has 3
    assert set(followed) <= {(0, 2), (1, 2)}


def test_implied_pairs_of_a_selection_get_the_smallest_weight_on_their_path():
    """Two cannot-links lead through rows that are left out: one is the weakest itself, one is not."""
    c = Constraints(
        8,
        [(0, 1), (2, 3), (4, 5), (6, 7)],
        [(1, 3), (1, 2), (5, 7)],
        must_link_weight=[6, 7, 2, 8],
        cannot_link_weight=[5, 4, 3],
    )
    cut = c[[0, 3, 4, 6]]
    assert cut.cannot_link.tolist() == [[0, 1], [2, 3]]
    assert cut.cannot_link_weight.tolist() == [4.0, 2.0]


def test_rows_joined_by_other_rows_are_linked_in_order():
    c = Constraints(42, [(40 + i % 2, i) for i in range(40)])
    assert c[:40].must_link.tolist() == [[i, i + 2] for i in range(38)]


def test_a_direct_contradiction_names_its_pairs_by_position():
    words = r"0 = 3, but 0 ≠ 3 \(must-link 0 and cannot-link 1\)"
    with pytest.raises(lw.InfeasibleConstraintsError, match=words):
        Constraints(4, [(0, 3), (0, 1)], [(0, 2), (0, 3)])
    words = r"2 = 3, but 2 ≠ 3 \(must-link 2 and cannot-link 0\)"
    with pytest.raises(lw.InfeasibleConstraintsError, match=words):
        Constraints(4, [(0, 3), (0, 1), (3, 2)], [(3, 2), (1, 2)])


@pytest.mark.parametrize("pair", [(-1, 0), (0, 4), (4, 0)])
def test_the_relation_of_rows_that_do_not_exist_raises_errors(pair):
    with pytest.raises(lw.ConstraintError, match=r"row (-1|4)\b.* 0 to 3"):
        Constraints(4).relation(*pair)


def test_a_repeated_pair_gets_its_largest_weight():
    c = Constraints(3, [(0, 1), (1, 0), (1, 2)], must_link_weight=[2, 7, 1])
    assert (c.must_link.tolist(), c.must_link_weight.tolist()) == ([[0, 1], [1, 2]], [7.0, 1.0])


def test_contradictions_survive_a_selection():
    with pytest.warns(lw.ConstraintWarning):
        c = Constraints(4, [(0, 1), (1, 2)], [(0, 2)], on_conflict="keep")
    assert c[[0, 2, 3]].conflicts.tolist() == [[0, 1]]  # still joined through row 1, without a new warning
    assert len(c[[0, 1, 3]].conflicts) == 0


# ---------------------------------------------------------------- as a value
def test_constraints_are_immutable():
    c = Constraints(4, [(0, 1)], [(1, 2)])
    for name in ("must_link", "cannot_link", "must_link_weight", "cannot_link_weight", "component"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(c, name)[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        c.component_cannot_link[0] = 0
    with pytest.raises(AttributeError, match=r"do not change: \w+\. Build new ones"):
        c.n_rows = 5
    with pytest.raises(AttributeError, match="do not change"):
        del c.must_link
    mine = np.array([[0, 1]])
    held = Constraints(2, mine)
    mine[0] = 1
    assert held.must_link.tolist() == [[0, 1]]


@given(truths())
def test_copies_and_pickles_are_equal(problem):
    y, pairs = problem
    c = told(y, pairs)
    for twin in (copy.copy(c), copy.deepcopy(c), pickle.loads(pickle.dumps(c))):
        assert twin == c
        assert not twin.must_link.flags.writeable


def test_pickles_keep_weights_and_conflicts():
    with pytest.warns(lw.ConstraintWarning):
        c = Constraints(
            3, [(0, 1), (1, 2)], [(0, 2)], must_link_weight=[2, 3], cannot_link_weight=[4], on_conflict="keep"
        )
    assert pickle.loads(pickle.dumps(c)) == c


def test_equality_compares_pairs_weights_and_conflicts():
    c = Constraints(3, [(0, 1)])
    assert c != Constraints(4, [(0, 1)])
    assert c != Constraints(3, [], [(0, 1)])
    assert c != Constraints(3, [(0, 1)], must_link_weight=[2])
    assert c != Constraints(3, [(0, 1)], on_conflict="keep")
    assert c != "Constraints"
    assert repr(c) == "Constraints(n_rows=3: 1 must-links, 0 cannot-links)"


# ---------------------------------------------------------------- size
@pytest.mark.slow
def test_a_chain_through_very_many_rows_is_found():
    n = 200_000
    order = np.random.default_rng(0).permutation(n)
    chain = np.column_stack([order[:-1], order[1:]])
    tracemalloc.start()
    c = Constraints(n, chain)
    assert c.component.max() == 0
    kept = np.sort(np.random.default_rng(1).choice(n, n // 2, replace=False))
    cut = c[kept]
    assert cut.component.max() == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"\(199990 more rows\)") as caught:
        Constraints(n, chain, [(order[0], order[-1])])
    assert len(caught.value.chain) == n


def test_constraints_cannot_become_an_array():
    with pytest.raises(TypeError, match=r"cannot be converted to an array\. Use their pairs: must_link"):
        np.asarray(lw.Constraints(3, [(0, 1)]))


def test_other_objects_than_constraints_raise_errors():
    with pytest.raises(TypeError, match=r"not a Constraints object: \[0, 1, 1\]\. Build one"):
        lw.constraint_score(lw.Constraints(3), [0, 1, 1])


def test_ids_with_lone_surrogates_are_not_written(tmp_path):
    path = tmp_path / "pairs.csv"
    with pytest.raises(lw.ConstraintError, match=r"Row 1 \(counted from 0\) of the ids is"):
        lw.Constraints(2, [(0, 1)]).to_csv(path, ids=["a", "\ud800"])
    assert not path.exists()
