"""Texts, pictures and curves side by side: what is drawn."""

import io

import numpy as np
import pytest
from rich.console import Console

from linkwise.app.terminal.pair_views import (
    Picture,
    choose_pair_view,
    draw_braille,
    draw_half_blocks,
    draw_text_pair,
    fit_pixels,
)
from linkwise.data import image_items, series_items, text_items
from linkwise.learn.learner import Question


def drawn(items, *, width=60, lines=16, colours=None, rows=(0, 1)):
    console = Console(
        file=io.StringIO(), width=width, color_system=colours, force_terminal=colours is not None
    )
    view = choose_pair_view(items, "row {}".format)
    console.print(view(Question(*rows, np.zeros(2, dtype=np.int64), ""), width, lines))
    return console.file.getvalue()


# ---------------------------------------------------------------- texts
def test_words_that_both_hold_are_bold():
    first, second = draw_text_pair("The Harbour and the sea", "a harbour, and more", 100)
    bold = [[text.plain[span.start : span.end] for span in text.spans] for text in (first, second)]
    assert bold == [["Harbour"], ["harbour"]]


def test_long_texts_are_cut_and_empty_ones_reported():
    said = drawn(text_items(["word " * 500, ""], lambda row: {"stars": str(row)}))
    assert "…" in said
    assert "(no text)" in said
    assert "stars" in said
    assert len(said.splitlines()) < 24


def test_texts_cannot_steer_the_terminal():
    said = drawn(text_items(["\x1b[31mred\x07 alert", "[bold]calm[/bold]"]))
    assert "\x1b" not in said
    assert "[bold]calm[/bold]" in said


# ---------------------------------------------------------------- pictures
def test_small_pictures_are_made_of_whole_pixels():
    pixels = np.array([[0, 255], [255, 0]], dtype=np.uint8)
    assert np.array_equal(fit_pixels(pixels, 7, 9), pixels.repeat(3, axis=0).repeat(3, axis=1))


def test_large_pictures_are_means():
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    assert np.array_equal(fit_pixels(pixels, 4, 99), pixels.reshape(4, 2, 4, 2).mean(axis=(1, 3)))
    assert fit_pixels(np.zeros((50, 3, 3), dtype=np.uint8), 40, 10).shape == (10, 1, 3)


def test_two_pixels_share_a_character():
    text = draw_half_blocks(np.array([[[255, 0, 0]], [[0, 0, 255]], [[0, 255, 0]]]))
    assert text.plain == "▀\n▀"
    assert [str(span.style) for span in text.spans] == ["rgb(255,0,0) on rgb(0,0,255)", "rgb(0,255,0)"]


def test_pictures_are_in_colour_where_there_is_colour():
    images = np.zeros((2, 6, 6, 3), dtype=np.uint8)
    images[0, ..., 0] = 200
    assert "38;2;200;0;0" in drawn(image_items(images), colours="truecolor")


def test_pictures_are_shades_elsewhere():
    images = np.zeros((2, 4, 4))
    images[1] = 1
    lines = drawn(image_items(images), width=44).splitlines()
    assert lines[1].rstrip().endswith(" " + 16 * "█")
    assert not lines[1][:20].strip()


def test_a_picture_fits_its_lines():
    said = drawn(image_items(np.random.default_rng(0).random((2, 300, 40))), lines=12)
    assert len(said.splitlines()) <= 14
    assert Picture(np.zeros((3, 3), np.uint8), 20, 5).columns == 20


# ---------------------------------------------------------------- curves
def dots(text):
    """Which dots are set, as an array."""
    bits = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
    codes = np.array([[ord(c) - 0x2800 for c in line] for line in text.split("\n")])
    cells = (codes[:, :, None, None] & bits) > 0
    return cells.transpose(0, 2, 1, 3).reshape(4 * codes.shape[0], 2 * codes.shape[1])


def test_a_rising_line_rises():
    set_ = dots(draw_braille(np.linspace(0, 1, 8), 0, 1, 4, 2))
    middle = [np.flatnonzero(column).mean() for column in set_.T]
    assert middle == sorted(middle, reverse=True)
    assert set_[-1, 0]
    assert set_[0, -1]


def test_a_curve_is_one_line_without_holes():
    set_ = dots(draw_braille(np.sin(np.linspace(0, 20, 300)), -1, 1, 30, 6))
    assert set_.any(axis=0).all()
    for left, right in zip(set_.T[:-1], set_.T[1:], strict=True):  # neighbours touch
        grown = np.convolve(left, [1, 1, 1], "same") > 0
        assert (grown & right).any()


def test_gaps_stay_empty():
    curve = np.array([0, 1, np.nan, np.nan, np.nan, np.nan, 1, 0.0])
    set_ = dots(draw_braille(curve, 0, 1, 8, 2))
    assert not set_[:, 6:10].any()
    assert set_[:, [0, -1]].any(axis=0).all()


def test_a_flat_curve_is_drawn():
    assert dots(draw_braille(np.full(5, 3.0), 3.0, 3.0, 5, 2)).any(axis=0).all()
    assert not dots(draw_braille(np.full(5, np.nan), 0.0, 0.0, 5, 2)).any()


def test_both_curves_are_on_one_scale():
    said = drawn(series_items([[0.0, 0.0, 1.0], [10.0, 9.0, 10.0]]), width=44)
    lines = said.splitlines()
    assert "both from 0 (below) to 10 (above), 3 samples" in lines[-1]
    top, bottom = lines[1], lines[-2]
    assert set(top[:20]) == {"⠀"}
    assert set(top[24:44]) != {"⠀"}
    assert set(bottom[:20]) != {"⠀"}


@pytest.mark.parametrize("width", [24, 40, 200])
def test_any_width_will_do(width):
    for items in (
        text_items(["one two", "three"]),
        series_items(np.eye(2)),
        image_items(np.eye(6).reshape(2, 3, 6)),
    ):
        assert max(map(len, drawn(items, width=width).splitlines())) <= width
