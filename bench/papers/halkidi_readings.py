"""Table I of Halkidi et al. (2008) under other readings of what the paper leaves open.

Open are: whether columns are scaled; whether rows are centred before the decomposition; whether the
dimensions keep their singular values; whether there are rounds (Section 3.5) or all dimensions are tuned
together; which MPCKMeans; how far Xing's weights are optimised; what a step is a fraction of; whether the
density in S_Dbw is an average, as the text says, or a quarter of it, as Equation 5 says; how k-means
starts; whether constraints that follow from others count; and which t-test. All combinations of the first
five run on the four smaller sets, and the others one at a time. Some single changes also run on spam.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.harness import read_target
from bench.papers.halkidi_runs import (
    COMPETITORS,
    MADE,
    MEAN_DENSITY,
    MEAN_STEPS,
    ONE_METRIC,
    ONE_START,
    OPTIMUM,
    OURS,
    PRINTED,
    PRIOR,
    SPACES,
    TOGETHER,
    XING_OPTIMUM,
    Setting,
)
from bench.papers.halkidi_tests import (
    NOT_TESTABLE,
    SAME,
    Found,
    format_p,
    judge_test,
    one_tailed,
    read_values,
)

SMALL = ("iris", "diabetes", "ionosphere", "soybean")
TASKS = (*SMALL, "spam")
FEATURES = ("raw", "unit", "standardized")
BEST = 8  # combinations that are shown
READING_FIELDS = ("reading", *TASKS, "same", NOT_TESTABLE, "of")
COUNT_FIELDS = ("task", "competitor", "same", "of")
READING_TESTS = ("reading", "task", "competitor", "ours", "theirs", "p", "conclusion")
WORDS = {  # what a reading does instead of the letter
    "raw": "",
    "unit": "columns in 0 to 1",
    "standardized": "standardized columns",
    "svd": "",
    PRINTED: "",
    TOGETHER: "all dimensions together",
    OPTIMUM: "from the optimum of Xing's weights",
    MEAN_STEPS: "steps of the mean weight",
    MEAN_DENSITY: "mean density in S_Dbw",
    "MPCKMeans": "",
    ONE_METRIC: "MPCKMeans with one metric",
    PRIOR: "MPCKMeans with a prior",
}


class Reading(NamedTuple):
    """How Table I is computed; the defaults are the letter."""

    features: str = "raw"
    space: str = "svd"
    ours: str = PRINTED
    mpck: str = "MPCKMeans"
    start: str = ""
    shares: tuple[int, int] = (5, 6)
    pairs: str = "drawn"
    is_paired: bool = False

    @property
    def words(self) -> str:
        """What differs from the letter."""
        parts = [WORDS.get(part, part) for part in self[:4]]
        parts += ["one random start"] * bool(self.start) + ["implied constraints"] * (self.pairs != "drawn")
        parts += ["10 % of the rows for each kind"] * (self.shares != (5, 6)) + [
            "paired test"
        ] * self.is_paired
        return ", ".join(filter(None, parts)) or "letter"

    def setting(self, task: str, method: str) -> Setting:
        """Return the setting of a method, which is one of the competitors or `ours`."""
        known = self.mpck if method == "MPCKMeans" else method
        if self.ours == OPTIMUM and method == "KMeans + Xing":
            known = XING_OPTIMUM
        start = "" if known.startswith("MPCKMeans") else self.start
        return Setting(task, self.features, self.space, known + start, *self.shares, pairs=self.pairs)


SPACED = [space for space in SPACES if space != "columns"]
COMBINED = [
    Reading(features, space, ours, mpck)
    for features in FEATURES
    for space in SPACED
    for ours in (PRINTED, TOGETHER)
    for mpck in ("MPCKMeans", ONE_METRIC, PRIOR)
]
SINGLE = [
    *(one for one in COMBINED if sum(a != b for a, b in zip(one, Reading(), strict=True)) <= 1),
    Reading(ours=OPTIMUM),
    Reading(ours=MEAN_STEPS),
    Reading(ours=MEAN_DENSITY),
    Reading(space="columns"),
    Reading(start=ONE_START),
    Reading(pairs="closure"),
    Reading(shares=(10, 10)),
    Reading(is_paired=True),
]


ON_SPAM = (
    Reading(),
    Reading(ours=TOGETHER),
    Reading(ours=OPTIMUM),
    Reading(mpck=ONE_METRIC),
    Reading(mpck=PRIOR),
    Reading(space="columns"),
    Reading(is_paired=True),
)


CHOSEN = Reading(space="centred svd, equal scales", mpck=ONE_METRIC)
"""The reading that gave most conclusions of Table I in the first ten runs. Other runs judge it."""
ROUNDS_OF_RUNS = ("first", "second", "third")  # a number of runs each; the first chose the reading
CHOSEN_FIELDS = (
    "task", "competitor", "printed p", "theirs", "ours",
    *(field for part in ROUNDS_OF_RUNS for field in (f"{part} p", part)), "all p", "all",
)  # fmt: skip


def translate(setting: Setting) -> Setting:
    """Return the setting of the chosen reading that stands for one of the letter.

    The rivals see made-up sets as they are: the paper decomposes rows for all methods in its comparison of
    UCI sets only.
    """
    is_alone = setting.task in MADE and setting.method != PRINTED
    space = "columns" if is_alone else CHOSEN.space if setting.space == "svd" else setting.space
    method = CHOSEN.mpck if setting.method == "MPCKMeans" else setting.method
    return setting if setting.method == OURS else setting._replace(space=space, method=method)


def list_chosen(found: Found, tasks: Sequence[str]) -> list[tuple[str, ...]]:
    """Table I by the chosen reading: three times as many runs, in three parts and together.

    A set with fewer runs has the second part only.
    """
    most = max(map(len, found.values()))
    lines = []
    for row in read_target("halkidi_table1.csv"):
        for competitor in COMPETITORS if row["task"] in tasks else ():
            both = [read_values(found[CHOSEN.setting(row["task"], m)]) for m in (CHOSEN.ours, competitor)]
            printed = float(row[competitor])
            line = [row["task"], competitor, f"{printed:.2g}", *(f"{both[at].mean():.3f}" for at in (1, 0))]
            parts = [np.array_split(values, len(ROUNDS_OF_RUNS)) for values in both]
            if len(both[0]) < most:
                tests: list[Any] = [None, both, None, None]
            else:
                tests = [*zip(*parts, strict=True), both]
            for samples in tests:
                p = one_tailed(*samples)[0] if samples else float("nan")
                line += [format_p(p), judge_test(p, printed)] if samples else ["", ""]
            lines.append(tuple(line))
    return lines


def list_tasks(reading: Reading) -> tuple[str, ...]:
    """The sets of a reading."""
    return TASKS if reading in ON_SPAM else SMALL


def list_reading_settings(tasks: Sequence[str]) -> list[Setting]:
    """All settings of all readings."""
    return list(
        dict.fromkeys(
            reading.setting(task, method)
            for reading in (*SINGLE, *COMBINED)
            for task in list_tasks(reading) if task in tasks
            for method in (*COMPETITORS, reading.ours)
        )
    )  # fmt: skip


def list_tests(found: Found) -> list[tuple[str, ...]]:
    """All tests of all readings."""
    lines = []
    for reading in dict.fromkeys((*SINGLE, *COMBINED)):
        for row in read_target("halkidi_table1.csv"):
            for competitor in COMPETITORS if row["task"] in list_tasks(reading) else ():
                both = [reading.setting(row["task"], method) for method in (reading.ours, competitor)]
                if both[0] not in found:
                    continue
                ours, theirs = (read_values(found[s]) for s in both)
                p = one_tailed(ours, theirs)[reading.is_paired]
                means = (f"{values.mean():.3f}" for values in (ours, theirs))
                verdict = judge_test(p, float(row[competitor]))
                lines.append((reading.words, row["task"], competitor, *means, format_p(p), verdict))
    return lines


def count_readings(found: Found) -> list[tuple[str, ...]]:
    """In how many readings each test has the printed conclusion."""
    verdicts: dict[tuple[str, str], list[str]] = {}
    for _, task, competitor, *_, verdict in list_tests(found):
        verdicts.setdefault((task, competitor), []).append(verdict)
    return [(*test, str(each.count(SAME)), str(len(each))) for test, each in verdicts.items()]


def list_readings(found: Found) -> list[tuple[str, ...]]:
    """How many conclusions are the printed ones: one change at a time, then the best combinations."""
    verdicts: dict[str, dict[str, list[str]]] = {}
    for words, task, *_, verdict in list_tests(found):
        verdicts.setdefault(words, {}).setdefault(task, []).append(verdict)
    single = [one.words for one in SINGLE]
    combined = sorted(
        (words for words in verdicts if words not in single),
        key=lambda words: -sum(each.count(SAME) for each in verdicts[words].values()),
    )
    lines = []
    for words in (*single, *combined[:BEST]):
        by_task = verdicts[words]
        counts = [str(by_task[task].count(SAME)) if task in by_task else "" for task in TASKS]
        every = [verdict for each in by_task.values() for verdict in each]
        totals = (every.count(SAME), every.count(NOT_TESTABLE), len(every))
        lines.append((words, *counts, *map(str, totals)))
    return lines
