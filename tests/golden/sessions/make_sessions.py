"""Write the golden sessions anew: ``python tests/golden/sessions/make_sessions.py``.

Only before a release may they be written anew. Afterwards they stay as they are, and those of later formats
come beside them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise.session.session import Session

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples" / "data"
IRIS, WINE = load_iris(), load_wine()
SCALED = minmax_scale(WINE.data)
SESSIONS = {
    "iris-cobras": (IRIS.data, IRIS.target, lw.COBRAS(random_state=0), 40),
    "iris-minmax": (IRIS.data, IRIS.target, lw.MinMax(3, random_state=0), 25),
    "iris-active-cobs": (IRIS.data, IRIS.target, lw.ActiveCOBS(preset="quick", random_state=0), 20),
    "wine-kin": (SCALED, WINE.target, lw.KIN(random_state=0), 40),
    "wine-cobra": (SCALED, WINE.target, lw.COBRA(10, random_state=0), 30),
}


def begin(name: str, *given: object, **options: object) -> Session:
    path = HERE / f"{name}.linkwise"
    path.unlink(missing_ok=True)
    return Session.open(path, *given, **options)


def answer_by(session: Session, classes: object, n: int, wrong: tuple[int, ...] = ()) -> None:
    """Answer up to n questions; every ninth is unsure, and those in `wrong` are answered wrongly."""
    for at in range(n):
        if (question := session.question) is None:
            return
        is_same = bool(classes[question.first] == classes[question.second])
        session.answer("unsure" if at % 9 == 8 else is_same ^ (at in wrong))


def make_plain(name: str) -> dict[str, object]:
    """A session with every kind of event that was there from the start on."""
    X, classes, learner, n = SESSIONS[name]
    with begin(name, X, learner) as session:
        session.set_guidelines("Of one kind.")
        answer_by(session, classes, 6)
        session.undo()
        answer_by(session, classes, n - 5)
        session.add(3, 54, "cannot-link")
        pairs = lw.Constraints(len(X), [(5, 6)], [(7, 67 if len(X) > 150 else 58)])
        session.import_constraints(pairs, source="pairs.csv")
        session.set_name(0, "first")
        session.set_examples([(0, 1, "yes", "alike"), (0, len(X) - 1, "no")])
        session.add_cost("judge", 0.25)
        return {
            "rows": len(X),
            "must_link": session.constraints.must_link.tolist(),
            "cannot_link": session.constraints.cannot_link.tolist(),
            "events": len(session.history),
            "n_clusters": len(session.status.cluster_sizes),
            "labels": session.labels.tolist(),
            "learner": session.learner["name"],
        }


def make_notes() -> list[list[object]]:
    with begin("iris-cobras-notes", IRIS.data, lw.COBRAS(random_state=0)) as session:
        session.answer("no", source="anna", seconds=4.25, note="petals of the same length")
        session.answer("no", source="ben", seconds=61.007)
        session.answer("no", source="anna", note="=1+1\nzwei Zeilen 😀")
        session.note(2, "seen twice", source="anna")
        session.note(2, "seen three times", source="ben")
        session.note(1, "", source="ben")
        session.undo()
        session.add(0, 50, "cannot-link", note="other species")
        session.note(8, "added by hand")
        session.answer("yes", seconds=0, reliability=0.75)
        return [
            [e.number, e.kind, e.answer, e.source, e.seconds, e.note, e.note_author, e.reliability]
            for e in session.history
        ]


def make_errors(show: object) -> dict[str, object]:
    """Three answers are wrong; one answer is confirmed, one turned round, and one pair is certain."""
    X = IRIS.data
    with begin("iris-kin-errors", X, lw.COBRAS(random_state=0), source={"name": "iris"}) as session:
        session.set_name(0, "first")
    with Session.open(
        HERE / "iris-kin-errors.linkwise", X, lw.KIN(random_state=0), error_rate=None
    ) as session:
        answer_by(session, IRIS.target, 32, wrong=(5, 12, 19))
        answers = [event for event in session.history if event.answer != "unsure"]
        session.set_sure(answers[0].number)
        wrong = next(e for e in answers if is_wrong(e))
        session.change(wrong.number, "yes" if wrong.answer == "no" else "no")
        session.add(0, 2, "must-link", is_sure=True)
        session.import_constraints(lw.Constraints(150, [(1, 3)], [(1, 149)]), source="pairs.csv")
        session.answer("unsure")
        session.undo()
        question = session.question
        return {**show(session), "question": [question.first, question.second, question.why]}


def is_wrong(event: object) -> bool:
    return bool((IRIS.target[event.first] == IRIS.target[event.second]) != (event.answer == "yes"))


def make_customers() -> None:
    """A session of the command line, and what it exports."""
    for each in ("customers.csv", "customers.csv.linkwise"):
        (HERE / each).unlink(missing_ok=True)
    shutil.copy(EXAMPLES / "customers.csv", HERE)
    linkwise = [sys.executable, "-m", "linkwise"]
    ask = [*linkwise, "ask", "customers.csv", "--id", "customer", "--scale", "unit", "--impute", "median"]
    subprocess.run(ask, cwd=HERE, input="\n".join([*"snsnsnnusn", "q", ""]), text=True, check=True)
    for what in ("labels", "constraints"):
        name = f"customers-{what}.csv"
        (HERE / name).unlink(missing_ok=True)
        export = [*linkwise, "export", "customers.csv.linkwise", f"--{what}", name]
        subprocess.run(export, cwd=HERE, check=True, capture_output=True)
    (HERE / "customers.csv").unlink()


def write_json(name: str, value: object) -> None:
    (HERE / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    sys.path.insert(0, str(HERE.parents[1]))
    from session.test_golden import show_errors

    write_json("expected.json", {name: make_plain(name) for name in SESSIONS})
    write_json("expected-notes.json", make_notes())
    write_json("expected-errors.json", make_errors(show_errors))
    make_customers()


if __name__ == "__main__":
    main()
