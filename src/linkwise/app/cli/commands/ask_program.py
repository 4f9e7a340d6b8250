"""``linkwise ask FILE --oracle COMMAND``: a program answers in place of a person."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.console import Console

from linkwise.app.cli.commands.ask import (
    choose_spinner,
    list_next_commands,
    make_json_lines,
    make_row_namer,
    make_row_reader,
    make_terminal,
    open_reader,
    report_early_interrupt,
    report_interrupt,
    resume_command,
    say_opening,
)
from linkwise.app.programs.answer import Answered, Conversation, Limits, check_limits
from linkwise.app.programs.child_process import ChildProcess
from linkwise.app.programs.interrupts import defer_interrupt, interrupt_at_end
from linkwise.app.programs.pile_replies import RETRIES, SortingConversation, parse_piles_reply, write_screen
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import ProgramOptions, SessionOptions
from linkwise.app.project.project import Project, choose_files, open_project
from linkwise.app.terminal import screen
from linkwise.app.terminal.dialogue import Ending, run_audit
from linkwise.app.terminal.keys import LineReader
from linkwise.app.terminal.progress import busy
from linkwise.app.terminal.protocol import emit
from linkwise.data.reading import Reading
from linkwise.errors import ProgramError
from linkwise.session.session import Screen, Session
from linkwise.session.team.audit import AuditReport, describe_audit
from linkwise.session.team.leases import OpenQuestion
from linkwise.wording import count_noun, strip_controls

INTERPRETER = re.compile(r"(python|node|ruby|perl|bash|sh|Rscript|julia)[\d.]*(\.exe)?")
RowReader = Callable[[int], dict[str, Any]]
"""Tells a program about a row: its values by column."""
ENDINGS: Mapping[str, tuple[Ending, str]] = {
    "exhausted": ("exhausted", ""),
    "budget": ("budget", ""),
    "cost": ("quit", "The costs have reached --max-cost."),
    "failed": ("quit", "The last questions have failed."),
    "unanswered": ("quit", "The questions that are left are for others."),
}


def ask_program(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    program: ProgramOptions,
    *,
    as_json: bool = False,
    set_size: int | None = None,
) -> None:
    """Let a program answer the questions about the rows of `file`, or sort screens of `set_size` rows."""
    words = split_command(program.command or "")
    source = name_of_program(words) if program.source is None else " ".join(program.source.split())
    limits = read_limits(program)
    if program.audit is not None and not source:
        raise UsageError("--audit needs a name for the program. Add --source NAME.")
    data, path = choose_files(file, kept.session)
    if kept.error_rate is None:
        kept = replace(kept, error_rate=add_source(read_error_rate(path), source))
    with report_early_interrupt(data, path), busy(f"reading {data.name}") as progress:
        project = open_project(data, path, reading, choice, kept, progress=progress)
    go_on = resume_command(data, path, "--oracle", program.command or "")
    with project.session, report_interrupt(project.session, project.path, go_on):
        check_fallible(project, "--audit", program.audit)
        retries = RETRIES if program.retries is None else program.retries
        limits = replace(limits, retries=limits.retries if set_size is None else retries)
        is_quiet = bool(program.is_quiet)
        done = _converse(project, words, source, limits, kept.budget, set_size, is_quiet=is_quiet)
        report_answers(project, [ProgramReport(source, done)], as_json=as_json)
        if program.audit is not None and done.reason != "failed":
            audit_source(project, source, program.audit, as_json=as_json)
    check_success(source, done)


def check_fallible(project: Project, flag: str, given: object) -> None:
    """Check that answers may be wrong, if an option that needs it is given."""
    if given is not None and not project.session.status.is_fallible:
        raise UsageError(f"{flag} needs answers that may be wrong. Remove --error-rate 0.")


def check_success(source: str, done: Answered) -> None:
    """Raise an error if a program ended because it failed."""
    if done.reason == "failed":
        last = done.failures[-1].error
        raise ProgramError(
            f"{source} has failed at {count_noun(done.n_failed, 'question')}, the last time with: {last}"
        )


def split_command(command: str) -> list[str]:
    """Split a command line into words, and check that its program exists."""
    try:
        words = shlex.split(command)
    except ValueError:
        raise UsageError(f"--oracle has a quote that does not end: {command!r}. Close it.") from None
    if not words:
        raise UsageError("--oracle is empty. Use a command, such as --oracle 'python judge.py'.")
    if shutil.which(words[0]) is None:
        raise UsageError(f"--oracle names a program that does not exist: {words[0]!r}. Check the command.")
    return words


def name_of_program(words: list[str]) -> str:
    """The file of a program: ``judge.py`` of ``python tools/judge.py --fast``."""
    first = Path(words[0]).name
    is_script = len(words) > 1 and INTERPRETER.fullmatch(first) and not words[1].startswith("-")
    return Path(words[1]).name if is_script else first


def read_limits(program: ProgramOptions) -> Limits:
    """The limits that the options set."""
    usual = Limits()
    try:
        return check_limits(
            usual.parallel if program.parallel is None else program.parallel,
            usual.retries if program.retries is None else program.retries,
            usual.timeout if program.timeout is None else program.timeout,
            None,
            program.max_cost,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


# ---------------------------------------------------------------- how often programs are wrong
def read_error_rate(path: Path) -> Any:
    """The share of wrong answers that a session assumes; None, which estimates it, for a new one."""
    if not path.exists():
        return None
    with Session.open(path) as session:
        return session.assumed_error_rate


def add_source(rate: Any, source: str) -> Any:
    """Let the share of wrong answers of one source be estimated; the other sources keep theirs."""
    if rate is None:
        return "estimate"
    rates = dict(rate) if isinstance(rate, Mapping) else {"": rate}
    return {"": None, **rates} | {source: rates.get(source)}


# ---------------------------------------------------------------- asking
def _converse(
    project: Project,
    words: list[str],
    source: str,
    limits: Limits,
    budget: int | None,
    set_size: int | None,
    *,
    is_quiet: bool,
) -> Answered:
    """Ask the program until it ends or a limit is reached."""
    session = project.session
    log: Callable[[str], object] | None = None if is_quiet else (lambda line: say(strip_controls(line)))
    if log is not None:
        say_opening(project)
    if budget is not None:
        limits = replace(limits, budget=max(0, budget - session.status.n_answers))
    to_json, namer = make_json(project), make_row_namer(project)
    parse = None if set_size is None else parse_piles_reply
    with interrupt_at_end():
        child = ChildProcess(
            words,
            to_json if set_size is None else make_screen_json(project),
            restarts=limits.retries,
            log=log,
            parse=parse,
        )
        try:
            if set_size is not None:
                return SortingConversation(
                    session, child, limits, source, set_size, limits.retries, log or str
                ).run()
            return Conversation(session, child, limits, source, log=log, name_of=namer).run()
        finally:
            with defer_interrupt():
                child.close()


def make_json(
    project: Project, read_row: RowReader | None = None
) -> Callable[[OpenQuestion], dict[str, Any]]:
    """Return a function that writes a question for a program."""
    read_row, ids = read_row or make_row_reader(project), project.session.ids
    guidelines, examples = project.session.guidelines or None, list_examples(project, read_row)

    def to_json(question: OpenQuestion) -> dict[str, Any]:
        rows = (question.first, question.second)
        return {
            "ids": [ids[row] for row in rows],
            "first": read_row(question.first),
            "second": read_row(question.second),
            "guidelines": guidelines,
            "examples": examples,
        }

    return to_json


def list_examples(project: Project, read_row: RowReader) -> list[dict[str, Any]]:
    """The example pairs of a session for a program."""
    return [
        {
            "first": read_row(example.first),
            "second": read_row(example.second),
            "answer": example.answer,
            "reason": example.reason,
        }
        for example in project.session.examples
    ]


def make_screen_json(
    project: Project, read_row: RowReader | None = None
) -> Callable[[Screen], dict[str, Any]]:
    """Return a function that writes a screen for a program."""
    read_row, ids = read_row or make_row_reader(project), project.session.ids
    guidelines = project.session.guidelines or None
    return lambda shown: {**write_screen(shown, ids, read_row), "guidelines": guidelines}


class ProgramReport(NamedTuple):
    """What a program has done; `words` are added to the line about it, and `fields` to its JSON."""

    source: str
    done: Answered
    words: tuple[str, ...] = ()
    fields: Mapping[str, Any] = MappingProxyType({})


def report_answers(project: Project, reports: Sequence[ProgramReport], *, as_json: bool) -> None:
    """Print what programs have done, and what the session holds now; it ended as the first one did."""
    session = project.session
    reason = reports[0].done.reason
    ending, sentence = ENDINGS[reason]
    rates = [session.error_rates.by_source.get(report.source) for report in reports]
    if as_json:
        for report, rate in zip(reports, rates, strict=True):
            emit(
                type="program",
                source=report.source,
                answered=report.done.n_answers,
                failed=report.done.n_failed,
                left_open=report.done.n_abstained,
                cost=report.done.cost,
                total_cost=report.done.total_cost,
                error_rate=None if rate is None else rate._asdict(),
                **report.fields,
            )
        make_json_lines(project).end(reason, session.status)
        return
    console = Console()
    lines = [_describe_report(report) for report in reports]
    lines[0] = f"{lines[0]} {sentence}".rstrip()
    for report, rate in zip(reports, rates, strict=True):
        if rate is not None and session.status.is_fallible:
            lines.append(
                f"About {rate.rate:.0%} of the answers by {report.source} are wrong (95 % interval: "
                f"{rate.low:.0%} to {rate.high:.0%})."
            )
    for line in lines:
        console.print(strip_controls(line), highlight=False, markup=False)
    console.print(screen.draw_ending(ending, session.status, width=console.width))
    console.print()
    for step in screen.list_next_steps(list_next_commands(project, ending, session.status)):
        console.print(step, soft_wrap=True, highlight=False)


def _describe_report(report: ProgramReport) -> str:
    """How much a program has answered, and what it has cost."""
    done = report.done
    parts = [f"{count_noun(done.n_answers, 'answer')} by {report.source}"]
    parts += [f"{count_noun(done.n_failed, 'question')} failed"] if done.n_failed else []
    parts += [f"{count_noun(done.n_abstained, 'question')} left open"] if done.n_abstained else []
    parts += report.words
    earlier = f" ({done.total_cost:g} with earlier runs)" if done.total_cost > done.cost else ""
    parts += [f"cost {done.cost:g}{earlier}"] if done.total_cost else []
    return f"{', '.join(parts)}."


# ---------------------------------------------------------------- auditing
def audit_source(project: Project, source: str, n: int, *, as_json: bool) -> None:
    """Ask a person pairs that the program answered, and report how often it is wrong."""
    session = project.session
    if not any(event.source == source for event in session.history):
        say(f"{source} has given no answer, so there is nothing to audit.")
        return
    if as_json:
        run_audit(session, make_json_lines(project), LineReader(sys.stdin), source, n)
        emit(type="audit", **_audit_as_json(session.audit_report(source)))
        return
    console = Console()
    console.print(
        f"\nNow answer pairs that {strip_controls(source)} answered.", highlight=False, markup=False
    )
    terminal = make_terminal(project, console)
    with open_reader(with_suspects=session.status.is_fallible) as read:
        run_audit(session, terminal, read, source, n, busy=choose_spinner(session))
    console.print()
    for line in describe_audit(session.audit_report(source)):
        console.print(strip_controls(line), highlight=False, markup=False)


def _audit_as_json(report: AuditReport) -> dict[str, Any]:
    """A report, with the estimate by all answers as for other sources."""
    return asdict(report) | {"believed": None if report.believed is None else report.believed._asdict()}
