// RatioDCA, which finds the best ratio cut of a graph into two (Rangapuram and Hein 2012, sections 2 to 4). Of a
// vector f,
//
//   F(f) = (R1(f) - R2(f)) / S(f),   R1 = sum over edges of w_ij |f_i - f_j| + gamma q (max f - min f),
//                                    R2 = gamma sum over the q pairs of |f_i - f_j|,
//
// S the Lovasz extension of the balance. Each step takes R2 and S as linear at the vector that it has, and solves the
// convex problem that is left (`one_spectral`).
#include <cmath>
#include <numeric>
#include <optional>

#include "cut_graph.hpp"
#include "kernels.hpp"

namespace linkwise {

namespace {

constexpr double kLeastGain = 0.01;     // relative, of a step; what is gained less is left
constexpr double kLeastSetGain = 1e-4;  // the same for the best set, after the first step
constexpr double kTiny = 1e-9;          // of the length of g: where the bound is below, there is nothing to gain
constexpr double kLeastRatio = 0.01;    // that a price is measured by
constexpr int kSteps = 50;               // of RatioDCA
constexpr int kPrices = 6;               // each four times the one before
constexpr double kGap = 0.1;             // of the value of a convex problem to its bound
constexpr int64_t kEvery = 10;           // iterations between looks at the value

class Descent {
   public:
    Descent(const CutGraph& graph, int64_t max_iter)
        : graph_(graph), max_iter_(max_iter), m_(graph.size()), whole_(graph.whole()) {}

    // What a cut is divided by: vol vol_rest / vol_all, or the smaller volume.
    double balance(double volume) const {
        return graph_.is_ncut ? volume * (whole_ - volume) / whole_ : std::min(volume, whole_ - volume);
    }
    double whole() const { return whole_; }

    DescentState evaluate(std::vector<double> f, double gamma) const {
        DescentState at;
        at.order.resize(m_);
        std::iota(at.order.begin(), at.order.end(), 0);
        std::stable_sort(at.order.begin(), at.order.end(), [&](int64_t i, int64_t j) { return f[i] < f[j]; });
        std::vector<int64_t> rank(m_);
        for (int64_t r = 0; r < m_; ++r) rank[at.order[r]] = r;
        // what begins and ends at a rank
        std::vector<double> change(m_), separates(m_);
        for (int64_t i = 0; i < m_; ++i)
            for (int64_t e = graph_.starts[i]; e < graph_.starts[i + 1]; ++e)
                if (const int64_t high = rank[graph_.ends[e]]; rank[i] < high) {
                    change[rank[i]] += graph_.weights[e];
                    change[high] -= graph_.weights[e];
                }
        for (const auto [one, other] : graph_.pairs) {
            const auto [low, high] = std::minmax(rank[one], rank[other]);
            ++separates[low];
            --separates[high];
        }
        std::vector<double> above(m_);
        double sum = 0;
        for (int64_t r = m_ - 1; r > 0; --r) above[r - 1] = sum += graph_.volume[at.order[r]];
        double cut = 0, separated = 0, values = 0, under = 0, least = INFINITY;
        const auto pairs = static_cast<double>(graph_.pairs.size());
        int64_t best = 0;
        at.broken = 0;
        for (int64_t r = 0; r + 1 < m_; ++r) {
            cut += change[r];
            separated += separates[r];
            const double gap = f[at.order[r + 1]] - f[at.order[r]];
            if (!(gap > 0)) continue;
            const double own = std::max(cut, 0.0), divisor = balance(above[r]), broken = pairs - separated;
            values += gap * (own + gamma * broken);
            under += gap * divisor;
            if (const double value = (own + gamma * broken) / divisor; value < least) {
                least = value;
                best = r;
                at.broken = broken;
            }
        }
        at.ratio = under > 0 ? values / under : INFINITY;
        at.value = least;
        at.best.assign(m_, 0);
        for (int64_t r = best + 1; r < m_; ++r) at.best[at.order[r]] = 1;
        at.f = std::move(f);
        return at;
    }

    // Call `found` for each vector of RatioDCA, each with a lower ratio than the one before.
    template <typename Found>
    void run(double gamma, const std::vector<double>& start, const Found& found) const {
        StepDual dual{std::vector<double>(graph_.ends.size() / 2), std::vector<double>(m_, 1.0 / static_cast<double>(m_)),
                      std::vector<double>(m_, 1.0 / static_cast<double>(m_))};
        DescentState state = evaluate(start, gamma);
        found(state);
        const int steps = graph_.ends.empty() ? 0 : kSteps;
        for (int step = 0; step < steps && state.ratio >= kTiny; ++step) {
            std::vector<double> g = balance_slope(state);
            double under = 0, mean = 0, length = 0, spread = 0;
            for (int64_t i = 0; i < m_; ++i) under += state.f[i] * g[i], mean += state.f[i];
            mean /= static_cast<double>(m_);
            for (double& slope : g) slope *= state.ratio;
            for (const auto [one, other] : graph_.pairs) {
                const double sign = (state.f[one] > state.f[other]) - (state.f[one] < state.f[other]);
                g[one] += gamma * sign;
                g[other] -= gamma * sign;
            }
            for (int64_t i = 0; i < m_; ++i) {
                length += g[i] * g[i];
                spread += (state.f[i] - mean) * (state.f[i] - mean);
            }
            // what is gained is at most the bound over the balance, which changes slowly
            const double least =
                std::max(kTiny * std::sqrt(length), kLeastGain * state.ratio * under / std::sqrt(spread));
            StepResult next = solve_ratio_step(graph_.edges(), g.data(), gamma * static_cast<double>(graph_.pairs.size()),
                                               dual, {max_iter_, kEvery, kGap, least});
            if (!(next.value < -least)) return;
            const double before = state.ratio, value = state.value;
            state = evaluate(std::move(next.f), gamma);
            if (!(state.ratio < before)) return;
            found(state);
            if (before - state.ratio < kLeastGain * before) return;
            if (step > 0 && state.value > (1 - kLeastSetGain) * value) return;
        }
    }

   private:
    // A subgradient of the Lovasz extension of the balance.
    std::vector<double> balance_slope(const DescentState& at) const {
        std::vector<double> slope(m_);
        double below = 0, middle = 0, signs = 0;
        std::vector<int64_t> undecided;
        for (int64_t r = 0, end; r < m_; r = end) {
            double here = 0;
            for (end = r; end < m_ && at.f[at.order[end]] == at.f[at.order[r]]; ++end)
                here += graph_.volume[at.order[end]];
            const double above = whole_ - below - here;
            double sign = (below - above) / whole_;
            // "cheeger": -1 below the median, 1 above, and at it what makes the sum 0
            if (!graph_.is_ncut) sign = above >= whole_ / 2 ? -1 : below >= whole_ / 2 ? 1 : 0;
            const bool is_middle = !graph_.is_ncut && sign == 0;
            for (int64_t i = r; i < end; ++i) {
                if (is_middle) undecided.push_back(at.order[i]);
                else slope[at.order[i]] = graph_.volume[at.order[i]] * sign;
            }
            (is_middle ? middle : signs) += is_middle ? here : sign * here;
            below += here;
        }
        for (int64_t i : undecided) slope[i] = -graph_.volume[i] * signs / middle;
        return slope;
    }

    const CutGraph& graph_;
    const int64_t max_iter_;
    const int64_t m_;
    const double whole_;
};

}  // namespace

std::vector<DescentState> descend(const CutGraph& graph, double gamma, const std::vector<double>& start,
                                  int64_t max_iter) {
    std::vector<DescentState> states;
    Descent(graph, max_iter).run(gamma, start, [&](const DescentState& state) { states.push_back(state); });
    return states;
}

// Each price begins at the start again: nothing separates two nodes once their values are equal.
std::vector<Sides> find_splits(const CutGraph& graph, const std::vector<double>& start, int64_t max_iter) {
    const Descent descent(graph, max_iter);
    std::vector<Sides> splits;
    std::optional<DescentState> last;
    const auto keep = [&](const DescentState& state) { last = state; };
    double gamma = 0;
    for (int price = 0; price <= kPrices; ++price) {
        descent.run(gamma, start, keep);
        if (std::find(splits.begin(), splits.end(), last->best) == splits.end()) splits.push_back(last->best);
        if (std::round(last->broken) == 0) break;
        // the price of all pairs at which what costs most of all cuts is a quarter of what no pair costs now
        gamma = price ? 4 * gamma
                      : std::max(last->ratio, kLeastRatio) * descent.balance(descent.whole() / 2) /
                            (4 * static_cast<double>(graph.pairs.size()));
    }
    return splits;
}

}  // namespace linkwise
