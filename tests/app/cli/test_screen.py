"""What the screens look like, letter by letter, at 80 columns without colour."""

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.app.terminal.console import LINES_AROUND, Terminal
from linkwise.learn.advice import StopAdvice
from linkwise.learn.learner import Question
from linkwise.session.session import Status
from linkwise.wording import quote_command, strip_controls


def drawn(what, width=80):
    """Lines as a terminal without colour shows them, blanks at the ends taken off."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    console.print(what, highlight=False)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def status(sizes=(71, 59, 48), **counts):
    zero = dict.fromkeys(("n_yes", "n_no", "n_unsure", "n_volunteered", "n_imported"), 0)
    said = {**zero, **counts}
    n_answers = said["n_yes"] + said["n_no"] + said["n_unsure"]
    return Status(n_rows=sum(sizes), n_answers=n_answers, cluster_sizes=sizes, reason=None, **said)


WINES = (
    {"alcohol": "14.1", "hue": "1.07", "grape": "Barolo", "note": "missing"},
    {"alcohol": "12.72", "hue": "1.07", "grape": "Grignolino", "note": "missing"},
)


def test_a_pair():
    rows = screen.pair_rows(*WINES, {"alcohol": (0.8, 0.45), "hue": (0.5, 0.5)})
    assert drawn(screen.pair_table(("w48", "w81"), rows, width=80, most=15)) == (
        "            1: w48   2: w81      lowest       highest\n"
        "≠  alcohol  14.1     12.72       ·········2·····1····\n"
        "   hue      1.07     1.07        ··········=·········\n"
        "≠  grape    Barolo   Grignolino\n"
        "   note     missing  missing\n"
    )


def test_a_narrow_terminal_has_no_room_for_the_scale():
    rows = screen.pair_rows(*WINES, {"alcohol": (0.8, 0.45)})
    assert drawn(screen.pair_table(("w48", "w81"), rows, width=40, most=15), 40) == (
        "            1: w48   2: w81\n"
        "≠  alcohol  14.1     12.72\n"
        "   hue      1.07     1.07\n"
        "≠  grape    Barolo   Grignolino\n"
        "   note     missing  missing\n"
    )


def test_of_many_columns_those_that_differ_most_come_first_and_the_rest_is_counted():
    first = {f"column {j}": "0" for j in range(50)}
    second = {**first, "column 9": "1", "column 30": "2", "column 31": "1", "column 40": "two"}
    places = {"column 9": (0.1, 0.3), "column 30": (0.0, 0.9), "column 31": (0.9, 0.4)}
    rows = screen.pair_rows(first, second, places)
    assert drawn(screen.pair_table(("a", "b"), rows, width=70, most=7)) == (
        "              1: a  2: b\n"
        "≠  column 40  0     two\n"
        "≠  column 30  0     2\n"
        "≠  column 31  0     1\n"
        "≠  column 9   0     1\n"
        "   column 0   0     0\n"
        "   column 1   0     0\n"
        "… 44 more columns, the same in both\n"
    )
    few = screen.pair_table(("a", "b"), rows, width=80, most=4)
    assert drawn(few).splitlines()[-1] == "… 47 more columns: 1 differs, 46 the same in both"
    few = screen.pair_table(("a", "b"), [row for row in rows if row.differs], width=80, most=3)
    assert drawn(few).splitlines()[-1] == "… 2 more columns, differing less"


def test_long_texts_are_wrapped_and_cut_where_they_begin_to_differ():
    same = "the quick brown fox jumps over the lazy dog " * 12
    rows = screen.pair_rows({"text": f"{same}and sleeps"}, {"text": f"{same}and barks {same}"})
    shown = drawn(screen.pair_table(("a", "b"), rows, width=80, most=15))
    assert "sleeps" in shown
    assert "barks" in shown
    assert "…" in shown
    assert len(shown.splitlines()) <= screen.MOST_LINES + 3
    assert max(map(cell_len, shown.splitlines())) <= 80


def test_heading_and_keys():
    assert drawn(screen.draw_heading(status(), None)) == "Question 1 " + 69 * "─" + "\n"
    assert drawn(screen.draw_heading(status(n_yes=9, n_no=4, n_unsure=1), 20)) == (
        "Question 15 of 20 · 14 answers: 9 same, 4 different, 1 not sure " + 16 * "─" + "\n"
    )
    assert drawn(screen.keys_line()) == (
        "y same   n different   s not sure   u undo   q quit   ? help, reason\n"
    )
    with_later = drawn(screen.keys_line(with_later=True))
    assert with_later == "y same   n different   s not sure   l later   u undo   q quit   ? help, reason\n"
    for with_suspects in (True, False):
        assert len(drawn(screen.keys_line(with_suspects=with_suspects, with_later=True))) <= 80


def test_clusters():
    assert drawn(screen.draw_cluster_bars((48, 71, 59), width=80)) == (
        "3 clusters of 178 rows\n"
        "   0  48  ███████████████████████████\n"
        "   1  71  ████████████████████████████████████████\n"
        "   2  59  █████████████████████████████████\n"
    )
    assert drawn(screen.draw_cluster_bars((3, 48, 71), width=30, numbers=(-1, 4, 12))) == (
        "3 clusters of 122 rows\nnone   3  █\n   4  48  ████████\n  12  71  ████████████\n"
    )
    many = drawn(screen.draw_cluster_bars((100, *range(1, 20)), width=30)).splitlines()
    assert many[0] == "20 clusters of 290 rows"
    assert many[-1] == "   …  13 smaller clusters, 91 rows"
    assert len(many) == 9


def test_help():
    assert drawn(screen.help_text("They are the two closest parts.")) == (
        "Judge by your own purpose: only your answers decide what a cluster is.\n"
        " y  Same: the two rows belong together\n"
        " n  Different: they do not\n"
        " s  Not sure: nothing follows, and the pair is not asked again\n"
        " u  Undo the last answer, as often as you like\n"
        " a  Add a note to the answer that you give next; a note without words removes it\n"
        " c  Clusters: the largest, or those that you type, such as 31-60, 12 or a name\n"
        " q  Quit; every answer is saved, and you can go on later\n"
        "Why this question: They are the two closest parts.\n"
    )
    line = " d  Apply the columns or weights that are proposed, or take the weights back\n"
    assert line in drawn(screen.help_text("", with_columns=True), width=100)


@pytest.mark.parametrize(
    ("advice", "words"),
    [
        (StopAdvice(True, None), ["You can stop here."]),
        (StopAdvice(False, 0.0), []),
        (StopAdvice(False, None, n_open=2), ["2 pairs of clusters may be one."]),
        (
            StopAdvice(True, 0.0, 1.0),
            [
                "You can stop here: almost none of 2 rows may be in a wrong cluster, and probably",
                "at most 2.",
            ],
        ),
    ],
    ids=["stop", "go on", "open", "two lines"],
)
def test_advice_is_shown_with_the_question(advice, words):
    console = Console(file=io.StringIO(), width=80, height=24, color_system=None, force_terminal=False)
    lines = []
    terminal = Terminal(console, lambda question, width, most: lines.append(most) or "the pair", str)
    labels = np.zeros(2, dtype=np.int32)
    found = replace(status((2,)), advice=advice)
    terminal.ask(Question(0, 1, labels, "They are near."), "0:0-1", found)
    shown = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert shown[2 : shown.index("Do these two belong together?")] == words
    assert lines == [24 - LINES_AROUND - len(words)]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("quit", "Stopped."),
        ("budget", "The question limit is reached."),
        (
            "exhausted",
            "There are no more questions. No further answer would change the clusters.",
        ),
    ],
)
def test_the_end(reason, words):
    assert drawn(screen.draw_ending(reason, status((2, 1), n_yes=1, n_no=1, n_imported=3), width=80)) == (
        f"{words}\n"
        "2 answers: 1 same, 1 different, 0 not sure; 3 pairs imported\n"
        "2 clusters of 3 rows\n"
        "   0  2  ████████████████████████████████████████\n"
        "   1  1  ████████████████████\n"
    )


def test_the_end_where_the_person_was_not_sure():
    said = drawn(screen.draw_ending("exhausted", status((2, 1), n_no=1, n_unsure=1), width=80))
    assert "Only pairs answered as not sure could still change the clusters." in said.replace("\n", " ")
    assert "No further answer" not in said


def test_what_can_be_done_next_stands_on_lines_of_its_own():
    path = "/a/very/long path/" + 80 * "x"
    lines = screen.list_next_steps(
        [("go on", quote_command("linkwise", "ask", path)), ("labels", "linkwise export x")]
    )
    assert [line.plain for line in lines] == [f"go on   linkwise ask '{path}'", "labels  linkwise export x"]


def test_a_picture():
    assert screen.draw_picture([[0, 4, 8], [12, 16, 20]], 16) == ["  ░░▒▒", "▓▓████"]
    pair = screen.picture_pair(("row 1", "row 2"), ["  ██"], ["██  "])
    assert drawn(pair) == "row 1     row 2\n┌────┐    ┌────┐\n│  ██│    │██  │\n└────┘    └────┘\n"


# ---------------------------------------------------------------- any data
texts = st.text(max_size=200)


@pytest.mark.slow
@given(st.dictionaries(texts, st.tuples(texts, texts), max_size=30), st.integers(30, 120), st.integers(3, 30))
def test_any_data_fit_the_screen(columns, width, most):
    first, second = ({n: pair[at] for n, pair in columns.items()} for at in (0, 1))
    table = screen.pair_table(("a", "b" * 99), screen.pair_rows(first, second), width=width, most=most)
    lines = drawn(table, width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert len(lines) <= 2 + max(most, screen.MOST_LINES) * 2  # words wrapped early may take more


@pytest.mark.slow
@given(st.text())
def test_text_from_data_cannot_steer_the_terminal(text):
    shown = strip_controls(text)
    assert all(c.isprintable() or c in screen.JOINERS for c in shown)
    assert len(shown) <= len(text)


@pytest.mark.slow
@given(texts, texts, st.integers(8, 60))
def test_excerpts_fit_and_show_the_first_difference(first, second, cells):
    first, second = strip_controls(first), strip_controls(second)
    one, other = screen.excerpts(first, second, cells)
    assert max(cell_len(one), cell_len(other)) <= max(cells, 1)
    prefix = first.startswith(second) or second.startswith(first)
    assert (one == other) <= (first == second or prefix)


def test_what_is_missing_is_not_drawn_on_the_scale():
    places = {"income": (0.5, 0.75), "age": (0.0, 1.0), "height": (0.5, 0.5)}
    first = {"income": "missing", "age": "7", "height": "missing"}
    rows = screen.pair_rows(first, {"income": "30", "age": "9", "height": "missing"}, places)
    assert [row.places for row in rows] == [(None, 0.75), (0.0, 1.0), (None, None)]
    assert rows[0].gap == 1.0
    tracks = [
        line[-screen.TRACK_WIDTH :]
        for line in drawn(screen.pair_table(("a", "b"), rows, width=80, most=9)).splitlines()
    ]
    assert tracks[1:] == ["·" * 14 + "2" + "·" * 5, "1" + "·" * 18 + "2", "·" * 20]


# ---------------------------------------------------------------- long names
@pytest.mark.parametrize(
    ("names", "cells", "short"),
    [
        (["Salary (adjusted)", "x"], 12, ["Salary…sted)", "x"]),
        (["mean salary adjusted", "mean salary unadjusted"], 13, ["…ary adjusted", "…ary unadjus…"]),
        (["first part of the last", "first half of the last"], 12, ["…rst part o…", "…rst half o…"]),
        (["the same long name", "the same long name"], 13, ["the sa…g name", "the sa…g name"]),
        (["日本語の長い列名です", "b"], 13, ["日本語…名です", "b"]),
    ],
    ids=["the middle", "near the end", "in the middle", "twice", "wide letters"],
)
def test_long_names_stay_distinguishable(names, cells, short):
    found = screen.truncate_names(names, cells)
    assert found == short
    assert max(map(cell_len, found)) <= cells


def test_letters_that_differ_are_underlined():
    def underline(first, second):
        texts = Text(first), Text(second)
        screen._underline_letters(*texts)
        return [[text.plain[span.start : span.end] for span in text.spans] for text in texts]

    assert underline("Ann Stone", "Ann Store") == [["n"], ["r"]]
    assert underline("Ely", "Bath") == [[], []], "they have too little in common"
