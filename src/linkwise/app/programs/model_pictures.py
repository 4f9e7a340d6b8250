"""The pictures of rows as language models get them: data URLs of a moderate size."""

from __future__ import annotations

import base64
from importlib.util import find_spec
from io import BytesIO
from typing import Self

import numpy as np
from numpy.typing import NDArray

from linkwise.data.read.picture_files import png

MOST_SIDE, LEAST_SIDE = 512, 128  # pixels of the longer side; models cannot read much smaller pictures
MOST_PNG = 1 << 16  # bytes; a larger picture is sent as JPEG
QUALITY = 85  # of JPEG


class PictureUrl(str):
    """A data URL, with the name of its row and its size in pixels, which are not sent."""

    name: str
    width: int
    height: int

    def __new__(cls, url: str, name: str, width: int, height: int) -> Self:
        """Create the text, and add what belongs to it."""
        picture = super().__new__(cls, url)
        picture.name, picture.width, picture.height = name, width, height
        return picture


def encode_picture(pixels: NDArray[np.uint8], name: str) -> PictureUrl:
    """Write pixels, of shape (height, width) or (height, width, 3), as a data URL of a moderate size."""
    step = -(-max(pixels.shape[:2]) // MOST_SIDE)
    pixels = pixels[::step, ::step]
    times = -(-LEAST_SIDE // max(pixels.shape[:2]))
    pixels = pixels.repeat(times, axis=0).repeat(times, axis=1)
    kind, content = "png", png(pixels)
    if len(content) > MOST_PNG and find_spec("PIL") is not None:
        from PIL import Image

        file = BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY)
        kind, content = "jpeg", file.getvalue()
    height, width = pixels.shape[:2]
    return PictureUrl(f"data:image/{kind};base64,{base64.b64encode(content).decode()}", name, width, height)
