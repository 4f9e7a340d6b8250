"""Before the first question: what the values decide, the shares of columns, and how to decide otherwise."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "data"
sys.path.insert(0, str(EXAMPLES))
import make_everyday  # noqa: E402

from linkwise.session.session import Session  # noqa: E402

SETS = {
    "customers": ("customers.csv", ["--id", "customer", "--merge-variants"]),
    "tickets": ("tickets.jsonl", ["--id", "ticket", "--text", "body"]),
    "products": ("products.csv", ["--id", "sku", "--text", "title", "--image", "picture"]),
    "sensors": ("sensors.csv", ["--id", "sensor", "--series"]),
    "articles": ("articles.npy", ["--show", "titles.csv"]),  # the cosine is chosen without an option
    "contacts": ("contacts.csv", ["--text", "name,street,town,phone", "--text-by", "letters"]),
}
SLOW, NIGHTLY = ("articles", "contacts"), pytest.mark.slow(nightly=True)
NUMBERS = "\n".join(["a,b", *(f"{n % 5},{n}" for n in range(20))])


def find_command(done):
    """The command that decides otherwise, as a shell takes it apart; None if nothing was decided."""
    for line in done.stdout.splitlines():
        if line.strip().startswith("linkwise ask"):
            return shlex.split(line)
        if line.startswith("go on "):
            break
    return None


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NIGHTLY) if name in SLOW else name for name in SETS]
)
def test_each_everyday_set_is_read_well_without_options(tmp_path, linkwise, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, [name], 0.1 if name != "contacts" else 0.3, seed=7)
    file, options = SETS[name]
    done = linkwise("ask", file, "--budget", 0)
    assert done.exit_code == 0, done.stderr
    as_is = [] if name == "articles" else ["--as-is"]
    assert find_command(done) == ["linkwise", "ask", file, *options, *as_is]
    with Session.open(tmp_path / f"{file}.linkwise") as begun:
        learner, choices = begun.learner["name"], begun.source["choices"]
    assert learner == ("RecordLinkage" if name == "contacts" else "KIN")
    Path(f"{file}.linkwise").unlink()
    again = linkwise("ask", file, *options, "--as-is", "--budget", 0)
    assert again.exit_code == 0, again.stderr
    assert find_command(again) is None
    with Session.open(tmp_path / f"{file}.linkwise") as explicit:
        assert explicit.source["choices"] == choices


@pytest.mark.parametrize("option", ["--origin", "--same"])
def test_an_option_of_records_links_records(tmp_path, linkwise, monkeypatch, option):
    """No table has to look like one of duplicates then, and no method has to be named."""
    monkeypatch.chdir(tmp_path)
    lines = [f"red chair number {n % 9},{'north' if n < 9 else 'south'},{n}" for n in range(18)]
    Path("goods.csv").write_text("\n".join(["title,shop,price", *lines]))
    done = linkwise("ask", "goods.csv", option, "shop", "--budget", 0)
    assert done.exit_code == 0, done.stderr
    with Session.open(tmp_path / "goods.csv.linkwise") as begun:
        assert begun.learner["name"] == "RecordLinkage"
        assert begun.learner["parameters"][option.strip("-")] == "shop"


def test_what_is_given_stays(tmp_path, linkwise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, ["customers"], 0.1, seed=7)
    command = find_command(linkwise("ask", "customers.csv", "--scale", "standard", "--budget", 0))
    assert command is not None
    assert command[command.index("--scale") + 1] == "standard"


def test_a_method_that_is_given_stays(tmp_path, linkwise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, ["contacts"], 0.3, seed=7)
    linkwise("ask", "contacts.csv", "--method", "cobras", "--budget", 0)
    with Session.open(tmp_path / "contacts.csv.linkwise") as session:
        assert session.learner["name"] == "COBRAS"


def test_names_are_quoted_for_the_shell_and_the_list(tmp_path, linkwise):
    data, session = tmp_path / "my rows.csv", tmp_path / "a b.linkwise"
    lines = [f"k{n},the {word} is late {n},{n % 3}" for n, word in enumerate(["lamp", "parcel"] * 10)]
    data.write_text("\n".join(['my row,"what, exactly?",size', *lines]), encoding="utf-8")
    done = linkwise("ask", data, "--session", session, "--budget", 0)
    given = ["--id", "my row", "--text", '"what, exactly?"', "--as-is"]
    assert find_command(done) == ["linkwise", "ask", str(data), *given, "--session", str(session)]
    assert re.search(r"what, exactly\? +text +compare", done.stdout)


def test_nothing_is_decided_again_once_there_are_answers(tmp_path, linkwise):
    data = tmp_path / "rows.csv"
    data.write_text(NUMBERS, encoding="utf-8")
    begun = linkwise("ask", data, said="y\nq\n")
    assert find_command(begun) == ["linkwise", "ask", str(data), "--id", "b", "--as-is"]
    data.write_text(NUMBERS.replace("\n0,0", "\n0,77"), encoding="utf-8")  # no row counter any more
    resumed = linkwise("ask", data, said="q\n")
    assert "Decided" not in resumed.stdout
    assert find_command(resumed) is None
    with Session.open(tmp_path / "rows.csv.linkwise") as session:
        assert session.source["choices"]["id_column"] == "b"


def test_as_is_takes_nothing_from_the_values(tmp_path, linkwise):
    data = tmp_path / "rows.csv"
    data.write_text(NUMBERS, encoding="utf-8")
    done = linkwise("ask", data, "--as-is", "--budget", 0)
    assert "Decided" not in done.stdout
    assert re.search(r"1 +a +number +compare", done.stdout)
    assert re.search(r"2 +b +number +compare", done.stdout)
    with Session.open(tmp_path / "rows.csv.linkwise") as session:
        assert session.source["choices"]["id_column"] is None


def test_a_program_hears_of_what_was_decided(tmp_path, linkwise):
    data = tmp_path / "rows.csv"
    data.write_text(NUMBERS, encoding="utf-8")
    done = linkwise("ask", data, "--json", "--budget", 0)
    assert "linkwise: The values suggest: 'b' identifies the rows" in done.stderr
    assert f"linkwise: linkwise ask {shlex.quote(str(data))} --id b --as-is" in done.stderr


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


def test_status_shows_the_command_that_reads_the_data_in_the_same_way(tmp_path, linkwise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_everyday.make(tmp_path, ["customers"], 0.1, seed=7)
    linkwise("ask", "customers.csv", said="y\nq\n")
    command = json.loads(linkwise("status", "customers.csv", "--json").stdout)["command"]
    assert f"begun by {command} " in " ".join(linkwise("status", "customers.csv").stdout.split())
    assert command == "linkwise ask customers.csv --id customer --delimiter , --merge-variants --as-is"
    again = linkwise(*shlex.split(command)[1:], "--budget", 1)
    assert "resumed: 1 answer" in again.stdout
    assert "from now on" not in again.stdout


# ---------------------------------------------------------------- without questions
PEOPLE = [
    f"C{n:02},{20 + n * 7 % 40},{(1 + n % 9) ** 5},a note about row{n} and more words" for n in range(40)
]


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["customer,age,income,note", *PEOPLE]) + "\n")
    (tmp_path / "ids.csv").write_text("id_a,id_b,kind\nC00,C01,must-link\n")
    (tmp_path / "places.csv").write_text("id_a,id_b,kind\n0,1,must-link\n")
    return path


@pytest.mark.parametrize("method", [["pckmeans"], ["clusilc"]], ids=["distances", "rules"])
def test_clusters_are_made_and_explained_of_what_the_values_suggest(people, linkwise, method):
    done = linkwise("cluster", people, "--constraints", "ids.csv", "--method", *method, "--clusters", 3)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("C00,")
    assert "The values suggest: 'customer' identifies the rows" in " ".join(done.stderr.split())
    Path("clusters.csv").write_text(done.stdout)
    explained = linkwise("explain", people, "--labels", "clusters.csv")
    assert explained.exit_code == 0, explained.stderr


def test_clusters_as_is(people, linkwise):
    done = linkwise(
        "cluster", people, "--as-is", "--constraints", "places.csv", "--method", "pckmeans", "--clusters", 3
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("0,")
    Path("clusters.csv").write_text(done.stdout)
    assert linkwise("explain", people, "--labels", "clusters.csv", "--as-is").exit_code == 0


each_reader = pytest.mark.parametrize(
    "command", [["cluster", "--preset", "quick"], ["ask", "--budget", 0]], ids=["cluster", "ask"]
)


@each_reader
def test_pairs_by_position_are_read_so_where_the_values_suggested_the_id(people, linkwise, command):
    done = linkwise(command[0], people, "--constraints", "places.csv", *command[1:])
    assert done.exit_code == 0, done.stderr
    said = " ".join((done.stderr + done.stdout).split())
    assert "names no row by 'customer', so its numbers are positions, counted from 0" in said


def test_pairs_by_position_are_read_so_later_too(people, linkwise):
    said = "names no row by 'customer', so its numbers are positions, counted from 0"
    assert linkwise("ask", people, "--budget", 0).exit_code == 0
    again = linkwise("ask", people, "--constraints", "places.csv", "--budget", 0)
    assert again.exit_code == 0, again.stderr
    assert said in " ".join(again.stdout.split())
    assert "imported from places.csv" in " ".join(again.stdout.split())
    linkwise("export", people, "--labels", "labels.csv")
    told = linkwise("explain", people, "--labels", "labels.csv", "--constraints", "places.csv")
    assert told.exit_code == 0, told.stderr
    assert said in " ".join((told.stdout + told.stderr).split())


@each_reader
def test_pairs_of_which_some_are_by_id_are_not_taken_for_positions(people, linkwise, command):
    known = Path(people).read_text().splitlines()[1].split(",")[0]
    Path("places.csv").write_text(f"id_a,id_b,kind\n0,1,must-link\n{known},2,must-link\n")
    done = linkwise(command[0], people, "--constraints", "places.csv", *command[1:])
    assert done.exit_code == 3
    said = " ".join(done.stderr.split())
    assert "names a row that does not exist: id_a is '0'" in said
    assert "identifies rows by 'customer'. Use --as-is to identify them by their positions" in said
