"""``linkwise ask FILE --set N``: what a person types about a screen, and what a program replies."""

import io
import json
import sys

import numpy as np
import pytest
from rich.console import Console

from linkwise.app.programs.child_process import UnusableLineError
from linkwise.app.programs.pile_replies import Piles, find_rows, parse_piles_reply, write_screen
from linkwise.app.programs.replies import UnusableReplyError
from linkwise.app.terminal.pile_entry import PileEntryError, list_letters, parse_piles
from linkwise.app.terminal.sorting_dialogue import draw_cards
from linkwise.data import Items
from linkwise.learn.gathering import Gathered
from linkwise.session.session import Session


# ---------------------------------------------------------------- what is typed
@pytest.mark.parametrize(
    ("text", "piles", "unsure"),
    [
        ("a 1 3 / b 2 / 4-5 / ?6", [["a", "1", "3"], ["b", "2"], ["4", "5"]], ["6"]),
        ("A 1,3/B 2/4-5 ?6", [["a", "1", "3"], ["b", "2"], ["4", "5"]], ["6"]),
        ("a b 1-6", [["a", "b", "1", "2", "3", "4", "5", "6"]], []),
        ("*", [["1"], ["2"], ["3"], ["4"], ["5"], ["6"]], []),
        ("a 1 / 2 3 *", [["a", "1"], ["2", "3"], ["4"], ["5"], ["6"]], []),
        ("?1-6", [], ["1", "2", "3", "4", "5", "6"]),
    ],
)
def test_piles_are_read(text, piles, unsure):
    assert parse_piles(text, 2, 6) == (piles, unsure)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2", r"Where do cards 3, 4, 5, 6 go\? Add \?3 if you are not sure, or end the line with \*"),
        ("1-5", r"Where does card 6 go\?"),
        ("1 1 / 2-6", "Card 1 is there twice. Put it into one pile"),
        ("1-6 7", "There is no card 7. The cards are 1 to 6, and the piles a to b"),
        ("1-6 c", "There is no card c"),
        ("1-6 / yes", "'yes' is neither a card nor a pile. Type piles such as a 1 3"),
        ("6-1", "Type the lower number first"),
        ("?a 1-6", "A pile that is there cannot be unsure"),
        ("", "Where do cards 1, 2, 3, 4, 5 and 1 more go"),
    ],
)
def test_a_line_that_is_no_answer_says_what_to_type(text, message):
    with pytest.raises(PileEntryError, match=message):
        parse_piles(text, 2, 6)


def test_piles_have_letters():
    assert list_letters(28)[::9] == ["a", "j", "s", "ab"]


# ---------------------------------------------------------------- the dialogue
def test_a_person_sorts_undoes_and_goes_on(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--set", "5", said="1\n?\nnote by colour\n1-2 / 3 *\nu\n1-3 *\nq\n")
    assert done.exit_code == 0
    assert "Where do cards 2, 3, 4, 5 go?" in done.stdout
    assert "Put cards 1 and 3 into pile a" in done.stdout
    assert "4 piles  saved." in done.stdout
    assert "taken back: 5 cards sorted into 4 piles, note: by colour" in done.stdout
    assert "Stopped." in done.stdout
    with Session.open(fruit.session) as session:
        (event,) = session.history
        assert [len(pile) for pile in event.sorting.piles] == [3, 1, 1]
        assert event.note == ""
    again = linkwise("ask", fruit.path, "--set", "5", "--budget", "1")
    assert "resumed: 1 answer: 1 screen of 5 cards" in again.stdout
    assert "limit is reached" in again.stdout
    pairs = linkwise("ask", fruit.path, said="y\nq\n")  # pairs and screens go together
    assert "1 same, 0 different, 0 not sure, 1 screen of 5 cards" in pairs.stdout


def test_a_contradiction_is_told_and_the_screen_stays(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--set", "4", "--error-rate", "0", said="1-2 / 3-4\nq\n")
    assert done.exit_code == 0
    with Session.open(fruit.session) as session:
        first, second = session.history[0].sorting.piles
    done = linkwise("ask", fruit.path, "--set", "9", "--json", said="q\n")
    shown = json.loads(done.stdout.splitlines()[0])
    letters = {each["rows"][0]: each["pile"] for each in shown["known"]}
    assert letters.keys() <= {*first, *second}
    if len(letters) > 1:
        done = linkwise("ask", fruit.path, "--set", "9", said=f"{' '.join(letters.values())} *\nq\n")
        assert "Not saved. This contradicts earlier answers" in done.stdout


def test_a_screen_as_json(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--set", "4", "--json", said="1 2 *\n9\nu\nq\n")
    shown, state, *_ = lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert shown["type"] == "screen"
    assert [card["card"] for card in shown["cards"]] == [1, 2, 3, 4]
    assert set(shown["cards"][0]["items"][0]) >= {"weight", "width", "colour"}
    assert (state["done"], state["piles"], state["screens"], state["answers"]) == ("sort", 3, 1, 1)
    undone = next(line for line in lines if line.get("done") == "undo")
    assert [len(pile) for pile in undone["undone"]["piles"]] == [2, 1, 1]
    assert any(line["type"] == "refused" for line in lines)
    assert lines[-1]["type"] == "summary"


def test_answers_of_screens_are_exported_as_pairs(fruit, linkwise, tmp_path):
    linkwise("ask", fruit.path, "--set", "4", said="1 2 *\nq\n")
    target = tmp_path / "answers.json"
    assert linkwise("export", fruit.path, "--answers", target).exit_code == 0
    answers = json.loads(target.read_text())
    assert [each["kind"] for each in answers] == ["sort"] * 4
    assert sorted(each["answer"] for each in answers) == ["no", "no", "no", "yes"]
    assert linkwise("status", fruit.path).exit_code == 0
    assert "taken back: 4 cards sorted into 3 piles" in linkwise("undo", fruit.path).stdout


def test_pictures_are_drawn_side_by_side():
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    items = Items("image", lambda row: {}, lambda row: b"", lambda row: pixels)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(draw_cards(items, [0, 1, 2, 3], ["a", "1", "2", "3"], "r{}".format, console))
    drawn = console.export_text()
    assert "a: r0" in drawn.splitlines()[0]
    assert "2: r2" in drawn.splitlines()[0]  # three of them fit side by side
    assert any(line.startswith("3: r3") for line in drawn.splitlines())


# ---------------------------------------------------------------- programs
SHOWN = Gathered(((10,), (11,)), (30, 31, 32))


def test_a_screen_for_a_program():
    assert write_screen(SHOWN, [f"c{n}" for n in range(40)], lambda row: {"x": row}) == {
        "kind": "piles",
        "items": [
            {"n": 1, "id": "c10", "row": {"x": 10}},
            {"n": 2, "id": "c11", "row": {"x": 11}},
            {"n": 3, "id": "c30", "row": {"x": 30}},
            {"n": 4, "id": "c31", "row": {"x": 31}},
            {"n": 5, "id": "c32", "row": {"x": 32}},
        ],
        "known": [[1], [2]],
    }


def test_items_are_rows():
    assert find_rows(Piles([[1, 3], [4]], [5]), SHOWN) == ([[10, 30], [31]], [32])


@pytest.mark.parametrize(
    ("piles", "unsure", "message"),
    [
        ([[1, 3, 4]], [], "Of its items 5 is missing"),
        ([[3, 4, 5, 6, 0]], [], "Of its items 0, 6 are unknown"),
        ([[3, 4, 5], [3]], [5], "Of its items 3, 5 are there twice"),
    ],
)
def test_missing_double_and_unknown_items_are_named(piles, unsure, message):
    with pytest.raises(UnusableReplyError, match=message):
        find_rows(Piles(piles, unsure), SHOWN)


@pytest.mark.parametrize(
    "line",
    [
        {"id": "1"},
        {"id": "1", "piles": 3},
        {"id": "1", "piles": [1, 2]},
        {"id": "1", "piles": [[True]]},
        {"id": "1", "piles": [], "unsure": 3},
        {"piles": []},
        {"id": "1", "error": "tired"},
    ],
)
def test_a_line_that_has_no_piles_is_unusable(line):
    with pytest.raises(UnusableLineError):
        parse_piles_reply(json.dumps(line).encode())


SORTER = """
import json, sys
n = 0
for line in sys.stdin:
    screen = json.loads(line)
    n += 1
    with open("asked", "a") as file:
        file.write(line)
    piles = {}
    for item in screen["items"]:
        piles.setdefault(int(item["id"][1:]) % 3, []).append(item["n"])
    piles = list(piles.values())
    if n % 4 == 1:
        piles[-1] = piles[-1][:-1]  # an item is missing
    reply = {"id": screen["id"], "piles": piles, "unsure": [], "cost": 0.5, "reason": "by id"}
    print(json.dumps(reply), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
def test_a_program_sorts_and_is_asked_once_more(fruit, linkwise, tmp_path, monkeypatch, parallel):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sorter.py").write_text(SORTER, encoding="utf-8")
    oracle = f"{sys.executable} sorter.py"
    done = linkwise(
        "ask", fruit.path, "--oracle", oracle, "--set", "6", "--budget", "3", "--parallel", parallel, "--json"
    )
    assert done.exit_code == 0
    program, summary = map(json.loads, done.stdout.splitlines())
    assert (program["answered"], program["failed"]) == (3, 0)
    assert summary["screens"] == summary["answers"] == 3
    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert set(asked[0]) == {"id", "kind", "items", "known", "guidelines"}
    assert program["cost"] == 0.5 * len(asked) > 1.5  # the wrong reply has its cost, too
    assert "missing" in done.stderr
    with Session.open(fruit.session) as session:
        assert {event.source for event in session.history} == {"sorter.py"}
        assert {event.note for event in session.history} == {"by id"}
        assert all(event.seconds > 0 for event in session.history)


@pytest.mark.slow
def test_a_program_that_never_sorts_is_given_up(fruit, linkwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad = SORTER.replace("piles = list(piles.values())", "piles = [[99]]").replace("n % 4 == 1", "False")
    (tmp_path / "bad.py").write_text(bad, encoding="utf-8")
    done = linkwise("ask", fruit.path, "--oracle", f"{sys.executable} bad.py", "--set", "3")
    assert done.exit_code != 0
    assert "99 is unknown" in done.stderr
    with Session.open(fruit.session) as session:
        assert session.history == []
