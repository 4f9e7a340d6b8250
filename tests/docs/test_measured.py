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


def test_a_cell_of_a_table_names_value_conditions_and_format(results):
    text = measured.join_parts("x.csv", "task=iris", "ari; method=b; .2f")
    assert text == "x.csv; ari; task=iris; method=b; .2f"
    assert measured.read_measured(text, results) == "0.70"


# ---------------------------------------------------------------- pages
PRESETS = sorted(f"presets/{page.name}" for page in (DOCS / "presets").glob("*.rst"))
MEASURED = [*REPRODUCTION, *PRESETS]
PROTOCOL = {
    "0.05",
    "0.03",
    "0.02",
    "0.01",
    "95 %",
    "98 %",
}  # what counts as a difference, which the text explains
NUMBER = r"\d+(?:[ .]\d+)*"
LIST = rf"{NUMBER}(?:(?:, | and | or | to ){NUMBER})*(?: ?%(?! of| for))?"
COUNTED = (
    r"(?: % (?:of|for) (?:(?:all|the|a|their|its) )*(?:pairs|rows|set|answers|them)"
    r"| (?:random )?(?:pairs|constraints|questions|answers|runs|rows|sets|clusters|clusterings|classes)"
    r"| (?:dimensions|seconds))\b"
)
NO_RESULTS = re.compile(
    r"\((?:[^()]*, )?(?:19|20)\d\d\b(?: and (?:19|20)\d\d)?"  # the year of a source
    r"|\bfrom 0 to 1\b"  # an axis
    rf"|\b(?:Tables?|Figures?|Algorithms?|COBRA-|exits with|p <|level of|steps of|columns in) ?{LIST}"
    # what a measurement was given: a preposition or a verb of drawing, and what is counted
    r"|\b(?:with|after|over|within|up to|at most|to|for|by|of|in|first|draws?|asks?|between|from|gets) "
    rf"{LIST}{COUNTED}(?: and {LIST}{COUNTED})?",
    re.IGNORECASE,
)
"""Numbers that state no measurement, by what stands around them."""
OF_PAPER = re.compile(r"\bpaper(?:'s)?\b|\bprint(?:s|ed)?\b")
SCORE = re.compile(r"\d+\.\d+|\b\d+ of (?:the )?\d+\b")  # a result wherever it stands
WHOLE = re.compile(rf"(?<![\w.]){NUMBER}(?: ?%)?(?! of (?:the )?\d)(?!\.\d)")


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


def typed_results(text):
    """Numbers of the prose that may state a measurement.

    A decimal and "N of M" always may. A whole number or a percentage may not if it is a year, the number of a
    table or figure, or what a measurement was given (pairs, questions), nor in a sentence that says what the
    paper prints.
    """
    text = re.sub(r"\s+", " ", prose(text))
    found = SCORE.findall(text)
    for sentence in re.split(r"(?<=[.:;*])\s", SCORE.sub("", text)):
        if not OF_PAPER.search(sentence):
            found += WHOLE.findall(NO_RESULTS.sub("", sentence))
    return [each for each in found if each not in PROTOCOL]


@pytest.mark.parametrize("page", MEASURED)
def test_no_result_is_typed_by_hand(page):
    assert typed_results((DOCS / page).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", MEASURED)
def test_every_measured_number_is_in_its_table(page):
    for role in re.findall(r":measured:`([^`]*)`", (DOCS / page).read_text(encoding="utf-8")):
        assert measured.read_measured(" ".join(role.split())) != ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "It is 0.41.\n\n.. csv-table::\n   :file: x 0.5\n\nSo ``0.3`` holds on 3 of the 10 sets.",
            ["0.41", "3 of the 10"],
        ),
        ("The paper prints 0.41, and 12 questions.", ["0.41"]),
        ("With 20 and 50 pairs, 19 % of the runs fail.", ["19 %"]),
        ("KIN needs 45 questions, and with 5 and 10 % of all pairs 3 rounds.", ["45", "3"]),
        ("Figures 2 to 4 of Okabe and Yamada (2018) and Table 3 are better by 7.", ["7"]),
        ("A level of 5 %, :measured:`x; y`, a tolerance of 0.05, and 100 runs.", ["100"]),
        ("The mean over 10 runs, after 25 and 50 answers, is 12.", ["12"]),
    ],
)
def test_a_number_in_prose_is_found(text, found):
    assert typed_results(text) == found


@pytest.mark.parametrize("page", MEASURED)
def test_every_shown_result_is_committed(page):
    """A result that git ignores would be missing elsewhere."""
    shown = re.findall(r"bench/results/(\S+\.(?:csv|png))", (DOCS / page).read_text(encoding="utf-8"))
    tracked = subprocess.run(
        ["git", "ls-files", "bench/results"], cwd=DOCS.parent, capture_output=True, text=True, check=False
    ).stdout
    if not tracked:
        pytest.skip("this is no checkout of git")
    assert [name for name in shown if f"bench/results/{name}\n" not in tracked] == []
