"""Passes and exports that are killed, or meet a full disk, in the middle: the same command goes on there."""

import pytest

from full_disk import full_disk
from item_files import ask, count_calls, kill_in_a_pass, kind, small_blocks
from linkwise.large import checkpoints, group_totals, survey, table_labels

__all__ = ["ask", "kind", "small_blocks"]

N_BLOCKS = 15  # of 64 rows, in each pass
PASSES = {"survey.npz": survey.TableSurvey, "totals.npz": group_totals.GroupTotals}


def read_folder(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name != ".lock"}


@pytest.fixture
def whole(ask, tmp_path):
    """The groups of a session whose passes nothing stopped."""
    assert ask("--groups", 50, "--session", tmp_path / "whole.linkwise").exit_code == 0
    return read_folder(tmp_path / "whole.linkwise.d")


@pytest.mark.parametrize(
    ("work", "n_saved"), [("survey.TableSurvey.of", 6), ("group_totals.GroupTotals.of", 4)]
)
def test_a_pass_that_was_killed_goes_on_after_its_checkpoint(
    ask, tmp_path, whole, monkeypatch, work, n_saved
):
    words = "--terminal", "--id", "key", "--impute", "median", "--groups", 50
    kill_in_a_pass(work, n_saved, "ask", tmp_path / "events" / "*.parquet", *words)
    assert not (tmp_path / "events.linkwise").exists()
    module, owner, name = work.split(".")
    calls = count_calls(monkeypatch, getattr({"survey": survey}.get(module, group_totals), owner), name)
    assert ask("--groups", 50).exit_code == 0
    assert len(calls) == N_BLOCKS - n_saved
    assert read_folder(tmp_path / "events.linkwise.d") == whole


def test_an_export_that_was_killed_goes_on_after_its_last_file(ask, linkwise, tmp_path, monkeypatch):
    ask("--groups", 50, said="y\nn\nq\n")
    path, out = tmp_path / "events.linkwise", tmp_path / "out"
    linkwise("export", path, "--labels", tmp_path / "whole")
    kill_in_a_pass("table_labels.write_frame", 5, "export", path, "--labels", out)
    n_files = len(list(out.glob("*.parquet")))
    calls = count_calls(monkeypatch, table_labels, "write_frame")
    assert linkwise("export", path, "--labels", out).exit_code == 0
    whole = read_folder(tmp_path / "whole")
    assert (n_files, len(calls)) == (5, len(whole) - 1 - 5)
    assert read_folder(out) == whole


@pytest.mark.parametrize("name", PASSES)
def test_a_full_disk_in_a_pass_keeps_the_checkpoint(ask, tmp_path, whole, monkeypatch, name):
    monkeypatch.setattr(checkpoints, "SAVE_S", 0.0)
    saved, merge, n_merged = tmp_path / "events.linkwise.d" / name, PASSES[name].merge, []

    def fill(self, more):
        n_merged.append(1)
        if len(n_merged) == 6:
            disk.__enter__()
        return merge(self, more)

    disk = full_disk()
    with monkeypatch.context() as patch:
        patch.setattr(PASSES[name], "merge", fill)
        try:
            found = ask("--groups", 50)
        finally:
            disk.__exit__(None, None, None)
    assert found.exit_code == 3
    said = " ".join(found.stderr.split())
    assert f"{name}' cannot be written: File too large. Make room" in said
    assert "Traceback" not in said
    assert saved.exists()
    assert not list(saved.parent.glob(".*unfinished"))
    merged = []
    monkeypatch.setattr(PASSES[name], "merge", lambda self, more: merged.append(1) or merge(self, more))
    assert ask("--groups", 50).exit_code == 0
    assert len(merged) == N_BLOCKS - 5
    assert read_folder(saved.parent) == whole


def test_a_full_disk_in_an_export_keeps_its_files(ask, linkwise, tmp_path, monkeypatch):
    ask("--groups", 50)
    path, write, n_written = tmp_path / "events.linkwise", table_labels.write_frame, []
    linkwise("export", path, "--labels", tmp_path / "whole")

    def fill(frame, target):
        n_written.append(1)
        with full_disk(0 if len(n_written) == 4 else 2**30):
            write(frame, target)

    with monkeypatch.context() as patch:
        patch.setattr(table_labels, "write_frame", fill)
        found = linkwise("export", path, "--labels", tmp_path / "out")
    assert found.exit_code == 3
    assert "cannot be written" in found.stderr
    assert "Complete parts stay." in " ".join(found.stderr.split())
    assert len(list((tmp_path / "out").iterdir())) == 4
    calls = count_calls(monkeypatch, table_labels, "write_frame")
    assert linkwise("export", path, "--labels", tmp_path / "out").exit_code == 0
    whole = read_folder(tmp_path / "whole")
    assert len(calls) == len(whole) - 1 - 3
    assert read_folder(tmp_path / "out") == whole
