# %% [markdown]
# # Grid search: constraints through a pipeline, and parameters chosen by them
#
# You learn that `Constraints` go where scikit-learn's metadata routing sends them: through a pipeline, a
# search and its folds, which cut them as they cut the rows (pairs within the fold stay, and so does what
# follows from pairs that led outside). And how to choose by the pairs alone: parameters are scored by the
# share of held-out pairs that they satisfy, so no labels are needed.

# %%
import numpy as np
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import Pipeline

import linkwise as lw

# %% [markdown]
# 300 scans of five handwritten digits, and 300 pairs of them that somebody judged.

# %%
X, digits = load_digits(n_class=5, return_X_y=True)
X, digits = X[:300], digits[:300]
constraints = lw.Constraints.sample(digits, 300, random_state=0)
print(constraints)

# %% [markdown]
# Two steps of the pipeline take the constraints: a metric learned from must-links (RCA), and k-means with
# a price on each broken pair. The scorer asks for them, too. With routing on, each gets those of its rows
# without a word here.


# %%
def share(_, labels: np.ndarray, constraints: lw.Constraints) -> float:
    """Share of the held-out pairs that labels satisfy, must-links and cannot-links by half each.

    Most pairs are cannot-links, and they alone would want as many clusters as can be.
    """
    together, apart = (
        labels[pairs[:, 0]] == labels[pairs[:, 1]]
        for pairs in (constraints.must_link, constraints.cannot_link)
    )
    return (together.mean() + 1 - apart.mean()) / 2


pipeline = Pipeline(
    [
        ("reduce", PCA(random_state=0)),
        ("metric", lw.RCA()),
        ("cluster", lw.PCKMeans(n_init=3, random_state=0)),
    ]
)
grid = {
    "metric": ["passthrough", lw.RCA()],
    "reduce__n_components": [5, 15],
    "cluster__n_clusters": [3, 5, 8],
}
halves = ShuffleSplit(3, test_size=0.5, random_state=0)  # a quarter of the pairs lies in the held-out half
nothing = np.zeros(len(X))  # scikit-learn's scorers want a y; there is none
with config_context(enable_metadata_routing=True):
    scorer = make_scorer(share).set_score_request(constraints=True)
    search = GridSearchCV(pipeline, grid, scoring=scorer, cv=halves).fit(X, nothing, constraints=constraints)
best = search.best_estimator_[-1]
print(search.best_params_)
print(f"held-out pairs satisfied: {search.best_score_:.2f}; broken in the end: {best.violations_}")

# %% [markdown]
# Every setting, by what it makes of the held-out pairs. The known digits decided nothing.

# %%
found = search.cv_results_
for at in np.argsort(-found["mean_test_score"], kind="stable")[:5]:
    print(f"  {found['mean_test_score'][at]:.2f}", *found["params"][at].values())
print(f"ARI {adjusted_rand_score(digits, best.labels_):.2f}")
