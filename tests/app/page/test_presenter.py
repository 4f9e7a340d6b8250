"""The presenter: what a page is told, what it may ask for, and that nothing it sends does harm."""

import csv
import io
import json
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.app.page.cards import RowView, view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.data import encode, from_frame
from linkwise.data.show.items import text_items
from linkwise.datasets import load
from linkwise.errors import SessionLockedError
from linkwise.session.session import Session

IRIS = load("iris")
TRUTH = lw.TruthOracle(IRIS.y)


def make_presenter(path=None, X=IRIS.X, names=IRIS.names, learner=None, **options):
    """A presenter about iris, in memory or in a file."""
    learner = lw.COBRAS(random_state=0) if learner is None else learner
    session = lw.Session(X, learner) if path is None else Session.open(path, X, learner)
    columns = encode(from_frame(X), scale="none", categories="codes")
    return Presenter(session, X, view_numbers(X, names), title="iris.csv", columns=columns, **options)


def ask(presenter, do, **request):
    """The reply to a request that is met."""
    reply = presenter.handle({"id": "a1", "do": do, **request})
    assert reply.body["re"] == "a1"
    assert reply.body["ok"], reply.body
    json.dumps(reply.body, allow_nan=False)
    return reply


def refused(presenter, **request):
    """The error of a request that is refused and changes nothing."""
    before = presenter.state()
    reply = presenter.handle({"id": "a1", **request})
    assert not reply.body["ok"], reply.body
    assert not reply.changed
    assert presenter.state() == before
    return reply.body["error"]


def answer(presenter, n, oracle=TRUTH):
    """Answer `n` questions, or all."""
    for _ in range(n):
        question = presenter.state()["question"]
        if question is None:
            break
        pair = question["first"]["row"], question["second"]["row"]
        assert ask(presenter, "answer", question=question["id"], answer=oracle(*pair)).changed


def rows_of(presenter):
    """The cluster of each row, read as a page reads it."""
    counter, sent = presenter.labels()
    state = presenter.state()
    assert counter == state["labels"]
    labels = np.frombuffer(sent, "<u2" if state["two_bytes"] else "u1")
    assert len(labels) == state["rows"]
    return labels


# ---------------------------------------------------------------- what a page is told
def test_a_new_presenter_asks_and_shows_what_there_is():
    state = make_presenter().state()
    json.dumps(state, allow_nan=False)
    assert (state["title"], state["kind"], state["rows"], state["place"]) == ("iris.csv", "record", 150, None)
    assert state["ended"] is None
    assert state["undo"] is None
    assert state["counts"] == dict.fromkeys(
        ("answers", "yes", "no", "unsure", "screens", "cards", "added", "imported", "done", "inferred"), 0
    )
    q = state["question"]
    assert q["guess"] in ("yes", "no")
    for item in (q["first"], q["second"]):
        row = IRIS.X[item["row"]]
        assert [f["name"] for f in item["fields"]] == list(IRIS.names)
        assert [float(f["value"]) for f in item["fields"]] == row.tolist()
        assert all(0 <= f["place"] <= 1 for f in item["fields"])
    unlike = IRIS.X[q["first"]["row"]] != IRIS.X[q["second"]["row"]]
    assert list(q["differing"]) == [name for name, other in zip(IRIS.names, unlike, strict=True) if other]


def test_places_are_the_principal_components_in_a_frame():
    places = np.frombuffer(make_presenter().places(), "<f4").reshape(-1, 2)
    centred = IRIS.X - IRIS.X.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    wanted = centred @ axes.T
    for axis in range(2):
        assert abs(np.corrcoef(places[:, axis], wanted[:, axis])[0, 1]) == pytest.approx(1, abs=1e-6)
    assert np.abs(places).max() == pytest.approx(1)
    assert np.ptp(places[:, 0]) / np.ptp(places[:, 1]) == pytest.approx(
        np.ptp(wanted[:, 0]) / np.ptp(wanted[:, 1]), rel=1e-4
    )


def test_the_clusters_that_are_listed_are_those_of_the_labels():
    presenter = make_presenter()
    answer(presenter, 20)
    labels, state = rows_of(presenter), presenter.state()
    assert [c["size"] for c in state["clusters"]] == sorted(
        np.unique(labels, return_counts=True)[1].tolist(), reverse=True
    )
    for c in state["clusters"]:
        rows = np.flatnonzero(labels == c["cluster"])
        assert c["size"] == len(rows)
        assert c["exemplar"] == c["exemplars"][0]
        assert set(c["exemplars"]) <= set(rows.tolist())
        assert c["exemplar_names"] == [f"row {row}" for row in c["exemplars"]]
        distance = ((IRIS.X[rows] - IRIS.X[rows].mean(axis=0)) ** 2).sum(axis=1)
        assert distance[np.flatnonzero(rows == c["exemplar"])[0]] == distance.min()
    assert state["counts"]["answers"] == 20
    assert state["counts"]["inferred"] > 0
    assert len(state["changes"]) == 20


@pytest.mark.slow
def test_more_clusters_than_a_byte_can_name_go_in_two():
    X = np.arange(600.0)[:, None]
    presenter = make_presenter(X=X, names=("x",))
    session = presenter._session
    session.import_constraints(
        lw.Constraints(600, cannot_link=[(i, j) for i in range(260) for j in range(i)])
    )
    state = presenter.state()
    assert state["two_bytes"]
    labels = rows_of(presenter)
    assert len(set(labels[:260].tolist())) == 260
    assert len(state["clusters"]) == 200
    assert state["more_clusters"] == len(np.unique(labels)) - 200


def test_it_ends_at_the_budget_and_when_nothing_is_left():
    presenter = make_presenter(budget=3)
    answer(presenter, 10)
    state = presenter.state()
    assert (state["ended"], state["question"], state["counts"]["answers"]) == ("budget", None, 3)
    assert refused(presenter, do="answer", question="3:0-1", answer="yes")["kind"] == "ended"
    ask(presenter, "undo")
    assert presenter.state()["question"] is not None
    small = make_presenter(X=IRIS.X[[0, 60, 120]])
    answer(small, 10, lambda i, j: "no")
    state = small.state()
    assert (state["ended"], state["question"]) == ("exhausted", None)
    assert (state["advice"]["stop"], state["advice"]["text"]) == (True, "There are no more questions.")


# ---------------------------------------------------------------- what is said
def test_a_whole_session_leads_to_the_clustering_that_is_meant():
    presenter = make_presenter()
    answer(presenter, 10_000)
    labels = rows_of(presenter)
    assert len({(a, b) for a, b in zip(labels.tolist(), IRIS.y.tolist(), strict=True)}) == 3


def test_an_answer_to_another_question_is_stale():
    presenter = make_presenter()
    first = presenter.state()["question"]["id"]
    answer(presenter, 1)
    assert refused(presenter, do="answer", question=first, answer="yes")["kind"] == "stale"


def test_a_name_does_not_make_the_question_stale():
    presenter = make_presenter()
    asked = presenter.state()["question"]["id"]
    ask(presenter, "name", cluster=0, name="  All of  them ")
    assert presenter.state()["clusters"][0]["name"] == "All of them"
    ask(presenter, "answer", question=asked, answer="yes")
    clusters = {c["cluster"]: c["name"] for c in presenter.state()["clusters"]}
    lines = csv.DictReader(io.StringIO(ask(presenter, "export", what="labels").file.decode()))
    assert all(line["name"] == clusters[int(line["cluster"])] for line in lines)
    assert "All of them" in clusters.values()
    ask(presenter, "name", cluster=0, name="")
    assert presenter.state()["clusters"][0]["name"] == ""


def test_a_reply_says_which_rows_moved():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    presenter = make_presenter(X=X, names=("x",))
    split = " moved: Cluster 1 is new, split off from Cluster 0."
    join = " moved: Cluster 1 is now part of Cluster 0."
    for do, request, moved, clusters in (
        ("answer", {"answer": "no"}, f"1 row{split}", {(0, 1, 2, 4), (3,)}),
        ("answer", {"answer": "unsure"}, "1 row moved from Cluster 0 to Cluster 1.", {(0, 1, 2), (3, 4)}),
        ("change", {"event": 1, "answer": "yes"}, f"2 rows{join}", {(0, 1, 2, 3, 4)}),
        ("change", {"event": 1, "answer": "no"}, f"2 rows{split}", {(0, 1, 2), (3, 4)}),
        ("take_back", {"event": 1}, f"2 rows{join}", {(0, 1, 2, 3, 4)}),
        ("undo", {}, "No row moved.", {(0, 1, 2, 3, 4)}),
        ("add", {"first": 0, "second": 1, "kind": "cannot-link"}, f"1 row{split}", {(0, 2, 3, 4), (1,)}),
        ("done", {"cluster": 0}, "No row moved.", {(0, 2, 3, 4), (1,)}),
        ("undo", {}, "No row moved.", {(0, 2, 3, 4), (1,)}),
        ("undo", {}, f"1 row{join}", {(0, 1, 2, 3, 4)}),
    ):
        if do == "answer":
            request["question"] = presenter.state()["question"]["id"]
        assert ask(presenter, do, **request).body["moved"] == moved
        labels = rows_of(presenter)
        assert {tuple(np.flatnonzero(labels == label).tolist()) for label in labels} == clusters
    for do, request in (("name", {"cluster": 0, "name": "all"}), ("history", {}), ("item", {"rows": [0]})):
        assert "moved" not in ask(presenter, do, **request).body


def test_merging_moves_the_smaller_cluster():
    presenter = make_presenter()
    answer(presenter, 20)
    one, other = presenter.state()["clusters"][:2]
    before = rows_of(presenter)
    moved = ask(presenter, "merge", first=one["cluster"], second=other["cluster"]).body["moved"]
    n_moved = int((before != rows_of(presenter)).sum())
    assert n_moved > 0
    assert moved.startswith(f"{n_moved} row")


def test_rows_that_another_program_moved_are_not_counted(tmp_path):
    path = tmp_path / "s.linkwise"
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    presenter, other = (make_presenter(path, X=X, names=("x",)) for _ in range(2))
    assert ask(other, "add", first=0, second=1, kind="cannot-link").body["moved"][:5] == "1 row"
    assert ask(presenter, "add", first=0, second=2, kind="must-link").body["moved"] == "No row moved."
    presenter.close()
    other.close()


def lock_after(presenter, monkeypatch, name):
    """Let another program hold the session as soon as an action of this name is stored."""
    store = getattr(presenter._session, name)

    def store_and_lock(*args, **kwargs):
        def snapshot(session):
            raise SessionLockedError("another program holds the session")

        store(*args, **kwargs)
        monkeypatch.setattr(lw.Session, "snapshot", property(snapshot))

    monkeypatch.setattr(presenter._session, name, store_and_lock)


def test_a_stored_answer_is_confirmed_although_the_session_is_locked_then(monkeypatch):
    presenter = make_presenter()
    question = presenter.state()["question"]["id"]
    with monkeypatch.context() as locked:
        lock_after(presenter, locked, "answer")
        assert "moved" not in ask(presenter, "answer", question=question, answer="yes").body
    state = presenter.state()
    assert state["counts"]["answers"] == 1
    assert state["question"]["id"] != question


def test_undo_takes_back_what_the_state_says():
    presenter = make_presenter()
    assert ask(presenter, "undo").body["undone"] is None
    answer(presenter, 4)
    wanted = presenter.state()["undo"]
    assert wanted["answer"] in ("yes", "no")
    reply = ask(presenter, "undo")
    assert reply.changed
    assert reply.body["undone"]["number"] == wanted["number"]
    assert len(presenter.state()["changes"]) == 3


def test_undo_takes_back_a_change_and_the_state_says_so():
    presenter = make_presenter()
    answer(presenter, 2)
    ask(presenter, "change", event=1, answer="unsure")
    wanted = presenter.state()["undo"]
    assert (wanted["kind"], wanted["target"], wanted["answer"]) == ("change", 1, "unsure")
    assert ask(presenter, "undo").body["undone"]["number"] == wanted["number"]
    assert presenter.state()["undo"]["number"] == 2


def test_any_answer_can_be_taken_back_or_changed():
    presenter = make_presenter()
    answer(presenter, 6)
    events = ask(presenter, "history").body["events"]
    assert [e["number"] for e in events] == [6, 5, 4, 3, 2, 1]
    ask(presenter, "take_back", event=2)
    assert [e["number"] for e in ask(presenter, "history").body["events"]] == [6, 5, 4, 3, 1]
    ask(presenter, "change", event=3, answer="unsure")
    changed = ask(presenter, "history", before=4, limit=1).body
    assert changed["more"]
    assert [(e["number"], e["answer"], e["changed"]) for e in changed["events"]] == [(3, "unsure", True)]
    assert refused(presenter, do="take_back", event=2)["kind"] == "failed"


def test_merging_and_closing_clusters_add_facts_about_their_rows():
    presenter = make_presenter()
    answer(presenter, 20)
    one, other = presenter.state()["clusters"][:2]
    ask(presenter, "merge", first=one["cluster"], second=other["cluster"])
    labels = rows_of(presenter)
    assert labels[one["exemplar"]] == labels[other["exemplar"]]
    cluster = next(c for c in presenter.state()["clusters"] if c["cluster"] == labels[one["exemplar"]])
    assert not cluster["done"]
    assert ask(presenter, "done", cluster=cluster["cluster"]).body["rows"] == cluster["size"]
    members = set(np.flatnonzero(labels == cluster["cluster"]).tolist())
    assert [c["size"] for c in presenter.state()["clusters"] if c["done"]] == [len(members)]
    while (q := presenter.state()["question"]) is not None:
        pair = {q["first"]["row"], q["second"]["row"]}
        assert not pair <= members
        ask(presenter, "answer", question=q["id"], answer=TRUTH(*pair))
    assert refused(presenter, do="merge", first=0, second=0)["kind"] == "bad"


def test_a_contradiction_is_reported_with_the_answers_that_cause_it():
    presenter = make_presenter()
    ask(presenter, "add", first=0, second=1, kind="must-link")
    ask(presenter, "add", first=1, second=2, kind="must-link")
    error = refused(presenter, do="add", first=2, second=0, kind="cannot-link")
    assert error["kind"] == "contradiction"
    links = {(frozenset((c["first"], c["second"])), c["answer"], c["event"]) for c in error["chain"]}
    assert links == {
        (frozenset((0, 1)), "yes", 1),
        (frozenset((1, 2)), "yes", 2),
        (frozenset((0, 2)), "no", None),
    }
    ask(presenter, "take_back", event=1)
    ask(presenter, "add", first=2, second=0, kind="cannot-link")
    ask(presenter, "add", first=0, second=5, kind="must-link")
    error = refused(presenter, do="add", first=5, second=1, kind="must-link")
    assert {c["event"] for c in error["chain"]} == {2, 4, 5, None}  # 5 = 1 = 2, but 2 ≠ 0 = 5


def test_a_change_that_contradicts_names_itself_without_an_event():
    presenter = make_presenter()
    ask(presenter, "add", first=0, second=1, kind="must-link")
    ask(presenter, "add", first=1, second=2, kind="must-link")
    ask(presenter, "add", first=0, second=2, kind="must-link")
    error = refused(presenter, do="change", event=3, answer="no")
    assert sorted((c["event"] or 0, c["answer"]) for c in error["chain"]) == [
        (0, "no"),
        (1, "yes"),
        (2, "yes"),
    ]


# ---------------------------------------------------------------- what is told on request
def test_items_rules_and_reasons():
    presenter = make_presenter()
    answer(presenter, 25)
    items = ask(presenter, "item", rows=[3, 149]).body["items"]
    labels = rows_of(presenter)
    assert [(item["row"], item["cluster"]) for item in items] == [(3, labels[3]), (149, labels[149])]
    rules = ask(presenter, "rules").body
    assert {c["cluster"] for c in rules["clusters"]} == set(labels.tolist())
    assert 0 < rules["fidelity"] <= 1
    assert "row 0" in ask(presenter, "why", first=0, second=149).body["text"]
    assert refused(presenter, do="why", first=3, second=3)["kind"] == "bad"


def test_what_is_exported_is_what_is_shown(tmp_path):
    presenter = make_presenter()
    answer(presenter, 12)
    labels = ask(presenter, "export", what="labels")
    assert labels.body["name"] == "iris-clusters.csv"
    lines = list(csv.DictReader(io.StringIO(labels.file.decode())))
    assert [int(line["cluster"]) for line in lines] == rows_of(presenter).tolist()
    pairs = list(csv.DictReader(io.StringIO(ask(presenter, "export", what="constraints").file.decode())))
    counts = presenter.state()["counts"]
    assert len(pairs) == counts["yes"] + counts["no"]
    assert "cluster 0" in ask(presenter, "export", what="rules").file.decode()
    copy = tmp_path / "copy.linkwise"
    copy.write_bytes(ask(presenter, "export", what="session").file)
    with Session.open(copy, IRIS.X) as session:
        assert session.labels.tolist() == rows_of(presenter).tolist()
    assert sqlite3.connect(copy).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_without_columns_there_are_no_rules():
    X = IRIS.X
    presenter = Presenter(lw.Session(X, lw.COBRAS(random_state=0)), X, view_numbers(X, IRIS.names), title="")
    for request in ({"do": "rules"}, {"do": "export", "what": "rules"}):
        error = refused(presenter, **request)
        assert (error["kind"], "columns" in error["text"]) == ("bad", True)
    assert not presenter.state()["rules"]


def test_texts_are_described_by_their_words():
    texts = [f"{'goal match' if i % 2 else 'stock bond'} number{i}" for i in range(12)]
    X = np.column_stack([np.arange(12) % 2, np.arange(12) / 100.0])
    presenter = Presenter(
        lw.Session(X, lw.COBRAS(random_state=0)), X, RowView(text_items(texts)), title="news"
    )
    answer(presenter, 2, lambda i, j: "yes" if i % 2 == j % 2 else "no")
    assert presenter.state()["question"]["first"]["text"] in texts
    told = ask(presenter, "rules").body
    assert presenter.state()["rules"]
    assert told["fidelity"] is None
    assert {
        tuple(sorted(line.split(":")[0].strip() for line in c["text"][1:])) for c in told["clusters"]
    } == {
        ("goal", "match"),
        ("bond", "stock"),
    }
    assert "goal" in ask(presenter, "export", what="rules").file.decode()


# ---------------------------------------------------------------- two presenters on one file
def test_what_another_program_writes_is_noticed(tmp_path):
    path = tmp_path / "s.linkwise"
    presenter, other = make_presenter(path), make_presenter(path)
    stale = other.state()["question"]["id"]
    answer(presenter, 3)
    assert not presenter.has_changed()
    assert other.has_changed()
    reply = other.handle({"id": "x", "do": "answer", "question": stale, "answer": "yes"})
    assert reply.body["error"]["kind"] == "stale"
    assert reply.changed
    seen = ("changes", "labels")  # depend on what a presenter saw
    same = {name: value for name, value in other.state().items() if name not in seen}
    assert same == {k: v for k, v in presenter.state().items() if k in same}
    assert rows_of(other).tolist() == rows_of(presenter).tolist()
    presenter.close()
    other.close()


# ---------------------------------------------------------------- what comes from outside
SHARED = make_presenter()
answer(SHARED, 8)

WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["yes", "must-link", "labels", 0, 1, -1, 149, 150, 2**60]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
FIELDS = (
    "question",
    "answer",
    "event",
    "first",
    "second",
    "kind",
    "cluster",
    "name",
    "rows",
    "before",
    "limit",
    "what",
    "columns",
)


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples, deadline=None)
@given(
    do=st.sampled_from(sorted(Presenter.ACTIONS)) | WILD,
    fields=st.dictionaries(st.sampled_from(FIELDS), WILD),
)
def test_whatever_is_sent_is_answered(do, fields):
    """No request raises, and one that is refused changes nothing."""
    before = SHARED.state()
    reply = SHARED.handle({"id": "w", "do": do, **fields})
    json.dumps(reply.body, allow_nan=False)
    assert reply.body["re"] == "w"
    if not reply.body["ok"]:
        assert reply.body["error"]["kind"] in ("bad", "stale", "contradiction", "locked", "failed", "ended")
        assert reply.body["error"]["text"]
        assert SHARED.state() == before


@given(request=WILD)
def test_what_is_no_request_is_refused(request):
    reply = SHARED.handle(request)
    assert not reply.body["ok"]
    assert not reply.changed
    json.dumps(reply.body, allow_nan=False)


@pytest.mark.parametrize("name", ["x" * 201, "a\nb", "\x00", "\u202egpj.exe"])
def test_names_that_cannot_be_shown_are_refused(name):
    assert (
        refused(SHARED, do="name", cluster=SHARED.state()["clusters"][0]["cluster"], name=name)["kind"]
        == "bad"
    )


def test_looking_ahead_changes_nothing_and_can_be_stopped():
    presenter = make_presenter()
    answer(presenter, 5)
    before, calls = presenter.state(), []
    presenter.look_ahead(lambda: calls.append(1) or False)
    assert calls
    assert presenter.state() == before
    presenter.look_ahead(lambda: True)
    assert presenter.state() == before
    answer(presenter, 200)
    assert presenter.state()["question"] is None
    presenter.look_ahead(lambda: False)


def test_the_chart_goes_on_after_a_restart(tmp_path):
    path = tmp_path / "s.linkwise"
    presenter = make_presenter(path)
    answer(presenter, 12)
    before = presenter.state()
    assert any(before["changes"])
    presenter.close()
    presenter = make_presenter(path)
    assert presenter.state()["changes"] == []
    patience = iter(range(9))
    presenter.look_ahead(lambda: next(patience, None) is None)  # it is interrupted, and goes on where it was
    assert not presenter.has_changed()
    answer(presenter, 1)
    presenter.look_ahead(lambda: False)
    assert presenter.has_changed()  # the pages are to hear of it
    state = presenter.state()
    assert not presenter.has_changed()
    assert state["changes"][:-1] == before["changes"]
    presenter.close()


def test_agreement_with_the_classes_is_reported():
    presenter = make_presenter(classes=IRIS.y)
    assert presenter.state()["agreement"] == presenter.agreement() < 1.0
    answer(presenter, 500)
    assert presenter.state()["agreement"] == presenter.agreement() == 1.0
    other = make_presenter(budget=1)
    answer(other, 1)
    assert (other.state()["ended"], other.state()["agreement"]) == ("budget", None)


def look(presenter):
    """The number of the cluster of each row, and the colours of the numbers."""
    return rows_of(presenter).tolist(), presenter.state()["shades"]


def test_numbers_and_colours_stay_with_rows():
    presenter = make_presenter()
    given = set()
    for _ in range(12):
        was, before = rows_of(presenter), presenter.state()["shades"]
        answer(presenter, 1)
        now, after = rows_of(presenter), presenter.state()["shades"]
        assert [number for number, _, _ in after] == np.unique(now).tolist()
        assert {c["cluster"] for c in presenter.state()["clusters"]} == set(now.tolist())
        largest = np.bincount(was).argmax()
        assert np.bincount(now[was == largest]).argmax() == largest
        assert [shade for shade in before if shade[0] == largest] == [s for s in after if s[0] == largest]
        given |= set(was.tolist())
        assert not (set(now.tolist()) - set(was.tolist())) & given, "a number is given once"
    assert max(given) >= len(before), "numbers are not those of the learner"


DEEDS = st.sampled_from(["yes", "no", "unsure", "true", "true", "true", "undo", "change", "ahead"])


@settings(max_examples=12, deadline=None)
@given(deeds=st.lists(DEEDS, max_size=14))
def test_numbers_and_colours_are_the_same_after_a_restart(tmp_path_factory, deeds):
    """Whatever was said, taken back, changed or looked ahead; and before each restart, too."""
    path = tmp_path_factory.mktemp("restart") / "s.linkwise"
    presenter = make_presenter(path)
    for number, deed in enumerate(deeds):
        state = presenter.state()
        question, history = state["question"], ask(presenter, "history").body["events"]
        if deed == "ahead":
            presenter.look_ahead(lambda: False)
        elif deed == "undo":
            ask(presenter, "undo")
        elif deed == "change" and history:
            event = history[number % len(history)]["number"]
            presenter.handle({"id": "c", "do": "change", "event": event, "answer": "no"})
        elif question is not None and deed != "change":
            said = TRUTH(question["first"]["row"], question["second"]["row"]) if deed == "true" else deed
            presenter.handle({"id": "a", "do": "answer", "question": question["id"], "answer": said})
        if number % 4 == 3:
            other = make_presenter(path)
            assert look(other) == look(presenter)
            other.close()
    seen = look(presenter)
    presenter.close()
    again = make_presenter(path)
    assert look(again) == seen
    again.close()


def test_an_undo_gives_back_the_numbers_and_colours():
    presenter = make_presenter()
    seen = [look(presenter)]
    for _ in range(12):
        answer(presenter, 1)
        seen.append(look(presenter))
    while seen:
        assert look(presenter) == seen.pop()
        ask(presenter, "undo")


def test_merging_before_the_first_answer_keeps_the_other_numbers(tmp_path):
    path = tmp_path / "s.linkwise"
    presenter = make_presenter(path, learner=lw.KIN(random_state=0))
    before = rows_of(presenter)
    one, other = sorted(c["cluster"] for c in presenter.state()["clusters"])[:2]
    ask(presenter, "merge", first=one, second=other)
    after = rows_of(presenter)
    assert set(np.unique(after)) < set(np.unique(before))
    assert (after[before > other] == before[before > other]).mean() > 0.9
    presenter.close()
    again = make_presenter(path, learner=lw.KIN(random_state=0))
    assert rows_of(again).tolist() == after.tolist()
    again.close()
    with Session.open(path) as kept:  # as `linkwise export` reads it
        assert kept.labels.tolist() == after.tolist()


def test_the_chart_shows_answers_alone():
    presenter = make_presenter()
    for other in range(1, 12):
        ask(presenter, "add", first=0, second=other, kind="must-link")
    state = presenter.state()
    assert state["changes"] == []
    ask(presenter, "answer", question=state["question"]["id"], answer="unsure")
    assert presenter.state()["changes"] == []


def test_texts_without_words_are_reported():
    X = np.arange(4.0)[:, None]
    presenter = Presenter(
        lw.Session(X, lw.COBRAS(random_state=0)), X, RowView(text_items(["", "", "", ""])), title=""
    )
    assert refused(presenter, do="rules")["kind"] == "bad"


@pytest.mark.parametrize("name", ["می\u200cخواهم", "👨\u200d👩\u200d👧 family"])
def test_names_in_any_spelling(name):
    presenter = make_presenter()
    ask(presenter, "name", cluster=0, name=name)
    assert presenter.state()["clusters"][0]["name"] == name


# ---------------------------------------------------------------- notes and seconds
def test_an_answer_brings_its_seconds_and_its_note():
    presenter = make_presenter()
    question = presenter.state()["question"]["id"]
    ask(presenter, "answer", question=question, answer="no", seconds=3.25, note=" two\nlines ")
    (event,) = ask(presenter, "history").body["events"]
    assert (event["seconds"], event["note"], event["note_author"]) == (3.25, "two\nlines", "")
    asked, moves = presenter.state()["question"], presenter.state()["changes"]
    reply = ask(presenter, "note", event=event["number"], note="<b>later</b>")
    assert reply.changed
    assert "moved" not in reply.body
    state = presenter.state()
    assert (state["question"], state["changes"]) == (asked, moves)
    assert (state["undo"]["kind"], state["undo"]["target"]) == ("note", event["number"])
    assert ask(presenter, "undo").body["undone"]["kind"] == "note"
    assert ask(presenter, "history").body["events"][0]["note"] == "two\nlines"


def test_the_pace_is_the_median_of_the_last_answers_whose_seconds_are_known():
    presenter = make_presenter()
    assert presenter.state()["seconds_per_answer"] is None
    for seconds in [None, 100, *[2.0] * 11, *[5.0] * 9]:
        question = presenter.state()["question"]["id"]
        given = {} if seconds is None else {"seconds": seconds}
        ask(presenter, "answer", question=question, answer="unsure", **given)
    assert presenter.state()["seconds_per_answer"] == 2.0
    for _ in range(2):
        question = presenter.state()["question"]["id"]
        ask(presenter, "answer", question=question, answer="unsure", seconds=5.0)
    assert presenter.state()["seconds_per_answer"] == 5.0


@pytest.mark.parametrize(
    ("remark", "words"),
    [
        ({"seconds": -1}, "seconds is -1"),
        ({"seconds": "1"}, "seconds is not a number"),
        ({"seconds": 1e300}, "seconds is 1e+300"),
        ({"seconds": True}, "seconds is not a number"),
        ({"note": None}, "The note is not text"),
        ({"note": ["x"]}, "The note is not text"),
        ({"note": "x" * 2001}, "has 2001 characters. Shorten it to 2000 or fewer."),
        ({"note": "\ud800"}, "not valid Unicode"),
    ],
)
def test_a_wrong_remark_is_refused_with_its_answer(remark, words):
    presenter = make_presenter()
    question = presenter.state()["question"]["id"]
    error = refused(presenter, do="answer", question=question, answer="no", **remark)
    assert error["kind"] == "bad"
    assert words in error["text"]


def test_a_note_needs_an_answer():
    presenter = make_presenter()
    assert "Event 7 is not an answer" in refused(presenter, do="note", event=7, note="x")["text"]
    assert refused(presenter, do="note", event="7", note="x")["kind"] == "bad"


def test_a_question_is_put_off_and_comes_back():
    presenter = make_presenter()
    first = presenter.state()["question"]
    reply = presenter.handle({"id": "1", "do": "later", "question": first["id"]})
    assert (reply.body["ok"], reply.body["other"], reply.changed) == (True, True, True)
    other = presenter.state()["question"]
    assert other["id"] != first["id"]
    assert presenter.state()["question"] == other, "a reload keeps it"
    assert presenter.handle({"id": "2", "do": "answer", "question": other["id"], "answer": "yes"}).body["ok"]
    assert presenter.state()["counts"] | {"inferred": 0} == {
        **presenter.state()["counts"], "answers": 1, "unsure": 0, "inferred": 0
    }  # fmt: skip
    stale = presenter.handle({"id": "3", "do": "later", "question": "7:1-2"})
    assert stale.body["error"]["kind"] == "stale"
