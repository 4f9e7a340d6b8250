"""A data file and its session file: found, read as before, opened together."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from linkwise.app.project.changed_options import (
    check_same_positions,
    compare_options,
    count_facts,
)
from linkwise.app.project.changed_rows import describe_stored, open_on_rows, read_options
from linkwise.app.project.column_advice import Advice, advise, advise_on_groups
from linkwise.app.project.data_source import (
    check_exists,
    describe_source,
    is_data,
    is_unchanged,
    read_pairs_of,
    read_rows,
    read_shown_rows,
    resolve_name,
    row_ids,
)
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.group_files import check_known_files, hold_groups
from linkwise.app.project.group_rows import (
    FOLDER_SESSION,
    check_no_engine,
    choose_n_groups,
    describe_choices,
    describe_groups,
    describe_idle_workers,
    groups_folder,
    is_in_files,
    is_of_groups,
    name_session,
    open_engine,
    read_session_groups,
    resume_groups,
    summarize_data,
)
from linkwise.app.project.method_choice import (
    MethodChoice,
    build_first_learner,
    build_next_learner,
    check_columns,
    choose_by_table,
    describe_choice,
    learner_phrase,
)
from linkwise.app.project.options import (
    SessionOptions,
    rate_of_new_session,
    rate_of_old_session,
)
from linkwise.app.project.origin import origin_of
from linkwise.app.project.row_labels import divide_groups
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Items, Rows, Table
from linkwise.data.column_survey import measure_shares
from linkwise.data.columns.proposals import PROPOSED, recall_proposals
from linkwise.data.joining import needs_table
from linkwise.data.read.endings import DATABASES
from linkwise.data.reading import Reading, recall_reading
from linkwise.data.show.column_views import ColumnView, view_columns
from linkwise.errors import DataError, DataMismatchError, SessionError
from linkwise.large.chunks import is_pattern
from linkwise.large.group_table import GroupTable
from linkwise.session.journal.registry import estimates_confidence
from linkwise.session.journal.schema import HEADER_BYTES, is_of_session
from linkwise.session.session import Session
from linkwise.types import Progress
from linkwise.validation import refuse_more_than_rows
from linkwise.wording import count_noun, quote_command

SUFFIX = ".linkwise"
NOTHING_KEPT = SessionOptions()
CHECKS = "from now on answers may be wrong, and linkwise checks the doubtful ones"
TRUSTS = "from now on linkwise treats every answer as correct"
WAY_OUT = "Make room on its disk, or copy it into a folder that you can write to."
SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Project:
    """A session and its data.

    `items` are the rows as a person sees them. `resumed` tells whether the session file existed before.
    `advice` is what is said of the columns before the first question; nothing once there are answers.
    `group_table` has the groups that are asked about, if the rows are too many to ask about each.
    """

    session: Session
    path: Path
    data: Path
    rows: Rows
    resumed: bool
    notes: tuple[str, ...] = field(default=())
    advice: Advice = field(default=Advice())
    group_table: GroupTable | None = None

    @property
    def title(self) -> str:
        """What the data are called."""
        return str(self.data) if is_in_files(self.data) else self.data.name

    @property
    def table(self) -> Table:
        """Ids and columns of the rows."""
        return self.rows.table

    @property
    def columns(self) -> tuple[ColumnView, ...]:
        """The columns as a person sees them before the first question; none of a folder or of groups."""
        if self.data.is_dir() or self.group_table is not None:
            return ()
        return view_columns(self.table, measure_shares(self.encoded))

    @property
    def encoded(self) -> Encoded:
        """The rows as numbers."""
        return self.rows.encoded

    @property
    def items(self) -> Items:
        """The rows as a person sees them."""
        return self.rows.items


# ---------------------------------------------------------------- which files
def session_path(path: Path) -> Path:
    """The session file of a path: the path itself, or the file beside a data file.

    A folder holds its session, under a name that stays when the folder is renamed.
    """
    path = resolve_name(path)
    if is_session(path):
        return path
    if path.is_dir():
        return path / FOLDER_SESSION
    path = name_session(path) if is_pattern(path) else path
    return path.with_name(path.name + SUFFIX)


def is_session(path: Path) -> bool:
    """Whether a path is a session, by its name or its first bytes; other databases are data by their name."""
    if path.suffix == SUFFIX:
        return True
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
    is_data_base = path.suffix.lower() in DATABASES and not is_of_session(header)
    return header.startswith(SQLITE) and not is_data_base


def choose_files(file: Path, given: Path | None) -> tuple[Path, Path]:
    """Choose the data file and the session file; `given` is the one that ``--session`` names."""
    file = resolve_name(file)
    if given is None and is_session(file):
        return data_of_session(file), file
    return file, new_session_path(file, given)


def find_session(path: Path, given: Path | None = None, *, or_else: str = "") -> Path:
    """Find the session file of a path, which must exist.

    `given` is the one that ``--session`` names, and `or_else` an alternative for the message.
    """
    found = new_session_path(path, given)
    if found.exists():
        return found
    if path == found:
        raise FileNotFoundError(f"There is no session {found}. Pass the file of a session, or a data file.")
    why = f" {path} is a folder without a session." if path.is_dir() else ""
    begin = f"begin one with: {quote_command('linkwise', 'ask', path, *session_words(path, found))}"
    way_out = f"{or_else}, or {begin}" if or_else and is_data(path) else begin
    raise FileNotFoundError(f"There is no session {found}.{why} {way_out[0].upper()}{way_out[1:]}")


def new_session_path(data: Path, given: Path | None) -> Path:
    """The session file of a data file, which may exist already."""
    if given is None:
        return session_path(data)
    if is_session(data):
        raise UsageError(f"{data} is a session itself. Pass its data file, or remove --session.")
    is_free_name = given.suffix.lower() in DATABASES and not given.exists()
    if is_data(given) and not is_session(given) and not is_free_name:
        raise UsageError(
            f"--session {given} is a data file, not a session. Remove --session to store the answers in "
            f"{session_path(data)}, or use a file such as {given.stem}{SUFFIX}."
        )
    return given


def data_path(path: Path, source: dict[str, Any]) -> Path | None:
    """The data file of a session; None if it does not exist.

    If data and session were renamed together, it is the file after which the session is named.
    """
    if "file" not in source:
        return None
    data = Path(os.path.normpath(path.parent / source["file"]))
    if data.exists() or is_of_groups(source):
        return data
    beside = path.with_suffix("")
    return beside if path.suffix == SUFFIX and beside.exists() and is_data(beside) else None


def data_of_session(path: Path) -> Path:
    """The data file of a session that was given in place of the data file."""
    with Session.open(find_session(path)) as kept:
        source = origin_of(kept, path)
    data = data_path(path, source)
    if data is not None:
        return data
    if "demo" in source:
        command = quote_command("linkwise", "demo", source["demo"], "--session", path)
        raise UsageError(f"{path} is a session of a demo. Go on with: {command}")
    raise FileNotFoundError(
        f"{path} was made for {source.get('file', 'data that are in no file')}, which is not there. "
        f"Run: linkwise ask DATA --session {quote_command(path)}"
    )


# ---------------------------------------------------------------- opening
def open_project(
    data: Path,
    path: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions = NOTHING_KEPT,
    *,
    progress: Progress | None = None,
    verb: str = "ask",
    more: tuple[object, ...] = (),
) -> Project:
    """Open or begin the session `path` of the file `data`.

    A new session file is written only after all its parts are checked. Checks that take no time come
    before the learner prepares. `reading` and `choice` are what the command line says; a session that is
    there knows the rest. `kept` has pairs to bring in, and another session whose answers are carried
    over. `verb` ("ask" or "serve") and `more` are the command that is proposed, and its options that are
    neither about the data nor about the session.
    """
    with ExitStack() as stack:
        if path.exists() and groups_folder(path).exists():
            stack.enter_context(hold_groups(path))
        project = _open_project(data, path, reading, choice, kept, progress, verb)
        if project.group_table is not None and not project.resumed:
            stack.enter_context(hold_groups(path))
        project.session.call_after_close(stack.pop_all().close)
    if count_facts(project.session):
        return project
    if project.group_table is not None:
        source = origin_of(project.session, path)
        taken = recall_proposals(recall_reading(source), source.get(PROPOSED, {}))
        return replace(project, advice=advise_on_groups(taken, data, reading, verb))
    words = (*session_words(data, path), *more)
    return replace(project, advice=advise(project.rows, data, words, reading, verb))


def session_words(data: Path, path: Path) -> tuple[object, ...]:
    """The words that name a session file in a command; none if it is beside its data."""
    return () if path == session_path(data) else ("--session", path)


def _open_project(
    data: Path,
    path: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    progress: Progress | None,
    verb: str,
) -> Project:
    old, constraints = _old_session(kept.old, path), kept.constraints
    if path.exists():
        return _resume_project(data, path, reading, choice, kept, old, progress, verb)
    n_groups = choose_n_groups(data, kept.n_groups)
    if n_groups is None:
        check_exists(data)
        check_no_engine(data, kept)
    if not os.access(path.parent, os.W_OK):
        raise UsageError(
            f"The folder {path.parent} cannot be written to. Store the session elsewhere: --session PATH"
        )
    groups = None
    if n_groups is None:
        source = _describe_source(data, path, reading)
        rows = read_shown_rows(data, source, path.parent, progress, propose=not kept.as_is)
        given, choice = choice, choose_by_table(choice, rows.table)
        source["choices"] = rows.table.choices
        notes = (*rows.notes, *describe_choice(given, choice))
    else:
        with open_engine(kept) as engine:
            groups, source = summarize_data(
                data, path, reading, n_groups, choice.seed or 0, progress, engine, propose=not kept.as_is
            )
        rows = groups.rows
        is_chosen = kept.n_groups is None
        notes = (describe_groups(data, groups, is_chosen=is_chosen), *describe_choices(groups))
    table, encoded = rows.table, rows.encoded
    ids = row_ids(table)
    pairs, said = _read_given_pairs(constraints, table)
    notes = (*notes, *said)
    if choice.n_clusters is not None:
        refuse_more_than_rows(choice.n_clusters, len(table))
    rate = rate_of_new_session(kept.error_rate)
    learner = build_first_learner(choice)
    data_of_session = rows if n_groups is None else encoded.X
    session = Session(data_of_session, learner, ids=ids, source=source, error_rate=rate, progress=progress)
    brought = _import_pairs(session, rows.encoded.X, pairs, old)
    _set_guidelines(session, kept)
    try:
        session.save(path)
    except SessionError:
        session.close()
        if not path.exists():
            raise
        return _resume_project(data, path, reading, choice, kept, old, progress, verb)  # begun twice at once
    return Project(session, path, data, rows, False, (*notes, *brought), group_table=groups)


def _resume_project(
    data: Path,
    path: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    old: Path | None,
    progress: Progress | None,
    verb: str,
) -> Project:
    with Session.open(path) as stored:
        if stored.is_read_only:
            raise SessionError(f"{path} cannot be written. {WAY_OUT}")
        source, described = origin_of(stored, path), stored.learner
        was_fallible, n_before = stored.status.is_fallible, stored.n_rows
        changed = compare_options(stored, path, data, reading)
        groups = resume_groups(path, source, kept.n_groups, is_changed=changed is not None)
        command = (verb, data, *session_words(data, path))
        old_state = describe_stored(stored, command, data, path, is_of_groups=groups is not None)
        idle = describe_idle_workers(data, path, kept, groups)
        if changed is not None:
            changed.check_consent(kept.replay)
            if (
                changed.other_encoder is None
            ):  # else all numbers differ, and rows without ids cannot be checked
                check_same_positions(stored, path, data)
    if changed is not None:
        shown = source.get("show") if changed.now.side_file == changed.before.side_file else None
        source = _describe_source(data, path, changed.now) | ({} if shown is None else {"show": shown})
    elif "choices" not in source:  # begun from Python: whether the data are the same is checked on opening
        source = _describe_source(data, path, reading)
    learner = build_next_learner(choice, described)
    rows = read_shown_rows(data, source, path.parent, progress) if groups is None else groups.rows
    check_columns(choice, rows.table)
    ids = row_ids(rows.table)
    pairs, of_pairs = _read_given_pairs(kept.constraints, rows.table)
    if groups is not None:
        check_known_files(path, groups)
    begin = partial(
        Session.open,
        path,
        rows if groups is None else rows.encoded.X,
        learner,
        ids=ids,
        source=source | {"choices": rows.table.choices},
        error_rate=rate_of_old_session(kept.error_rate),
        progress=progress,
    )
    is_replayed = bool(kept.replay) and groups is None
    before = read_options(source, path, reading)
    session, told = open_on_rows(begin, rows, old_state, changed, before, is_replayed=is_replayed)
    try:
        notes = _import_pairs(session, rows.encoded.X, pairs, old)
        _set_guidelines(session, kept)
        if groups is not None:
            groups, divided = divide_groups(session, groups, data, path, source, progress)
            notes += divided
    except BaseException:
        session.close()
        raise
    notes[:0] = [*told, *(note.rstrip(".") for note in of_pairs)]
    if told and session.n_rows != n_before:
        notes.insert(1, f"{data.name} has {count_noun(session.n_rows, 'row')} now, and had {n_before}")
    notes += idle
    if session.learner != described:
        notes.insert(0, f"{learner_phrase(session.learner)} asks from now on; all answers stay")
    if (is_fallible := session.status.is_fallible) != was_fallible:
        notes.append(CHECKS if is_fallible else TRUSTS)
    return Project(session, path, data, rows, True, tuple(notes), group_table=groups)


def _read_given_pairs(
    file: Path | None, table: Table
) -> tuple[tuple[Constraints, str] | None, tuple[str, ...]]:
    """Read the pairs of a file, with its name and with sentences about them; nothing without a file."""
    if file is None:
        return None, ()
    pairs, said = read_pairs_of(file, table)
    return (pairs, file.name), said


def _set_guidelines(session: Session, kept: SessionOptions) -> None:
    """Store the guidelines that the command line gives; without any the session keeps its own."""
    if kept.guidelines is not None:
        session.set_guidelines(kept.guidelines)


def _old_session(old: Path | None, path: Path) -> Path | None:
    """The session whose answers are carried over, which must exist and be another one."""
    if old is None:
        return None
    found = session_path(old)
    if not found.exists():
        beside = f" {old} is a data file without a session beside it." if old.is_file() else ""
        raise FileNotFoundError(
            f"There is no session {found} to take answers from.{beside} Pass the file of a session."
        )
    if path.exists() and path.samefile(found):
        raise UsageError(f"--from {old} is the session itself. Use another one, or remove --from.")
    return found


def _describe_source(data: Path, path: Path, reading: Reading) -> dict[str, Any]:
    """The source that the session stores; its path is relative to the folder of the session."""
    source = {"file": os.path.relpath(data, path.parent), **describe_source(reading, data)}
    if reading.side_file is not None:
        source["show"] = {"file": os.path.relpath(reading.side_file, path.parent)}
    return source


def _import_pairs(
    session: Session, X: NDArray[Any], pairs: tuple[Constraints, str] | None, old: Path | None
) -> list[str]:
    """Import pairs of a file and the answers of another session, and say so."""
    notes = []
    if old is not None:
        taken, left_out = session.carry_over(old)
        with Session.open(old) as kept:
            if left_out and not taken:
                raise _describe_other_rows(session, kept, old, left_out)
            is_checked = session.has_ids or kept.find_difference(X[: kept.n_rows]) is None
        note = f"{count_noun(taken, 'answer')} taken over from {old.name}"
        if left_out:
            note += f", {left_out} left out because a row of theirs is not in these data"
        if taken and not is_checked:
            note += (
                ". The rows have no ids, so the answers went to the rows at the same positions, which are "
                "other rows if any was inserted, removed or moved"
            )
        notes.append(note)
    if pairs is not None:
        constraints, name = pairs
        taken = session.import_constraints(constraints, source=name)
        notes.append(f"{count_noun(taken, 'pair')} imported from {name}")
    return notes


def _describe_other_rows(session: Session, kept: Session, old: Path, n_answers: int) -> DataMismatchError:
    """Say why no answer of another session could be carried over."""
    what = f"The answers in {old} ({n_answers}) are about other rows."
    if session.has_ids and not kept.has_ids:
        return DataMismatchError(
            f"{what} Its rows have no ids and are known by their positions, and these are called "
            f"{session.ids[0]!r} …. Set the same ids for its rows first, and then import its answers: "
            f"linkwise ask DATA --session {quote_command(old)} --id COLUMN --replay"
        )
    return DataMismatchError(
        f"{what} Its rows are called {kept.ids[0]!r} …, and these are called {session.ids[0]!r} …. "
        "Set the column with those names: --id COLUMN"
    )


def import_gold(project: Project, gold: Path) -> str:
    """Import the pairs of a file, which are known, and return the source by which questions find them."""
    session, name = project.session, gold.name
    pairs, _ = read_pairs_of(gold, project.table)
    session.import_constraints(pairs, source=name)
    if not any(event.kind == "import" and event.source == name for event in session.history):
        raise UsageError(
            f"The session has all pairs of {gold} already, from another file. Pass that file to --gold."
        )
    return name


# ---------------------------------------------------------------- labels of a session
def open_with_current_labels(
    path: Path, data: Path | None, progress: Progress | None = None
) -> tuple[Session, str | None]:
    """Open a session whose labels follow from all answers; read `data`, if necessary. The caller closes it.

    Also says why the labels are older than the answers; None if they are current.
    """
    session = Session.open(path)
    if session.labels_are_current:
        return session, None
    source = origin_of(session, path)
    if data is None:
        return session, _describe_stale_labels(path, f"{source.get('file', 'the data')} is not there")
    try:
        of_groups = is_of_groups(source)
        rows = (
            read_session_groups(path, source).rows
            if of_groups
            else read_rows(data, recall_reading(source), progress=progress)
        )
        given = rows.encoded.X if of_groups else rows
        current = Session.open(path, given, ids=row_ids(rows.table), progress=progress)
    except (DataError, DataMismatchError, FileNotFoundError) as error:
        return session, _describe_stale_labels(path, f"{data} cannot be used ({error})")
    session.close()
    return current, None


def open_with_data(
    path: Path, data: Path | None = None, progress: Progress | None = None
) -> tuple[Session, Path, Reading, Rows | None]:
    """Open a session together with its data; the caller closes it.

    The learner prepares only if the labels or the confidences that are stored are not current. The rows are
    read only then, or if the file is not, byte for byte, the one that the session was begun with, or if
    clusters cannot be put beside what stands in it.
    """
    data = data or data_of_session(path)
    with ExitStack() as stack:
        session = stack.enter_context(Session.open(path))
        source = origin_of(session, path)
        if "choices" not in source:
            raise UsageError(
                f"{path} was begun from Python, so the file does not tell how to read {data}. "
                "Join the clusters in Python: session.join(frame)"
            )
        if is_of_groups(source):
            raise UsageError(
                f"{path} is about groups, and its rows may not fit into memory. Write the cluster of each row"
                " to a folder, and join by id: --labels FOLDER"
            )
        reading, knows_all = recall_reading(source), _knows_all(session)
        is_enough = knows_all and "show" not in source and not needs_table(data, reading)
        if is_enough and is_unchanged(data, source):
            stack.pop_all()
            return session, data, reading, None
        rows = read_shown_rows(data, source, path.parent, progress)
        X, ids = rows.encoded.X, row_ids(rows.table)
        is_same = session.find_difference(X) is None and ids == (session.ids if session.has_ids else None)
        if is_same and knows_all:
            stack.pop_all()
            return session, data, reading, rows
    return Session.open(path, rows, ids=ids, progress=progress), data, reading, rows


def _knows_all(session: Session) -> bool:
    """Whether the file holds the labels and, if its learner estimates it, how certain they are."""
    if not session.labels_are_current:
        return False
    return session.confidence is not None or not estimates_confidence(session.learner)


def _describe_stale_labels(path: Path, why: str) -> str:
    return (
        f"The clusters are older than the last change, because {why}. Bring them up to date with: "
        f"linkwise ask DATA --session {quote_command(path)} --budget 0"
    )
