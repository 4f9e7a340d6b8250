"""Write small pictures as PNG, which every page and notebook shows, without a library."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GREY, _COLOUR = 0, 2


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Write a picture as PNG.

    Parameters
    ----------
    pixels : ndarray of shape (height, width) or (height, width, 3), uint8
        Grey, or red, green and blue.

    Returns
    -------
    bytes
        The contents of a PNG file.

    Notes
    -----
    ISO/IEC 15948: a header, the lines one after the other, each with filter 0 (none), and an end.
    """
    height, width = pixels.shape[:2]
    lines = np.zeros((height, 1 + pixels[0].size), dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _GREY if pixels.ndim == 2 else _COLOUR, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def to_bytes(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Convert pictures to bytes: the lowest of all values becomes black, the highest white; bytes stay."""
    if images.dtype == np.uint8:
        return images
    values = images.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    return np.rint((values - low) * (255.0 / ((high - low) or 1.0))).astype(np.uint8)
