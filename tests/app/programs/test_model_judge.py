"""Prompts, what models write, corrections, the cache, tokens and costs."""

import json
from datetime import UTC, datetime

import pytest

from chat_server import answering, completion, failure, read_cards, serve_chat, sorting
from linkwise.app.programs.chat_endpoint import ChatEndpoint
from linkwise.app.programs.model_judge import ModelCaller, ModelJudge, TokenPrices
from linkwise.app.programs.model_prompts import (
    DEFAULT_GUIDELINES,
    write_pair_prompt,
    write_piles_prompt,
)
from linkwise.app.programs.model_replies import ModelReplyError, mend_piles, read_answer, read_piles
from linkwise.app.programs.pile_replies import Piles
from linkwise.app.programs.replies import UnusableReplyError
from linkwise.app.programs.reply_cache import ReplyCache
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
    assert (
        '{"fruit": "plum"} and {"fruit": "melon"}: {"reason": "size", "answer": "different"}'
        in task["content"]
    )
    assert 'Card 5:\n{"size": 5}' in cards["content"]
    assert "piles that are there already: 1; 2." in cards["content"]
    assert "already" not in write_piles_prompt(SCREEN | {"known": []})[1]["content"]


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
