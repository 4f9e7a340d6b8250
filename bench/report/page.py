"""Write the page: every table and picture, missed figures in red with the reason, and the machine."""

from __future__ import annotations

import base64
import io
import re
import tomllib
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.experiments import Experiment, Shown
from bench.machine import describe_machine
from bench.plots import COLOURS
from bench.suites.cell_store import Row, read_rows

FIGURE = re.compile(r"\d \(-?\d+\.\d+\)")  # ours, and in brackets the one to reach
NOTES = Path(__file__).parent / "notes.toml"
WRONG = {"no", "contrary", "does not", "fails", "higher", "lower"}
JUDGED = ("reached", "met", "held", "holds", "verdict")
QUICK = "<p>A quick run: fewer sets, runs and sizes than the texts describe; see the commands.</p>"
STYLE = (Path(__file__).parent / "style.css").read_text()


class Content(NamedTuple):
    """What a file says, as a page shows it."""

    html: str
    n_compared: int
    """Rows that are held against a figure."""
    missed: list[str]
    """Those that miss it, in words."""


# ---------------------------------------------------------------- the page
def write_page(folder: Path, experiments: Sequence[Experiment], state: dict[str, Any], *, quick: bool) -> str:
    """Write the page, and return a summary of it in words."""
    bodies, index, compared, missed, absent = [], [], 0, 0, 0
    for experiment in experiments:
        shown = [read_file(folder, experiment, one) for one in experiment.shows]
        there = [one for one in shown if one is not None]
        absent += not there
        of, wrong = sum(one.n_compared for one in there), [text for one in there for text in one.missed]
        compared, missed = compared + of, missed + len(wrong)
        index.append(render_index_line(experiment, of, len(wrong), there=bool(there)))
        bodies.append(render_experiment(experiment, there, wrong, state.get(experiment.name)))
    summary = f"{compared - missed} of {compared} rows of figures are reached"
    summary += f"; {absent} of {len(experiments)} parts are not measured" if absent else ""
    machine = "; ".join(f"{key} {value}" for key, value in describe_machine().items())
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>linkwise: measurements</title>"
        f"<style>{STYLE}</style><h1>linkwise: measurements</h1>"
        f"<p>{escape(summary)}.</p>{QUICK if quick else ''}"
        f"<p class=small>{escape(machine)}</p>"
        f"<nav><ul>{''.join(index)}</ul></nav>{''.join(bodies)}</html>"
    )
    (folder / "report" / "index.html").write_text(page)
    return summary


def render_index_line(experiment: Experiment, compared: int, missed: int, *, there: bool) -> str:
    reached = f"{compared - missed} of {compared} rows reached" if compared else ""
    state = reached if there else "not measured"
    kind = ' class="why"' if missed else " class=small"
    return f'<li><a href="#{experiment.name}">{escape(experiment.title)}</a> <span{kind}>{state}</span></li>'


def render_experiment(
    experiment: Experiment, there: Sequence[Content], missed: Sequence[str], held: dict[str, Any] | None
) -> str:
    parts = [f'<h2 id="{experiment.name}">{escape(experiment.title)}</h2><p>{escape(experiment.about)}</p>']
    parts += [one.html for one in there]
    if not there:
        parts.append("<p class=small>Not measured here.</p>")
    parts += [f"<p class=why>{escape(text)}</p>" for text in missed]
    command = ["bench", "run", experiment.name] if held is None else held["command"]
    measured = ""
    if held is not None:
        where = ", ".join(f"{key} {value}" for key, value in held["machine"].items())
        how = "ended" if held["status"] in (0, 1) else f"broke off with status {held['status']}"
        ended = f"{how} {held['ended']} after {held['seconds']:.0f} s, code {held['code']}"
        measured = f"<br>{ended}; {escape(where)}"
    parts.append(f"<p class=small><code>python -m {escape(' '.join(command))}</code>{measured}</p>")
    return "".join(parts)


# ---------------------------------------------------------------- files
def read_file(folder: Path, experiment: Experiment, shown: Shown) -> Content | None:
    """Read a table or a picture of an experiment; None where there is none, or no row in it."""
    file = folder / shown.file
    if not file.exists():  # quick runs of some experiments have a folder of their own
        name, _, rest = shown.file.partition("/")
        file = folder / f"{name}_quick" / rest
    if not file.is_file():
        return None
    caption = f"<p>{escape(shown.caption)}</p>"
    if file.suffix == ".png":
        return Content(caption + render_picture(file.read_bytes()), 0, [])
    rows = read_rows(file)
    if not rows:
        return None
    drawn = ""
    if find_spec("matplotlib") is not None:
        drawn = draw_lines(rows, shown) if shown.lines else draw_ranks(rows) if shown.ranks else ""
    wrong = [row for row in rows if misses(row)]
    return Content(
        caption + drawn + render_table(rows),
        sum(is_compared(row) for row in rows),
        [describe_miss(experiment.name, row) for row in wrong],
    )


def render_picture(png: bytes) -> str:
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def verdicts(row: Row) -> list[str]:
    """Return the cells of columns such as "reached", "letter_holds" or "at the end, verdict"."""
    return [row[name] for name in row if name.replace("_", ", ").rpartition(", ")[2] in JUDGED and row[name]]


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


def describe_miss(experiment: str, row: Row) -> str:
    """What is missed, and why."""
    name = ", ".join(cell for cell in cells(row)[:5] if cell and not cell[:1].isdigit())
    stars = [f"{column} {cell}" for column, cell in row.items() if cell.endswith(" *")]
    return f"Missed: {name}{': ' if stars else ''}{', '.join(stars)}. {explain_miss(experiment, row)}"


def explain_miss(experiment: str, row: Row) -> str:
    """The reason that is written down for a row; the first that fits."""
    with NOTES.open("rb") as file:
        notes = tomllib.load(file).get(experiment, [])
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


def render_table(rows: Sequence[Row]) -> str:
    """A table; rows and cells that miss a figure are marked."""
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(f"<tr{row_class(row)}>{''.join(map(render_cell, cells(row)))}</tr>" for row in rows)
    return f"<div class=scroll><table><tr>{head}</tr>{body}</table></div>"


def row_class(row: Row) -> str:
    """The class of a row that misses a figure; where single cells do, they have it."""
    return " class=missed" if misses(row) and not any(cell.endswith(" *") for cell in cells(row)) else ""


def render_cell(text: str) -> str:
    kinds = ["number"] * (text[:1].isdigit() or text[:1] in ("-", "+")) + ["missed"] * text.endswith(" *")
    return f'<td class="{" ".join(kinds)}">{escape(text)}</td>'


# ---------------------------------------------------------------- plots
def draw_lines(rows: Sequence[Row], lines: Shown) -> str:
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
    return render_picture(encode_png(figure))


def draw_ranks(rows: Sequence[Row]) -> str:
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
        pictures.append(render_picture(encode_png(figure)))
    return "".join(pictures)


def new_figure(wide: float, high: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(wide, high), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def encode_png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
