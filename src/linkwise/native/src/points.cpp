// Squared distances of rows to some points: all of them, or the nearest point of each row.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

inline constexpr int64_t kBlock = 64;  // points whose distances to a tile stay in L1

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

template <typename T>
nb::tuple nearest_points(Matrix<T> X, Matrix<double> points, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = points.shape(0);
    Result<int64_t> nearest(n);
    Result<double> square(n);
    {
        nb::gil_scoped_release release;
        Crew crew(useful_threads(threads, n * d * k));
        crew.run(chunk_count(n), [&](int64_t c, int) {
            const int64_t start = c * kChunk;
            to_points_chunk(ToPoints<T>{X.data() + start * d, std::min(kChunk, n - start), d, k, points.data(),
                                        nearest.get() + start, square.get() + start});
        });
    }
    const size_t N = n;
    return nb::make_tuple(nearest.release({N}), square.release({N}));
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
nb::ndarray<nb::numpy, double> squared_distances(Matrix<T> X, Matrix<double> points, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = points.shape(0);
    Result<double> squares(n * k);
    {
        nb::gil_scoped_release release;
        Crew crew(useful_threads(threads, n * d * k));
        crew.run(chunk_count(n), [&](int64_t c, int) {
            const int64_t start = c * kChunk;
            fill_table_chunk(Table<T>{X.data() + start * d, std::min(kChunk, n - start), d, k, points.data(),
                                      squares.get() + start * k});
        });
    }
    return squares.release({static_cast<size_t>(n), static_cast<size_t>(k)});
}

}  // namespace

void register_points(nb::module_& m) {
    m.def("squared_distances", &squared_distances<float>, nb::arg("X").noconvert(), nb::arg("points").noconvert(),
          nb::arg("n_threads"));
    m.def("squared_distances", &squared_distances<double>, nb::arg("X").noconvert(), nb::arg("points").noconvert(),
          nb::arg("n_threads"));
    m.def("nearest_points", &nearest_points<float>, nb::arg("X").noconvert(), nb::arg("points").noconvert(),
          nb::arg("n_threads"));
    m.def("nearest_points", &nearest_points<double>, nb::arg("X").noconvert(), nb::arg("points").noconvert(),
          nb::arg("n_threads"));
}

}  // namespace linkwise
