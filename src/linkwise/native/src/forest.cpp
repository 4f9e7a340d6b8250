// Extremely randomised trees (Geurts, Ernst and Wehenkel 2006).
//
// No tree is kept: when a node is split, the rows that came to it are parted at once with the items that it
// learns from. What one tree draws comes from a stream of its own, in the order of its nodes, left before
// right, so that the number of threads changes nothing.
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "random.hpp"

namespace linkwise {

namespace {

// An item that a tree learns from. Items are ordered by their classes, and so are those of each node.
struct KnownItem {
    int32_t place, home;  // place: in the columns
    int64_t weight;  // how often it counts
};

struct TreeProblem {
    const double* rows;            // n x d
    int64_t n, d, most;            // most: features that are tried at a node
    bool has_all_rows;             // whether the columns hold all rows, or else only the items as they were given
    std::vector<KnownItem> items;  // l
    std::vector<int64_t> given;    // where each item was given
    std::vector<double> columns;   // d x n or d x l, by feature

    int64_t known() const { return static_cast<int64_t>(items.size()); }
    const double* column(int64_t feature) const { return columns.data() + feature * (has_all_rows ? n : known()); }
};

// A node that still has to be looked at.
struct OpenNode {
    int64_t row, row_end, item, item_end;
    int64_t constant;  // so many features, the first ones, are known to be equal for all of its items
};

struct DrawnSplit {
    int64_t feature = -1;
    double threshold = 0, score = -1;
};

// Moves what goes left to the front, in order, and returns the end of it.
template <typename T, typename Left>
LINKWISE_INLINE int64_t part(T* all, int64_t begin, int64_t end, T* scratch, const Left& left) {
    int64_t front = begin, back = 0;
    for (int64_t i = begin; i < end; ++i) {  // both are written, one counts: no branch to mispredict
        const T it = all[i];
        const bool goes_left = left(it);
        all[front] = it;
        scratch[back] = it;
        front += goes_left;
        back += !goes_left;
    }
    std::copy_n(scratch, back, all + front);
    return front;
}

struct ValueRange {
    double low, high;
};

// Takes the values of one feature of some items, and finds their range.
LINKWISE_SIMD ValueRange take_values(const double* column, const KnownItem* items, int64_t size, double* values) {
    constexpr int64_t apart = 4;  // no minimum waits for the one before
    double low[apart], high[apart];
    std::fill_n(low, apart, column[items[0].place]);
    std::fill_n(high, apart, low[0]);
    int64_t i = 0;
    for (; i + apart <= size; i += apart)
        for (int64_t j = 0; j < apart; ++j) {
            const double value = values[i + j] = column[items[i + j].place];
            low[j] = value < low[j] ? value : low[j];
            high[j] = value > high[j] ? value : high[j];
        }
    for (; i < size; ++i) {
        const double value = values[i] = column[items[i].place];
        low[0] = value < low[0] ? value : low[0];
        high[0] = value > high[0] ? value : high[0];
    }
    return {*std::min_element(low, low + apart), *std::max_element(high, high + apart)};
}

// The weight of the items whose values are at most a threshold.
LINKWISE_SIMD int64_t weigh_left(const double* values, const int64_t* weights, int64_t begin, int64_t end,
                                 double threshold) {
    int64_t left = 0;
    for (int64_t i = begin; i < end; ++i) left += values[i] <= threshold ? weights[i] : 0;
    return left;
}

class RandomTree {
   public:
    explicit RandomTree(const TreeProblem& p)
        : p_(p), rows_(p.n), row_scratch_(p.n), item_scratch_(p.items.size()), features_(p.d),
          values_(p.items.size()), weights_(p.items.size()) {}

    // weight: of the items as they were given, or null for 1 each; leaves: n
    void grow(uint64_t seed, const int32_t* weight, int32_t* leaves) {
        random_ = {seed};
        take_items(weight);
        std::iota(rows_.begin(), rows_.end(), 0);
        std::iota(features_.begin(), features_.end(), 0);
        int32_t leaf = 0;
        open_.assign(1, {0, p_.n, 0, static_cast<int64_t>(items_.size()), 0});
        while (!open_.empty()) {
            OpenNode node = open_.back();
            open_.pop_back();
            const DrawnSplit split = best_split(node);
            if (split.feature < 0) {
                for (int64_t i = node.row; i < node.row_end; ++i) leaves[rows_[i]] = leaf;
                ++leaf;
                continue;
            }
            const double *column = p_.column(split.feature), threshold = split.threshold;
            const int64_t row = part_rows(node, split, column);
            const int64_t item = part(items_.data(), node.item, node.item_end, item_scratch_.data(),
                                      [=](const KnownItem& i) { return column[i.place] <= threshold; });
            open_.push_back({row, node.row_end, item, node.item_end, node.constant});
            open_.push_back({node.row, row, node.item, item, node.constant});
        }
    }

   private:
    int64_t part_rows(const OpenNode& node, const DrawnSplit& split, const double* column) {
        const double threshold = split.threshold, *feature = p_.rows + split.feature;
        const int64_t d = p_.d;
        if (p_.has_all_rows)
            return part(rows_.data(), node.row, node.row_end, row_scratch_.data(),
                        [=](int32_t i) { return column[i] <= threshold; });
        return part(rows_.data(), node.row, node.row_end, row_scratch_.data(),
                    [=](int32_t i) { return feature[i * d] <= threshold; });
    }

    void take_items(const int32_t* weight) {
        items_.clear();
        for (int64_t i = 0; i < p_.known(); ++i) {
            const int64_t counts = weight ? weight[p_.given[i]] : 1;
            if (counts > 0) items_.push_back({p_.items[i].place, p_.items[i].home, counts});
        }
    }

    // The best of the splits that are drawn; none where the items are of one class or do not differ.
    DrawnSplit best_split(OpenNode& node) {
        DrawnSplit best;
        if (!find_classes(node)) return best;
        const KnownItem* items = items_.data() + node.item;
        const int64_t size = node.item_end - node.item;
        int64_t last = p_.d;  // features from here on were tried
        for (int64_t tried = 0; tried < p_.most && node.constant < last;) {
            const int64_t at =
                node.constant + static_cast<int64_t>(random_.uniform() * static_cast<double>(last - node.constant));
            const int32_t feature = features_[at];
            const auto [low, high] = take_values(p_.column(feature), items, size, values_.data());
            if (!(low < high)) {
                std::swap(features_[at], features_[node.constant++]);
                continue;
            }
            std::swap(features_[at], features_[--last]);
            ++tried;
            double threshold = low + random_.uniform() * (high - low);
            if (!(threshold < high)) threshold = low;  // rounded up, or beyond all numbers
            const double score = score_of(threshold);
            if (score > best.score) best = {feature, threshold, score};
        }
        return best;
    }

    // Where the items of each class of a node end, and their weights; false: there is one class.
    bool find_classes(const OpenNode& node) {
        const KnownItem* items = items_.data() + node.item;
        const int64_t size = node.item_end - node.item;
        if (items[0].home == items[size - 1].home) return false;
        ends_.clear();
        total_.assign(1, 0);
        for (int64_t i = 0; i < size; ++i) {
            if (i > 0 && items[i].home != items[i - 1].home) ends_.push_back(i), total_.push_back(0);
            weights_[i] = items[i].weight;
            total_.back() += items[i].weight;
        }
        ends_.push_back(size);
        return true;
    }

    // Sum over both sides of the squared class counts over the size: the more, the less Gini impurity is left.
    double score_of(double threshold) {
        int64_t on_left = 0, on_right = 0, square_left = 0, square_right = 0, begin = 0;
        for (size_t c = 0; c < ends_.size(); ++c) {
            const int64_t one = weigh_left(values_.data(), weights_.data(), begin, ends_[c], threshold);
            const int64_t other = total_[c] - one;
            on_left += one, on_right += other;
            square_left += one * one, square_right += other * other;
            begin = ends_[c];
        }
        return static_cast<double>(square_left) / static_cast<double>(on_left) +
               static_cast<double>(square_right) / static_cast<double>(on_right);
    }

    const TreeProblem& p_;
    SplitMix64 random_{0};
    std::vector<KnownItem> items_;  // node by node, as the rows are
    std::vector<int32_t> rows_, row_scratch_;
    std::vector<KnownItem> item_scratch_;
    std::vector<int32_t> features_;
    std::vector<double> values_;          // of the feature that is tried
    std::vector<int64_t> weights_;        // of the items of the node
    std::vector<int64_t> ends_, total_;   // of each of its classes
    std::vector<OpenNode> open_;
};

TreeProblem make_tree_problem(const Matrix<double>& rows, const Vector<int64_t>& items, const Vector<int64_t>& home,
                              int64_t most) {
    const int64_t n = rows.shape(0), d = rows.shape(1), known = items.shape(0);
    const bool all = n <= 4 * known;
    const int64_t width = all ? n : known;
    TreeProblem problem{rows.data(), n, d, most, all, {}, std::vector<int64_t>(known), std::vector<double>(width * d)};
    std::iota(problem.given.begin(), problem.given.end(), 0);
    std::stable_sort(problem.given.begin(), problem.given.end(),
                     [&](int64_t a, int64_t b) { return home.data()[a] < home.data()[b]; });
    for (const int64_t i : problem.given)
        problem.items.push_back({static_cast<int32_t>(all ? items.data()[i] : i), static_cast<int32_t>(home.data()[i]), 1});
    constexpr int64_t band = 64;  // rows that are transposed together
    for (int64_t begin = 0; begin < width; begin += band)
        for (int64_t a = 0; a < d; ++a)
            for (int64_t i = begin; i < std::min(width, begin + band); ++i)
                problem.columns[a * width + i] = rows.data()[(all ? i : items.data()[i]) * d + a];
    return problem;
}

void check_known(const Matrix<double>& rows, const Vector<int64_t>& items, const Vector<int64_t>& home, int64_t most) {
    const int64_t n = rows.shape(0), d = rows.shape(1), known = items.shape(0);
    check_rows("rows", rows);
    check_shape("items", items, kPositive);
    check_shape("home", home, known);
    check_range("items", items, 0, n - 1);
    check_range("home", home, 0, known - 1);
    check_between("max_features", most, 1, d);
}

// Trees that begin with these seeds; `weights` holds known values for each, or is null.
Output<int32_t> grow_trees(const Matrix<double>& rows, const Vector<int64_t>& items, const Vector<int64_t>& home,
                           const int32_t* weights, const std::vector<uint64_t>& seeds, int64_t most, int threads) {
    const int64_t n = rows.shape(0), known = items.shape(0), n_trees = static_cast<int64_t>(seeds.size());
    Result<int32_t> leaves(n * n_trees);
    {
        GilRelease release;
        const TreeProblem problem = make_tree_problem(rows, items, home, most);
        std::vector<int32_t> by_tree(n_trees * n);
        Crew crew(std::min(n_trees, static_cast<int64_t>(useful_threads(threads, 8 * n_trees * (n + known * most)))));
        std::vector<std::unique_ptr<RandomTree>> trees(crew.size());
        crew.run(n_trees, [&](int64_t t, int thread) {
            if (!trees[thread]) trees[thread] = std::make_unique<RandomTree>(problem);
            trees[thread]->grow(seeds[t], weights ? weights + t * known : nullptr, by_tree.data() + t * n);
        });
        for (int64_t i = 0; i < n; ++i)
            for (int64_t t = 0; t < n_trees; ++t) leaves.get()[i * n_trees + t] = by_tree[t * n + i];
    }
    return leaves.release({static_cast<size_t>(n), static_cast<size_t>(n_trees)});
}

Output<int32_t> random_trees(Matrix<double> rows, Vector<int64_t> items, Vector<int64_t> home, int64_t n_trees,
                             uint64_t seed, int64_t most, int threads) {
    check_known(rows, items, home, most);
    std::vector<uint64_t> seeds(n_trees);
    SplitMix64 stream{seed};
    for (uint64_t& own : seeds) own = stream.word();
    return grow_trees(rows, items, home, nullptr, seeds, most, threads);
}

Output<int32_t> weighted_trees(Matrix<double> rows, Vector<int64_t> items, Vector<int64_t> home,
                               Matrix<int32_t> weights, Vector<uint64_t> given, int64_t most, int threads) {
    check_known(rows, items, home, most);
    const int64_t known = items.shape(0), n_trees = weights.shape(0);
    check_shape("weights", weights, kPositive, known);
    check_shape("seeds", given, n_trees);
    for (int64_t t = 0; t < n_trees; ++t) {
        const auto [least, largest] = std::minmax_element(weights.data() + t * known, weights.data() + (t + 1) * known);
        if (*least < 0 || *largest < 1)
            refuse("weights must not be negative, and in each tree one must be at least 1.");
    }
    std::vector<uint64_t> seeds;
    for (size_t t = 0; t < given.shape(0); ++t) seeds.push_back(SplitMix64{given.data()[t]}.word());
    return grow_trees(rows, items, home, weights.data(), seeds, most, threads);
}

// How often each row shares a leaf with the members of each group.
Output<int64_t> count_leaf_mates(Matrix<int32_t> leaves, Vector<int64_t> rows, Vector<int64_t> members,
                                 Vector<int64_t> group, int64_t groups) {
    const int64_t trees = leaves.shape(1), asked = rows.shape(0), m = members.shape(0), n = leaves.shape(0);
    check_rows("leaves", leaves);
    check_range("leaves", leaves, 0, std::numeric_limits<int32_t>::max());
    check_shape("rows", rows, kPositive);
    check_shape("members", members, kPositive);
    check_shape("group", group, m);
    check_range("rows", rows, 0, n - 1);
    check_range("members", members, 0, n - 1);
    check_range("group", group, 0, groups - 1);
    Result<int64_t> found(asked * groups);
    {
        GilRelease release;
        std::fill_n(found.get(), asked * groups, 0);
        std::vector<int64_t> there;  // leaves of the tree x groups
        for (int64_t t = 0; t < trees; ++t) {
            int32_t most = 0;
            for (size_t i = 0; i < leaves.shape(0); ++i) most = std::max(most, leaves.data()[i * trees + t]);
            there.assign((static_cast<int64_t>(most) + 1) * groups, 0);
            for (int64_t i = 0; i < m; ++i)
                ++there[leaves.data()[members.data()[i] * trees + t] * groups + group.data()[i]];
            for (int64_t i = 0; i < asked; ++i) {
                const int64_t* mates = &there[leaves.data()[rows.data()[i] * trees + t] * groups];
                for (int64_t g = 0; g < groups; ++g) found.get()[i * groups + g] += mates[g];
            }
        }
    }
    return found.release({static_cast<size_t>(asked), static_cast<size_t>(groups)});
}

}  // namespace

void register_forest(nb::module_& m) {
    define(m, "random_trees", random_trees,
           R"(Grow extremely randomised trees on some rows, and find the leaf of every row: (n, n_trees).

A node is split if its items are of several classes and differ in some feature. Features are drawn without
replacement until max_features in which its items differ were tried, each with one threshold, uniform between its
least and its largest value there. The split of least Gini impurity is used, of equals the first. Every item counts
once. scikit-learn's ExtraTrees do the same, except that features in which all items are equal count as tried.
items, (l,), are the rows (n, d) that the trees learn from; home, (l,), their classes, 0 to l - 1. Leaves are 0, 1,
... from left to right. Time, for a tree, O(n + l sqrt(d)) times its mean depth.

Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, sections 2 and 3.)",
           nb::arg("rows"), nb::arg("items"), nb::arg("home"), count("n_trees"), nb::arg("seed"),
           nb::arg("max_features"), count("n_threads"));
    define(m, "weighted_trees", weighted_trees,
           R"(Grow trees as random_trees does, each with weights of its own, (n_trees, l), for the items.

A weight says how often an item counts; in each tree one counts at least once. seeds, (n_trees,), are those of the
trees, of which each is the first tree of a forest with this seed.)",
           nb::arg("rows"), nb::arg("items"), nb::arg("home"), nb::arg("weights"), nb::arg("seeds"),
           nb::arg("max_features"), count("n_threads"));
    define(m, "count_leaf_mates", count_leaf_mates,
           R"(Count, for rows, (r,), and groups of rows, the leaves that a row shares with the members: (r, n_groups).

leaves, (n, n_trees), are not negative; members, (m,), are the rows of all groups, and group, (m,), their groups.
Counts are added over the trees.)",
           nb::arg("leaves"), nb::arg("rows"), nb::arg("members"), nb::arg("group"), count("n_groups"));
}

}  // namespace linkwise
