// The validity index S_Dbw: how clusters scatter, and how many of their rows lie near the centres and half-way
// between them (Halkidi and Vazirgiannis 2001).
#include <cmath>
#include <vector>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

// In parts of the variance of the data: rows as near as this to a sphere lie on it.
inline constexpr double kNearby = 1e-12;

template <typename T>
struct Scatter {
    const T* X;
    const int32_t* labels;
    int64_t begin, end, d;
    const double* centers;
    double* squares;  // out: k x d
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

// Sums of squared deviations by cluster and feature. Blocks as in sums.cpp: they do not depend on the threads,
// and are few where there are many clusters.
template <typename T>
std::vector<double> scatter_of(Scatter<T> all, int64_t k, int threads) {
    const int64_t n = all.end, d = all.d;
    const int64_t blocks = std::clamp<int64_t>(n / (4 * k), 1, std::min<int64_t>(64, chunk_count(n)));
    std::vector<double> squares(blocks * k * d);
    Crew crew(std::min<int64_t>(useful_threads(threads, n * d), blocks));
    crew.run(blocks, [&](int64_t b, int) {
        Scatter<T> t = all;
        t.begin = b * n / blocks, t.end = (b + 1) * n / blocks, t.squares = &squares[b * k * d];
        add_squares_block(t);
    });
    for (size_t j = k * d; j < squares.size(); ++j) squares[j % (k * d)] += squares[j];
    squares.resize(k * d);
    return squares;
}

// Squared distances of the rows to the centres: computed from X, or known.
template <typename T>
struct Counting {
    const T* X;             // first row
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

// How many rows of one cluster are near each centre, and near the middle of it and each other: 2 x k x k.
template <typename T>
std::vector<int64_t> density_counts(Counting<T> all, int threads) {
    const int64_t n = all.rows, d = all.d, k = all.k;
    const std::vector<double> apart = squares_apart(all.centers, k, d);
    Crew crew(useful_threads(threads, n * k * (all.squares ? 1 : d)));
    std::vector<TileRow> tiles(all.squares ? 0 : crew.size() * k);
    std::vector<int64_t> counts(crew.size() * 2 * k * k);
    crew.run(chunk_count(n), [&](int64_t c, int thread) {
        const int64_t start = c * kChunk;
        Counting<T> t = all;
        t.X += start * d, t.labels += start, t.rows = std::min(kChunk, n - start), t.apart = apart.data();
        if (t.squares) t.squares += start * k;
        else t.tile = &tiles[thread * k];
        t.near = &counts[thread * 2 * k * k], t.between = t.near + k * k;
        count_near_chunk(t);
    });
    // whole numbers: their order does not matter
    for (size_t j = 2 * k * k; j < counts.size(); ++j) counts[j % (2 * k * k)] += counts[j];
    return counts;
}

// Mean over pairs of clusters of the density half-way, in parts of the density at the denser mean.
double density_between(const std::vector<int64_t>& counts, int64_t k) {
    const int64_t *near = counts.data(), *between = near + k * k;
    double sum = 0;
    for (int64_t i = 0; i < k; ++i)
        for (int64_t j = i + 1; j < k; ++j) {
            const int64_t ij = i * k + j, ji = j * k + i;
            const int64_t densest = std::max(near[i * k + i] + near[ji], near[j * k + j] + near[ij]);
            if (densest > 0)
                sum += static_cast<double>(between[ij] + between[ji]) / static_cast<double>(densest);
        }
    return sum / (0.5 * static_cast<double>(k * (k - 1)));
}

// Scat, and how far from a point a row is near it.
struct Spread {
    double scat, reach;
};

// Turns the sums of squares into the clusters' variances.
Spread spread_of(std::vector<double>& squares, const std::vector<int64_t>& size, const double* means, int64_t k,
                 int64_t d, bool pooled) {
    std::vector<double> mean(d), variance(d);
    int64_t n = 0;
    for (int64_t c : size) n += c;
    for (int64_t c = 0; c < k; ++c)
        for (int64_t a = 0; a < d; ++a)
            mean[a] += static_cast<double>(size[c]) / static_cast<double>(n) * means[c * d + a];
    for (int64_t c = 0; c < k; ++c)
        for (int64_t a = 0; a < d; ++a) {
            const double away = means[c * d + a] - mean[a];
            squares[c * d + a] /= static_cast<double>(size[c]);
            variance[a] += static_cast<double>(size[c]) / static_cast<double>(n) * (squares[c * d + a] + away * away);
        }
    const double largest = *std::max_element(variance.begin(), variance.end());
    const double unit = largest > 0 ? largest : 1;  // squares of variances would leave the range otherwise
    const auto length = [&](const double* vector) {
        double sum = 0;
        for (int64_t a = 0; a < d; ++a) sum += vector[a] / unit * (vector[a] / unit);
        return std::sqrt(sum);
    };
    double spreads = 0, roots = 0, total = 0;
    for (int64_t c = 0; c < k; ++c) {
        const double spread = length(&squares[c * d]);
        spreads += spread;
        roots += std::sqrt(spread);
    }
    for (double v : variance) total += v;
    const double whole = length(variance.data()), clusters = static_cast<double>(k);
    const double radius = pooled ? std::sqrt(spreads) / clusters : roots / clusters;
    return {whole > 0 ? spreads / (clusters * whole) : 0, radius * radius * unit + kNearby * total};
}

template <typename T>
std::pair<double, double> s_dbw(Matrix<T> X, Vector<int32_t> labels, Matrix<double> means,
                                std::optional<Matrix<double>> squares, bool pooled, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = means.shape(0);
    check_rows("X", X);
    check_shape("labels", labels, n);
    check_shape("means", means, kPositive, d);
    check_range("labels", labels, std::numeric_limits<int32_t>::min(), k - 1);
    check_shape("squares", squares, n, k);
    Spread spread;
    double between = 0;
    {
        GilRelease release;
        std::vector<int64_t> size(k);
        for (int64_t i = 0; i < n; ++i)
            if (labels.data()[i] >= 0) ++size[labels.data()[i]];
        if (std::find(size.begin(), size.end(), 0) != size.end())
            throw nb::value_error("labels leave a cluster without a row. Pass as many means as there are clusters.");
        auto scatter = scatter_of(Scatter<T>{X.data(), labels.data(), 0, n, d, means.data(), nullptr}, k, threads);
        spread = spread_of(scatter, size, means.data(), k, d, pooled);
        if (k > 1)
            between = density_between(
                density_counts(Counting<T>{X.data(), data_or_null(squares), labels.data(), n, d,
                                           k, means.data(), nullptr, spread.reach, nullptr, nullptr, nullptr},
                               threads),
                k);
    }
    return {spread.scat, between};
}

}  // namespace

void register_s_dbw(nb::module_& m) {
    define(m, "s_dbw", s_dbw<float>, s_dbw<double>,
           R"(Compute scatter within clusters and density between them, as linkwise.validity.s_dbw describes them.

labels, (n,), are below k, each used; a negative one belongs to no cluster. means, (k, d), are those of the
clusters; squares, (n, k), the squared distances of every row to every mean, if known. pooled: rows are near
within sqrt(sum of the clusters' spreads) / k, or else within the mean of their roots. The scatter is 0 if all
rows are identical. The density is a mean over pairs of clusters, 0 for one cluster.)",
           nb::arg("X"), nb::arg("labels"), nb::arg("means"), nb::arg("squares").none(), nb::arg("pooled"),
           count("n_threads"));
}

}  // namespace linkwise
