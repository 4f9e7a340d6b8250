"""Rows that arrive later: those that fit a group, and those that become groups of their own."""

import fcntl
import json
import os
import shutil
from contextlib import closing

import numpy as np
import polars as pl
import pytest

from item_files import N_ROWS, answer_by_kind, ask, count_calls, kill_in_a_pass, kind, small_blocks
from linkwise.app.project import arrived_rows, group_files, group_rows
from linkwise.large import new_rows, repeated_rows, table_files
from linkwise.large.group_table import read_groups
from linkwise.session.data import SessionData
from linkwise.session.journal.store import Store
from linkwise.session.session import Session
from running_command import start_command

__all__ = ["ask", "kind", "small_blocks"]


@pytest.fixture(scope="module")
def first_session(tmp_path_factory):
    """A folder for the session that the first test makes, and that others copy."""
    return tmp_path_factory.mktemp("first") / "session"


@pytest.fixture
def path(ask, tmp_path, first_session):
    """A session about 50 groups of three files."""
    if first_session.exists():
        shutil.copytree(first_session, tmp_path, dirs_exist_ok=True)
    else:
        assert ask("--groups", 50, "--show", "remark").exit_code == 0
        shutil.copytree(tmp_path, first_session)
    return tmp_path / "events.linkwise"


def write_new(file, n_like, n_other, first=2000):
    """Some rows like those of the session, and some far away from all of them; returns their kinds."""
    rng = np.random.default_rng(first)
    old = pl.read_parquet(file.parent / "events" / "part-0.parquet").drop_nulls("amount")
    like = old.sample(n_like, with_replacement=True, seed=first)
    other = old.sample(n_other, with_replacement=True, seed=first).with_columns(
        amount=pl.Series(rng.normal(900, 3, size=n_other)), colour=pl.lit("green")
    )
    keys = pl.Series([f"e{first + at}" for at in range(n_like + n_other)], dtype=pl.String)
    frame = pl.concat([like, other]).sample(fraction=1, shuffle=True, seed=first).with_columns(key=keys)
    frame.write_parquet(file)
    return np.where(frame["amount"] > 500, 3, np.round(frame["amount"] / 100)).astype(int)


def export(linkwise, path, folder):
    assert linkwise("export", path, "--labels", folder).exit_code == 0
    return pl.read_parquet(sorted(folder.glob("*.parquet")))


# ---------------------------------------------------------------- what is said
def test_rows_that_fit_nothing_are_counted_by_file(linkwise, path, tmp_path):
    (tmp_path / "later").mkdir()
    write_new(tmp_path / "monday.parquet", 100, 20)
    write_new(tmp_path / "tuesday.parquet", 100, 3, first=3000)
    write_new(tmp_path / "wednesday.parquet", 50, 0, first=4000)
    for day in ("monday", "tuesday", "wednesday"):
        (tmp_path / f"{day}.parquet").rename(tmp_path / "later" / f"{day}.parquet")
    told = " ".join(linkwise("extend", path, tmp_path / "later").stderr.split())
    assert "273 rows in 3 files added" in told
    assert "23 rows fit no group: 20 in monday.parquet, 3 in tuesday.parquet" in told
    assert "as 5 new groups: linkwise ask" in told
    state = " ".join(linkwise("status", path).stdout.split())
    assert f"{N_ROWS + 273} in 55 groups" in state


def test_rows_that_all_fit(linkwise, path, tmp_path):
    write_new(tmp_path / "later.parquet", 100, 0)
    found = linkwise("extend", path, tmp_path / "later.parquet")
    assert "All of them fit a group." in found.stderr
    assert read_groups(tmp_path / "events.linkwise.d").summary.sizes.sum() == N_ROWS + 100


def test_json(linkwise, path, tmp_path):
    write_new(tmp_path / "later.parquet", 40, 1)
    found = json.loads(linkwise("extend", path, tmp_path / "later.parquet", "--json").stdout)
    assert found == {
        "type": "extend",
        "session": str(path),
        "rows": 41,
        "unfit": {"later.parquet": 1},
        "new_groups": 1,
    }


def test_labels_of_new_rows_say_which_fit(linkwise, path, tmp_path):
    kinds = write_new(tmp_path / "later.parquet", 300, 7)
    for _ in range(2):  # again, the labels are there, and so are the numbers
        found = linkwise("export", path, "--new", tmp_path / "later.parquet", "--labels", tmp_path / "new")
        assert "7 rows fit no group, in later.parquet" in " ".join(found.stderr.split())
        assert "linkwise extend" in found.stderr
    labels = pl.read_parquet(sorted((tmp_path / "new").glob("*.parquet")))
    assert labels["fits"].to_list() == (kinds < 3).tolist()


# ---------------------------------------------------------------- what becomes of them
def test_new_items_are_asked_about_and_answers_and_clusters_stay(linkwise, path, tmp_path, kind):
    answer_by_kind(linkwise, path, kind, 7)
    with Session.open(path) as session:
        before, labels, ids = session.history, session.labels, session.ids
        session.set_name(0, "first")
        names = session.cluster_names
    kinds = np.concatenate([kind, np.zeros(1100, dtype=int), write_new(tmp_path / "later.parquet", 100, 30)])
    linkwise("extend", path, tmp_path / "later.parquet")
    with Session.open(path) as session:
        assert [each for each in session.history if each.kind == "answer"] == before
        assert session.ids[:50] == ids
        assert session.ids[50:] != []
        assert session.labels[:50].tolist() == labels.tolist()
        assert session.cluster_names == names
    asked = []
    for _ in range(8):
        lines = [json.loads(line) for line in linkwise("ask", path, "--json").stdout.splitlines()]
        if lines[0]["type"] != "question":
            break
        asked += lines[0]["ids"]
        first, second = (kinds[int(key[1:])] for key in lines[0]["ids"])
        linkwise("ask", path, "--json", said="y\n" if first == second else "n\n")
    assert any(int(key[1:]) >= 2000 for key in asked)
    found = export(linkwise, path, tmp_path / "out")
    assert len(found) == N_ROWS + 130
    new = found.filter(pl.col("key").str.slice(1).cast(pl.Int64) >= 2000)
    assert set(new.filter(pl.Series(kinds[2000:] == 3))["cluster"]).isdisjoint(
        found.filter(pl.Series(kinds[[int(key[1:]) for key in found["key"]]] < 3))["cluster"]
    )


def test_earlier_rows_keep_their_items(linkwise, path, tmp_path):
    items = read_groups(tmp_path / "events.linkwise.d")
    encode = items.encoding.apply
    old = pl.read_parquet(tmp_path / "events" / "*.parquet")
    before = items.place(encode(old, str)).nearest
    write_new(tmp_path / "later.parquet", 100, 30)
    linkwise("extend", path, tmp_path / "later.parquet")
    items = read_groups(tmp_path / "events.linkwise.d")
    assert [part.known for part in items.parts] == [0, 0, 0, 1]
    np.testing.assert_array_equal(items.place(encode(old, str), 0).nearest, before)
    new = pl.read_parquet(tmp_path / "later.parquet")
    of = items.place(encode(new, str), 1).nearest
    sizes = np.bincount(before, minlength=len(items.steps)) + np.bincount(of, minlength=len(items.steps))
    np.testing.assert_array_equal(items.summary.sizes, sizes)
    assert items.steps.tolist() == [0] * 50 + [1] * 6
    assert items.place(encode(new, str)).fits.all()


def test_rows_are_added_again_and_again(linkwise, path, tmp_path):
    for number, n_other in enumerate((30, 0, 4)):
        first = 2000 + 1000 * number
        write_new(tmp_path / f"{number}.parquet", 50, n_other, first=first)
        if number == 2:
            frame = pl.read_parquet(tmp_path / "2.parquet")
            frame.with_columns(amount=-5 * pl.col("amount")).write_parquet(tmp_path / "2.parquet")
        assert linkwise("extend", path, tmp_path / f"{number}.parquet").exit_code == 0
    items = read_groups(tmp_path / "events.linkwise.d")
    assert items.n_steps == 2
    assert [part.known for part in items.parts] == [0, 0, 0, 1, 1, 2]
    assert len(export(linkwise, path, tmp_path / "out")) == N_ROWS + 184


def test_new_files_of_the_same_pattern(linkwise, path, tmp_path):
    found = linkwise("extend", tmp_path / "events/*.parquet")
    assert found.exit_code == 2
    assert "in the session already" in found.stderr
    write_new(tmp_path / "new.parquet", 30, 0)
    (tmp_path / "new.parquet").rename(tmp_path / "events" / "part-1b.parquet")
    failed = linkwise("export", path, "--labels", tmp_path / "out")
    assert "part-1b.parquet new. Add their rows" in " ".join(failed.stderr.split())
    assert "30 rows in 1 file added" in linkwise("extend", tmp_path / "events/*.parquet").stderr
    assert len(export(linkwise, path, tmp_path / "out")) == N_ROWS + 30


# ---------------------------------------------------------------- the same result
def test_neither_chunks_nor_workers_change_anything(linkwise, ask, tmp_path, monkeypatch):
    write_new(tmp_path / "later.parquet", 200, 60)
    found = []
    for name, rows, options in (("a", 64, []), ("b", 37, []), ("c", 64, ["--jobs", 2])):
        path = tmp_path / f"{name}.linkwise"
        ask("--groups", 50, "--session", path)
        monkeypatch.setattr(table_files, "PARQUET_ROWS", rows)
        assert linkwise("extend", path, tmp_path / "later.parquet", *options).exit_code == 0
        items = read_groups(tmp_path / f"{name}.linkwise.d")
        found.append(items)
    for other in found[1:]:
        for name in ("centers", "sizes", "limits", "X", "medoid_rows", "border_rows"):
            one, two = getattr(found[0].summary, name), getattr(other.summary, name)
            assert one.tobytes() == two.tobytes(), name
        assert found[0].frame.equals(other.frame)
        assert found[0].hash == other.hash


# ---------------------------------------------------------------- what can go wrong
@pytest.mark.parametrize("stage", ["pass", "items", "session", "rename"])
def test_a_kill_at_any_moment_loses_nothing(linkwise, path, tmp_path, kind, monkeypatch, stage):
    answer_by_kind(linkwise, path, kind, 3)
    write_new(tmp_path / "later.parquet", 100, 30)

    def stop(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if stage == "pass":
            patch.setattr(arrived_rows, "extend_groups", stop)
        elif stage == "items":
            patch.setattr(arrived_rows.GroupTable, "write", stop)
        elif stage == "session":
            patch.setattr(SessionData, "_replace_data", stop)
        else:
            patch.setattr(arrived_rows.os, "replace", rename_items_not(os.replace))
        assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 130
    state = linkwise("status", path).stdout
    assert "3 answers" in state
    assert ("1030 in 56 groups" if stage == "rename" else "900 in 50 groups") in state
    assert linkwise("ask", path, "--json").exit_code == 0
    if stage != "rename":
        assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 0
    assert len(export(linkwise, path, tmp_path / "out")) == 1030


@pytest.mark.parametrize(
    ("work", "n_calls"),
    [("new_rows._Arrived.merge", (4, 7)), ("group_totals.GroupTotals.merge", (0, 4))],
)
def test_a_pass_goes_on_where_it_was_killed(linkwise, ask, tmp_path, monkeypatch, work, n_calls):
    """Each pass has 7 blocks; those that were saved are not read again."""
    write_new(tmp_path / "later.parquet", 300, 100)
    found = []
    for name in ("whole", "cut"):
        path = tmp_path / f"{name}.linkwise"
        ask("--groups", 50, "--session", path)
        if name == "cut":
            kill_in_a_pass(work, 3, "extend", path, tmp_path / "later.parquet")
            first = count_calls(monkeypatch, new_rows._Arrived, "merge")
            second = count_calls(monkeypatch, new_rows, "_collect_block")
        assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 0
        folder = tmp_path / f"{name}.linkwise.d"
        assert sorted(file.name for file in folder.iterdir()) == [".lock", "groups.npz"]
        found.append((folder / "groups.npz").read_bytes())
    assert (len(first), len(second)) == n_calls
    assert found[0] == found[1]


@pytest.mark.parametrize("stage", ["items", "session"])
def test_a_failed_extension_leaves_no_items_behind(linkwise, path, tmp_path, monkeypatch, stage):
    """Nor does one that was killed, from the next command on."""
    write_new(tmp_path / "later.parquet", 100, 30)
    folder = tmp_path / "events.linkwise.d"

    def stop(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(
            *((arrived_rows.GroupTable, "write") if stage == "items" else (SessionData, "_replace_data")),
            stop,
        )
        assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 130
    assert not list(folder.glob("groups-*"))
    killed = ("groups-" + 32 * "0" + ".npz", ".groups-" + 32 * "0" + ".npz.unfinished")
    for command in (
        ["ask", path, "--json"],
        ["export", path, "--answers", tmp_path / "a.csv"],
        ["extend", path],
    ):
        for name in killed:
            shutil.copy(folder / "groups.npz", folder / name)
        linkwise(*command)
        assert not any((folder / name).exists() for name in killed), command


# ---------------------------------------------------------------- several processes
def test_rows_are_not_added_while_the_session_is_open(linkwise, path, kind, tmp_path):
    write_new(tmp_path / "later.parquet", 100, 30)
    with start_command("ask", path, "--json") as other:
        question = json.loads(other.stdout.readline())
        found = linkwise("extend", path, tmp_path / "later.parquet")
        assert found.exit_code == 5
        told = " ".join(found.stderr.split())
        assert f"{path} is open in another process. Its answers are stored. End linkwise ask" in told
        first, second = (kind[int(key[1:])] for key in question["ids"])
        out, _ = other.communicate("y\n" if first == second else "n\n")
        assert '"error"' not in out
    assert other.returncode == 0
    assert "1 answer" in linkwise("status", path).stdout
    assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 0
    assert "1 answer" in linkwise("status", path).stdout


def test_two_processes_may_open_a_session_at_once(linkwise, path, tmp_path, monkeypatch):
    """Each holds the groups alone for a moment, to remove what a kill left."""
    pauses = []
    with (tmp_path / "events.linkwise.d" / group_files.LOCK).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def free(seconds):
            pauses.append(seconds)
            fcntl.flock(file, fcntl.LOCK_SH)

        monkeypatch.setattr(group_files.time, "sleep", free)
        assert linkwise("ask", path, "--json").exit_code == 0
    assert pauses


def test_nobody_opens_a_session_while_rows_are_added(linkwise, path, tmp_path, monkeypatch):
    write_new(tmp_path / "later.parquet", 100, 30)
    extend_groups, told = arrived_rows.extend_groups, []

    def ask_meanwhile(*args):
        told.append(linkwise("ask", path, "--json"))
        told.append(linkwise("export", path, "--labels", tmp_path / "early"))
        return extend_groups(*args)

    monkeypatch.setattr(arrived_rows, "extend_groups", ask_meanwhile)
    assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 0
    for found in told:
        assert found.exit_code == 5
        assert "linkwise extend is adding rows" in found.stderr
    assert len(export(linkwise, path, tmp_path / "out")) == N_ROWS + 130


def rename_items_not(replace):
    """Interrupt when the file of groups gets its name."""

    def rename(source, target):
        is_next = "groups-" in str(source) and str(source).endswith(".npz") and os.path.exists(source)
        if is_next and str(target).endswith("groups.npz"):
            raise KeyboardInterrupt
        replace(source, target)

    return rename


def test_two_processes_may_name_the_items_at_once(tmp_path):
    (tmp_path / group_rows.name_next("ab")).write_text("items")
    for _ in range(2):  # the second one comes too late
        group_rows.take_next(tmp_path, "ab")
    assert [file.name for file in tmp_path.iterdir()] == ["groups.npz"]


def test_files_that_are_there_already(linkwise, path, tmp_path):
    found = linkwise("extend", path, tmp_path / "events" / "part-1.parquet")
    assert found.exit_code == 2
    assert "has the rows of part-1.parquet already" in found.stderr


def check_refused(linkwise, path, new, told):
    found = linkwise("extend", path, new)
    assert found.exit_code == 3
    assert told in " ".join(found.stderr.split())
    assert f"{N_ROWS} in 50 groups" in " ".join(linkwise("status", path).stdout.split())


def test_a_copy_of_a_file_under_another_name(linkwise, path, tmp_path):
    shutil.copy(tmp_path / "events" / "part-1.parquet", tmp_path / "copy.parquet")
    told = (
        "copy.parquet is a copy of part-1.parquet: both hold the same bytes. Move copy.parquet away, and call"
        " linkwise extend again."
    )
    check_refused(linkwise, path, tmp_path / "copy.parquet", told)


def test_two_new_files_that_are_copies(linkwise, path, tmp_path):
    (tmp_path / "later").mkdir()
    write_new(tmp_path / "monday.parquet", 40, 1)
    shutil.copy(tmp_path / "monday.parquet", tmp_path / "later" / "tuesday.parquet")
    (tmp_path / "monday.parquet").rename(tmp_path / "later" / "monday.parquet")
    check_refused(linkwise, path, tmp_path / "later", "tuesday.parquet is a copy of monday.parquet")


def test_equal_files_without_rows_are_no_copies(linkwise, path, tmp_path):
    (tmp_path / "later").mkdir()
    for name in ("a", "b"):
        pl.read_parquet(tmp_path / "events" / "part-0.parquet")[:0].write_parquet(
            tmp_path / "later" / f"{name}.parquet"
        )
    assert "0 rows in 2 files added" in linkwise("extend", path, tmp_path / "later").stderr


@pytest.mark.parametrize("most", [repeated_rows.MOST_IDS, 8])
@pytest.mark.parametrize("jobs", [[], ["--jobs", 2]])
def test_a_copy_that_is_written_otherwise(linkwise, path, tmp_path, monkeypatch, most, jobs):
    """Its bytes differ, but its ids tell, also if few of them are compared."""
    monkeypatch.setattr(repeated_rows, "MOST_IDS", most)
    frame = pl.read_parquet(tmp_path / "events" / "part-1.parquet")
    frame.write_parquet(tmp_path / "copy.parquet", compression="uncompressed")
    found = linkwise("extend", path, tmp_path / "copy.parquet", *jobs)
    assert found.exit_code == 3
    assert "copy.parquet has the rows of part-1.parquet: their ids repeat, such as 'e300'. Move" in " ".join(
        found.stderr.split()
    )


def test_ids_of_new_rows_must_be_new(linkwise, path, tmp_path):
    """Neither an id of a row that is not asked about nor one within the new rows repeats."""
    asked = set(read_groups(tmp_path / "events.linkwise.d").ids)
    first = next(at for at in range(N_ROWS) if f"e{at}" not in asked)
    write_new(tmp_path / "later.parquet", 0, 1, first=first)
    told = f"later.parquet has the rows of part-{first // 300}.parquet: their ids repeat, such as 'e{first}'"
    check_refused(linkwise, path, tmp_path / "later.parquet", told)
    write_new(tmp_path / "later.parquet", 20, 0, first=N_ROWS - 5)
    told = "Ids repeat: 5 of 20 ids of later.parquet are in part-2.parquet, too, such as"
    check_refused(linkwise, path, tmp_path / "later.parquet", told)
    write_new(tmp_path / "later.parquet", 20, 0)
    frame = pl.read_parquet(tmp_path / "later.parquet")
    pl.concat([frame, frame[:1]]).write_parquet(tmp_path / "later.parquet")
    told = f"Ids repeat: '{frame['key'][0]}' is more than once in later.parquet"
    check_refused(linkwise, path, tmp_path / "later.parquet", told)


def test_new_rows_with_other_columns(linkwise, path, tmp_path):
    write_new(tmp_path / "later.parquet", 9, 1)
    frame = pl.read_parquet(tmp_path / "later.parquet")
    for wrong, message in (
        (frame.drop("remark"), "has no column remark"),
        (frame.with_columns(key=pl.int_range(10)), "column 'key' has type Int64"),
    ):
        wrong.write_parquet(tmp_path / "later.parquet")
        found = linkwise("extend", path, tmp_path / "later.parquet")
        assert found.exit_code == 3
        assert message in found.stderr


@pytest.mark.parametrize("command", ["extend", "export"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.inf, "holds an infinite value in column 'amount'. Fix the cell, or remove the row."),
        (1e300, "holds too large a value in column 'amount'. Fix the cell, or remove the row."),
    ],
)
def test_new_values_that_items_cannot_have(linkwise, tmp_path, kind, command, value, told):
    """Another scale does not help, since it is an option of a new session."""
    for part in (tmp_path / "events").iterdir():
        pl.read_parquet(part).drop_nulls().write_parquet(part)
    begun = linkwise("ask", tmp_path / "events", "--terminal", "--id", "key", "--groups", 50, said="q\n")
    assert begun.exit_code == 0
    write_new(tmp_path / "later.parquet", 9, 1)
    frame = pl.read_parquet(tmp_path / "later.parquet")
    amount = frame["amount"].to_list()
    frame.with_columns(amount=pl.Series([*amount[:3], value, *amount[4:]])).write_parquet(
        tmp_path / "later.parquet"
    )
    words = ["extend", tmp_path / "events" / "session.linkwise", tmp_path / "later.parquet"]
    if command == "export":
        words = ["export", words[1], "--new", words[2], "--labels", tmp_path / "out"]
    found = linkwise(*words)
    assert found.exit_code == 3
    assert f"later.parquet: row 3 (counted from 0) {told}" in " ".join(found.stderr.split())


def test_a_session_about_all_rows(linkwise, fruit):
    linkwise("ask", fruit.path, "--json")
    found = linkwise("extend", fruit.session, fruit.path)
    assert found.exit_code == 2
    assert "about all rows" in found.stderr


def take_hash(path):
    """Let the session name the groups that are there."""
    with closing(Store.open(path)) as store:
        source = store.meta()["source"]
        source["groups"]["hash"] = read_groups(path.with_name(f"{path.name}.d")).hash
        store.put_meta({"source": source})


@pytest.fixture
def days(ask, tmp_path):
    """A session about files of one name, as in a data lake, and a new one that comes before them."""
    for number in range(3):
        (tmp_path / f"day={number + 2}").mkdir()
        (tmp_path / "events" / f"part-{number}.parquet").rename(
            tmp_path / f"day={number + 2}" / "data.parquet"
        )
    (tmp_path / "events").rmdir()
    begun = ask("--groups", 50, data="day=*/data.parquet")
    assert begun.exit_code == 0, begun.stderr
    frame = pl.read_parquet(tmp_path / "day=2" / "data.parquet")
    (tmp_path / "day=1").mkdir()
    new = frame[:40].with_columns(key=pl.Series([f"n{at}" for at in range(40)]))
    new.write_parquet(tmp_path / "day=1" / "data.parquet")
    return tmp_path.with_name(f"{tmp_path.name}-data.linkwise")


def check_days(linkwise, pattern, folder):
    assert linkwise("export", pattern, "--labels", folder).exit_code == 0
    keys = pl.read_parquet(sorted(folder.glob("*.parquet")))["key"]
    assert len(keys) == keys.n_unique() == N_ROWS + 40


@pytest.mark.parametrize("is_named", [False, True])
def test_files_of_the_same_name_in_other_folders(linkwise, days, tmp_path, is_named):
    pattern = tmp_path / "day=*" / "data.parquet"
    failed = linkwise("export", pattern, "--labels", tmp_path / "out")
    assert "data.parquet new. Add their rows" in " ".join(failed.stderr.split())
    known = linkwise("extend", days, tmp_path / "day=2" / "data.parquet")
    assert known.exit_code == 2
    assert "has the rows of data.parquet already" in known.stderr
    added = linkwise("extend", days, tmp_path / "day=1" / "data.parquet") if is_named else None
    added = added or linkwise("extend", pattern)
    assert "40 rows in 1 file added" in added.stderr
    check_days(linkwise, pattern, tmp_path / "out")


def test_new_files_after_an_extension(linkwise, path, tmp_path):
    """Export does not leave them out in silence, as before the first extension."""
    write_new(tmp_path / "later.parquet", 10, 0)
    assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 0
    write_new(tmp_path / "new.parquet", 30, 0, first=3000)
    (tmp_path / "new.parquet").rename(tmp_path / "events" / "part-9.parquet")
    failed = linkwise("export", path, "--labels", tmp_path / "out")
    assert "part-9.parquet new. Add their rows" in " ".join(failed.stderr.split())
    assert "30 rows in 1 file added" in linkwise("extend", path).stderr
    assert len(export(linkwise, path, tmp_path / "out")) == N_ROWS + 40


def test_new_rows_in_files_of_another_kind(linkwise, path, tmp_path):
    """Export reads all files at once, so it would fail for good."""
    write_new(tmp_path / "later.parquet", 9, 1)
    pl.read_parquet(tmp_path / "later.parquet").write_csv(tmp_path / "later.csv")
    found = linkwise("extend", path, tmp_path / "later.csv")
    assert found.exit_code == 3
    assert "Use files of one kind" in found.stderr
    assert len(export(linkwise, path, tmp_path / "out")) == N_ROWS
