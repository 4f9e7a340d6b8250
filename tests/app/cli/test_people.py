"""Several people on the command line: names, guidelines, and what each of them answered."""

import json

import pytest

import linkwise as lw
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import import_gold, open_project
from linkwise.data.reading import Reading


def words(done):
    return " ".join((done.stdout + done.stderr).split())


def test_names_reach_the_server(linkwise, fruit, tmp_path):
    password = tmp_path / "password"
    password.write_text("a long password\n")
    done = linkwise("serve", fruit.path, "--annotators", "anna,ben", "--password-file", password)
    assert done.exit_code == 2
    assert "With --annotators each person has an address of their own, and there is no password." in words(
        done
    )
    done = linkwise("serve", fruit.path, "--annotators", "anna,anna")
    assert done.exit_code == 2
    assert "--annotators has the name anna twice. Use each name once." in words(done)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--overlap", "0.2"],
            "--overlap is for several people who answer. Add --annotators ANNA,BEN.",
        ),
        (["--overlap", "0.2", "--annotators", "anna"], "--overlap is for several people who answer."),
        (["--gold", "{gold}"], "--gold is for people who answer."),
        (
            ["--overlap", "2", "--annotators", "anna,ben"],
            "Invalid value '2' for --overlap. Set a share of",
        ),
        (["--overlap", "x", "--annotators", "anna,ben"], "Invalid value 'x' for --overlap."),
        (
            ["--overlap", "0.2", "--annotators", "anna,ben", "--error-rate", "0"],
            "--overlap shows how often answers are wrong, and this session takes all of them as right.",
        ),
        (["--gold", "{gold}", "--annotators", "anna", "--error-rate", "0"], "Add --error-rate estimate."),
    ],
)
def test_extra_questions_need_people_who_may_err(linkwise, fruit, tmp_path, options, told):
    gold = tmp_path / "gold.csv"
    gold.write_text("id_a,id_b,kind\nf0,f3,must-link\n")
    done = linkwise("serve", fruit.path, *(str(gold) if one == "{gold}" else one for one in options))
    assert done.exit_code == 2
    assert told in words(done)
    assert not fruit.session.exists()


def test_an_old_session_that_takes_answers_as_right_has_no_overlap(linkwise, fruit):
    linkwise("ask", fruit.path, "--error-rate", "0", said="q\n")
    done = linkwise("serve", fruit.path, "--annotators", "anna,ben", "--overlap", "0.2", "--no-browser")
    assert done.exit_code == 2
    assert "--overlap shows how often answers are wrong" in words(done)


def test_gold_pairs_are_imported_once(linkwise, fruit, tmp_path):
    linkwise("ask", fruit.path, said="q\n")
    gold, copy = tmp_path / "gold.csv", tmp_path / "copy.csv"
    for file in (gold, copy):
        file.write_text("id_a,id_b,kind\nf0,f3,must-link\n")
    for _ in range(2):
        project = open_project(fruit.path, fruit.session, Reading(), MethodChoice())
        with project.session:
            assert import_gold(project, gold) == "gold.csv"
            assert [(e.kind, e.source) for e in project.session.history] == [("import", "gold.csv")]
    project = open_project(fruit.path, fruit.session, Reading(), MethodChoice())
    with project.session, pytest.raises(UsageError, match=r"has all pairs of .*copy\.csv already"):
        import_gold(project, copy)


def test_status_counts_gold_pairs(linkwise, fruit):
    linkwise("ask", fruit.path, said="q\n")
    project = open_project(fruit.path, fruit.session, Reading(), MethodChoice())
    with project.session as session:
        pairs = lw.Constraints(session.n_rows, [(0, 3), (1, 4)])
        session.import_constraints(pairs, source="gold.csv")
        for _ in range(6):
            for person in ("anna", "ben"):
                (q,) = session.questions(1, to=person, gold="gold.csv")
                session.answer(q.first % 3 == q.second % 3, question_id=q.id, source=person)
    told = words(linkwise("status", fruit.path))
    assert told.count("; 1 of 1 gold pair right") == 2
    (anna, _) = json.loads(linkwise("status", fruit.path, "--json").stdout)["sources"]
    assert (anna["answers"], anna["gold"], anna["gold_right"]) == (5, 1, 1)
    lines = linkwise("export", fruit.path, "--answers", "-").stdout.splitlines()
    assert sum(",gold," in line for line in lines) == 2


def test_status_and_export_of_several_people(linkwise, fruit, tmp_path):
    linkwise("ask", fruit.path, "--error-rate", "estimate", "--guidelines", "Same flavour.", said="q\n")
    path = fruit.path.with_name(fruit.path.name + ".linkwise")
    alone = json.loads(linkwise("status", path, "--json").stdout)
    assert alone["guidelines"] == "Same flavour."
    assert {"sources", "agreement"}.isdisjoint(alone)
    with lw.Session.open(path) as session:
        for source, kind in (("anna", "must-link"), ("ben", "cannot-link")):
            session.add(0, 1, kind, source=source)
            session.add(0, 2, "cannot-link", source=source)
    told = words(linkwise("status", path))
    assert "sources anna: 0 answers; 2 pairs added" in told
    assert "agreement anna and ben: 1 of 2 common pairs with the same answer, kappa 0.00 (" in told
    found = json.loads(linkwise("status", path, "--json").stdout)
    assert [each["source"] for each in found["sources"]] == ["anna", "ben"]
    assert found["agreement"][0]["common"] == 2
    target = tmp_path / "answers.json"
    linkwise("export", path, "--answers", target)
    assert [each["source"] for each in json.loads(target.read_text())] == ["anna", "anna", "ben", "ben"]
    lines = linkwise("export", path, "--answers", "-").stdout.splitlines()
    assert lines[0] == "event,id_a,id_b,answer,source,time,kind,believed,suspect,seconds,note,reliability"
    assert len(lines) == 5


def test_seconds_and_notes_are_shown_and_exported(linkwise, fruit, tmp_path):
    done = linkwise("ask", fruit.path, said="a =1+1 is *two*\ny\nn\na gone\nq\n")
    assert "It is saved with your answer: =1+1 is *two*" in done.stdout
    assert "this note has no place: gone" in words(done)
    path = fruit.path.with_name(fruit.path.name + ".linkwise")
    with lw.Session.open(path) as session:
        assert [event.seconds for event in session.history] == [None, None]  # lines may be older
        session.note(2, "\x1b[31mred\nline", source="ben")
        last = session.history[-1]
        assert last.note_author == "ben"
    told = words(linkwise("status", path))
    assert "pace" not in told
    assert "note by ben: ·[31mred line, 20" in told
    assert json.loads(linkwise("status", path, "--json").stdout)["median_seconds"] is None
    target = tmp_path / "answers.json"
    linkwise("export", path, "--answers", target)
    records = json.loads(target.read_text())
    assert [record["note"] for record in records] == ["=1+1 is *two*", "\x1b[31mred\nline"]
    plain = linkwise("export", path, "--answers", "-").stdout
    assert ",'=1+1 is *two*,\n" in plain
    linkwise("undo", path)
    with lw.Session.open(path) as session:
        assert [event.note for event in session.history] == ["=1+1 is *two*", ""]


def test_status_tells_the_pace_of_one_person_and_of_each(linkwise, fruit):
    path = fruit.path.with_name("timed.linkwise")
    with lw.Session([[float(row)] for row in range(9)], lw.COBRAS(random_state=0)) as session:
        for seconds in (2, 61.5, 4.25):
            session.answer("unsure", seconds=seconds, source="anna")
        session.save(path)
    assert "pace median 4.2 seconds per answer" in words(linkwise("status", path))
    assert json.loads(linkwise("status", path, "--json").stdout)["median_seconds"] == 4.25
    with lw.Session.open(path) as session:
        session.add(0, 1, "must-link", source="ben")
    told = words(linkwise("status", path))
    assert "sources anna: 3 answers: 0 same, 0 different, 3 not sure; median 4.2 seconds per answer" in told
    anna, ben = json.loads(linkwise("status", path, "--json").stdout)["sources"]
    assert (anna["median_seconds"], ben["median_seconds"]) == (4.25, None)


def test_examples_of_pairs_are_shown_with_the_guidelines_and_in_the_status(linkwise, fruit):
    linkwise("ask", fruit.path, "--guidelines", "Same flavour.", said="q\n")
    path = fruit.path.with_name(fruit.path.name + ".linkwise")
    with lw.Session.open(path) as session:
        session.set_examples([(0, 1, True, "both sour.\x1b[31m"), (1, 2, False)])
        a, b, c = session.ids[:3]
    told = words(linkwise("ask", fruit.path, said="g\nq\n"))
    expected = f"Same flavour. Examples: {a} and {b}: same (both sour.·[31m) {b} and {c}: different"
    assert told.count(expected) == 2  # at the start, and again
    assert f"Examples: {a} and {b}: same" in words(linkwise("review", path, said="q\n"))
    lines = linkwise("ask", fruit.path, "--json", said="g\nq\n").stdout.splitlines()
    (shown,) = [found for line in lines if (found := json.loads(line))["type"] == "guidelines"]
    status = json.loads(linkwise("status", path, "--json").stdout)
    pairs = [
        {"ids": [a, b], "answer": "yes", "reason": "both sour.\x1b[31m"},
        {"ids": [b, c], "answer": "no", "reason": ""},
    ]
    assert shown == {"type": "guidelines", "text": "Same flavour.", "examples": pairs}
    assert status["examples"] == pairs
    assert "examples 2 pairs" in words(linkwise("status", path))


def test_the_proposed_command_keeps_the_people(linkwise, tmp_path, monkeypatch):
    data = tmp_path / "rows.csv"
    data.write_text("place,size\n" + "\n".join(f"{n},{n * 7 % 10}" for n in range(1, 21)))
    monkeypatch.setattr(
        "linkwise.app.cli.commands.serve.serve_page", lambda source, where: source.begin().close()
    )
    done = linkwise("serve", data, "--annotators", "anna,ben", "--overlap", "0.2", "--no-browser")
    assert done.exit_code == 0, done.stderr
    assert f"linkwise serve {data} --id place --as-is --annotators anna,ben --overlap 0.2" in words(done)
