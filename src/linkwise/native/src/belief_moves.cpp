// Moves of nodes between the clusters of a belief: the node that gains most moves, until none gains enough.
//
// The log chance of a node in a cluster is log((1 - doubt) p + doubt / (k + 1)) for k clusters, and the answers that
// join them add their log odds. p is by regression, s^power / (sum of s^power + unknown^power), where s are the scores
// of leave-one-out ridge regression; or it is mixed with odds by the mean chance m of the pairs of the node and the
// cluster, m / (1 - m) over their sum and 1.
//
// A table of all chances costs O(n k) for each move. Here a move costs O(n + answers): it changes the scores of two
// clusters, and no others. Of the clusters that no answer joins to a node only the likeliest one matters, and it is
// remembered for each node. Where chances are mixed, the share of regression changes with the number of clusters, and
// the likeliest one is looked for anew among few clusters.
//
// Clusters have places, so a cluster that is left leaves its place to another one.
#include <cmath>
#include <limits>
#include <numeric>

#include "checks.hpp"

namespace linkwise {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// What does not change while nodes move.
struct MoveRules {
    double power, unknown, doubt;
    double margin;                // by which a move must be better
    double price, answers_price;  // the most that a cluster of its own costs; and for each answer inside
    int64_t most_moves;           // of a node
};

struct MoveTables {
    const double *inverse, *net, *count;  // (n, n)
    const double* pairs;                  // (n, n), or null
    const double* trust;                  // (n + 1,) share of regression, by the number of clusters
    int64_t n;
};

double round9(double x) { return std::nearbyint(x * 1e9); }

class BeliefMoves {
   public:
    BeliefMoves(const MoveTables& tables, const MoveRules& rules, int64_t* label, int64_t* n_moved)
        : t_(tables), r_(rules), n_(tables.n), label_(label), n_moved_(n_moved), size_(n_), first_(n_, n_),
          diagonal_(n_), inside_(n_), sums_(n_ * n_), raised_(n_ * n_), total_(n_), highest_(n_, kNever),
          at_(n_), starts_(n_ + 1), is_met_(n_), net_to_(n_), count_to_(n_) {
        rest_ = std::pow(r_.unknown, r_.power);
        for (int64_t i = 0; i < n_; ++i) {
            diagonal_[i] = t_.inverse[i * n_ + i];
            k_ += size_[label_[i]]++ == 0;
            first_[label_[i]] = std::min(first_[label_[i]], i);
            add_to(sums_.data(), t_.inverse, i, label_[i], 1);
        }
        if (t_.pairs) {
            pair_sums_.resize(n_ * n_), odds_.resize(n_ * n_), all_odds_.assign(n_, 1);
            for (int64_t i = 0; i < n_; ++i) add_to(pair_sums_.data(), t_.pairs, i, label_[i], 1);
        }
        list_answers();
        for (int64_t c = 0; c < n_; ++c)
            if (size_[c] > 0) take_up(c);
        for (int64_t i = 0; i < n_; ++i) look_at_all(i);
    }

    void run() {
        for (int64_t node; (node = find_mover()) >= 0;) {
            move(node, find_place(node));
            ++n_moved_[node];
        }
    }

   private:
    struct Answer {
        int64_t to;
        double net, count;
    };
    // The clusters to which a node may go.
    struct Choice {
        double apart, own, other;  // log chances
    };

    // ------------------------------------------------------------ tables
    // Add a node to the sums of a cluster, or take it out; an empty cluster has no rounding errors.
    void add_to(double* sums, const double* table, int64_t node, int64_t cluster, double sign) {
        double* row = sums + cluster * n_;
        const double* own = table + node * n_;
        for (int64_t i = 0; i < n_; ++i) row[i] = size_[cluster] == 0 ? 0 : row[i] + sign * own[i];
    }

    void list_answers() {
        for (int64_t i = 0; i < n_; ++i) {
            for (int64_t j = 0; j < n_; ++j) {
                const double net = t_.net[i * n_ + j], count = t_.count[i * n_ + j];
                if (j == i || (net == 0 && count == 0)) continue;
                answers_.push_back({j, net, count});
                if (label_[i] == label_[j]) inside_[label_[i]] += count / 2;
            }
            starts_[i + 1] = answers_.size();
        }
    }

    // Compute the scores of all nodes in a cluster, which may be empty.
    void take_up(int64_t cluster) {
        const double *sums = &sums_[cluster * n_], size = static_cast<double>(size_[cluster]);
        for (int64_t i = 0; i < n_; ++i) {
            const bool is_in = label_[i] == cluster;
            const double score = (is_in ? 1.0 : 0.0) - sums[i] / diagonal_[i];
            const bool is_none = size == 0 || (is_in && size == 1) || score <= 0;
            const double found = is_none ? 0 : std::pow(score, r_.power);
            double& raised = raised_[i * n_ + cluster];
            total_[i] += found - raised;
            raised = found;
        }
        if (!t_.pairs) return;
        const double* chances = &pair_sums_[cluster * n_];
        for (int64_t i = 0; i < n_; ++i) {
            const double others = std::max(1.0, size - (label_[i] == cluster ? 1 : 0));
            const double mean = std::min(chances[i] / others, 1 - 1e-6);
            const double found = size == 0 ? 0 : mean / (1 - mean);
            double& odds = odds_[i * n_ + cluster];
            all_odds_[i] += found - odds;
            odds = found;
        }
    }

    void move(int64_t node, int64_t to) {
        const int64_t left = label_[node];
        meet(node);
        inside_[left] -= count_to_[left];
        inside_[to] += count_to_[to];
        forget();
        label_[node] = to;
        k_ += (size_[to]++ == 0 ? 1 : 0) - (--size_[left] == 0 ? 1 : 0);
        first_[to] = std::min(first_[to], node);
        if (first_[left] == node) first_[left] = std::find(label_, label_ + n_, left) - label_;
        for (const auto& [cluster, sign] : {std::pair{left, -1.0}, std::pair{to, 1.0}}) {
            add_to(sums_.data(), t_.inverse, node, cluster, sign);
            if (t_.pairs) add_to(pair_sums_.data(), t_.pairs, node, cluster, sign);
            take_up(cluster);
        }
        for (int64_t i = 0; i < n_; ++i) remember(i, left, to);
    }

    // ------------------------------------------------------------ answers of a node
    // Sum up its answers by clusters; `forget` before the next node.
    void meet(int64_t node) {
        for (int64_t e = starts_[node]; e < starts_[node + 1]; ++e) {
            const int64_t cluster = label_[answers_[e].to];
            if (!is_met_[cluster]) is_met_[cluster] = 1, met_.push_back(cluster);
            net_to_[cluster] += answers_[e].net;
            count_to_[cluster] += answers_[e].count;
        }
    }
    void forget() {
        for (const int64_t cluster : met_) is_met_[cluster] = 0, net_to_[cluster] = count_to_[cluster] = 0;
        met_.clear();
    }

    // ------------------------------------------------------------ the likeliest cluster that no answer joins
    bool is_free(int64_t node, int64_t cluster) const {
        return size_[cluster] > 0 && label_[node] != cluster && !is_met_[cluster];
    }

    void look_at_all(int64_t node) {
        meet(node);
        highest_[node] = kNever;
        const double* raised = &raised_[node * n_];
        for (int64_t c = 0; c < n_; ++c)
            if (raised[c] > highest_[node] && is_free(node, c)) highest_[node] = raised[c], at_[node] = c;
        forget();
    }

    // Take up two clusters that changed.
    void remember(int64_t node, int64_t left, int64_t to) {
        bool is_met[2] = {};
        for (int64_t e = starts_[node]; e < starts_[node + 1]; ++e) {
            const int64_t cluster = label_[answers_[e].to];
            is_met[0] |= cluster == left;
            is_met[1] |= cluster == to;
        }
        double most = kNever;
        int64_t place = 0;
        for (int j = 0; j < 2; ++j) {
            const int64_t c = j == 0 ? left : to;
            if (size_[c] > 0 && label_[node] != c && !is_met[j] && raised_[node * n_ + c] > most)
                most = raised_[node * n_ + c], place = c;
        }
        if (most >= highest_[node])
            highest_[node] = most, at_[node] = place;
        else if (highest_[node] > kNever && (at_[node] == left || at_[node] == to))
            look_at_all(node);
    }

    // The free cluster of the first node, if all are as unlikely; the answers of the node are met.
    int64_t first_free(int64_t node) const {
        for (int64_t j = 0; j < n_; ++j)
            if (is_free(node, label_[j])) return label_[j];
        return -1;
    }

    // -1: there is none.
    int64_t likeliest_free(int64_t node) const {
        double most = kNever;
        int64_t found = -1;
        if (!mixes_) {
            most = highest_[node];
            found = most > kNever ? at_[node] : -1;
        } else {
            const double by_rows = trust_ / (total_[node] + rest_), by_pairs = (1 - trust_) / all_odds_[node];
            for (const int64_t c : active_) {
                const double mixed = by_rows * raised_[node * n_ + c] + by_pairs * odds_[node * n_ + c];
                if (mixed > most && is_free(node, c)) most = mixed, found = c;
            }
        }
        return most == 0 ? first_free(node) : found;
    }

    // ------------------------------------------------------------ chances
    double log_chance(int64_t node, double raised, double odds) const {
        double chance = raised / (total_[node] + rest_);
        if (mixes_) chance = trust_ * chance + (1 - trust_) * (odds / all_odds_[node]);
        return std::log((1 - r_.doubt) * chance + r_.doubt / static_cast<double>(k_ + 1));
    }
    double log_chance(int64_t node, int64_t cluster) const {
        const int64_t at = node * n_ + cluster;
        return log_chance(node, raised_[at], mixes_ ? odds_[at] : 0) + net_to_[cluster];
    }

    Choice weigh(int64_t node) {
        const int64_t own = label_[node];
        meet(node);
        Choice choice{0, size_[own] > 1 ? log_chance(node, own) : kNever, kNever};
        double best = choice.own;
        int64_t cluster = best > kNever ? own : -1;
        const auto consider = [&](int64_t c) {
            const double chance = log_chance(node, c);
            choice.other = std::max(choice.other, chance);
            if (cluster < 0 || chance > best || (chance == best && first_[c] < first_[cluster]))
                best = chance, cluster = c;
        };
        if (const int64_t free = likeliest_free(node); free >= 0) consider(free);
        for (const int64_t c : met_)
            if (c != own) consider(c);
        double cost = 0;
        if (cluster >= 0) {
            const double more = cluster == own ? 0 : count_to_[cluster];
            cost = std::min(r_.price, r_.answers_price * (inside_[cluster] + more));
        }
        choice.apart = log_chance(node, rest_, 1) - cost;
        forget();
        return choice;
    }

    // -1: no node gains enough.
    int64_t find_mover() {
        trust_ = t_.trust[k_];
        mixes_ = t_.pairs && trust_ < 1;
        active_.clear();
        if (mixes_)
            for (int64_t c = 0; c < n_; ++c)
                if (size_[c] > 0) active_.push_back(c);
        int64_t mover = -1;
        double most = kNever, exact = kNever;
        for (int64_t i = 0; i < n_; ++i) {
            if (n_moved_[i] >= r_.most_moves) continue;
            const Choice choice = weigh(i);
            const double gain = size_[label_[i]] == 1 ? choice.other - choice.apart
                                                      : std::max(choice.other, choice.apart) - choice.own;
            if (round9(gain) > most) most = round9(gain), exact = gain, mover = i;
        }
        return exact > r_.margin ? mover : -1;
    }

    // The best place of a node that is not where it is. Of equal clusters it is that of the first node.
    int64_t find_place(int64_t node) {
        const double apart = weigh(node).apart;
        double best = kNever;
        int64_t place = -1;
        meet(node);
        for (int64_t j = 0; j < n_; ++j) {
            const int64_t c = label_[j];
            if (first_[c] != j || c == label_[node]) continue;
            const double chance = log_chance(node, c);
            if (round9(chance) > best) best = round9(chance), place = c;
        }
        forget();
        if (size_[label_[node]] > 1 && round9(apart) > best)
            place = std::find(size_.begin(), size_.end(), 0) - size_.begin();
        return place;
    }

    const MoveTables t_;
    const MoveRules r_;
    const int64_t n_;
    int64_t *label_, *n_moved_;
    std::vector<int64_t> size_, first_;                                // by cluster; the first node
    std::vector<double> diagonal_, inside_;                            // answers inside of each cluster
    std::vector<double> sums_, pair_sums_ = {};                        // (clusters, n)
    std::vector<double> raised_, odds_ = {};                           // (n, clusters)
    std::vector<double> total_, all_odds_ = {}, highest_;              // by node
    std::vector<int64_t> at_;                                          // cluster of the highest
    std::vector<Answer> answers_ = {};
    std::vector<int64_t> starts_;                                      // of the answers of each node
    std::vector<char> is_met_;
    std::vector<double> net_to_, count_to_;
    std::vector<int64_t> met_ = {}, active_ = {};
    int64_t k_ = 0;
    double rest_ = 0, trust_ = 1;
    bool mixes_ = false;
};

auto move_believed(Matrix<double> inverse, Matrix<double> net, Matrix<double> count,
                   std::optional<Matrix<double>> pairs, Vector<int64_t> label, Vector<int64_t> n_moved,
                   Vector<double> trust, double power, double unknown, double doubt, double margin, double price,
                   double answers_price, int64_t most_moves) {
    check_rows("inverse", inverse);
    const int64_t n = inverse.shape(0);
    check_square("inverse", inverse);
    check_shape("net", net, n, n);
    check_shape("count", count, n, n);
    check_shape("pairs", pairs, n, n);
    check_shape("label", label, n);
    check_range("label", label, 0, n - 1);
    check_shape("n_moved", n_moved, n);
    check_shape("trust", trust, n + 1);
    Result<int64_t> to(n), moved(n);
    std::copy_n(label.data(), n, to.get());
    std::copy_n(n_moved.data(), n, moved.get());
    {
        GilRelease release;
        const MoveTables tables{inverse.data(), net.data(), count.data(), data_or_null(pairs), trust.data(), n};
        const MoveRules rules{power, unknown, doubt, margin, price, answers_price, most_moves};
        BeliefMoves(tables, rules, to.get(), moved.get()).run();
    }
    const size_t N = n;
    return std::make_tuple(to.release({N}), moved.release({N}));
}

}  // namespace

void register_belief_moves(nb::module_& m) {
    define(m, "move_believed", move_believed,
           R"(Move nodes to likelier clusters, that of the largest gain first, until none gains more than margin.

inverse, (n, n), is the inverse of the kernel matrix and its ridge; net, (n, n), the log odds that answers give to
two nodes being together; count, (n, n), their number. pairs, (n, n) or None, are chances before any answer, 0 between a
node and itself. label, (n,), are clusters of 0 to n - 1, and n_moved, (n,), the moves that each node has made, of which
it may make most_moves. trust, (n + 1,), is how far regression counts beside pairs, by the number of clusters.

A node may also go to a cluster of its own, which costs the lesser of price and answers_price for each answer in the
best cluster. All numbers are log odds. Returns label and n_moved after the moves.)",
           nb::arg("inverse"), nb::arg("net"), nb::arg("count"), nb::arg("pairs").none(), nb::arg("label"),
           nb::arg("n_moved"), nb::arg("trust"), nb::arg("power"), nb::arg("unknown"), nb::arg("doubt"),
           nb::arg("margin"), nb::arg("price"), nb::arg("answers_price"), count("most_moves"));
}

}  // namespace linkwise
