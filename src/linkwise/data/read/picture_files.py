"""Read the pictures of files, and write small ones as PNG, which every page and notebook shows."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm")
_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM")  # and no others, whatever the file says
MOST_PIXELS = 100_000_000
_GREY, _COLOUR = 0, 2


def require_pillow() -> None:
    """Raise ImportError with what to install if Pillow is missing."""
    if find_spec("PIL") is None:
        raise ImportError('Reading images needs Pillow: pip install "linkwise[app]"')


def read_picture(path: Path, side: int) -> Image:
    """Read the picture of a file, upright, in red, green and blue, its longer side at most `side` pixels."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise DataError(f"{path.name} has too many pixels, {image.width} x {image.height}")
            image.draft("RGB", (side, side))
            image.load()
            upright = ImageOps.exif_transpose(image)
    except DataError:
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise DataError(f"{path.name}: {error.strerror}") from error
        raise DataError(f"{path.name} is no picture that can be read") from error
    except Image.DecompressionBombError as error:
        raise DataError(f"{path.name} has too many pixels") from error
    except Exception as error:  # of a broken file Pillow may raise anything
        raise DataError(f"{path.name} is broken ({type(error).__name__}, {error})") from error
    picture = _to_rgb(upright)
    if max(picture.size) > side:
        picture.thumbnail((side, side), reducing_gap=2.0)
    return picture


@contextmanager
def allow_large_pictures() -> Iterator[None]:
    """Silence Pillow on large pictures, since `read_picture` raises for too large ones. Not for threads."""
    from PIL.Image import DecompressionBombWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecompressionBombWarning)
        yield


def _to_rgb(image: Image) -> Image:
    """Convert to red, green and blue: transparent parts on white, wide numbers from lowest to highest."""
    from PIL import Image

    if image.mode[0] in "IF":
        return Image.fromarray(to_bytes(np.nan_to_num(np.asarray(image, dtype=np.float64)))).convert("RGB")
    if image.has_transparency_data:
        clear = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear).convert("RGB")
    return image.convert("RGB")


# ---------------------------------------------------------------- PNG
def png(pixels: NDArray[np.uint8]) -> bytes:
    """Write pixels, of shape (height, width) or (height, width, 3), as PNG.

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
