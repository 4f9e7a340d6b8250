"""``linkwise ask FILE --oracle COMMAND``."""

import json
import signal
import sys
import time

import pytest

from linkwise.app.cli.commands.ask_program import add_source, name_of_program
from linkwise.session.session import Session
from living import Living
from patience import patience, wait_until
from running_command import start_command

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


@pytest.mark.slow
def test_a_program_answers_and_a_person_goes_on(fruit, linkwise, judge, tmp_path):
    done = linkwise("ask", fruit.path, "--oracle", judge, "--parallel", "2", "--budget", "6")
    assert done.exit_code == 0
    assert "6 answers by judge.py, cost 3." in done.stdout
    assert "of the answers by judge.py are wrong" in done.stdout
    assert "Same after " in done.stderr
    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert len(asked) == 6
    assert set(asked[0]) == {"id", "ids", "first", "second", "guidelines", "examples"}
    assert set(asked[0]["first"]) >= {"weight", "width", "colour"}
    assert asked[0]["guidelines"] is None
    assert asked[0]["examples"] == []
    with Session.open(fruit.session) as session:
        session.set_examples([(0, 1, True, "both sweet")])
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
    last = json.loads((tmp_path / "asked").read_text().splitlines()[-1])
    (example,) = last["examples"]
    assert (example["answer"], example["reason"]) == ("yes", "both sweet")
    assert set(example["first"]) == set(last["first"])
    done = linkwise("ask", fruit.path, "--oracle", judge, "--max-cost", "3.5", "--quiet")
    assert "1 answer by judge.py, cost 0.5 (3.5 with earlier runs). The costs have reached" in done.stdout
    done = linkwise("ask", fruit.path, "--oracle", judge, "--max-cost", "3.5", "--quiet")
    assert "0 answers by judge.py, cost 0 (3.5 with earlier runs). The costs have reached" in done.stdout


def test_a_person_audits_a_program(fruit, linkwise, judge):
    arguments = ("ask", fruit.path, "--oracle", judge, "--budget", "12", "--quiet", "--audit", "10")
    done = linkwise(*arguments, said="u\ny\nu\ny\nn\ns\nq\n")
    assert done.exit_code == 0
    words = " ".join(done.stdout.split())
    assert "Now answer pairs that judge.py answered." in words
    assert words.count("taken back") == 1  # the answers of the program stay
    assert "Audit of judge.py: 2 pairs of 12 checked, 1 not sure, 7 open." in words
    assert "too few pairs to estimate how often judge.py is wrong" in words
    with Session.open(fruit.session) as session:
        sources = [event.source for event in session.history]
        assert (sources.count("judge.py"), sources.count("")) == (12, 3)
        asked = {frozenset((event.first, event.second)) for event in session.history[:12]}
        assert all({event.first, event.second} in asked for event in session.history[12:])
    done = linkwise(*arguments, "--json", said="y\n" * 7)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    asked = [line for line in lines if line["type"] == "question"]
    report = lines[-1]
    assert [line["type"] for line in lines[:2]] == ["program", "summary"]
    assert (report["type"], report["source"]) == ("audit", "judge.py")
    assert (report["n_checked"], report["n_open"]) == (9, 2)  # the second audit took what was left
    assert report["rate"] is None
    assert set(report["believed"]) >= {"rate", "low", "high"}
    assert set(report["distance"]) >= {"n_agreeing", "n_misleading", "finding"}
    assert "judge.py" in asked[0]["why"]


def test_an_audit_needs_answers_that_may_be_wrong(fruit, linkwise, judge):
    done = linkwise(
        "ask", fruit.path, "--oracle", judge, "--audit", "5", "--error-rate", "0", "--budget", "2"
    )
    assert done.exit_code == 2
    assert "--audit needs answers that may be wrong. Remove --error-rate 0." in " ".join(done.stderr.split())
    with Session.open(fruit.session) as session:
        assert session.history == []
    done = linkwise("ask", fruit.path, "--oracle", judge, "--audit", "5", "--source", "")
    assert done.exit_code == 2
    assert "Add --source NAME." in done.stderr


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
        (["--parallel", "2"], "--parallel is about a program or model that answers. Add --oracle"),
        (["--audit", "3"], "--audit is about a program or model that answers. Add --oracle"),
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


@pytest.mark.slow
def test_a_kill_loses_no_answer(fruit, judge, tmp_path):
    """A question is sent only after the answers before it are stored."""
    asked, until = tmp_path / "asked", time.monotonic() + patience()
    with start_command("ask", fruit.path, "--oracle", judge, "--quiet") as program:
        while time.monotonic() < until and not (asked.exists() and asked.read_text().count("\n") >= 3):
            time.sleep(0.005)
        program.kill()
    n_asked = asked.read_text().count("\n")
    with Session.open(fruit.session) as session:
        assert n_asked >= 3
        assert n_asked - 1 <= session.status.n_answers <= n_asked


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_program_and_what_it_has_started(fruit, judge, tmp_path, number):
    with Living(tmp_path / "living") as living:
        (tmp_path / "judge.py").write_text(f"{living.start_child()}\n{JUDGE.replace('yes', 'unsure')}")
        asked = tmp_path / "asked"
        with start_command("ask", fruit.path, "--oracle", judge, "--quiet") as program:
            wait_until(asked.exists, "nothing was asked")
            program.send_signal(number)
            _, err = program.communicate(timeout=patience())
        assert program.returncode == 130
        assert "Go on with: linkwise ask" in err
        assert living.count_until_none() == 1


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
