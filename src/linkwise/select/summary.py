"""Describe the state of a choice among clusterings for the user."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwise.constraints.evidence import Evidence
from linkwise.select.pool import Pool
from linkwise.select.ranking import Choice, rank_clusterings, report_choice
from linkwise.wording import count_noun


def describe_choice(pool: Pool, evidence: Evidence, first: int | None = None) -> list[str]:
    """Describe which clustering leads (`first`, or the first in rank), and how many fit every answer.

    Cost: O(clusterings x answers) comparisons.
    """
    yes, no = evidence.pairs_with_answer("yes"), evidence.pairs_with_answer("no")
    said = len(yes) + len(no)
    right = (pool.count_joined(yes) - pool.count_joined(no) + len(no)).astype(np.float64)
    first = int(rank_clusterings(pool, right)[0]) if first is None else first
    lines = [f"Leading: {format_choice(report_choice(pool, right, first))}."]
    fitting, broken = int((right == said).sum()), said - int(right[first])
    all_of_them = count_noun(len(pool), "different clustering")
    if not said:
        lines.append(f"No answer decides yet; of {all_of_them} it agrees most with all.")
    elif fitting:
        lines.append(f"{fitting} of {all_of_them} fit{'s' * (fitting == 1)} every answer.")
    else:
        lines.append(f"None of {all_of_them} fits every answer; the leading one breaks {broken}.")
    if pool.sampled:
        n = len(pool.base_rows)
        lines.append(f"A sample of {n} rows was clustered; the others follow by the rule of the algorithm.")
    return lines


def format_choice(choice: Choice) -> str:
    """``spectral, nearest neighbours (K = 3, k = 5), 3 clusters``."""
    parameters = format_parameters(choice.parameters)
    named = f"{choice.algorithm} ({parameters})" if parameters else choice.algorithm
    return f"{named}, {choice.n_clusters} cluster" + "s" * (choice.n_clusters != 1)


def format_parameters(parameters: Mapping[str, object]) -> str:
    """``eps = 0.312, minPts = 5``, numbers as short as they can be told apart."""
    return ", ".join(
        f"{name} = {value:.3g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in parameters.items()
    )
