// Extremely randomised trees (Geurts, Ernst and Wehenkel 2006).
//
// No tree is kept: when a node is split, the rows that came to it are parted at once with the items that it
// learns from. What one tree draws comes from a stream of its own, in the order of its nodes, left before
// right, so that the number of threads changes nothing.
#include <numeric>
#include <vector>

#include "kernels.hpp"
#include "random.hpp"

namespace linkwise {

namespace {

struct KnownItem {
    int32_t place, home;  // place: in the columns
};

struct TreeProblem {
    const double* rows;           // n x d
    int64_t n, d, most;           // most: features that are tried at a node
    std::vector<KnownItem> items;      // l
    std::vector<double> columns;  // d x l, features of the items

    int64_t known() const { return static_cast<int64_t>(items.size()); }
    const double* column(int64_t feature) const { return columns.data() + feature * known(); }
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

class RandomTree {
   public:
    explicit RandomTree(const TreeProblem& p)
        : p_(p), rows_(p.n), row_scratch_(p.n), item_scratch_(p.items.size()), features_(p.d),
          values_(p.items.size()), total_(p.items.size()), left_(p.items.size()) {}

    // leaves: n
    void grow(uint64_t seed, int32_t* leaves) {
        random_ = {seed};
        items_ = p_.items;
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
            const double *feature = p_.rows + split.feature, *column = p_.column(split.feature);
            const double threshold = split.threshold;
            const int64_t d = p_.d;
            const int64_t row = part(rows_.data(), node.row, node.row_end, row_scratch_.data(),
                                     [=](int32_t i) { return feature[i * d] <= threshold; });
            const int64_t item = part(items_.data(), node.item, node.item_end, item_scratch_.data(),
                                      [=](const KnownItem& i) { return column[i.place] <= threshold; });
            open_.push_back({row, node.row_end, item, node.item_end, node.constant});
            open_.push_back({node.row, row, node.item, item, node.constant});
        }
    }

   private:
    // The best of the splits that are drawn; none where the items are of one class or do not differ.
    DrawnSplit best_split(OpenNode& node) {
        DrawnSplit best;
        if (!count_classes(node)) return best;
        int64_t last = p_.d;  // features from here on were tried
        for (int64_t tried = 0; tried < p_.most && node.constant < last;) {
            const int64_t at =
                node.constant + static_cast<int64_t>(random_.uniform() * static_cast<double>(last - node.constant));
            const int32_t feature = features_[at];
            double low, high;
            if (!range(node, feature, low, high)) {
                std::swap(features_[at], features_[node.constant++]);
                continue;
            }
            std::swap(features_[at], features_[--last]);
            ++tried;
            double threshold = low + random_.uniform() * (high - low);
            if (!(threshold < high)) threshold = low;  // rounded up, or beyond all numbers
            const double score = score_of(node, threshold);
            if (score > best.score) best = {feature, threshold, score};
        }
        for (int32_t home : homes_) total_[home] = 0;
        return best;
    }

    // Whether the items of a node are of several classes; then total_ holds their numbers.
    bool count_classes(const OpenNode& node) {
        homes_.clear();
        for (int64_t i = node.item; i < node.item_end; ++i)
            if (total_[items_[i].home]++ == 0) homes_.push_back(items_[i].home);
        if (homes_.size() > 1) return true;
        total_[homes_[0]] = 0;
        return false;
    }

    // Takes the values of a feature; false: all are equal.
    bool range(const OpenNode& node, int64_t feature, double& low, double& high) {
        const double* column = p_.column(feature);
        const int64_t size = node.item_end - node.item;
        const KnownItem* items = items_.data() + node.item;
        low = high = column[items[0].place];
        for (int64_t i = 0; i < size; ++i) {
            const double value = values_[i] = column[items[i].place];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        return low < high;
    }

    // Sum over both sides of the squared class counts over the size: the more, the less Gini impurity is left.
    double score_of(const OpenNode& node, double threshold) {
        const int64_t size = node.item_end - node.item;
        const KnownItem* items = items_.data() + node.item;
        for (int32_t home : homes_) left_[home] = 0;
        int64_t on_left = 0, square_left = 0, square_right = 0;
        for (int64_t i = 0; i < size; ++i) {
            const bool goes_left = values_[i] <= threshold;
            left_[items[i].home] += goes_left;
            on_left += goes_left;
        }
        for (int32_t home : homes_) {
            const int64_t one = left_[home], other = total_[home] - one;
            square_left += one * one;
            square_right += other * other;
        }
        return static_cast<double>(square_left) / static_cast<double>(on_left) +
               static_cast<double>(square_right) / static_cast<double>(size - on_left);
    }

    const TreeProblem& p_;
    SplitMix64 random_{0};
    std::vector<KnownItem> items_;  // node by node, as the rows are
    std::vector<int32_t> rows_, row_scratch_;
    std::vector<KnownItem> item_scratch_;
    std::vector<int32_t> features_;
    std::vector<double> values_;         // of the feature that is tried
    std::vector<int32_t> homes_;         // classes of the node
    std::vector<int64_t> total_, left_;  // items by class; total_ is 0 between nodes
    std::vector<OpenNode> open_;
};

nb::ndarray<nb::numpy, int32_t> random_trees(Matrix<double> rows, Vector<int64_t> items, Vector<int64_t> home,
                                             int64_t n_trees, uint64_t seed, int64_t most, int threads) {
    const int64_t n = rows.shape(0), d = rows.shape(1), known = items.shape(0);
    Result<int32_t> leaves(n * n_trees);
    {
        nb::gil_scoped_release release;
        TreeProblem problem{rows.data(), n, d, most, {}, std::vector<double>(known * d)};
        for (int64_t i = 0; i < known; ++i) {
            problem.items.push_back({static_cast<int32_t>(i), static_cast<int32_t>(home.data()[i])});
            const double* row = rows.data() + items.data()[i] * d;
            for (int64_t a = 0; a < d; ++a) problem.columns[a * known + i] = row[a];
        }
        std::vector<uint64_t> seeds(n_trees);
        SplitMix64 stream{seed};
        for (uint64_t& own : seeds) own = stream.word();
        std::vector<int32_t> by_tree(n_trees * n);
        Crew crew(std::min(n_trees, static_cast<int64_t>(useful_threads(threads, 8 * n_trees * (n + known * most)))));
        std::vector<std::unique_ptr<RandomTree>> trees(crew.size());
        crew.run(n_trees, [&](int64_t t, int thread) {
            if (!trees[thread]) trees[thread] = std::make_unique<RandomTree>(problem);
            trees[thread]->grow(seeds[t], by_tree.data() + t * n);
        });
        for (int64_t i = 0; i < n; ++i)
            for (int64_t t = 0; t < n_trees; ++t) leaves.get()[i * n_trees + t] = by_tree[t * n + i];
    }
    return leaves.release({static_cast<size_t>(n), static_cast<size_t>(n_trees)});
}

}  // namespace

void register_forest(nb::module_& m) {
    m.def("random_trees", &random_trees, nb::arg("rows").noconvert(), nb::arg("items").noconvert(),
          nb::arg("home").noconvert(), nb::arg("n_trees"), nb::arg("seed"), nb::arg("max_features"),
          nb::arg("n_threads"));
}

}  // namespace linkwise
