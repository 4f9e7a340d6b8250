"""Options of the command line, each declared once, beside the field that holds its value.

``linkwise --help`` imports this module, so it must import neither NumPy nor what needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple

from linkwise.app.project.exit_codes import UsageError
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
OF_ENCODING = ("scale", "impute")
OF_FOLDERS = ("skip_broken",)
TABLES = (  # endings of files that `read_table` reads, which this module cannot ask
    ".csv", ".tsv", ".tab", ".txt", ".parquet", ".jsonl", ".ndjson", ".json", ".npy", ".npz", ".xlsx",
)  # fmt: skip
OF_RECORDS = ("merge_variants", "as_categories", "log", "cycles")
OF_COLUMNS = ("metric", *OF_RECORDS, *OF_ENCODING)  # what texts alone do not have


def _names(flag: str, given: str) -> tuple[str, ...]:
    """Column names from a list with commas; a name that has a comma itself stands in quotes."""
    try:
        names = tuple(name.strip() for _, record in split_records(given, ",") for name in record)
    except DataError:
        raise UsageError(f"{flag} has a quote that does not end: {given!r}. Write {flag} A,B.") from None
    if not all(names) or not names:
        raise UsageError(f"{flag} has an empty name: {given!r}. Use names of columns: {flag} A,B.")
    return names


def _three_names(flag: str, given: str) -> tuple[str, ...]:
    """The columns of ids, times and values."""
    names = _names(flag, given)
    if len(names) != 3:
        raise UsageError(f"{flag} has {len(names)} names: {given!r}. Use three: {flag} ID,TIME,VALUE.")
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
            raise UsageError(f"{flag} has the name {name!r} twice. Set one weight for each name.")
        weights[name] = weight
    return weights


def _encoding(flag: str, given: str) -> str:
    """The usual name of an encoding, so that two names of one are the same choice."""
    try:
        return normalize_encoding(given)
    except DataError as error:
        raise UsageError(f"{flag}: {error}") from None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read and encoded; None where the command line says nothing.

    CONTRIBUTING.md explains how to add a field, and decision 041 why options are declared in this way.
    """

    id_column: str | None = option("--id", "column that identifies the rows", "data", metavar="COLUMN")
    columns: Sequence[str] | None = option(
        "--columns",
        "columns by which rows are compared  [default: all that are suitable]",
        "data",
        metavar="A,B",
        parse=_names,
    )
    drop: Sequence[str] | None = option("--drop", "columns to leave out", "data", metavar="C,D", parse=_names)
    delimiter: str | None = option(
        "--delimiter", "character between values  [default: detected]", "data", metavar="CHAR"
    )
    scale: str | None = option(
        "--scale",
        "scale numbers to 0..1, to standard deviation 1, or not at all  [default: unit]",
        "data",
        type=("unit", "standard", "none"),
    )
    impute: str | None = option(
        "--impute",
        "fill missing values with medians, and with most frequent categories or a category of their own",
        "data",
        type=("median", "category"),
    )
    text: Sequence[str] | None = option(
        "--text",
        "compare rows by the texts of these columns, and by nothing else but --columns",
        "data",
        metavar="A,B",
        parse=_names,
    )
    text_by: str | None = option(
        "--text-by",
        "compare texts by words, or by groups of letters, as names with typing errors  [default: words]",
        "data",
        type=("words", "letters"),
    )
    image: Sequence[str] | None = option(
        "--image",
        "compare rows by the pictures that these columns name, and by nothing else but --text and --columns",
        "data",
        metavar="A,B",
        parse=_names,
    )
    series: bool | None = option(
        "--series",
        "each row is a curve: numeric columns in order, or one column of lists",
        "data",
        type=bool,
    )
    series_by: Sequence[str] | None = option(
        "--series-by",
        "each row is one value of a curve: the columns of ids, times and values",
        "data",
        metavar="ID,TIME,VALUE",
        parse=_three_names,
    )
    warp: bool | None = option(
        "--warp",
        "compare curves by dynamic time warping, so that shapes may be shifted and stretched",
        "data",
        type=bool,
    )
    merge_variants: bool | None = option(
        "--merge-variants",
        "treat spellings of one category, such as Retail and retail, as one",
        "data",
        type=bool,
    )
    as_categories: Sequence[str] | None = option(
        "--as-categories",
        "columns of numbers that are codes, compared as equal or different",
        "data",
        metavar="A,B",
        parse=_names,
    )
    log: Sequence[str] | None = option(
        "--log",
        "columns of amounts, such as incomes, compared by their logarithms",
        "data",
        metavar="A,B",
        parse=_names,
    )
    cycles: Sequence[str] | None = option(
        "--cycles",
        "columns of dates or times, compared by hour, day of the week and season, too; A=hour names one",
        "data",
        metavar="A,B=hour",
        parse=_names,
    )
    keep_nested: bool | None = option(
        "--keep-nested", "leave nested objects in JSON as they are, only shown", "data", type=bool
    )
    encoding: str | None = option(
        "--encoding",
        "encoding of a text file, such as windows-1252  [default: detected where certain]",
        "data",
        metavar="NAME",
        parse=_encoding,
    )
    sheet: str | None = option(
        "--sheet", "sheet of a spreadsheet (.xlsx)  [default: the first]", "data", metavar="NAME"
    )
    weights: Mapping[str, float] | str | None = option(
        "--weight",
        "how much columns or blocks count, 0 to only show one; none leaves blocks as they are  [default: 1]",
        "data",
        metavar="A=2,B=0.5",
        parse=_weights,
    )
    metric: str | None = option(
        "--metric",
        "compare embeddings by distance, or by the cosine  [default: cosine if all have norm 1]",
        "data",
        type=("euclidean", "cosine"),
    )
    skip_broken: bool | None = option(
        "--skip-broken", "leave out images that cannot be read", "data", type=bool
    )
    show: str | Sequence[str] | None = option(
        "--show",
        "columns that you see and that are not compared; or a table that you see in place of these data",
        "data",
        metavar="A,B|FILE",
        parse=_file_or_names,
    )
    hide: Sequence[str] | None = option(
        "--hide", "columns that you do not see, but that are compared", "data", metavar="C,D", parse=_names
    )

    def settings(self) -> dict[str, Any]:
        """Return the options that the command line sets."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def choices(self) -> dict[str, Any]:
        """The part that is for `read_table` or `read_folder`."""
        others = OF_ENCODING if self.side_file is None else (*OF_ENCODING, "show")
        chosen = {name: value for name, value in self.settings().items() if name not in others}
        if self.series_by is not None:
            chosen["series"] = True
        # a scale of columns that was asked for is kept: rows are not scaled to norm 1 without being asked
        return {"metric": "euclidean", **chosen} if self.scale is not None and self.is_of_records else chosen

    @property
    def is_of_records(self) -> bool:
        """Whether rows of a file are compared by columns, maybe beside texts or pictures."""
        has_blocks = self.text is not None or self.image is not None
        return not self.is_of_series and (not has_blocks or self.columns is not None)

    @property
    def is_of_series(self) -> bool:
        """Whether rows are curves."""
        return bool(self.series or self.series_by)

    @property
    def side_file(self) -> str | None:
        """The table that is shown in place of the data; None if there is none."""
        return self.show if isinstance(self.show, str) else None

    def options(self) -> tuple[str, ...]:
        """The options that say the same."""
        return tuple(
            word for name, value in self.settings().items() for word in find_option(name).to_words(value)
        )

    def source(self, data: Path) -> dict[str, Any]:
        """All that decides what is read from a file or a folder."""
        self._check(data)
        of_rows = "unit" if self.is_of_records and not data.is_dir() else None
        usual = "standard" if self.is_of_series else of_rows
        side = {} if self.side_file is None else {"show": {"file": self.side_file}}
        return {"choices": self.choices(), "scale": self.scale or usual, "impute": self.impute, **side}

    def _check(self, data: Path) -> None:
        """Refuse options that do not go together."""
        of_folders = OF_FOLDERS if self.side_file is None else (*OF_FOLDERS, "show")
        for name in self.settings():
            if data.is_dir() and name not in of_folders:
                raise UsageError(
                    f"{data} is a folder, in which each image or text is a row. Remove {flag_of(name)}."
                )
            if not data.is_dir() and name in OF_FOLDERS:
                raise UsageError(
                    f"{flag_of(name)} is for folders of images, and {data} is a file. Remove {flag_of(name)}."
                )
            if self.text is not None and name in ("series", "series_by"):
                raise UsageError(f"--text compares rows by their words. Remove {flag_of(name)}.")
            if self.image is not None and name in ("series", "series_by"):
                raise UsageError(f"--image compares rows by pictures. Remove {flag_of(name)}.")
            if not self.is_of_series and not self.is_of_records and name in OF_COLUMNS:
                what = "--image compares rows by pictures" if self.text is None else _BY_WORDS
                raise UsageError(
                    f"{what} alone. Remove {flag_of(name)}, or compare by columns, too, with "
                    "--columns A,B or --columns all."
                )
            if self.text is None and name == "text_by":
                raise UsageError("--text-by is about columns of texts. Add --text A,B.")
            if self.is_of_series and name in ("weights", "metric"):
                raise UsageError(f"--series compares curves sample by sample. Remove {flag_of(name)}.")
            if self.is_of_series and name in OF_RECORDS:
                raise UsageError(f"--series compares numbers alone. Remove {flag_of(name)}.")
            if not self.is_of_series and name == "warp":
                raise UsageError("--warp is about curves. Add --series or --series-by, or remove --warp.")
            if self.is_of_series and name == "impute":
                raise UsageError("--series fills gaps in curves from their neighbours. Remove --impute.")
        if self.metric == "cosine" and self.scale is not None:
            raise UsageError("--metric cosine scales each row of numbers to norm 1. Remove --scale.")


_BY_WORDS = "--text compares rows by their words"


def _in_one(value: Any) -> str:
    """One value, names as a list with commas, or weights."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = [f"{name}={weight:g}" for name, weight in value.items()]
    return ",".join(f'"{name}"' if "," in name else name for name in value)


def flag_of(name: str) -> str:
    """The flag that gives one part of a `Reading`."""
    return find_option(name).flag


def find_option(name: str) -> Declared:
    """The option that gives one part of a `Reading`."""
    declared: Declared = next(one.metadata["option"] for one in fields(Reading) if one.name == name)
    return declared


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
        raise UsageError(f"There is no file {given}. Pass a text or the name of a text file to {flag}.")
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
        raise UsageError(f"{flag} has the name {twice} twice. Use each name once.")
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
                raise UsageError(f"{flag} is about a program that answers. Add --oracle COMMAND.")


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
