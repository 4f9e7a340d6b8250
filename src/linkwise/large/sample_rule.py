"""Clusters of all rows of a stream by the rule of a clusterer that was fitted to a sample of them.

Rows of the sample keep the clusters in which the clusterer put them. Every other row gets the cluster that
``predict`` says.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linkwise.large import chunks
from linkwise.large.chunks import Chunk, RowStream, read_blocks
from linkwise.large.item_summary import check_same_rows
from linkwise.large.passes import Scaling, Survey, find_among, scale_block
from linkwise.large.ranges import map_blocks
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.types import Labels


@runtime_checkable
class SampledClusterer(Protocol):
    """A clusterer whose fit to a sample says where every other row belongs."""

    random_state: Any
    rule_: str
    labels_: Labels
    n_clusters_: int
    n_features_in_: int
    approximation_: str | None

    def predict(self, X: Any, /) -> Labels:
        """Find the cluster of each row."""


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
    model: SampledClusterer,
    sampled: NDArray[np.int64],
    survey: Survey,
    stream: RowStream,
    engine: Engine = SERIAL_ENGINE,
) -> tuple[SampleRule, NDArray[np.int64]]:
    """Let the rule of a model that was fitted to a sample assign all rows, in one pass.

    Parameters
    ----------
    model : SampledClusterer
        The fitted clusterer; it loses ``labels_``, and ``approximation_`` says that a sample was clustered.
    sampled : ndarray of shape (m,)
        Numbers of the rows of the sample, ascending.
    survey : Survey
        The scaling and the number of all rows.
    stream : RowStream
        The rows.
    engine : Engine
        The processes or the cluster that read the rows.

    Returns
    -------
    (SampleRule, ndarray of shape (k,))
        The rule, and the number of rows of each cluster.
    """
    labels = np.asarray(model.labels_, dtype=np.int32)
    del model.labels_
    small = copy(model)
    vars(small).pop("pool_", None)  # workers need the rule only
    rule = SampleRule(survey.scaling, small, sampled, labels)
    found = _count_clusters(stream, rule, engine)
    check_same_rows(found.total(), survey.n_rows)
    sizes = np.array([found[k] for k in range(int(labels.max()) + 1)], dtype=np.int64)
    if len(sampled) < survey.n_rows:
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
