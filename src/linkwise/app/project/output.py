"""Files that a command writes: never over an existing file without --force, never over its own input."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import chain, combinations
from pathlib import Path
from typing import Any, TextIO

from linkwise.app.project.embeddings import is_embedding
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.constraints.facts import Fact
from linkwise.data import Rows
from linkwise.data.golden_records import RULES, merge_file
from linkwise.data.joining import DELIMITED, ENDINGS, ClusterColumns, Joined, join_file, join_side_table
from linkwise.data.read.endings import SHEET
from linkwise.data.reading import Reading
from linkwise.session.journal.events import ANSWERS_QUESTION, BESIDE, Event, beside_answer
from linkwise.session.session import Session
from linkwise.session.state.event_lists import facts_of
from linkwise.text_files import refuse_lone_surrogates, write_records
from linkwise.wording import join_names

STDOUT = Path("-")


def check_free(targets: Iterable[Path | None], *, force: bool) -> None:
    """Check that no target exists already, and that its folder can be written to."""
    for target in targets:
        if target is None or target == STDOUT:
            continue
        if target.is_dir():
            raise UsageError(f"{target} is a folder. Use a file in it.")
        if not target.parent.is_dir():
            raise UsageError(
                f"There is no folder {target.parent} to write {target.name} into. Create it first."
            )
        if not os.access(target.parent, os.W_OK):
            raise UsageError(f"The folder {target.parent} cannot be written to. Choose another one.")
        if target.is_file() and not force:
            raise UsageError(f"{target} exists already. Choose another name, or overwrite it with --force.")


def check_apart(targets: Iterable[Path | None], kept: Iterable[tuple[Path | None, str]]) -> None:
    """Check that no target is one of the files in `kept`, which come with a description."""
    for target in targets:
        for path, what in kept:
            if target is not None and path is not None and is_same_file(target, path):
                raise UsageError(f"{target} is {what} and is never overwritten. Choose another name.")


def check_different(targets: Mapping[str, Path | None]) -> None:
    """Check that no two targets are the same file."""
    for (what, one), (other_what, other) in combinations(targets.items(), 2):
        if one is not None and other is not None and is_same_file(one, other):
            raise UsageError(f"{what.capitalize()} and {other_what} cannot both go to {one}. Use two files.")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


@contextmanager
def open_output(target: Path) -> Iterator[TextIO]:
    """Open the file to write, or stdout for ``-``."""
    if target != STDOUT:
        with open(target, "w", newline="", encoding="utf-8") as file:
            yield file
        return
    held = StringIO()
    yield held
    write_data(held.getvalue())


def can_encode(text: str) -> bool:
    """Whether the encoding of stdout has all characters of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def write_data(text: str) -> None:
    """Write data to stdout; if its encoding does not have all characters, write UTF-8 and say so."""
    buffer = getattr(sys.stdout, "buffer", None)
    if can_encode(text) or buffer is None:
        sys.stdout.write(text)
        return
    say(f"stdout is written in UTF-8, since its encoding {sys.stdout.encoding} does not have all characters")
    sys.stdout.flush()
    buffer.write(text.encode())
    buffer.flush()


def write_labels(
    ids: Sequence[str], labels: Sequence[int], file: TextIO, *, names: Mapping[int, str] | None = None
) -> None:
    """``id,cluster``, one line a row, and ``name`` where clusters have names.

    A value that looks like a formula gets an apostrophe in front.
    """
    refuse_lone_surrogates(ids, "the ids")
    refuse_lone_surrogates(list((names or {}).values()), "the names of clusters")
    rows = zip(ids, labels, strict=True)
    if not names:
        write_records(file, chain([("id", "cluster")], rows))
        return
    named = ((row_id, label, names.get(label, "")) for row_id, label in rows)
    write_records(file, chain([("id", "cluster", "name")], named))


# ---------------------------------------------------------------- a table with its clusters
GOLDEN_RULE = re.compile(r"(?P<column>.+)=(?P<rule>frequent|complete|first|newest:.+)", re.DOTALL)
OTHER_SHEETS = (".xls", ".ods")


def check_ending(*targets: Path | None) -> None:
    """Check that the names of tables say which kind of file each is."""
    for target in targets:
        if target in (None, STDOUT) or target.suffix.lower() in ENDINGS:
            continue
        way_out = " A spreadsheet opens .xlsx." if target.suffix.lower() in OTHER_SHEETS else ""
        raise UsageError(
            f"linkwise cannot write a table into {target.name}. Choose a name that ends in "
            f"{join_names(ENDINGS, 20)}.{way_out}"
        )


def join_session(session: Session, data: Path, reading: Reading, rows: Rows | None, target: Path) -> Joined:
    """Put the clusters of a session beside the columns of its data, as `join_rows` does."""
    columns = session.cluster_columns()
    joined = join_rows(columns, data, reading, rows, target)
    if columns.confidence is not None:
        return joined
    note = "The column 'confidence' is empty, because there are no answers yet."
    if session.status.n_answers:
        note = (
            f"The column 'confidence' is empty, because {session.learner['name']} does not estimate it. "
            "KIN does, but it forms clusters of its own: linkwise ask DATA --method kin --budget 0"
        )
    return Joined(joined.content, [*joined.notes, note])


def merge_session(
    session: Session, data: Path, reading: Reading, rows: Rows | None, target: Path, rules: Mapping[str, str]
) -> Joined:
    """Merge the rows of each cluster of a session into one, in the form that the ending of `target` names."""
    ending = ".csv" if target == STDOUT else target.suffix.lower()
    labels = session.cluster_columns().labels
    try:
        if rows is None:
            return merge_file(data, reading, labels, session.ids, ending, rules)
        if rows.side is not None:
            raise UsageError(
                f"--golden merges the columns of {data.name}, and people see those of {rows.side.file}."
                " Merge them in Python: session.golden(frame)"
            )
        return merge_file(data, rows.table.reading, labels, session.ids, ending, rules, rows.table.frame)
    except ImportError as error:
        raise UsageError(str(error)) from error


def read_golden_rules(given: Sequence[str], target: Path | None) -> dict[str, str]:
    """Read rules such as ``phone=newest:changed``, by column; `target` is where golden records go."""
    if given and target is None:
        raise UsageError("--golden-rule chooses the values of golden records. Add --golden OUT.csv.")
    rules: dict[str, str] = {}
    for text in given:
        found = GOLDEN_RULE.fullmatch(text)
        if found is None:
            raise UsageError(
                f"Invalid value {text!r} for --golden-rule. Use COLUMN=RULE, where RULE is one of"
                f" {join_names(RULES)}."
            )
        rules[found["column"]] = found["rule"]
    return rules


def join_rows(
    columns: ClusterColumns, data: Path, reading: Reading, rows: Rows | None, target: Path
) -> Joined:
    """Put clusters beside the columns of the data, in the form that the ending of `target` names.

    A side table takes the place of numbers without a meaning, such as embeddings. Rows that were not read are
    those of the file as they stand in it.
    """
    ending = ".csv" if target == STDOUT else target.suffix.lower()
    try:
        if rows is None:
            joined = join_file(data, reading, columns, ending)
        elif rows.side is not None and is_embedding(rows):
            joined = join_side_table(rows.side, rows.table.ids, columns, ending)
            note = f"The new file holds the columns of {rows.side.file}, in the order of {data.name}, whose"
            joined = joined._replace(notes=[*joined.notes, f"{note} numbers are left out."])
        else:
            joined = join_file(data, rows.table.reading, columns, ending, rows.table.frame)
            if rows.side is not None:
                joined.notes.append(f"The columns of {rows.side.file} are not in the new file.")
    except ImportError as error:
        raise UsageError(str(error)) from error
    notes = list(joined.notes)
    if data.suffix.lower() in DELIMITED and ending not in (*DELIMITED, SHEET):
        notes.append(f"The cells of {data.name} are written as texts, as they stand in it.")
    return Joined(joined.content, notes)


def write_joined(joined: Joined, target: Path) -> None:
    """Write a joined table to its file, or to stdout, and say which choices were made."""
    if target == STDOUT:
        write_data(joined.content.decode())
    else:
        target.write_bytes(joined.content)
    for note in joined.notes:
        say(note)


# ---------------------------------------------------------------- answers
ANSWER_COLUMNS = (
    *("event", "id_a", "id_b", "answer", "source", "time", "kind", "believed", "suspect"),
    *BESIDE,
)


def list_answers(session: Session) -> list[dict[str, Any]]:
    """List the answers and volunteered pairs that are not undone, in order, by `ANSWER_COLUMNS`.

    For sorted rows it lists the fewest pairs from which the piles follow.
    """
    ids, evidence = session.ids, session.evidence
    suspects = session.suspects
    grades = {(each.number, each.first, each.second): each.grade for each in suspects if each.card is None}
    cards = {(each.number, each.card): each.grade for each in suspects}

    def grade(event: Event, fact: Fact, believed: str) -> str:
        if found := grades.get((event.number, *fact.pair)):
            return found
        if believed in ("", fact.answer):  # another pair of the card is in doubt
            return ""
        return next((cards[event.number, row] for row in fact.pair if (event.number, row) in cards), "")

    return [
        {
            "event": event.number,
            "id_a": ids[fact.first],
            "id_b": ids[fact.second],
            "answer": fact.answer,
            "source": event.source,
            "time": event.when,
            "kind": event.kind if event.gold is None else "gold",
            "believed": (believed := evidence.verdict(*fact.pair) or ""),
            "suspect": grade(event, fact, believed),
            **beside_answer(event),
        }
        for event in session.history
        if event.kind in (*ANSWERS_QUESTION, "add")
        for fact in facts_of(event)
    ]


def write_answers(records: list[dict[str, Any]], file: TextIO, *, as_json: bool = False) -> None:
    """Write answers as CSV, or as a JSON list of objects.

    In CSV what looks like a formula stands behind an apostrophe.
    """
    if as_json:
        json.dump(records, file, ensure_ascii=False, indent=1)
        file.write("\n")
        return
    refuse_lone_surrogates(
        [name for record in records for name in (record["id_a"], record["id_b"])], "the ids"
    )
    write_records(file, [ANSWER_COLUMNS, *(record.values() for record in records)])


def is_json_name(target: Path) -> bool:
    """Whether a file is JSON by its name."""
    return target.suffix.lower() == ".json"
