// Cut every two clusters of a graph again, and what Python calls of cuts.
#include <map>
#include <set>

#include "checks.hpp"
#include "cut_graph.hpp"

namespace linkwise {

namespace {

constexpr int kRounds = 5;           // in which every two clusters are cut anew
constexpr double kSame = 1e-12;      // difference of values that is none
constexpr double kLeastShare = 0.01; // of the value, that a cut between two clusters must have to be made anew

bool is_better(const ClusteringValue& one, const ClusteringValue& other) {
    return std::tuple(std::get<0>(one), std::get<1>(one), std::get<2>(one) + kSame) < other;
}

// The best clustering into two from the slowest vector. Nodes with a pair to the same node are merged.
std::vector<int32_t> cut_part(const CutGraph& part, int64_t max_iter) {
    std::vector<int32_t> number;
    const int32_t count = number_sides(part, number);
    const CutGraph within = merge_graph(part, number, count);
    Sides best;
    ClusteringValue least;
    for (Sides& sides : find_splits(within, find_slow_vector(within), max_iter)) {
        improve_labels(within, sides, 2);
        const ClusteringValue value = evaluate_labels(within, sides, 2);
        if (best.empty() || value < least) best = sides, least = value;
    }
    for (int32_t& node : number) node = best[node];
    return number;
}

// The two sides of each part that was cut before.
using KnownCuts = std::map<std::vector<int32_t>, std::vector<int32_t>>;

// Cut every two clusters again as long as that improves the clustering, for a few rounds.
void recut_clusters(const CutGraph& graph, std::vector<int32_t>& labels, int32_t k, int64_t max_iter,
                    KnownCuts& known) {
    ClusteringValue value = evaluate_labels(graph, labels, k);
    std::set<std::vector<int32_t>> tried;
    for (int round = 0; round < kRounds; ++round) {
        const ClusteringValue before = value;
        for (int32_t a = 0; a < k; ++a)
            for (int32_t b = a + 1; b < k; ++b) {
                std::vector<int32_t> nodes, now;
                for (int32_t i = 0; i < graph.size(); ++i)
                    if (labels[i] == a || labels[i] == b) {
                        nodes.push_back(i);
                        now.push_back(labels[i] == b);
                    }
                if (nodes.size() < 2 || tried.contains(nodes)) continue;
                const CutGraph part = restrict_graph(graph, nodes);
                const auto [broken, clusters, cut] = evaluate_labels(part, now, 2);
                if (broken == 0 && cut <= kLeastShare * std::get<2>(value)) continue;
                tried.insert(nodes);
                const auto [at, is_new] = known.try_emplace(nodes);
                if (is_new) at->second = cut_part(part, max_iter);
                const std::vector<int32_t>& sides = at->second;
                std::vector<int32_t> then = labels;
                for (size_t i = 0; i < nodes.size(); ++i) then[nodes[i]] = sides[i] ? b : a;
                if (const ClusteringValue found = evaluate_labels(graph, then, k); is_better(found, value))
                    labels = then, value = found;
            }
        improve_labels(graph, labels, k);
        value = evaluate_labels(graph, labels, k);
        if (!is_better(value, before)) return;
    }
}

using Pairs = Matrix<int32_t>;

void check_graph(const Vector<int64_t>& starts, const Vector<int32_t>& ends, const Vector<double>& weights,
                 const Vector<double>& volume, const Pairs& pairs) {
    const int64_t m = volume.shape(0);
    check_shape("volume", volume, kPositive);
    check_edges(starts, ends, weights, m);
    check_pairs("pairs", pairs, m);
}

CutGraph read_graph(const Vector<int64_t>& starts, const Vector<int32_t>& ends, const Vector<double>& weights,
                    const Vector<double>& volume, const Pairs& pairs, bool is_ncut) {
    CutGraph graph{{starts.data(), starts.data() + starts.shape(0)},
                   {ends.data(), ends.data() + ends.shape(0)},
                   {weights.data(), weights.data() + weights.shape(0)},
                   {volume.data(), volume.data() + volume.shape(0)},
                   {},
                   is_ncut};
    for (size_t p = 0; p < pairs.shape(0); ++p) graph.pairs.push_back({pairs.data()[2 * p], pairs.data()[2 * p + 1]});
    return graph;
}

template <typename T>
Output<T> stack(const std::vector<std::vector<T>>& lines, size_t m) {
    Result<T> result(static_cast<int64_t>(lines.size() * m));
    for (size_t i = 0; i < lines.size(); ++i) std::copy(lines[i].begin(), lines[i].end(), result.get() + i * m);
    return result.release({lines.size(), m});
}

#define LINKWISE_GRAPH                                                                                            \
    Vector<int64_t> starts, Vector<int32_t> ends, Vector<double> weights, Vector<double> volume, Pairs pairs,    \
        bool is_ncut

auto ratio_descent(LINKWISE_GRAPH, double gamma, Vector<double> start, int64_t max_iter) {
    const size_t m = volume.shape(0);
    check_graph(starts, ends, weights, volume, pairs);
    check_shape("start", start, m);
    std::vector<std::vector<double>> vectors;
    std::vector<Sides> sides;
    std::vector<std::vector<double>> ratios(1);
    {
        GilRelease release;
        const CutGraph graph = read_graph(starts, ends, weights, volume, pairs, is_ncut);
        for (DescentState& state : descend(graph, gamma, {start.data(), start.data() + m}, max_iter)) {
            vectors.push_back(std::move(state.f));
            sides.push_back(std::move(state.best));
            ratios[0].push_back(state.ratio);
        }
    }
    return std::make_tuple(stack(vectors, m), stack(ratios, ratios[0].size()), stack(sides, m));
}

Output<int32_t> ratio_splits(LINKWISE_GRAPH, Vector<double> start, int64_t max_iter) {
    const size_t m = volume.shape(0);
    check_graph(starts, ends, weights, volume, pairs);
    check_shape("start", start, m);
    std::vector<Sides> sides;
    {
        GilRelease release;
        sides = find_splits(read_graph(starts, ends, weights, volume, pairs, is_ncut),
                            {start.data(), start.data() + m}, max_iter);
    }
    return stack(sides, m);
}

Output<double> slow_vector(LINKWISE_GRAPH) {
    check_graph(starts, ends, weights, volume, pairs);
    std::vector<std::vector<double>> found(1);
    {
        GilRelease release;
        found[0] = find_slow_vector(read_graph(starts, ends, weights, volume, pairs, is_ncut));
    }
    return stack(found, volume.shape(0));
}

Output<int32_t> move_nodes(LINKWISE_GRAPH, Vector<int32_t> labels, int32_t k) {
    const size_t m = volume.shape(0);
    check_graph(starts, ends, weights, volume, pairs);
    check_shape("labels", labels, m);
    check_range("labels", labels, 0, k - 1);
    std::vector<std::vector<int32_t>> found(1);
    {
        GilRelease release;
        found[0].assign(labels.data(), labels.data() + m);
        improve_labels(read_graph(starts, ends, weights, volume, pairs, is_ncut), found[0], k);
    }
    return stack(found, m);
}

// Clusterings one after the other; where they have parts in common, these are cut once.
Output<int32_t> recut(LINKWISE_GRAPH, Matrix<int32_t> labels, int32_t k, int64_t max_iter) {
    const size_t m = volume.shape(0);
    check_graph(starts, ends, weights, volume, pairs);
    check_shape("labels", labels, kPositive, m);
    check_range("labels", labels, 0, k - 1);
    std::vector<std::vector<int32_t>> found(labels.shape(0));
    {
        GilRelease release;
        const CutGraph graph = read_graph(starts, ends, weights, volume, pairs, is_ncut);
        KnownCuts known;
        for (size_t r = 0; r < found.size(); ++r) {
            found[r].assign(labels.data() + r * m, labels.data() + (r + 1) * m);
            const int32_t own = 1 + *std::max_element(found[r].begin(), found[r].end());  // at most k
            recut_clusters(graph, found[r], std::min(own, k), max_iter, known);
        }
    }
    return stack(found, m);
}

#undef LINKWISE_GRAPH

}  // namespace

void register_recut(nb::module_& m) {
#define LINKWISE_GRAPH                                                                                       \
    nb::arg("starts"), nb::arg("ends"), nb::arg("weights"), nb::arg("volume"), nb::arg("pairs"), nb::arg("is_ncut")
    define(m, "ratio_descent", ratio_descent,
           R"(Run RatioDCA from a start, (m,), not constant, with one price gamma, not negative, of a broken pair.

starts (m + 1,), ends (e,) and weights (e,) are a symmetric CSR array without loops, weights above 0; volume, (m,), is
above 0; pairs, (q, 2), are nodes to separate; is_ncut: cuts are divided by the volumes of both sides, not by the
smaller one. max_iter bounds the iterations of each convex problem. Returns the start and what each step found (s, m),
each with a lower ratio than the one before; these ratios (1, s); and the best set of each, as 0 and 1 (s, m).)",
           LINKWISE_GRAPH, nb::arg("gamma"), nb::arg("start"), count("max_iter"));
    define(m, "ratio_splits", ratio_splits,
           R"(Run RatioDCA from a start, (m,), with growing prices until no pair is broken.

The graph is as for ratio_descent. Returns the best set for each price, as 0 and 1; sets that differ: (s, m).)",
           LINKWISE_GRAPH, nb::arg("start"), count("max_iter"));
    define(m, "slow_vector", slow_vector,
           R"(Find an approximate eigenvector from which a cut may start: (1, m); is_ncut does not matter.

It is the vector of L f = value V f, L the Laplacian and V the volumes, to the least value, with opposite values at both
nodes of each pair. Without pairs the constant vector is left out.)",
           LINKWISE_GRAPH);
    define(m, "move_nodes", move_nodes,
           R"(Move single nodes between clusters as long as the clustering improves: labels (1, m).

Each move is the best one, breaks no more pairs than before, and leaves no cluster empty.)",
           LINKWISE_GRAPH, nb::arg("labels"), count("k"));
    define(m, "recut", recut,
           R"(Cut every two clusters of each clustering, (R, m), again as long as it improves, for a few rounds: (R, m).

Two clusters that several clusterings have are cut once. The result breaks no more pairs and cuts no more.)",
           LINKWISE_GRAPH, nb::arg("labels"), nb::arg("k"), count("max_iter"));
#undef LINKWISE_GRAPH
}

}  // namespace linkwise
