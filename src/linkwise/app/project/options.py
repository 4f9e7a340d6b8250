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
from linkwise.data.read.endings import ENDINGS
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.text_files import decode, normalize_encoding, read_bytes, split_records

SourceRates = dict[str, float | None]
GivenRate = float | str | SourceRates | None  # a word means that it is estimated, None that it was not given


# headings of the help, in their order
OF_FILE, OF_COMPARISON, OF_CARDS = "How the file is read", "How rows are compared", "What you see of a row"
OF_LARGE_DATA, OF_METHOD, OF_SESSION = "Data larger than memory", "Method", "Session"
OF_PROGRAM, OF_MODEL = "A program or model that answers", "A language model that answers"
OF_PAGE, OF_OUTPUT = "Page", "Output"
HEADINGS = (
    OF_FILE, OF_COMPARISON, OF_CARDS, OF_LARGE_DATA, OF_METHOD, OF_SESSION, OF_PROGRAM, OF_MODEL, OF_PAGE,
    OF_OUTPUT,
)  # fmt: skip


class CommandOption(NamedTuple):
    """What the command line says of an option.

    `help` is a phrase of at most 48 letters, so that it takes one line in the help; it ends with the
    default in brackets where there is one. `type` is bool for a flag without a value, or the allowed
    words. ``parse(flag, text)`` gives the value; its errors are for people.
    """

    flag: str
    help: str
    heading: str
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


def option(flag: str, help: str, heading: str, *, default: object = None, **more: Any) -> Any:
    """Declare a field that an option gives; `default` where the command line says nothing."""
    return field(default=default, metadata={"option": CommandOption(flag, help, heading, **more)})


# ---------------------------------------------------------------- data
OF_FOLDERS = ("skip_broken",)


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
    return given if Path(given).suffix.lower() in ENDINGS else _names(flag, given)


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


DATA_OPTIONS: dict[str, CommandOption] = {  # of each field of `Reading`, in the order of the help
    "id_column": CommandOption("--id", "column that identifies the rows", OF_FILE, metavar="COLUMN"),
    "columns": CommandOption(
        "--columns",
        "columns to compare  [default: all suitable]",
        OF_COMPARISON,
        metavar="A,B",
        parse=_names,
    ),
    "drop": CommandOption("--drop", "columns to leave out", OF_COMPARISON, metavar="C,D", parse=_names),
    "delimiter": CommandOption(
        "--delimiter", "character between values  [default: detected]", OF_FILE, metavar="CHAR"
    ),
    "scale": CommandOption(
        "--scale",
        "unit (0 to 1), standard or none  [default: unit]",
        OF_COMPARISON,
        type=("unit", "standard", "none"),
        metavar="HOW",
    ),
    "impute": CommandOption(
        "--impute",
        "fill missing categories with the most frequent  [default: their own]",
        OF_COMPARISON,
        type=("median",),
    ),
    "text": CommandOption(
        "--text",
        "compare by these texts (and --columns) alone",
        OF_COMPARISON,
        metavar="A,B",
        parse=_names,
    ),
    "text_by": CommandOption(
        "--text-by",
        "words, letters, meaning or words,meaning",
        OF_COMPARISON,
        type=("words", "letters", "meaning", "words,meaning"),
        metavar="HOW",
    ),
    "image": CommandOption(
        "--image",
        "compare by the pictures that these columns name",
        OF_COMPARISON,
        metavar="A,B",
        parse=_names,
    ),
    "series": CommandOption(
        "--series",
        "each row is a curve of numbers",
        OF_COMPARISON,
        type=bool,
    ),
    "series_by": CommandOption(
        "--series-by",
        "each row is one value of a curve",
        OF_COMPARISON,
        metavar="ID,TIME,VALUE",
        parse=_three_names,
    ),
    "warp": CommandOption(
        "--warp",
        "let curves be shifted and stretched in time",
        OF_COMPARISON,
        type=bool,
    ),
    "merge_variants": CommandOption(
        "--merge-variants",
        "treat Retail and retail as one category",
        OF_COMPARISON,
        type=bool,
    ),
    "as_categories": CommandOption(
        "--as-categories",
        "numbers that are codes: equal or different",
        OF_COMPARISON,
        metavar="A,B",
        parse=_names,
    ),
    "log": CommandOption(
        "--log",
        "amounts to compare by their logarithms",
        OF_COMPARISON,
        metavar="A,B",
        parse=_names,
    ),
    "cycles": CommandOption(
        "--cycles",
        "dates or times to compare by hour and season",
        OF_COMPARISON,
        metavar="A,B=hour",
        parse=_names,
    ),
    "keep_nested": CommandOption(
        "--keep-nested", "keep nested objects in JSON, only shown", OF_FILE, type=bool
    ),
    "encoding": CommandOption(
        "--encoding",
        "encoding of a text file  [default: detected]",
        OF_FILE,
        metavar="NAME",
        parse=_encoding,
    ),
    "sheet": CommandOption(
        "--sheet", "sheet, file in a zip, array, table or SELECT", OF_FILE, metavar="NAME"
    ),
    "no_header": CommandOption(
        "--no-header", "the first line is a row  [default: detected]", OF_FILE, type=bool
    ),
    "skip_lines": CommandOption(
        "--skip-lines",
        "lines before the header  [default: detected]",
        OF_FILE,
        type=int,
        metavar="N",
        least=0,
    ),
    "transpose": CommandOption("--transpose", "the columns of the file are the rows", OF_FILE, type=bool),
    "where": CommandOption("--where", 'rows to keep, in SQL: "amount > 0"', OF_FILE, metavar="SQL"),
    "missing": CommandOption(
        "--missing",
        "values that mean missing: -200,year=0",
        OF_FILE,
        metavar="A,B",
        parse=_names,
    ),
    "weights": CommandOption(
        "--weight",
        "how much columns or blocks count  [default: 1]",
        OF_COMPARISON,
        metavar="A=2,B=0.5",
        parse=_weights,
    ),
    "metric": CommandOption(
        "--metric",
        "compare embeddings by euclidean or cosine",
        OF_COMPARISON,
        type=("euclidean", "cosine"),
        metavar="NAME",
    ),
    "skip_broken": CommandOption("--skip-broken", "leave out images that cannot be read", OF_FILE, type=bool),
    "show": CommandOption(
        "--show",
        "columns, or a table, to see but not compare",
        OF_CARDS,
        metavar="A,B|FILE",
        parse=_file_or_names,
    ),
    "hide": CommandOption("--hide", "columns to compare but not see", OF_CARDS, metavar="C,D", parse=_names),
}


AS_IS = CommandOption("--as-is", "take no options from what the file holds", OF_FILE, type=bool)


# ---------------------------------------------------------------- a reading on the command line
def check_reading(reading: Reading, data: Path) -> None:
    """Raise `UsageError` if options do not go together, or do not fit a file or a folder."""
    of_folders = OF_FOLDERS if reading.side_file is None else (*OF_FOLDERS, "show")
    for name in reading.settings():
        if data.is_dir() and name not in of_folders:
            raise UsageError(
                f"{data} is a folder, in which each image or text is a row. Remove {flag_of(name)}."
            )
        if not data.is_dir() and name in OF_FOLDERS:
            raise UsageError(
                f"{flag_of(name)} is for folders of images, and {data} is a file. Remove {flag_of(name)}."
            )
    misfit = reading.find_misfit(flag_of)
    if misfit is not None:
        raise UsageError(misfit.message)


def write_reading(reading: Reading) -> tuple[str, ...]:
    """The words that give a reading on the command line."""
    given = reading.settings().items()
    return tuple(word for name, value in given for word in DATA_OPTIONS[name].to_words(value))


def options_of(kind: Any) -> dict[str, CommandOption]:
    """The options that give the fields of a class, by the name of the field."""
    declared = {one.name: one.metadata.get("option") or DATA_OPTIONS.get(one.name) for one in fields(kind)}
    return {name: one for name, one in declared.items() if one is not None}


def _in_one(value: Any) -> str:
    """One value, names as a list with commas, or weights."""
    if isinstance(value, str | int):
        return str(value)
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


ERROR_RATE = CommandOption(
    "--error-rate",
    f"share of wrong answers  [default: {ESTIMATE}]",
    OF_SESSION,
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
ANNOTATORS = CommandOption(
    "--annotators",
    "people who answer, each at their own address",
    OF_PAGE,
    metavar="ANNA,BEN",
    parse=_annotators,
)


SET = CommandOption(
    "--set",
    "sort N rows at once into piles, in the terminal",
    OF_SESSION,
    type=int,
    metavar="N",
    least=2,
    most=100,
)
AGENT_NAME = CommandOption(
    "--source", "name stored with answers  [default: the client's]", OF_SESSION, metavar="NAME"
)
OVERLAP = CommandOption(
    "--overlap",
    "share of questions asked twice  [default: 0]",
    OF_PAGE,
    metavar="SHARE",
    parse=_overlap,
)
GOLD = CommandOption(
    "--gold",
    "known pairs, to learn how often people err",
    OF_PAGE,
    type=Path,
    metavar="PAIRS.csv",
    may_be_folder=False,
)


SESSION = CommandOption(
    "--session",
    "session file  [default: FILE.linkwise]",
    OF_SESSION,
    type=Path,
    metavar="PATH",
    may_be_folder=False,
)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Who reads the rows of groups."""

    n_jobs: int | None = option(
        "--jobs",
        "processes that read the rows  [default: 1]",
        OF_LARGE_DATA,
        type=int,
        metavar="N",
        least=1,
    )
    dask: str | None = option(
        "--dask",
        "workers of a dask cluster that read the rows",
        OF_LARGE_DATA,
        metavar="tcp://HOST:PORT",
    )


NO_WORKERS = WorkerOptions()


@dataclass(frozen=True, slots=True)
class SessionOptions(WorkerOptions):
    """Which session file, and what comes into it."""

    session: Path | None = field(default=None, metadata={"option": SESSION})
    constraints: Path | None = option(
        "--constraints",
        "import pairs from a file: id_a,id_b,kind",
        OF_SESSION,
        type=Path,
        metavar="PAIRS.csv",
    )
    old: Path | None = option(
        "--from",
        "copy the answers of another session, by row id",
        OF_SESSION,
        type=Path,
        metavar="OLD.linkwise",
    )
    budget: int | None = option(
        "--budget",
        "stop after N answers in all  [default: no limit]",
        OF_SESSION,
        type=int,
        metavar="N",
        least=0,
    )
    error_rate: GivenRate = field(default=None, metadata={"option": ERROR_RATE})
    guidelines: str | None = option(
        "--guidelines",
        "what belong together means, for all who answer",
        OF_SESSION,
        metavar="FILE|TEXT",
        parse=_guidelines,
    )
    n_groups: int | None = option(
        "--groups",
        "ask about N groups of rows, or 0 for all rows",
        OF_LARGE_DATA,
        type=int,
        metavar="N",
        least=0,
    )
    as_is: bool | None = field(default=None, metadata={"option": AS_IS})
    replay: bool | None = option(
        "--replay",
        "let new options of data apply to all answers",
        OF_SESSION,
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
        "program that answers in lines of JSON",
        OF_PROGRAM,
        metavar="COMMAND",
    )
    parallel: int | None = option(
        "--parallel",
        "questions that it gets at once  [default: 1]",
        OF_PROGRAM,
        type=int,
        metavar="N",
        least=1,
    )
    source: str | None = option(
        "--source", "name stored with answers  [default: its own]", OF_PROGRAM, metavar="NAME"
    )
    max_cost: float | None = option(
        "--max-cost",
        "stop at this cost in all  [default: no limit]",
        OF_PROGRAM,
        type=float,
        metavar="X",
        least=0,
    )
    timeout: float | None = option(
        "--timeout",
        "seconds until a reply is missing  [default: 60]",
        OF_PROGRAM,
        type=float,
        metavar="S",
        least=0,
    )
    retries: int | None = option(
        "--retries",
        "repetitions of a question  [default: 3]",
        OF_PROGRAM,
        type=int,
        metavar="N",
        least=0,
    )
    audit: int | None = option(
        "--audit",
        "then ask you N of its pairs, to count its errors",
        OF_PROGRAM,
        type=int,
        metavar="N",
        least=1,
    )
    is_quiet: bool | None = option("--quiet", "print no line for each answer", OF_PROGRAM, type=bool)

    def check_command(self, model: ModelOptions) -> None:
        """Check that no option is for a program or a model that is not there, and that there are not both."""
        if self.command is not None and model.name is not None:
            raise UsageError("--oracle and --model both answer. Remove one of them.")
        if self.command is None and model.name is None and (flag := _first_given(self)):
            raise UsageError(
                f"{flag} is about a program or model that answers. Add --oracle COMMAND or --model NAME."
            )
        if model.name is None and (flag := _first_given(model)):
            raise UsageError(f"{flag} is about a language model that answers. Add --model NAME.")


def _first_given(options: Any) -> str | None:
    """The first option of an object that is given."""
    given = (one for one in fields(options) if getattr(options, one.name) is not None)
    return next((one.metadata["option"].flag for one in given), None)


class Price(NamedTuple):
    """The price of a million tokens of a model and of a second one."""

    first: float
    second: float


def _price(flag: str, given: str) -> Price:
    """One price for all models, or one for each of two."""
    try:
        prices = [float(part) for part in given.split(",")]
    except ValueError:
        prices = []
    if len(prices) not in (1, 2) or not all(0 <= price < float("inf") for price in prices):
        raise UsageError(
            f"Invalid value {given!r} for {flag}. Set the price of a million tokens, as in {flag} 0.15, or "
            f"two prices with --second-model: {flag} 0.15,2.5."
        )
    return Price(prices[0], prices[-1])


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The language model that answers in place of a person; `name` is None if there is none."""

    name: str | None = option("--model", "model of a chat interface that answers", OF_MODEL, metavar="NAME")
    base_url: str | None = option(
        "--base-url", "its address, as http://localhost:11434/v1", OF_MODEL, metavar="URL"
    )
    key_variable: str | None = option(
        "--key-variable",
        "variable with its key  [default: OPENAI_API_KEY]",
        OF_MODEL,
        metavar="VAR",
    )
    second: str | None = option(
        "--second-model",
        "model that is asked about doubtful answers",
        OF_MODEL,
        metavar="NAME",
    )
    price_in: Price | None = option(
        "--price-in",
        "cost of a million tokens read, for each model",
        OF_MODEL,
        metavar="X[,Y]",
        parse=_price,
    )
    price_out: Price | None = option(
        "--price-out",
        "cost of a million tokens written",
        OF_MODEL,
        metavar="X[,Y]",
        parse=_price,
    )
    show_prompt: bool | None = option(
        "--show-prompt", "print what the model would be sent, and stop", OF_MODEL, type=bool
    )


# ---------------------------------------------------------------- explanations
@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What is to be explained, and where it goes."""

    rows: tuple[str, str] | None = option(
        "--rows",
        "explain why two rows are together or apart",
        OF_OUTPUT,
        type=tuple[str, str],
        metavar="A B",
    )
    form: str = option(
        "--format",
        "rules, tree, mermaid or dot  [default: rules]",
        OF_OUTPUT,
        default="rules",
        type=("rules", "tree", "mermaid", "dot"),
        metavar="FORM",
    )
    max_leaves: int | None = option(
        "--max-leaves",
        "most rules  [default: 3 a cluster, at least 8]",
        OF_OUTPUT,
        type=int,
        metavar="N",
        least=1,
    )
    fidelity: float | None = option(
        "--fidelity",
        "share of rows to place right  [default: 0.95]",
        OF_OUTPUT,
        type=float,
        metavar="SHARE",
        least=0,
        most=1,
    )
    show_all: bool = option(
        "--all",
        "all rules of all clusters, also over 60 lines",
        OF_OUTPUT,
        default=False,
        type=bool,
    )
    plot: Path | None = option(
        "--plot", "save a picture of the tree", OF_OUTPUT, type=Path, metavar="OUT.png", may_be_folder=False
    )
    force: bool = option("--force", "overwrite existing files", OF_OUTPUT, default=False, type=bool)
    as_json: bool = option(
        "--json", "JSON on stdout, one object per line", OF_OUTPUT, default=False, type=bool
    )
