"""Clusters of all rows of a stream by a clusterer that is fitted to a sample of them.

The sample has all rows that constraints name. Its rows keep the clusters that the clusterer gives them, and
``predict`` assigns all others.
"""

from __future__ import annotations

import warnings
from collections import Counter
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning
from linkwise.large import chunks
from linkwise.large.chunks import Chunk, RowStream, read_blocks
from linkwise.large.group_summary import check_same_rows
from linkwise.large.named_rows import NamedStreamRows
from linkwise.large.passes import Scaling, Survey, find_among, scale_block
from linkwise.large.ranges import map_blocks
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.types import Labels, Progress
from linkwise.validation import predicts_under_constraints


class SampledClusterer(Protocol):
    """A clusterer that takes constraints and assigns new rows."""

    labels_: Labels

    def fit(self, X: Any, /, *, constraints: Constraints | None = None) -> Any:
        """Cluster the rows."""

    def predict(self, X: Any, /) -> Labels:
        """Find the cluster of each row."""


def check_sampled_model(model: object) -> None:
    """Raise if a model cannot be fitted to a sample of the rows."""
    if not predicts_under_constraints(model):
        raise TypeError(
            "cluster_rows needs a clusterer that takes constraints and has predict, but model is a"
            f" {type(model).__name__}. Pass one such as PCKMeans, ClusILC or COBS, or summarise the rows by"
            " summary = linkwise.summarize(rows) and fit it to summary.X."
        )


def fit_sample(
    model: Any, survey: Survey, named: NamedStreamRows, scaled: NDArray[np.float32], progress: Progress | None
) -> NDArray[np.int64]:
    """Fit a model to the sample with all rows that constraints name, and return the numbers of its rows.

    `scaled` are the rows that constraints name, scaled.
    """
    numbers, first = np.unique(np.concatenate([survey.sample_rows, named.numbers]), return_index=True)
    sample = np.ascontiguousarray(np.concatenate([survey.sample, scaled])[first])
    place, c = np.searchsorted(numbers, named.numbers), named.constraints
    constraints = None
    if c.n_constraints:
        constraints = Constraints(
            len(numbers),
            place[c.must_link],
            place[c.cannot_link],
            must_link_weight=c.must_link_weight,
            cannot_link_weight=c.cannot_link_weight,
        )
    given = {"progress": progress} if progress is not None and has_fit_parameter(model, "progress") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)  # it would number rows as in the sample
        model.fit(sample, constraints=constraints, **given)
    return numbers


class SampleRule(NamedTuple):
    """How rows get their clusters."""

    scaling: Scaling
    model: Any
    """The fitted clusterer, without what only the sample needs."""
    numbers: NDArray[np.int64]
    """(m,) numbers of the rows of the sample, ascending."""
    labels: NDArray[np.int32]
    """(m,) their clusters."""

    def find_labels(self, block: Chunk) -> NDArray[np.int32]:
        """Find the cluster of each row of a block; -1 for noise."""
        labels = self.model.predict(scale_block(block, self.scaling)).astype(np.int32)
        at, here = find_among(block, self.numbers)
        labels[at] = self.labels[here]
        found: NDArray[np.int32] = labels
        return found

    def list_arrays(self) -> list[NDArray[Any]]:
        """List what decides the cluster of each row: the rule follows from the sample and the parameters."""
        given = repr(sorted(self.model.get_params().items(), key=repr)).encode()
        scaling = self.scaling.offset, self.scaling.scale
        return [np.frombuffer(given, dtype=np.uint8), *scaling, self.numbers, self.labels]


def spread_sample(
    model: Any,
    sampled: NDArray[np.int64],
    survey: Survey,
    stream: RowStream,
    engine: Engine = SERIAL_ENGINE,
) -> tuple[SampleRule, NDArray[np.int64]]:
    """Let a model that was fitted to a sample assign all rows, in one pass.

    Also return the size of each cluster. The model loses what it has for each row of the sample, whose
    numbers `sampled` ascend. Its ``approximation_``, if it has one, says that a sample was clustered.
    """
    labels = np.asarray(model.labels_, dtype=np.int32)
    for name in ("labels_", "constraints_"):
        vars(model).pop(name, None)
    small = copy(model)
    vars(small).pop("pool_", None)  # workers need the rule only
    rule = SampleRule(survey.scaling, small, sampled, labels)
    found = _count_clusters(stream, rule, engine)
    check_same_rows(found.total(), survey.n_rows)
    sizes = np.array([found[k] for k in range(int(labels.max()) + 1)], dtype=np.int64)
    if len(sampled) < survey.n_rows and hasattr(model, "approximation_"):
        of_sample = f"a sample of {len(sampled)} of {survey.n_rows} rows was clustered"
        others = f"every other row is in the cluster of its {model.rule_}"
        model.approximation_ = "; ".join(filter(None, [of_sample, model.approximation_, others]))
    return rule, sizes


def _count_clusters(stream: RowStream, rule: SampleRule, engine: Engine) -> Counter[int]:
    """Count the rows of each cluster, in one pass; -1 is noise."""
    sizes = Counter[int]()
    work = partial(_count_block, rule=rule)
    for found in map_blocks(partial(read_blocks, stream), work, stream.lengths(), 0, chunks.BLOCK, engine):
        sizes.update(found)
    return sizes


def _count_block(block: Chunk, rule: SampleRule) -> dict[int, int]:
    clusters, counts = np.unique(rule.find_labels(block), return_counts=True)
    return dict(zip(clusters.tolist(), counts.tolist(), strict=True))
