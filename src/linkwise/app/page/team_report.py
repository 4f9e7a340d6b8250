"""What a page shows about a team: how often each person is wrong, and how often two of them agree."""

from __future__ import annotations

from typing import Any

from linkwise.constraints.error_rates import SourceRate
from linkwise.session.session import Session
from linkwise.session.state.status import ENOUGH
from linkwise.session.team.agreement import SourceAgreement, SourceCounts, count_by_source

LEAST_COMMON = 10  # pairs that two sources answered, from which their kappa is shown


def describe_team(session: Session) -> dict[str, Any]:
    """Return the answers of each source and the agreement of each two, as values for JSON."""
    now = session.snapshot
    rates = session.error_rates.by_source if now.status.is_fallible else {}
    people = [_describe_source(each, rates.get(each.source)) for each in count_by_source(now.history)]
    pairs = [_describe_agreement(each) for each in session.agreement()]
    return {
        "people": people,
        "pairs": pairs,
        "least_answers": ENOUGH,
        "least_common": LEAST_COMMON,
    }


def _describe_source(counts: SourceCounts, rate: SourceRate | None) -> dict[str, Any]:
    """The counts of a source, and its error rate unless it has too few answers or none can be wrong."""
    n_given = counts.n_answers + counts.n_volunteered + counts.n_gold
    is_given = rate is not None and rate.low == rate.high
    is_shown = rate is not None and n_given > counts.n_certain
    is_shown = is_shown and (is_given or (rate is not None and rate.n_answers >= ENOUGH))
    return {
        "name": counts.source,
        "answers": counts.n_answers,
        "unsure": counts.n_unsure,
        "added": counts.n_volunteered,
        "gold": counts.n_gold,
        "gold_right": counts.n_gold_right,
        "median_seconds": counts.median_seconds,
        "error_rate": [rate.rate, rate.low, rate.high] if rate is not None and is_shown else None,
    }


def _describe_agreement(agreement: SourceAgreement) -> dict[str, Any]:
    """How often two sources agree; kappa only if they have enough common pairs."""
    has_kappa = agreement.kappa is not None and agreement.n_common >= LEAST_COMMON
    return {
        "names": [agreement.first, agreement.second],
        "common": agreement.n_common,
        "agreeing": agreement.n_agreeing,
        "kappa": [agreement.kappa, agreement.low, agreement.high] if has_kappa else None,
    }
