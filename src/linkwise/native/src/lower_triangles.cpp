// What adds to the lower triangles of float32 tables: Gaussian kernels, inverses of parts, and how many clusterings
// put two rows together.
#include <cmath>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "exponential.hpp"

namespace linkwise {

namespace {

constexpr int64_t kRowsOfTask = 64;

using Floats = float __attribute__((vector_size(32)));

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

void add_gaussians(Changed<float> wide, Changed<float> narrow, Changed<float> tuned, Matrix<float> squares, float scale,
                   Vector<float> near, int threads) {
    const int64_t n = near.shape(0), tasks = (n + kRowsOfTask - 1) / kRowsOfTask;
    check_shape("near", near, kPositive);
    check_shape("squares", squares, n, n);
    check_shape("wide", wide, n, n);
    check_shape("narrow", narrow, n, n);
    check_shape("tuned", tuned, n, n);
    GilRelease release;
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

void add_scaled_part(Changed<float> out, Matrix<float> table, Vector<float> scale, Vector<int64_t> rows, int threads) {
    const int64_t m = rows.shape(0), n = out.shape(0), tasks = (m + kRowsOfTask - 1) / kRowsOfTask;
    check_square("out", out);
    check_shape("rows", rows, kPositive);
    check_shape("table", table, m, m);
    check_shape("scale", scale, m);
    check_range("rows", rows, 0, n - 1);
    for (int64_t a = 1; a < m; ++a)
        if (rows.data()[a] <= rows.data()[a - 1]) refuse("rows must be ascending.");
    GilRelease release;
    const Part part{table.data(), scale.data(), rows.data(), m, n, out.data()};
    Crew crew(std::min<int64_t>(useful_threads(threads, m * m), tasks));
    crew.run(tasks, [&](int64_t c, int) {
        add_part_rows(part, c * kRowsOfTask, std::min(m, (c + 1) * kRowsOfTask));
    });
}

// ---------------------------------------------------------------- clusterings
struct Clusterings {
    const uint8_t* labels;  // count x n
    int64_t count, n;       // count below 256
    float each;
    float* out;  // n x n
};

LINKWISE_SIMD void count_together(const Clusterings& t, int64_t i, uint8_t* counts) {
    std::memset(counts, 0, static_cast<size_t>(i + 1));
    for (int64_t c = 0; c < t.count; ++c) {
        const uint8_t* of = t.labels + c * t.n;
        const uint8_t own = of[i];
        for (int64_t j = 0; j <= i; ++j) counts[j] = static_cast<uint8_t>(counts[j] + (of[j] == own));
    }
    float* to = t.out + i * t.n;
    for (int64_t j = 0; j <= i; ++j) to[j] += static_cast<float>(counts[j]) * t.each;
}

void add_together(Changed<float> out, Matrix<uint8_t> labels, float each, int threads) {
    const int64_t count = labels.shape(0), n = labels.shape(1), tasks = (n + kRowsOfTask - 1) / kRowsOfTask;
    check_shape("labels", labels, kPositive, kPositive);
    check_shape("out", out, n, n);
    if (count > 255) refuse("labels must be of at most 255 clusterings.");
    GilRelease release;
    const Clusterings clusterings{labels.data(), count, n, each, out.data()};
    Crew crew(std::min<int64_t>(useful_threads(threads, n * n), tasks));
    crew.run(tasks, [&](int64_t c, int) {
        std::vector<uint8_t> counts(static_cast<size_t>(n));
        for (int64_t i = c * kRowsOfTask; i < std::min(n, (c + 1) * kRowsOfTask); ++i)
            count_together(clusterings, i, counts.data());
    });
}

}  // namespace

void register_lower_triangles(nb::module_& m) {
    define(m, "add_gaussians", add_gaussians,
           R"(Add Gaussian kernels of squared distances, (n, n), to three tables, (n, n), in their lower triangles.

wide gets exp(scale * squares), scale below 0; narrow the fourth power of that, a Gaussian of half the width;
tuned exp(-squares / w w'), where w are the widths near, (n,), above 0.)",
           nb::arg("wide"), nb::arg("narrow"), nb::arg("tuned"), nb::arg("squares"), nb::arg("scale"),
           nb::arg("near"), count("n_threads"));
    define(m, "add_scaled_part", add_scaled_part,
           R"(Add a table about some rows, (m, m), scaled on both sides by (m,), to one about all rows, (n, n).

The lower triangles count. The rows are ascending.)",
           nb::arg("out"), nb::arg("table"), nb::arg("scale"), nb::arg("rows"), count("n_threads"));
    define(m, "add_together", add_together,
           R"(Add how many clusterings put two rows together, times each, to a table, (n, n), in its lower triangle.

labels, (count, n), has the cluster of every row in at most 255 clusterings.)",
           nb::arg("out"), nb::arg("labels"), nb::arg("each"), count("n_threads"));
}

}  // namespace linkwise
