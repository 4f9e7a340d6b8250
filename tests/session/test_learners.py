"""Learners of one's own, learners that fail or are interrupted, and sessions without data."""

import shutil

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.facts import Fact
from linkwise.errors import ConstraintError, SessionError
from linkwise.learn.base import ActiveLearner
from linkwise.learn.known_k import estimators
from linkwise.learn.learner import Question
from linkwise.session.journal import registry
from linkwise.session.journal.description import describe_learner
from linkwise.session.session import Session
from session.session_examples import LEARNERS, N_ROWS, TRUTH, X, Y, answer_by, image, present, true_pairs


class InOrder:
    """Compares each row with the one before; has neither parameters nor a seed."""

    step = 1

    def prepare(self, X, seed, *, progress=None):
        return None

    def start(self, problem):
        return problem

    def ask(self, problem):
        evidence = problem.evidence
        rows = np.arange(len(problem.X))  # NumPy's integers, as a learner may well have them
        for first, second in zip(rows[: -self.step], rows[self.step :], strict=True):
            yield Question(first, second, self.labels(evidence), "They stand side by side.")
        return self.labels(evidence)

    def labels(self, evidence):
        return evidence.to_constraints().component.astype(np.int32)


class Wide(InOrder):
    step = 3


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.linkwise"


# ---------------------------------------------------------------- a learner of one's own
def test_a_learner_of_ones_own(path):
    in_memory = lw.Session(X, InOrder())
    assert answer_by(in_memory, TRUTH, 4) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    in_memory.add(4, 5, "cannot-link")
    in_memory.undo()
    in_memory.save(path)
    in_memory.close()
    with Session.open(path, X, InOrder()) as session:
        assert session.learner == {"name": f"{__name__}.InOrder", "parameters": {}}
        assert answer_by(session, TRUTH, 1) == [(4, 5)]
        assert all(type(row) is int for e in session.events for row in (e.first, e.second) if row is not None)
        was = image(session)
    with pytest.raises(SessionError, match=r"not part of linkwise: .*InOrder\. Pass it"):
        Session.open(path, X)
    with Session.open(path) as session:
        assert session.labels.tolist() == was[0][1]
        assert session.status == was[1]
    with Session.open(path, X, InOrder()) as session:
        assert image(session) == was


def test_learners_of_ones_own_are_distinguished(path):
    """Ours and theirs may bear one name."""
    with Session.open(path, X, InOrder()) as session:
        answer_by(session, TRUTH, 2)
    with Session.open(path, X, Wide()) as session:
        assert (session.question.first, session.question.second) == (0, 3)
        assert session.status.n_answers == 2
    same_name = type("COBRAS", (InOrder,), {})
    with Session.open(path, X, same_name()) as session:
        assert session.question.second == 3
    with pytest.raises(SessionError, match=f"not part of linkwise: {__name__}.COBRAS"):
        Session.open(path, X)


def test_parameters_that_no_file_can_hold_are_refused(path):
    class Function(lw.COBRAS):
        def get_params(self, deep=True):
            return {"distance": np.linalg.norm}

    with pytest.raises(SessionError, match="the parameters of Function as JSON"):
        Session.open(path, X, Function(random_state=0))
    assert not path.exists()


def test_parameters_of_another_version(path):
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 3)
        was = image(session)
        learner = session.learner
        magic = {**learner, "parameters": {**learner["parameters"], "magic": 3}}
        session._journal.store.append("learner", after=session.events[-1].number, value=magic)
    with pytest.raises(SessionError, match=r"stored parameters of COBRAS do not fit .*magic"):
        Session.open(path, X)
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        assert image(session) == was


# ---------------------------------------------------------------- what a file may name
def test_the_registry_holds_every_learner_and_every_clusterer_that_is_refitted():
    public = [getattr(lw, name) for name in lw.__all__]
    learners = {
        kind.__name__ for kind in public if isinstance(kind, type) and issubclass(kind, ActiveLearner)
    }
    assert set(registry.LEARNERS) == learners
    by_name = {name.lower() for name in registry.CLUSTERERS}
    assert by_name - {"clusilc"} == set(
        estimators.clusterers_by_name()
    )  # ClusILC is passed as an object alone
    for name, method in (registry.LEARNERS | registry.CLUSTERERS).items():
        assert getattr(lw, name) is method.load()


@pytest.mark.parametrize("name", registry.LEARNERS)
def test_every_learner_comes_back_from_its_description(name):
    kind = getattr(lw, name)
    for learner in (kind(), kind(random_state=7)):
        built = registry.build_learner(describe_learner(learner), 2)
        assert isinstance(learner, type(built))  # or what asks in it
        assert describe_learner(built) == describe_learner(learner)
        assert built.get_params() == learner.get_params()


@pytest.mark.parametrize("name", registry.CLUSTERERS)
def test_every_clusterer_comes_back_from_its_description(name):
    learner = lw.MinMax(3, estimator=getattr(lw, name)(n_clusters=3), random_state=0)
    built = registry.build_learner(describe_learner(learner), 2)
    wanted, found = learner.get_params(), built.get_params()
    assert type(wanted.pop("estimator")) is type(found.pop("estimator"))
    assert {n: v or None for n, v in found.items()} == {n: v or None for n, v in wanted.items()}


def test_parameters_that_name_folders_and_machines_are_declared():
    """A new parameter that takes any text has to be looked at: it may be a path."""
    for name in (*registry.LEARNERS, *registry.CLUSTERERS):
        for parameter, allowed in getattr(lw, name)._parameter_constraints.items():
            if str in allowed:
                assert parameter in registry.MACHINE_PARAMETERS | registry.NESTED | {
                    "preset",
                    "origin",
                    "same",
                }
            if "array-like" in allowed:
                assert parameter in registry.ARRAYS | registry.COLUMNS


def test_a_cache_is_used_where_it_is_passed_and_not_named_in_the_file(path, tmp_path):
    settings = {"preset": "quick", "n_candidates": 50, "random_state": 0}
    folder = tmp_path / "pools"
    with Session.open(path, X, lw.ActiveCOBS(cache=str(folder), **settings)) as session:
        answer_by(session, TRUTH, 2)
        was = image(session)
        assert session.learner["parameters"].keys().isdisjoint(("cache", "backend"))
    assert list(folder.iterdir())
    shutil.rmtree(folder)
    with Session.open(path, X) as session:
        assert image(session) == was
    assert not folder.exists()
    with Session.open(path, X, lw.ActiveCOBS(cache=str(folder), **settings)) as session:
        assert image(session) == was
    assert list(folder.iterdir())


# ---------------------------------------------------------------- a learner that fails
class Failing(InOrder):
    """Fails at the third row, as long as it is told that rows 1 and 2 belong together."""

    def ask(self, problem):
        for question in super().ask(problem):
            yield question
            if problem.evidence.verdict(1, 2) == "yes":
                raise ArithmeticError("no number")


def test_a_learner_that_fails_loses_no_answer(path):
    session = Session.open(path, X, Failing())
    session.answer("no")
    was = image(session)
    with pytest.raises(ArithmeticError):
        session.answer("yes")
    assert [e.answer for e in session.history] == ["no", "yes"]
    for look in (lambda: session.question, lambda: session.labels, lambda: session.answer("no")):
        with pytest.raises(ArithmeticError):
            look()
    assert session.constraints == Constraints(N_ROWS, [(1, 2)], [(0, 1)])
    session.close()
    with Session.open(path) as kept:
        assert kept.status.n_answers == 2
        assert not kept.labels_are_current
    with pytest.raises(ArithmeticError):
        Session.open(path, X, Failing())
    with Session.open(path) as kept:
        kept.undo()
    with Session.open(path, X, Failing()) as session:
        assert image(session) == was
        with pytest.raises(ArithmeticError):
            session.answer("yes")
        session.undo()
        assert image(session) == was
    with Session.open(path, X, InOrder()) as session:  # or another learner goes on
        assert session.status.n_answers == 1


@pytest.mark.parametrize("pair", [(0, N_ROWS), (-1, 2), (0, 1.0)])
def test_a_question_about_no_pair_of_rows_is_never_asked(path, pair):
    class Wrong(InOrder):
        def ask(self, problem):
            yield Question(*pair, np.zeros(N_ROWS, np.int32), "")
            return np.zeros(N_ROWS, np.int32)

    with pytest.raises((ConstraintError, TypeError), match="row"):
        Session.open(path, X, Wrong())
    assert not path.exists()
    with Session.open(path, X, InOrder()) as session:
        answer_by(session, TRUTH, 2)
    with pytest.raises((ConstraintError, TypeError), match="row"):
        Session.open(path, X, Wrong())
    with Session.open(path) as kept:
        assert len(kept.events) == 2
        assert kept.learner["name"].endswith("InOrder")


# ---------------------------------------------------------------- interruptions
@pytest.mark.parametrize("said", ["yes", "no", "unsure"])
def test_an_interruption_while_the_learner_works(path, monkeypatch, said):
    """The answer is stored; the session goes on from it as if nothing had been."""
    plain = lw.Session(X, LEARNERS["COBRAS"]())
    answer_by(plain, TRUTH, 2)
    plain.answer(said)
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 2)

        def interrupted(*given, **more):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("linkwise.learn.run.Run._advance", interrupted)
            with pytest.raises(KeyboardInterrupt):
                session.answer(said)
        assert image(session) == image(plain)
        assert answer_by(session, TRUTH) == answer_by(plain, TRUTH)
        assert image(session) == image(plain)


def test_an_interruption_between_the_commit_and_its_return(path, monkeypatch):
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        write = session._journal.store.append

        def append(*given, **more):
            write(*given, **more)
            raise KeyboardInterrupt

        monkeypatch.setattr(session._journal.store, "append", append)
        with pytest.raises(KeyboardInterrupt):
            session.answer("no")
        monkeypatch.setattr(session._journal.store, "append", write)
        assert [e.answer for e in session.history] == ["no"]
        assert session.question is not None
        session.answer("yes")
    with Session.open(path, X) as session:
        assert [e.answer for e in session.history] == ["no", "yes"]


def test_an_interruption_in_the_middle_of_a_write_leaves_nothing(path):
    class Interrupting:
        @property
        def pair(self):
            raise KeyboardInterrupt

    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        was = image(session)
        with pytest.raises(KeyboardInterrupt):
            session._journal.store.append("import", after=0, facts=[Fact(0, 1, "yes"), Interrupting()])
        assert not session._journal.store._db.in_transaction
        assert image(session) == was
        session.answer("no")


# ---------------------------------------------------------------- without data
def test_without_data_everything_but_asking_works(path):
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 5)
        was = image(session)
    with Session.open(path) as kept:
        assert (kept.n_rows, kept.ids[:2]) == (N_ROWS, ["0", "1"])
        assert kept.labels_are_current
        assert (kept.labels.tolist(), kept.status, kept.constraints) == (was[0][1], was[1], was[2])
        for ask in (lambda: kept.question, lambda: kept.question_id, lambda: kept.answer("yes")):
            with pytest.raises(SessionError, match=r"open without its data\. .*Session\.open\(path, X\)"):
                ask()
        undone = kept.undo()
        assert (undone.number, undone.kind) == (5, "answer")
        assert not kept.labels_are_current
        assert kept.labels.tolist() == was[0][1]  # the last that were kept
        assert kept.status.n_answers == 4
        kept.add(0, 3, "must-link")
        kept.import_constraints(true_pairs([(1, 4)]))
        kept.change(1, "unsure")
        assert kept.evidence.verdict(1, 4) == "yes"
    with Session.open(path, X) as session:
        assert [e.kind for e in session.history] == ["answer"] * 4 + ["add", "import"]
        assert session.history[0].answer == "unsure"
        shown = image(session)
    with Session.open(path) as kept:
        assert kept.labels_are_current
        assert kept.labels.tolist() == shown[0][1]


def test_the_end_is_not_claimed_for_what_came_after_it(path):
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH)
    with Session.open(path) as kept:
        assert kept.status.reason == "exhausted"
        kept.undo()
        assert kept.status.reason is None


def test_a_new_session_without_answers(path):
    Session.open(path, X, LEARNERS["COBRAS"]()).close()
    with Session.open(path) as kept:
        assert kept.labels_are_current
        assert kept.labels.tolist() == [0] * N_ROWS
        assert kept.undo() is None
        assert (kept.history, kept.events, kept.constraints.n_constraints) == ([], [], 0)


def test_kin_asks_where_no_learner_is_named(path):
    with Session(X) as session:
        assert session.learner == {"name": "KIN", "parameters": {"random_state": 0}}
        answer_by(session, TRUTH, 4)
        session.save(path)
        labels = session.labels
    with Session.open(path, X) as kept:
        assert kept.labels.tolist() == labels.tolist()


def test_a_learner_without_data_is_refused(path):
    Session.open(path, X, LEARNERS["COBRAS"]()).close()
    with pytest.raises(SessionError, match="A learner needs the data"):
        Session.open(path, learner=lw.COBRA())


def test_another_learner_keeps_its_labels_at_once(path):
    """Also if its process is killed before it closes."""
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 6)
    with Session.open(path, X, LEARNERS["COBRA"]()) as session, Session.open(path) as kept:
        assert kept.labels_are_current
        assert kept.labels.tolist() == present(session)[1]


def test_the_example_of_the_house(path):
    """The loop as everybody writes it finds the classes."""
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        while (q := session.question) is not None:
            session.answer(bool(Y[q.first] == Y[q.second]))
        found = zip(session.labels[:-2].tolist(), Y[:-2].tolist(), strict=True)  # the last two are identical
        assert len(set(found)) == 3
