"""A learner and its data as a session file describes them."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ConstraintError, SessionError
from linkwise.session.journal import description as module
from linkwise.session.journal.description import (
    check_ids,
    data_difference,
    describe_learner,
    fingerprint,
    fingerprint_difference,
    seed_of_learner,
    to_json_value,
)
from linkwise.session.journal.deserialize import MOST_JSON, MOST_PARTS
from linkwise.text_files import is_unicode


# ---------------------------------------------------------------- learners
@pytest.mark.parametrize("wrong", [lw.COBRAS, lw.PCKMeans(), object(), 5, None])
def test_only_a_learner_can_be_described(wrong):
    with pytest.raises(TypeError, match=r"is not a learner\. Pass one, for example COBRAS"):
        describe_learner(wrong)


class Halfway:
    """Asks, but prepares nothing: no learner."""

    def ask(self, state):
        yield


def test_half_a_learner_is_none():
    with pytest.raises(TypeError, match="is not a learner"):
        describe_learner(Halfway())


class Sorter:
    """A learner of somebody else."""

    def prepare(self, X, seed, progress):
        return None

    def ask(self, state):
        yield


def test_a_learner_has_a_name():
    assert describe_learner(lw.COBRAS())["name"] == "COBRAS"
    assert describe_learner(Sorter()) == {"name": f"{Sorter.__module__}.Sorter", "parameters": {}}


def test_the_parameters_of_a_part_are_kept_with_the_part():
    assert set(describe_learner(lw.MinMax(3, estimator=lw.PCKMeans()))["parameters"]) == set(
        lw.MinMax(3).get_params(False)
    )


def test_a_generator_of_random_numbers_is_not_kept():
    assert (
        describe_learner(lw.COBRAS(random_state=np.random.RandomState(3)))["parameters"]["random_state"]
        is None
    )
    for seed in (7, np.int64(7)):
        assert describe_learner(lw.COBRAS(random_state=seed))["parameters"]["random_state"] == 7
    assert describe_learner(lw.KIN())["parameters"] == {"random_state": None}


def test_a_clusterer_of_somebody_else_cannot_be_kept():
    from sklearn.cluster import KMeans

    with pytest.raises(SessionError, match=r"estimator=.*KMeans.* not part of linkwise.*Pass a clusterer"):
        describe_learner(lw.MinMax(3, estimator=KMeans(3)))
    kept = describe_learner(lw.MinMax(3, estimator=lw.PCKMeans(w=2.0)))["parameters"]["estimator"]
    assert (kept["name"], kept["parameters"]["w"]) == ("PCKMeans", 2.0)


@pytest.mark.parametrize(
    ("state", "stored", "wanted"), [(5, None, 5), (5, 8, 5), (np.int64(5), 8, 5), (None, 8, 8)]
)
def test_a_seed_is_the_learners_own_or_the_stored_one(state, stored, wanted):
    assert seed_of_learner(lw.COBRAS(random_state=state), stored) == wanted


def test_a_generator_draws_no_second_seed():
    assert seed_of_learner(lw.COBRAS(random_state=np.random.RandomState(1)), 8) == 8


# ---------------------------------------------------------------- JSON
def test_numbers_of_numpy_become_plain():
    kept = to_json_value({"n": np.int64(3), "x": np.float32(0.5), "b": np.bool_(True)}, "source")
    assert kept == {"n": 3, "x": 0.5, "b": True}
    assert [type(kept[name]) for name in "nxb"] == [int, float, bool]


@pytest.mark.parametrize("wrong", [{"x": object()}, {"x": np.zeros(2)}, {"x": float("nan")}, {"x": {1, 2}}])
def test_what_json_cannot_hold_is_refused(wrong):
    with pytest.raises(SessionError, match=r"cannot store source as JSON .*Pass numbers, text and lists"):
        to_json_value(wrong, "source")


@pytest.mark.parametrize("parts", [[], {}, [[]]], ids=["lists", "objects", "lists of a list"])
def test_json_has_a_largest_number_of_parts(parts):
    each = 1 + (parts == [[]])
    most = (MOST_PARTS - 1) // each  # one is the list around them
    assert len(to_json_value([parts] * most, "source")) == most
    with pytest.raises(SessionError, match=r"cannot store source: .*Store less"):
        to_json_value([parts] * (most + 1), "source")


def test_json_has_a_largest_length():
    longest = "x" * (MOST_JSON - 2)  # and two quotes
    assert to_json_value(longest, "source") == longest
    with pytest.raises(SessionError, match=f"has {MOST_JSON + 1} characters"):
        to_json_value(longest + "x", "source")


@pytest.mark.parametrize("half", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_half_characters_are_no_unicode(half):
    assert not is_unicode(f"a{chr(half)}")


@pytest.mark.parametrize("whole", ["", "a", "\ud7ff", "\ue000", "ä😀"])
def test_whole_characters_are_unicode(whole):
    assert is_unicode(whole)


# ---------------------------------------------------------------- ids
@pytest.mark.parametrize("wrong", [5, "abc", {"a", "b", "c"}])
def test_ids_are_a_sequence(wrong):
    with pytest.raises(TypeError, match=r"ids is not a sequence: .*. Pass the id of every row."):
        check_ids(wrong, 3)


def test_ids_become_text():
    assert check_ids(None, 3) is None
    assert check_ids([7, "b", 1.5], 3) == ["7", "b", "1.5"]
    assert check_ids(np.array([7, 8]), 2) == ["7", "8"]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["a", None, "c"], "Row 1 has no id: None. Pass one id for each row."),
        (["a", "b", float("nan")], "Row 2 has no id: nan. Pass one id for each row."),
        (["a", "b"], "There are 2 ids for 3 rows. Pass one id for each row."),
        (["a", "b", "a"], "Rows 0 and 2 have the same id: 'a'. Use a different id for each row."),
        (
            ["a", "\ud800", "c"],
            "The id of row 1 is not valid Unicode: .* holds half a character. Use another id",
        ),
    ],
)
def test_every_row_has_an_id_of_its_own(ids, words):
    with pytest.raises(ConstraintError, match=words):
        check_ids(ids, 3)


# ---------------------------------------------------------------- data
X = np.random.default_rng(0).normal(size=(50, 3))


def test_a_fingerprint_does_not_depend_on_the_blocks(monkeypatch):
    whole = fingerprint(X)
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    assert fingerprint_difference(whole, fingerprint(X)) is None
    assert whole["shape"] == [50, 3]
    assert whole["width"] == "float64"
    assert fingerprint(X.astype(np.float32))["width"] == "float32"


def test_a_fingerprint_is_the_same_in_every_version():
    """Files of today are compared with data of tomorrow."""
    stored = fingerprint(np.array([[1.0, -2.0], [0.5, 4.0], [8.0, 0.25]]))
    assert stored["scale"] == [9.5, 6.25]
    waves = [[-7.58771109, -2.99269008], [-6.5426232, -3.2369477]]
    np.testing.assert_allclose(stored["sketch"], waves, rtol=1e-6)


def test_data_beyond_float32_are_other_data():
    huge = changed(9, 1, 1e300)
    huge[10, 1] = -1e300
    assert data_difference(fingerprint(X.astype(np.float32)), huge).endswith("(column 1)")


def test_shapes_that_differ_are_reported():
    assert (
        fingerprint_difference(fingerprint(X), fingerprint(X[:-1]))
        == "50 rows, 3 columns, not 49 rows, 3 columns"
    )
    assert (
        fingerprint_difference(fingerprint(X), fingerprint(X[:, :2]))
        == "50 rows, 3 columns, not 50 rows, 2 columns"
    )


def changed(row, column, by):
    other = X.copy()
    other[row, column] += by
    return other


@pytest.mark.parametrize("by", [1e-6, -0.5])
def test_one_value_that_changed_is_noticed_and_its_column_named(by):
    for column in range(3):
        words = data_difference(fingerprint(X), changed(9, column, by))
        assert words.endswith(f"another order of rows (column {column})")
    both = changed(9, 1, by)
    both[:, 2] += by
    assert data_difference(fingerprint(X), both).endswith("(column 1 and 1 more)")


@pytest.mark.parametrize("order", [np.arange(50)[::-1], np.roll(np.arange(50), 1), [1, 0, *range(2, 50)]])
def test_rows_in_another_order_are_noticed(order):
    assert "another order of rows" in data_difference(fingerprint(X), X[order])


def test_rows_whose_sum_stays_are_noticed():
    """Two waves, of which one alone would not tell."""
    for wave in (np.cos(np.arange(1.0, 51)), np.sin(np.arange(1.0, 51) * 1.7)):
        other = X.copy()
        other[3, 0] += 1 / wave[3]
        other[8, 0] -= 1 / wave[8]  # this wave's sum of column 0 is what it was
        assert data_difference(fingerprint(X), other) is not None


def test_last_bits_are_not_noticed():
    assert data_difference(fingerprint(X), X * (1 + 1e-15)) is None
    assert data_difference(fingerprint(X), X) is None
    assert data_difference(fingerprint(np.zeros((5, 2))), np.zeros((5, 2))) is None


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-41])
def test_the_width_of_floats_does_not_matter(scale):
    wide, narrow = X * scale, (X * scale).astype(np.float32)
    assert data_difference(fingerprint(wide), narrow) is None
    assert data_difference(fingerprint(narrow), wide) is None
    assert data_difference(fingerprint(narrow), narrow) is None
    older = {name: part for name, part in fingerprint(wide).items() if name != "width"}
    assert data_difference(older, wide) is None
    assert data_difference(older, narrow) is None


def test_narrow_data_that_changed_are_noticed():
    assert data_difference(fingerprint(X.astype(np.float32)), changed(9, 1, 1e-4)) is not None
    assert data_difference(fingerprint(X), changed(9, 1, 0.01).astype(np.float32)) is not None


def test_narrow_data_are_compared_as_closely_as_they_are_known():
    """A change that is lost among all that rounding may change, but not in the rounded values."""
    many = np.random.default_rng(1).normal(size=(5000, 2))
    other = many.copy()
    other[7, 0] += 1e-6
    stored = fingerprint(many.astype(np.float32))
    assert fingerprint_difference(stored, fingerprint(other)) is None
    assert data_difference(stored, other) is not None


def test_one_wave_that_differs_is_enough():
    stored = {"shape": [9, 2], "sketch": [[1.0, 2.0], [3.0, 4.0]], "scale": [5.0, 6.0]}
    other = stored | {"sketch": [[1.0, 2.0], [3.0, 4.5]]}
    assert fingerprint_difference(stored, other).endswith("(column 1)")


def test_a_width_that_is_not_stored_is_the_wider_one():
    older = {name: part for name, part in fingerprint(X).items() if name != "width"}
    assert data_difference(older, changed(9, 1, 1e-7)) is not None
    assert fingerprint_difference(fingerprint(changed(9, 1, 1e-7)), older) is not None
