"""No input file leads to anything but a table or one sentence, with little time and memory for each."""

from __future__ import annotations

import pytest

from fuzz.inputs import LONG, WIDE, case
from fuzz.run import PROVOKED, REGRESSIONS, SPACING, tried

CASES = 300
FILES = sorted(path.name for path in REGRESSIONS.iterdir() if "--" in path.name)


def test_changed_and_odd_files_are_read_or_refused():
    found = [one for one in tried(range(SPACING, SPACING + CASES)) if one is not None]
    assert not found, "\n\n".join(map(str, found[:5]))


def test_cases_are_functions_of_their_number():
    assert [case(number) for number in range(40)] == [case(number) for number in range(40)]
    assert len({str(case(number)) for number in range(40)}) > 35


@pytest.fixture(scope="module")
def outcomes():
    return dict(zip(FILES, tried(FILES), strict=True))


@pytest.mark.parametrize("name", FILES)
def test_what_was_found_once_stays_mended(outcomes, name):
    assert outcomes[name] is None, str(outcomes[name])


@pytest.mark.parametrize("names", [WIDE, LONG])
def test_the_time_grows_with_the_width_of_a_table_and_with_the_length_of_its_cells(names):
    # 3 s at most; with one cost for each pair of columns 25 s, and shared cores count slowly
    assert list(tried(names, cpu_s=18)) == [None] * len(names)


def test_what_takes_too_much_or_dies_is_found_and_the_next_case_is_tried():
    cases = ["!memory", "!time", str(SPACING), "!death", "!error", str(SPACING)]
    memory, time, good, death, error, again = tried(cases, cpu_s=1)
    assert {memory.case, time.case, death.case, error.case} == set(PROVOKED)
    assert "MemoryError" in memory.what
    assert "CPU time" in time.what
    assert "SIGABRT" in death.what
    assert "IndexError" in error.what
    assert (good, again) == (None, None)
