"""Build suites, protocols and tasks from what a TOML file declares, and name what is wrong in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from linkwise.errors import DataError, short_repr

Built = TypeVar("Built")

_KINDS = {
    str: ("a text in quotes", "texts in quotes"),
    bool: ("true or false", ""),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    dict: ("a table of fields", "tables of fields"),
}
"""What TOML calls a value, and several of them in a list."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict

    Raises
    ------
    DataError
        The file is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} is no TOML file: {error}.") from error


def build_declared(built: type[Built], declared: Mapping[str, Any], whose: str) -> Built:
    """Build a dataclass from its declared fields.

    Parameters
    ----------
    built : type
        Its fields are texts, numbers, booleans, tables, some allowed values, or tuples of these.
    declared : mapping
    whose : str
        Start of a message, such as "The protocol of mine.toml".

    Returns
    -------
    object of type `built`

    Raises
    ------
    DataError
        A field is unknown or not there, or its value is of another type or not allowed.
    """
    types = get_type_hints(built)
    if unknown := sorted(declared.keys() - types):
        raise DataError(
            f"{whose} has the unknown field {unknown[0]!r}. Fields are {', '.join(sorted(types))}."
        )
    for each in fields(built):  # type: ignore[arg-type]  # no type variable is bound to dataclasses
        if each.name not in declared and each.default is each.default_factory is MISSING:
            raise DataError(f"{whose} has no {each.name}. Set it.")
    values = {}
    for field, value in declared.items():
        if expected := _describe_expected(value, types[field]):
            raise DataError(f"{whose} has {field} = {short_repr(value)}. Set {expected}.")
        values[field] = tuple(value) if isinstance(value, list) else value
    return built(**values)


def _describe_expected(value: object, kind: Any) -> str:
    """Return what a value should be; an empty text where it is that."""
    if get_origin(kind) is Literal:
        return "" if value in get_args(kind) else ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        of = get_args(kind)[0]
        of = get_origin(of) or of
        are_right = isinstance(value, list) and all(_is_a(each, of) for each in value)
        return "" if are_right else f"a list of {_KINDS[of][1]}"
    if get_origin(kind) is UnionType:  # optional: TOML has no null
        kind = get_args(kind)[0]
    kind = get_origin(kind) or kind
    return "" if _is_a(value, kind) else _KINDS[kind][0]


def _is_a(value: object, kind: type) -> bool:
    return type(value) is kind or (kind is float and type(value) is int)
