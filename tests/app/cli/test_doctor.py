"""The doctor finds what is missing and what is broken, and tells them apart."""

import json
import platform
import socket
import sqlite3
import sys
from importlib.metadata import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import linkwise.native
from linkwise.app.cli.commands import doctor
from linkwise.native import _native, cuda


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(linkwise):
    """Findings by name, names of what is broken, and the exit status."""

    def ask():
        done = linkwise("doctor", "--json")
        told = json.loads(done.stdout)
        return {f["name"]: f for f in told["findings"]}, told["broken"], done.exit_code

    return ask


def old(monkeypatch, name, have):
    known = doctor._installed_version
    monkeypatch.setattr(
        doctor, "_installed_version", lambda package: have if package == name else known(package)
    )


def test_where_all_is_well_it_says_so(linkwise, asked, folder):
    found, broken, status = asked()
    assert (broken, status) == ([], 0)
    for name in ("packages", "native", "sqlite", "session", "app", "images"):
        assert (found[name]["state"], found[name]["way_out"]) == ("ok", "")
    told = linkwise("doctor")
    assert told.exit_code == 0
    assert told.stdout.startswith(f"linkwise {linkwise_version()}, Python {platform.python_version()}")
    assert told.stdout.endswith("Everything that linkwise needs works.\n")
    assert not list(folder.iterdir())


def linkwise_version():
    return metadata("linkwise")["Version"]


def test_every_extra_is_looked_at(asked):
    extras = set(metadata("linkwise").get_all("Provides-Extra")) - set(doctor.FOR_PEOPLE)
    assert extras == set(doctor.PURPOSE)
    assert extras <= set(asked()[0])


def test_an_extra_that_is_not_here_is_no_fault(monkeypatch, asked):
    old(monkeypatch, "matplotlib", "")
    found, broken, status = asked()
    assert (found["plot"]["state"], broken, status) == ("absent", [], 0)
    assert "figures: matplotlib is not installed" in found["plot"]["said"]
    assert found["plot"]["way_out"] == 'pip install "linkwise[plot]"'


def test_a_package_that_is_too_old_is_a_fault(monkeypatch, linkwise, asked):
    old(monkeypatch, "numpy", "1.26.4")
    found, broken, status = asked()
    assert (broken, status) == (["packages"], 1)
    assert found["packages"]["said"] == "numpy is 1.26.4, older than 2.0"
    assert found["packages"]["way_out"] == 'pip install --upgrade "numpy>=2.0"'
    assert linkwise("doctor").stdout.endswith("Fix first: packages.\n")


def test_a_package_that_does_not_load_is_a_fault(monkeypatch, asked):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    found, broken, status = asked()
    assert (broken, status) == (["packages"], 1)
    assert "narwhals 2" in found["packages"]["said"]
    assert "does not load" in found["packages"]["said"]


@pytest.mark.parametrize(
    ("one", "other"), [("2.0", "2.0.1"), ("1.9", "1.20"), ("2.1.0rc1", "2.1.1"), ("", "0.1")]
)
def test_versions_are_compared_as_numbers(one, other):
    assert doctor._version_numbers(one) < doctor._version_numbers(other)


def test_requirements_are_taken_apart():
    given = [
        "numpy>=2.0",
        'polars>=1.20; extra == "tables"',
        "scikit-learn",
        "pillow >=10; extra == 'images'",
    ]
    given += ['linkwise[tables,images]; extra == "app"']
    found = {(n.name, n.least, n.extra) for n in doctor._parse_requirements(given)}
    own = {
        ("numpy", "2.0", ""),
        ("scikit-learn", "0", ""),
        ("polars", "1.20", "tables"),
        ("pillow", "10", "images"),
    }
    assert found == own | {("polars", "1.20", "app"), ("pillow", "10", "app")}


def test_kernels_that_do_not_load(monkeypatch, asked):
    monkeypatch.delattr(linkwise.native, "_native")
    monkeypatch.setitem(sys.modules, "linkwise.native._native", None)
    found, broken, status = asked()
    assert (broken, status) == (["native"], 1)
    assert found["native"]["said"].startswith("the native code does not load (ModuleNotFoundError")


def test_kernels_that_count_wrongly(monkeypatch, asked):
    right = linkwise.native.nearest_points
    monkeypatch.setattr(
        linkwise.native, "nearest_points", lambda X, points, n: right(X, points[::-1].copy(), n)
    )
    assert asked()[1:] == (["native"], 1)


def test_threads_are_those_that_kernels_use(monkeypatch, asked):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert asked()[0]["native"]["said"].endswith(", 3 threads (OMP_NUM_THREADS)")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert asked()[0]["native"]["said"].endswith(", 1 thread (OMP_NUM_THREADS)")


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="levels of x86-64")
def test_the_instructions_are_those_of_this_machine():
    flags = set(Path("/proc/cpuinfo").read_text().partition("\nflags")[2].partition("\n")[0].split())
    if flags >= {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}:
        assert _native.simd() == "x86-64-v4"
    else:
        assert _native.simd() == ("x86-64-v3" if flags >= {"avx2", "fma", "bmi2"} else "baseline")


def test_sqlite_that_is_too_old(monkeypatch, asked):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    found, broken, status = asked()
    assert (broken, status) == (["sqlite"], 1)
    assert "older than 3.35.0" in found["sqlite"]["said"]


def test_a_folder_where_no_session_can_be(monkeypatch, asked, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    found, broken, status = asked()
    assert (broken, status) == (["session"], 1)
    assert "--session PATH" in found["session"]["way_out"]


def test_without_a_port_there_is_the_terminal(monkeypatch, asked):
    def refused(*_):
        raise PermissionError("not allowed")

    monkeypatch.setattr(socket.socket, "bind", refused)
    found, broken, status = asked()
    assert (found["port"]["state"], broken, status) == ("absent", [], 0)
    assert "--terminal" in found["port"]["way_out"]


@pytest.mark.slow
def test_a_browser_needs_a_screen(monkeypatch, asked):
    assert asked()[0]["browser"]["state"] == "absent"
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.get", lambda: object())
    assert asked()[0]["browser"]["state"] == "ok"


@pytest.mark.slow
def test_it_runs_without_the_extra_that_brings_the_commands(process):
    begin = "import sys; sys.modules.update(dict.fromkeys(['typer', 'rich', 'polars'])); "
    code = f"{begin}sys.argv[1:] = ['doctor']; from linkwise.__main__ import main; main()"
    done = process("-c", code)
    assert done.returncode == 0, done.stderr
    assert 'pip install "linkwise[app]"' in done.stdout
    wrong = process("-c", code.replace("['doctor']", "['doctor', '--quick']"))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--json" in wrong.stderr


def test_the_extra_of_the_readme_has_all_that_its_parts_have(asked):
    found = asked()[0]
    for package in ("polars", "openpyxl", "typer", "starlette", "pillow"):
        assert f"{package} " in found["app"]["said"]
    assert "starlette" not in found["cli"]["said"]
    assert "polars" in found["cli"]["said"]


def test_a_graphics_card_is_named(monkeypatch, asked):
    card = cuda.Gpu("NVIDIA H100", SimpleNamespace(__version__="14.2.0"), {})
    monkeypatch.setattr(cuda, "find_gpu", lambda: card)
    found = asked()[0]["gpu"]
    assert found["state"] == "ok"
    assert found["said"].endswith("NVIDIA H100, CuPy 14.2.0")


def test_a_machine_without_a_graphics_card_is_told_what_to_install(monkeypatch, asked):
    monkeypatch.setattr(cuda, "find_gpu", lambda: None)
    found, broken, status = asked()
    assert (found["gpu"]["state"], broken, status) == ("absent", [], 0)
    assert "CuPy finds no card" in found["gpu"]["said"]
    assert 'pip install "linkwise[gpu]"' in found["gpu"]["way_out"]
