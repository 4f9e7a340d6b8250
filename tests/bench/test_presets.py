"""The studies of presets: every setting runs, and the table says what it should."""

import re

import numpy as np
import pytest
from bench.papers import preset_scores, preset_tables, presets
from bench.suites.cell_store import read_rows
from sklearn.datasets import load_iris

import linkwise as lw

pytestmark = pytest.mark.slow

DIFFERENCES = preset_tables.read_differences()
CLASSES = {
    "ckm": "CKM",
    "bckm": "BCKM",
    "rckm": "RCKM",
    "mpckmeans": "MPCKMeans",
    "copkmeans": "COPKMeans",
    "feature_weights": "FeatureWeightClustering",
    "active_feature_weights": "ActiveFeatureWeights",
    "clusilc": "ClusILC",
    "boost_cluster": "BoostCluster",
    "itml": "ITML",
    "cosc": "COSC",
    "cobras": "COBRAS",
    "cobra": "COBRA",
    "cobs": "COBS",
    "active_cobs": "ActiveCOBS",
    "npu": "NPU",
}

UNSET = ("kernel_boost", "spcl")  # without a preset
CHEAP = [
    (method, setting)
    for method in (
        "ckm",
        "mpckmeans",
        "copkmeans",
        "clusilc",
        "cobra",
        "boost_cluster",
        "itml",
        "spcl",
        "cosc",
        "npu",
    )
    for setting in presets.STUDIES[method].settings
]


@pytest.fixture
def folder(tmp_path):
    X, y = load_iris(return_X_y=True)
    rows = [",".join(map(str, [*row, kind])) for row, kind in zip(X, y, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,class", *rows]) + "\n")
    preset_scores.load.cache_clear()
    yield tmp_path
    preset_scores.load.cache_clear()


@pytest.mark.parametrize(("method", "setting"), CHEAP)
def test_every_setting_has_a_score(folder, method, setting):
    task = next(task for task in presets.STUDIES[method].tasks if task.startswith("iris"))
    score = float(presets.measure((method, setting, task, "0"), folder)["score"])
    assert np.isnan(score) or 0.2 < score <= 1


def test_the_first_setting_is_the_default_and_the_presets_are_there():
    for method, study in presets.STUDIES.items():
        assert next(iter(study.settings)) == "default"
        assert ({"paper()", "authors()"} & set(study.settings) == set()) == (method in UNSET)
        assert set(study.uses) <= set(dir(lw))


@pytest.mark.parametrize("method", presets.STUDIES)
def test_every_setting_is_a_line_of_its_table(method):
    of_method = [each for each in DIFFERENCES if method in each.methods]
    named = [each.setting for each in of_method if each.setting]
    assert len(set(named)) == len(named)
    assert {"default", *named} == set(presets.STUDIES[method].settings) - set(preset_tables.PRESETS)
    assert all(bool(each.setting) is not bool(each.unmeasured) for each in of_method)
    assert {name for each in DIFFERENCES for name in each.methods} == set(presets.STUDIES)


@pytest.mark.parametrize(("method", "name"), CLASSES.items())
def test_every_parameter_of_a_preset_is_a_line_of_its_table(method, name):
    estimator = getattr(lw, name)
    default = estimator().get_params(deep=False)
    named = {
        parameter
        for each in DIFFERENCES
        if method in each.methods
        for parameter in re.findall(r"(\w+)=", each.setting)
    }
    for preset in ("paper", "authors"):
        if hasattr(estimator, preset):
            changed = getattr(estimator, preset)().get_params(deep=False)
            changed = {key for key, value in changed.items() if not same(value, default[key])}
            assert changed
            assert changed <= named


def same(one, other):
    return type(one) is type(other) and (one is other or repr(one) == repr(other))


def test_a_table_has_means_effects_and_failures():
    study = presets.STUDIES["clusilc"]
    found = [
        {"setting": setting, "task": task, "score": f"0.{at + 3}"}
        for at, setting in enumerate(study.settings)
        for task in study.tasks
    ]
    found[len(study.tasks)]["score"] = "nan"
    head, lines = presets.build_table("clusilc", found)
    assert head[-3:] == ("mean", "effect", "failed")
    assert lines[0][-3:] == ("0.300", "+0.000", "0%")
    assert lines[1][-3:] == ("0.400", "+0.100", "17%")
    assert head[1] == "iris 20"


def test_settings_without_scores_keep_their_lines():
    study = presets.STUDIES["clusilc"]
    earlier = [
        {"setting": setting, **dict.fromkeys(study.tasks, "0.40"), "mean": "0.400", "effect": "+0.000"}
        for setting in study.settings
    ]
    found = [{"setting": "paper()", "task": task, "score": "0.7"} for task in study.tasks]
    _, lines = presets.build_table("clusilc", found, earlier)
    assert [line[-2:] for line in lines if line[0] != "paper()"] == [("0.400", "+0.000")] * (len(lines) - 1)
    assert next(line[-2:] for line in lines if line[0] == "paper()") == ("0.700", "+0.300")


def test_the_table_of_differences_is_written_from_the_means(tmp_path):
    folder = tmp_path / "presets"
    folder.mkdir()
    (folder / "clusilc.csv").write_text(
        "setting,mean,effect\ndefault,0.5,+0.000\nstandardize=False,0.4,-0.100\n"
        '"label_rule=""any""",0.3,-0.200\ncount_repeats=True,0.4,-0.100\n"bound=""largest""",0.5,+0.000\n'
        "paper(),0.2,-0.300\nauthors(),0.3,-0.200\n"
    )
    assert presets.main(["--words", "--only", "clusilc", "--out", str(tmp_path)]) == 0
    lines = read_rows(folder / "clusilc_differences.csv")
    measured = [(line["parameter"], line["effect"]) for line in lines if line["parameter"] != "none"]
    assert measured == [
        ("``standardize=False``", "-0.100"),
        ('``label_rule="any"``', "-0.200"),
        ("``count_repeats=True``", "-0.100"),
        ('``bound="largest"``', "+0.000"),
        ("``paper()``", "-0.300"),
        ("``authors()``", "-0.200"),
    ]


def test_a_difference_without_a_setting_gives_the_reason():
    lines = preset_tables.list_lines(
        "x",
        [{"setting": "paper()", "effect": "+0.1"}],
        [preset_tables.Difference(["x"], "a", "b", unmeasured="no parameter")],
    )
    assert lines[0] == ("a", "b", "none", "not measured (no parameter)")
    assert lines[1][-1] == "+0.1"


@pytest.mark.parametrize("method", presets.STUDIES)
def test_the_committed_tables_have_the_words_of_today(method):
    folder = preset_tables.DIFFERENCES.parents[1] / "results" / "presets"
    shown = [tuple(line.values()) for line in read_rows(folder / f"{method}_differences.csv")]
    assert shown == preset_tables.list_lines(method, read_rows(folder / f"{method}.csv"), DIFFERENCES)
