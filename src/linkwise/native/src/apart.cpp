// The parts that pairs join; and nodes to clusters when some nodes must be apart: in order, cheap and right, cheapest,
// or any way at all.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "checks.hpp"

namespace linkwise {

namespace {

// The nodes that must be apart from each: those of node i stand at start[i] .. start[i + 1].
struct Foes {
    std::vector<int64_t> start;
    std::vector<int32_t> node;
    Foes(const int32_t* pairs, int64_t count, int64_t m) : start(m + 2), node(2 * count) {
        for (int64_t e = 0; e < 2 * count; ++e) ++start[pairs[e] + 2];
        for (int64_t i = 0; i < m; ++i) start[i + 2] += start[i + 1];
        for (int64_t e = 0; e < 2 * count; ++e) node[start[pairs[e] + 1]++] = pairs[e ^ 1];
    }
    int64_t degree(int64_t i) const { return start[i + 1] - start[i]; }
};

struct Assignment {
    const double* costs;  // m x k
    int64_t m, k;
    const Foes& foes;
    int32_t* label;
    std::vector<int64_t> taken;  // foes of a node, by label
    std::vector<uint8_t> in_chain;
    std::vector<int32_t> chain;

    double cost(int64_t i, int64_t h) const { return costs[i * k + h]; }

    void count_foes(int64_t i) {
        std::fill(taken.begin(), taken.end(), 0);
        for (int64_t at = foes.start[i]; at < foes.start[i + 1]; ++at)
            if (label[foes.node[at]] >= 0) ++taken[label[foes.node[at]]];
    }

    // The label with fewest foes, and of these the cheapest.
    void place(int64_t i) {
        count_foes(i);
        int64_t best = 0;
        for (int64_t h = 1; h < k; ++h)
            if (taken[h] < taken[best] || (taken[h] == taken[best] && cost(i, h) < cost(i, best))) best = h;
        label[i] = static_cast<int32_t>(best);
    }

    // Moves one node where it meets fewer foes.
    bool flee(int64_t i) {
        count_foes(i);
        const int32_t before = label[i];
        if (taken[before] == 0) return false;
        place(i);
        if (taken[label[i]] < taken[before]) return true;
        label[i] = before;
        return false;
    }

    // Exchanges the labels of all nodes that a change of node i to label h would drag along (Kempe 1879);
    // what is apart stays apart.
    bool exchange(int64_t i, int32_t h) {
        const int32_t g = label[i];
        chain.assign(1, static_cast<int32_t>(i));
        in_chain[i] = 1;
        double gain = 0;
        for (size_t at = 0; at < chain.size() && chain.size() <= kLongest; ++at) {
            const int32_t node = chain[at], to = label[node] == g ? h : g;
            gain += cost(node, label[node]) - cost(node, to);
            for (int64_t f = foes.start[node]; f < foes.start[node + 1]; ++f) {
                const int32_t other = foes.node[f];
                if (label[other] != to || in_chain[other]) continue;
                in_chain[other] = 1;
                chain.push_back(other);
            }
        }
        double size = 0;
        for (int32_t node : chain) size += cost(node, label[node]), in_chain[node] = 0;
        if (chain.size() > kLongest || !(gain > 1e-12 * size)) return false;
        for (int32_t node : chain) label[node] = label[node] == g ? h : g;
        return true;
    }

    bool improve(int64_t i) {
        bool moved = flee(i);
        for (int32_t h = 0; h < k; ++h)  // a chain that gains has a node that gains
            if (cost(i, h) < cost(i, label[i])) moved |= exchange(i, h);
        return moved;
    }

    int64_t together() const {
        int64_t pairs = 0;
        for (int64_t i = 0; i < m; ++i)
            for (int64_t at = foes.start[i]; at < foes.start[i + 1]; ++at) pairs += label[foes.node[at]] == label[i];
        return pairs / 2;
    }

    static constexpr size_t kLongest = 1000;  // nodes that one exchange may move
};

// Branch and bound over the nodes of one connected part, those with the fewest labels left first.
class Search {
   public:
    static constexpr size_t kLargest = 5000;  // nodes of a part; a step looks at all of them

    // `number`: one place for each node of all parts, shared by their searches.
    Search(const double* costs, int64_t k, const Foes& foes, std::vector<int32_t> nodes, std::vector<int32_t>& number,
           int64_t limit)
        : costs_(costs), k_(k), foes_(foes), nodes_(std::move(nodes)), number_(number), left_(limit) {
        for (size_t j = 0; j < nodes_.size(); ++j) number_[nodes_[j]] = static_cast<int32_t>(j);
        label_.assign(nodes_.size(), -1);
        taken_.assign(nodes_.size() * k, 0);
        free_.assign(nodes_.size(), static_cast<int32_t>(k));
        least_.resize(nodes_.size());
        for (size_t j = 0; j < nodes_.size(); ++j) least_[j] = cheapest(j);
        for (double c : least_) rest_ += c;
    }

    // Whether the search came to its end; `best` holds labels below `bound` where there are any.
    bool run(double bound, std::vector<int32_t>& best, bool& found) {
        bound_ = bound;
        const bool whole = nodes_.size() <= kLargest && step(0, 0.0, 0);
        found = found_;
        best = best_;
        return whole;
    }
    const std::vector<int32_t>& nodes() const { return nodes_; }

   private:
    double cost(size_t j, int64_t h) const { return costs_ ? costs_[nodes_[j] * k_ + h] : 0.0; }

    double cheapest(size_t j) const {
        double least = std::numeric_limits<double>::infinity();
        for (int64_t h = 0; h < k_; ++h)
            if (taken_[j * k_ + h] == 0) least = std::min(least, cost(j, h));
        return least;
    }

    // The node with the fewest labels left, of these the one with the most foes.
    size_t next() const {
        size_t best = nodes_.size();
        for (size_t j = 0; j < nodes_.size(); ++j) {
            if (label_[j] >= 0) continue;
            if (best == nodes_.size() || free_[j] < free_[best] ||
                (free_[j] == free_[best] && foes_.degree(nodes_[j]) > foes_.degree(nodes_[best])))
                best = j;
        }
        return best;
    }

    // `used`: labels in use; without costs the others are all alike, and one of them is tried.
    bool step(size_t depth, double paid, int64_t used) {
        if (depth == nodes_.size()) {
            bound_ = paid, best_ = label_, found_ = true;
            return true;
        }
        const size_t j = next();
        std::vector<int32_t> order;
        for (int32_t h = 0; h < k_; ++h)
            if (taken_[j * k_ + h] == 0 && (costs_ || h <= used)) order.push_back(h);
        if (costs_) std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return cost(j, a) < cost(j, b); });
        for (int32_t h : order) {
            if (--left_ < 0) return false;
            const double now = paid + cost(j, h), before = rest_;
            set(j, h);
            const bool can = rest_ < std::numeric_limits<double>::infinity() && (!costs_ || now + rest_ < bound_ - 1e-12 * (bound_ < 1e300 ? bound_ : 0));
            const bool whole = !can || step(depth + 1, now, std::max<int64_t>(used, h + 1));
            unset(j, h);
            rest_ = before;
            if (!whole) return false;
            if (found_ && !costs_) return true;
        }
        return true;
    }

    void set(size_t j, int32_t h) {
        label_[j] = h;
        rest_ -= least_[j];
        each_foe(j, [&](size_t f) {
            if (taken_[f * k_ + h]++ > 0) return;
            --free_[f];
            if (label_[f] < 0) reckon(f);
        });
    }
    void unset(size_t j, int32_t h) {
        each_foe(j, [&](size_t f) {
            if (--taken_[f * k_ + h] > 0) return;
            ++free_[f];
            if (label_[f] < 0) least_[f] = cheapest(f);
        });
        label_[j] = -1;
    }
    void reckon(size_t f) {
        const double now = cheapest(f);
        rest_ = now < std::numeric_limits<double>::infinity() ? rest_ - least_[f] + now : now;
        least_[f] = now;
    }
    template <typename Do>
    void each_foe(size_t j, const Do& act) {
        for (int64_t at = foes_.start[nodes_[j]]; at < foes_.start[nodes_[j] + 1]; ++at) act(number_[foes_.node[at]]);
    }

    const double* costs_;
    int64_t k_;
    const Foes& foes_;
    std::vector<int32_t> nodes_;
    std::vector<int32_t>& number_;
    std::vector<int32_t> label_, free_, best_;
    std::vector<int32_t> taken_;
    std::vector<double> least_;
    double rest_ = 0, bound_ = 0;
    int64_t left_;
    bool found_ = false;
};

// Connected parts, each with its lowest node first.
std::vector<std::vector<int32_t>> parts_of(const Foes& foes, int64_t m) {
    std::vector<std::vector<int32_t>> parts;
    std::vector<uint8_t> seen(m, 0);
    for (int64_t i = 0; i < m; ++i) {
        if (seen[i]) continue;
        std::vector<int32_t> part{static_cast<int32_t>(i)};
        seen[i] = 1;
        for (size_t at = 0; at < part.size(); ++at)
            for (int64_t f = foes.start[part[at]]; f < foes.start[part[at] + 1]; ++f)
                if (!seen[foes.node[f]]) seen[foes.node[f]] = 1, part.push_back(foes.node[f]);
        parts.push_back(std::move(part));
    }
    return parts;
}

auto assign_apart(Matrix<double> costs, Matrix<int32_t> pairs, Vector<int32_t> start, Vector<int32_t> order,
                  int64_t sweeps, int64_t limit) {
    const int64_t m = costs.shape(0), k = costs.shape(1);
    check_rows("costs", costs);
    check_shape("start", start, m);
    check_range("start", start, -1, k - 1);
    check_shape("order", order, m);
    check_range("order", order, 0, m - 1);
    check_pairs("pairs", pairs, m);
    Result<int32_t> labels(m);
    int64_t together = 0;
    {
        GilRelease release;
        const Foes foes(pairs.data(), pairs.shape(0), m);
        Assignment a{costs.data(), m, k, foes, labels.get(), std::vector<int64_t>(k), std::vector<uint8_t>(m), {}};
        std::copy_n(start.data(), m, labels.get());
        for (int64_t j = 0; j < m; ++j)
            if (a.label[order.data()[j]] < 0) a.place(order.data()[j]);
        bool moved = true;
        for (int64_t s = 0; moved && s < sweeps; ++s) {
            moved = false;
            for (int64_t j = 0; j < m; ++j) moved |= a.improve(order.data()[j]);
        }
        together = a.together();
        if (limit > 0 && together == 0) {
            std::vector<int32_t> number(m);
            for (auto& part : parts_of(foes, m)) {
                double bound = 0;
                for (int32_t node : part) bound += a.cost(node, a.label[node]);
                Search search(costs.data(), k, foes, std::move(part), number, limit);
                std::vector<int32_t> best;
                bool found = false;
                search.run(bound, best, found);
                for (size_t j = 0; found && j < best.size(); ++j) a.label[search.nodes()[j]] = best[j];
            }
        }
    }
    return std::make_tuple(labels.release({static_cast<size_t>(m)}), together);
}

Output<int64_t> join_pairs(Matrix<int64_t> pairs, int64_t n) {
    check_shape("pairs", pairs, pairs.shape(0), 2);
    check_range("pairs", pairs, 0, n - 1);
    Result<int64_t> number(n);
    {
        GilRelease release;
        int64_t* lower = number.get();  // some node of the same part, a lower one if there is one
        std::iota(lower, lower + n, 0);
        const auto lowest = [&](int64_t i) {
            while (lower[i] != i) i = lower[i] = lower[lower[i]];
            return i;
        };
        for (size_t e = 0; e < pairs.shape(0); ++e) {
            const int64_t a = lowest(pairs.data()[2 * e]), b = lowest(pairs.data()[2 * e + 1]);
            lower[std::max(a, b)] = std::min(a, b);
        }
        for (int64_t i = 0, parts = 0; i < n; ++i) number.get()[i] = lower[i] == i ? parts++ : lower[lower[i]];
    }
    return number.release({static_cast<size_t>(n)});
}

// Labels, and the first node in order that found none, or -1.
auto first_fit(Matrix<double> costs, Matrix<int32_t> pairs, Vector<int32_t> order) {
    const int64_t m = costs.shape(0), k = costs.shape(1);
    check_rows("costs", costs);
    check_shape("order", order, m);
    check_range("order", order, 0, m - 1);
    check_pairs("pairs", pairs, m);
    Result<int32_t> labels(m);
    int64_t failed = -1;
    {
        GilRelease release;
        const Foes foes(pairs.data(), pairs.shape(0), m);
        std::fill_n(labels.get(), m, -1);
        std::vector<int64_t> taken_by(k, -1);  // the last node with a foe of that label
        for (int64_t j = 0; j < m && failed < 0; ++j) {
            const int64_t i = order.data()[j];
            for (int64_t at = foes.start[i]; at < foes.start[i + 1]; ++at)
                if (const int32_t h = labels.get()[foes.node[at]]; h >= 0) taken_by[h] = i;
            int64_t best = -1;
            for (int64_t h = 0; h < k; ++h)
                if (taken_by[h] != i && (best < 0 || costs.data()[i * k + h] < costs.data()[i * k + best])) best = h;
            labels.get()[i] = static_cast<int32_t>(best);
            if (best < 0) failed = i;
        }
    }
    return std::make_tuple(labels.release({static_cast<size_t>(m)}), failed);
}

// Some way to keep all pairs apart with k labels: 1 found, 0 there is none, -1 not known.
auto colour_apart(Matrix<int32_t> pairs, int64_t m, int64_t k, int64_t limit) {
    check_pairs("pairs", pairs, m);
    Result<int32_t> labels(m);
    int answer = 1;
    {
        GilRelease release;
        const Foes foes(pairs.data(), pairs.shape(0), m);
        // a node with fewer than k foes finds a label whatever they have: it waits until they are done
        std::vector<int32_t> waiting;
        std::vector<int64_t> degree(m);
        std::vector<uint8_t> waits(m, 0);
        for (int64_t i = 0; i < m; ++i)
            if ((degree[i] = foes.degree(i)) < k) waits[i] = 1, waiting.push_back(static_cast<int32_t>(i));
        for (size_t at = 0; at < waiting.size(); ++at)
            for (int64_t f = foes.start[waiting[at]]; f < foes.start[waiting[at] + 1]; ++f) {
                const int32_t other = foes.node[f];
                if (!waits[other] && --degree[other] < k) waits[other] = 1, waiting.push_back(other);
            }
        std::vector<int32_t> number(m, -1), core, core_pairs;
        for (int64_t i = 0; i < m; ++i)
            if (!waits[i]) number[i] = static_cast<int32_t>(core.size()), core.push_back(static_cast<int32_t>(i));
        for (int64_t e = 0; e < static_cast<int64_t>(pairs.shape(0)); ++e) {
            const int32_t a = number[pairs.data()[2 * e]], b = number[pairs.data()[2 * e + 1]];
            if (a >= 0 && b >= 0) core_pairs.push_back(a), core_pairs.push_back(b);
        }
        std::fill_n(labels.get(), m, -1);
        const Foes inner(core_pairs.data(), static_cast<int64_t>(core_pairs.size() / 2), static_cast<int64_t>(core.size()));
        std::vector<int32_t> place(core.size());
        for (auto& part : parts_of(inner, static_cast<int64_t>(core.size()))) {
            Search search(nullptr, k, inner, std::move(part), place, limit);
            std::vector<int32_t> best;
            bool found = false;
            const bool whole = search.run(std::numeric_limits<double>::infinity(), best, found);
            if (!found) {
                answer = whole ? 0 : -1;
                if (whole) break;
                continue;
            }
            for (size_t j = 0; j < best.size(); ++j) labels.get()[core[search.nodes()[j]]] = best[j];
        }
        std::vector<int32_t> last(k);
        for (auto node = waiting.rbegin(); answer == 1 && node != waiting.rend(); ++node) {
            std::fill(last.begin(), last.end(), 0);
            for (int64_t f = foes.start[*node]; f < foes.start[*node + 1]; ++f)
                if (labels.get()[foes.node[f]] >= 0) last[labels.get()[foes.node[f]]] = 1;
            labels.get()[*node] = static_cast<int32_t>(std::find(last.begin(), last.end(), 0) - last.begin());
        }
    }
    return std::make_tuple(answer, labels.release({static_cast<size_t>(m)}));
}

}  // namespace

void register_apart(nb::module_& m) {
    define(m, "assign_apart", assign_apart,
           R"(Label nodes at low cost, (m, k), with different labels for the nodes of each pair, (q, 2).

In order, (m,), each node without a label gets the cheapest label that breaks fewest pairs; start, (m,), are the
first labels, -1 for none. Then, in sweeps, a node moves if that breaks fewer pairs, and two labels are exchanged
along the chain of pairs that have them (Kempe) if that is cheaper; an exchange breaks no pair. If limit is above 0
and no pair is broken, branch and bound searches each connected part of at most 5000 nodes for the cheapest labels
in at most so many steps. Costs are not negative. Returns labels (m,) and the number of broken pairs.)",
           nb::arg("costs"), nb::arg("pairs"), nb::arg("start"), nb::arg("order"), count("sweeps"), nb::arg("limit"));
    define(m, "join_pairs", join_pairs,
           R"(Number the connected parts of n nodes that are joined by pairs, (q, 2), by their lowest nodes: (n,).

Time almost linear.)",
           nb::arg("pairs"), count("n"));
    define(m, "first_fit", first_fit,
           R"(Give nodes, in order, (m,), the cheapest label that no node of a pair, (q, 2), with them has.

costs are (m, k); of equal costs the lowest label counts. Returns labels (m,) and -1, or the first node that found
no label; it and the nodes after it then have label -1.)",
           nb::arg("costs"), nb::arg("pairs"), nb::arg("order"));
    define(m, "colour_apart", colour_apart,
           R"(Find k labels of m nodes that separate all pairs, (q, 2).

The search begins with the most constrained node.

limit is the largest number of steps for each connected part; parts of more than 5000 nodes are not searched. Nodes
with fewer than k neighbours need no search and are removed repeatedly. Returns 1 if labels were found, 0 if there
are none, -1 if that is unknown within the limit; and the labels (m,).

Brelaz (1979), New methods to color the vertices of a graph.)",
           nb::arg("pairs"), count("m"), count("k"), count("limit"));
}

}  // namespace linkwise
