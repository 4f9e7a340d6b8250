"""What a person takes away: the rows that remain doubtful, files, and how to go on in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linkwise.app.page.cards import summarize_rows
from linkwise.app.page.content import PageContent
from linkwise.app.page.requests import RefusedRequest
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.output import join_session
from linkwise.data.joining import ENDINGS

MOST_DOUBTFUL = 10
SURE = 0.95  # rows that are more certain than this are not worth a look
FORMS = {".csv": "CSV", ".xlsx": "Excel", ".parquet": "Parquet"}
TYPES = {
    ".csv": "text/csv",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".parquet": "application/vnd.apache.parquet",
}


def describe_results(content: PageContent) -> dict[str, Any]:
    """Return what the page shows at the end, beside what the state holds.

    Returns
    -------
    dict
        ``doubtful``: the least certain rows; None if the learner does not estimate it. ``tables``: the
        endings and names of the kinds of file that can hold the person's table with the clusters, the own
        kind first. ``python``: lines of code; empty if the session is in no file.
    """
    return {
        "doubtful": _list_doubtful(content),
        "tables": _list_tables(content),
        "python": _write_code(content),
    }


def _list_doubtful(content: PageContent) -> list[dict[str, Any]] | None:
    confidence = content.now.confidence
    if confidence is None:
        return None
    order = np.argsort(confidence, kind="stable")[:MOST_DOUBTFUL]
    rows = [row for row in order.tolist() if confidence[row] < SURE]
    values = [summarize_rows(content.view, [row])[0] for row in rows]
    return [
        {
            "row": row,
            "name": content.view.name(row),
            "value": value,
            "cluster": int(content.labels[row]),
            "certainty": round(float(confidence[row]), 3),
        }
        for row, value in zip(rows, values, strict=True)
    ]


def _list_tables(content: PageContent) -> list[list[str]]:
    project = content.project
    if project is None or project.group_table is not None:
        return []
    own = project.data.suffix.lower()
    first = [[own, f"as {own[1:].upper()}, as it came"]] if own in ENDINGS else []
    return [*first, *([ending, f"as {name}"] for ending, name in FORMS.items() if ending != own)]


def write_table(content: PageContent, ending: str) -> tuple[dict[str, Any], bytes]:
    """Return the table of the person with the cluster of each row, and what was decided on the way."""
    project = content.project
    if project is None or ending not in {each for each, _ in _list_tables(content)}:
        raise RefusedRequest("bad", "These rows come from no table that could be written as such a file.")
    target = Path(f"{project.data.stem or 'linkwise'}-clusters{ending}")
    try:
        joined = join_session(content.session, project.data, project.table.reading, project.rows, target)
    except UsageError as error:
        raise RefusedRequest("bad", str(error)) from None
    kind = TYPES.get(ending, "application/octet-stream")
    return {"name": target.name, "type": kind, "notes": joined.notes}, joined.content


def _write_code(content: PageContent) -> str:
    if content.place is None:
        return ""
    lines = [f"session = lw.Session.open({content.place!r})", "labels = session.labels"]
    imports = ["import linkwise as lw"]
    project = content.project
    if project is not None and project.data.suffix.lower() in (".csv", ".parquet", ".xlsx"):
        read = {".csv": "read_csv", ".parquet": "read_parquet", ".xlsx": "read_excel"}[
            project.data.suffix.lower()
        ]
        imports.append("import pandas as pd")
        lines[1] = f"table = session.join(pd.{read}({str(project.data)!r}))"
    return "\n".join(
        [*imports, "", *lines, "pairs = session.constraints  # for lw.PCKMeans and the other clusterers"]
    )
