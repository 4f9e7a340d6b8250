"""What changelog.d holds can be collected into CHANGELOG.md."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def collected(folder, *arguments):
    command = [sys.executable, "-m", "towncrier", "build", "--version", "9.9.9", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path):
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "changelog.d", tmp_path / "changelog.d")
    return tmp_path


@pytest.mark.slow
def test_every_fragment_is_collected_above_the_older_releases(copy):
    older = (copy / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")[2]
    said = [file.read_text(encoding="utf-8").strip() for file in (copy / "changelog.d").glob("+*.md")]
    (copy / "changelog.d" / "+trial.fixed.md").write_text("Something that was wrong.\n")
    done = collected(copy, "--yes", "--date", "2030-01-02")
    assert done.returncode == 0, done.stderr
    now = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = now.partition("\n## 9.9.9, 2030-01-02\n")[2].partition("\n## ")
    assert newest[2] == older
    for text in [*said, "Something that was wrong."]:
        assert " ".join(text.split()) in " ".join(newest[0].split())
    assert [file.name for file in (copy / "changelog.d").iterdir()] == ["README.md"]


@pytest.mark.slow
def test_a_fragment_of_no_kind_is_refused(copy):
    (copy / "changelog.d" / "something.md").write_text("Lost.\n")
    done = collected(copy, "--draft")
    assert done.returncode == 1
    assert "something.md" in done.stderr
