// A tree of boxes around rows, for searches among near rows (Bentley 1975, k-d trees).
//
// Rows are cut across their widest feature, so that eight that follow each other are near, and eight of these blocks,
// and so on. Node i of level l holds the positions i 8^(l+1) to (i + 1) 8^(l+1), so that nothing points to anything.
// Boxes lie lane by lane, as rows do, so that one sweep measures the eight children of a node. The distance to a box is
// summed as that to a row, feature by feature, so even rounded it is never larger than that to a row within.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

class RowTree {
   public:
    static constexpr double kNowhere = std::numeric_limits<double>::infinity();

    // Boxes of one level, eight beside each other: lower and upper bounds of feature a of node i are
    // lower[(i / 8) * d + a][i % 8] and upper[...].
    struct Level {
        int64_t count;
        std::vector<TileRow> lower, upper;
    };

    const int64_t n, d;
    std::vector<int32_t> row;    // (n) the row at each position
    std::vector<TileRow> store;  // rows by position, as the boxes; infinite beyond the end
    std::vector<Level> levels;   // level 0: blocks of eight rows

    // `wanted`: which rows of X, each at most once.
    template <typename T>
    RowTree(const T* X, const std::vector<int64_t>& wanted, int64_t features)
        : n(static_cast<int64_t>(wanted.size())), d(features), row(n) {
        for (int64_t i = 0; i < n; ++i) row[i] = static_cast<int32_t>(i);
        int64_t capacity = 8;
        while (capacity < n) capacity *= 8;
        std::vector<std::pair<double, int32_t>> keys(n);
        arrange(0, n, capacity, keys, [&](int32_t i, int64_t a) { return static_cast<double>(X[wanted[i] * d + a]); });
        store = make_lanes(n, kNowhere);
        for (int64_t at = 0; at < n; ++at)
            for (int64_t a = 0; a < d; ++a) value(store, at, a) = static_cast<double>(X[wanted[row[at]] * d + a]);
        enclose();
    }

    const Lanes* block(int64_t b) const { return store[0].lanes + b * d; }
    void take(int64_t at, double* x) const {
        for (int64_t a = 0; a < d; ++a) x[a] = value(store, at, a);
    }

   private:
    std::vector<TileRow> make_lanes(int64_t count, double fill) const {
        std::vector<TileRow> lanes(((count + 7) / 8 * d + 3) / 4);
        std::fill_n(lanes[0].value, lanes.size() * kTile, fill);
        return lanes;
    }
    double& value(std::vector<TileRow>& lanes, int64_t i, int64_t a) const {
        return lanes[0].value[((i / 8) * d + a) * 8 + i % 8];
    }
    double value(const std::vector<TileRow>& lanes, int64_t i, int64_t a) const {
        return lanes[0].value[((i / 8) * d + a) * 8 + i % 8];
    }

    // Halves the rows until each node holds its own; equal values go by the rows.
    template <typename Value>
    void arrange(int64_t begin, int64_t end, int64_t capacity, std::vector<std::pair<double, int32_t>>& keys,
                 const Value& at) {
        while (capacity > 8 && end - begin <= capacity / 8) capacity /= 8;
        if (capacity <= 8) return;
        const int64_t part = capacity / 8, parts = (end - begin + part - 1) / part;
        const int64_t middle = begin + parts / 2 * part;
        int64_t widest = 0;
        double most = -1;
        for (int64_t a = 0; a < d; ++a) {
            double low = kNowhere, high = -kNowhere;
            for (int64_t i = begin; i < end; ++i) {
                const double v = at(row[i], a);
                low = std::min(low, v), high = std::max(high, v);
            }
            if (high - low > most) most = high - low, widest = a;
        }
        for (int64_t i = begin; i < end; ++i) keys[i] = {at(row[i], widest), row[i]};
        std::nth_element(keys.begin() + begin, keys.begin() + middle, keys.begin() + end);
        for (int64_t i = begin; i < end; ++i) row[i] = keys[i].second;
        arrange(begin, middle, capacity, keys, at);
        arrange(middle, end, capacity, keys, at);
    }

    void enclose() {
        for (int64_t count = n, width = 8; count > 1 || levels.empty(); width *= 8) {
            count = (n + width - 1) / width;
            Level level{count, make_lanes(count, kNowhere), make_lanes(count, -kNowhere)};
            const Level* below = levels.empty() ? nullptr : &levels.back();
            const int64_t inner = below ? below->count : n;
            for (int64_t i = 0; i < inner; ++i)
                for (int64_t a = 0; a < d; ++a) {
                    double& low = value(level.lower, i / 8, a);
                    double& high = value(level.upper, i / 8, a);
                    low = std::min(low, below ? value(below->lower, i, a) : value(store, i, a));
                    high = std::max(high, below ? value(below->upper, i, a) : value(store, i, a));
                }
            levels.push_back(std::move(level));
        }
    }
};

// A node that a search has yet to look at.
struct Pending {
    double away;
    int64_t level, node;
};

// Squared distances from x to the eight boxes of group g.
LINKWISE_INLINE Lanes box_squares(const RowTree::Level& level, int64_t g, const double* x, int64_t d) {
    const Lanes* lower = level.lower[0].lanes + g * d;
    const Lanes* upper = level.upper[0].lanes + g * d;
    Lanes sum{};
    for (int64_t a = 0; a < d; ++a) {
        const Lanes under = lower[a] - x[a], over = x[a] - upper[a];
        Lanes out = under > over ? under : over;
        out = out > 0.0 ? out : Lanes{};
        sum += out * out;
    }
    return sum;
}

LINKWISE_INLINE bool any_lane(const LaneLabels& mask) {
    int64_t any = 0;
    for (int64_t j = 0; j < 8; ++j) any |= mask[j];
    return any != 0;
}

// Depth first, the nearest child first. `seen.bound()`: beyond it nothing is looked at. `seen.raise(away, level, g)`
// raises the distances of the eight children of g, or makes them infinite, and `seen.block(squares, b)` takes rows.
template <typename Seen>
LINKWISE_INLINE void search_tree(const RowTree& tree, const double* x, Seen& seen) {
    Pending open[8 * 12 + 1];
    int64_t left = 0;
    open[left++] = {0.0, static_cast<int64_t>(tree.levels.size()) - 1, 0};  // group 0 of the last level: the root
    while (left > 0) {
        const Pending now = open[--left];
        if (now.away > seen.bound()) continue;
        if (now.level < 0) {
            seen.block(block_squares(tree.block(now.node), x, tree.d), now.node);
            continue;
        }
        const RowTree::Level& level = tree.levels[now.level];
        Lanes away = box_squares(level, now.node, x, tree.d);
        seen.raise(away, now.level, now.node);
        const double bound = seen.bound();
        const int64_t begin = left;
        if (!any_lane(away <= bound)) continue;
        for (int64_t j = 0; j < 8; ++j) {
            if (!(away[j] <= bound) || now.node * 8 + j >= level.count) continue;
            const Pending next{away[j], now.level - 1, now.node * 8 + j};
            int64_t at = left++;
            for (; at > begin && open[at - 1].away < next.away; --at) open[at] = open[at - 1];
            open[at] = next;
        }
    }
}

}  // namespace linkwise
