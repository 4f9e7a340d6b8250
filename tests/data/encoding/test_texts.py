"""Texts as points: what is near what, and what cannot be used."""

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from linkwise.data import encode, from_frame, items_of, read_table
from linkwise.data.encoding.english import is_english, list_stop_words
from linkwise.data.encoding.texts import MOST_TOPICS, encode_texts, learn_texts, word_counts
from linkwise.errors import DataError

CATS = [
    "the cat purrs softly",
    "a cat with whiskers purrs",
    "whiskers, said that cat",
    "softly purrs the kitten cat",
]
SHIPS = [
    "the harbour and the sail",
    "a sail on the ship",
    "ship in the harbour",
    "sail of the ship in harbour",
]


def group_texts(n_texts, seed=0, groups=3):
    """Texts of clear groups: a few words of their own among words of all."""
    rng = np.random.default_rng(seed)
    own = [[f"topic{g}word{k}" for k in range(8)] for g in range(groups)]
    common = [f"common{k}" for k in range(40)]
    truth = np.arange(n_texts) % groups
    return [" ".join([*rng.choice(own[g], 4), *rng.choice(common, 5)]) for g in truth], truth


def lsa(texts):
    """The same by dense arrays: counts, weights, all directions."""
    vocabulary = sorted({word for text in texts for word in text.split() if len(word) > 1})
    counts = np.array([[text.split().count(word) for word in vocabulary] for text in texts], dtype=float)
    n, in_texts = len(texts), (counts > 0).sum(axis=0)
    counts = counts[:, (in_texts >= 2) & (in_texts <= n / 2)]
    in_texts = (counts > 0).sum(axis=0)
    logs = 1 + np.log(counts, out=np.zeros_like(counts), where=counts > 0)
    weights = np.where(counts > 0, logs, 0) * (1 + np.log((1 + n) / (1 + in_texts)))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    left, strength, _ = np.linalg.svd(weights, full_matrices=False)
    places = (left * strength)[:, :MOST_TOPICS]
    share = places.var(axis=0).sum() / weights.var(axis=0).sum()
    return places / np.linalg.norm(places, axis=1, keepdims=True), share


@pytest.mark.parametrize("n_texts", [40, 300])  # all directions, and the strongest of many
def test_it_is_latent_semantic_analysis(n_texts):
    texts, _ = group_texts(n_texts)
    if n_texts > 200:  # enough words for the way of large data
        texts = [f"{text} rare{row // 2}" for row, text in enumerate(texts)]
    expected, share = lsa(texts)
    encoded = encode_texts(texts)
    assert np.allclose(encoded.X @ encoded.X.T, expected @ expected.T, atol=1e-7)
    assert f"{MOST_TOPICS} topics hold {share:.0%} of what differs" in encoded.notes[0]


def test_groups_of_texts_are_found():
    texts, truth = group_texts(90)
    X = encode_texts(texts).X
    found = KMeans(3, n_init=3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(truth, found) > 0.95
    assert np.allclose(np.linalg.norm(X, axis=1), 1)
    assert X.flags.c_contiguous


def test_what_shares_words_is_nearer_than_what_does_not():
    X = encode_texts([*CATS, *SHIPS]).X
    likeness = X @ X.T
    assert likeness[:4, :4].min() > likeness[:4, 4:].max()


def test_twice_the_same():
    texts, _ = group_texts(260)
    one, two = encode_texts(texts), encode_texts(texts)
    assert np.array_equal(one.X, two.X)


def test_case_and_length_are_nothing():
    X = encode_texts(["alpha beta", "ALPHA Beta", "alpha beta " * 9, "gamma delta", "gamma delta", "x y"]).X
    assert np.allclose(X[0], X[1])
    assert np.allclose(X[0], X[2])


def test_words_of_all_languages():
    words, counts = word_counts(["Käse und Brot", "сыр и хлеб", "käse, brot!"])
    assert list(words) == ["brot", "käse", "und", "сыр", "хлеб"]
    assert counts.toarray()[2].tolist() == [1, 1, 0, 0, 0]


def test_texts_without_any_of_the_words_are_reported():
    texts, _ = group_texts(30)
    encoded = encode_texts([*texts, "", None, "unheard-of"])
    assert not encoded.X[30:].any()
    assert "3 texts hold none of these words: rows 30, 31, 32, counted from 0." in encoded.notes[1]


def test_two_texts_are_enough():
    X = encode_texts(["one thing", "another matter"]).X
    assert X.shape[0] == 2
    assert not np.allclose(X[0], X[1])


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["", None, "  "], "hold no words"),
        (["!", "- -", "a b"], "hold no words"),
        (["same words"] * 5, "nothing tells them apart"),
        (["word"] * 3, "nothing tells them apart"),
        (["word word", "word"], "nothing tells them apart"),
    ],
)
def test_texts_that_cannot_be_distinguished_are_refused(texts, said):
    with pytest.raises(DataError, match=said):
        encode_texts(texts, "body")


ENGLISH = [
    "this is what the cat of the house has seen",
    "and that was the bill which we had paid with a cat",
    "the system that you have at the house was down",
    "a bill for the system and for the ship",
    "they saw that the ship and the cat were there",
]


def test_english_stop_words_are_left_out_with_a_note():
    space = learn_texts(ENGLISH)[1]
    assert space.words == ("bill", "house", "ship", "system")  # a cat is in more than half of the texts
    assert "without English stop words such as 'the'" in encode_texts(ENGLISH).notes[0]


@pytest.mark.parametrize(
    "texts",
    [
        [
            "die Katze war im Haus und am See",
            "so war das Haus am See",
            "was war in dem Haus",
            "wer am See war",
        ],
        [
            "het is al te laat in huis",
            "de kat was over of in huis",
            "we waren in de stad",
            "is hij in de stad",
        ],
        [
            "on me dit que tu as un chat",
            "on a vu un chat ou un chien",
            "tu me dis non",
            "un chien on le voit",
        ],
        [
            "no me lo dijo con calma",
            "un perro de la casa",
            "me lo dijo un amigo de la casa",
            "no con un perro",
        ],
        [
            "han var i huset for sent",
            "at have en plan for huset",
            "so er der en plan",
            "han har set at det var sent",
        ],
    ],
    ids=["German", "Dutch", "French", "Spanish", "Danish"],
)
def test_words_of_other_languages_stay(texts):
    assert "English" not in encode_texts(texts).notes[0]
    words, counts = word_counts(texts)
    assert list_stop_words(words).any()  # although some are English stop words, too
    assert not is_english(words, counts)


def test_stop_words_stay_where_nothing_else_would():
    assert (
        "English"
        not in encode_texts(["that is his", "this was hers", "that was hers", "this is his"]).notes[0]
    )


# ---------------------------------------------------------------- as a column of a table
FRAME = pl.DataFrame(
    {
        "id": range(8),
        "body": [*CATS, *SHIPS],
        "stars": [1, 2, 3, 4, 5, 1, 2, 3],
        "class": ["c"] * 4 + ["s"] * 4,
    }
)


def test_only_the_text_is_compared_and_the_rest_is_shown():
    table = from_frame(FRAME, text="body")
    assert (table.kind, table.features, table.shown) == ("text", ("body",), ("stars", "class"))
    assert table.ids == tuple("01234567")
    assert table.notes[-1] == "Rows are compared by the texts of 'body' alone; only shown: stars, class."
    items = items_of(table)
    assert (items.kind, items.content(4), items.fields(4)) == ("text", SHIPS[0], {"stars": "5", "class": "s"})
    assert encode(table).features[0].name == "topic 1"


def test_choices_give_the_same_table_again(tmp_path):
    path = tmp_path / "texts.jsonl"
    FRAME.write_ndjson(path)
    table = read_table(path, text="body", drop="stars")
    assert table.choices["text"] == "body"
    again = read_table(path, **table.choices)
    assert again.notes == table.notes
    assert items_of(again).fields(0) == {"class": "c"}


def test_texts_stay_as_they_are_written(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text('a,body\n1,"007"\n2,"2024-01-31"\n3,"12"\n4,\n')
    items = items_of(read_table(path, text="body"))
    assert [items.content(row) for row in range(4)] == ["007", "2024-01-31", "12", "missing"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"text": "bodi"}, "Did you mean 'body'"),
        ({"text": "stars"}, "'stars' holds numbers"),
        ({"text": "body", "columns": ["body"]}, "a feature and the text"),
        ({"text": ["body", "stars"]}, "'stars' holds numbers"),
        ({"text": "body", "series": True}, "by their words. Remove series"),
        ({"text": "body", "drop": ["body"]}, "the text and dropped"),
        ({"text": "body", "id_column": "body"}, "the id and the text"),
    ],
)
def test_columns_that_cannot_be_the_text(how, said):
    with pytest.raises(DataError, match=said):
        from_frame(FRAME, **how)


def test_texts_have_no_scale():
    table = from_frame(FRAME, text="body")
    for how in ({"scale": "unit"}, {"impute": "median"}):
        with pytest.raises(ValueError, match=r"scale|impute"):
            encode(table, **how)


def test_new_texts_are_refused_in_words():
    with pytest.raises(DataError, match="encoded together"):
        encode(from_frame(FRAME, text="body")).transform(FRAME)
