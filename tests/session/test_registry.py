"""What a session file may name: the learners, the clusterers, and the values of their parameters."""

import pytest

import linkwise as lw
from linkwise.errors import SessionError
from linkwise.session.journal.registry import (
    build_learner,
    check_kind,
    check_kinds,
    drop_machine_parameters,
    is_described,
)


def text(name, **parameters):
    return {"name": name, "parameters": parameters}


# ---------------------------------------------------------------- the form of a description
def test_a_description_is_a_name_with_parameters():
    assert is_described({"name": "KIN", "parameters": {}})
    assert is_described({"parameters": {"a": 1}, "name": "whatever"})


@pytest.mark.parametrize(
    "value",
    [
        None,
        "KIN",
        ["name", "parameters"],
        {},
        {"name": "KIN"},
        {"name": "KIN", "parameters": {}, "more": 1},
        {"name": 7, "parameters": {}},
        {"name": "KIN", "parameters": []},
    ],
)
def test_anything_else_is_no_description(value):
    assert is_described(value) is False


def test_parameters_of_the_machine_are_left_out():
    given = {"backend": "x", "preset": "quick", "cache": "/tmp", "random_state": 0}
    assert drop_machine_parameters(given) == {"preset": "quick", "random_state": 0}


# ---------------------------------------------------------------- learners
def test_a_learner_is_built_with_its_parameters():
    learner = build_learner(text("COBRAS", n_init=3, random_state=5, impure_first=False))
    assert type(learner) is lw.COBRAS
    assert (learner.n_init, learner.random_state, learner.impure_first) == (3, 5, False)


def test_what_a_file_says_of_the_machine_is_ignored():
    learner = build_learner(text("ActiveCOBS", cache="/somewhere", backend="processes", random_state=1))
    assert (learner.cache, learner.random_state) == (lw.ActiveCOBS().cache, 1)


def test_a_clusterer_inside_a_learner_is_built():
    learner = build_learner(text("MinMax", n_clusters=3, estimator=text("ClusILC", nominal=[0, 2])), 3)
    assert type(learner.estimator) is lw.ClusILC
    assert learner.estimator.nominal == [0, 2]


def test_a_clusterer_may_be_named():
    assert build_learner(text("MinMax", n_clusters=3, estimator="PCKMeans")).estimator == "PCKMeans"


def message_of(described, n_columns=None):
    with pytest.raises(SessionError) as refused:
        build_learner(described, n_columns)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    return str(refused.value)


def test_an_unknown_learner_must_be_passed():
    assert message_of(text("my\nown.Learner")) == (
        "The learner of the session is not part of linkwise: my·own.Learner. "
        "Pass it to Session.open(path, X, learner)."
    )


def test_a_clusterer_is_no_learner():
    assert "learner of the session is not part of linkwise: PCKMeans" in message_of(text("PCKMeans"))


def test_at_most_300_characters_of_an_unknown_name_are_shown():
    shown = message_of(text("a" * 300 + "b" * 100))
    assert "linkwise: " + "a" * 300 + ". Pass" in shown


def unfit(described, n_columns=None):
    """The reason that the error gives after the colon."""
    before, _, rest = message_of(described, n_columns).partition(": ")
    assert before == f"The stored parameters of {described['name']} do not fit this version of linkwise"
    reason, _, after = rest.rpartition(". ")
    assert after == "Pass the learner to Session.open(path, X, learner)."
    return reason


@pytest.mark.parametrize(
    ("described", "n_columns", "reason"),
    [
        (text("COBRAS", zeal=1, magic=3, n_init=2), None, "COBRAS has no parameter 'magic'"),
        (
            text("COBRAS", **{"m" * 150: 3}),
            None,
            f"COBRAS has no parameter '{'m' * 100}'",
        ),
        (
            text("MinMax", estimator=text("PCKMeans", magic=3)),
            None,
            "PCKMeans has no parameter 'magic'",
        ),
        (
            text("MinMax", estimator=text("KMeans")),
            None,
            "estimator names 'KMeans', which is not a clusterer of linkwise",
        ),
        (
            text("MinMax", estimator=text("K" * 101)),
            None,
            f"estimator names '{'K' * 100}', which is not a clusterer of linkwise",
        ),
        (text("MinMax", estimator="kmeans"), None, "estimator='kmeans' is not a clusterer of linkwise"),
        (
            text("MinMax", estimator=text("ClusILC", nominal=[0, 3])),
            3,
            "nominal names column 3, and the columns are 0 to 2",
        ),
        (
            text("MinMax", estimator=text("CKM", kernel="precomputed")),
            2,
            "kernel='precomputed' needs similarities, and a session has rows",
        ),
        (
            text("COBRAS", n_init=1001),
            None,
            "n_init is 1001, and in a file it must be 0 to 1000",
        ),
        (text("COBRAS", n_init=-1), None, "n_init is -1, and in a file it must be 0 to 1000"),
        (
            text("COBRAS", random_state=2**32),
            None,
            "random_state is 4294967296, and in a file it must be 0 to 4294967295",
        ),
        (text("COBRAS", n_init=[1]), None, "n_init=[1] is not a kind of value that n_init takes"),
        (
            text("ActiveCOBS", preset="slow"),
            2,
            "preset is unknown: 'slow'. Pass one of 'paper', 'quick', or a Preset",
        ),
    ],
)
def test_a_value_that_no_file_may_give_is_named(described, n_columns, reason):
    assert unfit(described, n_columns) == reason


@pytest.mark.parametrize("parameters", [{"n_init": 0}, {"n_init": "often"}, {"descend": "upwards"}])
def test_a_value_that_the_learner_itself_refuses_is_refused(parameters):
    (name,) = parameters
    assert f"The {name!r} parameter of COBRAS must be" in unfit(text("COBRAS", **parameters))


def test_columns_are_not_counted_where_the_data_are_not_known():
    learner = build_learner(text("MinMax", estimator=text("ClusILC", nominal=[0, 300])))
    assert learner.estimator.nominal == [0, 300]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("COBRAS", {"n_init": 1000}),
        ("COBRAS", {"n_init": 1, "max_split": 2**31 - 1, "random_state": 2**32 - 1}),
        ("COBRAS", {"random_state": 0, "impure_first": True}),
        ("ActiveFeatureWeights", {"max_evals": 10_000}),
        ("ActiveCOBS", {"preset": "quick", "n_candidates": 1_000_000, "max_rows": 32_767}),
    ],
)
def test_the_largest_and_the_least_values_are_taken(name, parameters):
    built = build_learner(text(name, **parameters)).get_params()
    assert {key: built[key] for key in parameters} == parameters


# ---------------------------------------------------------------- kinds of values
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nominal", []),
        ("nominal", [0, 7]),
        ("n_clusters", 3),
        ("n_clusters", None),
        ("n_init", "a" * 100),
        ("n_init", 7),
        ("n_init", True),
        ("n_init", None),
        ("tol", 0.5),
        ("tol", -1e300),
    ],
)
def test_numbers_names_and_columns_are_of_the_right_kind(name, value):
    check_kind(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nominal", None),
        ("nominal", "0"),
        ("nominal", [0, -1]),
        ("nominal", [0, 1.0]),
        ("nominal", [True]),
        ("n_clusters", True),
        ("n_clusters", 3.0),
        ("n_clusters", "3"),
        ("tol", float("inf")),
        ("tol", float("nan")),
        ("tol", [1]),
        ("tol", {"a": 1}),
    ],
)
def test_values_of_another_kind_are_refused(name, value):
    with pytest.raises(ValueError, match="kind") as refused:
        check_kind(name, value)
    assert str(refused.value) == f"{name}={value!r} is not a kind of value that {name} takes"


def test_a_long_text_is_refused_and_its_beginning_shown():
    with pytest.raises(ValueError, match="kind") as refused:
        check_kind("n_init", "a" * 101)
    assert str(refused.value) == f"n_init='{'a' * 99} is not a kind of value that n_init takes"


@pytest.mark.parametrize(
    "described",
    [
        text("COBRAS", n_init=2, cache=["any"], backend={}),
        text("COBRAS", init=[[0.5], [1.0]]),
        text("MinMax", estimator=text("PCKMeans", init=[[0.5]], cache=["any"])),
        text("my.Learner", n_init=[1]),
    ],
)
def test_kinds_that_a_file_can_hold(described):
    check_kinds(described)


@pytest.mark.parametrize(
    "described",
    [
        text("COBRAS", cache=["any"], n_init=[1]),
        text("PCKMeans", init=[[0.5]], n_init=[1]),
        text("MinMax", estimator=text("PCKMeans", n_init=[1])),
    ],
)
def test_kinds_that_a_file_cannot_hold(described):
    with pytest.raises(ValueError, match=r"n_init=\[1\] is not a kind of value that n_init takes"):
        check_kinds(described)


def test_only_a_clusterer_may_stand_in_a_parameter():
    for described in (text("COBRAS", n_init=text("KIN")), text("MinMax", estimator={"name": "PCKMeans"})):
        with pytest.raises(ValueError, match=r"=\{'name': .* is not a kind of value"):
            check_kinds(described)
