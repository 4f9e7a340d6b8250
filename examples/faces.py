# %% [markdown]
# # Faces: the same pictures by person and by pose
#
# You learn that constraints decide what a clustering is *about*. There are 624 photographs of 20 people,
# who look straight on, left, right or up. One person asks *is it the same man or woman?*, and another asks
# *do they look the same way?* The rows and the method are the same, the answers differ, and the result is
# two clusterings.
#
# The example needs the CMU Face Images in the folder that LINKWISE_DATA names (`cmu_faces_half.npz`, see
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
        f"There is no {FILE.name}. Put it into a folder, and set LINKWISE_DATA to its path (data/README.md)."
    )
    sys.exit()

with np.load(FILE) as file:
    pixels = file["X"].reshape(len(file["X"]), -1) / 255.0
    identity, pose = file["identity"], file["pose"]
X = PCA(50, svd_solver="full").fit_transform(pixels)
print(f"{len(X)} pictures, {len(set(identity))} people, {len(set(pose))} poses")


# %% [markdown]
# For comparison, k-means gets the right number of clusters. It finds whatever varies most.


# %%
def cluster_by(name: str, truth: np.ndarray, budget: int) -> np.ndarray:
    """Cluster by the answers of a person who means `truth`, and print how well the clusters match it."""
    model = lw.KIN(random_state=0).fit(X, oracle=lambda i, j: truth[i] == truth[j], budget=budget)
    plain = KMeans(len(set(truth)), n_init=10, random_state=0).fit_predict(X)
    ari, without = (adjusted_rand_score(truth, labels) for labels in (model.labels_, plain))
    print(f"by {name}: {model.n_clusters_} clusters, ARI {ari:.2f} (k-means {without:.2f})")
    return model.labels_


by_person = cluster_by("identity", identity, 100)
by_pose = cluster_by("pose", pose, 200)

# %% [markdown]
# The two clusterings of the same rows agree no more than by chance. Neither is *the* structure of the data.

# %%
print(f"agreement of the two: ARI {adjusted_rand_score(by_person, by_pose):.2f}")
aris = [adjusted_rand_score(identity, by_person), adjusted_rand_score(pose, by_pose)]
print(f"ARI {aris[0]:.2f} by identity, {aris[1]:.2f} by pose")
