"""The command ``linkwise``, also ``python -m linkwise``. Loads next to nothing before it is needed."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from importlib.util import find_spec

from linkwise.app.cli.streams import prepare_streams

NEEDED = ("typer", "rich", "polars")  # the extra "cli", a part of "app"


def main() -> None:
    """Run the command line; without its packages say in one line how to get them."""
    prepare_streams()
    try:
        _run()
    finally:
        sys.stdout.flush()  # while a closed pipe can still be told from a fault


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        from linkwise import __version__

        print(f"linkwise {__version__}")
        return
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing and sys.argv[1:2] == ["doctor"]:
        from linkwise.app.cli.commands.doctor import main as doctor

        sys.exit(doctor(sys.argv[2:]))
    if missing:
        sys.exit(_without(missing))
    by_python = signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is open yet: Ctrl-C needs no words
    from linkwise.app.cli.main import app

    signal.signal(signal.SIGINT, by_python)
    atexit.register(gc.freeze)  # else the end searches all that was imported for garbage: a third of a second
    app(prog_name="linkwise")


def _without(missing: list[str]) -> int:
    print(
        f'the command line needs {", ".join(missing)}, not installed here: pip install "linkwise[app]"',
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    main()
