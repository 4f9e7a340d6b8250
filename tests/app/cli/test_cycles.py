"""`--cycles` on the command line: its proposal, the session's settings, a replay, and rows in many files."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

from linkwise.data import encode, from_frame
from linkwise.data.reading import Reading
from linkwise.large.chunks import find_files
from linkwise.large.group_table import read_groups
from linkwise.large.table_files import TableFiles
from linkwise.large.table_passes import summarize_tables
from linkwise.session.session import Session

N = 300


def make_messages(seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=N)
    hours = (np.array([0.0, 8, 14])[group] + rng.normal(0, 0.7, N)) % 24
    sent = [
        dt.datetime(2024, 1, 1) + dt.timedelta(days=int(day), minutes=int(hour * 60))
        for day, hour in zip(rng.integers(0, 900, N), hours, strict=True)
    ]
    return pl.DataFrame({"key": [f"m{seed}-{n}" for n in range(N)], "sent": sent, "size": rng.normal(size=N)})


@pytest.fixture
def path(tmp_path):
    make_messages().write_csv(tmp_path / "messages.csv")
    return tmp_path / "messages.csv"


def words(text):
    return " ".join(text.split())


def test_it_is_kept_by_the_session(path, tmp_path, linkwise):
    begun = words(linkwise("ask", path, "--as-is", said="n\nq\n").stdout)
    assert "cycle" not in begun
    refused = linkwise("ask", path, "--cycles", "sent=hour", said="q\n")
    assert (refused.exit_code, "without --cycles" in words(refused.stderr)) == (2, True)
    changed = linkwise("ask", path, "--cycles", "sent=hour", "--replay", said="q\n")
    assert changed.exit_code == 0, changed.stderr
    assert "Cycles by which rows are compared: sent (hour)." in words(changed.stdout)
    for options in ((), ("--cycles", "sent=hour")):
        resumed = words(linkwise("ask", path, *options, said="q\n").stdout)
        assert "resumed: 1 answer" in resumed
        assert "may follow" not in resumed
    with Session.open(tmp_path / "messages.csv.linkwise") as kept:
        assert kept.source["choices"]["cycles"] == ["sent=hour"]
        assert json.loads(json.dumps(kept.source)) == kept.source


def test_it_is_taken_from_the_values(path, linkwise):
    begun = words(linkwise("ask", path, said="n\nq\n").stdout)
    assert "the place in a cycle counts, too" in begun
    assert "messages.csv --cycles sent=hour --as-is" in begun


def test_what_does_not_go_with_it(path, linkwise):
    for options, code, message in (
        (("--cycles", "sen"), 3, "Did you mean 'sent'"),
        (("--cycles", "size"), 3, "Remove it from --cycles"),
        (("--cycles", "sent", "--series"), 2, "Remove --cycles"),
    ):
        done = linkwise("ask", path, *options)
        assert done.exit_code == code
        assert message in words(done.stderr)


def test_a_question_shows_the_day_of_the_week(path, linkwise):
    shown = linkwise("ask", path, "--cycles", "sent", said="q\n").stdout
    _, question = shown.split("Do these two belong together?")
    assert "sent (weekday)" in question
    assert "day  " in question
    assert "sent (hour)" not in question


def test_weights_by_name(path, linkwise):
    done = linkwise("ask", path, "--cycles", "sent", "--weight", "sent (hour)=2,sent=0", said="q\n")
    assert done.exit_code == 0, done.stderr
    assert "sent (hour) 2" in words(done.stdout)


# ---------------------------------------------------------------- rows in many files
def test_rows_in_files_are_encoded_as_those_of_a_table(tmp_path):
    frame = make_messages().with_columns(
        sent=pl.when(pl.int_range(N) == 7).then(None).otherwise(pl.col("sent"))
    )
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        frame[100 * number : 100 * number + 100].write_parquet(folder / f"part-{number}.parquet")
    choices = Reading(id_column="key", cycles=("sent",), impute="median")
    tables = TableFiles(find_files(folder), as_text=("key",), delimiter=None)
    items = summarize_tables(tables, choices, 50, 0, tmp_path / "items")
    whole = encode(from_frame(frame, id_column="key", cycles=["sent"]), impute="median")
    assert items.encoding.features == whole.features
    found = items.encoding.apply(frame.filter(pl.col("sent").is_not_null()), str)
    assert (found == np.delete(whole.X, 7, axis=0)).all()
    assert (items.encoding.apply(frame[7:8], str)[0, 2:] == 0).all()
    again = read_groups(tmp_path / "items")
    assert again.encoding.features == items.encoding.features
    assert (again.encoding.apply(frame[:5], str) == whole.X[:5]).all()


def test_items_are_asked_about_and_extended(tmp_path, linkwise):
    folder = tmp_path / "parts"
    folder.mkdir()
    make_messages().write_parquet(folder / "a.parquet")
    options = ("--terminal", "--id", "key", "--cycles", "sent", "--groups", 40)
    begun = linkwise("ask", folder, *options, said="n\ny\nq\n")
    assert begun.exit_code == 0, begun.stderr
    assert "sent (weekday)" in begun.stdout
    path = folder / "session.linkwise"
    make_messages(1).write_parquet(tmp_path / "b.parquet")
    added = linkwise("extend", path, tmp_path / "b.parquet")
    assert added.exit_code == 0, added.stderr
    assert "rules put" in linkwise("explain", path).stdout
    out = linkwise("export", path, "--labels", tmp_path / "out")
    assert out.exit_code == 0, out.stderr
    assert "600 rows in" in out.stderr
