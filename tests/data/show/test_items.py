"""What is shown of a row: its kind, the fields beside it, and the content itself."""

import io

import numpy as np
import polars as pl
import pytest
from PIL import Image

from linkwise import datasets
from linkwise.data import from_frame, image_items, record_items, series_items, text_items
from linkwise.data.read.picture_files import png
from linkwise.data.show.items import value_items
from linkwise.errors import DataError


def decoded(content):
    image = Image.open(io.BytesIO(content))
    image.verify()  # checks the sums of all chunks
    return np.asarray(Image.open(io.BytesIO(content)))


@pytest.mark.parametrize("shape", [(5, 3), (5, 3, 3), (1, 1), (7, 300, 3)])
def test_a_png_is_read_back_as_it_was(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert np.array_equal(decoded(png(pixels)), pixels)


def test_records_have_fields_and_no_content():
    items = record_items(from_frame(pl.DataFrame({"a": [1.5, 2], "b": [3, 4], "class": ["x", "y"]})))
    assert (items.kind, items.content(0)) == ("record", None)
    assert items.fields(0) == {"a": "1.5", "b": "3", "class": "x"}


def test_arrays_are_records_with_short_numbers():
    assert value_items(np.array([[0.1 + 0.2, 2.0]]), ("a", "b")).fields(0) == {"a": "0.3", "b": "2"}


def test_texts_may_have_fields_beside_them():
    items = text_items(["one", "two"], fields=lambda row: {"n": str(row)})
    assert (items.kind, items.content(1), items.fields(1)) == ("text", "two", {"n": "1"})
    assert text_items(["one"]).fields(0) == {}


def test_digits_are_pictures():
    digits = datasets.load("digits")
    items = image_items(digits.images)
    assert items.kind == "image"
    assert np.array_equal(decoded(items.content(3)), np.rint(digits.images[3] * 255 / 16))
    assert np.array_equal(items.pixels(3), decoded(items.content(3)))


def test_bytes_stay_and_colours_too():
    images = np.full((2, 4, 4, 3), 7, dtype=np.uint8)
    assert np.array_equal(decoded(image_items(images).content(0)), images[0])


def test_large_pictures_are_shown_smaller():
    assert image_items(np.zeros((1, 1000, 20))).pixels(0).shape == (250, 5)


@pytest.mark.parametrize(
    "images",
    [np.zeros((3, 4)), np.zeros((2, 4, 4, 4)), np.zeros((0, 4, 4)), np.full((1, 2, 2), np.nan), [["a"]]],
)
def test_what_is_no_picture_is_refused(images):
    with pytest.raises(DataError, match="images are"):
        image_items(images)


def test_curves_have_gaps():
    items = series_items([[1.0, np.nan, 2.5], [0, 0, np.inf]])
    assert items.kind == "series"
    assert items.content(0) == [1.0, None, 2.5]
    assert items.content(1) == [0.0, 0.0, None]
    with pytest.raises(DataError, match="shape"):
        series_items([1.0, 2.0])
