// Gaussian weights between all rows, each made once and written in both its places.
#include <vector>

#include "exponential.hpp"
#include "kernels.hpp"

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

void gaussian_weights(Matrix<double> X, double scale, nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out,
                      int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), sides = (n + kSide - 1) / kSide, stride = sides * kSide;
    nb::gil_scoped_release release;
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

}  // namespace

void register_gaussian(nb::module_& m) {
    m.def("gaussian_weights", &gaussian_weights, nb::arg("X").noconvert(), nb::arg("scale"),
          nb::arg("out").noconvert(), nb::arg("n_threads"));
}

}  // namespace linkwise
