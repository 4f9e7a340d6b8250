# %% [markdown]
# # Curves: of 931 clusterings the one that fits what you know
#
# You learn how curves become points (each to mean 0 and deviation 1, so that shape counts and size does
# not), and what to do if you have pairs already and nobody to ask: COBS clusters the rows by k-means,
# DBSCAN and spectral clustering in hundreds of ways, and takes the clustering that satisfies most pairs.
#
# The curves are loads of 200 households over a day, made here: when people are at home, and what they
# heat with.

# %%
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.data import encode_series

HOURS = np.arange(48) / 2


def bump(at: float, width: float) -> np.ndarray:
    """A peak at an hour of the day, which is round."""
    away = np.abs(HOURS - at)
    return np.exp(-((np.minimum(away, 24 - away) / width) ** 2))


def households(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Loads of shape (200, 48), and what kind of household each is.

    Commuters (a peak in the morning, one in the evening), people at home (a long day), shifts (the peaks lie
    anywhere, since weeks alternate), and storage heaters (the night).
    """
    rng = np.random.default_rng(seed)
    kinds = rng.choice(4, 200, p=[0.4, 0.25, 0.15, 0.2])
    curves = np.empty((200, len(HOURS)))
    for row, kind in enumerate(kinds):
        late = rng.normal(0, 1.2)
        start = rng.uniform(0, 24)
        shape = (
            1.0 * bump(7 + late, 1.2) + rng.uniform(1.0, 1.8) * bump(19.5 + late, 2),
            1.2 * bump(13 + late, 4.5) + rng.uniform(0.2, 0.7) * bump(19 + late, 1.5),
            1.2 * bump(start, 1.5) + 1.2 * bump(start + 9, 1.5),
            1.6 * bump(2 + late / 2, 2.5) + rng.uniform(0.1, 0.6) * bump(19 + late, 1.5),
        )[kind]
        curves[row] = rng.lognormal(0, 0.6) * (0.3 + shape + rng.normal(0, 0.3, len(HOURS)))
    return curves, kinds


curves, kinds = households()
X = encode_series(curves).X

# %% [markdown]
# What is known: 40 pairs of households, say from a survey.

# %%
known = lw.Constraints.sample(kinds, 40, random_state=0)
model = lw.COBS(random_state=0).fit(X, constraints=known)
print(f"chosen: {model.algorithm_} {model.parameters_}, {model.n_clusters_} clusters")
print(f"it satisfies {40 - model.violations_} of 40 pairs")
for choice in model.alternatives_[:3]:
    print(f"  next: {choice.algorithm} {choice.parameters}, {choice.score:.0f} of 40")

# %% [markdown]
# Beside it k-means, told that there are four. What it misses are the shifts: their peaks lie anywhere, so
# their mean is no household's day.

# %%
blind = KMeans(4, n_init=10, random_state=0).fit_predict(X)
print(f"k-means: ARI {adjusted_rand_score(kinds, blind):.2f}")
print(f"ARI {adjusted_rand_score(kinds, model.labels_):.2f}")
