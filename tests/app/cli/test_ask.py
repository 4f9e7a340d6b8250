"""``linkwise ask`` with piped answers: what it says, keeps and takes up again."""

import json
import re

import numpy as np
import pytest

import linkwise as lw
from commands import write_fruit
from linkwise.session.session import Session
from running_command import start_command


def test_answers_are_saved_and_the_dialogue_goes_on(fruit, linkwise):
    first = linkwise("ask", fruit.path, said="y\nn\nq\n")
    assert first.exit_code == 0
    assert re.search(r"1 +id +text +id ", first.stdout)
    assert "Same  saved" in first.stdout
    assert "2 answers: 1 same, 1 different, 0 not sure" in first.stdout
    assert f"linkwise export {fruit.path}" in first.stdout

    second = linkwise("ask", fruit.path, said="s\nq\n")
    assert second.exit_code == 0
    assert "resumed: 2 answers: 1 same, 1 different" in second.stdout
    assert "Rows are identified by" not in second.stdout  # said once, at the start of a session
    assert "Question 3" in second.stdout
    with Session.open(fruit.session) as session:
        assert [e.answer for e in session.history] == ["yes", "no", "unsure"]


def test_end_of_input_is_a_clean_end(fruit, linkwise):
    done = linkwise("ask", fruit.path, said="n\n")
    assert done.exit_code == 0
    assert "Stopped." in done.stdout
    with Session.open(fruit.session) as session:
        assert session.status.n_answers == 1


def test_words_count_as_their_letters(fruit, linkwise):
    linkwise("ask", fruit.path, said="YES\n No \nunsure\nquit\n")
    with Session.open(fruit.session) as session:
        assert [e.answer for e in session.history] == ["yes", "no", "unsure"]


def test_unknown_words_are_never_answers(fruit, linkwise):
    done = linkwise("ask", fruit.path, said="x\n\nyy\nj\n?\nq\n")
    assert done.stdout.count("Not saved. ") == 4
    assert "'yy' is not an answer. Type y, n, s, u or q, or ? for all keys." in done.stdout
    assert "Why this question: " in done.stdout
    with Session.open(fruit.session) as session:
        assert session.events == []


def test_undo_says_what_was_taken_back(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--json", said="n\nq\n")
    asked = json.loads(done.stdout.splitlines()[0])["ids"]
    done = linkwise("ask", fruit.path, said="u\nu\nq\n")
    assert f"taken back: Different for {asked[0]} and {asked[1]}" in done.stdout
    assert "There is nothing to undo" in done.stdout
    with Session.open(fruit.session) as session:
        assert session.history == []


@pytest.mark.slow
def test_an_oracle_on_the_json_stream_finds_the_groups(fruit):
    """A program reads a question, answers it, and so on; every line parses."""
    with start_command("ask", fruit.path, "--json", "--budget", 12) as program:
        lines = []
        for text in program.stdout:
            lines.append(json.loads(text))
            if lines[-1]["type"] == "question":
                program.stdin.write(fruit.same(*lines[-1]["ids"]) + "\n")
                program.stdin.flush()
    assert program.returncode == 0
    assert (lines[-1]["type"], lines[-1]["reason"]) == ("summary", "budget")
    assert lines[-1]["session"] == str(fruit.session)
    assert sorted(lines[-1]["clusters"]) == [10, 10, 10]
    with Session.open(fruit.session) as session:
        pairs = set(zip(session.labels.tolist(), fruit.truth.values(), strict=True))
    assert len(pairs) == 3


def test_json_says_what_a_program_needs(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--json", said="n\nx\nu\nq\n")
    question, state, again, refused, undone, first_again, summary = map(json.loads, done.stdout.splitlines())
    assert question["type"] == again["type"] == first_again["type"] == "question"
    assert question["rows"] == [int(name[1:]) for name in question["ids"]]
    assert set(question["items"][0]) == {"weight", "width", "colour"}
    assert question["why"]
    assert (state["type"], state["done"], state["no"], state["rows"]) == ("state", "no", 1, 30)
    assert refused["type"] == "refused"
    assert (undone["done"], undone["undone"]["ids"], undone["answers"]) == ("undo", question["ids"], 0)
    assert first_again["ids"] == question["ids"]
    assert (summary["type"], summary["reason"]) == ("summary", "quit")
    assert "Rows are identified by 'id'" in done.stderr


def test_budget_ends_the_dialogue(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--budget", 2, said="s\ns\ns\ns\n")
    assert "Question 2 of 2" in done.stdout
    assert "The question limit is reached." in done.stdout
    with Session.open(fruit.session) as session:
        assert session.status.n_answers == 2


def test_nothing_left_to_ask_is_a_clean_end(tmp_path, linkwise):
    data = tmp_path / "two.csv"
    data.write_text("x\n0\n0.1\n9\n")
    done = linkwise("ask", data, said="n\ny\ny\ny\n")
    assert done.exit_code == 0
    assert "There are no more questions" in done.stdout
    assert "go on" not in done.stdout


def test_choices_of_reading_are_kept(tmp_path, linkwise):
    data = tmp_path / "semi.csv"
    data.write_text("key;a;b;junk\n" + "".join(f"k{i};{i % 2};{i / 7:.3f};{i}\n" for i in range(12)))
    options = ("--id", "key", "--drop", "junk", "--delimiter", ";", "--scale", "standard", "--seed", "3")
    linkwise("ask", data, *options, said="q\n")
    assert linkwise("ask", data, said="q\n").exit_code == 0
    assert linkwise("ask", data, *options, said="q\n").exit_code == 0
    with Session.open(tmp_path / "semi.csv.linkwise") as session:
        source = session.source
        assert session.ids[:2] == ["k0", "k1"]
        assert session.learner == {"name": "KIN", "parameters": {"random_state": 3}}
    assert source["file"] == "semi.csv"
    assert source["scale"] == "standard"
    assert source["choices"]["drop"] == ["junk"]


@pytest.mark.parametrize(
    "option", [("--scale", "none"), ("--drop", "width"), ("--columns", "weight"), ("--impute", "median")]
)
def test_other_choices_on_a_begun_session_are_refused(fruit, linkwise, option):
    linkwise("ask", fruit.path, said="y\nq\n")
    done = linkwise("ask", fruit.path, *option, said="y\n")
    assert done.exit_code == 2
    assert option[0] in done.stderr
    assert "Add --replay" in " ".join(done.stderr.split())
    with Session.open(fruit.session) as session:
        assert session.status.n_answers == 1


def test_another_method_takes_over_and_keeps_every_answer(fruit, linkwise):
    linkwise("ask", fruit.path, said="n\ny\nq\n")
    done = linkwise("ask", fruit.path, "--method", "cobra", "--super-instances", 6, said="q\n")
    assert "COBRA, 6 super-instances, seed 0 asks from now on" in " ".join(done.stdout.split())
    assert "asks from now on" not in linkwise("ask", fruit.path, "--method", "cobra", said="q\n").stdout
    with Session.open(fruit.session) as session:
        assert session.learner["parameters"]["n_super_instances"] == 6
        assert [e.answer for e in session.history] == ["no", "yes"]


def test_super_instances_without_cobra_is_wrong_use(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--super-instances", 6)
    assert done.exit_code == 2
    assert "--method cobra" in done.stderr
    assert not fruit.session.exists()


def test_answers_are_carried_over_by_id(fruit, tmp_path, linkwise):
    linkwise("ask", fruit.path, said="n\ny\nq\n")
    with Session.open(fruit.session) as old:
        event = old.history[0]
        gone, kept = (old.ids[row] for row in (event.first, event.second))
    lines = fruit.path.read_text().splitlines()
    newer = tmp_path / "newer.csv"
    newer.write_text("\n".join([lines[0], *reversed([x for x in lines[1:] if not x.startswith(f"{gone},")])]))
    done = linkwise("ask", newer, "--from", fruit.session, said="q\n")
    assert done.exit_code == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "taken over from fruit.csv.linkwise" in words
    assert "left out because a row of theirs is not in these data" in words
    with Session.open(tmp_path / "newer.csv.linkwise") as session:
        taken = session.history[0].facts
        assert gone not in session.ids
        assert len(taken) < 2 or kept in session.ids
    again = linkwise("ask", newer, "--from", fruit.session, said="q\n")  # the same command once more
    assert again.exit_code == 0
    with Session.open(tmp_path / "newer.csv.linkwise") as session:
        assert session.status.n_imported == len(taken)


def test_pairs_are_brought_in(fruit, tmp_path, linkwise):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\nf0,f1,cannot-link\n")
    done = linkwise("ask", fruit.path, "--constraints", pairs, "--budget", 0)
    assert "2 pairs imported from pairs.csv" in done.stdout
    with Session.open(fruit.session) as session:
        assert session.status.n_imported == 2


def test_a_session_file_can_be_given_in_place_of_its_data(fruit, linkwise, monkeypatch):
    linkwise("ask", fruit.path, said="y\nq\n")
    monkeypatch.chdir(fruit.path.parent.parent)
    assert "resumed: 1 answer" in linkwise("ask", fruit.session, said="q\n").stdout


def test_a_session_begun_in_python_goes_on_here(fruit, linkwise):
    from linkwise.data import encode, read_table

    table = read_table(fruit.path)
    with Session.open(fruit.session, encode(table).X, lw.COBRAS(random_state=1), ids=table.ids) as session:
        session.answer("no")
    assert "resumed: 1 answer" in linkwise("ask", fruit.path, said="q\n").stdout


@pytest.mark.slow
def test_changed_data_are_refused_with_the_way_out(fruit, linkwise):
    linkwise("ask", fruit.path, said="y\nq\n")
    write_fruit(fruit.path, rows=33)
    done = linkwise("ask", fruit.path, said="y\n")
    assert done.exit_code == 3
    assert "fruit.csv.linkwise was begun with other data" in done.stderr
    command = done.stderr.strip().split("linkwise ask ")[1].split()
    assert linkwise("ask", *command, said="q\n").exit_code == 0


def test_data_cannot_steer_the_terminal(tmp_path, linkwise):
    data = tmp_path / "evil.csv"
    values = "".join(f'"[red]x\x1b[2J{i}",{i % 2}\n' for i in range(8))
    data.write_text(f"name[/],n\n{values}")
    done = linkwise("ask", data, said="q\n")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "[red]x·[2J" in done.stdout


def test_arrays_without_ids(tmp_path, linkwise):
    data = tmp_path / "a.npy"
    np.save(data, np.random.default_rng(0).random((20, 3)))
    done = linkwise("ask", data, said="n\nq\n")
    assert done.exit_code == 0
    assert "1: row " in done.stdout
