// DBSCAN (Ester, Kriegel, Sander and Xu 1996) for every pair of a radius and a number of neighbours.
//
// Of a distance only its level matters: the index of the smallest radius that reaches it. With
// M = the largest number of neighbours, two things hold every clustering there is (CORE-SG: Araújo
// Neto, Sander, Campello and Nascimento 2021): for each row the rows nearer than its core level for
// M, and one minimum spanning tree of the mutual-reachability levels for M. Two rows within a radius
// that are core for fewer than M neighbours either are in one of these lists, or reach the core
// levels for M, and then the tree joins them. A row that is no core row has all its neighbours in its
// list. So distances are computed twice, whatever the number of clusterings, and memory is O(n M).
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

using Level = uint8_t;
using LaneLevels = Level __attribute__((vector_size(8)));

// Rows as columns of 8 lanes, padded: X[i][a] is lanes[(i / 8) * d + a][i % 8].
struct Columns {
    int64_t n, d;
    std::vector<TileRow> store;
    const Lanes* lanes() const { return store[0].lanes; }

    template <typename T>
    Columns(const T* X, int64_t rows, int64_t features)
        : n(rows), d(features), store(((rows + 7) / 8 * features + 3) / 4) {
        double* to = store[0].value;
        for (int64_t i = 0; i < n; ++i)
            for (int64_t a = 0; a < d; ++a) to[((i / 8) * d + a) * 8 + i % 8] = static_cast<double>(X[i * d + a]);
    }
    double value(int64_t i, int64_t a) const { return store[0].value[((i / 8) * d + a) * 8 + i % 8]; }
};

// The levels of all rows as seen from one row; squares are summed in the order of the features.
struct LevelRow {
    const Lanes* X;
    int64_t n, d;
    const double* from;     // d
    const double* squares;  // n_levels radii, squared, ascending
    int64_t n_levels;
    Level* out;  // n, rounded up to a multiple of 8
};

template <typename Row>
LINKWISE_INLINE void level_row(const Row& t) {
    for (int64_t b = 0; b * 8 < t.n; ++b) {
        const Lanes* x = t.X + b * t.d;
        Lanes sum{};
        for (int64_t a = 0; a < t.d; ++a) {
            const Lanes q = x[a] - t.from[a];
            sum += q * q;
        }
        LaneLabels level{};
        for (int64_t l = 0; l < t.n_levels; ++l) level -= sum > t.squares[l];
        const LaneLevels narrow = __builtin_convertvector(level, LaneLevels);
        std::memcpy(t.out + b * 8, &narrow, 8);
    }
}

LINKWISE_SIMD void levels_from(const LevelRow& t) { level_row(t); }

// What is kept of the distances.
struct Neighbours {
    int64_t n, slots;           // room for that many neighbours of a row
    std::vector<Level> core;    // q x n: core level of each row for min_pts[q]
    std::vector<Level> widest;  // n: core level for M
    std::vector<int32_t> row;   // n x slots: rows nearer than `widest`
    std::vector<Level> level;   // n x slots: their levels
    std::vector<int32_t> count;  // n
};

struct Edge {
    int32_t a, b;
    Level level;
};

class AllDbscans {
   public:
    template <typename T>
    AllDbscans(const T* X, int64_t n, int64_t d, const double* eps, int64_t n_eps, const int64_t* min_pts,
               int64_t n_min_pts, const int64_t* weight, Crew& crew)
        : X_(X, n, d), weight_(weight), min_pts_(min_pts, min_pts + n_min_pts), crew_(crew) {
        for (int64_t l = 0; l < n_eps; ++l) squares_.push_back(eps[l] * eps[l]);
        find_neighbours();
        span();
    }

    // labels: n_min_pts x n_eps x n
    void label(int32_t* labels) {
        const int64_t size = static_cast<int64_t>(squares_.size()) * X_.n;
        crew_.run(static_cast<int64_t>(min_pts_.size()), [&](int64_t q, int) { cut(q, labels + q * size); });
    }

   private:
    void levels(int64_t i, double* from, Level* out) const {
        for (int64_t a = 0; a < X_.d; ++a) from[a] = X_.value(i, a);
        levels_from(LevelRow{X_.lanes(), X_.n, X_.d, from, squares_.data(), static_cast<int64_t>(squares_.size()),
                             out});
    }

    void find_neighbours() {
        const int64_t n = X_.n, n_levels = squares_.size();
        near_.n = n;
        const int64_t most = *std::max_element(min_pts_.begin(), min_pts_.end());
        near_.slots = std::min(n, most);
        near_.core.resize(min_pts_.size() * n);
        near_.widest.resize(n);
        near_.row.resize(n * near_.slots);
        near_.level.resize(n * near_.slots);
        near_.count.assign(n, 0);
        const int64_t blocks = (n + 63) / 64;
        crew_.run(blocks, [&](int64_t block, int) {
            std::vector<Level> row((n + 7) / 8 * 8);
            std::vector<double> from(X_.d);
            for (int64_t i = block * 64; i < std::min(n, block * 64 + 64); ++i) {
                levels(i, from.data(), row.data());
                std::array<int64_t, 256> within{};
                for (int64_t j = 0; j < n; ++j) within[row[j]] += weight_ ? weight_[j] : 1;
                for (int64_t l = 1; l < n_levels; ++l) within[l] += within[l - 1];
                const auto core_level = [&](int64_t wanted) {
                    int64_t l = 0;
                    while (l < n_levels && within[l] < wanted) ++l;
                    return static_cast<Level>(l);
                };
                for (size_t q = 0; q < min_pts_.size(); ++q) near_.core[q * n + i] = core_level(min_pts_[q]);
                const Level widest = near_.widest[i] = core_level(most);
                if (widest > 0) collect(i, row.data(), widest);
            }
        });
    }

    // Fewer than M rows lie below the core level for M, so the list has room for them.
    void collect(int64_t i, const Level* row, Level widest) {
        int32_t count = 0;
        for (int64_t j = 0; j < X_.n; ++j)
            if (row[j] < widest && j != i) {
                near_.row[i * near_.slots + count] = static_cast<int32_t>(j);
                near_.level[i * near_.slots + count] = row[j];
                ++count;
            }
        near_.count[i] = count;
    }

    // Prim's tree over the rows that are core for M at some radius; rows that nothing joins start anew.
    void span() {
        const int64_t n = X_.n;
        const Level never = static_cast<Level>(squares_.size());
        std::vector<int32_t> outside;
        for (int64_t i = 0; i < n; ++i)
            if (near_.widest[i] < never) outside.push_back(static_cast<int32_t>(i));
        std::vector<Level> row((n + 7) / 8 * 8), reach(n, never), plain(n, never);
        std::vector<int32_t> parent(n, -1);
        std::vector<double> from(X_.d);
        while (!outside.empty()) {
            size_t best = 0;
            for (size_t at = 1; at < outside.size(); ++at)
                if (reach[outside[at]] < reach[outside[best]]) best = at;
            const int32_t i = outside[best];
            outside[best] = outside.back();
            outside.pop_back();
            if (parent[i] >= 0) tree_.push_back({parent[i], i, plain[i]});
            levels(i, from.data(), row.data());
            for (const int32_t j : outside) {
                const Level mutual = std::max({row[j], near_.widest[i], near_.widest[j]});
                if (mutual < reach[j]) reach[j] = mutual, plain[j] = row[j], parent[j] = i;
            }
        }
    }

    // All radii for one number of neighbours, the smallest first: clusters only grow together.
    void cut(int64_t q, int32_t* labels) const {
        const int64_t n = X_.n, n_levels = squares_.size();
        const Level* core = &near_.core[q * n];
        std::vector<std::vector<Edge>> edges(n_levels);
        const auto add = [&](int32_t a, int32_t b, Level level) {
            const Level mutual = std::max({level, core[a], core[b]});
            if (mutual < n_levels) edges[mutual].push_back({a, b, mutual});
        };
        for (const Edge& e : tree_) add(e.a, e.b, e.level);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t at = i * near_.slots; at < i * near_.slots + near_.count[i]; ++at)
                add(static_cast<int32_t>(i), near_.row[at], near_.level[at]);
        std::vector<int32_t> parent(n);
        for (int64_t i = 0; i < n; ++i) parent[i] = static_cast<int32_t>(i);
        const auto root = [&](int32_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        for (int64_t l = 0; l < n_levels; ++l) {
            for (const Edge& e : edges[l]) {
                const int32_t a = root(e.a), b = root(e.b);
                parent[std::max(a, b)] = std::min(a, b);
            }
            number(core, static_cast<Level>(l), root, labels + l * n);
        }
    }

    // Clusters are numbered by their first core row; a border row goes to the first cluster it touches.
    template <typename Root>
    void number(const Level* core, Level level, const Root& root, int32_t* labels) const {
        int32_t clusters = 0;
        for (int64_t i = 0; i < X_.n; ++i) {
            if (core[i] > level) continue;
            const int32_t r = root(static_cast<int32_t>(i));
            labels[i] = r == i ? clusters++ : labels[r];
        }
        for (int64_t i = 0; i < X_.n; ++i) {
            if (core[i] <= level) continue;
            int32_t first = clusters;
            for (int64_t at = i * near_.slots; at < i * near_.slots + near_.count[i]; ++at) {
                const int32_t j = near_.row[at];
                if (near_.level[at] <= level && core[j] <= level) first = std::min(first, labels[j]);
            }
            labels[i] = first < clusters ? first : -1;
        }
    }

    const Columns X_;
    const int64_t* weight_;
    const std::vector<int64_t> min_pts_;
    Crew& crew_;
    std::vector<double> squares_;
    Neighbours near_;
    std::vector<Edge> tree_;
};

template <typename T>
Output<int32_t> all_dbscans(Matrix<T> X, Vector<double> eps, Vector<int64_t> min_pts, int threads,
                            std::optional<Vector<int64_t>> weight) {
    const int64_t n = X.shape(0), d = X.shape(1), n_eps = eps.shape(0), n_min_pts = min_pts.shape(0);
    check_rows("X", X);
    check_shape("eps", eps, kPositive);
    check_shape("min_pts", min_pts, kPositive);
    check_shape("weight", weight, n);
    if (n_eps > 255) refuse("eps holds ", n_eps, " radii. Pass at most 255 at once.");
    if (const int64_t least = *std::min_element(min_pts.data(), min_pts.data() + n_min_pts); least < 1)
        refuse("the smallest of min_pts must be at least 1, got ", least);
    Result<int32_t> labels(n_min_pts * n_eps * n);
    {
        GilRelease release;
        Crew crew(useful_threads(threads, n * n * d));
        AllDbscans(X.data(), n, d, eps.data(), n_eps, min_pts.data(), n_min_pts, data_or_null(weight), crew)
            .label(labels.get());
    }
    return labels.release({static_cast<size_t>(n_min_pts), static_cast<size_t>(n_eps), static_cast<size_t>(n)});
}

// The smallest positive and the largest squared distance from one row to the rows before it.
struct Extremes {
    const Lanes* X;
    int64_t n, d;
    const double* from;
    double least, most;
};

template <typename Row>
LINKWISE_INLINE void extremes(Row& t) {
    for (int64_t b = 0; b * 8 < t.n; ++b) {
        const Lanes* x = t.X + b * t.d;
        Lanes sum{};
        for (int64_t a = 0; a < t.d; ++a) {
            const Lanes q = x[a] - t.from[a];
            sum += q * q;
        }
        for (int64_t j = 0; j < std::min<int64_t>(8, t.n - b * 8); ++j) {
            if (sum[j] > t.most) t.most = sum[j];
            if (sum[j] > 0 && sum[j] < t.least) t.least = sum[j];
        }
    }
}

LINKWISE_SIMD void extremes_from(Extremes& t) { extremes(t); }

template <typename T>
std::pair<double, double> distance_range(Matrix<T> X, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), blocks = (n + 63) / 64;
    check_rows("X", X);
    double least = std::numeric_limits<double>::infinity(), most = 0;
    {
        GilRelease release;
        const Columns columns(X.data(), n, d);
        std::vector<double> low(blocks, least), high(blocks, 0.0);
        Crew crew(useful_threads(threads, n * n * d / 2));
        crew.run(blocks, [&](int64_t block, int) {
            std::vector<double> from(d);
            for (int64_t i = block * 64; i < std::min(n, block * 64 + 64); ++i) {
                for (int64_t a = 0; a < d; ++a) from[a] = columns.value(i, a);
                Extremes t{columns.lanes(), i, d, from.data(), low[block], high[block]};
                extremes_from(t);
                low[block] = t.least, high[block] = t.most;
            }
        });
        for (int64_t block = 0; block < blocks; ++block)
            least = std::min(least, low[block]), most = std::max(most, high[block]);
    }
    return {most > 0 ? least : 0.0, most};
}

}  // namespace

void register_dbscan(nb::module_& m) {
    define(m, "all_dbscans", all_dbscans<float>, all_dbscans<double>,
           R"(Run DBSCAN for every pair of a radius and a number of neighbours: labels (P, E, n).

Two rows are neighbours when their squared distance, summed in the order of the features, is at most the
squared radius; a row is its own neighbour. eps, (E,), are at most 255 radii, not negative and ascending;
min_pts, (P,), are numbers of neighbours of a core row, itself included; weight, (n,), counts each row. Labels,
their numbers and the clusters of border rows are those of scikit-learn's DBSCAN(algorithm="kd_tree"): 0, 1, ...
in order of their first core rows; -1 is noise. Time O(n^2 d) once and O(n M) a clustering, memory O(n M),
where M is the largest of min_pts.

Ester, Kriegel, Sander and Xu (1996), A density-based algorithm for discovering clusters in large spatial
databases with noise. Araujo Neto, Sander, Campello and Nascimento (2021), Core-SG: efficient computation of
multiple MSTs for density-based methods.)",
           nb::arg("X"), nb::arg("eps"), nb::arg("min_pts"), count("n_threads"), nb::arg("weight") = nb::none());
    define(m, "distance_range", distance_range<float>, distance_range<double>,
           R"(Return the smallest positive and the largest squared distance between two rows.

Both are 0 if all rows are equal. Squares are summed in the order of the features.)",
           nb::arg("X"), count("n_threads"));
}

}  // namespace linkwise
