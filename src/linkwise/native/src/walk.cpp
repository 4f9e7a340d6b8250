// Walks over rows by density: OPTICS (Ankerst, Breunig, Kriegel and Sander 1999), or the spanning tree of mutual
// reachability distances (Campello, Moulavi and Sander 2013).
//
// Both are one loop of Prim's: of the rows that wait, the one that is reached at the least distance comes next, and
// the others are looked at from there. From p, o is reached at max(core of p, distance), in the tree at
// max(core of p, core of o, distance). Distances are computed anew, a row of them at a time, so memory is O(n d).
// Everything is compared squared; minima do not depend on who takes them.
#include <cmath>
#include <limits>
#include <vector>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr int64_t kShared = 1 << 18;  // distance terms of a step that are worth waking other threads for

// Rows as columns of 8 lanes: value a of row i is lanes[(i / 8) * d + a][i % 8].
struct Lanewise {
    int64_t n, d;
    std::vector<TileRow> store;

    template <typename T>
    Lanewise(const T* X, int64_t rows, int64_t features)
        : n(rows), d(features), store(((rows + 7) / 8 * features + 3) / 4) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t a = 0; a < d; ++a) at(i, a) = static_cast<double>(X[i * d + a]);
    }
    const Lanes* lanes() const { return store[0].lanes; }
    double& at(int64_t i, int64_t a) { return store[0].value[((i / 8) * d + a) * 8 + i % 8]; }
    double at(int64_t i, int64_t a) const { return store[0].value[((i / 8) * d + a) * 8 + i % 8]; }
    void take(int64_t i, double* row) const {
        for (int64_t a = 0; a < d; ++a) row[a] = at(i, a);
    }
};

// ---------------------------------------------------------------- core distances
constexpr int64_t kAbreast = 4;  // rows whose distances are made together: all rows are read once for them

// Squared distances from some rows to all, block by block from their own: rows that come sorted are near there, so
// that few that come later are among the k nearest.
struct Nearby {
    const Lanes* X;
    int64_t n, d, own, k;  // own: block to begin with
    const double* from;    // kAbreast x d
    double* least;         // kAbreast x k, ascending
};

// A lower value takes the place of the largest.
LINKWISE_INLINE void keep_least(double* least, int64_t k, double value) {
    int64_t at = k - 1;
    for (; at > 0 && least[at - 1] > value; --at) least[at] = least[at - 1];
    least[at] = value;
}

template <typename Rows>
LINKWISE_INLINE void nearby(const Rows& t) {
    const int64_t blocks = (t.n + 7) / 8;
    std::fill(t.least, t.least + kAbreast * t.k, kFar);
    for (int64_t step = 0; step < blocks; ++step) {
        const int64_t b = step < blocks - t.own ? t.own + step : blocks - 1 - step;
        const Lanes* x = t.X + b * t.d;
        Lanes sums[kAbreast]{};
        for (int64_t a = 0; a < t.d; ++a)
            for (int64_t r = 0; r < kAbreast; ++r) {
                const Lanes q = x[a] - t.from[r * t.d + a];
                sums[r] += q * q;
            }
        for (int64_t r = 0; r < kAbreast; ++r) {
            double* least = t.least + r * t.k;
            const LaneLabels below = sums[r] < least[t.k - 1];
            int64_t any = 0;
            for (int64_t j = 0; j < 8; ++j) any |= below[j];
            if (!any) continue;
            for (int64_t j = 0; j < std::min<int64_t>(8, t.n - b * 8); ++j)
                if (sums[r][j] < least[t.k - 1]) keep_least(least, t.k, sums[r][j]);
        }
    }
}

LINKWISE_SIMD void nearby_rows(const Nearby& t) { nearby(t); }

template <typename T>
Output<double> core_squares(Matrix<T> X, int64_t k, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), blocks = (n + 63) / 64;
    check_rows("X", X);
    check_between("k", k, 1, n);
    Result<double> core(n);
    {
        GilRelease release;
        const Lanewise rows(X.data(), n, d);
        Crew crew(useful_threads(threads, n * n * d));
        crew.run(blocks, [&](int64_t block, int) {
            std::vector<double> from(kAbreast * d), least(kAbreast * k);
            for (int64_t i = block * 64; i < std::min(n, block * 64 + 64); i += kAbreast) {
                const int64_t rest = std::min(kAbreast, n - i);
                for (int64_t r = 0; r < kAbreast; ++r) rows.take(i + std::min(r, rest - 1), &from[r * d]);
                nearby_rows(Nearby{rows.lanes(), n, d, i / 8, k, from.data(), least.data()});
                for (int64_t r = 0; r < rest; ++r) core.get()[i + r] = least[(r + 1) * k - 1];
            }
        });
    }
    return core.release({static_cast<size_t>(n)});
}

// ---------------------------------------------------------------- the walk
// What is known of the rows that wait; the last one fills the place of one that goes.
struct Waiting {
    Lanewise rows;
    std::vector<TileRow> reach, core;
    std::vector<int64_t> from, id;
    int64_t left;

    template <typename T>
    Waiting(const T* X, int64_t n, int64_t d, const double* cores)
        : rows(X, n, d), reach((n + kTile - 1) / kTile), core(reach.size()), from(reach.size() * kTile, -1),
          id(n), left(n) {
        std::fill_n(reach[0].value, reach.size() * kTile, kFar);
        std::copy_n(cores, n, core[0].value);
        for (int64_t i = 0; i < n; ++i) id[i] = i;
    }
    void remove(int64_t slot) {
        const int64_t last = --left;
        for (int64_t a = 0; a < rows.d; ++a) rows.at(slot, a) = rows.at(last, a);
        reach[0].value[slot] = reach[0].value[last], core[0].value[slot] = core[0].value[last];
        from[slot] = from[last], id[slot] = id[last];
        reach[0].value[last] = kFar;  // beyond the end nothing is ever the least
    }
};

// One chunk of the rows that wait, as seen from a new one: who is now reached from there, and how near the nearest is.
struct Look {
    const Lanes* X;
    const Lanes* core;  // null: only the core distance of the new row counts
    Lanes* reach;
    int64_t* from;
    int64_t begin, end, d, row;
    const double* x;
    double own;    // its core distance, squared
    double least;  // out
};

template <typename Chunk>
LINKWISE_INLINE void look(Chunk& t) {
    const Lanes own = Lanes{} + t.own;
    Lanes least = Lanes{} + kFar;
    for (int64_t b = t.begin / 8; b * 8 < t.end; ++b) {
        Lanes far = block_squares(t.X + b * t.d, t.x, t.d);
        far = far > own ? far : own;
        if (t.core) far = far > t.core[b] ? far : t.core[b];
        LaneLabels from;
        std::memcpy(&from, t.from + b * 8, sizeof from);
        const LaneLabels nearer = far < t.reach[b];
        from = nearer ? LaneLabels{} + t.row : from;
        Lanes reach = nearer ? far : t.reach[b];
        for (int64_t j = t.end - b * 8; j < 8; ++j) reach[j] = kFar;  // beyond the end
        t.reach[b] = reach;
        std::memcpy(t.from + b * 8, &from, sizeof from);
        least = smaller(least, reach);
    }
    t.least = kFar;
    for (int64_t j = 0; j < 8; ++j) t.least = std::min(t.least, least[j]);
}

LINKWISE_SIMD void look_at(Look& t) { look(t); }

class Walk {
   public:
    template <typename T>
    Walk(const T* X, int64_t n, int64_t d, const double* core, bool mutual, int threads)
        : wait_(X, n, d, core), mutual_(mutual), x_(d), crew_(n * d < kShared ? 1 : threads) {}

    // From `slot` on; order, before and reach have n places.
    void run(int64_t slot, int64_t* order, int64_t* before, double* reach) {
        for (int64_t step = 0; wait_.left > 0; ++step) {
            const int64_t row = order[step] = wait_.id[slot];
            before[step] = wait_.from[slot];
            reach[step] = std::sqrt(wait_.reach[0].value[slot]);
            const double own = wait_.core[0].value[slot];
            wait_.rows.take(slot, x_.data());
            wait_.remove(slot);
            if (wait_.left > 0) slot = next(row, own);
        }
    }

   private:
    int64_t next(int64_t row, double own) {
        const int64_t left = wait_.left, d = wait_.rows.d, chunks = chunk_count(left);
        looks_.resize(chunks);
        const auto one = [&](int64_t c, int) {
            looks_[c] = Look{wait_.rows.lanes(), mutual_ ? wait_.core[0].lanes : nullptr, wait_.reach[0].lanes,
                             wait_.from.data(), c * kChunk, std::min(left, (c + 1) * kChunk), d, row, x_.data(),
                             own, kFar};
            look_at(looks_[c]);
        };
        if (left * d < kShared) {
            for (int64_t c = 0; c < chunks; ++c) one(c, 0);
        } else {
            crew_.run(chunks, one);
        }
        return first_of_nearest();
    }

    // Of equally near ones the first in the order of the rows.
    int64_t first_of_nearest() const {
        double least = kFar;
        for (const Look& t : looks_) least = std::min(least, t.least);
        int64_t best = -1;
        for (const Look& t : looks_) {
            if (t.least > least) continue;
            for (int64_t i = t.begin; i < t.end; ++i)
                if (wait_.reach[0].value[i] == least && (best < 0 || wait_.id[i] < wait_.id[best])) best = i;
        }
        return best;
    }

    Waiting wait_;
    const bool mutual_;
    std::vector<double> x_;
    std::vector<Look> looks_;
    Crew crew_;
};

template <typename T>
auto density_walk(Matrix<T> X, Vector<double> core, int64_t start, bool mutual, int threads) {
    const int64_t n = X.shape(0);
    check_rows("X", X);
    check_shape("core", core, n);
    check_between("start", start, 0, n - 1);
    Result<int64_t> order(n), before(n);
    Result<double> reach(n);
    {
        GilRelease release;
        Walk(X.data(), n, X.shape(1), core.data(), mutual, threads).run(start, order.get(), before.get(), reach.get());
    }
    const size_t rows = static_cast<size_t>(n);
    return std::make_tuple(order.release({rows}), before.release({rows}), reach.release({rows}));
}

}  // namespace

void register_walk(nb::module_& m) {
    define(m, "core_squares", core_squares<float>, core_squares<double>,
           R"(Compute the squared distance of each row to its k-th nearest row, itself the first: (n,).

Squares are summed in the order of the features. Time O(n^2 d), memory O(n d).)",
           nb::arg("X"), count("k"), count("n_threads"));
    define(m, "density_walk", density_walk<float>, density_walk<double>,
           R"(Visit all rows, next always the one that is reached at the least distance.

Of equally near rows the first comes first; if a row is reached from several rows at the same distance, the earliest
counts. core, (n,), are squared core distances; start is the first row. A row o is reached from p at the larger of the
core distance of p and the distance: the walk of OPTICS. If mutual, at the largest of both core distances and the
distance: a minimum spanning tree. Returns the rows (n,); the row that each was reached from (n,), -1 for the first; and
the distance (n,), infinite for the first. Time O(n^2 d), memory O(n d).

Ankerst, Breunig, Kriegel and Sander (1999), OPTICS: ordering points to identify the clustering structure. Campello,
Moulavi and Sander (2013), Density-based clustering based on hierarchical density estimates.)",
           nb::arg("X"), nb::arg("core"), nb::arg("start"), nb::arg("mutual"), count("n_threads"));
}

}  // namespace linkwise
