"""The version comes from git, and no tag, no git and no folder around it can stop a build."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("pyproject.toml", ".gitattributes", ".git_archival.txt")
FALLBACK = "0.1.dev0"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder, *arguments):
    who = ("-c", "user.name=n", "-c", "user.email=n@n")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout


def version_of(folder):
    command = [sys.executable, "-m", "setuptools_scm", "-c", str(folder / "pyproject.toml")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def copied(folder):
    folder.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def repository(tmp_path):
    folder = copied(tmp_path / "repository")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return folder


def archive(repository, folder):
    folder.mkdir()
    subprocess.run(["tar", "x"], cwd=folder, input=git(repository, "archive", "HEAD"), check=True)
    return folder


@pytest.mark.slow
def test_a_clone_without_tags(repository):
    commit = git(repository, "rev-parse", "--short=7", "HEAD").decode().strip()
    assert version_of(repository).startswith(f"0.1.dev1+g{commit}")


@pytest.mark.slow
def test_a_tag_is_the_version(repository, tmp_path):
    git(repository, "tag", "v0.2.0")
    assert version_of(repository) == "0.2.0"
    assert version_of(archive(repository, tmp_path / "archive")) == "0.2.0"
    git(repository, "commit", "-q", "--allow-empty", "-m", "more")
    assert version_of(repository).startswith("0.2.1.dev1+g")


@pytest.mark.slow
def test_an_archive_without_tags(repository, tmp_path):
    assert version_of(archive(repository, tmp_path / "archive")) == FALLBACK


@pytest.mark.slow
def test_without_git_and_within_another_repository(repository):
    assert version_of(copied(repository / "vendored")) == FALLBACK
    shutil.rmtree(repository / ".git")
    assert version_of(repository) == FALLBACK


@pytest.mark.slow
def test_a_source_distribution_keeps_what_git_said(repository):
    shutil.rmtree(repository / ".git")
    (repository / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: linkwise\nVersion: 0.3.dev7+gabc\n")
    assert version_of(repository) == "0.3.dev7+gabc"
