"""The widget, as a notebook's kernel sees it: without a browser, its messages as they go out."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.app.page import notebook
from linkwise.app.page import notebook as module
from linkwise.data import from_frame, text_items
from patience import patience, wait_until


def session_of(n_rows=12, ids=None, **kwargs):
    rng = np.random.default_rng(3)
    kind = np.arange(n_rows) % 3
    X = np.column_stack([10.0 * kind, 5.0 * (kind == 1)]) + rng.normal(0, 0.2, (n_rows, 2))
    return lw.Session(X, lw.COBRAS(random_state=0), ids=ids, **kwargs)


@pytest.fixture
def made():
    """Widgets whose messages are kept, in the order in which they go out."""
    pages = []

    def make(session, **kwargs):
        page = lw.widget(session, **kwargs)
        page.order, page.sent = [], {}

        def send(body, buffers=None):
            page.order.append("reply")
            page.sent[body["re"]] = (body, buffers)

        page.send = send
        page.observe(lambda change: page.order.append(change["name"]), ["state", "labels", "places"])
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.close()


def asked(page, do, request_id="v1", **more):
    """The reply to a request, sent as a browser sends it."""
    page._handle_custom_msg({"id": request_id, "do": do, **more}, [])
    wait_until(lambda: request_id in page.sent)
    return page.sent[request_id]


# ---------------------------------------------------------------- the dialogue
def test_it_shows_the_first_question_at_once(made):
    page = made(session_of())
    assert page.state["question"]["first"]["row"] != page.state["question"]["second"]["row"]
    assert page.state["title"] == "linkwise"
    assert len(page.labels) == 12
    assert len(page.places) == 12 * 2 * 4


def test_an_answer_is_stored_and_shown_before_its_reply(made):
    session = session_of()
    page = made(session)
    body, _ = asked(page, "answer", question=page.state["question"]["id"], answer="no")
    assert body["ok"]
    n_moved = 12 - max(cluster["size"] for cluster in page.state["clusters"])  # it was one
    assert body["moved"].startswith(f"{n_moved} row")
    assert page.order[-1] == "reply"
    assert "state" in page.order
    assert page.state["counts"]["answers"] == session.status.n_answers == 1


def test_the_whole_session_ends_in_the_clusters_that_were_meant(made):
    session = session_of()
    page = made(session)
    for n in range(60):
        if page.state["ended"]:
            break
        question = page.state["question"]
        same = (question["first"]["row"] - question["second"]["row"]) % 3 == 0
        body, _ = asked(page, "answer", f"v{n}", question=question["id"], answer="yes" if same else "no")
        assert body["ok"]
    assert page.state["ended"] == "exhausted"
    assert lw.constraint_score(session.labels, lw.Constraints.from_labels(np.arange(12) % 3)) == 1
    assert page.labels == bytes(session.labels.astype("u1"))


def test_labels_go_out_only_when_they_changed(made):
    page = made(session_of())
    named, _ = asked(page, "name", cluster=page.state["clusters"][0]["cluster"], name="all of them")
    assert named["ok"], named
    assert "state" in page.order
    assert "labels" not in page.order
    assert page.state["clusters"][0]["name"] == "all of them"


def test_a_file_goes_out_as_bytes(made):
    page = made(session_of())
    body, buffers = asked(page, "export", what="labels")
    assert body["type"] == "text/csv"
    assert buffers[0].startswith(b"id,cluster\n")


@pytest.mark.parametrize("request_", [None, 7, [], "undo", {}, {"id": 1}, {"id": "v", "do": "nothing"}])
def test_what_is_no_request_is_reported(made, request_):
    page = made(session_of())
    page._handle_custom_msg(request_, [])
    wait_until(lambda: page.sent)
    (body, _), *_ = page.sent.values()
    assert (body["ok"], body["error"]["kind"]) == (False, "bad")


def test_a_request_that_comes_before_the_thread_runs_is_handled(made, monkeypatch):
    may_run = threading.Event()
    run = notebook.Page._run

    def run_later(page, *news):
        may_run.wait(patience())
        run(page, *news)

    monkeypatch.setattr(notebook.Page, "_run", run_later)
    page = made(session_of())
    page._handle_custom_msg({"id": "v", "do": "undo"}, [])
    may_run.set()
    wait_until(lambda: page.sent)
    assert page.sent["v"][0]["ok"]


@pytest.mark.slow
def test_what_another_cell_answers_is_seen(made):
    session = session_of()
    page = made(session)
    session.answer("no")
    wait_until(lambda: page.state["counts"]["answers"] == 1)
    stale, _ = asked(page, "answer", question="0:0-1", answer="yes")
    assert stale["error"]["kind"] == "stale"


def test_long_work_is_reported(made, monkeypatch):
    page = made(session_of())
    seen = []
    page.observe(lambda change: seen.append(change["new"]["busy"]), "state")
    handle = page._presenter.handle

    def slowly(request, person):
        wait_until(lambda: seen)
        return handle(request, person)

    monkeypatch.setattr(page._presenter, "handle", slowly)
    asked(page, "item", rows=[0])
    assert seen[0] is True
    assert page.state["busy"] is False


def test_messages_go_out_on_the_loop_of_the_notebook(made):
    async def notebook():
        page = made(session_of())
        on = []
        page.observe(lambda change: on.append(threading.current_thread()), "state")
        page._handle_custom_msg({"id": "v1", "do": "name", "cluster": 0, "name": "one"}, [])
        while "v1" not in page.sent:
            await asyncio.sleep(0.01)
        return on

    assert set(asyncio.run(notebook())) == {threading.current_thread()}


@pytest.mark.slow
def test_two_widgets_on_one_session(made):
    session = session_of()
    one, other = made(session), made(session)
    asked(one, "answer", question=one.state["question"]["id"], answer="no")
    wait_until(lambda: other.state["counts"]["answers"] == 1)
    assert other.state["question"] == one.state["question"]


def test_closing_ends_the_thread_and_leaves_the_session_open(made):
    before = threading.active_count()
    session = session_of()
    page = made(session)
    page.close()
    wait_until(lambda: threading.active_count() <= before)
    session.answer("no")
    assert session.status.n_answers == 1


def test_a_closed_session_is_reported(made):
    session = session_of()
    page = made(session)
    session.close()
    body, _ = asked(page, "undo")
    assert (body["ok"], body["error"]["kind"]) == (False, "failed")
    assert "closed" in body["error"]["text"]


# ---------------------------------------------------------------- items
TEXT = "What a person wrote about thing {}, at some length, and like no other person"
TEXTS = [TEXT.format(i) for i in range(12)]
FRAME = {"name": [f"n{i}" for i in range(12)], "weight": [float(i) for i in range(12)]}


@pytest.mark.parametrize(
    ("items", "kind", "value"),
    [
        (None, "record", None),
        ([f"text {i}" for i in range(12)], "text", "text {}"),
        (tuple(f"text {i}" for i in range(12)), "text", "text {}"),
        (np.array([f"text {i}" for i in range(12)]), "text", "text {}"),
        (np.zeros((12, 4, 4)), "image", None),
        (np.zeros((12, 4, 4, 3), dtype=np.uint8), "image", None),
        (np.arange(36.0).reshape(12, 3), "series", None),
        (np.arange(36.0).reshape(12, 3).tolist(), "series", None),
        ([np.zeros((4, 4), np.uint8)] * 12, "image", None),
        ([np.zeros((4, 4 + i, 3)) for i in range(12)], "image", None),
        (pd.DataFrame({"review": TEXTS}), "text", TEXT),
        (pl.DataFrame({"review": TEXTS}), "text", TEXT),
        (pd.DataFrame(FRAME), "record", None),
        (pl.DataFrame(FRAME), "record", None),
        (from_frame(pd.DataFrame(FRAME)), "record", None),
        (text_items([f"text {i}" for i in range(12)]), "text", "text {}"),
    ],
)
def test_items_of_many_kinds(made, items, kind, value):
    page = made(session_of(), items=items)
    shown = page.state["question"]["first"]
    assert page.state["kind"] == kind
    if value:
        assert shown[kind] == value.format(shown["row"])
    if kind == "image":
        assert shown["image"].startswith("data:image/png;base64,")
    if kind == "series":
        assert shown["series"] == [3.0 * shown["row"] + k for k in range(3)]
    if kind == "record" and isinstance(items, (pd.DataFrame, pl.DataFrame)):
        assert {"name": "weight", "value": f"{shown['row']}"} in [
            {"name": f["name"], "value": f["value"].removesuffix(".0")} for f in shown["fields"]
        ]


def test_rows_are_called_by_their_ids(made):
    page = made(session_of(ids=[f"c{i}" for i in range(12)]), title="twelve")
    assert page.state["question"]["first"]["name"].startswith("c")
    assert page.state["title"] == "twelve"


def test_places_of_ones_own(made):
    page = made(session_of(), places=np.column_stack([np.arange(12), np.zeros(12)]))
    where = np.frombuffer(page.places, "<f4").reshape(12, 2)
    assert where[0].tolist() == [-1, 0]
    assert where[-1].tolist() == [1, 0]


def test_a_table_that_nothing_can_be_clustered_by_is_shown_all_the_same(made):
    page = made(
        session_of(), items=pd.DataFrame({"review": TEXTS, "by": [f"{name} again" for name in TEXTS]})
    )
    shown = page.state["question"]["first"]
    assert [field["value"] for field in shown["fields"]] == [
        TEXTS[shown["row"]],
        f"{TEXTS[shown['row']]} again",
    ]


@pytest.mark.parametrize(
    ("items", "told"),
    [
        (["a"] * 11, "11 items for 12 rows"),
        (pd.DataFrame({"a": range(13)}), "13 items for 12 rows"),
        (np.zeros((5, 4, 4)), "5 items for 12 rows"),
        (["a"] * 11 + [7], "neither texts, pictures nor curves"),
        ([[1.0, 2.0]] * 11 + [[1.0]], "curves differ in length"),
        (pd.DataFrame({"review": TEXTS[1:]}), "11 items for 12 rows"),
        ([], "0 items"),
        (np.zeros((12, 4, 4, 2)), "shape"),
        (np.zeros(12), "neither texts, pictures nor curves"),
        ({"a": 1}, "of type dict"),
        (7, "items is 7, of type int"),
    ],
)
def test_items_that_do_not_fit_are_refused(items, told):
    with pytest.raises(lw.DataError, match=told):
        lw.widget(session_of(), items=items)


def test_places_that_do_not_fit_are_refused():
    with pytest.raises(lw.DataError, match="places"):
        lw.widget(session_of(), places=np.zeros((3, 2)))


def test_a_session_without_its_data_is_refused(tmp_path):
    session_of().save(tmp_path / "a.linkwise")
    session = lw.Session.open(tmp_path / "a.linkwise")
    with session, pytest.raises(lw.SessionError, match="without its data"):
        lw.widget(session)


# ---------------------------------------------------------------- the module
def test_module_and_style_are_files_of_the_package():
    assert (module.STATIC / "widget.js").is_file()
    assert (module.STATIC / "style.css").is_file()
    page = lw.widget(session_of())
    assert "as default" in str(page._esm)
    page.close()


def test_without_anywidget_it_says_how_to_get_it():
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import linkwise\n"
        "try: linkwise.widget\n"
        "except ImportError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        said.stdout
        == 'The widget needs anywidget, which is not installed. Run pip install "linkwise[notebook]".\n'
    )


def test_linkwise_by_itself_does_not_load_it():
    code = "import sys, linkwise; print('anywidget' in sys.modules, 'linkwise.app.page' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False False\n"


# ---------------------------------------------------------------- data, and a session file
FRAME = pd.DataFrame(
    {
        "order": [f"O-{row}" for row in range(30)],
        "price": [float(2 ** (row % 15)) for row in range(30)],
        "shop": ["north", "south", "east"] * 10,
    }
)


def test_a_frame_is_read_as_for_a_session(made):
    page, session = made(FRAME), lw.Session(FRAME)
    assert page.session.X.tolist() == session.X.tolist()
    assert page.session.ids == list(FRAME["order"])
    first = page.state["question"]["first"]
    assert first["name"] in set(FRAME["order"])
    assert [field["name"] for field in first["fields"]] == ["price", "shop"]
    assert page.state["notes"] == list(lw.read(FRAME).notes)
    assert page.state["place"] is None
    body, _ = asked(page, "answer", question=page.state["question"]["id"], answer="no")
    assert body["ok"]
    assert page.session.status.n_answers == 1


def test_a_kernel_that_is_restarted_goes_on_with_the_session_file(made, tmp_path):
    path = tmp_path / "orders.linkwise"

    def run_cell():
        return made(lw.Session.open(path, FRAME, lw.KIN(random_state=0)))

    page = run_cell()
    assert page.state["place"] == str(path)
    body, _ = asked(page, "answer", question=page.state["question"]["id"], answer="no")
    assert body["ok"]
    asked(page, "name", "v2", cluster=page.state["clusters"][0]["cluster"], name="cheap")
    wait_until(lambda: "cheap" in [cluster["name"] for cluster in page.state["clusters"]])
    before = {name: value for name, value in page.state.items() if name not in ("labels", "changes", "busy")}
    labels = page.labels
    page.session.close()  # as the end of the kernel does
    again = run_cell()
    after = {name: value for name, value in again.state.items() if name not in ("labels", "changes", "busy")}
    assert after == before
    assert again.labels == labels


def test_a_session_that_is_saved_later_says_where(made, tmp_path):
    session = session_of()
    page = made(session)
    session.save(tmp_path / "later.linkwise")
    asked(page, "answer", question=page.state["question"]["id"], answer="no")
    assert page.state["place"] == str(tmp_path / "later.linkwise")
