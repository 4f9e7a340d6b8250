"""The files that linkwise reads as a table: their endings, and how they begin.

The command line imports this module, so it imports nothing.
"""

PLAIN = ".txt"  # a table, or a text in each line
DELIMITED = (".csv", ".tsv", ".tab", PLAIN, ".dat", ".data")
JSON = (".jsonl", ".ndjson", ".json", ".geojson")
ARFF, TS = ".arff", ".ts"
SHEET = ".xlsx"
PARQUET = ".parquet"
ARROW = (".arrow", ".feather", ".ipc")
COLUMNAR = (PARQUET, *ARROW)
ARRAYS = (".npy", ".npz")
MATRIX = ".mtx"
DATABASES = (".db", ".sqlite", ".sqlite3")
ARCHIVE = ".zip"
PACKED = (".gz", ".bz2", ".xz", ARCHIVE)

TYPED = (*JSON, ARFF, TS)  # text files that say what is a number
TEXTS = (*DELIMITED, *TYPED)
WITH_TEXTS = (*TEXTS, SHEET, *DATABASES)  # whose columns of text may hold numbers or dates
ENDINGS = (*TEXTS, SHEET, *COLUMNAR, *ARRAYS, MATRIX, *DATABASES, *PACKED)
OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")  # which are not read

FIRST_BYTES = {
    b"PAR1": PARQUET,
    b"ARROW1\0\0": ".arrow",
    b"FEA1": ".feather",
    b"SQLite format 3\0": ".db",
    b"\x93NUMPY": ".npy",
    b"%%MatrixMarket": MATRIX,
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
}
"""How files of each kind begin, for those whose ending does not tell it."""
