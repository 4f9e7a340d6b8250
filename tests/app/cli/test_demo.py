"""``linkwise demo``: bundled data, answered by their classes or by hand."""

import re

import pytest

from linkwise.app.cli.commands import demo
from linkwise.session.session import Session
from pseudo_terminal import PROMPT, on_terminal


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "wine",
        "loads",
        *(pytest.param(name, marks=pytest.mark.slow(nightly=True)) for name in ("digits", "messages")),
    ],
)
def test_auto_shows_how_the_clusters_grow_right(linkwise, name):
    done = linkwise("demo", name, "--auto", "--budget", 30)
    assert done.exit_code == 0
    rows = re.findall(r"^ +(\d+) +(\d+) +(-?\d\.\d\d)$", done.stdout, re.MULTILINE)
    assert [int(q) for q, _, _ in rows] == list(range(0, 31, 3))
    least = {"digits": 0.65, "wine": 0.9, "messages": 0.75, "loads": 0.8}[name]
    assert float(rows[-1][2]) > max(float(rows[0][2]), least)
    assert "30 answers: " in done.stdout


@pytest.mark.slow
def test_auto_is_decided_by_the_seed(linkwise):
    one, same, other = (
        linkwise("demo", "wine", "--auto", "--budget", 12, "--seed", s).stdout for s in (1, 1, 2)
    )
    assert one == same != other


def test_without_a_terminal_the_classes_answer(linkwise):
    assert "questions  clusters   ARI" in linkwise("demo", "wine", "--budget", 5).stdout


def test_the_dialogue_reads_lines_where_there_is_no_terminal(linkwise):
    told = linkwise("demo", "wine", "--terminal", "--budget", 2, said="y\nn\n").stdout
    assert "alcohol" in told
    assert "2 answers: 1 same, 1 different, 0 not sure" in told
    assert "questions  clusters   ARI" not in told


@pytest.mark.slow
def test_digits_are_shown_as_pictures():
    with on_terminal("demo") as screen:
        shown = screen.wait_for(PROMPT)
        assert shown.count("┌────────────────┐") == 2
        assert shown.count("│") == 4 * 8
        assert "██" in shown
        screen.press("n")
        screen.wait_for("Different  saved")
        screen.wait_for(PROMPT)
        screen.press("q")
        screen.wait_for("agreement with the known classes (ARI): ")
        assert screen.ended() == 0


@pytest.mark.slow
def test_wines_are_shown_as_values():
    with on_terminal("demo", "wine", "--budget", 1) as screen:
        shown = screen.wait_for(PROMPT)
        assert "alcohol" in shown
        assert "lowest" in shown
        screen.press("y")
        screen.wait_for("The question limit is reached.")
        assert screen.ended() == 0


@pytest.mark.parametrize(("name", "seen"), [("messages", "row "), ("loads", "48 samples")])
def test_texts_and_curves_are_shown(name, seen):
    with on_terminal("demo", name, "--budget", 1) as screen:
        assert seen in screen.wait_for(PROMPT)
        screen.press("y")
        screen.wait_for("The question limit is reached.")
        assert screen.ended() == 0


@pytest.mark.parametrize(("name", "told"), [("messages", "The words that tell"), ("wine", "rules put")])
def test_a_demo_that_was_saved_is_explained(tmp_path, linkwise, name, told):
    path = tmp_path / "kept.linkwise"
    linkwise("demo", name, "--budget", 10, "--session", path)
    done = linkwise("explain", path)
    assert done.exit_code == 0, done.stderr
    assert told in done.stdout


@pytest.mark.slow
def test_a_demo_keeps_nothing_unless_asked(tmp_path, linkwise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    linkwise("demo", "wine", "--budget", 3)
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "kept.linkwise"
    linkwise("demo", "wine", "--budget", 3, "--session", path)
    linkwise("demo", "wine", "--budget", 5, "--session", path)
    with Session.open(path) as session:
        assert session.status.n_answers == 5
    assert linkwise("export", path).stdout.startswith("id,cluster\n0,")
    assert linkwise("demo", "digits", "--session", path).exit_code == 2
    assert "linkwise demo wine" in linkwise("ask", path).stderr


@pytest.mark.parametrize("kept", [False, True])
def test_the_end_of_a_page_tells_the_agreement(tmp_path, kept):
    path = tmp_path / "kept.linkwise" if kept else None
    subject = demo.prepare_demo("iris", path)
    assert "ARI" not in subject.ended(None)  # the data were not read yet
    desk = subject.begin()
    assert "ARI" not in subject.ended(0)
    question = desk.state()["question"]["id"]
    assert desk.handle({"id": "a", "do": "answer", "question": question, "answer": "no"}).body["ok"]
    desk.close()
    told = subject.ended(1)
    assert f"Agreement with the known classes (ARI): {desk.agreement():.2f}" in told
    assert ("1 answer saved in" in told) == kept


@pytest.mark.slow
def test_control_c_in_a_demo():
    with on_terminal("demo", "wine") as screen:
        screen.wait_for(PROMPT)
        screen.press("\x03")
        assert screen.ended() == 130
        assert "Interrupted" in screen.plain()
