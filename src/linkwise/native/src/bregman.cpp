// Bregman projections of a metric: each pair in turn is brought to its bound, or as near to it as its slack lets,
// by a rank-one change of the matrix.
#include <cmath>
#include <vector>

#include "checks.hpp"

namespace linkwise {

namespace {

constexpr double kMissed = 0.1;  // a missed bound counts as so much change of the multipliers

struct Projections {
    const double* pairs;  // m x d
    const double* sign;   // m: 1 where the bound is from above, -1 from below
    const double* gamma;  // m
    int64_t m, d;
    double* metric;      // d x d, symmetric
    double* bound;       // m, with slack
    double* multiplier;  // m
    double* image;       // d
};

// out = metric * v; returns v' * metric * v
template <typename T>
LINKWISE_INLINE T mapped(const T* metric, const T* v, int64_t d, T* out) {
    for (int64_t j = 0; j < d; ++j) out[j] = 0;
    for (int64_t i = 0; i < d; ++i)
        for (int64_t j = 0; j < d; ++j) out[j] += v[i] * metric[i * d + j];
    T square = 0;
    for (int64_t j = 0; j < d; ++j) square += v[j] * out[j];
    return square;
}

struct Moved {
    double changed;  // sum of the changes of the multipliers
    double missed;   // the greatest share of its bound by which a pair had missed it when its turn came
};

// One sweep over all pairs.
LINKWISE_SIMD Moved sweep(const Projections& t) {
    double changed = 0, missed = 0;
    for (int64_t c = 0; c < t.m; ++c) {
        const double square = mapped(t.metric, t.pairs + c * t.d, t.d, t.image);
        if (!(square > 0)) continue;  // rounding only: the metric is positive definite
        const double sign = t.sign[c], gamma = t.gamma[c], bound = t.bound[c];
        const double wanted = sign / (1 + 1 / gamma) * (1 / square - 1 / bound);
        const double alpha = t.multiplier[c] < wanted ? t.multiplier[c] : wanted;
        if (alpha == 0) continue;
        t.multiplier[c] -= alpha;
        const double size = alpha < 0 ? -alpha : alpha;
        changed += size;
        const double off = size * square * (1 + 1 / gamma);
        missed = off > missed ? off : missed;
        t.bound[c] = bound / (1 + sign * alpha * bound / gamma);
        const double beta = sign * alpha / (1 - sign * alpha * square);
        for (int64_t i = 0; i < t.d; ++i) {
            const double share = beta * t.image[i];
            double* row = t.metric + i * t.d;
            for (int64_t j = 0; j < t.d; ++j) row[j] += share * t.image[j];
        }
    }
    return {changed, missed};
}

double length(const double* values, int64_t count) {
    double square = 0;
    for (int64_t c = 0; c < count; ++c) square += values[c] * values[c];
    return std::sqrt(square);
}

auto bregman_projections(Matrix<double> pairs, Vector<double> sign, Vector<double> bound, Vector<double> gamma,
                         Matrix<double> start, int max_sweeps, double tol) {
    const int64_t m = pairs.shape(0), d = pairs.shape(1);
    check_rows("pairs", pairs);
    check_shape("sign", sign, m);
    check_shape("bound", bound, m);
    check_shape("gamma", gamma, m);
    check_shape("start", start, d, d);
    Result<double> metric(d * d), multiplier(m);
    int sweeps = 0;
    double change = 0;
    {
        GilRelease release;
        std::copy_n(start.data(), d * d, metric.get());
        std::fill_n(multiplier.get(), m, 0.0);
        std::vector<double> slackened(bound.data(), bound.data() + m), image(d);
        const Projections t{pairs.data(), sign.data(),      gamma.data(),     m, d, metric.get(), slackened.data(),
                            multiplier.get(), image.data()};
        double before = 0;
        while (sweeps < max_sweeps) {
            ++sweeps;
            const Moved moved = sweep(t);
            const double now = length(multiplier.get(), m);
            const double relative = moved.changed == 0 ? 0 : moved.changed / (before + now);
            change = relative > kMissed * moved.missed ? relative : kMissed * moved.missed;
            if (change <= tol || !std::isfinite(now)) break;
            before = now;
        }
    }
    return std::make_tuple(metric.release({static_cast<size_t>(d), static_cast<size_t>(d)}),
                           multiplier.release({static_cast<size_t>(m)}), sweeps, change);
}

}  // namespace

void register_bregman(nb::module_& m) {
    define(m, "bregman_projections", bregman_projections,
           R"(Find the metric closest to start, (d, d), whose squared lengths of pairs keep their bounds, with slack.

Closeness is the divergence tr(A B^-1) - log det(A B^-1); a pair whose bound b becomes c adds
gamma (c / b - log(c / b)). Pairs, (m, d), are differences, none of which is 0; they are projected one after the
other, in one thread. sign, (m,), is 1 if the squared length should be at most bound, -1 if at least; bound and
gamma, (m,), are positive; start is symmetric and positive definite. Time O(sweeps pairs d^2).

It ends when the change is at most tol: the sum of the changes of the multipliers in a sweep, relative to the length
of their vector before and after; or, where it is greater, a tenth of the greatest share by which a pair missed its
bound when its turn came. Multipliers of high prices move little while bounds are far. Returns the metric (d, d), the
multiplier of each pair (m,), the number of sweeps and the last change.)",
           nb::arg("pairs"), nb::arg("sign"), nb::arg("bound"), nb::arg("gamma"), nb::arg("start"),
           count("max_sweeps"), nb::arg("tol"));
}

}  // namespace linkwise
