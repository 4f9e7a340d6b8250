"""Try changed input files in a process of its own, with little memory and little time for each.

``python -m fuzz.run --seconds 600 --seed 7`` tries cases for that long and tells what it found;
``python -m fuzz.run --case 7000123`` tries one and keeps its files.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

CPU_S = 10
MEMORY = 2**30  # bytes that a case may map beyond what is mapped when it begins
PATIENCE_S = 600  # of the parent with a process that neither computes nor ends
REGRESSIONS = Path(__file__).parent / "regressions"
SPACING = 1_000_000  # case numbers of each seed
DEEP = 15  # every so many cases whole commands are run


def _compute() -> None:
    while True:
        pass


PROVOKED = {  # what a test of this net wants to see found
    "!memory": lambda: bytearray(2 * MEMORY),
    "!time": _compute,
    "!death": os.abort,
    "!error": lambda: [].pop(),
}


@dataclass(frozen=True)
class Found:
    """A case that ended in something that no file should lead to."""

    case: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"case {self.case}: {self.what}\n{self.where}"


# ---------------------------------------------------------------- in the child
def child(cpu_s: int) -> None:
    """Try each case that is named on stdin, and say on stdout how it went."""
    say = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from fuzz.trials import try_case

    try_case(_case_named("0"), Path(tempfile.mkdtemp()), deeply=True)  # loads what is loaded late
    for line in sys.stdin:
        name = line.strip()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, chdir(folder):
            _bound(cpu_s)
            try:
                case = _case_named(name)
                told = try_case(case, Path(folder), deeply=not name.isdigit() or int(name) % DEEP == 0)
                result = {"told": told}
            except BaseException as error:
                result = {"what": f"{type(error).__name__}: {error}"[:500], "where": _place(error)}
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(json.dumps(result), file=say, flush=True)


def _bound(cpu_s: int) -> None:
    """Let this process map one more GiB, and compute for so many more seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    mapped = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, resource.RLIM_INFINITY))


def _place(error: BaseException) -> str:
    shown = "".join(traceback.format_exception(error))
    return shown if len(shown) < 6000 else f"{shown[:3000]}\n...\n{shown[-3000:]}"


def _case_named(name: str):  # type: ignore[no-untyped-def]
    from fuzz.inputs import LONG, WIDE, Case, case, large

    if name.isdigit():
        return case(int(name))
    if name in (*WIDE, *LONG):
        return large(name)
    if name in PROVOKED:
        PROVOKED[name]()
    path = REGRESSIONS / name
    kind, _, rest = path.name.partition("--")
    if path.is_dir():
        files = {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
        return Case(kind, rest, files)
    return Case(kind, rest, {rest: path.read_bytes()})


# ---------------------------------------------------------------- in the parent
def tried(cases: Iterable[object], *, cpu_s: int = CPU_S) -> Iterator[Found | None]:
    """Try the cases one after another; for each what it found, or None.

    Parameters
    ----------
    cases : iterable of int or str
        Numbers of cases, or names of files in the folder `regressions`.
    cpu_s : int
        Seconds of CPU time that each may take.
    """
    running = None
    try:
        for case in cases:
            running = running or _start(cpu_s)
            found, running = _one(running, str(case))
            yield found
    finally:
        if running is not None:
            running.kill()
            running.communicate()


def _start(cpu_s: int) -> subprocess.Popen[str]:
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "fuzz.run", "--child", "--cpu", str(cpu_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **one, "POLARS_MAX_THREADS": "1", "PYTHONPATH": path},
    )


def _one(running: subprocess.Popen[str], case: str) -> tuple[Found | None, subprocess.Popen[str] | None]:
    assert running.stdin is not None
    assert running.stdout is not None
    try:
        running.stdin.write(case + "\n")
        running.stdin.flush()
    except BrokenPipeError:
        pass
    if not select.select([running.stdout], [], [], PATIENCE_S)[0]:
        running.kill()
        running.communicate()
        return Found(case, f"waited for something for {PATIENCE_S} s", ""), None
    line = running.stdout.readline()  # the one line that is said of a case: nothing stays in the buffer
    if not line:
        running.communicate()
        return Found(case, _death(running.returncode), ""), None
    said = json.loads(line)
    return (Found(case, said["what"], said["where"]) if "what" in said else None), running


def _death(code: int) -> str:
    if code == -signal.SIGXCPU:
        return "more CPU time than allowed"
    return f"the process ended with {signal.Signals(-code).name if code < 0 else code}"


def main() -> None:
    """Try cases for some seconds, and end with 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long [60]")
    parser.add_argument("--seed", type=int, default=1, help="which cases [1]")
    parser.add_argument("--case", help="one case alone, which is kept in build/fuzz")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cpu", type=int, default=CPU_S, help=f"seconds of CPU time a case [{CPU_S}]")
    given = parser.parse_args()
    if given.child:
        child(given.cpu)
        return
    if given.case is not None:
        _keep(given.case)
        found = list(tried([given.case], cpu_s=given.cpu))
    else:
        found = list(_for_seconds(given.seconds, given.seed, given.cpu))
    kinds = {}
    for one in filter(None, found):
        kinds.setdefault((one.what[:60], one.where[-300:]), one)
    for one in kinds.values():
        print(one, end="\n\n")
    n_found = sum(one is not None for one in found)
    print(f"{len(found)} cases tried, {n_found} found something, of {len(kinds)} kinds")
    sys.exit(1 if kinds else 0)


def _for_seconds(seconds: float, seed: int, cpu_s: int) -> Iterator[Found | None]:
    end = time.monotonic() + seconds
    for found in tried(range(seed * SPACING, (seed + 1) * SPACING), cpu_s=cpu_s):
        if found is not None:
            print(f"case {found.case}: {found.what}", flush=True)
        yield found
        if time.monotonic() > end:
            return


def _keep(name: str) -> None:
    case = _case_named(name)
    place = Path("build/fuzz") / name
    for file, content in case.files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_bytes(content)
    print(f"{case.kind} {case.name}, delimiter {case.delimiter!r}, is in {place}")


if __name__ == "__main__":
    main()
