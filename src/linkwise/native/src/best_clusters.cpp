// The cluster where each item gains most.
//
// Few items leave their cluster, so most clusters are ruled out together: of 32 clusters none gives more than the sum
// of what each entry gains at most in one of them. Rounded sums never fall when a term rises, so this bound holds to
// the last bit, and what is ruled out would never be chosen.
#include <cmath>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "sparse_rows.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

constexpr int64_t kSome = 512;  // items that one thread takes at a time

struct Gains {
    Sparse rows;  // no entry is below 0
    const double* table;  // clusters x width
    int64_t width, clusters;
    const double* cost;
    const int32_t* labels;
    const double* stay;
};

// What each entry gains at most in a tile of clusters, in which, and in the others of the tile.
struct Bounds {
    int64_t tiles, stride;            // the next multiple of 8
    std::vector<double> most;         // width x stride; 0 beyond the last tile
    std::vector<double> next, whose;  // tiles x width
    std::vector<double> cost;         // stride: the least one

    explicit Bounds(const Gains& gains)
        : tiles((gains.clusters + kTile - 1) / kTile), stride((tiles + 7) / 8 * 8), most(gains.width * stride),
          next(gains.width * tiles), whose(gains.width * tiles), cost(stride) {}
};

LINKWISE_INLINE Lanes load_lanes(const double* from) {
    Lanes found;
    std::memcpy(&found, from, sizeof found);
    return found;
}

LINKWISE_INLINE void bound_entries(const Gains& gains, Bounds& bounds, int64_t tile, int64_t h, int64_t many) {
    const int64_t first = tile * kTile, last = std::min(gains.clusters, first + kTile), width = gains.width;
    const size_t bytes = sizeof(double) * static_cast<size_t>(many);
    Lanes most{}, next{}, whose{};
    most -= HUGE_VAL, next -= HUGE_VAL;
    for (int64_t c = first; c < last; ++c) {
        Lanes here{};
        std::memcpy(&here, gains.table + c * width + h, bytes);
        const Lanes lower = smaller(here, most);
        next = lower > next ? lower : next;
        whose = here > most ? Lanes{} + static_cast<double>(c) : whose;
        most = here > most ? here : most;
    }
    for (int64_t j = 0; j < many; ++j) bounds.most[(h + j) * bounds.stride + tile] = most[j];
    std::memcpy(&bounds.next[tile * width + h], &next, bytes);
    std::memcpy(&bounds.whose[tile * width + h], &whose, bytes);
}

LINKWISE_SIMD void fill_bounds(const Gains& gains, Bounds& bounds, int64_t tile) {
    const int64_t first = tile * kTile, last = std::min(gains.clusters, first + kTile);
    int64_t h = 0;
    for (; h + 8 <= gains.width; h += 8) bound_entries(gains, bounds, tile, h, 8);
    if (h < gains.width) bound_entries(gains, bounds, tile, h, gains.width - h);
    bounds.cost[tile] = *std::min_element(gains.cost + first, gains.cost + last);
}

// Gains are rounded as NumPy does: of those that differ by rounding errors the first counts.
LINKWISE_INLINE double round_gain(double gain) { return std::nearbyint(gain * kDecimals); }

LINKWISE_INLINE double find_gain(const Gains& gains, int32_t i, int64_t cluster) {
    double sum = 0;
    for (int32_t e = gains.rows.start[i]; e < gains.rows.start[i + 1]; ++e)
        sum += gains.rows.data[e] * gains.table[cluster * gains.width + gains.rows.column[e]];
    sum -= gains.cost[cluster];
    return round_gain(cluster == gains.labels[i] ? sum - gains.stay[i] : sum);
}

// What an item gains at most in the other clusters of its own one's tile.
LINKWISE_INLINE double bound_others(const Gains& gains, const Bounds& bounds, int32_t i, int64_t tile) {
    double sum = 0;
    for (int32_t e = gains.rows.start[i]; e < gains.rows.start[i + 1]; ++e) {
        const int64_t h = gains.rows.column[e], at = tile * gains.width + h;
        const bool is_own = bounds.whose[at] == gains.labels[i];
        sum += gains.rows.data[e] * (is_own ? bounds.next[at] : bounds.most[h * bounds.stride + tile]);
    }
    return sum - bounds.cost[tile];
}

// The gain of an item in eight clusters; in place of those beyond the last one it is that of the last one.
LINKWISE_INLINE Lanes find_gains(const Gains& gains, int32_t i, int64_t first) {
    const double* row[8];
    Lanes sum{};
    for (int64_t j = 0; j < 8; ++j) row[j] = gains.table + std::min(first + j, gains.clusters - 1) * gains.width;
    for (int32_t e = gains.rows.start[i]; e < gains.rows.start[i + 1]; ++e) {
        const int32_t h = gains.rows.column[e];
        const Lanes here{row[0][h], row[1][h], row[2][h], row[3][h], row[4][h], row[5][h], row[6][h], row[7][h]};
        sum += gains.rows.data[e] * here;
    }
    for (int64_t j = 0; j < 8; ++j) {
        const int64_t cluster = std::min(first + j, gains.clusters - 1);
        sum[j] -= gains.cost[cluster];
        if (cluster == gains.labels[i]) sum[j] -= gains.stay[i];
    }
    return sum;
}

struct Choice {
    double gain;
    int64_t cluster;
};

LINKWISE_INLINE void compare_tile(const Gains& gains, int32_t i, int64_t tile, Choice& best) {
    for (int64_t c = tile * kTile; c < std::min(gains.clusters, (tile + 1) * kTile); c += 8) {
        const Lanes found = find_gains(gains, i, c);
        for (int64_t j = 0; j < 8; ++j) {
            const double gain = round_gain(found[j]);
            if (gain > best.gain || (gain == best.gain && c + j < best.cluster)) best = {gain, c + j};
        }
    }
}

LINKWISE_INLINE int32_t choose_cluster(const Gains& gains, const Bounds& bounds, int32_t i) {
    const int64_t own = gains.labels[i], own_tile = own / kTile;
    Choice best{find_gain(gains, i, own), own};
    for (int64_t first = 0; first < bounds.tiles; first += 8) {
        Lanes most{};
        for (int32_t e = gains.rows.start[i]; e < gains.rows.start[i + 1]; ++e)
            most += gains.rows.data[e] * load_lanes(&bounds.most[gains.rows.column[e] * bounds.stride + first]);
        most -= load_lanes(&bounds.cost[first]);
        for (int64_t tile = first; tile < std::min(bounds.tiles, first + 8); ++tile) {
            const double bound = tile == own_tile ? bound_others(gains, bounds, i, tile) : most[tile - first];
            if (round_gain(bound) >= best.gain) compare_tile(gains, i, tile, best);
        }
    }
    return static_cast<int32_t>(best.cluster);
}

LINKWISE_SIMD void choose_clusters(const Gains& gains, const Bounds& bounds, const int32_t* items, int64_t begin,
                                   int64_t end, int32_t* found) {
    for (int64_t at = begin; at < end; ++at) found[at] = choose_cluster(gains, bounds, items[at]);
}

Output<int32_t> best_clusters(Vector<int32_t> items, Vector<double> data, Vector<int32_t> column, Vector<int32_t> start,
                              Matrix<double> table, Vector<double> cost, Vector<double> stay, Vector<int32_t> labels,
                              int threads) {
    const int64_t n = items.shape(0), clusters = table.shape(0), width = table.shape(1);
    check_rows("gains", table);
    check_shape("cost", cost, clusters);
    const int64_t rows = check_sparse(data, column, start, width);
    check_shape("labels", labels, rows);
    check_range("labels", labels, 0, clusters - 1);
    check_shape("stay", stay, rows);
    check_range("items", items, 0, rows - 1);
    for (size_t e = 0; e < data.size(); ++e)
        if (data.data()[e] < 0) refuse("rows must hold no entry below 0, got ", data.data()[e], ".");
    const int64_t chunks = (n + kSome - 1) / kSome;
    Result<int32_t> found(n);
    {
        GilRelease release;
        const Gains gains{{data.data(), column.data(), start.data()}, table.data(), width, clusters, cost.data(),
                          labels.data(), stay.data()};
        Bounds bounds(gains);
        Crew crew(useful_threads(threads, clusters * width));
        crew.run(bounds.tiles, [&](int64_t t, int) { fill_bounds(gains, bounds, t); });
        crew.run(chunks, [&](int64_t c, int) {
            choose_clusters(gains, bounds, items.data(), c * kSome, std::min(n, (c + 1) * kSome), found.get());
        });
    }
    return found.release({static_cast<size_t>(n)});
}

}  // namespace

void register_best_clusters(nb::module_& m) {
    define(m, "best_clusters", best_clusters,
           R"(Find the cluster where each item gains most: (a,).

Item i gains in cluster c the sum of rows[i, h] * gains[c, h] over all h less cost[c]; in its present cluster it
gains stay[i] less. Gains are rounded to nine decimals, and the first of equal ones counts. items, (a,), are those
whose cluster is wanted, quicker if those of a cluster stand together; data, column and start are sparse rows (n, w)
without entries below 0; gains (C, w), cost (C,), stay (n,), labels (n,): the present clusters. Time O(C w), and
O(C / 32) for each entry of an item that gains most where it is.)",
           nb::arg("items"), nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("gains"), nb::arg("cost"),
           nb::arg("stay"), nb::arg("labels"), count("n_threads"));
}

}  // namespace linkwise
