"""No input file leads to anything but a table or one sentence, with little time and memory for each."""

from __future__ import annotations

import pytest

from fuzz.inputs import KINDS, LONG, WIDE, case
from fuzz.run import PROVOKED, REGRESSIONS, SPACING, tried

CASES = range(SPACING, SPACING + 40)
MORE_CASES = range(SPACING + 40, SPACING + 300)
FILES = sorted(path.name for path in REGRESSIONS.iterdir() if "--" in path.name)


@pytest.fixture(scope="module")
def outcomes():
    """What was found in each file and each case, all tried by one process."""
    names = [*FILES, *CASES]
    return dict(zip(names, tried(names), strict=True))


def test_changed_and_odd_files_are_read_or_refused(outcomes):
    found = [outcomes[number] for number in CASES if outcomes[number] is not None]
    assert not found, "\n\n".join(map(str, found[:5]))


@pytest.mark.slow(nightly=True)
def test_more_changed_and_odd_files_are_read_or_refused():
    found = [one for one in tried(MORE_CASES) if one is not None]
    assert not found, "\n\n".join(map(str, found[:5]))


def test_the_cases_of_every_run_hold_each_kind_of_file():
    chosen = [case(number) for number in CASES]
    assert {one.kind for one in chosen} == set(KINDS)
    endings = {name.rpartition(".")[2] for one in chosen for name in one.files}
    assert {"csv", "tsv", "jsonl", "parquet", "npy", "npz"} <= endings


def test_cases_are_functions_of_their_number():
    assert [case(number) for number in range(40)] == [case(number) for number in range(40)]
    assert len({str(case(number)) for number in range(40)}) > 35


@pytest.mark.parametrize("name", FILES)
def test_what_was_found_once_stays_mended(outcomes, name):
    assert outcomes[name] is None, str(outcomes[name])


@pytest.mark.slow(nightly=True)
def test_the_time_grows_with_the_width_of_a_table_and_with_the_length_of_its_cells():
    # 3 s at most; with one cost for each pair of columns 14 s, and shared cores count slowly
    names = [*WIDE, *LONG]
    assert list(tried(names)) == [None] * len(names)


@pytest.mark.slow(nightly=True)
def test_what_takes_too_much_or_dies_is_found_and_the_next_case_is_tried():
    cases = ["!memory", "!error", str(SPACING), "!time", str(SPACING), "!death"]
    memory, error, good, time, again, death = tried(cases, cpu_s=1)
    assert {memory.case, time.case, death.case, error.case} == set(PROVOKED)
    assert "MemoryError" in memory.what
    assert "CPU time" in time.what
    assert "SIGABRT" in death.what
    assert "IndexError" in error.what
    assert (good, again) == (None, None)
