"""How the command starts: quickly, and in words when something is missing."""

import sys

import pytest

from linkwise import __main__, __version__

HEAVY = ("numpy", "scipy", "sklearn", "polars", "pandas")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["ask", "--help"]])
def test_help_and_version_load_nothing_heavy(process, arguments):
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print('LOADED', [m for m in {HEAVY} if m in sys.modules]))\n"
        f"sys.argv = ['linkwise', *{arguments}]\n"
        "from linkwise.__main__ import main\n"
        "main()\n"
    )
    done = process("-S", "-c", f"import sys; sys.path = {sys.path!r}\n{code}")
    assert done.returncode == 0, done.stderr
    assert "LOADED []" in done.stdout


def test_help_names_every_command(linkwise):
    done = linkwise("--help")
    assert done.exit_code == 0
    for command in ("ask", "status", "undo", "export", "demo"):
        assert f"\n  {command} " in done.stdout


def test_version_is_reported_with_and_without_the_extra(linkwise, monkeypatch, capsys):
    assert linkwise("--version").stdout == f"linkwise {__version__}\n"
    monkeypatch.setattr(sys, "argv", ["linkwise", "--version"])
    monkeypatch.setattr(__main__, "find_spec", lambda name: None)
    __main__.main()
    assert capsys.readouterr().out == f"linkwise {__version__}\n"


def test_without_the_extra_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["linkwise", "ask", "x.csv"])
    monkeypatch.setattr(__main__, "find_spec", lambda name: None if name == "polars" else object())
    with pytest.raises(SystemExit) as end:
        __main__.main()
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert 'pip install "linkwise[app]"' in told
    assert "polars" in told
    assert told.count("\n") == 1


def test_module_and_command_are_the_same(process):
    done = process("-m", "linkwise", "--version")
    assert (done.returncode, done.stdout) == (0, f"linkwise {__version__}\n")
