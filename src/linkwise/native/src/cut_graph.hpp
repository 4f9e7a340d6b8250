// A graph to be cut: nodes with volumes, edges, and pairs of nodes to separate (`cluster/graph/ratio_cut.py`).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "one_spectral.hpp"

namespace linkwise {

using Pair = std::array<int32_t, 2>;

struct CutGraph {
    std::vector<int64_t> starts;
    std::vector<int32_t> ends;
    std::vector<double> weights, volume;
    std::vector<Pair> pairs;
    bool is_ncut;

    int64_t size() const { return static_cast<int64_t>(volume.size()); }
    SparseGraph edges() const { return {starts.data(), ends.data(), weights.data(), size()}; }
    double whole() const;
    // What a cut around this volume is divided by, in the value of a clustering.
    double divisor(double of, double all) const { return is_ncut ? of : std::min(of, all - of); }
};

// Broken pairs, less the number of clusters, the sum of cut / divisor; lower is better.
using ClusteringValue = std::tuple<int64_t, int64_t, double>;

ClusteringValue evaluate_labels(const CutGraph& graph, const std::vector<int32_t>& labels, int32_t k);

// Some nodes, ascending, with their volumes.
CutGraph restrict_graph(const CutGraph& graph, const std::vector<int32_t>& nodes);

// Groups of nodes, numbered from 0 to count - 1, become single nodes.
CutGraph merge_graph(const CutGraph& graph, const std::vector<int32_t>& number, int32_t count);

// Number nodes so that both sides of the pairs are single nodes, unless the pairs form an odd cycle; returns the
// count.
int32_t number_sides(const CutGraph& graph, std::vector<int32_t>& number);

// Make the best move of a single node, that breaks no more pairs than before, as long as the value falls.
void improve_labels(const CutGraph& graph, std::vector<int32_t>& labels, int32_t k);

// An approximate eigenvector of the cut to the least eigenvalue but 0: L f = value V f, L the Laplacian and V the
// volumes, under f_i = -f_j for every pair.
std::vector<double> find_slow_vector(const CutGraph& graph);

// A set of nodes, as 0 and 1.
using Sides = std::vector<int32_t>;

// The current point of RatioDCA.
struct DescentState {
    std::vector<double> f;
    std::vector<int64_t> order;  // nodes by f
    double ratio;                // F(f)
    Sides best;                  // the threshold of least ratio
    double broken;               // pairs that it breaks
    double value;                // its ratio
};

// The vectors of RatioDCA with this price of a broken pair, each with a lower ratio than the one before.
std::vector<DescentState> descend(const CutGraph& graph, double gamma, const std::vector<double>& start,
                                  int64_t max_iter);

// The best sets of a descent from `start` for each price of a broken pair, each once.
std::vector<Sides> find_splits(const CutGraph& graph, const std::vector<double>& start, int64_t max_iter);

}  // namespace linkwise
