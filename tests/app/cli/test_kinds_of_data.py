"""Texts, folders and curves through every command: asked about, resumed, explained, exported, clustered."""

import json
import shlex
from dataclasses import fields

import numpy as np
import pytest
from PIL import Image

from linkwise.app.project import origin
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import DATA_OPTIONS, OF_FOLDERS, write_reading
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading, ReadingOptions
from linkwise.session.session import Session

QUICK = ("--method", "copkmeans", "--clusters", "2")
N = 24


def write_texts(folder):
    """Reviews of two kinds, by turns."""
    rng = np.random.default_rng(1)
    kinds = (["sail", "harbour", "ship", "tide", "anchor"], ["oven", "flour", "dough", "yeast", "crust"])
    common = [f"w{k}" for k in range(12)]
    path = folder / "reviews.jsonl"
    rows = [
        {
            "id": f"r{i}",
            "review": " ".join([*rng.choice(kinds[i % 2], 4), *rng.choice(common, 3)]),
            "stars": i % 5,
        }
        for i in range(N)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_images(folder):
    """Pictures with lines across and down, by turns."""
    rng = np.random.default_rng(2)
    path = folder / "photos"
    path.mkdir()
    for i in range(N):
        lines = 200 * ((np.arange(24) + i) // 4 % 2)[:, None] + rng.integers(0, 30, (24, 24))
        Image.fromarray((lines if i % 2 else lines.T).astype(np.uint8)).save(path / f"p{i:02}.png")
    return path


def write_curves(folder):
    """Curves that rise and that fall, by turns."""
    rng = np.random.default_rng(3)
    path = folder / "curves.csv"
    lines = [",".join(["id", "place", *(f"t{k}" for k in range(12))])]
    for i in range(N):
        curve = np.linspace(0, 9, 12) * (1 if i % 2 else -1) + rng.normal(5 * i, 0.5, 12)
        lines.append(f"c{i},here," + ",".join(f"{v:.2f}" for v in curve))
    path.write_text("\n".join(lines) + "\n")
    return path


class Kind:
    """Data of one kind, with the options that say so."""

    def __init__(self, folder, name):
        write, self.options = {
            "text": (write_texts, ("--text", "review")),
            "image": (write_images, ()),
            "series": (write_curves, ("--series",)),
        }[name]
        self.name, self.path = name, write(folder)
        inside = self.path / "session.linkwise"
        self.session = inside if self.path.is_dir() else self.path.with_name(self.path.name + ".linkwise")


@pytest.fixture(params=["text", "image", "series"])
def kind(request, tmp_path):
    return Kind(tmp_path, request.param)


def events(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def answered(linkwise, kind):
    """A session answered by the truth until nothing is left to ask."""
    linkwise("ask", kind.path, *kind.options, said="q\n")
    with open_project(kind.path, kind.session, Reading(), MethodChoice()).session as session:
        while (question := session.question) is not None:
            session.answer("yes" if question.first % 2 == question.second % 2 else "no")


def positions(kind):
    """The position of a row is told by its name."""
    return {f"{p}{i:02}.png" if kind.name == "image" else f"{p}{i}": i for i in range(N) for p in "rpc"}


# ---------------------------------------------------------------- asked about
def test_a_session_finds_the_groups_and_exports_them(kind, linkwise):
    answered(linkwise, kind)
    lines = linkwise("export", kind.path).stdout.splitlines()[1:]
    clusters = {}
    for line in lines:
        name, cluster = line.split(",")
        clusters.setdefault(cluster, set()).add(positions(kind)[name] % 2)
    assert len(lines) == N
    assert len(clusters) == 2
    assert all(len(kinds) == 1 for kinds in clusters.values())


def test_clusters_stand_beside_the_rows_of_every_kind(kind, linkwise, tmp_path):
    answered(linkwise, kind)
    target = tmp_path / "joined.jsonl"
    assert linkwise("export", kind.path, "--join", target).exit_code == 0
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    names = [row["file" if kind.name == "image" else "id"] for row in rows]
    labels = linkwise("export", kind.path).stdout.splitlines()[1:]
    assert [f"{name},{row['cluster']}" for name, row in zip(names, rows, strict=True)] == labels
    assert all(0 < row["confidence"] <= 1 for row in rows)


def test_it_is_shown_as_what_it_is(kind, linkwise):
    said = linkwise("ask", kind.path, *kind.options, said="q\n").stdout
    flat = " ".join(said.split())
    if kind.name == "text":
        assert "Rows are compared by the texts of 'review' alone; only shown: stars." in flat
        assert "stars" in said.partition("Question 1")[2]
        assert any(word in said.partition("Question 1")[2] for word in ("sail", "oven", "dough", "tide"))
    elif kind.name == "image":
        assert "50 components" not in said
        assert "Images are compared by their edges, brightness and colour" in flat
        assert "████" in said.partition("Question 1")[2]
    else:
        assert "Each row is a curve of 12 samples, the columns t0 to t11; only shown: place." in flat
        assert "⠤" in said or "⣀" in said or "⡠" in said
        assert "both from" in said


def test_a_program_is_told_what_a_person_sees(kind, linkwise):
    question = events(linkwise("ask", kind.path, *kind.options, "--json", said=""))[0]
    item = question["items"][0]
    if kind.name == "text":
        assert set(item) == {"review", "stars"}
    elif kind.name == "image":
        assert item == {}
        assert question["ids"][0].endswith(".png")
    else:
        assert set(item) == {"place", "series"}
        assert len(item["series"]) == 12


@pytest.mark.slow
def test_a_session_is_resumed_without_the_options(kind, linkwise):
    linkwise("ask", kind.path, *kind.options, said="n\ny\nq\n")
    for again in (("ask", kind.path), ("ask", kind.path, *kind.options), ("ask", kind.session)):
        done = linkwise(*again, said="q\n")
        assert done.exit_code == 0, done.stderr
        assert "resumed: 2 answers" in done.stdout
    linkwise("undo", kind.path)
    done = linkwise("export", kind.path)  # computed anew, from the data
    assert (done.exit_code, done.stderr) == (0, "")
    assert "1 answer" in linkwise("status", kind.path).stdout


def test_options_that_differ_on_resume_are_refused(tmp_path, linkwise):
    plain = write_curves(tmp_path)
    linkwise("ask", plain, "--as-is", said="n\nq\n")
    for option in (("--series",), ("--text", "place")):
        done = linkwise("ask", plain, *option, said="q\n")
        assert done.exit_code == 2
        assert option[0] in done.stderr
    texts = Kind(tmp_path, "text")
    linkwise("ask", texts.path, *texts.options, said="n\nq\n")
    done = linkwise("ask", texts.path, "--text", "id", said="q\n")
    assert (done.exit_code, "was begun with --text review, not --text id" in done.stderr) == (2, True)
    assert linkwise("ask", texts.path, "--scale", "unit", said="q\n").exit_code == 2


def test_changed_data_are_noticed(kind, linkwise):
    linkwise("ask", kind.path, *kind.options, said="n\nq\n")
    if kind.name == "image":
        (kind.path / "p00.png").unlink()
    else:
        lines = kind.path.read_text().splitlines()
        kind.path.write_text("\n".join(lines[:-1]) + "\n")
    done = linkwise("ask", kind.path, said="q\n")
    assert done.exit_code == 3
    assert done.stderr.endswith(f"linkwise ask {kind.path} --replay\n")
    replayed = linkwise("ask", kind.path, "--replay", said="q\n")
    if replayed.exit_code == 0:
        assert "1 answer replayed on the present rows" in " ".join(replayed.stdout.split())
    else:  # the row that is gone had an answer
        command = shlex.split(replayed.stderr.rpartition(": linkwise ")[2])
        assert set(kind.options) < set(command)


# ---------------------------------------------------------------- explained
@pytest.mark.slow
def test_texts_are_explained_by_their_words(tmp_path, linkwise):
    kind = Kind(tmp_path, "text")
    answered(linkwise, kind)
    said = linkwise("explain", kind.path).stdout
    assert "The words that tell each cluster from the others:" in said
    assert "of its texts, in 0% of the others" in said
    told = json.loads(linkwise("explain", kind.path, "--json").stdout)
    assert told["type"] == "words"
    words = [{w["word"] for w in cluster["words"]} for cluster in told["clusters"]]
    assert {frozenset(w & {"sail", "oven", "ship", "dough"}) for w in words} >= {frozenset({"sail", "ship"})}
    assert [cluster["rows"] for cluster in told["clusters"]] == [12, 12]


def test_texts_of_a_file_of_labels_too(tmp_path, linkwise):
    kind = Kind(tmp_path, "text")
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "id,cluster\n" + "".join(f"r{i},{'sea' if i % 2 == 0 else 'bread'}\n" for i in range(N))
    )
    said = linkwise("explain", kind.path, "--labels", labels, *kind.options).stdout
    assert "cluster bread: 12 rows" in said


@pytest.mark.parametrize(
    "option", [("--format", "tree"), ("--max-leaves", "3"), ("--fidelity", "1"), ("--plot", "p.png")]
)
def test_what_is_about_rules_is_refused_for_texts(tmp_path, linkwise, option, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind = Kind(tmp_path, "text")
    linkwise("ask", kind.path, *kind.options, said="n\nq\n")
    done = linkwise("explain", kind.path, *option)
    assert done.exit_code == 2
    assert f"{option[0]} is about rules on columns, which texts do not have." in done.stderr


@pytest.mark.parametrize("name", ["image", "series"])
def test_others_have_no_rules_but_examples_and_reasons(tmp_path, linkwise, name):
    kind = Kind(tmp_path, name)
    linkwise("ask", kind.path, *kind.options, said="n\nq\n")
    done = linkwise("explain", kind.path)
    assert done.exit_code == 0, done.output
    assert "--rows A B" in done.stderr
    n_clusters = done.stdout.count("typical rows: ")
    assert n_clusters == sum(line.startswith("cluster ") for line in done.stdout.splitlines()) > 0
    assert done.stdout.count("mean curve, from ") == (n_clusters if name == "series" else 0)
    told = json.loads(linkwise("explain", kind.path, "--json").stdout)
    assert told["type"] == "examples"
    assert len(told["clusters"]) == n_clusters
    refused = linkwise("explain", kind.path, "--format", "tree").stderr
    assert "which images do not have" in refused or "which curves do not have" in refused
    with Session.open(kind.session) as session:
        event = session.history[0]
        pair = [session.ids[row] for row in (event.first, event.second)]
    said = linkwise("explain", kind.path, "--rows", *pair).stdout
    assert f"Answers decide: {pair[0]} ≠ {pair[1]}." in said


# ---------------------------------------------------------------- clustered
def test_clustered_by_pairs(kind, tmp_path, linkwise):
    names = sorted(positions(kind), key=lambda name: positions(kind)[name])
    first = {"text": "r", "image": "p", "series": "c"}[kind.name]
    names = [name for name in names if name.startswith(first)]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"id_a,id_b,kind\n{names[0]},{names[2]},must-link\n{names[0]},{names[1]},cannot-link\n")
    done = linkwise("cluster", kind.path, *kind.options, *QUICK, "--constraints", pairs)
    assert done.exit_code == 0, done.stderr
    found = dict(line.split(",") for line in done.stdout.splitlines()[1:])
    assert len({found[name] for name in names[::2]}) == 1
    assert len(set(found.values())) == 2


def test_clusilc_has_no_columns_to_make_rules_of(kind, linkwise):
    done = linkwise("cluster", kind.path, *kind.options, "--method", "clusilc", "--clusters", 2)
    assert done.exit_code == 2
    assert "clusilc makes rules on columns" in done.stderr


# ---------------------------------------------------------------- wrong use
@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("image", ("--text", "a"), "is a folder"),
        ("image", ("--series",), "is a folder"),
        ("image", ("--id", "a"), "is a folder"),
        ("image", ("--scale", "unit"), "is a folder"),
        ("text", ("--text", "review", "--metric", "cosine"), "Remove --metric"),
        ("text", ("--text", "review", "--weight", "stars"), "Invalid value 'stars' for --weight"),
        ("text", ("--text", "review", "--weight", "stars=-1"), "Invalid value 'stars=-1' for --weight"),
        ("text", ("--text", "review", "--weight", "stars=1,stars=2"), "'stars' twice"),
        ("text", ("--text-by", "letters"), "Add --text."),
        ("series", ("--series", "--weight", "t0=2"), "Remove --weight"),
        ("series", ("--series", "--metric", "cosine"), "Remove --metric"),
        ("series", ("--metric", "cosine", "--scale", "unit"), "Remove --scale"),
        ("image", ("--weight", "a=2"), "is a folder"),
        ("text", ("--text", "review", "--scale", "unit"), "Remove --scale"),
        ("text", ("--text", "review", "--impute", "median"), "Remove --impute"),
        ("text", ("--text", "review", "--merge-variants"), "Remove --merge-variants"),
        ("text", ("--text", "review", "--as-categories", "stars"), "Remove --as-categories"),
        ("series", ("--series", "--merge-variants"), "Remove --merge-variants"),
        ("text", ("--text", "review", "--series"), "Remove --series"),
        ("text", ("--text", "review", "--skip-broken"), "--skip-broken is for folders"),
        ("series", ("--series", "--impute", "median"), "Remove --impute"),
    ],
)
@pytest.mark.parametrize("command", ["ask", "cluster"])
def test_options_that_do_not_go_together(tmp_path, linkwise, command, name, options, said):
    kind = Kind(tmp_path, name)
    done = linkwise(command, kind.path, *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not kind.session.exists()


def test_a_column_that_is_no_text(tmp_path, linkwise):
    kind = Kind(tmp_path, "text")
    done = linkwise("ask", kind.path, "--text", "stars")
    assert (done.exit_code, "reviews.jsonl: Column 'stars' holds numbers" in done.stderr) == (3, True)


@pytest.mark.slow
def test_broken_images_are_left_out_only_when_asked(tmp_path, linkwise):
    kind = Kind(tmp_path, "image")
    (kind.path / "bad.png").write_bytes(b"broken")
    done = linkwise("ask", kind.path, said="q\n")
    assert (done.exit_code, "bad.png" in done.stderr, "--skip-broken" in done.stderr) == (3, True, True)
    done = linkwise("ask", kind.path, "--skip-broken", said="n\nq\n")
    assert "1 file left out: bad.png" in " ".join(done.stdout.split())
    assert "resumed: 1 answer" in linkwise("ask", kind.path, said="q\n").stdout


def test_a_folder_by_another_name(tmp_path, linkwise, monkeypatch):
    kind = Kind(tmp_path, "image")
    monkeypatch.chdir(kind.path)
    linkwise("ask", ".", said="n\nq\n")
    assert kind.session.exists()
    assert "1 answer" in linkwise("status", ".").stdout
    monkeypatch.chdir(tmp_path)
    assert "resumed: 1 answer" in linkwise("ask", "photos/", said="q\n").stdout


def test_without_pillow_the_message_says_what_to_install(tmp_path, linkwise, monkeypatch):
    kind = Kind(tmp_path, "image")
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    done = linkwise("ask", kind.path, said="q\n")
    assert done.exit_code == 2
    assert 'pip install "linkwise[app]"' in done.stderr


# ---------------------------------------------------------------- options
def test_every_data_option_is_read_and_may_stand_in_a_session_file():
    options = {one.name for one in fields(Reading)}
    assert options == ReadingOptions.__annotations__.keys()
    assert options - {"kind"} == DATA_OPTIONS.keys()
    assert options - {"scale", "impute", "skip_broken", "kind"} == origin.OF_FILES.keys()
    assert {*OF_FOLDERS, "kind"} == origin.OF_FOLDERS.keys()


def test_options_are_written_as_they_are_typed():
    reading = Reading(columns=("a,b", "c"), scale="none", series=True, drop=())
    assert write_reading(reading) == ("--columns", '"a,b",c', "--scale", "none", "--series")
    assert DATA_OPTIONS["series"].to_words(None) == DATA_OPTIONS["series"].to_words(False) == ()


# ---------------------------------------------------------------- what is in a column
def test_a_session_keeps_its_encoding_and_its_merged_variants(tmp_path, linkwise):
    path = tmp_path / "towns.csv"
    towns = ["Köln", "köln", "Düren", "Köln "] * 3
    lines = "".join(f"{town},{n}\n" for n, town in enumerate(towns))
    path.write_bytes(f"town,size\n{lines}".encode("cp1252"))
    begun = linkwise("ask", path, "--as-is", said="n\nq\n")
    assert "It is read as Windows-1252" in words(begun.stdout)
    assert "3 spellings of 'Köln'" in words(begun.stdout)
    refused = linkwise("ask", path, "--merge-variants", said="q\n")
    assert (refused.exit_code, "was begun without --merge-variants" in words(refused.stderr)) == (2, True)
    session = tmp_path / "other.linkwise"
    how = ("--merge-variants", "--encoding", "latin-1", "--session", session)
    begun = linkwise("ask", path, *how, said="n\nq\n")
    assert "6 cells spelled otherwise count as one value each" in words(begun.stdout)
    for options in (how, how[3:]):
        assert "resumed: 1 answer" in linkwise("ask", path, *options, said="q\n").stdout
    unknown = linkwise("ask", path, "--encoding", "latin7000")
    assert (unknown.exit_code, "--encoding: The encoding 'latin7000' is unknown" in unknown.stderr) == (
        2,
        True,
    )


def words(text):
    """The text without its line breaks and indents."""
    return " ".join(text.split())


# ---------------------------------------------------------------- blocks
def test_a_session_keeps_its_blocks_and_weights(tmp_path, linkwise):
    path = write_texts(tmp_path)
    given = ("--text", "review", "--columns", "stars", "--weight", "review=2,stars=0.5")
    begun = linkwise("ask", path, *given, said="y\nq\n")
    assert begun.exit_code == 0, begun.stderr
    assert "Weights are review 2, stars 0.5" in words(begun.stdout)
    for again in ((), given):
        resumed = linkwise("ask", path, *again, said="q\n")
        assert (resumed.exit_code, "1 answer" in words(resumed.stdout)) == (0, True)
    refused = linkwise("ask", path, "--weight", "stars=3", said="q\n")
    assert refused.exit_code == 2
    assert "was begun with --weight review=2,stars=0.5, not --weight stars=3" in words(refused.stderr)
    unknown = linkwise(
        "ask", path, "--as-is", "--weight", "star=3", "--session", tmp_path / "x.linkwise", said="q\n"
    )
    assert (unknown.exit_code, "Did you mean 'stars'" in words(unknown.stderr)) == (3, True)


def test_a_folder_holds_its_session(tmp_path, linkwise, monkeypatch):
    """Whatever the folder is called, and wherever the person stands."""
    photos = write_images(tmp_path)
    monkeypatch.chdir(photos)
    begun = linkwise("ask", ".", "--terminal", said="y\nq\n")
    assert begun.exit_code == 0, begun.stderr
    assert (photos / "session.linkwise").exists()
    assert list(tmp_path.iterdir()) == [photos]
    assert "Other files are not read" not in begun.stdout
    monkeypatch.chdir(tmp_path)
    photos.rename("pictures")
    resumed = linkwise("ask", "pictures", "--terminal", said="q\n")
    assert "resumed: 1 answer" in resumed.stdout
    assert "24 rows" in linkwise("status", "pictures").stdout
