"""`--warp` on the command line: the session's settings, a replay, and what does not go with it."""

import numpy as np
import pytest

from linkwise.session.session import Session


@pytest.fixture
def path(tmp_path):
    walks = np.random.default_rng(0).normal(size=(20, 16)).cumsum(axis=1)
    lines = [",".join([f"w{n}", *(f"{v:.3f}" for v in walk)]) for n, walk in enumerate(walks)]
    head = ",".join(["id", *(f"t{k:02}" for k in range(16))])
    (tmp_path / "walks.csv").write_text("\n".join([head, *lines]) + "\n")
    return tmp_path / "walks.csv"


def words(text):
    return " ".join(text.split())


def test_a_session_keeps_it(path, tmp_path, linkwise):
    linkwise("ask", path, "--series", said="n\nq\n")
    refused = linkwise("ask", path, "--warp", "--series", said="q\n")
    assert (refused.exit_code, "without --warp" in words(refused.stderr)) == (2, True)
    changed = linkwise("ask", path, "--series", "--warp", "--replay", said="q\n")
    assert changed.exit_code == 0, changed.stderr
    assert "compared by dynamic time warping" in words(changed.stdout)
    resumed = words(linkwise("ask", path, said="y\nq\n").stdout)
    assert "resumed: 1 answer" in resumed
    with Session.open(tmp_path / "walks.csv.linkwise") as kept:
        assert kept.source["choices"]["warp"] is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--warp",), "--warp is about curves. Add --series"),
        (("--warp", "--text", "id"), "--warp is about curves"),
        (("--warp", "--series", "--groups", "5"), "--warp is for data that are read at once"),
    ],
)
def test_what_does_not_go_with_it(path, linkwise, options, message):
    done = linkwise("ask", path, *options)
    assert done.exit_code == 2
    assert message in words(done.stderr)
