"""Oracles whose errors are distributed over pairs, or over the answers in their order."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import linkwise as lw
from laws.asking import few_examples
from linkwise.learn import border_errors
from linkwise.learn.error_models import STREAK
from linkwise.learn.oracles import HARD, TruthOracle

OF_PAIRS = ("border", "classes", "rows")
SEEDS = st.integers(0, 2**32 - 1)
RATES = st.floats(0.01, 1)
X, Y = load_iris(return_X_y=True)


@st.composite
def labelled_rows(draw, n_classes=2):
    """Draw a few rows with many ties, some of unknown class."""
    y = np.array(draw(st.lists(st.integers(-1, 3), min_size=2, max_size=14)))
    assume(len(set(y[y >= 0])) >= n_classes)
    rows = draw(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=len(y), max_size=len(y)))
    return np.array(rows, dtype=float), y


def pairs_by_kind(y):
    """Return all yes pairs and all no pairs of known classes."""
    first, second = np.triu_indices(len(y), 1)
    known = (y[first] >= 0) & (y[second] >= 0)
    pairs, same = np.column_stack([first, second])[known].tolist(), (y[first] == y[second])[known]
    return [[p for p, s in zip(pairs, same, strict=True) if s == kind] for kind in (True, False)]


def draw_balanced(y, number, seed):
    """Draw pairs with replacement, yes pairs and no pairs in turn."""
    rng = np.random.default_rng(seed)
    kinds = [np.array(pairs) for pairs in pairs_by_kind(y)]
    drawn = [pairs[rng.integers(0, len(pairs), number // 2)] for pairs in kinds]
    return np.stack(drawn, axis=1).reshape(-1, 2).tolist()


def find_errors(oracle, pairs):
    return np.array([oracle.is_wrong(i, j, oracle(i, j)) for i, j in pairs])


def answer_all(oracle, y):
    return [oracle(i, j) for i in range(len(y)) for j in range(len(y))]


# ---------------------------------------------------------------- what holds for all kinds
def test_answers_without_hard_pairs_are_those_of_earlier_versions():
    oracle = TruthOracle(np.arange(12) % 3, noise=0.3, unsure=0.2, random_state=7)
    letters = "".join(oracle(i, j)[0] for i in range(12) for j in range(i, 12))
    assert letters == "yynyyyynnynyunnuyyuunnuunuyynnynuunnnyyunyyunnuuunyuunnuuyuyyynuynyuunuynynynn"


@given(labelled_rows(1), st.sampled_from(HARD), SEEDS)
def test_without_noise_every_kind_answers_by_class(data, hard, seed):
    rows, y = data
    oracle = TruthOracle(y, hard=hard, X=rows, random_state=seed)
    assert answer_all(oracle, y) == answer_all(TruthOracle(y), y)


@given(labelled_rows(1), st.sampled_from(HARD), RATES, st.floats(0, 1), SEEDS)
def test_the_same_calls_get_the_same_answers(data, hard, noise, unsure, seed):
    rows, y = data
    options = {"noise": noise, "unsure": unsure, "hard": hard, "X": rows, "random_state": seed}
    answers = answer_all(TruthOracle(y, **options), y)
    assert answers == answer_all(TruthOracle(y, **options), y)
    if hard in OF_PAIRS:  # then neither the order of rows nor that of calls matters
        oracle = TruthOracle(y, **options)
        turned = [oracle(j, i) for i in reversed(range(len(y))) for j in reversed(range(len(y)))]
        assert turned[::-1] == answers


@pytest.mark.parametrize("hard", HARD)
def test_an_unsure_oracle_is_unsure_of_hard_pairs_too(hard):
    pairs = draw_balanced(Y, 2000, 0)
    oracle = TruthOracle(Y, noise=0.2, unsure=0.3, hard=hard, X=X, random_state=0)
    answers = [oracle(i, j) for i, j in pairs]
    assert abs(np.mean([a == "unsure" for a in answers]) - 0.3) < 0.06
    assert not any(oracle.is_wrong(i, j, "unsure") for i, j in pairs)
    given = [oracle.is_wrong(i, j, a) for (i, j), a in zip(pairs, answers, strict=True) if a != "unsure"]
    assert abs(np.mean(given) - 0.2) < 0.07
    assert set(answer_all(TruthOracle(Y[::9], noise=0.2, unsure=1, hard=hard, X=X[::9]), Y[::9])) == {
        "unsure"
    }


@pytest.mark.parametrize("hard", HARD)
def test_rows_of_unknown_class_are_never_judged(hard):
    oracle = TruthOracle([-1, None, np.nan], noise=1, hard=hard, X=np.eye(3), random_state=0)
    assert set(answer_all(oracle, [0, 0, 0])) == {"unsure"}
    assert not oracle.is_wrong(0, 1, "yes")


@pytest.mark.parametrize("hard", OF_PAIRS)
def test_a_single_class_has_errors_at_the_same_rate(hard):
    oracle = TruthOracle(np.zeros(60), noise=0.2, hard=hard, X=X[:60], random_state=0)
    wrong = find_errors(oracle, pairs_by_kind(np.zeros(60))[0])
    assert abs(wrong.mean() - 0.2) < 0.05


# ---------------------------------------------------------------- the share of errors
@settings(deadline=None)
@given(labelled_rows(), st.sampled_from(OF_PAIRS), RATES, SEEDS)
@example((np.zeros((4, 2)), np.array([0, 0, 1, 1])), "border", 0.1, 0)
@example((np.zeros((3, 2)), np.array([0, 1, 2])), "border", 0.1, 0)
@example((np.eye(4), np.array([0, 1, 2, 3])), "rows", 0.9, 0)
@example((np.eye(2), np.array([0, 1])), "classes", 0.5, 0)
def test_the_chances_of_all_pairs_have_the_expected_mean(data, hard, noise, seed):
    rows, y = data
    errors = TruthOracle(y, noise=noise, hard=hard, X=rows, random_state=seed)._errors
    chances = [[errors.chance(i, j) for i, j in pairs] for pairs in pairs_by_kind(y) if pairs]
    assert all(0 <= chance <= 1 + 1e-12 for kind in chances for chance in kind)
    means = [np.mean(kind) for kind in chances]
    assert np.mean(means) == pytest.approx(noise, rel=1e-6)
    if hard == "border":
        assert means == pytest.approx([noise] * len(means), rel=1e-6)


@few_examples
@given(st.sampled_from([*OF_PAIRS, "streaks", None]), st.floats(0.02, 0.9), SEEDS)
def test_the_share_of_errors_among_random_pairs_is_the_noise(hard, noise, seed):
    oracle = TruthOracle(Y, noise=noise, hard=hard, X=X, random_state=seed)
    wrong = find_errors(oracle, draw_balanced(Y, 1500, seed))
    # 6 standard deviations; the pairs come from 11175, and a part of a streak may be cut off
    assert abs(wrong.mean() - noise) < 6 * np.sqrt(0.25 / 1500 + 0.25 / 11175) + 10 / 1500


@pytest.fixture(scope="module")
def many_rows():
    """Classes of many rows, the rows, and the pairs of each kind."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2, -1], [700, 250, 20, 30]))
    return y, rng.normal(size=(1000, 2)) + y[:, None], pairs_by_kind(y)


@pytest.mark.parametrize(
    "noise", [0.3, *(pytest.param(noise, marks=pytest.mark.slow(nightly=True)) for noise in (0.05, 0.8))]
)
def test_many_rows_are_ranked_by_a_sample_of_pairs(noise, many_rows):
    y, rows, both_kinds = many_rows
    rng = np.random.default_rng(1)
    errors = TruthOracle(y, noise=noise, hard="border", X=rows)._errors
    for pairs in both_kinds:
        chances = [errors.chance(*pairs[at]) for at in rng.integers(0, len(pairs), 1500)]
        assert abs(np.mean(chances) - noise) < 0.025


def test_a_sample_of_a_single_class_has_no_other_pairs():
    errors = TruthOracle(np.zeros(800), noise=0.3, hard="border", X=np.arange(800.0)[:, None])._errors
    assert errors.chance(0, 799) > 0.99
    assert errors.chance(0, 1) < 0.01


def test_a_sample_has_pairs_of_each_kind_alike(monkeypatch):
    monkeypatch.setattr(border_errors, "RANKED_PAIRS", 20_000)
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, -1], [250, 130, 20, 10]))
    for same, pairs in border_errors.pairs_of_both_kinds(codes).items():
        assert pairs.shape == (20_000, 2)
        assert (pairs[:, 0] < pairs[:, 1]).all()
        classes = np.sort(codes[pairs], axis=1)
        assert (classes >= 0).all()
        assert ((classes[:, 0] == classes[:, 1]) == same).all()
        all_pairs = np.array(pairs_by_kind(codes)[not same])
        for drawn, expected in ((classes, np.sort(codes[all_pairs], axis=1)), (pairs, all_pairs)):
            assert np.abs(drawn.mean(axis=0) - expected.mean(axis=0)).max() < 0.03 * expected.std()
        assert len(np.unique(pairs, axis=0)) > 0.6 * min(20_000, len(all_pairs))


# ---------------------------------------------------------------- border
def test_errors_at_the_border_are_pairs_that_their_classes_do_not_explain():
    oracle = TruthOracle(Y, noise=0.1, hard="border", X=X, random_state=0)
    yes, no = pairs_by_kind(Y)
    for pairs, is_further in ((yes, True), (no, False)):
        wrong, pairs = find_errors(oracle, pairs), np.array(pairs)
        gaps = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
        assert (gaps[wrong].mean() > gaps[~wrong].mean()) == is_further
        setosa = (Y[pairs] == 0).any(axis=1)  # which is far from the other two
        assert wrong[setosa].sum() < 0.1 * wrong.sum()


@settings(deadline=None)
@given(labelled_rows(), RATES)
def test_the_chances_at_the_border_follow_their_definition(data, noise):
    rows, y = data
    errors = TruthOracle(y, noise=noise, hard="border", X=rows)._errors
    for pairs in pairs_by_kind(y):
        difficulty = [plain_difficulty(rows, y, i, j) for i, j in pairs]
        for (i, j), own in zip(pairs, difficulty, strict=True):
            easier, equal = sum(d < own for d in difficulty), sum(d == own for d in difficulty)
            areas = [noise * (rank / len(pairs)) ** (1 / noise) for rank in (easier, easier + equal)]
            assert errors.chance(i, j) == pytest.approx((areas[1] - areas[0]) * len(pairs) / equal, abs=1e-9)


def plain_difficulty(rows, y, i, j):
    """Return the difficulty of a pair from all distances."""
    gap = np.sqrt(np.square(rows[i] - rows[j]).sum())
    near = {}
    for row in (i, j):
        away = np.sqrt(np.square(rows - rows[row]).sum(axis=1))
        own = (y == y[row]) & (np.arange(len(y)) != row)
        other = away[(y != y[row]) & (y >= 0)].min()
        near[row] = (away[own].min() if own.any() else other), other
    if y[i] == y[j]:
        others = near[i][1] + near[j][1]
        return 0 if gap == 0 else np.inf if others == 0 else 2 * gap / others
    return np.inf if gap == 0 else (near[i][0] + near[j][0]) / (2 * gap)


def test_identical_rows_are_hard_to_tell_apart_and_easy_to_join():
    rows = np.array([[0.0], [0.0], [0.0], [5.0], [5.0], [8.0]])
    errors = TruthOracle([0, 0, 1, 0, 1, 1], noise=0.2, hard="border", X=rows)._errors
    assert errors.chance(0, 2) == max(errors.chance(i, j) for i, j in [(0, 2), (0, 4), (2, 3), (3, 5)])
    assert errors.chance(0, 1) < errors.chance(0, 3)
    assert errors.chance(0, 0) == 0


def test_the_oracle_copies_its_rows():
    rows = X.copy()
    oracle = TruthOracle(Y, noise=0.3, hard="border", X=rows, random_state=0)
    before = answer_all(oracle, Y[::5])
    rows[:] = 0
    assert answer_all(oracle, Y[::5]) == before


# ---------------------------------------------------------------- classes
@pytest.mark.parametrize(
    ("options", "confused"),
    [({"X": X}, {1, 2}), ({"confused": ("c", "a")}, {0, 2}), ({"confused": ["b", "c"]}, {1, 2})],
)
def test_errors_are_a_yes_about_two_classes(options, confused):
    oracle = TruthOracle(np.array(["a", "b", "c"])[Y], noise=0.1, hard="classes", random_state=0, **options)
    yes, no = pairs_by_kind(Y)
    assert not find_errors(oracle, yes).any()
    wrong = find_errors(oracle, no)
    between = np.array([{*Y[pair]} == confused for pair in no])
    assert not wrong[~between].any()
    assert abs(wrong[between].mean() - 0.6) < 0.06  # 5 standard deviations of 2500 draws


def test_errors_that_two_classes_cannot_hold_are_spread_evenly():
    y = np.repeat(np.arange(10), 6)
    oracle = TruthOracle(y, noise=0.2, hard="classes", confused=(3, 7), random_state=0)
    yes, no = pairs_by_kind(y)
    between = np.array([{*y[pair]} == {3, 7} for pair in no])
    wrong = find_errors(oracle, no)
    assert wrong[between].all()
    assert abs(wrong[~between].mean() - 0.19) < 0.05
    assert abs(find_errors(oracle, yes).mean() - 0.19) < 0.16


# ---------------------------------------------------------------- rows
@pytest.mark.parametrize("seed", range(5))
def test_a_few_rows_are_seen_as_rows_of_another_class(seed):
    y = np.arange(60) % 3
    oracle = TruthOracle(y, noise=0.1, hard="rows", random_state=seed)
    said = np.array(answer_all(oracle, y)).reshape(60, 60) == "yes"
    # one row is misjudged in a part of its answers; without it the answers agree with each other
    rest = [np.delete(np.arange(60), row) for row in range(60)]
    rest = next(rows for rows in rest if forms_classes(said[np.ix_(rows, rows)]))
    seen_as = np.argmax(said[np.ix_(rest, rest)], axis=1)  # the first row of the class in which a row is seen
    n_misjudged = sum((seen_as[y[rest] == c] != mode(seen_as[y[rest] == c])).sum() for c in range(3))
    assert 2 <= n_misjudged <= 8


def test_misjudged_rows_of_a_class_are_seen_in_all_other_classes():
    y = np.arange(60) % 3
    errors = TruthOracle(y, noise=0.3, hard="rows", random_state=0)._errors
    assert {(a, b) for a, b in zip(y, errors._seen, strict=True) if a != b} == {
        (a, b) for a in range(3) for b in range(3) if a != b
    }


def mode(values):
    return np.bincount(values).argmax()


def forms_classes(said):
    """Whether yes is transitive."""
    return bool((said == ((said.astype(int) @ said) > 0)).all())


# ---------------------------------------------------------------- streaks
@few_examples
@given(SEEDS, st.sampled_from([0.05, 0.1, 0.125, 0.25, 0.4]))
def test_errors_come_in_streaks_that_return(seed, noise):
    y, interval = np.arange(6) % 2, STREAK * 0.5 / noise
    oracle = TruthOracle(y, noise=noise, hard="streaks", random_state=seed)
    pairs = np.random.default_rng(seed).integers(0, 6, (2000, 2)).tolist()
    at = np.flatnonzero(find_errors(oracle, pairs))
    phases = np.sort(at % interval)
    gaps = np.diff([*phases, phases[0] + interval])
    assert gaps.max() >= interval - STREAK  # of a streak, each interval has the same part


def test_a_streak_changes_the_answer_to_the_same_question():
    oracles = [TruthOracle([0, 0], noise=0.1, hard="streaks", random_state=seed) for seed in range(20)]
    answers = {"".join(oracle(0, 1)[0] for _ in range(50)) for oracle in oracles}
    assert "y" * 50 in answers
    assert any(given.count("n") == STREAK for given in answers)


def test_each_answer_has_the_same_chance_to_be_in_a_streak():
    chances = np.zeros((2000, 12))
    for seed, row in enumerate(chances):
        errors = TruthOracle([0, 1], noise=0.1, hard="streaks", random_state=seed)._errors
        row[:] = [errors.chance(0, 1) for _ in row]
    assert np.abs(chances.mean(axis=0) - 0.1).max() < 0.025  # 5 standard deviations


def test_noise_above_a_half_raises_the_chance_in_a_streak():
    oracle = TruthOracle([0, 1], noise=1, hard="streaks", random_state=0)
    assert [oracle(0, 1) for _ in range(30)] == ["yes"] * 30


# ---------------------------------------------------------------- adversary
@given(st.lists(st.integers(-1, 3), min_size=2, max_size=14), st.integers(1, 3), RATES, SEEDS)
def test_an_adversary_keeps_to_its_share_at_any_time(y, n_equal, noise, seed):
    for classes, are_large in ((y, False), ([*range(n_equal)] * 4, True)):
        oracle = TruthOracle(classes, noise=noise, hard="adversary", random_state=0)
        n_answers = n_errors = 0
        for i, j in np.random.default_rng(seed).integers(0, len(classes), (100, 2)).tolist():
            answer = oracle(i, j)
            n_answers += answer != "unsure"
            n_errors += oracle.is_wrong(i, j, answer)
            assert n_errors <= np.ceil(noise * n_answers)
            assert n_errors >= noise * n_answers - 1 - 1e-9 or not are_large


def test_an_adversary_errs_early_and_only_about_large_classes():
    oracle = TruthOracle([0] * 50 + [1] * 50 + [2], noise=0.125, hard="adversary")
    wrong = [oracle.is_wrong(0, 50, oracle(0, 50)) for _ in range(24)]
    assert np.flatnonzero(wrong).tolist() == [0, 8, 16]
    assert {oracle(0, 100) for _ in range(40)} == {"no"}
    assert [oracle(0, 50) for _ in range(7)] == ["yes"] * 6 + ["no"]


def test_an_adversary_reserves_an_error_for_a_false_yes():
    oracle = TruthOracle([0, 0, 1, 1], noise=0.25, hard="adversary")
    assert [oracle(0, 1) for _ in range(6)] == ["yes"] * 4 + ["no", "yes"]
    assert oracle(0, 2) == "yes"


# ---------------------------------------------------------------- what is wrong, and errors
def test_an_answer_is_wrong_if_it_contradicts_the_classes():
    oracle = TruthOracle(["a", "a", "b", None])
    assert [oracle.is_wrong(0, 1, a) for a in ("yes", "no", "unsure", True, False)] == [
        False,
        True,
        False,
        False,
        True,
    ]
    assert [oracle.is_wrong(2, 0, a) for a in ("yes", "no", "unsure")] == [True, False, False]
    assert not oracle.is_wrong(0, 3, "yes")
    with pytest.raises(TypeError, match="The answer about rows 0 and 1 is unknown: 'perhaps'"):
        oracle.is_wrong(0, 1, "perhaps")
    with pytest.raises(IndexError, match="There is no row 4"):
        oracle.is_wrong(4, 1, "yes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hard": "bord"}, r"hard is unknown: 'bord'\. Pass one of 'border', 'classes', .*, or None"),
        ({"hard": "border"}, r"hard is 'border', but X is missing\. Pass the rows as X"),
        (
            {"hard": "classes"},
            r"hard is 'classes', but X is missing\. Pass the rows as X, or two classes as confused",
        ),
        ({"confused": (0, 1)}, r"confused is given, but hard is None\. Pass hard='classes'"),
        ({"hard": "rows", "confused": (0, 1)}, r"confused is given, but hard is 'rows'"),
        ({"hard": "classes", "confused": 0}, r"confused is not two classes: 0\. Pass two labels of y"),
        ({"hard": "classes", "confused": (1, 1)}, r"confused is not two classes: \(1, 1\)"),
        ({"hard": "classes", "confused": (0, 7)}, r"confused names 7, but y has no such class"),
        ({"hard": "classes", "confused": (0, -1)}, r"confused names -1, but y has no such class"),
        (
            {"hard": "border", "X": np.eye(2)},
            r"X has 2 rows, but y has 3 labels\. Pass one row for each label",
        ),
        ({"hard": "classes", "X": [[0], [np.nan], [1]]}, "X"),
    ],
)
def test_what_an_oracle_needs_for_its_errors(options, message):
    with pytest.raises(ValueError, match=message):
        TruthOracle([0, 1, -1], **options)


def test_rows_must_be_dense():
    with pytest.raises(
        TypeError, match=r"X is sparse, but TruthOracle needs dense data\. Pass X.toarray\(\)"
    ):
        lw.TruthOracle(Y, hard="border", X=csr_array(X))
