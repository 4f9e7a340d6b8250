// The two rows that are farthest apart, under each of several diagonal metrics: exact, and seldom by all pairs.
//
// The distance between two rows is at most the sum of their distances to a third point, here the mean. Two scans find a
// distance that the farthest pair has at least, and pairs that cannot reach it are left out. The rows are in the order
// of their distances to the mean, so a row is compared with few tiles, and most rows with none.
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

inline constexpr double kRounded = 1 - 1e-9;  // more than rounding takes from a distance
inline constexpr double kPrecise = 1e-290;    // least square of which this is true

// The distance that another pair must have to be as far apart as a pair with this squared distance, less rounding.
double to_bound(double square) { return square < kPrecise ? 0 : std::sqrt(square) * kRounded; }

// Squared distances from x to the rows of some tiles.
LINKWISE_SIMD void fill_tiles(const TileRow* columns, int64_t n_tiles, int64_t d, const double* x, TileRow* squares) {
    for (int64_t t = 0; t < n_tiles; ++t) add_squares(columns + t * d, d, x, false, squares[t].lanes);
}

class Search {
   public:
    Search(const double* X, int64_t n, int64_t d)
        : X_(X), n_(n), d_(d), n_tiles_((n + kTile - 1) / kTile), rows_(n * d), mean_(d), at_(d), radius_(n),
          columns_(n_tiles_ * d), squares_(n_tiles_) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t a = 0; a < d; ++a) mean_[a] += X[i * d + a] / static_cast<double>(n);
    }

    // The first of the pairs that are farthest apart where feature a counts scale[a] times.
    void find(const double* scale, int64_t* pair) {
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t a = 0; a < d_; ++a) rows_[i * d_ + a] = X_[i * d_ + a] * scale[a];
        order_.resize(n_);
        std::iota(order_.begin(), order_.end(), 0);
        fill_columns();
        double bound = sort_rows(scale);
        fill_columns();
        best_ = -1, pair_[0] = pair_[1] = 0;
        const int64_t m = static_cast<int64_t>(order_.size());
        for (int64_t i = 0; i < m && !(2 * radius_[order_[i]] < bound); ++i)
            bound = std::max(bound, to_bound(compare(i, bound)));
        std::copy_n(pair_, 2, pair);
    }

   private:
    const double* X_;
    int64_t n_, d_, n_tiles_;
    std::vector<double> rows_, mean_, at_, radius_;  // rows under the metric
    std::vector<int64_t> order_;
    std::vector<TileRow> columns_, squares_;
    double best_ = -1;
    int64_t pair_[2] = {};

    // Transposes the rows of the order; the last tile is filled with its last row.
    void fill_columns() {
        const int64_t m = static_cast<int64_t>(order_.size());
        for (int64_t s = 0; s < m; s += kTile)
            for (int64_t j = 0; j < kTile; ++j) {
                const double* row = &rows_[order_[std::min(s + j, m - 1)] * d_];
                for (int64_t a = 0; a < d_; ++a) columns_[s / kTile * d_ + a].value[j] = row[a];
            }
    }

    double square(int64_t i) const { return squares_[i / kTile].value[i % kTile]; }

    int64_t farthest_from(const double* x) {
        fill_tiles(columns_.data(), n_tiles_, d_, x, squares_.data());
        int64_t found = 0;
        for (int64_t i = 1; i < n_; ++i)
            if (square(i) > square(found)) found = i;
        return found;
    }

    // Orders the rows that may be in the pair by their distances to the mean, the largest first; returns the bound
    // that pairs have to reach.
    double sort_rows(const double* scale) {
        for (int64_t a = 0; a < d_; ++a) at_[a] = mean_[a] * scale[a];
        int64_t row = farthest_from(at_.data());
        for (int64_t i = 0; i < n_; ++i) {
            radius_[i] = std::sqrt(square(i));
            if (std::isnan(radius_[i])) radius_[i] = std::numeric_limits<double>::infinity();
        }
        const double largest = *std::max_element(radius_.begin(), radius_.end());
        double least = 0;
        for (int scan = 0; scan < 2; ++scan) {
            row = farthest_from(&rows_[row * d_]);
            if (square(row) > least) least = square(row);
        }
        const double bound = to_bound(least);
        std::erase_if(order_, [&](int64_t i) { return radius_[i] + largest < bound; });
        std::sort(order_.begin(), order_.end(), [&](int64_t i, int64_t j) {
            return radius_[i] > radius_[j] || (radius_[i] == radius_[j] && i < j);
        });
        return bound;
    }

    // Compares a row of the order with those after it that may be `bound` away; returns the largest square so far.
    double compare(int64_t i, double bound) {
        const int64_t m = static_cast<int64_t>(order_.size()), first = i / kTile, one = order_[i];
        int64_t end = first + 1;
        while (end * kTile < m && !(radius_[one] + radius_[order_[end * kTile]] < bound)) ++end;
        fill_tiles(&columns_[first * d_], end - first, d_, &rows_[one * d_], squares_.data());
        for (int64_t j = first * kTile; j < std::min(end * kTile, m); ++j) {
            const double apart = square(j - first * kTile);
            if (!(apart >= best_)) continue;
            const auto [low, high] = std::minmax(one, order_[j]);
            if (apart > best_ || low < pair_[0] || (low == pair_[0] && high < pair_[1]))
                best_ = apart, pair_[0] = low, pair_[1] = high;
        }
        return best_;
    }
};

Output<int64_t> farthest_pairs(Matrix<double> X, Matrix<double> scales) {
    const int64_t g = scales.shape(0), d = X.shape(1);
    check_rows("X", X);
    check_shape("scales", scales, kPositive, d);
    Result<int64_t> pairs(2 * g);
    {
        GilRelease release;
        Search search(X.data(), X.shape(0), d);
        for (int64_t h = 0; h < g; ++h) search.find(scales.data() + h * d, pairs.get() + 2 * h);
    }
    return pairs.release({static_cast<size_t>(g), 2});
}

}  // namespace

void register_farthest(nb::module_& m) {
    define(m, "farthest_pairs", farthest_pairs,
           R"(Find the two rows that are farthest apart under each of g diagonal metrics, on one thread: (g, 2).

scales, (g, d), multiply the features. The lower row comes first; of equal distances, which are those of
squared_distances, the first pair counts. If all rows are equal, the first is paired with itself.)",
           nb::arg("X"), nb::arg("scales"));
}

}  // namespace linkwise
