// Chances of pairs and of items, by which KIN chooses its questions: what NumPy would compute in many passes.
#include <cmath>
#include <cstring>
#include <vector>

#include "exponential.hpp"
#include "kernels.hpp"

namespace linkwise {

namespace {

constexpr int64_t kBand = 64;  // rows of a table that one thread takes at a time

// ---------------------------------------------------------------- pairs
struct Logits {
    const double *similarity, *shared;
    double constant, by_similarity, by_shared;
    double* out;
};

LINKWISE_INLINE Lanes logistic(const Lanes& z) {
    const Lanes e = exponential(z < 0 ? z : -z);
    return (z < 0 ? e : Lanes{} + 1.0) / (e + 1.0);
}

LINKWISE_INLINE void fill_lanes(const Logits& t, int64_t at, size_t bytes) {
    Lanes one{}, other{};
    std::memcpy(&one, t.similarity + at, bytes);
    std::memcpy(&other, t.shared + at, bytes);
    const Lanes found = logistic(one * t.by_similarity + t.constant + other * t.by_shared);
    std::memcpy(t.out + at, &found, bytes);
}

LINKWISE_SIMD void fill_logistic(const Logits& t, int64_t begin, int64_t end) {
    int64_t at = begin;
    for (; at + 8 <= end; at += 8) fill_lanes(t, at, sizeof(Lanes));
    if (at < end) fill_lanes(t, at, sizeof(double) * static_cast<size_t>(end - at));
}

nb::object pair_chances(Matrix<double> similarity, Matrix<double> shared, double constant, double by_similarity,
                        double by_shared, int threads) {
    const int64_t n = similarity.shape(0), width = similarity.shape(1), all = n * width;
    Result<double> found(all);
    {
        nb::gil_scoped_release release;
        const Logits logits{similarity.data(), shared.data(), constant, by_similarity, by_shared, found.get()};
        Crew crew(useful_threads(threads, 4 * all));
        crew.run(chunk_count(all), [&](int64_t c, int) {
            fill_logistic(logits, c * kChunk, std::min(all, (c + 1) * kChunk));
        });
    }
    return nb::cast(found.release({static_cast<size_t>(n), static_cast<size_t>(width)}));
}

// Of symmetric tables: below the diagonal, and then the other way round.
nb::object pair_chances_of_halves(Matrix<double> similarity, Matrix<double> shared, double constant,
                                  double by_similarity, double by_shared) {
    const int64_t n = similarity.shape(0);
    Result<double> found(n * n);
    {
        nb::gil_scoped_release release;
        double* out = found.get();
        const Logits logits{similarity.data(), shared.data(), constant, by_similarity, by_shared, out};
        for (int64_t i = 0; i < n; ++i) fill_logistic(logits, i * n, i * n + i + 1);
        constexpr int64_t side = 32;
        for (int64_t a = 0; a < n; a += side)
            for (int64_t b = 0; b <= a; b += side)
                for (int64_t j = b; j < std::min(n, b + side); ++j)
                    for (int64_t i = std::max(a, j + 1); i < std::min(n, a + side); ++i) out[j * n + i] = out[i * n + j];
    }
    return nb::cast(found.release({static_cast<size_t>(n), static_cast<size_t>(n)}));
}

// What a step of Newton needs of pairs with chances c and targets t: sums of (t - c) x and of c (1 - c) x x', where x is
// (1, similarity, shared). Each sum is added in 8 lanes, which are added one by one.
constexpr int kSums = 9;

LINKWISE_INLINE void add_slope(const Logits& t, const double* target, int64_t at, size_t bytes, const Lanes& there,
                               Lanes* sums) {
    Lanes one{}, other{}, wanted{};
    std::memcpy(&one, t.similarity + at, bytes);
    std::memcpy(&other, t.shared + at, bytes);
    std::memcpy(&wanted, target + at, bytes);
    const Lanes chance = logistic(one * t.by_similarity + t.constant + other * t.by_shared);
    const Lanes left = (wanted - chance) * there, spread = chance * (1.0 - chance) * there;
    const Lanes by_one = spread * one, by_other = spread * other;
    sums[0] += left, sums[1] += left * one, sums[2] += left * other;
    sums[3] += spread, sums[4] += by_one, sums[5] += by_other;
    sums[6] += by_one * one, sums[7] += by_one * other, sums[8] += by_other * other;
}

LINKWISE_SIMD void add_slopes(const Logits& t, const double* target, int64_t n, double* out) {
    Lanes sums[kSums]{}, there{};
    there += 1.0;
    int64_t at = 0;
    for (; at + 8 <= n; at += 8) add_slope(t, target, at, sizeof(Lanes), there, sums);
    for (int64_t j = n - at; j < 8; ++j) there[j] = 0;
    if (at < n) add_slope(t, target, at, sizeof(double) * static_cast<size_t>(n - at), there, sums);
    for (int s = 0; s < kSums; ++s) {
        double total = 0;
        for (int64_t j = 0; j < 8; ++j) total += sums[s][j];
        out[s] = total;
    }
}

nb::object logistic_slopes(Vector<double> similarity, Vector<double> shared, Vector<double> target, double constant,
                           double by_similarity, double by_shared) {
    Result<double> found(kSums);
    {
        nb::gil_scoped_release release;
        const Logits logits{similarity.data(), shared.data(), constant, by_similarity, by_shared, nullptr};
        add_slopes(logits, target.data(), static_cast<int64_t>(target.shape(0)), found.get());
    }
    return nb::cast(found.release({kSums}));
}

nb::object average_pairs(Matrix<double> table, Vector<int32_t> rows, Vector<int32_t> label, int64_t k) {
    const int64_t n = rows.shape(0), width = table.shape(1);
    Result<double> found(k * k);
    {
        nb::gil_scoped_release release;
        double* out = found.get();
        std::fill_n(out, k * k, 0.0);
        std::vector<double> size(k);
        for (int64_t i = 0; i < n; ++i) size[label.data()[i]] += 1;
        for (int64_t i = 0; i < n; ++i) {
            const double* from = table.data() + rows.data()[i] * width;
            double* to = out + label.data()[i] * k;
            for (int64_t j = 0; j < n; ++j) to[label.data()[j]] += from[rows.data()[j]];
        }
        for (int64_t a = 0; a < k; ++a)
            for (int64_t b = 0; b < k; ++b)
                if (const double pairs = size[a] * size[b]; pairs > 1) out[a * k + b] /= pairs;
    }
    return nb::cast(found.release({static_cast<size_t>(k), static_cast<size_t>(k)}));
}

// ---------------------------------------------------------------- scores
struct Scores {
    const double* score;  // n x k
    int64_t k;
    int times, quarters;  // the power: whole, and quarters
    double rest;
    double *join, *none;
};

LINKWISE_INLINE double raise_power(double value, int times, int quarters) {
    double root = 1, found = value;
    if (quarters > 0) root = std::sqrt(value);
    if (quarters == 1) root = std::sqrt(root);
    if (times == 2) found = value * value;
    if (times == 3) found = value * (value * value);
    return quarters > 0 ? found * root : found;
}

LINKWISE_SIMD void share_rows(const Scores& t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        const double* score = t.score + i * t.k;
        double *join = t.join + i * t.k, total = 0;
        const auto fill = [&](int times, int quarters) __attribute__((always_inline)) {
            for (int64_t c = 0; c < t.k; ++c)
                join[c] = raise_power(score[c] > 0 ? score[c] : 0.0, times, quarters);
        };
        switch (4 * t.times + t.quarters) {
            case 4: fill(1, 0); break;
            case 5: fill(1, 1); break;
            case 6: fill(1, 2); break;
            case 8: fill(2, 0); break;
            case 10: fill(2, 2); break;
            case 12: fill(3, 0); break;
            default: fill(t.times, t.quarters);
        }
        double sums[8] = {};
        int64_t c = 0;
        for (; c + 8 <= t.k; c += 8)
            for (int64_t j = 0; j < 8; ++j) sums[j] += join[c + j];
        for (const double sum : sums) total += sum;
        for (; c < t.k; ++c) total += join[c];
        total += t.rest;
        for (int64_t b = 0; b < t.k; ++b) join[b] /= total;
        t.none[i] = t.rest / total;
    }
}

nb::tuple share_scores(Matrix<double> score, int times, int quarters, double rest, int threads) {
    const int64_t n = score.shape(0), k = score.shape(1), bands = (n + kBand - 1) / kBand;
    Result<double> join(n * k), none(n);
    {
        nb::gil_scoped_release release;
        const Scores scores{score.data(), k, times, quarters, rest, join.get(), none.get()};
        Crew crew(std::min<int64_t>(useful_threads(threads, 4 * n * k), bands));
        crew.run(bands, [&](int64_t b, int) { share_rows(scores, b * kBand, std::min(n, (b + 1) * kBand)); });
    }
    const auto rows = static_cast<size_t>(n);
    return nb::make_tuple(join.release({rows, static_cast<size_t>(k)}), none.release({rows}));
}

struct Row {
    const double* value;
    int64_t k;
};

// The largest value of a row, the largest of the others, and the sum of those above 0.
LINKWISE_SIMD void sum_up_row(const Row& t, double& largest, double& second, double& positive) {
    Lanes first{}, next{}, total{};
    first -= HUGE_VAL, next -= HUGE_VAL;
    int64_t c = 0;
    for (; c + 8 <= t.k; c += 8) {
        Lanes value;
        std::memcpy(&value, t.value + c, sizeof value);
        const Lanes lower = smaller(value, first);
        next = lower > next ? lower : next;
        first = value > first ? value : first;
        total += value > 0 ? value : Lanes{};
    }
    largest = second = -HUGE_VAL, positive = 0;
    const auto add = [&](double value) {  // without branches, since nobody can predict them
        const double lower = value < largest ? value : largest;
        second = lower > second ? lower : second;
        largest = value > largest ? value : largest;
    };
    if (t.k >= 8) {
        for (int64_t j = 0; j < 8; ++j) positive += total[j];
        for (int64_t half = 4; half > 0; half /= 2)
            for (int64_t j = 0; j < half; ++j) {
                const double lower = std::min(first[j], first[j + half]);
                next[j] = std::max(lower, std::max(next[j], next[j + half]));
                first[j] = std::max(first[j], first[j + half]);
            }
        largest = first[0], second = next[0];
    }
    for (; c < t.k; ++c) add(t.value[c]), positive += t.value[c] > 0 ? t.value[c] : 0.0;
}

nb::tuple sum_up_rows(Matrix<double> table) {
    const int64_t n = table.shape(0), k = table.shape(1);
    Result<double> largest(n), second(n), positive(n);
    {
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i)
            sum_up_row({table.data() + i * k, k}, largest.get()[i], second.get()[i], positive.get()[i]);
    }
    const auto rows = static_cast<size_t>(n);
    return nb::make_tuple(largest.release({rows}), second.release({rows}), positive.release({rows}));
}

// ---------------------------------------------------------------- polynomials
// As NumPy's chebval: the steps of Clenshaw, one point after another in each lane.
struct Polynomials {
    const double *point, *coefficient;  // n; degrees x m
    int64_t n, degrees, m;
    double* out;  // n x m
};

LINKWISE_SIMD void evaluate_polynomials(const Polynomials& t) {
    for (int64_t begin = 0; begin < t.n; begin += 8) {
        const size_t bytes = sizeof(double) * static_cast<size_t>(std::min<int64_t>(8, t.n - begin));
        Lanes x{};
        std::memcpy(&x, t.point + begin, bytes);
        const Lanes twice = x + x;
        for (int64_t b = 0; b < t.m; ++b) {
            Lanes before = Lanes{} + t.coefficient[(t.degrees - 2) * t.m + b];
            Lanes last = Lanes{} + t.coefficient[(t.degrees - 1) * t.m + b];
            for (int64_t degree = t.degrees - 3; degree >= 0; --degree) {
                const Lanes then = before;
                before = t.coefficient[degree * t.m + b] - last;
                last = then + last * twice;
            }
            const Lanes found = before + last * x;
            for (int64_t j = 0; j < 8 && begin + j < t.n; ++j) t.out[(begin + j) * t.m + b] = found[j];
        }
    }
}

nb::object chebyshev_values(Vector<double> points, Matrix<double> coefficients) {
    const int64_t n = points.shape(0), degrees = coefficients.shape(0), m = coefficients.shape(1);
    Result<double> found(n * m);
    {
        nb::gil_scoped_release release;
        evaluate_polynomials({points.data(), coefficients.data(), n, degrees, m, found.get()});
    }
    return nb::cast(found.release({static_cast<size_t>(n), static_cast<size_t>(m)}));
}

LINKWISE_SIMD void fill_shares(const double* table, const double* total, int64_t n, int64_t k, int64_t width,
                               double* found) {
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = 0; c < k; ++c) found[i * width + c] = table[i * k + c] / total[i];
        for (int64_t c = k; c < width; ++c) found[i * width + c] = 0;
    }
}

nb::object divide_rows(Matrix<double> table, Vector<double> total, int64_t width) {
    const int64_t n = table.shape(0), k = table.shape(1);
    Result<double> found(n * width);
    {
        nb::gil_scoped_release release;
        fill_shares(table.data(), total.data(), n, k, width, found.get());
    }
    return nb::cast(found.release({static_cast<size_t>(n), static_cast<size_t>(width)}));
}

}  // namespace

void register_chances(nb::module_& m) {
    m.def("pair_chances", &pair_chances, nb::arg("similarity").noconvert(), nb::arg("shared").noconvert(),
          nb::arg("constant"), nb::arg("by_similarity"), nb::arg("by_shared"), nb::arg("n_threads"));
    m.def("pair_chances_of_halves", &pair_chances_of_halves, nb::arg("similarity").noconvert(),
          nb::arg("shared").noconvert(), nb::arg("constant"), nb::arg("by_similarity"), nb::arg("by_shared"));
    m.def("logistic_slopes", &logistic_slopes, nb::arg("similarity").noconvert(), nb::arg("shared").noconvert(),
          nb::arg("target").noconvert(), nb::arg("constant"), nb::arg("by_similarity"), nb::arg("by_shared"));
    m.def("average_pairs", &average_pairs, nb::arg("table").noconvert(), nb::arg("rows").noconvert(),
          nb::arg("label").noconvert(), nb::arg("k"));
    m.def("share_scores", &share_scores, nb::arg("score").noconvert(), nb::arg("times"), nb::arg("quarters"),
          nb::arg("rest"), nb::arg("n_threads"));
    m.def("sum_up_rows", &sum_up_rows, nb::arg("table").noconvert());
    m.def("divide_rows", &divide_rows, nb::arg("table").noconvert(), nb::arg("total").noconvert(), nb::arg("width"));
    m.def("chebyshev_values", &chebyshev_values, nb::arg("points").noconvert(), nb::arg("coefficients").noconvert());
}

}  // namespace linkwise
