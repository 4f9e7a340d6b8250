"""Other options for the data of a session: free before the first answer, replayed after it."""

import json

import pytest

from linkwise.session.session import Session
from pseudo_terminal import PROMPT, on_terminal


def words(text):
    return " ".join(text.replace("·", " ").split())


def test_without_answers_changed_options_simply_apply(fruit, linkwise):
    linkwise("ask", fruit.path, "--columns", "weight", "--guidelines", "the same kind", said="q\n")
    with Session.open(fruit.session) as session:
        session.set_name(3, "apples")
    done = linkwise("ask", fruit.path, "--columns", "weight,width", "--scale", "none", said="q\n")
    assert done.exit_code == 0, done.stderr
    change = (
        "from now on with --columns weight,width --scale none, not --columns weight; no answer is affected"
    )
    assert change in words(done.stdout)
    assert sorted(path.name for path in fruit.path.parent.iterdir()) == ["fruit.csv", "fruit.csv.linkwise"]
    with Session.open(fruit.session) as session:
        assert (session.guidelines, session.names) == ("the same kind", {3: "apples"})
        assert session.source["choices"]["columns"] == ["weight", "width"]
    again = linkwise("ask", fruit.path, said="q\n")
    assert (again.exit_code, "from now on" in again.stdout) == (0, False)


def test_with_answers_they_are_replayed_if_wanted(fruit, linkwise):
    linkwise("ask", fruit.path, "--columns", "weight", said="y\nn\nq\n")
    with Session.open(fruit.session) as session:
        before = session.events
    refused = linkwise("ask", fruit.path, "--columns", "width", said="y\n")
    assert refused.exit_code == 2
    said = words(refused.stderr)
    assert "was begun with --columns weight, not --columns width, and has 2 answers. Add --replay" in said
    with Session.open(fruit.session) as session:
        assert session.events == before
    for number, kept in ((1, "fruit.csv-before.linkwise"), (2, "fruit.csv-before-2.linkwise")):
        column = ("weight", "width")[number % 2]
        done = linkwise("ask", fruit.path, "--columns", column, "--replay", said="q\n")
        assert f"2 answers replayed, and the session as it was is kept in {kept}" in words(done.stdout)
        with Session.open(fruit.session) as session, Session.open(fruit.path.with_name(kept)) as copy:
            assert session.events == copy.events == before
            assert session.source["choices"]["columns"] == [column] != copy.source["choices"]["columns"]
    assert "resumed: 2 answers" in linkwise("ask", fruit.path.with_name(kept), said="q\n").stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--text", "colour"],
        ["--text", "colour", "--text-by", "words"],
        ["--text", "colour", "--metric", "euclidean"],
        ["--text", "colour", "--text-by", "letters"],
        ["--columns", "weight"],
        ["--columns", "width,weight"],
    ],
)
def test_the_same_options_change_nothing(fruit, linkwise, options):
    begun = linkwise("ask", fruit.path, "--id", "id", *options, said="n\nq\n")
    assert begun.exit_code == 0, begun.stderr
    again = linkwise("ask", fruit.path, "--id", "id", *options, said="q\n")
    assert (again.exit_code, "from now on" in again.stdout) == (0, False), again.stderr
    assert "resumed: 1 answer" in again.stdout


def test_texts_of_a_session_are_compared_by_letters_without_naming_them_again(fruit, linkwise):
    linkwise("ask", fruit.path, "--text", "colour", said="n\nq\n")
    done = linkwise("ask", fruit.path, "--text-by", "letters", "--replay", said="q\n")
    assert done.exit_code == 0, done.stderr
    with Session.open(fruit.session) as session:
        choices = session.source["choices"]
        assert (choices["text"], choices["text_by"]) == ("colour", "letters")
    assert linkwise("ask", fruit.path, "--text-by", "words", "--replay", said="q\n").exit_code == 0
    with Session.open(fruit.session) as session:
        assert "text_by" not in session.source["choices"]
    other = fruit.path.with_name("other.linkwise")
    linkwise("ask", fruit.path, "--columns", "weight", "--session", other, said="q\n")
    for usual in (["--text-by", "words"], ["--metric", "euclidean"]):
        same = linkwise("ask", fruit.path, *usual, "--session", other, said="q\n")
        assert (same.exit_code, "from now on" in same.stdout) == (0, False), same.stderr
    failed = linkwise("ask", fruit.path, "--text-by", "letters", "--session", other, said="q\n")
    assert (failed.exit_code, "Add --text." in failed.stderr) == (2, True)


def test_options_that_do_not_go_with_the_new_ones_give_way(fruit, linkwise):
    linkwise("ask", fruit.path, "--text", "colour", "--id", "id", said="n\nq\n")
    done = linkwise("ask", fruit.path, "--series", "--replay", said="q\n")
    assert "from now on with --series, not --text colour; 1 answer replayed" in words(done.stdout)
    with Session.open(fruit.session) as session:
        assert session.source["choices"]["id_column"] == "id"


def test_only_options_that_somebody_gave_are_said_to_give_way(tmp_path, linkwise):
    path = tmp_path / "mail.jsonl"
    lines = [{"ticket": f"T{n}", "body": f"a bill and word{n}", "age": n * n % 17} for n in range(40)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    linkwise("ask", path, "--terminal", "--as-is", said="q\n")
    done = linkwise("ask", path, "--terminal", "--id", "ticket", "--text", "body", said="q\n")
    assert "from now on with --id ticket --text body; no answer is affected" in words(done.stdout)


def test_ids_that_are_gone_are_named(fruit, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    with Session.open(fruit.session) as session:
        event = session.events[0]
        gone, content = session.ids[event.first], fruit.session.read_bytes()
    lines = fruit.path.read_text().splitlines()
    fruit.path.write_text("\n".join(line for line in lines if not line.startswith(f"{gone},")) + "\n")
    done = linkwise("ask", fruit.path, "--scale", "none", "--replay", said="q\n")
    assert done.exit_code == 3
    assert f"answers about 1 row that the data lack: '{gone}'" in words(done.stderr)
    assert fruit.session.read_bytes() == content
    assert not fruit.path.with_name("fruit.csv-before.linkwise").exists()


def test_the_ids_themselves_stay(fruit, linkwise):
    linkwise("ask", fruit.path, "--id", "id", said="n\nq\n")
    done = linkwise("ask", fruit.path, "--id", "weight", "--replay", said="q\n")
    assert (done.exit_code, "finds the rows of its answers by ids" in words(done.stderr)) == (2, True)


@pytest.mark.parametrize("is_changed", [False, True])
def test_rows_without_ids_must_be_where_they_were(tmp_path, linkwise, is_changed):
    path = tmp_path / "plain.csv"
    rows = [f"{n % 3 + n / 50},{n % 5}" for n in range(20)]
    path.write_text("\n".join(["a,b", *rows]) + "\n")
    linkwise("ask", path, said="n\nq\n")
    if is_changed:
        path.write_text("\n".join(["a,b", *reversed(rows)]) + "\n")
    done = linkwise("ask", path, "--columns", "a", "--replay", said="q\n")
    assert done.exit_code == (3 if is_changed else 0)
    assert ("nothing tells which row is which" in words(done.stderr)) == is_changed


@pytest.mark.parametrize("learner", ["cobras", "kin", "minmax"])
def test_another_learner_goes_on_with_the_same_answers(fruit, linkwise, learner):
    linkwise("ask", fruit.path, "--columns", "weight", said="y\nn\nq\n")
    more = ["--method", learner, *(["--clusters", "3"] if learner == "minmax" else [])]
    done = linkwise("ask", fruit.path, "--columns", "weight,width", "--replay", *more, said="q\n")
    assert (done.exit_code, "resumed: 2 answers" in done.stdout) == (0, True), done.stderr
    assert "Question 3" in done.stdout


@pytest.mark.parametrize(("key", "is_replayed"), [("y", True), ("n", False)])
def test_a_person_at_a_terminal_is_asked_before_a_replay(fruit, linkwise, key, is_replayed):
    linkwise("ask", fruit.path, "--columns", "weight", said="y\nn\nq\n")
    with on_terminal("ask", fruit.path, "--columns", "width") as terminal:
        terminal.wait_for("[y/n]")
        terminal.press("x")
        terminal.wait_for("Type y or n.")
        terminal.press(key)
        terminal.wait_for("2 answers replayed" if is_replayed else "Add --replay")
        if is_replayed:
            terminal.wait_for(PROMPT)
            terminal.press("q")
        assert terminal.ended() == (0 if is_replayed else 2)
    with Session.open(fruit.session) as session:
        assert session.source["choices"]["columns"] == ["width" if is_replayed else "weight"]
