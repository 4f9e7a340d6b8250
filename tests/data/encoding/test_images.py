"""Folders of pictures and of texts: what is found, how it is measured, and what cannot be used."""

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from linkwise import datasets
from linkwise.data import read_folder
from linkwise.data.encoding.images import SIDE, encode_files, fit_canvas, measure_features
from linkwise.data.read.picture_files import read_picture
from linkwise.errors import DataError

RNG = np.random.default_rng(5)


def save(folder, name, pixels, **how):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path, **how)
    return path


def stripes(across, width=24, height=24, shift=0):
    """Dark and light lines, across or down, with a little noise."""
    at = np.arange(height)[:, None] if across else np.arange(width)[None, :]
    lines = 200.0 * (((at + shift) // 4) % 2) + np.zeros((height, width))
    return np.clip(lines + RNG.integers(0, 20, (height, width)), 0, 255)


@pytest.fixture
def folder(tmp_path):
    """Eight pictures with lines across, then down, of several sizes."""
    for k in range(8):
        save(tmp_path, f"{'ab'[k % 2]}{k}.png", stripes(k % 2 == 0, 24 + k, 24, k))
    return tmp_path


# ---------------------------------------------------------------- what is found
def test_rows_are_called_by_their_paths_in_order(folder):
    save(folder, "deep/er/z.jpg", stripes(True))
    save(folder, ".hidden/no.png", stripes(True))
    save(folder, ".no.png", stripes(True))
    (folder / "notes.csv").write_text("x")
    rows = read_folder(folder)
    assert rows.table.ids == ("a0.png", "a2.png", "a4.png", "a6.png", "b1.png", "b3.png", "b5.png", "b7.png",
                              "deep/er/z.jpg")  # fmt: skip
    assert len(rows.encoded.X) == 9
    assert rows.table.notes[-1] == "Other files are not read: notes.csv."
    assert rows.items.kind == "image"
    assert rows.items.fields(0) == {}
    assert rows.table.item(0) == {}
    again = read_folder(folder, **rows.table.choices)
    assert np.array_equal(again.encoded.X, rows.encoded.X)


def test_directions_of_lines_are_distinguished(folder):
    X = read_folder(folder).encoded.X
    found = KMeans(2, n_init=3, random_state=0).fit_predict(X)
    assert adjusted_rand_score([0] * 4 + [1] * 4, found) == 1.0


@pytest.mark.slow
def test_digits_are_found_better_than_by_pixels(tmp_path):
    digits = datasets.load("digits")
    for k in range(300):
        save(tmp_path, f"{k:03}.png", digits.images[k] * 255 / 16)
    X, y = read_folder(tmp_path).encoded.X, digits.y[:300]
    assert X.shape == (300, 50)

    def agreement(rows):
        return adjusted_rand_score(y, KMeans(10, n_init=4, random_state=0).fit_predict(rows))

    assert agreement(X) > agreement(digits.X[:300])


def test_more_than_are_measured_follow_the_same_components(folder, monkeypatch):
    everything = read_folder(folder).encoded.X
    monkeypatch.setattr("linkwise.data.encoding.images.MOST_MEASURED", 5)
    paths = sorted(folder.glob("*.png"))
    encoded, rows = encode_files(paths)
    assert rows == list(range(8))
    assert encoded.X.shape == (8, 4)
    assert not np.allclose(encoded.X, everything[:, :4])
    monkeypatch.setattr("linkwise.data.encoding.images._AT_ONCE", 2)
    assert np.allclose(encode_files(paths)[0].X, encoded.X)


def test_progress_counts_every_file(folder):
    told = []
    read_folder(folder, progress=lambda made, planned: told.append((made, planned)))
    assert told[-1] == (8, 8)
    assert told == sorted(told)


# ---------------------------------------------------------------- how it is measured
def test_edges_of_one_direction_fall_into_one_bin():
    ramp = np.zeros((2, SIDE, SIDE, 3), dtype=np.float32)
    ramp[0] = np.linspace(0, 1, SIDE)[None, :, None]  # brightness grows to the right: angle 0
    ramp[1] = np.linspace(0, 1, SIDE)[:, None, None]  # downwards: a right angle, between bins 4 and 5
    edges = measure_features(ramp)[:, : 64 * 9].reshape(2, 8, 8, 9)
    assert (edges[0, ..., 1:] < 1e-6).all()
    assert (edges[0, ..., 0] > 0.1).all()
    assert np.allclose(edges[1, ..., 4], edges[1, ..., 5], atol=1e-4)
    assert (edges[1, ..., [0, 1, 2, 3, 6, 7, 8]] < 1e-4).all()


def test_colour_is_distinguished_where_brightness_is_the_same():
    grey = np.full((1, SIDE, SIDE, 3), 0.5, dtype=np.float32)
    red = grey * np.array([1.6, 0.67, 1.0], dtype=np.float32)
    assert abs(float(red[0, 0, 0] @ [0.299, 0.587, 0.114]) - 0.5) < 0.01
    difference = np.abs(measure_features(grey) - measure_features(red))[0]
    assert difference[:-32].max() < 0.01
    assert (difference[-32:].reshape(16, 2)[:, 0] > 1).all()


def test_shape_is_kept_and_the_rest_filled_with_the_border():
    wide = Image.fromarray(np.full((10, 40, 3), (10, 20, 250), dtype=np.uint8))
    filled = fit_canvas(wide)
    assert filled.shape == (SIDE, SIDE, 3)
    assert np.allclose(filled, np.array([10, 20, 250]) / 255, atol=0.01)


def test_pictures_stand_upright(tmp_path):
    pixels = np.zeros((20, 40, 3), dtype=np.uint8)
    pixels[:10] = 255
    turned = Image.Exif()
    turned[0x0112] = 6  # to be turned by a quarter, clockwise
    path = tmp_path / "t.jpg"
    Image.fromarray(pixels).save(path, exif=turned, quality=95)
    upright = np.asarray(read_picture(path, 100))
    assert upright.shape == (40, 20, 3)
    assert upright[:, 15].mean() > 240
    assert upright[:, 5].mean() < 15


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_becomes_red_green_and_blue(tmp_path, mode):
    ramp = np.linspace(0, 255, 32 * 32).reshape(32, 32)
    if mode in ("I;16", "I", "F"):
        kind = {"I;16": np.uint16, "I": np.int32, "F": np.float32}[mode]
        image = Image.fromarray((ramp * 200).astype(kind))
    else:
        image = Image.fromarray(ramp.astype(np.uint8)).convert(mode)
    path = tmp_path / ("p.tif" if mode in ("CMYK", "I", "F") else "p.png")
    image.save(path)
    picture = read_picture(path, 64)
    assert picture.mode == "RGB"
    assert np.asarray(picture)[0].mean() + 100 < np.asarray(picture)[-1].mean()


def test_what_is_see_through_stands_on_white(tmp_path):
    clear = np.zeros((8, 8, 4), dtype=np.uint8)
    assert np.asarray(read_picture(save(tmp_path, "c.png", clear), 64)).min() == 255


def test_shown_pictures_are_small_and_grey_where_they_can_be(tmp_path):
    save(tmp_path, "a.png", stripes(True, 900, 300))
    save(tmp_path, "b.png", RNG.integers(0, 255, (30, 20, 3)))
    items = read_folder(tmp_path).items
    assert items.pixels(0).shape == (85, 256)
    assert items.pixels(1).shape == (30, 20, 3)
    shown = np.asarray(Image.open(io.BytesIO(items.content(1))))
    assert np.array_equal(shown, items.pixels(1))


# ---------------------------------------------------------------- what cannot be used
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def bomb(width, height):
    """A PNG of so many pixels in a few bytes, of which there is only the header."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99))


def whole(kind="PNG"):
    file = io.BytesIO()
    Image.fromarray(stripes(True).astype(np.uint8)).save(file, kind)
    return file.getvalue()


BROKEN = {
    "empty.png": b"",
    "text.png": b"no picture at all",
    "cut.png": whole()[:-40],
    "cut.jpg": whole("JPEG")[:300],
    "flipped.png": whole()[:60] + b"\xff\xff\xff\xff" + whole()[64:],
    "bomb.png": bomb(20_000, 20_000),
    "large.png": bomb(12_000, 9_000),
    "eps.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_by_name_or_left_out(folder, name):
    (folder / name).write_bytes(BROKEN[name])
    with pytest.raises(DataError, match=rf"1 file cannot be used: {name} .*--skip-broken"):
        read_folder(folder)
    rows = read_folder(folder, skip_broken=True)
    assert name not in rows.table.ids
    assert len(rows.table) == len(rows.encoded.X) == 8
    assert f"1 file left out: {name}" in rows.encoded.notes[-1]
    assert rows.table.notes[0].startswith("Each of 8 images is a row")
    assert rows.table.choices == {"kind": "image", "skip_broken": True}


def test_a_bomb_is_not_unpacked(tmp_path):
    (tmp_path / "bomb.png").write_bytes(bomb(12_000, 9_000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with pytest.raises(DataError, match="too many pixels, 12000 x 9000"):
            read_picture(tmp_path / "bomb.png", 64)


def test_many_broken_files_are_counted(folder):
    for k in range(5):
        (folder / f"x{k}.png").write_bytes(b"broken")
    with pytest.raises(
        DataError, match=r"5 files cannot be used: x0.png .*, x1.png .*, x2.png .* and 2 more"
    ):
        read_folder(folder)


def test_nothing_but_broken_files(tmp_path):
    for k in range(3):
        (tmp_path / f"x{k}.png").write_bytes(b"broken")
    with pytest.raises(DataError, match="3 files cannot be used"):
        read_folder(tmp_path, skip_broken=True)


def test_one_that_can_be_read_is_too_few(tmp_path):
    save(tmp_path, "a.png", stripes(True))
    with pytest.raises(DataError, match=r"holds 1 image, a.png, but at least 2"):
        read_folder(tmp_path)
    (tmp_path / "b.png").write_bytes(b"broken")
    with pytest.raises(DataError, match="Only 1 image can be read"):
        read_folder(tmp_path, skip_broken=True)


def test_pictures_that_are_all_the_same(tmp_path):
    for k in range(3):
        save(tmp_path, f"{k}.png", np.full((9, 9), 77))
    with pytest.raises(DataError, match="All images are the same"):
        read_folder(tmp_path)


@pytest.mark.parametrize("files", [[], ["data.csv"], ["sub/data.csv"]])
def test_folders_without_pictures_or_texts(tmp_path, files):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="is a folder without images") as caught:
        read_folder(tmp_path)
    assert all(name in str(caught.value) for name in files)


def test_a_picture_that_went_away_is_crossed_out(folder):
    rows = read_folder(folder)
    (folder / "a0.png").unlink()
    (folder / "a2.png").write_bytes(b"broken")
    crossed = rows.items.pixels(0)
    assert (crossed[0, 0], crossed[0, 1]) == (90, 200)
    assert np.array_equal(rows.items.pixels(1), crossed)
    assert rows.items.content(0).startswith(b"\x89PNG")
    assert rows.items.fields(0) == {"file": "not there any more"}
    assert rows.items.fields(2) == {}


# ---------------------------------------------------------------- texts
def test_text_files_are_rows(tmp_path):
    (tmp_path / "b.txt").write_text("the sea and the sand")
    (tmp_path / "a.txt").write_text("a wood and a hill", encoding="utf-8-sig")
    (tmp_path / "c.md").write_text("")
    rows = read_folder(tmp_path)
    assert rows.table.ids == ("a.txt", "b.txt", "c.md")
    assert (rows.items.kind, rows.items.content(0), rows.items.fields(0)) == ("text", "a wood and a hill", {})
    assert rows.table.choices == {"kind": "text"}


def test_pictures_come_before_texts_unless_told(folder):
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"only {name[0] * 3} is different")
    assert read_folder(folder).items.kind == "image"
    assert "Other files are not read: a.txt, b.txt." in read_folder(folder).table.notes
    assert read_folder(folder, kind="text").items.kind == "text"


def test_text_files_must_be_utf8(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 au lait")
    (tmp_path / "b.txt").write_text("tea")
    with pytest.raises(DataError, match=r"a.txt: The file is not UTF-8: byte 3"):
        read_folder(tmp_path)
