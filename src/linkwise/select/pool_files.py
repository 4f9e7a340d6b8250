"""Read and write clusterings as files: NumPy's npz without pickles, written atomically."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.select.clusterings import PoolClustering

FORMAT = 2


def write_arrays(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write arrays as one file, which replaces an existing one."""
    path = Path(path)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            np.savez_compressed(file, format=np.int64(FORMAT), **arrays)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read what `write_arrays` wrote.

    Raises
    ------
    DataError
        The file is of another version of linkwise, or it is damaged.
    """
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as kept:
            if int(kept["format"]) != FORMAT:
                raise DataError(f"{name} is a pool of format {kept['format']}. Build it again.")
            return {key: kept[key] for key in kept.files}
    except (DataError, FileNotFoundError):
        raise
    except Exception:  # whatever a broken archive leads to
        raise DataError(f"{name} is not a pool, or it is damaged. Build it again.") from None


def encode_maker(algorithm: str, parameters: dict[str, Any]) -> str:
    """Encode algorithm and parameters as JSON; other values are stored as their repr."""
    return json.dumps(
        [algorithm, parameters],
        default=lambda value: value.item() if isinstance(value, np.generic) else repr(value),
    )


def write_clusterings(path: Path, made: list[PoolClustering]) -> None:
    """Write some clusterings of the same rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    labels = [one.labels for one in made if one.labels is not None]
    write_arrays(
        path,
        labels=np.array(labels, dtype=np.int64),
        there=np.array([one.labels is not None for one in made], dtype=bool),
        maker=np.array([encode_maker(one.algorithm, one.parameters) for one in made]),
    )


def read_clusterings(path: Path) -> list[PoolClustering]:
    """Read what `write_clusterings` wrote."""
    kept = read_arrays(path)
    try:
        labels = iter(kept["labels"])
        makers = [json.loads(words) for words in kept["maker"].tolist()]
        return [
            PoolClustering(algorithm, parameters, next(labels) if there else None)
            for (algorithm, parameters), there in zip(makers, kept["there"].tolist(), strict=True)
        ]
    except (KeyError, ValueError, StopIteration):
        raise DataError(f"{path} holds no clusterings. Build them again.") from None
