"""Pictures and other binary files stay small, as every clone carries them for ever."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from bench.plots import COLOURS, Panel, plot_panels
from PIL import Image, ImageColor

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MOST = 2 * 2**20
FOLDERS = ("docs/images", "docs/signs", "examples", "tests/golden", "tests/fuzz")


def kept_files():
    """The files of the repository; of an unpacked archive those in folders with binary files."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.is_file()]


def test_binary_files_are_small_together():
    sizes = {file: file.stat().st_size for file in kept_files() if b"\0" in file.read_bytes()[:8192]}
    assert 100_000 < sum(sizes.values()) <= MOST, sorted(sizes.items(), key=lambda item: -item[1])[:5]


def test_a_plot_has_a_palette_that_nobody_sees(tmp_path):
    path = tmp_path / "curves.png"
    plot_panels(path, [Panel("a", "ARI", {name: np.random.default_rng(0).random(50) for name in "abcdefg"})])
    with Image.open(path) as picture:
        assert picture.mode == "P"
        assert picture.size == (900, 675)
        assert np.asarray(picture.convert("RGB"))[0, 0].tolist() == [255, 255, 255]


@pytest.mark.slow(nightly=True)
def test_a_curve_has_one_colour_in_all_panels(tmp_path):
    path, curve = tmp_path / "curves.png", np.linspace(0, 1, 9)
    plot_panels(path, [Panel("", "", {"a": curve, "b": 1 - curve}), Panel("", "", {"b": 1 - curve})])
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=int)[:500]  # without the legend
    for colour, is_there in zip(COLOURS, ([True, False], [True, True]), strict=False):
        halves = np.array_split(np.abs(pixels - ImageColor.getrgb(colour)).max(axis=2), 2, axis=1)
        assert [bool(half.min() < 16) for half in halves] == is_there
