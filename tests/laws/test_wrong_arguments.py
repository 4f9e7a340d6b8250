"""What is handed in by mistake is refused in linkwise's words, and no message holds a whole array."""

import pickle
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn

import linkwise as lw
from linkwise.data import encode, read_table

ROOTS = [Path(module.__file__).parent for module in (lw, sklearn)]
LONGEST = 400  # characters of a message
X = np.random.default_rng(0).normal(size=(400, 3))
Y = np.arange(400) % 3
C = lw.Constraints(400, [(0, 3)], [(0, 1)])
KNOWN = lw.Evidence(400, C)

MISTAKES = {
    "labels": Y,
    "table": X,
    "DataFrame": pd.DataFrame(X),
    "list of labels": Y.tolist(),
    "list of rows": X.tolist(),
    "word": "a",
    "long text": "word " * 1000,
    "None": None,
    "True": True,
    "NumPy's True": np.True_,
    "fraction": 1.5,
    "nan": float("nan"),
    "-1": -1,
    "2**63": 2**63,
    "-2**63": -(2**63),
    "10**30": 10**30,
    "10**400": 10**400,
    "10**5000": 10**5000,
    "list of 10**5000": [10**5000] * 400,
    "table with 10**400": [[10**400, 0]] * 400,
    "complex table": X + 1j,
    "mixed column names": pd.DataFrame(X, columns=["a", 1, "b"]),
    "array of one number": np.array(3),
    "array of one row": np.array([3]),
    "bytes": b"a",
    "dict": {0: 1},
    "set": {0, 1},
    "class": lw.KIN,
    "estimator": lw.KIN(random_state=0),
    "constraints": C,
    "complex": 1j,
    "generator of words": "abc",
    "objects": np.array([object()] * 400),
    "dates": np.array(["2020-01-01"] * 400, dtype="datetime64[D]"),
    "empty list": [],
}


def pairs_of(value):
    """The mistake inside a list of pairs."""
    return [(0, 1), (value, 2)]


PLACES = {
    "Constraints(n_rows)": lambda it: lw.Constraints(it),
    "must_link": lambda it: lw.Constraints(400, must_link=it),
    "cannot_link": lambda it: lw.Constraints(400, cannot_link=it),
    "a pair": lambda it: lw.Constraints(400, [(0, 1), it]),
    "a row of a pair": lambda it: lw.Constraints(400, pairs_of(it)),
    "must_link_weight": lambda it: lw.Constraints(400, [(0, 1)], must_link_weight=it),
    "a weight": lambda it: lw.Constraints(400, [(0, 1)], must_link_weight=[it]),
    "on_conflict": lambda it: lw.Constraints(400, on_conflict=it),
    "error_rate of pairs": lambda it: lw.Constraints(400, on_conflict="believe", error_rate=it),
    "relation, first": lambda it: C.relation(it, 0),
    "relation, second": lambda it: C.relation(0, it),
    "find_violations": lambda it: C.find_violations(it),
    "constraint_score": lambda it: lw.constraint_score(it, C),
    "constraint_score, constraints": lambda it: lw.constraint_score(Y, it),
    "from_labels": lambda it: lw.Constraints.from_labels(it),
    "sample, y": lambda it: lw.Constraints.sample(it, 3),
    "sample, n": lambda it: lw.Constraints.sample(Y, it),
    "to_csv, ids": lambda it: C.to_csv("/dev/null", ids=it),
    "read_csv, ids": lambda it: lw.Constraints.read_csv("/dev/null", ids=it),
    "read_csv, n_rows": lambda it: lw.Constraints.read_csv("/dev/null", n_rows=it),
    "Evidence(n_rows)": lambda it: lw.Evidence(it),
    "Evidence, constraints": lambda it: lw.Evidence(400, it),
    "add, row": lambda it: lw.Evidence(400).add(it, 0, "yes"),
    "add, answer": lambda it: lw.Evidence(400).add(0, 1, it),
    "relation of evidence": lambda it: KNOWN.relation(it, 0),
    "TruthOracle": lambda it: lw.TruthOracle(it),
    "TruthOracle, noise": lambda it: lw.TruthOracle(Y, noise=it),
    "oracle(row)": lambda it: lw.TruthOracle(Y)(it, 0),
    "fit(X)": lambda it: lw.COBRA(2).fit(it, oracle=lambda i, j: True),
    "fit(X) of a clusterer": lambda it: lw.PCKMeans(2).fit(it),
    "fit, oracle": lambda it: lw.COBRA(2).fit(X, oracle=it, budget=1),
    "fit, answer": lambda it: lw.COBRA(2).fit(X, oracle=lambda i, j: it),
    "fit, budget": lambda it: lw.COBRA(2).fit(X, oracle=lambda i, j: True, budget=it),
    "fit, constraints": lambda it: lw.COBRA(2).fit(X, oracle=lambda i, j: True, constraints=it),
    "fit, askable": lambda it: lw.COBRA(2).fit(X, oracle=lambda i, j: True, askable=it),
    "clusterer, constraints": lambda it: lw.PCKMeans(2).fit(X, constraints=it),
    "explain, labels": lambda it: lw.explain(it, X),
    "explain, X": lambda it: lw.explain(Y, it),
    "explain, both": lambda it: lw.explain(it, it),
    "explain, feature_names": lambda it: lw.explain(Y, X, feature_names=it),
    "explain, max_leaves": lambda it: lw.explain(Y, X, max_leaves=it),
    "explain, fidelity": lambda it: lw.explain(Y, X, fidelity=it),
    "why, labels": lambda it: lw.why(it, 0, 1),
    "why, row": lambda it: lw.why(Y, it, 1),
    "why, constraints": lambda it: lw.why(Y, 0, 1, constraints=it),
    "why, representatives": lambda it: lw.why(Y, 0, 1, representatives=it),
    "Session(X)": lambda it: lw.Session(it),
    "Session, learner": lambda it: lw.Session(X, it),
    "Session, ids": lambda it: lw.Session(X, lw.COBRA(2, random_state=0), ids=it),
}


def raised_by(call, mistake):
    try:
        call(mistake)
    except Exception as error:
        return error
    return None


def is_told_well(error):
    """Whether linkwise or scikit-learn raised it by a statement of their own, in few words."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = any(Path(last.filename).is_relative_to(root) for root in ROOTS)
    by_itself = ours and (last.line or "").startswith("raise ")
    return by_itself and isinstance(error, ValueError | TypeError | IndexError) and len(str(error)) <= LONGEST


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_a_mistake_is_refused_in_own_words(place):
    wrong = []
    for name, mistake in MISTAKES.items():
        if (place, name) == ("fit, oracle", "class"):
            continue  # a class can be called; what it raises then is its own
        error = raised_by(PLACES[place], mistake)
        if error is None:
            continue
        if not is_told_well(error):
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    assert wrong == []


def test_an_oracle_given_as_y_is_not_ignored():
    with pytest.raises(TypeError, match=r"given as y, which is ignored\. Pass it by name: fit\(X, oracle="):
        lw.KIN().fit(X, lw.TruthOracle(Y))


@pytest.mark.parametrize("fit", [lw.PCKMeans(2).fit, lw.KIN(random_state=0).fit])
def test_errors_about_rows_say_what_is_wrong_with_them(fit):
    with pytest.raises(lw.DataError, match=r"^X: Complex data not supported"):
        fit(X + 1j)
    with pytest.raises(lw.DataError, match=r"^Column 1 of X holds a number .* range: int of 1329 bits\."):
        fit([[0, 10**400], [1, 2]])
    with pytest.raises(TypeError, match=r"^Some columns of X are named by texts, .* 'a', .* as 1\."):
        fit(MISTAKES["mixed column names"])


def test_a_session_is_not_pickled_but_says_what_to_do():
    session = lw.Session(X[:20], lw.COBRA(2, random_state=0))
    with pytest.raises(TypeError, match=r"A session cannot be pickled.* session\.save_copy\(path\)"):
        pickle.dumps(session)


def test_a_dask_table_is_computed_first_where_data_in_memory_are_needed():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=2)
    for take in (lambda: lw.explain(Y, frame), lambda: lw.read(frame), lambda: lw.read(frame, id="index")):
        with pytest.raises(TypeError, match=r"frame is of dask, .* Call frame\.compute\(\) first\."):
            take()


@pytest.mark.parametrize("read", [encode, read_table])
def test_a_table_in_memory_is_taken_by_from_frame_alone(read):
    dask = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abc"))
    for table in (frame, dask.from_pandas(frame, npartitions=2)):
        with pytest.raises(TypeError, match=r"is a DataFrame\. Pass .*from_frame"):
            read(table)
