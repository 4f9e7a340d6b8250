"""``linkwise ask FILE --oracle COMMAND``."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from linkwise.cli.commands.ask_program import add_source, name_of_program
from linkwise.session.session import Session
from patience import patience

JUDGE = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    with open("asked", "a") as file:
        file.write(line)
    first, second = (int(name[1:]) % 3 for name in question["ids"])
    reply = {"id": question["id"], "answer": "yes" if first == second else "no", "cost": 0.5}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def judge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    return f"{sys.executable} judge.py"


def test_a_program_answers_and_a_person_goes_on(fruit, linkwise, judge, tmp_path):
    done = linkwise("ask", fruit.path, "--oracle", judge, "--parallel", "2", "--budget", "6")
    assert done.exit_code == 0
    assert "6 answers by judge.py, cost 3." in done.stdout
    assert "of the answers by judge.py are wrong" in done.stdout
    assert "Same after " in done.stderr
    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert len(asked) == 6
    assert set(asked[0]) == {"id", "ids", "first", "second", "guidelines"}
    assert set(asked[0]["first"]) >= {"weight", "width", "colour"}
    assert asked[0]["guidelines"] is None
    with Session.open(fruit.session) as session:
        assert {event.source for event in session.history} == {"judge.py"}
        assert session.assumed_error_rate is None  # every share is estimated
    assert linkwise("ask", fruit.path, said="y\nq\n").exit_code == 0
    done = linkwise(
        "ask", fruit.path, "--oracle", judge, "--source", "ann", "--max-cost", "1", "--quiet", "--json"
    )
    program, summary = map(json.loads, done.stdout.splitlines())
    assert (program["source"], program["answered"], program["cost"]) == ("ann", 2, 1.0)
    assert (summary["type"], summary["reason"], summary["answers"]) == ("summary", "cost", 9)
    assert "Same" not in done.stderr


def test_a_program_that_fails_ends_with_its_own_words(fruit, linkwise, judge, tmp_path):
    (tmp_path / "judge.py").write_text("import sys\nfor line in sys.stdin: print('what?', flush=True)\n")
    done = linkwise("ask", fruit.path, "--oracle", judge, "--retries", "0")
    assert done.exit_code == 3
    assert "judge.py has failed at " in done.stderr
    assert "the last time with: The program wrote a line that is no reply: 'what?'." in done.stderr
    assert "failed. The last questions have failed." in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parallel", "2"], "--parallel is about a program that answers. Name it with --oracle COMMAND."),
        (["--oracle", ""], "--oracle is empty."),
        (["--oracle", "no-such-judge"], "--oracle names a program that does not exist: 'no-such-judge'."),
        (["--oracle", "'judge"], "--oracle has a quote that does not end"),
        (["--oracle", sys.executable, "--timeout", "0"], "timeout=0.0 is not above 0"),
    ],
)
def test_wrong_options(fruit, linkwise, options, message):
    done = linkwise("ask", fruit.path, *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not fruit.session.exists()


def test_a_kill_loses_no_answer(fruit, judge, tmp_path):
    """A question is sent only after the answers before it are stored."""
    command = [sys.executable, "-m", "linkwise", "ask", fruit.path, "--oracle", judge, "--quiet"]
    asked, until = tmp_path / "asked", time.monotonic() + patience()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as program:
        while time.monotonic() < until and not (asked.exists() and asked.read_text().count("\n") >= 3):
            time.sleep(0.005)
        os.kill(program.pid, signal.SIGKILL)
    n_asked = asked.read_text().count("\n")
    with Session.open(fruit.session) as session:
        assert n_asked >= 3
        assert n_asked - 1 <= session.status.n_answers <= n_asked


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["python", "tools/judge.py", "--fast"], "judge.py"),
        (["/usr/bin/python3.12", "judge"], "judge"),
        (["python", "-m", "judge"], "python"),
        (["./judge", "x.toml"], "judge"),
    ],
)
def test_the_name_of_a_program(words, name):
    assert name_of_program(words) == name


@pytest.mark.parametrize(
    ("rate", "new"),
    [
        (0, {"": 0, "judge": None}),
        (0.1, {"": 0.1, "judge": None}),
        (None, "estimate"),
        ({"judge": 0.2}, {"": None, "judge": 0.2}),
        ({"": 0, "ann": 0.1}, {"": 0, "ann": 0.1, "judge": None}),
    ],
)
def test_the_error_rate_of_a_new_program_is_estimated(rate, new):
    assert add_source(rate, "judge") == new
