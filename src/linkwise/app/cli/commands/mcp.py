"""``linkwise mcp FILE``: agents answer over the Model Context Protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.app.agents.tools import AgentTools
from linkwise.app.cli.commands.ask import (
    make_row_reader,
    report_early_interrupt,
    report_interrupt,
    say_opening,
)
from linkwise.app.project.exit_codes import UsageError, say
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import choose_files, open_project, session_words
from linkwise.data.reading import Reading
from linkwise.session.journal.events import check_source
from linkwise.wording import quote_command

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def serve_agents(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    source: str | None = None,
    port: int | None = None,
) -> None:
    """Serve the session of `file` to an agent until the input ends; answers are stored under `source`.

    With a port, agents are served over HTTP until Ctrl-C.
    """
    try:
        from linkwise.app.agents.agent_server import create_server
    except ImportError as error:
        raise UsageError(str(error)) from None
    name = None if source is None else check_source(source)
    if name == "":
        raise UsageError("--source is empty. Set a name for the agent, or remove --source.")
    data, path = choose_files(file, kept.session)
    with report_early_interrupt(data, path):
        project = open_project(data, path, reading, choice, kept)
    more = (*(("--source", source) if source else ()), *(("--port", str(port)) if port is not None else ()))
    go_on = quote_command("linkwise", "mcp", data, *session_words(data, path), *more)
    with project.session, report_interrupt(project.session, project.path, go_on):
        say_opening(project)
        server = create_server(AgentTools(project, make_row_reader(project), kept.budget), name)
        if port is not None:
            serve_port(server, port)
            return
        if sys.stdin.isatty():
            say("An agent has to start this command and talk to it. Press Ctrl-C to end it.")
        server.run()


def serve_port(server: MCPServer[Any], port: int) -> None:
    """Serve agents of this machine over HTTP."""
    from linkwise.app.agents.http import serve_over_http

    def tell(address: str, token: str) -> None:
        say(f"Agents on this machine reach the session at {address}.")
        say(f"They need the header  Authorization: Bearer {token}")
        say("Press Ctrl-C to end it.")

    serve_over_http(server, port, tell)
