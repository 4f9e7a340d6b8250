"""Evidence: what follows from answers, and why."""

import copy
import itertools
import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.constraints import evidence as module
from linkwise.constraints.error_rates import SourceRate
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact, Relation
from reference.closure import steps, steps_apart, verdicts


@st.composite
def answers(draw, max_rows=12, unsure=True):
    """Rows, their classes, and true answers (or doubts) about pairs of them."""
    n = draw(st.integers(2, max_rows))
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, min_size=draw(st.sampled_from([0, 15])), max_size=25))
    doubts = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    said = [
        (i, j, "unsure" if doubt and unsure else "yes" if y[i] == y[j] else "no")
        for (i, j), doubt in zip(pairs, doubts, strict=True)
    ]
    return n, said


def split(said):
    return [[(i, j) for i, j, a in said if a == answer] for answer in ("yes", "no", "unsure")]


def assert_knows(evidence, n, said):
    """The verdict on every pair is that of the closure by matrices; doubts count where nothing follows."""
    must, cannot, unsure = split(said)
    expected = verdicts(n, must, cannot)
    for i, j in unsure:
        for a, b in ((i, j), (j, i)):
            expected[a, b] = expected[a, b] or "unsure"
    for i in range(n):
        for j in range(n):
            assert evidence.verdict(i, j) == expected[i, j] == evidence.relation(i, j).verdict
        assert evidence.verdicts(i, list(range(n))) == list(expected[i])


@pytest.mark.slow
@settings(deadline=None)
@given(answers())
def test_evidence_equals_the_closure_after_each_answer(problem):
    n, said = problem
    evidence = Evidence(n)
    for at, fact in enumerate(said, start=1):
        evidence.add(*fact)
        assert_knows(evidence, n, said[:at])
    assert list(evidence) == [Fact(*fact) for fact in said]
    assert len(evidence) == len(said)


@settings(deadline=None)
@given(answers(), st.randoms(use_true_random=False))
def test_neither_order_nor_orientation_matters(problem, random):
    n, said = problem
    one, other = Evidence(n), Evidence(n)
    for fact in said:
        one.add(*fact)
    turned = [(j, i, a) if random.random() < 0.5 else (i, j, a) for i, j, a in said]
    random.shuffle(turned)
    for fact in turned:
        other.add(*fact)
    assert_same(one, other)


def assert_same(one, other):
    for i in range(one.n_rows):
        for j in range(one.n_rows):
            assert one.verdict(i, j) == other.verdict(i, j)
        assert one.verdicts(i, list(range(one.n_rows))) == [one.verdict(i, j) for j in range(one.n_rows)]
    assert [g.tolist() for g in one.groups().rows] == [g.tolist() for g in other.groups().rows]
    assert one.groups().cannot_link.tolist() == other.groups().cannot_link.tolist()


@settings(deadline=None)
@given(answers(unsure=False))
def test_reasons_are_valid_and_shortest(problem):
    n, said = problem
    evidence = Evidence(n)
    for fact in said:
        evidence.add(*fact)
    must, cannot, _ = split(said)
    given_facts = {(frozenset((i, j)), a) for i, j, a in said}
    for i in range(n):
        for j in range(n):
            relation = evidence.relation(i, j)
            if i == j or relation.verdict is None:
                assert relation.because == ()
                continue
            assert all((frozenset(f.pair), f.answer) in given_facts for f in relation.because)
            assert replayed(i, j, relation.because) == relation.verdict
            fewest = steps(n, must, i)[j] if relation.verdict == "yes" else steps_apart(n, must, cannot, i, j)
            assert len(relation.because) == fewest


def replayed(i, j, because):
    """Walk the chain from i: every fact begins where the one before ended; at most one is a no."""
    at, apart = i, 0
    for fact in because:
        assert fact.first == at
        at = fact.second
        apart += fact.answer == "no"
    assert at == j
    assert apart <= 1
    return "no" if apart else "yes"


def test_the_shortest_reason_is_found_among_hundreds_of_answers():
    """Two groups are held apart by many answers; the direct one comes last."""
    evidence = Evidence(400)
    for row in range(1, 200):
        evidence.add(row - 1, row, "yes")
        evidence.add(200 + row - 1, 200 + row, "yes")
    for row in range(150):
        evidence.add(row, 399 - row, "no")
    assert len(evidence.relation(199, 200).because) == 1 + 2 * 50
    evidence.add(199, 200, "no")
    assert evidence.relation(199, 200).because == (Fact(199, 200, "no"),)
    assert evidence.relation(200, 199).because == (Fact(200, 199, "no"),)


@settings(deadline=None)
@given(answers(), st.data())
def test_contradictions_raise_errors_and_change_nothing(problem, data):
    n, said = problem
    evidence, same = Evidence(n), Evidence(n)
    for fact in said:
        evidence.add(*fact)
        same.add(*fact)
    known = [
        (i, j, evidence.verdict(i, j))
        for i in range(n)
        for j in range(n)
        if i != j and evidence.verdict(i, j) in ("yes", "no")
    ]
    if not known:
        return
    i, j, verdict = data.draw(st.sampled_from(known))
    wrong = "no" if verdict == "yes" else "yes"
    with pytest.raises(
        lw.InfeasibleConstraintsError, match=r"contradicts earlier ones: .*Undo or change"
    ) as e:
        evidence.add(i, j, wrong, asked=True)
    assert_chain(e.value.chain, [*said, (i, j, wrong)])
    with pytest.raises(lw.InfeasibleConstraintsError):
        evidence.check(i, j, wrong)
    assert len(evidence) == len(said)
    assert evidence.n_questions == 0
    assert_same(evidence, same)


def assert_chain(chain, said):
    """Each row must-linked to the next, and the ends required apart, the refused answer counted in."""
    facts = {(frozenset((i, j)), a) for i, j, a in said}
    assert len(chain) >= 2
    for a, b in itertools.pairwise(chain):
        assert (frozenset((a, b)), "yes") in facts
    assert (frozenset((chain[0], chain[-1])), "no") in facts


def test_contradictions_are_described_by_their_chain():
    evidence = Evidence(6)
    for fact in ((3, 4, "yes"), (4, 5, "yes"), (0, 1, "yes"), (1, 3, "no")):
        evidence.add(*fact)
    with pytest.raises(lw.InfeasibleConstraintsError, match="3 = 4 = 5, but 3 ≠ 5"):
        evidence.add(3, 5, "no")
    with pytest.raises(lw.InfeasibleConstraintsError, match="1 = 0 = 5 = 4 = 3, but 1 ≠ 3"):
        evidence.add(0, 5, "yes")


@pytest.mark.slow
@settings(deadline=None)
@given(answers(unsure=False), answers(unsure=False))
def test_initial_constraints_equal_single_answers(first, second):
    n, said = first
    known = lw.Constraints(n, *split(said)[:2])
    born, grown, added = Evidence(n, known), Evidence(n), Evidence(n)
    for fact in said:
        grown.add(*fact)
    added.add_constraints(known)
    more = [(i % n, j % n, a) for i, j, a in second[1] if i % n != j % n]
    for step in [None, *more]:
        if step is not None:
            results = {tried(evidence, step) for evidence in (born, grown, added)}
            assert len(results) == 1
        assert_same(born, grown)
        assert_same(born, added)
    for i in range(n):
        for j in range(n):
            assert len(born.relation(i, j).because) == len(grown.relation(i, j).because)


def tried(evidence, fact):
    try:
        evidence.add(*fact)
    except lw.InfeasibleConstraintsError as error:
        return len(error.chain)
    return None


@settings(deadline=None)
@given(answers(), answers(unsure=False))
def test_later_constraints_are_added_completely_or_not_at_all(first, second):
    n, said = first
    more = [(i % n, j % n, a) for i, j, a in second[1] if i % n != j % n]
    must, cannot, _ = split(more)
    try:
        known = lw.Constraints(n, must, cannot)
    except lw.InfeasibleConstraintsError:
        return
    evidence, before = Evidence(n), Evidence(n)
    for fact in said:
        evidence.add(*fact)
        before.add(*fact)
    try:
        evidence.add_constraints(known)
    except lw.InfeasibleConstraintsError as error:
        assert_chain(error.chain, [*said, *more])
        assert list(evidence) == list(before)
        assert_same(evidence, before)
    else:
        assert_knows(evidence, n, [*said, *more])


@settings(deadline=None)
@given(answers())
def test_to_constraints_keeps_all_relations(problem):
    n, said = problem
    evidence = Evidence(n)
    for fact in said:
        evidence.add(*fact)
    known = evidence.to_constraints()
    words = {"yes": "must-link", "no": "cannot-link"}
    for i in range(n):
        for j in range(n):
            assert known.relation(i, j) == words.get(evidence.verdict(i, j))
    assert known.n_constraints == len({(frozenset(f[:2]), f[2]) for f in said if f[2] != "unsure"})


@settings(deadline=None)
@given(answers())
def test_groups_are_the_rows_joined_by_answers(problem):
    n, said = problem
    evidence = Evidence(n)
    for fact in said:
        evidence.add(*fact)
    found = evidence.groups()
    named = {row for i, j, a in said if a != "unsure" for row in (i, j)}
    assert {int(row) for group in found.rows for row in group} == named
    assert sum(len(group) for group in found.rows) == len(named)
    firsts = [int(group[0]) for group in found.rows]
    assert firsts == sorted(firsts)
    for a, one in enumerate(found.rows):
        assert (np.diff(one) > 0).all()
        for b, other in enumerate(found.rows):
            verdict = evidence.verdict(int(one[0]), int(other[0]))
            assert (verdict == "yes") == (a == b)
            if a < b:
                assert (verdict == "no") == ((a, b) in found.apart)
    assert all(a < b for a, b in found.apart)

    assert found.row.tolist() == sorted(named)
    assert all(row in found.rows[g] for row, g in zip(found.row, found.number, strict=True))
    apart = sorted(found.apart)
    assert found.cannot_link.tolist() == [[a, b] for a, b in apart]
    assert found.both_ways.tolist() == sorted([[a, b] for a, b in apart] + [[b, a] for a, b in apart])
    assert evidence.groups() is found


@settings(deadline=None)
@given(answers())
def test_groups_among_very_many_rows_are_found_without_an_array_of_all(problem):
    n, said = problem
    usual, sparing = Evidence(n), Evidence(n)
    for fact in said:
        usual.add(*fact)
        sparing.add(*fact)
    with mock.patch.object(module, "FEW_ROWS", 0):
        sparing.groups()
    assert_same(usual, sparing)


@settings(deadline=None)
@given(answers(), st.integers(0, 25))
def test_known_pairs_are_those_with_a_verdict(problem, heard):
    n, said = problem
    heard = min(heard, len(said))
    pairs = np.array(list(itertools.product(range(n), range(n))))
    evidence = Evidence(n)
    for fact in said[:heard]:
        evidence.add(*fact)
    before = [evidence.verdict(i, j) is not None for i, j in pairs.tolist()]
    for fact in said[heard:]:
        evidence.add(*fact)
    after = [evidence.verdict(i, j) is not None for i, j in pairs.tolist()]
    news = evidence.has_verdict(pairs, heard).tolist()
    apart = pairs[:, 0] != pairs[:, 1]  # without an answer nothing is told of a row and itself
    assert np.array_equal(np.logical_or(before, news)[apart], np.array(after)[apart])
    assert np.array_equal(evidence.has_verdict(pairs)[apart], np.array(after)[apart])
    assert evidence.has_verdict(pairs[:0]).shape == (0,)
    assert not evidence.has_verdict(pairs, len(said)).any()


@given(answers(), st.integers(0, 25))
def test_answered_returns_the_pairs_of_one_answer(problem, since):
    n, said = problem
    evidence = Evidence(n)
    for fact in said:
        evidence.add(*fact)
    for answer in ("yes", "no", "unsure"):
        pairs = evidence.pairs_with_answer(answer, since)
        assert pairs.shape == (len(pairs), 2)
        assert pairs.tolist() == [[i, j] for i, j, a in said[since:] if a == answer]


def test_a_row_with_thousands_of_cannot_links_may_join_another():
    """What is moved is the lesser, rows and foes together; the verdicts are the same."""
    evidence = Evidence(3000)
    for row in range(2, 2000):
        evidence.add(0, row, "no")
    for row in range(2000, 2500):
        evidence.add(1, row, "yes")
    evidence.add(1, 0, "yes")
    assert [evidence.verdict(2400, row) for row in (0, 2, 1999, 2499, 2500)] == [
        "yes",
        "no",
        "no",
        "yes",
        None,
    ]
    assert [len(rows) for rows in evidence.groups().rows[:2]] == [502, 1]
    assert evidence.groups().apart == {(0, number) for number in range(1, 1999)}


def test_unsure_answers_settle_nothing():
    evidence = Evidence(4)
    evidence.add(1, 0, "unsure", asked=True)
    assert evidence.relation(0, 1) == Relation("unsure", (Fact(0, 1, "unsure"),))
    assert evidence.n_questions == 1
    assert evidence.groups().rows == ()
    evidence.add(0, 2, "yes", asked=True)
    evidence.add(2, 1, "yes")
    assert evidence.verdict(0, 1) == "yes"  # what follows counts for more
    evidence.add(0, 1, "unsure")  # and is not lost by a later doubt
    assert evidence.verdict(1, 0) == "yes"
    assert evidence.n_questions == 2
    assert evidence.to_constraints().n_constraints == 2


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((0, 0, "yes"), lw.ConstraintError, "Row 0 is compared with itself"),
        ((0, 3, "yes"), lw.ConstraintError, "no row 3: the rows are 0 to 2"),
        ((-1, 0, "no"), lw.ConstraintError, "no row -1: the rows are 0 to 2"),
        ((True, 0, "no"), TypeError, r"not an integer: True \(bool\). Pass positions"),
        ((0, 1.0, "no"), TypeError, r"not an integer: 1\.0 \(float\)"),
        ((0, 1, "maybe"), TypeError, "'maybe'. Pass 'yes', 'no' or 'unsure'"),
        ((0, 1, True), TypeError, "True. Pass 'yes', 'no' or 'unsure'"),
        ((0, 1, None), TypeError, "None. Pass"),
    ],
)
def test_bad_answers_raise_errors(arguments, kind, words):
    evidence = Evidence(3)
    with pytest.raises(kind, match=words):
        evidence.add(*arguments)
    assert len(evidence) == 0


@pytest.mark.parametrize("row", [3, -1, -3, 2.0, 10**30])
def test_rows_that_do_not_exist_have_no_verdict(row):
    evidence = Evidence(3, lw.Constraints(3, [(0, 2)], [(0, 1)]))
    assert evidence.verdict(0, row) is evidence.verdict(row, 0) is None
    assert evidence.verdict(row, 1) is None


@pytest.mark.parametrize(
    ("n", "kind"), [(-1, ValueError), (2.0, TypeError), (True, TypeError), ("3", TypeError)]
)
def test_bad_numbers_of_rows_raise_errors(n, kind):
    with pytest.raises(kind, match="Pass the number of rows"):
        Evidence(n)


def test_constraints_on_other_rows_and_contradictory_ones_raise_errors():
    with pytest.raises(lw.ConstraintError, match="about 4 rows, but the data have 3"):
        Evidence(3, lw.Constraints(4))
    with pytest.warns(lw.ConstraintWarning):
        torn = lw.Constraints(3, [(0, 1), (1, 2)], [(2, 0)], on_conflict="keep")
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"0 = 1 = 2, but 0 ≠ 2\. Remove one of them\.$"):
        Evidence(3, torn)


def test_groups_of_constraints_join_as_wholes():
    """Forty rows in two groups and two in a third; whichever is moved, all its rows and foes go along."""
    known = lw.Constraints(44, [(i, i + 2) for i in range(38)] + [(40, 41)], [(40, 42), (1, 43)])
    for first, second in ((40, 0), (0, 40), (39, 41)):
        evidence = Evidence(44, known)
        same = [*range(first % 2 if first < 40 else second % 2, 40, 2), 40, 41]
        evidence.add(first, second, "yes")
        assert {evidence.verdict(a, b) for a in same for b in same} == {"yes"}
        assert {evidence.verdict(a, 42) for a in same} == {"no"}
        assert {evidence.verdict(a, b) for a in range(0, 40, 2) for b in range(1, 40, 2)} == {None}
        groups = {tuple(group.tolist()) for group in evidence.groups().rows}
        assert tuple(same) in groups
        assert tuple(range((same[0] + 1) % 2, 40, 2)) in groups


def test_groups_of_constraints_follow_a_single_row():
    evidence = Evidence(5, lw.Constraints(5, [(1, 2), (3, 4)]))
    evidence.add(4, 2, "yes")
    assert [evidence.verdict(1, row) for row in range(5)] == [None, "yes", "yes", "yes", "yes"]


def test_constraints_are_added_to_a_single_answer():
    evidence = Evidence(5)
    evidence.add(0, 1, "yes")
    evidence.add_constraints(lw.Constraints(5, [(2, 3)], [(3, 4)]))
    assert evidence.verdict(0, 1) == evidence.verdict(2, 3) == "yes"
    assert (evidence.verdict(2, 4), evidence.verdict(1, 2)) == ("no", None)
    joined = Evidence(4)
    joined.add(0, 1, "yes")
    with pytest.raises(lw.InfeasibleConstraintsError, match="0 = 1, but 0 ≠ 1"):
        joined.add_constraints(lw.Constraints(4, [(2, 3)], [(0, 1)]))
    assert joined.verdict(2, 3) is None
    joined.add_constraints(lw.Constraints(4, [(0, 2), (1, 3)]))
    assert joined.verdicts(0, [1, 2, 3]) == ["yes", "yes", "yes"]


@settings(deadline=None)
@given(answers())
def test_groups_follow_each_answer(problem):
    """Groups that were looked at before an answer are not those after it."""
    n, said = problem
    evidence = Evidence(n)
    for at, fact in enumerate(said, start=1):
        evidence.groups()
        evidence.add(*fact)
        fresh = Evidence(n)
        for earlier in said[:at]:
            fresh.add(*earlier)
        assert_same(evidence, fresh)
    empty = Evidence(n)
    empty.groups()
    empty.add_constraints(evidence.to_constraints())
    assert_same(empty, Evidence(n, evidence.to_constraints()))


@settings(deadline=None)
@given(answers())
@example((4, [(0, 1, "yes"), (1, 2, "yes"), (2, 3, "no")]))
def test_n_inferred_counts_implied_pairs(problem):
    n, said = problem
    evidence = Evidence(n)
    for fact in said:
        evidence.add(*fact)
    every = itertools.combinations(range(n), 2)
    known = {pair for pair in every if evidence.verdict(*pair) in ("yes", "no")}
    assert evidence.n_inferred == len(known - {(min(i, j), max(i, j)) for i, j, a in said if a != "unsure"})


def test_known_since_looks_only_at_pairs_that_answers_touch():
    evidence = Evidence(3)
    evidence.add(2, 1, "no")
    evidence.add(0, 2, "yes")
    assert evidence.has_verdict(np.array([[0, 1], [1, 0]]), since=1).tolist() == [True, True]


def test_all_answers_are_believed_and_none_is_suspect():
    evidence = Evidence(4)
    for row, answer, source in [(0, "yes", "anna"), (1, "no", "ben"), (2, "unsure", "ben"), (2, "no", "ben")]:
        evidence.add(row, 3, answer, source=source)
    assert list(evidence.read_believed(1)) == list(evidence)[1:]
    assert evidence.suspects() == []
    rates = evidence.error_rates()
    assert rates.overall == SourceRate(3, 0, 0.0, 0.0, 0.0)
    assert rates.by_source == {
        "anna": SourceRate(1, 0, 0.0, 0.0, 0.0),
        "ben": SourceRate(2, 0, 0.0, 0.0, 0.0),
    }


def test_numpy_integers_are_rows():
    evidence = Evidence(np.int64(3))
    evidence.add(np.int32(0), np.uint8(2), "yes")
    assert evidence.verdict(np.int64(2), np.int64(0)) == "yes"
    assert [type(row) for row in next(iter(evidence)).pair] == [int, int]


def test_copies_are_independent():
    evidence = Evidence(4, lw.Constraints(4, [(0, 1)], [(1, 2)]))
    for twin in (copy.deepcopy(evidence), pickle.loads(pickle.dumps(evidence)), evidence.copy()):
        twin.add(2, 3, "yes")
        assert twin.verdict(0, 3) == "no"
        assert evidence.verdict(0, 3) is None


@settings(deadline=None)
@given(answers(), st.data())
def test_copies_that_go_on_apart_do_not_change_each_other(problem, data):
    n, said = problem
    at = data.draw(st.integers(0, len(said)))
    until = data.draw(st.integers(at, len(said)))
    evidence = Evidence(n)
    for fact in said[:at]:
        evidence.add(*fact)
    twin, third = evidence.copy(), evidence.copy()
    for each, end in ((twin, len(said)), (evidence, until)):
        for fact in said[at:end]:
            each.add(*fact)
    for each, end in ((twin, len(said)), (evidence, until), (third, at)):
        assert_knows(each, n, said[:end])


def test_a_quick_copy_holds_all_that_a_deep_one_holds():
    evidence = Evidence(8, lw.Constraints(8, [(0, 1)], [(1, 2)]))
    for first, second, answer in [(2, 3, "yes"), (4, 5, "unsure"), (3, 6, "no")]:
        evidence.add(first, second, answer, asked=True, source="anna")
    evidence.groups()
    quick, deep = evidence.copy(), copy.deepcopy(evidence)
    before = evidence.groups()

    def hold(each):
        return {name: value for name, value in vars(each).items() if name not in ("_groups", "_named")}

    assert hold(quick) == hold(deep)
    for each in (quick, deep):
        each.add(6, 7, "yes")
        each.add(0, 7, "no", source="bot")
        each.add(5, 6, "unsure")
    assert hold(quick) == hold(deep) != hold(evidence)
    assert evidence.groups() is before
    assert len(evidence) == 5


@pytest.mark.slow
def test_a_chain_through_very_many_rows_is_fast():
    n = 200_000
    order = np.random.default_rng(0).permutation(n)
    ends = np.array([[order[0], order[-1]]])
    chain = np.column_stack([order[: n // 2 - 1], order[1 : n // 2]])
    other = np.column_stack([order[n // 2 : -1], order[n // 2 + 1 :]])
    evidence = Evidence(n, lw.Constraints(n, np.vstack([chain, other]), ends))
    i, j = int(order[17]), int(order[-18])
    assert evidence.verdict(i, int(order[n // 2 - 1])) == "yes"
    assert evidence.verdict(i, j) == "no"
    relation = evidence.relation(i, j)
    assert [fact.answer for fact in relation.because] == ["yes"] * 17 + ["no"] + ["yes"] * 17
    assert replayed(i, j, relation.because) == "no"
    assert [len(group) for group in evidence.groups().rows] == [n // 2, n // 2]


def test_pairs_that_are_no_constraints_are_refused():
    with pytest.raises(TypeError, match=r"not a Constraints object: \[\(0, 1\)\]\. Build one"):
        lw.Evidence(3).add_constraints([(0, 1)])
