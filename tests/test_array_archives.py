"""Archives of arrays: read whole, or refused before anything is unpacked."""

import io
import struct
import zipfile

import numpy as np
import pytest

from linkwise import limits
from linkwise.array_archives import read_archive
from linkwise.errors import DataError

ARRAYS = {
    "rows": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    "none": np.empty((0, 3)),
    "flags": np.array([True, False]),
    "number": np.int64(7),
    "words": np.array(["a", "häß"]),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_they_were(tmp_path, save):
    save(tmp_path / "some.npz", **ARRAYS)
    found = read_archive(tmp_path / "some.npz", is_packed=True)
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    found["rows"][0, 0] = 1  # as what NumPy reads


def header(shape, dtype="'<f8'"):
    words = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words


def pack(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (start, n_zeros) in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                file.write(start)
                for _ in range(n_zeros // 2**20):
                    file.write(bytes(2**20))
    return path


def test_a_member_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 2**20)
    path = pack(tmp_path / "bomb.npz", rows=(header((2**22,)), 2**25))
    unpacked, read = [], zipfile.ZipExtFile.read

    def count(file, n=-1):
        found = read(file, n)
        unpacked.append(len(found))
        return found

    monkeypatch.setattr(zipfile.ZipExtFile, "read", count)
    for is_packed in (True, False):
        with pytest.raises(DataError, match=r"The file has \d+ bytes, but its arrays take 33554432 bytes"):
            read_archive(path, is_packed=is_packed)
    assert sum(unpacked) < 2**20


def test_a_header_of_gigabytes_is_not_read(tmp_path, monkeypatch):
    start = b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1)
    path = pack(tmp_path / "bomb.npz", rows=(start, 2**26))
    sizes, read = [], zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda file, n=-1: sizes.append(n) or read(file, n))
    with pytest.raises(DataError, match="its header is damaged"):
        read_archive(path, is_packed=True)
    assert max(sizes) <= 2**20
    assert min(sizes) >= 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (header((3, 4)), "0 bytes follow"),
        (header((-1,)), "describes the shape"),
        (header((1,), "'|O'") + bytes(8), "Python objects"),
        (b"none", "its header is damaged"),
    ],
)
def test_members_that_are_no_arrays(tmp_path, content, words):
    with pytest.raises(DataError, match=words):
        read_archive(pack(tmp_path / "odd.npz", rows=(content, 0)), is_packed=True)


def test_two_members_of_one_name(tmp_path):
    file = io.BytesIO()
    np.save(file, np.arange(3))
    with zipfile.ZipFile(tmp_path / "twice.npz", "w") as archive:
        archive.writestr("rows.npy", file.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("rows.npy", file.getvalue())
    with pytest.raises(DataError, match="rows"):
        read_archive(tmp_path / "twice.npz", is_packed=True)


def test_any_changed_byte_is_read_or_told(tmp_path):
    path = tmp_path / "some.npz"
    np.savez(path, rows=np.arange(5.0), names=np.array(["a", "b"]))
    whole = path.read_bytes()
    n_read = 0
    for at in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[at] ^= 0x41
        path.write_bytes(changed)
        try:
            found = read_archive(path, is_packed=False)
        except DataError:
            continue
        n_read += 1
        if found.keys() == {"rows", "names"}:  # the sums tell if a value differs
            assert found["rows"].tolist() == [0, 1, 2, 3, 4]
            assert found["names"].tolist() == ["a", "b"]
    assert n_read < len(whole) / 9
