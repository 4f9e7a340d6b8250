"""The counter of walks sees every file that a walk opens, in all threads, and repeats its counts."""

from threading import Thread

from tools.count_walks import count_calls, count_walk

from linkwise.constraints.constraints import Constraints


def link_two_rows():
    Constraints(3, must_link=[(0, 1)])


def link_in_a_thread():
    thread = Thread(target=link_two_rows)
    thread.start()
    thread.join()


def test_repeated_counts():
    counts = count_walk("encoding")
    assert counts["data/encoding/matrix.py"] == 0  # the walk itself calls it
    assert counts["data/encoding/encoded.py"] > 0
    assert count_walk("encoding") == counts


def test_all_threads_count():
    counts = count_calls(link_two_rows)
    assert counts["constraints/checks.py"] > 0
    assert count_calls(link_in_a_thread) == counts


def test_an_answer_is_stored():
    assert count_walk("answer").get("session/state/moves.py")  # a refused answer moves no rows
