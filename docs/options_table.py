"""A directive for Sphinx: the options of a command as a table, from the command line itself."""

from __future__ import annotations

import re
from typing import Any

import click
import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from linkwise.app.cli import typer_options
from linkwise.app.cli.main import app

MAIN = "ask"  # whose options other commands refer to


def list_options(command: str) -> dict[str, list[tuple[str, str]]]:
    """The options of a command with their help, by heading; ``--help`` is left out."""
    group = typer.main.get_command(app)
    with click.Context(group) as context:
        found = typer_options.list_options(group.commands[command], context)  # type: ignore[attr-defined]
    kept = {heading: [each for each in all if "--help" not in each[0]] for heading, all in found.items()}
    return {heading: records for heading, records in kept.items() if records}


class OptionsTable(SphinxDirective):
    """``.. command-options:: serve`` lists the options of ``linkwise serve``, less those of ``ask``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build the tables."""
        command = self.arguments[0]
        options = list_options(command)
        common = {} if command == MAIN else list_options(MAIN)
        known = {record for records in common.values() for record in records}
        lines: list[str] = []
        for heading, records in options.items():
            if own := [record for record in records if record not in known]:
                lines += [f".. rubric:: {heading}", ""] if len(options) > 1 else []
                lines += [".. list-table::", "   :widths: 30 70", ""]
                for flag, words in own:
                    lines += [f"   * - ``{flag}``", f"     - {_escape(words)}"]
                lines.append("")
        shared = [record[0] for records in options.values() for record in records if record in known]
        if shared:
            flags = ", ".join(f"``{flag.split()[0]}``" for flag in shared)
            lines.append(f"As for ``linkwise {MAIN}``: {flags}.")
        return self.parse_text_to_nodes("\n".join(lines))


def _escape(words: str) -> str:
    return re.sub(r"([\\*`|_])", r"\\\1", " ".join(words.split()))


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-options", OptionsTable)
    return {"parallel_read_safe": True}
