"""What a stranger lost once: files that export may not touch, advice that must keep the answers."""

import re

import pytest

from linkwise.session.session import Session

ROWS = "customer;age;spend\n" + "\n".join(f"A-{i};{20 + i};{(i * 37) % 50}" for i in range(12))


@pytest.fixture
def run(linkwise, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return linkwise


@pytest.fixture
def asked(tmp_path, run):
    (tmp_path / "c.csv").write_text(ROWS)
    done = run("ask", "c.csv", "--id", "customer", said="y\nn\nn\nq\n")
    assert done.exit_code == 0
    return tmp_path


@pytest.mark.parametrize("target", ["c.csv.linkwise", "./c.csv.linkwise", "c.csv"])
@pytest.mark.parametrize("option", ["--labels", "--constraints", "--join"])
def test_export_never_overwrites_the_session_or_its_data(asked, run, target, option):
    before = (asked / "c.csv").read_bytes()
    done = run("export", "c.csv", option, target, "--force")
    assert done.exit_code == 2
    assert "never overwritten" in done.stderr
    assert (asked / "c.csv").read_bytes() == before
    assert "3 answers" in run("status", "c.csv").stdout


def test_clusters_and_pairs_need_two_files(asked, run):
    done = run("export", "c.csv", "--labels", "o.csv", "--constraints", "./o.csv")
    assert done.exit_code == 2
    assert "two files" in done.stderr
    assert not (asked / "o.csv").exists()


def test_the_advised_command_keeps_the_answers(asked, run):
    refused = run("ask", "c.csv", "--scale", "standard", said="")
    assert refused.exit_code == 2
    advice = re.search(r"Add (--\w+) to", refused.stderr)[1]
    with Session.open(asked / "c.csv.linkwise") as session:
        before = session.events
    assert run("ask", "c.csv", "--scale", "standard", advice, said="q\n").exit_code == 0
    with Session.open(asked / "c.csv.linkwise") as session:
        assert session.events == before


def test_taking_over_nothing_is_refused(asked, run):
    done = run("ask", "c.csv", "--session", "N.linkwise", "--from", "c.csv.linkwise", said="q\n")
    assert done.exit_code == 3
    assert "--id COLUMN" in done.stderr
    assert not (asked / "N.linkwise").exists()


def test_a_session_is_not_taken_over_into_itself(asked, run):
    done = run("ask", "c.csv", "--from", "c.csv.linkwise", said="q\n")
    assert done.exit_code == 2
    assert "the session itself" in done.stderr
