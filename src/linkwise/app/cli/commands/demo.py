"""``linkwise demo``: the dialogue on bundled data, by hand or answered by the known classes.

The classes answer with ``--auto``, and where input or output is no terminal. With ``--terminal`` the dialogue
reads answers line by line there, as ``linkwise ask`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console, RenderableType
from rich.text import Text

from linkwise.app.cli.commands.ask import NOTHING_KEPT, open_reader, report_interrupt
from linkwise.app.cli.commands.serve import PageAddress, PageSource, can_open, serve_page
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.method_choice import MethodChoice, build_first_learner
from linkwise.app.project.options import ERROR_RATE, rate_of_new_session, rate_of_old_session
from linkwise.app.terminal import screen
from linkwise.app.terminal.console import PairView, Terminal
from linkwise.app.terminal.dialogue import run_dialogue
from linkwise.app.terminal.keys import is_interactive
from linkwise.app.terminal.pair_views import choose_pair_view
from linkwise.data.demo_sets import DemoSet, load_demo
from linkwise.learn.learner import Question
from linkwise.learn.oracles import TruthOracle
from linkwise.session.session import Session
from linkwise.session.state.status import count_answers
from linkwise.wording import count_noun, quote_command

if TYPE_CHECKING:
    from linkwise.app.page.presenter import Presenter

AUTO_BUDGET = 100
AUTO_STEPS = 10  # lines that are printed on the way


def demo(
    name: str,
    *,
    auto: bool,
    budget: int | None,
    seed: int,
    session: Path | None,
    error_rate: float | str | None = None,
    terminal: bool = False,
    port: int | None = None,
    browser: bool | None = None,
) -> None:
    """Ask about bundled data; let their classes answer if wanted, or if nobody is there to answer."""
    wants_page = port is not None or browser is not None
    if wants_page and (auto or terminal):
        flag = "--auto" if auto else "--terminal"
        raise UsageError(
            f"--port and --browser are about the page, which {flag} does not open. Use one of them."
        )
    if wants_page or (not auto and not terminal and can_open()):
        address = PageAddress(port=port or 0, browser=browser is not False)
        source = prepare_demo(name, session, budget=budget, seed=seed, error_rate=error_rate)
        serve_page(source, address)
        return
    data = load_demo(name)
    console = Console()
    again = quote_command("linkwise", "demo", name, *_options(seed, session, error_rate))
    with open_demo_session(data, seed, session, error_rate) as held, report_interrupt(held, session, again):
        if auto or not (terminal or is_interactive()):
            answer_by_classes(console, held, data, AUTO_BUDGET if budget is None else budget)
        else:
            ask_on_terminal(console, held, data, budget, session, again)


def open_demo_session(
    data: DemoSet, seed: int, path: Path | None, error_rate: float | str | None = None
) -> Session:
    """The session of a demo: in memory, or in a file if one is wanted."""
    X, source = data.X, {"demo": data.name}
    if path is not None and path.exists():
        with Session.open(path) as kept:
            made_for = kept.source.get("demo")
        if made_for != data.name:
            raise UsageError(f"{path} is not a session of the demo {data.name}. Choose another --session.")
        return Session.open(path, X, error_rate=rate_of_old_session(error_rate))
    learner, rate = build_first_learner(MethodChoice(seed=seed)), rate_of_new_session(error_rate)
    if path is None:
        return Session(X, learner, source=source, error_rate=rate)
    return Session.open(path, X, learner, source=source, error_rate=rate)


def _options(seed: int, session: Path | None, error_rate: float | str | None) -> tuple[object, ...]:
    options: tuple[object, ...] = ("--seed", seed) if seed else ()
    if error_rate is not None:
        options = (*options, ERROR_RATE.flag, error_rate)
    return options if session is None else (*options, "--session", session)


# ---------------------------------------------------------------- on the page
def prepare_demo(
    name: str,
    path: Path | None = None,
    *,
    budget: int | None = None,
    seed: int = 0,
    error_rate: float | str | None = None,
) -> PageSource:
    """The page about bundled data, with the session in memory or in a file."""
    presenters: list[Presenter] = []

    def begin() -> Presenter:
        from linkwise.app.page.opening import present_demo

        data = load_demo(name)
        session = open_demo_session(data, seed, path, error_rate)
        presenters.append(present_demo(session, data, path=path, budget=budget))
        return presenters[0]

    def ended(n_answers: int | None) -> str:
        told = (
            f". Agreement with the known classes (ARI): {presenters[0].agreement():.2f}" if n_answers else ""
        )
        if path is None:
            return NOTHING_KEPT + told
        saved = f"{count_noun(n_answers or 0, 'answer')} saved in {path}"
        again = quote_command("linkwise", "demo", name, *_options(seed, path, error_rate))
        return f"Interrupted: {saved}{told}. Go on with: {again}"

    return PageSource(name, begin, ended)


# ---------------------------------------------------------------- by hand
def ask_on_terminal(
    console: Console,
    session: Session,
    data: DemoSet,
    budget: int | None,
    path: Path | None,
    again: str,
) -> None:
    """The dialogue; at the end, how well the clusters match the classes that nobody saw."""
    told = ["Judge by what you see. Your clusters are compared with the known classes at the end."]
    if session.status.n_answers:
        told.insert(0, f"resumed: {count_answers(session.status)}")
    console.print(
        screen.draw_opening(f"{data.name}: {len(data.X)} rows ({data.source})", told), highlight=False
    )
    keep = (
        []
        if path is None
        else [
            ("go on", again),
            ("clusters as rules", f"linkwise explain {path}"),
            ("clusters as CSV", f"linkwise export {path}"),
        ]
    )
    terminal = Terminal(
        console,
        make_pair_view(data),
        "row {}".format,
        budget=budget,
        commands=lambda *_: keep,
        with_later=True,
    )
    with open_reader(with_suspects=session.status.is_fallible) as read:
        run_dialogue(session, terminal, read, budget=budget)
    console.print(
        Text(f"agreement with the known classes (ARI): {agreement_with_classes(session, data):.2f}")
    )
    console.print(Text("on your own data: linkwise ask FILE.csv"))


def make_pair_view(data: DemoSet) -> PairView:
    """How two rows are drawn: as pictures, texts or curves, or as columns of values."""
    if data.items is None:
        return _make_table_view(data)
    if data.items.pixels is None:
        return choose_pair_view(data.items, "row {}".format)
    pixels = data.items.pixels

    def draw(question: Question, _width: int, _lines: int) -> RenderableType:
        rows = (question.first, question.second)
        pictures = [screen.draw_picture(pixels(row).tolist(), 255.0) for row in rows]
        return screen.picture_pair((f"row {rows[0]}", f"row {rows[1]}"), *pictures)

    return draw


def _make_table_view(data: DemoSet) -> PairView:
    assert data.units is not None
    values, scaled, columns = data.units.X, data.X, data.units.feature_names

    def item(row: int) -> Mapping[str, str]:
        return {name: f"{value:g}" for name, value in zip(columns, values[row].tolist(), strict=True)}

    def draw(question: Question, width: int, lines: int) -> RenderableType:
        first, second = question.first, question.second
        ends = zip(columns, scaled[first].tolist(), scaled[second].tolist(), strict=True)
        rows = screen.pair_rows(item(first), item(second), {name: (a, b) for name, a, b in ends})
        names = (f"row {first}", f"row {second}")
        return screen.pair_table(names, rows, width=width, most=lines)

    return draw


# ---------------------------------------------------------------- answered by the classes
def answer_by_classes(console: Console, session: Session, data: DemoSet, budget: int) -> None:
    """Let the classes answer, and print how the clusters come to match them."""
    print_ = _printer(console)
    classes = f"{len(data.X)} rows, {len(data.label_names)} classes"
    print_(f"{data.name}: {classes}; the classes answer {count_noun(budget, 'question')}")
    print_("questions  clusters   ARI")
    oracle = TruthOracle(data.y)
    step = max(1, budget // AUTO_STEPS)
    while True:
        asked = session.status.n_answers
        question = session.question if asked < budget else None
        if question is None or asked % step == 0:
            ari = agreement_with_classes(session, data)
            print_(f"{asked:>9}  {_count_clusters(session.labels):>8}  {ari:>4.2f}")
        if question is None:
            break
        session.answer(oracle(question.first, question.second))
    print_(f"{count_answers(session.status)}.")
    print_("ARI: 1 is the known classes exactly, 0 is chance. Judge yourself: linkwise demo " + data.name)


def _printer(console: Console) -> Callable[[str], None]:
    return lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True)


def _count_clusters(labels: ArrayLike) -> int:
    return len(np.unique(labels))


def agreement_with_classes(session: Session, data: DemoSet) -> float:
    """Adjusted Rand index of the clusters and the known classes."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(data.y, session.labels))
