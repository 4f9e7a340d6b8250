"""Arrays in .npy and .npz files, whose names, forms and sizes are checked before anything is unpacked."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.limits import is_expanding
from linkwise.text_files import check_unique

UNREADABLE = "This cannot be read as a NumPy array of numbers"
AGAIN = "Save the array again with numpy.save or numpy.savez."
HEADER_BYTES = 2**16  # NumPy reads headers of up to 10 000 characters
READ_BYTES = 2**20  # that are unpacked at once


@dataclass(frozen=True)
class ArrayHeader:
    """An array in a file: its header, how many bytes that takes, and how to open the file again."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    offset: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    @property
    def n_bytes(self) -> int:
        """Bytes of the array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_archive(path: Path, *, is_packed: bool) -> dict[str, NDArray[Any]]:
    """Read all arrays of a .npz file.

    Unless `is_packed`, they take at most as many bytes as the file. Raises `DataError` if they are far
    larger than it.
    """
    with path.open("rb") as file:
        n_packed = path.stat().st_size
        stored, broken = read_headers(file)
        for error in broken.values():
            raise error
        n_unpacked = sum(header.n_bytes for header in stored.values())
        if is_expanding(n_unpacked, n_packed) if is_packed else n_unpacked > n_packed:
            raise DataError(f"The file has {n_packed} bytes, but its arrays take {n_unpacked} bytes.")
        return {name: unpack(header) for name, header in stored.items()}


def read_headers(file: IO[bytes]) -> tuple[dict[str, ArrayHeader], dict[str, DataError]]:
    """Read the headers of the arrays of an archive, which must stay open to unpack them; also the errors."""
    stored, broken = {}, {}
    try:
        archive = ZipFile(file)
    except Exception as error:  # of a damaged archive zipfile may raise anything
        raise DataError(f"{UNREADABLE}: the archive is damaged ({error}). {AGAIN}") from None
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) < len(archive.infolist()):
        check_unique(info.filename.removesuffix(".npy") for info in archive.infolist())
    for name, info in members.items():
        try:
            _check_packing(info)
            stored[name] = read_header(partial(archive.open, info), info.file_size)
        except DataError as error:
            broken[name] = error
    return stored, broken


def _check_packing(info: ZipInfo) -> None:
    """Raise if NumPy never packs so: zipfile would unpack without a bound to read a header alone."""
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise DataError(
            f"{UNREADABLE}: '{info.filename}' is packed in a way that NumPy does not use. {AGAIN}"
        )


def read_header(opened: Callable[[], AbstractContextManager[IO[bytes]]], size: int) -> ArrayHeader:
    """Read the header of a .npy file of `size` bytes."""
    try:
        with opened() as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            head = io.BytesIO(file.read(HEADER_BYTES))
            version = np.lib.format.read_magic(head)
            known = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
            shape, is_fortran, dtype = known[version[0]](head)
    except Exception as error:  # of a damaged header NumPy's parsers may raise anything
        raise DataError(f"{UNREADABLE}: its header is damaged ({str(error)[:100]!r}). {AGAIN}") from None
    if dtype.hasobject:
        raise DataError(
            f"{UNREADABLE}: it holds Python objects, which could run code. Save numbers or texts."
        )
    found = ArrayHeader(shape, dtype, "F" if is_fortran else "C", head.tell(), opened)
    following = size - found.offset
    if min(shape, default=0) < 0 or found.n_bytes != following:
        raise DataError(
            f"{UNREADABLE}: its header describes the shape {shape} of {dtype}, but {following} bytes follow."
            f" {AGAIN}"
        )
    return found


def unpack(stored: ArrayHeader) -> NDArray[Any]:
    """Read the contents of an array."""
    content, n_read = bytearray(stored.n_bytes), 0
    room = memoryview(content)
    try:
        with stored.open() as file:
            file.read(stored.offset)  # zipfile checks no sum after a seek
            while more := file.read(min(READ_BYTES, len(room) - n_read)):
                room[n_read : n_read + len(more)] = more
                n_read += len(more)
    except MemoryError:
        raise
    except Exception as error:  # of a damaged archive zipfile may raise anything
        raise DataError(f"{UNREADABLE}: the archive is damaged ({error}). {AGAIN}") from None
    if n_read < stored.n_bytes:
        raise DataError(f"{UNREADABLE}: the archive ends too soon. {AGAIN}")
    if stored.dtype.kind == "b":  # any byte but 0 is true
        return np.ndarray(stored.shape, np.uint8, content, order=stored.order).astype(bool)
    return np.ndarray(stored.shape, stored.dtype, content, order=stored.order)
