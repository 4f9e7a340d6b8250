"""``linkwise explain`` and ``export --join`` where people do not see what is compared."""

import json
from pathlib import Path

import numpy as np
import pytest

from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading
from linkwise.learn.oracles import TruthOracle
from session.session_examples import answer_by

N = 60
SUBJECTS = ("opera", "rugby", "chess", "sailing")
TRUTH = [at % 4 for at in range(N)]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Embeddings of four subjects with titles, whose writers say nothing, in a session that is done."""
    folder = tmp_path_factory.mktemp("articles")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4, 40))[TRUTH] + 0.3 * rng.normal(size=(N, 40))
    np.save(folder / "articles.npy", X)
    lines = [f"News of {SUBJECTS[kind]} {at},w{at // 4 % 3}" for at, kind in enumerate(TRUTH)]
    (folder / "titles.csv").write_text("\n".join(["title,writer", *lines]) + "\n")
    ask(folder / "articles.npy", Reading(show=str(folder / "titles.csv")))
    return folder / "articles.npy"


def ask(data, reading):
    session = data.with_name(f"{data.name}.linkwise")
    with open_project(data, session, reading, MethodChoice(), SessionOptions()).session as held:
        answer_by(held, TruthOracle(TRUTH))


def words(text):
    return " ".join(text.split())


def test_clusters_are_described_by_what_people_see(linkwise, asked):
    done = linkwise("explain", asked)
    assert done.exit_code == 0, done.output
    said, noted = words(done.stdout), words(done.stderr)
    for subject in SUBJECTS:
        assert f"{subject} in 100% (others 0%)" in said
    assert said.count("typical rows: ") == 4
    assert "if writer" not in said
    assert (
        "Rows are compared by 40 numbers of articles.npy. The columns of titles.csv are only shown: " in noted
    )
    assert "Rules on writer would put only" in noted


def test_rows_with_the_same_writer_are_not_called_identical(linkwise, asked):
    for options in ([], ["--rows", "0", "1"], ["--format", "tree"]):
        done = linkwise("explain", asked, *options)
        assert done.exit_code == 0, done.output
        assert "identical" not in done.stderr


def test_two_rows_are_explained_by_the_rows_near_them(linkwise, asked, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("id,cluster\n" + "".join(f"{at},{SUBJECTS[kind]}\n" for at, kind in enumerate(TRUTH)))
    titles = asked.with_name("titles.csv")
    options = ["--labels", labels, "--show", titles, "--rows"]
    done = linkwise("explain", asked, *options, "0", "1")
    said = words(done.stdout)
    assert "of the 10 rows nearest to 0, 10 are in cluster opera." in said
    assert "times as far from 1 as the nearest of cluster rugby" in said
    assert "writer" not in said
    together = words(linkwise("explain", asked, *options, "0", "4").stdout)
    assert f"of {N - 1} other rows, from near to far." in together


def test_json_names_typical_rows(linkwise, asked):
    told = json.loads(linkwise("explain", asked, "--json").stdout)
    assert told["type"] == "examples"
    assert sum(cluster["rows"] for cluster in told["clusters"]) == N
    for cluster in told["clusters"]:
        kinds = {TRUTH[int(row)] for row in cluster["examples"]}
        assert cluster["words"][0]["word"] == SUBJECTS[kinds.pop()]
        assert not kinds


def test_embeddings_alone_have_typical_rows_and_no_rules(linkwise, asked, tmp_path):
    data = tmp_path / "articles.npy"
    data.write_bytes(asked.read_bytes())
    ask(data, Reading())
    done = linkwise("explain", data)
    assert done.exit_code == 0, done.output
    assert "typical rows: " in done.stdout
    assert "x1" not in done.stdout
    assert "begin a session with --show FILE" in words(done.stderr)
    refused = linkwise("explain", data, "--format", "tree")
    assert "--format is about rules on columns, which embeddings do not have." in words(refused.stderr)


@pytest.fixture
def noise(tmp_path):
    """Labels of the articles where sailing is noise."""
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "id,cluster\n" + "".join(f"{at},{(0, 1, 2, -1)[kind]}\n" for at, kind in enumerate(TRUTH))
    )
    return labels


def test_noise_is_no_cluster(linkwise, asked, noise):
    described = linkwise("explain", asked, "--labels", noise)
    assert described.exit_code == 0, described.output
    assert f"no cluster: {N // 4} rows" in described.stdout
    assert "cluster -1" not in described.stdout
    assert described.stdout.count("typical rows: ") == 3  # noise has no middle
    told = json.loads(linkwise("explain", asked, "--labels", noise, "--json").stdout)
    assert {one["cluster"]: len(one["examples"]) for one in told["clusters"]} == {-1: 0, 0: 3, 1: 3, 2: 3}
    both = linkwise("explain", asked, "--labels", noise, "--rows", "3", "7")
    assert words(both.stdout).startswith("3 (no cluster) and 7 (no cluster) are apart.")


def test_labels_name_the_option_that_shows_rows(linkwise, asked, noise):
    done = linkwise("explain", asked, "--labels", noise)
    assert "add --show FILE" in words(done.stderr)
    assert done.stdout.startswith("The rows nearest to the mean of each cluster:")


def test_a_table_that_is_joined_in_order_is_named(linkwise, asked, noise, tmp_path):
    names = tmp_path / "other.csv"
    names.write_text("id,title\n" + "".join(f"a{at},title {at}\n" for at in range(N)))
    done = linkwise("explain", asked, "--labels", noise, "--show", names)
    assert "joined in the order of its rows" in words(done.stderr)


def test_long_words_are_cut(linkwise, asked, noise, tmp_path):
    titles = tmp_path / "long.csv"
    titles.write_text("title\n" + "".join(f"{'xyz'[kind % 3] * 500} {at}\n" for at, kind in enumerate(TRUTH)))
    done = linkwise("explain", asked, "--labels", noise, "--show", titles)
    assert "words: " in done.stdout
    assert max(map(len, words(done.stdout).split())) < 80


def test_join_has_the_titles(linkwise, asked, tmp_path):
    target = tmp_path / "joined.csv"
    done = linkwise("export", asked, "--join", target)
    assert done.exit_code == 0, done.output
    head, first, *_ = target.read_text().splitlines()
    assert head == "title,writer,cluster,cluster_name,confidence"
    assert first.startswith("News of opera 0,w0,")
    assert "The new file holds the columns of titles.csv, in the order of articles.npy" in words(done.stderr)


def test_curves_are_explained_by_the_rows_near_them(linkwise, tmp_path):
    curves = tmp_path / "curves.csv"
    times = np.linspace(0, 6, 20)
    shapes = [np.sin(times), np.cos(times), times, np.abs(times - 3)]
    rng = np.random.default_rng(1)
    rows = [shapes[kind] + 0.1 * rng.normal(size=20) for kind in TRUTH]
    head = ",".join(["id", *(f"t{at}" for at in range(20))])
    lines = [",".join([f"c{at}", *(f"{v:.3f}" for v in row)]) for at, row in enumerate(rows)]
    curves.write_text("\n".join([head, *lines]) + "\n")
    labels = Path(tmp_path / "labels.csv")
    labels.write_text("id,cluster\n" + "".join(f"c{at},{kind}\n" for at, kind in enumerate(TRUTH)))
    done = linkwise("explain", curves, "--labels", labels, "--id", "id", "--series", "--rows", "c0", "c1")
    said = words(done.stdout)
    assert "By their curves: of the 10 rows nearest to c0, 10 are in cluster 0." in said
    labels.write_text("id,cluster\n" + "".join(f"c{at},{SUBJECTS[kind]}\n" for at, kind in enumerate(TRUTH)))
    named = linkwise("explain", curves, "--labels", labels, "--id", "id", "--series")
    assert named.exit_code == 0, named.output
    assert f"cluster opera: {N // 4} rows" in named.stdout
    labels.write_text("id,cluster\n" + "".join(f"c{at},{kind - 1}\n" for at, kind in enumerate(TRUTH)))
    described = linkwise("explain", curves, "--labels", labels, "--id", "id", "--series").stdout
    assert f"no cluster: {N // 4} rows" in described
    assert described.count("mean curve") == described.count("typical rows: ") == 3


def test_many_rules_are_cut_to_sixty_lines(linkwise, tmp_path):
    table, labels = tmp_path / "t.csv", tmp_path / "labels.csv"
    table.write_text("id,size\n" + "".join(f"r{at},{at}\n" for at in range(200)))
    labels.write_text("id,cluster\n" + "".join(f"r{at},{at // 4}\n" for at in range(200)))
    short = linkwise("explain", table, "--id", "id", "--labels", labels).stdout
    assert len(short.splitlines()) <= 65
    assert "30 more clusters are not described. --all shows everything." in short
    full = linkwise("explain", table, "--id", "id", "--labels", labels, "--all").stdout
    assert full.count("cluster ") >= 50
    assert "--all" not in full


def test_more_clusters_than_rules_describe(linkwise, asked, monkeypatch, noise):
    for module in ("linkwise.app.cli.commands.explain", "linkwise.reasons.explanation"):
        monkeypatch.setattr(f"{module}.MOST_CLUSTERS", 3)
    options = ["--labels", noise, "--show", asked.with_name("titles.csv")]
    described = linkwise("explain", asked, *options)
    assert described.stdout.count("typical rows: ") == 3
    pair = linkwise("explain", asked, *options, "--rows", "0", "1")
    assert "of the 10 rows nearest to 0" in words(pair.stdout)
    refused = linkwise("explain", asked, *options, "--format", "tree")
    assert refused.exit_code == 2
    assert "There are 4 clusters, but rules describe at most 3. Explain two rows" in words(refused.stderr)


def test_the_dialogue_finds_clusters_by_a_title(linkwise, asked, tmp_path):
    for name in ("articles.npy", "titles.csv"):
        (tmp_path / name).write_bytes(asked.with_name(name).read_bytes())
    told = linkwise(
        "ask", tmp_path / "articles.npy", "--show", tmp_path / "titles.csv", said="clusters chess 42\nq\n"
    ).stdout
    assert "chess 42: 1 of " in told
    assert "row 42" in told
