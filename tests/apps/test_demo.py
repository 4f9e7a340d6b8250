"""``linkwise demo``: bundled data, answered by their classes or by hand."""

import re

import pytest

from linkwise.session.session import Session

from .test_terminal import PROMPT, on_terminal


@pytest.mark.parametrize("name", ["digits", "wine"])
def test_auto_shows_how_the_clusters_grow_right(linkwise, name):
    done = linkwise("demo", name, "--auto", "--budget", 30)
    assert done.exit_code == 0
    rows = re.findall(r"^ +(\d+) +(\d+) +(-?\d\.\d\d)$", done.stdout, re.MULTILINE)
    assert [int(q) for q, _, _ in rows] == list(range(0, 31, 3))
    assert float(rows[-1][2]) > max(float(rows[0][2]), {"digits": 0.65, "wine": 0.9}[name])
    assert "30 answers: " in done.stdout


def test_auto_is_decided_by_the_seed(linkwise):
    one, same, other = (linkwise("demo", "--auto", "--budget", 12, "--seed", s).stdout for s in (1, 1, 2))
    assert one == same != other


def test_without_a_terminal_the_classes_answer(linkwise):
    assert "questions  clusters   ARI" in linkwise("demo", "wine", "--budget", 5).stdout


def test_digits_are_shown_as_pictures():
    with on_terminal("demo") as screen:
        shown = screen.wait_for(PROMPT)
        assert shown.count("┌────────────────┐") == 2
        assert shown.count("│") == 4 * 8
        assert "██" in shown
        screen.press("n")
        screen.wait_for("no  saved")
        screen.wait_for(PROMPT)
        screen.press("q")
        screen.wait_for("agreement with the known classes (ARI): ")
        assert screen.ended() == 0


def test_wines_are_shown_as_values():
    with on_terminal("demo", "wine", "--budget", 1) as screen:
        shown = screen.wait_for(PROMPT)
        assert "alcohol" in shown
        assert "lowest" in shown
        screen.press("y")
        screen.wait_for("The budget of questions is used up.")
        assert screen.ended() == 0


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


def test_control_c_in_a_demo():
    with on_terminal("demo", "wine") as screen:
        screen.wait_for(PROMPT)
        screen.press("\x03")
        assert screen.ended() == 130
        assert "interrupted" in screen.plain()
