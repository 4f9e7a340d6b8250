// Kernel k-means on K = sum of alpha_t [rows i and j share a label in clustering t], without K.
//
// Row i lies at the point with sqrt(alpha_t) in place (t, label of i in t). Its squared distance to the mean
// of a cluster needs, of each clustering, how many rows of the cluster bear its label there: a table.
#include <cmath>
#include <limits>
#include <vector>

#include "checks.hpp"
#include "random.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

// Rows of clusterings: `stride` labels a row, of which the first `rounds` count.
template <typename L>
struct Labelled {
    const L* label;
    int64_t n, stride, rounds, values;  // labels are below `values`
    const double* alpha;
    const L* row(int64_t i) const { return label + i * stride; }
};

inline constexpr int64_t kAbreast = 4;  // rows whose sums grow at once: none waits for its own last addition

// The next rows, of which the last one stands for those beyond the end.
template <typename L>
LINKWISE_INLINE void rows_abreast(const Labelled<L>& H, int64_t first, int64_t end, const L** rows) {
    for (int64_t j = 0; j < kAbreast; ++j) rows[j] = H.row(std::min(first + j, end - 1));
}

// Squared distances of a chunk of rows to one row: what they do not share, twice.
template <typename L>
LINKWISE_INLINE void to_row(const Labelled<L>& H, int64_t begin, int64_t end, const double* table, double* out) {
    for (int64_t i = begin; i < end; i += kAbreast) {
        const L* rows[kAbreast];
        rows_abreast(H, i, end, rows);
        double sums[kAbreast] = {};
        for (int64_t t = 0; t < H.rounds; ++t)
            for (int64_t j = 0; j < kAbreast; ++j) sums[j] += table[t * H.values + rows[j][t]];
        std::copy_n(sums, std::min(kAbreast, end - i), out + i);
    }
}
LINKWISE_SIMD void to_row_chunk(const Labelled<uint8_t>& H, int64_t b, int64_t e, const double* t, double* o) { to_row(H, b, e, t, o); }
LINKWISE_SIMD void to_row_chunk(const Labelled<uint16_t>& H, int64_t b, int64_t e, const double* t, double* o) { to_row(H, b, e, t, o); }

inline constexpr int64_t kWide = 8;  // clusters of a group of lanes

// Costs of a chunk of rows: least over clusters of base - table; clusters in groups of eight lanes.
template <typename L>
struct Nearest {
    const Labelled<L>& H;
    int64_t begin, end, k, groups;
    const double* base;   // groups x 8; infinity beyond k and for empty clusters
    const double* table;  // groups x (t, value) -> 8
    int32_t* label;
    double* cost;
};

template <typename L>
LINKWISE_INLINE void nearest(const Nearest<L>& t) {
    constexpr int64_t kBlock = 64, kNear = 1 << 14;  // rows whose costs stay near; bytes of the table that do
    const int64_t tile = std::max<int64_t>(1, kNear / static_cast<int64_t>(t.H.values * sizeof(Lanes)));
    Lanes cost[kBlock];
    for (int64_t first = t.begin; first < t.end; first += kBlock) {
        const int64_t end = std::min(first + kBlock, t.end);
        std::fill(t.cost + first, t.cost + end, std::numeric_limits<double>::infinity());
        std::fill(t.label + first, t.label + end, 0);
        for (int64_t g = 0; g < t.groups; ++g) {
            for (auto& lanes : cost) std::memcpy(&lanes, t.base + g * kWide, sizeof lanes);
            for (int64_t from = 0; from < t.H.rounds; from += tile)
                for (int64_t i = first; i < end; i += kAbreast) {
                    const L* rows[kAbreast];
                    rows_abreast(t.H, i, end, rows);
                    Lanes sum[kAbreast];
                    std::copy_n(cost + (i - first), kAbreast, sum);
                    for (int64_t r = from; r < std::min(from + tile, t.H.rounds); ++r)
                        for (int64_t j = 0; j < kAbreast; ++j) {
                            Lanes part;
                            std::memcpy(&part, t.table + ((g * t.H.rounds + r) * t.H.values + rows[j][r]) * kWide, sizeof part);
                            sum[j] -= part;
                        }
                    std::copy_n(sum, kAbreast, cost + (i - first));
                }
            for (int64_t i = first; i < end; ++i)
                for (int64_t c = 0; c < kWide; ++c)
                    if (cost[i - first][c] < t.cost[i])
                        t.cost[i] = cost[i - first][c], t.label[i] = static_cast<int32_t>(g * kWide + c);
        }
    }
}
LINKWISE_SIMD void nearest_chunk(const Nearest<uint8_t>& t) { nearest(t); }
LINKWISE_SIMD void nearest_chunk(const Nearest<uint16_t>& t) { nearest(t); }

template <typename L>
class TableKMeans {
   public:
    TableKMeans(const Labelled<L>& H, int64_t k, Crew& crew)
        : H_(H), k_(k), groups_((k + kWide - 1) / kWide), crew_(crew), counts_(H.rounds * H.values * k), size_(k),
          base_(groups_ * kWide), table_(H.rounds * H.values * groups_ * kWide), cost_(H.n), near_(H.n) {
        for (int64_t t = 0; t < H.rounds; ++t) self_ += H.alpha[t];
    }

    // Rows to start from: in proportion to the squared distance to those chosen; -1 where no more are distinct.
    std::vector<int64_t> draw(uint64_t seed) {
        SplitMix64 random{seed};
        std::vector<int64_t> rows{std::min<int64_t>(H_.n - 1, static_cast<int64_t>(random.uniform() * static_cast<double>(H_.n)))};
        std::vector<double> far(H_.n), least(H_.n, std::numeric_limits<double>::infinity()), table(H_.rounds * H_.values);
        while (static_cast<int64_t>(rows.size()) < k_) {
            const L* centre = H_.row(rows.back());
            for (int64_t t = 0; t < H_.rounds; ++t)
                for (int64_t v = 0; v < H_.values; ++v) table[t * H_.values + v] = v == centre[t] ? 0.0 : 2 * H_.alpha[t];
            each_chunk([&](int64_t b, int64_t e) { to_row_chunk(H_, b, e, table.data(), far.data()); });
            double total = 0;
            for (int64_t i = 0; i < H_.n; ++i) total += least[i] = std::min(least[i], far[i]);
            if (!(total > 0)) break;
            double r = random.uniform() * total;
            int64_t at = -1;
            for (int64_t i = 0; i < H_.n && (at < 0 || r >= 0); ++i)
                if (least[i] > 0) at = i, r -= least[i];
            rows.push_back(at);
        }
        return rows;
    }

    // Labels at the start: the nearest of some rows.
    void begin(const std::vector<int64_t>& rows, int32_t* labels) {
        std::fill(counts_.begin(), counts_.end(), 0);
        std::fill(size_.begin(), size_.end(), 0);
        for (size_t c = 0; c < rows.size(); ++c) count(H_.row(rows[c]), static_cast<int64_t>(c), 1), size_[c] = 1;
        tabulate();
        assign();
        std::copy(near_.begin(), near_.end(), labels);
        recount(labels);
    }

    // Passes until no label changes; the sum of squared distances, and the passes.
    double run(int32_t* labels, int max_iter, int* n_iter) {
        for (*n_iter = 1; *n_iter <= max_iter; ++*n_iter) {
            fill_empty(labels);
            tabulate();
            assign();
            int64_t changed = 0;
            for (int64_t i = 0; i < H_.n; ++i) {
                if (near_[i] == labels[i]) continue;
                if (!(cost_[i] < cost_of(i, labels[i]) - 1e-9 * self_)) continue;
                count(H_.row(i), labels[i], -1), count(H_.row(i), near_[i], 1);
                --size_[labels[i]], ++size_[near_[i]];
                labels[i] = near_[i];
                ++changed;
            }
            if (changed == 0) break;
        }
        tabulate();
        double inertia = 0;
        for (int64_t i = 0; i < H_.n; ++i) inertia += self_ + cost_of(i, labels[i]);
        return inertia;
    }

   private:
    template <typename Do>
    void each_chunk(const Do& act) {
        crew_.run(chunk_count(H_.n), [&](int64_t c, int) { act(c * kChunk, std::min(H_.n, (c + 1) * kChunk)); });
    }
    void count(const L* row, int64_t cluster, int32_t by) {
        for (int64_t t = 0; t < H_.rounds; ++t) counts_[(t * H_.values + row[t]) * k_ + cluster] += by;
    }
    void recount(const int32_t* labels) {
        std::fill(counts_.begin(), counts_.end(), 0);
        std::fill(size_.begin(), size_.end(), 0);
        for (int64_t i = 0; i < H_.n; ++i) count(H_.row(i), labels[i], 1), ++size_[labels[i]];
    }
    void tabulate() {
        std::fill(base_.begin(), base_.end(), std::numeric_limits<double>::infinity());
        for (int64_t c = 0; c < k_; ++c)
            if (size_[c] > 0) base_[c] = 0;
        for (int64_t t = 0; t < H_.rounds; ++t)
            for (int64_t v = 0; v < H_.values; ++v)
                for (int64_t c = 0; c < k_; ++c) {
                    const int64_t at = (t * H_.values + v) * k_ + c;
                    const double share = size_[c] > 0 ? static_cast<double>(counts_[at]) / static_cast<double>(size_[c]) : 0.0;
                    table_[place(t, v, c)] = 2 * H_.alpha[t] * share;
                    if (size_[c] > 0) base_[c] += H_.alpha[t] * share * share;
                }
    }
    void assign() {
        each_chunk([&](int64_t b, int64_t e) {
            nearest_chunk(Nearest<L>{H_, b, e, k_, groups_, base_.data(), table_.data(), near_.data(), cost_.data()});
        });
    }
    int64_t place(int64_t t, int64_t value, int64_t cluster) const {  // in the table
        return ((cluster / kWide * H_.rounds + t) * H_.values + value) * kWide + cluster % kWide;
    }
    double cost_of(int64_t i, int64_t cluster) const {
        double cost = base_[cluster];
        const L* row = H_.row(i);
        for (int64_t t = 0; t < H_.rounds; ++t) cost -= table_[place(t, row[t], cluster)];
        return cost;
    }
    // An empty cluster gets the row farthest from its centre, out of a cluster that keeps another.
    void fill_empty(int32_t* labels) {
        if (std::find(size_.begin(), size_.end(), 0) == size_.end()) return;
        tabulate();
        std::vector<double> far(H_.n);
        for (int64_t i = 0; i < H_.n; ++i) far[i] = self_ + cost_of(i, labels[i]);
        for (int64_t c = 0; c < k_; ++c) {
            if (size_[c] > 0) continue;
            int64_t best = -1;
            for (int64_t i = 0; i < H_.n; ++i)
                if (size_[labels[i]] > 1 && far[i] > (best < 0 ? 1e-9 * self_ : far[best])) best = i;
            if (best < 0) return;
            count(H_.row(best), labels[best], -1), count(H_.row(best), c, 1);
            --size_[labels[best]], ++size_[c];
            labels[best] = static_cast<int32_t>(c), far[best] = 0;
        }
    }

    const Labelled<L>& H_;
    int64_t k_, groups_;
    Crew& crew_;
    std::vector<int32_t> counts_;
    std::vector<int64_t> size_;
    std::vector<double> base_, table_, cost_;
    std::vector<int32_t> near_;
    double self_ = 0;
};

template <typename L>
auto hypotheses_k_means(Matrix<L> H, Vector<double> alpha, int64_t values, int64_t k, Vector<uint64_t> seeds,
                        std::optional<Vector<int64_t>> given, int max_iter, int threads) {
    check_rows("H", H);
    check_shape("alpha", alpha, kPositive);
    const size_t rounds = alpha.shape(0), every = H.shape(1);
    if (rounds > every) refuse("H must have a column for each of ", rounds, " alphas, got ", every);
    for (size_t i = 0; i < H.shape(0); ++i) check_range("H", H.data() + i * every, rounds, 0, values - 1);
    if (!given) check_shape("seeds", seeds, kPositive);
    if (given) {
        check_between("the number of rows", given->shape(0), 1, k);
        check_range("rows", *given, 0, static_cast<int64_t>(H.shape(0)) - 1);
    }
    const Labelled<L> labelled{H.data(), static_cast<int64_t>(H.shape(0)), static_cast<int64_t>(H.shape(1)),
                               static_cast<int64_t>(alpha.shape(0)), values, alpha.data()};
    const int64_t n = labelled.n;
    const bool drawn = !given;
    Result<int32_t> labels(n);
    double inertia = std::numeric_limits<double>::infinity();
    int n_iter = 0;
    {
        GilRelease release;
        Crew crew(useful_threads(threads, n * labelled.rounds * k));
        TableKMeans<L> means(labelled, k, crew);
        std::vector<int32_t> run(n);
        for (int64_t r = 0; r < (drawn ? static_cast<int64_t>(seeds.shape(0)) : 1); ++r) {
            means.begin(drawn ? means.draw(seeds.data()[r]) : std::vector<int64_t>(given->data(), given->data() + given->shape(0)), run.data());
            int passes = 0;
            const double found = means.run(run.data(), max_iter, &passes);
            if (!(found < inertia)) continue;
            inertia = found, n_iter = passes;
            std::copy(run.begin(), run.end(), labels.get());
        }
    }
    return std::make_tuple(labels.release({static_cast<size_t>(n)}), inertia, n_iter);
}

}  // namespace

void register_hypotheses(nb::module_& m) {
    define(m, "hypotheses_k_means", hypotheses_k_means<uint8_t>, hypotheses_k_means<uint16_t>,
           R"(Kernel k-means on K = sum over t of alpha[t] * (H[i, t] == H[j, t]) without forming K.

A row moves only to a cluster that is nearer by more than rounding, 1e-9 of K's diagonal. An empty cluster gets the
row farthest from its centre, out of a cluster that keeps another. H, (n, T), holds labels below n_values, of which
the first len(alpha) columns count; alpha, (t,), are positive weights of the clusterings. Each of R seeds draws rows to
start from in proportion to their squared distance to those drawn before; or rows, (g,), are those of a single start.
Returns labels (n,), the sum of squared distances in the space of the kernel, and the iterations of the best run.)",
           nb::arg("H"), nb::arg("alpha"), count("n_values"), count("k"), nb::arg("seeds"), nb::arg("rows").none(),
           count("max_iter"), count("n_threads"));
}

}  // namespace linkwise
