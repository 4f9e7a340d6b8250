"""``linkwise mcp FILE`` with the client of the protocol's own package."""

import asyncio
import json
import sys

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult, Implementation

from linkwise.session.session import Session

TOOLS = {
    "next_questions", "next_set", "answer", "sort", "undo", "ask_person", "status", "explain", "export",
}  # fmt: skip
MODES = ("auto", "legacy")  # the present protocol, and the one before it


def talk(fruit, script, *options, mode="auto", **client):
    """Start the server as a client does, and run a coroutine function with the client."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "linkwise", "mcp", fruit.path.name, *options],
        cwd=str(fruit.path.parent),
    )

    async def run():
        async with Client(server, mode=mode, **client) as open_client:
            await script(open_client)

    asyncio.run(run())


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
    talk(fruit, script, "--guidelines", "By colour.", mode=mode, client_info=name)
    with Session.open(fruit.session) as session:
        (event,) = session.history
        assert (event.source, event.note, event.reliability) == ("a desk·[1m", "red and green", 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_an_agent_lets_the_person_answer(fruit, mode):
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

    talk(fruit, script, "--source", "helper", mode=mode, elicitation_callback=ask)
    with Session.open(fruit.session) as session:
        (event,) = session.history
        assert (event.source, event.answer, event.note) == ("", "no", "I know")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cannot_ask_says_so_and_rows_have_any_id(fruit, mode):
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

    talk(fruit, script, mode=mode)


@pytest.mark.slow
def test_two_agents_share_a_session(fruit):
    async def other(client):
        (question,) = (await call(client, "next_questions"))["questions"]
        await call(client, "answer", question_id=question["question_id"], answer="same")

    async def script(client):
        await other(client)
        await asyncio.to_thread(talk, fruit, other, "--source", "ben")
        assert (await call(client, "status"))["answers"] == 2
        await other(client)

    talk(fruit, script, "--source", "ann")
    with Session.open(fruit.session) as session:
        assert [event.source for event in session.history] == ["ann", "ben", "ann"]


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
