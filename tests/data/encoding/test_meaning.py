"""Texts compared by meaning."""

import numpy as np
import polars as pl
import pytest

from encoder_stub import encoder, no_encoder  # noqa: F401  # used by name
from linkwise.data import encode, encode_texts, from_frame
from linkwise.data.columns.short_texts import INSTALL, has_encoder
from linkwise.data.encoding.meaning import encode_meaning, hash_weights
from linkwise.data.encoding.texts import learn_texts
from linkwise.errors import DataError

TEXTS = [
    "the cat purrs all day", "a kitten sleeps here now", "my puppy barks at night",
    "the boat left the harbour", "an old vessel came back", "one captain lost his ship",
]  # fmt: skip
KIND = np.repeat([0, 1], 3)


@pytest.mark.usefixtures("encoder")
def test_texts_of_one_meaning_are_near_without_a_common_word():
    encoded = encode_texts(TEXTS, "said", "meaning")
    assert (encoded.X.shape, encoded.X.dtype, encoded.X.flags.c_contiguous) == ((6, 512), np.float32, True)
    assert np.allclose(np.linalg.norm(encoded.X, axis=1), 1, atol=1e-4)
    likeness = encoded.X @ encoded.X.T
    assert likeness[KIND[:, None] == KIND].min() > likeness[KIND[:, None] != KIND].max()
    assert encoded.feature_names[-1] == "meaning 512"
    assert encoded.notes == ("The texts of 'said' are compared by their meaning, of up to 400 words each.",)


def test_a_text_is_encoded_once_and_cut(encoder):  # noqa: F811
    X = encode_meaning(["a cat", None, "a  cat\n", "word " * 401 + "ship", "word " * 400, ""])
    assert encoder.calls == [["a cat", "", " ".join(["word"] * 400)]]
    assert (X[0] == X[2]).all()
    assert (X[3] == X[4]).all()
    assert not X[[1, 5]].any()
    assert (X.round(5) == X).all()


@pytest.mark.usefixtures("encoder")
def test_texts_depend_on_no_other_text():
    assert (encode_meaning(TEXTS)[:2] == encode_meaning(TEXTS[:2])).all()


@pytest.mark.usefixtures("encoder")
@pytest.mark.parametrize("unit", ["meaning", "words,meaning"])
def test_other_texts_find_their_place(unit):
    texts = [f"{one} {more}" for one in TEXTS for more in ("rope", "moon", "rope moon")]
    encoded, space = learn_texts(texts, "said", unit)
    scale = [one.scale for one in encoded.features]
    assert space.width == encoded.X.shape[1]
    np.testing.assert_allclose(space.place(texts) / scale, encoded.X, atol=1e-5)


@pytest.mark.usefixtures("encoder")
def test_words_and_meaning_have_the_same_influence():
    texts = [f"{one} {more}" for one in TEXTS for more in ("rope", "moon", "rope moon")]
    encoded = encode_texts(texts, "said", "words,meaning")
    is_meaning = np.array([name.startswith("meaning") for name in encoded.feature_names])
    assert 0 < (~is_meaning).sum() <= 20
    spread = encoded.X.var(axis=0)
    assert spread[is_meaning].sum() == pytest.approx(spread[~is_meaning].sum(), rel=1e-5) == 1.0
    assert encoded.notes[-1] == "Words and meaning have the same influence on the texts of 'said'."
    frame = pl.DataFrame({"said": texts, "size": np.arange(len(texts))})
    both = encode(from_frame(frame, text="said", columns=["size"], text_by="words,meaning"))
    assert both.X[:, 0].var() == pytest.approx(both.X[:, 1:].var(axis=0).sum(), rel=1e-5)


@pytest.mark.usefixtures("encoder")
def test_texts_that_are_all_the_same_raise_an_error():
    with pytest.raises(DataError, match="The texts of 'said' are all the same"):
        encode_texts(["a cat", "a cat "], "said", "meaning")


@pytest.mark.usefixtures("no_encoder")
@pytest.mark.parametrize("unit", ["meaning", "words,meaning"])
def test_a_missing_package_raises_an_error_with_the_command(unit):
    table = from_frame(pl.DataFrame({"said": TEXTS}), text="said", text_by=unit)
    with pytest.raises(ImportError, match="Texts cannot be compared by meaning") as error:
        encode(table)
    assert str(error.value).endswith(INSTALL)


def short_note(frame, **options):
    notes = encode(from_frame(frame, text="said", **options)).notes
    return next((note for note in notes if "are short" in note), None)


def test_the_note_on_short_texts_ends_with_the_command(no_encoder):  # noqa: F811
    frame = pl.DataFrame({"said": TEXTS})
    assert short_note(frame).startswith(
        "The texts of 'said' are short, 5 words on average. --text-by meaning"
    )
    assert short_note(frame).endswith(INSTALL)
    assert short_note(frame, text_by="words") is None
    assert short_note(frame, text_by="letters") is None
    assert short_note(pl.DataFrame({"said": ["Anna Meier", "Ida Wyss", "Ana Meier"]})) is None
    assert short_note(pl.DataFrame({"said": [f"{one} {'and so on ' * 40}" for one in TEXTS]})) is None


@pytest.mark.usefixtures("encoder")
def test_meaning_is_proposed_where_it_can_be_compared():
    frame = pl.DataFrame({"said": [f"{one} {more}" for one in TEXTS for more in ("rope", "moon")]})
    table = from_frame(frame, propose=True)
    assert table.reading.text_by == "meaning"
    assert "the texts are short, so they are compared by their meaning" in [p.reason for p in table.proposals]
    assert from_frame(frame, propose=True, text="said", text_by="words").reading.text_by == "words"
    assert not short_note(frame, text_by="meaning")
    assert not short_note(frame).endswith(INSTALL)


@pytest.mark.usefixtures("no_encoder")
def test_meaning_is_not_proposed_without_the_package():
    frame = pl.DataFrame({"said": [f"{one} {more}" for one in TEXTS for more in ("rope", "moon")]})
    assert from_frame(frame, propose=True).reading.text_by is None


def test_the_hash_is_that_of_the_weights(encoder):  # noqa: F811
    before = hash_weights()
    encoder.install(b"first weights", own=0.3)
    assert hash_weights() == before
    encoder.install(b"other weights", own=0.3)
    assert hash_weights() != before
    assert len(before) == 64


@pytest.mark.skipif(not has_encoder(), reason="needs the extra meaning")
def test_the_real_encoder():
    texts = [
        "Where is my parcel?",
        "The delivery has not arrived.",
        "Wo ist mein Paket?",
        "I love this song.",
    ]
    X = encode_texts(texts, unit="meaning").X
    likeness = X @ X.T
    assert likeness[0, 1:3].min() > likeness[0, 3]
    assert (encode_meaning(texts[:1])[0] == X[0]).mean() > 0.99
    np.testing.assert_allclose(encode_meaning(texts[:1])[0], X[0], atol=2e-5)
    assert len(hash_weights()) == 64
