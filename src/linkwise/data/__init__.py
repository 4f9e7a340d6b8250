"""Read tables, decide what their columns are, show their rows, and encode them as numbers.

`read_table` and `from_frame` decide what each column is, and `encode` makes the matrix for a clusterer.
Every choice is a sentence in `Table.notes` or `Encoded.notes`.
"""

from linkwise.data.column_survey import ColumnSurvey, survey_columns
from linkwise.data.encode import encode
from linkwise.data.encoded import Encoded, Feature
from linkwise.data.folders import read_folder
from linkwise.data.items import Items, image_items, record_items, series_items, text_items
from linkwise.data.readers import read_table
from linkwise.data.roles import Column
from linkwise.data.rows import Rows, items_of
from linkwise.data.series import encode_series
from linkwise.data.table import Table, from_frame
from linkwise.data.texts import encode_texts

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
