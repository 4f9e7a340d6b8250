"""Encode pictures as points, by the directions of their edges, their brightness and their colour.

Every picture is scaled to 64 x 64 pixels. It keeps its shape, and the colour of its border fills the rest.
Edges are histograms of oriented gradients (Dalal and Triggs, 2005): 8 x 8 cells of 9 directions, each cell
divided by the strength of the edges around it. In the paper a cell is normalised once for each block that it
lies in; here it is normalised once, by the nine cells around it. Brightness and colour are means over 4 x 4
fields. At most 50 principal components are kept, computed from at most 4096 of the pictures.

Edges find the groups of digits and faces better than plain pixels do (ARI of k-means 0.80 against 0.67, and
0.80 against 0.55). Colour finds the groups of scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.encoding.encoded import DIGITS, Encoded, Feature
from linkwise.data.read.picture_files import allow_large_pictures, read_picture, require_pillow
from linkwise.errors import DataError
from linkwise.parallel import n_threads, one_blas_thread
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    from PIL.Image import Image

    from linkwise.types import Progress

SIDE, CELL, DIRECTIONS, FIELDS = 64, 8, 9, 4
MOST_COMPONENTS, MOST_MEASURED = 50, 4096
_COLOUR_WEIGHT = 5.0  # differences of colour are small beside those of brightness
_SOFT = 0.01  # keeps cells without edges from being made of noise
_AT_ONCE = 64
_LUMA = np.array([0.299, 0.587, 0.114])
WAY_OUT = "Remove them, or skip them with --skip-broken (in Python: skip_broken=True)."


def encode_pictures(paths: Sequence[Path], column: str) -> Encoded:
    """Encode the pictures of a column as points, one for each row; see `encode_files`."""
    require_pillow()
    encoded, _ = encode_files(paths, way_out=f"Replace them, or remove these rows or the column '{column}'.")
    features = tuple(
        replace(one, name=f"{column} {k}", source=column) for k, one in enumerate(encoded.features, start=1)
    )
    notes = (encoded.notes[0].replace("Images are", f"The pictures of '{column}' are"), *encoded.notes[1:])
    return Encoded(encoded.X, features, notes)


def encode_files(
    paths: Sequence[Path],
    *,
    skip_broken: bool = False,
    progress: Progress | None = None,
    way_out: str = WAY_OUT,
) -> tuple[Encoded, list[int]]:
    """Encode the pictures of files as points, and return the positions of those that were read.

    A file that cannot be read is an error, which ends with `way_out`, unless `skip_broken`. Memory holds
    the features of at most 4096 pictures, and the components of the others.
    """
    first = np.unique(np.linspace(0, len(paths) - 1, min(len(paths), MOST_MEASURED)).astype(int)).tolist()
    others = sorted(set(range(len(paths))) - set(first))
    broken: list[str] = []
    n_read = 0

    def advance(n_files: int) -> None:
        nonlocal n_read
        n_read += n_files
        if progress is not None:
            progress(n_read, len(paths))

    with allow_large_pictures(), one_blas_thread():  # sums are then the same for any number of threads
        parts = list(_measure_files(paths, first, broken, advance))
        if not parts:
            raise DataError(_describe_broken_files(broken, way_out))
        sample = np.concatenate([values for _, values in parts])
        if len(sample) < 2:
            why = _describe_broken_files(broken, way_out)
            raise DataError(f"Only 1 image can be read, and at least 2 are needed. {why}")
        mean, directions, share = _principal_components(sample)
        every = chain(parts, _measure_files(paths, others, broken, advance))
        points = [(rows, (values - mean) @ directions) for rows, values in every]
    if broken and not skip_broken:
        raise DataError(_describe_broken_files(broken, way_out))
    rows = [row for some, _ in points for row in some]
    order = np.argsort(rows)
    X = np.ascontiguousarray(np.concatenate([values for _, values in points])[order], dtype=np.float64)
    X = X.round(DIGITS)
    features = tuple(Feature(f"component {k}", "image", None, "image") for k in range(1, X.shape[1] + 1))
    return Encoded(X, features, tuple(_notes(X, share, broken))), [rows[k] for k in order]


def _measure_files(
    paths: Sequence[Path], rows: list[int], broken: list[str], advance: Callable[[int], None]
) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Yield positions and features of pictures, some at a time; add the errors of others to `broken`."""
    with ThreadPoolExecutor(n_threads()) as crew:
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            found = list(crew.map(_canvas_or_reason, [paths[row] for row in some]))
            broken.extend(each for each in found if isinstance(each, str))
            read = [(row, each) for row, each in zip(some, found, strict=True) if not isinstance(each, str)]
            if read:
                yield [row for row, _ in read], measure_features(np.stack([canvas for _, canvas in read]))
            advance(len(some))


def _canvas_or_reason(path: Path) -> NDArray[np.float32] | str:
    try:
        return fit_canvas(read_picture(path, 2 * SIDE))
    except DataError as error:
        return str(error)


def _describe_broken_files(broken: Sequence[str], way_out: str) -> str:
    return (
        f"{count_noun(len(broken), 'file')} cannot be used: {', '.join(broken[:3])}"
        f"{f' and {len(broken) - 3} more' if len(broken) > 3 else ''}. {way_out}"
    )


def _notes(X: NDArray[np.float64], share: float, broken: Sequence[str]) -> list[str]:
    compared = "Images are compared by their edges, brightness and colour at 64 x 64 pixels:"
    held = f"{count_noun(X.shape[1], 'component')} hold{'s' * (X.shape[1] == 1)} {share:.0%} of what differs."
    left_out = [f"{count_noun(len(broken), 'file')} left out: {join_names(broken, 3)}."] if broken else []
    return [f"{compared} {held}", *left_out]


def fit_canvas(picture: Image) -> NDArray[np.float32]:
    """Scale a picture into 64 x 64 x 3 values from 0 to 1, around it the mean colour of its border."""
    from PIL.Image import Resampling

    ratio = SIDE / max(picture.size)
    width, height = (max(1, round(length * ratio)) for length in picture.size)
    pixels = np.asarray(picture.resize((width, height), Resampling.BICUBIC), dtype=np.float32) / 255
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]).mean(axis=0)
    filled = np.empty((SIDE, SIDE, 3), dtype=np.float32)
    filled[:] = border
    top, left = (SIDE - height) // 2, (SIDE - width) // 2
    filled[top : top + height, left : left + width] = pixels
    return filled


def measure_features(canvases: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Measure edges, brightness and colour of pictures of 64 x 64 values from 0 to 1: (n_pictures, 624).

    Sums are float64 and rounded at the end, because float32 sums differ between processors, and the last
    bits decide the questions about pictures as symmetric as signs.
    """
    n = len(canvases)
    canvases = canvases.astype(np.float64)
    grey = canvases @ _LUMA
    fields = canvases.reshape(n, FIELDS, SIDE // FIELDS, FIELDS, SIDE // FIELDS, 3).mean(axis=(2, 4))
    light = fields @ _LUMA
    colour = _COLOUR_WEIGHT * (fields[..., [0, 2]] - light[..., None])
    parts = (_edge_histograms(grey), light, colour)
    return np.concatenate([part.reshape(n, -1) for part in parts], axis=1).astype(np.float32)


def _edge_histograms(grey: NDArray[np.float64]) -> NDArray[np.float64]:
    """Histograms of the directions of edges, of shape (n, 8, 8, 9)."""
    across, down = np.zeros_like(grey), np.zeros_like(grey)
    across[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    down[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    strength = np.hypot(across, down)
    angle = (np.arctan2(down, across) % np.pi) * (DIRECTIONS / np.pi)
    lower = np.floor(angle).astype(np.int8)
    upper_part = angle - lower
    lower %= DIRECTIONS  # the last direction is next to the first
    cells = SIDE // CELL
    edges = np.empty((len(grey), cells, cells, DIRECTIONS))
    for direction in range(DIRECTIONS):
        before = (direction - 1) % DIRECTIONS
        shares = np.where(lower == direction, 1 - upper_part, np.where(lower == before, upper_part, 0))
        blocks = (strength * shares).reshape(-1, cells, CELL, cells, CELL)
        edges[..., direction] = blocks.sum(axis=(2, 4))
    energy = np.pad(np.square(edges).sum(axis=-1), ((0, 0), (1, 1), (1, 1)), mode="edge")
    around = sum(energy[:, i : i + cells, j : j + cells] for i in range(3) for j in range(3))
    return np.asarray(edges / np.sqrt(around + _SOFT)[..., None])


def _principal_components(values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Mean, strongest directions as columns, and the share of the variance that these hold."""
    mean = values.mean(axis=0, dtype=np.float64)
    centred = values - mean
    variances, directions = np.linalg.eigh(centred.T @ centred / len(values))
    total = float(variances.sum())
    if total < 1e-9:
        raise DataError("All images are the same, so nothing tells them apart.")
    order = np.argsort(-variances)[: min(MOST_COMPONENTS, len(values) - 1)]
    order = order[variances[order] > 1e-9 * total]
    strongest = directions[:, order]
    # a direction and its contrary are one: the largest part of each is positive
    strongest *= np.sign(strongest[np.abs(strongest).argmax(axis=0), np.arange(len(order))])
    return mean, strongest, float(variances[order].sum() / total)
