from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

def simd() -> str: ...
def flush_subnormals(on: bool) -> bool: ...
def lloyd(
    X: NDArray[Any],
    starts: NDArray[np.float64],
    max_iter: int,
    tol: float,
    n_threads: int,
    weight: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]: ...
def two_means(
    X: NDArray[Any], start: NDArray[np.float64], max_iter: int, tol: float, n_threads: int
) -> tuple[NDArray[np.uint8], NDArray[np.float64], float, int]: ...
def kmeans_plusplus(
    X: NDArray[Any],
    k: int,
    seeds: NDArray[np.uint64],
    n_candidates: int,
    n_threads: int,
    weight: NDArray[np.int64] | None,
    given: NDArray[np.float64] | None,
) -> NDArray[np.int64]: ...
def nearest_rows(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    centers: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None,
    n_threads: int,
) -> NDArray[np.int64]: ...
def smallest_columns(table: NDArray[Any], k: int, n_threads: int) -> NDArray[np.int64]: ...
def nearest_points(
    X: NDArray[Any], points: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def squared_distances(
    X: NDArray[Any], points: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
def farthest_pairs(X: NDArray[np.float64], scales: NDArray[np.float64]) -> NDArray[np.int64]: ...
def label_sums(
    X: NDArray[Any], labels: NDArray[np.int32], k: int, weight: NDArray[np.int64] | None, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def count_pairs(
    one: NDArray[np.int32],
    other: NDArray[np.int32],
    low: int,
    other_low: int,
    k: int,
    m: int,
    n_threads: int,
) -> NDArray[np.int64]: ...
def all_dbscans(
    X: NDArray[Any],
    eps: NDArray[np.float64],
    min_pts: NDArray[np.int64],
    n_threads: int,
    weight: NDArray[np.int64] | None,
) -> NDArray[np.int32]: ...
def distance_range(X: NDArray[Any], n_threads: int) -> tuple[float, float]: ...
def pack_together(
    labels: NDArray[np.int16], first: NDArray[np.int32], second: NDArray[np.int32], n_threads: int
) -> NDArray[np.uint8]: ...
def weighted_together(
    bits: NDArray[np.uint8], weights: NDArray[np.int64], n_threads: int
) -> NDArray[np.int64]: ...
def greedy_colours(before: NDArray[np.int32], after: NDArray[np.int32], n: int) -> NDArray[np.int32]: ...
def gaussian_weights(
    X: NDArray[np.float64], scale: float, out: NDArray[np.float64], n_threads: int
) -> None: ...
def block_product(
    block: NDArray[np.float64], matrix: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
def exchange(
    X: NDArray[np.float64], labels: NDArray[np.int32], k: int, max_passes: int, n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
def pair_graph(
    must: NDArray[np.int32], cannot: NDArray[np.int32], group: NDArray[np.int32]
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
]: ...
def assign_named(
    X: NDArray[Any],
    centers: NDArray[np.float64],
    named: NDArray[np.int64],
    before: NDArray[np.int32] | None,
    must_start: NDArray[np.int64],
    must_other: NDArray[np.int32],
    must_pair: NDArray[np.int32],
    cannot_start: NDArray[np.int64],
    cannot_other: NDArray[np.int32],
    cannot_pair: NDArray[np.int32],
    member_start: NDArray[np.int64],
    member: NDArray[np.int32],
    group: NDArray[np.int32],
    must_price: NDArray[np.float64],
    cannot_price: NDArray[np.float64],
    order: NDArray[np.int32],
    max_sweeps: int,
    n_threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
def assign_named_under(
    X: NDArray[Any],
    centers: NDArray[np.float64],
    maps: NDArray[np.float64],
    offset: NDArray[np.float64],
    named: NDArray[np.int64],
    before: NDArray[np.int32],
    must_start: NDArray[np.int64],
    must_other: NDArray[np.int32],
    must_pair: NDArray[np.int32],
    cannot_start: NDArray[np.int64],
    cannot_other: NDArray[np.int32],
    cannot_pair: NDArray[np.int32],
    member_start: NDArray[np.int64],
    member: NDArray[np.int32],
    group: NDArray[np.int32],
    must_price: NDArray[np.float64],
    cannot_price: NDArray[np.float64],
    order: NDArray[np.int32],
    max_sweeps: int,
    n_threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...
def conditional_modes(
    costs: NDArray[np.float64],
    labels: NDArray[np.int32],
    must: NDArray[np.int32],
    must_penalty: NDArray[np.float64],
    cannot: NDArray[np.int32],
    cannot_penalty: NDArray[np.float64],
    group: NDArray[np.int32],
    order: NDArray[np.int32],
    max_sweeps: int,
) -> NDArray[np.int32]: ...
def metric_distances(
    X: NDArray[Any], centers: NDArray[np.float64], maps: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
def metric_nearest(
    X: NDArray[Any],
    centers: NDArray[np.float64],
    maps: NDArray[np.float64],
    offset: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
def two_nearest(
    X: NDArray[Any], centers: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]: ...
def assign_by_priority(
    best: NDArray[np.int32],
    second: NDArray[np.int32],
    square: NDArray[np.float64],
    pairs: NDArray[np.int32],
    must: NDArray[np.uint8],
    order: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]: ...
def vector_passes(
    rows: NDArray[Any],
    means: NDArray[np.float64],
    about: NDArray[np.float64],
    pairs: NDArray[np.int32],
    must: NDArray[np.uint8],
    order: NDArray[np.int32],
    share: NDArray[np.float64],
    max_passes: int,
    convergence: int,
    patience: int,
    n_threads: int,
) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.uint8], float, float, int]: ...
def similarity_passes(
    rows: NDArray[np.float64],
    means: NDArray[np.float64],
    about: NDArray[np.float64],
    pairs: NDArray[np.int32],
    must: NDArray[np.uint8],
    order: NDArray[np.int32],
    share: NDArray[np.float64],
    max_passes: int,
    convergence: int,
    patience: int,
    n_threads: int,
) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.uint8], float, float, int]: ...
def order_descending(values: NDArray[np.float64], given: NDArray[np.int64]) -> NDArray[np.int32]: ...
def similarity_sums(
    K: NDArray[np.float64], labels: NDArray[np.int32], k: int, n_threads: int
) -> NDArray[np.float64]: ...
def hypotheses_k_means(
    H: NDArray[Any],
    alpha: NDArray[np.float64],
    values: int,
    k: int,
    seeds: NDArray[np.uint64],
    given: NDArray[np.int64] | None,
    max_iter: int,
    n_threads: int,
) -> tuple[NDArray[np.int32], float, int]: ...
def assign_apart(
    costs: NDArray[np.float64],
    pairs: NDArray[np.int32],
    start: NDArray[np.int32],
    order: NDArray[np.int32],
    sweeps: int,
    limit: int,
) -> tuple[NDArray[np.int32], int]: ...
def colour_apart(
    pairs: NDArray[np.int32], m: int, k: int, limit: int
) -> tuple[Literal[1, 0, -1], NDArray[np.int32]]: ...
def leaf_squares(
    Z: NDArray[np.float64],
    order: NDArray[np.int32],
    rank: NDArray[np.int32],
    tied: NDArray[np.uint8],
    weight: NDArray[np.float64] | None,
    place: NDArray[np.int32],
    least: float,
    tie: float,
    n_threads: int,
) -> tuple[float, NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
def sort_values(
    values: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]: ...
def split_leaf(
    Z: NDArray[np.float64], order: NDArray[np.int32], number: int, size: int, n_threads: int
) -> tuple[
    tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]],
    tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]],
]: ...
def apply_tree(
    X: NDArray[Any],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    equals: NDArray[np.uint8],
    yes: NDArray[np.int32],
    no: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.int32]: ...
def best_splits(
    scatter: float,
    between: NDArray[np.float64],
    size: NDArray[np.int32],
    places: NDArray[np.int32],
    component: NDArray[np.int32],
    first: NDArray[np.int64],
    foe_first: NDArray[np.int64],
    foe: NDArray[np.int32],
    label: NDArray[np.int32],
    allowed: NDArray[np.uint8],
    own: int,
    free: int,
    evidence: bool,
    per_square: float,
    per_broken: float,
    most: int,
    n_threads: int,
) -> tuple[int, list[tuple[int, int, float, int]], NDArray[np.int64]]: ...
def s_dbw(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    means: NDArray[np.float64],
    squares: NDArray[np.float64] | None,
    pooled: bool,
    n_threads: int,
) -> tuple[float, float]: ...
def bregman_projections(
    pairs: NDArray[np.float64],
    sign: NDArray[np.float64],
    bound: NDArray[np.float64],
    gamma: NDArray[np.float64],
    start: NDArray[np.float64],
    max_sweeps: int,
    tol: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, float]: ...
def random_trees(
    rows: NDArray[np.float64],
    items: NDArray[np.int64],
    home: NDArray[np.int64],
    n_trees: int,
    seed: int,
    max_features: int,
    n_threads: int,
) -> NDArray[np.int32]: ...
def weighted_trees(
    rows: NDArray[np.float64],
    items: NDArray[np.int64],
    home: NDArray[np.int64],
    weights: NDArray[np.int32],
    seeds: NDArray[np.uint64],
    max_features: int,
    n_threads: int,
) -> NDArray[np.int32]: ...
def count_leaf_mates(
    leaves: NDArray[np.int32],
    rows: NDArray[np.int64],
    members: NDArray[np.int64],
    group: NDArray[np.int64],
    groups: int,
) -> NDArray[np.int64]: ...
def pack_leaves(
    leaves: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]: ...
def shared_leaves(
    of_tree: NDArray[np.int32],
    row: NDArray[np.uint8],
    block: NDArray[np.uint8],
    rows: NDArray[np.int64],
    n_threads: int,
) -> NDArray[np.uint8]: ...
def agglomerate(
    distances: NDArray[np.float64], size: NDArray[np.int64], linkage: int, n_clusters: int, most: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def agglomerate_near(
    data: NDArray[np.float64], column: NDArray[np.int32], start: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def core_squares(X: NDArray[Any], k: int, n_threads: int) -> NDArray[np.float64]: ...
def span_walk(
    X: NDArray[Any], k: int, mutual: bool, share: float, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None: ...
def density_walk(
    X: NDArray[Any], core: NDArray[np.float64], start: int, mutual: bool, n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def ratio_step(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    g: NDArray[np.float64],
    c: float,
    a: NDArray[np.float64],
    v: NDArray[np.float64],
    z: NDArray[np.float64],
    max_iter: int,
    every: int,
    gap: float,
    least: float,
) -> tuple[
    NDArray[np.float64],
    float,
    float,
    int,
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]: ...
def ratio_descent(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    volume: NDArray[np.float64],
    pairs: NDArray[np.int32],
    is_ncut: bool,
    gamma: float,
    start: NDArray[np.float64],
    max_iter: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]: ...
def ratio_splits(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    volume: NDArray[np.float64],
    pairs: NDArray[np.int32],
    is_ncut: bool,
    start: NDArray[np.float64],
    max_iter: int,
) -> NDArray[np.int32]: ...
def slow_vector(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    volume: NDArray[np.float64],
    pairs: NDArray[np.int32],
    is_ncut: bool,
) -> NDArray[np.float64]: ...
def move_nodes(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    volume: NDArray[np.float64],
    pairs: NDArray[np.int32],
    is_ncut: bool,
    labels: NDArray[np.int32],
    k: int,
) -> NDArray[np.int32]: ...
def recut(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    volume: NDArray[np.float64],
    pairs: NDArray[np.int32],
    is_ncut: bool,
    labels: NDArray[np.int32],
    k: int,
    max_iter: int,
) -> NDArray[np.int32]: ...
def split_chances(
    join: NDArray[np.float64],
    trust: NDArray[np.float64],
    fine: NDArray[np.int32],
    least: float,
    n_fine: int,
) -> tuple[
    tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]], NDArray[np.int32], NDArray[np.float64]
]: ...
def sum_rows(
    data: NDArray[np.float64],
    column: NDArray[np.int32],
    start: NDArray[np.int32],
    items: NDArray[np.int32],
    weight: NDArray[np.float64],
    label: NDArray[np.int32],
    n_groups: int,
    width: int,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
def multiply_form(
    data: NDArray[np.float64],
    column: NDArray[np.int32],
    start: NDArray[np.int32],
    same: NDArray[np.float64],
    alike: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def evaluate_form(
    data: NDArray[np.float64],
    column: NDArray[np.int32],
    start: NDArray[np.int32],
    same: NDArray[np.float64],
    alike: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def multiply_across(
    data: NDArray[np.float64],
    column: NDArray[np.int32],
    start: NDArray[np.int32],
    table: NDArray[np.float64],
    is_symmetric: bool,
    n_threads: int,
) -> NDArray[np.float64]: ...
def mean_distances(belonging: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]: ...
def mend_clusters(
    order: NDArray[np.int64],
    some: NDArray[np.int64],
    begin: NDArray[np.int64],
    differs: NDArray[np.int64],
    gain: NDArray[np.float64],
    label: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def best_clusters(
    items: NDArray[np.int32],
    data: NDArray[np.float64],
    column: NDArray[np.int32],
    start: NDArray[np.int32],
    table: NDArray[np.float64],
    cost: NDArray[np.float64],
    stay: NDArray[np.float64],
    labels: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.int32]: ...
def pair_chances(
    similarity: NDArray[np.float64],
    shared: NDArray[np.float64],
    constant: float,
    by_similarity: float,
    by_shared: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def pair_chances_of_halves(
    similarity: NDArray[np.float64],
    shared: NDArray[np.float64],
    constant: float,
    by_similarity: float,
    by_shared: float,
) -> NDArray[np.float64]: ...
def logistic_slopes(
    similarity: NDArray[np.float64],
    shared: NDArray[np.float64],
    target: NDArray[np.float64],
    constant: float,
    by_similarity: float,
    by_shared: float,
) -> NDArray[np.float64]: ...
def average_pairs(
    table: NDArray[np.float64], rows: NDArray[np.int32], label: NDArray[np.int32], k: int
) -> NDArray[np.float64]: ...
def share_scores(
    score: NDArray[np.float64], times: int, quarters: int, rest: float, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def sum_up_rows(
    table: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def divide_rows(
    table: NDArray[np.float64], total: NDArray[np.float64], width: int
) -> NDArray[np.float64]: ...
def weighted_squares(
    table: NDArray[np.float32], weight: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
def condition_on(
    table: NDArray[np.float32], item: int, ridge: float, weight: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
def add_gaussians(
    wide: NDArray[np.float32],
    narrow: NDArray[np.float32],
    tuned: NDArray[np.float32],
    squares: NDArray[np.float32],
    scale: float,
    near: NDArray[np.float32],
    n_threads: int,
) -> None: ...
def add_scaled_part(
    out: NDArray[np.float32],
    table: NDArray[np.float32],
    scale: NDArray[np.float32],
    rows: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def pack_lower(table: NDArray[np.float32], divisor: float) -> NDArray[np.uint16]: ...
def mix_lower(
    out: NDArray[np.float32],
    mean: NDArray[np.float32],
    weight: float,
    families: list[NDArray[np.uint16]],
    weights: NDArray[np.float32],
    of_tree: NDArray[np.int32],
    row: NDArray[np.uint8],
    block: NDArray[np.uint8],
    kept: float,
    factor: float,
    n_threads: int,
) -> None: ...
def mirror_lower(table: NDArray[np.unsignedinteger[Any]]) -> None: ...
def chebyshev_values(
    points: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]: ...
