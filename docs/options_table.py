"""A directive for Sphinx: the options of a command as a table, from the command line itself."""

from __future__ import annotations

import re
from typing import Any

import click
import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from linkwise.app.cli.main import app

MAIN = "ask"  # whose options other commands refer to


def list_options(command: str) -> dict[str, list[tuple[str, str]]]:
    """The options of a command with their help, by heading; ``--help`` is left out."""
    group = typer.main.get_command(app)
    found: dict[str, list[tuple[str, str]]] = {}
    with click.Context(group) as context:
        for parameter in group.commands[command].params:  # type: ignore[attr-defined]
            record = parameter.get_help_record(context)
            if parameter.param_type_name == "option" and record is not None and "--help" not in record[0]:
                heading = getattr(parameter, "rich_help_panel", None) or "options"
                found.setdefault(str(heading), []).append(record)
    return found


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
                lines += [f".. rubric:: {heading.capitalize()}", ""] if len(options) > 1 else []
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
