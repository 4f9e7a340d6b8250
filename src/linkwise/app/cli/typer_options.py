"""From declared options to typer: a command takes whole objects, and its help lists options by heading."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from linkwise import methods
from linkwise.app.project.exit_codes import report_errors
from linkwise.app.project.method_choice import DEFAULT_CLUSTERER, DEFAULT_LEARNER, MethodChoice
from linkwise.app.project.options import HEADINGS, OF_METHOD, CommandOption, options_of
from linkwise.methods import CLUSTERERS, LEARNERS, Method

MAX_SEED = 2**32 - 1  # scikit-learn takes no larger one
LEARNER, CLUSTERER = "learner", "clusterer"  # of which kind a MethodChoice is
MAIN, OTHERS = "Main options", "Other options"
_USUAL = ("--id", "--columns", "--drop", "--text", "--impute")
MAIN_OPTIONS = {  # of each command, those that most people need
    "ask": (*_USUAL, "--budget", "--session", "--terminal"),
    "serve": (*_USUAL, "--budget", "--session", "--annotators"),
    "cluster": (*_USUAL[:4], "--constraints", "--clusters", "--labels", "--join"),
    "explain": ("--rows", "--format", "--max-leaves", "--all", "--labels", "--session", "--json"),
    "export": (
        *("--join", "--golden", "--labels", "--constraints", "--answers", "--session", "--force", "--json"),
    ),
}
FIRST_COLUMN = 26  # letters: on a screen of 80, 48 are left for the help of an option
RANGE = re.compile(r"\s*\[[^\[\]]*x[<>]=[^\[\]]*\]$")


class Commands(TyperGroup):
    """All commands; errors are told plainly."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with report_errors():
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options without the bounds of numbers, and the commands."""
        records = [option.get_help_record(ctx) for option in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([(each[0], RANGE.sub("", each[1])) for each in records if each])
        self.format_commands(ctx, formatter)


class Command(TyperCommand):
    """A command whose help lists the main options first, and then all others by heading."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments as the docs do, without braces."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, all in two columns of the same width."""
        given: list[Any] = [each for each in self.params if each.param_type_name == "argument"]
        sections = {"Arguments": [(each.metavar, each.help) for each in given], **list_options(self, ctx)}
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl([(name.ljust(FIRST_COLUMN), words) for name, words in records])


def list_options(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """List the options of a command with their help, by heading in the order of the help."""
    main: dict[str, tuple[str, str]] = {}
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in (MAIN, *HEADINGS, OTHERS)}
    for option in command.get_params(ctx):
        flag = option.opts[0]
        if option.param_type_name == "argument":
            continue
        name, words = option.get_help_record(ctx)
        record = name, "show this help" if "--help" in option.opts else RANGE.sub("", words)
        if flag in MAIN_OPTIONS.get(command.name, ()):
            main[flag] = record
        else:
            found[getattr(option, "rich_help_panel", None) or OTHERS].append(record)
    found[MAIN] = [main[flag] for flag in MAIN_OPTIONS.get(command.name, ())]
    return {heading: records for heading, records in found.items() if records}


# ---------------------------------------------------------------- from objects to options
def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let typer see an option for each field of the options objects that a command takes."""
    hints = get_type_hints(command, include_extras=True)
    plain: list[Parameter] = []
    objects: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for name, given in signature(command).parameters.items():
        kind = getattr(hints[name], "__origin__", hints[name])
        notes = getattr(hints[name], "__metadata__", ())
        if kind is MethodChoice:
            added = _parameters_of_choice(LEARNERS if LEARNER in notes else CLUSTERERS)
            objects[name] = _choice_of, [parameter.name for parameter in added]
        elif is_dataclass(kind):
            left_out = {note.removeprefix("without ") for note in notes if isinstance(note, str)}
            added = _parameters_of_fields(kind, left_out)
            objects[name] = cast("Callable[..., Any]", kind), [parameter.name for parameter in added]
        else:
            added = [given.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)]
        plain += added

    @wraps(command)
    def run(**given: Any) -> None:
        values = {name: _plain(value) for name, value in given.items()}
        made = {
            name: build(**{part: values.pop(part) for part in parts})
            for name, (build, parts) in objects.items()
        }
        command(**values, **made)

    run.__signature__ = signature(command).replace(parameters=plain, return_annotation=None)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in plain}
    return run


def _plain(value: Any) -> Any:
    """A word as plain text; a flag that is not set as None."""
    return value.value if isinstance(value, StrEnum) else value


def _parameters_of_fields(kind: Any, left_out: set[str]) -> list[Parameter]:
    defaults = {one.name: one.default for one in fields(kind)}
    return [
        _parameter(name, declared, defaults[name])
        for name, declared in options_of(kind).items()
        if name not in left_out
    ]


def _parameters_of_choice(among: dict[str, Method]) -> list[Parameter]:
    """``--method``, the options of all methods, and ``--seed``."""
    usual = DEFAULT_LEARNER if among is LEARNERS else DEFAULT_CLUSTERER
    about = f"{', '.join(among)}  [default: {usual}]"
    found = [_parameter("method", CommandOption("--method", about, OF_METHOD, tuple(among), metavar="NAME"))]
    for option in methods.options_of(among).values():
        kind = Path if option.type == "folder" else option.type
        about = option.help + _owners_in_words(option, among)
        if option.default is not None:
            about += f"  [default: {option.default}]"
        metavar = "" if isinstance(kind, tuple) and option.metavar == "N" else option.metavar
        declared = CommandOption(
            option.flag, about, OF_METHOD, kind, metavar, least=1 if kind is int else None
        )
        found.append(_parameter(option.parameter, declared))
    return [*found, _parameter("seed", SEED)]


def _owners_in_words(option: methods.Option, among: dict[str, Method]) -> str:
    """Which methods have an option, or which do not, whichever is shorter; and which need it."""
    owners = methods.owners_of(option, among)
    others = [name for name in among if name not in owners]
    free = [name for name in owners if among[name].needs != (option.parameter,)]
    if len(owners) <= len(others):
        return f" ({'' if free else 'required by '}{', '.join(owners)})"
    optional = f"; optional for {', '.join(free)}" if free else ""
    return f" (not for {', '.join(others)}{optional})"


def _parse_seed(_flag: str, text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_SEED:
        raise typer.BadParameter(f"{text!r} is not a whole number from 0 to {MAX_SEED}.")
    return int(text)


SEED = CommandOption(
    "--seed", "seed of all random draws  [default: 0]", OF_METHOD, int, metavar="N", parse=_parse_seed
)


def _choice_of(*, method: str | None, seed: int | None, **parameters: Any) -> MethodChoice:
    return MethodChoice(method, {n: value for n, value in parameters.items() if value is not None}, seed)


def option_of(declared: CommandOption) -> Any:
    """What typer is told of a declared option."""
    return typer.Option(declared.flag, **_settings_of(declared))


def _parameter(name: str, declared: CommandOption, default: Any = None) -> Parameter:
    """An option as a parameter that typer understands."""
    annotation = Annotated[_type_of(name, declared) | None, option_of(declared)]  # type: ignore[valid-type]  # built at run time
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _type_of(name: str, declared: CommandOption) -> Any:
    """The type of an option; of words an enumeration."""
    if not isinstance(declared.type, tuple):
        return declared.type
    words = {word: word for word in declared.type}
    return StrEnum(name, words)


def _settings_of(declared: CommandOption) -> dict[str, Any]:
    """What typer is told of an option."""
    settings: dict[str, Any] = {
        "help": declared.help,
        "rich_help_panel": declared.heading,
        "show_default": False,
    }
    if declared.metavar:
        settings["metavar"] = declared.metavar
    if declared.type in (int, float) and declared.parse is None:
        settings |= {"min": declared.least, "max": declared.most}
    elif declared.type is Path:
        settings |= {"dir_okay": declared.may_be_folder, "file_okay": declared.metavar != "DIR"}
    if (convert := declared.parse) is not None:

        def parse(text: str) -> Any:  # click needs the name of a parser, which a partial does not have
            return convert(declared.flag, text)

        settings["parser"] = parse
    return settings
