"""``status``, ``undo`` and ``export``: from the session file alone."""

import csv
import io
import json

import pytest

import linkwise as lw
from linkwise.constraints.constraints import Constraints
from linkwise.learn.kin.kin_learner import KINLearner
from linkwise.session.session import Session
from linkwise.wording import answer_word


@pytest.fixture
def answered(fruit, linkwise):
    """Fruit with twelve answers by the truth."""
    from linkwise.data import encode, read_table

    table = read_table(fruit.path)
    encoded = encode(table)
    linkwise("ask", fruit.path, "--budget", 0)
    with Session.open(fruit.session, encoded.X, lw.COBRAS(random_state=0), ids=table.ids) as session:
        for _ in range(12):
            q = session.question
            session.answer(fruit.same(table.ids[q.first], table.ids[q.second]) == "y")
    return fruit


def labels_in(text):
    return {row["id"]: row["cluster"] for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.slow
def test_export_needs_the_session_alone(answered, tmp_path, linkwise):
    moved = tmp_path / "elsewhere" / "s.linkwise"
    moved.parent.mkdir()
    answered.session.rename(moved)
    answered.path.unlink()
    labels, pairs = tmp_path / "l.csv", tmp_path / "p.csv"
    done = linkwise("export", moved, "--labels", labels, "--constraints", pairs)
    assert done.exit_code == 0, done.stderr
    found = labels_in(labels.read_text())
    assert len({(found[name], kind) for name, kind in answered.truth.items()}) == 3
    with Session.open(moved) as session:
        assert Constraints.read_csv(pairs, ids=session.ids) == session.constraints
        assert session.constraints.n_constraints == 12
    assert pairs.read_text().startswith("id_a,id_b,kind\n")


@pytest.mark.slow
def test_labels_go_to_stdout_without_options(answered, linkwise):
    done = linkwise("export", answered.path)
    assert done.stdout.startswith("id,cluster\nf0,")
    assert list(labels_in(done.stdout)) == list(answered.truth)
    assert done.stderr == ""


@pytest.mark.slow
def test_nothing_is_overwritten_without_force(answered, tmp_path, linkwise):
    labels, pairs = tmp_path / "l.csv", tmp_path / "p.csv"
    pairs.write_text("mine")
    done = linkwise("export", answered.path, "--labels", labels, "--constraints", pairs)
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert pairs.read_text() == "mine"
    assert not labels.exists()
    assert linkwise("export", answered.path, "--constraints", pairs, "--force").exit_code == 0
    assert pairs.read_text().startswith("id_a,id_b,kind\n")


@pytest.mark.slow
def test_old_labels_are_brought_up_to_date_from_the_data(answered, linkwise):
    before = labels_in(linkwise("export", answered.path).stdout)
    for _ in range(12):
        linkwise("undo", answered.path)
    done = linkwise("export", answered.path)
    assert done.stderr == ""
    assert labels_in(done.stdout) != before
    assert set(labels_in(done.stdout).values()) == {"0"}


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["gone", "changed"])
def test_old_labels_without_usable_data_are_reported_as_old(answered, linkwise, harm):
    linkwise("undo", answered.path)
    if harm == "gone":
        answered.path.unlink()
    else:
        answered.path.write_text("id,weight,width,colour\nf0,1,2,red\nf1,3,5,red\n")
    done = linkwise("export", answered.session)
    assert done.exit_code == 0
    assert len(labels_in(done.stdout)) == 30
    assert "older than the last change" in done.stderr
    assert "--budget 0" in done.stderr


@pytest.mark.slow
def test_export_as_json(answered, tmp_path, linkwise):
    told = json.loads(linkwise("export", answered.path, "--json").stdout)
    assert told["current"] is True
    assert list(told["labels"]) == list(answered.truth)
    assert len(told["constraints"]) == 12
    assert {kind for _, _, kind in told["constraints"]} == {"must-link", "cannot-link"}
    target = tmp_path / "l.csv"
    told = json.loads(linkwise("export", answered.path, "--json", "--labels", target).stdout)
    assert told["labels"] == str(target)


@pytest.mark.slow
def test_status(answered, linkwise):
    done = linkwise("status", answered.path)
    for words in (
        "method    COBRAS, seed 0",
        "answers   12 answers: ",
        "state     ",
        "3 clusters of 30 rows",
    ):
        assert words in done.stdout
    told = json.loads(linkwise("status", answered.session, "--json").stdout)
    assert (told["answers"], told["rows"], sorted(told["clusters"])) == (12, 30, [10, 10, 10])
    assert told["labels_are_current"] is True
    assert told["data"] == "fruit.csv"


def test_long_facts_of_the_status_stay_in_their_column(fruit, linkwise):
    linkwise("ask", fruit.path, said="y\nn\nn\n")
    with Session.open(fruit.session) as session:
        session.set_guidelines(" ".join(["These two belong together if both are eaten with a spoon."] * 3))
    lines = linkwise("status", fruit.path).stdout.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("guidelines"))
    width = len("guidelines ")
    assert lines[at + 1][:width].strip() == ""
    assert lines[at + 1][width:].strip()
    assert max(map(len, lines[at:])) <= 80


@pytest.mark.slow
def test_undo_says_what_and_status_says_that_clusters_are_older(answered, linkwise):
    with Session.open(answered.session) as session:
        last = session.history[-1]
        names = [session.ids[row] for row in (last.first, last.second)]
    done = linkwise("undo", answered.path)
    assert done.stdout.splitlines()[0] == (
        f"taken back: {answer_word(last.answer)} for {names[0]} and {names[1]}"
    )
    assert "11 answers" in done.stdout
    assert "These are the clusters before the last change" in linkwise("status", answered.path).stdout
    told = json.loads(linkwise("undo", answered.path, "--json").stdout)
    assert (told["answers"], told["labels_are_current"], told["undone"]["kind"]) == (10, False, "answer")


@pytest.mark.slow
def test_undo_of_nothing(fruit, linkwise):
    linkwise("ask", fruit.path, "--budget", 0)
    done = linkwise("undo", fruit.path)
    assert done.exit_code == 0
    assert "There is nothing to undo. This session has no answers." in done.stdout


@pytest.mark.slow
def test_undo_of_an_import_names_the_file(fruit, tmp_path, linkwise):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\n")
    linkwise("ask", fruit.path, "--constraints", pairs, "--budget", 0)
    assert "1 pair imported from pairs.csv" in linkwise("undo", fruit.path).stdout


@pytest.mark.slow
def test_a_session_under_any_name_is_known(fruit, tmp_path, linkwise):
    path = tmp_path / "mine.db"
    linkwise("ask", fruit.path, "--session", path, said="y\nq\n")
    assert not fruit.session.exists()
    assert "1 answer: 1 same" in linkwise("status", path).stdout
    assert "resumed: 1 answer" in linkwise("ask", path, said="q\n").stdout


# ---------------------------------------------------------------- export --join
def test_join_puts_clusters_beside_the_table(answered, tmp_path, linkwise):
    before, target = answered.path.read_text(), tmp_path / "out.csv"
    done = linkwise("export", answered.path, "--join", target)
    assert done.exit_code == 0, done.stderr
    assert "COBRAS does not estimate it" in done.stderr
    assert f"joined table written to {target}" in done.stderr
    rows = list(csv.reader(io.StringIO(target.read_text())))
    assert rows[0] == [*before.splitlines()[0].split(","), "cluster", "cluster_name", "confidence"]
    assert [",".join(row[:-3]) for row in rows] == before.splitlines()
    labels = labels_in(linkwise("export", answered.path).stdout)
    assert {row[0]: row[-3] for row in rows[1:]} == labels
    assert answered.path.read_text() == before
    assert linkwise("export", answered.path, "--join", "-").stdout == target.read_text()
    told = linkwise("export", answered.path, "--join", target, "--force", "--json").stdout
    assert json.loads(told)["join"] == str(target)


def test_golden_records_have_one_row_for_each_cluster(answered, tmp_path, linkwise):
    target = tmp_path / "golden.csv"
    first = answered.path.read_text().splitlines()[0].split(",")
    rule = f"{first[1]}=first"
    done = linkwise("export", answered.path, "--golden", target, "--golden-rule", rule)
    assert done.exit_code == 0, done.stderr
    labels = labels_in(linkwise("export", answered.path).stdout)
    rows = list(csv.DictReader(io.StringIO(target.read_text())))
    assert f"{len(labels)} rows became {len(rows)} golden records." in done.stderr
    assert "One of several values was chosen for" in done.stderr
    assert {name: row["cluster"] for row in rows for name in row["row_ids"].split("; ")} == labels
    printed = linkwise("export", answered.path, "--golden", "-", "--golden-rule", rule).stdout
    assert printed == target.read_text()
    told = linkwise("export", answered.path, "--golden", target, "--force", "--json").stdout
    assert json.loads(told)["golden"] == str(target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--golden-rule", "size=first"), "Add --golden OUT.csv"),
        (("--golden", "-", "--golden-rule", "size"), "Use COLUMN=RULE"),
        (("--golden", "-", "--golden-rule", "size=longest"), "Use COLUMN=RULE"),
        (("--golden", "-", "--golden-rule", "szie=first"), "does not exist: 'szie'"),
    ],
)
def test_a_wrong_rule_for_golden_records_is_an_error(answered, linkwise, options, message):
    done = linkwise("export", answered.path, *options)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


def test_join_with_kin_says_how_certain_each_row_is(fruit, tmp_path, linkwise):
    target = tmp_path / "out.csv"
    linkwise("ask", fruit.path, "--budget", 0)
    assert "because there are no answers yet" in linkwise("export", fruit.path, "--join", target).stderr
    linkwise("ask", fruit.path, "--terminal", "--budget", 3, said="n\nn\nn\n")
    assert "confidence" not in linkwise("export", fruit.path, "--join", target, "--force").stderr
    shares = [float(row["confidence"]) for row in csv.DictReader(io.StringIO(target.read_text()))]
    assert len(shares) == 30
    assert all(0 < share <= 1 for share in shares)


def test_join_prepares_no_learner_where_the_session_was_closed(fruit, tmp_path, linkwise, monkeypatch):
    linkwise("ask", fruit.path, said="s\nq\n")
    monkeypatch.setattr(KINLearner, "prepare", lambda *_, **__: pytest.fail("the learner prepares"))
    target = tmp_path / "joined.csv"
    assert linkwise("export", fruit.path, "--join", target).exit_code == 0
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert all(0 < float(row["confidence"]) <= 1 for row in rows)
    with Session.open(fruit.session) as session:
        session.undo()
        assert not session.labels_are_current
    with pytest.raises(pytest.fail.Exception, match="the learner prepares"):
        linkwise("export", fruit.path, "--join", target, "--force")


@pytest.mark.parametrize("target", ["o.ods", "o", "o.pdf"])
def test_join_refuses_other_endings(answered, tmp_path, linkwise, target):
    done = linkwise("export", answered.path, "--join", tmp_path / target)
    assert done.exit_code == 2
    assert "Choose a name that ends in .csv" in done.stderr
    assert ("A spreadsheet opens .xlsx" in done.stderr) == (target == "o.ods")
    assert not (tmp_path / target).exists()


def test_join_needs_the_data_as_they_were(answered, tmp_path, linkwise):
    labels, target = tmp_path / "l.csv", tmp_path / "o.csv"
    answered.path.write_text("id,weight,width,colour\nf0,1,2,red\nf1,3,5,red\n")
    for harm in (lambda: None, answered.path.unlink):
        harm()
        done = linkwise("export", answered.session, "--join", target, "--labels", labels)
        assert done.exit_code != 0
        assert "fruit.csv" in done.stderr
        assert not target.exists()
        assert not labels.exists()


def write_as(fruit, form):
    """The same rows in another form: the file, and how one of its values and another one are written."""
    lines = fruit.path.read_text().splitlines()
    if form == "commas":
        return fruit.path, "red", "rot"
    if form == "semicolons":
        path, text = fruit.path.with_name("f.csv"), "\n".join(lines).replace(",", ";").replace(".", ",")
    else:
        path, rows = fruit.path.with_name("f.jsonl"), csv.DictReader(lines)
        text = "\n".join(json.dumps(row | {"weight": float(row["weight"])}) for row in rows)
    path.write_text(f"{text}\n")
    return path, "red", "rot"


@pytest.mark.parametrize("form", ["commas", "semicolons", "json"])
def test_join_of_the_same_bytes_is_that_of_the_same_rows(fruit, tmp_path, linkwise, form):
    path, old, new = write_as(fruit, form)
    linkwise("ask", path, "--terminal", said="n\ny\nn\nq\n")
    joined, text = [], path.read_text()
    for more in ("", "\n"):  # with a blank line at the end the rows are read, and compared with the session
        path.write_text(text + more)
        target = tmp_path / f"out{len(joined)}{path.suffix}"
        done = linkwise("export", path, "--join", target)
        assert done.exit_code == 0, done.stderr
        joined.append(target.read_text())
    assert joined[1] == joined[0] + "\n"
    assert joined[0].count("\n") == text.count("\n")
    path.write_text(text.replace(old, new, 1))
    done = linkwise("export", path, "--join", tmp_path / "other.csv")
    assert (done.exit_code, (tmp_path / "other.csv").exists()) == (3, False), done.stderr


def test_join_of_a_session_from_python_says_what_to_do(fruit, tmp_path, linkwise):
    with Session([[0.0], [1.0]], source={"file": "fruit.csv"}) as session:
        session.save(tmp_path / "p.linkwise")
    done = linkwise("export", tmp_path / "p.linkwise", "--join", tmp_path / "o.csv")
    assert done.exit_code == 2
    assert "session.join(frame)" in done.stderr


def test_new_rows_of_a_session_without_items_have_a_way_out(fruit, linkwise, tmp_path):
    linkwise("ask", fruit.path, said="y\nq\n")
    done = linkwise("export", fruit.path, "--new", fruit.path, "--labels", tmp_path / "out")
    assert done.exit_code == 2
    assert "is about all rows" in done.stderr
    assert "linkwise ask DATA --replay" in done.stderr
