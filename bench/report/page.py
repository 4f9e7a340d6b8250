"""The page: every table and picture, what is missed in red with the reason, and where it was measured."""

from __future__ import annotations

import base64
import io
import os
import platform
import re
import subprocess
import tomllib
from collections.abc import Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.harness import Row, read_csv
from bench.plots import COLOURS
from bench.report.sections import Section, Shown

FIGURE = re.compile(r"\d \(-?\d+\.\d+\)")  # ours, and in brackets the one to reach
NOTES = Path(__file__).parent / "notes.toml"
PACKAGES = ("linkwise", "numpy", "scipy", "scikit-learn")
WRONG = {"no", "contrary", "does not", "fails"}
JUDGED = ("reached", "met", "held", "verdict")
QUICK = "<p>A quick run: fewer sets, runs and sizes than the texts say; the commands tell which.</p>"
STYLE = (Path(__file__).parent / "style.css").read_text()


class Found(NamedTuple):
    """What a file says, as a page shows it."""

    html: str
    n_compared: int
    """Rows that are held against a figure."""
    missed: list[str]
    """Those that miss it, in words."""


# ---------------------------------------------------------------- the page
def write_page(folder: Path, sections: Sequence[Section], state: dict[str, Any], *, quick: bool) -> str:
    """Write the page; what it holds, in words."""
    bodies, index, compared, missed, absent = [], [], 0, 0, 0
    for section in sections:
        shown = [found(folder, section, one) for one in section.shows]
        there = [one for one in shown if one is not None]
        absent += not there
        of, wrong = sum(one.n_compared for one in there), [text for one in there for text in one.missed]
        compared, missed = compared + of, missed + len(wrong)
        index.append(index_line(section, of, len(wrong), there=bool(there)))
        bodies.append(body_of(section, there, wrong, state.get(section.name)))
    told = f"{compared - missed} of {compared} rows of figures are reached"
    told += f"; {absent} of {len(sections)} parts are not measured" if absent else ""
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>linkwise: what is measured</title>"
        f"<style>{STYLE}</style><h1>linkwise: what is measured</h1>"
        f"<p>{escape(told)}.</p>{QUICK if quick else ''}"
        f"<p class=small>{escape('; '.join(f'{key} {value}' for key, value in machine().items()))}</p>"
        f"<nav><ul>{''.join(index)}</ul></nav>{''.join(bodies)}</html>"
    )
    (folder / "report" / "index.html").write_text(page)
    return told


def index_line(section: Section, compared: int, missed: int, *, there: bool) -> str:
    reached = f"{compared - missed} of {compared} rows reached" if compared else ""
    state = reached if there else "not measured"
    kind = ' class="why"' if missed else " class=small"
    return f'<li><a href="#{section.name}">{escape(section.title)}</a> <span{kind}>{state}</span></li>'


def body_of(
    section: Section, there: Sequence[Found], missed: Sequence[str], held: dict[str, Any] | None
) -> str:
    parts = [f'<h2 id="{section.name}">{escape(section.title)}</h2><p>{escape(section.about)}</p>']
    parts += [one.html for one in there]
    if not there:
        parts.append("<p class=small>Not measured here.</p>")
    parts += [f"<p class=why>{escape(text)}</p>" for text in missed]
    command = [section.module, *section.options] if held is None else held["command"]
    measured = ""
    if held is not None:
        where = ", ".join(f"{key} {value}" for key, value in held["machine"].items())
        how = "ended" if held["status"] in (0, 1) else f"broke off with status {held['status']}"
        ended = f"{how} {held['ended']} after {held['seconds']:.0f} s, code {held['code']}"
        measured = f"<br>{ended}; {escape(where)}"
    parts.append(f"<p class=small><code>python -m {escape(' '.join(command))}</code>{measured}</p>")
    return "".join(parts)


# ---------------------------------------------------------------- files
def found(folder: Path, section: Section, shown: Shown) -> Found | None:
    """A table or a picture of a section; None where there is none, or no row in it."""
    file = folder / shown.file
    if not file.exists():  # quick runs of some experiments have a folder of their own
        name, _, rest = shown.file.partition("/")
        file = folder / f"{name}_quick" / rest
    if not file.is_file():
        return None
    caption = f"<p>{escape(shown.caption)}</p>"
    if file.suffix == ".png":
        return Found(caption + picture(file.read_bytes()), 0, [])
    rows = read_csv(file)
    if not rows:
        return None
    drawn = ""
    if find_spec("matplotlib") is not None:
        drawn = lines_drawn(rows, shown) if shown.lines else ranks_drawn(rows) if shown.ranks else ""
    wrong = [row for row in rows if misses(row)]
    return Found(
        caption + drawn + table_of(rows),
        sum(is_compared(row) for row in rows),
        [told(section.name, row) for row in wrong],
    )


def picture(png: bytes) -> str:
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def verdicts(row: Row) -> list[str]:
    return [row[name] for name in row if name.rpartition(", ")[2] in JUDGED and row[name]]


def is_compared(row: Row) -> bool:
    """Whether a row is held against a figure."""
    return bool(verdicts(row) or row.get("missed")) or any(FIGURE.search(cell) for cell in cells(row))


def misses(row: Row) -> bool:
    """Whether a row misses the figure that it is held against."""
    by_word = any(word in WRONG for word in verdicts(row))
    return (
        by_word or row.get("missed", "") not in ("", "-") or any(cell.endswith(" *") for cell in cells(row))
    )


def cells(row: Row) -> list[str]:
    return [cell for cell in row.values() if isinstance(cell, str)]


def told(section: str, row: Row) -> str:
    """What is missed, and why."""
    name = ", ".join(cell for cell in cells(row)[:5] if cell and not cell[:1].isdigit())
    stars = [f"{column} {cell}" for column, cell in row.items() if cell.endswith(" *")]
    return f"Missed: {name}{': ' if stars else ''}{', '.join(stars)}. {explained(section, row)}"


def explained(section: str, row: Row) -> str:
    """The reason that is written down for a row; the first that fits."""
    with NOTES.open("rb") as file:
        notes = tomllib.load(file).get(section, [])
    for note in notes:
        if all(row.get(column) == value for column, value in note.get("where", {}).items()):
            return str(note["why"])
    return "Not explained yet."


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def table_of(rows: Sequence[Row]) -> str:
    """A table; rows and cells that miss a figure are marked."""
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(f"<tr{whole_row(row)}>{''.join(map(cell_of, cells(row)))}</tr>" for row in rows)
    return f"<div class=scroll><table><tr>{head}</tr>{body}</table></div>"


def whole_row(row: Row) -> str:
    """The class of a row that misses a figure; where single cells do, they have it."""
    return " class=missed" if misses(row) and not any(cell.endswith(" *") for cell in cells(row)) else ""


def cell_of(text: str) -> str:
    kinds = ["number"] * (text[:1].isdigit() or text[:1] in ("-", "+")) + ["missed"] * text.endswith(" *")
    return f'<td class="{" ".join(kinds)}">{escape(text)}</td>'


# ---------------------------------------------------------------- plots
def lines_drawn(rows: Sequence[Row], lines: Shown) -> str:
    """Times against sizes on scales of powers of ten."""
    figure, axes = new_figure(6.5, 3.6)
    groups = list(dict.fromkeys(row[lines.by] for row in rows)) if lines.by else [""]
    named = [(group, column) for group in groups for column in lines.lines]
    for number, (group, column) in enumerate(named):
        points = [
            (float(row[lines.x]), float(row[column]))
            for row in rows
            if (not lines.by or row[lines.by] == group) and is_number(row.get(column, ""))
        ]
        if points:
            label = f"{column}, {lines.by} {group}" if lines.by else column
            style = "-" if number < len(COLOURS) else "--"
            axes.plot(*zip(*sorted(points), strict=True), style, marker="o", markersize=3, label=label,
                      color=COLOURS[number % len(COLOURS)])  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel=lines.x)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return picture(png_of(figure))


def ranks_drawn(rows: Sequence[Row]) -> str:
    """Mean aligned ranks on an axis for each number of constraints, group by group; the best on the left."""
    first = next(iter(rows[0]))
    grouped = first if len({row[first] for row in rows}) < len(rows) else ""
    pictures = []
    for group in dict.fromkeys(row[grouped] for row in rows) if grouped else [""]:
        own = [row for row in rows if not grouped or row[grouped] == group]
        names = [list(row.values())[bool(grouped)] for row in own]
        columns = [name for name in own[0] if name.startswith("rank_")] or [
            name for name in own[0] if name.isdigit()
        ]
        figure, axes = new_figure(7.5, 0.6 + 0.28 * len(names))
        order = np.argsort([-float(row[columns[-1]]) for row in own], kind="stable").tolist()
        for colour, column in zip(COLOURS, columns, strict=False):
            at = [float(own[i][column]) for i in order]
            axes.plot(
                at, range(len(order)), "o-", color=colour, label=column.removeprefix("rank_"), linewidth=0.8
            )
        axes.set_yticks(range(len(order)), [names[i] for i in order])
        axes.set_xlabel(f"mean aligned rank{f', {grouped} {group}' if grouped else ''} (left is better)")
        axes.grid(axis="x", alpha=0.25)
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
        pictures.append(picture(png_of(figure)))
    return "".join(pictures)


def new_figure(wide: float, high: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(wide, high), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def png_of(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


# ---------------------------------------------------------------- where it was measured
def machine() -> dict[str, str]:
    """Processor, cores, memory, versions, commit."""
    told = {"processor": processor(), "cores": str(os.cpu_count()), "python": platform.python_version()}
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        told["GiB"] = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f}"
    for package in PACKAGES:
        try:
            told[package] = version(package)
        except PackageNotFoundError:
            continue
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False, cwd=NOTES.parent
    )
    return told | ({"commit": commit.stdout.strip()} if commit.returncode == 0 else {})


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
