"""Sessions of two people put together on the command line."""

import json

import pytest

import linkwise as lw


@pytest.fixture
def ben(fruit, linkwise, tmp_path):
    """A second session about the same rows, with two answers, one of them by a person with a name."""
    path = tmp_path / "ben.linkwise"
    linkwise("ask", fruit.path, "--session", path, "--seed", "1", said="y\nq\n")
    with lw.Session.open(path) as session:
        session.add(0, 1, "cannot-link", source="carl")
    return path


def test_answers_of_another_session_are_added(fruit, ben, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    before = fruit.session.with_name(f"{fruit.session.stem}-before.linkwise")
    done = linkwise("combine", fruit.path, ben, "--source", "ben")
    assert "2 answers taken from ben.linkwise" in done.stderr
    assert f"The session as it was before is in {before}." in done.stdout
    assert "Now: 1 answer: 0 same, 1 different, 0 not sure; 2 pairs added" in done.stdout
    with lw.Session.open(fruit.session) as session, lw.Session.open(before) as copy:
        assert [event.source for event in session.history] == ["", "ben", "carl"]
        assert len(copy.history) == 1


def test_nothing_new_leaves_no_copy(fruit, ben, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    linkwise("combine", fruit.path, ben, "--source", "ben")
    files = sorted(fruit.path.parent.iterdir())
    done = linkwise("combine", fruit.path, ben, "--source", "ben", "--json")
    found = json.loads(done.stdout)
    assert (found["type"], found["n_taken"], found["n_held"], found["n_left_out"]) == ("combine", 0, 2, 0)
    assert "backup" not in found
    assert sorted(fruit.path.parent.iterdir()) == files


def test_what_is_wrong_is_told_and_leaves_no_copy(fruit, ben, linkwise, tmp_path):
    linkwise("ask", fruit.path, said="n\nq\n")
    files = sorted(fruit.path.parent.iterdir())
    done = linkwise("combine", fruit.path, ben)
    assert done.exit_code == 2
    assert "ben.linkwise has 1 answer without a name. Pass --source NAME to say who gave them." in done.stderr
    assert linkwise("combine", fruit.path, tmp_path / "none.linkwise").exit_code == 3
    done = linkwise("combine", ben, ben)
    assert (done.exit_code, "is this session itself" in done.stderr) == (5, True)
    assert sorted(fruit.path.parent.iterdir()) == files
    strict = tmp_path / "strict.linkwise"
    linkwise("ask", fruit.path, "--session", strict, "--error-rate", "0", said="q\n")
    with lw.Session.open(strict) as session:
        session.add(0, 1, "must-link")
    done = linkwise("combine", strict, ben, "--source", "ben")
    assert done.exit_code == 4
    assert "Nothing was added. Let answers be wrong" in done.stderr


def test_what_comes_beside_answers_is_named_and_leaves_a_copy(fruit, ben, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    linkwise("combine", fruit.path, ben, "--source", "ben")
    before = fruit.session.with_name(f"{fruit.session.stem}-before.linkwise")
    before.unlink()
    with lw.Session.open(ben) as session:
        session.set_guidelines("By taste.")
        session.add_cost("judge", 2)
    done = linkwise("combine", fruit.path, ben, "--source", "ben")
    assert "0 answers, the guidelines, costs taken from ben.linkwise" in done.stderr
    assert before.exists()
