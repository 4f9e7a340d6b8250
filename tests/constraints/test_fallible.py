"""Answers of which some may be wrong: what is believed of them, and what stays as it was given."""

from __future__ import annotations

import itertools
import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.constraints.belief import measure_nearness
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact, Relation
from linkwise.constraints.fallible import FallibleEvidence, make_evidence

WORDS = {"yes": "must-link", "no": "cannot-link"}


def believing(n, said, constraints=None, nearness=None, **options):
    """Evidence that believes after each answer, as a run does."""
    evidence = FallibleEvidence(n, constraints, **options)
    for fact in said:
        evidence.add(*fact)
        evidence.believe(nearness)
    return evidence


@st.composite
def doubtful_answers(draw, max_rows=9, constraints=False):
    """Rows, answers that may contradict each other, constraints, and what distances say."""
    n = draw(st.integers(2, max_rows))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    words = st.sampled_from(["yes", "no", "yes", "no", "unsure"])
    said = [(i, j, draw(words)) for i, j in draw(st.lists(pair, max_size=25))]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 3, n)
    known = lw.Constraints(n)
    if constraints:
        known = lw.Constraints.sample(y, draw(st.integers(1, n * (n - 1) // 2)), 0)
    nearness = draw(st.sampled_from([None, measure_nearness(X)]))
    return n, said, known, nearness


# ---------------------------------------------------------------- what a person expects
ONE_WRONG = [(0, 1, "yes"), (1, 2, "yes"), (0, 2, "yes"), (3, 4, "yes"), (0, 3, "no"), (1, 4, "no")]


@pytest.mark.parametrize("rate", [None, 0.05, 0.2])
def test_one_wrong_answer_among_many_is_named(rate):
    evidence = believing(6, [*ONE_WRONG, (2, 3, "yes"), (2, 4, "no")], error_rate=rate)
    (suspect,) = evidence.suspects()
    assert suspect.fact == Fact(2, 3, "yes")
    assert list(evidence)[suspect.number] == suspect.fact
    assert suspect.chance > 0.5
    assert [rows.tolist() for rows in evidence.groups().rows] == [[0, 1, 2], [3, 4]]
    assert evidence.verdict(2, 3) == evidence.verdict(0, 4) == "no"
    assert evidence.to_constraints().relation(3, 2) == "cannot-link"
    assert evidence.verdict(2, 5) is None


def test_a_wrong_no_inside_a_group_is_named():
    pairs = list(itertools.combinations(range(5), 2))
    said = [(i, j, "no" if (i, j) == (1, 3) else "yes") for i, j in pairs]
    evidence = believing(5, said)
    assert [suspect.fact for suspect in evidence.suspects()] == [Fact(1, 3, "no")]
    assert [rows.tolist() for rows in evidence.groups().rows] == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("order", range(4))
def test_the_wrong_one_of_five_answers_is_named_in_any_order(order):
    """Four answers fit together; the fifth contradicts two chains of them."""
    said = [(0, 1, "yes"), (1, 2, "yes"), (0, 2, "yes"), (0, 3, "no"), (1, 3, "no"), (2, 3, "yes")]
    said = [said[at] for at in np.random.default_rng(order).permutation(len(said))]
    assert [s.fact for s in believing(4, said).suspects()] == [Fact(2, 3, "yes")]


def test_answers_that_fit_together_are_believed():
    y = np.array([0, 0, 1, 1, 2, 2, 0])
    said = [(i, j, "yes" if y[i] == y[j] else "no") for i, j in itertools.combinations(range(7), 2)]
    evidence = believing(7, said)
    assert evidence.suspects() == []
    assert [rows.tolist() for rows in evidence.groups().rows] == [[0, 1, 6], [2, 3], [4, 5]]
    assert evidence.belief.error_rate < 0.05


def test_the_same_pair_may_be_answered_again():
    """Two answers of three prevail, and each of them stays."""
    said = [(0, 1, "yes"), (0, 1, "no"), (1, 0, "no")]
    evidence = believing(3, said)
    assert list(evidence) == [Fact(*fact) for fact in said]
    assert evidence.verdict(0, 1) == "no"
    assert [suspect.number for suspect in evidence.suspects()] == [0]


def test_reasons_name_answers_that_are_believed():
    """The shortest chain of them: an answer about the pair itself, if it is believed."""
    evidence = believing(6, [*ONE_WRONG, (2, 3, "yes"), (2, 4, "no")])
    assert evidence.relation(2, 3) == Relation("no", (Fact(2, 0, "yes"), Fact(0, 3, "no")))
    assert evidence.relation(4, 2) == Relation("no", (Fact(4, 2, "no"),))
    assert evidence.relation(2, 5) == Relation(None)


def test_unsure_answers_stay():
    evidence = believing(4, [(0, 1, "unsure"), (2, 3, "yes")])
    assert evidence.relation(1, 0) == Relation("unsure", (Fact(1, 0, "unsure"),))
    assert evidence.pairs_with_answer("unsure").tolist() == [[0, 1]]
    assert [rows.tolist() for rows in evidence.groups().rows] == [[2, 3]]
    evidence.add(0, 2, "yes")
    evidence.add(2, 1, "yes")
    evidence.add(0, 1, "unsure")
    evidence.believe()
    assert evidence.verdict(0, 1) == "yes"  # what follows counts for more
    assert evidence.suspects() == []
    assert [fact.answer for fact in evidence] == ["unsure", "yes", "yes", "yes", "unsure"]


def test_an_answer_counts_after_the_next_belief():
    evidence = FallibleEvidence(3)
    evidence.add(0, 1, "yes", asked=True)
    assert (len(evidence), evidence.n_questions, evidence.verdict(0, 1)) == (1, 1, None)
    assert list(evidence.read_believed(0)) == []
    evidence.believe()
    assert evidence.verdict(0, 1) == "yes"
    assert list(evidence.read_believed(0)) == [Fact(0, 1, "yes")]


def test_revisions_are_counted():
    """A reader that remembers what it read starts again where something else is believed of it."""
    evidence = believing(4, [(0, 1, "yes"), (1, 2, "yes"), (0, 3, "yes")])
    before = evidence.n_revisions
    evidence.add(2, 3, "yes")
    evidence.believe()
    assert evidence.n_revisions == before
    evidence.add(0, 1, "no")
    evidence.add(1, 0, "no")
    evidence.add(1, 3, "no")
    evidence.believe()
    assert evidence.verdict(0, 1) == "no"
    assert evidence.n_revisions > before


# ---------------------------------------------------------------- constraints are certain
def test_constraints_are_never_broken():
    """However often it is answered otherwise."""
    known = lw.Constraints(5, [(0, 1)], [(1, 2)])
    said = [(0, 1, "no"), (1, 0, "no"), (0, 2, "yes"), (1, 2, "yes"), (2, 0, "yes"), (0, 1, "no")]
    evidence = believing(5, said, known)
    assert (evidence.verdict(0, 1), evidence.verdict(0, 2), evidence.verdict(1, 2)) == ("yes", "no", "no")
    assert [suspect.fact for suspect in evidence.suspects()] == [Fact(*fact) for fact in said]
    assert sorted(suspect.number for suspect in evidence.suspects()) == [2, 3, 4, 5, 6, 7]
    assert evidence.belief.are_together(np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]


@given(doubtful_answers(constraints=True))
def test_constraints_hold_whatever_is_answered(problem):
    n, said, known, nearness = problem
    evidence, certain = believing(n, said, known, nearness), Evidence(n, known)
    for i, j in itertools.combinations(range(n), 2):
        if certain.verdict(i, j) is not None:
            assert evidence.verdict(i, j) == certain.verdict(i, j)
    belief = evidence.belief
    for a, b in itertools.combinations(range(len(belief.rows)), 2):
        verdict = certain.verdict(int(belief.rows[a]), int(belief.rows[b]))
        if verdict is not None:
            assert (belief.label[a] == belief.label[b]) == (verdict == "yes")


def test_constraints_may_come_later():
    evidence = believing(5, [(0, 1, "yes"), (1, 2, "no"), (0, 2, "unsure")])
    evidence.add_constraints(lw.Constraints(5, [(1, 2)], [(0, 1)]))
    evidence.believe()
    assert (evidence.verdict(0, 1), evidence.verdict(1, 2), evidence.verdict(0, 2)) == ("no", "yes", "no")
    assert list(evidence) == [
        Fact(1, 2, "yes"),
        Fact(0, 1, "no"),
        Fact(0, 1, "yes"),
        Fact(1, 2, "no"),
        Fact(0, 2, "unsure"),
    ]
    assert sorted(suspect.number for suspect in evidence.suspects()) == [2, 3]
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"0 ≠ 1|1 ≠ 0"):
        evidence.add_constraints(lw.Constraints(5, [(0, 1)]))
    assert len(evidence) == 5
    assert evidence.verdict(0, 1) == "no"


def test_constraints_that_contradict_each_other_raise_errors():
    with pytest.warns(lw.ConstraintWarning):
        torn = lw.Constraints(3, [(0, 1), (1, 2)], [(2, 0)], on_conflict="keep")
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"0 = 1 = 2, but 0 ≠ 2"):
        FallibleEvidence(3, torn)
    evidence = FallibleEvidence(3)
    with pytest.raises(lw.InfeasibleConstraintsError):
        evidence.add_constraints(torn)
    with pytest.raises(lw.ConstraintError, match="about 4 rows, but the data have 3"):
        evidence.add_constraints(lw.Constraints(4))
    with pytest.raises(TypeError, match="not a Constraints object"):
        evidence.add_constraints([(0, 1)])
    assert len(evidence) == 0


# ---------------------------------------------------------------- errors
@pytest.mark.parametrize("rate", [-0.1, 0.5, 1, 2.0, float("nan"), True, "0.1", [0.1], 1j])
def test_bad_error_rates_raise_errors(rate):
    message = r"error_rate is not a share of wrong answers: .*Pass a number from 0 up to 0\.5, or None"
    with pytest.raises(ValueError, match=message):
        make_evidence(3, error_rate=rate)
    with pytest.raises(ValueError, match=message):
        FallibleEvidence(3, error_rate=rate)


@pytest.mark.parametrize("rate", [0, 0.0, -0.0, np.float64(0)])
def test_without_errors_it_is_plain_evidence(rate):
    evidence = make_evidence(4, lw.Constraints(4, [(0, 1)]), rate)
    assert type(evidence) is Evidence
    assert not evidence.is_fallible
    assert evidence.suspects() == []
    assert evidence.n_revisions == 0


@pytest.mark.parametrize("rate", [None, 0.1, np.float64(0.1), 0.499])
def test_with_errors_it_is_fallible_evidence(rate):
    evidence = make_evidence(4, lw.Constraints(4, [(0, 1)]), rate)
    assert isinstance(evidence, FallibleEvidence)
    assert evidence.is_fallible
    assert evidence.verdict(0, 1) == "yes"
    assert list(evidence) == list(evidence.read_believed(0)) == [Fact(0, 1, "yes")]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((0, 0, "yes"), lw.ConstraintError, "Row 0 is compared with itself"),
        ((0, 3, "yes"), lw.ConstraintError, "no row 3: the rows are 0 to 2"),
        ((-1, 0, "no"), lw.ConstraintError, "no row -1: the rows are 0 to 2"),
        ((0, 1.0, "no"), TypeError, r"not an integer: 1\.0 \(float\)"),
        ((0, 1, "maybe"), TypeError, "'maybe'. Pass 'yes', 'no' or 'unsure'"),
    ],
)
def test_bad_answers_raise_errors(arguments, kind, words):
    evidence = FallibleEvidence(3)
    with pytest.raises(kind, match=words):
        evidence.add(*arguments)
    with pytest.raises(kind, match=words):
        evidence.check(*arguments)
    assert (len(evidence), evidence.n_questions) == (0, 0)


# ---------------------------------------------------------------- laws
@given(doubtful_answers(constraints=True))
def test_all_that_is_read_fits_together(problem):
    n, said, known, nearness = problem
    evidence = believing(n, said, known, nearness)
    facts, believed = list(evidence), list(evidence.read_believed(0))
    n_known = known.n_constraints
    assert facts[n_known:] == [Fact(*fact) for fact in said]
    assert len(evidence) == len(facts) == len(believed)
    suspects = {suspect.number: suspect.fact for suspect in evidence.suspects()}
    for at, (fact, held) in enumerate(zip(facts, believed, strict=True)):
        assert held.pair == fact.pair
        assert (held.answer == "unsure") == (fact.answer == "unsure")
        if fact.answer != "unsure":
            assert held.answer == evidence.verdict(*fact.pair)
        assert (at in suspects) == (held != fact)
    assert all(facts[at] == fact for at, fact in suspects.items())
    chances = [suspect.chance for suspect in evidence.suspects()]
    assert chances == sorted(chances, reverse=True)
    assert all(0 <= chance <= 1 + 1e-9 for chance in chances)

    groups, constraints = evidence.groups(), evidence.to_constraints()
    of = dict(zip(groups.row.tolist(), groups.number.tolist(), strict=True))
    for i, j in itertools.combinations(range(n), 2):
        verdict = evidence.verdict(i, j)
        assert verdict == evidence.verdict(j, i) == evidence.relation(i, j).verdict
        assert constraints.relation(i, j) == WORDS.get(verdict)
        is_one = i in of and j in of and of[i] == of[j]
        assert (verdict == "yes") == is_one
        if verdict == "no":
            assert (min(of[i], of[j]), max(of[i], of[j])) in groups.apart
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    has = [evidence.verdict(i, j) is not None for i, j in pairs.tolist()]
    assert evidence.has_verdict(pairs).tolist() == has
    assert sum(len(evidence.pairs_with_answer(a)) for a in ("yes", "no", "unsure")) == len(facts)


@given(doubtful_answers(constraints=True))
def test_reasons_lead_from_one_row_to_the_other(problem):
    """Over answers as they were given, where the verdict follows from those that are believed."""
    n, said, known, nearness = problem
    evidence = believing(n, said, known, nearness)
    facts, held = list(evidence), list(evidence.read_believed(0))
    right = Evidence(n, known)
    for fact, believed in zip(facts, held, strict=True):
        if fact == believed:
            right.add(*fact.pair, fact.answer)  # no error: what is believed never contradicts itself
    for i, j in itertools.combinations(range(n), 2):
        relation = evidence.relation(i, j)
        if relation.verdict in (None, "unsure"):
            continue
        ends = [i, *(fact.second for fact in relation.because)]
        assert [fact.first for fact in relation.because] == ends[:-1]
        assert ends[-1] == j
        assert sum(fact.answer == "no" for fact in relation.because) == (relation.verdict == "no")
        named = {(frozenset(fact.pair), fact.answer) for fact in relation.because}
        assert named <= {(frozenset(fact.pair), fact.answer) for fact in held}
        if right.verdict(i, j) == relation.verdict:
            assert named <= {(frozenset(fact.pair), fact.answer) for fact in facts}


def read(evidence):
    """All that evidence says, to compare it to the bit."""
    belief = evidence.belief
    tables = (belief.rows, belief.label, belief.certainty, belief.posterior, belief.careful, belief.net)
    cuts = [(cut.chance, cut.careful, cut.side.tolist(), cut.rest.tolist()) for cut in belief.cuts]
    rate = belief.error_rate, belief.deviation
    words = list(evidence), list(evidence.read_believed(0)), evidence.suspects()
    return [table.tobytes() for table in (*tables, belief.together)], cuts, rate, words


@settings(deadline=None, max_examples=40)
@given(doubtful_answers(constraints=True))
def test_the_same_answers_bring_the_same_belief(problem):
    n, said, known, nearness = problem
    evidence, steps = FallibleEvidence(n, known), []
    for fact in said:
        evidence.add(*fact)
        evidence.believe(nearness)
        evidence.believe(nearness)  # nothing is new
        steps.append(read(evidence))
    again = FallibleEvidence(n, known)
    for fact, step in zip(evidence.since(known.n_constraints), steps, strict=True):
        again.add(*fact.pair, fact.answer)
        again.believe(nearness)
        assert read(again) == step
    for copy in (deepcopy(evidence), pickle.loads(pickle.dumps(evidence))):
        assert read(copy) == read(evidence)


@settings(deadline=None, max_examples=40)
@given(doubtful_answers(constraints=True), st.integers(0, 99), st.integers(0, 3))
def test_new_numbers_of_rows_change_nothing_but_numbers(problem, seed, more):
    """Rows that no answer names may be there or not."""
    n, said, known, _ = problem
    rng = np.random.default_rng(seed)
    new, X = rng.permutation(n + more)[:n], rng.normal(size=(n, 2))
    moved = rng.normal(size=(n + more, 2))
    moved[new] = X
    renamed = lw.Constraints(n + more, new[known.must_link], new[known.cannot_link])
    one = believing(n, said, known, measure_nearness(X))
    turned = [(int(new[i]), int(new[j]), answer) for i, j, answer in said]
    other = believing(n + more, turned, renamed, measure_nearness(moved))
    assert new[one.belief.rows].tolist() == other.belief.rows.tolist()
    assert one.belief.label.tolist() == other.belief.label.tolist()
    assert [s.number for s in one.suspects()] == [s.number for s in other.suspects()]
    for i, j in itertools.combinations(range(n), 2):
        assert one.verdict(i, j) == other.verdict(int(new[i]), int(new[j]))


def test_the_number_of_threads_does_not_matter(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
    pairs = [rng.choice(60, 2, replace=False).tolist() for _ in range(120)]
    said = [(i, j, "yes" if (y[i] == y[j]) ^ (rng.random() < 0.1) else "no") for i, j in pairs]
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        evidence = FallibleEvidence(60)
        for fact in said:
            evidence.add(*fact)
        for _ in range(2):
            evidence.believe(measure_nearness(X))
        found.append(read(evidence))
    assert found[0] == found[1]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_true_answers_are_evidence_like_any(seed):
    """Where every pair is answered, and right, it says what `Evidence` says."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    y, pairs = rng.integers(0, 3, n), list(itertools.combinations(range(n), 2))
    said = [(i, j, "yes" if y[i] == y[j] else "no") for i, j in rng.permutation(pairs).tolist()]
    exact, evidence = Evidence(n), believing(n, said, error_rate=0.01)
    for fact in said:
        exact.add(*fact)
    assert list(exact) == list(evidence)
    assert evidence.suspects() == []
    for i, j in pairs:
        assert exact.relation(i, j) == evidence.relation(i, j)
    assert exact.groups().apart == evidence.groups().apart
    assert exact.n_inferred == evidence.n_inferred
