// The moves of iterated conditional modes, and the pairs of each row, in which they are looked up.
#include "checks.hpp"
#include "icm.hpp"

namespace linkwise {

namespace {

struct Modes {
    const double* costs;  // m x k
    int64_t m, k;
    const PairGraph& graph;
    const PairPrices& prices;
    int32_t* labels;
    std::vector<double> total;  // k

    // To the cheapest cluster, where that gains more than rounding.
    bool better(double now, int32_t& label) {
        int64_t best = 0;
        for (int64_t h = 1; h < k; ++h)
            if (total[h] < total[best]) best = h;
        const double least = total[best];
        if (!(least < now - 1e-12 * std::max(least < 0 ? -least : least, now < 0 ? -now : now))) return false;
        label = static_cast<int32_t>(best);
        return true;
    }

    bool move_row(int64_t i) {
        std::copy_n(costs + i * k, k, total.begin());
        for (int64_t at = graph.must.start[i]; at < graph.must.start[i + 1]; ++at) {
            const int32_t b = labels[graph.must.other[at]];
            for (int64_t h = 0; h < k; ++h)
                if (h != b) total[h] += prices.must.between(graph.must.pair[at], h, b);
        }
        for (int64_t at = graph.cannot.start[i]; at < graph.cannot.start[i + 1]; ++at) {
            const int32_t b = labels[graph.cannot.other[at]];
            total[b] += prices.cannot.in(graph.cannot.pair[at], b);
        }
        return better(total[labels[i]], labels[i]);
    }

    // All rows of a component together. Must-links never leave it.
    bool move_group(const int32_t* rows, int64_t size) {
        std::fill(total.begin(), total.end(), 0.0);
        double now = 0;
        for (int64_t r = 0; r < size; ++r) {
            const int64_t i = rows[r];
            const int32_t a = labels[i];
            now += costs[i * k + a];
            for (int64_t h = 0; h < k; ++h) total[h] += costs[i * k + h];
            for (int64_t at = graph.must.start[i]; at < graph.must.start[i + 1]; ++at) {
                const int32_t j = graph.must.other[at];
                if (i < j && labels[j] != a) now += prices.must.between(graph.must.pair[at], a, labels[j]);
            }
            for (int64_t at = graph.cannot.start[i]; at < graph.cannot.start[i + 1]; ++at) {
                const int32_t j = graph.cannot.other[at], p = graph.cannot.pair[at], b = labels[j];
                const bool inside = graph.group[j] == graph.group[i];
                if (inside && j < i) continue;
                if (a == b) now += prices.cannot.in(p, a);
                if (!inside) total[b] += prices.cannot.in(p, b);
                else for (int64_t h = 0; h < k; ++h) total[h] += prices.cannot.in(p, h);
            }
        }
        int32_t label = -1;
        if (!better(now, label)) return false;
        for (int64_t r = 0; r < size; ++r) labels[rows[r]] = label;
        return true;
    }
};

// The pairs of each row, as arrays.
struct EndArrays {
    int64_t m, size;
    Result<int64_t> start;
    Result<int32_t> other, pair;

    EndArrays(const int32_t* pairs, int64_t count, int64_t rows)
        : m(rows), size(2 * count), start(rows + 2), other(size), pair(size) {
        int64_t* at_row = start.get();
        std::fill_n(at_row, m + 2, 0);
        for (int64_t e = 0; e < size; ++e) ++at_row[pairs[e] + 2];
        for (int64_t i = 0; i < m; ++i) at_row[i + 2] += at_row[i + 1];
        for (int64_t e = 0; e < size; ++e) {
            const int64_t at = at_row[pairs[e] + 1]++;
            other.get()[at] = pairs[e ^ 1];
            pair.get()[at] = static_cast<int32_t>(e / 2);
        }
    }
    PairEnds view() { return {start.get(), other.get(), pair.get()}; }
    auto release() {
        const size_t ends = size;
        return std::make_tuple(start.release({static_cast<size_t>(m + 1)}), other.release({ends}), pair.release({ends}));
    }
};

// The rows of each component, as arrays.
struct MemberArrays {
    int64_t m, groups;
    Result<int64_t> start;
    Result<int32_t> member;

    MemberArrays(const int32_t* group, int64_t rows)
        : m(rows), groups(*std::max_element(group, group + rows) + 1), start(groups + 2), member(rows) {
        int64_t* at_group = start.get();
        std::fill_n(at_group, groups + 2, 0);
        for (int64_t i = 0; i < m; ++i) ++at_group[group[i] + 2];
        for (int64_t g = 0; g < groups; ++g) at_group[g + 2] += at_group[g + 1];
        for (int64_t i = 0; i < m; ++i) member.get()[at_group[group[i] + 1]++] = static_cast<int32_t>(i);
    }
};

auto pair_graph(Matrix<int32_t> must, Matrix<int32_t> cannot, Vector<int32_t> group) {
    const int64_t m = group.shape(0);
    check_shape("group", group, kPositive);
    check_range("group", group, 0, m - 1);
    check_pairs("must", must, m);
    check_pairs("cannot", cannot, m);
    EndArrays must_ends(must.data(), must.shape(0), m), cannot_ends(cannot.data(), cannot.shape(0), m);
    MemberArrays members(group.data(), m);
    const size_t groups = members.groups, rows = m;
    return std::tuple_cat(must_ends.release(), cannot_ends.release(),
                          std::make_tuple(members.start.release({groups + 1}), members.member.release({rows})));
}

Output<int32_t> conditional_modes(Matrix<double> costs, Vector<int32_t> labels, Matrix<int32_t> must,
                                  Matrix<double> must_penalty, Matrix<int32_t> cannot, Matrix<double> cannot_penalty,
                                  Vector<int32_t> group, Vector<int32_t> order, int64_t max_sweeps) {
    const int64_t m = costs.shape(0), k = costs.shape(1);
    check_rows("costs", costs);
    check_shape("labels", labels, m);
    check_range("labels", labels, 0, k - 1);
    check_shape("group", group, m);
    check_range("group", group, 0, m - 1);
    check_shape("order", order, m);
    check_range("order", order, 0, m - 1);
    check_pairs("must", must, m);
    check_penalty("must_penalty", must_penalty, must.shape(0), k);
    check_pairs("cannot", cannot, m);
    check_penalty("cannot_penalty", cannot_penalty, cannot.shape(0), k);
    Result<int32_t> found(m);
    {
        GilRelease release;
        std::copy_n(labels.data(), m, found.get());
        EndArrays must_ends(must.data(), must.shape(0), m), cannot_ends(cannot.data(), cannot.shape(0), m);
        MemberArrays members(group.data(), m);
        const PairGraph graph{must_ends.view(), cannot_ends.view(), group.data(), members.start.get(),
                              members.member.get()};
        const PairPrices prices{{must_penalty.data(), static_cast<int64_t>(must_penalty.shape(1))},
                                {cannot_penalty.data(), static_cast<int64_t>(cannot_penalty.shape(1))}};
        settle_rows(costs.data(), m, k, graph, prices, order.data(), max_sweeps, found.get());
    }
    return found.release({static_cast<size_t>(m)});
}

}  // namespace

void settle_rows(const double* costs, int64_t m, int64_t k, const PairGraph& graph, const PairPrices& prices,
                 const int32_t* order, int64_t max_sweeps, int32_t* labels) {
    Modes modes{costs, m, k, graph, prices, labels, std::vector<double>(k)};
    std::vector<int64_t> seen(m, -1);  // in which sweep a component last had its turn
    bool moved = true;
    for (int64_t sweep = 0; moved && sweep < max_sweeps; ++sweep) {
        moved = false;
        for (int64_t q = 0; q < m; ++q) moved |= modes.move_row(order[q]);
        for (int64_t q = 0; q < m; ++q) {  // a component's turn comes with that of its first row in this order
            const int32_t g = graph.group[order[q]];
            const int64_t start = graph.member_start[g], size = graph.member_start[g + 1] - start;
            if (size > 1 && seen[g] < sweep) moved |= modes.move_group(graph.member + start, size);
            seen[g] = sweep;
        }
    }
}

void register_icm(nb::module_& m) {
    define(m, "pair_graph", pair_graph,
           R"(Find the pairs of each of m rows, once for many steps.

must, (p, 2), and cannot, (q, 2), are the rows of each pair, must-links only within components; group, (m,), is the
component of each row, 0, 1, ... Returns, for must-links and then for cannot-links, where those of each row begin
(m + 1,), the other row of each, and the pair; then where the rows of each component begin, and these rows (m,).)",
           nb::arg("must"), nb::arg("cannot"), nb::arg("group"));
    define(m, "conditional_modes", conditional_modes,
           R"(Move rows, and whole components of rows, to where they cost least, until none can gain: labels (m,).

A clustering costs the sum of costs[i, label of i], for each must-link p between clusters g and h
(must_penalty[p, g] + must_penalty[p, h]) / 2, and for each cannot-link p within a cluster h cannot_penalty[p, h]. No
step raises it. costs are (m, k); labels, (m,), the first ones; pairs and components those of pair_graph; penalties
(p, 1 or k), where one column holds for every cluster; order, (m,), that of the rows. Time O(sweeps (m + pairs) k); one
thread, since each choice depends on those before.)",
           nb::arg("costs"), nb::arg("labels"), nb::arg("must"), nb::arg("must_penalty"), nb::arg("cannot"),
           nb::arg("cannot_penalty"), nb::arg("group"), nb::arg("order"), count("max_sweeps"));
}

}  // namespace linkwise
