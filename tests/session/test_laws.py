"""Laws of a session: what is taken back never was, opening anew changes nothing, facts have no order."""

import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import linkwise as lw
from laws.asking import few_examples
from linkwise.constraints.evidence import Evidence
from linkwise.errors import InfeasibleConstraintsError, SessionError
from linkwise.session.session import Session
from linkwise.session.state.event_lists import facts_of, names_of
from session.session_examples import (
    ALL_LEARNERS,
    LEARNERS,
    N_ROWS,
    TRUTH,
    X,
    Y,
    answer_by,
    asked_and_parted,
    image,
    present,
    remark,
    told,
    true_pairs,
)

each_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
ROWS = st.integers(0, N_ROWS - 1)
PAIRS = st.tuples(ROWS, ROWS).filter(lambda pair: pair[0] != pair[1])
KINDS = st.sampled_from(["must-link", "cannot-link"])
ANSWERS = st.sampled_from(["yes", "no", "unsure"])
NOTES = st.one_of(st.sampled_from(["", "A", " =1+1\n\x00 ", "\u200f\u2028😀"]), st.text(max_size=20))
SECONDS = st.one_of(st.none(), st.floats(0, 1e9))


# ---------------------------------------------------------------- whatever is done, in any order
class Doing(RuleBasedStateMachine):
    """Everything that can be done to a session in a file; `before` holds an image for each thing to undo."""

    @initialize(name=st.sampled_from(sorted(ALL_LEARNERS)))
    def begin(self, name):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "s.linkwise")
        self.name = name
        self.session = Session.open(self.path, X, ALL_LEARNERS[name]())
        self.reader = Session.open(self.path, X)
        self.before = []
        self.n_copies = 0

    def teardown(self):
        if hasattr(self, "session"):
            self.session.close()
            self.reader.close()
            self.folder.cleanup()

    def see(self):
        """All that a session shows, and what it says beside pairs."""
        return image(self.session), self.session.guidelines, self.session.examples

    def says(self, do):
        """Do something that becomes one event, or is refused and leaves no trace."""
        was, events = self.see(), self.session.events
        try:
            do()
        except InfeasibleConstraintsError:
            assert self.session.events == events
            assert self.see() == was
            return
        assert self.session.events[:-1] == events
        self.before.append(was)

    def says_nothing(self, do):
        """As `says`; return whether nothing was stored, because it is refused or follows already."""
        was, events = self.see(), self.session.events
        with suppress(InfeasibleConstraintsError):
            do()
        if self.session.events == events:
            assert self.see() == was
            return True
        assert self.session.events[:-1] == events
        self.before.append(was)
        return False

    @precondition(lambda self: self.session.question is not None)
    @rule(said=ANSWERS, note=NOTES, seconds=SECONDS)
    def answer(self, said, note, seconds):
        pair = self.session.question.first, self.session.question.second
        self.says(lambda: self.session.answer(said, note=note, seconds=seconds))
        last = self.session.history[-1]
        assert (last.first, last.second, last.answer) == (*pair, said)
        assert last.seconds == (None if seconds is None else round(seconds, 3))
        assert last.note.split() == note.split()

    @rule(size=st.integers(2, 7), places=st.lists(st.integers(-1, 4), min_size=7, max_size=7), note=NOTES)
    def sort(self, size, places, note):
        """Each card goes into a pile that is there, into a new one, or nowhere (-1)."""
        self.session.release()
        screens = self.session.sets(size)
        if not screens:
            return
        piles = {at: list(pile) for at, pile in enumerate(screens[0].known)}
        unsure = [card for card, at in zip(screens[0].cards, places, strict=False) if at < 0]
        for card, at in zip(screens[0].cards, places, strict=False):
            if at >= 0:
                piles.setdefault(at, []).append(card)
        n = len(self.session.events)
        self.says(lambda: self.session.sort(piles.values(), unsure, question_id=screens[0].id, note=note))
        if len(self.session.events) > n:
            sorting = self.session.history[-1].sorting
            assert {*sorting.order} == {*screens[0].rows}
            for pile in piles.values():
                assert len({self.session.labels[row] for row in pile}) == 1

    @rule(pair=PAIRS, kind=KINDS)
    def add(self, pair, kind):
        wanted = "yes" if kind == "must-link" else "no"
        known, n = self.session.evidence.verdict(*pair), len(self.session.events)
        self.says(lambda: self.session.add(*pair, kind))
        refused = known in ("yes", "no") and known != wanted
        assert len(self.session.events) == n + (not refused)
        assert self.session.evidence.verdict(*pair) == (known if refused else wanted)

    @rule(must=st.lists(PAIRS, max_size=4), cannot=st.lists(PAIRS, min_size=1, max_size=4))
    def bring_in(self, must, cannot):
        try:
            pairs = lw.Constraints(N_ROWS, must, cannot)
        except InfeasibleConstraintsError:
            return
        wanted = {(*pair, "yes") for pair in pairs.must_link.tolist()}
        wanted |= {(*pair, "no") for pair in pairs.cannot_link.tolist()}
        said = {(*sorted((fact.first, fact.second)), fact.answer) for fact in self.session.evidence}
        was, events = image(self.session), self.session.events
        if wanted <= said:  # nothing new: no event, and nothing to undo
            self.session.import_constraints(pairs, source="again")
            assert self.session.events == events
            assert image(self.session) == was
        else:
            self.says(lambda: self.session.import_constraints(pairs, source="import"))

    @rule(row=ROWS)
    def done(self, row):
        before = self.session.labels
        members = np.flatnonzero(before == before[row]).tolist()
        said = {*members} <= {o for o in range(N_ROWS) if self.session.evidence.verdict(row, o) == "yes"}
        was, events = image(self.session), self.session.events
        if said:  # all of it is known: no event, and nothing to undo
            assert self.session.set_done(row) == len(members)
            assert (image(self.session), self.session.events) == (was, events)
            return
        self.says(lambda: self.session.set_done(row))
        assert len(set(self.session.labels[members].tolist())) == 1
        question = self.session.question
        assert question is None or not {question.first, question.second} <= {*members}

    @rule(rows=st.lists(ROWS, min_size=1, max_size=4, unique=True), to=st.integers(-1, 3))
    def move(self, rows, to):
        labels, events = self.session.labels, self.session.events
        target = "new" if to < 0 else [None, *np.unique(labels[labels >= 0]).tolist()][: to + 1][-1]
        stay = set(labels[[row for row in range(N_ROWS) if row not in rows]].tolist())
        homes = set(labels[rows].tolist())
        if (target is None and not homes <= stay) or (isinstance(target, int) and target not in stay):
            with pytest.raises(SessionError):
                self.session.move(rows, target)
            assert self.session.events == events
            return
        n_stored = []
        if self.says_nothing(lambda: n_stored.append(self.session.move(rows, target))):
            return
        found, event = self.session.labels, self.session.events[-1]
        assert (event.kind, len(event.facts)) == ("move", n_stored[0])
        for fact in event.facts:
            assert (found[fact.first] == found[fact.second]) == (fact.answer == "yes")
        if target is None:
            assert all(fact.answer == "no" for fact in event.facts)
        else:  # rows of which nothing was said may follow them, or leave the cluster that they go to
            moved = [row for row in rows if labels[row] != target]
            assert len(set(found[moved].tolist())) == 1

    @rule(row=ROWS, name=st.sampled_from(["", "A", " A  b ", "<b>"]))
    def name_it(self, row, name):
        names, wanted = names_of(self.session.events), " ".join(name.split())
        if names.get(row, "") == wanted and next(reversed(names), row) == row:
            events = self.session.events
            self.session.set_name(row, name)
            assert self.session.events == events
            return
        asked, labels = self.session.question_id, self.session.labels
        self.says(lambda: self.session.set_name(row, name))
        assert self.session.names == {r: n for r, n in {**names, row: wanted}.items() if n}
        cluster = int(labels[row])
        assert self.session.cluster_names.get(cluster, "") == wanted
        assert self.session.labels.tolist() == labels.tolist()
        assert asked == self.session.question_id  # who has seen the question may still answer

    @precondition(lambda self: any(e.kind in ("answer", "add") for e in self.session.history))
    @rule(at=st.integers(0, 100), said=ANSWERS)
    def change(self, at, said):
        able = [e for e in self.session.history if e.kind in ("answer", "add")]
        event = able[at % len(able)]
        if event.answer != said:
            self.says(lambda: self.session.change(event.number, said))

    @precondition(lambda self: any(e.kind in ("answer", "add") for e in self.session.history))
    @rule(at=st.integers(0, 100), note=NOTES, source=st.sampled_from(["", "anna"]))
    def note(self, at, note, source):
        able = [e for e in self.session.history if e.kind in ("answer", "add")]
        event, events = able[at % len(able)], self.session.events
        asked, shown = self.session.question_id, present(self.session)
        wanted = "\n".join(line.rstrip() for line in note.strip().splitlines())
        if wanted == event.note:
            self.session.note(event.number, note, source=source)
            assert self.session.events == events
            return
        self.says(lambda: self.session.note(event.number, note, source=source))
        found = next(e for e in self.session.history if e.number == event.number)
        assert remark(found) == (event.seconds, wanted, source)
        assert found == event  # no learner can tell
        assert asked == self.session.question_id  # who has seen the question may still answer
        assert present(self.session) == shown

    @rule(text=st.sampled_from(["", "By colour.", " By colour.\n", "By size."]))
    def write_guidelines(self, text):
        asked, shown, events = self.session.question_id, present(self.session), self.session.events
        if text.strip() == self.session.guidelines:
            self.session.set_guidelines(text)
            assert self.session.events == events
        else:
            self.says(lambda: self.session.set_guidelines(text))
        assert self.session.guidelines == text.strip()
        assert (asked, shown) == (self.session.question_id, present(self.session))

    @rule(pair=PAIRS, answer=st.sampled_from(["yes", "no", None]))
    def show_an_example(self, pair, answer):
        """None takes the example away."""
        asked, shown = self.session.question_id, present(self.session)
        known = {frozenset(each[:2]): each.answer for each in self.session.examples}
        if answer is None and frozenset(pair) in known:
            self.says(lambda: self.session.remove_example(*pair))
        elif answer is not None and [*known.items()][-1:] != [(frozenset(pair), answer)]:
            self.says(lambda: self.session.add_example(*pair, answer))
        if answer is not None:
            assert {*self.session.examples[-1][:2]} == {*pair}
        assert (asked, shown) == (self.session.question_id, present(self.session))

    @rule(cost=st.sampled_from([0, 0.5, 2]))
    def pay(self, cost):
        was, before = self.see(), self.session.costs.get("judge", 0.0)
        asked = self.session.question_id
        assert self.session.add_cost("judge", cost) == before + cost
        assert (self.see(), asked) == (was, self.session.question_id)
        assert self.reader.costs == self.session.costs

    @rule()
    def undo(self):
        n = len(self.session.events)
        undone = self.session.undo()
        if not self.before:
            assert undone is None
            assert len(self.session.events) == n
            return
        assert self.see() == self.before.pop()
        assert self.session.events[undone.number - 1] == undone

    @rule(said=ANSWERS, patience=st.integers(0, 6))
    def look_ahead(self, said, patience):
        was, events, patience = image(self.session), self.session.events, iter(range(patience))
        self.session.look_ahead(said, stop=lambda: next(patience, None) is None)
        assert (image(self.session), self.session.events) == (was, events)

    @rule(reads=st.booleans())
    def look_ahead_both_ways(self, reads):
        """As a page does while a person reads; nothing is read before both runs are over, or all is."""
        was = image(self.session) if reads else None
        for said in ("no", "yes", "unsure"):
            self.session.look_ahead(said)
        assert was is None or image(self.session) == was

    @rule(said=st.sampled_from(["yes", "no"]))
    def a_second_reader_looks(self, said):
        """Another client, open all the time, that reads now and then and looks ahead itself."""
        self.reader.look_ahead(said)
        assert image(self.reader) == image(self.session)

    @rule()
    def close_and_open(self):
        self.session.close()
        self.session = Session.open(self.path, X)

    @rule()
    def go_on_in_a_copy(self):
        self.n_copies += 1
        copy = self.path.with_name(f"copy-{self.n_copies}.linkwise")
        self.session.save_copy(copy)
        self.session.close()
        self.reader.close()
        self.path, self.session, self.reader = copy, Session.open(copy, X), Session.open(copy, X)

    @rule()
    def another_learner_and_back(self):
        was = image(self.session)
        self.session.close()
        other = next(make for name, make in LEARNERS.items() if name != self.name)
        with Session.open(self.path, X, other()) as session:
            assert image(session)[2:5] == was[2:5]
            assert session.learner["name"] != self.name
        self.session = Session.open(self.path, X, ALL_LEARNERS[self.name]())
        assert image(self.session) == was

    @invariant()
    def opening_anew_changes_nothing(self):
        with Session.open(self.path, X) as other:
            assert image(other) == image(self.session)
            assert other.events == self.session.events
            assert [remark(e) for e in other.events] == [remark(e) for e in self.session.events]
            assert other.question_id == self.session.question_id

    @invariant()
    def what_is_shown_agrees(self):
        session, known = self.session, Evidence(N_ROWS)
        history, status = session.history, session.status
        for event in history:
            for fact in facts_of(event):
                known.add(*fact.pair, fact.answer)
        assert session.constraints == known.to_constraints()
        assert [v.sum() for v in session.constraints.find_violations(session.labels)] == [0, 0]
        assert sum(status.cluster_sizes) == status.n_rows == N_ROWS
        answers = [e.answer for e in history if e.kind == "answer"]
        assert (status.n_yes, status.n_no, status.n_unsure) == tuple(
            map(answers.count, ("yes", "no", "unsure"))
        )
        sortings = [event.sorting for event in history if event.sorting is not None]
        assert status.n_answers == len(answers) + len(sortings) == session.evidence.n_questions
        assert (status.n_screens, status.n_cards) == (len(sortings), sum(len(s.cards) for s in sortings))
        moved = sum(len(e.facts) for e in history if e.kind == "move")
        assert status.n_volunteered == moved + sum(e.kind == "add" for e in history)
        assert status.n_imported == sum(len(e.facts) for e in history if e.kind == "import")
        assert status.n_done == sum(e.kind == "done" for e in history)
        pairs = {tuple(sorted(fact.pair)) for fact in known if fact.answer != "unsure"}
        every = [(i, j) for i in range(N_ROWS) for j in range(i) if known.verdict(i, j) in ("yes", "no")]
        assert status.n_inferred == len(every) - len(pairs)
        assert (status.reason is None) == (session.question is not None)
        assert [e.number for e in session.events] == list(range(1, len(session.events) + 1))
        if session.question is not None:
            assert known.verdict(session.question.first, session.question.second) is None

    @invariant()
    def without_data_the_same_is_shown(self):
        with Session.open(self.path) as kept:
            assert kept.labels_are_current
            assert (kept.labels.tolist(), kept.status) == (self.session.labels.tolist(), self.session.status)
            assert (kept.history, kept.constraints) == (self.session.history, self.session.constraints)


TestDoing = pytest.mark.slow(Doing.TestCase)
TestDoing.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)


@pytest.mark.slow(nightly=True)
def test_doing_more():
    run_state_machine_as_test(
        Doing, settings=settings(max_examples=50, stateful_step_count=30, deadline=None)
    )


# ---------------------------------------------------------------- one by one
@pytest.mark.parametrize("said", ["yes", "no"])
def test_what_was_foreseen_is_not_computed_again(said, monkeypatch):
    """The split that an answer leads to is there when the answer comes."""
    from linkwise.learn import super_instances

    def session():
        made = lw.Session(wide, lw.COBRAS(random_state=0))
        made.answer("no")
        return made

    wide = np.random.default_rng(0).normal(size=(300, 3))
    calls = []
    k_means = super_instances.k_means
    monkeypatch.setattr(super_instances, "k_means", lambda *a, **k: calls.append(1) or k_means(*a, **k))
    plain, ready = session(), session()
    calls.clear()
    plain.answer(said)
    needed = len(calls)
    assert ready.look_ahead(said)
    calls.clear()
    ready.answer(said)
    assert not calls
    assert needed or said == "yes"
    assert present(ready) == present(plain)


@each_learner
@few_examples
@given(given_=st.lists(ANSWERS, max_size=8))
def test_how_the_clustering_came_about_is_reported_again(learner, given_):
    session = lw.Session(X, learner())
    seen = [(0, session.labels.tolist())]
    for said in given_:
        if session.question is not None:
            session.answer(said)
            seen.append((session.events[-1].number, session.labels.tolist()))
    assert [(number, labels.tolist()) for number, labels in session.replay_labels()] == seen
    session.set_name(3, "three")
    session.undo()
    assert [(number, labels.tolist()) for number, labels in session.replay_labels()] == seen


@pytest.mark.slow
@each_learner
@few_examples
@given(given_=st.lists(ANSWERS, min_size=1, max_size=6), at=st.integers(0, 5), name=st.booleans())
def test_what_is_taken_back_was_never_said(learner, given_, at, name):
    """Any event, not the last one alone, with the changes that were made to it."""
    session, other = lw.Session(X, learner()), lw.Session(X, learner())
    for said in given_:
        if session.question is not None:
            session.answer(said)
    if name:
        session.set_name(3, "three")
        other.set_name(3, "three")
    event = session.history[at % len(session.history)]
    session.change(event.number, "unsure")  # a doubt contradicts nothing
    assert session.undo(event.number).number == event.number
    assert event.number not in [e.number for e in session.history]
    for e in session.history:
        if e.answer != "unsure":
            other.add(e.first, e.second, "must-link" if e.answer == "yes" else "cannot-link")
    assert session.constraints == other.constraints
    assert session.names == other.names
    with pytest.raises(SessionError, match=f"event {event.number} that can be undone"):
        session.undo(event.number)


@pytest.mark.slow
@each_learner
@few_examples
@given(data=st.data(), pairs=st.lists(PAIRS, min_size=2, max_size=10, unique=True))
def test_the_order_of_what_comes_before_the_first_answer_does_not_matter(learner, data, pairs):
    """In one import or in many, volunteered or imported: the same question and clusters."""
    together = lw.Session(X, learner())
    together.import_constraints(true_pairs(pairs))
    apart = lw.Session(X, learner())
    for at, (i, j) in enumerate(data.draw(st.permutations(pairs))):
        if data.draw(st.booleans()):
            apart.add(i, j, "must-link" if Y[i] == Y[j] else "cannot-link")
        else:
            apart.import_constraints(true_pairs([(i, j)]), source=str(at))
    assert asked_and_parted(apart) == asked_and_parted(together)
    assert apart.constraints == together.constraints
    assert answer_by(apart, TRUTH) == answer_by(together, TRUTH)
    assert asked_and_parted(apart) == asked_and_parted(together)


@each_learner
@few_examples
@given(given_=st.lists(ANSWERS, min_size=1, max_size=6), at=st.integers(0, 5), new=ANSWERS)
def test_a_change_is_as_if_it_had_been_said_from_the_start(learner, given_, at, new):
    session = lw.Session(X, learner())
    for said in given_:
        if session.question is not None:
            session.answer(said)
    events = session.events
    event = events[at % len(events)]
    facts = [(e.first, e.second, new if e is event else e.answer) for e in events]
    known = Evidence(N_ROWS)
    try:
        for fact in facts:
            known.add(*fact)
    except InfeasibleConstraintsError:
        with pytest.raises(InfeasibleConstraintsError):
            session.change(event.number, new)
        assert session.events == events
        return
    session.change(event.number, new)
    assert session.constraints == known.to_constraints()
    assert [(e.first, e.second, e.answer) for e in session.history] == facts
    if event is events[-1]:  # then the learner, too, is where it would be
        other = lw.Session(X, learner())
        for said in [*given_[: event.number - 1], new]:
            other.answer(said)
        assert image(session) == image(other)


@each_learner
@few_examples
@given(data=st.data(), n=st.integers(0, 5))
def test_what_was_taken_back_leaves_no_trace(learner, data, n):
    """A session with detours is in the state of one without."""
    plain, winding = lw.Session(X, learner()), lw.Session(X, learner())
    for _ in range(n):
        if plain.question is None:
            break
        for said in data.draw(st.lists(ANSWERS, max_size=2)):
            if winding.question is not None:
                winding.answer(said)
                winding.add(0, N_ROWS - 1, "must-link") if said == "unsure" else None
                while winding.status.n_answers > plain.status.n_answers:
                    winding.undo()
        said = data.draw(ANSWERS)
        plain.answer(said)
        winding.answer(said)
    assert present(plain) == present(winding)
    assert plain.status == winding.status
    assert [e.answer for e in plain.history] == [e.answer for e in winding.history]


@pytest.mark.slow
@each_learner
@few_examples
@given(said=st.lists(ANSWERS, max_size=5), at=st.integers(0, 5))
def test_from_memory_to_a_file_is_as_in_the_file_from_the_start(learner, said, at):
    source = {"file": "a.csv", "columns": ("x", "y"), "n": np.int64(3)}
    with tempfile.TemporaryDirectory() as folder:
        from_memory = lw.Session(X, learner(), source=source)
        in_file = Session.open(Path(folder, "a.linkwise"), X, learner(), source=source)
        for step in range(6):
            if step == at:
                from_memory.save(Path(folder, "b.linkwise"))
            for session in (from_memory, in_file):
                if step < len(said) and session.question is not None:
                    session.answer(said[step])
                elif step == len(said):
                    session.undo()
        for session in (from_memory, in_file):
            session.close()
        with (
            Session.open(Path(folder, "b.linkwise"), X) as one,
            Session.open(in_file._journal.store.path, X) as two,
        ):
            assert image(one) == image(two)
            assert [told(e) for e in one.events] == [told(e) for e in two.events]
            assert one.source == two.source == {"file": "a.csv", "columns": ["x", "y"], "n": 3}
            assert one.learner == two.learner


# ---------------------------------------------------------------- seeds and learners
def test_a_seed_that_was_drawn_is_kept(tmp_path):
    path = tmp_path / "s.linkwise"
    drawn = lw.COBRAS(n_init=1, random_state=np.random.RandomState(3))
    with Session.open(path, X, drawn) as session:
        answer_by(session, TRUTH, 4)
        was = image(session)
    for again in (None, lw.COBRAS(n_init=1), lw.COBRAS(n_init=1, random_state=np.random.RandomState(8))):
        with Session.open(path, X, again) as session:
            assert image(session) == was
    with Session.open(path, X, lw.COBRA(6, random_state=5)) as session:
        assert present(session) != was[0]
    with Session.open(path, X, lw.COBRAS(n_init=1)) as session:
        assert image(session) == was


def test_parameters_are_kept_as_they_are(tmp_path):
    path = tmp_path / "s.linkwise"
    learner = lw.COBRAS(
        max_split=np.int64(5), descend="largest", impure_first=np.bool_(False), random_state=4
    )
    Session.open(path, X, learner).close()
    with Session.open(path, X) as session:
        assert session.learner == {
            "name": "COBRAS",
            "parameters": {**learner.get_params(), "max_split": 5, "impure_first": False},
        }
        assert type(session.learner["parameters"]["impure_first"]) is bool


def test_a_learner_that_cannot_run_is_not_taken(tmp_path):
    path = tmp_path / "s.linkwise"
    with pytest.raises(ValueError, match="n_super_instances"):
        Session.open(path, X, lw.COBRA(0))
    assert not path.exists()
    with Session.open(path, X, lw.COBRA(6, random_state=0)) as session:
        answer_by(session, TRUTH, 2)
        was = image(session)
    with pytest.raises(ValueError, match="n_init"):
        Session.open(path, X, lw.COBRAS(n_init="many"))
    with Session.open(path, X) as session:
        assert image(session) == was


# ---------------------------------------------------------------- small things
def test_what_a_session_hands_out_is_not_its_own(tmp_path):
    session = Session.open(tmp_path / "s.linkwise", X, LEARNERS["COBRAS"](), source={"a": 1})
    answer_by(session, TRUTH, 5)
    was = image(session)
    session.labels[:] = 9
    session.events.clear()
    session.history.clear()
    session.ids.clear()
    session.source["a"] = 2
    assert image(session) == was
    assert (len(session.events), len(session.ids), session.source) == (5, N_ROWS, {"a": 1})


def test_the_same_answer_again_is_no_change():
    session = lw.Session(X, LEARNERS["COBRAS"]())
    session.answer("no")
    session.change(1, False)
    assert len(session.events) == 1


@pytest.mark.parametrize("number", [0, 2, 3, 4, 99, "1"])
def test_only_answers_that_hold_can_be_changed(number):
    session = lw.Session(X, LEARNERS["COBRAS"]())
    session.answer("no")
    session.import_constraints(true_pairs([(0, 1), (0, 3)]))
    session.answer("no")
    session.undo()
    with pytest.raises(SessionError, match=f"Event {number} is not an answer that can be changed"):
        session.change(number, "yes")
    assert len(session.events) == 4


@pytest.mark.parametrize("wrong", ["y", 1, None, "Yes", 0.0])
def test_a_wrong_answer_is_refused_and_nothing_happens(wrong):
    session = lw.Session(X, LEARNERS["COBRAS"]())
    was = image(session)
    with pytest.raises(TypeError, match="Pass 'same' or 'yes', 'different' or 'no'"):
        session.answer(wrong)
    assert (image(session), session.events) == (was, [])
    session.answer("yes")
    with pytest.raises(TypeError, match="Pass 'same' or 'yes', 'different' or 'no'"):
        session.change(1, wrong)
    assert len(session.events) == 1


@pytest.mark.parametrize(
    ("given_", "kept"), [("same", "yes"), (True, "yes"), ("different", "no"), (False, "no")]
)
def test_an_answer_in_other_words_is_the_same_answer(given_, kept):
    session = lw.Session(X, LEARNERS["COBRAS"]())
    session.answer(given_)
    assert session.history[0].answer == kept
    session.change(1, "unsure")
    session.change(1, given_)
    assert session.history[0].answer == kept


def test_after_the_end_pairs_can_still_be_volunteered():
    session = lw.Session(X, LEARNERS["COBRAS"]())
    answer_by(session, TRUTH)
    assert session.question_id is None
    assert session.status.reason == "exhausted"
    with pytest.raises(SessionError, match="There is no question to answer"):
        session.answer("yes")
    session.add(0, 3, "must-link")
    assert session.status.n_volunteered == 1
    session.undo()
    session.undo()
    assert session.question is not None


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(pair=PAIRS)
def test_a_volunteered_pair_shows_in_the_labels_at_once(pair):
    session = lw.Session(X, LEARNERS["COBRAS"]())
    answer_by(session, TRUTH, 4)
    assume(session.evidence.verdict(*pair) is None)
    i, j = pair
    for kind in ("must-link", "cannot-link"):
        session.add(i, j, kind)
        assert (session.labels[i] == session.labels[j]) == (kind == "must-link")
        session.undo()


def test_pairs_that_were_all_said_before_make_no_event():
    session = lw.Session(np.arange(8.0)[:, None], lw.COBRA(random_state=0))
    pairs = lw.Constraints(8, [(2, 3)], [(0, 1)])
    session.import_constraints(pairs, source="one file")
    assert session.import_constraints(pairs, source="another") == 2
    assert [event.source for event in session.events] == ["one file"]
    session.import_constraints(lw.Constraints(8, [(2, 3)], [(0, 4)]))
    assert len(session.events) == 2


def test_a_change_on_which_other_answers_rest_is_not_taken_back_alone():
    session = lw.Session(X, LEARNERS["COBRAS"]())
    session.add(0, 1, "cannot-link")
    session.change(1, "yes")
    session.add(0, 2, "must-link")
    session.add(1, 2, "must-link")
    before = session.events
    with pytest.raises(SessionError, match="event 2 that can be undone"):
        session.undo(2)
    assert session.events == before
    session.undo(1)
    assert session.constraints.must_link.tolist() == [[0, 2], [1, 2]]
