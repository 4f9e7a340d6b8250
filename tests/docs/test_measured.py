"""Numbers of the text are read from the tables in which they were measured."""

import importlib.util
import re
import subprocess

import pytest

from docs.test_docs import DOCS, REPRODUCTION

spec = importlib.util.spec_from_file_location("docs_measured", DOCS / "measured.py")
measured = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measured)


@pytest.fixture
def results(tmp_path):
    (tmp_path / "x.csv").write_text("task,method,ari\niris,a,0.512\niris,b,0.7\nwine,a,0.25\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x.csv; ari; task=wine", "0.25"),
        ("x.csv; ari; task=iris; method=a; .2f", "0.51"),
        ("x.csv; count; task=iris", "2"),
        ("x.csv; count; task!=iris", "1"),
        ("x.csv; mean ari; task=iris; .3f", "0.606"),
        ("x.csv; max ari", "0.70"),
    ],
)
def test_a_number_is_read_from_its_table(results, text, shown):
    assert measured.read_measured(text, results) == shown


@pytest.mark.parametrize(
    "text",
    ["x.csv; ari", "x.csv; ari; task=glass", "x.csv; nmi; task=wine", "x.csv; ari; task", "y.csv; count"],
)
def test_a_number_that_is_in_no_table_is_an_error(results, text):
    with pytest.raises((ValueError, OSError)):
        measured.read_measured(text, results)


# ---------------------------------------------------------------- pages
PROTOCOL = {"0.05", "0.03", "0.02", "0.01"}  # what counts as a difference, which the text explains
RESULT = re.compile(r"\d+\.\d+|\b\d+ of (?:the )?\d+\b")


def prose(text):
    """The text of a page without blocks, options of directives, literals and roles."""
    lines, inside = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if inside is not None and (not line.strip() or indent > inside):
            continue
        inside = indent if re.match(r"\s*\.\. \S+::", line) and "rubric" not in line else None
        if inside is None:
            lines.append(line)
    return re.sub(r"``[^`]*``|:[\w:]+:`[^`]*`|`[^`]*`_?|Sections? [\d.]+", "", "\n".join(lines))


@pytest.mark.parametrize("page", REPRODUCTION)
def test_no_result_is_typed_by_hand(page):
    found = RESULT.findall(prose((DOCS / page).read_text(encoding="utf-8")))
    assert [each for each in found if each not in PROTOCOL] == []


@pytest.mark.parametrize("page", REPRODUCTION)
def test_every_measured_number_is_in_its_table(page):
    for role in re.findall(r":measured:`([^`]*)`", (DOCS / page).read_text(encoding="utf-8")):
        assert measured.read_measured(" ".join(role.split())) != ""


def test_a_number_in_prose_is_found():
    text = "It is 0.41.\n\n.. csv-table::\n   :file: x 0.5\n\nSo ``0.3`` holds on 3 of the 10 sets."
    assert RESULT.findall(prose(text)) == ["0.41", "3 of the 10"]


@pytest.mark.parametrize("page", REPRODUCTION)
def test_every_shown_result_is_committed(page):
    """A result that git ignores would be missing elsewhere."""
    shown = re.findall(r"bench/results/(\S+\.(?:csv|png))", (DOCS / page).read_text(encoding="utf-8"))
    tracked = subprocess.run(
        ["git", "ls-files", "bench/results"], cwd=DOCS.parent, capture_output=True, text=True, check=False
    ).stdout
    if not tracked:
        pytest.skip("this is no checkout of git")
    assert [name for name in shown if f"bench/results/{name}\n" not in tracked] == []
