"""Blocks take equal shares of the squared distance, times their weights; directions have norm 1."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from linkwise.data import encode, from_frame, items_of
from linkwise.errors import DataError

N = 30


def make_frame():
    rng = np.random.default_rng(3)
    draw = lambda words, n: [" ".join(rng.choice(words.split(), n)) for _ in range(N)]  # noqa: E731
    return pl.DataFrame(
        {
            "title": draw("sail harbour oven flour tide", 2),
            "body": draw("one two three four five six seven", 4),
            "price": rng.normal(50, 9, N),
            "stars": rng.integers(1, 6, N),
            "kind": rng.choice(["new", "old"], N),
            "emb": rng.normal(size=(N, 5)).tolist(),
        }
    )


FRAME = make_frame()
ALL = {"text": ["title", "body"], "columns": ["price", "stars", "kind", "emb"]}
BLOCKS = {"title": ["title"], "body": ["body"], "emb": ["emb"], "columns": ["price", "stars", "kind"]}


def share(encoded, sources):
    """Mean squared distance between two different rows in the columns of some sources."""
    at = [j for j, one in enumerate(encoded.features) if one.source.partition("[")[0] in sources]
    return float((pdist(encoded.X[:, at]) ** 2).mean())


# ---------------------------------------------------------------- shares
@pytest.mark.parametrize("how", [ALL, {**ALL, "metric": "cosine"}])
@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
def test_blocks_and_columns_take_equal_shares(how, scale):
    encoded = encode(from_frame(FRAME, **how), scale=scale)
    for sources in BLOCKS.values():
        assert share(encoded, sources) == pytest.approx(1)
    for name in BLOCKS["columns"]:
        assert share(encoded, [name]) == pytest.approx(1 / 3)
    assert any("Each of 4 blocks takes the same share" in note for note in encoded.notes)


@given(st.dictionaries(st.sampled_from(sorted(BLOCKS)), st.floats(0.01, 100)))
def test_a_block_takes_its_weight(weights):
    encoded = encode(from_frame(FRAME, **ALL, weights=weights))
    for block, sources in BLOCKS.items():
        assert share(encoded, sources) == pytest.approx(weights.get(block, 1))


@given(st.floats(0.01, 100))
def test_a_column_counts_its_weight_against_the_others_of_its_block(weight):
    mixed = encode(from_frame(FRAME, **ALL, weights={"price": weight}))
    assert share(mixed, ["price"]) == pytest.approx(weight * share(mixed, ["kind"]))
    assert share(mixed, BLOCKS["columns"]) == pytest.approx(1)
    plain, usual = (encode(from_frame(FRAME, weights=given)) for given in ({"price": weight}, None))
    assert share(plain, ["price"]) == pytest.approx(weight * share(usual, ["price"]))
    assert share(plain, ["kind"]) == share(usual, ["kind"])


def test_weight_none_leaves_every_scale_as_it_is():
    encoded = encode(from_frame(FRAME, **ALL, weights="none"))
    for name in ("title", "body"):
        assert share(encoded, [name]) == share(encode(from_frame(FRAME, text=name)), [name])
    assert share(encoded, ["price"]) == share(encode(from_frame(FRAME)), ["price"])


@pytest.mark.parametrize("name", ["title", "price", "emb"])
def test_a_column_of_weight_0_is_only_shown(name):
    table = from_frame(FRAME, **ALL, weights={name: 0})
    assert name in table.shown
    assert name not in {one.source.partition("[")[0] for one in encode(table).features}
    others = {block: [s for s in sources if s != name] for block, sources in BLOCKS.items()}
    assert all(share(encode(table), some) == pytest.approx(1) for some in others.values() if some)


def test_texts_are_shown_together_with_the_columns_beside_them():
    items = items_of(from_frame(FRAME, **ALL))
    assert items.content(4) == f"{FRAME['title'][4]}\n\n{FRAME['body'][4]}"
    assert list(items.fields(4)) == ["price", "stars", "kind"]


@pytest.mark.parametrize(
    "how",
    [{}, ALL, {"text": "title"}, {"text": "body", "columns": "all"}, {**ALL, "weights": "none"},
     {**ALL, "weights": {"title": 0, "price": 2}}, {"columns": ["emb"], "metric": "cosine"}],
)  # fmt: skip
def test_the_choices_give_the_same_rows_again(how):
    table = from_frame(FRAME, **how)
    again = from_frame(FRAME, **{name: value for name, value in table.choices.items() if name != "delimiter"})
    assert again.choices == table.choices
    np.testing.assert_array_equal(encode(again).X, encode(table).X)


# ---------------------------------------------------------------- new rows
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_new_rows_are_encoded_alike(metric):
    how = {"columns": ["price", "kind", "emb"], "weights": {"emb": 3, "kind": 0.2}, "metric": metric}
    encoded = encode(from_frame(FRAME, **how))
    np.testing.assert_allclose(encoded.transform(FRAME[5:9]), encoded.X[5:9], atol=1e-12)


# ---------------------------------------------------------------- the cosine
def test_rows_of_norm_1_are_compared_by_the_cosine():
    X = np.random.default_rng(0).normal(size=(40, 6))
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    encoded = encode(from_frame(units))
    np.testing.assert_allclose(encoded.X, units)
    assert any("Compared by the cosine" in note for note in encoded.notes)
    assert np.ptp(encode(from_frame(units, metric="euclidean")).X, axis=0) == pytest.approx(1)
    assert "metric" not in from_frame(X).choices
    np.testing.assert_allclose(encode(from_frame(X, metric="cosine")).X, units)
    np.testing.assert_allclose(encode(from_frame(1e200 * X, metric="cosine")).X, units)


def test_rows_of_zeros_stay_zero_and_are_listed():
    X = np.random.default_rng(0).normal(size=(40, 6))
    X[[3, 7]] = 0
    encoded = encode(from_frame(X, metric="cosine"))
    assert not encoded.X[[3, 7]].any()
    assert any("2 rows of zeros" in note and "3, 7" in note for note in encoded.notes)


# ---------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({**ALL, "weights": {"titel": 2}}, "Did you mean 'title'.*compared by: title, body"),
        ({"weights": {"body": 2}}, "'body' is not compared.*compared by: price, stars, kind"),
        ({"weights": {"columns": 2}}, "no column or block 'columns'"),
        ({**ALL, "weights": {"columns": 0}}, "Remove the columns"),
        ({"weights": {"price": -1}}, "weight of 'price' is -1"),
        ({"weights": {"price": float("nan")}}, "weight of 'price' is nan"),
        ({"weights": {"price": True}}, "weight of 'price' is True"),
        ({"weights": 2}, "The weights are 2"),
        ({"weights": {"price": 0, "stars": 0, "kind": 0}}, "No column is left"),
        ({"metric": "cosine"}, "'kind' is a category"),
        ({"metric": "manhattan"}, "'euclidean' or 'cosine'"),
        ({"text": "body", "metric": "cosine"}, "Remove metric"),
    ],
)
def test_errors_name_the_way_out(how, said):
    with pytest.raises(DataError, match=f"(?s){said}"):
        from_frame(FRAME, **how)
