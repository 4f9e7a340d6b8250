"""Importing linkwise costs nothing, and every public name is there."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import linkwise as lw


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_linkwise_imports_none_of_what_it_needs():
    code = (
        "import sys; before = set(sys.modules); import linkwise; dir(linkwise); "
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    heavy = {"numpy", "scipy", "sklearn", "joblib", "narwhals", "polars", "pandas", "typer", "rich"}
    assert heavy.isdisjoint(run(code).split())


def test_constraints_need_no_scikit_learn():
    code = "import sys, linkwise; linkwise.Evidence, linkwise.TruthOracle; print('sklearn' in sys.modules)"
    assert run(code).strip() == "False"


ASK = """
import sys
from runpy import run_module
sys.argv = ["linkwise", "ask", "rows.csv", "--json"]
try:
    run_module("linkwise", run_name="__main__")
except SystemExit:
    print("sklearn" in sys.modules)
"""
OPEN_PAGE = """
import sys
from pathlib import Path
from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.data.reading import Reading
from linkwise.app.project.project import open_project
project = open_project(Path("rows.csv"), Path("rows.linkwise"), Reading(), MethodChoice())
assert present_project(project).state()["question"]
print("sklearn" in sys.modules)
"""


@pytest.mark.parametrize("code", [ASK, OPEN_PAGE], ids=["command", "page"])
def test_the_first_question_needs_no_scikit_learn(code, tmp_path, monkeypatch):
    """It takes half of the time in which a command begins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"{i},{i % 3}.5\n" for i in range(30)))
    assert run(code).split()[-1] == "False"


@pytest.mark.parametrize("name", lw.__all__)
def test_public_names_are_found_where_they_are_defined(name):
    thing = getattr(lw, name)
    assert thing.__name__ == name
    assert thing.__module__ == lw._HOME[name]
    assert getattr(import_module(thing.__module__), name) is thing
    assert thing.__doc__


def test_every_name_has_one_home():
    assert len(set(lw.__all__)) == len(lw.__all__)
    assert set(lw.__all__) == set(lw._HOME)
    assert set(lw.__all__) <= set(dir(lw))
    assert dir(lw) == sorted(dir(lw))


def test_type_checkers_and_editors_see_every_name():
    """They read the block under ``if TYPE_CHECKING``, since they do not run `__getattr__`."""
    tree = ast.parse(Path(lw.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imported for alias in node.names} == lw._HOME


def test_no_such_name():
    with pytest.raises(AttributeError, match="module 'linkwise' has no attribute 'KMeens'"):
        lw.KMeens  # noqa: B018
    with pytest.raises(ImportError):
        from linkwise import KMeens  # noqa: F401


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert lw.__version__ == version("linkwise")
