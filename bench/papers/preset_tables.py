"""One table for each method: all differences from its paper, what switches each, and its measured effect.

The words are in ``targets/differences.toml``, the effects in the table of means that the experiment writes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.results import write_csv
from bench.suites.cell_store import Row, read_rows

DIFFERENCES = Path(__file__).resolve().parents[1] / "targets" / "differences.toml"
FIELDS = ("linkwise", "as printed", "parameter", "effect")
PRESETS = {
    "paper()": "All that is printed and has a parameter.",
    "authors()": "All that the authors' program does and has a parameter.",
    "paper(center=True)": "The printed method, on centred rows.",
    "paper(sequential=False)": "The printed method, with all dimensions tuned together (Algorithm 1 alone).",
}


@dataclass(frozen=True)
class Difference:
    """A difference between the default of some methods and their paper.

    Attributes
    ----------
    methods : sequence of str
        The tables that list it.
    here, printed : str
        What linkwise does, and what the paper does, with our reason.
    setting : str
        The setting that does what is printed; may be empty.
    unmeasured : str
        Why there is no effect; empty with a setting.
    """

    methods: Sequence[str]
    here: str
    printed: str
    setting: str = ""
    unmeasured: str = ""


def read_differences(path: Path = DIFFERENCES) -> list[Difference]:
    """All differences, in the order of the tables."""
    return [Difference(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["difference"]]


def list_lines(method: str, means: Iterable[Row], differences: Iterable[Difference]) -> list[tuple[str, ...]]:
    """The lines of one table: the differences, then the presets, which combine them."""
    effects = {row["setting"]: row["effect"] for row in means}
    lines = [
        (each.here, each.printed, _format_setting(each.setting), _format_effect(each, effects))
        for each in differences
        if method in each.methods
    ]
    presets = [
        ("The presets:", words, f"``{name}``", effects[name])
        for name, words in PRESETS.items()
        if name in effects
    ]
    return [*lines, *presets]


def _format_setting(setting: str) -> str:
    return f"``{setting}``" if setting else "none"


def _format_effect(difference: Difference, effects: dict[str, str]) -> str:
    if difference.setting:
        return effects[difference.setting]
    return f"not measured ({difference.unmeasured})"


def write_table(folder: Path, method: str) -> None:
    """Write the table of one method from its means."""
    means = read_rows(folder / f"{method}.csv")
    write_csv(folder / f"{method}_differences.csv", FIELDS, list_lines(method, means, read_differences()))
