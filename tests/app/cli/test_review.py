"""``linkwise review``: a person decides what others disagree on."""

import json

import pytest

import linkwise as lw


@pytest.fixture
def disputed(fruit, linkwise):
    """A session in which anna and ben disagree on two pairs."""
    linkwise("ask", fruit.path, "--error-rate", "0.1", said="q\n")
    with lw.Session.open(fruit.session) as session:
        session.set_guidelines("Same flavour.")
        for first, second in ((0, 3), (1, 4)):
            session.add(first, second, "must-link", source="anna")
            session.add(first, second, "cannot-link", source="ben")
    return fruit


def words(done):
    return " ".join((done.stdout + done.stderr).split())


def test_the_terminal_shows_who_answered_what_and_stores_decisions(linkwise, disputed):
    done = linkwise("review", disputed.path, "--source", "carla", said="y\nn\n")
    assert done.exit_code == 0
    told = words(done)
    assert "Guidelines: what belongs together here Same flavour." in told
    assert "Review: 2 pairs left" in told
    assert "1: f0" in told
    with lw.Session.open(disputed.session) as session:
        anna = session.history[0]
        assert f"anna: Same, {anna.when[:10]} {anna.when[11:16]} UTC" in told
        assert [(e.answer, e.source, e.is_sure) for e in session.history[4:]] == [
            ("yes", "carla", True),
            ("no", "carla", True),
        ]
    assert "Same saved certain from now on" in told
    assert "No pair needs a review." in told


def test_not_sure_undo_help_and_quit(linkwise, disputed):
    done = linkwise("review", disputed.session, said="u\n?\nwhat\ng\ny\nu\nu\ns\nq\n")
    told = words(done)
    assert told.count("undo There is nothing to undo.") == 2  # before the first decision and after its undo
    assert "Your word outranks them." in told
    assert "'what' is not an answer. Type y, n, s, u, q or ?." in told
    assert told.count("Same flavour.") == 2
    assert "undo taken back: Same for f0 and f3, added" in told
    assert "Not sure saved Review: 1 pair left" in told
    assert "Stopped." in told
    assert f"take back the last decision linkwise undo {disputed.session}" in told
    with lw.Session.open(disputed.session) as session:
        assert [(e.answer, e.source) for e in session.history[4:]] == [("unsure", "reviewer")]
        assert len(session.review("reviewer")) == 1


def test_a_pair_that_became_certain_waits_no_longer(linkwise, disputed):
    with lw.Session.open(disputed.session) as session:
        session.import_constraints(lw.Constraints(session.n_rows, [(0, 6), (6, 3)], [(1, 7)]))
        session.import_constraints(lw.Constraints(session.n_rows, [(4, 7)]))
    done = linkwise("review", disputed.path, said="y\n")
    assert "No pair needs a review." in words(done)
    assert "pairs left" not in words(done)


def test_the_stream(linkwise, disputed):
    done = linkwise("review", disputed.path, "--json", "--source", "carla", said="y\nx\nu\ns\ng\nn\n")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [
        "case",
        "state",
        "case",
        "refused",
        "state",
        "case",
        "state",
        "case",
        "guidelines",
        "state",
        "summary",
    ]
    assert [one["type"] for one in found] == kinds
    case = found[0]
    assert (case["ids"], case["disputed"], case["left"]) == (["f0", "f3"], True, 2)
    assert [(a["source"], a["answer"]) for a in case["answers"]] == [("anna", "yes"), ("ben", "no")]
    assert case["answers"][0]["when"].endswith("+00:00")
    assert case["items"][0]["colour"] == "green"
    assert found[4]["undone"]["source"] == "carla"
    assert found[-1]["reason"] == "exhausted"


def test_a_session_that_takes_all_answers_as_right(linkwise, fruit):
    linkwise("ask", fruit.path, "--error-rate", "0", said="q\n")
    told = words(linkwise("review", fruit.path, said="y\n"))
    assert "This session treats every answer as correct, so no pair needs a review." in told


def test_there_must_be_a_session(linkwise, fruit):
    done = linkwise("review", fruit.path)
    assert done.exit_code == 3
    assert "Begin one with: linkwise ask" in done.stderr


def test_a_note_goes_with_the_decision(linkwise, disputed):
    done = linkwise("review", disputed.path, "--source", "carla", said="a same taste\ny\na\nn\n")
    told = words(done)
    assert "note It is saved with your decision: same taste" in told
    assert "note It is removed." in told
    with lw.Session.open(disputed.session) as session:
        decided = session.history[4:]
        assert [(e.answer, e.note) for e in decided] == [("yes", "same taste"), ("no", "")]


def test_a_note_on_the_stream(linkwise, disputed):
    done = linkwise("review", disputed.path, "--json", said=f"a why\na {'x' * 3000}\ny\nq\n")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["type"] for one in found[:4]] == ["case", "note", "refused", "state"]
    with lw.Session.open(disputed.session) as session:
        assert session.history[4].note == "why"


def test_status_counts_the_pairs_that_wait(linkwise, disputed):
    told = "".join(linkwise("status", disputed.path).stdout.split())  # lines break a long path
    assert f"2pairstoreview:linkwisereview{disputed.session}" in told
    assert json.loads(linkwise("status", disputed.path, "--json").stdout)["review"] == 2
    linkwise("review", disputed.path, said="y\nn\n")
    assert "to review" not in words(linkwise("status", disputed.path))
    assert json.loads(linkwise("status", disputed.path, "--json").stdout)["review"] == 0


# ---------------------------------------------------------------- cards of screens
@pytest.fixture
def sorted_fruit(fruit, linkwise):
    """A session in which anna has put f10 among the rows of another kind."""
    linkwise("ask", fruit.path, "--error-rate", "0.1", said="q\n")
    with lw.Session.open(fruit.session) as session:
        session.sort([[0, 3, 6], [1, 4, 7], [2, 5]], source="anna")
        session.sort([[0, 9, 12, 10], [1, 13]], source="anna")
    return fruit


@pytest.mark.parametrize(
    ("key", "word", "decided"),
    [
        ("y", "It stays", [(10, 0, "yes")]),
        ("n", "It moves", [(10, 1, "yes")]),
        ("x", "It belongs to neither", [(10, 1, "no"), (10, 0, "no")]),
        ("neither", "It belongs to neither", [(10, 1, "no"), (10, 0, "no")]),
    ],
)
def test_a_card_is_shown_with_both_piles_and_decided_by_a_key(linkwise, sorted_fruit, key, word, decided):
    told = words(linkwise("review", sorted_fruit.path, "--source", "carla", said=f"{key}\n"))
    assert "Review: 1 case left" in told
    assert "? f10 weight 102 · width 5.03 · colour red y f0 weight 0" in told
    assert "n f1 weight 101.2 · width 4.86 · colour red n f13" in told
    assert "anna: sorted these rows, " in told
    assert "It is in a pile with f0, f9, f12, and probably belongs with f1, f13." in told
    assert f"{word} saved certain from now on No pair needs a review." in told
    with lw.Session.open(sorted_fruit.session) as session:
        events = session.history[2:]
        assert [(event.first, event.second, event.answer) for event in events] == decided
        assert {(event.source, event.is_sure) for event in events} == {("carla", True)}


def test_neither_is_no_answer_to_a_pair(linkwise, disputed):
    told = words(linkwise("review", disputed.path, said="x\n?\nq\n"))
    assert "Not saved. 'x' is not an answer." in told
    assert "x says that it belongs to neither" in told


def test_the_stream_names_the_card_and_its_piles(linkwise, sorted_fruit):
    done = linkwise("review", sorted_fruit.path, "--json", said="x\n")
    case, state, _ = [json.loads(line) for line in done.stdout.splitlines()]
    (suspect,) = case["suspects"]
    assert (suspect["card"], suspect["pile"], suspect["better_pile"]) == (
        "f10",
        ["f0", "f9", "f12"],
        ["f1", "f13"],
    )
    assert [answer["kind"] for answer in case["answers"]] == ["sort"]
    assert state["done"] == "neither"
