// The start of a cut: an approximate eigenvector of L f = value V f to the least value, L the Laplacian and V the
// volumes, under f_i = -f_j for every pair; without pairs the constant vector is left out. Lanczos' method without
// orthogonalisation finds it: copies of a pair come only after that pair has converged, and then the search ends.
#include <cmath>

#include "cut_graph.hpp"
#include "kernels.hpp"
#include "random.hpp"

namespace linkwise {

namespace {

constexpr int kSteps = 200;
constexpr int kEvery = 10;            // steps between looks at the least pair
constexpr double kTolerance = 1e-2;   // of the residual, relative to the value
constexpr double kRounding = 1e-7;    // residual below which nothing is left to gain
constexpr double kExhausted = 1e-12;  // length of a new vector that is made of rounding
constexpr int kHalvings = 50;         // of the interval around the least value
constexpr int kInverse = 3;           // steps to its vector

LINKWISE_SIMD double dot(const double* a, const double* b, int64_t n) {
    double sums[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int64_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

LINKWISE_SIMD void add(double factor, const double* a, double* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i] += factor * a[i];
}

// V^-1/2 L V^-1/2 on one coordinate for each node, or for the nodes that a chain of pairs makes opposite.
class Opposed {
   public:
    explicit Opposed(const CutGraph& graph) : graph_(graph), column_(graph.size()), sign_(graph.size(), 1.0) {
        const int64_t m = graph.size();
        std::vector<int32_t> known_by(m), place(m, -1);
        for (int64_t i = 0; i < m; ++i) known_by[i] = static_cast<int32_t>(i);
        for (const auto [one, other] : graph.pairs) known_by[other] = one, sign_[other] = -1;
        for (int64_t i = 0; i < m; ++i) place[known_by[i]] = 0;
        int32_t count = 0;
        for (int32_t& at : place)
            if (at == 0) at = count++;
        scale_.assign(count, 0.0);
        for (int64_t i = 0; i < m; ++i) {
            column_[i] = place[known_by[i]];
            scale_[column_[i]] += graph.volume[i];
        }
        for (double& s : scale_) s = 1 / std::sqrt(s);
        degree_.assign(m, 0.0);
        for (int64_t i = 0; i < m; ++i)
            for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) degree_[i] += graph.weights[e];
        f_.resize(m);
    }

    int64_t size() const { return static_cast<int64_t>(scale_.size()); }
    const std::vector<double>& scale() const { return scale_; }

    const std::vector<double>& expand(const double* x) {
        for (size_t i = 0; i < f_.size(); ++i) f_[i] = sign_[i] * scale_[column_[i]] * x[column_[i]];
        return f_;
    }

    void apply(const double* x, double* y) {
        expand(x);
        std::fill(y, y + size(), 0.0);
        for (int64_t i = 0; i < graph_.size(); ++i) {
            double sum = degree_[i] * f_[i];
            for (int64_t e = graph_.starts[i]; e < graph_.starts[i + 1]; ++e)
                sum -= graph_.weights[e] * f_[graph_.ends[e]];
            y[column_[i]] += sign_[i] * sum;
        }
        for (int64_t c = 0; c < size(); ++c) y[c] *= scale_[c];
    }

   private:
    const CutGraph& graph_;
    std::vector<int32_t> column_;
    std::vector<double> sign_, scale_, degree_, f_;
};

// The least eigenpair of a tridiagonal matrix.
double least_pair(const std::vector<double>& alpha, const std::vector<double>& beta, std::vector<double>& vector) {
    const size_t n = alpha.size();
    double low = INFINITY, high = INFINITY;
    for (size_t i = 0; i < n; ++i) {
        const double around = (i ? std::fabs(beta[i - 1]) : 0) + (i + 1 < n ? std::fabs(beta[i]) : 0);
        low = std::min(low, alpha[i] - around);
        high = std::min(high, alpha[i]);
    }
    std::vector<double> pivot(n);
    // whether alpha - shift is positive definite, with its pivots
    const auto factor = [&](double shift) {
        for (size_t i = 0; i < n; ++i) {
            pivot[i] = alpha[i] - shift - (i ? beta[i - 1] * beta[i - 1] / pivot[i - 1] : 0);
            if (!(pivot[i] > 0)) return false;
        }
        return true;
    };
    low -= 1e-12 * std::max(1.0, std::fabs(low));
    for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (low + high) / 2;
        (factor(middle) ? low : high) = middle;
    }
    factor(low);
    vector.assign(n, 1.0);
    for (int step = 0; step < kInverse; ++step) {
        for (size_t i = 1; i < n; ++i) vector[i] -= beta[i - 1] / pivot[i - 1] * vector[i - 1];
        for (size_t i = n; i-- > 0;)
            vector[i] = (vector[i] - (i + 1 < n ? beta[i] * vector[i + 1] : 0)) / pivot[i];
        const double length = std::sqrt(dot(vector.data(), vector.data(), static_cast<int64_t>(n)));
        for (double& x : vector) x /= length;
    }
    return low;
}

}  // namespace

std::vector<double> find_slow_vector(const CutGraph& graph) {
    Opposed matrix(graph);
    const int64_t n = matrix.size();
    std::vector<double> known;
    if (graph.pairs.empty()) {
        for (double s : matrix.scale()) known.push_back(1 / s);
        const double length = std::sqrt(dot(known.data(), known.data(), n));
        for (double& x : known) x /= length;
    }
    const auto leave_out = [&](double* x) {
        if (!known.empty()) add(-dot(known.data(), x, n), known.data(), x, n);
    };
    std::vector<std::vector<double>> basis(1, std::vector<double>(n));
    SplitMix64 random{static_cast<uint64_t>(n)};
    for (double& x : basis[0]) x = 2 * random.uniform() - 1;
    leave_out(basis[0].data());
    const double first = std::sqrt(dot(basis[0].data(), basis[0].data(), n));
    for (double& x : basis[0]) x /= first > 0 ? first : 1;
    std::vector<double> alpha, beta, mix;
    for (;;) {
        std::vector<double> next(n);
        const std::vector<double>& now = basis.back();
        matrix.apply(now.data(), next.data());
        alpha.push_back(dot(now.data(), next.data(), n));
        add(-alpha.back(), now.data(), next.data(), n);
        if (!beta.empty()) add(-beta.back(), basis[basis.size() - 2].data(), next.data(), n);
        leave_out(next.data());
        const double rest = std::sqrt(dot(next.data(), next.data(), n));
        const auto steps = static_cast<int>(alpha.size());
        const bool is_last = steps == kSteps || rest < kExhausted || steps >= 2 * n;
        if (is_last || steps % kEvery == 0) {
            const double value = least_pair(alpha, beta, mix);
            if (is_last || rest * std::fabs(mix.back()) <= std::max(kTolerance * value, kRounding)) break;
        }
        beta.push_back(rest);
        for (double& x : next) x /= rest;
        basis.push_back(std::move(next));
    }
    std::vector<double> x(n);
    for (size_t j = 0; j < mix.size(); ++j) add(mix[j], basis[j].data(), x.data(), n);
    std::vector<double> f = matrix.expand(x.data());
    const auto longest = std::max_element(f.begin(), f.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (*longest < 0)
        for (double& value : f) value = -value;
    return f;
}

}  // namespace linkwise
