"""Several people on one page: who is let in as whom, and what each is shown."""

import asyncio
import threading
from itertools import combinations

import numpy as np
import pytest
from starlette.datastructures import Headers

from linkwise.app.page.auth import AccessControl
from linkwise.app.page.cards import RowView, create_namer
from linkwise.app.page.hub import Hub, Update, show_to
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.requests import PERSONAL
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.options import ANNOTATORS, SessionOptions
from linkwise.constraints.constraints import Constraints
from linkwise.data.show.items import value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session
from patience import patience

PEOPLE = ("anna", "ben")


def answer_by_parity(first, second):
    return "yes" if (first - second) % 2 == 0 else "no"


@pytest.fixture
def few():
    """So few rows that the questions come to an end."""
    X = np.array([[0.0], [5.0], [0.1], [5.1], [0.2], [5.2]])
    session = Session(X, KIN(random_state=0), error_rate=0.1)
    return Presenter(session, X, RowView(value_items(X, ("x",)), create_namer(None)), title="things")


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
    assert after["ben"]["team"] == {
        "you": "ben",
        "own": 1,
        "all": 2,
        "here": list(PEOPLE),
        "median_seconds": None,
    }
    assert send(presenter, "anna", do="undo")["undone"]["text"] == "anna"
    assert send(presenter, "anna", do="undo")["undone"] is None
    assert [event.source for event in presenter._session.history] == ["ben"]


def test_the_question_of_a_person_who_has_left_goes_to_others(presenter):
    held = presenter.state(PEOPLE)["personal"]["anna"]["question"]
    presenter.state(("ben",))
    pairs = [
        {lease.question.first, lease.question.second}
        for lease in presenter._session._questions.leases.current()
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
    give = presenter._content.find_question
    presenter._content.find_question = lambda person, n: asked.append(person) or give(person, n)
    assert set(presenter.state(PEOPLE)["personal"]) == set(PEOPLE)
    assert asked == ["ben", "anna"]


def test_a_second_person_gets_some_questions_too(presenter):
    presenter._content._overlap = 1.0
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


def answer_all(presenter, person):
    """Answer until the page of a person, who is alone, has no question; the pairs."""
    pairs = []
    while (own := presenter.state((person,))["personal"][person])["question"] is not None:
        question = own["question"]
        assert own["ended"] is None
        assert own["advice"]["text"] != "There are no more questions."
        rows = sorted(question[side]["row"] for side in ("first", "second"))
        send(presenter, person, do="answer", question=question["id"], answer=answer_by_parity(*rows))
        pairs.append(tuple(rows))
    assert own["ended"] == "exhausted"
    assert own["advice"]["stop"]
    return pairs


def test_second_opinions_come_after_the_last_question_of_the_learner(few):
    few._content._overlap = 1.0
    asked = answer_all(few, "anna")
    assert few._session.question is None
    assert sorted(answer_all(few, "ben")) == sorted(asked)
    assert few.state(PEOPLE)["ended"] == "exhausted"
    given = [(e.source, *sorted((e.first, e.second))) for e in few._session.history]
    assert sorted(given) == sorted((person, *pair) for person in PEOPLE for pair in asked)


def test_gold_pairs_come_after_the_last_question_of_the_learner(few):
    asked = answer_all(few, "anna")
    assert len(asked) >= 5  # from then on a gold pair is due
    left = [pair for pair in combinations(range(6), 2) if pair not in asked]
    apart = [pair for pair in left if answer_by_parity(*pair) == "no"]
    few._session.import_constraints(Constraints(6, cannot_link=apart), source="known.csv")
    few._content._gold = "known.csv"
    assert few.state(PEOPLE)["personal"]["ben"]["ended"] == "exhausted"
    (gold,) = answer_all(few, "anna")
    assert gold in apart


def test_the_budget_ends_second_opinions_too(few):
    few._content._overlap, few._content.budget = 1.0, 2
    for _ in range(2):
        question = few.state(("anna",))["personal"]["anna"]["question"]
        send(few, "anna", do="answer", question=question["id"], answer="no")
    part = few.state(PEOPLE)["personal"]["ben"]
    assert (part["question"], part["ended"]) == (None, "budget")


def test_an_answer_to_no_question_after_the_end_tells_that_it_has_ended(few):
    answer_all(few, "anna")
    for question in (f"{few._session.events[-1].number}:0-1", "nothing"):
        reply = few.handle({"id": "1", "do": "answer", "question": question, "answer": "no"}, "ben")
        assert reply.body["error"]["kind"] == "ended"


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


def test_notes_and_the_median_seconds_of_each_person(presenter):
    for seconds in (2, 9.5, 4):
        for person in PEOPLE:
            question = presenter.state(PEOPLE)["personal"][person]["question"]
            answer = answer_by_parity(question["first"]["row"], question["second"]["row"])
            remark = {"seconds": seconds, "note": f"by {person}"} if person == "anna" else {}
            send(presenter, person, do="answer", question=question["id"], answer=answer, **remark)
    paces = {who: s["team"]["median_seconds"] for who, s in presenter.state(PEOPLE)["personal"].items()}
    assert paces == {"anna": 4, "ben": None}
    listed = send(presenter, "ben", do="history")["events"]
    assert [(e["text"], e["note"], e["note_author"]) for e in listed[-2:]] == [
        ("ben", "", "ben"),
        ("anna", "by anna", "anna"),
    ]
    send(presenter, "ben", do="note", event=listed[-1]["number"], note="by ben")
    changed = send(presenter, "ben", do="history")["events"][-1]
    assert (changed["text"], changed["note"], changed["note_author"]) == ("anna", "by ben", "ben")
    before = presenter.state(PEOPLE)["personal"]
    assert before["anna"]["undo"]["number"] == listed[1]["number"]  # a note is no step of one's own


def test_a_review_shows_who_wrote_which_note(presenter):
    session = presenter._session
    session.add(0, 2, "must-link", source="anna", note="the same")
    session.add(0, 2, "cannot-link", source="ben")
    session.note(session.history[-1].number, "not the same", source="carla")
    shown = send(presenter, "carla", do="review")["shown"]
    assert [(e["text"], e["note"], e["note_author"]) for e in shown["answers"]] == [
        ("anna", "the same", "anna"),
        ("ben", "not the same", "carla"),
    ]


# ---------------------------------------------------------------- whose answer it is
def refusal(presenter, person, **request):
    reply = presenter.handle({"id": "1", **request}, person)
    return None if reply.body["ok"] else (reply.body["error"]["kind"], reply.body["error"]["text"])


@pytest.mark.parametrize("request_", [{"do": "take_back"}, {"do": "change", "answer": "no"}, {"do": "sure"}])
def test_each_person_changes_only_their_own_answers(presenter, request_):
    session = presenter._session
    session.add(0, 2, "must-link", source="anna")
    session.add(4, 6, "must-link")
    session.import_constraints(Constraints(20, [(8, 10)]), source="known.csv")
    n_events = len(session.events)
    only_anna = ("bad", "Only anna can change this answer or take it back.")
    nobody = ("bad", "Nobody on this page can change this answer or take it back.")
    assert refusal(presenter, "ben", event=1, **request_) == only_anna
    assert refusal(presenter, "ben", event=2, **request_) == nobody
    imported = ("bad", "Nobody can take back imported pairs on this page.")
    assert refusal(presenter, "ben", event=3, **request_) == imported
    assert len(session.events) == n_events
    assert refusal(presenter, "anna", event=1, **request_) is None
    assert refusal(presenter, "", event=2, **request_) is None  # alone, whoever looks at the page


def test_a_change_of_an_answer_is_of_whoever_answered(presenter):
    session = presenter._session
    session.add(0, 2, "must-link", source="anna")
    session.set_sure(1)
    assert refusal(presenter, "ben", do="take_back", event=2)[1].startswith("Only anna ")
    assert refusal(presenter, "anna", do="take_back", event=2) is None


def test_done_and_names_are_common(presenter):
    send(presenter, "anna", do="name", cluster=0, name="large")
    assert refusal(presenter, "ben", do="take_back", event=1) is None


def test_a_reviewer_decides_the_answers_of_others(presenter):
    presenter._session.add(0, 2, "must-link", source="anna")
    presenter._session.add(0, 2, "cannot-link", source="ben")
    assert refusal(presenter, "carla", do="decide", first=0, second=2, answer="yes") is None
    assert refusal(presenter, "anna", do="take_back", event=3)[1].startswith("Only carla ")


def test_suspects_and_conflicts_say_whose_they_are(presenter):
    session = presenter._session
    for first, second, kind in ((11, 13, "must-link"), (13, 15, "must-link"), (11, 15, "cannot-link")):
        session.add(first, second, kind, source="ben")
    suspects = send(presenter, "anna", do="suspects")["suspects"]
    assert {suspect["source"] for suspect in suspects} == {"ben"}


def test_a_person_puts_a_question_off_and_another_gets_it(presenter):
    first = presenter.state(PEOPLE)["personal"]["anna"]["question"]
    assert send(presenter, "anna", do="later", question=first["id"])["other"]
    parts = presenter.state(PEOPLE)["personal"]
    assert parts["anna"]["question"]["id"] != first["id"]


# ---------------------------------------------------------------- two people in the same sentences
@pytest.fixture
def both():
    """Anna and ben disagree about two groups; ben moved rows."""
    X = np.random.default_rng(3).normal(size=(40, 2)) * 0.4 + np.repeat([[0, 0], [9, 9]], 20, 0)
    session = Session(X, KIN(random_state=0), error_rate=0.1)
    session.add(0, 1, "must-link", source="anna")
    session.add(1, 2, "must-link", source="ben")
    session.add(0, 2, "cannot-link", source="ben")
    for row in range(21, 33):
        session.add(20, row, "must-link", source="anna")
    session.move([5, 6], "new", source="ben")
    return Presenter(session, X, RowView(value_items(X, ("x", "y")), create_namer(None)), title="things")


def test_reasons_say_whose_answers_they_are(both):
    (suspect,) = send(both, "anna", do="suspects")["suspects"]
    assert (suspect["event"], suspect["source"]) == (3, "ben")
    says = "Same for row 0 and row 1 (anna); Same for row 1 and row 2 (ben)."
    assert suspect["reason"] == f"Other answers speak against it: {says}"
    for person in PEOPLE:
        told = send(both, person, do="why", first=20, second=21)["text"]
        assert told.endswith(
            "Answers decide: row 20 = row 21. These answers are from anna (row 20 and row 21)."
        )
    told = send(both, "anna", do="why", first=0, second=2)["text"]
    assert "These answers are from anna (row 0 and row 1); ben (row 1 and row 2)." in told


def test_reasons_of_one_person_name_nobody(presenter):
    presenter._session.add(0, 2, "must-link", source="anna")
    assert "anna" not in send(presenter, "anna", do="why", first=0, second=2)["text"]


def test_the_share_of_wrong_answers_is_that_of_each_person():
    X = np.random.default_rng(3).normal(size=(60, 2)) * 0.4 + np.repeat([[0, 0], [9, 9]], 30, 0)
    session = Session(X, KIN(random_state=0), error_rate=None)
    for row in range(1, 20):
        session.add(0, row, "must-link", source="anna")
    for row in range(31, 50):
        is_wrong = row % 4 == 0
        session.add(30, row, "cannot-link" if is_wrong else "must-link", source="ben")
        if is_wrong:
            for other in (row + 1, row - 1):
                session.add(row, other, "must-link", source="carl")
    presenter = Presenter(session, X, RowView(value_items(X, ("x", "y")), create_namer(None)), title="things")
    state = presenter.state(PEOPLE)
    assert state["n_suspects"] > 0
    assert state["errors"].startswith("About 1 in ")
    assert "your" not in state["errors"]
    told = {person: part["errors"] for person, part in state["personal"].items()}
    assert told["anna"] == ""
    assert told["ben"].startswith("About 1 in ")
    assert " of your answers seems wrong (" in told["ben"]
    assert {part["seconds_per_answer"] for part in state["personal"].values()} == {None}


def test_what_all_people_read_says_nothing_of_your_answers(both):
    state = both.state(PEOPLE)
    common = [
        *state["description"],
        state["errors"],
        *(one["advice"]["text"] for one in state["personal"].values()),
    ]
    assert not [words for words in common if "your" in words.lower()]
    moved = send(both, "anna", do="history")["events"][0]
    assert (moved["kind"], moved["text"]) == ("move", "ben")


# ---------------------------------------------------------------- who comes while others are shown something
class Looker:
    """A client that keeps what it is shown."""

    owner, n_open, is_sending = "", 0, False

    def __init__(self, person):
        self.person, self.state = person, {}

    def show(self, update):
        self.state = update.state

    def reply(self, reply):
        assert reply.body["ok"]


@pytest.mark.parametrize("what", ["arrival", "request"])
def test_who_comes_while_others_are_shown_something_gets_a_question(presenter, monkeypatch, what):
    """What the first person is shown is being made when the second one opens the page."""

    async def run():
        loop, hub, state = asyncio.get_running_loop(), Hub("reading"), presenter.state
        await hub.open(lambda: presenter)
        first, late = Looker("anna"), Looker("ben")
        comes, joined = threading.Event(), threading.Event()

        def join():
            hub.join(late)
            joined.set()

        def compute(people=()):
            found = state(people)
            if comes.is_set() and not joined.is_set():
                loop.call_soon_threadsafe(join)
                assert joined.wait(patience())
            return found

        async def wait_for(looker):
            async with asyncio.timeout(patience()):
                while looker.person not in hub._state.get(PERSONAL, {}) or not looker.state.get("question"):
                    await asyncio.sleep(0.01)
            return looker.state["question"]["id"]

        monkeypatch.setattr(presenter, "state", compute)
        work = asyncio.create_task(hub.work())
        if what == "arrival":
            comes.set()
        hub.join(first)
        question = await wait_for(first)
        if what == "request":
            comes.set()
            hub.ask(first, {"id": "1", "do": "later", "question": question})
        await wait_for(late)
        work.cancel()
        await asyncio.wait([work])
        hub.worker.end()

    asyncio.run(run())
