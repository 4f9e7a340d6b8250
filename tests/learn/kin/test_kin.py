"""KIN against a plain version: the same questions, the same labels; and the estimator."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from laws.asking import few_examples, nobody_is_asked, partition
from linkwise import native
from linkwise.constraints.evidence import Evidence
from linkwise.learn.advice import StopAdvice
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.kin import confidence, kernels, model
from linkwise.learn.kin.calibration import Sharpness
from linkwise.learn.kin.kernels import Kernels, MixedKernel
from linkwise.learn.kin.posterior import believe, item_chances
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from linkwise.wording import count_noun
from reference import kin as plain
from reference.cobras import Facts

SEED = 3


def real(load):
    """Distinct rows of a set of scikit-learn's."""
    X, y = load(return_X_y=True)
    rows = np.sort(np.unique(X, axis=0, return_index=True)[1])
    return X[rows], y[rows]


def several_groups(n_rows, n_groups, n_classes):
    """Rows in groups that are far apart, and classes of several groups each."""
    rng = np.random.default_rng(0)
    group = np.arange(n_rows) % n_groups
    return rng.normal(size=(n_groups, 8))[group] + 0.1 * rng.normal(size=(n_rows, 8)), group % n_classes


# ---------------------------------------------------------------- the same questions
def forest_on(rows):
    """Trees as they are grown part by part."""

    def leaves(items, homes):
        parts = []
        for part in range(4):
            seed = int(rng_at(SEED, 4, len(items), part).integers(2**63))
            parts.append(native.random_trees(rows, np.array(items), np.array(homes), 25, seed, 1))
        return np.hstack(parts)

    return leaves


def plain_start(X, prepared):
    """The start of the plain version, with the same random parts."""
    n, rng = len(prepared.rows), rng_at(SEED, 6)
    parts = [[np.sort(rng.permutation(n)[: int(0.75 * n)]) for _ in range(2)] for _ in range(3)]
    norm = np.linalg.norm(X[prepared.items.first], axis=1)
    kernel = prepared.kernels.mean.astype(float)
    return plain.Start(prepared.rows, kernel, parts, norm.std() < 0.01 * norm.mean())


def compared(X, oracle, *, budget=None, constraints=None, askable=None, corrected=()):
    """Ask both; returns the pairs."""
    with one_blas_thread():
        return _compared(X, oracle, budget, constraints or lw.Constraints(len(X)), askable, corrected)


def _compared(X, oracle, budget, constraints, askable, corrected):
    learner = lw.KIN()
    prepared = learner.prepare(X, SEED)
    of, row = prepared.items.of, prepared.items.first  # identical rows are one item
    askable = np.ones(len(X), bool) if askable is None else askable
    row = np.array([next(iter(np.flatnonzero((of == i) & askable)), row[i]) for i in range(len(row))])
    given_ones = [
        [pair for pair in of[pairs].tolist() if pair[0] != pair[1]]
        for pairs in (constraints.must_link, constraints.cannot_link)
    ]
    evidence, points = Evidence(len(X), constraints), Evidence(len(row))
    points.add_constraints(lw.Constraints(len(row), *given_ones))
    evidence.corrected = frozenset(corrected)
    run = Run(learner, X, evidence, SEED, prepared=prepared, askable=askable)
    theirs = plain.kin(
        Facts(len(row), *given_ones),
        prepared.kernels.among(np.arange(len(prepared.items.first))),
        plain_start(X, prepared),
        size=prepared.items.size,
        forest=forest_on(prepared.rows),
        jitter=lambda turn: rng_at(SEED, 5, turn).standard_normal(len(row)),
        askable=askable[row],
        corrected={int(of[at]) for at in corrected},
    )

    def assert_same(labels):
        labels = enforce_answers(labels.astype(np.int32), points)[of]
        assert partition(enforce_answers(labels, evidence)) == partition(run.labels)

    pairs, answer = [], None
    while True:
        try:
            first, second, labels = theirs.send(answer)
        except StopIteration as end:
            assert run.question is None
            assert_same(end.value)
            return pairs
        assert run.question is not None
        assert (run.question.first, run.question.second) == (row[first], row[second])
        assert_same(labels)
        if len(pairs) == budget:
            return pairs
        answer = oracle(row[first], row[second])
        pairs.append((row[first], row[second]))
        points.add(first, second, answer)
        run.answer(answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "step", "unsure", "n_given"),
    [
        (load_wine, 2, 0.2, 25),
        *(
            pytest.param(*case, marks=pytest.mark.slow(nightly=True))
            for case in ((load_wine, 1, 0.2, 25), (load_iris, 1, 0.0, 0), (load_iris, 1, 0.2, 25))
        ),
    ],
)
def test_real_sets(load, step, unsure, n_given):
    """Beyond the first weights of kernels and the first forests."""
    X, y = (part[::step] for part in real(load))
    given_ones = lw.Constraints.sample(y, n_given, 0)
    oracle = TruthOracle(y, unsure=unsure, random_state=0)
    assert len(compared(X, oracle, budget=35, constraints=given_ones)) == 35


@pytest.mark.parametrize("unsure", [0.0, pytest.param(0.2, marks=pytest.mark.slow(nightly=True))])
def test_classes_of_several_groups(unsure):
    X, y = several_groups(n_rows=60, n_groups=10, n_classes=3)
    pairs = compared(X, TruthOracle(y, unsure=unsure, random_state=0), budget=45)
    far = np.linalg.norm(X[[a for a, _ in pairs]] - X[[b for _, b in pairs]], axis=1) > 1
    assert any(is_far and y[a] == y[b] for is_far, (a, b) in zip(far, pairs, strict=True))


@pytest.mark.parametrize("unsure", [0.0, pytest.param(0.1, marks=pytest.mark.slow(nightly=True))])
def test_places_that_are_left(unsure):
    """Two classes: many rows are assumed to be where a "no" leaves them, and asked about in the end."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 40)
    X = rng.normal(size=(40, 3)) + 1.2 * y[:, None]
    pairs = compared(X, TruthOracle(y, unsure=unsure, random_state=0))
    assert unsure or len(set(map(frozenset, pairs))) == len(pairs) > 40


@pytest.mark.slow
def test_a_first_row_that_nobody_can_judge():
    X, y = real(load_iris)
    blurred = next(iter(compared(X, TruthOracle(y), budget=1)))[1]
    truth = TruthOracle(y)
    pairs = compared(X, lambda i, j: "unsure" if blurred in (i, j) else truth(i, j), budget=15)
    assert len(pairs) == 15
    assert sum(blurred in pair for pair in pairs) <= 3


@pytest.mark.slow
def test_a_set_with_many_given_facts():
    X, y = (part[::2] for part in real(load_wine))
    oracle = TruthOracle(y, unsure=0.1, random_state=0)
    assert len(compared(X, oracle, budget=6, constraints=lw.Constraints.sample(y, 60, 0))) == 6


@pytest.mark.slow
def test_rows_that_a_person_has_moved():
    """Twelve of one class lie near another one, and teach no more than others do."""
    X, y = (part[::2] for part in real(load_wine))
    far = np.square(X - X[y == 0].mean(axis=0)).sum(axis=1)
    moved = np.flatnonzero(y == 1)[np.argsort(far[y == 1])[:12]].tolist()
    lead, others = int(np.flatnonzero(y == 1)[-1]), [int(np.flatnonzero(y == k)[0]) for k in (0, 2)]
    pairs = lw.Constraints(
        len(X), must_link=[(lead, row) for row in moved], cannot_link=[(moved[0], other) for other in others]
    )
    taught = compared(X, TruthOracle(y), budget=12, constraints=pairs, corrected=moved)
    assert taught != compared(X, TruthOracle(y), budget=12, constraints=pairs)


@pytest.mark.slow
def test_a_forest_and_weights_among_small_sets():
    """Until nothing is left to ask."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, 55)
    X = rng.normal(size=(55, 3)) + 2 * rng.normal(size=(4, 3))[y]
    assert len(compared(X, TruthOracle(y))) > 60


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in (0, 3))]
)
def test_identical_rows_are_one_item(seed):
    rng = np.random.default_rng(seed)
    of = rng.integers(0, 18, 60)
    points = rng.normal(size=(18, 2))
    y = rng.integers(0, 3, 18)[of]
    askable = rng.random(60) < 0.7 if seed % 2 else None
    known = lw.Constraints.sample(y, 4 * seed, seed)
    pairs = compared(points[of], TruthOracle(y), constraints=known, askable=askable)
    assert not any(of[i] == of[j] for i, j in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "seeds"),
    [
        (6, [0, 1]),
        (12, [0, 1]),
        pytest.param(29, [0, 1], marks=pytest.mark.slow(nightly=True)),
    ],
)
def test_where_all_rows_are_equally_far_rounding_decides_nothing(n, seeds):
    for seed in seeds:
        y = np.random.default_rng(seed).integers(0, 3, n)
        compared(np.eye(n), TruthOracle(y))
    compared(np.eye(6), TruthOracle([4, 0, 0, 4, 4, 1]))


@pytest.mark.slow
@few_examples
@given(st.data())
def test_small_sets_with_constraints_doubts_and_hidden_rows(data):
    n = data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    d = data.draw(st.integers(1, 3))
    kind = data.draw(st.sampled_from(["normal", "normal", "a grid", "directions"]))
    X = rng.integers(0, 4, (n, d)).astype(float) if kind == "a grid" else rng.normal(size=(n, d))
    if kind == "directions":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    _, of = np.unique(X, axis=0, return_inverse=True)
    y = rng.integers(0, data.draw(st.integers(1, 4)), n)[of.ravel()]
    askable = data.draw(st.none() | st.just(rng.random(n) < 0.6))
    known = lw.Constraints.sample(y, data.draw(st.integers(0, min(20, n * (n - 1) // 2))), rng)
    oracle = TruthOracle(y, unsure=data.draw(st.sampled_from([0.0, 0.0, 0.3, 0.8])), random_state=0)
    compared(X, oracle, constraints=known, askable=askable)


@pytest.mark.slow
@pytest.mark.parametrize("n_seeds", [1, pytest.param(3, marks=pytest.mark.slow(nightly=True))])
def test_many_facts_that_nobody_asked_for(n_seeds):
    """They spoil nothing on average over sets, and what they say is used."""
    before, after, unasked = [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 8, 400)
        X = rng.normal(size=(8, 3))[y] * 9 + rng.normal(size=(400, 3))
        prepared = lw.KIN().prepare(X, SEED)
        unasked.append(
            adjusted_rand_score(y, Run(lw.KIN(), X, Evidence(400), SEED, prepared=prepared).labels)
        )
        for n_pairs in (30, 100, 300, 1500):
            known = lw.Constraints.sample(y, n_pairs, 0)
            run = Run(lw.KIN(), X, Evidence(400, known), SEED, prepared=prepared)
            before.append(adjusted_rand_score(y, run.labels))
            for _ in range(12):
                run.answer(TruthOracle(y)(run.question.first, run.question.second))
            after.append(adjusted_rand_score(y, run.labels))
            assert after[-1] > before[-1] - 0.02
    by_number = np.reshape(before, (n_seeds, 4)).mean(axis=0)
    assert (by_number > np.mean(unasked) - 0.02).all()
    assert (by_number[1:] > 0.98).all()
    assert np.mean(after) > 0.98


# ---------------------------------------------------------------- as a session lives
@pytest.mark.slow
def test_undo_and_another_client_ask_the_same(tmp_path):
    """Beyond the first forests and weights, and where the covariance is made anew."""
    X, y = real(load_wine)
    path = tmp_path / "s.linkwise"

    def answers(session, n):
        said = []
        for _ in range(n):
            q = session.question
            said.append((q.first, q.second, q.labels.tolist(), session.status.description))
            session.answer(bool(y[q.first] == y[q.second]))
        return said

    with lw.Session.open(path, X, lw.KIN(random_state=0)) as session:
        before = answers(session, 60)
        for _ in range(25):
            session.undo()
        assert answers(session, 25) == before[35:]
        for _ in range(10):
            session.undo()
        with lw.Session.open(path, X) as other:
            for said in ("yes", "no"):
                other.look_ahead(said)
            assert answers(other, 10) == before[50:]


def test_a_placement_that_is_used_again_is_the_one_that_follows():
    """Also with items that given facts name and that have no place."""
    X, y = real(load_wine)
    pairs = lw.Constraints.sample(y, 30, 0)
    run, n_reused = Run(lw.KIN(random_state=0), X, Evidence(len(X), pairs), 0, budget=40), 0
    while (q := run.question) is not None:
        run.answer(TruthOracle(y)(q.first, q.second))
        state = run.state
        last = state.read()
        for placing in (-1, state.placing, *last.placement.unplaced[:2].tolist(), int(last.known.items[0])):
            anew = believe(state.task, last.placed, placing, last.learned)
            found = believe(state.task, last.placed, placing, last.learned, last)
            n_reused += found.placement is last.placement
            assert found.placing == placing
            assert found.n_facts == anew.n_facts
            assert found.placement.to_bytes() == anew.placement.to_bytes()
            np.testing.assert_array_equal(found.placed.order, anew.placed.order)
    assert n_reused > 40


# ---------------------------------------------------------------- the estimator
@nobody_is_asked
def test_it_finds_classes_that_k_means_does_not():
    """Two moons: chains of neighbours."""
    X, y = make_moons(200, noise=0.05, random_state=0)
    model = lw.KIN(random_state=0).fit(X, oracle=TruthOracle(y), budget=15)
    assert partition(model.labels_) == partition(y)
    assert partition(lw.KIN(random_state=0).fit(X).labels_) != partition(y)


def test_how_sure_clusters_are_and_new_rows():
    X, y = real(load_wine)
    model = lw.KIN(random_state=0).fit(X[::2], oracle=TruthOracle(y[::2]), budget=30)
    assert model.proba_.shape == model.labels_.shape
    assert ((model.proba_ >= 0) & (model.proba_ <= 1)).all()
    spoken_of = np.unique([*model.constraints_.must_link.ravel(), *model.constraints_.cannot_link.ravel()])
    assert (model.proba_[spoken_of] == 1).all()
    assert model.proba_.min() < 1
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)
    new = model.predict(X[1::2])
    nearest = np.linalg.norm(X[1::2, None] - X[None, ::2], axis=2).argmin(axis=1)
    np.testing.assert_array_equal(new, model.labels_[nearest])
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :3])


def test_how_sure_clusters_are_is_about_right():
    """Beside the share of rows that are right; and the same however the answers came."""
    X, y = real(load_wine)
    learner, evidence, oracle = lw.KIN(random_state=SEED), Evidence(len(X)), TruthOracle(y)
    run = Run(learner, X, evidence, SEED)
    for _ in range(40):
        run.answer(oracle(run.question.first, run.question.second))
    sure = confidence.certainty(run.state.read())
    table = np.zeros((len(y), 3))
    np.add.at(table, (run.labels, y), 1)
    right = table.max(axis=1).sum() / len(y)
    assert abs(sure.mean() - right) < 0.1
    model = lw.KIN(random_state=SEED).fit(X, oracle=oracle, budget=40)
    np.testing.assert_array_equal(model.labels_, run.labels)
    np.testing.assert_array_equal(model.proba_, sure)


@nobody_is_asked
def test_how_sure_clusters_are_where_nobody_was_asked(monkeypatch):
    X, y = real(load_wine)
    assert (lw.KIN(random_state=0).fit(X).proba_ == 0).all()
    for n_pairs in (60, 200):
        known = lw.Constraints.sample(y, n_pairs, 1)
        model = lw.KIN(random_state=0).fit(X, constraints=known)
        named = np.isin(np.arange(len(X)), [*known.must_link.ravel(), *known.cannot_link.ravel()])
        assert (model.proba_[named] == 1).all()
        assert ((model.proba_ >= 0) & (model.proba_ <= 1)).all()
        table = np.zeros((model.n_clusters_, 3))
        np.add.at(table, (model.labels_, y), 1)
        right = table.argmax(axis=1)[model.labels_] == y
        rest = model.proba_[~named]
        assert len(rest) == 0 or right[~named].mean() - 0.2 < rest.mean() < right[~named].mean() + 0.1
    monkeypatch.setattr(kernels, "MOST_ITEMS", 60)
    monkeypatch.setattr(kernels, "SMALL_CLUSTERS", 40)
    model = lw.KIN(random_state=0).fit(X, constraints=known)
    assert (model.proba_[named] == 1).all()
    assert model.proba_.min() < 1


def test_what_an_answer_changes():
    """Beside what it does, on average over many answers."""
    X, y = real(load_iris)
    learner, evidence, oracle = lw.KIN(random_state=0), Evidence(len(X)), TruthOracle(y)
    run, expected, found = Run(learner, X, evidence, SEED), [], []
    for _ in range(40):
        before, q = run.labels, run.question
        rows = confidence.expected_changes(run.state.read(), run.state.asked)
        run.answer(oracle(q.first, q.second))
        if rows is not None and len(set(before)) == len(set(run.labels)):
            table = np.zeros((int(before.max()) + 1, int(run.labels.max()) + 1))
            np.add.at(table, (before, run.labels), 1)
            expected.append(rows)
            found.append(len(X) - table.max(axis=1).sum())
    assert len(found) > 20
    assert min(expected) >= 0
    assert max(expected) <= len(X)
    assert np.mean(expected[-10:]) < np.mean(expected[:10])
    assert np.mean(expected) < 3 * np.mean(found) + 5


def test_many_rows_are_represented_by_few(monkeypatch):
    """Small clusters; only rows that may be shown are."""
    monkeypatch.setattr(kernels, "MOST_ITEMS", 50)
    monkeypatch.setattr(kernels, "SMALL_CLUSTERS", 40)
    monkeypatch.setattr(kernels, "SAMPLE", 300)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = np.array([[0, 0], [8, 0], [0, 8]])[y] + rng.normal(size=(600, 2))
    items = kernels.make_items(X, 0)
    assert len(items.first) <= 40
    np.testing.assert_array_equal(items.of[items.first], np.arange(len(items.first)))
    np.testing.assert_array_equal(items.size, np.bincount(items.of))
    askable = rng.random(600) < 0.3
    shown = kernels.choose_shown_rows(X, items, askable)
    able = np.bincount(items.of, askable) > 0
    assert (askable[shown] == able).all()
    np.testing.assert_array_equal(items.of[shown], np.arange(len(shown)))

    asked, oracle = [], TruthOracle(y)

    def remembering(first, second):
        asked.extend((first, second))
        return oracle(first, second)

    model = lw.KIN(random_state=0).fit(X, oracle=remembering, budget=20, askable=askable)
    assert askable[asked].all()
    assert adjusted_rand_score(y, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X[items.first]), model.labels_[items.first])


def test_rows_at_borders_go_by_the_items_around(monkeypatch):
    monkeypatch.setattr(kernels, "MOST_ITEMS", 50)
    monkeypatch.setattr(kernels, "SMALL_CLUSTERS", 40)
    monkeypatch.setattr(kernels, "AROUND", 40)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    items = kernels.make_items(X, 0)
    cells = kernels.find_cells(items)
    join = rng.random((len(items.first), 2))
    labels = (items.centers[:, 0] > 0).astype(int)
    labels[items.centers[:, 1] > 1] = 5  # of no neighbourhood
    far = np.linalg.norm(items.centers[:, None] - items.centers, axis=2)
    wanted = {
        item
        for item, near in enumerate(np.argsort(far, axis=1)[:, :4].tolist())
        if labels[item] < 2 and {0, 1} <= set(labels[near].tolist())
    }
    found = kernels.border_items(cells, labels, join).tolist()
    assert set(found) == wanted
    margin = np.abs(join[found, 0] - join[found, 1])
    assert (np.diff(margin) >= 0).all()
    for item in found:
        rows, near, weight = kernels.weigh_rows(X, items, cells, item)
        np.testing.assert_array_equal(rows, np.flatnonzero(items.of == item))
        apart = np.linalg.norm(X[rows][:, None] - items.centers, axis=2) ** 2
        np.testing.assert_array_equal(near, np.argsort(apart, axis=1)[:, :3])
        share = 1 / np.take_along_axis(apart, near, axis=1)
        np.testing.assert_allclose(weight, share / share.sum(axis=1, keepdims=True), rtol=1e-6)
    monkeypatch.setattr(kernels, "MOST_ROWS", 60)
    fewer = kernels.border_items(cells, labels, join).tolist()
    assert 0 < len(fewer) < len(found)
    assert fewer == found[: len(fewer)]
    assert kernels.find_cells(items._replace(centers=None)) is None


def test_it_describes_its_progress():
    X, y = real(load_iris)
    learner, evidence, oracle = lw.KIN(random_state=0), Evidence(len(X)), TruthOracle(y)
    run, left, likely = Run(learner, X, evidence, SEED), [], []
    n_shown = len(set(run.labels.tolist()))
    assert learner.describe(run.state) == [f"The rows alone suggest about {n_shown} clusters."]
    for _ in range(60):
        run.answer(oracle(run.question.first, run.question.second))
        line, *next_answer = learner.describe(run.state)
        wrong = re.search(r"; (?:about (\d+)|almost none) of \d+ rows may be in a wrong one\.$", line)
        if wrong is None:
            assert line.endswith(". It is too early to tell how many rows are in a wrong one.")
            assert learner.advise(run.state) == StopAdvice(False, None)
            assert len(left) < 10
        left.append(len(X) if wrong is None else int(wrong[1] or 0))
        likely.append(next_answer)
        reached, n_shown = run.state.read().known.n_neighbourhoods, len(set(run.labels.tolist()))
        if n_shown > reached:
            assert line.startswith(f"The answers have reached {reached} of about {n_shown} clusters")
    assert line.startswith("The answers have reached 3 clusters;")
    assert left[0] == len(X)
    assert left[-1] < left[10] < len(X)
    assert likely[1][0].startswith("The next answer will probably change the cluster of")
    assert likely[-1] == ["The next answer will probably change almost nothing."]
    assert learner.advise(run.state).stop is True
    unsure = 1 - learner.confidence(run.state).mean()  # here all clusters are known to differ
    assert unsure <= learner.advise(run.state).wrong <= unsure + 0.01  # a row may be an exception
    assert learner.advise(run.state).wrong < learner.advise(run.state).most_wrong < 0.05


def test_no_end_is_suggested_while_much_may_be_wrong():
    def advise(*forecast):
        return confidence.advise_to_stop(confidence.Forecast(*forecast), 1000)

    assert advise(30, 49, 0, 0.1) == StopAdvice(True, 0.03, 0.049, 0)
    assert advise(30, 51, 0, 0.1) == StopAdvice(False, 0.03, 0.051, 0)
    assert advise(30, 49, 2, 0.1) == StopAdvice(False, 0.03, 0.049, 2)
    assert advise(30, 49, 0, 3.0).stop is False
    assert advise(30, 49, 0, None).stop is False
    assert advise(None, None, 0, 0.1) == StopAdvice(False, None)
    assert advise(None, None, 5, 0.1) == StopAdvice(False, None)


def test_the_chance_of_a_row_is_not_that_of_a_pair():
    """Two rows are together if both are in their place, so half the rows of such a pair are right."""
    place = np.array([0.9, 0.9, 0.8, 1.0, 0.5, 0.5])
    labels, size = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 2, 1, 3, 1])
    mean = np.array([np.average(place[labels == c], weights=size[labels == c]) for c in (0, 1)])
    found = confidence._certainty_by_pairs(place * mean[labels], labels, size)
    np.testing.assert_allclose(found, place)
    alone = confidence._certainty_by_pairs(np.array([1.0, 0.0, 0.0]), np.array([0, 1, 1]), np.ones(3, int))
    assert alone.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 rows"), (1.2, "1 row"), (99, "99 rows"), (104.6, "100 rows"), (20_158, "20000 rows")],
)
def test_large_numbers_are_rounded(number, words):
    assert count_noun(confidence.round_number(number), "row") == words


@pytest.mark.parametrize("made", [1, 3])
def test_prepare_reports_its_progress(made):
    steps = []

    def progress(done, planned):
        steps.append((done, planned))
        if done == made:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.KIN().prepare(real(load_iris)[0], SEED, progress=progress)
    assert steps == [(done, 5) for done in range(1, made + 1)]


@pytest.mark.slow
def test_of_very_many_facts_some_are_learned_from(monkeypatch):
    """All of them hold, and what was asked about always counts."""
    monkeypatch.setattr(model, "MOST_KNOWN", 20)
    X, y = real(load_wine)
    pairs = lw.Constraints.sample(y, 150, 0)
    oracle = TruthOracle(y)
    fitted = lw.KIN(random_state=0).fit(X, oracle=oracle, constraints=pairs, budget=40)
    assert fitted.violations_ == 0
    names = np.arange(60)
    known = model.Known(names, names % 30, np.where(names < 55, np.nan, 0.5))
    kernel = MixedKernel(Kernels(np.eye(60, dtype=np.float32), ()))
    learned = model.fit_model(kernel, known)
    assert len(learned.known.items) == 25
    assert set(range(55, 60)) <= set(learned.known.items.tolist())
    assert learned.neighbourhood_chances(Sharpness(1.5, 0.08)).shape == (30, 30)
    assert len(model.fit_model(kernel, known._replace(coverage=np.full(60, 0.5))).known.items) == 60


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_the_lead_of_the_likeliest_neighbourhood_over_the_second(k):
    join = np.random.default_rng(k).random((7, k))
    ordered = np.sort(np.pad(join, ((0, 0), (2, 0))), axis=1)
    np.testing.assert_array_equal(kernels.margins(join), ordered[:, -1] - ordered[:, -2])


def test_many_rows_that_all_belong_together():
    X = np.random.default_rng(0).normal(size=(2600, 5))
    model = lw.KIN(random_state=0).fit(X, oracle=lambda i, j: True, budget=12)
    assert model.n_questions_ == 12
    assert model.violations_ == 0


@pytest.mark.parametrize("answer", ["yes", "no"])
@pytest.mark.parametrize("asked", [True, False])
def test_answers_to_questions_of_others_count_as_its_own(answer, asked):
    X, y = real(load_iris)
    run = Run(lw.KIN(random_state=0), X, Evidence(len(X)), 0)
    first, known = run.question.first, run.question.second
    row = next(
        i for i in range(len(X)) if i not in (first, known) and (y[i] == y[known]) == (answer == "yes")
    )
    run.tell(row, known, answer, asked=asked)
    assert (run.question.first, run.question.second) == (first, known)
    item, state = run.state.task.items.of, run.state
    coverage = dict(zip(state.read().known.items, state.read().known.coverage, strict=True))
    is_heard = not np.isnan(coverage.get(item[row], np.nan)) or item[row] in state.left
    assert is_heard == asked
    if item[row] in state.left:  # its turn is next
        run.answer("yes" if y[first] == y[known] else "no")
        assert item[row] in {item[run.question.first], item[run.question.second]}


def test_chances_of_one_item_do_not_keep_those_of_all():
    """A view of a large table would keep the whole table in memory, question after question."""
    X, y = load_iris(return_X_y=True)
    run, truth = Run(lw.KIN(random_state=0), X, Evidence(len(X)), 0, budget=20), TruthOracle(y)
    while (question := run.question) is not None:
        run.answer(truth(question.first, question.second))
    posterior = run.state.read()
    assert all(part.base is None for part in item_chances(posterior, 3)[::2])
