"""Answers of several sources, each with an error rate of its own."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterable, Sized
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import beta

import linkwise as lw
from laws.asking import few_examples
from linkwise.constraints.belief import Answers, Nearness, limit_rate, measure_nearness
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import SourceRate, estimate_rates, find_spare
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.constraints.fallible import FallibleEvidence, make_evidence

WHEN = "2026-01-01T00:00:00+00:00"


def believing(n, said, nearness=None, **options):
    """Evidence that believes after each answer (first, second, answer, source)."""
    evidence = FallibleEvidence(n, **options)
    for first, second, answer, source in said:
        evidence.add(first, second, answer, source=source)
        evidence.believe(nearness)
    return evidence


@st.composite
def answers_of(draw, names=("a", "b", "c"), max_rows=8):
    """Rows, answers with their sources, which may contradict each other, and what distances say."""
    n = draw(st.integers(2, max_rows))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    words, who = st.sampled_from(["yes", "no", "yes", "no", "unsure"]), st.sampled_from(names)
    said = [(i, j, draw(words), draw(who)) for i, j in draw(st.lists(pair, max_size=25))]
    X = np.random.default_rng(draw(st.integers(0, 10**6))).normal(size=(n, 2))
    return n, said, draw(st.sampled_from([None, measure_nearness(X)]))


def read(evidence):
    """All that is believed, to compare it to the bit, without the names of sources."""
    b = evidence.belief
    tables = (b.rows, b.label, b.certainty, b.posterior, b.careful, b.net, b.together)
    cuts = [(cut.chance, cut.careful, cut.side.tolist(), cut.rest.tolist()) for cut in b.cuts]
    suspects = [(suspect.number, suspect.chance) for suspect in evidence.suspects()]
    words = [[(fact.pair, fact.answer) for fact in facts] for facts in (evidence, evidence.read_believed(0))]
    return [table.tobytes() for table in tables], cuts, b.error_rate, b.deviation, suspects, words


# ---------------------------------------------------------------- facts
def test_a_fact_is_a_plain_value():
    fact = Fact(3, 1, "no", "anna", True, WHEN)
    assert (fact.first, fact.second, fact.answer, fact.pair) == (3, 1, "no", (3, 1))
    assert (fact.source, fact.asked, fact.when) == ("anna", True, WHEN)
    assert not isinstance(fact, Iterable | Sized)
    assert repr(fact) == "Fact(first=3, second=1, answer='no', source='anna')"
    assert repr(Fact(0, 1, "yes", asked=True)) == "Fact(first=0, second=1, answer='yes')"


def test_facts_are_equal_if_the_same_source_states_the_same():
    fact = Fact(0, 1, "yes", "anna")
    assert fact == Fact(0, 1, "yes", "anna", True, WHEN)
    assert len({fact, Fact(0, 1, "yes", "anna", when=WHEN), Fact(0, 1, "yes", "ben")}) == 2
    assert fact not in (Fact(0, 1, "yes"), Fact(0, 1, "no", "anna"), Fact(1, 0, "yes", "anna"), (0, 1, "yes"))
    assert Fact(0, 1, "yes") != (0, 1, "yes")
    assert hash(fact) != hash(Fact(0, 1, "yes", "ben"))
    assert pickle.loads(pickle.dumps(fact)) == deepcopy(fact) == fact
    with pytest.raises(AttributeError):
        fact.answer = "no"


@pytest.mark.parametrize("rate", [0, None])
def test_evidence_keeps_source_and_time(rate):
    evidence = make_evidence(4, lw.Constraints(4, [(0, 3)]), rate)
    evidence.add(0, 1, "yes", asked=True, source="anna", when=WHEN)
    evidence.add(1, 2, "unsure")
    evidence.add(1, 2, "no", source="bot")
    if rate is None:
        evidence.believe()
    for facts in (
        list(evidence),
        list(evidence.read_believed(0)),
        list(pickle.loads(pickle.dumps(evidence))),
    ):
        assert [(*fact.pair, fact.answer, fact.source, fact.asked, fact.when) for fact in facts] == [
            (0, 3, "yes", "", False, None),
            (0, 1, "yes", "anna", True, WHEN),
            (1, 2, "unsure", "", False, None),
            (1, 2, "no", "bot", False, None),
        ]
    assert list(evidence.since(2)) == list(evidence)[2:]


@pytest.mark.parametrize("rate", [0, None])
@pytest.mark.parametrize("source", [None, 3, b"anna"])
def test_a_source_is_text(rate, source):
    evidence = make_evidence(3, None, rate)
    with pytest.raises(TypeError, match=r"The source of an answer is not text: .* Pass its name\."):
        evidence.add(0, 1, "yes", source=source)
    with pytest.raises(TypeError, match="is not text"):
        evidence.check(0, 1, "yes", source=source)
    assert len(evidence) == 0


# ---------------------------------------------------------------- the rates that are given
@pytest.mark.parametrize(
    ("rate", "wanted"),
    [
        ({"": None}, None),
        ({"": 0.1}, 0.1),
        ({"": 0, "anna": 0}, 0),
        ({"anna": 0, "bot": None}, {"anna": 0.0, "bot": None}),
        ({"anna": 0}, {"anna": 0.0}),
    ],
)
def test_rates_of_sources(rate, wanted):
    evidence = make_evidence(3, None, rate)
    assert isinstance(evidence, FallibleEvidence) == (wanted != 0)
    assert getattr(evidence, "error_rate", 0) == wanted


def test_bad_rates_of_sources_raise_errors():
    with pytest.raises(ValueError, match="error_rate names no source"):
        make_evidence(3, None, {})
    for rate in ({"anna": 0.5}, {"anna": "often"}, {"": -1}, {"anna": True}, {"anna": {"bot": 0.1}}):
        with pytest.raises(ValueError, match="error_rate is not a share of wrong answers"):
            make_evidence(3, None, rate)
    with pytest.raises(TypeError, match=r"error_rate has a source that is not text: 3\. Pass its name\."):
        make_evidence(3, None, {3: 0.1})


def test_the_more_reliable_source_prevails():
    said = [(0, 1, "yes", "good"), (1, 0, "no", "bad")]
    for mapping in ({"good": 0.05, "bad": 0.3}, {"good": 0.05, "": 0.3}, {"": 0.05, "bad": 0.3}):
        for order in (said, said[::-1]):
            evidence = believing(2, order, error_rate=mapping)
            assert evidence.verdict(0, 1) == "yes"
            assert [suspect.fact.source for suspect in evidence.suspects()] == ["bad"]


def test_a_source_that_was_often_wrong_counts_less():
    """It broke what others agree on, so its rate is higher, and another source prevails over it."""
    pairs = list(itertools.combinations(range(6), 2))
    said = [(i, j, "yes", "good") for i, j in pairs] * 2
    said += [(i, j, "no", "bad") for i, j in pairs[::2]]
    evidence = believing(9, [*said, (6, 7, "yes", "good"), (6, 7, "no", "bad")])
    rates = evidence.error_rates()
    assert rates.by_source["bad"].rate > 0.3 > 0.15 > rates.by_source["good"].rate
    assert evidence.verdict(6, 7) == "yes"
    alike = believing(9, [*((*fact[:3], "") for fact in said), (6, 7, "yes", ""), (6, 7, "no", "")])
    assert alike.belief.net[6, 7] == 0 < evidence.belief.net[6, 7]


# ---------------------------------------------------------------- sources that are certain
def test_certain_sources_outrank_all_others():
    said = [(0, 1, "no", "anna"), *[(0, 1, "yes", "bot")] * 6, (2, 0, "yes", "anna"), (1, 2, "yes", "bot")]
    evidence = believing(3, said, error_rate={"anna": 0, "bot": 0.1})
    assert (evidence.verdict(0, 1), evidence.verdict(1, 2)) == ("no", "no")
    assert {suspect.fact.source for suspect in evidence.suspects()} == {"bot"}
    assert len(evidence) == len(said)
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"1 ≠ 0|0 ≠ 1"):
        evidence.check(1, 2, "yes", source="anna")
    with pytest.raises(lw.InfeasibleConstraintsError):
        evidence.add(1, 2, "yes", source="anna")
    with pytest.raises(lw.InfeasibleConstraintsError):
        evidence.add_constraints(lw.Constraints(3, [(1, 2)]))
    assert len(evidence) == len(list(evidence)) == len(said)
    evidence.add_constraints(lw.Constraints(3, [(0, 2)]))
    assert len(evidence) == len(list(evidence)) == len(said) + 1
    evidence.believe()
    assert (evidence.verdict(0, 2), evidence.verdict(0, 1)) == ("yes", "no")


def test_certain_sources_say_nothing_about_the_rate_of_others():
    """Neither about the rate that the search assumes nor about the one that is shown."""
    wrong = [(0, 1, "yes", "bot"), (0, 1, "yes", "bot"), (0, 1, "no", "bot"), (1, 2, "yes", "bot")]
    agreed = [(i, j, "yes", "anna") for i, j in itertools.combinations(range(3, 12), 2)]
    few, many = (believing(12, said, error_rate={"anna": 0}) for said in (wrong, [*agreed, *wrong]))
    assert few.belief.error_rate == many.belief.error_rate
    assert few.error_rates().overall == many.error_rates().overall
    assert many.error_rates().by_source["anna"] == SourceRate(36, 0, 0.0, 0.0, 0.0)


@given(answers_of(), st.sampled_from([None, 0.1]))
def test_certain_sources_are_never_suspects(problem, rate):
    n, said, nearness = problem
    certain, evidence = Evidence(n), FallibleEvidence(n, error_rate={"a": 0, "": rate})
    for first, second, answer, source in said:
        try:
            if source == "a":
                certain.add(first, second, answer)
        except lw.InfeasibleConstraintsError:
            with pytest.raises(lw.InfeasibleConstraintsError):
                evidence.add(first, second, answer, source=source)
            continue
        evidence.add(first, second, answer, source=source)
        evidence.believe(nearness)
    assert all(suspect.fact.source != "a" for suspect in evidence.suspects())
    for i, j in itertools.combinations(range(n), 2):
        if certain.verdict(i, j) in ("yes", "no"):
            assert evidence.verdict(i, j) == evidence.relation(i, j).verdict == certain.verdict(i, j)
    facts, believed = list(evidence), list(evidence.read_believed(0))
    assert [replace(fact, answer="no") for fact in facts] == [replace(f, answer="no") for f in believed]
    assert sum(len(evidence.pairs_with_answer(a)) for a in ("yes", "no", "unsure")) == len(evidence)


# ---------------------------------------------------------------- laws
@few_examples
@given(answers_of(names=("a",)), st.sampled_from([None, 0.05, 0.3]))
def test_one_source_believes_as_without_sources(problem, rate):
    """To the bit, whether it is named or not, and whether its rate is given by its name or not.

    Before the first yes or no, nobody knows who will answer.
    """
    n, said, nearness = problem
    assume(any(answer != "unsure" for _, _, answer, _ in said))
    plain = believing(n, [(*fact[:3], "") for fact in said], nearness, error_rate=rate)
    for mapping in (rate, {"a": rate}, {"": rate, "b": 0.2}, {"a": rate, "b": 0}):
        named = believing(n, said, nearness, error_rate=mapping)
        assert read(named) == read(plain)
        assert named.error_rates().overall == plain.error_rates().overall


def test_the_order_of_sources_does_not_even_round_their_rates():
    said = [
        (0, 1, answer, source) for answer, source in zip(["yes", "yes", *["no"] * 4], "aaabbc", strict=True)
    ]
    swapped = [(*fact[:3], {"a": "a", "b": "c", "c": "b"}[fact[3]]) for fact in said]
    found, renamed = (believing(2, facts, None).error_rates().by_source for facts in (said, swapped))
    assert found["a"] == renamed["a"]


@few_examples
@given(
    answers_of(), st.permutations("abc"), st.sampled_from([None, {"a": 0.1}, {"a": 0.2, "b": 0.1, "": 0.3}])
)
def test_names_of_sources_do_not_matter(problem, names, rates):
    """Where sources swap their names, the rates swap, and nothing else changes."""
    n, said, nearness = problem
    other = dict(zip("abc", names, strict=True))
    before = believing(n, said, nearness, error_rate=rates)
    swapped = None if rates is None else {other.get(name, name): rate for name, rate in rates.items()}
    after = believing(n, [(*f[:3], other[f[3]]) for f in said], nearness, error_rate=swapped)
    assert read(after) == read(before)
    found, renamed = before.error_rates(), after.error_rates()
    assert found.overall == renamed.overall
    assert {other[name]: rate for name, rate in found.by_source.items()} == renamed.by_source
    assert list(renamed.by_source) == sorted(renamed.by_source)


@given(answers_of(), st.sampled_from([None, {"a": 0.1}, {"a": 0, "b": 0.2}]))
def test_rates_count_answers_and_doubts(problem, rates):
    n, said, nearness = problem
    evidence = FallibleEvidence(n, error_rate=rates)
    for first, second, answer, source in said:
        if source != "a" or rates is None or rates["a"]:
            evidence.add(first, second, answer, source=source)
    evidence.believe(nearness)
    found = evidence.error_rates()
    facts, suspects = [f for f in evidence if f.answer != "unsure"], [s.fact for s in evidence.suspects()]
    for name, rate in found.by_source.items():
        assert rate.n_answers == sum(fact.source == name for fact in facts) > 0
        assert rate.n_doubted == sum(fact.source == name for fact in suspects)
        assert 0 <= rate.low <= rate.rate <= rate.high <= 1
    assert sum(rate.n_answers for rate in found.by_source.values()) == len(facts)
    assert found.overall.n_doubted == len(suspects)


def test_plain_evidence_is_never_wrong():
    evidence = Evidence(4, lw.Constraints(4, [(0, 1)]))
    evidence.add(1, 2, "no", source="anna")
    evidence.add(1, 3, "unsure", source="ben")
    found = evidence.error_rates()
    assert found.by_source == {"": SourceRate(1, 0, 0, 0, 0), "anna": SourceRate(1, 0, 0, 0, 0)}
    assert found.overall == SourceRate(2, 0, 0, 0, 0)


def test_rates_that_are_given_are_not_estimated():
    said = [(0, 1, "yes", "a"), (0, 1, "no", "b"), (1, 2, "yes", "b")]
    found = believing(3, said, error_rate={"a": 0.1, "b": 0.4}).error_rates()
    assert found.by_source == {"a": SourceRate(1, 0, 0.1, 0.1, 0.1), "b": SourceRate(2, 1, 0.4, 0.4, 0.4)}
    assert found.overall[:2] == (3, 1)
    assert found.overall[2:] == pytest.approx((0.3, 0.3, 0.3))


# ---------------------------------------------------------------- spare answers
def count_parts(n, edges):
    """Connected parts, in the plainest way."""
    part = list(range(n))
    for a, b in edges:
        part = [part[a] if p == part[b] else p for p in part]
    return part


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), max_size=20))
def test_an_answer_is_spare_unless_something_is_lost_without_it(said):
    """A yes without which there are more parts is needed, and the only no between two parts."""
    said = [fact for fact in said if fact[0] != fact[1]]
    first, second, is_yes = (np.array([fact[at] for fact in said], dtype=int) for at in range(3))
    found = find_spare(first, second, is_yes.astype(bool))
    yes = [(a, b) for a, b, is_yes in said if is_yes]
    part = count_parts(7, yes)
    apart = [frozenset((part[a], part[b])) for a, b, is_yes in said if not is_yes]
    for at, (a, b, is_yes) in enumerate(said):
        if is_yes:
            others = [(i, j) for n, (i, j, other) in enumerate(said) if other and n != at]
            assert found[at] == (len(set(count_parts(7, others))) == len(set(part)))
        else:
            assert found[at] == (apart.count(frozenset((part[a], part[b]))) > 1)


def test_certain_sources_outrank_any_number_of_others():
    """Programs give thousands of answers: together they are likelier than any fixed number of log odds."""
    n = 200
    evidence = FallibleEvidence(2 + n, error_rate={"anna": 0, "": 0.001})
    evidence.add(0, 1, "no", source="anna")
    for row in range(2, n + 2):
        evidence.add(0, row, "yes")
        evidence.add(1, row, "yes")
    evidence.believe()
    assert evidence.verdict(0, 1) == "no"
    assert len(evidence.suspects()) == n
    assert evidence.error_rates().by_source["anna"].n_doubted == 0


@pytest.mark.parametrize("seed", range(30))
def test_the_rates_are_those_beside_each_given_pair(seed):
    """Given pairs are counted by their groups; here each of them is a pair of its own."""
    rng, n = np.random.default_rng(seed), 12
    y = rng.integers(0, 4, n)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(int(rng.integers(0, 15)))], dtype=int)
    pairs = pairs.reshape(-1, 2)
    is_same = y[pairs[:, 0]] == y[pairs[:, 1]]
    evidence = FallibleEvidence(n, Constraints(n, pairs[is_same], pairs[~is_same]))

    def check():
        given = [fact for fact in evidence.read_believed(0) if fact.answer != "unsure"]
        told = [fact for fact in evidence if fact.answer != "unsure"]
        n_certain = len(evidence._given)
        first, second = np.array([fact.pair for fact in given]).reshape(-1, 2).T
        is_spare = find_spare(first, second, np.array([fact.answer == "yes" for fact in given], dtype=bool))
        is_broken = np.array([a.answer != b.answer for a, b in zip(told, given, strict=True)], dtype=bool)
        sources = [fact.source for fact in told[n_certain:]]
        rates = dict.fromkeys(sources)
        wanted = estimate_rates(sources, is_broken[n_certain:], is_spare[n_certain:], rates)
        assert evidence.error_rates() == wanted

    check()
    for at in range(12):
        i, j = rng.choice(n, 2, replace=False).tolist()
        is_right = rng.random() < 0.8
        evidence.add(i, j, "yes" if (y[i] == y[j]) == is_right else "no", source="ab"[at % 2])
        if at == 6:
            certain = [(0, 1)]
            evidence.add_constraints(Constraints(n, *([certain, []] if y[0] == y[1] else [[], certain])))
        evidence.believe()
        check()


def test_a_relation_follows_from_what_is_believed_now():
    """The answers that are believed are kept between two calls, until the belief changes."""
    evidence = FallibleEvidence(4, error_rate=0.1)
    for first, second in [(0, 1), (1, 2)]:
        evidence.add(first, second, "yes")
    evidence.believe()
    assert [fact.pair for fact in evidence.relation(0, 2).because] == [(0, 1), (1, 2)]
    evidence.add(0, 2, "yes")
    evidence.believe()
    assert [fact.pair for fact in evidence.relation(0, 2).because] == [(0, 2)]
    assert evidence.relation(0, 3).verdict is None
    evidence.add_constraints(Constraints(4, [(2, 3)]))
    evidence.believe()
    assert [fact.pair for fact in evidence.relation(0, 3).because] == [(0, 2), (2, 3)]
    evidence.add_constraints(Constraints(4, [], [(0, 2)]))
    evidence.believe()
    assert evidence.relation(0, 2).because[0].answer == "no"


def test_a_source_that_lies_has_a_rate_near_one_and_lifts_no_other():
    """Shrinking towards the rate of all gives way where the sources differ by more than chance."""
    names = np.repeat(["anna", "ben", "liar"], 100)
    is_broken = np.concatenate([np.arange(100) < n_wrong for n_wrong in (5, 10, 98)])
    is_spare, nothing = np.ones(300, dtype=bool), dict.fromkeys(("anna", "ben", "liar"))
    found = estimate_rates(list(names), is_broken, is_spare, nothing).by_source
    for source, share in (("anna", 0.05), ("ben", 0.1), ("liar", 0.98)):
        assert abs(found[source].rate - share) < 0.015
        assert found[source].low <= share <= found[source].high
    firm = estimate_rates(list(names), is_broken, is_spare, nothing, strength=10.0).by_source
    assert firm["anna"].rate > found["anna"].rate
    assert firm["liar"].rate < found["liar"].rate


@pytest.mark.parametrize("n_wrong", [(0, 0), (1, 3), (10, 10)])
def test_sources_that_differ_by_chance_alone_share_their_rate(n_wrong):
    names, nothing = ["anna"] * 10 + ["ben"] * 10, dict.fromkeys(("anna", "ben"))
    is_broken = np.concatenate([np.arange(10) < wrong for wrong in n_wrong])
    is_spare = np.ones(20, dtype=bool)
    found = estimate_rates(names, is_broken, is_spare, nothing)
    assert found == estimate_rates(names, is_broken, is_spare, nothing, strength=10.0)


# ---------------------------------------------------------------- what contradictions allow
def limit(answers, certain=()):
    """The limit of the rate for answers such as "1=2" and "1≠2"."""
    ends = np.array([(int(text[0]), int(text[2])) for text in answers]).T
    is_yes = np.array([text[1] == "=" for text in answers])
    return limit_rate(Answers(*ends, is_yes, 1.0 - np.isin(np.arange(len(answers)), certain)))


def beta_limit(n_tested, n_wrong):
    found = beta(1 + n_wrong, 19 + n_tested - n_wrong)
    return found.mean() + found.std()


@pytest.mark.parametrize(
    ("answers", "certain", "n_tested", "n_wrong"),
    [
        (["1=2", "2=3", "4≠1"], (), 0, 0),
        (["1=2", "2=3", "1=3"], (), 1, 0),
        (["1=2", "2=3", "1≠3"], (), 1, 1),
        (["1=2", "2≠3", "3=4", "1≠4", "4=1"], (), 2, 1),
        (["1≠2", "3≠2", "2=4", "4=1", "3=4"], (), 2, 2),
        (["1≠3", "1=2", "2=3"], (1, 2), 1, 1),  # certain answers come first
        (["1=2", "2=3", "1=3", "1=3"], (2,), 2, 0),
    ],
)
def test_answers_are_tested_by_those_before_them(answers, certain, n_tested, n_wrong):
    assert limit(answers, certain) == pytest.approx(beta_limit(n_tested, n_wrong))


@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in (2, 3))]
)
def test_right_answers_stay_believed_where_similarity_misleads(seed):
    rng = np.random.default_rng(seed)
    meant, alike = rng.integers(0, 4, 40), rng.integers(0, 5, 40)
    nearness = Nearness(
        lambda rows: np.where(alike[rows][:, None] == alike[rows], 0.95, 0.02) + 0.05 * np.eye(len(rows)),
        doubt=0.3,
        witnesses=lambda row: np.flatnonzero(alike == alike[row]),
        key=b"alike",
    )
    evidence = make_evidence(40, None, None)
    for _ in range(60):
        first, second = rng.choice(40, 2, replace=False).tolist()
        evidence.add(first, second, "yes" if meant[first] == meant[second] else "no", asked=True)
        evidence.believe(nearness)
    assert len(evidence.suspects()) <= 8  # of 60; without the limit 15 and more
    assert evidence.belief.error_rate < 0.1
