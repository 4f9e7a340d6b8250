"""Before the first question: the shares of the columns, and a command that reads the data better."""

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "data"
sys.path.insert(0, str(EXAMPLES))
import make_everyday  # noqa: E402

SETS = {
    "customers": ("customers.csv", ["--id", "customer", "--merge-variants"]),
    "tickets": ("tickets.jsonl", ["--id", "ticket", "--text", "body"]),
    "products": ("products.csv", ["--id", "sku", "--text", "title", "--image", "picture"]),
    "sensors": ("sensors.csv", ["--id", "sensor", "--series"]),
    "articles": ("articles.npy", ["--show", "titles.csv"]),  # the cosine is chosen without an option
    "contacts": (
        "contacts.csv",
        ["--text", "name,street,town,phone", "--text-by", "letters", "--method", "records"],
    ),
}


def find_command(done):
    """The command that is proposed, as a shell takes it apart; None if there is none."""
    for line in done.stdout.splitlines():
        if line.strip().startswith("linkwise ask"):
            return shlex.split(line)
        if line.startswith("go on "):
            break
    _, found, command = done.stderr.partition("Or try: ")
    return shlex.split(command) if found else None


@pytest.mark.parametrize("name", SETS)
def test_the_proposed_command_reads_each_everyday_set(tmp_path, linkwise, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, [name], 0.1 if name != "contacts" else 0.3, seed=7)
    file, options = SETS[name]
    command = find_command(linkwise("ask", file, "--budget", 0))
    assert command == ["linkwise", "ask", file, *options]
    if command is not None:
        done = linkwise(*command[1:], "--budget", 0)
        assert done.exit_code == 0, done.stderr
        assert find_command(done) is None
        assert ("record linkage" in " ".join(done.stdout.split())) == (name == "contacts")


def test_the_proposed_command_says_again_what_was_given(tmp_path, linkwise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, ["customers"], 0.1, seed=7)
    command = find_command(linkwise("ask", "customers.csv", "--impute", "median", "--budget", 0))
    assert command is not None
    assert command[command.index("--impute") + 1] == "median"


@pytest.mark.parametrize(
    "others", [["--constraints", "pairs.csv"], ["--method", "cobras"], ["--error-rate", 0]]
)
def test_no_command_without_the_other_options_is_proposed(tmp_path, linkwise, monkeypatch, others):
    """It would begin a session without the pairs."""
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, ["contacts"], 0.3, seed=7)
    done = linkwise("ask", "contacts.csv", *others, "--budget", 0)
    assert done.exit_code == 3
    assert "Or try" not in done.stderr
    words = shlex.split(done.stderr.rpartition("Or add these options to the command: ")[2])
    assert words == ["--text", "name,street,town,phone", "--text-by", "letters"]


def test_names_are_quoted_for_the_shell_and_the_list(tmp_path, linkwise):
    data, session = tmp_path / "my rows.csv", tmp_path / "a b.linkwise"
    lines = [f"k{n},the {word} is late {n},{n % 3}" for n, word in enumerate(["lamp", "parcel"] * 10)]
    data.write_text("\n".join(['my row,"what, exactly?",size', *lines]), encoding="utf-8")
    command = find_command(linkwise("ask", data, "--session", session, "--budget", 0))
    given = ["--id", "my row", "--text", '"what, exactly?"']
    assert command == ["linkwise", "ask", str(data), *given, "--session", str(session)]
    done = linkwise(*command[1:], "--budget", 0)
    assert done.exit_code == 0, done.stderr
    assert "Rows are compared by the texts of 'what, exactly?' alone" in " ".join(done.stdout.split())


def test_nothing_is_proposed_once_there_are_answers(tmp_path, linkwise):
    data = tmp_path / "rows.csv"
    data.write_text("\n".join(["a,b", *(f"{n % 5},{n}" for n in range(20))]), encoding="utf-8")
    begun = linkwise("ask", data, said="y\nq\n")
    assert "Influence of each column" in " ".join(begun.stdout.split())
    assert find_command(begun) == ["linkwise", "ask", str(data), "--id", "b"]
    resumed = linkwise("ask", data, said="q\n")
    assert "Shares" not in resumed.stdout
    assert find_command(resumed) is None


def test_a_command_for_a_file_that_cannot_be_read_keeps_what_was_given(tmp_path, linkwise):
    data = tmp_path / "rows.csv"
    spellings = [
        how(f"word {n % 20}") for how in (str, str.upper, str.title, str.swapcase) for n in range(80)
    ]
    data.write_text("\n".join(["row,a", *(f"k{n},{word}" for n, word in enumerate(spellings))]))
    refused = linkwise("ask", data, "--scale", "standard")
    assert refused.exit_code == 3
    assert find_command(refused)[3:] == ["--scale", "standard", "--merge-variants"]
    named = data.with_name("named.csv")
    named.write_text(data.read_text().replace("row,", "mark,id,").replace("\nk", "\nm,k"), encoding="utf-8")
    assert find_command(linkwise("ask", named))[3:] == ["--merge-variants"]


def test_a_program_hears_of_the_proposal(tmp_path, linkwise):
    data = tmp_path / "rows.csv"
    data.write_text("\n".join(["a,b", *(f"{n % 5},{n}" for n in range(20))]), encoding="utf-8")
    done = linkwise("ask", data, "--json", "--budget", 0)
    assert f"linkwise: linkwise ask {shlex.quote(str(data))} --id b" in done.stderr


def test_rows_of_bare_numbers_are_better_shown_by_another_table(tmp_path, linkwise):
    path, titles = tmp_path / "vectors.npy", tmp_path / "titles.csv"
    np.save(path, np.random.default_rng(0).normal(size=(40, 64)))
    (tmp_path / "vectors-clusters.csv").write_text("".join(f"{n},0\n" for n in ["id,cluster", *range(40)]))
    (tmp_path / "aside.csv").write_text("title\nanother number of rows\n")
    note = "Nobody can judge two rows by 64 numbers. --show FILE shows another table instead"
    assert note in " ".join(linkwise("ask", path, said="q\n").stdout.split())
    path.with_name("vectors.npy.linkwise").unlink()
    titles.write_text("\n".join(["title", *(f"title {n}" for n in range(40))]) + "\n")
    done = linkwise("ask", path, said="q\n")
    assert "titles.csv has a row for each: title. To see it instead:" in " ".join(done.stdout.split())
    assert find_command(done) == ["linkwise", "ask", str(path), "--show", str(titles)]
    told = linkwise("ask", path, "--show", titles, said="q\n").stdout
    assert "title 1" in told
    assert "Nobody can judge" not in told


def test_a_folder_that_cannot_be_listed_has_no_other_table(tmp_path, linkwise, monkeypatch):
    path = tmp_path / "vectors.npy"
    np.save(path, np.random.default_rng(0).normal(size=(40, 64)))

    def forbid(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr("pathlib.Path.iterdir", forbid)
    done = linkwise("ask", path, said="q\n")
    assert done.exit_code == 0, done.output
    assert "--show FILE shows another table instead" in " ".join(done.stdout.split())
