"""Read a text file of which each line is a text, such as a list of sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from linkwise.data.read.delimited import cuts_evenly
from linkwise.limits import check_cells
from linkwise.text_files import decode
from linkwise.wording import count_noun

if TYPE_CHECKING:
    import polars as pl

NAME = "text"
_LEAST_LINES = 10
_LEAST_WORDS = 3.0  # of an average line


class TextLines(NamedTuple):
    """The lines of a file as a table of one column.

    Attributes
    ----------
    frame : polars.DataFrame of shape (n_lines, 1)
        The lines that are not empty.
    notes : list of str
        Sentences about the choices that were made.
    """

    frame: pl.DataFrame
    notes: list[str]


def read_text_lines(raw: bytes, *, no_header: bool = False) -> TextLines | None:
    """Read a file of which each line is a text; None for any other file.

    Parameters
    ----------
    raw : bytes
        The file, UTF-8 with or without byte order mark.
    no_header : bool, default=False
        Whether the first line is a text in any case.

    Returns
    -------
    TextLines or None
        The lines, if they hold several words on average and neither a delimiter nor spaces cut them evenly. A
        first line of one word is the name of the column.
    """
    import polars as pl

    text = decode(raw)
    lines = [line.strip() for line in text.split("\n")]
    full = [line for line in lines if line]
    n_words = sum(len(line.split()) for line in full)
    if len(full) < _LEAST_LINES or n_words < _LEAST_WORDS * len(full) or cuts_evenly(text):
        return None
    name = full.pop(0) if len(full[0].split()) == 1 and not no_header else NAME
    check_cells(len(full), 1)
    notes = [
        "Each line is a text, because no character cuts the lines into columns. Add --delimiter if one does"
        ' (in Python, delimiter="...").'
    ]
    n_blank = len(text.rstrip().split("\n")) - len(full) - (name != NAME)
    if n_blank > 0:
        notes.append(f"{count_noun(n_blank, 'empty line')} skipped.")
    return TextLines(pl.DataFrame({name: full}, schema={name: pl.String}), notes)
