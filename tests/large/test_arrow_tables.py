"""Tables inside files of state: read, or told why not, and never unpacked."""

import io

import numpy as np
import polars as pl
import pytest

from linkwise.large.arrow_tables import pack_table, unpack_table

FRAME = pl.DataFrame(
    {
        "key": [f"e{at}" for at in range(300)],
        "amount": [None, *np.arange(299.0)],
        "colour": pl.Series(["red", "green", None] * 100, dtype=pl.Categorical),
        "nothing": pl.Series([None] * 300, dtype=pl.Null),
    }
)


@pytest.mark.parametrize(
    "frame", [FRAME, FRAME[:0], pl.concat([FRAME, FRAME], rechunk=False), pl.DataFrame()]
)
def test_tables_come_back_as_they_were(frame):
    assert unpack_table(pack_table(frame)).equals(frame)


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize("frame", [FRAME, FRAME.select("colour")])
def test_compressed_tables_are_not_unpacked(compression, frame, monkeypatch):
    raw = io.BytesIO()
    frame.write_ipc(raw, compression=compression)
    monkeypatch.setattr(pl, "read_ipc", lambda file: pytest.fail("It was unpacked."))
    with pytest.raises(ValueError, match="Its table is compressed"):
        unpack_table(raw.getvalue())


def test_tables_that_are_cut_or_changed_are_told_or_read():
    raw = pack_table(FRAME)
    for size in (0, 1, 10, 16, 100, *range(0, len(raw), 997)):
        with pytest.raises(ValueError, match=r"table|struct|unpack|range|file"):
            unpack_table(raw[:size])
    rng = np.random.default_rng(0)
    for at in rng.integers(len(raw) - 2000, len(raw), size=100).tolist():  # the metadata
        changed = bytearray(raw)
        changed[at] ^= 1 << int(rng.integers(8))
        try:
            found = unpack_table(bytes(changed))
        except ValueError:
            continue
        assert isinstance(found, pl.DataFrame)
