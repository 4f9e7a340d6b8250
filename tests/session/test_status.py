"""The numbers of a session: answers, pairs that were brought, clusters."""

from dataclasses import replace

import numpy as np
import pytest

from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import SourceRate
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.learn.advice import StopAdvice
from linkwise.learn.kin.confidence import describe_certainty
from linkwise.session.journal.stored_clustering import Doubts, ErrorRate
from linkwise.session.state.status import (
    Status,
    build_status,
    count_answers,
    count_suspects,
    describe_advice,
    describe_errors,
    describe_status,
)
from linkwise.session.team.agreement import SourceCounts, describe_pace, describe_source
from session.test_events import event

HISTORY = [
    event(1, "answer", 0, 1, "yes"),
    event(2, "answer", 1, 2, "yes"),
    event(3, "answer", 0, 3, "no"),
    event(4, "answer", 4, 5, "unsure"),
    event(5, "answer", 4, 6, "unsure"),
    event(6, "answer", 5, 6, "unsure"),
    event(7, "add", 3, 4, "yes"),
    event(8, "import", facts=(Fact(0, 4, "no"), Fact(5, 6, "yes"))),
    event(9, "done", first=0, facts=(Fact(0, 1, "yes"),)),
]
SEEM = "About 1 in {} answers seems wrong"
NONE_SEEMS = "No answer seems wrong so far."
KNOWN = Evidence(7, Constraints(7, [(0, 1), (1, 2)], [(0, 3)]))


def test_every_number_counts_its_own_kind_of_event():
    found = build_status(HISTORY, np.array([0, 0, 0, 1, 1, 2, 2]), KNOWN, "exhausted", ("Well done.",))
    assert (found.n_rows, found.n_answers) == (7, 6)
    assert (found.n_yes, found.n_no, found.n_unsure) == (2, 1, 3)
    assert (found.n_volunteered, found.n_imported, found.n_done) == (1, 2, 1)
    assert found.n_inferred == KNOWN.n_inferred == 3  # 0 = 2; 1 and 2 differ from 3
    assert found.cluster_sizes == (3, 2, 2)
    assert (found.reason, found.description) == ("exhausted", ("Well done.",))


@pytest.mark.parametrize(
    ("labels", "sizes"),
    [([], ()), ([0], (1,)), ([2, 0, 2], (1, 2)), ([1, 1], (2,)), ([-1, 0, -1, 1], (2, 1, 1))],
    ids=["no rows", "one row", "a gap", "a gap first", "noise first"],
)
def test_sizes_are_in_order_of_the_clusters(labels, sizes):
    found = build_status([], np.array(labels, dtype=np.int32), Evidence(max(1, len(labels))), None)
    assert found.cluster_sizes == sizes
    assert found.cluster_numbers == tuple(sorted(set(labels)))
    assert (found.n_rows, found.n_answers, found.n_inferred) == (len(labels), 0, 0)
    assert (found.reason, found.description) == (None, ())


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({}, "0 answers"),
        ({"n_answers": 1, "n_yes": 1}, "1 answer: 1 same, 0 different, 0 not sure"),
        (
            {"n_answers": 6, "n_yes": 3, "n_no": 2, "n_unsure": 1},
            "6 answers: 3 same, 2 different, 1 not sure",
        ),
        ({"n_volunteered": 1}, "0 answers; 1 pair added"),
        ({"n_volunteered": 2, "n_imported": 3}, "0 answers; 2 pairs added, 3 pairs imported"),
    ],
)
def test_answers_are_counted_in_words(numbers, words):
    none = dict.fromkeys(("n_answers", "n_yes", "n_no", "n_unsure", "n_volunteered", "n_imported"), 0)
    status = Status(n_rows=9, **{**none, **numbers}, cluster_sizes=(9,), reason=None, description=())
    assert count_answers(status) == words


@pytest.mark.parametrize(
    ("rate", "n_suspects", "words"),
    [
        (None, 0, ("", NONE_SEEMS)),
        (
            (0.081, 0.03, 0.14),
            1,
            (f"{SEEM.format(12)} (between 1 in 30 and 1 in 7).", "1 answer is probably wrong."),
        ),
        (
            (0.002, 0.0, 0.5),
            2,
            (f"{SEEM.format(200)} (at most 1 in 2).", "2 answers are probably wrong."),
        ),
        ((0.04, 0.0, 0.1), 0, ("", NONE_SEEMS)),
        (
            (0.1, 0.1, 0.1),
            0,
            ("linkwise assumes that 10 % of the answers are wrong.", NONE_SEEMS),
        ),
        *(
            (
                (rate, rate, rate),
                0,
                (
                    f"linkwise assumes that {words} of the answers are wrong.",
                    NONE_SEEMS,
                ),
            )
            for rate, words in ((0.494, "49 %"), (0.496, "50 %"))
        ),
        (
            (0.1, 0.005, 0.2),
            1,
            (f"{SEEM.format(10)} (between 1 in 200 and 1 in 5).", "1 answer is probably wrong."),
        ),
    ],
)
def test_errors_are_put_into_words(rate, n_suspects, words):
    none = dict.fromkeys(("n_answers", "n_yes", "n_no", "n_unsure", "n_volunteered", "n_imported"), 0)
    found = None if rate is None else ErrorRate(*rate)
    status = Status(
        **{**none, "n_answers": 10, "n_yes": 4, "n_no": 6},
        n_rows=9,
        cluster_sizes=(9,),
        reason=None,
        is_fallible=True,
        error_rate=found,
        n_suspects=n_suspects,
    )
    assert (describe_errors(status), count_suspects(status)) == words


def test_without_answers_none_seems_right_or_wrong():
    none = dict.fromkeys(("n_answers", "n_yes", "n_no", "n_unsure", "n_volunteered", "n_imported"), 0)
    status = Status(**none, n_rows=9, cluster_sizes=(9,), reason=None, is_fallible=True)
    assert count_suspects(status) == ""
    assert describe_status(status) == ["0 answers"]
    assert count_suspects(replace(status, n_answers=2, n_unsure=2)) == ""
    assert count_suspects(replace(status, n_imported=2)) == NONE_SEEMS


def test_a_share_of_few_answers_is_not_told():
    none = dict.fromkeys(("n_answers", "n_yes", "n_no", "n_unsure", "n_volunteered", "n_imported"), 0)
    few = Status(
        **{**none, "n_answers": 12, "n_yes": 4, "n_no": 5, "n_unsure": 3},
        n_rows=9,
        cluster_sizes=(9,),
        reason=None,
        is_fallible=True,
        error_rate=ErrorRate(0.1, 0.0, 0.2),
        n_suspects=1,
    )
    assert describe_status(few)[-1] == "1 answer is probably wrong."
    for enough in (replace(few, n_volunteered=1), replace(few, n_imported=1)):
        assert (
            describe_status(enough)[-1] == f"{SEEM.format(10)} (at most 1 in 5). 1 answer is probably wrong."
        )


def test_doubts_are_part_of_the_status():
    doubts = Doubts(ErrorRate(0.1, 0.0, 0.2), ((3, "likely wrong"),), ((3,),))
    found = build_status(HISTORY, np.array([0, 0, 0, 1, 1, 2, 2]), KNOWN, None, (), doubts)
    assert (found.is_fallible, found.error_rate, found.n_suspects) == (True, doubts.error_rate, 1)
    plain = build_status(HISTORY, np.array([0, 0, 0, 1, 1, 2, 2]), KNOWN, None)
    assert (plain.is_fallible, plain.error_rate, plain.n_suspects) == (False, None, 0)


def test_the_advice_of_a_learner_is_put_into_words():
    labels = np.array([0, 0, 0, 1, 1, 2, 2])
    found = build_status(HISTORY, labels, KNOWN, None, ("Well done.",), None, StopAdvice(True, 0.01))
    stop = "You can stop here: almost none of 7 rows may be in a wrong cluster."
    assert describe_status(found)[1:] == ["Well done.", stop]
    assert describe_advice(replace(found, n_suspects=2)) == ["Check the suspects before you stop."]
    assert describe_advice(replace(found, advice=StopAdvice(False, 0.2, 0.3))) == []
    assert describe_advice(replace(found, advice=None)) == []


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((None,), ""),
        ((0.024,), ": about 12 of 500 rows may be in a wrong cluster"),
        ((0.024, 0.04), ": about 12 of 500 rows may be in a wrong cluster, and probably at most 20"),
        ((0.0, 0.0005), ": almost none of 500 rows may be in a wrong cluster, and probably at most 1"),
        ((0.024, 0.024), ": about 12 of 500 rows may be in a wrong cluster"),
        ((0.3, 0.401), ": about 150 of 500 rows may be in a wrong cluster, and probably at most 210"),
        ((0.98, 0.999), ": about 490 of 500 rows may be in a wrong cluster, and probably at most 500"),
        ((None, 0.04), ": probably at most 20 of 500 rows are in a wrong cluster"),
        ((None, 0.002), ": probably at most 1 of 500 rows is in a wrong cluster"),
    ],
)
def test_the_advice_to_stop_says_how_many_rows_may_be_wrong(shares, words):
    status = build_status([], np.arange(500) % 5, Evidence(500), None, (), None, StopAdvice(True, *shares))
    assert describe_advice(status) == [f"You can stop here{words}."]


@pytest.mark.parametrize("n_wrong", [0, 11.6, 123, 477])
def test_a_number_that_the_learner_has_said_is_not_repeated(n_wrong):
    said = describe_certainty(5, 5, n_wrong, 500)
    advice = StopAdvice(True, n_wrong / 500)
    status = build_status([], np.arange(500) % 5, Evidence(500), None, ("A is.", said), None, advice)
    assert describe_advice(status) == ["You can stop here."]
    bounded = replace(status, advice=replace(advice, most_wrong=1.0))
    bound = "You can stop here: probably at most 500 of 500 rows are in a wrong cluster."
    assert describe_advice(bounded) == [bound]
    assert describe_advice(replace(status, n_rows=600)) != ["You can stop here."], "another number"


@pytest.mark.parametrize(
    ("stop", "n_suspects", "first"),
    [
        (False, 0, []),
        (False, 2, []),
        (True, 0, ["You can stop here."]),
        (True, 2, ["Check the suspects before you stop."]),
    ],
)
def test_pairs_of_clusters_that_may_be_one_are_counted(stop, n_suspects, first):
    for n_open, words in (
        (0, []),
        (1, ["1 pair of clusters may be one."]),
        (3, ["3 pairs of clusters may be one."]),
    ):
        advice = StopAdvice(stop, None, n_open=n_open)
        status = build_status([], np.zeros(9, dtype=int), Evidence(9), None, (), None, advice)
        assert describe_advice(replace(status, n_suspects=n_suspects)) == [*first, *words]


def test_a_status_is_a_table_in_a_notebook():
    status = build_status(HISTORY, np.array([0, 0, 0, 1, 1, 2, 2]), KNOWN, None)
    assert "6 answers: 2 same, 1 different, 3 not sure" in status._repr_html_()


@pytest.mark.parametrize(
    ("seconds", "words"), [(9.94, "9.9"), (10.0, "10"), (10.6, "11"), (0.25, "0.2"), (75.0, "75")]
)
def test_a_pace_has_as_many_digits_as_tell(seconds, words):
    assert describe_pace(seconds) == f"median {words} seconds per answer"


def test_a_source_all_of_whose_answers_are_certain_has_no_share_of_wrong_ones():
    rate = SourceRate(20, 1, 0.1, 0.05, 0.2)
    counts = SourceCounts("anna", 12, 5, 6, 1, n_volunteered=3, n_certain=20, n_gold=5, n_gold_right=4)
    told = "12 answers: 5 same, 6 different, 1 not sure; 3 pairs added; 4 of 5 gold pairs right"
    assert describe_source(counts, rate) == told
    doubted = describe_source(counts._replace(n_certain=19), rate)
    assert doubted == f"{told}. About 1 in 10 seems wrong (between 1 in 20 and 1 in 5)."
