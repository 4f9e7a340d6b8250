"""The clusters that a person asks for in the dialogue: on the screen, in pipes, as JSON, and by keys."""

import json
import os
import pty

import numpy as np
import pytest

from app.cli.test_screen import drawn
from linkwise.app.terminal import screen
from linkwise.app.terminal.cluster_query import list_clusters
from linkwise.app.terminal.keys import KeyReader, parse_cluster_command, parse_command
from linkwise.session.session import Session
from pseudo_terminal import PROMPT, on_terminal

SIZES = [*range(70, 2, -1), 1, 2]  # 70 clusters: the last two are not in order
LABELS = np.repeat(np.arange(70), SIZES).astype(np.int32)
NAMES = {0: "Barolo", 34: "old barolo", 68: "12 left"}


def ranks(wanted, labels=LABELS, names=NAMES):
    listing = list_clusters(wanted, labels, names, "row {}".format)
    return [cluster.rank for cluster in listing.clusters], listing.n_more


@pytest.mark.parametrize(
    ("wanted", "listed", "more"),
    [
        ("", range(1, 31), 40),
        ("  ", range(1, 31), 40),
        ("31-60", range(31, 61), 10),
        ("60 – 31", range(31, 61), 10),
        ("0-2", range(1, 3), 68),
        ("0-0", range(1, 2), 69),
        ("69-900", range(69, 71), 0),
        ("71-80", [], 0),
        ("barolo", [1, 35], 0),
        ("cluster 68", [70], 0),
        ("cluster", range(1, 31), 40),
        ("nothing", [], 0),
    ],
)
def test_the_largest_a_range_and_a_search(wanted, listed, more):
    assert ranks(wanted) == (list(listed), more)


def test_a_range_is_not_endless():
    labels = np.arange(1000, dtype=np.int32)
    assert ranks("1-999999999", labels, {}) == (list(range(1, 301)), 700)
    assert ranks("900-999999999", labels, {}) == (list(range(900, 1001)), 0)


def test_a_number_finds_a_cluster_a_name_and_a_row():
    listing = list_clusters("12", LABELS, NAMES, "row {}".format)
    assert [cluster.number for cluster in listing.clusters] == [0, 12, 68]
    assert [cluster.found and (cluster.found.count, cluster.found.rows) for cluster in listing.clusters] == [
        (1, [12]),
        None,
        None,
    ]


def test_clusters_are_ranked_by_size_and_then_by_number():
    listing = list_clusters("", np.array([-1, 3, 3, 1, 1, 0], dtype=np.int32), {}, str)
    assert [(c.rank, c.number, c.size) for c in listing.clusters] == [
        (1, 1, 2),
        (2, 3, 2),
        (3, -1, 1),
        (4, 0, 1),
    ]


def test_what_is_listed():
    first = int(np.flatnonzero(LABELS == 32)[0])
    listing = list_clusters("33-35", LABELS, {**NAMES, 33: "a\x1b[31m\nb"}, "row {}".format)
    assert drawn(screen.draw_clusters(listing, "row {}".format)) == (
        "Clusters 33 to 35 of 70, the largest first\n"
        "cluster  rows\n"
        f"     32    38  row {first}, row {first + 1}, row {first + 2} and 35 more\n"
        "     33    37  a·[31m b\n"
        "     34    36  old barolo\n"
        "   …  35 more, for example: clusters 36-65\n"
    )
    listing = list_clusters("69-70", LABELS, NAMES, "row {}".format)
    assert drawn(screen.draw_clusters(listing, "row {}".format)) == (
        "Clusters 69 to 70 of 70, the largest first\n"
        "cluster  rows\n"
        f"     69     2  row {len(LABELS) - 2}, row {len(LABELS) - 1}\n"
        "     68     1  12 left\n"
    )
    listing = list_clusters("90-99", LABELS, NAMES, "row {}".format)
    assert drawn(screen.draw_clusters(listing, "row {}".format)) == "There are only 70 clusters.\n"


def test_what_a_search_found():
    name_of = ["ant", "bee", "ant 2", "ant 3", "ant 4", "cow"].__getitem__
    listing = list_clusters("ant", np.array([1, 0, 1, 1, 1, 2], dtype=np.int32), {2: "Antlers"}, name_of)
    assert drawn(screen.draw_clusters(listing, name_of)) == (
        "ant: 2 of 3 clusters\n"
        "cluster  rows\n"
        "      1     4  ant, ant 2, ant 3 and 1 more\n"
        "      2     1  Antlers\n"
    )
    listing = list_clusters("zebra", np.zeros(6, dtype=np.int32), {0: "all"}, name_of)
    assert drawn(screen.draw_clusters(listing, name_of)) == "zebra: 0 of 1 cluster\n"
    listing = list_clusters("an", np.zeros(6, dtype=np.int32), {0: "all"}, name_of)
    assert "      0     6  all: ant, ant 2, ant 3 and 1 more\n" in drawn(
        screen.draw_clusters(listing, name_of)
    )


def test_the_bars_name_the_key_from_thirty_clusters_on():
    def last(n, **more):
        return drawn(screen.draw_cluster_bars([2] * n, width=80, **more)).splitlines()[-1]

    assert last(29, key="c") == "   …  22 smaller clusters, 44 rows"
    assert last(30, key="c") == "   …  23 smaller clusters, 46 rows  (c lists clusters)"
    assert last(30) == "   …  23 smaller clusters, 46 rows"  # where the dialogue has ended


def test_the_command():
    assert [parse_cluster_command(line) for line in ("c", " Clusters ", "clusters 31-60", "C old  wine")] == [
        "",
        "",
        "31-60",
        "old  wine",
    ]
    assert [parse_cluster_command(line) for line in ("", "y", "cluster 3", "cc", "clusters31")] == [None] * 5
    assert parse_command("c") is None


# ---------------------------------------------------------------- in the dialogue
def test_clusters_are_shown_and_nothing_is_stored(fruit, linkwise):
    done = linkwise("ask", fruit.path, said="clusters\nclusters 1-2\nc f1\nc no such thing\nq\n")
    assert done.exit_code == 0
    assert "Not saved" not in done.stdout
    assert done.stdout.count("the largest first") == 2
    assert "Clusters 1 to 2 of" in done.stdout
    assert "f1: 1 of" in done.stdout
    assert "no such thing: 0 of" in done.stdout
    with Session.open(fruit.session) as session:
        assert session.events == []


def test_a_program_gets_clusters_as_json(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--json", said="clusters f1\nclusters 2-2\nq\n")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["question", "clusters", "clusters", "summary"]
    sizes = lines[-1]["clusters"]
    found, second = lines[1:3]
    (cluster,) = found["clusters"]
    assert (cluster["ids"], cluster["found"], cluster["name"]) == (["f1"], 1, None)
    assert cluster["rows"] == sizes[cluster["cluster"]]
    assert found["of"] == second["of"] == len(sizes)
    assert [c["rows"] for c in second["clusters"]] == sorted(sizes, reverse=True)[1:2]
    assert second["more"] == max(0, len(sizes) - 2)
    assert second["clusters"][0].keys() == {"cluster", "rows", "name"}


def test_a_key_begins_the_line_that_says_which_clusters(fruit):
    with on_terminal("ask", fruit.path) as shown:
        shown.start()
        shown.wait_for(PROMPT)
        shown.press("c")
        shown.wait_for("clusters ")
        shown.press("1-\x7f-2\n")  # the terminal takes a letter back
        shown.wait_for("Clusters 1 to 2 of")
        shown.wait_for("> ")
        shown.press("c")
        shown.wait_for("clusters ")
        shown.press("\n")
        shown.wait_for("the largest first")
        shown.wait_for("> ")
        shown.press("y")  # single keys again
        shown.wait_for("Same  saved")
        shown.wait_for(PROMPT)
        shown.press("c")
        shown.wait_for("clusters ")
        shown.press("\x04")  # the end of this line, not of the dialogue
        shown.wait_for("the largest first")
        shown.press("q")
        shown.wait_for("Stopped.")
        assert shown.ended() == 0


def test_an_answer_that_is_typed_with_the_line_does_not_answer():
    master, slave = pty.openpty()
    try:
        with KeyReader(slave) as keys:
            os.write(master, b"cold wine\n")
            assert keys.read() == "clusters old wine"
    finally:
        os.close(master)
        os.close(slave)
