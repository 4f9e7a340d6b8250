"""A good session file, and a table of edits that no session would make."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np

import linkwise as lw
from fuzz.event_edits import LAST, NOW, WRONG_COLUMNS, WRONG_VALUES, beside, event, quote, setting
from linkwise.session.session import Session
from session.session_examples import TRUTH, X, answer_by

DATA = "rows.csv"
IDS = [f"r{row}" for row in range(len(X))]
SOURCE = {
    "file": DATA,
    "choices": {"id_column": "id", "columns": None, "drop": [], "delimiter": ","},
    "scale": "none",
    "impute": None,
}


# ---------------------------------------------------------------- a good session
def build_session(path: Path, learner: object = None) -> None:
    """A small session, beside a file of its rows.

    It has every kind of event, but for those that would change what the edits of its settings mean.
    """
    lines = [f"{name},{a!r},{b!r}" for name, (a, b) in zip(IDS, X.tolist(), strict=True)]
    path.with_name(DATA).write_text("\n".join(["id,a,b", *lines]) + "\n")
    learner = lw.COBRAS(n_init=1, random_state=0) if learner is None else learner
    with Session.open(path, X, learner, ids=IDS, source=SOURCE) as session:
        answer_by(session, TRUTH, 6)
        session.import_constraints(lw.Constraints(len(X), [(0, 3), (1, 4)], [(0, 1)]), source="pairs.csv")
        session.add(2, 5, "must-link")
        session.set_name(0, "first")
        session.undo(2)
        session.set_done(int(np.argmax(session.labels == np.bincount(session.labels).argmin())))
        session.change(1, "unsure")
        session.answer("unsure", seconds=1.5, note="too small to tell")
        session.note(1, "seen again")
        session.set_guidelines("Close rows belong together.")
        session.set_examples([(0, 3, "yes", "close"), (0, 1, "no")])
        session.add_cost("judge", 0.25)


def execute(path: Path, *statements: str) -> None:
    """Change a file by SQL, as far as SQLite lets one."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in ("PRAGMA synchronous=OFF", *statements):
            db.execute(statement)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# ---------------------------------------------------------------- edits by hand
def meta(key: str, value: object) -> tuple[str, ...]:
    """Put JSON, or text as it is, into the table meta."""
    text = value if isinstance(value, str) else json.dumps(value)
    return (f"UPDATE meta SET value = {quote(text)} WHERE key = '{key}'",)


def added(key: str, text: str) -> tuple[str, ...]:
    """One more row of the table meta."""
    return (f"INSERT INTO meta VALUES ('{key}', {quote(text)})",)


def chosen(name: object, /, **parameters: object) -> tuple[str, ...]:
    """Another learner, chosen later."""
    return setting("learner", {"name": name, "parameters": parameters})


def learner(name: object, /, **parameters: object) -> tuple[str, ...]:
    return meta("learner", {"name": name, "parameters": parameters})


def refitting(name: object, /, **parameters: object) -> tuple[str, ...]:
    """MinMax with a clusterer of one's own."""
    return learner("MinMax", n_clusters=2, estimator={"name": name, "parameters": parameters})


def source(**parts: object) -> tuple[str, ...]:
    return meta("source", {**SOURCE, **parts})


def choices(**parts: object) -> tuple[str, ...]:
    return source(choices={**SOURCE["choices"], **parts})


def rewritten(table: str, declaration: str) -> tuple[str, ...]:
    """Another declaration of a table, in the schema itself."""
    return (
        "PRAGMA writable_schema=ON",
        f"UPDATE sqlite_master SET sql = {quote(declaration)} WHERE name = '{table}'",
        "PRAGMA writable_schema=OFF",
    )


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
SHAPE = {"sketch": [[0.0, 0.0], [0.0, 0.0]], "scale": [1.0, 1.0]}

REFUSED = {  # refused whenever the file is opened
    # ---- the schema
    "event is an endless view": (
        "DROP TABLE event",
        f"CREATE VIEW event AS {ENDLESS} i AS number, 'answer' AS kind, '' AS happened, 0 AS first, "
        "1 AS second, 'yes' AS answer, NULL AS target, '' AS source FROM n",
    ),
    "snapshot is an endless view": (
        "DROP TABLE snapshot",
        f"CREATE VIEW snapshot AS {ENDLESS} 1 AS one, i AS event, NULL AS reason, x'' AS labels FROM n",
    ),
    "meta is an endless view": (
        "ALTER TABLE meta RENAME TO old",
        f"CREATE VIEW meta AS SELECT * FROM old UNION ALL SELECT * FROM ({ENDLESS} 'x', i FROM n)",
    ),
    "row_id is an endless view": (
        "DROP TABLE row_id",
        f"CREATE VIEW row_id AS {ENDLESS} i AS row, i AS id FROM n",
    ),
    "imported is an endless view": (
        "DROP TABLE imported",
        f"CREATE VIEW imported AS {ENDLESS} i AS event, 0 AS first, 1 AS second, 'no' AS answer FROM n",
    ),
    "a trigger deletes events": (
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event WHERE number < new.number; END",
    ),
    "a trigger works for ever": (
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN "
        f"INSERT INTO imported {ENDLESS} i, 0, 1, 'no' FROM n; END",
    ),
    "one more table": ("CREATE TABLE more (a)",),
    "one more view": ("CREATE VIEW more AS SELECT 1",),
    "one more index": ("CREATE INDEX more ON event (kind)",),
    "an index less": ("DROP INDEX imported_event",),
    "an index on an expression": ("CREATE INDEX more ON event (abs(first))",),
    "a table less": ("DROP TABLE imported",),
    "a table of statistics": ("ANALYZE",),
    "a virtual table": ("CREATE VIRTUAL TABLE more USING fts5(a)",),
    "a table of many": tuple(f"CREATE TABLE t{i} (a)" for i in range(300)),
    "a column more": ("ALTER TABLE event ADD COLUMN more TEXT",),
    "a computed column": ("ALTER TABLE event ADD COLUMN more TEXT AS (printf('%1000000d', 1))",),
    "a column of another name": ("ALTER TABLE event RENAME COLUMN first TO one",),
    "a table with another constraint": rewritten(
        "imported",
        "CREATE TABLE imported (event INTEGER NOT NULL, first INTEGER NOT NULL, second INTEGER NOT NULL, "
        "answer TEXT NOT NULL)",
    ),
    "a default that is computed": rewritten(
        "imported",
        "CREATE TABLE imported (event INTEGER NOT NULL DEFAULT (abs(random())), first, second, answer)",
    ),
    "two tables on the same pages": (
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'imported') "
        "WHERE name = 'event'",
    ),
    # ---- versions
    "version 0": ("PRAGMA user_version=0",),
    "version -1": ("PRAGMA user_version=-1",),
    "version 2": ("PRAGMA user_version=2",),
    "version of the far future": ("PRAGMA user_version=2147483647",),
    "of another application": ("PRAGMA application_id=1",),
    # ---- settings
    **{
        f"no {key}": (f"DELETE FROM meta WHERE key = '{key}'",)
        for key in ("data", "learner", "seed", "source")
    },
    **{
        f"{key} = {value}": added(key, value)
        for key, values in {
            "error_rate": ("0.5", "-0.1", "1e999", "NaN", "true", "[]", "{}", '"x"', "{", ""),
            "numbers": ("[0, 0]", "[1]", "[true]", "[-1]", "{}", "null", "[", ""),
        }.items()
        for value in values
    },
    "a confirmation of nothing": event(LAST + 1, f"'sure', {NOW}, NULL, NULL, 'yes', NULL, ''"),
    "a confirmation of an import": event(LAST + 1, f"'sure', {NOW}, NULL, NULL, 'yes', 7, ''"),
    "a confirmed doubt": event(LAST + 1, f"'sure', {NOW}, NULL, NULL, 'unsure', 1, ''"),
    **{
        f"{key} = {value}": meta(key, value)
        for key in ("data", "learner", "source")
        for value in ("null", "5", "[]", '"x"', "NaN", "{", "")
    },
    **{f"{key} = {{}}": meta(key, "{}") for key in ("data", "learner")},
    **{
        f"seed = {value}": meta("seed", value)
        for value in ("NaN", "[]", '"x"', "null", "-1", "1e3", "true", "9" * 30)
    },
    "seed of many digits": meta("seed", "9" * 100_000),
    "a key of bytes": ("UPDATE meta SET value = x'ff00ff' WHERE key = 'seed'",),
    "text that is no UTF-8": ("UPDATE meta SET value = CAST(x'22ff22' AS TEXT) WHERE key = 'source'",),
    "a number for text": ("UPDATE meta SET value = 0.5 WHERE key = 'learner'",),
    "deep lists": meta("source", "[" * 200_000 + "]" * 200_000),
    "deep objects": meta("source", '{"a":' * 50_000 + "1" + "}" * 50_000),
    "deep data": meta("data", '{"shape":' + "[" * 100_000),
    "many lists": meta("source", '{"a":[' + "[]," * 600_000 + "[]]}"),
    "long text": meta("source", '{"a":"' + "x" * 9_000_000 + '"}'),
    # ---- the words of the learner
    **{
        f"{word} = {value}": (f"UPDATE snapshot SET {word} = {quote(value)}",)
        for word, values in {
            "description": ("null", "5", "[1]", "{}", '"x"', "{", "", "[" * 100_000),
            "doubts": ("5", "[]", "{}", '"x"', '{"error_rate": null, "suspects": {"1": 2}}', "{", ""),
            "advice": ("5", "[]", "{}", '"x"', '{"stop": true}', "{", "", '{"a":' * 50_000),
        }.items()
        for value in values
    },
    **{
        f"{word} of bytes": (f"UPDATE snapshot SET {word} = x'00'",)
        for word in ("description", "doubts", "advice")
    },
    "a long description": ("UPDATE snapshot SET description = printf('[\"%09000000d\"]', 0)",),
    # ---- data
    **{
        f"shape {shape}": meta("data", {"shape": shape, **SHAPE})
        for shape in (
            [10**12, 2],
            [10**30, 2],
            [10**6, 2],
            [15, 2],
            [13, 2],
            [0, 2],
            [-14, 2],
            [14.0, 2],
            [14],
            [14, 3],
            [14, 10**9],
            ["14", 2],
            [True, 2],
            [14, 2, 1],
            14,
            None,
        )
    },
    "no sums": meta("data", {"shape": [14, 2]}),
    "sums of text": meta("data", {"shape": [14, 2], **SHAPE, "scale": ["1", "2"]}),
    "sums that are no numbers": meta(
        "data", '{"shape": [14, 2], "sketch": [[0, 0], [NaN, 0]], "scale": [1, 1]}'
    ),
    "sums without end": meta("data", '{"shape": [14, 2], "sketch": [[0, 0], [0, 0]], "scale": [1e999, 1]}'),
    "one row of sums": meta("data", {"shape": [14, 2], **SHAPE, "sketch": [[0.0, 0.0]]}),
    "another width": meta("data", {"shape": [14, 2], **SHAPE, "width": "float16"}),
    # ---- what asks, as far as it is looked at without the data
    "a learner without parameters": meta("learner", {"name": "COBRAS"}),
    "a learner with more": meta("learner", {"name": "COBRAS", "parameters": {}, "more": 1}),
    "a learner whose name is a list": meta("learner", {"name": ["COBRAS"], "parameters": {}}),
    "parameters in a list": meta("learner", {"name": "COBRAS", "parameters": [1]}),
    "a number of clusters that is text": learner("MinMax", n_clusters="three"),
    "a parameter that is an object": learner("COBRAS", n_init={"a": 1}),
    "a parameter that is NaN": meta(
        "learner", '{"name": "ActiveCOBS", "parameters": {"update_factor": NaN}}'
    ),
    "a parameter that is a long text": learner("COBRAS", descend="x" * 5000),
    "a preset that is a list": learner("ActiveCOBS", preset=[1]),
    "a clusterer with a clusterer": refitting(
        "FeatureWeightClustering", clusterer={"name": "import_module", "parameters": {"name": "evil"}}
    ),
    # ---- ids
    "an id less": ("DELETE FROM row_id WHERE row = 13",),
    "an id more": ("INSERT INTO row_id VALUES (14, 'more')",),
    "an id of row 99999": ("UPDATE row_id SET row = 99999 WHERE row = 13",),
    "an id of row -1": ("UPDATE row_id SET row = -1 WHERE row = 13",),
    "an id that is bytes": ("UPDATE row_id SET id = x'00' WHERE row = 13",),
    "an id that is no UTF-8": ("UPDATE row_id SET id = CAST(x'ff' AS TEXT) WHERE row = 13",),
    # ---- labels
    "short labels": ("UPDATE snapshot SET labels = x'000000'",),
    "no labels": ("UPDATE snapshot SET labels = x''",),
    "labels that are text": ("UPDATE snapshot SET labels = printf('%056d', 0)",),
    "huge labels": (f"UPDATE snapshot SET labels = x'{'ffffff7f' * 14}'",),
    "one huge label": (f"UPDATE snapshot SET labels = x'{'00000000' * 13}ffffff7f'",),
    "labels below -1": (f"UPDATE snapshot SET labels = x'{'feffffff' * 14}'",),
    "many labels": ("UPDATE snapshot SET labels = zeroblob(4000000)",),
    "many confidences": ("UPDATE snapshot SET confidence = zeroblob(8000000)",),
    "confidences that are no numbers": (f"UPDATE snapshot SET confidence = x'{'ff' * 112}'",),
    "labels of no event": ("UPDATE snapshot SET event = -1",),
    "labels of an event that is text": ("UPDATE snapshot SET event = 'x'",),
    "another reason": ("UPDATE snapshot SET reason = 'x'",),
    "a reason of bytes": ("UPDATE snapshot SET reason = x'00'",),
    # ---- events
    "another kind": ("UPDATE event SET kind = 'x' WHERE number = 3",),
    "a kind that is bytes": ("UPDATE event SET kind = x'00' WHERE number = 3",),
    "no row": ("UPDATE event SET first = NULL WHERE number = 3",),
    "no answer": ("UPDATE event SET answer = NULL WHERE number = 3",),
    "a row that is text": ("UPDATE event SET first = 'a' WHERE number = 3",),
    "a row that is a fraction": ("UPDATE event SET first = 0.5 WHERE number = 3",),
    "a row beyond the last": ("UPDATE event SET first = 14 WHERE number = 3",),
    "a row far beyond the last": ("UPDATE event SET first = 9223372036854775807 WHERE number = 3",),
    "a row below 0": ("UPDATE event SET second = -1 WHERE number = 3",),
    "a row with itself": ("UPDATE event SET second = first WHERE number = 3",),
    "a name on row 99999": ("UPDATE event SET first = 99999 WHERE kind = 'name'",),
    "a name that is bytes": ("UPDATE event SET source = x'00' WHERE kind = 'name'",),
    "a name with an answer": ("UPDATE event SET answer = 'yes' WHERE kind = 'name'",),
    "an event less": ("PRAGMA foreign_keys=OFF", "DELETE FROM event WHERE number = 3"),
    "an event of number 0": event(0, f"'name', {NOW}, 0, NULL, NULL, NULL, ''"),
    "an event of number -1": event(-1, f"'name', {NOW}, 0, NULL, NULL, NULL, ''"),
    "an event of a far number": event(2**62, f"'name', {NOW}, 0, NULL, NULL, NULL, ''"),
    "an undo of the future": ("UPDATE event SET target = 13 WHERE kind = 'undo'",),
    "an undo of itself": ("UPDATE event SET target = number WHERE kind = 'undo'",),
    "an undo of nothing": ("UPDATE event SET target = NULL WHERE kind = 'undo'",),
    "an undo of event 0": ("UPDATE event SET target = 0 WHERE kind = 'undo'",),
    "an undo that is text": ("UPDATE event SET target = 'x' WHERE kind = 'undo'",),
    "a change of an import": ("UPDATE event SET target = 7 WHERE kind = 'change'",),
    "an undo of an undo": event(LAST + 1, f"'undo', {NOW}, NULL, NULL, NULL, 10, ''"),
    "a time that is none": ("UPDATE event SET happened = 'yesterday' WHERE number = 3",),
    "a time of the year 0": ("UPDATE event SET happened = '0000-01-01T00:00:00+00:00' WHERE number = 3",),
    "a time of the year 1": ("UPDATE event SET happened = '0001-01-01T00:00:00+00:00' WHERE number = 3",),
    "a time elsewhere": ("UPDATE event SET happened = '2026-01-01T00:00:00+14:00' WHERE number = 3",),
    "a time of bytes": ("UPDATE event SET happened = x'00' WHERE number = 3",),
    **WRONG_COLUMNS,
    **WRONG_VALUES,
    # ---- imported pairs
    "an import of a row beyond the last": ("UPDATE imported SET first = 14 WHERE rowid = 1",),
    "an import of a row that is text": ("UPDATE imported SET first = 'a' WHERE rowid = 1",),
    "an import with another answer": ("UPDATE imported SET answer = 'maybe' WHERE rowid = 1",),
    "an import with an answer of bytes": ("UPDATE imported SET answer = x'00' WHERE rowid = 1",),
    "an import of an answer": ("UPDATE imported SET event = 3 WHERE rowid = 1",),
    "an import of no event": ("UPDATE imported SET event = 99 WHERE rowid = 1",),
    "an import of an event before the first": ("UPDATE imported SET event = 0 WHERE rowid = 1",),
    "answers that contradict and are to be right": (
        *added("error_rate", "0.1"),
        *event(LAST + 1, f"'add', {NOW}, 0, 3, 'no', NULL, ''"),
        *setting("rate", 0, LAST + 2),
    ),
    "an answer that contradicts": event(LAST + 1, f"'add', {NOW}, 0, 3, 'no', NULL, ''"),
}

REFUSED_WITH_DATA = {  # without the data it opens: answers can be read and taken along
    "a function for a chosen learner": chosen("import_module", name="evil"),
    "a chosen learner with a parameter that is not there": chosen("COBRAS", magic=1),
    "a chosen learner that works without end": chosen("COBRAS", n_init=10**9),
    "a function for a learner": learner("import_module", name="evil"),
    "another function of the package": learner("build_pool", X=[[0]], cache="made"),
    "a clusterer for a learner": learner("PCKMeans"),
    "the base of all learners": learner("ActiveLearner"),
    "a module for a learner": learner("linkwise.learn.cobras.cobras.COBRAS"),
    "a name of Python": learner("__import__", name="evil"),
    "a name with dots": learner("os.system", command="touch made"),
    "a name without letters": learner(""),
    "a name that steers the terminal": learner("\x1b[2Jcobras\r\n"),
    "a parameter that is not there": learner("COBRAS", magic=1),
    "a parameter of the machinery": learner("COBRAS", __class__="x"),
    "a value out of range": learner("COBRAS", max_split=1),
    "a choice that is not there": learner("COBRAS", descend="x"),
    "a number below 0": learner("COBRAS", n_init=-1),
    "work without end": learner("COBRAS", n_init=10**9),
    "trees without end": learner("NPU", n_clusters=2, n_trees=10**9),
    "pairs without end": learner("ActiveCOBS", n_candidates=10**12),
    "more rows than a pool holds": learner("ActiveCOBS", preset="quick", max_rows=2**31 - 1),
    "a preset that is not there": learner("ActiveCOBS", preset="x"),
    "a random_state out of range": learner("COBRAS", random_state=-5),
    "a function for a clusterer": refitting("import_module", name="evil"),
    "a pool for a clusterer": refitting("build_pool", X=[[0]], cache="made"),
    "a learner for a clusterer": refitting("COBRAS"),
    "a search for a clusterer": refitting("COBS", cache="made"),
    "a clusterer with a parameter that is not there": refitting("PCKMeans", magic=1),
    "a clusterer with a value out of range": refitting("PCKMeans", n_init=0),
    "a clusterer that works without end": refitting("PCKMeans", n_init=10**9),
    "a clusterer that starts anywhere": refitting("PCKMeans", n_init=1, init="x"),
    "a clusterer with a function": refitting("FeatureWeightClustering", validity="evil"),
    "a clusterer of similarities": refitting("CKM", kernel="precomputed"),
    "a clusterer of other columns": refitting("ClusILC", nominal=[99]),
    "a clusterer by a name that is not there": learner("MinMax", n_clusters=2, estimator="evil"),
    "a clusterer that is passed as an object alone": learner("MinMax", n_clusters=2, estimator="clusilc"),
    "a clusterer by the name of a module": learner("MinMax", n_clusters=2, estimator="linkwise"),
}

UNREADABLE = {  # Python reads the answers; the command line does not find the data by them
    "a file that is a number": source(file=5),
    "a file without a name": source(file=""),
    "a file with a NUL": source(file="a\0b"),
    "a file with a long name": source(file="x" * 100_000),
    "a demo that is a list": meta("source", {"demo": ["iris"]}),
    "choices in a list": source(choices=[1]),
    "a choice that is none": choices(magic=1),
    "an id column that is a number": choices(id_column=5),
    "columns that are a number": choices(columns=5),
    "columns of numbers": choices(columns=[5]),
    "a delimiter that is a number": choices(delimiter=5),
    "a delimiter of two": choices(delimiter="ab"),
    "a text that is a number": choices(text=5),
    "a series that is a number": choices(series=5),
    "texts by lines": choices(text="a", text_by="lines"),
    "letters of no texts": choices(text_by="letters"),
    "merged variants in words": choices(merge_variants="yes"),
    "merged variants of texts": source(choices={"text": "a", "merge_variants": True}, scale=None),
    "categories of numbers": choices(as_categories=[5]),
    "categories of series": source(choices={"series": True, "as_categories": ["a"]}),
    "logarithms of numbers": choices(log=[5]),
    "logarithms of series": source(choices={"series": True, "log": ["a"]}),
    "images of numbers": choices(image=[5]),
    "images of series": source(choices={"series": True, "image": ["a"]}),
    "a scale of images": source(choices={"image": ["a"]}, scale="unit"),
    "warping in words": source(choices={"series": True, "warp": "yes"}),
    "warping without series": choices(warp=True),
    "cycles of numbers": choices(cycles=[5]),
    "cycles of series": source(choices={"series": True, "cycles": ["a"]}),
    "a sheet that is a number": choices(sheet=5),
    "a long table by one column": source(choices={"series": True, "series_by": ["a"]}),
    "a long table without series": choices(series_by=["a", "b", "c"]),
    "an encoding that is a number": choices(encoding=5),
    "an encoding with a long name": choices(encoding="x" * 100),
    "nested objects in words": choices(keep_nested="no"),
    "of a folder and of a file": choices(kind="image"),
    "earlier weights in a list": source(choices={"weights": {"a": 2.0}}, earlier_weights=["a"]),
    "earlier weights without present ones": source(earlier_weights={"a": 1.0}),
    "earlier weights beside none at all": source(choices={"weights": "none"}, earlier_weights=None),
    "an earlier weight in words": source(choices={"weights": {"a": 2.0}}, earlier_weights={"a": "2"}),
    "an earlier weight below 0": source(choices={"weights": {"a": 2.0}}, earlier_weights={"a": -1.0}),
    "an earlier reading in words": source(before_task={"task": "texts", "reading": "", "learner": {}}),
    "an earlier reading without a task": source(before_task={"reading": {"choices": {}}, "learner": {}}),
    "an earlier reading of an earlier reading": source(
        before_task={"task": "texts", "reading": {"choices": {}, "before_task": {}}, "learner": {}}
    ),
    "an earlier learner in words": source(
        before_task={
            "task": "texts",
            "reading": {"choices": {}, "scale": None, "impute": None},
            "learner": "KIN",
        }
    ),
    "an earlier learner without a name": source(
        before_task={
            "task": "texts",
            "reading": {"choices": {}, "scale": None, "impute": None},
            "learner": {"parameters": {}},
        }
    ),
    "another scale": source(scale="huge"),
    "a scale that is a list": source(scale=["unit"]),
    "a scale of texts": source(choices={"text": "a"}, scale="unit"),
    "imputed series": source(choices={"series": True}, impute="median"),
    "imputed otherwise": source(impute="mean"),
    "no scale": meta("source", {"file": DATA, "choices": {}}),
}

OPENS = {  # unusual, and consistent
    "a cache": learner("ActiveCOBS", preset="quick", n_candidates=50, cache="made", random_state=0),
    "a path as a cache": learner("ActiveCOBS", preset="quick", n_candidates=50, cache="/", random_state=0),
    "other machines": learner("ActiveCOBS", preset="quick", n_candidates=50, backend="dask", random_state=0),
    "many clusters": learner("MinMax", n_clusters=2**31 - 1, estimator="pckmeans", random_state=0),
    "many super-instances": learner("COBRA", n_super_instances=2**31 - 1, n_init=1, random_state=0),
    "a clusterer of linkwise": refitting("PCKMeans", n_init=1),
    "a clusterer with a cache": refitting("PCKMeans", n_init=1, cache="made"),
    "one more setting": ("INSERT INTO meta VALUES ('more', 'x')",),
    "one more setting that is bytes": ("INSERT INTO meta VALUES ('more', x'ff')",),
    "answers that may be wrong": added("error_rate", "null"),
    "an error rate": added("error_rate", "0.1"),
    "suspects that are no answers": (
        *added("error_rate", "0.1"),
        """UPDATE snapshot SET doubts = '{"error_rate": null, "parts": [[0, 1]], """
        """"suspects": [[7, "likely wrong"], [77, "likely wrong"]]}'""",
    ),
    "a confirmation without an error rate": event(LAST + 1, f"'sure', {NOW}, NULL, NULL, 'yes', 3, ''"),
    "labels of a later event": ("UPDATE snapshot SET event = 1000",),
    "no description": ("UPDATE snapshot SET description = '[]'",),
    "advice": (
        """UPDATE snapshot SET advice = '{"stop": true, "wrong": 0.1, "most_wrong": null, "n_open": 3}'""",
    ),
    "a place": beside("start = 0, position", "0"),
    "all beside an answer": beside("seconds = 2, note = 'why', reliability", "1"),
    "a learner that was chosen": chosen("COBRAS", n_init=2, random_state=0),
    "a learner that was chosen and undone": (
        *chosen("import_module", name="evil"),
        *event(LAST + 2, f"'undo', {NOW}, NULL, NULL, NULL, {LAST + 1}, ''"),
    ),
    "a rate that was chosen": setting("rate", {"judge": 0.1, "": 0.2}),
    "an audit": setting("audit", {"by": "", "pairs": [[0, 1], [2, 5]], "doubtful": [True, False]}),
    "an audit of nothing": setting("audit", {"by": "", "pairs": [], "doubtful": []}),
    "guidelines that were undone": event(LAST + 1, f"'undo', {NOW}, NULL, NULL, NULL, 15, ''"),
    "costs beyond the largest number": (
        *setting("cost", "1.7e308"),
        *setting("cost", "1.7e308", LAST + 2),
    ),
    "no snapshot": ("DELETE FROM snapshot",),
    "noise in the labels": (f"UPDATE snapshot SET labels = x'{'ffffffff' * 14}'",),
}

TABLE = {**REFUSED, **REFUSED_WITH_DATA, **UNREADABLE, **OPENS}


def file_of(name: str) -> str:
    """The name of the file of an edit."""
    return f"{zlib.crc32(name.encode()):08x}.linkwise"


def write_edited(good: Path, path: Path, name: str) -> None:
    """A copy of a good session with an edit of the table."""
    path.write_bytes(good.read_bytes())
    execute(path, *TABLE[name])
