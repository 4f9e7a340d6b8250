"""Run experiments, each in a process of its own, and record the key of the code that each was measured with.

``report/state.json`` in the folder of results has an entry for each experiment that ran: the key of the code
(`bench.suites.code_keys`), the command, its exit status, seconds, time and machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.experiments import Experiment
from bench.machine import describe_machine
from bench.results import RESULTS
from bench.suites.code_keys import fingerprint

FINISHED = (0, 1)
"""Exit statuses of an experiment that ran to its end; 1 where a figure is missed."""
FORMER_NAMES = {"cobras": "cobras_quality"}


def results_folder(out: Path | None, *, quick: bool) -> Path:
    """Return the folder of results; quick runs have one of their own."""
    return out or (RESULTS / "quick" if quick else RESULTS)


def build_command(
    experiment: Experiment,
    folder: Path,
    *,
    quick: bool = False,
    data: Path | None = None,
    jobs: int = 1,
    extra: Sequence[str] = (),
) -> list[str]:
    """Return the command that runs an experiment; `extra` options override its own."""
    if quick and experiment.quick is None:
        raise SystemExit(f"{experiment.name} has no quick form. Run it without --quick.")
    options = experiment.quick if quick else experiment.options
    command = [sys.executable, "-m", experiment.module, *([experiment.command] * bool(experiment.command))]
    command += [*(options or ()), "--out", str(folder)]
    if experiment.data and data is not None:
        command += ["--data", str(data)]
    if jobs > 1 and not experiment.module.startswith("bench.speed."):
        command += ["--jobs", str(jobs)]
    return [*command, *extra]


class State:
    """What is known of the last run of each experiment in a folder of results."""

    def __init__(self, folder: Path) -> None:
        (folder / "report").mkdir(parents=True, exist_ok=True)
        self._file = folder / "report" / "state.json"
        self.entries: dict[str, dict[str, Any]] = {}
        if self._file.exists():
            entries = json.loads(self._file.read_text())
            self.entries = {FORMER_NAMES.get(name, name): entry for name, entry in entries.items()}

    def is_current(self, experiment: Experiment, command: Sequence[str]) -> bool:
        """Whether the experiment ran to its end with this command, and nothing that it uses has changed."""
        entry = self.entries.get(experiment.name, {})
        return (
            entry.get("code") == fingerprint(*experiment.uses)
            and entry.get("command") == list(command[2:])
            and entry["status"] in FINISHED
        )

    def run(self, experiment: Experiment, command: Sequence[str], log: Path | None = None) -> int:
        """Run a command of an experiment and return its exit status; a log takes what it prints."""
        start = perf_counter()
        if log is None:
            status = subprocess.run(command, check=False).returncode
        else:
            with log.open("w") as file:
                status = subprocess.run(
                    command, stdout=file, stderr=subprocess.STDOUT, check=False
                ).returncode
        self.entries[experiment.name] = {
            "code": fingerprint(*experiment.uses),
            "command": list(command[2:]),
            "status": status,
            "seconds": round(perf_counter() - start, 1),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": describe_machine(),
        }
        self._file.write_text(json.dumps(self.entries, indent=1))
        return status
