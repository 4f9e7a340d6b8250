"""Several people on one page: who is let in as whom, and what each is shown."""

import numpy as np
import pytest
from starlette.datastructures import Headers

from linkwise.active.kin.kin import KIN
from linkwise.data.items import value_items
from linkwise.page.auth import AccessControl
from linkwise.page.cards import RowView, create_namer
from linkwise.page.hub import Update, show_to
from linkwise.page.presenter import Presenter
from linkwise.session.session import Session
from linkwise.workspace.exit_codes import UsageError
from linkwise.workspace.options import ANNOTATORS, SessionOptions

PEOPLE = ("anna", "ben")


@pytest.fixture
def presenter():
    rng = np.random.default_rng(0)
    X = np.array([[0.0], [5.0]])[np.arange(20) % 2] + rng.normal(0, 0.1, (20, 1))
    session = Session(X, KIN(random_state=0), error_rate=0.1)
    return Presenter(session, X, RowView(value_items(X, ("x",)), create_namer(None)), title="things")


def send(presenter, person, **request):
    reply = presenter.handle({"id": "1", **request}, person)
    assert reply.body["ok"], reply.body
    return reply.body


def token_of(address):
    return address.partition("?token=")[2]


def test_a_token_lets_one_person_in_once():
    access = AccessControl("127.0.0.1", 8888, people=PEOPLE)
    old, new = access.new_addresses(), access.new_addresses()
    assert access.redeem_person(token_of(old["ben"])) is None
    assert access.redeem_person(token_of(new["ben"])) == "ben"
    assert access.redeem_person(token_of(new["ben"])) is None
    assert access.redeem_person(token_of(new["anna"])) == "anna"


def test_a_cookie_tells_who_it_is():
    access = AccessControl("127.0.0.1", 8888, people=PEOPLE)
    own = Headers({"cookie": f"{access.cookie}={access._secrets['ben']}"})
    common = Headers({"cookie": f"{access.cookie}={access.secret}"})
    assert access.find_person(own) == "ben"
    assert access.knows(own)
    assert not access.knows(common)
    assert AccessControl("127.0.0.1", 8888).knows(Headers({})) is False


@pytest.mark.parametrize(
    ("host", "people", "is_open"), [("127.0.0.1", PEOPLE, False), ("10.0.0.7", PEOPLE, True)]
)
def test_other_host_names_are_accepted_only_where_other_machines_may_come(host, people, is_open):
    assert AccessControl(host, 8888, people=people).is_open_to_others is is_open


def test_each_person_has_questions_and_undo_of_their_own(presenter):
    parts = presenter.state(PEOPLE)["personal"]
    anna, ben = (parts[person]["question"] for person in PEOPLE)
    assert {anna["first"]["row"], anna["second"]["row"]} != {ben["first"]["row"], ben["second"]["row"]}
    send(presenter, "anna", do="answer", question=anna["id"], answer="no")
    send(presenter, "ben", do="answer", question=ben["id"], answer="no")
    after = presenter.state(PEOPLE)["personal"]
    assert after["ben"]["team"] == {"you": "ben", "own": 1, "all": 2, "here": list(PEOPLE)}
    assert send(presenter, "anna", do="undo")["undone"]["text"] == "anna"
    assert send(presenter, "anna", do="undo")["undone"] is None
    assert [event.source for event in presenter._session.history] == ["ben"]


def test_the_question_of_a_person_who_has_left_goes_to_others(presenter):
    held = presenter.state(PEOPLE)["personal"]["anna"]["question"]
    presenter.state(("ben",))
    pairs = [
        {lease.question.first, lease.question.second}
        for lease in presenter._session._leases.current()
        if lease.question.to == "anna"
    ]
    assert pairs == []
    send(presenter, "anna", do="answer", question=held["id"], answer="no")  # late, and counts
    assert [event.source for event in presenter._session.history] == ["anna"]


def test_whoever_has_answered_least_gets_a_question_first(presenter):
    first = presenter.state(PEOPLE)["personal"]["anna"]["question"]
    send(presenter, "anna", do="answer", question=first["id"], answer="no")
    presenter.state(())
    asked = []
    give = presenter._question_for
    presenter._question_for = lambda person: asked.append(person) or give(person)
    assert set(presenter.state(PEOPLE)["personal"]) == set(PEOPLE)
    assert asked == ["ben", "anna"]


def test_a_second_person_gets_some_questions_too(presenter):
    presenter._overlap = 1.0
    question = presenter.state(("anna",))["personal"]["anna"]["question"]
    send(presenter, "anna", do="answer", question=question["id"], answer="no")
    parts = presenter.state(PEOPLE)["personal"]
    again = parts["ben"]["question"]
    assert (again["first"]["row"], again["second"]["row"]) == tuple(
        sorted(question[side]["row"] for side in ("first", "second"))
    )
    assert presenter.state(PEOPLE)["personal"]["ben"]["question"]["id"] == again["id"]
    send(presenter, "ben", do="answer", question=again["id"], answer="yes")
    assert [(e.source, e.answer) for e in presenter._session.history] == [("anna", "no"), ("ben", "yes")]


def test_without_people_the_state_has_no_word_of_them(presenter):
    state = presenter.state()
    assert {"personal", "team", "guidelines"}.isdisjoint(state)
    update = Update(state)
    assert show_to("", update) is update


def test_whoever_has_just_arrived_waits_for_a_question(presenter):
    update = Update(presenter.state(("ben",)))
    assert "loading" in show_to("anna", update).state
    assert show_to("ben", update).state["team"]["you"] == "ben"
    assert "personal" not in show_to("ben", update).state


def test_new_guidelines_are_noticed(presenter):
    presenter.state()
    assert not presenter.has_changed()
    presenter._session.set_guidelines("Same shape.")
    assert presenter.has_changed()
    assert presenter.state()["guidelines"] == "Same shape."


# ---------------------------------------------------------------- options
def read_names(given):
    return ANNOTATORS.parse(ANNOTATORS.flag, given)


def test_names_of_people():
    assert read_names("anna, Ben.2,c_d-e") == ("anna", "Ben.2", "c_d-e")
    for wrong in ("", "anna,", "an na", "a/b", "a" * 41, "<b>"):
        with pytest.raises(UsageError, match="A name has 1 to 40 letters"):
            read_names(wrong)
    with pytest.raises(UsageError, match="has the name ben twice"):
        read_names("ben,anna,ben")


def test_guidelines_are_a_text_or_a_file(tmp_path):
    parse = SessionOptions.__dataclass_fields__["guidelines"].metadata["option"].parse
    file = tmp_path / "rules.txt"
    file.write_text("Same colour.\n", encoding="utf-8")
    assert parse("--guidelines", str(file)) == "Same colour.\n"
    assert parse("--guidelines", "Same colour. " * 500).startswith("Same colour.")
    with pytest.raises(UsageError, match=r"There is no file missing\.txt"):
        parse("--guidelines", "missing.txt")
