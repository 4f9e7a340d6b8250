"""Invented records: people, each written a few times with errors of typing, and products of two shops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

FIRST = ["anna", "hugo", "ida", "nico", "maria", "jonas", "lena", "peter", "sofia", "karl", "emma", "paul"]
LAST = [
    "meier",
    "brunner",
    "wyss",
    "roth",
    "keller",
    "huber",
    "schmid",
    "vogel",
    "frei",
    "graf",
    "moser",
    "suter",
]
STREETS = ["elm road", "high street", "mill lane", "park avenue", "station road", "church way", "lake view"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class World(NamedTuple):
    """A table of records, and the person of each."""

    table: pl.DataFrame
    person: np.ndarray

    def oracle(self, error: float = 0.0, seed: int = 0):
        """An oracle that is wrong in a share of the answers."""
        rng = np.random.default_rng(seed)
        return lambda i, j: bool((self.person[i] == self.person[j]) != (rng.random() < error))


def draw_world(n_people: int = 80, seed: int = 0, most: int = 3) -> World:
    """People of whom each has one to `most` records from different shops, in random order."""
    rng = np.random.default_rng(seed)
    rows, person = [], []
    for number in range(n_people):
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        street = f"{rng.integers(1, 99)} {rng.choice(STREETS)}"
        phone = str(rng.integers(1_000_000, 9_999_999))
        for shop in range(int(rng.integers(1, most + 1))):
            missing = rng.random() < 0.2
            rows.append(
                (_mistype(name, rng), _mistype(street, rng), "" if missing else phone, f"shop {shop}")
            )
            person.append(number)
    order = rng.permutation(len(rows))
    table = pl.DataFrame([rows[at] for at in order], schema=["name", "street", "phone", "shop"], orient="row")
    return World(table, np.array(person)[order])


def draw_products(n_products: int = 150, seed: int = 0) -> World:
    """Products, of which both shops sell about half; different ones are written nearly alike."""
    rng = np.random.default_rng(seed)
    rows, product = [], []
    for number in range(n_products):
        kind, size = rng.choice(["laser printer", "ink printer", "office suite"]), rng.integers(1, 6)
        name = f"acme {kind} {rng.choice(['home', 'pro', 'basic'])} series {size}"
        code = f"{rng.choice(['hx', 'lp', 'zt'])}{rng.integers(100, 999)}"
        for shop in range(int(rng.integers(1, 3))):
            words = [word for word in f"{name} edition for windows".split() if rng.random() < 0.8]
            words += [code] if rng.random() < 0.7 else []
            rows.append((" ".join(words), str(rng.integers(80, 120)), f"shop {shop}"))
            product.append(number)
    order = rng.permutation(len(rows))
    table = pl.DataFrame([rows[at] for at in order], schema=["title", "price", "shop"], orient="row")
    return World(table, np.array(product)[order])


def _mistype(text: str, rng: np.random.Generator) -> str:
    """Leave a letter out, put one in, or neither."""
    at, kind = int(rng.integers(len(text))), int(rng.integers(3))
    letter = LETTERS[int(rng.integers(26))]
    return [text, text[:at] + text[at + 1 :], text[:at] + letter + text[at:]][kind]


def score_pairs(truth: np.ndarray, labels: np.ndarray) -> float:
    """The F1 of the pairs in one group."""
    same, found = truth[:, None] == truth, labels[:, None] == labels
    upper = np.triu_indices(len(truth), 1)
    same, found = same[upper], found[upper]
    return float(2 * (same & found).sum() / (same.sum() + found.sum()))
