"""What an agent can do with a session, without a network in between."""

import csv
import io
from pathlib import Path

import pytest

from linkwise.app.agents.tools import DEFAULT_GUIDELINES, MOST_QUESTIONS
from linkwise.errors import SessionError


def is_same(question):
    return question["first"]["colour"] == question["second"]["colour"]


def test_an_agent_answers_until_the_budget_ends(open_tools):
    tools = open_tools(budget=4)
    for at in range(4):
        (question,) = tools.next_questions("ann")["questions"]
        assert set(question) == {"question_id", "ids", "first", "second", "why"}
        answer = "same" if is_same(question) else "different"
        assert tools.answer("ann", question["question_id"], answer, "by colour", 0.9) == {"answers": at + 1}
    assert tools.next_questions("ann") == {"questions": [], "ended": "The budget of 4 answers is used up."}
    assert tools.next_set("ann")["ended"] == "The budget of 4 answers is used up."
    assert not tools.status()["questions_left"]
    events = tools.project.session.history
    assert {(event.source, event.note, event.reliability) for event in events} == {("ann", "by colour", 0.9)}


def test_several_questions_at_once_are_different_ones(open_tools):
    tools = open_tools()
    questions = tools.next_questions("ann", 5)["questions"]
    assert len({question["question_id"] for question in questions}) == len(questions) > 1
    with pytest.raises(ValueError, match="Pass a number from 1 to 20"):
        tools.next_questions("ann", MOST_QUESTIONS + 1)


def test_questions_end(open_tools, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("name,x\na,1\nb,9\n")
    tools = open_tools(path)
    question = tools.next_questions("ann")["questions"][0]
    assert "Others hold" in tools.next_questions("ben")["ended"]
    tools.answer("ann", question["question_id"], "different")
    assert tools.next_questions("ann")["ended"] == "There are no more questions."


def test_an_agent_sorts_cards(open_tools):
    tools = open_tools()
    for _ in range(2):  # the second set shows known piles
        shown = tools.next_set("ann", 6)
        piles = {}
        for card in shown["cards"]:
            piles.setdefault(card["row"]["colour"], []).append(card["number"])
        tools.sort("ann", shown["set_id"], [*piles.values()], [], "by colour")
    assert shown["known_piles"]
    assert [event.note for event in tools.project.session.history] == ["by colour"] * 2
    with pytest.raises(SessionError, match="no set 'x'"):
        tools.sort("ann", "x", [[1]], [])


def test_cards_without_one_place_are_named(open_tools):
    tools = open_tools()
    shown = tools.next_set("ann", 4)
    with pytest.raises(
        ValueError, match=r"no card 9\. .* more than one place: 1\. .* missing: 3, 4\. Put each"
    ):
        tools.sort("ann", shown["set_id"], [[1, 9], [1, 2]], [])
    assert tools.project.session.history == []


def test_an_agent_takes_back_only_its_own_answers(open_tools):
    tools = open_tools()
    for name in ("ann", "ben"):
        question = tools.next_questions(name)["questions"][0]
        tools.answer(name, question["question_id"], "different")
    assert len(tools.undo("ann")["undone"]["ids"]) == 2
    assert [event.source for event in tools.project.session.history] == ["ben"]
    assert tools.undo("ann") == {"undone": None, "answers": 1}
    shown = tools.next_set("ann", 4)
    tools.sort("ann", shown["set_id"], [[card["number"]] for card in shown["cards"]], [])
    assert {*tools.undo("ann")["undone"]["ids"]} == {card["id"] for card in shown["cards"]}


@pytest.mark.parametrize("probability", [0.2, 1.5, float("nan")])
def test_a_probability_is_that_of_the_answer(open_tools, probability):
    tools = open_tools()
    question = tools.next_questions("ann")["questions"][0]["question_id"]
    with pytest.raises(ValueError, match="Pass how likely the answer is right"):
        tools.answer("ann", question, "same", probability=probability)
    tools.answer("ann", question, "not sure", probability=probability)  # which then counts for nothing
    assert tools.project.session.history[0].reliability is None


def test_status_and_guidelines(open_tools):
    tools = open_tools()
    assert tools.guidelines() == DEFAULT_GUIDELINES
    tools.project.session.set_guidelines("By colour.")
    tools.project.session.set_examples([(0, 1, False, "green and red")])
    assert tools.guidelines() == "By colour.\n\nExamples:\nf0 and f1: different (green and red)"
    found = tools.status()
    assert found["rows"] == 30 == sum(cluster["rows"] for cluster in found["largest_clusters"])
    assert found["questions_left"]
    assert found["advice"]


def test_reasons(open_tools):
    tools = open_tools()
    for _ in range(6):
        question = tools.next_questions("ann")["questions"][0]
        tools.answer("ann", question["question_id"], "same" if is_same(question) else "different")
    first, second = question["ids"]
    assert tools.explain([first, second])["together"] == is_same(question)
    assert first in tools.explain([first, second])["sentences"][0]
    described = tools.explain()
    assert any("colour" in line for cluster in described["clusters"] for line in cluster["lines"])
    for wrong in (["f0"], ["f0", "f0"], ["f0", "f1", "f2"]):
        with pytest.raises(ValueError, match="Pass two different rows"):
            tools.explain(wrong)
    with pytest.raises(SessionError, match=r"no row 'x'\. Use the id of a row, such as 'f0'"):
        tools.explain(["f0", "x"])


def test_tables_come_in_parts(open_tools):
    tools = open_tools()
    question = tools.next_questions("ann")["questions"][0]
    tools.answer("ann", question["question_id"], "different")
    first, last = tools.export("clusters", 0, 20), tools.export("clusters", 20, 20)
    assert (first["of"], first["next_start"], last["next_start"]) == (30, 20, None)
    rows = [row for part in (first, last) for row in csv.DictReader(io.StringIO(part["csv"]))]
    assert [row["id"] for row in rows] == tools.project.session.ids
    (answer,) = csv.DictReader(io.StringIO(tools.export("answers")["csv"]))
    assert (answer["answer"], answer["source"]) == ("no", "ann")
    (pair,) = csv.DictReader(io.StringIO(tools.export("pairs")["csv"]))
    assert {pair["id_a"], pair["id_b"]} == {*question["ids"]}
    assert tools.export("answers", 5)["csv"].count("\n") == 1
    with pytest.raises(ValueError, match="Pass start from 0"):
        tools.export("clusters", -1)


def test_rows_of_texts_are_explained_by_words(open_tools):
    tools = open_tools(Path(__file__).parents[3] / "docs" / "messages.csv")
    question = tools.next_questions("ann")["questions"][0]
    tools.answer("ann", question["question_id"], "different")
    assert tools.explain()["clusters"]


def test_a_question_for_a_person(open_tools):
    tools = open_tools(guidelines="By colour.")
    question = tools.next_questions("ann")["questions"][0]
    text = tools.write_question(question["question_id"])
    assert f"{question['ids'][0]}\n  weight: {question['first']['weight']}" in text
    assert "Guidelines: By colour." in text
    for wrong in ("", "x", "0:1-1", "0:1-999", "0:-1-2"):
        with pytest.raises(SessionError, match="Use an id of next_questions"):
            tools.write_question(wrong)
