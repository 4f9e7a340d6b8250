"""Draw the README's picture: the command line at work on scikit-learn's digits.

Use: ``python docs/picture.py > docs/picture.svg``
"""

import io
import re
import sys

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from linkwise import TruthOracle
from linkwise.app.cli.commands.demo import make_pair_view, open_demo_session
from linkwise.app.terminal.console import Terminal
from linkwise.data.demo_sets import load_demo

ANSWERED = 11


def main() -> None:
    """Answer some questions from the known digits and draw the next one."""
    data = load_demo("digits")
    oracle = TruthOracle(data.y)
    console = Console(
        record=True, width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    with open_demo_session(data, 0, None) as session:
        face = Terminal(console, make_pair_view(data), "row {}".format, budget=None, commands=lambda *_: [])
        for _ in range(ANSWERED):
            q = session.question
            said = oracle(q.first, q.second)
            session.answer(said)
        console.export_text(clear=True)
        face.confirm_answer(said, session.status, "")
        face.ask(session.question, session.question_id, session.status)
        face.prompt()
    svg = console.export_svg(title="linkwise demo digits", theme=DIMMED_MONOKAI)
    sys.stdout.write(re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.S))  # nothing is fetched to show it


if __name__ == "__main__":
    main()
