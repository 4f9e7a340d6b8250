"""Data to try linkwise on: a table, images, texts and curves, with known classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwise import datasets
from linkwise.data.encoding.encoded import Encoded, Feature
from linkwise.data.encoding.series import encode_series
from linkwise.data.encoding.texts import encode_texts
from linkwise.data.show.items import Items, image_items, series_items, text_items

INVENTED = "invented for linkwise"
N_MESSAGES, N_LOADS = 160, 160
OFF_TOPIC = 0.3  # share of second phrases that may be about anything

OPENINGS = (
    "Hello,", "Good morning,", "Dear team,", "Hi there,", "Once more:", "As I wrote last week,",
    "Please help:",
)  # fmt: skip
PHRASES = {
    "delivery": (
        "the parcel has not arrived", "the driver left it with a neighbour", "tracking shows no movement",
        "the box came two days late", "my delivery went to the old address",
        "nobody rang when the parcel came",
        "the courier could not find the door", "the shipment is still in the depot",
    ),
    "invoice": (
        "the invoice shows the wrong amount", "my card was charged twice", "the refund is not on my account",
        "I need a receipt for the payment", "the discount is missing on the bill",
        "the bank rejected the payment",
        "the tax on the invoice is too high", "you charged the old price",
    ),
    "login": (
        "I cannot log in any more", "the password reset sends no mail", "my account is locked",
        "the app says that the code has expired", "I changed my phone and lost the login",
        "the page asks for the password again and again", "my user name is unknown to the app",
        "the link in the mail opens an empty page",
    ),
    "quality": (
        "the lamp flickers after an hour", "the handle broke on the first day",
        "the colour differs from the photo",
        "a screw is missing from the set", "the fabric has a hole", "the glass is cracked",
        "it smells of plastic", "the battery lasts ten minutes",
    ),
}  # fmt: skip
KINDS_OF_LOADS = ("commuters", "at home", "night heating", "shop")


@dataclass(frozen=True, eq=False)
class DemoSet:
    """Rows with known classes `y`, counted from 0, as they are compared and as they are shown.

    `units` has the columns of a table in their own units, and `items` the rows of other data as they are
    shown.
    """

    name: str
    rows: Encoded
    units: Encoded | None
    y: NDArray[np.int64]
    label_names: tuple[str, ...]
    items: Items | None
    source: str

    @property
    def X(self) -> NDArray[np.float64]:
        """The rows as they are compared."""
        return self.rows.X


def load_demo(name: str) -> DemoSet:
    """Load "messages" (texts), "loads" (curves), or a set of `linkwise.datasets.load`, the same each time."""
    if name == "messages":
        return _write_messages()
    return _draw_loads() if name == "loads" else as_demo(datasets.load(name))


def as_demo(data: datasets.Dataset) -> DemoSet:
    """Make a demo of a table or of images, scaled to run from 0 to 1."""
    features = tuple(Feature(name, name, None, "numeric") for name in data.names)
    units = Encoded(data.X, features, ()) if data.images is None else None
    rows = Encoded(datasets.scale_to_unit(data.X), features, ())
    items = None if data.images is None else image_items(data.images)
    return DemoSet(data.name, rows, units, data.y, data.label_names, items, data.source)


def _write_messages() -> DemoSet:
    """Messages to a shop, each about one of four topics, and perhaps about another one beside."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(PHRASES), N_MESSAGES)
    topics = list(PHRASES.values())
    texts = []
    for kind in y.tolist():
        first, second = rng.choice(topics[kind], 2, replace=False)
        if rng.random() < OFF_TOPIC:
            second = rng.choice(topics[rng.integers(len(topics))])
        texts.append(f"{rng.choice(OPENINGS)} {first}, and {second}.")
    return DemoSet(
        "messages", encode_texts(texts, "message"), None, y, tuple(PHRASES), text_items(texts), INVENTED
    )


def _draw_loads() -> DemoSet:
    """The electricity that households and shops use in each half hour of a day."""
    rng = np.random.default_rng(0)
    y, hours = rng.integers(0, len(KINDS_OF_LOADS), N_LOADS), np.arange(48) / 2
    curves = np.empty((N_LOADS, len(hours)))
    for row, kind in enumerate(y.tolist()):
        late = rng.normal(0, 1.6)
        peaks = (((7, 1.2), (19.5, 2.0)), ((13, 4.5), (19, 1.5)), ((3, 2.5),), ((14, 3.5),))[kind]
        curve = sum(np.exp(-(((hours - at - late) / width) ** 2)) for at, width in peaks)
        curves[row] = rng.lognormal(0, 0.4) * (0.3 + curve + rng.normal(0, 0.35, len(hours)))
    rows = encode_series(curves)
    return DemoSet("loads", rows, None, y, KINDS_OF_LOADS, series_items(curves.round(2)), INVENTED)
