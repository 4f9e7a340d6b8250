// Squared distances of rows to some points: all of them, or the nearest point of each row.
//
// Among many points the nearest one is searched in a tree of boxes, where that looks at few of them. Both ways sum a
// distance feature by feature, so they find the same point and the same distance, to the last bit.
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "points.hpp"
#include "row_tree.hpp"

namespace linkwise {

namespace {

inline constexpr int64_t kBlock = 64;    // points whose distances to a tile stay in L1
inline constexpr int64_t kFewest = 256;  // points for which a tree is worth its construction
inline constexpr int64_t kProbes = 64;   // rows whose searches measure the cost of all
inline constexpr double kLargestShare = 0.15;  // of all blocks; if searches visit more, a plain loop is faster

template <typename T>
struct ToPoints {
    const T* X;  // first row of the chunk
    int64_t rows, d, k;
    const double* points;
    int64_t* nearest;  // out, rows
    double* square;    // out, rows
};

// The nearest so far of each row of a tile, the first where several are equally near.
LINKWISE_INLINE void tile_nearer(const TileRow* squares, int64_t first, int64_t count, TileRow& best, int64_t* which) {
    for (int64_t v = 0; v < kTile / 8; ++v) {
        Lanes least = best.lanes[v];
        LaneLabels at;
        std::memcpy(&at, which + 8 * v, sizeof at);
        for (int64_t c = 0; c < count; ++c) {
            const Lanes s = squares[c].lanes[v];
            const LaneLabels nearer = s < least;
            at = nearer ? LaneLabels{} + (first + c) : at;
            least = nearer ? s : least;
        }
        best.lanes[v] = least;
        std::memcpy(which + 8 * v, &at, sizeof at);
    }
}

template <typename T>
LINKWISE_INLINE void to_points(const ToPoints<T>& t) {
    TileRow scratch[kFeatures], squares[kBlock], best;
    alignas(64) int64_t which[kTile];
    int32_t rows[kTile];
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s);
        for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
        std::fill_n(best.value, kTile, std::numeric_limits<double>::infinity());
        std::fill_n(which, kTile, 0);
        for (int64_t c = 0; c < t.k; c += kBlock) {
            const int64_t count = std::min(kBlock, t.k - c);
            tile_distances(t.X, t.d, rows, t.points + c * t.d, count, scratch, squares);
            tile_nearer(squares, c, count, best, which);
        }
        std::copy_n(which, m, t.nearest + s);
        std::copy_n(best.value, m, t.square + s);
    }
}

LINKWISE_SIMD void to_points_chunk(const ToPoints<float>& t) { to_points(t); }
LINKWISE_SIMD void to_points_chunk(const ToPoints<double>& t) { to_points(t); }

// The nearest point so far, the first where several are equally near.
struct NearestPoint {
    const int32_t* point;  // by position
    double square = RowTree::kNowhere;
    int64_t which = 0, blocks = 0;

    double bound() const { return square; }
    LINKWISE_INLINE void raise(Lanes&, int64_t, int64_t) { ++blocks; }
    LINKWISE_INLINE void block(const Lanes& squares, int64_t b) {
        ++blocks;
        if (!any_lane(squares <= square)) return;
        for (int64_t j = 0; j < 8; ++j) {
            if (!(squares[j] <= square) || squares[j] == RowTree::kNowhere) continue;  // nothing beyond the last point
            const int32_t at = point[b * 8 + j];
            if (squares[j] < square || at < which) square = squares[j], which = at;
        }
    }
};

LINKWISE_SIMD void find_nearest(const RowTree& tree, const double* x, NearestPoint& found) {
    search_tree(tree, x, found);
}

// A tree of the points, or null if searches look at too many of its blocks.
template <typename T>
std::unique_ptr<RowTree> make_tree(const T* X, int64_t n, const double* points, int64_t k, int64_t d) {
    if (k < kFewest || n < k) return nullptr;
    std::vector<int64_t> all(k);
    std::iota(all.begin(), all.end(), 0);
    auto tree = std::make_unique<RowTree>(points, all, d);
    std::vector<double> x(d);
    int64_t blocks = 0;
    for (int64_t i = 0; i < kProbes; ++i) {
        const T* row = X + i * n / kProbes * d;
        std::copy_n(row, d, x.begin());
        NearestPoint found{tree->row.data()};
        find_nearest(*tree, x.data(), found);
        blocks += found.blocks;
    }
    const double all_blocks = static_cast<double>(kProbes * ((k + 7) / 8));
    if (static_cast<double>(blocks) > kLargestShare * all_blocks) return nullptr;
    return tree;
}

template <typename T>
auto nearest_points(Matrix<T> X, Matrix<double> points, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = points.shape(0);
    check_rows("X", X);
    check_shape("points", points, kPositive, d);
    Result<int64_t> nearest(n);
    Result<double> square(n);
    {
        GilRelease release;
        fill_nearest(X.data(), n, d, points.data(), k, threads, nearest.get(), square.get());
    }
    const size_t N = n;
    return std::make_tuple(nearest.release({N}), square.release({N}));
}

template <typename T>
struct Table {
    const T* X;  // first row of the chunk
    int64_t rows, d, k;
    const double* points;
    double* squares;  // out, rows x k
};

template <typename T>
LINKWISE_INLINE void fill_table(const Table<T>& t) {
    TileRow scratch[kFeatures], squares[kBlock];
    int32_t rows[kTile];
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s);
        for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
        for (int64_t c = 0; c < t.k; c += kBlock) {
            const int64_t count = std::min(kBlock, t.k - c);
            tile_distances(t.X, t.d, rows, t.points + c * t.d, count, scratch, squares);
            for (int64_t j = 0; j < m; ++j)
                for (int64_t q = 0; q < count; ++q) t.squares[(s + j) * t.k + c + q] = squares[q].value[j];
        }
    }
}

LINKWISE_SIMD void fill_table_chunk(const Table<float>& t) { fill_table(t); }
LINKWISE_SIMD void fill_table_chunk(const Table<double>& t) { fill_table(t); }

template <typename T>
Output<double> squared_distances(Matrix<T> X, Matrix<double> points, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = points.shape(0);
    check_rows("X", X);
    check_shape("points", points, kPositive, d);
    Result<double> squares(n * k);
    {
        GilRelease release;
        fill_squares(X.data(), n, d, points.data(), k, threads, squares.get());
    }
    return squares.release({static_cast<size_t>(n), static_cast<size_t>(k)});
}

}  // namespace

template <typename T>
void fill_nearest(const T* X, int64_t n, int64_t d, const double* points, int64_t k, int threads, int64_t* nearest,
                  double* square) {
    const auto tree = make_tree(X, n, points, k, d);
    Crew crew(useful_threads(threads, n * d * k));
    crew.run(chunk_count(n), [&](int64_t c, int) {
        const int64_t start = c * kChunk, end = std::min(n, start + kChunk);
        if (!tree) {
            to_points_chunk(ToPoints<T>{X + start * d, end - start, d, k, points, nearest + start, square + start});
            return;
        }
        std::vector<double> x(d);
        for (int64_t i = start; i < end; ++i) {
            std::copy_n(X + i * d, d, x.begin());
            NearestPoint found{tree->row.data()};
            find_nearest(*tree, x.data(), found);
            nearest[i] = found.which, square[i] = found.square;
        }
    });
}

template <typename T>
void fill_squares(const T* X, int64_t n, int64_t d, const double* points, int64_t k, int threads, double* squares) {
    Crew crew(useful_threads(threads, n * d * k));
    crew.run(chunk_count(n), [&](int64_t c, int) {
        const int64_t start = c * kChunk;
        fill_table_chunk(
            Table<T>{X + start * d, std::min(kChunk, n - start), d, k, points, squares + start * k});
    });
}

template void fill_nearest(const float*, int64_t, int64_t, const double*, int64_t, int, int64_t*, double*);
template void fill_nearest(const double*, int64_t, int64_t, const double*, int64_t, int, int64_t*, double*);
template void fill_squares(const float*, int64_t, int64_t, const double*, int64_t, int, double*);
template void fill_squares(const double*, int64_t, int64_t, const double*, int64_t, int, double*);

void register_points(nb::module_& m) {
    define(m, "squared_distances", squared_distances<float>, squared_distances<double>,
           "Compute squared distances of every row to every point, (n, k), summed as in nearest_points.",
           nb::arg("X"), nb::arg("points"), count("n_threads"));
    define(m, "nearest_points", nearest_points<float>, nearest_points<double>,
           R"(Find, for each row, the nearest of some points, (k, d): its number (n,) and squared distance (n,).

Of equally near points the lowest number counts. Squares are summed in the order of the features, so that a
row has distance 0 to itself.)",
           nb::arg("X"), nb::arg("points"), count("n_threads"));
}

}  // namespace linkwise
