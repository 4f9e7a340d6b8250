"""What the terminal shows: pure functions from values to what rich draws. No state, no input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from linkwise.data.cells import MISSING
from linkwise.session.session import Status
from linkwise.session.status import count_answers
from linkwise.wording import count_noun, strip_controls

DIFFERS = "≠"
BAR = "█"
MOST_LINES = 4  # of one value
MOST_CLUSTERS = 8
NAME_WIDTH = 24
TRACK_WIDTH = 20
LEAST_WIDTH_FOR_TRACKS = 76
LONG_TEXT = 60  # cells of one value from which on the text needs the room more than the scale does
Places = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One column of the table about a pair.

    Attributes
    ----------
    name, first, second : str
        The column and both values.
    places : tuple of float or None, or None
        Where both numbers stand between the lowest (0) and the highest (1) of all rows; None for one that is
        missing.
    """

    name: str
    first: str
    second: str
    places: Places | None = None

    @property
    def differs(self) -> bool:
        """Whether a person would see a difference."""
        return self.first != self.second

    @property
    def gap(self) -> float:
        """How far the values are apart, 0 to 1; different words are as far as can be."""
        if not self.differs:
            return -1.0
        first, second = self.places or (None, None)
        return 1.0 if first is None or second is None else abs(first - second)


# ---------------------------------------------------------------- text from data
def excerpts(first: str, second: str, cells: int) -> tuple[str, str]:
    """Both values within so many cells; long ones begin shortly before they begin to differ."""
    if max(cell_len(first), cell_len(second)) <= cells:
        return first, second
    same = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    start = same - cells // 4
    if start > cells // 4:
        first, second = f"…{first[start:]}", f"…{second[start:]}"
    return truncate(first, cells), truncate(second, cells)


def truncate(text: str, cells: int) -> str:
    """Text within so many cells of the terminal, with an ellipsis where it was cut."""
    cut = Text(text)
    cut.truncate(cells, overflow="ellipsis")
    return cut.plain


# ---------------------------------------------------------------- the pair
def pair_rows(
    first: Mapping[str, str],
    second: Mapping[str, str],
    places: Mapping[str, tuple[float, float]] | None = None,
) -> list[Row]:
    """Both items column by column, in the order of the table; `places` of numbers by column."""

    def both(name: str) -> Places | None:
        found = (places or {}).get(name)
        if found is None:
            return None
        of_first, of_second = found
        return None if first[name] == MISSING else of_first, None if second[name] == MISSING else of_second

    return [
        Row(strip_controls(n), strip_controls(first[n]), strip_controls(second[n]), both(n)) for n in first
    ]


def choose_rows(rows: Sequence[Row], most: int, value_width: int) -> tuple[list[Row], list[Row]]:
    """Rows to show within so many lines, and the rest.

    All in their order if they fit; else those that differ most first: words before numbers.
    """
    lines = [_lines_of(row, value_width) for row in rows]
    if sum(lines) <= most:
        return list(rows), []
    room = most - 1  # one line is left to count the rest
    shown: list[int] = []
    for at in sorted(range(len(rows)), key=lambda at: -rows[at].gap):
        if lines[at] <= room or not shown:
            shown.append(at)
            room -= lines[at]
    return [rows[at] for at in shown], [row for at, row in enumerate(rows) if at not in shown]


def _lines_of(row: Row, value_width: int) -> int:
    longest = max(cell_len(row.first), cell_len(row.second))
    return min(MOST_LINES, 1 + longest // (value_width + 1))


def pair_table(names: tuple[str, str], rows: Sequence[Row], *, width: int, most: int) -> RenderableType:
    """Two items side by side; what differs is bold and marked.

    Parameters
    ----------
    names : tuple of str
        How the two items are called.
    rows : sequence of Row
    width : int
        Cells of the terminal.
    most : int
        Lines to fill, about.
    """
    longest = max((cell_len(text) for row in rows for text in (row.first, row.second)), default=0)
    tracks = any(row.places for row in rows) and width >= LEAST_WIDTH_FOR_TRACKS and longest <= LONG_TEXT
    name_width = min(NAME_WIDTH, max((cell_len(r.name) for r in rows), default=1), width // 3)
    value_width = max(8, (width - name_width - 8 - tracks * (TRACK_WIDTH + 4)) // 2)
    shown, rest = choose_rows(rows, most, value_width)
    table = _empty_table(names, name_width, value_width, tracks)
    for row in shown:
        style = "bold" if row.differs else "dim"
        mark = Text(DIFFERS, style="bold yellow") if row.differs else Text("")
        values = excerpts(row.first, row.second, value_width * MOST_LINES)
        track = [Text(_track(row.places), style="dim") if row.places else Text("")] if tracks else []
        table.add_row(
            mark, Text(truncate(row.name, name_width)), *(Text(v, style=style) for v in values), *track
        )
    return Group(table, Text(_describe_rest(rest), style="dim")) if rest else table


def _empty_table(names: tuple[str, str], name_width: int, value_width: int, tracks: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold underline")
    table.add_column("", width=1)
    table.add_column("", width=name_width, no_wrap=True)
    for number, name in enumerate(names, 1):
        title = truncate(f"{number}: {strip_controls(name)}", value_width)
        table.add_column(Text(title), max_width=value_width, overflow="fold")
    if tracks:
        table.add_column(Text(f"lowest{'highest':>{TRACK_WIDTH - 6}}"), no_wrap=True)
    return table


def _track(places: Places) -> str:
    """Both numbers on a line from the lowest to the highest value of the column."""
    cells = ["·"] * TRACK_WIDTH
    for place, sign in zip(places, "12", strict=True):
        if place is not None:
            at = round(min(max(place, 0.0), 1.0) * (TRACK_WIDTH - 1))
            cells[at] = sign if cells[at] == "·" else "="
    return "".join(cells)


def _describe_rest(rest: Sequence[Row]) -> str:
    differ = sum(row.differs for row in rest)
    more = f"… {len(rest)} more " + ("column" if len(rest) == 1 else "columns")
    if differ == 0:
        return f"{more}, the same in both"
    if differ == len(rest):
        return f"{more}, differing less"
    return f"{more}: {differ} differ{'s' * (differ == 1)}, {len(rest) - differ} the same in both"


SHADES = " ░▒▓█"


def draw_picture(pixels: Sequence[Sequence[float]], white: float) -> list[str]:
    """A small grey picture as lines of text, two characters a pixel (0 is background)."""
    top = len(SHADES) - 1
    return ["".join(2 * SHADES[round(top * min(v / white, 1.0))] for v in line) for line in pixels]


def picture_pair(names: tuple[str, str], first: Sequence[str], second: Sequence[str]) -> RenderableType:
    """Two pictures side by side, each in a frame under its name."""
    table = Table(box=None, padding=(0, 4, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name), no_wrap=True)
    table.add_row(*(Text("\n".join(_add_frame(lines))) for lines in (first, second)))
    return table


def _add_frame(lines: Sequence[str]) -> list[str]:
    width = len(lines[0])
    return [f"┌{'─' * width}┐", *(f"│{line}│" for line in lines), f"└{'─' * width}┘"]


# ---------------------------------------------------------------- around the pair
def draw_opening(title: str, notes: Sequence[str]) -> RenderableType:
    """What is opened, and what was chosen on the way."""
    return Group(
        Text(strip_controls(title), style="bold"),
        draw_listing([("·", strip_controls(note)) for note in notes]),
    )


def draw_listing(lines: Sequence[tuple[str, str]]) -> RenderableType:
    """Lines with something short before them, long ones wrapped beside it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=2, justify="right", style="bold")
    grid.add_column(overflow="fold")
    for before, text in lines:
        grid.add_row(Text(before), Text(text))
    return grid


def draw_heading(status: Status, budget: int | None) -> RenderableType:
    """Number of the question and what was answered so far."""
    number = f"Question {status.n_answers + 1}" + (f" of {budget}" if budget is not None else "")
    answered = f" · {count_answers(status)}" if status.n_answers else ""
    return Rule(Text.assemble((number, "bold"), answered), align="left", style="dim")


def draw_rules(lines: Sequence[str], *, width: int) -> RenderableType:
    """A cluster and its rules, with what is longer than a line indented under its rule."""
    wrapped = [
        text
        for line in lines
        for text in wrap(
            line[: len(line) - len(line.lstrip())] + strip_controls(line),
            max(width, 20),
            subsequent_indent=" " * 8,
        )
    ]
    return Text("\n".join(wrapped))


def keys_line() -> Text:
    """The keys and what they mean."""
    keys = (("y", "yes"), ("n", "no"), ("s", "unsure"), ("u", "undo"), ("q", "quit"), ("?", "help, why this"))
    return Text("   ").join(Text.assemble((key, "bold"), f" {word}") for key, word in keys)


def draw_cluster_bars(sizes: Sequence[int], *, width: int) -> RenderableType:
    """Clusters and their sizes, the largest first, one bar each."""
    numbered = sorted(enumerate(sizes), key=lambda c: (-c[1], c[0]))
    numbered = [(number, size) for number, size in numbered if size]
    shown = numbered if len(numbered) <= MOST_CLUSTERS else numbered[: MOST_CLUSTERS - 1]
    digits = max((len(str(size)) for _, size in shown), default=1)
    room = max(4, min(40, width - 16 - digits))
    largest = max((size for _, size in shown), default=1)
    lines = [Text(f"{count_noun(len(numbered), 'cluster')} of {count_noun(sum(sizes), 'row')}")]
    for number, size in shown:
        bar = BAR * max(1, round(room * size / largest))
        lines.append(Text.assemble(f"{number:>4}  ", (f"{size:>{digits}}", "bold"), "  ", (bar, "cyan")))
    rest = numbered[len(shown) :]
    if rest:
        lines.append(Text(f"   …  {len(rest)} smaller clusters, {sum(s for _, s in rest)} rows", style="dim"))
    return Group(*lines)


def help_text(why: str) -> RenderableType:
    """What is asked of the person, what the keys do, and why this question."""
    keys = (
        ("y", "they belong together"),
        ("n", "they do not"),
        ("s", "unsure: nothing is concluded, the pair is not asked again"),
        ("u", "undo: take back the last answer, as often as you like"),
        ("q", "quit; everything is saved after every answer, and you go on where you stopped"),
    )
    return Group(
        Text("Judge as you mean it: only your answers say what a cluster is."),
        draw_listing(keys),
        Text.assemble(("Why this question: ", "bold"), why),
    )


ENDS = {
    "exhausted": "Nothing is left to ask: no further answer would change the clusters.",
    "budget": "The budget of questions is used up.",
    "quit": "Stopped.",
}
UNSURE = "Nothing is left to ask: what could still change the clusters, you were not sure of."


def draw_ending(reason: str, status: Status, *, width: int) -> RenderableType:
    """Why it ended ("exhausted", "budget" or "quit"), and what there is."""
    why = UNSURE if reason == "exhausted" and status.n_unsure else ENDS[reason]
    return Group(
        Text(why, style="bold"),
        Text(count_answers(status)),
        draw_cluster_bars(status.cluster_sizes, width=width),
        *(Text(said) for said in status.description),
    )


def list_next_steps(commands: Sequence[tuple[str, str]]) -> list[Text]:
    """What can be done next, a line each: what for, and the command."""
    pad = max((len(what) for what, _ in commands), default=0)
    return [Text.assemble((f"{what:<{pad}}  ", "dim"), command) for what, command in commands]
