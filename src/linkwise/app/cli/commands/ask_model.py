"""``linkwise ask FILE --model NAME``: a language model answers in place of a person."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from linkwise.app.cli.commands.ask import (
    make_row_namer,
    make_row_reader,
    report_early_interrupt,
    report_interrupt,
    resume_command,
    say_opening,
)
from linkwise.app.cli.commands.ask_program import (
    ProgramReport,
    add_source,
    audit_source,
    check_fallible,
    check_success,
    list_examples,
    make_json,
    make_screen_json,
    read_error_rate,
    read_limits,
    report_answers,
)
from linkwise.app.programs.answer import Answered, Conversation, Limits
from linkwise.app.programs.chat_endpoint import ChatEndpoint, Message, is_on_this_machine
from linkwise.app.programs.interrupts import defer_interrupt, interrupt_at_end
from linkwise.app.programs.model_judge import ModelCaller, ModelJudge, TokenCount, TokenPrices
from linkwise.app.programs.model_pictures import MOST_SIDE, encode_picture
from linkwise.app.programs.model_prompts import write_pair_prompt, write_piles_prompt
from linkwise.app.programs.pile_replies import SortingConversation
from linkwise.app.programs.reply_cache import SUFFIX, ReplyCache
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import ModelOptions, ProgramOptions, SessionOptions
from linkwise.app.project.output import write_data
from linkwise.app.project.project import Project, choose_files, open_project
from linkwise.app.terminal.progress import busy
from linkwise.app.terminal.protocol import emit
from linkwise.data.reading import Reading
from linkwise.session.session import Session
from linkwise.session.team.leases import OpenQuestion
from linkwise.wording import strip_controls

USUAL_KEY_VARIABLE = "OPENAI_API_KEY"
MOST_PICTURES = 200  # that are remembered, for examples and rows that are asked about again
TOKENS = "{} tokens"  # under which name a session counts the tokens of a model, beside its costs


def ask_model(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    program: ProgramOptions,
    model: ModelOptions,
    *,
    as_json: bool = False,
    set_size: int | None = None,
) -> None:
    """Let a model answer the questions about the rows of `file`, or sort screens of `set_size` rows."""
    check_model(model, program)
    source, second = name_sources(model, program)
    limits = read_limits(program)
    first_endpoint = make_endpoint(model, model.name or "", limits)
    data, path = choose_files(file, kept.session)
    if kept.error_rate is None:
        rate = read_error_rate(path)
        for name in (source,) if second is None else (source, second):
            rate = rate if rate == "estimate" else add_source(rate, name)
        kept = replace(kept, error_rate=rate)
    with report_early_interrupt(data, path), busy(f"reading {data.name}") as progress:
        project = open_project(data, path, reading, choice, kept, progress=progress)
    go_on = resume_command(data, path, *repeat_options(model, set_size))
    with project.session, report_interrupt(project.session, project.path, go_on):
        check_fallible(project, "--audit", program.audit)
        check_fallible(project, "--second-model", second)
        if model.show_prompt:
            show_prompt(project, first_endpoint, set_size, as_json=as_json)
            return
        log = None if program.is_quiet else (lambda line: say(strip_controls(line)))
        if log is not None:
            say_opening(project)
            say(describe_endpoint(model, with_pictures=project.items.pixels is not None))
        cache = ReplyCache(project.path.with_suffix(SUFFIX))
        reports = [
            _ask_first(project, first_endpoint, cache, model, source, limits, kept.budget, set_size, log)
        ]
        if second is not None and reports[0].done.reason != "failed":
            endpoint = make_endpoint(model, model.second or "", limits)
            reports.append(_ask_second(project, endpoint, cache, model, source, second, limits, log))
        report_answers(project, reports, as_json=as_json)
        if program.audit is not None and reports[0].done.reason != "failed":
            audit_source(project, source, program.audit, as_json=as_json)
    for report in reports:
        check_success(report.source, report.done)


# ---------------------------------------------------------------- options
def check_model(model: ModelOptions, program: ProgramOptions) -> None:
    """Check the options of a model as far as they need no data."""
    if not (model.name or "").strip():
        raise UsageError("--model is empty. Set the name of a model, as the server lists it.")
    if model.base_url is None:
        raise UsageError(
            "--model needs the address of its server. Add --base-url, such as http://localhost:11434/v1 for "
            "Ollama, http://localhost:8080/v1 for llama.cpp or http://localhost:8000/v1 for vLLM."
        )
    check_address(model.base_url)
    if program.max_cost is not None and model.price_in is None and model.price_out is None:
        raise UsageError("--max-cost needs the prices of the model. Add --price-in and --price-out.")


def check_address(base_url: str) -> None:
    """Check that an address is one of a web server, without a name or a password in it."""
    try:
        parts = urlsplit(base_url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not base_url.isascii() or not base_url.isprintable() or " " in base_url:
        raise UsageError(
            f"Invalid value {base_url!r} for --base-url. Set an address such as http://localhost:11434/v1."
        )
    if "@" in parts.netloc:
        raise UsageError("--base-url has a password in it. Remove it, and set the key by --key-variable.")
    if parts.query or parts.fragment:
        raise UsageError("--base-url has a part after ? or #. Remove it, so that it ends as in /v1.")


def name_sources(model: ModelOptions, program: ProgramOptions) -> tuple[str, str | None]:
    """The names that are stored with the answers of the model and of the second one."""
    source = " ".join(((model.name if program.source is None else program.source) or "").split())
    if not source:
        raise UsageError("--source is empty. Set a name for the model, or remove --source.")
    second = None if model.second is None else " ".join(model.second.split())
    if second == "":
        raise UsageError("--second-model is empty. Set the name of a model, as the server lists it.")
    if second == source or (second is not None and model.second == model.name):
        raise UsageError(
            f"--second-model is {second!r}, too. Set it to another model, mostly a stronger one."
        )
    return source, second


def make_endpoint(model: ModelOptions, name: str, limits: Limits) -> ChatEndpoint:
    """The endpoint of a model, with the key from the environment."""
    variable = model.key_variable or USUAL_KEY_VARIABLE
    key = os.environ.get(variable, "").strip()
    if model.key_variable is not None and not key:
        raise UsageError(f"The environment variable {variable} is not set. Set it to the key of the model.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"The environment variable {variable} holds no key. Set it to the key of the model.")
    timeout = Limits().timeout if limits.timeout is None else limits.timeout
    return ChatEndpoint(
        model.base_url or "", name.strip(), key=key, key_variable=variable, timeout=timeout or 60.0
    )


def repeat_options(model: ModelOptions, set_size: int | None) -> list[str]:
    """The options with which the same model goes on."""
    given = {
        "--model": model.name,
        "--base-url": model.base_url,
        "--key-variable": model.key_variable,
        "--second-model": model.second,
        "--set": None if set_size is None else str(set_size),
    }
    return [word for flag, value in given.items() if value is not None for word in (flag, value)]


def describe_endpoint(model: ModelOptions, *, with_pictures: bool = False) -> str:
    """Where the rows go, and with which key."""
    url, variable = model.base_url or "", model.key_variable or USUAL_KEY_VARIABLE
    where = "on this machine" if is_on_this_machine(url) else "so they leave this machine"
    if where != "on this machine" and url.startswith("http:"):
        where += " and can be read on the way"
    key = f", with the key in {variable}" if os.environ.get(variable, "").strip() else ""
    pictures = ", with their pictures," if with_pictures else ""
    return f"The rows of each question{pictures} are sent to {url}, {where}{key}."


# ---------------------------------------------------------------- asking
def make_model_reader(project: Project) -> Callable[[int], dict[str, Any]]:
    """Return a function that reads a row for a model: its columns, or its picture and what is beside it."""
    items, read_row, name_of = project.items, make_row_reader(project), make_row_namer(project)
    if items.pixels is None:
        return read_row
    pixels = items.pixels

    @lru_cache(maxsize=MOST_PICTURES)
    def read(row: int) -> dict[str, Any]:
        text = {"text": items.content(row)} if items.kind == "text" else {}
        picture = encode_picture(pixels(row, MOST_SIDE), name_of(row))
        return {**items.fields(row), **text, "(picture)": picture}

    return read


def make_question_fields(project: Project) -> Callable[[OpenQuestion], dict[str, Any]]:
    """Return a function that writes a question as the fields of a prompt."""
    return make_json(project, make_model_reader(project))


def make_screen_fields(project: Project) -> Callable[[Any], Mapping[str, Any]]:
    """Return a function that writes a screen as the fields of a prompt."""
    read_row = make_model_reader(project)
    to_json, examples = make_screen_json(project, read_row), list_examples(project, read_row)
    return lambda shown: {**to_json(shown), "examples": examples}


def show_prompt(project: Project, endpoint: ChatEndpoint, set_size: int | None, *, as_json: bool) -> None:
    """Print what the model would be sent for the next question."""
    messages = write_next_prompt(project, set_size)
    if messages is None:
        say("There is no question left, so the model would be sent nothing.")
        return
    if as_json:
        emit(type="prompt", url=f"{endpoint.base_url}/chat/completions", body=endpoint.write_body(messages))
        return
    lines = [f"POST {endpoint.base_url}/chat/completions"]
    for name, value in endpoint.write_body([]).items():
        if name != "messages":
            lines.append(f"{name}: {value if isinstance(value, str) else json.dumps(value)}")
    for message in messages:
        lines += ["", f"--- {message['role']} ---", *describe_content(message["content"]).split("\n")]
    shown = ("".join(c if c.isprintable() else "·" for c in line) for line in lines)  # as in a terminal
    write_data("".join(f"{line}\n" for line in shown))


def describe_content(content: str | list[dict[str, Any]]) -> str:
    """A message as text, with the names and sizes of its pictures."""
    if isinstance(content, str):
        return content
    lines = []
    for part in content:
        picture = part.get("image_url", {}).get("url")
        size = "" if picture is None else f"{picture.width} x {picture.height}"
        lines.append(part["text"].strip("\n") if picture is None else f"[picture {picture.name}, {size}]")
    return "\n".join(lines)


def write_next_prompt(project: Project, set_size: int | None) -> list[Message] | None:
    """The messages about the next question or screen; None if there is none."""
    session = project.session
    if set_size is not None:
        screens = session.sets(set_size)
        return write_piles_prompt(make_screen_fields(project)(screens[0])) if screens else None
    questions = session.questions(1)
    return write_pair_prompt(make_question_fields(project)(questions[0])) if questions else None


def _ask_first(
    project: Project,
    endpoint: ChatEndpoint,
    cache: ReplyCache,
    model: ModelOptions,
    source: str,
    limits: Limits,
    budget: int | None,
    set_size: int | None,
    log: Callable[[str], object] | None,
) -> ProgramReport:
    """Let the model answer until nothing is left or a limit is reached."""
    session = project.session
    if budget is not None:
        limits = replace(limits, budget=max(0, budget - session.status.n_answers))
    judge = ModelJudge(endpoint, cache, _prices(model, 0))
    limits = replace(limits, timeout=None)  # a request has its own
    if set_size is not None:
        caller = ModelCaller(judge, make_screen_fields(project))
        sorting = SortingConversation(session, caller, limits, source, set_size, limits.retries, log or str)
        return _run(session, source, judge, sorting.run)
    caller = ModelCaller(judge, make_question_fields(project))
    talk = Conversation(session, caller, limits, source, log=log, name_of=make_row_namer(project))
    return _run(session, source, judge, talk.run)


def _ask_second(
    project: Project,
    endpoint: ChatEndpoint,
    cache: ReplyCache,
    model: ModelOptions,
    source: str,
    second: str,
    limits: Limits,
    log: Callable[[str], object] | None,
) -> ProgramReport:
    """Let the second model answer the pairs whose answers are doubtful, whatever the budget."""
    session = project.session
    judge = ModelJudge(endpoint, cache, _prices(model, 1))
    spent = session.costs.get(source, 0.0)
    left = None if limits.max_cost is None else limits.max_cost - spent
    limits = replace(limits, timeout=None, max_cost=left)
    talk = Conversation(
        session,
        ModelCaller(judge, make_question_fields(project)),
        limits,
        second,
        log=log,
        name_of=make_row_namer(project),
        choose=session.recheck,
    )
    return _run(session, second, judge, talk.run, ("about doubtful pairs",))


def _prices(model: ModelOptions, which: int) -> TokenPrices:
    """The prices of the first or the second model."""
    read, written = model.price_in, model.price_out
    return TokenPrices(0.0 if read is None else read[which], 0.0 if written is None else written[which])


def _run(
    session: Session, source: str, judge: ModelJudge, run: Callable[[], Answered], words: tuple[str, ...] = ()
) -> ProgramReport:
    """Run a conversation, and store how many tokens it has used, however it ends."""
    tokens = judge.tokens
    with interrupt_at_end():
        try:
            done = run()
        finally:
            with defer_interrupt():
                if tokens.total:
                    session.add_cost(TOKENS.format(source), tokens.total)
    total = int(session.costs.get(TOKENS.format(source), 0))
    fields = {
        "tokens_read": tokens.n_read,
        "tokens_written": tokens.n_written,
        "total_tokens": total,
        "requests": tokens.n_requests,
        "known_replies": tokens.n_known,
    }
    return ProgramReport(source, done, (*words, *describe_tokens(tokens, total)), fields)


def describe_tokens(tokens: TokenCount, total: int) -> list[str]:
    """How many tokens a run has used, and all runs, and how many replies were known."""
    parts = [f"{tokens.n_known} of them from earlier runs"] if tokens.n_known else []
    earlier = f", {total} with earlier runs" if total > tokens.total else ""
    if tokens.total or total:
        parts.append(f"{tokens.total} tokens ({tokens.n_read} read, {tokens.n_written} written{earlier})")
    return parts
