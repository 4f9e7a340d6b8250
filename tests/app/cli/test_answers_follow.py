"""Answers that follow a column that is not compared: the terminal and `status` say so, and change it."""

import json

import numpy as np
import pytest

from linkwise.app.project.project import open_with_data
from linkwise.session.session import Session

COMPARED = ("age", "visits", "amount", "segment")
WORDS = {
    "billing": "invoice charged refund card payment twice amount bill money bank",
    "login": "password account reset cannot login email code locked screen user",
    "delivery": "parcel late courier address package arrived broken tracking box street",
}
COMMON = "the my is please help with about hello still today order why not again"
SAID = "Your answers do not follow the compared columns (age, visits, amount, segment). They follow message"


def write_requests(path, n=240):
    """Requests of customers: what they are about is in the message, and nothing else depends on it."""
    rng = np.random.default_rng(0)
    topics = [list(WORDS)[at] for at in rng.integers(3, size=n)]
    lines = ["customer,age,visits,amount,segment,message"]
    for row, topic in enumerate(topics):
        words = [*rng.choice(WORDS[topic].split(), 4), *rng.choice(COMMON.split(), 5)]
        numbers = f"{rng.integers(18, 80)},{rng.poisson(5)},{rng.normal(50, 10):.2f}"
        lines.append(f"C{row:04},{numbers},{rng.choice(list('abc'))},{' '.join(rng.permutation(words))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {f"C{row:04}": topic for row, topic in enumerate(topics)}


@pytest.fixture
def requests(tmp_path, linkwise):
    """A function that begins a session about requests, and answers by their topics."""
    data = tmp_path / "requests.csv"
    topics = write_requests(data)

    def begin(n_answers=24):
        linkwise("ask", data, "--columns", ",".join(COMPARED), said="q\n")
        with open_with_data(data.with_name("requests.csv.linkwise"), data)[0] as session:
            for _ in range(n_answers):
                first, second = (
                    session.ids[row] for row in (session.question.first, session.question.second)
                )
                session.answer(topics[first] == topics[second])
        return data

    return begin


def in_one_line(done):
    return " ".join(done.stdout.split())


def test_the_terminal_says_so_and_a_key_compares_by_it(requests, linkwise):
    data = requests()
    words = in_one_line(linkwise("ask", data, said="d\nq\n"))
    assert words.count(SAID) == 1
    assert "d compares rows by message instead." in words
    assert "Rows are compared by message from now on. All answers are replayed" in words
    assert "probably wrong" not in words
    with Session.open(data.with_name("requests.csv.linkwise")) as session:
        assert session.source["choices"]["text"] == "message"
        assert session.status.n_answers == 24
        kept = session.events
    with Session.open(data.with_name("requests.csv-before.linkwise")) as before:
        assert before.events == kept
        assert before.source["choices"]["columns"] == list(COMPARED)
    assert SAID not in in_one_line(linkwise("ask", data, said="q\n"))


def test_it_is_said_while_answers_come(requests, linkwise):
    said = linkwise("ask", requests(19), said="".join(f"{word}\n" for word in ("n", "s", "q")))
    words = in_one_line(said)
    assert words.index("Question 21") < words.index(SAID) < words.index("Question 22")
    assert words.count(SAID) == 1


def test_the_status_has_the_command_that_compares_by_it(requests, linkwise):
    data = requests()
    words = in_one_line(linkwise("status", data))
    assert SAID in words
    assert "No answer seems wrong so far." in words
    found = json.loads(linkwise("status", data, "--json").stdout)["answers_follow"]
    assert list(found["columns"]) == ["message"]
    assert found["columns"]["message"] > 0.9
    assert found["compared"]["columns"] == list(COMPARED)
    assert found["compared"]["share"] < 0.6
    assert found["command"] in words
    done = linkwise(*found["command"].split()[1:], said="q\n")
    assert done.exit_code == 0
    assert "resumed: 24 answers" in in_one_line(done)
    assert "answers_follow" not in json.loads(linkwise("status", data, "--json").stdout)
    with Session.open(data.with_name("requests.csv.linkwise")) as session:
        assert session.source["choices"]["text"] == "message"


def test_nothing_is_said_of_few_answers_or_of_another_file(requests, linkwise):
    data = requests(19)
    assert "do not follow" not in in_one_line(linkwise("status", data))
    assert "do not follow" not in in_one_line(linkwise("ask", data, said="q\n"))
    linkwise("ask", data, said="n\nq\n")
    assert SAID in in_one_line(linkwise("status", data))
    data.write_text(data.read_text(encoding="utf-8").replace("invoice", "bill"), encoding="utf-8")
    assert "do not follow" not in in_one_line(linkwise("status", data))
    data.unlink()
    assert "do not follow" not in in_one_line(linkwise("status", data.with_name("requests.csv.linkwise")))
