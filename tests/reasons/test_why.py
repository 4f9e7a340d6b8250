"""`why`: answers first, then rows that stand for others, then rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.errors import ConstraintError

NAMES = "abcdefgh"


def words(reason):
    return reason.sentences(NAMES.__getitem__)


def test_answers_are_reported_as_a_chain():
    c = lw.Constraints(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    apart, together = (
        lw.why([0, 0, 0, 1, 1], 0, 3, constraints=c),
        lw.why([0, 0, 0, 1, 1], 2, 0, constraints=c),
    )
    assert words(apart) == ["a (cluster 0) and d (cluster 1) are apart.", "Answers decide: a = b = c ≠ d."]
    assert words(together) == ["c and a are together, in cluster 0.", "Answers decide: c = b = a."]
    assert apart.facts == (Fact(0, 1, "yes"), Fact(1, 2, "yes"), Fact(2, 3, "no"))
    assert (apart.by, apart.together, together.together) == ("answers", False, True)


def test_rows_that_stand_for_others():
    representatives = [0, 0, 0, 3, 3, 5, 5]
    c = lw.Constraints(7, must_link=[(0, 5)], cannot_link=[(0, 3)])
    labels = [0, 0, 0, 1, 1, 0, 0]

    def told(i, j):
        return lw.why(labels, i, j, constraints=c, representatives=representatives)

    assert words(told(1, 2)) == [
        "b and c are together, in cluster 0.",
        "They are in one part of 3 rows, represented by a.",
    ]
    assert words(told(1, 6))[1:] == [
        "b is in a part of 3 rows, represented by a.",
        "g is in a part of 2 rows, represented by f.",
        "Answers about rows of these parts decide: a = f.",
    ]
    assert words(told(0, 4))[1:] == [
        "a is in a part of 3 rows, represented by itself.",
        "e is in a part of 2 rows, represented by d.",
        "Answers about rows of these parts decide: a ≠ d.",
    ]
    assert told(1, 6).parts == ((0, 3), (5, 2))
    assert {told(i, j).by for i, j in ((1, 2), (1, 6), (0, 4))} == {"parts"}


def test_parts_that_were_not_compared_yet():
    told = lw.why([0, 0, 1, 1], 1, 3, representatives=[0, 0, 2, 2])
    assert words(told)[-1] == "No answer compares these two parts."
    assert (told.by, told.facts) == ("parts", ())


def test_a_doubt_is_reported():
    known = Evidence(4)
    known.add(0, 2, "unsure")
    for i, j in ((1, 3), (0, 2)):
        told = lw.why([0, 0, 1, 1], i, j, constraints=known, representatives=[0, 0, 2, 2])
        assert words(told)[-1] == "The answer about them was unsure."


def test_answers_about_other_rows_of_the_parts_count():
    c = lw.Constraints(6, cannot_link=[(1, 4)])
    told = lw.why([0, 0, 0, 1, 1, 1], 2, 5, constraints=c, representatives=[0, 0, 0, 3, 3, 3])
    assert words(told)[-1] == "Answers about rows of these parts decide: b ≠ e."


def test_a_row_that_answers_moved_into_a_cluster():
    """Row 5 was of the part of 3 and is must-linked to 0, which 1 represents."""
    c = lw.Constraints(6, must_link=[(0, 5)])
    told = lw.why([0, 0, 0, 1, 1, 0], 5, 2, constraints=c, representatives=[1, 1, 1, 3, 3, 3])
    assert words(told)[1:] == [
        "c is in a part of 3 rows, represented by b.",
        "Answers about rows of these parts decide: f = a.",
    ]


def test_a_row_that_answers_took_out_of_its_part():
    c = lw.Constraints(6, cannot_link=[(0, 2)])
    labels = [0, 0, 2, 1, 1, 1]
    told = lw.why(labels, 2, 1, constraints=c, representatives=[1, 1, 1, 3, 3, 3])
    assert words(told)[-1] == "Answers about rows of these parts decide: c ≠ a."
    assert lw.why(labels, 0, 1, constraints=c, representatives=[1, 1, 1, 3, 3, 3]).parts[0] == (1, 2)
    elsewhere = lw.why(labels, 2, 4, constraints=c, representatives=[1, 1, 1, 3, 3, 3])
    assert "Answers took c out of its part: c ≠ a." in words(elsewhere)


def test_contradictory_constraints_do_not_hide_the_others():
    with pytest.warns(lw.ConstraintWarning, match="contradict each other"):
        c = lw.Constraints(6, [(0, 1), (1, 2)], [(0, 2), (3, 4)], on_conflict="keep")
    told = lw.why([0, 0, 0, 1, 2, 2], 3, 4, constraints=c)
    assert words(told)[-1] == "Answers decide: d ≠ e."


def test_two_rows_in_no_cluster_are_apart():
    X = np.r_[np.zeros(5), np.full(5, 10.0), 100.0, -100.0][:, None] + np.linspace(0, 0.1, 12)[:, None]
    c = lw.Constraints(12, must_link=[(10, 11)], cannot_link=[(0, 10)])
    model = lw.FOSC(3, min_samples=3).fit(X, constraints=c)
    apart = lw.why(model, 10, 11, constraints=c)
    assert (apart.together, apart.clusters, apart.by) == (False, (None, None), "nothing")
    assert apart.sentences() == [
        "10 (no cluster) and 11 (no cluster) are apart.",
        "This contradicts answers: 10 = 11.",
    ]
    assert lw.why(model, 0, 10, constraints=c).sentences() == [
        "0 (cluster 0) and 10 (no cluster) are apart.",
        "Answers decide: 0 ≠ 10.",
    ]
    rules = lw.explain(model, X)
    assert lw.why(model, 0, 10, explanation=rules).by == "rules"
    assert [line.split(":")[0] for line in lw.why(model, 10, 11, explanation=rules).sentences()[1:]] == [
        "The rules (right for 100% of the rows) describe 10",
        "They describe 11",
        "Only one of them has",
    ]
    assert lw.why(model.labels_, 10, 11).together  # labels alone may mean anything


def test_an_explanation_of_other_labels_is_refused():
    rules = lw.explain([0, 0, 1, 1], np.arange(4.0)[:, None])
    with pytest.raises(ValueError, match=r"belongs to another clustering\. Make a new one"):
        lw.why([0, 1, 1, 1], 0, 1, explanation=rules)


def test_pipelines_and_names():
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 40, random_state=0)
    pipe = make_pipeline(StandardScaler(), lw.ClusILC(3)).fit(X, clusilc__constraints=c)
    assert not lw.explain(pipe, X).is_the_clustering
    i, j = c.cannot_link[0].tolist()
    told = lw.why(pipe, i, j)
    assert told.together == (pipe[-1].labels_[i] == pipe[-1].labels_[j])
    assert told.sentences([f"flower {row}" for row in range(150)])[0].startswith(f"flower {i} ")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        lw.why(make_pipeline(lw.ClusILC(3)), 0, 1)


def test_a_row_that_left_its_part_speaks_for_itself():
    """Row 2 was found to be apart from row 0, the representative of rows 1 and 2."""
    c = lw.Constraints(3, cannot_link=[(0, 2)])
    told = lw.why([0, 0, 1], 1, 2, constraints=c, representatives=[0, 0, 0])
    assert words(told)[1:] == [
        "b is in a part of 2 rows, represented by a.",
        "Answers about rows of these parts decide: a ≠ c.",
    ]


def test_broken_answers_are_owned_up_to():
    told = lw.why([0, 0, 1], 0, 1, constraints=lw.Constraints(3, cannot_link=[(0, 1)]))
    assert words(told) == ["a and b are together, in cluster 0.", "This contradicts answers: a ≠ b."]
    assert (told.by, told.against) == ("nothing", (Fact(0, 1, "no"),))


def test_rules_say_what_answers_do_not():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [8.0, 0.0], [8.0, 5.0]])
    labels = [0, 0, 1, 2]
    rules = lw.explain(labels, X, feature_names=["size", "weight"], fidelity=1.0)
    assert words(lw.why(labels, 0, 1, explanation=rules))[1:] == [
        "The rules (right for 100% of the rows) describe both: size ≤ 5."
    ]
    apart = lw.why(labels, 0, 2, explanation=rules)
    assert words(apart)[1:] == [
        "The rules (right for 100% of the rows) describe a: size ≤ 5.",
        "They describe c: size > 5 and weight ≤ 0.",
        "Only one of them has: size > 5.",
    ]
    assert apart.by == "rules"


def test_rules_that_do_not_show_it_say_so():
    X = np.array([[1.0], [2.0], [3.0], [9.0]])
    rules = lw.explain([0, 0, 1, 2], X, max_leaves=2)
    told = lw.why([0, 0, 1, 2], 2, 3, explanation=rules)
    assert words(told)[-1] == "The rules (right for 75% of the rows) do not show it: they put d under 1."
    assert told.by == "nothing"


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_every_chain_is_made_of_answers_and_leads_to_what_it_explains(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 12)
    evidence = Evidence(12)
    for i, j in rng.integers(0, 12, (15, 2)).tolist():
        if i != j:
            evidence.add(i, j, "yes" if truth[i] == truth[j] else "no")
    given_ = {(*sorted((f.first, f.second)), f.answer) for f in evidence}
    representatives = np.arange(12) // 2 * 2
    labels = truth.copy()
    for i in range(12):
        for j in range(12):
            if i == j:
                continue
            told = lw.why(labels, i, j, constraints=evidence, representatives=representatives)
            assert all((*sorted((f.first, f.second)), f.answer) in given_ for f in told.facts)
            if told.facts:
                ends = told.facts[0].first, told.facts[-1].second
                if told.by == "answers":
                    assert ends == (i, j)
                else:
                    assert [labels[end] for end in ends] == [labels[i], labels[j]]
                assert all(a.second == b.first for a, b in zip(told.facts, told.facts[1:], strict=False))
                assert sum(f.answer == "no" for f in told.facts) == (not told.together)
            else:
                assert told.by in ("parts", "nothing")


def test_a_fitted_learner_brings_its_own_answers():
    X, y = load_iris(return_X_y=True)
    model = lw.COBRAS(random_state=0).fit(X, oracle=lw.TruthOracle(y), budget=20)
    i, j = model.constraints_.cannot_link[0].tolist()
    assert lw.why(model, i, j).by == "answers"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lw.why([0, 1], 0, 0), ConstraintError, "compared with itself"),
        (lambda: lw.why([0, 1], 0, 2), ConstraintError, "no row 2: the rows are 0 to 1"),
        (lambda: lw.why([0, 1], 0, 1.0), TypeError, r"not an integer: 1\.0"),
        (lambda: lw.why([0, 1], True, 0), TypeError, "not an integer: True"),
        (lambda: lw.why([0, 1], 0, 1, constraints=lw.Constraints(3)), ValueError, "about 3 rows"),
        (lambda: lw.why([0, 1], 0, 1, constraints=[(0, 1)]), TypeError, "Pass Constraints or Evidence"),
        (lambda: lw.why([0, 1], 0, 1, representatives=[0]), ValueError, "representatives has shape"),
        (
            lambda: lw.why([0, 1], 0, 1, explanation=lw.explain([0, 1, 1], np.eye(3))),
            ValueError,
            "belongs to another clustering",
        ),
    ],
)
def test_what_is_wrong_is_reported(call, error, message):
    with pytest.raises(error, match=message):
        call()
