# %% [markdown]
# # Faces: the same pictures by who it is, and by where they look
#
# You learn that constraints decide what a clustering is *about*. 624 photographs of 20 people, each
# looking straight on, left, right or up: one person asks *is it the same man or woman?*, another *do they
# look the same way?* The rows and the method are the same; the answers are not, and two clusterings come
# of it.
#
# It needs the CMU Face Images in the folder named by LINKWISE_DATA (`cmu_faces_half.npz`, see
# data/README.md).

# %%
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

import linkwise as lw

FILE = Path(os.environ.get("LINKWISE_DATA", ""), "cmu_faces_half.npz")
if not FILE.is_file():
    print(
        f"no {FILE.name} here: put it in a folder, and name that by LINKWISE_DATA (data/README.md says how)"
    )
    sys.exit()

with np.load(FILE) as held:
    pixels = held["X"].reshape(len(held["X"]), -1) / 255.0
    identity, pose = held["identity"], held["pose"]
X = PCA(50, svd_solver="full").fit_transform(pixels)
print(f"{len(X)} pictures, {len(set(identity))} people, {len(set(pose))} poses")


# %% [markdown]
# k-means is told how many there are of either; what it finds is whatever varies most.


# %%
def clustered(name: str, truth: np.ndarray, budget: int) -> np.ndarray:
    """Clusters by the answers of a person who minds `truth`, and how well they match it."""
    model = lw.KIN(random_state=0).fit(X, oracle=lambda i, j: truth[i] == truth[j], budget=budget)
    blind = KMeans(len(set(truth)), n_init=10, random_state=0).fit_predict(X)
    ari, without = (adjusted_rand_score(truth, labels) for labels in (model.labels_, blind))
    print(f"by {name}: {model.n_clusters_} clusters, ARI {ari:.2f} (k-means {without:.2f})")
    return model.labels_


by_person = clustered("identity", identity, 100)
by_pose = clustered("pose", pose, 200)

# %% [markdown]
# Two clusterings of the same rows, as different as chance: neither is *the* structure of the data.

# %%
print(f"the two with each other: ARI {adjusted_rand_score(by_person, by_pose):.2f}")
aris = [adjusted_rand_score(identity, by_person), adjusted_rand_score(pose, by_pose)]
print(f"ARI {aris[0]:.2f} by identity, {aris[1]:.2f} by pose")
