"""Read tables, decide what their columns are, show their rows, and encode them as numbers.

`read_table` and `from_frame` decide what each column is, and `encode` makes the matrix for a clusterer.
Every choice is a sentence in `Table.notes` or `Encoded.notes`. The names are loaded when they are first used,
so that a command that only shows its help need not load NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.data.column_survey import ColumnSurvey, survey_columns
    from linkwise.data.columns.roles import Column
    from linkwise.data.columns.table import Table
    from linkwise.data.encoding.encoded import Encoded, Feature
    from linkwise.data.encoding.matrix import encode
    from linkwise.data.encoding.series import encode_series
    from linkwise.data.encoding.texts import encode_texts
    from linkwise.data.folders import read_folder
    from linkwise.data.readers import from_frame, read_table
    from linkwise.data.reading import Reading
    from linkwise.data.show.items import Items, image_items, record_items, series_items, text_items
    from linkwise.data.show.rows import Rows, items_of

_HOME = {
    "Column": "linkwise.data.columns.roles",
    "ColumnSurvey": "linkwise.data.column_survey",
    "Encoded": "linkwise.data.encoding.encoded",
    "Feature": "linkwise.data.encoding.encoded",
    "Items": "linkwise.data.show.items",
    "Reading": "linkwise.data.reading",
    "Rows": "linkwise.data.show.rows",
    "Table": "linkwise.data.columns.table",
    "encode": "linkwise.data.encoding.matrix",
    "encode_series": "linkwise.data.encoding.series",
    "encode_texts": "linkwise.data.encoding.texts",
    "from_frame": "linkwise.data.readers",
    "image_items": "linkwise.data.show.items",
    "items_of": "linkwise.data.show.rows",
    "read_folder": "linkwise.data.folders",
    "read_table": "linkwise.data.readers",
    "record_items": "linkwise.data.show.items",
    "series_items": "linkwise.data.show.items",
    "survey_columns": "linkwise.data.column_survey",
    "text_items": "linkwise.data.show.items",
}

__all__ = [
    "Column",
    "ColumnSurvey",
    "Encoded",
    "Feature",
    "Items",
    "Reading",
    "Rows",
    "Table",
    "encode",
    "encode_series",
    "encode_texts",
    "from_frame",
    "image_items",
    "items_of",
    "read_folder",
    "read_table",
    "record_items",
    "series_items",
    "survey_columns",
    "text_items",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'linkwise.data' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
