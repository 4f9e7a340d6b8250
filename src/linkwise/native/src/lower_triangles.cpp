// What adds to the lower triangles of float32 tables: Gaussian kernels, and inverses of parts.
#include <cmath>
#include <cstring>

#include "exponential.hpp"
#include "kernels.hpp"

namespace linkwise {

namespace {

constexpr int64_t kRowsOfTask = 64;

using Floats = float __attribute__((vector_size(32)));
using Writable = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// ---------------------------------------------------------------- Gaussians
struct Gaussians {
    const float* squares;  // n x n
    int64_t n;
    float scale;        // of the squares, in the exponent of the wide one
    const float* near;  // n widths, whose products are those of the tuned one
    float *wide, *narrow, *tuned;
};

LINKWISE_INLINE Floats exponential_of(const Floats& x) {
    return __builtin_convertvector(exponential(__builtin_convertvector(x, Lanes)), Floats);
}

LINKWISE_INLINE void add_lanes(float* to, size_t bytes, const Floats& more) {
    Floats sum{};
    std::memcpy(&sum, to, bytes);
    sum += more;
    std::memcpy(to, &sum, bytes);
}

// Half the width of a Gaussian is its fourth power.
LINKWISE_INLINE void add_gaussian(const Gaussians& t, int64_t i, int64_t j, size_t bytes) {
    const int64_t at = i * t.n + j;
    Floats squares{}, near{};
    near += 1.0F;
    std::memcpy(&squares, t.squares + at, bytes);
    std::memcpy(&near, t.near + j, bytes);
    const Floats one = exponential_of(squares * t.scale), squared = one * one;
    add_lanes(t.wide + at, bytes, one);
    add_lanes(t.narrow + at, bytes, squared * squared);
    add_lanes(t.tuned + at, bytes, exponential_of(squares / (t.near[i] * -near)));
}

LINKWISE_SIMD void add_gaussian_rows(const Gaussians& t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        int64_t j = 0;
        for (; j + 8 <= i + 1; j += 8) add_gaussian(t, i, j, sizeof(Floats));
        if (j <= i) add_gaussian(t, i, j, sizeof(float) * static_cast<size_t>(i + 1 - j));
    }
}

void add_gaussians(Writable wide, Writable narrow, Writable tuned, Matrix<float> squares, float scale,
                   Vector<float> near, int threads) {
    const int64_t n = squares.shape(0), tasks = (n + kRowsOfTask - 1) / kRowsOfTask;
    nb::gil_scoped_release release;
    const Gaussians gaussians{squares.data(), n, scale, near.data(), wide.data(), narrow.data(), tuned.data()};
    Crew crew(std::min<int64_t>(useful_threads(threads, 8 * n * n), tasks));
    crew.run(tasks, [&](int64_t c, int) {
        add_gaussian_rows(gaussians, c * kRowsOfTask, std::min(n, (c + 1) * kRowsOfTask));
    });
}

// ---------------------------------------------------------------- parts
struct Part {
    const float* table;  // m x m
    const float* scale;  // m
    const int64_t* rows;  // m, ascending
    int64_t m, n;
    float* out;  // n x n
};

LINKWISE_SIMD void add_part_rows(const Part& t, int64_t begin, int64_t end) {
    const bool is_whole = t.m == t.n;
    for (int64_t a = begin; a < end; ++a) {
        const float* from = t.table + a * t.m;
        const float own = t.scale[a];
        float* to = t.out + t.rows[a] * t.n;
        if (is_whole)
            for (int64_t b = 0; b <= a; ++b) to[b] += from[b] * own * t.scale[b];
        else
            for (int64_t b = 0; b <= a; ++b) to[t.rows[b]] += from[b] * own * t.scale[b];
    }
}

void add_scaled_part(Writable out, Matrix<float> table, Vector<float> scale, Vector<int64_t> rows, int threads) {
    const int64_t m = table.shape(0), n = out.shape(0), tasks = (m + kRowsOfTask - 1) / kRowsOfTask;
    nb::gil_scoped_release release;
    const Part part{table.data(), scale.data(), rows.data(), m, n, out.data()};
    Crew crew(std::min<int64_t>(useful_threads(threads, m * m), tasks));
    crew.run(tasks, [&](int64_t c, int) {
        add_part_rows(part, c * kRowsOfTask, std::min(m, (c + 1) * kRowsOfTask));
    });
}

}  // namespace

void register_lower_triangles(nb::module_& m) {
    m.def("add_gaussians", &add_gaussians, nb::arg("wide").noconvert(), nb::arg("narrow").noconvert(),
          nb::arg("tuned").noconvert(), nb::arg("squares").noconvert(), nb::arg("scale"),
          nb::arg("near").noconvert(), nb::arg("n_threads"));
    m.def("add_scaled_part", &add_scaled_part, nb::arg("out").noconvert(), nb::arg("table").noconvert(),
          nb::arg("scale").noconvert(), nb::arg("rows").noconvert(), nb::arg("n_threads"));
}

}  // namespace linkwise
