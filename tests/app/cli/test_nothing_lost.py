"""What a stranger lost once: files that export may not touch, advice that must keep the answers."""

import re
import shlex

import pytest

from linkwise.session.session import Session

ROWS = "customer;age;spend\n" + "\n".join(f"A-{i};{20 + i * 7 % 12};{(i * 37) % 50}" for i in range(12))


@pytest.fixture
def run(linkwise, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return linkwise


@pytest.fixture
def asked(tmp_path, run):
    (tmp_path / "c.csv").write_text(ROWS)
    done = run("ask", "c.csv", "--id", "customer", said="y\nn\nn\nq\n")
    assert done.exit_code == 0
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c.csv.linkwise", "./c.csv.linkwise", "c.csv"])
@pytest.mark.parametrize("option", ["--labels", "--constraints", "--join"])
def test_export_never_overwrites_the_session_or_its_data(asked, run, target, option):
    before = (asked / "c.csv").read_bytes()
    done = run("export", "c.csv", option, target, "--force")
    assert done.exit_code == 2
    assert "never overwritten" in done.stderr
    assert (asked / "c.csv").read_bytes() == before
    assert "3 answers" in run("status", "c.csv").stdout


@pytest.mark.slow
def test_clusters_and_pairs_need_two_files(asked, run):
    done = run("export", "c.csv", "--labels", "o.csv", "--constraints", "./o.csv")
    assert done.exit_code == 2
    assert "two files" in done.stderr
    assert not (asked / "o.csv").exists()


@pytest.mark.slow
def test_the_advised_command_keeps_the_answers(asked, run):
    refused = run("ask", "c.csv", "--scale", "standard", said="")
    assert refused.exit_code == 2
    advice = re.search(r"Add (--\w+) to", refused.stderr)[1]
    with Session.open(asked / "c.csv.linkwise") as session:
        before = session.events
    assert run("ask", "c.csv", "--scale", "standard", advice, said="q\n").exit_code == 0
    with Session.open(asked / "c.csv.linkwise") as session:
        assert session.events == before


@pytest.mark.slow
def test_taking_over_nothing_is_refused(asked, run):
    done = run("ask", "c.csv", "--as-is", "--session", "N.linkwise", "--from", "c.csv.linkwise", said="q\n")
    assert done.exit_code == 3
    assert "--id COLUMN" in done.stderr
    assert not (asked / "N.linkwise").exists()


@pytest.mark.slow
def test_a_session_is_not_taken_over_into_itself(asked, run):
    done = run("ask", "c.csv", "--from", "c.csv.linkwise", said="q\n")
    assert done.exit_code == 2
    assert "the session itself" in done.stderr


def advised(done):
    """The command that an error ends with, without the name of the program."""
    return shlex.split(done.stderr.strip().rpartition(": linkwise ")[2])


def write_customers(path, rows, *, drop=(), first=()):
    """Customers with a gap, two spellings and a column that nobody wants; `first` come before the others."""
    lines = [
        f"A-{i};{('Bank', 'bank', '')[i % 3]};{(i * 37) % 50};{i % 4}" for i in range(rows) if i not in drop
    ]
    path.write_text("\n".join(["customer;branch;spend;shelf", *first, *lines]))


KEPT = ["--id", "customer", "--drop", "shelf", "--impute", "median", "--merge-variants"]


def test_rows_are_added_to_a_session(tmp_path, run):
    write_customers(tmp_path / "c.csv", 24)
    assert run("ask", "c.csv", *KEPT, said="y\nn\nn\nq\n").exit_code == 0
    with Session.open(tmp_path / "c.csv.linkwise") as session:
        ids, facts = session.ids, [(e.first, e.second, e.answer) for e in session.history]
    write_customers(tmp_path / "c.csv", 30, first=["B-1;Bank;3;1"])
    refused = run("ask", "c.csv", said="q\n")
    assert (refused.exit_code, advised(refused)) == (3, ["ask", "c.csv", "--replay"])
    assert advised(run("extend", "c.csv")) == ["ask", "DATA", "--replay"]
    done = run(*advised(refused), said="q\n")
    assert done.exit_code == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "3 answers replayed on the present rows of c.csv" in words
    assert "c.csv has 31 rows now, and had 24" in words
    with Session.open(tmp_path / "c.csv.linkwise") as session:
        moved = [(session.ids[e.first], session.ids[e.second], e.answer) for e in session.history]
        assert [(ids[i], ids[j], answer) for i, j, answer in facts] == moved
        assert [event.kind for event in session.history] == ["answer"] * 3
    with Session.open(tmp_path / "c.csv-before.linkwise") as before:
        assert before.n_rows == 24


def test_without_rows_of_answers_the_others_go_to_a_new_session(tmp_path, run):
    """The command repeats the options of the session: without them the data could not even be read."""
    write_customers(tmp_path / "c.csv", 24)
    run("ask", "c.csv", *KEPT, said="y\nn\nn\nq\n")
    with Session.open(tmp_path / "c.csv.linkwise") as session:
        gone, source = session.history[-1].first, session.source
    write_customers(tmp_path / "c.csv", 24, drop=[int(session.ids[gone][2:])])
    refused = run("ask", "c.csv", "--replay", said="q\n")
    assert (refused.exit_code, "answers about 1 row that the data lack" in refused.stderr) == (3, True)
    done = run(*advised(refused), said="q\n")
    assert (done.exit_code, "left out because a row of theirs" in done.stdout) == (0, True), done.stderr
    with Session.open(tmp_path / "c-new.csv.linkwise") as session:
        assert session.source | {"file": 0, "sha256": 0} == source | {"file": 0, "sha256": 0}


def test_without_answers_changed_rows_need_no_replay(tmp_path, run):
    for ids in ([], ["--id", "customer"]):
        write_customers(tmp_path / "c.csv", 24)
        begun = run("ask", "c.csv", "--drop", "branch,shelf", *ids, "--session", "s.linkwise", said="q\n")
        assert begun.exit_code == 0, begun.stderr
        write_customers(tmp_path / "c.csv", 30)
        done = run("ask", "c.csv", "--session", "s.linkwise", said="n\nq\n")
        assert (done.exit_code, "no answer is affected" in " ".join(done.stdout.split())) == (0, True)
        with Session.open(tmp_path / "s.linkwise") as session:
            assert (session.n_rows, session.status.n_answers) == (30, 1)
        (tmp_path / "s.linkwise").unlink()


def test_answers_about_rows_without_ids_do_not_move_in_silence(tmp_path, run):
    table = tmp_path / "c.csv"
    table.write_text("a,b\n" + "\n".join(f"{i % 7},{i * 3 % 11}" for i in range(20)))
    run("ask", "c.csv", said="y\nn\nq\n")
    lines = table.read_text().splitlines()
    for rows, is_warned in ((["3,9", *lines[1:]], True), ([*lines[1:], "3,9"], False)):
        table.write_text("\n".join([lines[0], *rows]))
        for replay in ([], ["--replay"]):
            refused = run("ask", "c.csv", *replay, said="q\n")
            assert refused.exit_code == 3
            assert "nothing tells which row is which" in refused.stderr
        done = run(*advised(refused), said="q\n")
        assert done.exit_code == 0, done.stderr
        assert ("at the same positions" in " ".join(done.stdout.split())) == is_warned
        (tmp_path / "c-new.csv.linkwise").unlink()


def test_positions_are_not_taken_for_ids(tmp_path, run):
    """The ids count from 1 and positions from 0, so each answer would be about the row before."""
    (tmp_path / "c.csv").write_text("nr,a,b\n" + "\n".join(f"{i},{i % 7},{i * 3 % 11}" for i in range(1, 21)))
    run("ask", "c.csv", "--drop", "nr", "--session", "a.linkwise", said="y\nn\nq\n")
    move = ["ask", "c.csv", "--id", "nr", "--session", "b.linkwise", "--from", "a.linkwise"]
    refused = run(*move, said="q\n")
    assert (refused.exit_code, "known by their positions" in refused.stderr) == (3, True)
    words = [{"DATA": "c.csv", "COLUMN": "nr"}.get(word, word) for word in advised(refused)]
    assert run(*words, said="q\n").exit_code == 0
    assert run(*move, said="q\n").exit_code == 0
    with Session.open(tmp_path / "a.linkwise") as old, Session.open(tmp_path / "b.linkwise") as new:
        assert new.constraints == old.constraints
        assert new.ids[0] == "1"


def test_a_table_that_was_renamed_with_its_session_is_found(asked, run):
    for name in ("c.csv", "c.csv.linkwise"):
        (asked / name).rename(asked / name.replace("c.csv", "people.csv"))
    for command in (["explain", "people.csv"], ["export", "people.csv", "--join", "out.csv"]):
        done = run(*command)
        assert done.exit_code == 0, done.stderr
    assert "resumed: 3 answers" in run("ask", "people.csv.linkwise", said="q\n").stdout
    (asked / "people.csv").write_text(ROWS.replace("A-3;29", "A-3;32"))
    changed = run("explain", "people.csv")
    assert (changed.exit_code, "linkwise ask DATA --replay" in changed.stderr) == (3, True)
