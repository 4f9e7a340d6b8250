"""Columns of paths of pictures that rows are compared by, alone or beside texts and other columns."""

import numpy as np
import polars as pl
import pytest
from PIL import Image

from linkwise.app.project.data_source import columns_of_rules, read_rows
from linkwise.data import encode, from_frame, items_of, read_folder, read_table
from linkwise.data.columns.proposals import propose_options
from linkwise.data.encoding.encoded import block_of
from linkwise.data.reading import Reading
from linkwise.errors import DataError

N = 24


@pytest.fixture
def path(tmp_path):
    """Goods with a title, a price and a picture, and a file name with a space."""
    rng = np.random.default_rng(0)
    (tmp_path / "my pictures").mkdir()
    lines = ["sku,title,price,colour,picture"]
    for i in range(N):
        pixels = rng.integers(0, 60, (16, 16, 3)).astype(np.uint8)
        pixels[4:12, 4:12] += np.array([180, 0, 0] if i % 2 else [0, 0, 180], dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"my pictures/p{i:02}.png")
        title = f"{'oak chair' if i % 3 else 'red lamp'} {'tall' if i % 5 else 'small'}"
        lines.append(f"s{i},{title},{rng.normal():.3f},{'ab'[i % 2]},my pictures/p{i:02}.png")
    (tmp_path / "goods.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "goods.csv"


def shares_of(encoded):
    spreads = encoded.X.var(axis=0)
    names = [block_of(feature) for feature in encoded.features]
    return {
        name: spreads[[one == name for one in names]].sum() / spreads.sum() for name in dict.fromkeys(names)
    }


def test_pictures_alone_are_encoded_as_those_of_a_folder(path):
    table = read_table(path, image="picture", id_column="sku")
    encoded = encode(table)
    assert (table.kind, table.features) == ("image", ("picture",))
    assert (encoded.X == read_folder(path.parent / "my pictures").encoded.X).all()
    assert encoded.feature_names[0] == "picture 1"
    assert any("pictures of 'picture' are compared by their edges" in note for note in encoded.notes)
    assert "alone; only shown: title, price, colour." in table.notes[-1]
    items = items_of(table)
    assert items.kind == "image"
    assert items.pixels(0).shape == (16, 16, 3)
    assert set(items.fields(0)) == {"title", "price", "colour"}
    with pytest.raises(DataError, match="can only be encoded together"):
        encoded.transform(table)


def test_pictures_texts_and_columns_are_blocks_of_equal_say(path):
    table = read_table(path, image="picture", text="title", columns=["price", "colour"], id_column="sku")
    encoded = encode(table)
    assert shares_of(encoded) == pytest.approx({None: 1 / 3, "title": 1 / 3, "picture": 1 / 3})
    assert "picture (pictures)" in encoded.notes[-1]
    assert table.kind == "text"
    weighed = read_table(path, **{**table.choices, "weights": {"picture": 2.0, "price": 0.5}})
    assert shares_of(encode(weighed))["picture"] == pytest.approx(0.5)
    again = read_table(path, **table.choices)
    assert (encode(again).X == encoded.X).all()
    assert again.choices == table.choices


def test_a_list_beside_a_picture(path):
    frame = pl.read_csv(path)
    vectors = np.random.default_rng(1).normal(size=(N, 3)).tolist()
    frame.with_columns(vector=pl.Series(vectors)).write_parquet(path.with_suffix(".parquet"))
    table = read_table(
        path.with_suffix(".parquet"), image=["picture"], text=["title"], columns=["vector", "price"]
    )
    assert list(shares_of(encode(table))) == [None, "vector", "title", "picture"]
    assert list(shares_of(encode(table)).values()) == pytest.approx([0.25] * 4)


def test_rows_are_shown_with_their_pictures(path):
    rows = read_rows(path, Reading(image=["picture"], columns=["all"]))
    assert rows.items.kind == "record"
    assert rows.items.pixels(3).shape == (16, 16, 3)
    assert "picture" not in rows.items.fields(3)
    assert columns_of_rules(rows).feature_names == ("title", "price", "colour")


def test_a_picture_of_weight_0_is_only_shown(path):
    table = read_table(path, image="picture", columns=["all"], weights={"picture": 0.0})
    assert "picture" not in table.features
    assert "picture" in table.shown


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"image": "pictur"}, "Did you mean 'picture'"),
        ({"image": "title"}, "which is no path of a picture"),
        ({"image": "picture", "series": True}, "image compares rows by pictures. Remove series"),
        ({"image": "picture", "drop": ["picture"]}, "is to be a picture and dropped"),
        ({"image": "picture", "text": "picture"}, "is to be the text and a picture"),
        ({"image": "picture", "hide": ["picture"]}, "is to be a picture and hidden"),
        ({"image": "picture", "log": ["price"]}, "Remove log"),
    ],
)
def test_what_does_not_go_with_pictures(path, how, message):
    with pytest.raises(DataError, match=message):
        read_table(path, **how)


def test_a_row_without_a_picture(path):
    frame = pl.read_csv(path).with_columns(picture=pl.when(pl.int_range(pl.len()) != 4).then("picture"))
    with pytest.raises(DataError, match=r"Column 'picture' is empty in row 4 \(counted from 0\)"):
        from_frame(frame, image="picture")


def test_pictures_that_cannot_be_read(path):
    table = read_table(path, image="picture")
    with pytest.raises(ValueError, match="scale='unit' is not for pictures"):
        encode(table, scale="unit")
    mixed = read_table(path, image="picture", columns=["price"])
    with pytest.raises(ValueError, match="Pictures have no codes"):
        encode(mixed, categories="codes")
    (path.parent / "my pictures/p03.png").write_text("no picture")
    with pytest.raises(DataError, match=r"p03.png is no picture .* remove .* or the column 'picture'"):
        encode(table)
    (path.parent / "my pictures/p03.png").unlink()
    with pytest.raises(DataError, match=r"1 of 24 are not there: my pictures/p03.png"):
        encode(table)


def propose(path, **how):
    table = read_table(path, **how)
    proposals = propose_options(table.frame, table.reading, table.folder)
    return {one.option: one.value for one in proposals}


def test_pictures_are_proposed_if_they_are_there(path):
    assert propose(path, id_column="sku", columns=["all"])["image"] == ["picture"]
    assert propose(path, id_column="sku", text="title") == {"image": ["picture"]}
    alone = propose(path, id_column="sku", drop=["title"])
    assert (alone["image"], alone["columns"]) == (["picture"], ["all"])
    assert "image" not in propose(path, id_column="sku", columns=["price"])
    assert "image" not in propose(path, id_column="sku", show=["picture"])
    assert "image" not in propose(path, id_column="sku", text="title", image="picture")
    (path.parent / "my pictures/p03.png").unlink()
    assert "image" not in propose(path, id_column="sku", text="title")
