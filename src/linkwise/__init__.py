"""Constraint-based clustering: a few answers about pairs, and the clustering that you mean.

The public names are loaded when they are first used, so that importing linkwise costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwise._moved import keep_old_names

if TYPE_CHECKING:
    from linkwise.active.active_feature_weights import ActiveFeatureWeights
    from linkwise.active.cobras.cobra import COBRA
    from linkwise.active.cobras.cobras import COBRAS
    from linkwise.active.kin.kin import KIN
    from linkwise.active.known_k.explore_consolidate import ExploreConsolidate
    from linkwise.active.known_k.min_max import MinMax
    from linkwise.active.known_k.npu import NPU
    from linkwise.asking.learner import Question
    from linkwise.asking.oracles import TruthOracle
    from linkwise.cluster.feature_weights.feature_weights import FeatureWeightClustering
    from linkwise.cluster.graph.cosc import COSC
    from linkwise.cluster.graph.spcl import SPCL
    from linkwise.cluster.hierarchy.agglomerative import ConstrainedAgglomerative
    from linkwise.cluster.hierarchy.extract import extract
    from linkwise.cluster.hierarchy.fosc import FOSC
    from linkwise.cluster.kmeans.constrained_kmeans import ConstrainedKMeans
    from linkwise.cluster.kmeans.cop_kmeans import COPKMeans
    from linkwise.cluster.kmeans.mpckmeans import MPCKMeans
    from linkwise.cluster.kmeans.pckmeans import PCKMeans
    from linkwise.cluster.kmeans.seeded_kmeans import SeededKMeans
    from linkwise.cluster.similarity.bckm import BCKM
    from linkwise.cluster.similarity.boost_cluster import BoostCluster
    from linkwise.cluster.similarity.ckm import CKM
    from linkwise.cluster.similarity.kernel_boost import KernelBoost
    from linkwise.cluster.similarity.pcp import PCP
    from linkwise.cluster.similarity.rckm import RCKM
    from linkwise.cluster.trees.clusilc import ClusILC
    from linkwise.constraints.constraints import Constraints, constraint_score
    from linkwise.constraints.evidence import Evidence
    from linkwise.errors import (
        ConstraintError,
        ConstraintWarning,
        DataError,
        InfeasibleConstraintsError,
        NothingAskedWarning,
        SessionError,
        StaleAnswerError,
    )
    from linkwise.metric.itml import ITML
    from linkwise.metric.mmc import MMC
    from linkwise.metric.rca import RCA
    from linkwise.page.notebook import widget
    from linkwise.reasons.explanation import Explanation, explain
    from linkwise.reasons.telling_words import telling_words
    from linkwise.reasons.why import Why, why
    from linkwise.select.active_cobs import ActiveCOBS
    from linkwise.select.clusterings import Preset
    from linkwise.select.cobs import COBS
    from linkwise.select.cvcp import CVCPSearch
    from linkwise.select.eigengap import EigengapSearch
    from linkwise.select.pool import Pool, build_pool
    from linkwise.select.score_searches import DBCVSearch, NumSatSearch, SilhouetteSearch
    from linkwise.select.self_tuning import SelfTuningSpectral
    from linkwise.session.session import Session
    from linkwise.validity.dbcv import dbcv_score
    from linkwise.validity.s_dbw import s_dbw_score

    __version__: str

_HOME = {
    "COBRA": "active.cobras.cobra",
    "COBRAS": "active.cobras.cobras",
    "ExploreConsolidate": "active.known_k.explore_consolidate",
    "ActiveFeatureWeights": "active.active_feature_weights",
    "KIN": "active.kin.kin",
    "MinMax": "active.known_k.min_max",
    "NPU": "active.known_k.npu",
    "BCKM": "cluster.similarity.bckm",
    "BoostCluster": "cluster.similarity.boost_cluster",
    "CKM": "cluster.similarity.ckm",
    "ConstrainedKMeans": "cluster.kmeans.constrained_kmeans",
    "COPKMeans": "cluster.kmeans.cop_kmeans",
    "FeatureWeightClustering": "cluster.feature_weights.feature_weights",
    "KernelBoost": "cluster.similarity.kernel_boost",
    "MPCKMeans": "cluster.kmeans.mpckmeans",
    "PCKMeans": "cluster.kmeans.pckmeans",
    "PCP": "cluster.similarity.pcp",
    "RCKM": "cluster.similarity.rckm",
    "SeededKMeans": "cluster.kmeans.seeded_kmeans",
    "ClusILC": "cluster.trees.clusilc",
    "ConstrainedAgglomerative": "cluster.hierarchy.agglomerative",
    "FOSC": "cluster.hierarchy.fosc",
    "extract": "cluster.hierarchy.extract",
    "COSC": "cluster.graph.cosc",
    "SPCL": "cluster.graph.spcl",
    "Constraints": "constraints.constraints",
    "constraint_score": "constraints.constraints",
    "ConstraintError": "errors",
    "ConstraintWarning": "errors",
    "NothingAskedWarning": "errors",
    "DataError": "errors",
    "InfeasibleConstraintsError": "errors",
    "SessionError": "errors",
    "StaleAnswerError": "errors",
    "Evidence": "constraints.evidence",
    "Question": "asking.learner",
    "TruthOracle": "asking.oracles",
    "ITML": "metric.itml",
    "MMC": "metric.mmc",
    "RCA": "metric.rca",
    "Explanation": "reasons.explanation",
    "explain": "reasons.explanation",
    "Why": "reasons.why",
    "why": "reasons.why",
    "telling_words": "reasons.telling_words",
    "ActiveCOBS": "select.active_cobs",
    "Preset": "select.clusterings",
    "COBS": "select.cobs",
    "EigengapSearch": "select.eigengap",
    "Pool": "select.pool",
    "build_pool": "select.pool",
    "CVCPSearch": "select.cvcp",
    "DBCVSearch": "select.score_searches",
    "NumSatSearch": "select.score_searches",
    "SilhouetteSearch": "select.score_searches",
    "SelfTuningSpectral": "select.self_tuning",
    "Session": "session.session",
    "dbcv_score": "validity.dbcv",
    "s_dbw_score": "validity.s_dbw",
    "widget": "page.notebook",
}

__all__ = [  # noqa: RUF022  # in the order in which people meet them
    "Constraints",
    "Evidence",
    "Session",
    "Question",
    "TruthOracle",
    "COBRA",
    "COBRAS",
    "KIN",
    "ExploreConsolidate",
    "MinMax",
    "NPU",
    "ActiveFeatureWeights",
    "COBS",
    "ActiveCOBS",
    "COPKMeans",
    "SeededKMeans",
    "ConstrainedKMeans",
    "PCKMeans",
    "MPCKMeans",
    "FeatureWeightClustering",
    "CKM",
    "RCKM",
    "BCKM",
    "BoostCluster",
    "KernelBoost",
    "PCP",
    "ClusILC",
    "ConstrainedAgglomerative",
    "FOSC",
    "extract",
    "COSC",
    "SPCL",
    "ITML",
    "MMC",
    "RCA",
    "Pool",
    "Preset",
    "build_pool",
    "NumSatSearch",
    "CVCPSearch",
    "SilhouetteSearch",
    "DBCVSearch",
    "EigengapSearch",
    "SelfTuningSpectral",
    "explain",
    "Explanation",
    "telling_words",
    "why",
    "Why",
    "widget",
    "constraint_score",
    "dbcv_score",
    "s_dbw_score",
    "ConstraintError",
    "ConstraintWarning",
    "NothingAskedWarning",
    "DataError",
    "InfeasibleConstraintsError",
    "SessionError",
    "StaleAnswerError",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":  # told by git when linkwise was built
        from importlib.metadata import version

        return version("linkwise")
    if name not in _HOME:
        raise AttributeError(f"module 'linkwise' has no attribute {name!r}")
    return getattr(import_module(f"linkwise.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


keep_old_names()
