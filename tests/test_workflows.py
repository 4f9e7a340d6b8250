"""The workflows call verbs that the Makefile has, and pin every action by its commit."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_verbs_of_the_makefile(path):
    verbs = set(re.findall(r"^([a-z-]+):.*##", MAKEFILE, flags=re.M))
    for command in re.findall(r"run: make (.*)", path.read_text(encoding="utf-8")):
        called = [word for word in re.sub(r'"[^"]*"', "", command).split() if "=" not in word]
        assert called
        assert set(called) <= verbs


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    for action in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8")):
        assert action.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)


def test_an_action_has_one_version():
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    pinned = set(re.findall(r"uses: ([^\s@]+)@(\w+) # (v[\d.]+)", "".join(texts)))
    assert len(pinned) == len({action for action, _, _ in pinned}) > 0


def test_the_core_tests_are_there():
    folders = re.search(r"CORE := \$\(addprefix tests/,([\w ]+)\) (\S+)", MAKEFILE)
    assert all((ROOT / "tests" / folder).is_dir() for folder in folders[1].split())
    assert (ROOT / folders[2]).is_file()
