"""``linkwise mcp FILE`` with the client of the protocol's own package."""

import asyncio
import base64
import io
import json
import re
import socket
import sys
from contextlib import asynccontextmanager, contextmanager
from signal import SIGINT

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, Implementation
from PIL import Image

from linkwise.app.agents.agent_server import create_server
from linkwise.session.session import Session
from running_command import start_command

TOOLS = {
    "next_questions", "next_set", "answer", "sort", "undo", "ask_person", "status", "explain", "export",
}  # fmt: skip
MODES = ("auto", pytest.param("legacy", marks=pytest.mark.slow(nightly=True)))
"""The present protocol, and the one before it."""


def talk(server, script, mode="auto", **client):
    """Run a coroutine function with a client of a server."""

    async def run():
        async with Client(server, mode=mode, **client) as open_client:
            await script(open_client)

    asyncio.run(run())


def start(fruit, *options):
    """How a client starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "linkwise", "mcp", fruit.path.name, *options],
        cwd=str(fruit.path.parent),
    )


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def fail(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_an_agent_asks_answers_and_exports(fruit, mode):
    async def script(client):
        assert "do these two rows belong" in client.instructions
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        assert "By colour." in (await call(client, "status"))["guidelines"]
        (question,) = (await call(client, "next_questions"))["questions"]
        answer = {"question_id": question["question_id"], "answer": "different", "reason": "red and green"}
        assert await call(client, "answer", **answer, probability=0.9) == {"answers": 1}
        assert "not stored" in await fail(client, "answer", **answer)
        assert "should be 'same', 'different' or 'not sure'" in await fail(
            client, "answer", question_id="1:0-1", answer="maybe"
        )
        shown = await call(client, "next_set", size=5)
        assert "missing" in await fail(client, "sort", set_id=shown["set_id"], piles=[[1]])
        piles = [[card["number"]] for card in shown["cards"]]
        assert await call(client, "sort", set_id=shown["set_id"], piles=piles) == {"answers": 2}
        assert len((await call(client, "undo"))["undone"]["ids"]) == 5
        assert (await call(client, "explain", ids=question["ids"]))["together"] is False
        assert (await call(client, "export", n=2))["csv"].startswith("id,cluster\nf0,")
        guidelines = await client.read_resource("linkwise://guidelines")
        assert guidelines.contents[0].text == "By colour."
        row = await client.read_resource("linkwise://rows/f3")
        assert json.loads(row.contents[0].text)["row"]["colour"] == "green"

    name = Implementation(name="a  desk\x1b[1m", version="1")
    talk(start(fruit, "--guidelines", "By colour."), script, mode, client_info=name)
    with Session.open(fruit.session) as session:
        (event,) = session.history
        assert (event.source, event.note, event.reliability) == ("a desk·[1m", "red and green", 0.9)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_lets_the_person_answer(open_tools, mode):
    asked = []
    replies = [
        ElicitResult(action="decline"),
        ElicitResult(action="accept", content={"answer": "different", "note": "I know"}),
    ]

    async def ask(_, request):
        asked.append(request.message)
        return replies.pop(0)

    async def script(client):
        (question,) = (await call(client, "next_questions"))["questions"]
        name = {"question_id": question["question_id"]}
        assert (await call(client, "ask_person", **name))["answered"] is False
        assert await call(client, "ask_person", **name) == {"answered": "different", "answers": 1}
        assert "Use an id of next_questions" in await fail(client, "ask_person", question_id="x")
        assert all(each in asked[0] for each in question["ids"])

    tools = open_tools()
    talk(create_server(tools, "helper"), script, mode, elicitation_callback=ask)
    (event,) = tools.project.session.history
    assert (event.source, event.answer, event.note) == ("", "no", "I know")


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cannot_ask_says_so_and_rows_have_any_id(fruit, open_tools, mode):
    text = fruit.path.read_text().replace("f0,", "../a b/c,")
    fruit.path.write_text(text)

    async def script(client):
        (question,) = (await call(client, "next_questions"))["questions"]
        said = await fail(client, "ask_person", question_id=question["question_id"])
        assert "This client cannot ask the person." in said
        await call(client, "answer", question_id=question["question_id"], answer="different")
        row = await client.read_resource("linkwise://rows/..%2Fa%20b%2Fc")
        assert json.loads(row.contents[0].text)["id"] == "../a b/c"
        with pytest.raises(MCPError, match="There is no row 'f0'"):
            await client.read_resource("linkwise://rows/f0")

    talk(create_server(open_tools(fruit.path)), script, mode)


def test_rows_with_pictures_are_shown(open_tools, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for at in range(4):
        Image.new("RGB", (12, 8), (60 * at, 0, 0)).save(folder / f"p{at}.png")

    async def script(client):
        assert "look at them by show_pictures" in client.instructions
        (question,) = (await call(client, "next_questions"))["questions"]
        shown = (await client.call_tool("show_pictures", {"ids": question["ids"]})).content
        assert [part.text for part in shown[::2]] == question["ids"]
        for name, part in zip(question["ids"], shown[1::2], strict=True):
            assert part.mime_type == "image/png"
            with Image.open(io.BytesIO(base64.b64decode(part.data))) as picture:
                assert picture.size == (12, 8)
                assert picture.convert("RGB").getpixel((0, 0))[0] == 60 * int(name[1])
        assert "Pass 1 to 20" in await fail(client, "show_pictures", ids=[])

    talk(create_server(open_tools(folder)), script)


def test_two_agents_share_a_session(fruit, open_tools):
    async def answer(client):
        (question,) = (await call(client, "next_questions"))["questions"]
        await call(client, "answer", question_id=question["question_id"], answer="same")

    async def script(client):
        await answer(client)
        await asyncio.to_thread(talk, create_server(open_tools(fruit.path), "ben"), answer)
        assert (await call(client, "status"))["answers"] == 2
        await answer(client)

    tools = open_tools(fruit.path)
    talk(create_server(tools, "ann"), script)
    assert [event.source for event in tools.project.session.history] == ["ann", "ben", "ann"]


def test_questions_may_be_asked_side_by_side(open_tools):
    async def script(client):
        found = await asyncio.gather(*[call(client, "next_questions", n=4) for _ in range(3)])
        questions = {each["question_id"] for reply in found for each in reply["questions"]}
        await asyncio.gather(*[call(client, "answer", question_id=q, answer="not sure") for q in questions])
        assert (await call(client, "status"))["unsure"] == len(questions) == 4  # of one agent

    talk(create_server(open_tools(), "ann"), script)


@contextmanager
def serve(fruit, *options, **environment):
    """Serve over HTTP; the command, the address and the token that it tells."""
    with start_command("mcp", fruit.path, "--port", "0", *options, **environment) as server:
        try:
            told = []
            while "Ctrl-C" not in (line := server.stderr.readline()):
                assert line, told
                told.append(line)
            text = " ".join(told)
            yield (
                server,
                re.search(r"http://127\.0\.0\.1:\d+/mcp", text)[0],
                re.search(r"Bearer (\S+)", text)[1],
            )
        finally:
            server.send_signal(SIGINT)


@asynccontextmanager
async def reach(address, token):
    """A client that sends a token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


def test_agents_answer_over_http(fruit):
    async def answer(address, token):
        async with reach(address, token) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            (question,) = (await call(client, "next_questions"))["questions"]
            await call(client, "answer", question_id=question["question_id"], answer="same")

    with serve(fruit, "--source", "ann", LINKWISE_AGENT_TOKEN="of-this-test") as (server, address, token):
        assert token == "of-this-test"
        asyncio.run(answer(address, token))
        asyncio.run(answer(address, token))
    assert server.returncode == 130
    with Session.open(fruit.session) as session:
        assert [event.source for event in session.history] == ["ann", "ann"]


def test_only_a_client_with_the_token_is_heard(fruit):
    with serve(fruit) as (_, address, token):
        for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": f"Bearer {token}x"}):
            refused = httpx2.post(address, json={}, headers=headers)
            assert (refused.status_code, "Authorization" in refused.text) == (401, True)
        right = {"Authorization": f"Bearer {token}"}
        elsewhere = httpx2.post(address, json={}, headers={**right, "Host": "evil.example"})
        assert elsewhere.status_code == 421, "a page of another site cannot name this machine"


def test_a_port_in_use_is_named(fruit, linkwise):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = linkwise("mcp", fruit.path, "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 2
    assert "cannot be used" in " ".join(done.stderr.split())
    assert "Pass another --port." in " ".join(done.stderr.split())


@pytest.mark.parametrize("token", ["of this test", "zwölf"])
def test_a_token_that_no_header_can_have_is_refused(fruit, linkwise, monkeypatch, token):
    monkeypatch.setenv("LINKWISE_AGENT_TOKEN", token)
    done = linkwise("mcp", fruit.path, "--port", "0")
    assert done.exit_code == 2
    assert "Set it to letters and digits." in " ".join(done.stderr.split())


def test_wrong_options_of_agents(fruit, linkwise):
    done = linkwise("mcp", fruit.path, "--source", " ")
    assert done.exit_code == 2
    assert "--source is empty. Set a name for the agent" in " ".join(done.stderr.split())


def test_the_package_is_named_where_it_is_missing(fruit, linkwise, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "linkwise.app.agents.agent_server", raising=False)
    done = linkwise("mcp", fruit.path)
    assert done.exit_code == 2
    assert 'Run pip install "linkwise[agents]"' in " ".join(done.stderr.split())
    assert not fruit.session.exists()
