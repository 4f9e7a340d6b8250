"""Options of the command line, each declared once, beside the field that holds its value.

``linkwise --help`` imports this module, so it must import neither NumPy nor what needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple

from linkwise.app.project.exit_codes import UsageError
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.text_files import decode, normalize_encoding, read_bytes, split_records

SourceRates = dict[str, float | None]
GivenRate = float | str | SourceRates | None  # a word means that it is estimated, None that it was not given


class Declared(NamedTuple):
    """What the command line says of an option.

    Attributes
    ----------
    flag : str
    help : str
        A phrase; it ends with the default in brackets where there is one.
    group : str
        The heading under which the help lists it.
    type : type or tuple of str
        What its value is, or the words that it may be; bool for a flag without a value.
    metavar : str
        What stands for the value in the help.
    least, most : float or None
        Bounds of a number.
    parse : callable or None
        ``parse(flag, text)`` gives the value; its errors are for people.
    may_be_folder : bool
        For a path: whether it may be a folder.
    """

    flag: str
    help: str
    group: str
    type: Any = str
    metavar: str = ""
    least: float | None = None
    most: float | None = None
    parse: Callable[[str, str], Any] | None = None
    may_be_folder: bool = True

    def to_words(self, value: Any) -> tuple[str, ...]:
        """The words that give a value on the command line; none for a value that is not given."""
        if value is None or value is False or value in ((), [], {}):
            return ()
        return (self.flag,) if value is True else (self.flag, _in_one(value))


def option(flag: str, help: str, group: str, *, default: object = None, **more: Any) -> Any:
    """Declare a field that an option gives; `default` where the command line says nothing."""
    return field(default=default, metadata={"option": Declared(flag, help, group, **more)})


# ---------------------------------------------------------------- data
OF_FOLDERS = ("skip_broken",)
TABLES = (  # endings of files that `read_table` reads, which this module cannot ask
    ".csv", ".tsv", ".tab", ".txt", ".parquet", ".jsonl", ".ndjson", ".json", ".npy", ".npz", ".xlsx",
)  # fmt: skip


def _names(flag: str, given: str) -> tuple[str, ...]:
    """Column names from a list with commas; a name that has a comma itself stands in quotes."""
    try:
        names = tuple(name.strip() for _, record in split_records(given, ",") for name in record)
    except DataError:
        raise UsageError(f"{flag} has a quote that does not end: {given!r}. Write {flag} A,B.") from None
    if not all(names) or not names:
        raise UsageError(f"{flag} has an empty name: {given!r}. Give names of columns: {flag} A,B.")
    return names


def _three_names(flag: str, given: str) -> tuple[str, ...]:
    """The columns of ids, times and values."""
    names = _names(flag, given)
    if len(names) != 3:
        raise UsageError(f"{flag} has {len(names)} names: {given!r}. Give three: {flag} ID,TIME,VALUE.")
    return names


def _file_or_names(flag: str, given: str) -> str | tuple[str, ...]:
    """The name of a file of a table, or names of columns."""
    return given if Path(given).suffix.lower() in TABLES else _names(flag, given)


def _weights(flag: str, given: str) -> dict[str, float] | str:
    """Weights by name, or the word that leaves blocks as they are."""
    if given.strip() == "none":
        return "none"
    weights: dict[str, float] = {}
    for one in _names(flag, given):
        name, _, number = one.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if not name or not 0 <= weight < float("inf"):
            raise UsageError(
                f"Invalid value {one!r} for {flag}. Set a number of at least 0 for each name, as in {flag} "
                "title=2,price=0.5, or none."
            )
        if name in weights:
            raise UsageError(f"{flag} has the name {name!r} twice. Give each name one weight.")
        weights[name] = weight
    return weights


def _encoding(flag: str, given: str) -> str:
    """The usual name of an encoding, so that two names of one are the same choice."""
    try:
        return normalize_encoding(given)
    except DataError as error:
        raise UsageError(f"{flag}: {error}") from None


DATA_OPTIONS: dict[str, Declared] = {  # of each field of `Reading`, in the order of the help
    "id_column": Declared("--id", "column that identifies the rows", "data", metavar="COLUMN"),
    "columns": Declared(
        "--columns",
        "columns by which rows are compared  [default: all that are suitable]",
        "data",
        metavar="A,B",
        parse=_names,
    ),
    "drop": Declared("--drop", "columns to leave out", "data", metavar="C,D", parse=_names),
    "delimiter": Declared(
        "--delimiter", "character between values  [default: detected]", "data", metavar="CHAR"
    ),
    "scale": Declared(
        "--scale",
        "scale numbers to 0..1, to standard deviation 1, or not at all  [default: unit]",
        "data",
        type=("unit", "standard", "none"),
    ),
    "impute": Declared(
        "--impute",
        "fill missing values with medians, and with most frequent categories or a category of their own",
        "data",
        type=("median", "category"),
    ),
    "text": Declared(
        "--text",
        "compare rows by the texts of these columns, and by nothing else but --columns",
        "data",
        metavar="A,B",
        parse=_names,
    ),
    "text_by": Declared(
        "--text-by",
        "compare texts by words, or by groups of letters, as names with typing errors  [default: words]",
        "data",
        type=("words", "letters"),
    ),
    "image": Declared(
        "--image",
        "compare rows by the pictures that these columns name, and by nothing else but --text and --columns",
        "data",
        metavar="A,B",
        parse=_names,
    ),
    "series": Declared(
        "--series",
        "each row is a curve: numeric columns in order, or one column of lists",
        "data",
        type=bool,
    ),
    "series_by": Declared(
        "--series-by",
        "each row is one value of a curve: the columns of ids, times and values",
        "data",
        metavar="ID,TIME,VALUE",
        parse=_three_names,
    ),
    "warp": Declared(
        "--warp",
        "compare curves by dynamic time warping, so that shapes may be shifted and stretched",
        "data",
        type=bool,
    ),
    "merge_variants": Declared(
        "--merge-variants",
        "treat spellings of one category, such as Retail and retail, as one",
        "data",
        type=bool,
    ),
    "as_categories": Declared(
        "--as-categories",
        "columns of numbers that are codes, compared as equal or different",
        "data",
        metavar="A,B",
        parse=_names,
    ),
    "log": Declared(
        "--log",
        "columns of amounts, such as incomes, compared by their logarithms",
        "data",
        metavar="A,B",
        parse=_names,
    ),
    "cycles": Declared(
        "--cycles",
        "columns of dates or times, compared by hour, day of the week and season, too; A=hour names one",
        "data",
        metavar="A,B=hour",
        parse=_names,
    ),
    "keep_nested": Declared(
        "--keep-nested", "leave nested objects in JSON as they are, only shown", "data", type=bool
    ),
    "encoding": Declared(
        "--encoding",
        "encoding of a text file, such as windows-1252  [default: detected where certain]",
        "data",
        metavar="NAME",
        parse=_encoding,
    ),
    "sheet": Declared(
        "--sheet", "sheet of a spreadsheet (.xlsx)  [default: the first]", "data", metavar="NAME"
    ),
    "weights": Declared(
        "--weight",
        "how much columns or blocks count, 0 to only show one; none leaves blocks as they are  [default: 1]",
        "data",
        metavar="A=2,B=0.5",
        parse=_weights,
    ),
    "metric": Declared(
        "--metric",
        "compare embeddings by distance, or by the cosine  [default: cosine if all have norm 1]",
        "data",
        type=("euclidean", "cosine"),
    ),
    "skip_broken": Declared("--skip-broken", "leave out images that cannot be read", "data", type=bool),
    "show": Declared(
        "--show",
        "columns that you see and that are not compared; or a table that you see in place of these data",
        "data",
        metavar="A,B|FILE",
        parse=_file_or_names,
    ),
    "hide": Declared(
        "--hide", "columns that you do not see, but that are compared", "data", metavar="C,D", parse=_names
    ),
}


# ---------------------------------------------------------------- a reading on the command line
def check_reading(reading: Reading, data: Path) -> None:
    """Raise `UsageError` if options do not go together, or do not fit a file or a folder."""
    of_folders = OF_FOLDERS if reading.side_file is None else (*OF_FOLDERS, "show")
    for name in reading.settings():
        if data.is_dir() and name not in of_folders:
            raise UsageError(
                f"{data} is a folder, in which each image or text is a row. Leave {flag_of(name)} out."
            )
        if not data.is_dir() and name in OF_FOLDERS:
            raise UsageError(
                f"{flag_of(name)} is for folders of images, and {data} is a file. Leave {flag_of(name)} out."
            )
    misfit = reading.find_misfit(flag_of)
    if misfit is not None:
        raise UsageError(misfit.message)


def write_reading(reading: Reading) -> tuple[str, ...]:
    """The words that give a reading on the command line."""
    given = reading.settings().items()
    return tuple(word for name, value in given for word in DATA_OPTIONS[name].to_words(value))


def options_of(kind: Any) -> dict[str, Declared]:
    """The options that give the fields of a class, by the name of the field."""
    declared = {one.name: one.metadata.get("option") or DATA_OPTIONS.get(one.name) for one in fields(kind)}
    return {name: one for name, one in declared.items() if one is not None}


def _in_one(value: Any) -> str:
    """One value, names as a list with commas, or weights."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = [f"{name}={weight:g}" for name, weight in value.items()]
    return ",".join(f'"{name}"' if "," in name else name for name in value)


def flag_of(name: str) -> str:
    """The flag that gives one part of a `Reading`."""
    return DATA_OPTIONS[name].flag


# ---------------------------------------------------------------- session
ESTIMATE = "estimate"
TEXT_SUFFIXES = (".md", ".rst", ".txt")
MOST_ERRORS = 0.5  # a larger share of wrong answers says as much as a smaller one, turned round


def _error_rate(flag: str, given: str) -> float | str:
    """A share of wrong answers, or the word that asks to estimate it."""
    if given == ESTIMATE:
        return given
    try:
        share = float(given)
    except ValueError:
        share = MOST_ERRORS
    if not 0 <= share < MOST_ERRORS:
        raise UsageError(f"Invalid value {given!r} for {flag}. Set 0 to 0.5 (exclusive), or {ESTIMATE}.")
    return share


ERROR_RATE = Declared(
    "--error-rate",
    f"share of your answers that are wrong, or {ESTIMATE}  [default: {ESTIMATE}]",
    "session",
    metavar="SHARE",
    parse=_error_rate,
)


def _guidelines(flag: str, given: str) -> str:
    """The text of guidelines; a word that looks like a file must be one."""
    path = Path(given)
    with suppress(OSError, ValueError):  # a long text is no name of a file
        if path.is_file():
            return decode(read_bytes(path))
    if given.strip() and len(given.split()) == 1 and path.suffix in TEXT_SUFFIXES:
        raise UsageError(f"There is no file {given}. Give {flag} a text, or the name of a text file.")
    return given


def _annotators(flag: str, given: str) -> tuple[str, ...]:
    """The names of people, each once."""
    names = tuple(name.strip() for name in given.split(","))
    wrong = next((name for name in names if PERSON.fullmatch(name) is None), None)
    if wrong is not None:
        raise UsageError(
            f"{flag} has the name {wrong!r}. A name has 1 to 40 letters, digits, hyphens, underscores and "
            f"full stops: {flag} anna,ben."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{flag} has the name {twice} twice. Name each person once.")
    return names


def _overlap(flag: str, given: str) -> float:
    """A share of questions."""
    try:
        share = float(given)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"Invalid value {given!r} for {flag}. Set a share of the questions, from 0 to 1.")
    return share


PERSON = re.compile(r"[\w.-]{1,40}")
ANNOTATORS = Declared(
    "--annotators",
    "people who answer at the same time; each has an address of their own",
    "page",
    metavar="ANNA,BEN",
    parse=_annotators,
)


OVERLAP = Declared(
    "--overlap",
    "share of questions that a second person answers, too; it falls as agreement becomes known  [default: 0]",
    "page",
    metavar="SHARE",
    parse=_overlap,
)
GOLD = Declared(
    "--gold",
    "pairs that are known, shown now and then to learn how often each person errs: id_a,id_b,kind",
    "page",
    type=Path,
    metavar="PAIRS.csv",
    may_be_folder=False,
)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Who reads the rows of items."""

    n_jobs: int | None = option(
        "--jobs",
        "read the rows of items in N processes; the result is the same  [default: 1]",
        "data",
        type=int,
        metavar="N",
        least=1,
    )
    dask: str | None = option(
        "--dask",
        "read the rows of items on the workers of a dask cluster; the result is the same",
        "data",
        metavar="tcp://HOST:PORT",
    )


HERE_ALONE = WorkerOptions()


@dataclass(frozen=True, slots=True)
class SessionOptions(WorkerOptions):
    """Which session file, and what comes into it."""

    session: Path | None = option(
        "--session",
        "session file  [default: FILE.linkwise]",
        "session",
        type=Path,
        metavar="PATH",
        may_be_folder=False,
    )
    constraints: Path | None = option(
        "--constraints",
        "import pairs: id_a,id_b,kind (must-link or cannot-link)",
        "session",
        type=Path,
        metavar="PAIRS.csv",
    )
    old: Path | None = option(
        "--from",
        "copy the answers of another session, matched by row id",
        "session",
        type=Path,
        metavar="OLD.linkwise",
    )
    budget: int | None = option(
        "--budget",
        "stop after N answers, counting earlier ones  [default: no limit]",
        "session",
        type=int,
        metavar="N",
        least=0,
    )
    error_rate: GivenRate = field(default=None, metadata={"option": ERROR_RATE})
    guidelines: str | None = option(
        "--guidelines",
        "what belong together means here, for everybody who answers: a text, or a file that holds it",
        "session",
        metavar="FILE|TEXT",
        parse=_guidelines,
    )
    n_items: int | None = option(
        "--items",
        "ask about N items of similar rows, for data larger than memory; 0 reads all rows of a file"
        "  [default: 1000 above 2 million rows]",
        "data",
        type=int,
        metavar="N",
        least=0,
    )
    replay: bool | None = option(
        "--replay",
        "let changed data options apply to a session with answers, which are all replayed",
        "session",
        type=bool,
    )


def rate_of_new_session(given: GivenRate) -> float | SourceRates | None:
    """The share of wrong answers of a session that begins; a person answers, so by default it is estimated.

    `given` is the value of ``--error-rate``, None if the option is not given.
    """
    return None if isinstance(given, str) else given


def rate_of_old_session(given: GivenRate) -> float | SourceRates | Literal["stored"] | None:
    """The share of wrong answers as `linkwise.Session.open` takes it; by default the one in the file."""
    return "stored" if given is None else rate_of_new_session(given)


# ---------------------------------------------------------------- programs that answer
@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The program that answers in place of a person; `command` is None if there is none."""

    command: str | None = option(
        "--oracle",
        "a program that answers: it reads questions and writes answers as lines of JSON",
        "program",
        metavar="COMMAND",
    )
    parallel: int | None = option(
        "--parallel",
        "how many questions the program gets at once  [default: 1]",
        "program",
        type=int,
        metavar="N",
        least=1,
    )
    source: str | None = option(
        "--source", "name stored with each answer  [default: file of the program]", "program", metavar="NAME"
    )
    max_cost: float | None = option(
        "--max-cost",
        "stop asking when the costs that the program reports reach X  [default: no limit]",
        "program",
        type=float,
        metavar="X",
        least=0,
    )
    timeout: float | None = option(
        "--timeout",
        "seconds until a reply counts as missing  [default: 60]",
        "program",
        type=float,
        metavar="S",
        least=0,
    )
    retries: int | None = option(
        "--retries",
        "how often a question is repeated  [default: 3]",
        "program",
        type=int,
        metavar="N",
        least=0,
    )
    audit: int | None = option(
        "--audit",
        "afterwards ask you N pairs that the program answered, and report how often it is wrong",
        "program",
        type=int,
        metavar="N",
        least=1,
    )
    is_quiet: bool | None = option("--quiet", "print no line for each answer to stderr", "program", type=bool)

    def check_command(self) -> None:
        """Check that no option is for a program that is not there."""
        for one in fields(self):
            if self.command is None and getattr(self, one.name) is not None:
                flag = one.metadata["option"].flag
                raise UsageError(f"{flag} is about a program that answers. Name it with --oracle COMMAND.")


# ---------------------------------------------------------------- explanations
@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What is to be explained, and where it goes."""

    rows: tuple[str, str] | None = option(
        "--rows",
        "explain why the rows A and B are together or apart",
        "output",
        type=tuple[str, str],
        metavar="A B",
    )
    form: str = option(
        "--format",
        "print rules, or the tree as text, for Mermaid or for Graphviz  [default: rules]",
        "output",
        default="rules",
        type=("rules", "tree", "mermaid", "dot"),
    )
    max_leaves: int | None = option(
        "--max-leaves",
        "largest number of rules  [default: three per cluster, at least 8]",
        "output",
        type=int,
        metavar="N",
        least=1,
    )
    fidelity: float | None = option(
        "--fidelity",
        "share of the rows that the rules must put into their cluster  [default: 0.95]",
        "output",
        type=float,
        metavar="SHARE",
        least=0,
        most=1,
    )
    show_all: bool = option(
        "--all",
        "describe every cluster by all its rules  [default: at most 60 lines]",
        "output",
        default=False,
        type=bool,
    )
    plot: Path | None = option(
        "--plot", "save a picture of the tree", "output", type=Path, metavar="OUT.png", may_be_folder=False
    )
    force: bool = option("--force", "overwrite existing files", "output", default=False, type=bool)
    as_json: bool = option(
        "--json", "JSON on stdout, one object per line", "output", default=False, type=bool
    )
