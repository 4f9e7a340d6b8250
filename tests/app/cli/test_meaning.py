"""Sessions about texts that are compared by meaning, and encoders that change between two commands."""

import json
from types import SimpleNamespace

import pytest

from encoder_stub import CONCEPTS, encoder, no_encoder  # noqa: F401  # used by name
from linkwise.app.project.origin import origin_of
from linkwise.data.columns.short_texts import INSTALL
from linkwise.errors import SessionDamagedError
from linkwise.session.session import Session

VERBS = ["waits", "sinks", "came late", "was here"]


@pytest.fixture(params=[True, False], ids=["ids", "no ids"])
def mails(request, tmp_path):
    """A file of 60 short texts about three things, with or without ids."""
    words = [
        (f"the {word} {verb} at noon", kind)
        for kind in CONCEPTS
        for word in CONCEPTS[kind][:5]
        for verb in VERBS
    ]
    path = tmp_path / "mails.jsonl"
    lines = [
        {**({"key": f"k{n}"} if request.param else {}), "body": body} for n, (body, _) in enumerate(words)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def said(done):
    return " ".join((done.stdout + done.stderr).replace("·", " ").split())


def read_source(path):
    with Session.open(path.with_name(f"{path.name}.linkwise")) as session:
        return session.source, session.events


def test_meaning_is_proposed_and_the_hash_is_stored(mails, linkwise, encoder):  # noqa: F811
    begun = linkwise("ask", mails, "--terminal", said="n\nq\n")
    assert begun.exit_code == 0, begun.stderr
    assert "The texts of 'body' are compared by their meaning" in said(begun)
    assert "--text-by meaning" in said(begun)
    source, events = read_source(mails)
    assert source["choices"]["text_by"] == "meaning"
    assert len(source["encoder"]) == 64
    again = linkwise("ask", mails, "--terminal", said="q\n")
    assert "resumed: 1 answer" in again.stdout, again.stderr
    assert read_source(mails) == (source, events)


@pytest.mark.parametrize("unit", ["meaning", "words,meaning"])
def test_other_weights_are_said_and_replayed_on_request(mails, linkwise, encoder, unit):  # noqa: F811
    begun = linkwise("ask", mails, "--text", "body", "--text-by", unit, "--terminal", said="n\nn\nq\n")
    assert begun.exit_code == 0, begun.stderr
    before, events = read_source(mails)
    assert before["choices"]["text_by"] == unit
    encoder.install(b"other weights", own=0.8)
    for options in ([], ["--text-by", unit]):
        refused = linkwise("ask", mails, *options, "--terminal", said="q\n")
        assert refused.exit_code == 2
        assert "was begun with other weights of the encoder that compares texts by meaning" in said(refused)
        assert "has 2 answers. Add --replay" in said(refused)
    assert read_source(mails) == (before, events)
    done = linkwise("ask", mails, "--replay", "--terminal", said="q\n")
    assert done.exit_code == 0, done.stderr
    assert "from now on with the encoder of texts that is installed; 2 answers replayed" in said(done)
    now, replayed = read_source(mails)
    assert (replayed, now["choices"]) == (events, before["choices"])
    assert now["encoder"] != before["encoder"]
    assert "resumed: 2 answers" in linkwise("ask", mails, "--terminal", said="q\n").stdout


def test_without_answers_other_weights_simply_apply(mails, linkwise, encoder):  # noqa: F811
    linkwise("ask", mails, "--text", "body", "--text-by", "meaning", "--terminal", said="q\n")
    encoder.install(b"other weights", own=0.8)
    done = linkwise("ask", mails, "--terminal", said="q\n")
    assert done.exit_code == 0, done.stderr
    assert "from now on with the encoder of texts that is installed; no answer is affected" in said(done)


def test_a_session_goes_on_by_words_or_by_meaning(mails, linkwise, encoder):  # noqa: F811
    linkwise("ask", mails, "--text", "body", "--text-by", "words", "--terminal", said="n\nq\n")
    done = linkwise("ask", mails, "--text-by", "meaning", "--replay", "--terminal", said="q\n")
    assert done.exit_code == 0, done.stderr
    assert "encoder" in read_source(mails)[0]
    back = linkwise("ask", mails, "--text-by", "words", "--replay", "--terminal", said="q\n")
    assert back.exit_code == 0, back.stderr
    assert "encoder" not in read_source(mails)[0]


def test_explanations_read_the_words(mails, linkwise, encoder):  # noqa: F811
    linkwise("ask", mails, "--terminal", said="n\nn\ny\nn\nq\n")
    done = linkwise("explain", mails)
    assert done.exit_code == 0, done.stderr
    assert "The words that tell each cluster from the others" in done.stdout


@pytest.mark.parametrize("unit", ["meaning", "words,meaning"])
def test_a_missing_package_is_an_error_with_the_command(mails, linkwise, no_encoder, unit):  # noqa: F811
    done = linkwise("ask", mails, "--text", "body", "--text-by", unit, "--terminal", said="q\n")
    assert done.exit_code == 2
    assert said(done).endswith(INSTALL)
    assert not mails.with_name(f"{mails.name}.linkwise").exists()


def test_a_package_that_was_removed_is_an_error_too(mails, linkwise, encoder, monkeypatch):  # noqa: F811
    from linkwise.data.columns import short_texts
    from linkwise.data.encoding import meaning

    linkwise("ask", mails, "--terminal", said="n\nq\n")
    monkeypatch.setattr(short_texts, "find_spec", lambda name: None)
    meaning.hash_weights.cache_clear()
    done = linkwise("ask", mails, "--terminal", said="q\n")
    assert (done.exit_code, INSTALL in said(done)) == (2, True)


@pytest.mark.parametrize("wrong", ["", "abc", 7])
def test_a_damaged_hash_is_named(wrong, tmp_path):
    session = SimpleNamespace(source={"file": "mails.jsonl", "encoder": wrong})
    with pytest.raises(SessionDamagedError, match="'encoder' in the source of its data"):
        origin_of(session, tmp_path)
