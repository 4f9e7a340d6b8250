"""Keys of results: what a change of a file does to them."""

import shutil
from pathlib import Path

import pytest
from bench.suites import code_keys as keys

import linkwise

LIBRARY = Path(linkwise.__file__).parent


@pytest.fixture
def library(tmp_path):
    """A copy of the sources of linkwise."""
    folder = tmp_path / "linkwise"
    shutil.copytree(LIBRARY, folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return folder


def key(folder, *entries):
    return keys.Library(folder).fingerprint(entries)


def file_of(folder, name):
    return folder.joinpath(*keys.Library(folder).find_module(name).split(".")[1:]).with_suffix(".py")


def append(file, text):
    with file.open("a") as opened:
        opened.write(text)


def test_a_change_of_an_unrelated_module_leaves_the_key(library):
    before = key(library, "PCKMeans", "KIN")
    for name in ("PCP", "ClusILC", "widget", "Session"):
        append(file_of(library, name), "\nCHANGED = 1\n")
    append(library / "__init__.py", "\nCHANGED = 1\n")
    assert key(library, "PCKMeans", "KIN") == before


@pytest.mark.parametrize("changed", ["PCKMeans", "linkwise.cluster.base", "Constraints", "linkwise.parallel"])
def test_a_change_of_a_used_module_changes_the_key(library, changed):
    before = key(library, "PCKMeans")
    append(file_of(library, changed), "\nCHANGED = 1\n")
    assert key(library, "PCKMeans") != before


def test_a_change_of_native_code_changes_the_key_of_what_uses_it(library):
    entries = ("PCKMeans",), ("linkwise.errors",)
    before = [key(library, *entry) for entry in entries]
    append(next((library / "native" / "src").glob("*.cpp")), "\n// changed\n")
    used, unused = (key(library, *entry) for entry in entries)
    assert used != before[0]
    assert unused == before[1]


def test_what_the_browser_loads_counts_for_the_page_alone(library):
    entries = ("linkwise.app.page.presenter",), ("KIN",)
    before = [key(library, *entry) for entry in entries]
    append(library / "app" / "page" / "static" / "index.html", "<!-- changed -->")
    used, unused = (key(library, *entry) for entry in entries)
    assert used != before[0]
    assert unused == before[1]


def test_comments_and_docstrings_leave_the_key(library):
    before = key(library, "PCKMeans")
    file = file_of(library, "PCKMeans")
    text = file.read_text()
    assert text.startswith('"""')
    file.write_text('"""Another text.\n\n' + text[3:] + "\n# the end\n")
    assert key(library, "PCKMeans") == before


def test_entries_have_no_order_and_the_folder_does_not_matter(library, tmp_path):
    before = key(library, "PCKMeans", "KIN")
    assert key(library, "KIN", "PCKMeans") == before
    assert key(shutil.copytree(library, tmp_path / "elsewhere" / "linkwise"), "KIN", "PCKMeans") == before
    assert keys.fingerprint("KIN", "PCKMeans") == before


def write(folder, **texts):
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/') if name != '__init__' else name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_every_way_to_import_is_followed(tmp_path):
    write(
        tmp_path,
        __init__="from linkwise.a import A\n",
        a="import linkwise.b\nfrom linkwise import c\ndef f():\n    from linkwise.room import d\n",
        b="from . import e\nif TYPE_CHECKING:\n    import linkwise.unused\n",
        c="try:\n    from linkwise.room.g import x\nexcept ImportError:\n    import os, linkwise.h\n",
        e="", h="", unused="", room__d="from .g import x\nfrom ..i import y\n", room__g="", i="",
    )  # fmt: skip
    (tmp_path / "room" / "__init__.py").write_text("from linkwise import A\n")
    library = keys.Library(tmp_path)
    names = ("a", "b", "c", "e", "h", "i", "room", "room.d", "room.g")
    assert library.collect_modules(["A"]) == {f"linkwise.{name}" for name in names}


def test_modules_of_the_suites_count_where_they_are_named():
    library = keys.read_library()
    found = library.collect_modules(["bench.suites.tasks"])
    assert {"bench.suites.tasks", "bench.suites.declarations", "linkwise.datasets"} <= found
    assert "bench.suites.trials" not in found
    assert not any(name.startswith("bench") for name in library.collect_modules(["KIN", "COBS"]))


@pytest.mark.parametrize("name", ["Nothing", "linkwise.nothing", "bench.suites.nothing", "bench", "numpy"])
def test_an_unknown_entry_is_an_error(name):
    with pytest.raises(LookupError, match=f"neither a public name nor a module '{name}'"):
        keys.fingerprint(name)
