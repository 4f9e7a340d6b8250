"""The registry of experiments: complete, and true to the modules that it names."""

import ast
import importlib
from pathlib import Path

import pytest
from bench.papers import (
    active,
    active_known_k,
    bckm,
    clusilc_runs,
    cobras_rivals,
    cobras_runs,
    noise,
    passive,
)
from bench.papers.cobs_peers import METHODS, REFITTED, npu_entries, peer_entries
from bench.papers.cobs_runs import SELECTORS, asking_entries, selector_entries
from bench.papers.halkidi_runs import METHODS as WEIGHTED
from bench.papers.halkidi_runs import entries as halkidi_entries
from bench.papers.noise_team import WAYS
from bench.speed import kmeans_family
from bench.suites import code_keys

from bench import experiments
from linkwise.methods import CLUSTERERS

pytestmark = pytest.mark.slow

ALL = experiments.read_experiments()
BENCH = Path(experiments.__file__).parent
MODULES = sorted({experiment.module for experiment in ALL.values()})


def reached(names):
    return code_keys.read_library().collect_modules(names)


def test_every_experiment_is_complete():
    for experiment in ALL.values():
        assert callable(importlib.import_module(experiment.module).main)
        assert experiment.uses
        assert reached(experiment.uses)
        assert experiment.topic
        assert experiment.about.endswith(".")
    files = [shown.file for experiment in ALL.values() for shown in experiment.shows]
    assert len(set(files)) == len(files)
    assert {file.rpartition(".")[2] for file in files} == {"csv", "png"}


def test_every_script_is_an_experiment():
    scripts = {
        ".".join(("bench", *file.relative_to(BENCH).with_suffix("").parts))
        for folder in ("papers", "speed", "peers", "firsthour")
        for file in (BENCH / folder).glob("*.py")
        if "__main__" in file.read_text() and not file.stem.endswith("_theirs")
    }
    assert scripts == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_what_a_script_imports_is_named(module):
    """Every module that a script imports to measure it is behind the entries of its experiments."""
    file = BENCH.joinpath(*module.split(".")[1:]).with_suffix(".py")
    public = code_keys.read_library().public_names
    wanted = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "linkwise":
            wanted |= {public[alias.name] for alias in node.names if alias.name in public} or {node.module}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "lw":
            wanted |= {public[node.attr]} if node.attr in public else set()
    names = [name for experiment in ALL.values() if experiment.module == module for name in experiment.uses]
    assert wanted - {"linkwise"} <= reached(names)


CELLS = {
    "active": [active.entries(("", learner)) for learner in active.ALL],
    "active_known_k": [
        active_known_k.entries(("", learner, estimator))
        for learner in (*active_known_k.LEARNERS, "COBRAS")
        for estimator in ("", *active_known_k.ESTIMATORS)
    ],
    "noise": [noise.entries(("", learner)) for learner in noise.LEARNERS],
    "noise_team": [noise.team_entries(("", *way, "0")) for way in WAYS],
    "noise_acc": [noise.entries(("", learner)) for learner in noise.LONG],
    "cobras_protocol": [cobras_runs.entries(("", learner)) for learner in cobras_runs.LEARNERS],
    "cobras_rivals": [cobras_rivals.rival_entries(("", learner)) for learner in cobras_rivals.RIVAL_FILES],
    "bckm": [bckm.entries(("", "", method)) for method in (*bckm.METHODS, *bckm.RIVALS)],
    "bckm_rivals": [bckm.entries(("", "", method)) for method in bckm.RIVALS],
    "clusilc": [clusilc_runs.entries(("", method)) for method in clusilc_runs.METHODS],
    "passive": [passive.entries(("", "", method)) for method in passive.methods()],
    "halkidi": [halkidi_entries(("", "", s, method)) for s in ("svd", "columns") for method in WEIGHTED],
    "cobs_table3": [selector_entries(("", selector)) for selector in SELECTORS],
    "cobs_active": [asking_entries(("", strategy)) for strategy in ("active", "random")],
    "cobs_npu": [npu_entries(("", method)) for method in REFITTED],
    "cobs_peers": [peer_entries(("", method)) for method in METHODS if not method.startswith("cobs_ss")],
    "cobs_pools": [peer_entries(("", method)) for method in METHODS if method.startswith("cobs")],
    "speed_kmeans_family": [tuple(kmeans_family.clusterers())],
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_an_experiment_names_what_its_cells_use(name):
    missing = {entry for entries in CELLS[name] for entry in entries} - set(ALL[name].uses)
    assert not missing, f"Add {', '.join(sorted(missing))} to `uses` of {name!r} in bench/experiments.toml."


def test_all_clusterers_are_named_at_once(monkeypatch):
    new = {"new": CLUSTERERS["pckmeans"]._replace(class_name="New")}
    monkeypatch.setattr(experiments, "CLUSTERERS", CLUSTERERS | new)
    read = experiments.read_experiments()
    assert {"COBS", "FOSC", "New"} < set(read["passive"].uses)
    assert "New" not in read["speed_kmeans_family"].uses


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(SystemExit, match=r"no experiment kin, x\. Choose from active, cobras_quality"):
        experiments.select_experiments(["kin", "active", "x"])
