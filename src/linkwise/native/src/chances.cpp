// Chances of pairs and of items, by which KIN chooses its questions: what NumPy would compute in many passes.
#include <cmath>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "exponential.hpp"

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

// Of any one shape.
Output<double> pair_chances(AnyShape<double> similarity, AnyShape<double> shared, double constant, double by_similarity,
                            double by_shared, int threads) {
    const int64_t all = similarity.size();
    check_lengths("shared", lengths_of(shared), lengths_of(similarity));
    Result<double> found(all);
    {
        GilRelease release;
        const Logits logits{similarity.data(), shared.data(), constant, by_similarity, by_shared, found.get()};
        Crew crew(useful_threads(threads, 4 * all));
        crew.run(chunk_count(all), [&](int64_t c, int) {
            fill_logistic(logits, c * kChunk, std::min(all, (c + 1) * kChunk));
        });
    }
    const std::vector<size_t> shape(similarity.shape_ptr(), similarity.shape_ptr() + similarity.ndim());
    return found.release(shape.data(), shape.size());
}

// Of symmetric tables: below the diagonal, and then the other way round.
Output<double> pair_chances_of_halves(Matrix<double> similarity, Matrix<double> shared, double constant,
                                      double by_similarity, double by_shared) {
    const int64_t n = similarity.shape(0);
    check_square("similarity", similarity);
    check_shape("shared", shared, n, n);
    Result<double> found(n * n);
    {
        GilRelease release;
        double* out = found.get();
        const Logits logits{similarity.data(), shared.data(), constant, by_similarity, by_shared, out};
        for (int64_t i = 0; i < n; ++i) fill_logistic(logits, i * n, i * n + i + 1);
        constexpr int64_t side = 32;
        for (int64_t a = 0; a < n; a += side)
            for (int64_t b = 0; b <= a; b += side)
                for (int64_t j = b; j < std::min(n, b + side); ++j)
                    for (int64_t i = std::max(a, j + 1); i < std::min(n, a + side); ++i) out[j * n + i] = out[i * n + j];
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(n)});
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

Output<double> logistic_slopes(Vector<double> similarity, Vector<double> shared, Vector<double> target, double constant,
                               double by_similarity, double by_shared) {
    check_shape("shared", shared, similarity.shape(0));
    check_shape("target", target, similarity.shape(0));
    Result<double> found(kSums);
    {
        GilRelease release;
        const Logits logits{similarity.data(), shared.data(), constant, by_similarity, by_shared, nullptr};
        add_slopes(logits, target.data(), static_cast<int64_t>(target.shape(0)), found.get());
    }
    return found.release({kSums});
}

Output<double> average_pairs(Matrix<double> table, Vector<int32_t> rows, Vector<int32_t> label, int64_t k) {
    const int64_t n = rows.shape(0), width = table.shape(1);
    check_square("table", table);
    check_range("rows", rows, 0, width - 1);
    check_shape("label", label, n);
    check_range("label", label, 0, k - 1);
    Result<double> found(k * k);
    {
        GilRelease release;
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
    return found.release({static_cast<size_t>(k), static_cast<size_t>(k)});
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

auto share_scores(Matrix<double> score, int times, int quarters, double rest, int threads) {
    if (times < 1 || times > 3 || quarters < 0 || quarters > 2)
        refuse("The power ", times, " + ", quarters, "/4 is not supported. Use 1 to 3.5.");
    const int64_t n = score.shape(0), k = score.shape(1), bands = (n + kBand - 1) / kBand;
    Result<double> join(n * k), none(n);
    {
        GilRelease release;
        const Scores scores{score.data(), k, times, quarters, rest, join.get(), none.get()};
        Crew crew(std::min<int64_t>(useful_threads(threads, 4 * n * k), bands));
        crew.run(bands, [&](int64_t b, int) { share_rows(scores, b * kBand, std::min(n, (b + 1) * kBand)); });
    }
    const auto rows = static_cast<size_t>(n);
    return std::make_tuple(join.release({rows, static_cast<size_t>(k)}), none.release({rows}));
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

auto sum_up_rows(Matrix<double> table) {
    const int64_t n = table.shape(0), k = table.shape(1);
    Result<double> largest(n), second(n), positive(n);
    {
        GilRelease release;
        for (int64_t i = 0; i < n; ++i)
            sum_up_row({table.data() + i * k, k}, largest.get()[i], second.get()[i], positive.get()[i]);
    }
    const auto rows = static_cast<size_t>(n);
    return std::make_tuple(largest.release({rows}), second.release({rows}), positive.release({rows}));
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

Output<double> chebyshev_values(Vector<double> points, Matrix<double> coefficients) {
    const int64_t n = points.shape(0), degrees = coefficients.shape(0), m = coefficients.shape(1);
    check_rows("coefficients", coefficients);
    if (degrees < 2) refuse("the degrees of coefficients must be at least 1, got ", degrees - 1);
    Result<double> found(n * m);
    {
        GilRelease release;
        evaluate_polynomials({points.data(), coefficients.data(), n, degrees, m, found.get()});
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(m)});
}

LINKWISE_SIMD void fill_shares(const double* table, const double* total, int64_t n, int64_t k, int64_t width,
                               double* found) {
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = 0; c < k; ++c) found[i * width + c] = table[i * k + c] / total[i];
        for (int64_t c = k; c < width; ++c) found[i * width + c] = 0;
    }
}

Output<double> divide_rows(Matrix<double> table, Vector<double> total, int64_t width) {
    const int64_t n = table.shape(0), k = table.shape(1);
    check_shape("total", total, n);
    if (width < k) refuse("width must be at least ", k, ", got ", width);
    Result<double> found(n * width);
    {
        GilRelease release;
        fill_shares(table.data(), total.data(), n, k, width, found.get());
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(width)});
}

}  // namespace

void register_chances(nb::module_& m) {
    define(m, "pair_chances", pair_chances,
           "Compute the logistic function of constant + by_similarity * similarity + by_shared * shared, of any shape.",
           nb::arg("similarity"), nb::arg("shared"), nb::arg("constant"), nb::arg("by_similarity"),
           nb::arg("by_shared"), count("n_threads"));
    define(m, "pair_chances_of_halves", pair_chances_of_halves,
           "Compute pair_chances of symmetric tables, (n, n), of which only the lower triangles are read.",
           nb::arg("similarity"), nb::arg("shared"), nb::arg("constant"), nb::arg("by_similarity"),
           nb::arg("by_shared"));
    define(m, "logistic_slopes", logistic_slopes,
           R"(Sum what a step of Newton needs of pairs, (n,), with chances c and targets t: (9,).

Sums of (t - c) x and of c (1 - c) x x', where x is (1, similarity, shared).)",
           nb::arg("similarity"), nb::arg("shared"), nb::arg("target"), nb::arg("constant"), nb::arg("by_similarity"),
           nb::arg("by_shared"));
    define(m, "average_pairs", average_pairs,
           R"(Average a table, (n, n), over the pairs of rows of two labels: (k, k), 0 for a label without rows.

rows, (l,), are the rows and columns that count; label, (l,), is the label of each, 0 to k - 1.)",
           nb::arg("table"), nb::arg("rows"), nb::arg("label"), nb::arg("k"));
    define(m, "share_scores", share_scores,
           R"(Divide powers of the scores of each row, (n, k), by their sum, to which `rest` is added.

The exponent is n_times + n_quarters / 4, from 1 to 3.5; scores below 0 count as 0. Returns the shares (n, k), and
the share of the rest (n,).)",
           nb::arg("score"), nb::arg("n_times"), nb::arg("n_quarters"), nb::arg("rest"), count("n_threads"));
    define(m, "sum_up_rows", sum_up_rows,
           R"(Find the two largest values of each row, (n, k), and the sum of those above 0: three times (n,).

The largest is minus infinity where there is none.)",
           nb::arg("table"));
    define(m, "divide_rows", divide_rows,
           "Divide each row of a table, (n, k), by a number, (n,), and append columns of zeros: (n, width).",
           nb::arg("table"), nb::arg("total"), nb::arg("width"));
    define(m, "chebyshev_values", chebyshev_values,
           R"(Evaluate m Chebyshev series, as NumPy's chebval does, at points, (n,): (n, m).

coefficients are (degrees + 1, m), of at least one degree.)",
           nb::arg("points"), nb::arg("coefficients"));
}

}  // namespace linkwise
