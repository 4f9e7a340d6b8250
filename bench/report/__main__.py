"""Measure what is not measured yet, and write one page of all of it.

    python -m bench.report --data DIR            # the whole: a night
    python -m bench.report --quick               # what takes minutes
    python -m bench.report --page                # the page alone, of what is there

What was measured with the code as it is is not measured again; what was broken off goes on where it stopped.
The page is ``report/index.html`` in the folder of results; it needs no network and no other file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import linkwise
from bench.harness import RESULTS
from bench.report.page import machine, write_page
from bench.report.sections import Section
from bench.report.sections import sections as all_sections
from linkwise.native import _native


def code() -> str:
    """A short name for the library as it is, sources and kernels."""
    digest = hashlib.sha256()
    folder = Path(linkwise.__file__).parent
    kernels = Path(str(_native.__file__))
    for file in [*sorted(folder.rglob("*.py")), kernels]:
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:8]


def command_of(section: Section, folder: Path, data: Path | None, jobs: int, *, quick: bool) -> list[str]:
    """What measures a section."""
    options = section.quick if quick else section.options
    assert options is not None
    out = folder / section.file if section.file else folder
    given = [sys.executable, "-m", section.module, *options, "--out", str(out)]
    if section.data and data is not None:
        given += ["--data", str(data)]
    if section.module.startswith("bench.papers.") and jobs > 1:
        given += ["--jobs", str(jobs)]
    return given


def measured(section: Section, given: list[str], folder: Path, done: dict[str, Any]) -> dict[str, Any]:
    """Run a section; what it says goes into a log. What is told of it afterwards."""
    log = folder / "report" / f"{section.name}.log"
    print(f"{section.title}: {' '.join(given[1:])}", flush=True)
    start = perf_counter()
    with log.open("w") as file:
        status = subprocess.run(given, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    seconds = perf_counter() - start
    print(f"  {seconds:.0f} s, status {status}{'' if status == 0 else f', see {log}'}", flush=True)
    return {
        "code": done["code"],
        "command": given[2:],
        "status": status,
        "seconds": round(seconds, 1),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of results")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes, for papers")
    parser.add_argument("--quick", action="store_true", help="what takes minutes, in a folder of its own")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--only", metavar="A,B", help=f"of {', '.join(s.name for s in all_sections())}")
    options = parser.parse_args(arguments)
    data = options.data or (Path(os.environ["LINKWISE_DATA"]) if os.environ.get("LINKWISE_DATA") else None)
    folder = options.out or (RESULTS / "quick" if options.quick else RESULTS)
    (folder / "report").mkdir(parents=True, exist_ok=True)
    sections, shown = (wanted(only, quick=options.quick) for only in (options.only, None))
    state_file = folder / "report" / "state.json"
    state: dict[str, Any] = json.loads(state_file.read_text()) if state_file.exists() else {}
    now = code()
    for section in [] if options.page else sections:
        given = command_of(section, folder, data, options.jobs, quick=options.quick)
        held = state.get(section.name, {})
        if held.get("code") == now and held.get("command") == given[2:] and held["status"] in (0, 1):
            continue
        state[section.name] = measured(section, given, folder, {"code": now})
        state_file.write_text(json.dumps(state, indent=1))
        write_page(folder, shown, state, quick=options.quick)
    told = write_page(folder, shown, state, quick=options.quick)
    print(f"{folder / 'report' / 'index.html'}: {told}")
    return 0


def wanted(only: str | None, *, quick: bool) -> list[Section]:
    """Sections by their names, or all."""
    known = {section.name: section for section in all_sections() if section.quick is not None or not quick}
    names = list(known) if only is None else only.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"There is no section {', '.join(unknown)}; there are {', '.join(known)}.")
    return [known[name] for name in names]


if __name__ == "__main__":
    sys.exit(main())
