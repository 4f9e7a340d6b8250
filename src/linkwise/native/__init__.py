"""Typed wrappers of the native code: contiguous arrays in, arrays out.

No policy lives here. Kernels take float32 or float64 rows and compute in float64, or take labels and
compute in integers. They release the GIL, take their number of threads from the caller and give the
same bits for any number of threads.
The wrappers check types and shapes only, never values: NaN in gives no crash, but no meaning either.
"""

from linkwise.native.agglomerate import agglomerate, agglomerate_near
from linkwise.native.boosting import (
    MOST_CENTERS,
    Passes,
    TwoNearest,
    assign_by_priority,
    hypotheses_k_means,
    order_descending,
    similarity_passes,
    similarity_sums,
    two_nearest,
    vector_passes,
)
from linkwise.native.bregman import ProjectedMetric, bregman_projections
from linkwise.native.chances import (
    RowSums,
    average_pairs,
    chebyshev_values,
    divide_rows,
    logistic_slopes,
    pair_chances,
    share_scores,
    sum_up_rows,
)
from linkwise.native.colouring import assign_apart, colour_apart
from linkwise.native.covariance import condition_on, mirror_lower, weighted_squares
from linkwise.native.cuts import (
    CutGraph,
    RatioDescent,
    move_nodes,
    ratio_descent,
    ratio_splits,
    recut,
    slow_vector,
)
from linkwise.native.dbscan import all_dbscans
from linkwise.native.distances import (
    farthest_pairs,
    nearest_points,
    nearest_rows,
    smallest_columns,
    squared_distances,
)
from linkwise.native.forest import (
    PackedLeaves,
    count_leaf_mates,
    pack_leaves,
    random_trees,
    shared_leaves,
    weighted_trees,
)
from linkwise.native.gains import (
    PairForm,
    SparseRows,
    best_clusters,
    evaluate_form,
    mean_distances,
    mend_clusters,
    multiply_across,
    multiply_form,
    split_chances,
    sum_rows,
)
from linkwise.native.graphs import block_product, distance_range, gaussian_weights
from linkwise.native.icm import (
    NamedStep,
    PairGraph,
    assign_named,
    assign_named_under,
    conditional_modes,
    make_pair_graph,
)
from linkwise.native.kmeans import (
    LloydRuns,
    SharedRows,
    TwoMeans,
    exchange,
    kmeans_plusplus,
    label_sums,
    lloyd,
    shared_rows,
    two_means,
)
from linkwise.native.lower_triangles import add_gaussians, add_scaled_part
from linkwise.native.metrics import metric_distances, metric_nearest
from linkwise.native.mixtures import ForestShare, mix_lower, pack_lower
from linkwise.native.one_spectral import RatioStep, ratio_step
from linkwise.native.optics import (
    DensityWalk,
    WalkFromDensest,
    core_squares,
    density_walk,
    walk_from_densest,
)
from linkwise.native.s_dbw import s_dbw
from linkwise.native.subnormals import subnormals_as_zero
from linkwise.native.together import greedy_colours, pack_together, weighted_together
from linkwise.native.tree import (
    LeafSplits,
    LeafSquares,
    LinkedRows,
    SideRows,
    apply_tree,
    best_splits,
    leaf_squares,
    sort_values,
    split_leaf,
)

__all__ = [
    "MOST_CENTERS",
    "CutGraph",
    "DensityWalk",
    "ForestShare",
    "LeafSplits",
    "LeafSquares",
    "LinkedRows",
    "LloydRuns",
    "NamedStep",
    "PackedLeaves",
    "PairForm",
    "PairGraph",
    "Passes",
    "ProjectedMetric",
    "RatioDescent",
    "RatioStep",
    "RowSums",
    "SharedRows",
    "SideRows",
    "SparseRows",
    "TwoMeans",
    "TwoNearest",
    "WalkFromDensest",
    "add_gaussians",
    "add_scaled_part",
    "agglomerate",
    "agglomerate_near",
    "all_dbscans",
    "apply_tree",
    "assign_apart",
    "assign_by_priority",
    "assign_named",
    "assign_named_under",
    "average_pairs",
    "best_clusters",
    "best_splits",
    "block_product",
    "bregman_projections",
    "chebyshev_values",
    "colour_apart",
    "condition_on",
    "conditional_modes",
    "core_squares",
    "count_leaf_mates",
    "density_walk",
    "distance_range",
    "divide_rows",
    "evaluate_form",
    "exchange",
    "farthest_pairs",
    "gaussian_weights",
    "greedy_colours",
    "hypotheses_k_means",
    "kmeans_plusplus",
    "label_sums",
    "leaf_squares",
    "lloyd",
    "logistic_slopes",
    "make_pair_graph",
    "mean_distances",
    "mend_clusters",
    "metric_distances",
    "metric_nearest",
    "mirror_lower",
    "mix_lower",
    "move_nodes",
    "multiply_across",
    "multiply_form",
    "nearest_points",
    "nearest_rows",
    "order_descending",
    "pack_leaves",
    "pack_lower",
    "pack_together",
    "pair_chances",
    "random_trees",
    "ratio_descent",
    "ratio_splits",
    "ratio_step",
    "recut",
    "s_dbw",
    "share_scores",
    "shared_leaves",
    "shared_rows",
    "similarity_passes",
    "similarity_sums",
    "slow_vector",
    "smallest_columns",
    "sort_values",
    "split_chances",
    "split_leaf",
    "squared_distances",
    "subnormals_as_zero",
    "sum_rows",
    "sum_up_rows",
    "two_means",
    "two_nearest",
    "vector_passes",
    "walk_from_densest",
    "weighted_squares",
    "weighted_together",
    "weighted_trees",
]
