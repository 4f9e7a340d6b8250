"""Each promise of the page about reliability is held by tests that are there, or says that it is not."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reliability.rst"
PROMISES = re.findall(r"^   \* - (R\d+)\n     - (.+)\n     - (.+)$", PAGE.read_text(), re.MULTILINE)


def test_the_promises_are_numbered():
    assert [number for number, *_ in PROMISES] == [f"R{n}" for n in range(1, 23)]


@pytest.mark.parametrize(("number", "tests"), [(number, tests) for number, _, tests in PROMISES])
def test_each_promise_names_its_tests(number, tests):
    named = re.findall(r"``([\w/]+\.py)(?:::(\w+))?``", tests)
    assert named or "No daily test holds it" in tests
    for file, name in named:
        text = (TESTS / file).read_text()
        assert re.search(rf"^def {name}\(" if name else r"^def test_|= .*TestCase$", text, re.MULTILINE), file
