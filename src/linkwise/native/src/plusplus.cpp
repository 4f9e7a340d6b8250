// Greedy k-means++ (Arthur and Vassilvitskii 2007): rows drawn in proportion to their squared
// distance from the rows chosen so far; of a few candidates the one that leaves least of it.
//
// A candidate is nearer than all chosen rows for few rows only. If there are many rows of many features, products in
// float32 find those for which it may be, with a bound on their error, and only these distances are computed. The
// result is the same, bit by bit.
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "checks.hpp"
#include "random.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

using FloatLanes = float __attribute__((vector_size(64)));

struct alignas(64) FloatRow {
    union {
        float value[kTile];
        FloatLanes lanes[kTile / 16];
    };
};

// Rows in float32, in units of the largest value and transposed in tiles, with their squared lengths. Empty where
// distances cost little, or where values are not finite.
class Screen {
   public:
    template <typename T>
    Screen(const T* X, int64_t n, int64_t d) {
        if (n * d <= kLeast || d < kLeastFeatures) return;
        double largest = 0;
        for (int64_t i = 0; i < n * d; ++i) {
            const double value = std::abs(static_cast<double>(X[i]));
            if (!(value <= kHighest)) return;
            largest = std::max(largest, value);
        }
        if (!(largest >= 1 / kHighest)) return;
        unit = 1 / largest;
        margin = static_cast<double>(d + 8) * 4 * std::numeric_limits<float>::epsilon();
        columns_.resize(static_cast<size_t>((n + kTile - 1) / kTile * d));
        lengths_.resize(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t a = 0; a < d; ++a) {
                const double value = unit * static_cast<double>(X[i * d + a]);
                columns_[i / kTile * d + a].value[i % kTile] = static_cast<float>(value);
                lengths_[i] += value * value;
            }
        }
    }
    explicit operator bool() const { return !columns_.empty(); }
    const FloatRow* from(int64_t row, int64_t d) const { return columns_.empty() ? nullptr : &columns_[row / kTile * d]; }
    const double* lengths(int64_t row) const { return columns_.empty() ? nullptr : &lengths_[row]; }

    double unit = 1, margin = 0;  // of a squared distance, as a share of both squared lengths

   private:
    static constexpr int64_t kLeast = 1 << 17, kLeastFeatures = 32;
    static constexpr double kHighest = 1e100;
    std::vector<FloatRow> columns_;
    std::vector<double> lengths_;
};

// Candidates in the units of a screen.
struct Screened {
    const FloatRow* columns;  // of the chunk; null: all distances are computed
    const double* lengths;    // of its rows
    const float* candidates;  // k x d
    const double* sizes;      // k squared lengths
    double square_unit, margin;
};

// One chunk: distances to the candidates, capped by those to what is chosen already.
template <typename T>
struct Potential {
    const T* X;  // first row of the chunk
    const TileRow* columns;  // of the chunk, transposed; null: not there
    const int64_t* weight;  // of its rows; null: 1 each
    int64_t rows, d, k;
    const double* candidates;  // k x d
    const double* nearest;     // squared distance to the nearest chosen row; null: nothing chosen yet
    double* after;             // k columns of `stride`: the same if the candidate is chosen
    int64_t stride;
    TileRow* squares;  // scratch, k
    Screened screen;
    double* ends;      // out, k x kTiles: their sums up to the end of each tile
};

inline constexpr int64_t kTiles = kChunk / kTile;

// Adds columns of `rows` numbers to as many sums, each in the order of the rows. A sum waits for its own last
// addition: several at once take hardly longer than one.
template <int count>
LINKWISE_INLINE void add_columns(const double* after, int64_t stride, int64_t rows, const int64_t* weight,
                                 double* sums) {
    double sum[count];
    for (int c = 0; c < count; ++c) sum[c] = sums[c];
    if (weight)
        for (int64_t j = 0; j < rows; ++j)
            for (int c = 0; c < count; ++c) sum[c] += static_cast<double>(weight[j]) * after[c * stride + j];
    else
        for (int64_t j = 0; j < rows; ++j)
            for (int c = 0; c < count; ++c) sum[c] += after[c * stride + j];
    for (int c = 0; c < count; ++c) sums[c] = sum[c];
}

// Products of the rows of a tile with two candidates, which may be one.
LINKWISE_INLINE void multiply_tile(const FloatRow* columns, int64_t d, const float* one, const float* other,
                                   FloatRow* first, FloatRow* second) {
    FloatLanes a0{}, a1{}, b0{}, b1{};
    for (int64_t f = 0; f < d; ++f) {
        const FloatLanes x0 = columns[f].lanes[0], x1 = columns[f].lanes[1];
        a0 += x0 * one[f], a1 += x1 * one[f];
        b0 += x0 * other[f], b1 += x1 * other[f];
    }
    first->lanes[0] = a0, first->lanes[1] = a1, second->lanes[0] = b0, second->lanes[1] = b1;
}

// The squared distance of one row, with the features summed in their order, as `tile_distances` does.
template <typename T>
LINKWISE_INLINE double ordered_distance(const T* x, const double* center, int64_t d) {
    double sum = 0;
    for (int64_t a = 0; a < d; ++a) {
        const double q = static_cast<double>(x[a]) - center[a];
        sum += q * q;
    }
    return sum;
}

// Distances of a tile to the candidates, capped by those to what is chosen; computed only where they may be smaller.
template <typename T>
LINKWISE_INLINE void screen_tile(const Potential<T>& t, int64_t s, int64_t m) {
    const Screened& screen = t.screen;
    const FloatRow* columns = screen.columns + s / kTile * t.d;
    FloatRow product[2];
    for (int64_t c = 0; c < t.k; c += 2) {
        const int64_t last = std::min(c + 1, t.k - 1);
        multiply_tile(columns, t.d, screen.candidates + c * t.d, screen.candidates + last * t.d, &product[0],
                      &product[1]);
        for (int64_t b = c; b <= last; ++b) {
            double* after = t.after + b * t.stride + s;
            const float* dot = product[b - c].value;
            for (int64_t j = 0; j < m; ++j) {
                const double nearest = t.nearest[s + j], both = screen.lengths[s + j] + screen.sizes[b];
                const double least = both - 2 * static_cast<double>(dot[j]) - screen.margin * both - 1e-30;
                after[j] = nearest;
                if (!(least >= nearest * screen.square_unit) && nearest > 0)
                    after[j] = std::min(nearest, ordered_distance(t.X + (s + j) * t.d, t.candidates + b * t.d, t.d));
            }
        }
    }
}

template <typename T>
LINKWISE_INLINE void potential(const Potential<T>& t) {
    TileRow scratch[kFeatures];
    int32_t rows[kTile];
    double sums[4];
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s), tile = s / kTile;
        const bool is_screened = t.screen.columns && t.nearest;
        if (is_screened) {
            screen_tile(t, s, m);
        } else if (t.columns) {
            column_distances(t.columns + tile * t.d, t.d, t.candidates, t.k, t.squares);
        } else {
            for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
            tile_distances(t.X, t.d, rows, t.candidates, t.k, scratch, t.squares);
        }
        for (int64_t c = 0; c < t.k && !is_screened; ++c) {
            const double* square = t.squares[c].value;
            double* after = t.after + c * t.stride + s;
            for (int64_t j = 0; j < m; ++j)
                after[j] = t.nearest ? std::min(t.nearest[s + j], square[j]) : square[j];
        }
        for (int64_t c = 0; c < t.k; c += 4) {
            const int64_t count = std::min<int64_t>(4, t.k - c);
            const double* after = t.after + c * t.stride + s;
            const int64_t* weight = t.weight ? t.weight + s : nullptr;
            for (int64_t j = 0; j < count; ++j) sums[j] = tile ? t.ends[(c + j) * kTiles + tile - 1] : 0.0;
            if (count == 4) add_columns<4>(after, t.stride, m, weight, sums);
            if (count == 3) add_columns<3>(after, t.stride, m, weight, sums);
            if (count == 2) add_columns<2>(after, t.stride, m, weight, sums);
            if (count == 1) add_columns<1>(after, t.stride, m, weight, sums);
            for (int64_t j = 0; j < count; ++j) t.ends[(c + j) * kTiles + tile] = sums[j];
        }
    }
}

LINKWISE_SIMD void potential_chunk(const Potential<float>& t) { potential(t); }
LINKWISE_SIMD void potential_chunk(const Potential<double>& t) { potential(t); }

template <typename T>
class PlusPlus {
   public:
    PlusPlus(const T* X, const Tiles& tiles, const Screen& screen, const int64_t* weight, int64_t n, int64_t d, int64_t candidates, const double* given,
             int64_t n_given, Crew& crew)
        : X_(X), tiles_(tiles), screen_(screen), weight_(weight), given_(given), n_given_(n_given), n_(n), d_(d), candidates_(candidates), chunks_(chunk_count(n)), crew_(crew),
          nearest_(n), after_(candidates * n), rows_(candidates), points_(candidates * d),
          ends_(chunks_ * candidates * kTiles), kept_ends_(chunks_ * kTiles), squares_(crew.size() * candidates),
          floats_(screen ? candidates * d : 0), sizes_(candidates) {}

    // k distinct rows, none of them a given centre; -1 in the last places when there are fewer.
    void choose(uint64_t seed, int64_t k, int64_t* chosen) {
        SplitMix64 random{seed};
        std::fill_n(chosen, k, -1);
        int64_t c = 0;
        double left = 0;
        if (n_given_ == 0) {
            rows_[0] = first(random.uniform());
            left = keep(try_candidates(1, true), 1, chosen + c++);
        }
        for (int64_t g = 0; g < n_given_; ++g) {
            std::copy_n(given_ + g * d_, d_, points_.data());
            left = keep(try_points(1, g == 0), 1, nullptr);
        }
        for (; c < k && left > 0; ++c) {
            for (int64_t j = 0; j < candidates_; ++j) rows_[j] = draw(random.uniform() * left);
            left = keep(try_candidates(candidates_, false), candidates_, chosen + c);
        }
    }

   private:
    // The row at a share of all weight.
    int64_t first(double share) const {
        if (!weight_) return std::min(n_ - 1, static_cast<int64_t>(share * static_cast<double>(n_)));
        double r = share * static_cast<double>(std::accumulate(weight_, weight_ + n_, int64_t{0}));
        int64_t i = 0;
        while (i < n_ - 1 && r >= static_cast<double>(weight_[i])) r -= static_cast<double>(weight_[i++]);
        return i;
    }

    // The same for the first m of rows_.
    int64_t try_candidates(int64_t m, bool first) {
        for (int64_t j = 0; j < m; ++j) std::copy_n(X_ + rows_[j] * d_, d_, &points_[j * d_]);
        return try_points(m, first);
    }

    // Evaluates the first m of points_; the index of the one that leaves least.
    int64_t try_points(int64_t m, bool first) {
        if (screen_) {
            for (int64_t j = 0; j < m; ++j) {
                sizes_[j] = 0;
                for (int64_t a = 0; a < d_; ++a) {
                    const double value = screen_.unit * points_[j * d_ + a];
                    floats_[j * d_ + a] = static_cast<float>(value);
                    sizes_[j] += value * value;
                }
            }
        }
        crew_.run(chunks_, [&](int64_t c, int thread) {
            const int64_t start = c * kChunk;
            potential_chunk(Potential<T>{X_ + start * d_, tiles_.from(start, d_),
                                         weight_ ? weight_ + start : nullptr, std::min(kChunk, n_ - start), d_, m,
                                         points_.data(), first ? nullptr : &nearest_[start],
                                         &after_[start], n_, &squares_[thread * candidates_],
                                         Screened{screen_.from(start, d_), screen_.lengths(start), floats_.data(),
                                                  sizes_.data(), screen_.unit * screen_.unit, screen_.margin},
                                         &ends_[c * m * kTiles]});
        });
        int64_t best = 0;
        double least = left_by(0, m);
        for (int64_t j = 1; j < m; ++j) {
            const double left = left_by(j, m);
            if (left < least) best = j, least = left;
        }
        return best;
    }

    // The last tile of a chunk.
    int64_t last_tile(int64_t c) const { return (std::min(kChunk, n_ - c * kChunk) - 1) / kTile; }

    double left_by(int64_t j, int64_t m) const {
        double sum = 0;
        for (int64_t c = 0; c < chunks_; ++c) sum += ends_[(c * m + j) * kTiles + last_tile(c)];
        return sum;
    }

    // Candidate `best` of m is chosen; returns what is left.
    double keep(int64_t best, int64_t m, int64_t* chosen) {
        if (chosen) *chosen = rows_[best];
        std::copy_n(&after_[best * n_], n_, nearest_.data());
        for (int64_t c = 0; c < chunks_; ++c)
            std::copy_n(&ends_[(c * m + best) * kTiles], kTiles, &kept_ends_[c * kTiles]);
        return left_by(best, m);
    }

    // The first row up to which the distances sum to more than r; only rows with mass qualify.
    int64_t draw(double r) const {
        int64_t c = 0;
        for (double mass; c < chunks_ - 1 && (mass = kept_ends_[c * kTiles + last_tile(c)]) <= r; ++c) r -= mass;
        for (int64_t row; c >= 0; --c, r = 0)  // rounding may have led past the last row with mass
            if ((row = draw_in_chunk(c, r)) >= 0) return row;
        return 0;
    }

    // The same among the rows of a chunk, the last row with mass if they sum to less; -1 if none has any.
    int64_t draw_in_chunk(int64_t c, double r) const {
        const double* ends = &kept_ends_[c * kTiles];
        const int64_t begin = c * kChunk, end = std::min(n_, begin + kChunk), last = last_tile(c);
        const int64_t tile = std::upper_bound(ends, ends + last + 1, r) - ends;
        double sum = tile > 0 ? ends[tile - 1] : 0.0;
        for (int64_t i = begin + tile * kTile; i < end; ++i) {
            sum += weight_ ? static_cast<double>(weight_[i]) * nearest_[i] : nearest_[i];
            if (sum > r) return i;
        }
        for (int64_t i = end - 1; i >= begin; --i)
            if (nearest_[i] > 0) return i;
        return -1;
    }

    const T* X_;
    const Tiles& tiles_;
    const Screen& screen_;
    const int64_t* weight_;
    const double* given_;
    int64_t n_given_;
    int64_t n_, d_, candidates_, chunks_;
    Crew& crew_;
    std::vector<double> nearest_, after_;
    std::vector<int64_t> rows_;
    std::vector<double> points_, ends_, kept_ends_;
    std::vector<TileRow> squares_;
    std::vector<float> floats_;  // the candidates in the units of the screen
    std::vector<double> sizes_;
};

template <typename T>
Output<int64_t> kmeans_plusplus(Matrix<T> X, int64_t k, Vector<uint64_t> seeds, int64_t n_candidates, int threads,
                                std::optional<Vector<int64_t>> weight, std::optional<Matrix<double>> given) {
    const int64_t n = X.shape(0), d = X.shape(1), runs = seeds.shape(0);
    check_rows("X", X);
    check_shape("seeds", seeds, kPositive);
    check_shape("weight", weight, n);
    check_shape("given", given, kPositive, d);
    const int64_t n_given = given ? given->shape(0) : 0;
    const double* first = data_or_null(given);
    Result<int64_t> chosen(runs * k);
    {
        GilRelease release;
        const bool by_start = runs > 1 && chunk_count(n) < 16 * threads;
        const int64_t terms = n * d * n_candidates;
        Crew crew(by_start ? std::min<int64_t>(runs, useful_threads(threads, runs * k * terms))
                           : useful_threads(threads, terms));
        Crew alone(1);
        const Tiles tiles(X.data(), n, d);
        const Screen screen(X.data(), n, d);
        std::vector<std::unique_ptr<PlusPlus<T>>> memory(by_start ? crew.size() : 1);
        for (auto& m : memory)
            m = std::make_unique<PlusPlus<T>>(X.data(), tiles, screen, data_or_null(weight), n, d, n_candidates, first,
                                              n_given, by_start ? alone : crew);
        (by_start ? crew : alone).run(runs, [&](int64_t r, int thread) {
            memory[thread]->choose(seeds.data()[r], k, chosen.get() + r * k);
        });
    }
    return chosen.release({static_cast<size_t>(runs), static_cast<size_t>(k)});
}

}  // namespace

void register_plusplus(nb::module_& m) {
    define(m, "kmeans_plusplus", kmeans_plusplus<float>, kmeans_plusplus<double>,
           R"(Choose k rows to start from, once for each of R seeds, by greedy k-means++: (R, k).

The first row is drawn uniformly. For each further one n_candidates rows are drawn in proportion to
their squared distance from the rows chosen so far and from the given centres, (g, d), and the one
that leaves the smallest sum of squared distances is chosen. Random numbers come from SplitMix64.
weight, (n,), counts each row. No two are equal rows, and none equals a given centre; if X has fewer
such rows, each occurs once and the remaining places hold -1.

Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.)",
           nb::arg("X"), count("k"), nb::arg("seeds"), count("n_candidates"), count("n_threads"),
           nb::arg("weight") = nb::none(), nb::arg("given") = nb::none());
}

}  // namespace linkwise
