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
// Every edge is held twice, once for each end, so that a node's sum is made by one thread in one order.
#include <cmath>
#include <vector>

#include "kernels.hpp"

namespace linkwise {

namespace {

struct Graph {
    const int64_t* starts;
    const int32_t* ends;
    const double* weights;
    int64_t m;
};

// y_i of some nodes; returns the sum of their squares.
LINKWISE_SIMD double flows(const Graph& graph, const double* a, const double* v, const double* z, const double* g,
                           double c, int64_t begin, int64_t end, double* y) {
    double squares = 0;
    for (int64_t i = begin; i < end; ++i) {
        double sums[4] = {c > 0 ? c * (v[i] - z[i]) - g[i] : -g[i], 0, 0, 0};
        int64_t e = graph.starts[i];
        const int64_t last = graph.starts[i + 1];
        for (; e + 4 <= last; e += 4)
            for (int64_t j = 0; j < 4; ++j) sums[j] += graph.weights[e + j] * a[e + j];
        for (; e < last; ++e) sums[0] += graph.weights[e] * a[e];
        const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        y[i] = sum;
        squares += sum * sum;
    }
    return squares;
}

// A step of some edges, and where the next one starts from.
LINKWISE_SIMD void step_edges(const int32_t* __restrict from, const int32_t* __restrict to,
                              const double* __restrict y, const double* __restrict step, double momentum,
                              int64_t begin, int64_t end, double* __restrict a, double* __restrict ahead) {
    for (int64_t e = begin; e < end; ++e) {
        const double moved = ahead[e] - (y[from[e]] - y[to[e]]) * step[e];
        const double kept = std::min(std::max(moved, -1.0), 1.0);
        ahead[e] = kept + momentum * (kept - a[e]);
        a[e] = kept;
    }
}

// Twice what the edges of some nodes, as seen from there, add to the objective, less 2 <g, f>.
LINKWISE_SIMD double total_variation(const Graph& graph, const double* f, const double* g, int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
        double own = -2 * g[i] * f[i];
        for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e)
            own += graph.weights[e] * std::fabs(f[i] - f[graph.ends[e]]);
        sum += own;
    }
    return sum;
}

// A point of the simplex.
struct Simplex {
    std::vector<double> point, ahead;
    std::vector<int64_t> support;  // where the point is above 0
    explicit Simplex(const double* start, int64_t m) : point(start, start + m), ahead(point) {
        for (int64_t i = 0; i < m; ++i)
            if (point[i] > 0) support.push_back(i);
    }

    // Go on from `ahead` along y, to the nearest point of the simplex: what lies above the threshold at which the
    // rest sums to 1 (Michelot 1986). That threshold is not below the one of any set of places.
    void move(const double* y, double step, double momentum) {
        const int64_t m = static_cast<int64_t>(point.size());
        for (int64_t i = 0; i < m; ++i) ahead[i] += step * y[i];
        double threshold = of(support);
        support.clear();
        for (int64_t i = 0; i < m; ++i)
            if (ahead[i] > threshold) support.push_back(i);
        for (size_t before = 0; support.size() != before;) {
            before = support.size();
            threshold = of(support);
            std::erase_if(support, [&](int64_t i) { return ahead[i] <= threshold; });
        }
        for (int64_t i = 0; i < m; ++i) {
            const double kept = std::max(ahead[i] - threshold, 0.0);
            ahead[i] = kept + momentum * (kept - point[i]);
            point[i] = kept;
        }
    }

   private:
    double of(const std::vector<int64_t>& places) const {
        double sum = -1;
        for (int64_t i : places) sum += ahead[i];
        return sum / static_cast<double>(places.size());
    }
};

class InnerProblem {
   public:
    InnerProblem(const Graph& graph, const double* g, double c, const double* a, const double* v, const double* z,
                 int threads)
        : graph_(graph), g_(g), c_(c), crew_(threads), parts_((graph.m + kNodes - 1) / kNodes), sums_(parts_),
          a_(a, a + graph.starts[graph.m]), ahead_(a_), step_(a_.size()), from_(a_.size()), y_(graph.m), f_(graph.m),
          best_(graph.m), v_(v, graph.m), z_(z, graph.m) {
        std::vector<double> degree(graph.m, 0.0);
        for (int64_t i = 0; i < graph.m; ++i)
            for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) degree[i] += graph.weights[e];
        const double blocks = c > 0 ? 3 : 1;  // |K a + c v - c z|^2 is at most three times the sum of their squares
        for (int64_t i = 0; i < graph.m; ++i)
            for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) {
                from_[e] = static_cast<int32_t>(i);
                step_[e] = 1 / (blocks * (degree[i] + degree[graph.ends[e]]));
            }
    }

    // Returns the number of steps made.
    int64_t solve(int64_t max_iter, int64_t every, double gap, double least) {
        double before = INFINITY, t = 1;
        for (int64_t step = 1; step <= max_iter; ++step) {
            const double squares = flow(ahead_, v_.ahead, z_.ahead);
            if (squares > before) t = 1;
            before = squares;
            const double next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
            move((t - 1) / next);
            t = next;
            if (step % every == 0 || step == max_iter) {
                look();
                if (value_ <= -(1 - gap) * bound_ || bound_ <= least) return step;
            }
        }
        return max_iter;
    }

    const std::vector<double>& best() const { return best_; }
    const std::vector<double>& edges() const { return a_; }
    const std::vector<double>& top() const { return v_.point; }
    const std::vector<double>& bottom() const { return z_.point; }
    double value() const { return value_; }
    double bound() const { return bound_; }

   private:
    static constexpr int64_t kNodes = 1024;  // of a task

    template <typename Task>
    double each(const Task& task) {
        crew_.run(parts_, [&](int64_t p, int) {
            sums_[p] = task(p * kNodes, std::min(graph_.m, (p + 1) * kNodes));
        });
        double sum = 0;
        for (double part : sums_) sum += part;
        return sum;
    }

    double flow(const std::vector<double>& a, const std::vector<double>& v, const std::vector<double>& z) {
        return each([&](int64_t begin, int64_t end) {
            return flows(graph_, a.data(), v.data(), z.data(), g_, c_, begin, end, y_.data());
        });
    }

    void move(double momentum) {
        each([&](int64_t begin, int64_t end) {
            step_edges(from_.data(), graph_.ends, y_.data(), step_.data(), momentum, graph_.starts[begin],
                       graph_.starts[end], a_.data(), ahead_.data());
            return 0.0;
        });
        if (c_ <= 0) return;
        v_.move(y_.data(), -1 / (3 * c_), momentum);
        z_.move(y_.data(), 1 / (3 * c_), momentum);
    }

    // What the present point is worth; the best vector is kept.
    void look() {
        bound_ = std::sqrt(flow(a_, v_.point, z_.point));
        if (!(bound_ > 0)) return;
        for (int64_t i = 0; i < graph_.m; ++i) f_[i] = -y_[i] / bound_;
        const auto [low, high] = std::minmax_element(f_.begin(), f_.end());
        const double value = c_ * (*high - *low) + each([&](int64_t begin, int64_t end) {
            return total_variation(graph_, f_.data(), g_, begin, end);
        }) / 2;
        if (value < value_) value_ = value, best_ = f_;
    }

    const Graph graph_;
    const double* g_;
    const double c_;
    Crew crew_;
    const int64_t parts_;
    std::vector<double> sums_;
    std::vector<double> a_, ahead_, step_;
    std::vector<int32_t> from_;  // the other end of each edge
    std::vector<double> y_, f_, best_;
    Simplex v_, z_;
    double value_ = INFINITY, bound_ = INFINITY;
};

nb::tuple ratio_step(Vector<int64_t> starts, Vector<int32_t> ends, Vector<double> weights, Vector<double> g, double c,
                     Vector<double> a, Vector<double> v, Vector<double> z, int64_t max_iter, int64_t every, double gap,
                     double least, int n_threads) {
    const Graph graph{starts.data(), ends.data(), weights.data(), static_cast<int64_t>(g.shape(0))};
    const size_t m = g.shape(0), edges = ends.shape(0);
    Result<double> f(m), to_a(edges), to_v(m), to_z(m);
    double value, bound;
    int64_t steps;
    {
        nb::gil_scoped_release release;
        InnerProblem problem(graph, g.data(), c, a.data(), v.data(), z.data(),
                             useful_threads(n_threads, static_cast<int64_t>(edges) * 10));
        steps = problem.solve(max_iter, every, gap, least);
        std::copy(problem.best().begin(), problem.best().end(), f.get());
        std::copy(problem.edges().begin(), problem.edges().end(), to_a.get());
        std::copy(problem.top().begin(), problem.top().end(), to_v.get());
        std::copy(problem.bottom().begin(), problem.bottom().end(), to_z.get());
        value = problem.value(), bound = problem.bound();
    }
    return nb::make_tuple(f.release({m}), value, bound, steps, to_a.release({edges}), to_v.release({m}),
                          to_z.release({m}));
}

}  // namespace

void register_one_spectral(nb::module_& m) {
    m.def("ratio_step", &ratio_step, nb::arg("starts").noconvert(), nb::arg("ends").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("g").noconvert(), nb::arg("c"), nb::arg("a").noconvert(),
          nb::arg("v").noconvert(), nb::arg("z").noconvert(), nb::arg("max_iter"), nb::arg("every"), nb::arg("gap"),
          nb::arg("least"), nb::arg("n_threads"));
}

}  // namespace linkwise
