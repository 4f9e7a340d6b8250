"""From the start page to the first answer, with a mouse and with keys alone."""

import pytest
from bench.served import Served

from commands import write_fruit
from linkwise.app.cli.commands.start import prepare_start
from linkwise.session.session import Session

DROP = """([content, name]) => {
  const given = new DataTransfer();
  given.items.add(new File([content], name));
  document.querySelector(".lw-drop").dispatchEvent(
    new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }),
  );
}"""

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def open_start(browse, folder):
    """A browser on the start page; its server ends with the test."""
    servers = []

    def open_page(**options):
        servers.append(Served(prepare_start(folder).begin))
        return browse(servers[-1], ready=".lw-start:visible", **options)

    yield open_page
    for server in servers:
        server.close()


def wait_for_notice(page, words):
    page.wait_for_function(
        "words => [...document.querySelectorAll('.lw-notice')].some(node =>"
        " node.checkVisibility() && node.textContent.includes(words))",
        arg=words,
    )


def answer(page, key="n"):
    """Start with the columns as they are, and answer the first question."""
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_timeout(200)  # a key that comes sooner is taken for a mistake
    page.keyboard.press(key)
    page.wait_for_selector(".lw-eyebrow >> text=Question 2")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_dropped_file_is_kept_and_asked_about(open_start, folder, tmp_path, width):
    fruit = write_fruit(tmp_path / "fruit.csv")
    (folder / "fruit.csv").write_text("another one")
    page = open_start(viewport={"width": width, "height": 800})
    assert page.get_by_text("Go on with a session").is_hidden()
    page.evaluate(DROP, [fruit.path.read_text(), "fruit.csv"])
    stored = folder / "fruit 2.csv"
    wait_for_notice(page, f"fruit.csv is kept as {stored}.")
    answer(page)
    assert stored.read_text() == fruit.path.read_text()
    assert (folder / "fruit.csv").read_text() == "another one"
    with Session.open(folder / "fruit 2.csv.linkwise") as session:
        assert session.status.n_no == 1


def test_a_file_is_chosen_and_its_session_is_listed_the_next_time(open_start, folder, tmp_path):
    fruit = write_fruit(tmp_path / "fruit.csv")
    page = open_start()
    page.locator("input[type=file]").set_input_files(fruit.path)
    answer(page)
    again = open_start()
    again.get_by_role("button", name="fruit.csv 1 answer · ").click()
    wait_for_notice(again, "Resumed with 1 earlier answer.")
    assert again.locator(".lw-start").is_hidden()
    assert again.get_by_role("button", name="Results").is_visible()


def test_what_is_wrong_is_shown_and_the_person_tries_again(open_start, folder):
    fruit = write_fruit(folder / "fruit.csv")
    page = open_start()
    page.evaluate(DROP, ["print()", "fruit.py"])
    wait_for_notice(page, "'fruit.py' is not a data file that linkwise can read.")
    path = page.get_by_label("Path of a file or a folder")
    path.fill("none.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    wait_for_notice(page, f"There is no file {folder / 'none.csv'}.")
    assert path.input_value() == "none.csv"
    path.fill("fru")
    page.wait_for_selector("datalist option[value='fruit.csv']", state="attached")
    path.fill(str(fruit.path))
    path.press("Enter")
    answer(page)


def test_a_file_of_the_folder_is_opened_by_a_click(open_start, folder):
    write_fruit(folder / "fruit.csv")
    page = open_start()
    page.get_by_role("button", name="fruit.csv", exact=True).click()
    answer(page)


def test_keys_alone_open_a_demo(open_start):
    page = open_start()
    for key in ("h", "?", "y"):
        page.keyboard.press(key)  # nothing is open that they could be about
    assert page.locator("dialog").count() == 0
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith(
        "Path of a file"
    )
    while "wine" not in page.evaluate("() => document.activeElement.textContent"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lw-title >> text=wine")
    page.wait_for_timeout(200)
    page.keyboard.press("n")
    page.wait_for_selector(".lw-eyebrow >> text=Question 2")
