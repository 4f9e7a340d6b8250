// The largest spanning tree of a dense graph, and what each of its edges cuts.
//
// Nodes are put in the order in which a walk down the tree from node 0 meets them, so each subtree is a stretch of this
// order. Two nodes meet in the tree at the root of the smallest subtree with both. The pairs that meet at a root lie in
// blocks: the stretch from the root to one of its children, times the subtree of that child. So one pass over all pairs
// tells what is inside of each subtree, and what leaves it is what its nodes have without what is inside. That takes
// O(n^2), instead of O(n^2) for each edge.
#include <algorithm>
#include <limits>
#include <numeric>

#include "checks.hpp"

namespace linkwise {

namespace {

// The node before each node, by Prim (1957). Equal edges come in the order of their nodes.
std::vector<int64_t> find_tree(const double* strength, int64_t n) {
    std::vector<int64_t> before(n, 0);
    std::vector<double> most(strength, strength + n);
    std::vector<char> is_in(n);
    is_in[0] = 1, before[0] = -1;
    const auto edge = [&](int64_t i) { return std::pair{std::min(i, before[i]), std::max(i, before[i])}; };
    for (int64_t step = 1; step < n; ++step) {
        int64_t next = -1;
        for (int64_t i = 0; i < n; ++i)
            if (!is_in[i] && (next < 0 || most[i] > most[next] || (most[i] == most[next] && edge(i) < edge(next))))
                next = i;
        is_in[next] = 1;
        const double* row = strength + next * n;
        for (int64_t i = 0; i < n; ++i) {
            if (is_in[i] || row[i] < most[i]) continue;
            if (row[i] > most[i] || std::pair{std::min(i, next), std::max(i, next)} < edge(i))
                most[i] = row[i], before[i] = next;
        }
    }
    return before;
}

// A tree with its nodes in the order of a walk; parents and sizes are by place in it.
struct WalkedTree {
    std::vector<int64_t> node, parent, size;

    explicit WalkedTree(const std::vector<int64_t>& before) : size(before.size(), 1) {
        const auto n = static_cast<int64_t>(before.size());
        std::vector<std::vector<int64_t>> children(n);
        for (int64_t i = n - 1; i > 0; --i) children[before[i]].push_back(i);
        std::vector<std::pair<int64_t, int64_t>> open{{0, -1}};
        while (!open.empty()) {
            const auto [next, above] = open.back();
            open.pop_back();
            const auto place = static_cast<int64_t>(node.size());
            node.push_back(next), parent.push_back(above);
            for (const int64_t child : children[next]) open.push_back({child, place});
        }
        for (int64_t p = n - 1; p > 0; --p) size[parent[p]] += size[p];
    }

    // What all pairs of a symmetric table between each subtree and all other nodes sum up to.
    void sum_across(const double* table, double* across) const {
        const auto n = static_cast<int64_t>(node.size());
        std::vector<double> inside(n), all(n);
        for (int64_t p = 0; p < n; ++p) {
            const double* row = table + node[p] * n;
            for (int64_t i = 0; i < n; ++i)
                if (i != node[p]) all[p] += row[i];
        }
        for (int64_t p = n - 1; p > 0; --p) {
            double met = 0;
            for (int64_t q = p; q < p + size[p]; ++q) {
                const double* row = table + node[q] * n;
                for (int64_t i = parent[p]; i < p; ++i) met += row[node[i]];
            }
            across[p] = all[p] - 2 * inside[p];
            inside[parent[p]] += inside[p] + met;
            all[parent[p]] += all[p];
        }
        across[0] = 0;
    }
};

auto cut_largest_tree(Matrix<double> strength, Matrix<double> first, Matrix<double> second) {
    check_rows("strength", strength);
    check_square("strength", strength);
    const int64_t n = strength.shape(0);
    check_shape("first", first, n, n);
    check_shape("second", second, n, n);
    for (int64_t i = 0; i < n * n; ++i)
        if (strength.data()[i] != strength.data()[i]) refuse("strength holds NaN.");
    Result<int64_t> node(n), size(n);
    Result<double> by_first(n), by_second(n);
    {
        GilRelease release;
        const WalkedTree tree(find_tree(strength.data(), n));
        std::ranges::copy(tree.node, node.get());
        std::ranges::copy(tree.size, size.get());
        tree.sum_across(first.data(), by_first.get());
        tree.sum_across(second.data(), by_second.get());
    }
    const size_t N = n;
    return std::make_tuple(node.release({N}), size.release({N}), by_first.release({N}), by_second.release({N}));
}

}  // namespace

void register_tree_cuts(nb::module_& m) {
    define(m, "cut_largest_tree", cut_largest_tree,
           R"(Cut each edge of the largest spanning tree of a graph that has all edges.

strength, (n, n), has the edges; among equal ones the edge of the lowest nodes comes first. first and second, (n, n),
are summed up over what an edge of the tree cuts: all pairs of a node above and a node below it. All three are
symmetric. Returns the nodes (n,) as a walk down the tree from node 0 meets them; for each place of this walk the
number of nodes (n,) below and with its node, which follow each other; and both sums (n,), 0 for node 0.)",
           nb::arg("strength"), nb::arg("first"), nb::arg("second"));
}

}  // namespace linkwise
