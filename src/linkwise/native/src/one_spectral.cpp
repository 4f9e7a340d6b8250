// The convex problem within a step of RatioDCA (Rangapuram and Hein 2012): over vectors f of length at most 1
//
//   least  sum over edges of w_ij |f_i - f_j|  +  c (max f - min f)  -  <g, f>.
//
// Its dual is a smooth one on boxes and two simplices: y = K a + c (v - z) - g is made as short as can be, where
// (K a)_i = sum over j of w_ij a_ij, a_ij = -a_ji within [-1, 1]. Then f = -y / |y|, and |y| bounds what there is
// to gain. The dual is solved by accelerated projected gradients (Beck and Teboulle 2009) that begin anew when |y|
// rises (O'Donoghue and Candes 2015). Each edge has its own step: |K a|^2 is at most the sum over edges of
// w_ij (d_i + d_j) a_ij^2, d the degrees, so that no heavy edge slows the others.
//
// Each edge is held once, from its lower to its higher node. One thread does the work: a problem that is worth several
// has too many nodes for a descent anyway.
#include <cmath>

#include "checks.hpp"
#include "one_spectral.hpp"

namespace linkwise {

namespace {

LINKWISE_SIMD double dot(const double* a, const double* b, int64_t n) {
    double sums[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int64_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

LINKWISE_SIMD void multiply(const double* __restrict a, const double* __restrict b, int64_t n, double* __restrict to) {
    for (int64_t i = 0; i < n; ++i) to[i] = a[i] * b[i];
}

LINKWISE_SIMD void add(double factor, const double* __restrict a, int64_t n, double* __restrict to) {
    for (int64_t i = 0; i < n; ++i) to[i] += factor * a[i];
}

// c (v - z) - g
LINKWISE_SIMD void offset(const double* __restrict v, const double* __restrict z, const double* __restrict g, double c,
                          int64_t n, double* __restrict y) {
    if (c > 0)
        for (int64_t i = 0; i < n; ++i) y[i] = c * (v[i] - z[i]) - g[i];
    else
        for (int64_t i = 0; i < n; ++i) y[i] = -g[i];
}

// A step of the edges, from where the next one starts, and its flow.
LINKWISE_SIMD void step_edges(const int32_t* __restrict from, const int32_t* __restrict to, const double* __restrict y,
                              const double* __restrict step, const double* __restrict weights, double momentum,
                              int64_t n, double* __restrict a, double* __restrict ahead, double* __restrict flow) {
    for (int64_t e = 0; e < n; ++e) {
        const double moved = ahead[e] - (y[from[e]] - y[to[e]]) * step[e];
        const double kept = std::min(std::max(moved, -1.0), 1.0);
        const double next = kept + momentum * (kept - a[e]);
        a[e] = kept;
        ahead[e] = next;
        flow[e] = weights[e] * next;
    }
}

// What lies above the threshold, and from where the next step starts.
LINKWISE_SIMD void step_simplex(double threshold, double momentum, int64_t n, double* __restrict ahead,
                                double* __restrict point) {
    for (int64_t i = 0; i < n; ++i) {
        const double kept = std::max(ahead[i] - threshold, 0.0);
        ahead[i] = kept + momentum * (kept - point[i]);
        point[i] = kept;
    }
}

// A point of the simplex.
struct Simplex {
    std::vector<double> point, ahead;
    std::vector<int32_t> support;  // where the point is above 0: the first `count` places
    int64_t count = 0;
    explicit Simplex(const std::vector<double>& start) : point(start), ahead(start), support(start.size() + 1) {
        for (size_t i = 0; i < start.size(); ++i)
            if (point[i] > 0) support[count++] = static_cast<int32_t>(i);
    }

    // Go on from `ahead` along y, to the nearest point of the simplex: what lies above the threshold at which the
    // rest sums to 1 (Michelot 1986). That threshold is not below the one of any set of places.
    void move(const std::vector<double>& y, double step, double momentum) {
        const auto m = static_cast<int64_t>(point.size());
        add(step, y.data(), m, ahead.data());
        double threshold = find_threshold();
        count = 0;
        for (int64_t i = 0; i < m; ++i) {
            support[count] = static_cast<int32_t>(i);
            count += ahead[i] > threshold;
        }
        for (int64_t before = 0; count != before;) {
            before = count;
            threshold = find_threshold();
            count = 0;
            for (int64_t at = 0; at < before; ++at) {
                const int32_t i = support[at];
                support[count] = i;
                count += ahead[i] > threshold;
            }
        }
        step_simplex(threshold, momentum, m, ahead.data(), point.data());
    }

   private:
    double find_threshold() const {
        double sum = -1;
        for (int64_t at = 0; at < count; ++at) sum += ahead[support[at]];
        return sum / static_cast<double>(count);
    }
};

class InnerProblem {
   public:
    InnerProblem(const SparseGraph& graph, const double* g, double c, StepDual& dual)
        : m_(graph.m), g_(g), c_(c), rows_(graph.m + 1), a_(dual.edges), y_(m_), f_(m_), best_(m_),
          v_(dual.top), z_(dual.bottom) {
        std::vector<double> degree(m_, 0.0);
        for (int64_t i = 0; i < m_; ++i)
            for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) degree[i] += graph.weights[e];
        const double blocks = c > 0 ? 3 : 1;  // |K a + c v - c z|^2 is at most three times the sum of their squares
        for (int64_t i = 0; i < m_; ++i) {
            for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) {
                const int32_t end = graph.ends[e];
                if (end <= i) continue;
                from_.push_back(static_cast<int32_t>(i));
                to_.push_back(end);
                weights_.push_back(graph.weights[e]);
                step_.push_back(1 / (blocks * (degree[i] + degree[end])));
            }
            rows_[i + 1] = static_cast<int64_t>(to_.size());
        }
        a_.resize(to_.size());
        ahead_ = a_;
        flow_.resize(to_.size());
    }

    // Returns the number of steps made.
    int64_t solve(const StepLimits& limits) {
        double before = INFINITY, t = 1;
        const auto edges = static_cast<int64_t>(to_.size());
        multiply(weights_.data(), ahead_.data(), edges, flow_.data());
        for (int64_t step = 1; step <= limits.max_iter; ++step) {
            const double squares = sum_flows(v_.ahead, z_.ahead);
            if (squares > before) t = 1;
            before = squares;
            const double next = (1 + std::sqrt(1 + 4 * t * t)) / 2, momentum = (t - 1) / next;
            step_edges(from_.data(), to_.data(), y_.data(), step_.data(), weights_.data(), momentum, edges, a_.data(),
                       ahead_.data(), flow_.data());
            if (c_ > 0) {
                v_.move(y_, -1 / (3 * c_), momentum);
                z_.move(y_, 1 / (3 * c_), momentum);
            }
            t = next;
            if (step % limits.every == 0 || step == limits.max_iter) {
                look();
                if (value_ <= -(1 - limits.gap) * bound_ || bound_ <= limits.least) return step;
                multiply(weights_.data(), ahead_.data(), edges, flow_.data());
            }
        }
        return limits.max_iter;
    }

    StepResult finish(int64_t steps, StepDual& dual) {
        dual = {std::move(a_), std::move(v_.point), std::move(z_.point)};
        return {std::move(best_), value_, bound_, steps};
    }

   private:
    // y from the flow of the edges; returns the sum of its squares.
    double sum_flows(const std::vector<double>& v, const std::vector<double>& z) {
        offset(v.data(), z.data(), g_, c_, m_, y_.data());
        for (int64_t i = 0; i < m_; ++i) {
            double sum = 0;
            for (int64_t e = rows_[i]; e < rows_[i + 1]; ++e) {
                sum += flow_[e];
                y_[to_[e]] -= flow_[e];
            }
            y_[i] += sum;
        }
        return dot(y_.data(), y_.data(), m_);
    }

    // What the present point is worth; the best vector is kept.
    void look() {
        multiply(weights_.data(), a_.data(), static_cast<int64_t>(to_.size()), flow_.data());
        bound_ = std::sqrt(sum_flows(v_.point, z_.point));
        if (!(bound_ > 0)) return;
        for (int64_t i = 0; i < m_; ++i) f_[i] = -y_[i] / bound_;
        const auto [low, high] = std::minmax_element(f_.begin(), f_.end());
        double value = c_ * (*high - *low) - dot(g_, f_.data(), m_);
        for (size_t e = 0; e < to_.size(); ++e) value += weights_[e] * std::fabs(f_[from_[e]] - f_[to_[e]]);
        if (value < value_) value_ = value, best_ = f_;
    }

    const int64_t m_;
    const double* g_;
    const double c_;
    std::vector<int64_t> rows_;  // the edges of each node to higher ones
    std::vector<int32_t> from_, to_;
    std::vector<double> weights_, step_, flow_;
    std::vector<double> a_, ahead_, y_, f_, best_;
    Simplex v_, z_;
    double value_ = INFINITY, bound_ = INFINITY;
};

auto ratio_step(Vector<int64_t> starts, Vector<int32_t> ends, Vector<double> weights, Vector<double> g, double c,
                Vector<double> a, Vector<double> v, Vector<double> z, int64_t max_iter, int64_t every, double gap,
                double least) {
    check_shape("g", g, kPositive);
    check_shape("weights", weights, kPositive);
    check_edges(starts, ends, weights, g.shape(0));
    check_shape("a", a, ends.shape(0) / 2);
    check_shape("v", v, g.shape(0));
    check_shape("z", z, g.shape(0));
    if (!(c >= 0)) refuse("c must not be negative, got ", c);
    const SparseGraph graph{starts.data(), ends.data(), weights.data(), static_cast<int64_t>(g.shape(0))};
    const size_t m = g.shape(0), edges = a.shape(0);
    Result<double> f(m), to_a(edges), to_v(m), to_z(m);
    StepResult found;
    {
        GilRelease release;
        StepDual dual{{a.data(), a.data() + edges}, {v.data(), v.data() + m}, {z.data(), z.data() + m}};
        found = solve_ratio_step(graph, g.data(), c, dual, {max_iter, every, gap, least});
        std::copy(found.f.begin(), found.f.end(), f.get());
        std::copy(dual.edges.begin(), dual.edges.end(), to_a.get());
        std::copy(dual.top.begin(), dual.top.end(), to_v.get());
        std::copy(dual.bottom.begin(), dual.bottom.end(), to_z.get());
    }
    return std::make_tuple(f.release({m}), found.value, found.bound, found.steps, to_a.release({edges}),
                           to_v.release({m}), to_z.release({m}));
}

}  // namespace

void check_edges(const Vector<int64_t>& starts, const Vector<int32_t>& ends, const Vector<double>& weights, int64_t m) {
    const int64_t e = weights.shape(0);
    check_shape("starts", starts, m + 1);
    check_shape("ends", ends, e);
    check_range("ends", ends, 0, m - 1);
    check_starts("starts", starts, e);
    int64_t higher = 0;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t at = starts.data()[i]; at < starts.data()[i + 1]; ++at) higher += ends.data()[at] > i;
    if (2 * higher != e) refuse("ends must hold every edge twice, once for each end.");
}

StepResult solve_ratio_step(const SparseGraph& graph, const double* g, double c, StepDual& dual,
                            const StepLimits& limits) {
    InnerProblem problem(graph, g, c, dual);
    const int64_t steps = problem.solve(limits);
    return problem.finish(steps, dual);
}

void register_one_spectral(nb::module_& m) {
    define(m, "ratio_step", ratio_step,
           R"(Find f of length at most 1 with little sum w_ij |f_i - f_j| + c (max f - min f) - <g, f>.

The sum is over the edges of a graph, each once: starts (m + 1,), ends (e,) and weights (e,) are a symmetric CSR array
without loops, weights above 0. g is (m,); c is not negative. It starts from a (e / 2,), a number in [-1, 1] for each
edge, in the order in which its lower node holds it, and v and z (m,), two points of the simplex, which count where c
is above 0. It ends after max_iter iterations, or when the objective, evaluated every so many steps, is at most
(1 - gap) times its lower bound, or a bound is below `least`, since no gain is possible. Returns f (m,); the objective
there, infinite where none was found (the bound is 0); the bound, minus which no objective is below, up to rounding;
the number of iterations; and a, v, z as they are then.

Rangapuram and Hein (2012), Constrained 1-spectral clustering, section 4. Beck and Teboulle (2009), A fast iterative
shrinkage-thresholding algorithm.)",
           nb::arg("starts"), nb::arg("ends"), nb::arg("weights"), nb::arg("g"), nb::arg("c"), nb::arg("a"),
           nb::arg("v"), nb::arg("z"), count("max_iter"), count("every"), nb::arg("gap"), nb::arg("least"));
}

}  // namespace linkwise
