"""Constraint-based clustering: a few answers about pairs, and the clustering that you mean.

The public names are loaded when they are first used, so that importing linkwise costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwise.methods import METHODS

if TYPE_CHECKING:
    from linkwise.app.page.local_page import serve
    from linkwise.app.page.notebook import widget
    from linkwise.app.programs.answer import Answered, answer
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
    from linkwise.cluster.metric.itml import ITML
    from linkwise.cluster.metric.mmc import MMC
    from linkwise.cluster.metric.rca import RCA
    from linkwise.cluster.similarity.bckm import BCKM
    from linkwise.cluster.similarity.boost_cluster import BoostCluster
    from linkwise.cluster.similarity.ckm import CKM
    from linkwise.cluster.similarity.kernel_boost import KernelBoost
    from linkwise.cluster.similarity.pcp import PCP
    from linkwise.cluster.similarity.rckm import RCKM
    from linkwise.cluster.trees.clusilc import ClusILC
    from linkwise.cluster.validity.dbcv import dbcv_score
    from linkwise.cluster.validity.s_dbw import s_dbw_score
    from linkwise.constraints.constraints import Constraints, constraint_score
    from linkwise.constraints.evidence import Evidence
    from linkwise.data.sources import read
    from linkwise.errors import (
        ConstraintError,
        ConstraintWarning,
        DataError,
        InfeasibleConstraintsError,
        NothingAskedWarning,
        ProgramError,
        SessionError,
        StaleAnswerError,
    )
    from linkwise.large.group_summary import Summary, summarize
    from linkwise.large.row_clusters import RowClusters, cluster_rows
    from linkwise.learn.active_feature_weights import ActiveFeatureWeights
    from linkwise.learn.cobras.cobra import COBRA
    from linkwise.learn.cobras.cobras import COBRAS
    from linkwise.learn.kin.kin import KIN
    from linkwise.learn.known_k.explore_consolidate import ExploreConsolidate
    from linkwise.learn.known_k.min_max import MinMax
    from linkwise.learn.known_k.npu import NPU
    from linkwise.learn.learner import Question
    from linkwise.learn.oracles import TruthOracle, TruthSorter
    from linkwise.learn.records.linkage import RecordLinkage
    from linkwise.learn.threshold_linkage import ThresholdLinkage
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
    from linkwise.session.figure import plot
    from linkwise.session.session import Session

    __version__: str

_HOME = {method.class_name: method.module for method in METHODS} | {
    "extract": "linkwise.cluster.hierarchy.extract",
    "Constraints": "linkwise.constraints.constraints",
    "constraint_score": "linkwise.constraints.constraints",
    "ConstraintError": "linkwise.errors",
    "ConstraintWarning": "linkwise.errors",
    "NothingAskedWarning": "linkwise.errors",
    "DataError": "linkwise.errors",
    "InfeasibleConstraintsError": "linkwise.errors",
    "ProgramError": "linkwise.errors",
    "SessionError": "linkwise.errors",
    "StaleAnswerError": "linkwise.errors",
    "Evidence": "linkwise.constraints.evidence",
    "read": "linkwise.data.sources",
    "Question": "linkwise.learn.learner",
    "TruthOracle": "linkwise.learn.oracles",
    "TruthSorter": "linkwise.learn.oracles",
    "ITML": "linkwise.cluster.metric.itml",
    "MMC": "linkwise.cluster.metric.mmc",
    "RCA": "linkwise.cluster.metric.rca",
    "Answered": "linkwise.app.programs.answer",
    "answer": "linkwise.app.programs.answer",
    "Explanation": "linkwise.reasons.explanation",
    "explain": "linkwise.reasons.explanation",
    "Why": "linkwise.reasons.why",
    "why": "linkwise.reasons.why",
    "telling_words": "linkwise.reasons.telling_words",
    "Preset": "linkwise.select.clusterings",
    "Pool": "linkwise.select.pool",
    "build_pool": "linkwise.select.pool",
    "Session": "linkwise.session.session",
    "plot": "linkwise.session.figure",
    "Summary": "linkwise.large.group_summary",
    "summarize": "linkwise.large.group_summary",
    "RowClusters": "linkwise.large.row_clusters",
    "cluster_rows": "linkwise.large.row_clusters",
    "dbcv_score": "linkwise.cluster.validity.dbcv",
    "s_dbw_score": "linkwise.cluster.validity.s_dbw",
    "serve": "linkwise.app.page.local_page",
    "widget": "linkwise.app.page.notebook",
}

__all__ = [  # noqa: RUF022  # in the order in which people meet them
    "read",
    "Constraints",
    "Evidence",
    "Session",
    "Question",
    "TruthOracle",
    "TruthSorter",
    "answer",
    "Answered",
    "COBRA",
    "COBRAS",
    "KIN",
    "RecordLinkage",
    "ThresholdLinkage",
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
    "serve",
    "plot",
    "summarize",
    "Summary",
    "cluster_rows",
    "RowClusters",
    "constraint_score",
    "dbcv_score",
    "s_dbw_score",
    "ConstraintError",
    "ConstraintWarning",
    "NothingAskedWarning",
    "DataError",
    "InfeasibleConstraintsError",
    "ProgramError",
    "SessionError",
    "StaleAnswerError",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("linkwise")
    if name not in _HOME:
        raise AttributeError(f"module 'linkwise' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
