// Groups of records: the two groups whose pairs are most probably matches become one, while that is more probable
// than not.
//
// The score of two groups is the mean log-odds over all pairs between them, plus the sum over the answers, plus a bonus
// for their sizes if that is positive. Only pairs that are listed have log-odds of their own. All others have the same,
// which are not positive, so two groups without a listed pair never merge, and an edge between two groups has all that
// a score needs: a sum, the number of its listed pairs and the answers. A heap has the edges of positive score. What a
// merge changes is put into it anew, and older entries no longer count. So the merges are exactly those of a table of
// all groups, without the table.
//
// Without a pair whose log-odds or answers are positive two groups have no positive score. So groups lie within the
// components that such pairs connect, which are small. Only the pairs inside of them are edges; all others are summed
// up once, between the groups that are found.
//
// The bonus grows as the logarithm of the number of pairs. It is made of harmonic numbers, which are the same on every
// machine.
//
// Rows may have a source. Groups with rows of one source do not merge, unless answers say so.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <queue>

#include "checks.hpp"

namespace linkwise {

namespace {

// All listed pairs between two groups of one component.
struct Edge {
    int32_t a, b;  // groups, by their lowest rows
    int32_t into;  // the edge that took it over; itself if none did; kMet if its groups merged
    int32_t n_listed;
    double sum, answers;
    double score, n_pairs;
};

constexpr int32_t kMet = -1;
constexpr double kApart = -30;  // score of two groups with rows of one source
constexpr double kCertain = 30;  // answers that join them all the same

struct Entry {
    double score;
    int32_t low, high, edge;

    // The lower one is merged later. Groups of lower rows come first among equals.
    bool operator<(const Entry& other) const {
        if (score != other.score) return score < other.score;
        if (low != other.low) return low > other.low;
        return high > other.high;
    }
};

// The pairs that are listed.
struct Listed {
    const int64_t *first, *second;
    const double *weight, *answer;
    int64_t n, m;  // rows, pairs

    bool speaks_for(int64_t e) const { return weight[e] > 0 || answer[e] > 0; }
};

// The lowest row of the component of each row, by the pairs that speak for a merge.
std::vector<int32_t> find_components(const Listed& pairs) {
    std::vector<int32_t> up(pairs.n);
    std::iota(up.begin(), up.end(), 0);
    const auto find = [&](int64_t row) {
        auto i = static_cast<int32_t>(row);
        while (up[i] != i) i = up[i] = up[up[i]];
        return i;
    };
    for (int64_t e = 0; e < pairs.m; ++e) {
        if (!pairs.speaks_for(e)) continue;
        const int32_t a = find(pairs.first[e]), b = find(pairs.second[e]);
        up[std::max(a, b)] = std::min(a, b);
    }
    for (size_t i = 0; i < up.size(); ++i) up[i] = up[up[i]];  // lower rows come first
    return up;
}

// Some of the pairs, by the lower of the groups of their rows.
class PairsByGroup {
   public:
    // group has one of n numbers for each row.
    template <typename LeftOut>
    PairsByGroup(const Listed& pairs, const int32_t* group, LeftOut is_left_out) : start_(pairs.n + 1) {
        const auto low = [&](int64_t e) { return std::min(group[pairs.first[e]], group[pairs.second[e]]); };
        for (int64_t e = 0; e < pairs.m; ++e)
            if (!is_left_out(e)) ++start_[low(e) + 1];
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        order_.resize(start_.back());
        std::vector<int32_t> next(start_.begin(), start_.end() - 1);
        for (int64_t e = 0; e < pairs.m; ++e)
            if (!is_left_out(e)) order_[next[low(e)]++] = static_cast<int32_t>(e);
    }

    // Calls visit(group, begin, end) with the numbers of its pairs.
    template <typename Visit>
    void each(Visit visit) const {
        const int32_t* pairs = order_.data();
        for (size_t i = 0; i + 1 < start_.size(); ++i)
            visit(static_cast<int32_t>(i), pairs + start_[i], pairs + start_[i + 1]);
    }

   private:
    std::vector<int32_t> start_, order_;
};

// Whether each pair has its lower row first, and they are in ascending order.
bool are_ordered(const Listed& pairs) {
    for (int64_t e = 0; e < pairs.m; ++e) {
        if (pairs.first[e] >= pairs.second[e]) return false;
        if (e == 0 || pairs.first[e] > pairs.first[e - 1]) continue;
        if (pairs.first[e] < pairs.first[e - 1] || pairs.second[e] <= pairs.second[e - 1]) return false;
    }
    return true;
}

bool is_listed_twice(const Listed& pairs) {
    if (are_ordered(pairs)) return false;
    std::vector<int32_t> row(pairs.n), seen(pairs.n, -1);
    std::iota(row.begin(), row.end(), 0);
    bool found = false;
    const PairsByGroup all(pairs, row.data(), [](int64_t) { return false; });
    all.each([&](int32_t i, const int32_t* at, const int32_t* end) {
        for (; at != end; ++at)
            found |= std::exchange(seen[std::max(pairs.first[*at], pairs.second[*at])], i) == i;
    });
    return found;
}

class RecordGroups {
   public:
    // score and n_pairs of each pair, (m,), are written. source is nullptr, or has (n,) numbers, below 0 for none.
    RecordGroups(const Listed& pairs, double missing, const int64_t* source, double growth, double* score,
                 double* n_pairs)
        : pairs_(pairs), missing_(missing), bonus_(pairs.n + 1), score_(score), n_pairs_(n_pairs), size_(pairs.n, 1),
          group_(pairs.n), around_(pairs.n), component_(find_components(pairs)) {
        const int64_t n = pairs.n;
        for (int64_t size = 2; size <= n; ++size) bonus_[size] = bonus_[size - 1] + growth / static_cast<double>(size);
        std::iota(group_.begin(), group_.end(), 0);
        if (source != nullptr) {
            sources_.resize(n);
            for (int64_t i = 0; i < n; ++i)
                if (source[i] >= 0) sources_[i].push_back(source[i]);
        }
        for (int64_t e = 0; e < pairs.m; ++e) {
            if (is_across(e)) continue;
            const auto a = static_cast<int32_t>(pairs.first[e]), b = static_cast<int32_t>(pairs.second[e]);
            const auto own = static_cast<int32_t>(edges_.size());
            edges_.push_back({a, b, own, 1, pairs.weight[e], pairs.answer[e], 0, 0});
            around_[a].push_back(own), around_[b].push_back(own);
        }
    }

    void merge() {
        std::vector<Entry> entries;
        for (int32_t e = 0; e < static_cast<int32_t>(edges_.size()); ++e)
            if (renew(e)) entries.push_back(entry_of(e));
        std::priority_queue<Entry> heap(std::less<Entry>(), std::move(entries));
        std::vector<int32_t> to(around_.size(), -1);
        while (!heap.empty()) {
            const Entry top = heap.top();
            heap.pop();
            if (!is_open(top.edge)) continue;
            const Entry now = entry_of(top.edge);
            if (now.score != top.score || now.low != top.low || now.high != top.high) continue;
            edges_[top.edge].into = kMet;
            join(top.low, top.high, to);
            for (const int32_t e : around_[top.low])
                if (renew(e)) heap.push(entry_of(e));
        }
        int32_t own = 0;
        for (int64_t e = 0; e < pairs_.m; ++e) {
            if (is_across(e)) continue;
            const Edge& last = edges_[last_of(own++)];
            score_[e] = last.score, n_pairs_[e] = last.n_pairs;
        }
        for (size_t i = 0; i < group_.size(); ++i) group_[i] = group_[group_[i]];
        score_across();
    }

    // Numbers in the order of the lowest rows.
    void number_groups(int64_t* label) {
        int64_t count = 0;
        for (size_t i = 0; i < group_.size(); ++i)
            label[i] = group_[i] == static_cast<int32_t>(i) ? count++ : label[group_[i]];
    }

   private:
    bool is_across(int64_t e) const { return component_[pairs_.first[e]] != component_[pairs_.second[e]]; }

    // The pairs between components: their groups have not merged.
    void score_across() {
        struct Sum {
            int32_t of = -1;  // the lower group
            int32_t n_listed = 0;
            double sum = 0, answers = 0;
        };
        std::vector<Sum> sums(group_.size());
        const auto find = [&](int64_t e) {
            return std::max(group_[pairs_.first[e]], group_[pairs_.second[e]]);
        };
        const PairsByGroup across(pairs_, group_.data(), [&](int64_t e) { return !is_across(e); });
        across.each([&](int32_t low, const int32_t* begin, const int32_t* end) {
            for (const int32_t* at = begin; at != end; ++at) {
                Sum& sum = sums[find(*at)];
                if (sum.of != low) sum = {low, 0, 0, 0};
                ++sum.n_listed, sum.sum += pairs_.weight[*at], sum.answers += pairs_.answer[*at];
            }
            for (const int32_t* at = begin; at != end; ++at) {
                const int32_t high = find(*at);
                const Sum& sum = sums[high];
                n_pairs_[*at] = count_pairs(low, high);
                score_[*at] = score_of(sum.sum, sum.n_listed, n_pairs_[*at]) + sum.answers;
            }
        });
    }

    double count_pairs(int32_t a, int32_t b) const {
        return static_cast<double>(size_[a]) * static_cast<double>(size_[b]);
    }

    double score_of(double sum, int32_t n_listed, double n_pairs) const {
        return (sum + missing_ * (n_pairs - n_listed)) / n_pairs;
    }

    bool is_open(int32_t e) const { return edges_[e].into == e; }

    int32_t other_end(int32_t e, int32_t group) const {
        return edges_[e].a == group ? edges_[e].b : edges_[e].a;
    }

    Entry entry_of(int32_t e) const {
        const Edge& edge = edges_[e];
        return {edge.score, std::min(edge.a, edge.b), std::max(edge.a, edge.b), e};
    }

    // Computes the score of an edge; returns whether its groups may merge.
    bool renew(int32_t e) {
        Edge& edge = edges_[e];
        edge.n_pairs = count_pairs(edge.a, edge.b);
        edge.score = score_of(edge.sum, edge.n_listed, edge.n_pairs) + edge.answers;
        if (edge.score > 0 && edge.answers < kCertain && share_source(edge.a, edge.b)) edge.score = kApart;
        if (edge.score > 0) edge.score += bonus_[size_[edge.a]] + bonus_[size_[edge.b]];
        return edge.score > 0;
    }

    bool share_source(int32_t a, int32_t b) const {
        if (sources_.empty()) return false;
        const auto &few = sources_[a], &others = sources_[b];
        for (auto i = few.begin(), j = others.begin(); i != few.end() && j != others.end();) {
            if (*i == *j) return true;
            if (*i < *j) ++i;
            else ++j;
        }
        return false;
    }

    // Puts group b into a, the lower one. `to` holds -1 for each group, here and afterwards.
    void join(int32_t a, int32_t b, std::vector<int32_t>& to) {
        std::vector<int32_t> edges;
        edges.reserve(around_[a].size() + around_[b].size());
        for (const int32_t e : around_[a])
            if (is_open(e)) to[other_end(e, a)] = e, edges.push_back(e);
        for (const int32_t e : around_[b]) {
            if (!is_open(e)) continue;
            Edge& edge = edges_[e];
            const int32_t c = other_end(e, b);
            if (to[c] < 0) {
                edge.a = a, edge.b = c;
                edges.push_back(e);
                continue;
            }
            Edge& taker = edges_[to[c]];
            taker.sum += edge.sum, taker.answers += edge.answers, taker.n_listed += edge.n_listed;
            edge.into = to[c];
        }
        for (const int32_t e : edges) to[other_end(e, a)] = -1;
        around_[a] = std::move(edges);
        std::vector<int32_t>().swap(around_[b]);
        size_[a] += size_[b];
        group_[b] = a;
        if (sources_.empty()) return;
        std::vector<int64_t> both;
        std::set_union(sources_[a].begin(), sources_[a].end(), sources_[b].begin(), sources_[b].end(),
                       std::back_inserter(both));
        sources_[a] = std::move(both);
        std::vector<int64_t>().swap(sources_[b]);
    }

    // The edge that has taken over this one; the edges between are shortened to it.
    int32_t last_of(int32_t e) {
        int32_t last = e;
        while (!is_open(last) && edges_[last].into != kMet) last = edges_[last].into;
        while (e != last) e = std::exchange(edges_[e].into, last);
        return last;
    }

    const Listed& pairs_;
    const double missing_;
    std::vector<double> bonus_;  // by the size of a group
    double *score_, *n_pairs_;
    std::vector<int64_t> size_;
    std::vector<int32_t> group_;  // by the lowest row of a group: the group that it was put into, or itself
    std::vector<Edge> edges_;
    std::vector<std::vector<int64_t>> sources_;  // of the rows of each group, sorted; empty if none are told
    std::vector<std::vector<int32_t>> around_;  // edges of each group; some of them have ended
    const std::vector<int32_t> component_;  // of each row
};

auto group_by_log_odds(int64_t n, Vector<int64_t> first, Vector<int64_t> second, Vector<double> weight,
                       Vector<double> answer, double missing, std::optional<Vector<int64_t>> source, double growth) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const int64_t m = first.shape(0);
    check_between("n", n, 1, kMost);
    check_between("the number of pairs", m, 0, kMost);
    check_range("first", first, 0, n - 1);
    check_shape("second", second, m);
    check_range("second", second, 0, n - 1);
    check_shape("weight", weight, m);
    check_shape("answer", answer, m);
    check_shape("source", source, n);
    if (!(missing <= 0)) refuse("missing must be at most 0, got ", missing);
    if (!(growth >= 0)) refuse("growth must not be negative, got ", growth);
    for (int64_t e = 0; e < m; ++e)
        if (first.data()[e] == second.data()[e])
            refuse("Pair ", e, " has row ", first.data()[e], " twice. Remove it.");
    Result<int64_t> label(n);
    Result<double> score(m), n_pairs(m);
    bool is_repeated = false;
    {
        GilRelease release;
        const Listed pairs{first.data(), second.data(), weight.data(), answer.data(), n, m};
        is_repeated = is_listed_twice(pairs);
        if (!is_repeated) {
            RecordGroups groups(pairs, missing, data_or_null(source), growth, score.get(), n_pairs.get());
            groups.merge();
            groups.number_groups(label.get());
        }
    }
    if (is_repeated) refuse("A pair of rows is listed twice. Pass each pair once.");
    const size_t N = n, M = m;
    return std::make_tuple(label.release({N}), score.release({M}), n_pairs.release({M}));
}

}  // namespace

void register_record_groups(nb::module_& m) {
    define(m, "group_by_log_odds", group_by_log_odds,
           R"(Merge the two groups of rows of the highest score while that is positive.

The score of two groups is the mean log-odds over all pairs of rows between them, plus the sum of their answers.
first and second, (m,), are the rows of the pairs that are listed, each once; weight, (m,), their log-odds; answer,
(m,), the log-odds that answers add. All other pairs have log-odds of missing, at most 0. Among equal scores the
groups of the lowest rows merge first. Groups that have rows of one source, (n,), do not merge and score -30,
unless answers of at least 30 are for it; a negative number is none. To a score above 0 is added
growth (1/2 + ... + 1/s) for the size s of each group, so that of two groups that a row may belong to with equal
log-odds the larger takes it. Returns labels (n,), by the lowest rows; and for each pair the score (m,) at which its
rows met, or that keeps them apart, with the number of pairs (m,) between the two groups there.)",
           count("n"), nb::arg("first"), nb::arg("second"), nb::arg("weight"), nb::arg("answer"), nb::arg("missing"),
           nb::arg("source").none(), nb::arg("growth"));
}

}  // namespace linkwise
