// The best ways to split one leaf of a clustering tree (Struyf and Dzeroski 2007, section 3).
//
// The rows of the leaf are moved one by one from the second side to the first, in the order of each test.
// What the sum of squares becomes follows from the sum of the moved rows, and needs no label: of all places
// between two rows with constraints only the best is kept (leaf_squares). What the constraints become
// follows from counts by component, since all rows of a component bear the same constraints, so that the
// closure is never written out (best_splits). Labels that change cost the second part only.
#include <limits>
#include <optional>
#include <vector>

#include <nanobind/stl/vector.h>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

inline constexpr int64_t kAhead = 16;  // rows that are fetched before they are needed
inline constexpr double kTie = 1e-12;  // scores this near are equal, and the first stands

struct alignas(64) Eight {  // within a vector a bare Lanes would lose its alignment
    Lanes lanes;
};

struct Count {
    int32_t at;
    int64_t number;
};

// Constraints as they stand: rows that bear any are numbered by component ("places").
struct Standing {
    const int32_t* component; // of each place
    const int64_t* first;     // places of component c: first[c] .. first[c + 1]
    const int64_t* foe_first;
    const int32_t* foe;       // components that are apart from each
    const int32_t* label;     // of each place
    int64_t components, places;
};

// The components with rows in the leaf, numbered anew, and what they bear towards rows outside.
struct Inside {
    std::vector<int32_t> local;                  // of each component, or -1
    std::vector<int64_t> rows;                   // in the leaf
    std::vector<std::vector<int32_t>> foes;      // local numbers
    std::vector<std::vector<Count>> must, cannot;  // rows outside, by label
    std::vector<int64_t> must_total, cannot_total;  // by label, over the rows of the leaf
    int64_t must_all = 0, cannot_inside = 0;
};

inline void add_count(std::vector<Count>& counts, std::vector<int32_t>& where, int32_t label, int64_t number) {
    if (where[label] < 0) {
        where[label] = static_cast<int32_t>(counts.size());
        counts.push_back({label, 0});
    }
    counts[where[label]].number += number;
}

inline void forget(const std::vector<Count>& counts, std::vector<int32_t>& where) {
    for (const Count& c : counts) where[c.at] = -1;
}

// Rows of a component outside the leaf, by label.
inline std::vector<Count> outside(const Standing& s, int64_t component, const std::vector<uint8_t>& in,
                                  std::vector<int32_t>& where) {
    std::vector<Count> counts;
    for (int64_t p = s.first[component]; p < s.first[component + 1]; ++p)
        if (!in[p]) add_count(counts, where, s.label[p], 1);
    forget(counts, where);
    return counts;
}

inline Inside look_inside(const Standing& s, const int32_t* places, int64_t m, int64_t labels) {
    Inside t;
    t.local.assign(s.components, -1);
    t.must_total.assign(labels, 0);
    t.cannot_total.assign(labels, 0);
    std::vector<uint8_t> in(s.places, 0);
    std::vector<int32_t> members;  // component of each local number
    for (int64_t q = 0; q < m; ++q) {
        const int32_t p = places[q];
        in[p] = 1;
        const int32_t c = s.component[p];
        if (t.local[c] < 0) {
            t.local[c] = static_cast<int32_t>(members.size());
            members.push_back(c);
            t.rows.push_back(0);
        }
        t.rows[t.local[c]]++;
    }
    std::vector<int32_t> where(labels, -1), scratch(labels, -1);
    std::vector<std::optional<std::vector<Count>>> known(s.components);
    auto out = [&](int64_t c) -> const std::vector<Count>& {
        if (!known[c]) known[c] = outside(s, c, in, scratch);
        return *known[c];
    };
    t.must.resize(members.size()), t.cannot.resize(members.size()), t.foes.resize(members.size());
    for (size_t l = 0; l < members.size(); ++l) {
        const int32_t c = members[l];
        t.must[l] = out(c);
        for (int64_t f = s.foe_first[c]; f < s.foe_first[c + 1]; ++f) {
            const int32_t other = s.foe[f];
            for (const Count& o : out(other)) add_count(t.cannot[l], where, o.at, o.number);
            if (t.local[other] < 0) continue;
            t.foes[l].push_back(t.local[other]);
            if (other > c) t.cannot_inside += t.rows[l] * t.rows[t.local[other]];
        }
        forget(t.cannot[l], where);
        for (const Count& o : t.must[l]) t.must_total[o.at] += t.rows[l] * o.number, t.must_all += t.rows[l] * o.number;
        for (const Count& o : t.cannot[l]) t.cannot_total[o.at] += t.rows[l] * o.number;
    }
    return t;
}

// Which labels the two sides may have.
struct Labels {
    const uint8_t* allowed;
    int64_t count;
    int free;       // labels that may be new, at most 2
    bool evidence;  // an old label needs a must-link to it
};

struct Side {
    std::vector<int64_t> must, cannot;  // rows outside that its rows are linked to, by label
    int64_t all = 0;
};

// The least that a side can break with an old label, the label, and the least with another one.
struct Best {
    int64_t least = -1, label = -1, second = -1;
};

inline Best best_label(const Side& side, const Labels& labels) {
    Best b;
    for (int64_t c = 0; c < labels.count; ++c) {
        if (!labels.allowed[c] || (labels.evidence && side.must[c] == 0)) continue;
        const int64_t broken = side.cannot[c] + side.all - side.must[c];
        if (b.least < 0 || broken < b.least)
            b.second = b.least, b.least = broken, b.label = c;
        else if (b.second < 0 || broken < b.second)
            b.second = broken;
    }
    return b;
}

struct Pick {
    int64_t broken = -1, label = -1;  // label -1: new; broken -1: none is possible
};

inline Pick pick(const Best& best, int64_t banned, int64_t all, bool may_be_new) {
    Pick p;
    if (best.least >= 0 && best.label != banned) p = {best.least, best.label};
    else if (best.second >= 0) p = {best.second, -2};  // some other label: which one does not matter here
    if (may_be_new && (p.broken < 0 || all < p.broken)) p = {all, -1};
    return p;
}

// What the two sides break together with different labels, the better of both orders; -1: not possible.
inline int64_t broken_outside(const Side& one, const Side& two, const Labels& labels) {
    const Best a = best_label(one, labels), b = best_label(two, labels);
    int64_t least = -1;
    for (int order = 0; order < 2; ++order) {
        const Side &first = order ? two : one, &then = order ? one : two;
        const Pick p = pick(order ? b : a, -3, first.all, labels.free > 0);
        if (p.broken < 0) continue;
        const Pick q = pick(order ? a : b, p.label, then.all, labels.free > (p.label == -1));
        if (q.broken >= 0 && (least < 0 || p.broken + q.broken < least)) least = p.broken + q.broken;
    }
    return least;
}

struct Candidate {
    double score, between;
    int64_t attribute, size, broken;
};

// The few best candidates, in order; equals stay in the order of their coming.
class Shortlist {
   public:
    explicit Shortlist(int64_t most) : most_(most) {}
    void offer(const Candidate& c) {
        auto at = list_.end();
        while (at != list_.begin() && c.score < (at - 1)->score - kTie) --at;
        if (at - list_.begin() >= most_) return;
        list_.insert(at, c);
        if (static_cast<int64_t>(list_.size()) > most_) list_.pop_back();
    }
    const std::vector<Candidate>& list() const { return list_; }

   private:
    int64_t most_;
    std::vector<Candidate> list_;
};

// The constraints of the two sides while rows move from the second to the first.
class Moving {
   public:
    Moving(const Standing& s, const Inside& in) : standing_(s), in_(in), moved_(in.rows.size()) {}

    void begin() {
        std::fill(moved_.begin(), moved_.end(), 0);
        one.must.assign(in_.must_total.size(), 0);
        one.cannot = one.must;
        one.all = 0;
        two = {in_.must_total, in_.cannot_total, in_.must_all};
        inside = in_.cannot_inside;
    }

    void move(int32_t p) {
        const int32_t c = in_.local[standing_.component[p]];
        inside += in_.rows[c] - 2 * moved_[c] - 1;  // must-links to its component, of which one side grows
        for (int32_t f : in_.foes[c]) inside += 2 * moved_[f] - in_.rows[f];
        for (const Count& o : in_.must[c])
            one.must[o.at] += o.number, two.must[o.at] -= o.number, one.all += o.number, two.all -= o.number;
        for (const Count& o : in_.cannot[c]) one.cannot[o.at] += o.number, two.cannot[o.at] -= o.number;
        moved_[c]++;
    }

    Side one, two;
    int64_t inside = 0;  // constraints between rows of the leaf that are broken

   private:
    const Standing& standing_;
    const Inside& in_;
    std::vector<int64_t> moved_;
};

// Of one test: the best place to cut after each number of rows with constraints.
struct Cuts {
    double* between;  // squares that the cut takes away; -1 where there is none
    int32_t* size;    // rows moved
    int32_t* places;  // rows with constraints, as they come
};

struct Leaf {
    const double* Z;  // rows of `width` features, a multiple of 8
    int64_t width, m;
    const double* weight;  // of the rows; null: 1 each
    const int32_t* place;  // of the rows
    const uint64_t* linked;  // a bit for each row: whether it has a place
    const double* mean;    // of the leaf
    double total;          // weight of the leaf
    double least;          // weight of a side
    double tie;            // squares this near are equal
};

// Rows come in any order: without this each waits for memory.
LINKWISE_INLINE void fetch_row(const double* Z, int64_t width, int64_t row) {
    for (int64_t a = 0; a < width; a += 8) __builtin_prefetch(Z + row * width + a);
}

inline constexpr int64_t kBlock = 8;  // rows whose cuts are scored together

// A block of rows: what each cut before one of them would take away. `sum` grows by the rows.
template <typename Sums>
LINKWISE_INLINE void score_block(const Leaf& leaf, const int32_t* order, int64_t count, int64_t vectors, Sums& sum,
                                 double& moved, double* between, double* before) {
    double lanes[kBlock][8], square[kBlock];
    for (int64_t j = 0; j < count; ++j) {
        const int32_t row = order[j];
        const double weight = leaf.weight ? leaf.weight[row] : 1.0, *z = leaf.Z + row * leaf.width;
        Lanes squares{};
        for (int64_t v = 0; v < vectors; ++v) {
            squares += sum[v].lanes * sum[v].lanes;
            Lanes values, mean;
            std::memcpy(&values, z + 8 * v, sizeof values);
            std::memcpy(&mean, leaf.mean + 8 * v, sizeof mean);
            sum[v].lanes += weight * (values - mean);
        }
        std::memcpy(lanes[j], &squares, sizeof squares);
        before[j] = moved;
        moved += weight;
    }
    for (int64_t j = 0; j < count; ++j) {
        double total = 0;
        for (int64_t lane = 0; lane < 8; ++lane) total += lanes[j][lane];
        square[j] = total;
    }
    for (int64_t j = 0; j < count; ++j) between[j] = square[j] * (1 / before[j] + 1 / (leaf.total - before[j]));
}

// All cuts of one test, in order. `rank` is null where no two rows have equal values.
template <typename Sums>
LINKWISE_INLINE void cut_all(const Leaf& leaf, const int32_t* order, const int32_t* rank, int64_t vectors, Sums& sum,
                             Cuts cuts) {
    double moved = 0, best = -1, between[kBlock], before[kBlock];
    int32_t at = 0;
    for (int64_t begin = 0; begin < leaf.m; begin += kBlock) {
        const int64_t count = std::min(kBlock, leaf.m - begin);
        for (int64_t q = begin + kAhead; q < std::min(leaf.m, begin + kAhead + kBlock); ++q)
            fetch_row(leaf.Z, leaf.width, order[q]);
        if (count == kBlock) score_block(leaf, order + begin, kBlock, vectors, sum, moved, between, before);
        else score_block(leaf, order + begin, count, vectors, sum, moved, between, before);
        uint64_t any = 0;
        const double bound = best + (best < 0 ? 0 : leaf.tie);
        for (int64_t j = 0; j < count; ++j) {
            const int32_t row = order[begin + j];
            any |= static_cast<uint64_t>(between[j] > bound) | (leaf.linked[row >> 6] >> (row & 63) & 1);
        }
        if (!any) continue;
        for (int64_t j = 0; j < count; ++j) {
            const int64_t q = begin + j;
            const int32_t row = order[q];
            if (between[j] > best + (best < 0 ? 0 : leaf.tie) && q > 0 && before[j] >= leaf.least &&
                leaf.total - before[j] >= leaf.least && (!rank || rank[row] != rank[order[q - 1]]))
                best = between[j], at = static_cast<int32_t>(q);
            if (!(leaf.linked[row >> 6] >> (row & 63) & 1)) continue;
            *cuts.between++ = best, *cuts.size++ = at, *cuts.places++ = leaf.place[row];
            best = -1, at = 0;
        }
    }
    *cuts.between = best, *cuts.size = at;
}

template <int64_t kVectors>
LINKWISE_INLINE void cut_few(const Leaf& leaf, const int32_t* order, const int32_t* rank, const Cuts& cuts) {
    Eight sum[kVectors]{};  // in registers
    cut_all(leaf, order, rank, kVectors, sum, cuts);
}

LINKWISE_SIMD void cut_test(const Leaf& leaf, const int32_t* order, const int32_t* rank, const Cuts& cuts) {
    switch (leaf.width / 8) {
        case 1: return cut_few<1>(leaf, order, rank, cuts);
        case 2: return cut_few<2>(leaf, order, rank, cuts);
        case 3: return cut_few<3>(leaf, order, rank, cuts);
        default: break;
    }
    std::vector<Eight> sum(leaf.width / 8);
    cut_all(leaf, order, rank, leaf.width / 8, sum, cuts);
}

// Mean and scatter of the leaf; returns its weight.
LINKWISE_SIMD double describe_leaf(const double* Z, int64_t width, const int32_t* rows, int64_t m, const double* weight,
                                   double* mean, double* scatter) {
    double total = 0;
    std::fill_n(mean, width, 0.0);
    for (int64_t q = 0; q < m; ++q) {
        if (q + kAhead < m) fetch_row(Z, width, rows[q + kAhead]);
        const double w = weight ? weight[rows[q]] : 1.0;
        for (int64_t a = 0; a < width; ++a) mean[a] += w * Z[rows[q] * width + a];
        total += w;
    }
    for (int64_t a = 0; a < width; ++a) mean[a] /= total;
    *scatter = 0;
    for (int64_t q = 0; q < m; ++q) {
        if (q + kAhead < m) fetch_row(Z, width, rows[q + kAhead]);
        double square = 0;
        for (int64_t a = 0; a < width; ++a) {
            const double z = Z[rows[q] * width + a] - mean[a];
            square += z * z;
        }
        *scatter += (weight ? weight[rows[q]] : 1.0) * square;
    }
    return total;
}

auto leaf_squares(Matrix<double> Z, Matrix<int32_t> order, Matrix<int32_t> rank, Vector<uint8_t> tied,
                  std::optional<Vector<double>> weight, Vector<int32_t> place, double least, double tie, int threads) {
    const int64_t n = Z.shape(0), width = Z.shape(1), tests = order.shape(0), m = order.shape(1);
    check_rows("Z", Z);
    check_rows("order", order);
    check_range("order", order, 0, n - 1);
    check_shape("rank", rank, tests, n);
    check_shape("tied", tied, tests);
    check_shape("place", place, n);
    check_shape("weight", weight, n);
    if (width % 8 != 0) refuse("Z must have a multiple of 8 columns, got ", width, ". Pad it with zeros.");
    int64_t linked = 0;
    for (int64_t q = 0; q < m; ++q) linked += place.data()[order.data()[q]] >= 0;
    Result<double> between(tests * (linked + 1));
    Result<int32_t> size(tests * (linked + 1)), places(tests * linked);
    double scatter = 0;
    {
        GilRelease release;
        std::vector<double> mean(width);
        std::vector<uint64_t> is_linked((n + 63) / 64);
        for (int64_t i = 0; i < n; ++i) is_linked[i >> 6] |= static_cast<uint64_t>(place.data()[i] >= 0) << (i & 63);
        Leaf leaf{Z.data(), width, m, data_or_null(weight), place.data(), is_linked.data(),
                  mean.data(), 0, least, tie};
        leaf.total = describe_leaf(leaf.Z, width, order.data(), m, leaf.weight, mean.data(), &scatter);
        Crew crew(std::min<int64_t>(tests, useful_threads(threads, tests * m * width)));
        crew.run(tests, [&](int64_t t, int) {
            cut_test(leaf, order.data() + t * m, tied.data()[t] ? rank.data() + t * n : nullptr,
                     Cuts{between.get() + t * (linked + 1), size.get() + t * (linked + 1), places.get() + t * linked});
        });
    }
    const size_t T = tests, S = linked;
    return std::make_tuple(scatter, between.release({T, S + 1}), size.release({T, S + 1}), places.release({T, S}));
}

auto best_splits(double scatter, Matrix<double> between, Matrix<int32_t> size, Matrix<int32_t> places,
                 Vector<int32_t> component, Vector<int64_t> first, Vector<int64_t> foe_first, Vector<int32_t> foe,
                 Vector<int32_t> label, Vector<uint8_t> allowed, int own, int free, bool evidence, double per_square,
                 double per_broken, int64_t most, int threads) {
    const int64_t tests = between.shape(0), linked = places.shape(1), n_labels = allowed.shape(0);
    const int64_t bound = component.shape(0);
    check_shape("between", between, tests, linked + 1);
    check_shape("size", size, tests, linked + 1);
    check_shape("places", places, tests, linked);
    check_range("places", places, 0, bound - 1);
    check_shape("allowed", allowed, kPositive);
    check_between("own", own, 0, n_labels - 1);
    if (static_cast<int64_t>(label.shape(0)) != bound)
        refuse("label must have one entry a place, ", bound, ", got ", label.shape(0));
    check_shape("first", first, kPositive);
    check_shape("foe_first", foe_first, first.shape(0));
    check_starts("first", first, bound);
    check_starts("foe_first", foe_first, foe.shape(0));
    const int64_t components = static_cast<int64_t>(first.shape(0)) - 1;
    check_range("component", component, 0, components - 1);
    check_range("foe", foe, 0, components - 1);
    const Standing standing{component.data(), first.data(), foe_first.data(), foe.data(), label.data(),
                            static_cast<int64_t>(first.shape(0)) - 1, static_cast<int64_t>(component.shape(0))};
    const Labels labels{allowed.data(), n_labels, free, evidence};
    Shortlist best(most);
    Result<int64_t> counts(most * 4 * n_labels);  // of each candidate: must one, two, cannot one, two
    Inside inside;
    {
        GilRelease release;
        inside = look_inside(standing, places.data(), linked, n_labels);
        std::vector<Shortlist> found(tests, Shortlist(most));
        Crew crew(std::min<int64_t>(tests, useful_threads(threads, 16 * tests * linked)));
        std::vector<std::unique_ptr<Moving>> moving(crew.size());
        for (auto& t : moving) t = std::make_unique<Moving>(standing, inside);
        crew.run(tests, [&](int64_t t, int thread) {
            Moving& sides = *moving[thread];
            sides.begin();
            for (int64_t q = 0; q <= linked; ++q) {
                const double cut = between.data()[t * (linked + 1) + q];
                const int64_t outside = cut < 0 ? -1 : broken_outside(sides.one, sides.two, labels);
                if (outside >= 0) {
                    const int64_t broken = sides.inside + outside;
                    const double score = per_square * (scatter - cut) + per_broken * static_cast<double>(broken);
                    found[t].offer({score, cut, t, size.data()[t * (linked + 1) + q], broken});
                }
                if (q < linked) sides.move(places.data()[t * linked + q]);
            }
        });
        for (const Shortlist& list : found)
            for (const Candidate& c : list.list()) best.offer(c);
        std::fill_n(counts.get(), most * 4 * n_labels, 0);
        int64_t* out = counts.get();
        for (const Candidate& c : best.list()) {
            Moving& sides = *moving[0];
            sides.begin();
            const int32_t* sizes = size.data() + c.attribute * (linked + 1);
            for (int64_t q = 0; sizes[q] != c.size; ++q) sides.move(places.data()[c.attribute * linked + q]);
            for (const auto* part : {&sides.one.must, &sides.two.must, &sides.one.cannot, &sides.two.cannot})
                out = std::copy(part->begin(), part->end(), out);
        }
    }
    std::vector<std::tuple<int64_t, int64_t, double, int64_t>> splits;
    for (const Candidate& c : best.list()) splits.emplace_back(c.attribute, c.size, c.between, c.broken);
    const int64_t now = inside.cannot_inside + inside.must_all - inside.must_total[own] + inside.cannot_total[own];
    const size_t B = most, L = n_labels;
    return std::make_tuple(now, splits, counts.release({B, 2, 2, L}));
}

}  // namespace

void register_split(nb::module_& m) {
    define(m, "leaf_squares", leaf_squares,
           R"(Find the best cuts of a leaf by the sum of squares.

Z, (n, p), are features, p a multiple of 8 (padded with columns of 0); order, (t, m), the rows of the leaf, for each
test in the order in which they pass to the first side; rank, (t, n): a test does not separate rows of equal rank; tied,
(t,): whether any rows have equal ranks, else those of the test are not read; weight, (n,), of the rows; place, (n,), of
each row among those with constraints, or -1. `least` is the smallest weight of a side; sums that differ by at most
`tie` are equal, and the first cut wins. Returns the sum of squares of the leaf about its mean; by how much the best cut
after that many of its s linked rows lowers it (t, s + 1), -1 for no cut; the rows that this cut puts on the first side
(t, s + 1); and the places of the linked rows in the order in which they move (t, s).)",
           nb::arg("Z"), nb::arg("order"), nb::arg("rank"), nb::arg("tied"), nb::arg("weight").none(),
           nb::arg("place"), nb::arg("least"), nb::arg("tie"), count("n_threads"));
    define(m, "best_splits", best_splits,
           R"(Find the best ways to split a leaf by one test and to label its two sides differently.

A split is scored per_square * (sum of squares of both sides) + per_broken * (broken constraints); constraints include
all implied ones, counted by component. Scores within 1e-12 are equal, and the first in the order of tests, then of
rows, wins. Of cuts between the same linked rows only the best counts. The first four arguments are the results of
leaf_squares; component, (q,), of each place, ascending; first, (c + 1,), where the places of each component begin;
foe_first, (c + 1,), where the components that are apart from it begin in foe; label, (q,), of each place; allowed,
(L,): whether a side may get each label; own: that of the leaf; n_free: at most 2 new labels that are allowed; evidence:
an old label needs a must-link from the side to it. Returns the broken constraints with an end in the leaf as labels are
now; at most `most` splits, best first: test, rows of the first side, by how much the sum of squares falls, broken
constraints then; and counts (splits, 2, 2, L): must-links, cannot-links; of either side; to rows outside, by label.

Struyf and Dzeroski (2007), Clustering trees with instance level constraints.)",
           nb::arg("scatter"), nb::arg("between"), nb::arg("size"), nb::arg("places"), nb::arg("component"),
           nb::arg("first"), nb::arg("foe_first"), nb::arg("foe"), nb::arg("label"), nb::arg("allowed"),
           nb::arg("own"), nb::arg("n_free"), nb::arg("evidence"), nb::arg("per_square"), nb::arg("per_broken"),
           count("most"), count("n_threads"));
}

}  // namespace linkwise
