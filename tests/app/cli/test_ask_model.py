"""``linkwise ask FILE --model NAME`` against a server on this machine."""

import json
import random
import re
import signal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from chat_server import answering, completion, failure, list_pictures, read_cards, serve_chat, sorting
from commands import Fruit
from linkwise.app.cli.commands.ask_model import describe_endpoint
from linkwise.app.programs import answer as conversations
from linkwise.app.programs import chat_endpoint
from linkwise.app.project.options import ModelOptions
from linkwise.session.session import Session
from patience import patience, wait_until
from running_command import start_command


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No key, and no long waits before repetitions."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(chat_endpoint, "BUSY_DELAY_S", 0.01)
    monkeypatch.setattr(conversations, "FIRST_DELAY_S", 0.01)


def have_one_colour(first, second):
    return first["colour"] == second["colour"]


def sees_colours(request):
    """A model that knows pairs and screens."""
    return (sorting(lambda row: row["colour"]) if read_cards(request) else answering(have_one_colour))(
        request
    )


def ask(linkwise, fruit, chat, *options, **more):
    return linkwise("ask", fruit.path, "--model", "tiny", "--base-url", chat.base_url, *options, **more)


def words_of(done):
    return " ".join(done.stdout.split())


def test_a_model_answers_and_a_rerun_costs_nothing(fruit, linkwise):
    with serve_chat(sees_colours) as chat:
        done = ask(
            linkwise, fruit, chat, "--budget", "6", "--price-in", "1", "--price-out", "10", "--parallel", "2"
        )
        assert done.exit_code == 0
        assert "6 answers by tiny, 720 tokens (600 read, 120 written), cost 0.0018." in words_of(done)
        assert f"sent to {chat.base_url}, on this machine." in done.stderr
        assert "by sight" in done.stderr
        with Session.open(fruit.session) as session:
            assert {event.source for event in session.history} == {"tiny"}
            assert {event.note for event in session.history} == {"by sight"}
            assert session.costs == pytest.approx({"tiny": 0.0018, "tiny tokens": 720})
        fruit.session.unlink()
        done = ask(linkwise, fruit, chat, "--budget", "6", "--quiet", "--json")
        program, summary = map(json.loads, done.stdout.splitlines())
        assert (program["answered"], program["total_tokens"]) == (6, 0)
        assert program["known_replies"] >= 4  # with --parallel 2 other questions may have come
        assert summary["answers"] == 6
        assert len(chat.requests) == 6 + program["requests"]


def test_a_model_sorts_and_forgets_a_card(fruit, linkwise):
    forgetful = completion('{"piles": [[1, 2], [3, 4], [5]], "unsure": []}')
    with serve_chat(forgetful) as chat:
        done = ask(linkwise, fruit, chat, "--set", "6", "--budget", "1")
    assert done.exit_code == 0
    assert "1 answer by tiny, 240 tokens" in words_of(done)
    with Session.open(fruit.session) as session:
        (event,) = session.history
        assert event.source == "tiny"
        assert len(event.sorting.cards) == 6
        assert len(event.sorting.unsure) == 1
    assert "These cards are missing: 6." in chat.requests[1].prompt


def test_a_second_model_answers_doubtful_pairs(fruit, linkwise):
    draws = random.Random(2)

    def reply(request):
        if request.body["model"] == "strong":
            return answering(have_one_colour)(request)
        return answering(lambda a, b: have_one_colour(a, b) ^ (draws.random() < 0.2))(request)

    with serve_chat(reply) as chat:
        done = ask(
            linkwise, fruit, chat, "--budget", "30", "--quiet", "--second-model", "strong", "--json",
            "--price-in", "1,5", "--price-out", "1,5",
        )  # fmt: skip
    assert done.exit_code == 0
    weak, strong, summary = map(json.loads, done.stdout.splitlines())
    assert (weak["source"], strong["source"]) == ("tiny", "strong")
    assert strong["answered"] > 0
    assert strong["cost"] == pytest.approx(strong["answered"] * 120 * 5 / 1e6)
    assert summary["answers"] == 30 + strong["answered"]
    with Session.open(fruit.session) as session:
        pairs = {name: set() for name in ("tiny", "strong")}
        for event in session.history:
            pairs[event.source].add(frozenset((event.first, event.second)))
        assert pairs["strong"] <= pairs["tiny"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://localhost:11434/v1", "on this machine."),
        ("https://api.example.com/v1", "so they leave this machine."),
        ("http://gpu.example.com/v1", "so they leave this machine and can be read on the way."),
    ],
)
def test_where_the_rows_go(url, words):
    assert describe_endpoint(ModelOptions(name="tiny", base_url=url)) == (
        f"The rows of each question are sent to {url}, {words}"
    )


def test_the_prompt_is_shown_and_nothing_sent(fruit, linkwise):
    with serve_chat(sees_colours) as chat:
        done = ask(linkwise, fruit, chat, "--show-prompt", "--guidelines", "By colour.")
        assert done.exit_code == 0
        assert "By colour." in done.stdout
        assert "Item A:" in done.stdout
        shown = ask(linkwise, fruit, chat, "--show-prompt", "--set", "5", "--json")
        body = json.loads(shown.stdout)["body"]
        assert "Card 5:" in body["messages"][-1]["content"]
        assert chat.requests == []
        ask(linkwise, fruit, chat, "--set", "5", "--budget", "1")
    assert chat.requests[0].body == body


def test_a_model_that_is_busy_slow_and_broken_by_turns(fruit, linkwise):
    turns = [
        failure(429, "slow down", Retry_After="0"),
        sees_colours,
        failure(500, "oops"),
        None,
        sees_colours,
        completion("Well …"),
        sees_colours,
    ]

    def reply(request):
        """Corrections have no rows at the end."""
        messages = [one for one in request.body["messages"] if "Item A" in one["content"]]
        request.body["messages"] = messages
        return sees_colours(request)

    turns[-1] = reply
    with serve_chat(*turns) as chat:
        done = ask(linkwise, fruit, chat, "--budget", "4")
    assert done.exit_code == 0
    assert "4 answers by tiny" in words_of(done)
    assert "attempt 1 failed (The endpoint is busy or failed (429: slow down)); again" in done.stderr
    assert "attempt 2 failed (The connection broke" in done.stderr


def test_a_model_that_refuses_leaves_questions_open(fruit, linkwise):
    with serve_chat(completion(None, refusal="Never."), sees_colours) as chat:
        done = ask(linkwise, fruit, chat, "--budget", "2")
    assert "2 answers by tiny, 1 question left open" in words_of(done)
    assert "left open (The model refused: Never.)" in done.stderr


@pytest.mark.parametrize("options", [(), ("--set", "5")])
def test_a_model_that_stays_broken_is_given_up(fruit, linkwise, options):
    with serve_chat(completion("What?")) as chat:
        done = ask(linkwise, fruit, chat, *options)
    assert done.exit_code == 3
    assert "tiny has failed at 5 questions, the last time with: The model was asked twice" in done.stderr
    assert len(chat.requests) == 10
    with Session.open(fruit.session) as session:
        assert session.costs == {"tiny tokens": 1200}


def test_a_wrong_key_ends_at_once_and_is_never_printed(fruit, linkwise, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-secret")
    with serve_chat(sees_colours, failure(401, "bad key sk-secret")) as chat:
        done = ask(linkwise, fruit, chat, "--key-variable", "JUDGE_KEY")
    assert done.exit_code == 3
    assert "with the key in JUDGE_KEY" in done.stderr
    assert "Set JUDGE_KEY to a valid key." in done.stderr
    assert chat.requests[0].key == "Bearer sk-secret"
    assert "secret" not in done.stdout + done.stderr
    assert b"secret" not in fruit.session.read_bytes()
    assert "secret" not in fruit.session.with_suffix(".replies").read_text()
    with Session.open(fruit.session) as session:
        assert session.status.n_answers == 1


@pytest.mark.slow
def test_ctrl_c_keeps_all_answers(fruit, tmp_path):
    with serve_chat(*[sees_colours] * 3, lambda _: wait_until(lambda: False) or None) as chat:
        arguments = ("ask", fruit.path, "--model", "tiny", "--base-url", chat.base_url)
        with start_command(*arguments) as program:
            wait_until(lambda: len(chat.requests) == 4, "the model was not asked")
            program.send_signal(signal.SIGINT)
            _, err = program.communicate(timeout=patience())
    assert program.returncode == 130
    assert "Interrupted: 3 answers saved" in err
    assert "--model tiny --base-url" in err
    with Session.open(fruit.session) as session:
        assert session.costs == {"tiny tokens": 360}


def test_a_person_audits_a_model(fruit, linkwise):
    with serve_chat(sees_colours) as chat:
        done = ask(linkwise, fruit, chat, "--budget", "12", "--quiet", "--audit", "10", said="y\nq\n")
    assert "Now answer pairs that tiny answered." in words_of(done)
    assert "Audit of tiny: 1 pair of 12 checked" in words_of(done)


def test_the_piles_of_a_model_are_audited_by_pairs(fruit, linkwise):
    with serve_chat(sees_colours) as chat:
        done = ask(
            linkwise, fruit, chat, "--set", "6", "--budget", "3", "--quiet", "--audit", "4", said="y\nq\n"
        )
    assert done.exit_code == 0
    assert "Audit of tiny: 1 pair of" in words_of(done)
    assert "checked, 3 open" in words_of(done)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "tiny"], "--model needs the address of its server. Add --base-url, such as"),
        (["--model", " ", "--base-url", "http://localhost/v1"], "--model is empty."),
        (
            ["--model", "tiny", "--base-url", "localhost:11434"],
            "Invalid value 'localhost:11434' for --base-url.",
        ),
        (["--model", "tiny", "--base-url", "http://me:pw@localhost/v1"], "--base-url has a password in it."),
        (["--model", "tiny", "--base-url", "http://localhost/v1?key=1"], "has a part after ? or #."),
        (
            ["--model", "tiny", "--base-url", "http://localhost/v1", "--oracle", "x"],
            "both answer. Remove one",
        ),
        (["--model", "tiny", "--base-url", "http://localhost/v1", "--max-cost", "1"], "needs the prices"),
        (["--model", "tiny", "--base-url", "http://localhost/v1", "--price-in", "-1"], "Invalid value '-1'"),
        (
            ["--model", "tiny", "--base-url", "http://localhost/v1", "--price-in", "1,2,3"],
            "Invalid value '1,2,3'",
        ),
        (["--model", "tiny", "--base-url", "http://localhost/v1", "--second-model", "tiny"], "another model"),
        (
            ["--model", "tiny", "--base-url", "http://localhost/v1", "--key-variable", "NO_KEY"],
            "NO_KEY is not set",
        ),
        (["--show-prompt"], "--show-prompt is about a language model that answers. Add --model NAME."),
    ],
)
def test_wrong_options_of_models(fruit, linkwise, options, message):
    done = linkwise("ask", fruit.path, *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not fruit.session.exists()


def test_a_second_model_needs_answers_that_may_be_wrong(fruit, linkwise):
    with serve_chat(sees_colours) as chat:
        done = ask(linkwise, fruit, chat, "--second-model", "strong", "--error-rate", "0")
    assert done.exit_code == 2
    assert "--second-model needs answers that may be wrong" in " ".join(done.stderr.split())


# ---------------------------------------------------------------- pictures
class Photos(NamedTuple):
    """A folder and its session."""

    path: Path
    session: Path


@pytest.fixture
def photos(tmp_path):
    """A folder of pictures of three kinds, 600 x 400 pixels: dark, grey and bright."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "photos"
    folder.mkdir()
    for row in range(12):
        paint(folder / f"p{row:02}.png", 40 + 80 * (row % 3) + rng.integers(0, 20, (400, 600)))
    return Photos(folder, folder / "session.linkwise")


def paint(path, pixels):
    Image.fromarray(pixels.astype(np.uint8)).save(path)


def kind_of(picture):
    return int(picture.mean()) // 80


def sees_pictures(request):
    """A model that knows the kinds of pictures."""
    kinds = [kind_of(picture) for picture in list_pictures(request)]
    if "sort numbered cards" not in request.body["messages"][0]["content"]:
        return completion(json.dumps({"answer": "same" if kinds[0] == kinds[1] else "different"}))
    piles = {kind: [n for n, one in enumerate(kinds, 1) if one == kind] for kind in kinds}
    return completion(json.dumps({"piles": list(piles.values()), "unsure": []}))


def test_a_model_sees_pictures_and_a_rerun_costs_nothing(photos, linkwise):
    prices = ("--price-in", "1", "--price-out", "10")
    with serve_chat(sees_pictures) as chat:
        done = ask(linkwise, photos, chat, "--budget", "8", *prices)
        assert done.exit_code == 0
        assert "The rows of each question, with their pictures, are sent to" in words_of_errors(done)
        assert "8 answers by tiny, 960 tokens (800 read, 160 written), cost 0.0024." in words_of(done)
        first = chat.requests[0]
        assert [picture.shape for picture in list_pictures(first)] == [(341, 512), (341, 512)]
        assert "p0" not in json.dumps([part.get("text") for part in first.body["messages"][-1]["content"]])
        with Session.open(photos.session) as session:
            kinds = [int(name[1:3]) % 3 for name in session.ids]
            assert all(
                (event.answer == "yes") == (kinds[event.first] == kinds[event.second])
                for event in session.history
            )
        photos.session.unlink()
        done = ask(linkwise, photos, chat, "--budget", "8", "--quiet", "--json")
        program, _ = map(json.loads, done.stdout.splitlines())
        assert (program["known_replies"], program["requests"]) == (8, 0)


def test_a_reply_about_another_picture_is_not_taken(photos, linkwise):
    with serve_chat(sees_pictures) as chat:
        ask(linkwise, photos, chat, "--budget", "1", "--quiet")
        shown = list_pictures(chat.requests[0])
        for path in photos.path.glob("*.png"):
            pixels = np.asarray(Image.open(path)).copy()
            pixels[:40] = 255
            paint(path, pixels)
        photos.session.unlink()
        ask(linkwise, photos, chat, "--budget", "1", "--quiet")
        assert len(chat.requests) == 2
        assert not np.array_equal(list_pictures(chat.requests[1])[0], shown[0])


def test_a_model_sorts_pictures(photos, linkwise):
    with serve_chat(sees_pictures) as chat:
        done = ask(linkwise, photos, chat, "--set", "6", "--budget", "2", "--quiet")
    assert done.exit_code == 0
    assert len(list_pictures(chat.requests[0])) == 6
    with Session.open(photos.session) as session:
        assert len({*session.labels.tolist()}) == 3
        for event in session.history:
            for pile in event.sorting.piles:
                assert len({int(session.ids[row][1:3]) % 3 for row in pile}) == 1


def test_the_prompt_names_the_pictures(photos, linkwise):
    with serve_chat(sees_pictures) as chat:
        shown = ask(linkwise, photos, chat, "--show-prompt").stdout
        found = re.search(
            r"Item A:\n\[picture p\d\d\.png, 512 x 341\]\n.*Item B:\n\[picture p\d\d", shown, re.S
        )
        assert found, shown
        assert "base64" not in shown
        body = json.loads(ask(linkwise, photos, chat, "--show-prompt", "--json").stdout)["body"]
        assert chat.requests == []
        ask(linkwise, photos, chat, "--budget", "1", "--quiet")
    assert chat.requests[0].body == body


def test_a_model_that_reads_no_pictures_says_so(photos, linkwise):
    with serve_chat(failure(400, "this model does not support image input")) as chat:
        done = ask(linkwise, photos, chat)
    assert done.exit_code == 3
    assert "this model does not support image input" in words_of_errors(done)


def words_of_errors(done):
    return " ".join(done.stderr.split())


def test_pictures_beside_a_text_are_sent_without_their_paths(tmp_path, linkwise):
    lines = ["sku,title,photo"]
    for row in range(8):
        paint(tmp_path / f"p{row}.png", np.full((8, 8), 30 * row))
        lines.append(f"s{row},{'oak chair' if row % 2 else 'red lamp'} {row},p{row}.png")
    table = Fruit(tmp_path / "goods.csv", {})
    table.path.write_text("\n".join(lines) + "\n")
    with serve_chat(completion('{"answer": "same"}')) as chat:
        done = ask(
            linkwise,
            table,
            chat,
            "--id",
            "sku",
            "--text",
            "title",
            "--show",
            "photo",
            "--as-is",
            "--budget",
            "1",
        )
    assert done.exit_code == 0
    assert [picture.shape for picture in list_pictures(chat.requests[0])] == [(128, 128), (128, 128)]
    texts = [part["text"] for part in chat.requests[0].body["messages"][-1]["content"] if "text" in part]
    assert re.fullmatch(r'Item A:\n\{"text": "(oak chair|red lamp) \d"\}', texts[0])
