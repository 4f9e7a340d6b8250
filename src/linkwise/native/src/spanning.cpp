// Walks over rows by density, as walk.cpp makes them and to the last bit, by a tree of boxes instead of all distances.
//
// A row o is reached from p at w = max(core of p, distance) (OPTICS), or at the mutual reachability, the largest of
// both core distances and the distance. Whichever row comes next, the least w that leads out of the rows visited is
// that of an edge of one of two kinds:
// - o is within the core distance of p, or p within that of o: the rows near each other, found with the core distances;
// - otherwise w is the distance itself and exceeds both core distances. Then all paths from p to o over shorter edges
//   of mutual reachability are closed, for the least w out of a set is at most that of any edge out of it. So the edge
//   is in some minimum spanning tree of mutual reachability.
// Boruvka's algorithm finds the second kind: in each round every component but the largest takes a shortest edge that
// leaves it, and lists all edges of that length. (An edge between p and o of length w can be left out only if the rows
// below w around p and around o join in one round without either of them having listed w. Each component joins by the
// one edge that it takes, so a chain of components from one to the other needs an edge of one of the two ends. That
// end takes length w only when it is complete below w, and then it lists the edge.) Prim's algorithm over these
// edges, with the ties of walk.cpp, is the walk.
//
// Equal rows that follow each other are one row of a weight.
#include <atomic>
#include <queue>

#include "checks.hpp"
#include "row_tree.hpp"

namespace linkwise {

namespace {

constexpr double kFar = RowTree::kNowhere;
constexpr int64_t kTask = 64;       // positions that a thread takes at once
constexpr int64_t kMostTied = 512;  // rows within a core distance, or at one distance; more come only of ties
constexpr int64_t kProbes = 64;     // rows that tell what a search costs

struct Edge {
    int32_t to;
    double square;
};

// ---------------------------------------------------------------- core distances
// The rows within the core distance, nearest first; those that tie with the last are kept.
struct NearRows {
    const int32_t* row;     // by position
    const int32_t* weight;  // by row; null: 1 each
    int64_t n, k, blocks = 0;
    std::vector<Edge> edges = {};
    double most = kFar;
    bool overflow = false;

    double bound() const { return most; }
    LINKWISE_INLINE void raise(Lanes&, int64_t, int64_t) { ++blocks; }
    LINKWISE_INLINE void block(const Lanes& squares, int64_t b) {
        ++blocks;
        if (!any_lane(squares <= most)) return;
        for (int64_t j = 0; j < std::min<int64_t>(8, n - b * 8); ++j)
            if (squares[j] <= most) add(row[b * 8 + j], squares[j]);
    }
    void add(int32_t to, double square) {
        size_t at = edges.size();
        edges.push_back({to, square});
        for (; at > 0 && edges[at - 1].square > square; --at) edges[at] = edges[at - 1];
        edges[at] = {to, square};
        int64_t total = 0;
        for (const Edge& e : edges) {
            total += weight ? weight[e.to] : 1;
            if (total >= k) {
                most = e.square;
                break;
            }
        }
        while (edges.back().square > most) edges.pop_back();
        if (static_cast<int64_t>(edges.size()) > kMostTied) overflow = true, most = -1;
    }
};

LINKWISE_SIMD void find_near(const RowTree& tree, const double* x, NearRows& near) { search_tree(tree, x, near); }

// ---------------------------------------------------------------- the shortest edge out of a component
// What a search for edges knows of the rows by position, and of the boxes; all of it changes with each round.
struct Parts {
    std::vector<int32_t> of;                 // component of each position
    std::vector<double> core;                // squared
    std::vector<std::vector<int32_t>> box;   // component of each node of each level; -1: several
    std::vector<std::vector<double>> least;  // least core of each node
};

LINKWISE_INLINE void raise_by_parts(const Parts& parts, int32_t own, double core, Lanes& away, int64_t level,
                                    int64_t g) {
    const int32_t* box = &parts.box[level][g * 8];
    const double* least = &parts.least[level][g * 8];
    for (int64_t j = 0; j < 8; ++j) {
        const double far = std::max(std::max(away[j], core), least[j]);
        away[j] = box[j] == own ? kFar : far;
    }
}

struct WayOut {
    const Parts& parts;
    const int32_t* row;
    int64_t n;
    int32_t own;
    double core, most;  // most: longer edges are of no use
    double square = kFar;
    int32_t to = -1;

    double bound() const { return most; }
    LINKWISE_INLINE void raise(Lanes& away, int64_t level, int64_t g) {
        raise_by_parts(parts, own, core, away, level, g);
    }
    LINKWISE_INLINE void block(const Lanes& squares, int64_t b) {
        if (!any_lane(squares <= most)) return;
        for (int64_t j = 0; j < std::min<int64_t>(8, n - b * 8); ++j) {
            const int64_t at = b * 8 + j;
            if (!(squares[j] <= most) || parts.of[at] == own) continue;
            const double far = std::max(std::max(squares[j], core), parts.core[at]);
            if (far < square || (far == square && row[at] < to)) {
                if (far > most) continue;
                square = most = far, to = row[at];
            }
        }
    }
};

LINKWISE_SIMD void find_way_out(const RowTree& tree, const double* x, WayOut& way) { search_tree(tree, x, way); }

// All rows of other components at exactly one distance.
struct Ties {
    const Parts& parts;
    const int32_t* row;
    int64_t n;
    int32_t own;
    double core, square;
    std::vector<int32_t> to = {};

    double bound() const { return static_cast<int64_t>(to.size()) > kMostTied ? -1 : square; }
    LINKWISE_INLINE void raise(Lanes& away, int64_t level, int64_t g) {
        raise_by_parts(parts, own, core, away, level, g);
    }
    LINKWISE_INLINE void block(const Lanes& squares, int64_t b) {
        if (!any_lane(squares == square)) return;
        for (int64_t j = 0; j < std::min<int64_t>(8, n - b * 8); ++j) {
            const int64_t at = b * 8 + j;
            if (squares[j] == square && parts.of[at] != own && parts.core[at] <= square) to.push_back(row[at]);
        }
    }
};

LINKWISE_SIMD void find_ties(const RowTree& tree, const double* x, Ties& ties) { search_tree(tree, x, ties); }

// ---------------------------------------------------------------- the graph
struct Candidate {
    int32_t from, to;
    double square;
};

class Spanning {
   public:
    template <typename T>
    Spanning(const T* X, int64_t n, int64_t d, int64_t k, Crew& crew)
        : n_(n), k_(k), crew_(crew), first_(first_rows(X, n, d)), tree_(X, first_, d), m_(tree_.n), place_(m_) {
        for (int64_t at = 0; at < m_; ++at) place_[tree_.row[at]] = static_cast<int32_t>(at);
        if (m_ < n_) {
            weight_.resize(m_);
            for (int64_t c = 0; c < m_; ++c) weight_[c] = static_cast<int32_t>(end_of(c) - first_[c]);
        }
    }

    // Whether searches look at no more than this share of all blocks.
    bool pays(double share) {
        std::vector<double> x(tree_.d);
        int64_t blocks = 0;
        const int64_t probes = std::min(kProbes, m_);
        for (int64_t i = 0; i < probes; ++i) {
            NearRows near = make_near();
            tree_.take(i * m_ / probes, x.data());
            find_near(tree_, x.data(), near);
            if (near.overflow) return false;
            blocks += near.blocks;
        }
        return static_cast<double>(blocks) <= share * static_cast<double>(probes * ((n_ + 7) / 8));
    }

    // False if too many rows tie.
    bool find_edges(double* core) { return find_cores(core) && find_tree(); }

    void walk(const double* core, bool mutual, int64_t* order, int64_t* before, double* reach);

   private:
    template <typename T>
    static std::vector<int64_t> first_rows(const T* X, int64_t n, int64_t d) {
        std::vector<int64_t> first{0};
        for (int64_t i = 1; i < n; ++i)
            if (!std::equal(X + i * d, X + (i + 1) * d, X + (i - 1) * d)) first.push_back(i);
        return first;
    }
    int64_t end_of(int64_t c) const { return c + 1 < m_ ? first_[c + 1] : n_; }
    NearRows make_near() const {
        return {tree_.row.data(), weight_.empty() ? nullptr : weight_.data(), m_, k_};
    }

    bool find_cores(double* core) {
        near_.resize(m_);
        std::atomic<bool> overflow = false;
        crew_.run((m_ + kTask - 1) / kTask, [&](int64_t task, int) {
            std::vector<double> x(tree_.d);
            for (int64_t at = task * kTask; at < std::min(m_, (task + 1) * kTask); ++at) {
                NearRows near = make_near();
                tree_.take(at, x.data());
                find_near(tree_, x.data(), near);
                if (near.overflow) {
                    overflow = true;
                    return;
                }
                const int32_t c = tree_.row[at];
                for (int64_t i = first_[c]; i < end_of(c); ++i) core[i] = near.most;
                std::erase_if(near.edges, [c](const Edge& e) { return e.to == c; });
                near_[c] = std::vector<Edge>(near.edges.begin(), near.edges.end());
            }
        });
        if (overflow) return false;
        parts_.core.resize(m_);
        for (int64_t at = 0; at < m_; ++at) parts_.core[at] = core[first_[tree_.row[at]]];
        return true;
    }

    bool find_tree();
    void renew_boxes();
    void note_least(std::vector<std::atomic<double>>& least, int32_t part, double square) const {
        double now = least[part].load(std::memory_order_relaxed);
        while (square < now && !least[part].compare_exchange_weak(now, square, std::memory_order_relaxed)) {
        }
    }

    const int64_t n_, k_;
    Crew& crew_;
    const std::vector<int64_t> first_;  // first of each run of equal rows; these are the rows of the tree
    const RowTree tree_;
    const int64_t m_;
    std::vector<int32_t> place_, weight_;
    std::vector<std::vector<Edge>> near_;  // by row: all within the core distance
    std::vector<Candidate> far_;           // edges longer than both core distances
    Parts parts_;
};

void Spanning::renew_boxes() {
    const size_t levels = tree_.levels.size();
    parts_.box.resize(levels), parts_.least.resize(levels);
    for (size_t l = 0; l < levels; ++l) {
        const int64_t count = tree_.levels[l].count, padded = (count + 7) / 8 * 8;
        parts_.box[l].assign(padded, -1);
        parts_.least[l].assign(padded, kFar);
        const std::vector<int32_t>& of = l ? parts_.box[l - 1] : parts_.of;
        const std::vector<double>& core = l ? parts_.least[l - 1] : parts_.core;
        const int64_t inner = l ? tree_.levels[l - 1].count : m_;
        for (int64_t i = 0; i < count; ++i) {
            int32_t part = of[i * 8];
            double least = kFar;
            for (int64_t j = i * 8; j < std::min(inner, i * 8 + 8); ++j) {
                if (of[j] != part) part = -1;
                least = std::min(least, core[j]);
            }
            parts_.box[l][i] = part, parts_.least[l][i] = least;
        }
    }
}

// What is known of the shortest edge out of the component of each position. With `to` it is of length `square`;
// without, it is longer than that.
struct Known {
    double square;
    int32_t to;
};

bool Spanning::find_tree() {
    std::vector<Known> known(m_);
    std::vector<std::atomic<double>> least(m_);
    std::vector<int32_t> above(m_), pick(m_);
    std::vector<int64_t> size(m_);
    parts_.of.resize(m_);
    for (int64_t at = 0; at < m_; ++at) {
        parts_.of[at] = above[at] = static_cast<int32_t>(at);
        known[at] = {parts_.core[at], -1};
        for (const Edge& e : near_[tree_.row[at]])  // nothing is shorter than the core distance
            if (parts_.core[place_[e.to]] <= parts_.core[at] && (known[at].to < 0 || e.to < known[at].to))
                known[at].to = e.to;
        if (known[at].to < 0) known[at].square = std::nextafter(parts_.core[at], -kFar);
    }
    const auto top = [&](int32_t i) {
        while (above[i] != i) i = above[i] = above[above[i]];
        return i;
    };
    const int64_t tasks = (m_ + kTask - 1) / kTask;
    for (int64_t left = m_; left > 1;) {
        renew_boxes();
        std::fill(size.begin(), size.end(), 0);
        for (int64_t at = 0; at < m_; ++at) ++size[parts_.of[at]], least[at] = kFar;
        const int32_t largest = static_cast<int32_t>(std::max_element(size.begin(), size.end()) - size.begin());
        crew_.run(tasks, [&](int64_t task, int) {  // what is known without a search
            for (int64_t at = task * kTask; at < std::min(m_, (task + 1) * kTask); ++at) {
                const int32_t own = parts_.of[at];
                if (own == largest) continue;
                if (known[at].to >= 0 && parts_.of[place_[known[at].to]] == own)
                    known[at] = {std::nextafter(known[at].square, -kFar), -1};
                if (known[at].to >= 0) note_least(least, own, known[at].square);
                for (const Edge& e : near_[tree_.row[at]]) {
                    const int32_t to = place_[e.to];
                    if (parts_.of[to] != own) note_least(least, own, std::max(parts_.core[at], parts_.core[to]));
                }
            }
        });
        crew_.run(tasks, [&](int64_t task, int) {
            std::vector<double> x(tree_.d);
            for (int64_t at = task * kTask; at < std::min(m_, (task + 1) * kTask); ++at) {
                const int32_t own = parts_.of[at];
                const double most = least[own].load(std::memory_order_relaxed);
                if (own == largest || known[at].to >= 0 || known[at].square >= most) continue;
                WayOut way{parts_, tree_.row.data(), m_, own, parts_.core[at], most};
                tree_.take(at, x.data());
                find_way_out(tree_, x.data(), way);
                known[at] = way.to < 0 ? Known{most, -1} : Known{way.square, way.to};
                if (way.to >= 0) note_least(least, own, way.square);
            }
        });
        std::fill(pick.begin(), pick.end(), -1);
        std::vector<int64_t> tied;
        for (int64_t at = 0; at < m_; ++at) {
            const int32_t own = parts_.of[at];
            if (own == largest || known[at].to < 0 || known[at].square != least[own].load()) continue;
            if (pick[own] < 0) pick[own] = static_cast<int32_t>(at);
            if (known[at].square > parts_.core[at]) tied.push_back(at);
        }
        std::vector<std::vector<int32_t>> ends(tied.size());
        crew_.run((static_cast<int64_t>(tied.size()) + kTask - 1) / kTask, [&](int64_t task, int) {
            std::vector<double> x(tree_.d);
            for (size_t i = task * kTask; i < std::min<size_t>(tied.size(), (task + 1) * kTask); ++i) {
                const int64_t at = tied[i];
                Ties ties{parts_, tree_.row.data(), m_, parts_.of[at], parts_.core[at], known[at].square, {}};
                tree_.take(at, x.data());
                find_ties(tree_, x.data(), ties);
                ends[i] = std::move(ties.to);
            }
        });
        for (size_t i = 0; i < tied.size(); ++i) {
            if (static_cast<int64_t>(ends[i].size()) > kMostTied) return false;
            for (const int32_t to : ends[i]) far_.push_back({tree_.row[tied[i]], to, known[tied[i]].square});
        }
        for (int64_t part = 0; part < m_; ++part) {
            if (pick[part] < 0) continue;
            const int32_t a = top(static_cast<int32_t>(part)), b = top(parts_.of[place_[known[pick[part]].to]]);
            if (a != b) above[std::max(a, b)] = std::min(a, b), --left;
        }
        for (int64_t at = 0; at < m_; ++at) parts_.of[at] = top(parts_.of[at]);
    }
    return true;
}

// ---------------------------------------------------------------- the walk
void Spanning::walk(const double* core, bool mutual, int64_t* order, int64_t* before, double* reach) {
    std::vector<int64_t> start(m_ + 1, 0);
    for (int64_t c = 0; c < m_; ++c)
        for (const Edge& e : near_[c]) ++start[c + 1], ++start[e.to + 1];
    for (const Candidate& e : far_) ++start[e.from + 1], ++start[e.to + 1];
    for (int64_t c = 0; c < m_; ++c) start[c + 1] += start[c];
    std::vector<int64_t> next(start.begin(), start.end() - 1);
    std::vector<Edge> edges(start[m_]);
    const auto join = [&](int32_t a, int32_t b, double square) {
        edges[next[a]++] = {b, square};
        edges[next[b]++] = {a, square};
    };
    for (int64_t c = 0; c < m_; ++c) {
        for (const Edge& e : near_[c]) join(static_cast<int32_t>(c), e.to, e.square);
        near_[c] = {};
    }
    for (const Candidate& e : far_) join(e.from, e.to, e.square);

    struct Waiting {
        double square;
        int64_t row;
        int32_t of;
        bool operator<(const Waiting& other) const {  // the queue has its largest in front
            return square != other.square ? square > other.square : row > other.row;
        }
    };
    std::priority_queue<Waiting> queue;
    std::vector<int64_t> from(m_, -1), place(first_);  // place: the next copy of each row to visit
    std::vector<double> best(m_, kFar);
    const int64_t begin = std::min_element(core, core + n_) - core;
    const auto after = std::upper_bound(first_.begin(), first_.end(), begin);
    queue.push({kFar, begin, static_cast<int32_t>(after - first_.begin()) - 1});
    for (int64_t step = 0; step < n_;) {
        const Waiting now = queue.top();
        queue.pop();
        const int32_t c = now.of;
        if (place[c] != now.row || now.square > best[c]) continue;
        order[step] = now.row, before[step] = from[c], reach[step++] = std::sqrt(now.square);
        const double own = core[now.row];
        const bool is_first = now.row == first_[c];
        if (++place[c] < end_of(c)) {
            if (own < best[c]) best[c] = own, from[c] = now.row;
            queue.push({best[c], place[c], c});
        }
        if (!is_first) continue;  // copies reach nothing sooner
        for (int64_t at = start[c]; at < start[c + 1]; ++at) {
            const int32_t to = edges[at].to;
            if (place[to] == end_of(to)) continue;
            double square = std::max(own, edges[at].square);
            if (mutual) square = std::max(square, core[first_[to]]);
            if (square >= best[to]) continue;
            best[to] = square, from[to] = now.row;
            queue.push({square, place[to], to});
        }
    }
}

template <typename T>
std::optional<std::tuple<Output<double>, Output<int64_t>, Output<int64_t>, Output<double>>> span_walk(
    Matrix<T> X, int64_t k, bool mutual, double share, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1);
    check_rows("X", X);
    check_between("k", k, 1, n);
    Result<int64_t> order(n), before(n);
    Result<double> core(n), reach(n);
    bool done;
    {
        GilRelease release;
        Crew crew(useful_threads(threads, n * d * 64));
        Spanning spanning(X.data(), n, d, k, crew);
        done = spanning.pays(share) && spanning.find_edges(core.get());
        if (done) spanning.walk(core.get(), mutual, order.get(), before.get(), reach.get());
    }
    if (!done) return std::nullopt;
    const size_t rows = static_cast<size_t>(n);
    return std::make_tuple(core.release({rows}), order.release({rows}), before.release({rows}), reach.release({rows}));
}

}  // namespace

void register_spanning(nb::module_& m) {
    define(m, "span_walk", span_walk<float>, span_walk<double>,
           R"(Return core_squares and the density_walk from the densest row by searches of near rows, if these pay.

The nearest rows are searched in a tree of boxes. If this looks at no more than a share of all rows, the walk is found
by such searches: Boruvka's minimum spanning tree and the rows within each core distance contain every edge that the
walk can take. Otherwise, and where hundreds of rows tie, the result is None. Time about O(n log n) for few features;
memory O(n (d + k)).

March, Ram and Gray (2010), Fast Euclidean minimum spanning tree: algorithm, analysis, and applications. McInnes and
Healy (2017), Accelerated hierarchical density based clustering.)",
           nb::arg("X"), count("k"), nb::arg("mutual"), nb::arg("share"), count("n_threads"));
}

}  // namespace linkwise
