"""The status of a session: counts, cluster sizes, and the sentences of the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.constraints.error_rates import SourceRate
from linkwise.constraints.evidence import Evidence
from linkwise.learn.advice import StopAdvice
from linkwise.learn.item_labels import Shown, list_sizes
from linkwise.markup import draw_block
from linkwise.session.journal.events import Event
from linkwise.session.journal.stored_clustering import Doubts, ErrorRate
from linkwise.wording import count_noun, round_number

LEAST_SHARE = 0.005  # of wrong answers that is put into words: 1 in 200
ENOUGH = 10  # answers that say yes or no; a share of fewer says little


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a session.

    Attributes
    ----------
    n_rows : int
    n_answers, n_yes, n_no, n_unsure : int
        Answers to questions that are not undone. A screen of rows that were sorted is one answer, and neither
        yes, no nor unsure.
    n_volunteered, n_imported : int
        Pairs that were volunteered or imported.
    n_done : int
        Clusters that were marked as done: all their rows belong together.
    n_inferred : int
        Pairs of rows without an answer that follow from the answers.
    cluster_sizes : tuple of int
        Rows of each cluster, in order of cluster number.
    reason : str or None
        Why there is no question any more; None while there is one, or if the session was opened without
        its data.
    description : tuple of str
        Sentences of the learner about its state; empty if it has none, or if the stored labels are older
        than the last answer.
    is_fallible : bool
        Whether answers may be wrong.
    error_rate : ErrorRate or None
        The share of wrong answers with its 95 % interval. None if all answers count as right, and before the
        first answer.
    n_suspects : int
        Answers that are probably wrong.
    cluster_numbers : tuple of int
        The numbers of the clusters in `cluster_sizes`, as `Session.labels` has them; noise is -1.
    advice : StopAdvice or None
        Whether the learner advises to stop, how many rows may be in a wrong cluster, and how many pairs of
        clusters may be one. None if it gives no advice, or if the stored labels are older than the last
        answer.
    n_screens : int
        Screens that were sorted.
    n_cards : int
        Rows on them whose place was decided.
    """

    n_rows: int
    n_answers: int
    n_yes: int
    n_no: int
    n_unsure: int
    n_volunteered: int
    n_imported: int
    cluster_sizes: tuple[int, ...]
    reason: str | None
    description: tuple[str, ...] = ()
    n_done: int = 0
    n_inferred: int = 0
    is_fallible: bool = False
    error_rate: ErrorRate | None = None
    n_suspects: int = 0
    cluster_numbers: tuple[int, ...] = ()
    advice: StopAdvice | None = None
    n_screens: int = 0
    n_cards: int = 0

    def _repr_html_(self) -> str:
        caption = f"{count_noun(len(self.cluster_sizes), 'cluster')} of {count_noun(self.n_rows, 'row')}"
        return draw_block(caption, describe_status(self))


def build_status(
    history: Sequence[Event],
    labels: Shown,
    known: Evidence,
    reason: str | None,
    description: tuple[str, ...] = (),
    doubts: Doubts | None = None,
    advice: StopAdvice | None = None,
) -> Status:
    """Count the settled events, the pairs that follow from them, and the rows of each cluster."""
    answers = [e.answer for e in history if e.kind == "answer" and e.gold is None]
    sorted_rows = [e.sorting for e in history if e.sorting is not None]
    numbers, sizes = list_sizes(labels)
    return Status(
        n_rows=len(labels),
        n_answers=len(answers) + len(sorted_rows),
        n_yes=answers.count("yes"),
        n_no=answers.count("no"),
        n_unsure=answers.count("unsure"),
        n_volunteered=sum(len(e.facts) if e.kind == "move" else e.kind == "add" for e in history),
        n_imported=sum(len(e.facts) for e in history if e.kind == "import"),
        n_done=sum(e.kind == "done" for e in history),
        n_inferred=known.n_inferred,
        cluster_sizes=tuple(sizes.tolist()),
        reason=reason,
        description=description,
        is_fallible=doubts is not None,
        error_rate=None if doubts is None else doubts.error_rate,
        n_suspects=0 if doubts is None else len(doubts.suspects),
        cluster_numbers=tuple(numbers.tolist()),
        advice=advice,
        n_screens=len(sorted_rows),
        n_cards=sum(len(each.cards) for each in sorted_rows),
    )


def count_answers(status: Status) -> str:
    """Put the counts into words: ``3 answers: 2 same, 1 different, 0 not sure; 3 pairs imported``."""
    text, kinds = count_noun(status.n_answers, "answer"), []
    if status.n_answers > status.n_screens:
        kinds = [f"{status.n_yes} same", f"{status.n_no} different", f"{status.n_unsure} not sure"]
    if status.n_screens:
        kinds.append(f"{count_noun(status.n_screens, 'screen')} of {count_noun(status.n_cards, 'card')}")
    if kinds:
        text += f": {', '.join(kinds)}"
    numbers = ((status.n_volunteered, "added"), (status.n_imported, "imported"))
    others = [f"{count_noun(number, 'pair')} {how}" for number, how in numbers if number]
    return "; ".join([text, *([", ".join(others)] if others else [])])


def describe_status(status: Status) -> list[str]:
    """Put a status into sentences: the answers, what the learner says, and how many answers are wrong."""
    errors = describe_doubts(status)
    said = [*status.description, *describe_advice(status)]
    return [count_answers(status), *said, *([errors] if errors else [])]


def describe_doubts(status: Status) -> str:
    """Put the share of wrong answers and the suspects into words; empty if all answers count as right."""
    return f"{describe_errors(status)} {count_suspects(status)}".strip() if status.is_fallible else ""


def describe_advice(status: Status) -> list[str]:
    """Put the advice of the learner into words, the same for the page, the terminal and notebooks.

    For example ``You can stop here: about 12 of 500 rows may be in a wrong cluster, and probably at most
    20.`` and ``3 pairs of clusters may be one.`` While there are suspects, the first sentence asks to check
    them. A number that the learner has just said is not repeated.
    """
    advice, sentences = status.advice, []
    if advice is not None and advice.stop:
        checking = "Check the suspects before you stop."
        sentences = [checking if status.n_suspects else _describe_stop(status, advice)]
    if advice is not None and advice.n_open:
        sentences.append(f"{count_noun(advice.n_open, 'pair')} of clusters may be one.")
    return sentences


def _describe_stop(status: Status, advice: StopAdvice) -> str:
    """Put into words that you can stop, and how many rows may be in a wrong cluster then."""
    n_rows, number, rest = status.n_rows, 0, ""
    if advice.wrong is not None:
        number = round_number(advice.wrong * n_rows)
        rows = f"{f'about {number}' if number else 'almost none'} of {n_rows} rows"
        if not any(rows in sentence for sentence in status.description):
            rest = f": {rows} may be in a wrong cluster"
    most = min(n_rows, round_number((advice.most_wrong or 0) * n_rows, up=True))
    if most > number:
        where = f" of {n_rows} rows {'is' if most == 1 else 'are'} in a wrong cluster"
        rest += f", and probably at most {most}" if rest else f": probably at most {most}{where}"
    return f"You can stop here{rest}."


def describe_errors(status: Status) -> str:
    """Put the share of wrong answers into words; empty if all answers count as right.

    For example ``About 1 in 12 answers seems wrong (between 1 in 30 and 1 in 7).`` Empty, too, after
    fewer than ten answers and while there is no suspect: the estimate is then an assumption, not a finding.
    """
    if status.error_rate is None:
        return ""
    is_found = status.n_suspects > 0 and _count_verdicts(status) >= ENOUGH
    return _describe_rate(status.error_rate, is_found=is_found, whose="")


def describe_own_errors(rate: SourceRate | None) -> str:
    """Put the share of wrong answers of one person into words for that person, as `describe_errors` does."""
    if rate is None:
        return ""
    is_found = rate.n_doubted > 0 and rate.n_answers >= ENOUGH
    return _describe_rate((rate.rate, rate.low, rate.high), is_found=is_found, whose="of your ")


def _describe_rate(rate: tuple[float, float, float], *, is_found: bool, whose: str) -> str:
    """Put a share of wrong answers with its interval into words; empty if it is only an assumption so far."""
    share, low, high = rate
    if low == high:
        return f"linkwise assumes that {describe_percent(share)} {whose or 'of the '}answers are wrong."
    if not is_found:
        return ""
    return f"About {describe_share(share)} {whose}answers seems wrong ({describe_range(low, high)})."


def describe_range(low: float, high: float) -> str:
    """Put an interval of a share into words: ``between 1 in 30 and 1 in 7``, ``at most 1 in 7``."""
    least = f"between {describe_share(low)} and" if low >= LEAST_SHARE else "at most"
    return f"{least} {describe_share(high)}"


def count_suspects(status: Status) -> str:
    """Put the number of suspects into words; empty while nothing says yes or no.

    For example ``2 answers are probably wrong.``
    """
    if _count_verdicts(status) == 0:
        return ""
    if status.n_suspects == 0:
        return "No answer seems wrong so far."
    verb = "is" if status.n_suspects == 1 else "are"
    return f"{count_noun(status.n_suspects, 'answer')} {verb} probably wrong."


def _count_verdicts(status: Status) -> int:
    """How many answers, cards and pairs say yes or no."""
    return status.n_yes + status.n_no + status.n_cards + status.n_volunteered + status.n_imported


def describe_share(share: float) -> str:
    """A share as one of a round number: ``1 in 12``, ``1 in 30``."""
    number = 1 / max(share, LEAST_SHARE)
    return f"1 in {round(number) if number < 15 else round(number, -1):.0f}"


def describe_percent(share: float) -> str:
    """A share in per cent; a small one is not rounded down to nothing."""
    percent = round(100 * share)
    return f"{max(percent, 1) if share > 0 else 0} %"
