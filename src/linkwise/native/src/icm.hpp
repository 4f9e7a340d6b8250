// Iterated conditional modes: rows that constraints name move, one or a component at a time, to the cluster
// where they cost least, until none can gain.
#pragma once

#include <vector>

#include "checks.hpp"

namespace linkwise {

// The pairs of each row: those of row i stand at start[i] .. start[i + 1].
struct PairEnds {
    const int64_t* start;
    const int32_t *other, *pair;
};

// What it costs to break a pair in a cluster: one column for all clusters, or one for each.
struct Penalty {
    const double* data;
    int64_t columns;
    double in(int64_t pair, int64_t h) const { return data[pair * columns + (columns > 1 ? h : 0)]; }
    double between(int64_t pair, int64_t g, int64_t h) const { return (in(pair, g) + in(pair, h)) / 2; }
};

// The constraints among m rows.
struct PairGraph {
    PairEnds must, cannot;
    const int32_t* group;         // m: component of each
    const int64_t* member_start;  // groups + 1
    const int32_t* member;        // m: the rows of each component
};

struct PairPrices {
    Penalty must, cannot;
};

// One row of penalties for each pair, one column for all clusters or one for each.
inline void check_penalty(const char* name, const Matrix<double>& penalty, int64_t pairs, int64_t k) {
    check_shape(name, penalty, pairs, penalty.shape(1) == 1 ? 1 : k);
}

// labels: m, the first ones, which are improved.
void settle_rows(const double* costs, int64_t m, int64_t k, const PairGraph& graph, const PairPrices& prices,
                 const int32_t* order, int64_t max_sweeps, int32_t* labels);

}  // namespace linkwise
