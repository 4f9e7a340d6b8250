// Lloyd's iteration from one given start, for any number of clusters (Lloyd 1982).
//
// A row is looked at again only if it may have changed sides: `gap` keeps by how much its second
// nearest centre is farther than its nearest, and centres that have moved less than that since then
// cannot have changed its label (Hamerly 2010, with one drift per cluster in place of two bounds
// per row). The bounds carry a margin far above all rounding, so labels are those of the full search.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

// Relative margin of the bounds: far above rounding in float32 (6e-8), in which gaps are kept.
inline constexpr double kMargin = 1e-6;

// A gap as it is kept: rounded down, so that a bound is never too good; 0, which is never trusted, where
// float32 cannot hold it to within the margin.
LINKWISE_INLINE float as_float(double gap) {
    using Float = std::numeric_limits<float>;
    return gap >= Float::min() && gap <= Float::max() ? static_cast<float>(gap * (1.0 - 2e-7)) : 0.0f;
}

// One chunk of rows in one assignment; sums and counts belong to the chunk and follow the labels.
template <typename T, typename L>
struct Assignment {
    const T* X;  // first row of the chunk
    const TileRow* columns;  // of the chunk, transposed; null: not there
    const int64_t* weight;  // of its rows; null: 1 each
    int64_t rows, d, k;
    const double* centers;
    const double* drift;  // how far, in all, a cluster's rows may have come nearer to another centre
    bool first;           // no labels, gaps or sums yet
    L* labels;
    float* gap;
    double* sums;      // k x d
    int64_t* counts;   // k
    TileRow* squares;  // scratch, k
    int64_t changed;   // out: rows whose label is new
};

template <typename T>
LINKWISE_INLINE void add_row(double* sum, const T* x, int64_t d, int64_t weight) {
    const double w = static_cast<double>(weight);
    for (int64_t a = 0; a < d; ++a) sum[a] += w * static_cast<double>(x[a]);
}

template <typename T>
LINKWISE_INLINE void subtract_row(double* sum, const T* x, int64_t d, int64_t weight) {
    const double w = static_cast<double>(weight);
    for (int64_t a = 0; a < d; ++a) sum[a] -= w * static_cast<double>(x[a]);
}

LINKWISE_INLINE int64_t weight_of(const int64_t* weight, int64_t i) { return weight ? weight[i] : 1; }

// The rows of the chunk whose label may have changed; returns how many.
template <typename T, typename L>
LINKWISE_INLINE int64_t doubtful_rows(const Assignment<T, L>& t, int32_t* rows) {
    int64_t m = 0;
    for (int64_t i = 0; i < t.rows; ++i) {
        rows[m] = static_cast<int32_t>(i);
        m += t.first || !(static_cast<double>(t.gap[i]) > t.drift[t.labels[i]]);
    }
    return m;
}

// Nearest centre of each row of a tile (ties to the lower index) and the gap to the second nearest.
LINKWISE_INLINE void tile_nearest(const TileRow* squares, int64_t k, int64_t* label, double* gap) {
    for (int64_t v = 0; v < kTile / 8; ++v) {
        Lanes best = squares[0].lanes[v];
        Lanes second = Lanes{} + std::numeric_limits<double>::infinity();
        LaneLabels which{};
        for (int64_t c = 1; c < k; ++c) {
            const Lanes s = squares[c].lanes[v];
            const LaneLabels nearer = s < best;
            second = nearer ? best : smaller(s, second);
            which = nearer ? LaneLabels{} + c : which;
            best = nearer ? s : best;
        }
        for (int64_t j = 0; j < 8; ++j) {
            const double near = std::sqrt(best[j]), far = std::sqrt(second[j]);
            gap[8 * v + j] = (far - near) - kMargin * (far + near);
            label[8 * v + j] = which[j];
        }
    }
}

template <typename T, typename L>
LINKWISE_INLINE void assign(Assignment<T, L>& t) {
    int32_t rows[kChunk + kTile];
    TileRow scratch[kFeatures];
    alignas(64) int64_t label[kTile];
    alignas(64) double gap[kTile];
    const int64_t m = doubtful_rows(t, rows);
    for (int64_t j = m; m > 0 && j < m + kTile; ++j) rows[j] = rows[m - 1];  // fills the last tile
    t.changed = 0;
    for (int64_t s = 0; s < m; s += kTile) {
        if (t.columns && m == t.rows)
            column_distances(t.columns + s / kTile * t.d, t.d, t.centers, t.k, t.squares);
        else
            tile_distances(t.X, t.d, rows + s, t.centers, t.k, scratch, t.squares);
        tile_nearest(t.squares, t.k, label, gap);
        for (int64_t j = 0; j < std::min(kTile, m - s); ++j) {
            const int64_t i = rows[s + j], now = label[j], weight = weight_of(t.weight, i);
            t.gap[i] = as_float(gap[j] + t.drift[now]);
            if (!t.first) {
                const int64_t before = t.labels[i];
                if (before == now) continue;
                t.counts[before] -= weight;
                subtract_row(t.sums + before * t.d, t.X + i * t.d, t.d, weight);
            }
            t.labels[i] = static_cast<L>(now);
            t.counts[now] += weight;
            add_row(t.sums + now * t.d, t.X + i * t.d, t.d, weight);
            t.changed++;
        }
    }
}

// Squared distances of the rows of a chunk to the centres of their labels.
template <typename T, typename L>
struct Inertia {
    const T* X;
    const int64_t* weight;
    int64_t rows, d;
    const double* centers;
    const L* labels;
};

template <typename T, typename L>
LINKWISE_INLINE double inertia(const Inertia<T, L>& t) {
    double sum = 0;
    for (int64_t i = 0; i < t.rows; ++i)
        sum += static_cast<double>(weight_of(t.weight, i)) *
               row_distance(t.X + i * t.d, t.centers + static_cast<int64_t>(t.labels[i]) * t.d, t.d);
    return sum;
}

// Both for each type, compiled for each instruction set (lloyd.cpp, two_means.cpp).
void assign_chunk(Assignment<float, int32_t>& t);
void assign_chunk(Assignment<double, int32_t>& t);
void assign_chunk(Assignment<float, uint8_t>& t);
void assign_chunk(Assignment<double, uint8_t>& t);
double inertia_chunk(const Inertia<float, int32_t>& t);
double inertia_chunk(const Inertia<double, int32_t>& t);
double inertia_chunk(const Inertia<float, uint8_t>& t);
double inertia_chunk(const Inertia<double, uint8_t>& t);

// Memory of one run, to be used again by the next.
template <typename T, typename L>
class Lloyd {
   public:
    Lloyd(const T* X, const Tiles& tiles, const int64_t* weight, int64_t n, int64_t d, int64_t k, Crew& crew)
        : X_(X), tiles_(tiles), weight_(weight), n_(n), d_(d), k_(k), chunks_(chunk_count(n)), crew_(crew),
          gap_(new float[static_cast<size_t>(n)]),
          chunk_sums_(chunks_ * k * d), chunk_counts_(chunks_ * k), chunk_out_(chunks_),
          sums_(k * d), counts_(k), drift_(k), moved_(k), squares_(crew.size() * k) {}

    // Labels and centers are filled; centers hold the start on entry. Returns iterations, as
    // scikit-learn counts them: the one that finds labels unchanged counts, the last assignment
    // after a stop by tolerance does not.
    int run(double* centers, L* labels, int max_iter, double tol) {
        std::fill(drift_.begin(), drift_.end(), 0.0);
        std::fill(chunk_sums_.begin(), chunk_sums_.end(), 0.0);
        std::fill(chunk_counts_.begin(), chunk_counts_.end(), 0);
        for (int it = 1; it <= max_iter; ++it) {
            const int64_t changed = assign_all(centers, labels, it == 1);
            total();
            if (changed > 0) fill_empty(centers, labels);
            const double shift = move(centers);
            if (changed == 0) return it;
            if (shift <= tol || it == max_iter) {
                assign_all(centers, labels, false);
                return it;
            }
        }
        return max_iter;
    }

    // Sum of squared distances of the rows to the centre of their label.
    double inertia(const double* centers, const L* labels) {
        crew_.run(chunks_, [&](int64_t c, int) {
            const int64_t start = c * kChunk;
            chunk_out_[c] = inertia_chunk(Inertia<T, L>{X_ + start * d_, weights_from(start),
                                                        std::min(kChunk, n_ - start), d_, centers,
                                                        labels + start});
        });
        double sum = 0;
        for (double s : chunk_out_) sum += s;
        return sum;
    }

   private:
    const int64_t* weights_from(int64_t row) const { return weight_ ? weight_ + row : nullptr; }

    int64_t assign_all(const double* centers, L* labels, bool first) {
        crew_.run(chunks_, [&](int64_t c, int thread) {
            const int64_t start = c * kChunk;
            Assignment<T, L> t{X_ + start * d_, tiles_.from(start, d_), weights_from(start), std::min(kChunk, n_ - start), d_, k_,
                               centers, drift_.data(), first, labels + start, gap_.get() + start,
                               &chunk_sums_[c * k_ * d_], &chunk_counts_[c * k_],
                               &squares_[thread * k_], 0};
            assign_chunk(t);
            chunk_out_[c] = static_cast<double>(t.changed);
        });
        double changed = 0;
        for (double s : chunk_out_) changed += s;
        return static_cast<int64_t>(changed);
    }

    void total() {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(counts_.begin(), counts_.end(), 0);
        for (int64_t c = 0; c < chunks_; ++c) {
            for (int64_t j = 0; j < k_ * d_; ++j) sums_[j] += chunk_sums_[c * k_ * d_ + j];
            for (int64_t j = 0; j < k_; ++j) counts_[j] += chunk_counts_[c * k_ + j];
        }
    }

    // An empty cluster gets the row farthest from its centre, taken from a cluster that keeps
    // another; where every such row lies on its centre the cluster stays empty.
    void fill_empty(const double* centers, const L* labels) {
        if (std::find(counts_.begin(), counts_.end(), 0) == counts_.end()) return;
        std::vector<double> square(static_cast<size_t>(n_));
        for (int64_t i = 0; i < n_; ++i)
            square[i] = row_distance(X_ + i * d_, centers + static_cast<int64_t>(labels[i]) * d_, d_);
        for (int64_t c = 0; c < k_; ++c) {
            if (counts_[c] > 0) continue;
            int64_t far = -1;
            for (int64_t i = 0; i < n_; ++i)
                if (counts_[labels[i]] > weight_of(weight_, i) && square[i] > (far < 0 ? 0.0 : square[far])) far = i;
            if (far < 0) return;
            const int64_t donor = labels[far];
            const int64_t weight = weight_of(weight_, far);
            subtract_row(&sums_[donor * d_], X_ + far * d_, d_, weight);
            counts_[donor] -= weight;
            std::fill_n(&sums_[c * d_], d_, 0.0);
            add_row(&sums_[c * d_], X_ + far * d_, d_, weight);
            counts_[c] = weight;
            square[far] = 0;
        }
    }

    // Centres go to their means (that of an empty cluster stays); returns the squared shift.
    double move(double* centers) {
        double shift = 0;
        for (int64_t c = 0; c < k_; ++c) {
            double square = 0;
            for (int64_t a = 0; a < d_ && counts_[c] > 0; ++a) {
                const double mean = sums_[c * d_ + a] / static_cast<double>(counts_[c]);
                const double q = mean - centers[c * d_ + a];
                square += q * q;
                centers[c * d_ + a] = mean;
            }
            shift += square;
            moved_[c] = std::sqrt(square);
        }
        widen();
        return shift;
    }

    // Rows of cluster c lose at most its own move and the largest move of another centre.
    void widen() {
        for (int64_t c = 0; c < k_; ++c) {
            double other = 0;
            for (int64_t o = 0; o < k_; ++o)
                if (o != c) other = std::max(other, moved_[o]);
            drift_[c] += (moved_[c] + other) * (1 + kMargin);
        }
    }

    const T* X_;
    const Tiles& tiles_;
    const int64_t* weight_;
    int64_t n_, d_, k_, chunks_;
    Crew& crew_;
    std::unique_ptr<float[]> gap_;
    std::vector<double> chunk_sums_;
    std::vector<int64_t> chunk_counts_;
    std::vector<double> chunk_out_;
    std::vector<double> sums_;
    std::vector<int64_t> counts_;
    std::vector<double> drift_, moved_;
    std::vector<TileRow> squares_;
};

}  // namespace linkwise
