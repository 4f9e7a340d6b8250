"""Small HTML for notebooks: a caption, sentences and a table, every text escaped.

It sets no colour, so it is readable on a light and on a dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 30
TABLE = "border-collapse: collapse; color: inherit; background: transparent"
LEFT = (
    "text-align: left; vertical-align: top; padding: 0.15em 0.8em 0.15em 0; color: inherit; background: none"
)
RIGHT = LEFT.replace("text-align: left", "text-align: right")


def draw_block(
    caption: str,
    sentences: Iterable[str] = (),
    *,
    header: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
) -> str:
    """Write a block of HTML for a notebook: a caption in bold, sentences, and a table if it has columns.

    Numbers stand on the right. Above 30 rows the others are counted.
    """
    lines = [f"<strong>{escape(caption)}</strong>", *(escape(line) for line in sentences)]
    parts = ["<div>", *(f"<div>{line}</div>" for line in lines)]
    if rows:
        parts.append(f'<table style="{TABLE}">')
        if header:
            parts.append(_draw_row("th", header))
        parts += [_draw_row("td", row) for row in rows[:MOST_ROWS]]
        parts.append("</table>")
    if len(rows) > MOST_ROWS:
        parts.append(f"<div>and {len(rows) - MOST_ROWS} more</div>")
    return "".join([*parts, "</div>"])


def _draw_row(kind: str, cells: Sequence[object]) -> str:
    def draw(cell: object) -> str:
        style = RIGHT if isinstance(cell, (int, float)) else LEFT
        return f'<{kind} style="{style}">{escape(str(cell))}</{kind}>'

    return f"<tr>{''.join(map(draw, cells))}</tr>"
