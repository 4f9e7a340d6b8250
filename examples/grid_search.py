# %% [markdown]
# # Grid search: constraints in a pipeline, and parameters chosen by constraints
#
# You learn that scikit-learn's metadata routing passes `Constraints` through a pipeline, a search and its
# folds. The folds cut them as they cut the rows: pairs within a fold stay, and so does everything that
# follows for its rows from pairs with rows outside. You also learn how to choose parameters by pairs alone:
# the score is the share of held-out pairs that the clustering satisfies, so you need no labels.

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
# The data are 300 scans of five handwritten digits, and 300 pairs that somebody judged.

# %%
X, digits = load_digits(n_class=5, return_X_y=True)
X, digits = X[:300], digits[:300]
constraints = lw.Constraints.sample(digits, 300, random_state=0)
print(constraints)

# %% [markdown]
# Two steps of the pipeline use the constraints: RCA learns a metric from must-links, and PCKMeans pays a
# penalty for each violated constraint. The scorer uses them, too. Metadata routing passes each of them the
# constraints of its rows.


# %%
def score_pairs(_, labels: np.ndarray, constraints: lw.Constraints) -> float:
    """Return the share of the held-out pairs that labels satisfy; both kinds count for one half.

    Most pairs are cannot-links. If every pair counted alike, the largest number of clusters would win.
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
halves = ShuffleSplit(3, test_size=0.5, random_state=0)  # the held-out half contains a quarter of the pairs
no_labels = np.zeros(len(X))  # scorers of scikit-learn require a y
with config_context(enable_metadata_routing=True):
    scorer = make_scorer(score_pairs).set_score_request(constraints=True)
    search = GridSearchCV(pipeline, grid, scoring=scorer, cv=halves).fit(
        X, no_labels, constraints=constraints
    )
best = search.best_estimator_[-1]
print(search.best_params_)
print(f"held-out pairs satisfied: {search.best_score_:.2f}; violated in the end: {best.violations_}")

# %% [markdown]
# Print the five best settings with their scores. The known digits had no part in the choice.

# %%
found = search.cv_results_
for at in np.argsort(-found["mean_test_score"], kind="stable")[:5]:
    print(f"  {found['mean_test_score'][at]:.2f}", *found["params"][at].values())
print(f"ARI {adjusted_rand_score(digits, best.labels_):.2f}")
