"""The columns of a table as a person sees them before the first question, and a reading by their choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from linkwise.constraints.checks import is_missing
from linkwise.data.cells import format_cell
from linkwise.data.columns.proposals import Proposal
from linkwise.data.columns.roles import (
    FEATURE_ROLES,
    NO_VALUES,
    Column,
    Role,
    count_missing,
    decide_column,
    is_key,
    to_numbers,
    value_kind,
)
from linkwise.data.columns.table import Table
from linkwise.data.read.parse import parse_columns
from linkwise.data.reading import Reading
from linkwise.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

Use = Literal["compare", "show", "id", "ignore"]
USES: tuple[Use, ...] = ("compare", "show", "id", "ignore")
Kind = Literal["number", "amount", "category", "date", "text", "picture", "curve", "list", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CURVE = "curve"  # the name of all samples of a curve together
_NAMING: tuple[Kind, ...] = ("number", "amount", "category", "text")  # kinds of columns that can be ids
_FIRST = 100  # cells that are looked at first for an example
_LONGEST = 60  # characters of an example
_KIND_OF_ROLE: dict[Role, Kind] = {
    "numeric": "number", "category": "category", "date": "date", "document": "text", "text": "text",
    "image": "picture", "sample": "curve", "curve": "curve", "vector": "list",
}  # fmt: skip
_KIND_OF_VALUES: dict[str, Kind] = {
    "number": "number", "bool": "category", "date": "date", "duration": "date", "words": "category",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column as a person sees it before the first question.

    Attributes
    ----------
    name : str
        Its name; the samples of a curve are one view called curve.
    kind : str
        number, amount (compared by its logarithm), category, date, text, picture, curve, list (of numbers)
        or other.
    kinds : tuple of str
        The kinds that a person can choose for it, with `kind`.
    use : {"compare", "show", "id", "ignore"}
        What it is for.
    example : str
        The first value that is there; empty if none is.
    missing : float
        The share of rows without a value.
    influence : float or None
        Its share of the mean squared distance between two rows; None if it is not compared.
    reason : str
        Why it has this kind and this use; empty if nothing is to be said.
    is_proposed : bool
        Whether its kind or use was proposed by the values.
    otherwise : tuple of (str, str) or None
        The use and the kind that it has if the person rejects the proposal; None if nothing was proposed, or
        if it cannot be rejected for this column alone.
    is_unique : bool
        Whether it can identify the rows, because each has a value of its own.
    """

    name: str
    kind: Kind
    kinds: tuple[Kind, ...]
    use: Use
    example: str
    missing: float
    influence: float | None
    reason: str
    is_proposed: bool
    otherwise: tuple[Use, Kind] | None = None
    is_unique: bool = False


def view_columns(table: Table, shares: Mapping[str, float]) -> tuple[ColumnView, ...]:
    """Describe the columns of a table, in their order.

    Parameters
    ----------
    table : Table
        The table.
    shares : dict of str to float
        The influence of each compared column, as in `ColumnSurvey.shares`.

    Returns
    -------
    tuple of ColumnView
        One for each column that the file holds; columns that linkwise made of dates, and the numbers of a
        list, are not among them.
    """
    samples = [column.name for column in table.columns if column.role == "sample"]
    parsed, views = parse_columns_of(table), []
    for column in table.columns:
        if column.role in ("cycle", "vector") or column.name in samples[1:]:
            continue
        name = CURVE if column.name in samples else column.name
        series = parsed.get_column(column.name)
        proposals = [one for one in table.proposals if _is_about(one, column, samples)]
        kind, use = _find_kind(table, column, series), _find_use(table, column)
        reason = "; ".join(filter(None, (one.brief_reason for one in proposals))) or _describe(column)
        cells = table.frame.get_column(column.name)
        known = _find_known(cells)
        written = table.written.get(column.name)
        if written is not None:
            found = _find_known(written)
            known = known if found is None else found
        views.append(
            ColumnView(
                name,
                kind,
                _list_kinds(kind, series, is_code=column.name in (table.reading.as_categories or ())),
                use,
                "" if known is None else format_cell(known)[:_LONGEST],
                count_missing(cells) / len(cells),
                _add_shares(table, name, shares) if use == "compare" else None,
                reason,
                bool(proposals),
                _reject({one.option for one in proposals}, kind, series, column.name),
                kind in _NAMING and not series.dtype.is_float() and is_key(series),
            )
        )
    return tuple(views)


def _find_known(cells: nw.Series[Any]) -> Any:
    """The first value that is not missing; None without one."""
    for some in (cells.head(_FIRST), cells):
        for cell in some.to_list():
            if not is_missing(cell):
                return cell
    return None


def parse_columns_of(table: Table) -> nw.DataFrame[Any]:
    """The values of all columns; those that are not compared are read from text as if they were."""
    import narwhals as nw

    native = table.frame.to_native()
    used = [column.name for column in table.columns if column.role in FEATURE_ROLES]
    if nw.get_native_namespace(table.frame).__name__ != "polars":
        return table.frame
    mark = table.reading.delimiter
    parsed = parse_columns(native, used, numbers=mark is not None, comma_free=mark not in (None, ","))
    return nw.from_native(parsed.frame, eager_only=True)


def _is_about(proposal: Proposal, column: Column, samples: Sequence[str]) -> bool:
    if proposal.option == "series":
        return column.name in samples
    names = [name.rpartition("=")[0] or name for name in proposal.columns]
    return column.name in (names if proposal.option == "cycles" else proposal.columns)


def _describe(column: Column) -> str:
    """What is worth saying of a column; nothing of plain numbers and of what a person chose."""
    if column.role in ("numeric", "date", "document", "image", "sample", "vector"):
        return ""
    return "" if column.reason in ("dropped", "only shown", "not among the columns named") else column.reason


def _reject(options: set[str], kind: Kind, series: nw.Series[Any], name: str) -> tuple[Use, Kind] | None:
    """The use and the kind of a column without what was proposed for it."""
    if not options or options - {"id_column", "text", "image", "log", "as_categories", "drop", "show"}:
        return None
    if options & {"log", "as_categories"}:
        kind = "number"
    if options & {"drop", "show", "log", "as_categories"}:
        return "compare", kind
    if "image" in options or _decide_role(series, name, []) not in FEATURE_ROLES:
        return "show", kind
    return "compare", "category" if "text" in options else kind


def _find_use(table: Table, column: Column) -> Use:
    if column.role == "id":
        return "id"
    if column.role in FEATURE_ROLES:
        return "compare"
    is_ignored = column.name in (table.reading.drop or ()) or column.reason == NO_VALUES
    return "ignore" if is_ignored else "show"


def _find_kind(table: Table, column: Column, series: nw.Series[Any]) -> Kind:
    if column.name in (table.reading.log or ()):
        return "amount"
    if column.role in _KIND_OF_ROLE:
        return _KIND_OF_ROLE[column.role]
    what = value_kind(series)
    is_long = what == "words" and 2 * series.n_unique() > len(series)
    return "text" if is_long else _KIND_OF_VALUES.get(what, "other")


def _list_kinds(kind: Kind, series: nw.Series[Any], *, is_code: bool) -> tuple[Kind, ...]:
    """The kinds that values can have; codes are numbers that are compared as categories."""
    if is_code:
        return ("number", "amount", "category")
    if kind in ("curve", "list", "picture", "date", "other"):
        return (kind,)
    what = value_kind(series)
    if what == "words":
        return ("category", "text")
    if what != "number":
        return (kind,)
    values = to_numbers(series)
    return ("number", "amount", "category") if not (values < 0).any() else ("number", "category")


def _add_shares(table: Table, name: str, shares: Mapping[str, float]) -> float:
    """The share of a column, with those of its cycles."""
    cycles = (c.name for c in table.columns if c.role == "cycle" and c.name.startswith(f"{name} ("))
    return sum(shares.get(one, 0.0) for one in (name, *cycles))


# ---------------------------------------------------------------- what a person chose
def read_by_views(table: Table, views: Sequence[ColumnView]) -> Reading:
    """Return the reading that gives each column the use and the kind of its view.

    Parameters
    ----------
    table : Table
        The table as it is read now.
    views : sequence of ColumnView
        The columns with the uses and kinds that a person chose.

    Returns
    -------
    Reading
        How to read the table; what is not about single columns stays.

    Raises
    ------
    DataError
        A column does not exist or is there twice, a kind is not among those of a column, there are two ids,
        or no column is left to compare.
    """
    _check_views(table, views)
    frame = parse_columns_of(table)
    there = list(table.frame.columns)
    uses: dict[Use, list[str]] = {use: [view.name for view in views if view.use == use] for use in USES}
    kinds = {view.name: view.kind for view in views}
    compared = uses["compare"]
    texts = [name for name in compared if kinds[name] == "text"]
    pictures = [name for name in compared if kinds[name] == "picture"]
    records = [name for name in compared if name not in (*texts, *pictures)]
    old = table.reading
    reading = replace(
        old,
        id_column=next(iter(uses["id"]), None),
        drop=tuple(uses["ignore"]) or None,
        text=tuple(texts) or None,
        text_by=old.text_by if texts else None,
        image=tuple(pictures) or None,
        hide=tuple(name for name in old.hide or () if name in compared) or None,
        weights=_keep_weights(old, compared),
    )
    if old.is_of_series:
        return replace(reading, columns=None, show=None if old.side_file is None else old.show)
    numbers = [name for name in records if kinds[name] == "category" and _is_number(table, frame, name)]
    cycles = [one for one in old.cycles or () if (one.rpartition("=")[0] or one) in records]
    suitable = [name for name in there if _is_suitable(table, frame, name)]
    is_usual = set(records) <= {*suitable, *numbers}
    has_blocks = bool(texts or pictures)
    columns: tuple[str, ...] | None = None
    if records and not is_usual:
        columns = tuple(records)
    elif records and has_blocks:
        columns = ("all",)
    others = [name for name in suitable if name not in records and name in uses["show"]]
    shown = tuple(others) if not (has_blocks and columns is None) and is_usual else ()
    return replace(
        reading,
        columns=columns,
        show=old.show if old.side_file is not None else shown or None,
        as_categories=tuple(numbers) or None,
        log=tuple(name for name in records if kinds[name] == "amount") or None,
        cycles=tuple(cycles) or None,
        merge_variants=old.merge_variants if records else None,
        metric=old.metric if records else None,
        scale=old.scale if records else None,
        impute=old.impute if records else None,
    )


def _keep_weights(reading: Reading, compared: Sequence[str]) -> Any:
    """The weights of columns that are still compared."""
    if not isinstance(reading.weights, Mapping):
        return reading.weights
    return {name: weight for name, weight in reading.weights.items() if name in compared} or None


def _is_number(table: Table, frame: nw.DataFrame[Any], name: str) -> bool:
    """Whether a column is compared as a category only if somebody says so."""
    return value_kind(frame.get_column(name)) == "number" or name in (table.reading.as_categories or ())


def _is_suitable(table: Table, frame: nw.DataFrame[Any], name: str) -> bool:
    """Whether a column is compared if nobody says otherwise."""
    if name == table.reading.id_column or table.roles[name] in ("cycle", "vector"):
        return False
    return _decide_role(frame.get_column(name), name, list(table.frame.columns)) in FEATURE_ROLES


def _decide_role(series: nw.Series[Any], name: str, there: list[str]) -> Role | None:
    """The role of a column if nobody says anything; None if nothing can be made of it."""
    try:
        return decide_column(series, name, there, None).role
    except DataError:
        return None


def _check_views(table: Table, views: Sequence[ColumnView]) -> None:
    known = {view.name: view for view in view_columns(table, {})}
    names = [view.name for view in views]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise DataError(f"Column '{name}' is not in the table, or is there twice. Use each once.")
    for view in views:
        if view.kind not in known[view.name].kinds and view.kind != known[view.name].kind:
            kinds = ", ".join(known[view.name].kinds)
            raise DataError(f"Column '{view.name}' cannot be a {view.kind}. Set it to one of: {kinds}.")
    ids = [view.name for view in views if view.use == "id"]
    if len(ids) > 1:
        raise DataError(f"Columns '{ids[0]}' and '{ids[1]}' are both to be the id. Use one.")
    compared = [view.name for view in views if view.use == "compare"]
    if not compared:
        raise DataError("No column is left to compare. Set at least one column to compare.")
    others = [name for name in compared if known[name].kind != "curve"]
    if table.reading.is_of_series and others:
        raise DataError(f"Curves are compared without other columns. Set '{others[0]}' to show.")
