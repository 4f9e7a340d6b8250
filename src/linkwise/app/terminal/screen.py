"""What the terminal shows: pure functions from values to objects that rich draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from textwrap import wrap

from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from linkwise import wording
from linkwise.app.terminal.cluster_query import PAGE, ClusterListing
from linkwise.app.terminal.keys import COLUMNS_KEY
from linkwise.data.cells import MISSING
from linkwise.learn.pair_explanation import PairExplanation
from linkwise.session.session import Status
from linkwise.session.state.status import count_answers, describe_advice, describe_doubts
from linkwise.wording import count_noun, join_names, shorten, strip_controls

DIFFERS = "≠"
BAR = "█"
MOST_LINES = 4  # of one value
MOST_CLUSTERS = 8
MANY_CLUSTERS = 30  # from so many on, their list is worth a hint
NAME_WIDTH = 24
TRACK_WIDTH = 20
LEAST_WIDTH_FOR_TRACKS = 76
LONG_TEXT = 60  # cells of one value above which the text needs the room of the scale
ALIKE = 0.7  # from which letters are underlined: what two texts share, twice, of all their letters
MOST_LETTERS = 200
PART_WIDTH = 14  # of a bar on one side
LEAST_SCALE = 2.0  # log-odds of the longest bar at least, so that what hardly counts looks so
AS_WHOLES = "as wholes"
Places = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One column of the table about a pair, with both values.

    `places` has the place of both numbers between the lowest (0) and the highest (1) of all rows; None
    for a missing number.
    """

    name: str
    first: str
    second: str
    places: Places | None = None

    @property
    def differs(self) -> bool:
        """Whether the two texts differ."""
        return self.first != self.second

    @property
    def gap(self) -> float:
        """The distance of the values, 0 to 1; the distance of different words is 1."""
        if not self.differs:
            return -1.0
        first, second = self.places or (None, None)
        return 1.0 if first is None or second is None else abs(first - second)


# ---------------------------------------------------------------- text from data
def excerpts(first: str, second: str, cells: int) -> tuple[str, str]:
    """Cut both values to a number of cells; long ones begin shortly before their first difference."""
    if max(cell_len(first), cell_len(second)) <= cells:
        return first, second
    same = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    start = same - cells // 4
    if start > cells // 4:
        first, second = f"…{first[start:]}", f"…{second[start:]}"
    return truncate(first, cells), truncate(second, cells)


def truncate(text: str, cells: int) -> str:
    """Cut a text to a number of cells of the terminal, with an ellipsis."""
    cut = Text(text)
    cut.truncate(cells, overflow="ellipsis")
    return cut.plain


def truncate_names(names: Sequence[str], cells: int) -> list[str]:
    """Cut names to a number of cells so that they can be told apart: in the middle, or where they differ."""
    cut = [_cut_middle(name, cells) for name in names]
    pairs, told = list(zip(names, cut, strict=True)), []
    for name, short in pairs:
        starts = [_first_difference(name, other) for other, same in pairs if same == short and other != name]
        told.append(truncate(f"…{name[max(0, min(starts) - cells // 3) :]}", cells) if starts else short)
    return told


def _cut_middle(text: str, cells: int) -> str:
    """Cut a text to a number of cells, leaving out its middle."""
    if cell_len(text) <= cells:
        return text
    head = set_cell_size(text, cells // 2).rstrip()
    tail = set_cell_size(text[::-1], cells - cells // 2 - 1).rstrip()[::-1]
    return f"{head}…{tail}"


def _first_difference(text: str, other: str) -> int:
    """The position of the first letter that differs."""
    return next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(other))


# ---------------------------------------------------------------- the pair
def pair_rows(
    first: Mapping[str, str],
    second: Mapping[str, str],
    places: Mapping[str, tuple[float, float]] | None = None,
) -> list[Row]:
    """Pair the values of two items by column, in the order of the table; `places` are those of numbers."""

    def both(name: str) -> Places | None:
        found = (places or {}).get(name)
        if found is None:
            return None
        of_first, of_second = found
        return None if first[name] == MISSING else of_first, None if second[name] == MISSING else of_second

    def text(fields: Mapping[str, str], name: str) -> str:
        return strip_controls(fields.get(name, ""))

    return [Row(strip_controls(n), text(first, n), text(second, n), both(n)) for n in {**first, **second}]


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
    """Draw two items side by side, in about `most` lines; differences are bold and marked."""
    longest = max((cell_len(text) for row in rows for text in (row.first, row.second)), default=0)
    tracks = any(row.places for row in rows) and width >= LEAST_WIDTH_FOR_TRACKS and longest <= LONG_TEXT
    name_width = min(NAME_WIDTH, max((cell_len(r.name) for r in rows), default=1), width // 3)
    value_width = max(8, (width - name_width - 8 - tracks * (TRACK_WIDTH + 4)) // 2)
    shown, rest = choose_rows(rows, most, value_width)
    table = _empty_table(names, name_width, value_width, tracks)
    for row, name in zip(shown, truncate_names([row.name for row in shown], name_width), strict=True):
        style = "bold" if row.differs else "dim"
        mark = Text(DIFFERS, style="bold yellow") if row.differs else Text("")
        values = excerpts(row.first, row.second, value_width * MOST_LINES)
        track = [Text(_track(row.places), style="dim") if row.places else Text("")] if tracks else []
        cells = [Text(value, style=style) for value in values]
        if row.differs and not row.places:
            _underline_letters(*cells)
        table.add_row(mark, Text(name), *cells, *track)
    return Group(table, Text(_describe_rest(rest), style="dim")) if rest else table


def _underline_letters(first: Text, second: Text) -> None:
    """Underline the letters in which two values differ that are nearly alike."""
    matcher = SequenceMatcher(None, first.plain, second.plain, autojunk=False)
    if max(len(first), len(second)) > MOST_LETTERS or matcher.ratio() < ALIKE:
        return
    for what, start, end, of_second, to_second in matcher.get_opcodes():
        if what != "equal":
            first.stylize("underline", start, end)
            second.stylize("underline", of_second, to_second)


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
    """Draw both numbers on a line from the lowest to the highest value of the column."""
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
    """Draw a small grey picture as lines of text, two characters a pixel (0 is background)."""
    top = len(SHADES) - 1
    return ["".join(2 * SHADES[round(top * min(v / white, 1.0))] for v in line) for line in pixels]


def picture_pair(names: tuple[str, str], first: Sequence[str], second: Sequence[str]) -> RenderableType:
    """Draw two pictures side by side, each in a frame under its name."""
    table = Table(box=None, padding=(0, 4, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name), no_wrap=True)
    table.add_row(*(Text("\n".join(_add_frame(lines))) for lines in (first, second)))
    return table


def _add_frame(lines: Sequence[str]) -> list[str]:
    width = len(lines[0])
    return [f"┌{'─' * width}┐", *(f"│{line}│" for line in lines), f"└{'─' * width}┘"]


def draw_parts(explanation: PairExplanation) -> RenderableType:
    """Draw what each column adds to the log-odds of a match: to the right for it, to the left against it."""
    parts = [*explanation.columns.items(), (AS_WHOLES, explanation.whole)]
    largest = max(LEAST_SCALE, *(abs(part) for _, part in parts))
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", max_width=NAME_WIDTH, overflow="fold")
    table.add_column("two records", justify="right", width=PART_WIDTH, no_wrap=True)
    table.add_column("one record", width=PART_WIDTH, no_wrap=True)
    for name, part in parts:
        bar = BAR * round(PART_WIDTH * abs(part) / largest)
        against, pro = ("", bar) if part > 0 else (bar, "")
        table.add_row(Text(strip_controls(name)), Text(against, style="yellow"), Text(pro, style="cyan"))
    return table


# ---------------------------------------------------------------- around the pair
def draw_opening(title: str, notes: Sequence[str]) -> RenderableType:
    """Draw a title, and notes on the choices that linkwise made."""
    return Group(
        Text(strip_controls(title), style="bold"),
        draw_listing([("·", strip_controls(note)) for note in notes]),
    )


def draw_listing(lines: Sequence[tuple[str, str]]) -> RenderableType:
    """Draw lines with a short text before each; wrap long lines beside it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=2, justify="right", style="bold")
    grid.add_column(overflow="fold")
    for before, text in lines:
        grid.add_row(Text(before), Text(text))
    return grid


def draw_heading(status: Status, budget: int | None) -> RenderableType:
    """Draw the number of the question and the counts of answers."""
    number = f"Question {status.n_answers + 1}" + (f" of {budget}" if budget is not None else "")
    answered = f" · {count_answers(status)}" if status.n_answers else ""
    return Rule(Text.assemble((number, "bold"), answered), align="left", style="dim")


def draw_rules(lines: Sequence[str], *, width: int) -> RenderableType:
    """Draw a cluster and its rules; indent the continuation of long rules."""
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


def keys_line(*, with_suspects: bool = False, with_later: bool = False) -> Text:
    """The keys and what they mean."""
    keys = [
        ("y", "same"),
        ("n", "different"),
        ("s", "not sure"),
        ("u", "undo"),
        ("q", "quit"),
        ("?", "help, reason"),
    ]
    if with_later:
        keys[3:3] = [("l", "later")]
    if with_suspects:  # in place of other words, so that the line fits
        keys = [*keys[:3], ("u", "undo"), ("w", "suspects"), ("q", "quit"), ("?", "help")]
    return Text("   ").join(Text.assemble((key, "bold"), f" {word}") for key, word in keys)


def draw_cluster_bars(
    sizes: Sequence[int], *, width: int, key: str = "", numbers: Sequence[int] = ()
) -> RenderableType:
    """Draw the sizes of clusters as bars, in the order of their numbers; of many, only the largest.

    Without `numbers` the clusters are numbered from 0. With many clusters the last line names the `key` that
    lists more of them.
    """
    pairs = zip(numbers, sizes, strict=True) if numbers else enumerate(sizes)
    numbered = sorted(((number, size) for number, size in pairs if size), key=lambda c: (-c[1], c[0]))
    shown = sorted(numbered if len(numbered) <= MOST_CLUSTERS else numbered[: MOST_CLUSTERS - 1])
    digits = max((len(str(size)) for _, size in shown), default=1)
    room = max(4, min(40, width - 16 - digits))
    largest = max((size for _, size in shown), default=1)
    lines = [Text(f"{count_noun(len(numbered), 'cluster')} of {count_noun(sum(sizes), 'row')}")]
    for number, size in shown:
        bar = BAR * max(1, round(room * size / largest))
        lines.append(
            Text.assemble(
                f"{'none' if number < 0 else number:>4}  ", (f"{size:>{digits}}", "bold"), "  ", (bar, "cyan")
            )
        )
    rest = numbered[len(shown) :]
    if rest:
        hint = f"  ({key} lists clusters)" if key and len(numbered) >= MANY_CLUSTERS else ""
        counted = f"   …  {len(rest)} smaller clusters, {sum(s for _, s in rest)} rows{hint}"
        lines.append(Text(counted, style="dim"))
    return Group(*lines)


def draw_clusters(listing: ClusterListing, name_of: Callable[[int], str]) -> RenderableType:
    """Draw clusters with their numbers, sizes and names, and with the rows that a search found in them.

    A cluster without a name shows its first rows instead.
    """
    if not listing.clusters:
        return Text(_describe_listing(listing))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("cluster", justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for cluster in listing.clusters:
        words = [strip_controls(cluster.name)] if cluster.name else []
        if cluster.found:
            words.append(_list_rows(cluster.found.rows, cluster.found.count, name_of))
        elif not cluster.name:
            words.append(_list_rows(cluster.first, cluster.size, name_of))
        table.add_row(Text(str(cluster.number)), Text(str(cluster.size), "bold"), Text(": ".join(words)))
    return Group(Text(_describe_listing(listing)), table, *_describe_more(listing))


def _list_rows(rows: Sequence[int], number: int, name_of: Callable[[int], str]) -> str:
    """List some of so many rows: ``ant, bee, cow and 4 more``."""
    names = [strip_controls(name_of(row)) for row in rows]
    more = f" and {number - len(rows)} more" if number > len(rows) else ""
    return join_names(names) + more


def _describe_listing(listing: ClusterListing) -> str:
    """Put into words which clusters are listed: ``Clusters 31 to 60 of 60, the largest first``."""
    n, shown = listing.n_clusters, listing.clusters
    if listing.wanted:
        found = len(shown) + listing.n_more
        return f"{strip_controls(shorten(listing.wanted))}: {found} of {count_noun(n, 'cluster')}"
    if not shown:
        return f"There are only {count_noun(n, 'cluster')}."
    return f"Clusters {shown[0].rank} to {shown[-1].rank} of {n}, the largest first"


def _describe_more(listing: ClusterListing) -> list[Text]:
    """Say how to see the clusters that follow."""
    if not listing.n_more:
        return []
    following = f"   …  {listing.n_more} more"
    if not listing.wanted:
        after = listing.clusters[-1].rank
        following += f", for example: clusters {after + 1}-{after + min(PAGE, listing.n_more)}"
    return [Text(following, style="dim")]


def draw_guidelines(guidelines: str) -> RenderableType:
    """Draw what "belong together" means in a session."""
    lines = [wording.strip_controls(line) for line in guidelines.splitlines()]
    return Group(Text(GUIDELINES, style="bold"), *(Text(line) for line in lines))


def help_text(
    why: str,
    *,
    with_suspects: bool = False,
    with_guidelines: bool = False,
    with_columns: bool = False,
    with_later: bool = False,
) -> RenderableType:
    """Draw the task of the person, the keys, and the reason of the question."""
    keys = (
        *wording.KEYS.items(),
        *([("l", wording.LATER)] if with_later else []),
        ("a", "Add a note to the answer that you give next; a note without words removes it"),
        ("c", "Clusters: the largest, or those that you type, such as 31-60, 12 or a name"),
        *([("w", SUSPECTS)] if with_suspects else []),
        *([("g", GUIDELINES)] if with_guidelines else []),
        *([(COLUMNS_KEY, COLUMNS)] if with_columns else []),
        ("q", "Quit; every answer is saved, and you can go on later"),
    )
    return Group(
        Text("Judge by your own purpose: only your answers decide what a cluster is."),
        draw_listing(keys),
        Text.assemble(("Why this question: ", "bold"), why),
    )


GUIDELINES = "Guidelines: what belongs together here"
COLUMNS = "Apply the columns or weights that are proposed, or take the weights back"
SUSPECTS = "Suspects: the answers that are probably wrong, or what to do with one, such as back 3"
ENDS = {
    "exhausted": f"{wording.NO_MORE_QUESTIONS}. {wording.EXHAUSTED}",
    "budget": f"{wording.BUDGET_SPENT}.",
    "quit": "Stopped.",
}
UNSURE = f"{wording.NO_MORE_QUESTIONS}. {wording.EXHAUSTED_BUT_UNSURE}"


def draw_ending(reason: str, status: Status, *, width: int) -> RenderableType:
    """Draw why the dialogue ends ("exhausted", "budget" or "quit"), the counts and the clusters."""
    why = UNSURE if reason == "exhausted" and status.n_unsure else ENDS[reason]
    return Group(
        Text(why, style="bold"),
        Text(count_answers(status)),
        *(Text(doubts) for doubts in [describe_doubts(status)] if doubts),
        draw_cluster_bars(status.cluster_sizes, width=width, numbers=status.cluster_numbers),
        *(Text(sentence) for sentence in (*status.description, *describe_advice(status))),
    )


def list_next_steps(commands: Sequence[tuple[str, str]]) -> list[Text]:
    """List the next commands, a line each: the purpose and the command."""
    pad = max((len(what) for what, _ in commands), default=0)
    return [Text.assemble((f"{what:<{pad}}  ", "dim"), command) for what, command in commands]
