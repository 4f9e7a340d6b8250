"""Write six invented data sets as people have them. ``python make_everyday.py FOLDER``.

Customers with dirty categories and columns that mean nothing; support tickets; products with a price and
a picture; sensor curves; embeddings of articles with a table of titles; contacts that occur several times.
The true classes are in FOLDER/truth/NAME.csv, with the columns id and class.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

Rows = list[dict[str, object]]
Rng = np.random.Generator


def words(text: str) -> list[str]:
    """A list of words, written briefly."""
    return text.split()


# ---------------------------------------------------------------- customers
# age, orders a year, mean basket, share sent back: mean and deviation; then plan and channel
WAYS = {
    "student": ((23, 3), (9, 3), (24, 6), (0.10, 0.04), "Free", "App"),
    "family": ((39, 5), (26, 6), (78, 15), (0.22, 0.06), "Family", "App"),
    "office": ((44, 9), (40, 9), (160, 40), (0.03, 0.02), "Business", "Web"),
    "elder": ((72, 6), (7, 2), (52, 12), (0.04, 0.03), "Free", "Shop"),
    "collector": ((48, 11), (6, 2), (310, 70), (0.02, 0.02), "Plus", "Web"),
}
TOWNS = words("Aarau Basel Bern Biel Chur Genf Luzern Olten Sion Thun Uster Wil Zug Zürich")


def make_customers(folder: Path, share: float, rng: Rng) -> None:
    """400 customers of five ways of life: six columns tell, six do not."""
    kinds = rng.choice(list(WAYS), scaled(400, share))
    rows: Rows = []
    for number, kind in enumerate(kinds):
        age, orders, basket, returns, plan, channel = WAYS[kind]
        row: dict[str, object] = {
            "customer": f"K{1000 + number}",
            "age": int(np.clip(rng.normal(*age), 18, 95)),
            "plan": spell(plan, rng),
            "channel": spell(channel, rng),
            "orders": max(1, round(rng.normal(*orders))),
            "basket": f"{max(5.0, rng.normal(*basket)):.2f}",
            "returns": f"{np.clip(rng.normal(*returns), 0, 1):.2f}",
            "town": rng.choice(TOWNS),
            "agent": f"agent {rng.integers(1, 13)}",
            "since": date(2019, 1, 1) + timedelta(days=int(rng.integers(2400))),
            "browser": rng.choice(["Firefox", "Chrome", "Safari", "Edge", "Opera"]),
            "batch": int(rng.integers(1, 1000)),
            "survey": rng.choice(["A", "B", "C", "D"]),
        }
        rows.append({name: "" if rng.random() < 0.02 and name != "customer" else row[name] for name in row})
    write_table(folder / "customers.csv", rows)
    write_truth(folder, "customers", [row["customer"] for row in rows], kinds)


def spell(value: str, rng: Rng) -> str:
    """A category as different people type it."""
    return str(rng.choice([value, value, value, value, value.lower(), value.upper(), value + " "]))


# ---------------------------------------------------------------- tickets
TOPICS = {
    "payment": "invoice card charged twice refund amount bank receipt payment declined euro statement",
    "login": "password reset code account locked login username email expired link authenticator",
    "delivery": "parcel courier late address tracking delivered neighbour damaged box shipment door",
    "crash": "app crashes freezes error screen update version restart black button tablet slow install",
    "cancel": "subscription cancel contract end notice month renewal stop leave terminate extension period",
    "advice": "which model size fit compare recommend difference battery compatible cable charger suitable",
}
FILLER = words(
    "hello please help me since yesterday we tried again and nothing changed thank you regards my "
    "order it is still not working could you tell what to do next this week urgent already wrote "
    "twice no answer today"
)


def make_tickets(folder: Path, share: float, rng: Rng) -> None:
    """300 tickets of six topics; who answered them and how urgent they are tells nothing."""
    topics = rng.choice(list(TOPICS), scaled(300, share))
    rows: Rows = []
    for number, topic in enumerate(topics):
        own = words(TOPICS[topic])
        body = [str(rng.choice(own if rng.random() < 0.4 else FILLER)) for _ in range(rng.integers(12, 40))]
        rows.append(
            {
                "ticket": f"T{number:04}",
                "opened": str(date(2026, 1, 1) + timedelta(days=int(rng.integers(300)))),
                "body": " ".join(body).capitalize() + ".",
                "priority": str(rng.choice(["low", "normal", "high"])),
                "team": str(rng.choice(["north", "south", "west"])),
            }
        )
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "tickets.jsonl").write_text(lines, encoding="utf-8")
    write_truth(folder, "tickets", [row["ticket"] for row in rows], topics)


# ---------------------------------------------------------------- products
# noun, other words, price, shape and colour of the picture
GOODS = {
    "mug": ("mug", "stoneware cup coffee handle 300 ml", 12, "disc", (180, 90, 60)),
    "lamp": ("lamp", "desk light led shade warm", 45, "triangle", (230, 200, 80)),
    "chair": ("chair", "oak seat back dining wood", 140, "bars", (120, 80, 50)),
    "glass": ("glass", "wine cup stem crystal 300 ml", 14, "disc", (190, 215, 230)),
    "stool": ("stool", "oak bar seat high wood", 95, "bars", (90, 60, 40)),
}


def make_products(folder: Path, share: float, rng: Rng) -> None:
    """250 products: words and prices overlap, and so do pictures; together they tell."""
    from PIL import Image

    kinds = rng.choice(list(GOODS), scaled(250, share))
    (folder / "pictures").mkdir(exist_ok=True)
    rows: Rows = []
    for number, kind in enumerate(kinds):
        noun, others, price, shape, colour = GOODS[kind]
        some = rng.choice(words(others), 3, replace=False)
        named = [noun] if rng.random() < 0.6 else []
        file = f"pictures/p{number:04}.png"
        Image.fromarray(draw(shape, colour, rng)).save(folder / file)
        rows.append(
            {
                "sku": f"P{number:04}",
                "title": " ".join([*some, *named]),
                "price": f"€ {price * np.exp(rng.normal(0, 0.25)):.2f}",
                "stock": int(rng.integers(0, 500)),
                "supplier": f"S{rng.integers(1, 9)}",
                "picture": file,
            }
        )
    write_table(folder / "products.csv", rows)
    write_truth(folder, "products", [row["sku"] for row in rows], kinds)


def draw(shape: str, colour: Sequence[int], rng: Rng) -> np.ndarray:
    """A picture of 32 x 32 pixels: a shape somewhere near the middle, on a wall of some brightness."""
    y, x = np.mgrid[:32, :32] - rng.integers(13, 19, 2).reshape(2, 1, 1)
    size = rng.uniform(6, 11)
    inside = {
        "disc": x**2 + y**2 < size**2,
        "triangle": (y > -size) & (y < size) & (abs(x) < (y + size) / 2),
        "bars": (abs(x) < size) & (abs(y) < size) & (x % 4 < 2),
    }[shape]
    picture = np.full((32, 32, 3), rng.uniform(170, 250))
    picture[inside] = colour
    return np.clip(picture + rng.normal(0, 12, picture.shape), 0, 255).astype(np.uint8)


# ---------------------------------------------------------------- sensors
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "day": lambda t: np.sin(2 * np.pi * t),
    "twice a day": lambda t: np.sin(4 * np.pi * t),
    "step": lambda t: np.where(t > 0.5, 1.0, -1.0),
    "peak": lambda t: 3 * np.exp(-(((t - 0.5) / 0.06) ** 2)) - 0.5,
    "decay": lambda t: 2 * np.exp(-4 * t) - 0.7,
    "flat": lambda t: 0 * t,
}


def make_sensors(folder: Path, share: float, rng: Rng) -> None:
    """240 curves of 96 values: six shapes, shifted, stretched, and each at a level of its own."""
    kinds = rng.choice(list(SHAPES), scaled(240, share))
    rows: Rows = []
    for number, kind in enumerate(kinds):
        t = np.clip(np.linspace(0, 1, 96) * rng.uniform(0.92, 1.08) + rng.normal(0, 0.03), 0, 1)
        curve = 20 + rng.normal(0, 0.5) + SHAPES[kind](t) * rng.uniform(0.8, 1.2) + rng.normal(0, 0.35, 96)
        rows.append({"sensor": f"S{number:03}", **{f"t{at:02}": f"{v:.3f}" for at, v in enumerate(curve)}})
    write_table(folder / "sensors.csv", rows)
    write_truth(folder, "sensors", [row["sensor"] for row in rows], kinds)


# ---------------------------------------------------------------- embeddings
SUBJECTS = words(
    "football tennis cycling elections budget courts weather farming software phones films books"
)


def make_articles(folder: Path, share: float, rng: Rng) -> None:
    """5000 embeddings of length one: the subject tells, and the style of the writer does not."""
    n, d = scaled(5000, share), 384
    of = rng.integers(0, len(SUBJECTS), n)
    subjects, styles = rng.normal(size=(len(SUBJECTS), d)), rng.normal(size=(9, d))
    style = rng.integers(0, len(styles), n)
    X = subjects[of] + 0.9 * styles[style] + 2.2 * rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.save(folder / "articles.npy", X.astype(np.float32))
    rows: Rows = [
        {"title": f"{SUBJECTS[of[at]].capitalize()} report {at}", "writer": f"writer {style[at] + 1}"}
        for at in range(n)
    ]
    write_table(folder / "titles.csv", rows)
    write_truth(folder, "articles", list(range(n)), [SUBJECTS[at] for at in of])


# ---------------------------------------------------------------- contacts
FIRST = words(
    "Anna Ben Carla David Emma Felix Greta Hugo Ida Jonas Karin Lukas Maria Nico Olga Paul Rosa Simon"
)
LAST = words("Meier Huber Keller Frei Graf Steiner Brunner Baumann Gerber Wyss Roth Moser Kunz Suter Lang")
STREETS = words("Bahnhofstrasse Hauptstrasse Dorfstrasse Seeweg Rosenweg Feldstrasse Kirchgasse Bergstrasse")


def make_contacts(folder: Path, share: float, rng: Rng) -> None:
    """2000 records of 700 people, each typed anew: letters are lost or swapped, fields are empty."""
    n, n_people = scaled(2000, share), scaled(700, share)
    people = [
        (
            f"{rng.choice(FIRST)} {rng.choice(LAST)}",
            f"{rng.choice(STREETS)} {rng.integers(1, 90)}",
            str(rng.choice(TOWNS)),
            f"0{rng.integers(21, 99)} {rng.integers(200, 999)} {rng.integers(10, 99)} {rng.integers(10, 99)}",
        )
        for _ in range(n_people)
    ]
    of = rng.permutation(np.concatenate([np.arange(n_people), rng.integers(0, n_people, n - n_people)]))
    rows: Rows = []
    for number, person in enumerate(of):
        name, street, town, phone = (
            "" if rng.random() < 0.05 else mistype(value, rng) for value in people[person]
        )
        rows.append({"record": f"R{number:04}", "name": name, "street": street, "town": town, "phone": phone})
    write_table(folder / "contacts.csv", rows)
    write_truth(folder, "contacts", [row["record"] for row in rows], [f"person {p}" for p in of])


def mistype(value: str, rng: Rng) -> str:
    """The value as it was written this time."""
    if len(value) < 4 or rng.random() < 0.6:
        return value
    at = int(rng.integers(1, len(value) - 1))
    ways = (
        value[:at] + value[at + 1 :],
        value[:at] + value[at + 1] + value[at] + value[at + 2 :],
        value[:at] + str(rng.choice(list("aeiorst"))) + value[at + 1 :],
        value.upper(),
    )
    return str(rng.choice(ways))


# ---------------------------------------------------------------- files
MAKERS = {
    "customers": make_customers,
    "tickets": make_tickets,
    "products": make_products,
    "sensors": make_sensors,
    "articles": make_articles,
    "contacts": make_contacts,
}


def make(folder: Path, names: Iterable[str] = MAKERS, share: float = 1.0, seed: int = 7) -> None:
    """Write some of the sets, each from a seed of its own, with a share of the rows."""
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    for name in names:
        MAKERS[name](folder, share, np.random.default_rng([seed, list(MAKERS).index(name)]))


def scaled(n: int, share: float) -> int:
    """A share of a number of rows."""
    return max(20, round(n * share))


def write_table(path: Path, rows: Rows) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_truth(folder: Path, name: str, ids: Iterable[object], classes: Iterable[object]) -> None:
    """Write the class of each row."""
    rows: Rows = [{"id": key, "class": str(one)} for key, one in zip(ids, classes, strict=True)]
    write_table(folder / "truth" / f"{name}.csv", rows)


def main() -> None:
    """Write all sets into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=float, default=1.0, metavar="SHARE", help="share of the rows")
    parser.add_argument("--only", nargs="+", default=list(MAKERS), choices=MAKERS, help="these sets")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    make(options.folder, options.only, options.rows, options.seed)


if __name__ == "__main__":
    main()
