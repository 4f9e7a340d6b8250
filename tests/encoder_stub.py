"""A package in place of the encoder of meaning: words of one concept have one direction."""

import importlib
import sys

import pytest

from linkwise.data.columns import short_texts
from linkwise.data.encoding import meaning

CONCEPTS = {
    "animals": ["cat", "kitten", "dog", "puppy", "pet", "purrs", "barks", "tail"],
    "ships": ["ship", "boat", "harbour", "sail", "vessel", "anchor", "captain"],
    "bills": ["bill", "invoice", "payment", "charge", "refund", "account", "fee"],
}
_SOURCE = """
import re
from zlib import crc32

import numpy as np

CONCEPTS = {concepts!r}
OF_WORD = {{word: concept for concept, words in CONCEPTS.items() for word in words}}


class USE:
    calls = []

    def __init__(self, threads):
        assert threads == 1

    def encode(self, texts):
        USE.calls.append(list(texts))
        X = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall("[a-z]+", text.lower()):
                concept = OF_WORD.get(word)
                X[row] += np.random.default_rng(crc32(word.encode())).normal(size=512) * {own}
                if concept is not None:
                    X[row] += 3 * np.random.default_rng(crc32(concept.encode())).normal(size=512)
        length = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(length > 0, length, 1)
"""


def _forget():
    sys.modules.pop(short_texts.ENCODER, None)
    meaning._load_encoder.cache_clear()
    meaning.hash_weights.cache_clear()


class Stub:
    """The package, whose weights can be replaced."""

    def __init__(self, folder):
        self._folder = folder / short_texts.ENCODER
        (self._folder / "resources").mkdir(parents=True)
        self.install(b"first weights", own=0.3)

    def install(self, weights, own):
        """Write a version: how much a word counts beside its concept differs between versions."""
        source = _SOURCE.format(concepts=CONCEPTS, own=own)
        (self._folder / "__init__.py").write_text(f"# {weights!r}\n{source}", encoding="utf-8")
        (self._folder / "resources" / "weights.npz").write_bytes(weights)
        importlib.invalidate_caches()
        for cached in self._folder.glob("__pycache__/*"):
            cached.unlink()
        _forget()

    @property
    def calls(self):
        """The texts of each call so far."""
        return importlib.import_module(short_texts.ENCODER).USE.calls


@pytest.fixture
def encoder(tmp_path_factory, monkeypatch):
    """An encoder that is installed for one test."""
    folder = tmp_path_factory.mktemp("packages")
    stub = Stub(folder)
    monkeypatch.syspath_prepend(str(folder))
    yield stub
    monkeypatch.undo()
    _forget()


@pytest.fixture
def no_encoder(monkeypatch):
    """No encoder, also where one is installed."""
    monkeypatch.setattr(short_texts, "find_spec", lambda name: None)
    _forget()
    yield
    monkeypatch.undo()
    _forget()
