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
    const int64_t* weight;  // of its rows; null: 1 each
    int64_t rows, d, k;
    const double* candidates;  // k x d
    const double* nearest;     // squared distance to the nearest chosen row; null: nothing chosen yet
    double* after;             // k columns of `stride`: the same if the candidate is chosen
    int64_t stride;
    TileRow* squares;  // scratch, k
    double* sums;      // out, k
};

template <typename T>
LINKWISE_INLINE void potential(const Potential<T>& t) {
    TileRow scratch[kFeatures];
    int32_t rows[kTile];
    for (int64_t c = 0; c < t.k; ++c) t.sums[c] = 0;
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s);
        for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
        tile_distances(t.X, t.d, rows, t.candidates, t.k, scratch, t.squares);
        for (int64_t c = 0; c < t.k; ++c) {
            const double* square = t.squares[c].value;
            double* after = t.after + c * t.stride + s;
            for (int64_t j = 0; j < m; ++j)
                after[j] = t.nearest ? std::min(t.nearest[s + j], square[j]) : square[j];
            if (t.weight)
                for (int64_t j = 0; j < m; ++j) t.sums[c] += static_cast<double>(t.weight[s + j]) * after[j];
            else
                for (int64_t j = 0; j < m; ++j) t.sums[c] += after[j];
        }
    }
}

LINKWISE_SIMD void potential_chunk(const Potential<float>& t) { potential(t); }
LINKWISE_SIMD void potential_chunk(const Potential<double>& t) { potential(t); }

template <typename T>
class PlusPlus {
   public:
    PlusPlus(const T* X, const int64_t* weight, int64_t n, int64_t d, int64_t candidates, const double* given,
             int64_t n_given, Crew& crew)
        : X_(X), weight_(weight), given_(given), n_given_(n_given), n_(n), d_(d), candidates_(candidates), chunks_(chunk_count(n)), crew_(crew),
          nearest_(n), after_(candidates * n), rows_(candidates), points_(candidates * d),
          sums_(chunks_ * candidates), mass_(chunks_), squares_(crew.size() * candidates) {}

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
            potential_chunk(Potential<T>{X_ + start * d_, weight_ ? weight_ + start : nullptr, std::min(kChunk, n_ - start), d_, m,
                                         points_.data(), first ? nullptr : &nearest_[start],
                                         &after_[start], n_, &squares_[thread * candidates_],
                                         &sums_[c * m]});
        });
        int64_t best = 0;
        double least = left_by(0, m);
        for (int64_t j = 1; j < m; ++j) {
            const double left = left_by(j, m);
            if (left < least) best = j, least = left;
        }
        return best;
    }

    double left_by(int64_t j, int64_t m) const {
        double sum = 0;
        for (int64_t c = 0; c < chunks_; ++c) sum += sums_[c * m + j];
        return sum;
    }

    // Candidate `best` of m is chosen; returns what is left.
    double keep(int64_t best, int64_t m, int64_t* chosen) {
        if (chosen) *chosen = rows_[best];
        std::copy_n(&after_[best * n_], n_, nearest_.data());
        for (int64_t c = 0; c < chunks_; ++c) mass_[c] = sums_[c * m + best];
        return left_by(best, m);
    }

    // The first row up to which the distances sum to more than r; only rows with mass qualify.
    int64_t draw(double r) const {
        int64_t c = 0, last = -1;
        double sum = 0;
        for (; c < chunks_ - 1 && sum + mass_[c] <= r; ++c) sum += mass_[c];
        for (; c >= 0 && last < 0; --c) {  // rounding may have led past the last row with mass
            for (int64_t i = c * kChunk; i < std::min(n_, (c + 1) * kChunk); ++i) {
                if (!(nearest_[i] > 0)) continue;
                last = i;
                sum += weight_ ? static_cast<double>(weight_[i]) * nearest_[i] : nearest_[i];
                if (sum > r) break;
            }
        }
        return std::max<int64_t>(last, 0);
    }

    const T* X_;
    const int64_t* weight_;
    const double* given_;
    int64_t n_given_;
    int64_t n_, d_, candidates_, chunks_;
    Crew& crew_;
    std::vector<double> nearest_, after_;
    std::vector<int64_t> rows_;
    std::vector<double> points_, sums_, mass_;
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
        std::vector<std::unique_ptr<PlusPlus<T>>> memory(by_start ? crew.size() : 1);
        for (auto& m : memory)
            m = std::make_unique<PlusPlus<T>>(X.data(), weights.data, n, d, n_candidates, first, n_given,
                                              by_start ? alone : crew);
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
