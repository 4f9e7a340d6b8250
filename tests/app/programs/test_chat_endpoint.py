"""Requests to a chat model whose server is good, busy, slow, broken or not there."""

import json
import socket

import pytest

from chat_server import completion, failure, serve_chat
from linkwise.app.programs import chat_endpoint
from linkwise.app.programs.chat_endpoint import ChatEndpoint, is_on_this_machine, read_completion
from linkwise.app.programs.replies import UnusableReplyError
from linkwise.errors import ProgramError
from patience import patience

TOO_SHORT = 0.1  # s: a time limit that is meant to be reached
ASKED = [{"role": "user", "content": "Äpfel?"}]


def test_a_request_and_its_completion():
    with serve_chat(completion("yes", n_read=7, n_written=2)) as chat:
        endpoint = ChatEndpoint(f"{chat.base_url}/", "tiny", key="sk-1")
        assert endpoint.complete(ASKED) == ("yes", 7, 2, "", False)
    (request,) = chat.requests
    assert (request.path, request.key) == ("/v1/chat/completions", "Bearer sk-1")
    assert request.body == {
        "model": "tiny",
        "messages": ASKED,
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }


def test_no_key_no_header():
    with serve_chat(completion("yes")) as chat:
        ChatEndpoint(chat.base_url, "tiny").complete(ASKED)
    assert chat.requests[0].key is None


@pytest.mark.parametrize(
    ("refusals", "left_out"),
    [
        ([failure(400, "response_format is not supported")], {"response_format"}),
        ([failure(404, "no endpoint supports response_format")], {"response_format"}),
        (
            [failure(400, "temperature must be 1"), failure(422, "response_format: no")],
            {"temperature", "response_format"},
        ),
        ([failure(400, "bad request")], {"temperature", "response_format"}),
    ],
)
def test_what_an_endpoint_refuses_is_left_out_from_then_on(refusals, left_out):
    with serve_chat(*refusals, completion("yes")) as chat:
        endpoint = ChatEndpoint(chat.base_url, "tiny")
        assert endpoint.complete(ASKED).text == endpoint.complete(ASKED).text == "yes"
    assert len(chat.requests) == len(refusals) + 2
    for request in chat.requests[-2:]:
        assert left_out == {"temperature", "response_format"} - request.body.keys()


def test_a_refused_question_leaves_nothing_out_for_the_others():
    with serve_chat(completion("yes"), failure(400, "the prompt is too long"), completion("no")) as chat:
        endpoint = ChatEndpoint(chat.base_url, "tiny")
        endpoint.complete(ASKED)
        with pytest.raises(UnusableReplyError, match="the prompt is too long") as caught:
            endpoint.complete(ASKED)
        assert caught.value.is_final
        endpoint.complete(ASKED)
    assert "response_format" in chat.requests[-1].body


@pytest.mark.parametrize(
    ("reply", "delay"),
    [
        (failure(429, "slow down", Retry_After="7"), 7),
        (failure(429, "slow down"), chat_endpoint.BUSY_DELAY_S),
        (failure(429, "slow down", Retry_After="soon"), chat_endpoint.BUSY_DELAY_S),
        (failure(503, "loading"), chat_endpoint.BUSY_DELAY_S),
        (failure(503, "loading", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), 0),
        (failure(500, "oops"), 0),
    ],
)
def test_a_busy_endpoint_says_when_to_ask_again(reply, delay):
    with serve_chat(reply) as chat, pytest.raises(UnusableReplyError, match="busy or failed") as caught:
        ChatEndpoint(chat.base_url, "tiny").complete(ASKED)
    assert (caught.value.delay, caught.value.is_final) == (delay, False)


def test_a_long_pause_ends_the_run():
    reply = failure(429, "daily limit", Retry_After="3600")
    message = r"wants no request for 3600 s \(429: daily limit\)\. Run"
    with serve_chat(reply) as chat, pytest.raises(ProgramError, match=message):
        ChatEndpoint(chat.base_url, "tiny").complete(ASKED)


def test_a_wrong_key_ends_the_run_and_is_not_repeated():
    with serve_chat(failure(401, "Incorrect API key: sk-secret")) as chat:
        endpoint = ChatEndpoint(chat.base_url, "tiny", key="sk-secret", key_variable="MY_KEY")
        with pytest.raises(
            ProgramError, match=r"401: Incorrect API key: …\). Set MY_KEY to a valid"
        ) as caught:
            endpoint.complete(ASKED)
    assert "secret" not in str(caught.value)
    assert len(chat.requests) == 1


def test_an_unknown_model_is_answered_with_those_that_are_there():
    with serve_chat(failure(404, "model not found")) as chat:
        chat.models = ["llama3", "qwen3"]
        with pytest.raises(ProgramError, match=r"has no model 'tiny' .* Use one that it has: llama3, qwen3"):
            ChatEndpoint(chat.base_url, "tiny").complete(ASKED)
        chat.models = []
        with pytest.raises(ProgramError, match="Check --model, and that --base-url"):
            ChatEndpoint(chat.base_url, "tiny").complete(ASKED)


def test_a_redirect_is_not_followed():
    with serve_chat(completion("yes")) as other:
        target = f"{other.base_url}/chat/completions"
        moved = 307, {"Location": target}, b""
        with serve_chat(moved) as chat, pytest.raises(ProgramError, match=f"redirects to {target}"):
            ChatEndpoint(chat.base_url, "tiny", key="sk-1").complete(ASKED)
    assert other.requests == []


def test_a_web_page_is_no_model():
    with (
        serve_chat((200, {}, b"<!doctype html>")) as chat,
        pytest.raises(ProgramError, match="is a web page"),
    ):
        ChatEndpoint(chat.base_url, "tiny").complete(ASKED)


def test_no_server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ProgramError, match=r"No server answers at http.* \(Connection refused\)\. Start"):
        ChatEndpoint(f"http://127.0.0.1:{port}/v1", "tiny").complete(ASKED)


def test_a_server_that_goes_away_gets_further_requests():
    with serve_chat(completion("yes")) as chat:
        endpoint = ChatEndpoint(chat.base_url, "tiny")
        endpoint.complete(ASKED)
    with pytest.raises(UnusableReplyError, match="The connection broke"):
        endpoint.complete(ASKED)


@pytest.mark.parametrize(
    "reply", [None, (200, {}, b'{"choices": ['), (200, {"Content-Length": "99"}, b"{}x")]
)
def test_a_connection_or_json_that_breaks(reply):
    with serve_chat(reply) as chat, pytest.raises(UnusableReplyError) as caught:
        ChatEndpoint(chat.base_url, "tiny", timeout=patience(1.0)).complete(ASKED)
    assert not caught.value.is_final


def test_a_slow_reply_ends_at_the_time_limit():
    status, _, content = completion("yes" * 100)
    slow, message = (status, {"Pause": "0.05"}, content), r"No reply within 0\.2 s\. Set --timeout"
    with serve_chat(slow) as chat, pytest.raises(UnusableReplyError, match=message):
        ChatEndpoint(chat.base_url, "tiny", timeout=2 * TOO_SHORT).complete(ASKED)


def test_a_silent_server_ends_at_the_time_limit():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(UnusableReplyError, match="No reply within"):
            ChatEndpoint(url, "tiny", timeout=TOO_SHORT).complete(ASKED)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (completion(None, refusal="I will not."), ("", 100, 20, "The model refused: I will not.", True)),
        (completion("", finish_reason="content_filter"), ("", 100, 20, "The model refused", True)),
        (completion("", finish_reason="length"), ("", 100, 20, "The reply was cut off", False)),
        (completion(" "), ("", 100, 20, "The reply is empty", False)),
        (completion([{"type": "text", "text": "a"}, {"text": "b"}]), ("ab", 100, 20, "", False)),
        ((200, {}, b'{"choices": [{"message": {"content": "a"}}]}'), ("a", 0, 0, "", False)),
        ((200, {}, b'{"choices": []}'), ("", 0, 0, "The endpoint sent no message", False)),
        ((200, {}, b"[]"), ("", 0, 0, "The endpoint sent no message ([])", False)),
        (failure(200, "no credit"), ("", 0, 0, "The endpoint sent no message (no credit)", False)),
        (
            (200, {}, b'{"usage": {"prompt_tokens": "many"}}'),
            ("", 0, 0, "The endpoint sent no message", False),
        ),
    ],
)
def test_completions(reply, expected):
    assert read_completion(json.loads(reply[2])) == expected


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]/v1", True),
        ("https://api.example.com/v1", False),
        ("http://192.168.0.7:8000/v1", False),
        ("http://localhost.example.com/v1", False),
    ],
)
def test_what_is_on_this_machine(url, is_here):
    assert is_on_this_machine(url) == is_here
