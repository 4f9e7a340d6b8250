"""What holds for every metric learner."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import special_ortho_group
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from cluster.metric.problems import a_problem
from laws.clustering import kept
from linkwise.cluster.metric.base import ConstantWarning

WINE, KINDS = load_wine(return_X_y=True)
SCALED = minmax_scale(WINE)
C = lw.Constraints.sample(KINDS, 60, random_state=0)

LEARNERS = {
    "MMC": lw.MMC,
    "MMC of the paper": partial(lw.MMC, ridge=1e-3),
    "MMC, full": partial(lw.MMC, diagonal=False),
    "ITML": partial(lw.ITML, random_state=0),
    "ITML, covariance": partial(lw.ITML, "covariance", random_state=0),
    "RCA": lw.RCA,
    "RCA of the paper": partial(lw.RCA, shrinkage=0.0),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def each_but(*names):
    kept_ = {name: make for name, make in LEARNERS.items() if name not in names}
    return pytest.mark.parametrize("make", kept_.values(), ids=kept_)


@pytest.fixture(autouse=True)
def _routing(request):
    wanted = request.getfixturevalue("routing") if "routing" in request.fixturenames else False
    with sklearn.config_context(enable_metadata_routing=wanted):
        yield


routing = pytest.mark.parametrize("routing", [False, True], ids=["routing off", "routing on"])


# ---------------------------------------------------------------- what comes out
@each_learner
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 40))
@settings(max_examples=15)
def test_the_matrix_is_a_metric_and_the_map_its_root(make, seed, d, n_pairs):
    X, c = a_problem(seed, d=d, n_pairs=n_pairs)
    X = X / X.std(axis=0)
    with warnings.catch_warnings(action="ignore", category=lw.ConstraintWarning):  # RCA, without must-links
        model = make().fit(X, constraints=c)
    M, L = model.get_mahalanobis_matrix(), model.components_
    assert M.shape == L.shape == (d, d)
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    assert np.linalg.eigvalsh(M)[0] >= -1e-9 * np.trace(M)
    np.testing.assert_allclose(L.T @ L, M, atol=1e-12 * np.trace(M))
    np.testing.assert_allclose(model.transform(X), X @ L.T, rtol=1e-12, atol=1e-12)


@each_but("ITML, covariance")
@pytest.mark.parametrize("constraints", [None, lw.Constraints(178)], ids=["None", "empty"])
def test_without_constraints_rows_stay_as_they_are(make, constraints):
    np.testing.assert_array_equal(make().fit_transform(WINE, constraints=constraints), WINE)


@each_learner
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_of_the_rows_is_kept(make, dtype):
    found = make().fit_transform(SCALED.astype(dtype), constraints=C)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, make().fit_transform(SCALED, constraints=C), rtol=1e-2, atol=1e-2)


@each_learner
def test_names_of_the_columns(make):
    import pandas as pd

    table = pd.DataFrame(SCALED, columns=[f"c{j}" for j in range(13)])
    model = make().set_output(transform="pandas").fit(table, constraints=C)
    names = list(model.get_feature_names_out())
    assert list(model.transform(table).columns) == names
    weighs_only = getattr(model, "diagonal", False)
    stem = type(model).__name__.lower()
    assert names == (list(table.columns) if weighs_only else [f"{stem}{j}" for j in range(13)])


@each_learner
def test_contradictory_constraints_are_used_as_given(make):
    c = kept(178, [(0, 1), (1, 2), (60, 61)], [(0, 2), (0, 60), (1, 2)])
    assert len(c.conflicts) == 2
    assert np.isfinite(make().fit(SCALED, constraints=c).components_).all()


# ---------------------------------------------------------------- what changes nothing
@each_learner
def test_the_same_again(make):
    model = make().fit(SCALED, constraints=C)
    for other in (make().fit(SCALED, constraints=C), clone(model).fit(SCALED, constraints=C)):
        np.testing.assert_array_equal(other.components_, model.components_)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.transform(SCALED), model.transform(SCALED))


@each_learner
def test_the_number_of_threads_changes_nothing(make, use_threads):
    found = []
    for threads in (1, 3):
        use_threads(threads)
        found.append(make().fit_transform(SCALED, constraints=C))
    np.testing.assert_array_equal(*found)


@each_learner
def test_nothing_that_is_given_changes_or_is_remembered(make):
    X, model = SCALED.copy(), make()
    once = model.fit(X, constraints=C).components_
    np.testing.assert_array_equal(X, SCALED)
    model.fit(X)
    np.testing.assert_array_equal(model.fit(X, y=KINDS, constraints=C).components_, once)


@each_learner
def test_the_order_of_pairs_and_within_pairs_changes_nothing(make):
    turned = lw.Constraints(178, C.must_link[::-1, ::-1], C.cannot_link[::-1, ::-1])
    one, other = (make().fit(SCALED, constraints=c).components_ for c in (C, turned))
    np.testing.assert_array_equal(one, other)


@each_learner
def test_the_order_of_the_rows_changes_hardly_anything(make):
    order = np.random.default_rng(0).permutation(178)
    one = make().fit(SCALED, constraints=C).get_mahalanobis_matrix()
    other = make().fit(SCALED[order], constraints=C[order]).get_mahalanobis_matrix()
    np.testing.assert_allclose(one, other, atol=2e-3 * np.abs(one).max())


@each_learner
def test_where_the_rows_lie_changes_nothing(make):
    one = make().fit(SCALED, constraints=C).get_mahalanobis_matrix()
    other = make().fit(SCALED + 100.0, constraints=C).get_mahalanobis_matrix()
    np.testing.assert_allclose(one, other, atol=1e-4 * np.abs(one).max())


@each_learner
@pytest.mark.parametrize("power", [-300, -30, 30, 300])
def test_the_unit_of_all_features_changes_nothing_but_the_unit(make, power):
    one = make().fit_transform(SCALED, constraints=C)
    other = make().fit_transform(SCALED * 2.0**power, constraints=C)
    share = other[0, 0] / one[0, 0]
    np.testing.assert_allclose(other, one * share, rtol=1e-9, atol=1e-12 * share)


@each_but("ITML", "RCA")  # which stay near to the plain metric
def test_the_unit_of_each_feature_changes_nothing(make):
    units = 2.0 ** np.arange(-6, 7)
    one = make().fit_transform(SCALED, constraints=C)
    other = make().fit_transform(SCALED * units, constraints=C)
    a, b = (np.linalg.norm(Z[:, None] - Z, axis=2) for Z in (one, other))
    np.testing.assert_allclose(b / b.max(), a / a.max(), atol=1e-4)


@each_but("MMC", "MMC of the paper", "MMC, full", "ITML, covariance")  # which know the features
def test_a_rotation_of_the_space_rotates_the_metric(make):
    R = special_ortho_group.rvs(13, random_state=0)
    one = make().fit(SCALED, constraints=C).get_mahalanobis_matrix()
    other = make().fit(SCALED @ R.T, constraints=C).get_mahalanobis_matrix()
    np.testing.assert_allclose(other, R @ one @ R.T, atol=1e-7 * np.abs(one).max())


@each_learner
def test_the_order_of_the_features_is_that_of_the_metric(make):
    order = np.random.default_rng(0).permutation(13)
    one = make().fit(SCALED, constraints=C).get_mahalanobis_matrix()
    other = make().fit(SCALED[:, order], constraints=C).get_mahalanobis_matrix()
    np.testing.assert_allclose(other, one[np.ix_(order, order)], atol=1e-3 * np.abs(one).max())


# ---------------------------------------------------------------- in scikit-learn
@routing
@each_learner
@pytest.mark.parametrize(
    "clusterer",
    [
        lw.PCKMeans(3, random_state=0),
        lw.COPKMeans(3, random_state=0),
        lw.ClusILC(3),
        KMeans(3, n_init=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_before_clusterers_in_a_pipeline(make, clusterer, routing):
    pipeline = make_pipeline(MinMaxScaler(), make(), clone(clusterer))
    (_, (name, learner), (last, _)) = pipeline.steps
    takes = not isinstance(clusterer, KMeans)
    apart = {f"{name}__constraints": C} | ({f"{last}__constraints": C} if takes else {})
    pipeline.fit(WINE, **({"constraints": C} if routing else apart))
    Z = make().fit_transform(SCALED, constraints=C)
    np.testing.assert_array_equal(learner.transform(SCALED), Z)
    alone = clone(clusterer).fit(Z, **({"constraints": C} if takes else {}))
    np.testing.assert_array_equal(pipeline[-1].labels_, alone.labels_)
    np.testing.assert_array_equal(pipeline.predict(WINE), alone.predict(Z))


@routing
@each_learner
def test_in_cross_validation_and_searches(make, routing):
    pipeline = make_pipeline(MinMaxScaler(), make(), KMeans(3, n_init=1, random_state=0))
    key = "constraints" if routing else f"{pipeline.steps[1][0]}__constraints"
    folds = KFold(3, shuffle=True, random_state=0)
    options = {"cv": folds, "scoring": inertia}
    found = cross_validate(pipeline, WINE, params={key: C}, return_estimator=True, **options)
    for model, (rows, _) in zip(found["estimator"], folds.split(WINE), strict=True):
        alone = make().fit(MinMaxScaler().fit_transform(WINE[rows]), constraints=C[rows])
        np.testing.assert_array_equal(model[1].components_, alone.components_)
    search = GridSearchCV(pipeline, {"kmeans__n_clusters": [2, 3]}, **options).fit(WINE, **{key: C})
    np.testing.assert_array_equal(
        search.best_estimator_[1].components_, make().fit(SCALED, constraints=C).components_
    )


def inertia(pipeline, X, y=None):
    return float(pipeline[-1].score(pipeline[:-1].transform(X)))


# ---------------------------------------------------------------- what is refused
@each_learner
def test_bad_arguments_raise_errors(make):
    with pytest.raises(TypeError, match="dense data is required by"):
        make().fit(csr_array(SCALED))
    with pytest.raises(TypeError, match="Build it with linkwise"):
        make().fit(SCALED, constraints=[(0, 1)])
    with pytest.raises(TypeError, match=r"given as y, which is ignored\. Pass them by name"):
        make().fit(SCALED, C)
    with pytest.raises(ValueError, match="about 178 rows, but X has 100"):
        make().fit(SCALED[:100], constraints=C)
    with pytest.raises(ValueError, match="X has 12 features, but"):
        make().fit(SCALED, constraints=C).transform(SCALED[:, :12])
    for ask in (lambda m: m.components_, lambda m: m.get_mahalanobis_matrix(), lambda m: m.transform(SCALED)):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            ask(make())
    holed = SCALED.copy()
    holed[3, 2] = np.nan
    with pytest.raises(lw.DataError, match="row 3, column 2"):
        make().fit(holed, constraints=C)


# ---------------------------------------------------------------- what it is for
@each_but("MMC of the paper", "RCA of the paper")
def test_a_feature_without_meaning_loses_its_weight(make):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.column_stack([y + 0.15 * rng.normal(size=200), 1.5 * rng.normal(size=200)])
    c = lw.Constraints.sample(y, 60, random_state=0)
    plain, learned = (
        adjusted_rand_score(y, KMeans(2, n_init=5, random_state=0).fit_predict(Z))
        for Z in (X, make().fit_transform(X, constraints=c))
    )
    assert plain < 0.1
    assert learned > 0.9


@each_learner
def test_constant_rows_warn(make):
    with pytest.warns(ConstantWarning, match=r"All columns of X \(2\) are constant"):
        model = make().fit(np.full((5, 2), 0.1), constraints=lw.Constraints(5, [(0, 1)]))
    assert np.isfinite(model.components_).all()


@parametrize_with_checks([lw.MMC(), lw.MMC(diagonal=False), lw.ITML(), lw.RCA()])
def test_every_generated_check(estimator, check):
    check(estimator)
