"""Every method of linkwise in one table, which the command line, sessions, tests and docs read.

To add a method, write its file and add its entry here. Nothing is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple

Kind = Literal["learner", "clusterer", "search"]


class Option(NamedTuple):
    """A parameter of a method that the command line offers.

    `default` is what holds without it; None where there is no default that a person would type. A session
    keeps it unless it concerns this machine alone.
    """

    flag: str
    parameter: str
    help: str
    type: Any = int
    metavar: str = "N"
    default: object = None
    is_stored: bool = True

    def to_value(self, given: Any) -> Any:
        """Convert what was given to what the method takes: a folder becomes its absolute path, as text."""
        return str(given.absolute()) if self.type == "folder" else given


class Method(NamedTuple):
    """A learner, a clusterer or a search.

    The command line calls it by `name`, which is empty where only Python has it. Of `needs` at least one
    must be given there. A learner with a known number of clusters can refit it after each answer if
    `is_refitted`: it takes that number and constraints. With `with_codes` it takes each category as one
    column of codes and no scale, as trees do. With `uses_pairs` a learner that asks nothing is a
    clusterer: it makes as much of given pairs as of answers.
    """

    name: str
    class_name: str
    module: str
    kind: Kind
    summary: str
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    is_random: bool = True
    is_refitted: bool = False
    with_codes: bool = False
    uses_pairs: bool = False
    asking: str = ""
    """Module and class of what a session needs of a learner, where that loads no scikit-learn."""

    def load(self) -> Any:
        """Import the class."""
        return getattr(import_module(self.module), self.class_name)

    def load_learner(self) -> Any:
        """Import what a session needs of a learner: the class, or what asks in it."""
        if not self.asking:
            return self.load()
        module, _, name = self.asking.rpartition(".")
        return getattr(import_module(module), name)


N_CLUSTERS = Option("--clusters", "n_clusters", "number of clusters")
ESTIMATOR = Option("--estimator", "estimator", "clusterer to refit", str, "NAME", "mpckmeans")
SUPER_INSTANCES = Option("--super-instances", "n_super_instances", "how many super-instances", default=25)
PRESET = Option(
    "--preset",
    "preset",
    "931 tries, or a quarter",
    ("paper", "quick"),
    default="paper",
)
NOISE = Option(
    "--noise",
    "noise",
    "noise of DBSCAN: cluster, singletons or nearest",
    ("cluster", "singletons", "nearest"),
    "HOW",
    default="cluster",
)
CACHE = Option("--cache", "cache", "folder for the clusterings", "folder", "DIR", is_stored=False)
MAX_LEAVES = Option("--max-leaves", "max_leaves", "largest number of rules")
MIN_SAMPLES = Option("--min-samples", "min_samples", "rows in a dense neighbourhood", default=4)

ORIGIN = Option("--origin", "origin", "records of one origin never match", str, "COLUMN")
SAME = Option("--same", "same", "column in which matching records agree", str, "COLUMN")

_K = {"options": (N_CLUSTERS,), "needs": ("n_clusters",)}
_REFITTING = {"options": (N_CLUSTERS, ESTIMATOR), "needs": ("n_clusters",)}
_OF_POOL = (PRESET, NOISE, CACHE)


def _learner(name: str, class_name: str, module: str, summary: str, **more: Any) -> Method:
    return Method(name, class_name, f"linkwise.{module}", "learner", summary, **more)


def _clusterer(name: str, class_name: str, module: str, summary: str, **more: Any) -> Method:
    return Method(name, class_name, f"linkwise.cluster.{module}", "clusterer", summary, **{**_K, **more})


def _refitted(name: str, class_name: str, module: str, summary: str, **more: Any) -> Method:
    return _clusterer(name, class_name, module, summary, is_refitted=True, **more)


def _search(class_name: str, module: str, summary: str) -> Method:
    return Method("", class_name, f"linkwise.select.{module}", "search", summary)


METHODS = (
    _learner(
        "kin",
        "KIN",
        "learn.kin.kin",
        "Finds the number of clusters, with the fewest questions on average.",
        asking="linkwise.learn.kin.kin_learner.KINLearner",
    ),
    _learner(
        "cobras",
        "COBRAS",
        "learn.cobras.cobras",
        "Finds the number of clusters; splits super-instances into smaller ones.",
    ),
    _learner(
        "cobra",
        "COBRA",
        "learn.cobras.cobra",
        "Finds the number of clusters; merges a fixed number of super-instances.",
        options=(SUPER_INSTANCES,),
    ),
    _learner(
        "cobs",
        "ActiveCOBS",
        "select.active_cobs",
        "Chooses among hundreds of clusterings; finds the number of clusters.",
        options=_OF_POOL,
    ),
    _learner(
        "records",
        "RecordLinkage",
        "learn.records.linkage",
        "Finds the records of the same person or thing: learns how much each column counts.",
        options=(ORIGIN, SAME),
        uses_pairs=True,
    ),
    _learner(
        "threshold",
        "ThresholdLinkage",
        "learn.threshold_linkage",
        "Finds many small groups of rows of numbers, by one threshold.",
        uses_pairs=True,
    ),
    _learner(
        "explore",
        "ExploreConsolidate",
        "learn.known_k.explore_consolidate",
        "Finds a row of each cluster, then asks about rows at random.",
        **_REFITTING,
    ),
    _learner(
        "minmax",
        "MinMax",
        "learn.known_k.min_max",
        "Asks about the row that is least like all rows asked about so far.",
        **_REFITTING,
    ),
    _learner(
        "npu",
        "NPU",
        "learn.known_k.npu",
        "Asks about the row whose cluster is most uncertain, relative to the number of questions needed.",
        **_REFITTING,
    ),
    _learner(
        "weights",
        "ActiveFeatureWeights",
        "learn.active_feature_weights",
        "Learns from each answer how much each column matters.",
        **_K,
    ),
    Method(
        "cobs",
        "COBS",
        "linkwise.select.cobs",
        "clusterer",
        "Chooses the clustering that satisfies most constraints; finds the number of clusters.",
        options=_OF_POOL,
    ),
    _refitted("copkmeans", "COPKMeans", "kmeans.cop_kmeans", "k-means that violates no constraint."),
    _refitted(
        "pckmeans", "PCKMeans", "kmeans.pckmeans", "k-means with a penalty for each violated constraint."
    ),
    _refitted(
        "mpckmeans",
        "MPCKMeans",
        "kmeans.mpckmeans",
        "PCKMeans that also learns a metric. Best on average with random pairs.",
    ),
    _refitted(
        "weights",
        "FeatureWeightClustering",
        "feature_weights.feature_weights",
        "Learns how much each column matters, and clusters with these weights.",
    ),
    _refitted(
        "seededkmeans",
        "SeededKMeans",
        "kmeans.seeded_kmeans",
        "k-means that starts from known groups of rows.",
    ),
    _refitted(
        "constrainedkmeans",
        "ConstrainedKMeans",
        "kmeans.constrained_kmeans",
        "k-means in which known groups of rows keep their clusters.",
    ),
    _refitted("ckm", "CKM", "similarity.ckm", "k-means that satisfies constraints by priority."),
    _refitted(
        "rckm",
        "RCKM",
        "similarity.rckm",
        "Combines many runs of CKM with constraints in random order, by vote.",
    ),
    _refitted("bckm", "BCKM", "similarity.bckm", "Combines boosted runs of CKM, by vote."),
    _refitted(
        "boostcluster", "BoostCluster", "similarity.boost_cluster", "Boosts k-means with hundreds of pairs."
    ),
    _refitted(
        "kernelboost", "KernelBoost", "similarity.kernel_boost", "Learns a kernel from hundreds of pairs."
    ),
    _refitted("pcp", "PCP", "similarity.pcp", "Propagates many pairs along a graph; up to 2000 rows."),
    _refitted(
        "agglomerative",
        "ConstrainedAgglomerative",
        "hierarchy.agglomerative",
        "Agglomerative clustering that violates no constraint.",
        is_random=False,
    ),
    _clusterer(
        "fosc",
        "FOSC",
        "hierarchy.fosc",
        "Chooses dense clusters from a hierarchy; finds their number, and leaves noise out.",
        options=(MIN_SAMPLES,),
        needs=(),
        is_random=False,
    ),
    _refitted(
        "cosc",
        "COSC",
        "graph.cosc",
        "Cuts a graph of nearest rows under constraints (normalised cut).",
        needs=(),
    ),
    _refitted(
        "spcl",
        "SPCL",
        "graph.spcl",
        "Spectral clustering with similarities that are overwritten by the constraints.",
    ),
    _refitted(
        "clusilc",
        "ClusILC",
        "trees.clusilc",
        "Builds a tree whose leaves are clusters, so that clusters are rules on the columns.",
        options=(N_CLUSTERS, MAX_LEAVES),
        needs=("n_clusters", "max_leaves"),
        is_random=False,
        with_codes=True,
    ),
    _search("NumSatSearch", "score_searches", "Keeps the setting that violates the fewest constraints."),
    _search("CVCPSearch", "cvcp", "Keeps the setting that best predicts constraints that were held back."),
    _search("SilhouetteSearch", "score_searches", "Keeps the setting with the highest mean silhouette."),
    _search("DBCVSearch", "score_searches", "Keeps the setting with the highest density-based validity."),
    _search(
        "EigengapSearch",
        "eigengap",
        "Spectral clustering with the number of clusters at the widest gap between eigenvalues.",
    ),
    _search(
        "SelfTuningSpectral",
        "self_tuning",
        "Spectral clustering that finds its kernel widths and its number of clusters.",
    ),
)
LEARNERS = {method.name: method for method in METHODS if method.kind == "learner"}
CLUSTERERS = {method.name: method for method in METHODS if method.kind == "clusterer"} | {
    method.name: method for method in METHODS if method.uses_pairs
}


def options_of(methods: dict[str, Method]) -> dict[str, Option]:
    """The options of some methods, each once, by their parameters."""
    return {option.parameter: option for method in methods.values() for option in method.options}


def owners_of(option: Option, methods: dict[str, Method]) -> tuple[str, ...]:
    """The names of the methods that have an option."""
    return tuple(name for name, method in methods.items() if option in method.options)
