"""Several sources at one session: guidelines, counts by source, agreement."""

import sqlite3
from contextlib import closing

import pytest

import linkwise as lw
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal.events import MOST_GUIDELINES, Event
from linkwise.session.team.agreement import (
    count_by_source,
    describe_agreement,
    describe_source,
    measure_agreement,
)

X = [[0.0], [0.1], [5.0], [5.1]]
WHEN = "2026-01-01T00:00:00.000+00:00"


def begin(**options):
    return lw.Session(X, lw.COBRAS(random_state=0), **options)


def answers(**by_source):
    """Events: each source answers pairs 0-1, 0-2, 0-3 ... by the letters y, n and u."""
    words, number, events = {"y": "yes", "n": "no", "u": "unsure"}, 0, []
    for source, given in by_source.items():
        for row, letter in enumerate(given, 1):
            if letter != " ":
                number += 1
                pair = (0, row) if number % 2 else (row, 0)
                events.append(Event(number, "answer", WHEN, *pair, words[letter], source=source))
    return events


# ---------------------------------------------------------------- guidelines
def test_guidelines_stay_with_the_session_and_reach_other_clients(tmp_path):
    path = tmp_path / "a.linkwise"
    with begin() as session:
        assert session.guidelines == ""
        session.set_guidelines("  Same flavour.  \r\nColour does not matter.\n\n")
        session.save(path)
    with lw.Session.open(path) as one, lw.Session.open(path) as other:
        assert one.guidelines == "Same flavour.\nColour does not matter."
        other.set_guidelines("Same shape.")
        assert one.guidelines == "Same shape."
        one.set_guidelines("")
        assert other.guidelines == ""


def test_a_session_without_guidelines_has_no_word_of_them(tmp_path):
    begin().save(tmp_path / "a.linkwise")
    with closing(sqlite3.connect(tmp_path / "a.linkwise")) as db:
        assert db.execute("SELECT * FROM event").fetchall() == []
        keys = {key for (key,) in db.execute("SELECT key FROM meta")}
    assert keys == {"data", "learner", "seed", "source"}


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (7, TypeError, "The guidelines are a int. Pass text."),
        ("\ud800", SessionError, "not valid Unicode"),
        ("a" * (MOST_GUIDELINES + 1), SessionError, "have 10001 characters. Shorten them to 10000 or fewer."),
    ],
)
def test_wrong_guidelines_are_not_stored(text, error, words):
    session = begin()
    with pytest.raises(error, match=words):
        session.set_guidelines(text)
    assert session.guidelines == ""


@pytest.mark.parametrize("value", ["7", '["a"]', '"' + "a" * (MOST_GUIDELINES + 1) + '"', '"\\ud800"'])
def test_guidelines_that_no_session_writes_are_damage(tmp_path, value):
    path = tmp_path / "a.linkwise"
    with begin() as session:
        session.set_guidelines("Same shape.")
        session.save(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE event SET value = ?", (value,))
    with pytest.raises(SessionDamagedError, match="Its guidelines are not a text of at most 10000"):
        lw.Session.open(path)


# ---------------------------------------------------------------- sources
def test_counts_of_each_source():
    counted = count_by_source(answers(ben="yn", anna="yyu"))
    assert [tuple(each) for each in counted] == [
        ("anna", 3, 2, 0, 1, 0, 0, 0, 0, None, 0),
        ("ben", 2, 1, 1, 0, 0, 0, 0, 0, None, 0),
    ]
    assert describe_source(counted[0]) == "3 answers: 2 same, 0 different, 1 not sure"


def test_volunteered_pairs_and_imports():
    session = begin()
    session.add(0, 1, "must-link", source="anna")
    session.import_constraints(lw.Constraints(4, [(2, 3)]), source="pairs.csv")
    (anna,) = count_by_source(session.history)
    assert describe_source(anna) == "0 answers; 1 pair added"


def test_error_rate_of_each_source_in_words():
    rows = [[float(row)] for row in range(11)]
    session = lw.Session(rows, lw.COBRAS(random_state=0), error_rate={"anna": 0.1, "": None})
    for source in ("anna", "ben"):
        session.add(0, 1, "must-link", source=source)

    def told():
        rates = session.error_rates.by_source
        return [describe_source(each, rates[each.source]) for each in count_by_source(session.history)]

    assert told()[0] == "0 answers; 1 pair added. linkwise assumes that 10 % are wrong."
    assert told()[1] == "0 answers; 1 pair added"  # too few to tell
    for other in range(2, 11):
        session.add(0, other, "must-link", source="ben")
    assert told()[1].startswith("0 answers; 10 pairs added. About 1 in ")
    assert told()[1].endswith(").")


# ---------------------------------------------------------------- agreement
def test_kappa_of_a_table_by_hand():
    (found,) = measure_agreement(answers(anna="yyyyynnnnn", ben="yyyynnnnny"))
    assert found[:4] == ("anna", "ben", 10, 8)
    assert found.kappa == pytest.approx((0.8 - 0.5) / (1 - 0.5))
    assert found.low < found.kappa < found.high <= 1
    assert describe_agreement(found) == (
        f"8 of 10 common pairs with the same answer, kappa 0.60 ({found.low:.2f} to {found.high:.2f})"
    )


def test_the_interval_agrees_with_the_normal_one_of_cohen_for_many_pairs():
    (found,) = measure_agreement(answers(a="y" * 800 + "n" * 800, b="y" * 600 + "n" * 800 + "y" * 200))
    share, chance = 0.75, 0.5
    error = (share * (1 - share) / (1600 * (1 - chance) ** 2)) ** 0.5
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.01)


def test_full_agreement_is_less_certain_for_few_pairs():
    few, many = (measure_agreement(answers(a="yn" * n, b="yn" * n))[0] for n in (2, 50))
    assert few.kappa == many.kappa == few.high == 1
    assert few.low < many.low < 1


def test_no_kappa_if_both_gave_one_answer_only():
    (found,) = measure_agreement(answers(anna="yyy", ben="yyy"))
    assert found == ("anna", "ben", 3, 3, None, None, None)
    assert describe_agreement(found) == "3 of 3 common pairs with the same answer"


def test_unsure_is_no_answer_and_the_last_one_counts():
    events = answers(anna="yuyn", ben="nyn ", carl="    y")
    events += [Event(99, "answer", WHEN, 0, 1, "yes", source="ben")]
    (found,) = measure_agreement(events)
    assert found[:4] == ("anna", "ben", 2, 1)


def test_a_session_compares_what_is_left_after_undo():
    session = begin(error_rate=0.1)
    for source in ("anna", "ben"):
        session.add(0, 1, "must-link", source=source)
        session.add(0, 2, "cannot-link", source=source)
    assert session.agreement()[0][:5] == ("anna", "ben", 2, 2, 1.0)
    session.undo()
    assert session.agreement()[0].n_common == 1
