"""All answers of a session as records for CSV and JSON: who said what, when, and what is believed of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, TextIO

from linkwise.session.session import Session
from linkwise.text_files import refuse_lone_surrogates, write_records


class AnswerRecord(NamedTuple):
    """One answer or volunteered pair that is not undone.

    Attributes
    ----------
    event : int
        The number of its event in `Session.history`.
    id_a, id_b : str
        The ids of the two rows.
    answer : {"yes", "no", "unsure"}
        The answer, as it was changed last.
    source : str
        Who gave it; empty if the answer has no source.
    time : str
        When it was given: UTC, ISO 8601.
    kind : {"answer", "gold", "add"}
        Whether the pair was asked, asked although it is known (gold), or volunteered.
    believed : {"yes", "no", ""}
        What holds for the pair by all answers; empty if nothing follows from them.
    suspect : {"likely wrong", "very likely wrong", ""}
        Whether the answer is probably wrong.
    seconds : float or None
        How long the answer took; None, and empty in CSV, if that is unknown.
    note : str
        The latest note on the answer; empty if there is none.
    reliability : float or None
        The probability that the answer is right, by its source; None, and empty in CSV, if it gave none.
    """

    event: int
    id_a: str
    id_b: str
    answer: str
    source: str
    time: str
    kind: str
    believed: str
    suspect: str
    seconds: float | None
    note: str
    reliability: float | None = None


def list_answers(session: Session) -> list[AnswerRecord]:
    """List the answers and volunteered pairs of a session, in order."""
    ids, evidence = session.ids, session.evidence
    grades = {suspect.number: suspect.grade for suspect in session.suspects}
    return [
        AnswerRecord(
            event.number,
            ids[event.first],
            ids[event.second],
            event.answer,
            event.source,
            event.when,
            event.kind if event.gold is None else "gold",
            evidence.verdict(event.first, event.second) or "",
            grades.get(event.number, ""),
            event.seconds,
            event.note,
            event.reliability,
        )
        for event in session.history
        if event.kind in ("answer", "add")
        if event.first is not None and event.second is not None and event.answer is not None
    ]


def write_answers(records: list[AnswerRecord], file: TextIO, *, as_json: bool = False) -> None:
    """Write answers as CSV, or as a JSON list of objects.

    In CSV what looks like a formula stands behind an apostrophe.
    """
    if as_json:
        json.dump([record._asdict() for record in records], file, ensure_ascii=False, indent=1)
        file.write("\n")
        return
    refuse_lone_surrogates([name for record in records for name in (record.id_a, record.id_b)], "the ids")
    write_records(file, [AnswerRecord._fields, *records])


def is_json_name(target: Path) -> bool:
    """Whether a file is JSON by its name."""
    return target.suffix.lower() == ".json"
