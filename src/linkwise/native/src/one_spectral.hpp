// What other kernels need of 1-spectral clustering: a graph, and the convex problem within a step of RatioDCA.
#pragma once

#include <vector>

#include "checks.hpp"

namespace linkwise {

// A symmetric CSR array without loops, weights above 0.
struct SparseGraph {
    const int64_t* starts;
    const int32_t* ends;
    const double* weights;
    int64_t m;
};

// Every edge of m nodes stands there twice.
void check_edges(const Vector<int64_t>& starts, const Vector<int32_t>& ends, const Vector<double>& weights, int64_t m);

// From where the dual problem starts, and where it ended: one number for each edge, from its lower node, and two points
// of the simplex.
struct StepDual {
    std::vector<double> edges, top, bottom;
};

struct StepLimits {
    int64_t max_iter, every;
    double gap, least;
};

struct StepResult {
    std::vector<double> f;
    double value, bound;
    int64_t steps;
};

// Find f of length at most 1 with little sum w_ij |f_i - f_j| + c (max f - min f) - <g, f>.
StepResult solve_ratio_step(const SparseGraph& graph, const double* g, double c, StepDual& dual,
                            const StepLimits& limits);

}  // namespace linkwise
