"""The judge asks a service on this machine, which is slow, busy and broken by turns."""

import importlib.util
import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.app.programs.child_process import parse_reply
from patience import patience

pytestmark = pytest.mark.slow

PATH = Path(__file__).parents[2] / "examples" / "llm_judge.py"
QUESTION = {"id": "3:1-2", "first": {"fruit": "Äpfel"}, "second": {"fruit": "pear"}, "guidelines": None}
YES = '{"answer": "yes", "reason": "both are fruit"}'


def said(text, **more):
    """What a service replies if the model writes a text."""
    return 200, {}, json.dumps({"choices": [{"message": {"content": text}}], **more}).encode()


@pytest.fixture
def service():
    """A service that gives its replies by turns, and keeps the requests."""
    replies, requests = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append((self.path, self.headers.get("Authorization"), body))
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
            if callable(reply):
                reply = reply(body)
            if reply is None:  # the connection breaks
                self.close_connection = True
                return
            code, headers, content = reply
            self.send_response(code)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.replies, server.requests = replies, requests
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def judge(service, monkeypatch):
    """The example as a module, with its address set and without real waits."""
    for name in ("OPENAI_API_KEY", "LLM_PRICE", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{service.server_port}/v1/")
    monkeypatch.setenv("LLM_MODEL", "any-model")
    spec = importlib.util.spec_from_file_location("llm_judge", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.waits = []
    monkeypatch.setattr(module.time, "sleep", module.waits.append)
    return module


def test_a_question_becomes_a_request(judge, service, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("LLM_PRICE", "0.5")
    service.replies.append(said(f"Sure!\n```json\n{YES}\n```", usage={"total_tokens": 200}))
    reply = judge.judge(QUESTION | {"guidelines": "By {colour} only."})
    assert reply == {"id": "3:1-2", "answer": "yes", "reason": "both are fruit", "cost": 0.1}
    ((path, key, body),) = service.requests
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer secret", "any-model")
    task, items = (message["content"] for message in body["messages"])
    assert "Guidelines:\nBy {colour} only." in task
    assert "Äpfel" in items
    assert "pear" in items
    assert judge.USUAL in judge.write_prompt(QUESTION)[0]["content"]
    assert judge.judge(QUESTION)["cost"] == 0.1
    assert parse_reply(json.dumps(reply).encode())[1].answer == "yes"


def test_a_busy_service_is_asked_again_when_it_says(judge, service):
    service.replies += [(429, {"Retry-After": "7"}, b""), (503, {}, b"busy"), None, said(YES)]
    assert judge.judge(QUESTION)["answer"] == "yes"
    assert judge.waits[0] == 7
    assert 1 <= judge.waits[1] <= 2 <= judge.waits[2] <= 4
    assert len(service.requests) == 4


def test_a_stalled_service_is_asked_again(judge, service, monkeypatch):
    monkeypatch.setattr(judge, "TIMEOUT_S", 0.05)
    end = threading.Event()
    service.replies += [lambda _: end.wait(patience()) and None, said(YES)]
    assert judge.judge(QUESTION)["answer"] == "yes"
    end.set()


@pytest.mark.parametrize(
    ("reply", "n_requests", "error"),
    [
        ((401, {}, b"no"), 1, "HTTPError: HTTP Error 401"),
        ((500, {}, b""), 5, "HTTPError: HTTP Error 500"),
        ((200, {}, b"<html>"), 5, "JSONDecodeError"),
        ((200, {}, b'{"choices": []}'), 5, "IndexError"),
        ((200, {}, b"[]"), 5, "TypeError"),
    ],
)
def test_a_service_that_stays_broken_is_an_error_of_the_question(judge, service, reply, n_requests, error):
    service.replies.append(reply)
    answered = judge.judge(QUESTION)
    assert answered["id"] == "3:1-2"
    assert answered["error"].startswith(error)
    assert len(service.requests) == n_requests


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "No"}', "no"),
        ('{"note": {"answer": "maybe"}} {"answer": "unsure", "reason": "x"}', "unsure"),
        ('{"answer": "yes", "reason": ', "unsure"),
        ("Yes, they do.", "unsure"),
        ("", "unsure"),
    ],
)
def test_texts_of_models(judge, text, answer):
    found, probability, reason = judge.read_answer(text)
    assert (found, probability) == (answer, None)
    assert answer != "unsure" or reason


@pytest.mark.parametrize(
    ("answer", "probability", "expected"),
    [
        ("yes", 0.8, 0.8),
        ("no", "0.25", 0.25),
        ("yes", 0.2, "yes"),
        ("no", 0.5, "no"),
        ("yes", 80, "yes"),
        ("yes", "high", "yes"),
        ("yes", None, "yes"),
        ("no", float("nan"), "no"),
        ("unsure", 0.9, "unsure"),
    ],
)
def test_the_probability_of_a_model_goes_with_its_answer(judge, service, answer, probability, expected):
    """One that contradicts the answer, or is none, is left out."""
    service.replies.append(said(json.dumps({"answer": answer, "probability": probability})))
    reply = json.dumps(judge.judge(QUESTION))
    assert parse_reply(reply.encode())[1].answer == expected


def test_examples_are_turns_of_the_conversation(judge):
    examples = [
        {
            "first": {"fruit": "plum"},
            "second": {"fruit": "Äpfel"},
            "answer": "yes",
            "reason": "grow on trees",
        },
        {"first": {"fruit": "plum"}, "second": {"fruit": "melon"}, "answer": "no", "reason": ""},
    ]
    messages = judge.write_prompt(QUESTION | {"examples": examples})
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert "plum" in messages[1]["content"]
    assert "Äpfel" in messages[1]["content"]
    assert json.loads(messages[2]["content"]) == {"answer": "yes", "reason": "grow on trees"}
    assert json.loads(messages[4]["content"]) == {"answer": "no", "reason": ""}
    assert messages[-1] == judge.write_prompt(QUESTION)[-1]


def test_questions_are_answered_side_by_side(judge, service, monkeypatch, capsys):
    service.replies.append(said(YES))
    lines = [json.dumps(QUESTION | {"id": str(k)}) for k in range(5)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    judge.main()
    replies = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {reply["id"] for reply in replies} == set("01234")
    monkeypatch.delenv("LLM_MODEL")
    with pytest.raises(SystemExit, match="Set the environment variables LLM_MODEL"):
        judge.main()


def test_the_judge_as_a_function_clusters(judge, service):
    """The same file serves `lw.answer`."""

    def reply(body):
        values = [
            json.loads(part.partition("\n")[2])["x"] for part in body["messages"][1]["content"].split("\n\n")
        ]
        return said(json.dumps({"answer": "yes" if abs(values[0] - values[1]) < 1 else "no"}))

    service.replies.append(reply)
    X = [[0.0], [0.1], [5.0], [5.1]]

    def oracle(question):
        items = {"first": {"x": X[question.first][0]}, "second": {"x": X[question.second][0]}}
        return judge.judge({"id": question.id, **items})["answer"]

    session = lw.Session(X, lw.COBRAS(n_init=1, random_state=0), error_rate=None)
    assert lw.answer(session, oracle, parallel=2, timeout=None).n_failed == 0
    assert session.labels[0] == session.labels[1] != session.labels[2] == session.labels[3]
