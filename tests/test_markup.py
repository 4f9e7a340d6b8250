"""What notebooks show of sessions, rules and counts: small, escaped, and without a colour of its own."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import linkwise as lw
from linkwise.markup import MOST_ROWS, draw_block

EVIL = '<script>alert("1")</script>&amp;'
X = np.array([[0.0], [0.1], [5.0], [5.1]])


class Reader(HTMLParser):
    """The tags and texts of a piece of HTML; tags must be closed in order."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(markup)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(shown):
    markup = shown._repr_html_()
    assert len(markup) < 20_000
    assert not re.search(r"#[0-9a-fA-F]{3}|rgb|black|white", re.sub(r">[^<]*<", "><", markup))
    return Reader(markup)


def answered(**options):
    session = lw.Session(X, lw.COBRAS(random_state=0), error_rate=None, **options)
    while (q := session.question) is not None:
        session.answer((q.first < 2) == (q.second < 2), source=EVIL if session.status.n_answers else "b")
    return session


def test_a_session_shows_its_clusters_and_answers():
    session = answered()
    session.set_name(0, EVIL)
    found = read(session)
    assert "COBRAS: 2 clusters of 4 rows" in found.texts
    assert EVIL in found.texts
    assert {*found.tags} <= {"div", "strong", "table", "tr", "td", "th"}
    assert any("same" in text and "different" in text for text in found.texts)


def test_a_session_without_its_data_says_that_its_clusters_are_old(tmp_path):
    session = answered()
    session.save(tmp_path / "s.linkwise")
    session.close()
    assert "A session that is closed" in read(session).texts
    with lw.Session.open(tmp_path / "s.linkwise") as old:
        assert not any("older" in text for text in read(old).texts)
        old.undo()
        assert any("older than the last change" in text for text in read(old).texts)


def test_rules_show_names_of_columns_as_text():
    rules = lw.explain([EVIL, EVIL, "b", "b"], X, feature_names=[EVIL])
    found = read(rules)
    assert {str(rule) for rule in rules.rules} < {*found.texts}
    assert all("<script>" in str(rule) for rule in rules.rules)
    assert "script" not in found.tags
    for part in (*rules.clusters, *rules.rules):
        found = read(part)
        assert any("<script>" in text for text in found.texts)
        assert "script" not in found.tags


def test_reasons_counts_and_agreement_show_names_as_text():
    session = answered()
    for source in ("b", EVIL):
        session.add(0, 1, "must-link", source=source)
        session.add(0, 2, "cannot-link", source=source)
    (agreement,) = session.agreement()
    found = read(agreement)
    assert any(EVIL in text for text in found.texts)
    assert any(text.startswith("1.00 (") for text in found.texts)
    assert "2 clusters of 4 rows" in read(session.status).texts
    assert read(session.why(0, 1)).texts[0] == session.why(0, 1).sentences()[0]


def test_many_rows_are_counted():
    found = Reader(draw_block("c", rows=[(n, "x") for n in range(MOST_ROWS + 5)]))
    assert found.tags.count("tr") == MOST_ROWS
    assert found.texts[-1] == "and 5 more"


@pytest.mark.parametrize("text", [EVIL, "'", '"', "a\nb"])
def test_every_place_of_a_block_is_escaped(text):
    markup = draw_block(text, [text], header=(text, text), rows=[(text, 1)])
    found = Reader(markup)
    assert found.texts == [text, text, text, text, text, "1"]
    assert "<script>" not in markup
