"""``linkwise ask --method cobs``: in a session like any other, and what it says of where it stands."""

import json

import pytest

import linkwise as lw
from commands import write_fruit
from linkwise.session.session import Session
from pseudo_terminal import on_terminal

COBS = ("--method", "cobs", "--preset", "quick")


@pytest.mark.slow
def test_the_end_says_what_leads_and_how_many_fit(fruit, linkwise):
    done = linkwise("ask", fruit.path, *COBS, said="n\ny\nq\n")
    assert done.exit_code == 0, done.stderr
    ending = done.stdout.partition("Stopped.")[2]
    assert "Leading: " in ending
    assert "different clusterings fit every answer." in ending
    status = linkwise("status", fruit.path).stdout
    assert "method    ActiveCOBS, preset quick, noise cluster, seed 0" in status
    with Session.open(fruit.session) as session:
        said = session.status.description
    assert len(said) == 2
    for sentence in said:
        assert sentence in " ".join(ending.split())
        assert sentence in status


@pytest.mark.slow
def test_it_is_resumed_undone_and_exported_like_any_other(fruit, linkwise):
    linkwise("ask", fruit.path, *COBS, said="n\ny\nq\n")
    again = linkwise("ask", fruit.path, said="u\nq\n")
    assert "resumed: 2 answers: 1 same, 1 different" in again.stdout
    assert "taken back: Same" in again.stdout
    exported = linkwise("export", fruit.path).stdout
    assert exported.count("\n") == 31
    assert "1 answer: 0 same, 1 different" in linkwise("status", fruit.path).stdout
    linkwise("undo", fruit.path)
    done = linkwise("export", fruit.path)  # the clusterings are made again for it
    assert (done.exit_code, done.stderr) == (0, "")
    assert "No answer decides yet" in " ".join(linkwise("ask", fruit.path, said="q\n").stdout.split())


@pytest.mark.slow
def test_json_carries_what_is_reported(fruit, linkwise):
    done = linkwise("ask", fruit.path, *COBS, "--json", said="n\nq\n")
    _, state, _, summary = map(json.loads, done.stdout.splitlines())
    assert state["description"] == summary["description"]
    assert state["description"][0].startswith("Leading: ")
    told = json.loads(linkwise("status", fruit.path, "--json").stdout)
    assert told["description"] == summary["description"]
    cobras = linkwise("ask", fruit.path, "--method", "cobras", "--json", said="q\n")
    assert json.loads(cobras.stdout.splitlines()[-1])["description"] == []


@pytest.mark.slow
def test_the_truth_finds_the_groups(fruit, linkwise):
    table_truth = list(fruit.truth.values())
    linkwise("ask", fruit.path, *COBS, "--budget", 0)
    from linkwise.data import encode, read_table

    with Session.open(fruit.session, encode(read_table(fruit.path)).X) as session:
        for _ in range(12):
            if (q := session.question) is None:
                break
            session.answer(table_truth[q.first] == table_truth[q.second])
        assert len(set(zip(session.labels.tolist(), table_truth, strict=True))) == 3


@pytest.mark.slow
def test_the_methods_take_over_from_each_other(fruit, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    done = linkwise("ask", fruit.path, *COBS, "--noise", "nearest", said="y\nq\n")
    said = "ActiveCOBS, preset quick, noise nearest, seed 0 asks from now on"
    assert said in " ".join(done.stdout.split())
    assert "asks from now on" not in linkwise("ask", fruit.path, *COBS, said="q\n").stdout
    done = linkwise("ask", fruit.path, "--method", "cobras", said="q\n")
    assert "COBRAS, seed 0 asks from now on" in " ".join(done.stdout.split())
    assert "Leading" not in linkwise("status", fruit.path).stdout
    with Session.open(fruit.session) as session:
        assert [e.answer for e in session.history] == ["no", "yes"]


@pytest.mark.parametrize(
    ("options", "owner"),
    [
        (("--preset", "quick"), "cobs"),
        (("--noise", "nearest", "--method", "cobra"), "cobs"),
        (("--cache", "x"), "cobs"),
        (("--method", "cobs", "--super-instances", 3), "cobra"),
    ],
)
def test_options_of_another_method_are_wrong_use(fruit, linkwise, options, owner):
    done = linkwise("ask", fruit.path, *options)
    assert done.exit_code == 2
    assert f"is an option of {owner}, and the method is " in " ".join(done.stderr.split())
    assert not fruit.session.exists()


@pytest.mark.slow
def test_the_clusterings_are_kept_in_a_folder_if_wanted(fruit, tmp_path, linkwise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    linkwise("ask", fruit.path, *COBS, said="n\nq\n")
    assert not list(tmp_path.rglob("*.npz"))
    linkwise("ask", fruit.path, "--cache", "kept", said="q\n")
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 1
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    linkwise("ask", fruit.path, said="y\nq\n")
    assert len(list(tmp_path.rglob("*.npz"))) == 1  # found again from anywhere


# ---------------------------------------------------------------- while it prepares
@pytest.mark.slow
def test_bad_pairs_are_refused_before_anything_is_computed(fruit, tmp_path, linkwise, monkeypatch):
    pairs = tmp_path / "p.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\nf0,f3,cannot-link\n")
    linkwise("ask", fruit.path, "--session", tmp_path / "old.linkwise", *COBS, said="q\n")
    monkeypatch.setattr("linkwise.select.active_cobs.build_pool", None)
    for session in ("new.linkwise", "old.linkwise"):
        where = ("--session", tmp_path / session, *COBS)
        assert linkwise("ask", fruit.path, *where, "--constraints", pairs).exit_code == 4
        assert linkwise("ask", fruit.path, *where, "--from", tmp_path / "no.linkwise").exit_code == 3


@pytest.mark.slow
def test_an_interruption_while_it_prepares_loses_nothing(fruit, linkwise, monkeypatch):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("linkwise.select.active_cobs.build_pool", interrupted)
        done = linkwise("ask", fruit.path, *COBS)
        assert done.exit_code == 130
        assert "Interrupted before the first question" in done.stderr
        assert not fruit.session.exists()
    linkwise("ask", fruit.path, *COBS, said="n\nq\n")
    with monkeypatch.context() as patch:
        patch.setattr("linkwise.select.active_cobs.build_pool", interrupted)
        done = linkwise("ask", fruit.path)
        assert done.exit_code == 130
        assert f"saved in {fruit.session}. Go on with: linkwise ask {fruit.path}" in done.stderr
    assert "resumed: 1 answer" in linkwise("ask", fruit.path, said="q\n").stdout


@pytest.mark.slow
def test_progress_is_drawn_on_a_terminal_and_can_be_interrupted(tmp_path):
    fruit = write_fruit(tmp_path / "fruit.csv", rows=900)
    with on_terminal("ask", fruit.path, "--method", "cobs") as screen:
        screen.wait_for(" of 931")
        screen.press("\x03")
        assert screen.ended() == 130
        assert "Traceback" not in screen.plain()
    assert not fruit.session.exists()


@pytest.mark.slow
def test_no_progress_is_drawn_elsewhere(fruit, linkwise):
    done = linkwise("ask", fruit.path, *COBS, said="q\n")
    assert " of 246" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_session_begun_in_python_says_it_here(fruit, linkwise):
    from linkwise.data import encode, read_table

    table = read_table(fruit.path)
    learner = lw.ActiveCOBS(preset="quick", random_state=0)
    with Session.open(fruit.session, encode(table).X, learner, ids=table.ids) as session:
        session.answer("no")
    assert "fit every answer" in linkwise("status", fruit.path).stdout
