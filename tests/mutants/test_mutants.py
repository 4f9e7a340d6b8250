"""The tool behind `make mutants`: which faults it makes, and that it tells the noticed from the others."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from mutants.edits import edits_of

MODULE = '''
"""A module."""
import functools

LIMIT = 3


class Counter:
    """A class."""

    @property
    def last(self):
        return self.value

    @classmethod
    def start(cls, value=LIMIT - 1, *, step=1):
        """A docstring with 1 < 2."""
        made = cls()
        made.value, made.step = value, step
        return made

    def count(self, until):
        while self.value < until:
            self.value += self.step
        return self.value


@functools.lru_cache
def sign(x: "int" = 0) -> "int":
    if not isinstance(x, int):
        raise TypeError(f"{x + 1} is", "no number")
    return -1 if x < 0 else 1
'''

TESTS = """
import counting
import pytest

def test_counter():
    assert counting.Counter.start().count(9) == 9
    assert counting.Counter.start().last == 2

def test_limit():
    assert counting.LIMIT == 3

@pytest.mark.parametrize("x", [-5, 5])
def test_sign(x):
    assert counting.sign(x) * x > 0
    assert counting.sign() == 1
"""


def test_each_fault_is_put_and_taken_back():
    tree = ast.parse(MODULE)
    plain = ast.dump(tree)
    found = list(edits_of(MODULE, tree))
    assert len({edit.key for edit in found}) == len(found)
    for edit in found:
        before = edit.put()
        assert ast.dump(tree) != plain
        compile(tree, "counting.py", "exec")
        edit.put(before)
        assert ast.dump(tree) == plain


def test_faults_are_made_where_they_can_be_noticed():
    found = {(edit.scope, edit.change) for edit in edits_of(MODULE, ast.parse(MODULE))}
    assert {
        ("", "3 -> 4"),
        ("Counter.last", "return self.value -> return None"),
        ("Counter.start", "LIMIT - 1 -> LIMIT + 1"),
        ("Counter.start", "1 -> 2"),
        ("Counter.start", "1 -> 0"),
        ("Counter.count", "self.value < until -> self.value >= until"),
        ("Counter.count", "self.value += self.step -> self.value -= self.step"),
        ("sign", "not isinstance(x, int) -> isinstance(x, int)"),
        ("sign", "-1 -> 1"),
    } <= found
    assert not any("docstring" in change or "no number" in change.partition(" -> ")[2] for _, change in found)


def test_outcomes(tmp_path):
    (tmp_path / "counting.py").write_text(MODULE)
    (tmp_path / "test_counting.py").write_text(TESTS)
    results = tmp_path / "counting.jsonl"
    script = (
        "import pytest, sys; from pathlib import Path; from mutants import session;"
        "session.PATIENCE = 0; plugin = session.MutantSession('counting', Path(sys.argv[1]), 2, again=False);"
        "sys.exit(pytest.main(['-q', '-s', '-p', 'no:cacheprovider', 'test_counting.py'], plugins=[plugin]))"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[1])])
    command = [sys.executable, "-c", script, str(results)]
    env = os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, cwd=tmp_path, env=env, check=True, stdout=subprocess.DEVNULL)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert len(lines) == len(list(edits_of(MODULE, ast.parse(MODULE))))
    outcome = {(scope, change): line["outcome"] for line in lines for scope, _, change in [line["key"]]}
    assert outcome["", "3 -> 4"] == "killed"
    assert outcome["Counter.last", "return self.value -> return None"] == "killed"
    assert outcome["Counter.start", "LIMIT - 1 -> LIMIT + 1"] == "killed"
    assert outcome["Counter.count", "self.value += self.step -> self.value -= self.step"] == "killed"
    assert outcome["sign", "x < 0 -> x <= 0"] == "killed"
    survived = {key for key, how in outcome.items() if how == "survived"}
    assert survived == {("sign", "raise TypeError(f'{x + 1} is', 'no number') -> pass"), ("sign", "1 -> 2")}

    subprocess.run(command, cwd=tmp_path, env=env, check=True, stdout=subprocess.DEVNULL)
    assert len(results.read_text().splitlines()) == len(lines), "nothing is tried twice"
