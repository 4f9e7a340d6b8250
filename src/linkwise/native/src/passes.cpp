// Constrained k-means with priorities (Okabe and Yamada 2018, Algorithm 2), all passes of a run in one call.
//
// Only pairs that name a row for the first time choose labels. They are the same in all passes of a run, so they are
// listed once; a pass then looks at all pairs for what is broken. What a pass needs of a row lies in 8 bytes (for fewer
// than 256 clusters), and it waits for memory only where rows of pairs are looked up.
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_set>
#include <vector>

#include <nanobind/stl/variant.h>

#include "checks.hpp"
#include "sums.hpp"
#include "two_nearest.hpp"

namespace linkwise {

namespace {

inline constexpr double kRoundOff = 1e-12;  // two passes may reach the same clusters under other numbers

// All that a pass needs of a row, whose label is the nearest centre unless a pair chooses another.
template <typename L>
struct Seat {
    float square;  // rounded up or down: see name_rows
    L best, second, label;
};

template <typename L>
struct PutSeat {
    Seat<L>* seats;
    double* square;
    void operator()(int64_t row, int64_t nearest, int64_t next, double least) const {
        seats[row] = {static_cast<float>(least), static_cast<L>(nearest), static_cast<L>(next), static_cast<L>(nearest)};
        square[row] = least;
    }
};

template <typename T, typename L>
using TwoSeats = TwoNearest<T, PutSeat<L>>;

LINKWISE_SIMD void seat_chunk(const TwoSeats<float, uint8_t>& t) { find_two(t); }
LINKWISE_SIMD void seat_chunk(const TwoSeats<double, uint8_t>& t) { find_two(t); }
LINKWISE_SIMD void seat_chunk(const TwoSeats<float, uint16_t>& t) { find_two(t); }
LINKWISE_SIMD void seat_chunk(const TwoSeats<double, uint16_t>& t) { find_two(t); }

// Few rows, transposed once, and their distances to all centres: only those to centres that moved are computed
// again.
struct KnownDistances {
    const TileRow* columns;  // tiles x d
    int64_t tiles, d, k;
    const double* centers;
    const uint8_t* moved;  // k
    TileRow* squares;      // tiles x k
};

template <typename L>
struct SeatTiles {
    KnownDistances known;
    int64_t n;
    PutSeat<L> put;
};

template <typename L>
LINKWISE_INLINE void find_two_again(const SeatTiles<L>& t) {
    const KnownDistances& known = t.known;
    TileRow least[2];
    alignas(64) LaneLabels which[2][kTile / 8];
    for (int64_t tile = 0; tile < known.tiles; ++tile) {
        TileRow* squares = known.squares + tile * known.k;
        for (int64_t c = 0; c < known.k; ++c)
            if (known.moved[c])
                column_distances(known.columns + tile * known.d, known.d, known.centers + c * known.d, 1, squares + c);
        for (auto& part : least) std::fill_n(part.value, kTile, std::numeric_limits<double>::infinity());
        for (auto& part : which)
            for (auto& lanes : part) lanes = LaneLabels{};
        tile_two(squares, 0, known.k, least, which);
        for (int64_t j = 0; j < std::min(kTile, t.n - tile * kTile); ++j)
            t.put(tile * kTile + j, which[0][j / 8][j % 8], which[1][j / 8][j % 8], least[0].value[j]);
    }
}

LINKWISE_SIMD void seat_tiles(const SeatTiles<uint8_t>& t) { find_two_again(t); }
LINKWISE_SIMD void seat_tiles(const SeatTiles<uint16_t>& t) { find_two_again(t); }

// The spread of clusters: rows times squared length of the mean, summed. The larger, the less inertia.
struct Spread {
    double value = 0;
    bool empty = false;  // whether a cluster has no row
};

// Rows as they are; the spread is about the mean of all.
template <typename T, typename L>
class Vectors {
   public:
    Vectors(const T* X, int64_t n, int64_t d, int64_t k, const double* centers, const double* mean, int threads)
        : X_(X), n_(n), d_(d), k_(k), threads_(threads), crew_(useful_threads(threads, n * d * k)), mean_(mean),
          centers_(centers, centers + k * d), sums_(static_cast<size_t>(k * d)), counts_(static_cast<size_t>(k)),
          tiles_(X, n * k > kMostKnown ? Tiles::kNone : n, d), moved_(static_cast<size_t>(k), 1) {
        if (tiles_.from(0, d)) squares_.resize(static_cast<size_t>((n + kTile - 1) / kTile * k));
    }

    void find_two_nearest(Seat<L>* seats, double* square) {
        if (!squares_.empty()) {
            const int64_t tiles = (n_ + kTile - 1) / kTile;
            seat_tiles(SeatTiles<L>{{tiles_.from(0, d_), tiles, d_, k_, centers_.data(), moved_.data(), squares_.data()},
                                    n_, {seats, square}});
            std::fill(moved_.begin(), moved_.end(), 0);
            return;
        }
        crew_.run(chunk_count(n_), [&](int64_t c, int) {
            const int64_t start = c * kChunk;
            seat_chunk(TwoSeats<T, L>{X_ + start * d_, std::min(kChunk, n_ - start), d_, k_, centers_.data(),
                                      {seats + start, square + start}});
        });
    }

    Spread update_means(const L* labels) {
        sum_labelled(X_, labels, nullptr, n_, d_, k_, threads_, sums_.data(), counts_.data());
        Spread spread;
        for (int64_t c = 0; c < k_; ++c) {
            if (counts_[c] == 0) {
                spread.empty = true;
                continue;
            }
            double length = 0;
            for (int64_t a = 0; a < d_; ++a) {
                double& center = centers_[c * d_ + a];
                const double mean = sums_[c * d_ + a] / static_cast<double>(counts_[c]);
                moved_[c] |= !(mean == center);
                center = mean;
                length += (center - mean_[a]) * (center - mean_[a]);
            }
            spread.value += static_cast<double>(counts_[c]) * length;
        }
        return spread;
    }

   private:
    const T* X_;
    int64_t n_, d_, k_;
    int threads_;
    Crew crew_;
    const double* mean_;
    std::vector<double> centers_, sums_;
    std::vector<int64_t> counts_;
    static constexpr int64_t kMostKnown = 1 << 17;  // distances that are kept: 1 MiB
    const Tiles tiles_;                             // empty for many rows
    std::vector<TileRow> squares_;
    std::vector<uint8_t> moved_;  // centres, since the distances were computed
};

// Adds to the sums of clusters, k x n, for some rows: their similarities to all rows of the clusters.
struct Similar {
    const double* K;  // n x n, symmetric
    int64_t n, begin, end;
    double* sums;
};

template <typename L>
LINKWISE_INLINE void add_similar(const Similar& t, const L* labels) {
    for (int64_t j = 0; j < t.n; ++j) {
        const double* row = t.K + j * t.n;
        double* sum = t.sums + static_cast<int64_t>(labels[j]) * t.n;
        for (int64_t i = t.begin; i < t.end; ++i) sum[i] += row[i];
    }
}

LINKWISE_SIMD void add_similar_strip(const Similar& t, const uint8_t* labels) { add_similar(t, labels); }
LINKWISE_SIMD void add_similar_strip(const Similar& t, const uint16_t* labels) { add_similar(t, labels); }

// Rows known by their similarities: means by the mean similarity of every row to their rows, and of these to
// each other.
template <typename L>
class Similarities {
   public:
    Similarities(const double* K, int64_t n, int64_t k, const double* to_mean, const double* within, int threads)
        : K_(K), n_(n), k_(k), crew_(useful_threads(threads, n * n)), to_mean_(static_cast<size_t>(k * n)),
          within_(within, within + k), sums_(static_cast<size_t>(k * n)), counts_(static_cast<size_t>(k)),
          inner_(static_cast<size_t>(k)) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < k; ++c) to_mean_[c * n + i] = to_mean[i * k + c];
    }

    void find_two_nearest(Seat<L>* seats, double* square) {
        const PutSeat<L> put{seats, square};
        for (int64_t i = 0; i < n_; ++i) {
            double least = std::numeric_limits<double>::infinity(), next = least;
            int64_t best = 0, second = 0;
            for (int64_t c = 0; c < k_; ++c) {
                const double s = K_[i * n_ + i] - 2 * to_mean_[c * n_ + i] + within_[c];
                if (s < least) next = least, second = best, least = s, best = c;
                else if (s < next) next = s, second = c;
            }
            put(i, best, second, least);
        }
    }

    Spread update_means(const L* labels) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(counts_.begin(), counts_.end(), 0);
        std::fill(inner_.begin(), inner_.end(), 0.0);
        constexpr int64_t kStrip = 512;
        crew_.run((n_ + kStrip - 1) / kStrip, [&](int64_t strip, int) {
            const int64_t begin = strip * kStrip;
            add_similar_strip(Similar{K_, n_, begin, std::min(n_, begin + kStrip), sums_.data()}, labels);
        });
        for (int64_t i = 0; i < n_; ++i) ++counts_[labels[i]], inner_[labels[i]] += sums_[labels[i] * n_ + i];
        Spread spread;
        for (int64_t c = 0; c < k_; ++c) {
            const double count = static_cast<double>(counts_[c]);
            if (counts_[c] == 0) {
                spread.empty = true;
                continue;
            }
            for (int64_t i = 0; i < n_; ++i) to_mean_[c * n_ + i] = sums_[c * n_ + i] / count;
            within_[c] = inner_[c] / (count * count);
            spread.value += inner_[c] / count;
        }
        return spread;
    }

   private:
    const double* K_;
    int64_t n_, k_;
    Crew crew_;
    std::vector<double> to_mean_, within_, sums_;
    std::vector<int64_t> counts_;
    std::vector<double> inner_;
};

// A pair that names a row for the first time.
struct Naming {
    int32_t fresh, other;  // the first of both rows is fresh if `both` are
    bool both, must;
};

// The constraints in any order, and those that choose labels, the highest priority first.
struct Pairs {
    const int32_t* ends;   // m x 2
    const uint8_t* must;   // m
    const double* share;   // m
    int64_t m;
    std::vector<Naming> namings;
};

// Chooses the labels of all rows that pairs name.
template <typename L>
void name_rows(const std::vector<Naming>& namings, Seat<L>* seats, const double* square) {
    const auto nearer = [&](int32_t i, int32_t j) {  // as far is nearer: the first one is the lower row
        const float a = seats[i].square, b = seats[j].square;
        return a != b ? a < b : square[i] <= square[j];
    };
    constexpr size_t kAhead = 16;
    for (size_t q = 0; q < namings.size(); ++q) {
        if (q + kAhead < namings.size()) {
            __builtin_prefetch(&seats[namings[q + kAhead].fresh]);
            __builtin_prefetch(&seats[namings[q + kAhead].other]);
        }
        const Naming pair = namings[q];
        Seat<L> &a = seats[pair.fresh], &b = seats[pair.other];
        if (!pair.both) a.label = pair.must ? b.label : (a.best != b.label ? a.best : a.second);
        else if (pair.must) a.label = b.label = nearer(pair.fresh, pair.other) ? a.best : b.best;
        else if (a.best == b.best) nearer(pair.fresh, pair.other) ? b.label = b.second : a.label = a.second;
    }
}

// One bit for each pair: whether labels break it.
using Bits = std::vector<uint64_t>;

// Marks the pairs that labels break; returns their priority.
template <typename L>
double find_broken(const Pairs& pairs, const L* labels, Bits& broken, Crew& crew) {
    constexpr int64_t kWords = 256;  // of a task
    const int64_t words = static_cast<int64_t>(broken.size());
    crew.run((words + kWords - 1) / kWords, [&](int64_t c, int) {
        for (int64_t w = c * kWords; w < std::min(words, (c + 1) * kWords); ++w) {
            const int64_t first = w * 64, count = std::min<int64_t>(64, pairs.m - first);
            uint64_t word = 0;
            for (int64_t b = 0; b < count; ++b) {
                const int32_t* pair = pairs.ends + 2 * (first + b);
                word |= static_cast<uint64_t>((labels[pair[0]] == labels[pair[1]]) != (pairs.must[first + b] != 0)) << b;
            }
            broken[w] = word;
        }
    });
    double loss = 0;
    for (int64_t w = 0; w < words; ++w)
        for (uint64_t word = broken[w]; word != 0; word &= word - 1) loss += pairs.share[w * 64 + std::countr_zero(word)];
    return loss;
}

// Each empty cluster gets the row that is farthest from its centre, from a cluster with other rows, unless all
// such rows lie on their centres.
template <typename L>
void fill_empty(int64_t n, int64_t k, L* labels, double* square) {
    std::vector<int64_t> counts(static_cast<size_t>(k));
    for (int64_t i = 0; i < n; ++i) ++counts[labels[i]];
    for (int64_t c = 0; c < k; ++c) {
        if (counts[c] > 0) continue;
        int64_t far = -1;
        for (int64_t i = 0; i < n; ++i)
            if (counts[labels[i]] > 1 && square[i] > (far < 0 ? 0.0 : square[far])) far = i;
        if (far < 0) return;
        --counts[labels[far]];
        labels[far] = static_cast<L>(c);
        counts[c] = 1;
        square[far] = 0;
    }
}

template <typename L>
uint64_t digest(const std::vector<L>& labels) {
    uint64_t sum = 0x9E3779B97F4A7C15u;
    const size_t size = labels.size() * sizeof(L);
    const char* bytes = reinterpret_cast<const char*>(labels.data());
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes + at, std::min<size_t>(8, size - at));
        sum = (sum ^ word) * 0xBF58476D1CE4E5B9u;
        sum ^= sum >> 29;
    }
    return sum;
}

enum Convergence { kRepeat, kStable, kFirstRise };

template <typename L>
struct Pass {
    std::vector<L> labels;
    Bits broken;
    double loss = 0, spread = 0;
    int number = 0;  // 0: none
};

// Passes until they converge, or until the last one.
template <typename L, typename Space>
Pass<L> run_passes(Space& space, int64_t n, int64_t k, const Pairs& pairs, int max_passes, Convergence convergence,
                   int patience, int threads) {
    Crew crew(useful_threads(threads, 8 * pairs.m));
    std::unique_ptr<Seat<L>[]> seats(new Seat<L>[static_cast<size_t>(n)]);
    std::unique_ptr<double[]> square(new double[static_cast<size_t>(n)]);
    std::unordered_set<uint64_t> known;
    Pass<L> found, now{std::vector<L>(static_cast<size_t>(n)), Bits(static_cast<size_t>((pairs.m + 63) / 64))};
    for (now.number = 1; now.number <= max_passes; ++now.number) {
        space.find_two_nearest(seats.get(), square.get());
        name_rows(pairs.namings, seats.get(), square.get());
        for (int64_t i = 0; i < n; ++i) now.labels[i] = seats[i].label;
        if (!known.insert(digest(now.labels)).second) break;
        now.loss = find_broken(pairs, now.labels.data(), now.broken, crew);
        const Spread spread = space.update_means(now.labels.data());
        now.spread = spread.value;
        if (convergence == kFirstRise && found.number > 0 && !(now.spread > found.spread)) break;
        if (convergence != kRepeat || found.number == 0 || now.loss < found.loss ||
            (now.loss == found.loss && now.spread > found.spread * (1 + kRoundOff)))
            found = now;
        else if (patience > 0 && now.number - found.number >= patience)
            break;
        if (spread.empty) {
            fill_empty(n, k, now.labels.data(), square.get());
            space.update_means(now.labels.data());
        }
    }
    return found;
}

using Ends = Matrix<int32_t>;
using AnyPass = std::tuple<std::variant<Output<uint8_t>, Output<uint16_t>>, Output<uint8_t>, double, double, int>;

// Of n rows and k clusters.
void check_run(const Ends& ends, const Vector<uint8_t>& must, const Vector<int32_t>& order, const Vector<double>& share,
               int64_t n, int64_t k) {
    if (k > 65535) refuse("k must be at most 65535, got ", k);  // labels of two bytes, of which one is for none
    const int64_t m = ends.shape(0);
    check_shape("share", share, m);
    check_shape("must", must, m);
    check_shape("order", order, m);
    check_pairs("pairs", ends, n);
    check_range("order", order, 0, m - 1);
}

Pairs list_namings(const int32_t* ends, const uint8_t* must, const double* share, const int32_t* order, int64_t m,
                   int64_t n) {
    Pairs pairs{ends, must, share, m, {}};
    pairs.namings.reserve(static_cast<size_t>(std::min(m, n)));
    std::vector<uint8_t> named(static_cast<size_t>(n));
    for (int64_t q = 0; q < m; ++q) {
        if (q + 16 < m) __builtin_prefetch(&ends[2 * order[q + 16]]);
        const int32_t s = order[q], i = ends[2 * s], j = ends[2 * s + 1];
        if (named[i] && named[j]) continue;
        const bool both = !named[i] && !named[j];
        pairs.namings.push_back({named[i] ? j : i, named[i] ? i : j, both, must[s] != 0});
        named[i] = named[j] = 1;
    }
    return pairs;
}

// (labels, broken, loss, spread, number of the pass).
template <typename L>
AnyPass release_pass(const Pass<L>& pass, size_t m) {
    const size_t n = pass.labels.size();
    Result<L> labels(static_cast<int64_t>(n));
    Result<uint8_t> broken(static_cast<int64_t>(m));
    std::copy(pass.labels.begin(), pass.labels.end(), labels.get());
    for (size_t q = 0; q < m; ++q) broken.get()[q] = pass.broken[q / 64] >> q % 64 & 1;
    return {labels.release({n}), broken.release({m}), pass.loss, pass.spread, pass.number};
}

template <typename T, typename L>
AnyPass vector_passes(Matrix<T> X, Matrix<double> centers, Vector<double> mean, Ends ends, Vector<uint8_t> must,
                        Vector<int32_t> order, Vector<double> share, int max_passes, int convergence, int patience,
                        int threads) {
    Pass<L> found;
    {
        GilRelease release;
        const int64_t n = X.shape(0), k = centers.shape(0);
        const Pairs pairs = list_namings(ends.data(), must.data(), share.data(), order.data(), order.shape(0), n);
        Vectors<T, L> space(X.data(), n, X.shape(1), k, centers.data(), mean.data(), threads);
        found = run_passes<L>(space, n, k, pairs, max_passes, static_cast<Convergence>(convergence), patience, threads);
    }
    return release_pass(found, static_cast<size_t>(ends.shape(0)));
}

template <typename L>
AnyPass similarity_passes(Matrix<double> K, Matrix<double> to_mean, Vector<double> within, Ends ends,
                            Vector<uint8_t> must, Vector<int32_t> order, Vector<double> share, int max_passes,
                            int convergence, int patience, int threads) {
    Pass<L> found;
    {
        GilRelease release;
        const int64_t n = K.shape(0), k = within.shape(0);
        const Pairs pairs = list_namings(ends.data(), must.data(), share.data(), order.data(), order.shape(0), n);
        Similarities<L> space(K.data(), n, k, to_mean.data(), within.data(), threads);
        found = run_passes<L>(space, n, k, pairs, max_passes, static_cast<Convergence>(convergence), patience, threads);
    }
    return release_pass(found, static_cast<size_t>(ends.shape(0)));
}

// Labels of one byte for fewer than 256 clusters, and of two bytes for more.
template <typename T>
AnyPass any_vector_passes(Matrix<T> X, Matrix<double> centers, Vector<double> mean, Ends ends, Vector<uint8_t> must,
                          Vector<int32_t> order, Vector<double> share, int max_passes, int convergence, int patience,
                          int threads) {
    check_rows("X", X);
    check_shape("centers", centers, kPositive, X.shape(1));
    check_shape("mean", mean, X.shape(1));
    check_run(ends, must, order, share, X.shape(0), centers.shape(0));
    return centers.shape(0) < 256
               ? vector_passes<T, uint8_t>(X, centers, mean, ends, must, order, share, max_passes, convergence, patience, threads)
               : vector_passes<T, uint16_t>(X, centers, mean, ends, must, order, share, max_passes, convergence, patience, threads);
}

AnyPass any_similarity_passes(Matrix<double> K, Matrix<double> to_mean, Vector<double> within, Ends ends,
                              Vector<uint8_t> must, Vector<int32_t> order, Vector<double> share, int max_passes,
                              int convergence, int patience, int threads) {
    check_rows("K", K);
    check_square("K", K);
    check_shape("within", within, kPositive);
    check_shape("to_mean", to_mean, K.shape(0), within.shape(0));
    check_run(ends, must, order, share, K.shape(0), within.shape(0));
    return within.shape(0) < 256
               ? similarity_passes<uint8_t>(K, to_mean, within, ends, must, order, share, max_passes, convergence, patience, threads)
               : similarity_passes<uint16_t>(K, to_mean, within, ends, must, order, share, max_passes, convergence, patience, threads);
}

}  // namespace

void register_passes(nb::module_& m) {
    define(m, "vector_passes", any_vector_passes<float>, any_vector_passes<double>,
           R"(Run constrained k-means on rows: each pass as assign_by_priority, then centres move to the means.

An empty cluster gets the row that is farthest from its centre, out of a cluster with other rows. centers, (k, d), are
at most 65535 to start from; mean, (d,), is that of all rows, about which spread is measured; pairs, must and order are
as for assign_by_priority; share, (s,), is the priority of each pair. Passes also end when labels repeat. convergence 0:
the best pass counts, of least loss, of equal ones that of largest spread; 1: the last pass before labels repeat; 2: the
last one before the spread does not grow, which ends the passes. patience, with convergence 0: passes without a better
one after which they end; 0: any number. Returns labels (n,), one byte each for fewer than 256 clusters, two for more;
1 for each constraint that is broken (s,); the sum of the shares of these; the sum over the clusters of rows times
squared length of the mean, the larger, the less inertia; and the number of the pass, from 1.)",
           nb::arg("X"), nb::arg("centers"), nb::arg("mean"), nb::arg("pairs"), nb::arg("must"), nb::arg("order"),
           nb::arg("share"), count("max_passes"), nb::arg("convergence"), nb::arg("patience"), count("n_threads"));
    define(m, "similarity_passes", any_similarity_passes,
           R"(Run constrained k-means as vector_passes in the space of a kernel K, (n, n), symmetric.

to_mean, (n, k), is the mean similarity of each row to the rows of each first cluster; within, (k,), that of the rows of
each first cluster.)",
           nb::arg("K"), nb::arg("to_mean"), nb::arg("within"), nb::arg("pairs"), nb::arg("must"), nb::arg("order"),
           nb::arg("share"), count("max_passes"), nb::arg("convergence"), nb::arg("patience"), count("n_threads"));
}

}  // namespace linkwise
