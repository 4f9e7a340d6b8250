"""Several people on the command line: names, guidelines, and what each of them answered."""

import json

import linkwise as lw


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
    assert "--annotators has the name anna twice. Name each person once." in words(done)


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
    assert "sources anna: 0 answers; 2 pairs added. About 1 in " in told
    assert "agreement anna and ben: 1 of 2 common pairs with the same answer, kappa 0.00 (" in told
    found = json.loads(linkwise("status", path, "--json").stdout)
    assert [each["source"] for each in found["sources"]] == ["anna", "ben"]
    assert found["agreement"][0]["common"] == 2
    target = tmp_path / "answers.json"
    linkwise("export", path, "--answers", target)
    assert [each["source"] for each in json.loads(target.read_text())] == ["anna", "anna", "ben", "ben"]
    lines = linkwise("export", path, "--answers", "-").stdout.splitlines()
    assert lines[0] == "event,id_a,id_b,answer,source,time,kind,believed,suspect"
    assert len(lines) == 5
