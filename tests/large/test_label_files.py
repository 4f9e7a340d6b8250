"""Labels of many rows, written in parts."""

from functools import partial
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.large import chunks, label_files

X, _ = make_blobs(1000, 3, centers=5, random_state=0)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(chunks, "BLOCK", 64)
    monkeypatch.setattr(label_files, "BLOCK", 64)
    monkeypatch.setattr(label_files, "PART", 128)


@pytest.fixture
def found():
    return lw.summarize(X, 10)


@pytest.fixture
def labels(found):
    return np.arange(len(found.sizes)) % 3 - 1


def read(paths):
    return pl.concat([pl.read_parquet(path) for path in paths])


def test_each_row_gets_the_cluster_of_its_item(found, labels, tmp_path):
    seen = []
    paths = found.write_labels(X, labels, tmp_path / "out", progress=lambda *at: seen.append(at))
    assert [path.name for path in paths] == [f"part-{number:05d}.parquet" for number in range(8)]
    table = read(paths)
    assert table["row"].to_list() == list(range(1000))
    assert table["cluster"].to_list() == labels[found.assign(X)].tolist()
    assert seen == [(number + 1, 8) for number in range(8)]


def test_ids_are_written_if_rows_have_ids(tmp_path):
    ids = [f"id {row}" for row in range(len(X))]
    frame = pl.DataFrame({"key": ids, **{f"x{at}": X[:, at] for at in range(3)}})
    frame.write_parquet(tmp_path / "in.parquet")
    found = lw.summarize(tmp_path / "in.parquet", 10, id_column="key")
    paths = found.write_labels(tmp_path / "in.parquet", np.arange(len(found.sizes)), tmp_path / "out")
    assert read(paths)["key"].to_list() == ids


def test_an_interrupted_export_continues(found, labels, tmp_path):
    def stop(done, _):
        if done == 3:
            raise KeyboardInterrupt

    whole = found.write_labels(X, labels, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        found.write_labels(X, labels, out, progress=stop)
    times = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert len(times) == 3
    paths = found.write_labels(X, labels, out)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in whole]


def test_a_full_disk_leaves_whole_parts(found, labels, tmp_path):
    write, n_left = pl.DataFrame.write_parquet, [2]

    def fill(frame, path):
        write(frame, path)
        n_left[0] -= 1
        if n_left[0] < 0:
            raise OSError(28, "No space left on device")

    with (
        patch.object(pl.DataFrame, "write_parquet", fill),
        pytest.raises(lw.DataError, match=r"part-00002.parquet' cannot be written: .*No space left"),
    ):
        found.write_labels(X, labels, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "labels.json",
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert len(read(found.write_labels(X, labels, tmp_path))) == 1000


def test_other_labels_never_mix(found, labels, tmp_path):
    found.write_labels(X, labels, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(lw.DataError, match="holds labels of another clustering"):
        found.write_labels(X, labels[::-1].copy(), tmp_path)
    with pytest.raises(lw.DataError, match="holds labels of another clustering"):
        lw.summarize(X, 10, random_state=1).write_labels(X, labels, tmp_path)
    (tmp_path / "labels.json").write_text("none")
    with pytest.raises(lw.DataError, match="holds labels of another clustering"):
        found.write_labels(X, labels, tmp_path)
    (tmp_path / "labels.json").unlink()
    with pytest.raises(lw.DataError, match="holds other files"):
        found.write_labels(X, labels, tmp_path)
    del before[tmp_path / "labels.json"]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("other", [X[:-1], np.vstack([X, X]), X[::-1] * 2])
def test_other_rows_are_told(found, labels, tmp_path, other):
    with pytest.raises(lw.DataError, match="differ from those that were read before"):
        found.write_labels(other, labels, tmp_path)


def test_labels_must_be_of_items(found, labels, tmp_path):
    write = partial(found.write_labels, X)
    for wrong in (labels[1:], labels.astype(float), found.assign(X)):
        with pytest.raises(ValueError, match="Pass one whole number for each of the 10 groups"):
            write(wrong, tmp_path / "out")
    assert not (tmp_path / "out").exists()


DAMAGES = {
    "empty": lambda whole: b"",
    "short": lambda whole: whole[: len(whole) // 2],
    "without its end": lambda whole: whole[:-1],
    "zeros": lambda whole: bytes(len(whole)),
    "zeros in the middle": lambda whole: whole[:20] + bytes(100) + whole[120:],
    "no table": lambda whole: b"row,cluster\n0,1\n",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_is_written_again(found, labels, tmp_path, damage):
    paths = found.write_labels(X, labels, tmp_path)
    whole = {path: path.read_bytes() for path in paths}
    times = {path: path.stat().st_mtime_ns for path in paths}
    paths[2].write_bytes(damage(whole[paths[2]]))
    found.write_labels(X, labels, tmp_path)
    assert {path: path.read_bytes() for path in paths} == whole
    assert [path for path in paths if path.stat().st_mtime_ns != times[path]] == [paths[2]]


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame[:-1],
        lambda frame: frame.rename({"cluster": "group"}),
        lambda frame: frame.with_columns(pl.col("cluster").cast(pl.String)),
        lambda frame: frame.with_columns(pl.col("cluster").replace({0: None})),
    ],
)
def test_a_part_with_other_rows_or_columns_is_written_again(found, labels, tmp_path, change):
    paths = found.write_labels(X, labels, tmp_path)
    whole = paths[0].read_bytes()
    change(pl.read_parquet(paths[0])).write_parquet(paths[0])
    found.write_labels(X, labels, tmp_path)
    assert paths[0].read_bytes() == whole


def test_two_write_the_same_labels_at_once(found, labels, tmp_path):
    """The other one begins while the first part of this one is written, and ends before it."""
    whole = [path.read_bytes() for path in found.write_labels(X, labels, tmp_path / "whole")]
    write, out = pl.DataFrame.write_parquet, tmp_path / "out"

    def begin_another(frame, path):
        write(frame, path)
        with patch.object(pl.DataFrame, "write_parquet", write):
            found.write_labels(X, labels, out)

    with patch.object(pl.DataFrame, "write_parquet", begin_another):
        paths = found.write_labels(X, labels, out)
    assert [path.read_bytes() for path in paths] == whole
    assert len(list(out.iterdir())) == len(paths) + 1


def test_two_never_write_different_labels_to_one_folder(found, labels, tmp_path):
    write = pl.DataFrame.write_parquet

    def begin_another(frame, path):
        with patch.object(pl.DataFrame, "write_parquet", write):
            found.write_labels(X, labels[::-1].copy(), tmp_path)
        write(frame, path)

    with (
        patch.object(pl.DataFrame, "write_parquet", begin_another),
        pytest.raises(lw.DataError, match="labels of another clustering"),
    ):
        found.write_labels(X, labels, tmp_path)
