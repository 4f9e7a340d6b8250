"""Read and write clusterings as files: NumPy's npz without pickles, whole or absent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.array_archives import read_archive
from linkwise.errors import DataError
from linkwise.limits import is_expanding
from linkwise.select.clusterings import PoolClustering
from linkwise.whole_files import write_whole

FORMAT = 1


def write_arrays(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write arrays as one file, which replaces an existing one."""
    arrays["format"] = np.int64(FORMAT)
    n_bytes = sum(np.asarray(array).nbytes for array in arrays.values())
    with write_whole(Path(path)) as free:
        with free.open("wb") as file:
            np.savez_compressed(file, **arrays)
        if is_expanding(n_bytes, free.stat().st_size):  # `read_arrays` would take it for a damaged file
            with free.open("wb") as file:
                np.savez(file, **arrays)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read what `write_arrays` of the same version wrote."""
    name = os.fspath(path)
    try:
        kept = read_archive(Path(path), is_packed=True)
        found = int(kept["format"])
    except FileNotFoundError:
        raise
    except (DataError, OSError, KeyError, TypeError, ValueError):
        raise DataError(f"{name} is not a pool, or it is damaged. Build it again.") from None
    if found != FORMAT:
        raise DataError(f"{name} is a pool of format {found}. Build it again.")
    return kept


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
