"""The native code: contiguous arrays in, arrays out.

No policy lives here. Kernels take float32 or float64 rows and compute in float64, or take labels and
compute in integers. They release the GIL, take their number of threads from the caller and give the
same bits for any number of threads.

The C++ describes each function, and checks types, shapes and positions in other arrays: NaN in gives no
crash, but no meaning either. Wrappers are here only where they name results, take named results apart, or
choose a default.
"""

import linkwise.native._native as library
from linkwise.native.agglomerate import agglomerate
from linkwise.native.boosting import (
    MOST_CENTERS,
    Passes,
    TwoNearest,
    assign_by_priority,
    hypotheses_k_means,
    similarity_passes,
    two_nearest,
    vector_passes,
)
from linkwise.native.bregman import ProjectedMetric, bregman_projections
from linkwise.native.chances import (
    PairForm,
    RowSums,
    SparseRows,
    best_clusters,
    evaluate_form,
    logistic_slopes,
    multiply_across,
    multiply_form,
    pair_chances,
    split_chances,
    subnormals_as_zero,
    sum_rows,
    sum_up_rows,
)
from linkwise.native.cuts import (
    CutGraph,
    RatioDescent,
    RatioStep,
    move_nodes,
    ratio_descent,
    ratio_splits,
    ratio_step,
    recut,
    slow_vector,
)
from linkwise.native.forest import (
    ForestShare,
    PackedLeaves,
    ValueTrees,
    grow_value_trees,
    mix_lower,
    pack_leaves,
    random_trees,
    shared_leaves,
    weighted_trees,
)
from linkwise.native.kmeans import (
    LloydRuns,
    NamedStep,
    PairGraph,
    SharedRows,
    TwoMeans,
    assign_named,
    assign_named_under,
    lloyd,
    make_pair_graph,
    shared_rows,
    two_means,
)
from linkwise.native.optics import DensityWalk, WalkFromDensest, density_walk, walk_from_densest
from linkwise.native.record_groups import RecordGroups, group_by_log_odds
from linkwise.native.sparse import column_work, largest_products, multiply_pairs
from linkwise.native.tree import (
    LeafSplits,
    LeafSquares,
    LinkedRows,
    SideRows,
    best_splits,
    leaf_squares,
    split_leaf,
)

add_gaussians = library.add_gaussians
add_scaled_part = library.add_scaled_part
add_together = library.add_together
agglomerate_near = library.agglomerate_near
all_dbscans = library.all_dbscans
apply_tree = library.apply_tree
assign_apart = library.assign_apart
average_pairs = library.average_pairs
block_product = library.block_product
chebyshev_values = library.chebyshev_values
colour_apart = library.colour_apart
condition_on = library.condition_on
conditional_modes = library.conditional_modes
core_squares = library.core_squares
cut_largest_tree = library.cut_largest_tree
count_leaf_mates = library.count_leaf_mates
distance_range = library.distance_range
divide_rows = library.divide_rows
exchange = library.exchange
farthest_pairs = library.farthest_pairs
first_fit = library.first_fit
gaussian_weights = library.gaussian_weights
greedy_colours = library.greedy_colours
join_pairs = library.join_pairs
kmeans_plusplus = library.kmeans_plusplus
label_sums = library.label_sums
mean_distances = library.mean_distances
mend_clusters = library.mend_clusters
metric_nearest = library.metric_nearest
mirror_lower = library.mirror_lower
move_believed = library.move_believed
nearest_points = library.nearest_points
nearest_rows = library.nearest_rows
order_descending = library.order_descending
pack_lower = library.pack_lower
pack_together = library.pack_together
s_dbw = library.s_dbw
share_scores = library.share_scores
similarity_sums = library.similarity_sums
smallest_columns = library.smallest_columns
sort_values = library.sort_values
squared_distances = library.squared_distances
weighted_squares = library.weighted_squares
weighted_together = library.weighted_together
