"""The page, the terminal, the JSON stream, `linkwise status` and Python give the same advice."""

import io
import json
from dataclasses import asdict

import numpy as np
import pytest
from rich.console import Console

from fixed_labels import FixedAdvice
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.app.terminal.console import Terminal
from linkwise.app.terminal.protocol import JsonLines
from linkwise.learn.advice import StopAdvice
from linkwise.session.session import Session

N_ROWS = 500
STOP = "You can stop here: about 12 of 500 rows may be in a wrong cluster, and probably at most 20."
OPEN = "3 pairs of clusters may be one."
CASES = [
    (StopAdvice(True, 0.024, 0.04, 3), f"{STOP} {OPEN}"),
    (StopAdvice(False, 0.3, 0.4, 3), OPEN),
    (StopAdvice(False, 0.3, 0.4), ""),
    (None, ""),
]


@pytest.mark.parametrize(("advice", "words"), CASES, ids=["stop", "open", "go on", "none"])
def test_the_advice_of_a_session_is_the_same_everywhere(advice, words, tmp_path, linkwise, capsys):
    path, X = tmp_path / "s.linkwise", np.random.default_rng(0).random((N_ROWS, 2))
    learner = FixedAdvice(np.arange(N_ROWS) % 5, advice, "A is.")
    with Session.open(path, X, learner) as session:
        for _ in range(12):
            session.answer("no")
        status, question, name = session.status, session.question, session.question_id
        assert status.advice == advice

        page = Presenter(session, X, view_numbers(X, "xy"), title="t").state()
        fields = {key: value for key, value in page["advice"].items() if key != "text"}
        assert fields == asdict(advice or StopAdvice(False, None)) | {"stop": advice and advice.stop}
        shown = [*page["description"], *([page["advice"]["text"]] if page["advice"]["text"] else [])]
        assert " ".join(shown) == f"A is. {words}".strip()

        console = Console(file=io.StringIO(), width=200, color_system=None, force_terminal=False)
        terminal = Terminal(console, lambda question, width, most: "the pair", str)
        terminal.ask(question, name, status)
        asked = console.file.getvalue().split("Do these two")[0].splitlines()
        assert " ".join(line.strip() for line in asked[2:]) == words
        terminal.end("quit", status)
        assert f"A is. {words}".strip() in " ".join(console.file.getvalue().split())

        JsonLines(lambda row: {}, str, str(path)).end("quit", status)
        summary = json.loads(capsys.readouterr().out)
        assert summary["advice"] == (advice and asdict(advice))
    assert json.loads(linkwise("status", path, "--json").stdout)["advice"] == summary["advice"]
    done = linkwise("status", path)
    assert done.exit_code == 0, done.stderr
    printed = " ".join(done.stdout.split())
    assert f"A is. {words}".strip() in printed
    assert ("You can stop here" in printed, "may be one" in printed) == (STOP in words, OPEN in words)
    with Session.open(path) as kept:
        assert kept.status.advice == advice
