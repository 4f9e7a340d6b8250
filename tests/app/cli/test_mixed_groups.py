"""Items that the answers show to be mixed are divided, and the person is told."""

from contextlib import closing

import numpy as np
import polars as pl
import pytest

from item_files import answer_by_kind, count_calls, kill_in_a_pass, small_blocks
from linkwise.app.project import group_files, row_labels
from linkwise.errors import DataError
from linkwise.large import mixed_groups, table_files, table_passes
from linkwise.large.group_table import GroupTable, read_groups
from linkwise.session.journal.store import Store
from linkwise.session.session import Session

__all__ = ["small_blocks"]

PLACES, N_EACH, N_HIDDEN = (0, 100, 200, 300, 400), 120, 9


@pytest.fixture
def kinds(tmp_path):
    """Five kinds of rows, and nine rows of a sixth one that lie near the second."""
    rng = np.random.default_rng(0)
    kind = np.concatenate([np.repeat(np.arange(5), N_EACH), np.full(N_HIDDEN, 5)])
    place = np.array([*PLACES, 100])[kind] + rng.normal(0, 1, len(kind))
    height = np.where(kind == 5, 12, 0) + rng.normal(0, 1, len(kind))
    order = rng.permutation(len(kind))
    keys = [f"e{at}" for at in range(len(kind))]
    frame = pl.DataFrame({"key": keys, "place": place[order], "height": height[order]})
    (tmp_path / "events").mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(kind)), 3)):
        frame[part].write_parquet(tmp_path / "events" / f"part-{number}.parquet")
    return dict(zip(keys, kind[order].tolist(), strict=True))


@pytest.fixture
def path(linkwise, tmp_path, kinds, monkeypatch):
    """A session about 12 groups, whose sample has none of the nine rows."""
    monkeypatch.setattr(table_passes, "SAMPLE", 3)
    begun = linkwise(
        "ask", tmp_path / "events", "--terminal", "--id", "key", "--scale", "none", "--groups", 12, said="q\n"
    )
    assert begun.exit_code == 0
    assert "a second row of 1 group, which may be mixed" in " ".join(begun.stdout.split())
    return tmp_path / "events" / "session.linkwise"


def answer_all(linkwise, path, kinds):
    answer_by_kind(linkwise, path, [*kinds.values()], 40)


def export(linkwise, path, folder, *options):
    found = linkwise("export", path, "--labels", folder, *options)
    assert found.exit_code == 0, found.stderr
    files = sorted(folder.glob("*.parquet"))
    return " ".join(found.stderr.split()), pl.concat([pl.read_parquet(file) for file in files])


def put_apart(path):
    """Say that the border row and the medoid of its group differ."""
    items = read_groups(path.with_name(f"{path.name}.d"))
    (row,) = np.flatnonzero(items.steps < 0).tolist()
    with Session.open(path, items.rows.encoded.X) as session:
        session.add(row, int(items.parents[row]), "cannot-link")
    return items, row


def test_answers_divide_an_item(linkwise, path, kinds, tmp_path):
    answer_all(linkwise, path, kinds)
    _, labels = export(linkwise, path, tmp_path / "out")
    assert read_groups(tmp_path / "events" / "session.linkwise.d").n_border == 0
    hidden = pl.Series([kinds[key] == 5 for key in labels["key"]])
    assert labels.filter(hidden)["cluster"].n_unique() == 1
    assert set(labels.filter(hidden)["cluster"]).isdisjoint(labels.filter(~hidden)["cluster"])
    assert labels["cluster"].n_unique() == 6


def test_status_counts_items_and_rows_beside_them(linkwise, path):
    state = " ".join(linkwise("status", path).stdout.split())
    assert "609 in 12 groups and 1 row beside them; counts are of these" in state


@pytest.mark.parametrize("wrong", [-1, True, "1", None])
def test_a_damaged_number_of_border_rows(linkwise, path, wrong):
    with closing(Store.open(path)) as store:
        source = store.meta()["source"]
        source["groups"]["n_border"] = wrong
        store.put_meta({"source": source})
    found = linkwise("status", path)
    assert found.exit_code == 5
    assert "is damaged: 'groups' in the source" in " ".join(found.stderr.split())


def test_the_person_is_told_when_the_session_is_opened(linkwise, path, kinds, tmp_path):
    before, row = put_apart(path)
    first = " ".join(linkwise("ask", path, "--terminal", said="q\n").stdout.split())
    size, parent = int(before.summary.sizes[before.parents[row]]), int(before.parents[row])
    assert f"Your answers put {before.ids[row]} apart from {before.ids[parent]}" in first
    assert f"read the {size} rows of this group again" in first
    assert f"{size - N_HIDDEN} stay with" in first
    assert f"{N_HIDDEN} go with {before.ids[row]}" in first
    assert "Your answers put" not in linkwise("ask", path, "--terminal", said="q\n").stdout
    items = read_groups(tmp_path / "events" / "session.linkwise.d")
    assert items.summary.sizes[row] == N_HIDDEN
    assert items.summary.sizes.sum() == before.summary.sizes.sum()
    assert items.ids == before.ids
    assert (items.n_groups, items.n_border) == (before.n_groups + 1, 0)


def test_an_undo_gives_the_rows_the_cluster_that_they_had(linkwise, path, kinds, tmp_path):
    _, before = export(linkwise, path, tmp_path / "before")
    put_apart(path)
    _, apart = export(linkwise, path, tmp_path / "apart")
    assert not apart.equals(before)
    linkwise("undo", path)
    _, after = export(linkwise, path, tmp_path / "after")
    assert after.equals(before)
    put_again = read_groups(tmp_path / "events" / "session.linkwise.d")
    assert put_again.n_border == 0  # the group stays divided


def test_neither_chunks_nor_workers_change_anything(linkwise, path, tmp_path, monkeypatch):
    put_apart(path)
    folder = tmp_path / "events" / "session.linkwise.d"
    whole, found = (folder / "groups.npz").read_bytes(), []
    for number, (rows, options) in enumerate(((64, []), (37, []), (64, ["--jobs", 2]))):
        monkeypatch.setattr(table_files, "PARQUET_ROWS", rows)
        (folder / "groups.npz").write_bytes(whole)
        _, labels = export(linkwise, path, tmp_path / str(number), *options)
        items = read_groups(folder)
        found.append((labels, items.cuts.tobytes(), items.summary.sizes.tolist(), items.steps.tolist()))
    for other in found[1:]:
        assert other[0].equals(found[0][0])
        assert other[1:] == found[0][1:]


@pytest.mark.parametrize("stage", ["pass", "write"])
def test_a_kill_in_the_middle_loses_nothing(linkwise, path, tmp_path, monkeypatch, stage):
    put_apart(path)

    def stop(*args, **options):
        raise KeyboardInterrupt

    whole = (tmp_path / "events" / "session.linkwise.d" / "groups.npz").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(*((row_labels, "split_groups") if stage == "pass" else (GroupTable, "write")), stop)
        stopped = linkwise("ask", path, "--terminal", said="q\n")
        assert stopped.exit_code == 130
        assert linkwise("export", path, "--labels", tmp_path / "out").exit_code == 130
    assert (tmp_path / "events" / "session.linkwise.d" / "groups.npz").read_bytes() == whole
    assert "Your answers put" in linkwise("ask", path, "--terminal", said="q\n").stdout


def test_a_pass_goes_on_where_it_was_killed(linkwise, path, tmp_path, monkeypatch):
    """The pass has 10 blocks; those that were saved are not read again."""
    put_apart(path)
    folder, found = tmp_path / "events" / "session.linkwise.d", []
    whole = (folder / "groups.npz").read_bytes()
    for name in ("whole", "cut"):
        (folder / "groups.npz").write_bytes(whole)
        if name == "cut":
            kill_in_a_pass("mixed_groups._count_places", 4, "export", path, "--labels", tmp_path / name)
            calls = count_calls(monkeypatch, mixed_groups, "_count_places")
        export(linkwise, path, tmp_path / name)
        found.append((folder / "groups.npz").read_bytes())
        assert sorted(file.name for file in folder.iterdir()) == [".lock", "groups.npz"]
    assert len(calls) == 6
    assert found[0] == found[1]


def test_questions_go_on_without_the_data(linkwise, path, tmp_path):
    put_apart(path)
    part = tmp_path / "events" / "part-1.parquet"
    part.rename(tmp_path / "part-1.parquet")
    found = linkwise("ask", path, "--terminal", said="q\n")
    assert found.exit_code == 0, found.stderr
    told = " ".join(found.stdout.split())
    assert "1 group cannot be divided as the answers show: " in told
    assert "part-1.parquet not there" in told


def test_rows_that_arrive_go_with_the_part_that_they_belong_to(linkwise, path, kinds, tmp_path):
    _, row = put_apart(path)
    linkwise("ask", path, "--terminal", said="q\n")
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "key": [f"n{at}" for at in range(40)],
            "place": rng.normal(100, 0.5, 40),
            "height": np.repeat([0.0, 12.0], 20) + rng.normal(0, 0.5, 40),
        }
    )
    frame.write_parquet(tmp_path / "later.parquet")
    assert "All of them fit a group." in linkwise("extend", path, tmp_path / "later.parquet").stderr
    items = read_groups(tmp_path / "events" / "session.linkwise.d")
    of = items.place(items.encoding.apply(frame, str)).nearest
    assert ((of == row) == (np.arange(40) >= 20)).all()
    assert items.summary.sizes[row] == N_HIDDEN + 20
    _, labels = export(linkwise, path, tmp_path / "out")
    assert len(labels) == len(kinds) + 40


def test_labels_of_new_rows_follow_the_parts_of_an_item(linkwise, path, tmp_path):
    """As long as the answers put the parts apart: after an undo new rows have one cluster again."""
    put_apart(path)
    heights = np.repeat([0.0, 12.0], 10)
    frame = pl.DataFrame(
        {"key": [f"n{at}" for at in range(20)], "place": np.full(20, 100.0), "height": heights}
    )
    frame.write_parquet(tmp_path / "later.parquet")
    command = ["export", path, "--new", tmp_path / "later.parquet", "--labels"]
    for jobs in (1, 2, 4):
        assert linkwise(*command, tmp_path / f"apart{jobs}", "--jobs", jobs).exit_code == 0
    linkwise("undo", path)
    assert linkwise(*command, tmp_path / "undone").exit_code == 0
    apart, undone = (
        pl.read_parquet(tmp_path / name / "*.parquet")["cluster"].to_list() for name in ("apart1", "undone")
    )
    assert len(set(apart[:10])) == len(set(apart[10:])) == len(set(undone)) == 1
    assert apart[0] != apart[10]
    parts = [(tmp_path / f"apart{jobs}" / "later.parquet").read_bytes() for jobs in (1, 2, 4)]
    assert parts[0] == parts[1] == parts[2]


def test_items_are_divided_for_an_export_if_they_cannot_be_stored(linkwise, path, tmp_path, monkeypatch):
    put_apart(path)

    def refuse(*args):
        raise DataError("'groups.npz' cannot be written: No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(GroupTable, "write", refuse)
        told, full = export(linkwise, path, tmp_path / "full")
    assert "Your answers put" in told
    assert "The next command divides them again: 'groups.npz' cannot be written" in told
    _, free = export(linkwise, path, tmp_path / "free")
    assert full.equals(free)


@pytest.mark.parametrize("with_locks", [True, False])
def test_rows_that_arrive_while_an_item_is_divided(linkwise, path, tmp_path, monkeypatch, with_locks):
    """They wait. Where a file system has no locks they are added, and the next command divides the group."""
    put_apart(path)
    later = pl.read_parquet(tmp_path / "events" / "part-0.parquet")[:20]
    later = later.with_columns(key=pl.Series([f"n{at}" for at in range(20)]))
    later.write_parquet(tmp_path / "later.parquet")
    split, n_rows = row_labels.split_groups, N_EACH * len(PLACES) + N_HIDDEN
    if not with_locks:
        monkeypatch.setattr(group_files, "_try_lock", lambda file, kind: True)

    def split_slowly(*args):
        monkeypatch.setattr(row_labels, "split_groups", split)
        assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == (5 if with_locks else 0)
        return split(*args)

    monkeypatch.setattr(row_labels, "split_groups", split_slowly)
    stopped = linkwise("export", path, "--labels", tmp_path / "out")
    if with_locks:
        assert "linkwise read the" in " ".join(stopped.stderr.split())
        assert linkwise("extend", path, tmp_path / "later.parquet").exit_code == 0
        (tmp_path / "out").rename(tmp_path / "before")
        assert len(export(linkwise, path, tmp_path / "out")[1]) == n_rows + 20
        return
    assert stopped.exit_code == 5
    assert "changed the data" in stopped.stderr
    told, labels = export(linkwise, path, tmp_path / "out")
    assert "linkwise read the" in told
    assert len(labels) == n_rows + 20
