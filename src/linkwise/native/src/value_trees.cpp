// Extremely randomised trees that estimate a value (Geurts, Ernst and Wehenkel 2006), which may have to rise or fall
// with a feature.
//
// Each tree learns from a bootstrap sample, so the rows that it has not seen tell how well it does. What it draws
// comes from a stream of its own, in the order of its nodes, left before right, and sums over trees are added in
// their order, so that the number of threads changes nothing.
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "random.hpp"

namespace linkwise {

namespace {

struct ValueProblem {
    const float* rows;           // n x d
    const double *value, *weight;  // n
    const int8_t* sign;          // d: 1 where values may only rise with a feature, -1: only fall, 0: either
    int64_t n, d, tried, least;  // least: rows of a leaf
    std::vector<float> columns;  // d x n
};

struct Node {
    int32_t feature = -1, left = -1, right = -1;  // -1 at a leaf
    double threshold = 0, value = 0;
};

struct OpenNode {
    int64_t begin, end;
    double low, high;  // between these the value has to lie
    int32_t node;
};

struct Split {
    int32_t feature = -1;
    double threshold = 0, left = 0, right = 0;  // means of both sides
    double score = -1;
};

class ValueTree {
   public:
    explicit ValueTree(const ValueProblem& p) : p_(p), features_(p.d), count_(p.n), values_(p.n) {}

    void grow(uint64_t seed) {
        random_ = {seed};
        draw_rows();
        scratch_.resize(rows_.size());
        std::iota(features_.begin(), features_.end(), 0);
        constexpr double far = std::numeric_limits<double>::infinity();
        nodes.assign(1, {});
        std::vector<OpenNode> open{{0, static_cast<int64_t>(rows_.size()), -far, far, 0}};
        while (!open.empty()) {
            const OpenNode at = open.back();
            open.pop_back();
            nodes[at.node].value = std::clamp(mean(at), at.low, at.high);
            const Split split = best_split(at);
            if (split.feature < 0) continue;
            const int64_t middle = part(at, split);
            const auto left = static_cast<int32_t>(nodes.size());
            Node& node = nodes[at.node];
            node.feature = split.feature, node.threshold = split.threshold;
            node.left = left, node.right = left + 1;
            nodes.resize(nodes.size() + 2);
            OpenNode one{at.begin, middle, at.low, at.high, left}, other{middle, at.end, at.low, at.high, left + 1};
            const double between = (split.left + split.right) / 2;
            const int sign = p_.sign[split.feature];
            if (sign > 0) one.high = other.low = between;
            if (sign < 0) one.low = other.high = between;
            open.push_back(other), open.push_back(one);
        }
    }

    std::vector<Node> nodes;

    bool has_seen(int64_t row) const { return count_[row] > 0; }

   private:
    void draw_rows() {
        std::fill(count_.begin(), count_.end(), 0);
        for (int64_t i = 0; i < p_.n; ++i) ++count_[draw_place(p_.n)];
        rows_.clear();
        for (int64_t i = 0; i < p_.n; ++i)
            if (count_[i] > 0) rows_.push_back(i);
    }

    int64_t draw_place(int64_t size) { return static_cast<int64_t>(random_.uniform() * static_cast<double>(size)); }

    double weight(int64_t row) const { return p_.weight[row] * count_[row]; }

    double mean(const OpenNode& at) const {
        double total = 0, sum = 0;
        for (int64_t i = at.begin; i < at.end; ++i) {
            const double w = weight(rows_[i]);
            total += w, sum += w * p_.value[rows_[i]];
        }
        return sum / total;
    }

    bool is_pure(const OpenNode& at) const {
        const double first = p_.value[rows_[at.begin]];
        for (int64_t i = at.begin + 1; i < at.end; ++i)
            if (p_.value[rows_[i]] != first) return false;
        return true;
    }

    // Features are drawn without replacement until so many were tried in which the rows differ.
    Split best_split(const OpenNode& at) {
        Split best;
        if (at.end - at.begin < 2 * p_.least || is_pure(at)) return best;
        int64_t tried = 0;
        for (int64_t f = 0; f < p_.d && tried < p_.tried; ++f) {
            std::swap(features_[f], features_[f + draw_place(p_.d - f)]);
            const float* column = p_.columns.data() + features_[f] * p_.n;
            float low = column[rows_[at.begin]], high = low;
            for (int64_t i = at.begin; i < at.end; ++i) {
                const float x = values_[i] = column[rows_[i]];
                low = std::min(low, x), high = std::max(high, x);
            }
            if (low == high) continue;
            ++tried;
            const Split split = try_split(at, features_[f], low, high);
            if (split.score > best.score) best = split;
        }
        return best;
    }

    // One threshold, uniform between the least and the largest value; its score is below 0 if it may not be used.
    Split try_split(const OpenNode& at, int32_t feature, double low, double high) {
        Split split{feature, low + random_.uniform() * (high - low), 0, 0, -1};
        if (split.threshold >= high) split.threshold = low;
        double total = 0, sum = 0, left_total = 0, left_sum = 0;
        int64_t n_left = 0;
        for (int64_t i = at.begin; i < at.end; ++i) {
            const double w = weight(rows_[i]), wy = w * p_.value[rows_[i]];
            const bool is_left = values_[i] <= split.threshold;
            total += w, sum += wy;
            left_total += is_left ? w : 0, left_sum += is_left ? wy : 0;
            n_left += is_left;
        }
        if (n_left < p_.least || at.end - at.begin - n_left < p_.least) return split;
        const double right_total = total - left_total, right_sum = sum - left_sum;
        split.left = std::clamp(left_sum / left_total, at.low, at.high);
        split.right = std::clamp(right_sum / right_total, at.low, at.high);
        if (p_.sign[feature] * (split.right - split.left) < 0) return split;
        split.score = left_sum * left_sum / left_total + right_sum * right_sum / right_total;
        return split;
    }

    int64_t part(const OpenNode& at, const Split& split) {
        const float* column = p_.columns.data() + split.feature * p_.n;
        int64_t front = at.begin, back = 0;
        for (int64_t i = at.begin; i < at.end; ++i) {
            if (column[rows_[i]] <= split.threshold)
                rows_[front++] = rows_[i];
            else
                scratch_[back++] = rows_[i];
        }
        std::copy_n(scratch_.begin(), back, rows_.begin() + front);
        return front;
    }

    const ValueProblem& p_;
    SplitMix64 random_{};
    std::vector<int32_t> features_;
    std::vector<int64_t> rows_, scratch_;
    std::vector<int32_t> count_;
    std::vector<float> values_;
};

// The nodes of all trees, one after the other; children count from the first node of their tree.
struct Forest {
    const int64_t* start;
    const int32_t *feature, *left, *right;
    const double *threshold, *value;

    double estimate(int64_t tree, const float* row) const {
        const int64_t first = start[tree];
        int64_t at = first;
        while (feature[at] >= 0) at = first + (row[feature[at]] <= threshold[at] ? left[at] : right[at]);
        return value[at];
    }
};

using GrownTrees = std::tuple<Output<int64_t>, Output<int32_t>, Output<double>, Output<int32_t>, Output<int32_t>,
                              Output<double>, Output<double>>;

GrownTrees grow_value_trees(Matrix<float> rows, Vector<double> value, Vector<double> weight, Vector<int8_t> sign,
                            int64_t n_trees, int64_t most, int64_t least, uint64_t seed, int threads) {
    const int64_t n = rows.shape(0), d = rows.shape(1);
    check_rows("rows", rows);
    check_shape("value", value, n);
    check_shape("weight", weight, n);
    check_shape("sign", sign, d);
    check_range("sign", sign, -1, 1);
    for (int64_t i = 0; i < n; ++i)
        if (!(weight.data()[i] > 0)) refuse("weight must be positive.");
    ValueProblem p{rows.data(), value.data(), weight.data(), sign.data(), n, d, most, least, std::vector<float>(n * d)};
    std::vector<std::vector<Node>> trees(n_trees);
    std::vector<std::vector<std::pair<int64_t, double>>> unseen(n_trees);
    Result<double> held(n);
    int64_t total = 0;
    Result<int64_t> start(n_trees + 1);
    Result<int32_t> feature(0), left(0), right(0);
    Result<double> threshold(0), at_node(0);
    {
        GilRelease release;
        for (int64_t i = 0; i < n; ++i)
            for (int64_t f = 0; f < d; ++f) p.columns[f * n + i] = p.rows[i * d + f];
        std::vector<uint64_t> seeds(n_trees);
        SplitMix64 stream{seed};
        for (uint64_t& own : seeds) own = stream.word();
        Crew crew(useful_threads(threads, n_trees * n * most));
        std::vector<ValueTree> growing(crew.size(), ValueTree(p));
        crew.run(n_trees, [&](int64_t t, int thread) {
            ValueTree& tree = growing[thread];
            tree.grow(seeds[t]);
            trees[t] = tree.nodes;
            for (int64_t i = 0; i < n; ++i) {
                if (tree.has_seen(i)) continue;
                const float* row = p.rows + i * d;
                const Node* node = tree.nodes.data();
                while (node->feature >= 0)
                    node = &tree.nodes[row[node->feature] <= node->threshold ? node->left : node->right];
                unseen[t].emplace_back(i, node->value);
            }
        });
        std::vector<int64_t> count(n);
        std::fill_n(held.get(), n, 0.0);
        for (const auto& of_tree : unseen)
            for (const auto& [i, estimate] : of_tree) held.get()[i] += estimate, ++count[i];
        for (int64_t i = 0; i < n; ++i)
            held.get()[i] = count[i] ? held.get()[i] / static_cast<double>(count[i]) : std::nan("");
        for (int64_t t = 0; t < n_trees; ++t) start.get()[t] = total, total += static_cast<int64_t>(trees[t].size());
        start.get()[n_trees] = total;
        feature = Result<int32_t>(total), left = Result<int32_t>(total), right = Result<int32_t>(total);
        threshold = Result<double>(total), at_node = Result<double>(total);
        int64_t at = 0;
        for (const auto& tree : trees)
            for (const Node& node : tree) {
                feature.get()[at] = node.feature, left.get()[at] = node.left, right.get()[at] = node.right;
                threshold.get()[at] = node.threshold, at_node.get()[at++] = node.value;
            }
    }
    const auto size = static_cast<size_t>(total);
    return {start.release({static_cast<size_t>(n_trees) + 1}),
            feature.release({size}),
            threshold.release({size}),
            left.release({size}),
            right.release({size}),
            at_node.release({size}),
            held.release({static_cast<size_t>(n)})};
}

// A walk ends, because children come after their parents.
void check_trees(const Vector<int64_t>& start, const Vector<int32_t>& feature, const Vector<int32_t>& left,
                 const Vector<int32_t>& right, int64_t d) {
    check_range("feature", feature, -1, d - 1);
    for (size_t t = 0; t + 1 < start.size(); ++t) {
        const int64_t first = start.data()[t], size = start.data()[t + 1] - first;
        if (size < 1) refuse("start must leave each tree a node.");
        for (int64_t at = 0; at < size; ++at) {
            const int32_t one = left.data()[first + at], other = right.data()[first + at];
            if (feature.data()[first + at] >= 0 && (one <= at || other <= at || one >= size || other >= size))
                refuse("left and right must name later nodes of the same tree.");
        }
    }
}

Output<double> apply_value_trees(Matrix<float> rows, Vector<int64_t> start, Vector<int32_t> feature,
                                 Vector<double> threshold, Vector<int32_t> left, Vector<int32_t> right,
                                 Vector<double> value, int threads) {
    const int64_t n = rows.shape(0), d = rows.shape(1), nodes = feature.shape(0);
    check_shape("rows", rows, n, kPositive);
    check_shape("start", start, kPositive);
    if (start.size() < 2) refuse("start must have one more entry than there are trees.");
    check_shape("threshold", threshold, nodes);
    check_shape("left", left, nodes);
    check_shape("right", right, nodes);
    check_shape("value", value, nodes);
    check_starts("start", start, nodes);
    check_trees(start, feature, left, right, d);
    const auto n_trees = static_cast<int64_t>(start.size()) - 1;
    Result<double> found(n);
    {
        GilRelease release;
        const Forest forest{start.data(), feature.data(), left.data(), right.data(), threshold.data(), value.data()};
        Crew crew(useful_threads(threads, n * n_trees * 10));
        crew.run(chunk_count(n), [&](int64_t chunk, int) {
            const int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, n);
            std::fill(found.get() + begin, found.get() + end, 0.0);
            for (int64_t t = 0; t < n_trees; ++t)
                for (int64_t i = begin; i < end; ++i) found.get()[i] += forest.estimate(t, rows.data() + i * d);
            for (int64_t i = begin; i < end; ++i) found.get()[i] /= static_cast<double>(n_trees);
        });
    }
    return found.release({static_cast<size_t>(n)});
}

}  // namespace

void register_value_trees(nb::module_& m) {
    define(m, "grow_value_trees", grow_value_trees,
           R"(Grow extremely randomised trees that estimate a value, each on a bootstrap sample of the rows, (n, d).

value and weight, (n,), are those of the rows, and weights are positive. Features are drawn without replacement until
max_features in which the rows of a node differ were tried, each with one threshold, uniform between its least and its
largest value there. The split that lowers the weighted sum of squares most is used, of equals the first. Both sides
have at least min_leaf rows. sign, (d,), is 1 where the estimate may only rise with a feature, -1 where it may only
fall, and 0 where it may do either: a split that goes against it is not used, and values below it stay on their side
of the middle between both means, as in scikit-learn.

Returned are, with the nodes of all trees one after the other: where trees start, (n_trees + 1,); feature, -1 at a leaf;
threshold, up to which a row goes left; left and right child, counted from the first node of the tree; the value of
each node; and for each row the mean over the trees that have not seen it, NaN without one.

Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, sections 2 and 3; Breiman (2001), Random forests,
section 3.1.)",
           nb::arg("rows"), nb::arg("value"), nb::arg("weight"), nb::arg("sign"), count("n_trees"),
           count("max_features"), count("min_leaf"), nb::arg("seed"), count("n_threads"));
    define(m, "apply_value_trees", apply_value_trees,
           R"(The mean of the values of the leaves of rows, (n, d), over the trees of grow_value_trees: (n,).)",
           nb::arg("rows"), nb::arg("start"), nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
           nb::arg("right"), nb::arg("value"), count("n_threads"));
}

}  // namespace linkwise
