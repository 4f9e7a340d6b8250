"""Draw the picture of the page about wrong answers: the same answers, taken as right and as fallible.

Use: ``python docs/wrong_answers_picture.py docs/images/wrong-answers.png``
"""

import sys

import matplotlib as mpl
import numpy as np
from kin_picture import COLOURS, make_rows, save_small
from sklearn.metrics import adjusted_rand_score

import linkwise as lw

mpl.use("agg")
import matplotlib.pyplot as plt

N_ANSWERS, NOISE = 60, 0.1
SAME, DIFFERENT, SUSPECT = "#111111", "#d40000", "#ff8c00"


class Notes:
    """An oracle that remembers its answers."""

    def __init__(self, oracle: lw.TruthOracle) -> None:
        self.asked: list[tuple[int, int, str]] = []
        self._oracle = oracle

    def __call__(self, first: int, second: int) -> str:
        """Answer, and write it down."""
        self.asked.append((first, second, self._oracle(first, second)))
        return self.asked[-1][2]


def main(path: str) -> None:
    """Fit KIN twice, and draw the clusters, the answers and the suspects."""
    X, y = make_rows()
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    titles = "every answer taken as right", "answers may be wrong"
    for axes, rate, title in zip(panels, (0, None), titles, strict=True):
        oracle = Notes(lw.TruthOracle(y, noise=NOISE, random_state=8))
        model = lw.KIN(random_state=0).fit(X, oracle=oracle, budget=N_ANSWERS, error_rate=rate)
        for number, cluster in enumerate(np.unique(model.labels_)):
            rows = X[model.labels_ == cluster]
            axes.scatter(*rows.T, s=11, color=COLOURS[number % len(COLOURS)], linewidths=0)
        wrong = {frozenset(suspect.fact.pair) for suspect in model.suspects_}
        for first, second, answer in oracle.asked:
            is_suspect = frozenset((first, second)) in wrong
            colour = SUSPECT if is_suspect else SAME if answer == "yes" else DIFFERENT
            style, width = ("-" if answer == "yes" else (0, (3, 2))), (3.0 if is_suspect else 0.9)
            axes.plot(*X[[first, second]].T, color=colour, linestyle=style, linewidth=width, alpha=0.8)
        index = adjusted_rand_score(y, model.labels_)
        axes.set_title(f"{title}: ARI {index:.2f}, {len(wrong)} suspects", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    save_small(figure, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
