"""Two rows side by side on a terminal: texts, pictures or curves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.app.terminal.console import PairView
from linkwise.data import Items
from linkwise.data.cells import format_cell
from linkwise.learn.learner import Question
from linkwise.wording import strip_controls

GAP = 4  # cells between the two
LINES_OF_FIELDS = 6  # at most, below the rows themselves
SHARED_WORD = re.compile(r"\w{4,}")  # shorter ones are shared by all texts
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of a braille character

Pair = tuple[str, str]


def choose_pair_view(items: Items, name_of: Callable[[int], str]) -> PairView:
    """Choose how to draw two rows that are texts, pictures or curves."""
    drawn = {"text": _draw_texts, "image": _draw_pictures, "series": _draw_curves}[items.kind]

    def draw(question: Question, width: int, lines: int) -> RenderableType:
        rows = (question.first, question.second)
        names = (name_of(rows[0]), name_of(rows[1]))
        beside = screen.pair_rows(items.fields(rows[0]), items.fields(rows[1]))
        left = min(LINES_OF_FIELDS, len(beside))
        content = drawn(items, rows, names, width, max(4, lines - left - 2 * bool(beside)))
        if not beside:
            return content
        return Group(content, Text(), screen.pair_table(names, beside, width=width, most=left))

    return draw


def add_pictures(view: PairView, items: Items, name_of: Callable[[int], str]) -> PairView:
    """Draw the pictures that are shown beside records or texts above the pair."""

    def draw(question: Question, width: int, lines: int) -> RenderableType:
        rows = (question.first, question.second)
        above = max(4, lines // 2)
        pictures = _draw_pictures(items, rows, (name_of(rows[0]), name_of(rows[1])), width, above)
        return Group(pictures, Text(), view(question, width, max(4, lines - above - 2)))

    return draw if items.pixels is not None and items.kind != "image" else view


def _side_by_side(names: Pair, first: RenderableType, second: RenderableType, columns: int) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold underline")
    for number, name in enumerate(names, 1):
        title = screen.truncate(f"{number}: {strip_controls(name)}", columns)
        table.add_column(Text(title), width=columns, overflow="fold")
    table.add_row(first, second)
    return table


# ---------------------------------------------------------------- texts
def _draw_texts(items: Items, rows: tuple[int, int], names: Pair, width: int, lines: int) -> RenderableType:
    first, second = (strip_controls(str(items.content(row))) for row in rows)
    columns = (width - GAP) // 2
    return _side_by_side(names, *draw_text_pair(first, second, columns * lines * 9 // 10), columns)


def draw_text_pair(first: str, second: str, cells: int) -> tuple[Text, Text]:
    """Draw both texts, each in a number of cells; longer words that both contain are bold."""
    shared = _long_words(first) & _long_words(second)
    return _mark_shared_words(first, shared, cells), _mark_shared_words(second, shared, cells)


def _long_words(text: str) -> set[str]:
    return {word.casefold() for word in SHARED_WORD.findall(text)}


def _mark_shared_words(text: str, shared: set[str], cells: int) -> Text:
    marked = Text(screen.truncate(text, cells) or "(no text)")
    for word in SHARED_WORD.finditer(marked.plain):
        if word[0].casefold() in shared:
            marked.stylize("bold", *word.span())
    return marked


# ---------------------------------------------------------------- pictures
def _draw_pictures(
    items: Items, rows: tuple[int, int], names: Pair, width: int, lines: int
) -> RenderableType:
    assert items.pixels is not None
    columns = (width - GAP) // 2
    first, second = (Picture(items.pixels(row), columns, lines) for row in rows)
    return _side_by_side(names, first, second, columns)


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture in a number of columns and lines: two pixels a character; shades without colours."""

    pixels: NDArray[np.uint8]
    columns: int
    lines: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the picture as lines of text."""
        if console.color_system is None:
            grey = fit_pixels(_to_grey(self.pixels), self.columns // 2, self.lines)
            yield Text("\n".join(screen.draw_picture(grey.tolist(), 255.0)))
        else:
            yield draw_half_blocks(fit_pixels(self.pixels, self.columns, 2 * self.lines))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width: the picture is never wrapped."""
        return Measurement(self.columns, self.columns)


def _to_grey(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    return pixels @ np.array([0.299, 0.587, 0.114]) if pixels.ndim == 3 else pixels.astype(np.float64)


def fit_pixels(pixels: NDArray[np.generic], columns: int, lines: int) -> NDArray[np.float64]:
    """Fit a picture into a number of pixels: repeat pixels, or average several."""
    height, width = pixels.shape[:2]
    ratio = min(columns / width, lines / height)
    if ratio >= 1:
        times = int(ratio)
        return pixels.astype(np.float64).repeat(times, axis=0).repeat(times, axis=1)
    smaller = pixels.astype(np.float64)
    for axis, length in enumerate((height, width)):
        edges = np.linspace(0, length, max(1, round(length * ratio)) + 1).astype(int)
        counts = np.diff(edges).reshape([-1 if k == axis else 1 for k in range(pixels.ndim)])
        smaller = np.add.reduceat(smaller, edges[:-1], axis=axis) / counts
    return smaller


def draw_half_blocks(pixels: NDArray[np.float64]) -> Text:
    """Draw pixels in pairs, one above the other, as half blocks in two colours."""
    colours = np.rint(pixels if pixels.ndim == 3 else pixels[..., None].repeat(3, axis=2)).astype(int)
    text = Text(no_wrap=True)
    for top in range(0, len(colours), 2):
        below = colours[top + 1].tolist() if top + 1 < len(colours) else None
        for at, (r, g, b) in enumerate(colours[top].tolist()):
            behind = "" if below is None else " on rgb({},{},{})".format(*below[at])
            text.append("▀", style=f"rgb({r},{g},{b}){behind}")
        text.append("\n")
    text.rstrip()
    return text


# ---------------------------------------------------------------- curves
def _draw_curves(items: Items, rows: tuple[int, int], names: Pair, width: int, lines: int) -> RenderableType:
    contents = [items.content(row) for row in rows]
    first, second = (np.array(content, dtype=np.float64) for content in contents)
    columns = (width - GAP) // 2
    low, high = find_value_range([first, second])
    drawn = [Text(draw_braille(curve, low, high, columns, min(lines - 1, 12))) for curve in (first, second)]
    scale = f"both from {format_cell(low)} (below) to {format_cell(high)} (above), {len(first)} samples"
    return Group(_side_by_side(names, drawn[0], drawn[1], columns), Text(scale, style="dim"))


def draw_means(labels: NDArray[np.integer], items: Items, columns: int, lines: int = 2) -> list[list[str]]:
    """Draw the mean curve of each cluster in braille dots, all on one scale, with the scale in words."""
    curves = np.array([items.content(row) for row in range(len(labels))], dtype=np.float64)
    means = []
    for cluster in np.unique(labels):
        of_cluster = curves[labels == cluster]
        known = np.isfinite(of_cluster)
        total = np.where(known, of_cluster, 0).sum(axis=0)
        means.append(np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan))
    low, high = find_value_range(means)
    scale = f"  mean curve, from {format_cell(low)} (below) to {format_cell(high)} (above):"
    return [
        [scale, *(f"  {line}" for line in draw_braille(mean, low, high, columns, lines).split("\n"))]
        for mean in means
    ]


def find_value_range(curves: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """The lowest and the highest value of some curves."""
    values = np.concatenate([np.asarray(curve, dtype=np.float64) for curve in curves])
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def draw_braille(curve: NDArray[np.float64], low: float, high: float, columns: int, lines: int) -> str:
    """Draw a curve in braille dots, from `low` at the bottom to `high` at the top; NaN leaves a gap."""
    grid = np.zeros((4 * lines, 2 * columns), dtype=bool)
    place = (curve - low) / ((high - low) or 1.0) * (4 * lines - 1)
    for at, (bottom, top) in enumerate(_spans(place, 2 * columns)):
        if np.isfinite(bottom):
            grid[4 * lines - 1 - round(top) : 4 * lines - round(bottom), at] = True
    cells = grid.reshape(lines, 4, columns, 2).transpose(0, 2, 1, 3)
    codes = (cells * DOTS).sum(axis=(2, 3)) + 0x2800
    return "\n".join("".join(map(chr, line)) for line in codes.tolist())


def _spans(place: NDArray[np.float64], width: int) -> Sequence[tuple[float, float]]:
    """The lowest and the highest place of the curve in each column of dots."""
    with_ends = np.linspace(0, len(place) - 1, width + 1)
    times = np.arange(len(place))
    spans = []
    for left, right in zip(with_ends[:-1].tolist(), with_ends[1:].tolist(), strict=True):
        inside = place[(times >= left) & (times <= right)]
        ends = np.interp([left, right], times, place)  # NaN where one of the neighbours is
        known = np.concatenate([inside, ends])
        known = known[np.isfinite(known)]
        spans.append((known.min(), known.max()) if known.size else (np.nan, np.nan))
    return spans
