"""Clusters of texts by their words."""

import numpy as np
import pytest

from linkwise.reasons.telling_words import telling_words

TEXTS = ["red apple pie", "green apple", "apple tart", "fast car", "old car and bus", "car", "bus stop", None]
LABELS = [0, 0, 0, 1, 1, 1, 1, 1]


def test_words_are_those_whose_shares_differ_most():
    first, second = telling_words(LABELS, TEXTS, most=2)
    assert (first.cluster, first.n_rows) == (0, 3)
    assert first.words == (("apple", 1.0, 0.0),)
    assert [w.word for w in second.words] == ["car", "bus"]
    assert second.words[0].inside == pytest.approx(3 / 5)
    assert second.lines() == [
        "cluster 1: 5 rows",
        "  car: in 60% of its texts, in 0% of the others",
        "  bus: in 40% of its texts, in 0% of the others",
    ]


def test_words_are_counted_once_a_text():
    first, second = telling_words([0, 0, 1, 1], ["a2 a2 a2", "b2", "a2 b2", "b2 b2"])
    assert first.words == ()  # a2 is in half of the texts here and there
    assert second.words == (("b2", 1.0, 0.5),)


def test_one_cluster_and_noise_and_names():
    assert telling_words([0] * 8, TEXTS)[0].words[0][1:] == (3 / 8, 0.0)
    assert [c.cluster for c in telling_words([-1, 0] * 4, TEXTS)] == [-1, 0]
    assert [c.cluster for c in telling_words(["b", "a"] * 4, TEXTS)] == ["a", "b"]


def test_a_cluster_without_words_of_its_own():
    found = telling_words([0, 1, 1], ["", "sea sand", "sea wind"])
    assert found[0].lines() == ["cluster 0: 1 row", "  no word is more frequent here"]


def test_labels_must_be_one_a_text():
    with pytest.raises(ValueError, match="one label for each row"):
        telling_words([0, 1], TEXTS)
    assert telling_words(np.array(LABELS), TEXTS)[0].n_rows == 3


def test_texts_with_the_label_of_noise_are_in_no_cluster():
    first, second = telling_words([-1, -1, 0, 0], ["blue sea", "blue sky", "car", "car"], most=1)
    assert first.lines()[0] == "no cluster: 2 rows"
    assert second.lines()[0] == "cluster 0: 2 rows"


def test_long_words_are_cut_in_lines_alone():
    first, _ = telling_words([0, 0, 1, 1], ["x" * 500, "x" * 500, "car", "car"], most=1)
    assert first.words[0].word == "x" * 500
    assert first.lines()[1] == f"  {'x' * 29}…: in 100% of its texts, in 0% of the others"
