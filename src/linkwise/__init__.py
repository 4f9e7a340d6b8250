"""Constraint-based clustering: a few answers about pairs, and the clustering that you mean.

The public names are loaded when they are first used, so that importing linkwise costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.active.cobra import COBRA
    from linkwise.active.cobras import COBRAS
    from linkwise.active.explore_consolidate import ExploreConsolidate
    from linkwise.active.feature_weights import ActiveFeatureWeights
    from linkwise.active.kin import KIN
    from linkwise.active.min_max import MinMax
    from linkwise.active.npu import NPU
    from linkwise.apps.page.widget import widget
    from linkwise.cluster.agglomerative import ConstrainedAgglomerative
    from linkwise.cluster.bckm import BCKM
    from linkwise.cluster.boost_cluster import BoostCluster
    from linkwise.cluster.ckm import CKM
    from linkwise.cluster.clusilc import ClusILC
    from linkwise.cluster.constrained_kmeans import ConstrainedKMeans
    from linkwise.cluster.cop_kmeans import COPKMeans
    from linkwise.cluster.cosc import COSC
    from linkwise.cluster.extract import extract
    from linkwise.cluster.feature_weights import FeatureWeightClustering
    from linkwise.cluster.fosc import FOSC
    from linkwise.cluster.kernel_boost import KernelBoost
    from linkwise.cluster.mpckmeans import MPCKMeans
    from linkwise.cluster.pckmeans import PCKMeans
    from linkwise.cluster.pcp import PCP
    from linkwise.cluster.rckm import RCKM
    from linkwise.cluster.seeded_kmeans import SeededKMeans
    from linkwise.cluster.spcl import SPCL
    from linkwise.constraints import Constraints, constraint_score
    from linkwise.errors import (
        ConstraintError,
        ConstraintWarning,
        DataError,
        InfeasibleConstraintsError,
        NothingAskedWarning,
        SessionError,
        StaleAnswerError,
    )
    from linkwise.evidence import Evidence
    from linkwise.learner import Question, TruthOracle
    from linkwise.metric.itml import ITML
    from linkwise.metric.mmc import MMC
    from linkwise.metric.rca import RCA
    from linkwise.reasons.explanation import Explanation, explain
    from linkwise.reasons.telling_words import telling_words
    from linkwise.reasons.why import Why, why
    from linkwise.select.active_cobs import ActiveCOBS
    from linkwise.select.clusterings import Preset
    from linkwise.select.cobs import COBS
    from linkwise.select.cvcp import CVCPSearch
    from linkwise.select.eigengap import EigengapSearch
    from linkwise.select.pool import Pool, build_pool
    from linkwise.select.searches import DBCVSearch, NumSatSearch, SilhouetteSearch
    from linkwise.select.self_tuning import SelfTuningSpectral
    from linkwise.session.session import Session
    from linkwise.validity.dbcv import dbcv_score
    from linkwise.validity.s_dbw import s_dbw_score

    __version__: str

_HOME = {
    "COBRA": "active.cobra",
    "COBRAS": "active.cobras",
    "ExploreConsolidate": "active.explore_consolidate",
    "ActiveFeatureWeights": "active.feature_weights",
    "KIN": "active.kin",
    "MinMax": "active.min_max",
    "NPU": "active.npu",
    "BCKM": "cluster.bckm",
    "BoostCluster": "cluster.boost_cluster",
    "CKM": "cluster.ckm",
    "ConstrainedKMeans": "cluster.constrained_kmeans",
    "COPKMeans": "cluster.cop_kmeans",
    "FeatureWeightClustering": "cluster.feature_weights",
    "KernelBoost": "cluster.kernel_boost",
    "MPCKMeans": "cluster.mpckmeans",
    "PCKMeans": "cluster.pckmeans",
    "PCP": "cluster.pcp",
    "RCKM": "cluster.rckm",
    "SeededKMeans": "cluster.seeded_kmeans",
    "ClusILC": "cluster.clusilc",
    "ConstrainedAgglomerative": "cluster.agglomerative",
    "FOSC": "cluster.fosc",
    "extract": "cluster.extract",
    "COSC": "cluster.cosc",
    "SPCL": "cluster.spcl",
    "Constraints": "constraints",
    "constraint_score": "constraints",
    "ConstraintError": "errors",
    "ConstraintWarning": "errors",
    "NothingAskedWarning": "errors",
    "DataError": "errors",
    "InfeasibleConstraintsError": "errors",
    "SessionError": "errors",
    "StaleAnswerError": "errors",
    "Evidence": "evidence",
    "Question": "learner",
    "TruthOracle": "learner",
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
    "DBCVSearch": "select.searches",
    "NumSatSearch": "select.searches",
    "SilhouetteSearch": "select.searches",
    "SelfTuningSpectral": "select.self_tuning",
    "Session": "session.session",
    "dbcv_score": "validity.dbcv",
    "s_dbw_score": "validity.s_dbw",
    "widget": "apps.page.widget",
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
