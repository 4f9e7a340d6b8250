"""Read tables, decide what their columns are, show their rows, and encode them as numbers.

`read_table` and `from_frame` decide what each column is, and `encode` makes the matrix for a clusterer.
Every choice is a sentence in `Table.notes` or `Encoded.notes`.
"""

from linkwise.data.column_survey import ColumnSurvey, survey_columns
from linkwise.data.columns.roles import Column
from linkwise.data.columns.table import Table
from linkwise.data.encoding.encoded import Encoded, Feature
from linkwise.data.encoding.matrix import encode
from linkwise.data.encoding.series import encode_series
from linkwise.data.encoding.texts import encode_texts
from linkwise.data.folders import read_folder
from linkwise.data.readers import from_frame, read_table
from linkwise.data.show.items import Items, image_items, record_items, series_items, text_items
from linkwise.data.show.rows import Rows, items_of

__all__ = [
    "Column",
    "ColumnSurvey",
    "Encoded",
    "Feature",
    "Items",
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
