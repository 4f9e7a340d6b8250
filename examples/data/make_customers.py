"""Write customers.csv: 300 customers of a shop that never was. ``python make_customers.py [FILE]``.

Five ways of life lie behind the rows, and not one column tells them apart by itself: numbers overlap, one in
twelve categories is another person's, and some values are missing, as in tables from life.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

N_ROWS = 300
COLUMNS = ("customer", "age", "plan", "channel", "orders", "basket", "returns", "hour", "newsletter")

# age, orders a year, mean basket, share sent back, hour of the day: mean and deviation; then the usual
# plan, channel and newsletter
WAYS = {
    "student": ((23, 3), (9, 3), (24, 6), (0.10, 0.04), (22, 1.5), "free", "app", "no"),
    "family": ((39, 5), (26, 6), (78, 15), (0.22, 0.06), (20, 1.2), "family", "app", "yes"),
    "office": ((44, 9), (40, 9), (160, 40), (0.03, 0.02), (11, 1.5), "business", "web", "no"),
    "elder": ((72, 6), (7, 2), (52, 12), (0.04, 0.03), (10, 1.5), "free", "shop", "yes"),
    "collector": ((48, 11), (6, 2), (310, 70), (0.02, 0.02), (21, 2.0), "plus", "web", "yes"),
}
STRAY = 1 / 12  # a category that is another's
MISSING = 0.02


def customers(seed: int = 11) -> Iterator[tuple[str, ...]]:
    """Rows in the order of the file; the way of life is drawn, and not written."""
    rng = np.random.default_rng(seed)
    names, profiles = list(WAYS), list(WAYS.values())
    for number, kind in enumerate(rng.choice(len(names), N_ROWS, p=[0.24, 0.28, 0.16, 0.2, 0.12])):
        (age, orders, basket, returns, hour), usual = profiles[kind][:5], profiles[kind][5:]
        stray = rng.choice(len(names), 3)
        plan, channel, newsletter = (
            profiles[stray[at]][5 + at] if rng.random() < STRAY else value for at, value in enumerate(usual)
        )
        cells = [
            str(int(np.clip(rng.normal(*age), 18, 95))),
            plan,
            channel,
            str(max(1, round(rng.normal(*orders)))),
            f"{max(5.0, rng.normal(*basket)):.2f}",
            f"{np.clip(rng.normal(*returns), 0, 1):.2f}",
            str(int(np.clip(round(rng.normal(*hour)), 6, 23))),
            newsletter,
        ]
        gaps = rng.random(len(cells)) < MISSING
        yield (f"K{1000 + number}", *("" if gap else cell for cell, gap in zip(cells, gaps, strict=True)))


def main() -> None:
    """Write the file beside this one, or where told."""
    target = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("customers.csv")
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(customers())


if __name__ == "__main__":
    main()
