"""``status``, ``undo``, ``combine`` and ``export``: what can be done with a session file alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any

from rich.console import Console

from linkwise.app.project.answers_follow import find_better_columns
from linkwise.app.project.arrived_rows import describe_extension, describe_unfit, extend_session
from linkwise.app.project.changed_options import USUAL, name_backup, recall_options
from linkwise.app.project.column_offer import describe_fit
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.app.project.group_files import hold_groups
from linkwise.app.project.group_rows import check_no_engine, is_of_groups, open_engine
from linkwise.app.project.method_choice import learner_phrase
from linkwise.app.project.options import AS_IS, NO_WORKERS, WorkerOptions, write_reading
from linkwise.app.project.origin import origin_of
from linkwise.app.project.output import (
    STDOUT,
    check_apart,
    check_different,
    check_ending,
    check_free,
    is_json_name,
    join_session,
    list_answers,
    merge_session,
    open_output,
    read_golden_rules,
    write_answers,
    write_joined,
    write_labels,
)
from linkwise.app.project.project import (
    data_path,
    find_session,
    open_with_current_labels,
    open_with_data,
    session_words,
)
from linkwise.app.project.row_labels import write_row_labels
from linkwise.app.terminal import screen
from linkwise.app.terminal.console import UNNAMED, event_in_words
from linkwise.app.terminal.progress import busy, show_bar
from linkwise.app.terminal.protocol import emit, event_as_json, examples_as_json, state
from linkwise.constraints.error_rates import SourceRate
from linkwise.data import Rows
from linkwise.data.joining import Joined
from linkwise.data.reading import Reading
from linkwise.errors import UnnamedAnswersError
from linkwise.session.journal.events import Event
from linkwise.session.session import Session
from linkwise.session.snapshot import Snapshot
from linkwise.session.state.status import count_answers, describe_advice, describe_doubts
from linkwise.session.team.agreement import (
    SourceAgreement,
    count_by_source,
    describe_agreement,
    describe_pace,
    describe_source,
)
from linkwise.session.transfer import Combined
from linkwise.wording import NOTHING_TO_UNDO, count_noun, join_names, quote_command, strip_controls

REASONS = {
    None: "questions are left",
    "exhausted": "there are no more questions",
    "budget": "the budget is used up",
    "stopped": "questions are left",
}
LEAST_WIDTH = 10  # of the names of facts
LEAST_TEXT_WIDTH = 20  # of the facts themselves
GUIDELINES_SHOWN = 200  # characters of them
STALE = "These are the clusters before the last change. linkwise ask and linkwise export update them."

BESIDE = {"guidelines": "the guidelines", "examples": "examples", "audit": "audits", "cost": "costs"}
"""What comes from another session beside answers."""


# ---------------------------------------------------------------- status
def status(path: Path, session_file: Path | None = None, *, as_json: bool = False) -> None:
    """Print where a session stands."""
    found = find_session(path, session_file)
    with Session.open(found) as session:
        if as_json:
            emit(type="status", **_status_as_json(session, found))
            return
        console = Console()
        facts = _list_facts(session, found)
        width = max(LEAST_WIDTH, *(len(what) + 1 for what, _ in facts))
        for what, words in facts:
            room = max(LEAST_TEXT_WIDTH, console.width - width)  # paths stay whole, to be copied
            lines = wrap(strip_controls(words), room, break_long_words=False, break_on_hyphens=False)
            for at, line in enumerate(lines or [""]):
                head = what if at == 0 else ""
                console.print(f"{head:<{width}}{line}", markup=False, highlight=False, soft_wrap=True)
        now = session.snapshot
        sizes, numbers = now.status.cluster_sizes, now.status.cluster_numbers
        bars = screen.draw_cluster_bars(sizes, width=console.width, numbers=numbers)
        console.print(bars, highlight=False)
        if not now.labels_are_current:
            console.print(STALE, markup=False, highlight=False)


def _list_facts(session: Session, path: Path) -> list[tuple[str, str]]:
    shown, source = session.snapshot, origin_of(session, path)
    now, history = shown.status, shown.history
    facts = [("session", str(path))]
    if "file" in source:
        data = data_path(path, source)
        facts.append(("data", str(data) if data else f"{source['file']} (not there)"))
    if is_of_groups(source):
        n_border = source["groups"].get("n_border", 0)
        beside = f" and {count_noun(n_border, 'row')} beside them" if n_border else ""
        counted = (
            f"{session.n_rows - n_border} groups{beside}; counts are of {'these' if beside else 'groups'}"
        )
        facts.append(("rows", f"{source['groups']['n_rows']} in {counted}"))
    if (command := _write_begin_command(source, path)) is not None:
        facts.append(("begun by", command))
    facts += [("method", learner_phrase(shown.learner)), ("answers", count_answers(now))]
    if history:
        name = session.ids.__getitem__
        facts.append(("last", f"{event_in_words(history[-1], name)}, {_format_time(history[-1])}"))
    if shown.labels_are_current:
        facts.append(("state", REASONS[now.reason]))
    facts += [("", said) for said in (*now.description, *describe_advice(now))]
    if (found := find_better_columns(session, path)) is not None:
        facts += [("columns", describe_fit(found.fit)), ("", f"Compare rows by them: {found.command}")]
    if now.is_fallible:
        facts += [("errors", doubts) for doubts in [describe_doubts(now)] if doubts]
        if n_review := len(session.review()):
            command = quote_command("linkwise", "review", path)
            facts.append(("review", f"{count_noun(n_review, 'pair')} to review: {command}"))
    if shown.guidelines:
        facts.append(("guidelines", shorten(shown.guidelines, GUIDELINES_SHOWN, placeholder=" …")))
    if shown.examples:
        facts.append(("examples", count_noun(len(shown.examples), "pair")))
    return facts + _list_sources(session, shown)


def _write_begin_command(source: dict[str, Any], path: Path) -> str | None:
    """The command that reads the data as the session does; None of data that no command reads."""
    if "choices" not in source or "file" not in source or is_of_groups(source):
        return None
    data = data_path(path, source) or Path(source["file"])
    given = recall_options(source, path).settings().items()
    reading = Reading(**{name: value for name, value in given if (name, value) != USUAL})
    words = write_reading(reading)
    return quote_command("linkwise", "ask", data, *words, AS_IS.flag, *session_words(data, path))


def _list_sources(session: Session, now: Snapshot) -> list[tuple[str, str]]:
    """A line for each source, and for each two with common pairs; of only one source the pace."""
    sources = count_by_source(now.history)
    if len(sources) < 2:
        paces = [each.median_seconds for each in sources if each.median_seconds is not None]
        return [("pace", describe_pace(pace)) for pace in paces]
    rates = session.error_rates.by_source if now.status.is_fallible else {}
    lines = [f"{each.source or UNNAMED}: {describe_source(each, rates.get(each.source))}" for each in sources]
    agreements = [
        f"{each.first or UNNAMED} and {each.second or UNNAMED}: {describe_agreement(each)}"
        for each in session.agreement()
    ]
    return [("sources" if at == 0 else "", line) for at, line in enumerate(lines)] + [
        ("agreement" if at == 0 else "", line) for at, line in enumerate(agreements)
    ]


def _format_time(event: Event) -> str:
    return f"{event.when[:10]} {event.when[11:16]} UTC"


def _status_as_json(session: Session, path: Path) -> dict[str, Any]:
    shown = session.snapshot
    now, current = shown.status, shown.labels_are_current
    source = origin_of(session, path)
    return {
        "session": str(path),
        "data": source.get("file"),
        "command": _write_begin_command(source, path),
        "learner": session.learner,
        **state(now),
        "labels_are_current": current,
        **_better_columns_as_json(session, path),
        "left_to_ask": now.reason != "exhausted" if current else None,
        **({"review": len(session.review())} if now.is_fallible else {}),
        **({"guidelines": shown.guidelines} if shown.guidelines else {}),
        **examples_as_json(shown.examples, session.ids.__getitem__),
        **_sources_as_json(session, shown),
    }


def _better_columns_as_json(session: Session, path: Path) -> dict[str, Any]:
    """The columns that the answers follow, if these are not compared."""
    found = find_better_columns(session, path)
    if found is None:
        return {}
    fit = found.fit
    return {
        "answers_follow": {
            "columns": {one.name: one.share for one in fit.predictors},
            "compared": {"columns": list(fit.compared), "share": fit.share},
            "command": found.command,
        }
    }


def _sources_as_json(session: Session, now: Snapshot) -> dict[str, Any]:
    """Each source with its error rate, and the agreement of each two; of only one source the seconds."""
    sources = count_by_source(now.history)
    if len(sources) < 2:
        return {"median_seconds": sources[0].median_seconds if sources else None}
    rates = session.error_rates.by_source if now.status.is_fallible else {}
    return {
        "sources": [
            {
                "source": each.source,
                "answers": each.n_answers,
                "yes": each.n_yes,
                "no": each.n_no,
                "unsure": each.n_unsure,
                "added": each.n_volunteered,
                "gold": each.n_gold,
                "gold_right": each.n_gold_right,
                "median_seconds": each.median_seconds,
                "error_rate": _rate_as_json(rates.get(each.source)),
            }
            for each in sources
        ],
        "agreement": [_agreement_as_json(each) for each in session.agreement()],
    }


def _rate_as_json(rate: SourceRate | None) -> dict[str, float] | None:
    return None if rate is None else {"estimate": rate.rate, "low": rate.low, "high": rate.high}


def _agreement_as_json(agreement: SourceAgreement) -> dict[str, Any]:
    return {
        "sources": [agreement.first, agreement.second],
        "common": agreement.n_common,
        "agreeing": agreement.n_agreeing,
        "kappa": agreement.kappa,
        "low": agreement.low,
        "high": agreement.high,
    }


# ---------------------------------------------------------------- undo
def undo(path: Path, session_file: Path | None = None, *, as_json: bool = False) -> None:
    """Take back the last thing that was said, and print what it was."""
    found = find_session(path, session_file)
    with Session.open(found) as session:
        event = session.undo()
        name = session.ids.__getitem__
        if as_json:
            undone = None if event is None else event_as_json(event, name)
            emit(type="state", done="undo", undone=undone, **_status_as_json(session, found))
        elif event is None:
            print(f"{NOTHING_TO_UNDO} This session has no answers.")
        else:
            print(f"taken back: {event_in_words(event, name)}")
            print(f"left: {count_answers(session.status)}")


# ---------------------------------------------------------------- combine
def combine(
    path: Path,
    other: Path,
    session_file: Path | None = None,
    *,
    source: str | None = None,
    as_json: bool = False,
) -> None:
    """Add the answers of another session, after a copy of this one, and say how many there were."""
    found, theirs = find_session(path, session_file), find_session(other)
    backup = name_backup(found)
    with Session.open(found) as session:
        session.save_copy(backup)
        n_before = len(session.events)
        try:
            counts = session.combine(theirs, source=source)
        except UnnamedAnswersError as error:
            raise UsageError(f"{error.reason} Pass --source NAME to say who gave them.") from None
        finally:
            new = session.events[n_before:]
            if not new:
                backup.unlink()
        if as_json:
            kept = {"backup": str(backup)} if new else {}
            emit(type="combine", **counts._asdict(), **kept, **_status_as_json(session, found))
            return
        beside = [BESIDE[kind] for kind in BESIDE if any(event.kind == kind for event in new)]
        say(_describe_combined(counts, theirs, beside))
        if new:
            print(f"The session as it was before is in {backup}.")
            print(f"Now: {count_answers(session.status)}")


def _describe_combined(counts: Combined, theirs: Path, beside: Sequence[str]) -> str:
    taken = join_names([count_noun(counts.n_taken, "answer"), *beside], 9)
    said = f"{taken} taken from {theirs.name}"
    if counts.n_held:
        said += f", {counts.n_held} were there already"
    if counts.n_left_out:
        said += f", {counts.n_left_out} left out because a row of theirs is not in these data"
    return said


# ---------------------------------------------------------------- export
def export(
    path: Path,
    session_file: Path | None = None,
    *,
    labels: Path | None = None,
    constraints: Path | None = None,
    answers: Path | None = None,
    join: Path | None = None,
    golden: Path | None = None,
    golden_rules: Sequence[str] = (),
    new: Path | None = None,
    workers: WorkerOptions = NO_WORKERS,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Write the clusters, pairs and answers of a session; the clusters to stdout when no file is named."""
    found = find_session(path, session_file)
    targets = {
        "clusters": labels,
        "pairs": constraints,
        "answers": answers,
        "joined table": join,
        "golden records": golden,
    }
    rules = read_golden_rules(golden_rules, golden)
    with Session.open(found) as kept:
        source = origin_of(kept, found)
        data = data_path(found, source) if session_file is None else path
        needed = [(found, "the session itself"), (data, "its data")]
    check_apart(targets.values(), needed)
    check_ending(join, golden)
    of_groups = is_of_groups(source)
    _check_group_options(found, targets, workers, new, of_groups=of_groups)
    check_free((target for target in targets.values() if not of_groups or target != labels), force=force)
    check_different(targets)
    with ExitStack() as stack:
        if of_groups:
            stack.enter_context(hold_groups(found))
        with busy("bringing the clusters up to date") as progress:
            opened = None if join is golden is None else open_with_data(found, data, progress)
            session, stale = (
                open_with_current_labels(found, data, progress) if opened is None else (opened[0], None)
            )
        session.call_after_close(stack.pop_all().close)
    with session:
        tables = {} if opened is None else _make_tables(opened, join, golden, rules)
        if stale and (labels is not None or (constraints is None and answers is None)):
            say(stale)
        if labels is not None:
            _write_clusters(session, found, data, labels, workers, new)
        if constraints is not None:
            with open_output(constraints) as file:
                session.constraints.to_csv(file, ids=session.ids)
        if answers is not None:
            with open_output(answers) as file:
                write_answers(list_answers(session), file, as_json=is_json_name(answers))
        for path_of_table, table in tables.items():
            write_joined(table, path_of_table)
        if as_json:
            emit(type="export", current=stale is None, **_export_as_json(session, targets))
        elif not any(targets.values()):
            now = session.snapshot
            with open_output(STDOUT) as file:
                write_labels(session.ids, now.labels.tolist(), file, names=now.names)
        else:
            for what, target in targets.items():
                if target not in (None, STDOUT):
                    say(f"{what} written to {target}")


def _make_tables(
    opened: tuple[Session, Path, Reading, Rows | None],
    join: Path | None,
    golden: Path | None,
    rules: Mapping[str, str],
) -> dict[Path, Joined]:
    """The joined table and the golden records, as far as they are wanted, by the file that each goes to."""
    tables = {} if join is None else {join: join_session(*opened, join)}
    return tables if golden is None else {**tables, golden: merge_session(*opened, golden, rules)}


def _write_clusters(
    session: Session, path: Path, data: Path | None, target: Path, workers: WorkerOptions, new: Path | None
) -> None:
    """Write the clusters: of groups those of all their rows, to a folder."""
    source = origin_of(session, path)
    if not is_of_groups(source):
        now = session.snapshot
        with open_output(target) as file:
            write_labels(session.ids, now.labels.tolist(), file, names=now.names)
        return
    assert data is not None  # as the session is about groups
    with open_engine(workers) as engine, show_bar("writing clusters") as bar:
        written, told = write_row_labels(session, path, data, source, new, target, bar, engine)
    for line in told:
        say(line)
    say(f"{count_noun(written.n_rows, 'row')} in {count_noun(len(written.paths), 'file')}")
    if written.unfit:
        command = quote_command("linkwise", "extend", path, new)
        say(f"{describe_unfit(written.unfit)}. Make groups of them, and answer questions: {command}")


def extend(
    path: Path,
    new: Path | None = None,
    session_file: Path | None = None,
    *,
    workers: WorkerOptions = NO_WORKERS,
    as_json: bool = False,
) -> None:
    """Add the rows of new files to a session about groups, and say how many fit none of them."""
    found = find_session(path, session_file)
    with open_engine(workers) as engine, show_bar("reading new rows") as bar:
        extended = extend_session(found, new, bar, engine)
    if as_json:
        n_new, unfit = extended.n_new, dict(extended.unfit)
        emit(type="extend", session=str(found), rows=extended.n_rows, unfit=unfit, new_groups=n_new)
        return
    words = () if session_file is None else session_words(path, found)
    for line in describe_extension(extended, path, *words):
        say(line)


def _check_group_options(
    path: Path, targets: dict[str, Path | None], workers: WorkerOptions, new: Path | None, *, of_groups: bool
) -> None:
    """Check that options fit a session about groups, or one about rows."""
    if new is not None and not of_groups:
        raise UsageError(
            f"{path} is about all rows, and --new is for a session about groups. Add the rows to the data"
            " file, and replay the answers: linkwise ask DATA --replay"
        )
    if new is not None and targets["clusters"] is None:
        raise UsageError("--new writes the clusters of new rows. Add --labels FOLDER, or remove --new.")
    if of_groups:
        _check_row_targets(targets)
    else:
        check_no_engine(path, workers)


def _check_row_targets(targets: dict[str, Path | None]) -> None:
    """Check that the clusters of rows that may not fit into memory go to a folder."""
    labels = targets["clusters"]
    if labels is None and any(targets.values()):
        return
    if labels in (None, STDOUT) or labels.suffix or labels.is_file():
        raise UsageError(
            "This session is about groups of rows. Use a folder, which gets a Parquet file for each file"
            " of the data: --labels FOLDER"
        )


def _export_as_json(session: Session, targets: dict[str, Path | None]) -> dict[str, Any]:
    """Paths of what was written; everything itself when nothing was."""
    if any(targets.values()):
        names = {
            "clusters": "labels",
            "pairs": "constraints",
            "answers": "answers",
            "joined table": "join",
            "golden records": "golden",
        }
        return {names[what]: str(target) for what, target in targets.items() if target}
    ids, held = session.ids, session.constraints
    pairs = [("must-link", held.must_link), ("cannot-link", held.cannot_link)]
    return {
        "labels": dict(zip(ids, session.labels.tolist(), strict=True)),
        "constraints": [[ids[i], ids[j], kind] for kind, rows in pairs for i, j in rows.tolist()],
    }
