"""Write `slow.txt`, the tests that `make quick` leaves out: ``python tests/mark_slow.py build/tests.xml``.

The report comes from ``make test ARGS=--junitxml=build/tests.xml`` on a machine that does nothing else.
Folders that are slow by nature stand in `FOLDERS`; any other test is slow if one of its cases takes longer
than `LIMIT_S`.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

FOLDERS = ("tests/bench/", "tests/browser/", "tests/examples/", "tests/notebook/")
LIMIT_S = 0.5
HERE = Path(__file__).parent


def slow_tests(report: Path) -> list[str]:
    """``tests/session/test_killed_process.py::test_name`` for each slow test, sorted."""
    found = set()
    for case in ElementTree.parse(report).iter("testcase"):
        file = locate(case.get("classname", ""))
        name = case.get("name", "").split("[")[0]
        if float(case.get("time", 0)) > LIMIT_S and not file.startswith(FOLDERS):
            found.add(f"{file}::{name}")
    return sorted(found)


def locate(classname: str) -> str:
    """The file of a dotted name that may end in classes."""
    parts = classname.split(".")
    while parts and not (path := HERE.parent.joinpath(*parts).with_suffix(".py")).exists():
        parts.pop()
    return path.relative_to(HERE.parent).as_posix() if parts else classname


if __name__ == "__main__":
    tests = slow_tests(Path(sys.argv[1]))
    (HERE / "slow.txt").write_text("\n".join([*FOLDERS, *tests]) + "\n", encoding="utf-8")
    print(f"{len(tests)} tests are slow, beside {len(FOLDERS)} folders.")
