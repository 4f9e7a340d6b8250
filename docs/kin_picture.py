"""Draw the picture of the page about KIN: rows, questions and clusters, before and after some answers.

Use: ``python docs/kin_picture.py docs/images/kin.png``
"""

import io
import sys

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from sklearn.metrics import adjusted_rand_score

import linkwise as lw

mpl.use("agg")
import matplotlib.pyplot as plt

PANELS = 0, 4, 20
COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#999933",
    "#882255",
    "#44aa99",
    "#777777",
)
SAME, DIFFERENT = "#111111", "#d40000"


def make_rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two long bands side by side, and two groups of two blobs each, which no distance joins."""
    rng = np.random.default_rng(3)
    along = rng.uniform(0, 10, 160)
    bands = np.column_stack([along, np.repeat([0.0, 1.6], 80) + rng.normal(0, 0.22, 160)])
    blobs = np.array([(1.2, 4.2), (4.0, 4.2), (6.6, 4.2), (9.2, 4.2)]).repeat(35, axis=0)
    blobs = blobs + rng.normal(0, 0.38, blobs.shape)
    kinds = np.r_[np.repeat([0, 1], 80), np.repeat([2, 3, 2, 3], 35)]
    return np.vstack([bands, blobs]), kinds


def save_small(figure: Figure, path: str) -> None:
    """Save a picture with a palette of 64 colours: every clone carries it for ever."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=100)
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def main(path: str) -> None:
    """Answer questions from the known kinds, and draw the clusters on the way."""
    X, y = make_rows()
    oracle, session, asked = lw.TruthOracle(y), lw.Session(X, lw.KIN(random_state=0)), []
    figure, panels = plt.subplots(1, len(PANELS), figsize=(11, 3.4), layout="constrained")
    for axes, n_answers in zip(panels, PANELS, strict=True):
        while len(asked) < n_answers:
            question = session.question
            asked.append((question.first, question.second, oracle(question.first, question.second)))
            session.answer(asked[-1][2])
        labels = session.labels
        for number, cluster in enumerate(np.unique(labels)):
            rows = X[labels == cluster]
            axes.scatter(*rows.T, s=9, color=COLOURS[number % len(COLOURS)], linewidths=0)
        for first, second, answer in asked:
            colour = SAME if answer == "yes" else DIFFERENT
            style = "-" if answer == "yes" else (0, (3, 2))
            axes.plot(*X[[first, second]].T, color=colour, linestyle=style, linewidth=1.1, alpha=0.8)
        n_clusters, index = len(np.unique(labels)), adjusted_rand_score(y, labels)
        answers = "no answer" if n_answers == 0 else f"{n_answers} answers"
        axes.set_title(f"{answers}: {n_clusters} clusters, ARI {index:.2f}", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    save_small(figure, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
