"""Small files with known groups, and ways to run the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer.testing
from typer.testing import CliRunner, Result

from patience import patience

# typer's runner builds all commands anew for each call, which takes longer than most commands
typer.testing._get_command = cache(typer.testing._get_command)

GROUPS = 3
ROWS = 30


@dataclass(frozen=True)
class Fruit:
    """A CSV file of three clear groups, with ids, a text column and the truth."""

    path: Path
    truth: dict[str, int]

    @property
    def session(self) -> Path:
        return self.path.with_name(self.path.name + ".linkwise")

    def same(self, first: str, second: str) -> str:
        return "y" if self.truth[first] == self.truth[second] else "n"


def write_fruit(path: Path, rows: int = ROWS) -> Fruit:
    """Rows f0, f1, ... of three kinds by turns."""
    rng = np.random.default_rng(7)
    kind = np.arange(rows) % GROUPS
    weight = np.round(100 * kind + rng.normal(0, 4, rows), 1)
    width = np.round(5 * (kind == 1) + rng.normal(0, 0.3, rows), 2)
    colour = np.array(["green", "red", "yellow"])[kind]
    lines = [f"f{i},{weight[i]},{width[i]},{colour[i]}" for i in range(rows)]
    path.write_text("\n".join(["id,weight,width,colour", *lines]) + "\n", encoding="utf-8")
    return Fruit(path, {f"f{i}": int(kind[i]) for i in range(rows)})


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests on terminals stay there, also where there is a screen with a browser."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fruit(tmp_path: Path) -> Fruit:
    return write_fruit(tmp_path / "fruit.csv")


@pytest.fixture
def linkwise(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command in this process: ``linkwise("ask", path, said="y\\nq\\n")``."""
    from linkwise.app.cli.main import app

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: object, said: str = "") -> Result:
        result = CliRunner().invoke(app, [str(a) for a in arguments], input=said)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python in another process, with a plain environment."""

    def run(*arguments: object, said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *(str(a) for a in arguments)],
            input=said,
            capture_output=True,
            text=True,
            timeout=patience(),
            check=False,
            env={**os.environ, "COLUMNS": "80", "TERM": "dumb"},
        )

    return run
