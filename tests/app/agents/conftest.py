"""Fixtures of agents."""

import pytest

from commands import fruit, linkwise, no_screen, write_fruit
from linkwise.app.agents.tools import AgentTools
from linkwise.app.cli.commands.ask import make_row_reader
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import choose_files, open_project
from linkwise.data.reading import Reading

__all__ = ["fruit", "linkwise", "no_screen"]


@pytest.fixture
def open_tools(tmp_path):
    """Open the tools for a file of fruit, or for another one."""
    opened = []

    def open_(path=None, *, budget=None, **options):
        data, session = choose_files(path or write_fruit(tmp_path / "fruit.csv").path, None)
        project = open_project(
            data, session, Reading(), MethodChoice(None, {}, None), SessionOptions(**options)
        )
        opened.append(project)
        return AgentTools(project, make_row_reader(project), budget)

    yield open_
    for project in opened:
        project.session.close()
