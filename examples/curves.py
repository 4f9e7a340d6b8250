# %% [markdown]
# # Curves: choose among 931 clusterings by known pairs
#
# You learn how curves become points (each curve gets mean 0 and standard deviation 1, so its shape counts
# and its size does not), and what to do if you know some pairs and nobody can answer questions: COBS
# clusters the rows by k-means, DBSCAN and spectral clustering in hundreds of ways, and chooses the
# clustering that satisfies most pairs.
#
# The curves are made up: the electric load of 200 households over a day. It depends on when people are at
# home and on how they heat.

# %%
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.data import encode_series

HOURS = np.arange(48) / 2


def bump(at: float, width: float) -> np.ndarray:
    """Return a peak at an hour of the day; midnight joins the two ends of the day."""
    away = np.abs(HOURS - at)
    return np.exp(-((np.minimum(away, 24 - away) / width) ** 2))


def make_households(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Make loads of shape (200, 48), and the kind of each household.

    The kinds are commuters (peaks in the morning and in the evening), people at home (high all day), shift
    workers (two peaks at any time of the day) and storage heaters (high at night).
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


curves, kinds = make_households()
X = encode_series(curves).X

# %% [markdown]
# Suppose that a survey gives 40 pairs of households.

# %%
known = lw.Constraints.sample(kinds, 40, random_state=0)
model = lw.COBS(random_state=0).fit(X, constraints=known)
print(f"chosen: {model.algorithm_} {model.parameters_}, {model.n_clusters_} clusters")
print(f"it satisfies {40 - model.violations_} of 40 pairs")
for choice in model.alternatives_[:3]:
    print(f"  next: {choice.algorithm} {choice.parameters}, {choice.score:.0f} of 40")

# %% [markdown]
# For comparison, k-means with the right number of clusters. It does not find the shift workers: their peaks
# are at any time of the day, so their mean looks like no household.

# %%
plain = KMeans(4, n_init=10, random_state=0).fit_predict(X)
print(f"k-means: ARI {adjusted_rand_score(kinds, plain):.2f}")
print(f"ARI {adjusted_rand_score(kinds, model.labels_):.2f}")
