"""Record linkage: it learns from answers, given pairs and what is wrong, and places new records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.errors import DataError
from linkwise.learn.memo import Memo
from linkwise.learn.records import linkage_state
from linkwise.learn.records.grouped_records import find_lean
from linkwise.learn.records.linkage import read_records_table
from linkwise.learn.run import Run
from record_worlds import draw_world, score_pairs

WORLD = draw_world()


def link(world=WORLD, budget=30, **fit):
    return lw.RecordLinkage(random_state=0).fit(world.table, oracle=world.oracle(), budget=budget, **fit)


def test_answers_make_the_groups_better():
    before, after = link(budget=0), link(budget=60)
    assert score_pairs(WORLD.person, before.labels_) > 0.7, "without any answer"
    assert score_pairs(WORLD.person, after.labels_) > max(0.95, score_pairs(WORLD.person, before.labels_))
    assert after.violations_ == 0


@pytest.mark.parametrize("n_seeds", [1, pytest.param(3, marks=pytest.mark.slow(nightly=True))])
def test_wrong_answers_cost_little(n_seeds):
    world = draw_world(seed=3)
    scores = [
        score_pairs(world.person, model.labels_)
        for model in (
            lw.RecordLinkage(random_state=0).fit(
                world.table, oracle=world.oracle(0.1, seed), budget=80, error_rate=None
            )
            for seed in range(n_seeds)
        )
    ]
    assert np.mean(scores) > 0.9


@pytest.mark.parametrize(("error", "budget"), [(0.0, 10), (0.3, 40)])
def test_records_of_one_origin_never_match(error, budget):
    """Also where answers that may be wrong say that they do, or that it follows from them."""
    world = draw_world(seed=1)
    model = lw.RecordLinkage(origin="shop", random_state=0).fit(
        world.table, oracle=world.oracle(error, seed=6), budget=budget, error_rate=None if error else 0
    )
    shop = world.table["shop"].to_numpy()
    for label in np.unique(model.labels_):
        shops = shop[model.labels_ == label].tolist()
        assert len(shops) == len(set(shops))


def test_only_records_of_one_block_match():
    table = pl.DataFrame({"name": ["ann stone"] * 4 + ["bob hill"] * 2, "year": [1, 1, 2, 2, 1, 2]})
    model = lw.RecordLinkage(same="year", random_state=0).fit(table, oracle=lambda i, j: True, budget=20)
    year = table["year"].to_numpy()
    assert all(len(set(year[model.labels_ == label].tolist())) == 1 for label in model.labels_)


def test_given_pairs_are_enough_without_a_question():
    world = draw_world(seed=2, n_people=120)
    same = np.argwhere(np.triu(world.person[:, None] == world.person, 1))
    links = same[np.random.default_rng(0).permutation(len(same))[:40]]
    model = lw.RecordLinkage(random_state=0).fit(
        world.table, constraints=lw.Constraints(len(world.person), links)
    )
    assert score_pairs(world.person, model.labels_) > 0.9
    assert model.violations_ == 0


def test_models_of_many_pairs_are_not_all_remembered(monkeypatch):
    monkeypatch.setattr(linkage_state, "REMEMBERED", 0)
    learner, memo, oracle = lw.RecordLinkage(random_state=0), Memo(), lw.TruthOracle(WORLD.person)
    prepared = learner.prepare_table(read_records_table(WORLD.table), 0)
    n_rows = len(WORLD.person)
    places = np.arange(float(n_rows))[:, None]
    run = Run(learner, places, Evidence(n_rows), 0, prepared=prepared, budget=20, memo=memo)
    while (question := run.question) is not None:
        run.answer(oracle(question.first, question.second))
    assert len(memo) == 1, "the newest"


def test_a_pair_that_is_no_candidate_is_learned_from():
    world = draw_world(n_people=30)
    far = next(
        (i, j)
        for i in range(10)
        for j in range(i + 1, 30)
        if world.person[i] != world.person[j] and world.table["name"][i][0] != world.table["name"][j][0]
    )
    constraints = lw.Constraints(len(world.person), [far])
    model = lw.RecordLinkage(random_state=0).fit(
        world.table, oracle=world.oracle(), budget=20, constraints=constraints
    )
    assert model.labels_[far[0]] == model.labels_[far[1]]


def test_new_records_join_old_groups_or_each_other():
    model = link(budget=60)
    known = [int(np.flatnonzero(WORLD.person == person)[0]) for person in (3, 5)]
    rows = [WORLD.table.row(at) for at in known]
    new = pl.DataFrame(
        [
            *rows,
            ("zacharias quimby", "1 xylophone yard", "7777777", "x"),
            ("zacharias quimbi", "1 xylophone yard", "7777777", "y"),
        ],
        schema=WORLD.table.columns,
        orient="row",
    )
    placed = model.predict(new)
    assert placed[:2].tolist() == model.labels_[known].tolist()
    assert placed[2] == placed[3] == model.n_clusters_
    assert model.predict(new[:0]).tolist() == []


def test_old_groups_stay_two_though_a_new_record_is_like_both():
    table = pl.DataFrame({"name": ["ann stone", "ann stone", "ann store", "bob hill", "carl wood"]})
    model = lw.RecordLinkage(random_state=0).fit(table, constraints=lw.Constraints(5, [(0, 1)], [(0, 2)]))
    assert model.labels_[0] != model.labels_[2]
    placed = model.predict(pl.DataFrame({"name": ["ann stone"] * 2}))
    assert placed.tolist() == [model.labels_[0]] * 2


def test_a_frame_of_any_library_gives_the_same():
    table = WORLD.table.drop("shop")
    rows = lw.read(table.with_row_index("id"), id="id", text=table.columns)
    fitted = [
        lw.RecordLinkage(random_state=0).fit(frame, oracle=WORLD.oracle(), budget=10).labels_
        for frame in (table, table.to_pandas(), rows)
    ]
    assert (fitted[0] == fitted[1]).all()
    assert (fitted[0] == fitted[2]).all()


def test_an_id_is_not_compared():
    table = read_records_table(pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    assert {column.name: column.role for column in table.columns} == {"id": "id", "name": "text"}


def test_an_array_is_refused_with_a_way_out():
    with pytest.raises(DataError, match="use ThresholdLinkage"):
        lw.RecordLinkage().fit(np.zeros((3, 2)), oracle=lambda i, j: True)
    with pytest.raises(DataError, match="use ThresholdLinkage"):
        lw.Session(np.zeros((3, 2)), lw.RecordLinkage())


def test_groups_have_the_best_expected_f1():
    """A threshold tried on all pairs is never better than the one that follows from F1."""
    chances = np.random.default_rng(0).beta(0.3, 2.0, 400)
    lean = find_lean(chances)
    assert lean > 0

    def expect_f1(threshold):
        joined = chances > threshold
        return 2 * chances[joined].sum() / max(joined.sum() + chances.sum(), 1)

    best = max(expect_f1(threshold) for threshold in np.linspace(0, 1, 501))
    assert expect_f1(expit(-lean)) >= best - 1e-12


def test_many_copies_are_one_group_until_somebody_parts_one():
    """Most pairs of many copies are no candidates."""
    table = pl.DataFrame({"name": ["anna meier"] * 200 + ["hugo roth"] * 150 + ["ann meyer", "huga roth"]})
    model = lw.RecordLinkage(random_state=0).fit(table, constraints=lw.Constraints(len(table), [(0, 1)]))
    assert len(set(model.labels_[:200])) == len(set(model.labels_[200:350])) == 1
    assert model.labels_[0] != model.labels_[200]
    apart = lw.Constraints(len(table), cannot_link=[(3, 4)])
    model = lw.RecordLinkage(random_state=0).fit(table, constraints=apart)
    assert model.labels_[3] != model.labels_[4]
    assert len(set(model.labels_[5:200])) == 1


def test_copies_differ_where_a_number_does():
    table = pl.DataFrame({"name": ["anna meier"] * 6 + ["hugo roth"], "age": [30, 30, 30, 71, 71, 71, 5]})
    apart = lw.Constraints(len(table), cannot_link=[(0, 3), (1, 4), (2, 5), (0, 4), (1, 5)])
    model = lw.RecordLinkage(random_state=0).fit(table, constraints=apart)
    assert model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3]
    assert model.labels_[3] == model.labels_[4] == model.labels_[5]


def test_certain_chances_need_no_lean():
    assert find_lean(np.array([1.0, 0.0, 1.0])) == 0
    assert find_lean(np.zeros(3)) == 0
    assert find_lean(np.empty(0)) == 0


def test_the_quality_is_estimated():
    model = link(budget=80)
    same, found = WORLD.person[:, None] == WORLD.person, model.labels_[:, None] == model.labels_
    upper = np.triu_indices(len(same), 1)
    same, found = same[upper], found[upper]
    precision, recall = (same & found).sum() / found.sum(), (same & found).sum() / same.sum()
    assert model.quality_.precision.low <= precision <= model.quality_.precision.high
    assert model.quality_.recall.low - 0.02 <= recall <= model.quality_.recall.high + 0.02


@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_few_records(n_rows):
    table = pl.DataFrame({"name": ["ann stone", "ann stone", "bob hill"][:n_rows], "n": [1, 2, 3][:n_rows]})
    model = lw.RecordLinkage(random_state=0).fit(table, oracle=lambda i, j: {i, j} == {0, 1})
    assert model.labels_.tolist() == [0, 0, 1][:n_rows]


# ---------------------------------------------------------------- why two records
def find_far_pair(world):
    """Two records that have nothing in common, so that they are no candidates."""
    rows = [set(" ".join(row).split()) for row in world.table.select("name", "street", "phone").iter_rows()]
    return next((0, j) for j in range(1, len(rows)) if not rows[0] & rows[j])


@pytest.mark.parametrize("budget", [0, 60])
def test_an_explanation_adds_up_to_what_the_model_says(budget):
    model = link(budget=budget)
    state = model._fitted
    told = state.pairs.prior if state.model is None else state.model.log_odds
    for at in (int(told.argmax()), int(told.argmin()), len(told) // 2):
        found = model.explain(int(state.pairs.second[at]), int(state.pairs.first[at]))
        assert found.log_odds == pytest.approx(told[at], abs=1e-9)
        assert list(found.columns) == ["name", "street", "phone", "shop"]
        phones = [WORLD.table["phone"][int(row[at])] for row in (state.pairs.first, state.pairs.second)]
        assert found.missing == (() if all(phones) else ("phone",))


def test_any_two_records_can_be_explained_and_nothing_changes_by_it():
    model = link()
    before = len(model._fitted.pairs.first)
    found = model.explain(*find_far_pair(WORLD))
    assert found.chance < 0.1
    assert len(model._fitted.pairs.first) == before


def test_a_column_that_says_nothing_of_a_match_counts_little():
    note = pl.Series("note", np.random.default_rng(9).choice(["red", "green", "blue"], len(WORLD.person)))
    world = WORLD._replace(table=WORLD.table.drop("shop").with_columns(note))
    counts = link(world, budget=60).columns_
    assert set(counts) == {"name", "street", "phone", "note", ""}
    assert all(counts[name] > 5 * counts["note"] for name in ("name", "street", "phone")), counts


@pytest.mark.parametrize(("pair", "message"), [((0, 0), "two different"), ((0, 9999), "records. Pass 0 to")])
def test_only_two_records_of_the_table_can_be_explained(pair, message):
    with pytest.raises(ValueError, match=message):
        link(budget=0).explain(*pair)


@pytest.mark.parametrize("row", [True, 0.5, "a", None])
def test_only_an_integer_is_a_position_to_explain(row):
    with pytest.raises(TypeError, match="which is no position"):
        link(budget=0).explain(5, row)


def test_a_session_explains_any_pair():
    table = WORLD.table.drop("shop")
    alone = lw.RecordLinkage(random_state=0).fit(table, oracle=WORLD.oracle(), budget=0)
    with lw.Session(table, lw.RecordLinkage(random_state=0)) as session:
        first, second = session.question.first, session.question.second
        assert session.explain_pair(first, second).chance == pytest.approx(
            alone.explain(first, second).chance
        )
        assert session.column_effects == pytest.approx(alone.columns_)
    with lw.Session(np.arange(9.0)[:, None]) as session:
        assert (session.explain_pair(0, 1), session.column_effects) == (None, None)


# ---------------------------------------------------------------- what is doubtful
def test_the_least_certain_decisions_come_first_and_once_for_each_group():
    with lw.Session(WORLD.table, lw.RecordLinkage(random_state=0)) as session:
        doubts, labels = session.list_doubts(1000), session.labels
        certainty = [abs(doubt.chance - 0.5) for doubt in doubts]
        assert len(doubts) > 5
        assert certainty == sorted(certainty)
        assert certainty[-1] < 0.45
        groups = [tuple(sorted((labels[one.first], labels[one.second]))) for one in doubts]
        assert len(set(groups)) == len(groups)
        assert session.list_doubts(3) == doubts[:3]
        confidence = session.confidence
        assert min(confidence) == pytest.approx(max(doubts[0].chance, 1 - doubts[0].chance))
    with lw.Session(np.arange(9.0)[:, None]) as session:
        assert session.list_doubts() is None


def test_an_answer_settles_a_doubt():
    with lw.Session(WORLD.table, lw.RecordLinkage(random_state=0)) as session:
        first, second, _ = session.list_doubts(1)[0]
        session.add(first, second, "must-link")
        labels = session.labels
        assert labels[first] == labels[second]
        assert (first, second) not in {(one.first, one.second) for one in session.list_doubts(1000)}
