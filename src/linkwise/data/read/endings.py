"""The files that linkwise reads as a table: their endings, and what a file is by its content.

The command line imports this module, so it imports little.
"""

from __future__ import annotations

import io

from linkwise.errors import DataError

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
OTHER_SHEETS = (".xlsb", ".ods", ".numbers")  # which are not read

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

OLD_SHEET = b"\xd0\xcf\x11\xe0"  # how .xls and files with a password begin
_OTHERS = {  # files of other programs, and how they become a table
    b"\x89HDF": "HDF5, which holds many arrays. Save one array with numpy.save, or the table as .parquet.",
    OLD_SHEET: "an older spreadsheet, or has a password. Save it as .xlsx without a password.",
    b"%PDF": "a PDF. Save its table as CSV.",
    b"$FL2": "of SPSS. Save it as CSV, or as Parquet with pandas.read_spss.",
    b"<stata": "of Stata. Save it as CSV, or as Parquet with pandas.read_stata.",
    b"MATLAB": "of MATLAB. Save its array with numpy.save after scipy.io.loadmat.",
    b"\x80\x04": "a pickle of Python, which could run code. Save the table as .parquet.",
    b"\x80\x05": "a pickle of Python, which could run code. Save the table as .parquet.",
    b"RDX": "of R. Save the table with write.csv.",
    b"\x89PNG": "a picture. Pass the folder of pictures.",
    b"\xff\xd8\xff": "a picture. Pass the folder of pictures.",
}
_PAGES = (b"<!doctype html", b"<html", b"<table")
_LOOK = 4096  # bytes that show whether a file is text


def ending_of_content(raw: bytes) -> str | None:
    """The ending of a file that its first bytes tell; None if they tell nothing, as those of text do."""
    for magic, ending in FIRST_BYTES.items():
        if raw.startswith(magic):
            return ending
    if raw.startswith(b"PK\x03\x04"):
        return _ending_of_archive(raw)
    return None


def _ending_of_archive(raw: bytes) -> str:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = archive.namelist()
    except Exception:  # of a damaged archive zipfile may raise anything
        return ARCHIVE
    if "xl/workbook.xml" in names:
        return ".xlsx"
    return ".npz" if names and all(name.endswith(".npy") for name in names) else ARCHIVE


def ending_of_text(raw: bytes, name: str) -> str:
    """The ending of a file without a known one: that of JSON, ARFF, or of columns.

    Raises `DataError` with a way out if the file is not text.
    """
    for magic, what in _OTHERS.items():
        if raw.startswith(magic):
            raise DataError(f"The file is {what}")
    if raw[257:262] == b"ustar":
        raise DataError("The file is an archive of files. Unpack it, and pass a file or a folder within it.")
    head = raw[:_LOOK]
    is_wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    if b"\0" in head and not is_wide:
        raise DataError(
            f"The kind of '{name}' is unknown: it is not text. Save the table as CSV, .xlsx or .parquet."
        )
    check_is_no_page(raw)
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin[:1] in (b"{", b"["):
        return ".json"
    lines = [line.strip().lower() for line in begin.splitlines()[:200]]
    if any(line.startswith(b"@relation") for line in lines):
        return ".arff"
    return ".txt"


def check_is_no_page(raw: bytes) -> None:
    """Raise `DataError` if text is a web page, as programs also export under the endings of tables."""
    begin = raw[:_LOOK].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if begin.startswith(_PAGES):
        raise DataError("The file is a web page. Open it in a spreadsheet program, and save it as .xlsx.")
