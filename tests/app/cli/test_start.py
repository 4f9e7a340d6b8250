"""``linkwise`` alone: the start page for a person at a screen, and the help for all others."""

import re
import signal

from pseudo_terminal import on_terminal
from running_command import start_command


def test_in_a_pipe_it_prints_the_help(linkwise):
    done = linkwise()
    assert done.exit_code == 2
    assert done.stderr == linkwise("--help").stdout


def test_on_a_terminal_without_a_screen_it_prints_the_help():
    with on_terminal() as screen:
        assert screen.ended() == 2
    assert "linkwise ask FILE" in screen.plain()


def test_on_a_terminal_it_serves_the_start_page():
    with on_terminal("--no-browser") as screen:
        screen.wait_for("Ctrl-C ends")
        assert re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", screen.plain())
        screen.press("\x03")
        assert screen.ended() == 130
    assert "Interrupted. Nothing is changed." in screen.plain()


def test_a_password_for_other_pages_does_not_open_it_to_others():
    with start_command("--no-browser", LINKWISE_PASSWORD="correct horse") as process:
        assert "?token=" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()


def test_options_of_the_page_stand_behind_a_command(linkwise, fruit):
    done = linkwise("--port", "0", "serve", fruit.path)
    assert done.exit_code == 2
    assert "linkwise serve" in done.stderr


def test_the_address_does_not_wait_for_what_takes_long_to_import(process):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from linkwise.app.cli.commands.start import prepare_start\n"
        "import linkwise.app.page.server\n"
        "prepare_start(Path())\n"
        "print([name for name in ('sklearn', 'polars', 'pandas') if name in sys.modules])\n"
    )
    assert process("-c", code).stdout == "[]\n"
