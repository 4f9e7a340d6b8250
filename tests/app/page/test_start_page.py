"""The page before anything is open: what it lists, what can be opened there, and what goes wrong in words."""

import json
import os

import pytest

from linkwise.app.cli.commands.start import prepare_start
from linkwise.app.cli.main import Demo
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.start_page import DEMOS
from linkwise.app.project.recent_sessions import MOST_NOTED, find_notes, list_sessions, note_opening
from linkwise.errors import DataError
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.session.session import Session


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    """A folder of the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/linkwise/recent.json"


@pytest.fixture
def folder(tmp_path):
    """Where linkwise is started."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def page(pages, folder):
    return pages(prepare_start(folder).begin)


@pytest.fixture
def view(page):
    """A page that shows the start."""
    return page.view().until(lambda view: "start" in view.state)


def begin_session(path, n_answers=0, **source):
    """A session of four rows."""
    with Session([[0.0], [1.0], [8.0], [9.0]], COBRAS(random_state=0), source=source) as session:
        for _ in range(n_answers):
            session.answer("no")
        session.save(path)
    return path


def send(page, name, content, **headers):
    """The status and the reply to a file that is sent."""
    given = {"Origin": page.origin, "Cookie": page.cookie, **headers}
    status, _, text = page.get(f"/file?name={name}", "POST", content, **given)
    return status, text if text.startswith("<") else json.loads(text)


# ---------------------------------------------------------------- what is listed
def test_it_lists_the_demos_of_the_command():
    assert set(DEMOS) == {demo.value for demo in Demo}


def test_sessions_of_the_folder_and_those_opened_lately_are_listed(folder, tmp_path):
    (folder / "a.csv").write_text("x\n1\n")
    here = begin_session(folder / "a.csv.linkwise", 2, file="a.csv")
    elsewhere = begin_session(tmp_path / "b.csv.linkwise", file="b.csv")
    begin_session(tmp_path / "never opened.linkwise", file="b.csv")
    for path in (elsewhere, tmp_path / "gone.linkwise"):
        note_opening(path)
    os.utime(here, (1e9, 1e9))
    second, first = list_sessions(folder)
    assert (first["path"], first["data"], first["answers"]) == (str(here), "a.csv", 2)
    assert (first["when"], first["problem"]) == ("2001-09-09T01:46:40+00:00", None)
    with Session.open(here) as session:
        assert first["clusters"] == len(session.status.cluster_sizes)
    assert (second["path"], second["folder"]) == (str(elsewhere), str(tmp_path))
    assert second["problem"] == "Its data file is missing."


def test_data_files_without_a_session_are_listed(folder, pages, fruit):
    fruit.path.rename(folder / "fruit.csv")
    begin_session(folder / "old.csv.linkwise", file="old.csv")
    for name in ("old.csv", "notes.md", ".hidden.csv"):
        (folder / name).touch()
    (folder / "more").mkdir()
    view = pages(prepare_start(folder).begin).view().until(lambda view: "start" in view.state)
    assert view.state["start"]["files"] == ["fruit.csv"]
    assert view.ask("open", path="fruit.csv")["ok"]
    assert view.state["place"] == str(folder / "fruit.csv.linkwise")


def test_odd_entries_of_a_folder_hide_nothing(folder):
    longest = f"{'x' * 250}.csv"  # that of its session would be too long
    for name in (longest, "a.csv"):
        (folder / name).write_text("x\n1\n2\n")
    (folder / "loop").symlink_to("loop")
    page = prepare_start(folder).begin
    assert page.state()["start"]["files"] == ["a.csv", longest]
    assert page.handle({"id": "1", "do": "names", "path": ""}).body["names"] == ["a.csv", longest]


def test_the_session_of_a_folder_of_files_is_listed(folder):
    (folder / "pictures").mkdir()
    begin_session(folder / "pictures/session.linkwise", file=".")
    assert [each["folder"] for each in list_sessions(folder)] == [str(folder / "pictures")]


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"x" * 5000], ids=["empty", "head", "noise"])
def test_a_damaged_session_is_listed_with_its_problem(folder, content):
    (folder / "a.csv.linkwise").write_bytes(content)
    (found,) = list_sessions(folder)
    assert found["problem"] == "This session cannot be read."
    assert "answers" not in found


def test_the_home_of_the_user_is_written_as_in_shells(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert prepare_start(folder).begin.state()["start"]["folder"] == "~/here"
    assert prepare_start(tmp_path).begin.state()["start"]["folder"] == "~"
    assert prepare_start(tmp_path.parent).begin.state()["start"]["folder"] == str(tmp_path.parent)


def test_only_paths_and_times_are_noted_and_few_of_them(folder, notes):
    for n in range(MOST_NOTED + 3):
        note_opening(folder / f"{n}.linkwise")
    note_opening(folder / "5.linkwise")
    entries = json.loads(notes.read_text())
    assert notes == find_notes()
    assert len(entries) == MOST_NOTED
    assert [path for path, _ in entries[:2]] == [str(folder / name) for name in ("5.linkwise", "22.linkwise")]
    assert {len(entry) for entry in entries} == {2}
    assert notes.parent.stat().st_mode & 0o077 == 0, "others cannot read it"


@pytest.mark.parametrize("content", ["", "{", "7", '[["a"], 3, [1, 2], null]', "[" * 100_000])
def test_notes_that_linkwise_did_not_write_list_nothing(folder, notes, content):
    notes.parent.mkdir(parents=True)
    notes.write_text(content)
    assert list_sessions(folder) == []
    note_opening(folder / "a.linkwise")
    assert len(json.loads(notes.read_text())) == 1


def test_where_nothing_can_be_noted_a_session_opens_nevertheless(folder, notes):
    notes.parent.parent.mkdir()
    notes.parent.write_text("a file in place of the folder")
    note_opening(folder / "a.linkwise")
    assert list_sessions(folder) == []


# ---------------------------------------------------------------- what is opened
def test_a_path_opens_the_first_question_and_the_session_is_listed_the_next_time(view, folder, fruit):
    assert view.state["start"]["folder"] == str(folder)
    assert view.state["start"]["sessions"] == []
    reply = view.ask("open", path=f"  '{fruit.path}' ")
    assert reply["ok"]
    assert view.state["title"] == "fruit.csv"
    assert view.state["place"] == str(fruit.session)
    assert view.answer("no")["ok"]
    with Session.open(fruit.session) as session:
        assert session.status.n_answers == 1
    assert [(each["data"], each["answers"]) for each in list_sessions(folder)] == [("fruit.csv", 1)]


@pytest.mark.parametrize("write", ["{}", "file://{}", '"{}"'])
def test_a_path_may_be_written_as_other_programs_write_it(view, tmp_path, fruit, write):
    path = fruit.path.rename(tmp_path / "my fruit.csv")
    shown = str(path).replace(" ", "%20") if "file" in write else str(path)
    assert view.ask("open", path=write.format(shown))["ok"]
    assert view.state["title"] == "my fruit.csv"


def test_a_session_goes_on(view, fruit, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    assert view.ask("open", path=str(fruit.session))["ok"]
    assert view.state["counts"]["answers"] == 1


def test_an_error_has_the_words_of_the_terminal_and_the_person_can_try_again(view, folder, fruit, linkwise):
    (folder / "bad.csv").write_text("a,b\n")
    for name in ("none.csv", "bad.csv"):
        reply = view.ask("open", path=name)
        told = linkwise("ask", folder / name).stderr
        assert told == f"linkwise: {reply['error']['text']}\n"
        assert "start" in view.state
    assert view.ask("open", path=str(fruit.path))["ok"]
    assert view.ready().state["title"] == "fruit.csv"


def test_after_an_error_on_the_way_to_the_question_another_file_opens(view, folder, fruit, monkeypatch):
    def fail(_presenter):
        raise DataError("These rows have no places.")

    (folder / "other.csv").write_text(fruit.path.read_text())
    with monkeypatch.context() as patch:
        patch.setattr(Presenter, "places", fail)
        assert view.ask("open", path="other.csv")["error"]["text"] == "These rows have no places."
    assert view.ask("open", path=str(fruit.path))["ok"]
    assert view.ready().state["title"] == "fruit.csv"


def test_a_demo_opens_and_keeps_nothing(view, folder):
    assert view.ask("demo", name="wine")["ok"]
    assert (view.state["title"], view.state["place"]) == ("wine", None)
    assert list_sessions(folder) == []


def test_the_session_of_a_demo_goes_on(view, folder, linkwise):
    path = folder / "wine.linkwise"
    linkwise("demo", "wine", "--auto", "--budget", "3", "--session", path)
    assert list_sessions(folder)[0]["problem"] is None
    assert view.ask("open", path=str(path))["ok"]
    assert (view.state["title"], view.state["counts"]["answers"]) == ("wine", 3)


def test_all_pages_show_what_one_of_them_opened(page, view, fruit):
    other = page.view().until(lambda other: "start" in other.state)
    assert view.ask("open", path=str(fruit.path))["ok"]
    assert other.ready().state["title"] == "fruit.csv"


def test_names_are_completed(view, folder):
    for name in ("fruit.csv", "Fruit 2.xlsx", "fruit.py", ".fruit.csv", "other.csv"):
        (folder / name).touch()
    (folder / "fruits").mkdir()
    (folder / "fruits/a.csv").touch()
    assert view.ask("names", path="fru")["names"] == ["Fruit 2.xlsx", "fruit.csv", "fruits/"]
    assert view.ask("names", path="fruits/")["names"] == ["fruits/a.csv"]
    assert view.ask("names", path=f"{folder}/.f")["names"] == [f"{folder}/.fruit.csv"]
    assert view.ask("names", path="none/x")["names"] == []


# ---------------------------------------------------------------- files that are sent
def test_a_file_is_kept_and_never_in_place_of_another_one(page, view, folder):
    (folder / "a.csv").write_text("mine")
    assert send(page, "a.csv", "sent") == (200, {"path": str(folder / "a 2.csv")})
    assert send(page, "a.csv", "again") == (200, {"path": str(folder / "a 3.csv")})
    assert send(page, "a.csv", "mine") == (200, {"path": str(folder / "a.csv")}), "it is there already"
    assert send(page, "a.csv", "sent") == (200, {"path": str(folder / "a 2.csv")})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.csv": "mine",
        "a 2.csv": "sent",
        "a 3.csv": "again",
    }


def test_another_packed_file_of_the_same_name_keeps_what_says_how_it_is_read(page, view, folder):
    (folder / "a.csv.gz").write_text("mine")
    assert send(page, "a.csv.gz", "sent") == (200, {"path": str(folder / "a 2.csv.gz")})


def test_a_file_that_was_sent_is_opened(page, view, folder, fruit):
    _, reply = send(page, "fruit.csv", fruit.path.read_text())
    assert view.ask("open", path=reply["path"])["ok"]
    assert view.ready().state["place"] == str(folder / "fruit.csv.linkwise")


def test_a_folder_that_cannot_be_written_is_told(page, view, folder):
    folder.rmdir()
    status, reply = send(page, "a.csv", "sent")
    assert status == 400
    assert "No such file or directory" in reply["text"]
