"""The studies of presets: every setting runs, and the table says what it should."""

import numpy as np
import pytest
from bench.papers import presets
from sklearn.datasets import load_iris

import linkwise as lw

CHEAP = [
    (method, setting)
    for method in ("ckm", "mpckmeans", "copkmeans", "clusilc", "cobra")
    for setting in presets.STUDIES[method].settings
]


@pytest.fixture
def folder(tmp_path):
    X, y = load_iris(return_X_y=True)
    rows = [",".join(map(str, [*row, kind])) for row, kind in zip(X, y, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,class", *rows]) + "\n")
    presets.load.cache_clear()
    yield tmp_path
    presets.load.cache_clear()


@pytest.mark.parametrize(("method", "setting"), CHEAP)
def test_every_setting_has_a_score(folder, method, setting):
    task = next(task for task in presets.STUDIES[method].tasks if task.startswith("iris"))
    score = float(presets.measure((method, setting, task, "0"), folder)["score"])
    assert np.isnan(score) or 0.2 < score <= 1


def test_the_first_setting_is_the_default_and_the_presets_are_there():
    for method, study in presets.STUDIES.items():
        assert len(study.settings) > 1
        if "cobs" not in method:
            assert next(iter(study.settings)) == "default"
            assert "paper()" in study.settings
        assert set(study.uses) <= set(dir(lw))
        assert all(setting in presets.WHAT or setting in presets.PRESET_WHAT for setting in study.settings)


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
    assert presets.list_effects(head, lines)[1] == (
        "``standardize=False``",
        presets.WHAT["standardize=False"],
        "0.400",
        "+0.100",
    )
