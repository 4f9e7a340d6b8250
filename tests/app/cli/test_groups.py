"""Questions about groups of rows in many files: set-up, answers, labels, and what can go wrong."""

import os
import signal
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from fuzz.stored_files import list_bombs
from item_files import N_ROWS, answer_by_kind, ask, kind, small_blocks, write_events
from linkwise.app.project import group_rows
from linkwise.app.project.group_rows import name_session
from linkwise.data.reading import Reading
from linkwise.large import label_files, survey, table_files, table_passes
from linkwise.large.group_table import read_groups
from linkwise.session.session import Session
from patience import wait_until
from running_command import start_code

__all__ = ["ask", "kind", "small_blocks"]


# ---------------------------------------------------------------- the whole way
@pytest.mark.parametrize(
    "form",
    [
        "pattern",
        *(pytest.param(form, marks=pytest.mark.slow(nightly=True)) for form in ("file", "csv", "folder")),
    ],
)
def test_from_files_to_labels(linkwise, tmp_path, form):
    data = {
        "pattern": "events/*.parquet",
        "folder": "events",
        "file": "events/part-0.parquet",
        "csv": "events",
    }
    kind = write_events(
        tmp_path / "events", ".csv" if form == "csv" else ".parquet", 1 if form == "file" else 3
    )
    sessions = {"pattern": "events.linkwise", "file": "events/part-0.parquet.linkwise"}
    path = tmp_path / sessions.get(form, "events/session.linkwise")
    where = tmp_path / data[form]
    begun = linkwise(
        "ask", where, "--terminal", "--id", "key", "--impute", "median", "--groups", 60, said="s\nq\n"
    )
    assert "900 rows form 60 groups" in " ".join(begun.stdout.split())
    assert "remark" in begun.stdout
    answer_by_kind(linkwise, path, kind, 7)
    state = linkwise("status", where).stdout
    assert "900 in 60 groups" in state
    assert "rules put" in linkwise("explain", path).stdout
    out = linkwise("export", path, "--labels", tmp_path / "out")
    assert "900 rows in" in out.stderr
    assert out.exit_code == 0
    names = sorted(file.name for file in (tmp_path / "out").glob("*.parquet"))
    parts = [f"part-{number}-{at:05d}" for number in range(3) for at in range(3)]
    if form == "file":
        parts = [f"part-0-{at:05d}" for at in range(8)]
    assert names == [f"{part}.parquet" for part in parts]
    labels = pl.read_parquet([tmp_path / "out" / name for name in names])
    assert labels["key"].to_list() == [f"e{at}" for at in range(N_ROWS)]
    assert adjusted_rand_score(kind, labels["cluster"]) > 0.95


def test_a_session_goes_on_without_the_data(ask, linkwise, tmp_path):
    ask("--groups", 50, said="y\nn\nq\n")
    for file in (tmp_path / "events").iterdir():
        file.unlink()
    found = linkwise("ask", tmp_path / "events.linkwise", "--terminal", said="u\nq\n")
    assert "resumed: 2 answers" in found.stdout
    assert "taken back" in found.stdout
    failed = linkwise("export", tmp_path / "events.linkwise", "--labels", tmp_path / "out")
    assert failed.exit_code == 3
    assert "not there. Restore them" in failed.stderr


def test_one_question_shows_the_same_after_a_restart(ask):
    first, again = (ask(*options).stdout for options in (["--groups", 50], []))
    assert "Question 1" in first
    assert first[first.index("Do these two") :][:500] == again[again.index("Do these two") :][:500]


def test_an_array_is_asked_about_by_items(linkwise, tmp_path):
    rows = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    begun = linkwise("ask", tmp_path / "rows.npy", "--terminal", "--groups", 20, said="q\n")
    assert "500 rows form 20 groups" in " ".join(begun.stdout.split())
    linkwise("export", tmp_path / "rows.npy", "--labels", tmp_path / "out")
    found = pl.read_parquet(sorted((tmp_path / "out").glob("*.parquet")))
    assert found["row"].to_list() == list(range(500))
    items = read_groups(tmp_path / "rows.npy.linkwise.d")
    np.testing.assert_array_equal(items.frame.to_numpy(), rows[items.summary.medoid_rows])


def test_a_large_file_is_asked_about_by_items_by_itself(ask, monkeypatch):
    monkeypatch.setattr(group_rows, "MOST_ROWS", 299)
    found = " ".join(ask(data="events/part-0.parquet").stdout.split())
    assert "300 rows form" in found
    assert "--groups 0 reads all rows into memory" in found
    monkeypatch.setattr(group_rows, "MOST_ROWS", 300)
    assert "grouped" not in ask("--session", "all.linkwise", data="events/part-1.parquet").stdout


def test_items_0_reads_all_rows(ask, monkeypatch):
    monkeypatch.setattr(group_rows, "MOST_ROWS", 10)
    assert "grouped" not in ask("--groups", 0, data="events/part-0.parquet").stdout


# ---------------------------------------------------------------- options
def test_a_session_keeps_its_items(ask, linkwise, tmp_path):
    ask("--groups", 50)
    assert ask("--groups", 50).exit_code == 0
    for options in (["--groups", 60], ["--drop", "remark"]):
        found = ask(*options)
        assert found.exit_code == 2
        assert "begin another session" in found.stderr


@pytest.mark.parametrize("options", [["--text", "remark"], ["--series"], ["--encoding", "utf-16"]])
def test_options_that_do_not_fit(ask, options):
    found = ask(*options)
    assert found.exit_code == 2
    assert options[0] in found.stderr


@pytest.mark.parametrize("target", ["labels.csv", "-", None])
def test_labels_of_rows_need_a_folder(ask, linkwise, tmp_path, target):
    ask("--groups", 50)
    options = [] if target is None else ["--labels", tmp_path / target if target != "-" else "-"]
    found = linkwise("export", tmp_path / "events.linkwise", *options)
    assert found.exit_code == 2
    assert "--labels FOLDER" in found.stderr


def test_a_table_is_not_joined(ask, linkwise, tmp_path):
    ask("--groups", 50)
    found = linkwise("export", tmp_path / "events.linkwise", "--join", tmp_path / "all.parquet")
    assert found.exit_code == 2
    assert "join by id" in found.stderr


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("events/*.parquet", "events"),
        ("events/2024-*.parquet", "events-2024"),
        ("events-*.csv", "events"),
        ("a/*/*.parquet", "a"),
        ("/a/b/part[01].csv", "/a/b-part01"),
    ],
)
def test_the_session_is_named_after_the_pattern(data, name):
    assert name_session(Path(data)) == Path(name)


def test_a_folder_that_is_the_working_folder_holds_its_session(linkwise, tmp_path, monkeypatch):
    write_events(tmp_path / "events", ".csv", 2)
    (tmp_path / "events" / "README.md").write_text("Two files of one table.")
    (tmp_path / "events" / "logo.png").write_bytes(b"")
    monkeypatch.chdir(tmp_path / "events")
    first = linkwise("ask", ".", "--terminal", "--id", "key", "--groups", 60, said="y\nq\n")
    assert [one.name for one in tmp_path.iterdir()] == ["events"]
    assert "../events-pairs.csv" in first.stdout
    linkwise("export", ".", "--labels", "clusters")
    (tmp_path / "events" / "photo.png").write_bytes(b"")
    again = linkwise("ask", ".", "--terminal", said="q\n")
    assert "resumed: 1 answer" in again.stdout


def test_the_session_of_a_pattern_here_is_named_after_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert name_session(Path("*.csv")) == Path(tmp_path.name)


# ---------------------------------------------------------------- new rows
def test_new_rows_get_the_cluster_of_their_item(ask, linkwise, tmp_path, kind):
    ask("--groups", 50, said="y\nn\nq\n")
    path, later = tmp_path / "events.linkwise", tmp_path / "later"
    linkwise("export", path, "--labels", tmp_path / "out")
    later.mkdir()
    old = pl.read_parquet(tmp_path / "events" / "part-1.parquet")
    old.reverse().write_parquet(later / "more.parquet")
    found = linkwise("export", path, "--new", later / "*.parquet", "--labels", tmp_path / "new")
    assert found.exit_code == 0
    assert "300 rows in 3 files" in found.stderr
    expected = pl.read_parquet(tmp_path / "out" / "part-1*.parquet").reverse()
    expected = expected.with_columns(pl.lit(True).alias("fits"))
    assert pl.read_parquet(sorted((tmp_path / "new").glob("*.parquet"))).equals(expected)


def test_labels_of_earlier_new_rows_are_not_kept_for_others(ask, linkwise, tmp_path):
    ask("--groups", 50, said="y\nn\nq\n")
    path, out = tmp_path / "events.linkwise", tmp_path / "new"
    frame = pl.read_parquet(tmp_path / "events" / "part-1.parquet")
    for day, rows in (("monday", frame), ("tuesday", frame.reverse())):
        (tmp_path / day).mkdir()
        rows.write_parquet(tmp_path / day / "rows.parquet")
    monday = ["export", path, "--new", tmp_path / "monday" / "rows.parquet", "--labels", out]
    assert linkwise(*monday).exit_code == 0
    assert linkwise(*monday).exit_code == 0
    tuesday = linkwise("export", path, "--new", tmp_path / "tuesday" / "rows.parquet", "--labels", out)
    assert tuesday.exit_code == 3
    assert "holds labels of another clustering. Use an empty folder." in " ".join(tuesday.stderr.split())


def test_new_rows_that_were_corrected_go_to_the_same_folder(ask, linkwise, tmp_path):
    ask("--groups", 50, said="y\nn\nq\n")
    later = tmp_path / "later.parquet"
    frame = pl.read_parquet(tmp_path / "events" / "part-1.parquet")
    command = ["export", tmp_path / "events.linkwise", "--new", later, "--labels", tmp_path / "new"]
    for rows, code in ((frame.with_columns(amount=pl.col("amount") / 0), 3), (frame, 0)):
        rows.write_parquet(later)
        assert linkwise(*command).exit_code == code


def test_new_rows_with_other_columns_are_named(ask, linkwise, tmp_path):
    ask("--groups", 50)
    later = tmp_path / "later.parquet"
    frame = pl.read_parquet(tmp_path / "events" / "part-1.parquet")
    for wrong, message in (
        (frame.drop("colour"), "has no column colour"),
        (frame.with_columns(pl.col("amount").cast(pl.String)), "column 'amount' has type String"),
    ):
        wrong.write_parquet(later)
        found = linkwise("export", tmp_path / "events.linkwise", "--new", later, "--labels", tmp_path / "new")
        assert found.exit_code == 3
        assert message in found.stderr


def test_new_rows_need_a_folder(ask, linkwise, tmp_path):
    ask("--groups", 50)
    found = linkwise("export", tmp_path / "events.linkwise", "--new", tmp_path / "events")
    assert found.exit_code == 2
    assert "Add --labels FOLDER" in found.stderr


# ---------------------------------------------------------------- workers
def test_processes_find_the_same_items(ask, tmp_path):
    ask("--groups", 50)
    assert ask("--groups", 50, "--jobs", 2, "--session", tmp_path / "jobs.linkwise").exit_code == 0
    one, other = (read_groups(tmp_path / f"{name}.linkwise.d") for name in ("events", "jobs"))
    assert other.summary.n_rows == N_ROWS
    assert set(one.encoding.feature_columns) == set(other.encoding.feature_columns)
    assert len(one.frame) == len(other.frame)


def test_processes_write_the_same_clusters(ask, linkwise, tmp_path):
    ask("--groups", 50)
    for name, options in (("here", []), ("there", ["--jobs", 2])):
        linkwise("export", tmp_path / "events.linkwise", "--labels", tmp_path / name, *options)
    here, there = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("here", "there")
    )
    assert len(there) == 10
    assert there == here


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask"])
def test_workers_of_dask_find_items(ask, backend, dask_client):
    address = dask_client.scheduler.address
    assert "900 rows form 50 groups" in " ".join(ask("--groups", 50, "--dask", address).stdout.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", 2, "--dask", "tcp://127.0.0.1:1"], "Remove --jobs"),
        (["--dask", "nowhere://127.0.0.1:1"], "No dask scheduler answers"),
    ],
)
def test_workers_that_are_not_there(ask, options, message):
    found = ask(*options)
    assert found.exit_code == 2
    assert message in found.stderr


def test_rows_that_are_read_at_once_need_no_workers(ask, linkwise, tmp_path):
    data = tmp_path / "events" / "part-0.parquet"
    ask("--groups", 0, data="events/part-0.parquet")
    found = linkwise("export", data, "--labels", tmp_path / "out.csv", "--jobs", 2)
    assert found.exit_code == 2, found.stderr
    assert "Remove --jobs" in found.stderr
    data.with_name("part-0.parquet.linkwise").unlink()
    found = ask("--groups", 0, "--jobs", 2, data="events/part-0.parquet")
    assert found.exit_code == 2
    assert "Remove --jobs" in found.stderr


def test_a_session_that_exists_says_that_workers_do_nothing(ask, tmp_path):
    ask("--groups", 50)
    found = ask("--jobs", 2)
    assert found.exit_code == 0
    assert "--jobs has no effect: events.linkwise has its groups already" in " ".join(found.stdout.split())
    ask("--groups", 0, data="events/part-0.parquet")
    found = ask("--jobs", 2, data="events/part-0.parquet")
    assert found.exit_code == 2
    assert "Remove --jobs" in found.stderr


# ---------------------------------------------------------------- what can go wrong
def test_missing_values_are_counted_in_all_rows(linkwise, tmp_path, kind):
    found = linkwise("ask", tmp_path / "events", "--terminal", "--id", "key", said="q\n")
    assert found.exit_code == 0
    told = " ".join(found.stdout.split())
    assert "Missing values were filled in, by medians of a sample: amount (10 values: " in told


def test_ids_that_repeat(tmp_path, linkwise):
    folder = tmp_path / "events"
    folder.mkdir()
    frame = pl.DataFrame({"key": ["a"] * 50, "x": np.arange(50.0)})
    frame.write_parquet(folder / "a.parquet")
    found = linkwise("ask", folder, "--terminal", "--id", "key")
    assert found.exit_code == 3
    assert "Column 'key' cannot be the id" in found.stderr


def test_a_part_that_differs_is_named_before_anything_is_read(ask, tmp_path):
    pl.DataFrame({"key": ["a"], "amount": ["much"]}).write_parquet(tmp_path / "events" / "part-9.parquet")
    found = ask()
    assert found.exit_code == 3
    assert "part-9.parquet has no column colour" in found.stderr


def test_an_unreadable_part_is_named_and_the_rest_is_kept(ask, tmp_path):
    last = tmp_path / "events" / "part-2.parquet"
    whole = last.read_bytes()
    stamp = last.stat().st_mtime_ns
    broken = bytearray(whole)
    broken[4:1500] = b"\xff" * 1496
    last.write_bytes(broken)
    os.utime(last, ns=(stamp, stamp))
    found = ask("--groups", 50)
    assert found.exit_code == 3
    assert "part-2.parquet" in found.stderr
    assert (tmp_path / "events.linkwise.d" / "survey.npz").exists()
    last.write_bytes(whole)
    os.utime(last, ns=(stamp, stamp))
    assert ask("--groups", 50).exit_code == 0


def test_a_part_that_has_changed_is_named(ask, linkwise, tmp_path):
    ask("--groups", 50)
    part = tmp_path / "events" / "part-1.parquet"
    pl.read_parquet(part)[:-1].write_parquet(part)
    found = linkwise("export", tmp_path / "events.linkwise", "--labels", tmp_path / "out")
    assert found.exit_code == 3
    assert "part-1.parquet has changed" in found.stderr
    assert "had 300 rows, and now it has 299" in found.stderr


def test_new_parts_are_named(ask, linkwise, tmp_path):
    ask("--groups", 50)
    part = tmp_path / "events" / "part-1.parquet"
    pl.read_parquet(part).write_parquet(tmp_path / "events" / "part-3.parquet")
    found = linkwise("export", tmp_path / "events.linkwise", "--labels", tmp_path / "out")
    assert found.exit_code == 3
    assert "part-3.parquet" in found.stderr


def test_items_that_are_not_there(ask, linkwise, tmp_path):
    ask("--groups", 50)
    items = tmp_path / "events.linkwise.d" / "groups.npz"
    whole = items.read_bytes()
    items.write_bytes(whole[: len(whole) // 2])
    assert "groups.npz' is damaged" in linkwise("ask", tmp_path / "events.linkwise", "--terminal").stderr
    items.unlink()
    found = linkwise("ask", tmp_path / "events.linkwise", "--terminal")
    assert found.exit_code == 3
    assert "Restore it" in found.stderr


def test_items_of_another_session(ask, linkwise, tmp_path):
    ask("--groups", 50)
    ask("--groups", 60, "--session", tmp_path / "other.linkwise")
    for name in ("events", "other"):
        assert read_groups(tmp_path / f"{name}.linkwise.d").n_groups == (50 if name == "events" else 60)
    (tmp_path / "other.linkwise.d" / "groups.npz").replace(tmp_path / "events.linkwise.d" / "groups.npz")
    found = linkwise("ask", tmp_path / "events.linkwise", "--terminal")
    assert found.exit_code == 3
    assert "groups of another session" in found.stderr


def test_files_of_labels_never_have_one_name(ask, linkwise, tmp_path):
    events = tmp_path / "events"
    for number, name in enumerate(["a-b/c", "a/b-c", "x/y"]):  # the first two are both a-b-c
        file = events / f"{name}.parquet"
        file.parent.mkdir()
        (events / f"part-{number}.parquet").rename(file)
    ask("--groups", 50, data="events/*/*.parquet")
    (session,) = events.parent.rglob("*.linkwise")
    out = tmp_path / "out"
    assert linkwise("export", session, "--labels", out).exit_code == 0
    labels = pl.concat([pl.read_parquet(file) for file in sorted(out.glob("*.parquet"))])
    assert sorted(labels[labels.columns[0]]) == sorted(f"e{at}" for at in range(N_ROWS))


def test_labels_are_written_again_from_the_first_absent_part(ask, linkwise, tmp_path, monkeypatch):
    ask("--groups", 50)
    out = tmp_path / "out"
    linkwise("export", tmp_path / "events.linkwise", "--labels", out)
    expected = {file.name: file.read_bytes() for file in out.glob("*.parquet")}
    kept = out / "part-0-00000.parquet"
    before = kept.stat().st_mtime_ns
    (out / "part-1-00001.parquet").unlink()
    linkwise("export", tmp_path / "events.linkwise", "--labels", out)
    assert {file.name: file.read_bytes() for file in out.glob("*.parquet")} == expected
    assert kept.stat().st_mtime_ns == before


# ---------------------------------------------------------------- interruptions
CHILD = """
import sys
from pathlib import Path
from linkwise.large import checkpoints, chunks, table_files, table_passes
chunks.BLOCK = table_passes.BLOCK = table_files.BLOCK = 64
checkpoints.SAVE_S = 0.0
from linkwise.data.reading import Reading
n = 0
def progress(done, total):
    Path(sys.argv[2]).with_suffix(".log").open("a").write(f"{done}\\n")
    if done == int(sys.argv[3]):
        import time
        Path(sys.argv[2]).with_suffix(".here").touch()
        time.sleep(3600)
files = sorted(Path(sys.argv[1]).glob("*.parquet"))
choices = Reading(id_column="key", impute="median")
table_passes.summarize_tables(table_files.TableFiles(files), choices, 50, 0, Path(sys.argv[2]), progress)
"""


@pytest.mark.parametrize(
    ("stop", "how"),
    [
        (7, signal.SIGKILL),
        (22, signal.SIGINT),
        *(
            pytest.param(*case, marks=pytest.mark.slow(nightly=True))
            for case in ((7, signal.SIGINT), (22, signal.SIGKILL))
        ),
    ],
)
def test_a_pass_goes_on_where_it_was_stopped(tmp_path, kind, stop, how):
    """The passes are 15 blocks each; those before the last one that was saved are not read again."""

    def run(folder, progress):
        tables = table_files.TableFiles(sorted((tmp_path / "events").glob("*.parquet")))
        choices = Reading(id_column="key", impute="median")
        table_passes.summarize_tables(tables, choices, 50, 0, tmp_path / folder, progress)

    with start_code(CHILD, tmp_path / "events", tmp_path / "cut", stop) as first:
        run("whole", lambda done, total: None)
        wait_until((tmp_path / "cut.here").exists)
        first.send_signal(how)
        assert first.wait() != 0
    assert not (tmp_path / "cut" / "groups.npz").exists()
    blocks = [int(line) for line in (tmp_path / "cut.log").read_text().split()]
    assert blocks == list(range(1, stop + 1))
    run("cut", lambda done, total: blocks.append(done))
    assert blocks == list(range(1, 31))
    one, other = (read_groups(tmp_path / name) for name in ("whole", "cut"))
    assert one.hash == other.hash
    assert one.ids == other.ids
    assert one.frame.equals(other.frame)
    for name in ("X", "centers", "sizes", "spread", "medoid_rows", "border_rows"):
        assert getattr(one.summary, name).tobytes() == getattr(other.summary, name).tobytes()
    assert sorted(file.name for file in (tmp_path / "cut").iterdir()) == ["groups.npz"]


def test_ctrl_c_in_the_setup_says_how_to_go_on(ask, tmp_path, monkeypatch):
    merge, seen = survey.TableSurvey.merge, []

    def interrupt(self, *args):
        seen.append(self.n_rows)
        if len(seen) == 5:
            raise KeyboardInterrupt
        return merge(self, *args)

    monkeypatch.setattr(survey.TableSurvey, "merge", interrupt)
    found = ask("--groups", 50)
    assert found.exit_code == 130
    assert "The same command goes on where it was" in found.stderr
    assert ask("--groups", 50).exit_code == 0
    assert seen == [0, 64, 128, 192, 256, *range(256, N_ROWS, 64)]


def test_passes_begin_anew_if_the_files_have_changed(ask, tmp_path, monkeypatch):
    merge, seen = survey.TableSurvey.merge, []

    def interrupt(self, *args):
        seen.append(self.n_rows)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return merge(self, *args)

    monkeypatch.setattr(survey.TableSurvey, "merge", interrupt)
    ask("--groups", 50)
    part = tmp_path / "events" / "part-0.parquet"
    pl.read_parquet(part)[:200].write_parquet(part)
    assert ask("--groups", 50).exit_code == 0
    assert seen[3] == 0


# ---------------------------------------------------------------- files that change
def rewrite(path, change):
    """Write a file again with as many rows, as long after the first time as a person would."""
    change(pl.read_parquet(path)).write_parquet(path)
    later = path.stat().st_mtime_ns + 60_000_000_000
    os.utime(path, ns=(later, later))


@pytest.mark.parametrize("command", ["ask", "export", "extend"])
def test_other_values_in_as_many_rows_are_noticed(ask, linkwise, tmp_path, command):
    ask("--groups", 50, said="y\nn\nq\n")
    rewrite(tmp_path / "events" / "part-1.parquet", lambda frame: frame.with_columns(-pl.col("amount")))
    path = tmp_path / "events.linkwise"
    write_events(tmp_path / "more")
    words = {"ask": ["--terminal"], "export": ["--labels", tmp_path / "out"], "extend": [tmp_path / "more"]}
    found = linkwise(command, path, *words[command], said="q\n")
    assert found.exit_code == 3
    said = " ".join(found.stderr.split())
    assert "part-1.parquet has changed since the groups were made" in said
    assert "Restore it, or begin another session" in said
    assert not list(tmp_path.glob("out/*.parquet"))
    assert linkwise("status", path).exit_code == 0


def test_files_with_the_same_bytes_are_the_same_whenever_they_were_written(ask, linkwise, tmp_path):
    ask("--groups", 50)
    for part in (tmp_path / "events").iterdir():
        rewrite(part, lambda frame: frame)
    assert ask().exit_code == 0
    assert linkwise("export", tmp_path / "events.linkwise", "--labels", tmp_path / "out").exit_code == 0


def test_damaged_files_of_labels_are_written_again(ask, linkwise, tmp_path):
    ask("--groups", 50)
    command, out = ["export", tmp_path / "events.linkwise", "--labels", tmp_path / "out"], tmp_path / "out"
    linkwise(*command)
    whole = {file.name: file.read_bytes() for file in out.iterdir()}
    (out / "part-0-00001.parquet").write_bytes(b"")
    (out / "part-1-00000.parquet").write_bytes(whole["part-1-00000.parquet"][:-9])
    pl.read_parquet(out / "part-2-00002.parquet")[1:].write_parquet(out / "part-2-00002.parquet")
    assert linkwise(*command).exit_code == 0
    assert {file.name: file.read_bytes() for file in out.iterdir()} == whole


def test_items_that_unpack_to_gigabytes_are_one_sentence(ask, linkwise, tmp_path, monkeypatch):
    ask("--groups", 50)
    items = tmp_path / "events.linkwise.d" / "groups.npz"
    *_, (_, bomb) = list_bombs(items.read_bytes())
    items.write_bytes(bomb)
    unpacked, read = [], zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda file, n=-1: unpacked.append(n) or read(file, n))
    found = linkwise("explain", tmp_path / "events.linkwise")
    assert found.exit_code == 3
    assert "groups.npz' is damaged: The file has" in " ".join(found.stderr.split())
    assert 0 <= min(unpacked) <= sum(unpacked) < 2**24


def test_two_exports_into_one_folder_at_once(ask, linkwise, tmp_path, monkeypatch):
    """The other one begins when this one has written a file and is about to name it."""
    ask("--groups", 50, said="y\nn\nq\n")
    command = ["export", tmp_path / "events.linkwise", "--labels"]
    linkwise(*command, tmp_path / "whole")
    write, codes = label_files.write_whole, []

    @contextmanager
    def begin_another(path):
        with write(path) as free:
            yield free
            if not codes:
                codes.append(0)
                codes[0] = linkwise(*command, tmp_path / "out").exit_code

    monkeypatch.setattr(label_files, "write_whole", begin_another)
    assert linkwise(*command, tmp_path / "out").exit_code == 0
    assert codes == [0]
    whole, both = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("whole", "out")
    )
    assert both == whole


# ---------------------------------------------------------------- what the values suggest
def write_sales(folder):
    """Three files with a counter, codes, incomes and debts, and in the last row of all a negative debt."""
    draw, folder = np.random.default_rng(0), folder / "sales"
    folder.mkdir()
    for part in range(3):
        debt = np.exp(draw.normal(3, 1.5, 400)).round(2)
        debt[-1] *= -1 if part == 2 else 1
        pl.DataFrame(
            {
                "line": np.arange(400 * part, 400 * part + 400),
                "zip": draw.choice([8001, 4051, 3011], 400),
                "income": np.exp(draw.normal(8, 1, 400)).round(2),
                "debt": debt,
                "town": [f"town {n}" for n in draw.integers(40, size=400)],
                "note": ["" if n % 9 else f"seen {n % 4}" for n in range(400)],
            }
        ).write_csv(folder / f"part-{part}.csv")
    return folder


def test_groups_take_what_some_rows_suggest_as_far_as_all_rows_allow_it(linkwise, tmp_path, monkeypatch):
    folder = write_sales(tmp_path)
    monkeypatch.setattr(group_rows, "MOST_LOOKED_AT", 900)  # not the last row of all
    begun = linkwise("ask", folder, "--terminal", "--groups", 50, said="q\n")
    assert begun.exit_code == 0, begun.stderr
    said = " ".join(begun.stdout.split())
    assert "'zip' holds codes, not amounts; 'town' has values that several rows share" in said
    assert "'income' has a few values that are far larger" in said
    assert "Rows are identified by 'line'" in said
    assert "--as-is --session NEW" in said
    with Session.open(folder / "session.linkwise") as session:
        choices = session.source["choices"]
    assert choices["log"] == ["income"]
    assert choices["as_categories"] == ["zip", "town"]
    assert choices["id_column"] == "line"
    again = linkwise("ask", folder, "--terminal", said="y\nq\n")
    assert "'zip' holds codes" in " ".join(again.stdout.split())
    labels = linkwise("export", folder, "--labels", tmp_path / "labels")
    assert labels.exit_code == 0, labels.stderr


def test_a_counter_that_begins_anew_in_each_file_is_left_out(linkwise, tmp_path):
    folder = write_sales(tmp_path)
    for path in folder.iterdir():
        pl.read_csv(path).with_columns(line=pl.arange(400)).write_csv(path)
    begun = linkwise("ask", folder, "--terminal", "--groups", 50, said="q\n")
    assert "'line' counts the rows and is left out" in " ".join(begun.stdout.split())
    assert "Rows are identified by their number" in begun.stdout


def test_groups_as_they_are(linkwise, tmp_path):
    folder = write_sales(tmp_path)
    begun = linkwise("ask", folder, "--terminal", "--groups", 50, "--as-is", said="q\n")
    assert "The values suggest" not in begun.stdout
    with Session.open(folder / "session.linkwise") as session:
        assert "log" not in session.source["choices"]
        assert "proposed" not in session.source
