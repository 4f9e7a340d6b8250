// Greedy k-means++ (Arthur and Vassilvitskii 2007): rows drawn in proportion to their squared
// distance from the rows chosen so far; of a few candidates the one that leaves least of it.
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels.hpp"
#include "random.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

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

template <typename T>
LINKWISE_INLINE void potential(const Potential<T>& t) {
    TileRow scratch[kFeatures];
    int32_t rows[kTile];
    double sums[4];
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s), tile = s / kTile;
        if (t.columns) {
            column_distances(t.columns + tile * t.d, t.d, t.candidates, t.k, t.squares);
        } else {
            for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
            tile_distances(t.X, t.d, rows, t.candidates, t.k, scratch, t.squares);
        }
        for (int64_t c = 0; c < t.k; ++c) {
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
    PlusPlus(const T* X, const Tiles& tiles, const int64_t* weight, int64_t n, int64_t d, int64_t candidates, const double* given,
             int64_t n_given, Crew& crew)
        : X_(X), tiles_(tiles), weight_(weight), given_(given), n_given_(n_given), n_(n), d_(d), candidates_(candidates), chunks_(chunk_count(n)), crew_(crew),
          nearest_(n), after_(candidates * n), rows_(candidates), points_(candidates * d),
          ends_(chunks_ * candidates * kTiles), kept_ends_(chunks_ * kTiles), squares_(crew.size() * candidates) {}

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
        crew_.run(chunks_, [&](int64_t c, int thread) {
            const int64_t start = c * kChunk;
            potential_chunk(Potential<T>{X_ + start * d_, tiles_.from(start, d_),
                                         weight_ ? weight_ + start : nullptr, std::min(kChunk, n_ - start), d_, m,
                                         points_.data(), first ? nullptr : &nearest_[start],
                                         &after_[start], n_, &squares_[thread * candidates_],
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
    const int64_t* weight_;
    const double* given_;
    int64_t n_given_;
    int64_t n_, d_, candidates_, chunks_;
    Crew& crew_;
    std::vector<double> nearest_, after_;
    std::vector<int64_t> rows_;
    std::vector<double> points_, ends_, kept_ends_;
    std::vector<TileRow> squares_;
};

template <typename T>
nb::ndarray<nb::numpy, int64_t> kmeans_plusplus(Matrix<T> X, int64_t k, Vector<uint64_t> seeds,
                                                int64_t n_candidates, int threads, nb::object weight,
                                                nb::object given) {
    const Weights weights(weight);
    Matrix<double> centers;
    if (!given.is_none()) centers = nb::cast<Matrix<double>>(given, false);
    const int64_t n_given = given.is_none() ? 0 : centers.shape(0);
    const double* first = n_given ? centers.data() : nullptr;
    const int64_t n = X.shape(0), d = X.shape(1), runs = seeds.shape(0);
    Result<int64_t> chosen(runs * k);
    {
        nb::gil_scoped_release release;
        const bool by_start = runs > 1 && chunk_count(n) < 16 * threads;
        const int64_t terms = n * d * n_candidates;
        Crew crew(by_start ? std::min<int64_t>(runs, useful_threads(threads, runs * k * terms))
                           : useful_threads(threads, terms));
        Crew alone(1);
        const Tiles tiles(X.data(), n, d);
        std::vector<std::unique_ptr<PlusPlus<T>>> memory(by_start ? crew.size() : 1);
        for (auto& m : memory)
            m = std::make_unique<PlusPlus<T>>(X.data(), tiles, weights.data, n, d, n_candidates, first,
                                              n_given, by_start ? alone : crew);
        (by_start ? crew : alone).run(runs, [&](int64_t r, int thread) {
            memory[thread]->choose(seeds.data()[r], k, chosen.get() + r * k);
        });
    }
    return chosen.release({static_cast<size_t>(runs), static_cast<size_t>(k)});
}

}  // namespace

void register_plusplus(nb::module_& m) {
    m.def("kmeans_plusplus", &kmeans_plusplus<float>, nb::arg("X").noconvert(), nb::arg("k"),
          nb::arg("seeds").noconvert(), nb::arg("n_candidates"), nb::arg("n_threads"), nb::arg("weight").none(), nb::arg("given").none());
    m.def("kmeans_plusplus", &kmeans_plusplus<double>, nb::arg("X").noconvert(), nb::arg("k"),
          nb::arg("seeds").noconvert(), nb::arg("n_candidates"), nb::arg("n_threads"), nb::arg("weight").none(), nb::arg("given").none());
}

}  // namespace linkwise
