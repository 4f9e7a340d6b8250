// What the validity index S_Dbw counts: how clusters scatter, and how many of their rows lie near the centres
// and half-way between them (Halkidi and Vazirgiannis 2001).
#include <vector>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

template <typename T>
struct Scatter {
    const T* X;
    const int32_t* labels;
    int64_t begin, end, d;
    const double* centers;
    double* squares;  // k x d
};

template <typename T>
LINKWISE_INLINE void add_squares(const Scatter<T>& t) {
    for (int64_t i = t.begin; i < t.end; ++i) {
        if (t.labels[i] < 0) continue;
        const T* x = t.X + i * t.d;
        const double* center = t.centers + t.labels[i] * t.d;
        double* sum = t.squares + t.labels[i] * t.d;
        for (int64_t a = 0; a < t.d; ++a) {
            const double q = static_cast<double>(x[a]) - center[a];
            sum[a] += q * q;
        }
    }
}

LINKWISE_SIMD void add_squares_block(const Scatter<float>& t) { add_squares(t); }
LINKWISE_SIMD void add_squares_block(const Scatter<double>& t) { add_squares(t); }

// Blocks as in sums.cpp: they do not depend on the threads, and are few where there are many clusters.
template <typename T>
nb::ndarray<nb::numpy, double> label_scatter(Matrix<T> X, Vector<int32_t> labels, Matrix<double> centers,
                                             int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0);
    const int64_t blocks = std::clamp<int64_t>(n / (4 * k), 1, std::min<int64_t>(64, chunk_count(n)));
    Result<double> squares(k * d);
    {
        nb::gil_scoped_release release;
        std::vector<double> more((blocks - 1) * k * d);
        std::fill_n(squares.get(), k * d, 0.0);
        Crew crew(std::min<int64_t>(useful_threads(threads, n * d), blocks));
        crew.run(blocks, [&](int64_t b, int) {
            add_squares_block(Scatter<T>{X.data(), labels.data(), b * n / blocks, (b + 1) * n / blocks, d,
                                         centers.data(), b ? &more[(b - 1) * k * d] : squares.get()});
        });
        for (size_t j = 0; j < more.size(); ++j) squares.get()[j % (k * d)] += more[j];
    }
    return squares.release({static_cast<size_t>(k), static_cast<size_t>(d)});
}

// Squared distances of the rows of a chunk to the centres: computed from X, or known.
template <typename T>
struct Counting {
    const T* X;             // first row of the chunk
    const double* squares;  // null, or rows x k
    const int32_t* labels;
    int64_t rows, d, k;
    const double* centers;
    const double* apart;  // k x k squared distances of the centres
    double reach;         // squared
    TileRow* tile;        // scratch, k
    int64_t* near;        // k x k: [c, q] rows of c within reach of centre q
    int64_t* between;     // k x k: [c, q] rows of c within reach of the middle of centres c and q
};

// |x - (u + v) / 2|^2 = (|x - u|^2 + |x - v|^2) / 2 - |u - v|^2 / 4
template <typename T>
LINKWISE_INLINE void count_near(const Counting<T>& t) {
    TileRow scratch[kFeatures];
    int32_t rows[kTile];
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s);
        for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
        if (!t.squares) tile_distances(t.X, t.d, rows, t.centers, t.k, scratch, t.tile);
        for (int64_t j = 0; j < m; ++j) {
            const int64_t c = t.labels[s + j];
            if (c < 0) continue;
            const double* known = t.squares ? t.squares + (s + j) * t.k : nullptr;
            const double own = known ? known[c] : t.tile[c].value[j];
            for (int64_t q = 0; q < t.k; ++q) {
                const double other = known ? known[q] : t.tile[q].value[j];
                t.near[c * t.k + q] += other <= t.reach;
                t.between[c * t.k + q] += 0.5 * (own + other) - 0.25 * t.apart[c * t.k + q] <= t.reach;
            }
        }
    }
}

LINKWISE_SIMD void count_near_chunk(const Counting<float>& t) { count_near(t); }
LINKWISE_SIMD void count_near_chunk(const Counting<double>& t) { count_near(t); }

std::vector<double> squares_apart(const double* centers, int64_t k, int64_t d) {
    std::vector<double> apart(k * k);
    for (int64_t c = 0; c < k; ++c)
        for (int64_t q = 0; q < k; ++q) apart[c * k + q] = row_distance(centers + c * d, centers + q * d, d);
    return apart;
}

template <typename T>
nb::tuple density_counts(Matrix<T> X, Vector<int32_t> labels, Matrix<double> centers, double reach,
                         nb::object squares, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0);
    Matrix<double> table;
    if (!squares.is_none()) table = nb::cast<Matrix<double>>(squares, false);
    const double* known = squares.is_none() ? nullptr : table.data();
    Result<int64_t> near(k * k), between(k * k);
    {
        nb::gil_scoped_release release;
        const std::vector<double> apart = squares_apart(centers.data(), k, d);
        Crew crew(useful_threads(threads, n * k * (known ? 1 : d)));
        std::vector<std::vector<TileRow>> tiles(crew.size(), std::vector<TileRow>(known ? 0 : k));
        std::vector<std::vector<int64_t>> counts(crew.size(), std::vector<int64_t>(2 * k * k));
        crew.run(chunk_count(n), [&](int64_t c, int thread) {
            const int64_t start = c * kChunk;
            count_near_chunk(Counting<T>{X.data() + start * d, known ? known + start * k : nullptr,
                                         labels.data() + start, std::min(kChunk, n - start), d, k, centers.data(),
                                         apart.data(), reach, tiles[thread].data(), counts[thread].data(),
                                         counts[thread].data() + k * k});
        });
        std::fill_n(near.get(), k * k, 0);
        std::fill_n(between.get(), k * k, 0);
        for (const auto& count : counts) {  // whole numbers: their order does not matter
            for (int64_t j = 0; j < k * k; ++j) near.get()[j] += count[j];
            for (int64_t j = 0; j < k * k; ++j) between.get()[j] += count[k * k + j];
        }
    }
    const size_t K = k;
    return nb::make_tuple(near.release({K, K}), between.release({K, K}));
}

template <typename T>
void register_counts(nb::module_& m) {
    m.def("label_scatter", &label_scatter<T>, nb::arg("X").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("centers").noconvert(), nb::arg("n_threads"));
    m.def("density_counts", &density_counts<T>, nb::arg("X").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("centers").noconvert(), nb::arg("reach"), nb::arg("squares").none(), nb::arg("n_threads"));
}

void register_s_dbw(nb::module_& m) {
    register_counts<float>(m);
    register_counts<double>(m);
}

}  // namespace linkwise
