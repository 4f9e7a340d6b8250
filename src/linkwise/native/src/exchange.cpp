// k-means made better row by row (Hartigan 1975): a row changes sides where the sum of squares falls
// with both means at once in their new places. What Lloyd's iteration reaches need not stand this test.
#include <cmath>
#include <vector>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

// A row moves only where this share of its cost is gained: rounding moves nothing, so an end is reached.
inline constexpr double kGain = 1e-9;

// Rows that are looked up together.
inline constexpr int64_t kPiece = 512;

struct Exchange {
    const double* X;
    const Tiles* tiles;
    int64_t n, d, k;
    double* centers;  // k x d, means of the clusters
    double* counts;   // k
    int32_t* labels;
    TileRow* squares;  // scratch, k
    // A row is looked at again only where it may want to move. Let a be the root of what it costs where it
    // is, b of what it would cost elsewhere. Since then means have moved by `drift` in all, and the weights
    // of distances by the share `turn`: b - a has fallen by at most (a + b) turn + 2.5 drift.
    double *gap, *size;  // n each: b - a, with drift and turn of that time; a + b
    double drift, turn;
    int64_t moved;  // out: rows of one pass that changed sides
};

// What a squared distance from a mean weighs: where the row leaves its cluster, or joins another.
LINKWISE_INLINE double leaving(double count) { return count > 1 ? count / (count - 1) : 0; }
LINKWISE_INLINE double joining(double count) { return count / (count + 1); }

// Means as they are now: the cluster that row i should be in.
template <typename T>
LINKWISE_INLINE int32_t best_cluster(const Exchange& t, const T* x, int32_t own) {
    double least = leaving(t.counts[own]) * row_distance(x, t.centers + own * t.d, t.d) * (1 - kGain);
    int32_t best = own;
    for (int64_t c = 0; c < t.k; ++c) {
        if (c == own) continue;
        const double cost = joining(t.counts[c]) * row_distance(x, t.centers + c * t.d, t.d);
        if (cost < least) least = cost, best = static_cast<int32_t>(c);
    }
    return best;
}

template <typename T>
LINKWISE_INLINE void move_row(Exchange& t, const T* x, int32_t from, int32_t to) {
    double *left = t.centers + from * t.d, *joined = t.centers + to * t.d;
    const double less = t.counts[from] - 1, more = t.counts[to] + 1;
    t.drift += std::sqrt(row_distance(x, left, t.d)) / less;
    t.drift += std::sqrt(row_distance(x, joined, t.d)) / more;
    t.turn += less > 1 ? 1 / (less * less - 1) : 1.0;
    // a row alone cost nothing where it was: all are looked at again
    if (more == 2) t.drift = __builtin_inf();
    for (int64_t a = 0; a < t.d; ++a) {
        left[a] -= (x[a] - left[a]) / less;
        joined[a] += (x[a] - joined[a]) / more;
    }
    t.counts[from] = less;
    t.counts[to] = more;
}

// What the rows of a tile cost where they are, and the least elsewhere.
template <typename T>
LINKWISE_INLINE void tile_costs(Exchange& t, const T* X, const int32_t* rows, const TileRow* columns,
                                TileRow* scratch, double* stays, double* least) {
    if (columns)
        column_distances(columns, t.d, t.centers, t.k, t.squares);
    else
        tile_distances(X, t.d, rows, t.centers, t.k, scratch, t.squares);
    double own[kTile];
    for (int64_t j = 0; j < kTile; ++j) own[j] = t.labels[rows[j]], least[j] = __builtin_inf();
    for (int64_t c = 0; c < t.k; ++c) {
        const double leaves = leaving(t.counts[c]), joins = joining(t.counts[c]), of = static_cast<double>(c);
        const double* square = t.squares[c].value;
        for (int64_t j = 0; j < kTile; ++j) stays[j] = own[j] == of ? leaves * square[j] * (1 - kGain) : stays[j];
        if (joins > 0)
            for (int64_t j = 0; j < kTile; ++j)
                least[j] = own[j] == of ? least[j] : std::min(least[j], joins * square[j]);
        else  // an empty cluster: infinity times 0 is no number
            std::fill_n(least, kTile, 0.0);
    }
}

// Rows that might move, by the distances of their tile; each is looked at again by itself.
template <typename T>
LINKWISE_INLINE void exchange(Exchange& t, const T* X) {
    TileRow scratch[kFeatures];
    int32_t rows[kPiece + kTile];
    alignas(64) double stays[kTile]{}, least[kTile], sizes[kTile], gaps[kTile];
    t.moved = 0;
    for (int64_t piece = 0; piece < t.n; piece += kPiece) {
        const int64_t end = std::min(t.n, piece + kPiece);
        int64_t m = 0;
        for (int64_t i = piece; i < end; ++i) {
            rows[m] = static_cast<int32_t>(i);
            m += !(t.gap[i] > t.size[i] * t.turn + 2.5 * t.drift);
        }
        for (int64_t j = m; m > 0 && j < m + kTile; ++j) rows[j] = rows[m - 1];  // fills the last tile
        for (int64_t s = 0; s < m; s += kTile) {
            const TileRow* columns = m == end - piece ? t.tiles->from(piece + s, t.d) : nullptr;
            tile_costs(t, X, rows + s, columns, scratch, stays, least);
            for (int64_t j = 0; j < kTile; ++j) {
                const double a = std::sqrt(stays[j]), b = std::sqrt(least[j]);
                sizes[j] = a + b;
                gaps[j] = (b - a) + (a + b) * (t.turn - 2 * kGain) + 2.5 * t.drift;
            }
            for (int64_t j = 0; j < std::min(kTile, m - s); ++j)
                t.size[rows[s + j]] = sizes[j], t.gap[rows[s + j]] = gaps[j];
            for (int64_t j = 0; j < std::min(kTile, m - s); ++j) {
                if (!(least[j] < stays[j])) continue;
                const int64_t i = rows[s + j];
                const int32_t own = t.labels[i], best = best_cluster(t, X + i * t.d, own);
                if (best == own) continue;
                move_row(t, X + i * t.d, own, best);
                t.labels[i] = best;
                t.gap[i] = -__builtin_inf();
                t.moved++;
            }
        }
    }
}

LINKWISE_SIMD void exchange_pass(Exchange& t) { exchange(t, t.X); }

// Means and sizes of the clusters.
void find_means(const double* X, int64_t n, int64_t d, int64_t k, const int32_t* labels, double* centers,
                double* counts) {
    std::fill_n(centers, k * d, 0.0);
    std::fill_n(counts, k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        counts[labels[i]] += 1;
        for (int64_t a = 0; a < d; ++a) centers[labels[i] * d + a] += X[i * d + a];
    }
    for (int64_t c = 0; c < k; ++c)
        for (int64_t a = 0; a < d; ++a) centers[c * d + a] /= std::max(counts[c], 1.0);
}

// The sum of squared distances from the means.
double sum_squares(const double* X, int64_t n, int64_t d, const int32_t* labels, const double* centers) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += row_distance(X + i * d, centers + labels[i] * d, d);
    return sum;
}

auto exchange_runs(Matrix<double> X, Matrix<int32_t> labels, int64_t k, int max_passes, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), runs = labels.shape(0);
    check_rows("X", X);
    check_shape("labels", labels, kPositive, n);
    check_range("labels", labels, 0, k - 1);
    Result<int32_t> found(runs * n);
    Result<double> inertia(runs);
    {
        GilRelease release;
        std::copy_n(labels.data(), runs * n, found.get());
        const Tiles tiles(X.data(), n, d);
        Crew crew(std::min<int64_t>(runs, useful_threads(threads, 4 * runs * n * d * k)));
        crew.run(runs, [&](int64_t r, int) {
            std::vector<double> centers(static_cast<size_t>(k * d)), counts(static_cast<size_t>(k));
            std::vector<double> gap(static_cast<size_t>(n)), size(static_cast<size_t>(n));
            std::vector<TileRow> squares(static_cast<size_t>(k));
            int32_t* of_run = found.get() + r * n;
            find_means(X.data(), n, d, k, of_run, centers.data(), counts.data());
            Exchange t{X.data(), &tiles, n, d, k, centers.data(), counts.data(), of_run, squares.data(), gap.data(),
                       size.data(), 0, 0, 0};
            bool as_found = true;
            for (int pass = 0; pass < max_passes; ++pass) {
                if (pass == 0 || std::isinf(t.drift)) {
                    std::fill(gap.begin(), gap.end(), -__builtin_inf());
                    t.drift = t.turn = 0;
                }
                exchange_pass(t);
                if (t.moved == 0) break;
                as_found = false;
            }
            if (!as_found) find_means(X.data(), n, d, k, of_run, centers.data(), counts.data());
            inertia.get()[r] = sum_squares(X.data(), n, d, of_run, centers.data());
        });
    }
    const size_t R = runs, N = n;
    return std::make_tuple(found.release({R, N}), inertia.release({R}));
}

}  // namespace

void register_exchange(nb::module_& m) {
    define(m, "exchange", exchange_runs,
           R"(Move rows to other clusters, one at a time, while the sum of squares falls.

labels, (R, n), are R clusterings into k clusters, which need not all be there; from each one run starts, which
stops after a pass over all rows without a move. Returns improved labels (R, n), and the sums of squared
distances of the rows to the means of their clusters (R,).

Hartigan (1975), Clustering Algorithms. Telgarsky and Vattani (2010), Hartigan's method: k-means clustering
without Voronoi.)",
           nb::arg("X"), nb::arg("labels"), count("k"), count("max_passes"), count("n_threads"));
}

}  // namespace linkwise
