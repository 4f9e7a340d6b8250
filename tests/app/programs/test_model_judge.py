"""Prompts, what models write, corrections, the cache, tokens and costs."""

import base64
import io
import json
from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image

from chat_server import answering, completion, failure, read_cards, serve_chat, sorting
from linkwise.app.programs import model_pictures
from linkwise.app.programs.chat_endpoint import ChatEndpoint
from linkwise.app.programs.model_judge import ModelCaller, ModelJudge, TokenPrices
from linkwise.app.programs.model_pictures import encode_picture
from linkwise.app.programs.model_prompts import (
    DEFAULT_GUIDELINES,
    write_correction,
    write_pair_prompt,
    write_piles_prompt,
)
from linkwise.app.programs.model_replies import ModelReplyError, mend_piles, read_answer, read_piles
from linkwise.app.programs.pile_replies import Piles
from linkwise.app.programs.replies import UnusableReplyError
from linkwise.app.programs.reply_cache import ReplyCache, find_key
from linkwise.session.team.leases import OpenQuestion, Screen
from patience import patience

PAIR = {"first": {"fruit": "Äpfel"}, "second": {"fruit": "pear"}, "guidelines": None, "examples": []}
EXAMPLE = {"first": {"fruit": "plum"}, "second": {"fruit": "melon"}, "answer": "no", "reason": "size"}
NOW = datetime.now(UTC)
SHOWN = Screen("s", ((10,), (11,)), (30, 31, 32), "", "", NOW)  # known 1 and 2, cards 3 to 5
SCREEN = {
    "items": [{"n": n, "id": f"r{n}", "row": {"size": n}} for n in range(1, 6)],
    "known": [[1], [2]],
    "guidelines": None,
    "examples": [],
}


@pytest.fixture
def judge_of(tmp_path):
    """Create a judge that asks a server."""

    def create(chat, **more):
        return ModelJudge(ChatEndpoint(chat.base_url, "tiny"), ReplyCache(tmp_path / "replies"), **more)

    return create


# ---------------------------------------------------------------- prompts
def test_a_pair_in_a_prompt():
    task, items = write_pair_prompt(PAIR)
    assert (task["role"], items["role"]) == ("system", "user")
    assert DEFAULT_GUIDELINES in task["content"]
    assert "JSON" in task["content"]  # which endpoints want for response_format
    assert items["content"] == 'Item A:\n{"fruit": "Äpfel"}\n\nItem B:\n{"fruit": "pear"}'


def test_guidelines_and_examples_in_prompts():
    given = {"guidelines": "By {colour} only.", "examples": [EXAMPLE]}
    messages = write_pair_prompt(PAIR | given)
    assert "By {colour} only." in messages[0]["content"]
    assert DEFAULT_GUIDELINES not in messages[0]["content"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "plum" in messages[1]["content"]
    assert json.loads(messages[2]["content"]) == {"reason": "size", "answer": "different"}
    task, cards = write_piles_prompt(SCREEN | given)
    assert "By {colour} only." in task["content"]
    verdict = '{"fruit": "plum"} and {"fruit": "melon"}: {"reason": "size", "answer": "different"}'
    assert cards["content"].startswith(f"Pairs that were decided before:\n{verdict}\n\nCard 1:")
    assert 'Card 5:\n{"size": 5}' in cards["content"]
    assert "piles that are there already: 1; 2." in cards["content"]
    assert "already" not in write_piles_prompt(SCREEN | {"known": []})[1]["content"]


def picture(value, name="cat", shape=(4, 6)):
    return encode_picture(np.full(shape, value, np.uint8), name)


def url_part(value):
    return {"type": "image_url", "image_url": {"url": picture(value)}}


def test_pictures_are_parts_of_a_message():
    example = {"first": {"p": picture(1)}, "second": {"p": picture(2)}, "answer": "yes"}
    pair = {"first": {"age": 3, "p": picture(3)}, "second": {"p": picture(4)}, "examples": [example]}
    task, shown, verdict, items = write_pair_prompt({"guidelines": None, **pair})
    assert isinstance(task["content"], str)
    assert isinstance(verdict["content"], str)
    assert [part["type"] for part in shown["content"]] == ["text", "image_url"] * 2
    assert items["content"] == [
        {"type": "text", "text": 'Item A:\n{"age": 3}'},
        url_part(3),
        {"type": "text", "text": "\n\nItem B:\n"},
        url_part(4),
    ]
    corrected = write_correction([task, items], "What?", "No JSON.")
    assert corrected[1] is items
    assert corrected[-1]["content"].startswith("No JSON.")


def test_pictures_of_a_screen_and_of_its_examples_are_in_the_message_of_the_user():
    example = {"first": {"p": picture(8)}, "second": {"p": picture(9)}, "answer": "no"}
    rows = [{"n": n, "id": f"r{n}", "row": {"p": picture(n)}} for n in range(1, 4)]
    task, cards = write_piles_prompt(
        {"items": rows, "known": [[1]], "guidelines": None, "examples": [example]}
    )
    assert isinstance(task["content"], str)
    texts = [part.get("text") for part in cards["content"]]
    assert texts[:5] == ["Pairs that were decided before:\n", None, " and ", None, texts[4]]
    assert texts[4] == ': {"reason": "", "answer": "different"}\n\nCard 1:\n'
    assert [part for part in cards["content"] if "text" not in part] == list(map(url_part, (8, 9, 1, 2, 3)))
    assert texts[-1].strip().startswith("These cards stand for piles")


def test_a_reply_is_known_by_the_content_of_pictures():
    def key(value, name):
        return find_key("m", write_pair_prompt(PAIR | {"first": {"p": picture(value, name)}}))

    assert key(1, "cat") == key(1, "dog") != key(2, "cat")


def decode(url):
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


@pytest.mark.parametrize(("side", "sent"), [(1, 128), (96, 192), (128, 128), (500, 500), (600, 300)])
def test_every_picture_has_a_moderate_size(side, sent):
    found = encode_picture(np.zeros((side, max(1, side // 2)), np.uint8), "cat")
    assert found.height == sent
    assert 128 <= max(found.width, found.height) <= 512


def test_small_pictures_are_enlarged_and_exact():
    small = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)
    found = encode_picture(small, "cat")
    assert found.startswith("data:image/png;base64,")
    assert (found.name, found.width, found.height) == ("cat", 96, 128)
    assert np.array_equal(np.asarray(decode(found))[::16, ::16], small)


@pytest.mark.parametrize("is_grey", [True, False])
def test_large_pictures_are_jpeg_where_pillow_is(monkeypatch, is_grey):
    noise = np.random.default_rng(0).integers(0, 256, (300, 512), dtype=np.uint8)
    noise = noise if is_grey else np.stack([noise, noise, noise], axis=-1)
    found = encode_picture(noise, "cat")
    assert found.startswith("data:image/jpeg;base64,")
    assert (found.width, found.height) == decode(found).size == (512, 300)
    assert np.abs(np.asarray(decode(found), float) - noise).mean() < 10
    monkeypatch.setattr(model_pictures, "find_spec", lambda name: None)
    exact = encode_picture(noise, "cat")
    assert exact.startswith("data:image/png;base64,")
    assert np.array_equal(np.asarray(decode(exact)), noise)
    assert len(found) < len(exact)


# ---------------------------------------------------------------- what models write
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answer": "same", "probability": 0.9, "reason": "x"}', (0.9, "x")),
        ('{"answer": "Different", "probability": "0.75"}', (0.25, "")),
        ('{"answer": "no"}', ("no", "")),
        ('{"answer": "same", "probability": 90}', ("yes", "")),
        ('{"answer": "same", "probability": 0.2}', ("yes", "")),
        ('{"answer": "same", "probability": NaN}', ("yes", "")),
        ('{"answer": "unsure", "probability": 0.9, "reason": 3}', ("unsure", "")),
        ('Sure!\n```json\n{"answer": "same"}\n```', ("yes", "")),
        ('<think>{"answer": "same"}</think>{"answer": "different"}', ("no", "")),
        ('{"note": {"a": 1}} then {"answer": "same"} {"answer"', ("yes", "")),
    ],
)
def test_answers(text, expected):
    assert read_answer(text) == expected


@pytest.mark.parametrize(
    "text", ["", "Yes, they do.", '{"answer": "same"', '{"reply": "same"}', "{" * 5000, "[[" * 9]
)
def test_texts_without_an_answer(text):
    with pytest.raises(ModelReplyError, match="no JSON object"):
        read_answer(text)


@pytest.mark.parametrize("answer", ["maybe", None, 1, ["same"]])
def test_unknown_answers(answer):
    with pytest.raises(ModelReplyError, match='must be "same"'):
        read_answer(json.dumps({"answer": answer}))


def test_piles():
    text = '{"piles": [[1, "3", 3], [4]], "unsure": [5, 2], "reason": "x"}'
    assert read_piles(text, SHOWN) == (Piles([[1, 3], [4]], [5]), "x")


@pytest.mark.parametrize(
    ("piles", "unsure", "fault", "mended"),
    [
        ([[1, 3], [4]], [], "These cards are missing: 5.", Piles([[1, 3], [4]], [5])),
        ([[1, 3], [4, 5, 3]], [], "in more than one place: 3.", Piles([[1], [4, 5]], [3])),
        ([[3, 4]], [4, 5], "in more than one place: 4.", Piles([[3]], [4, 5])),
        ([[1, 3, 9], [4, 5]], [], "There is no card 9.", Piles([[1, 3], [4, 5]], [])),
        ([[1, 3], [1], [4, 5]], [], "in more than one place: 1.", Piles([[4, 5]], [3])),
    ],
)
def test_cards_without_one_place_are_unsure(piles, unsure, fault, mended):
    text = json.dumps({"piles": piles, "unsure": unsure})
    with pytest.raises(ModelReplyError, match=fault.replace(".", r"\.")):
        read_piles(text, SHOWN)
    assert mend_piles(text, SHOWN)[0] == mended


def test_a_reply_that_places_hardly_any_card_is_unusable():
    with pytest.raises(ModelReplyError, match="missing: 4, 5"):
        mend_piles('{"piles": [[3]]}', SHOWN)
    assert mend_piles('{"piles": [[3]], "unsure": [4]}', SHOWN)[0] == Piles([[3]], [4, 5])


def test_a_screen_of_known_piles_wants_all_of_them():
    shown = Screen("s", ((10,), (11,)), (), "", "", NOW)
    for text in ('{"piles": []}', '{"piles": [], "unsure": [1, 2]}', '{"piles": [[1]]}'):
        for read in (read_piles, mend_piles):
            with pytest.raises(ModelReplyError, match=r"These cards are missing: (1, )?2"):
                read(text, shown)
    assert read_piles('{"piles": [[1, 2]]}', shown)[0] == Piles([[1, 2]], [])
    fields = SCREEN | {"items": SCREEN["items"][:2]}
    assert "None may be unsure." in write_piles_prompt(fields)[1]["content"]
    assert "None may be unsure." not in write_piles_prompt(SCREEN)[1]["content"]


@pytest.mark.parametrize("piles", ["[1]", [1, 2], [["a"]], [[1.5]], [[True]], None])
def test_piles_that_are_none(piles):
    with pytest.raises(ModelReplyError, match="list of lists"):
        mend_piles(json.dumps({"piles": piles}), SHOWN)


# ---------------------------------------------------------------- conversations
def test_an_answer_with_its_tokens_and_cost(judge_of):
    with serve_chat(answering(lambda a, b: a == b, probability=0.8)) as chat:
        judge = judge_of(chat, prices=TokenPrices(2, 10))
        reply = judge.answer(write_pair_prompt(PAIR))
    assert reply.answer == pytest.approx(0.2)
    assert reply.cost == pytest.approx((100 * 2 + 20 * 10) / 1e6)
    assert (judge.tokens.n_read, judge.tokens.n_written, judge.tokens.n_requests) == (100, 20, 1)


def test_a_known_reply_costs_nothing(judge_of):
    with serve_chat(answering(lambda a, b: a == b)) as chat:
        first = judge_of(chat, prices=TokenPrices(1, 1)).answer(write_pair_prompt(PAIR))
        judge = judge_of(chat, prices=TokenPrices(1, 1))
        again = judge.answer(write_pair_prompt(PAIR))
        assert (again.answer, again.reason, again.cost) == (first.answer, first.reason, 0.0)
        assert (judge.tokens.total, judge.tokens.n_known) == (0, 1)
        judge.answer(write_pair_prompt(PAIR | {"guidelines": "By colour."}))
        other = ModelJudge(ChatEndpoint(chat.base_url, "other"), judge.cache)
        other.answer(write_pair_prompt(PAIR))
    assert len(chat.requests) == 3


def test_a_damaged_cache_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "replies"
    ReplyCache(path).put("k", "tiny", "text")
    with path.open("ab") as file:
        file.write(b'[]\n{"key": []}\n\xff\n{"key": "half')
    assert ReplyCache(path).get("k") == "text"
    assert ReplyCache(path).get("half") is None


def test_a_fault_is_named_once(judge_of):
    with serve_chat(completion("Same, I think."), completion('{"answer": "same"}')) as chat:
        judge = judge_of(chat, prices=TokenPrices(1, 1))
        reply = judge.answer(write_pair_prompt(PAIR))
        assert (reply.answer, reply.cost) == ("yes", pytest.approx(240 / 1e6))
        assert judge.answer(write_pair_prompt(PAIR)).answer == "yes"
    first, second = chat.requests
    said, corrected = second.body["messages"][-2:]
    assert second.body["messages"][:-2] == first.body["messages"]
    assert said == {"role": "assistant", "content": "Same, I think."}
    assert "no JSON object" in corrected["content"]


@pytest.mark.parametrize(
    ("replies", "message", "is_final", "n_tokens"),
    [
        ([completion("Hm.")], "asked twice and gave no usable reply", True, 240),
        ([completion("Hm."), failure(500)], "busy or failed", False, 120),
    ],
)
def test_what_was_paid_counts_where_no_reply_is_usable(judge_of, replies, message, is_final, n_tokens):
    with serve_chat(*replies) as chat, pytest.raises(UnusableReplyError, match=message) as caught:
        judge_of(chat, prices=TokenPrices(1, 1)).answer(write_pair_prompt(PAIR))
    assert caught.value.is_final == is_final
    assert caught.value.cost == pytest.approx(n_tokens / 1e6)


def test_a_model_that_refuses_leaves_the_question_to_others(judge_of):
    with serve_chat(completion(None, refusal="No.")) as chat:
        reply = judge_of(chat).answer(write_pair_prompt(PAIR))
        assert (reply.answer, reply.reason) == (None, "The model refused: No.")
        with pytest.raises(UnusableReplyError, match="refused"):
            judge_of(chat).sort(write_piles_prompt(SCREEN), SHOWN)
    assert len(chat.requests) == 2


def test_cards_are_named_and_then_unsure(judge_of):
    def forget_last(request):
        piles = [[number] for number in read_cards(request)] or [[1, 3], [4]]
        return completion(json.dumps({"piles": piles[:-1], "unsure": []}))

    with serve_chat(forget_last, completion('{"piles": [[1, 3], [4]], "unsure": []}')) as chat:
        reply = judge_of(chat).sort(write_piles_prompt(SCREEN), SHOWN)
        assert reply.answer == Piles([[1, 3], [4]], [5])
        assert judge_of(chat).sort(write_piles_prompt(SCREEN), SHOWN).answer == reply.answer  # known
    assert "These cards are missing: 5." in chat.requests[1].prompt
    assert len(chat.requests) == 2


def test_a_caller_asks_about_questions_and_screens(judge_of):
    question = OpenQuestion("q", 0, 1, "", "", NOW)
    with serve_chat(answering(lambda a, b: a == b), sorting(lambda row: row["size"] % 2)) as chat:
        judge = judge_of(chat)
        assert ModelCaller(judge, lambda _: PAIR).send(question).result(patience()).answer == "no"
        sent = ModelCaller(judge, lambda _: SCREEN).send(SHOWN)
        assert sent.result(patience()).answer == Piles([[1, 3, 5], [2, 4]], [])
