// Gaussian weights between all rows, each made once and written in both its places, and products with them.
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "exponential.hpp"

namespace linkwise {

namespace {

inline constexpr int64_t kSide = 64;  // rows of a square of the result that is made at once

// One square of the result: weights of `height` rows from `top` and `width` rows from `left`.
struct Square {
    const double* X;        // n x d
    const double* columns;  // d x stride, the same transposed
    int64_t n, d, stride, top, left, height, width;
    double scale;
    double* out;  // n x n
};

template <typename T>
LINKWISE_INLINE void weigh(const Square& t, T* tile) {
    for (int64_t i = 0; i < t.height; ++i) {
        const double* x = t.X + (t.top + i) * t.d;
        Lanes* row = reinterpret_cast<Lanes*>(tile + i * kSide);
        Lanes s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
        for (int64_t a = 0; a < t.d; ++a) {
            const Lanes* y = reinterpret_cast<const Lanes*>(t.columns + a * t.stride + t.left);
            const Lanes q0 = y[0] - x[a], q1 = y[1] - x[a], q2 = y[2] - x[a], q3 = y[3] - x[a];
            const Lanes q4 = y[4] - x[a], q5 = y[5] - x[a], q6 = y[6] - x[a], q7 = y[7] - x[a];
            s0 += q0 * q0, s1 += q1 * q1, s2 += q2 * q2, s3 += q3 * q3;
            s4 += q4 * q4, s5 += q5 * q5, s6 += q6 * q6, s7 += q7 * q7;
        }
        const Lanes sums[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
        for (int64_t v = 0; v < 8; ++v) row[v] = exponential(sums[v] * -t.scale);
        std::copy_n(tile + i * kSide, t.width, t.out + (t.top + i) * t.n + t.left);
    }
    if (t.top == t.left) return;
    for (int64_t j = 0; j < t.width; ++j) {
        double* mirrored = t.out + (t.left + j) * t.n + t.top;
        for (int64_t i = 0; i < t.height; ++i) mirrored[i] = tile[i * kSide + j];
    }
}

LINKWISE_SIMD void weigh_square(const Square& t) {
    alignas(64) double tile[kSide * kSide];
    weigh(t, tile);
}

void gaussian_weights(Matrix<double> X, double scale, Changed<double> out, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), sides = (n + kSide - 1) / kSide, stride = sides * kSide;
    check_rows("X", X);
    check_shape("out", out, n, n);
    if (!(scale >= 0)) refuse("scale must not be negative, got ", scale);
    GilRelease release;
    std::vector<TileRow> memory(static_cast<size_t>(d * stride / kTile));
    double* columns = memory.data()->value;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t a = 0; a < d; ++a) columns[a * stride + i] = X.data()[i * d + a];
    Crew crew(useful_threads(threads, n * n * (d + 8) / 2));
    crew.run(sides, [&](int64_t side, int) {
        for (int64_t top = 0; top <= side; ++top)
            weigh_square(Square{X.data(), columns, n, d, stride, top * kSide, side * kSide,
                                std::min(kSide, n - top * kSide), std::min(kSide, n - side * kSide), scale,
                                out.data()});
    });
}

inline constexpr int64_t kStrip = 256;  // columns of a matrix that are multiplied at once
inline constexpr int64_t kRowsAtOnce = 8;

// Some columns of a block of vectors times a matrix: each number is summed in the order of the matrix's rows.
struct Strip {
    const double* block;   // b x n
    const double* matrix;  // n x m, from the first column of the strip on
    int64_t b, n, m, width;
    double* out;  // b x m, likewise
};

// Adds the products of `rows` rows of the matrix from row i on.
template <int rows>
LINKWISE_INLINE void add_products(const Strip& t, int64_t i, double* factors) {
    for (int64_t v = 0; v < t.b; ++v)
        for (int64_t r = 0; r < rows; ++r) factors[v * rows + r] = t.block[v * t.n + i + r];
    const double* top = t.matrix + i * t.m;
    int64_t j = 0;
    for (; j + 8 <= t.width; j += 8) {
        Lanes row[rows];
        for (int r = 0; r < rows; ++r) std::memcpy(&row[r], top + r * t.m + j, sizeof row[r]);
        for (int64_t v = 0; v < t.b; ++v) {
            Lanes sum;
            std::memcpy(&sum, t.out + v * t.m + j, sizeof sum);
            for (int r = 0; r < rows; ++r) sum += factors[v * rows + r] * row[r];
            std::memcpy(t.out + v * t.m + j, &sum, sizeof sum);
        }
    }
    for (; j < t.width; ++j)
        for (int64_t v = 0; v < t.b; ++v)
            for (int r = 0; r < rows; ++r) t.out[v * t.m + j] += factors[v * rows + r] * top[r * t.m + j];
}

template <typename T>
LINKWISE_INLINE void multiply(const Strip& t, T* factors) {
    for (int64_t v = 0; v < t.b; ++v) std::fill_n(t.out + v * t.m, t.width, 0.0);
    int64_t i = 0;
    for (; i + kRowsAtOnce <= t.n; i += kRowsAtOnce) add_products<kRowsAtOnce>(t, i, factors);
    for (; i < t.n; ++i) add_products<1>(t, i, factors);
}

LINKWISE_SIMD void multiply_strip(const Strip& t, double* factors) { multiply(t, factors); }

Output<double> block_product(Matrix<double> block, Matrix<double> matrix, int threads) {
    const int64_t b = block.shape(0), n = matrix.shape(0), m = matrix.shape(1);
    check_rows("matrix", matrix);
    check_shape("block", block, kPositive, n);
    Result<double> out(b * m);
    {
        GilRelease release;
        Crew crew(useful_threads(threads, b * n * m / 2));
        std::vector<double> factors(static_cast<size_t>(crew.size() * b * kRowsAtOnce));
        crew.run((m + kStrip - 1) / kStrip, [&](int64_t strip, int thread) {
            const int64_t left = strip * kStrip;
            multiply_strip(Strip{block.data(), matrix.data() + left, b, n, m, std::min(kStrip, m - left),
                                 out.get() + left},
                           &factors[thread * b * kRowsAtOnce]);
        });
    }
    return out.release({static_cast<size_t>(b), static_cast<size_t>(m)});
}

}  // namespace

void register_gaussian(nb::module_& m) {
    define(m, "gaussian_weights", gaussian_weights,
           R"(Write exp(-scale d^2) into out, (n, n), for every two rows, where d is their distance.

Weights are within two units in the last place; those below 1e-307 are 0.)",
           nb::arg("X"), nb::arg("scale"), nb::arg("out"), count("n_threads"));
    define(m, "block_product", block_product,
           R"(Multiply a few vectors, (b, n), by a large matrix, (n, m), which is read once and never copied: (b, m).

Each number is summed in the order of the rows of the matrix.)",
           nb::arg("block"), nb::arg("matrix"), count("n_threads"));
}

}  // namespace linkwise
