"""Session files that no session wrote: random damage, and what may become of any file.

``python tests/fuzz/session_mutations.py --seconds 60 --seed 1`` tries random ones for a minute and keeps
those that break a rule: a file is refused by a `SessionError`, or opens and is consistent, within limits of
CPU time and memory; nothing is imported, made or started on behalf of a file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import struct
import sys
import tempfile
import time
import traceback
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


import linkwise as lw
from fuzz.session_edits import build_session
from linkwise.errors import SessionError
from linkwise.learn.abilities import SupportsTable
from linkwise.session.journal import registry
from linkwise.session.session import Session
from session.session_examples import X

CPU_S = 2
MEMORY_BYTES = 300 * 2**20


# ---------------------------------------------------------------- random bytes
def mutate(content: bytes, rng: random.Random) -> bytes:
    """Flip bits, overwrite bytes, repeat, move or empty pages, or cut the file."""
    data = bytearray(content)
    page = 4096

    def at() -> int:
        return rng.randrange(len(data))

    def flip() -> None:
        for _ in range(rng.choice((1, 1, 2, 8, 64))):
            data[at()] ^= 1 << rng.randrange(8)

    def overwrite() -> None:
        for _ in range(rng.choice((1, 2, 4, 16))):
            data[at()] = rng.choice((0, 1, 2, 13, 127, 128, 255))

    def near_a_header() -> None:
        place = page * rng.randrange(len(data) // page) + rng.randrange(40 if rng.random() < 0.8 else 108)
        data[place] = rng.randrange(256)

    def number() -> None:
        place = rng.randrange(len(data) - 4)
        data[place : place + 4] = struct.pack(">I", rng.choice((0, 1, 2, 7, 8, 2**31 - 1, 2**32 - 1)))

    def move_page() -> None:
        one, other = (page * rng.randrange(len(data) // page) for _ in range(2))
        data[one : one + page] = data[other : other + page]

    def empty_page() -> None:
        start = page * rng.randrange(1, len(data) // page)
        data[start : start + page] = bytes(page)

    def cut() -> None:
        del data[at() :]

    def cut_pages() -> None:
        del data[page * rng.randrange(len(data) // page) :]

    def append() -> None:
        data.extend(rng.randbytes(rng.choice((1, 100, page, 5 * page))))

    kinds = (flip, overwrite, near_a_header, number, move_page, empty_page, cut, cut_pages, append)
    rng.choice((*kinds, flip, near_a_header))()
    return bytes(data)


def mutants(content: bytes, seed: int, n: int):
    """`n` different names and contents."""
    for number in range(n):
        rng = random.Random(zlib.crc32(f"{seed} {number}".encode()))
        yield f"{seed}-{number}", mutate(content, rng)


# ---------------------------------------------------------------- the rules
class Broken(AssertionError):
    """A rule does not hold."""


def open_and_look(path: Path, *given: object) -> str | None:
    """Why the file is refused, or None after it was found consistent; anything else is raised."""
    try:
        with Session.open(path, *given) as session:
            look(session)
    except SessionError as error:
        words = str(error)
        if str(path) not in words and "Session.open(path, X, learner)" not in words:
            raise Broken(f"the message does not name the file: {words}") from error
        return words
    return None


def look(session: Session) -> None:
    """Whether all that a session shows fits together."""
    n, labels, status = session.n_rows, session.labels, session.status
    sizes = status.cluster_sizes
    n_said = sum(e.kind == "answer" for e in session.history)
    for holds, rule in (
        (len(session.ids) == n == len(labels) == len(set(session.ids)), "an id and a label for each row"),
        (sum(sizes) == n and len(sizes) <= n + 1, "each row in one cluster"),
        (status.n_answers == n_said == status.n_yes + status.n_no + status.n_unsure, "answers are counted"),
        (all(0 <= row < n for row in session.names), "names belong to rows"),
        (session.constraints.n_rows == n == session.evidence.n_rows, "pairs belong to rows"),
        (
            [e.number for e in session.events] == list(range(1, len(session.events) + 1)),
            "no event is missing",
        ),
        (all(isinstance(sentence, str) for sentence in status.description), "sentences are text"),
        (isinstance(session.guidelines, str), "guidelines are text"),
        (
            all(
                0 <= row < n and isinstance(each.reason, str) for each in session.examples for row in each[:2]
            ),
            "examples are about rows",
        ),
        (all(0 <= cost < math.inf for cost in session.costs.values()), "costs are numbers"),
        (isinstance(session.source, dict) and isinstance(session.learner["name"], str), "settings are whole"),
        (set(session.cluster_names) <= set(labels.tolist()), "names of clusters belong to clusters"),
    ):
        if not holds:
            raise Broken(rule)
    q = None if session.X is None else session.question
    if q is not None and not (0 <= q.first < n and 0 <= q.second < n and q.first != q.second):
        raise Broken("a question is about two rows")


# ---------------------------------------------------------------- within limits, watched
WATCHED = ("os.", "shutil.", "subprocess.", "socket.", "tempfile.", "import", "open", "exec", "sqlite3.")
HARMLESS = {
    "os.listdir",
    "os.scandir",
    "os.putenv",
    "os.unsetenv",
    "sqlite3.connect/handle",
    "sqlite3.enable_load_extension",
}


PARTS_OF_PYTHON = (sys.prefix, sys.base_prefix, str(Path(lw.__file__).parent))


def _is_reading(given: tuple[object, ...]) -> bool:
    """Whether a file is opened to be read, by what `open` reports."""
    _, mode, flags = given
    if isinstance(mode, str):
        return not set(mode) & set("wax+")
    return isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


class Watch:
    """Notes what Python does besides computing, by an audit hook."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []
        self.path = ""
        sys.addaudithook(self._note)

    def _note(self, event: str, given: tuple[object, ...]) -> None:
        if not self.on or not event.startswith(WATCHED) or event in HARMLESS:
            return
        first = str(given[0]) if given else ""
        if event == "import" and (first.startswith("linkwise.") or first in sys.modules):
            return
        if event == "sqlite3.connect" and (first == ":memory:" or self.path in first):
            return
        if event == "open" and _is_reading(given) and first.startswith((self.path, *PARTS_OF_PYTHON)):
            return
        self.seen.append(f"{event} {first[:100]}")


def limit(extra_memory: int = MEMORY_BYTES) -> None:
    """From here on this process may take so much more memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + extra_memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def allow_cpu(seconds: int = CPU_S) -> None:
    """So much more CPU time until the system ends this process."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds, resource.RLIM_INFINITY))


def judge(path: Path, watch: Watch) -> dict[str, object]:
    """What becomes of one file: ``refused`` without and with data, or what rule is broken."""
    watch.path, watch.seen = str(path), []
    start = time.process_time()
    found: dict[str, object] = {"name": path.name}
    for what, given in (("without", ()), ("with", (X,))):
        allow_cpu()
        watch.on = True
        try:
            found[what] = open_and_look(path, *given)
        except BaseException as error:
            found["broken"] = f"{what} data: {type(error).__name__}: {str(error)[:300]}"
            found["trace"] = traceback.format_exc()[-2000:]
            break
        finally:
            watch.on = False
    if watch.seen and "broken" not in found:
        found["broken"] = f"it had linkwise do: {watch.seen[:5]}"
    return found | {"cpu": round(time.process_time() - start, 3)}


def warm_up() -> None:
    """Import what learners import when they are first used."""
    with tempfile.TemporaryDirectory() as folder:
        for name in registry.LEARNERS:
            parameters = {"random_state": 0} | ({"n_clusters": 3} if name in ("MinMax", "NPU") else {})
            learner = registry.build_learner({"name": name, "parameters": parameters})
            if isinstance(learner, SupportsTable):  # which takes no array
                continue
            if name == "ActiveCOBS":
                learner.set_params(preset="quick", n_candidates=50)
            build_session(Path(folder, f"{name}.linkwise"), learner)
            if open_and_look(Path(folder, f"{name}.linkwise"), X) is not None:
                raise Broken(f"a good session of {name} is refused")
    for method in registry.CLUSTERERS.values():
        method.load()


def judge_all(folder: Path) -> None:
    """Judge every session in a folder; a line of JSON before and after each."""
    warm_up()
    os.chdir(folder)
    sys.path.insert(0, "")
    watch = Watch()
    limit()
    for path in sorted(folder.glob("*.linkwise")):
        print(json.dumps({"begun": path.name}), flush=True)
        print(json.dumps(judge(path, watch)), flush=True)


def hunt(seconds: float, seed: int, keep: Path) -> int:
    """Try random files for so long; keep those that break a rule, and say how many there were."""
    warm_up()
    keep.mkdir(parents=True, exist_ok=True)
    watch, tried, broken = Watch(), 0, 0
    limit()
    with tempfile.TemporaryDirectory() as folder:
        good = Path(folder, "good.linkwise")
        build_session(good)
        content, until = good.read_bytes(), time.monotonic() + seconds
        while time.monotonic() < until:
            name, mutant = next(mutants(content, seed + tried, 1))
            path = Path(folder, f"{name}.linkwise")
            path.write_bytes(mutant)
            found = judge(path, watch)
            tried += 1
            if "broken" in found:
                broken += 1
                (keep / path.name).write_bytes(mutant)
                print(json.dumps(found, indent=1), flush=True)
            for left in Path(folder).glob(f"{name}.*"):
                left.unlink()
    print(f"{tried} files tried, {broken} break a rule" + (f"; they are in {keep}" if broken else ""))
    return 1 if broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="judge the session files in a folder, and print a line for each"
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz/sessions"))
    given = parser.parse_args()
    if given.folder is not None:
        judge_all(given.folder.resolve())
        return 0
    return hunt(given.seconds, given.seed, given.keep)


if __name__ == "__main__":
    sys.exit(main())
