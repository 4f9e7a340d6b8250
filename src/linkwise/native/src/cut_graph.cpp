// Parts of graphs to be cut, the value of a clustering, and moves of single nodes.
#include "cut_graph.hpp"

#include <numeric>

#include "kernels.hpp"

namespace linkwise {

double CutGraph::whole() const { return std::accumulate(volume.begin(), volume.end(), 0.0); }

namespace {

constexpr double kSame = 1e-12;  // difference of values that is none

double over(double cut, double under) { return under > 0 ? std::max(cut, 0.0) / under : 0.0; }

// The sums behind the value of a clustering, updated as nodes move.
class MoveTable {
   public:
    MoveTable(const CutGraph& graph, std::vector<int32_t>& labels, int32_t k)
        : graph_(graph), labels_(labels), k_(k), all_(graph.whole()), near_(graph.size() * k), degree_(graph.size()),
          foes_(graph.size() * k), others_(graph.size()), size_(k), volume_(k), cut_(k) {
        for (int64_t i = 0; i < graph.size(); ++i) {
            for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e)
                near_[i * k + labels[graph.ends[e]]] += graph.weights[e];
            for (int32_t c = 0; c < k; ++c) degree_[i] += near_[i * k + c];
            const int32_t own = labels[i];
            ++size_[own];
            volume_[own] += graph.volume[i];
            for (int32_t c = 0; c < k; ++c)
                if (c != own) cut_[own] += near_[i * k + c];
        }
        for (const auto [one, other] : graph.pairs) {
            others_[one].push_back(other);
            others_[other].push_back(one);
            ++foes_[static_cast<int64_t>(one) * k + labels[other]];
            ++foes_[static_cast<int64_t>(other) * k + labels[one]];
        }
    }

    // Make the best move; false if there is none.
    bool improve() {
        std::vector<double> value(k_);
        for (int32_t c = 0; c < k_; ++c) value[c] = over(cut_[c], graph_.divisor(volume_[c], all_));
        int64_t node = -1, least = 0;
        int32_t to = 0;
        double best = -kSame;  // of a move that breaks as many pairs as before
        for (int64_t i = 0; i < graph_.size(); ++i) {
            const int32_t own = labels_[i];
            if (size_[own] == 1) continue;
            const double v = graph_.volume[i];
            const double* near = &near_[i * k_];
            const int32_t* foes = &foes_[i * k_];
            const double left = over(cut_[own] - degree_[i] + 2 * near[own],
                                     graph_.divisor(volume_[own] - v, all_)) - value[own];
            for (int32_t c = 0; c < k_; ++c) {
                const int64_t broken = foes[c] - foes[own];
                if (c == own || broken > least) continue;
                const double added = left + over(cut_[c] + degree_[i] - 2 * near[c],
                                                 graph_.divisor(volume_[c] + v, all_)) - value[c];
                if (broken < least || added < best) node = i, to = c, least = broken, best = added;
            }
        }
        if (node >= 0) move(node, to);
        return node >= 0;
    }

   private:
    void move(int64_t node, int32_t to) {
        const int32_t from = labels_[node];
        cut_[from] += 2 * near_[node * k_ + from] - degree_[node];
        cut_[to] += degree_[node] - 2 * near_[node * k_ + to];
        volume_[from] -= graph_.volume[node];
        volume_[to] += graph_.volume[node];
        --size_[from];
        ++size_[to];
        for (int64_t e = graph_.starts[node]; e < graph_.starts[node + 1]; ++e) {
            near_[static_cast<int64_t>(graph_.ends[e]) * k_ + from] -= graph_.weights[e];
            near_[static_cast<int64_t>(graph_.ends[e]) * k_ + to] += graph_.weights[e];
        }
        for (int32_t other : others_[node]) {
            --foes_[static_cast<int64_t>(other) * k_ + from];
            ++foes_[static_cast<int64_t>(other) * k_ + to];
        }
        labels_[node] = to;
    }

    const CutGraph& graph_;
    std::vector<int32_t>& labels_;
    const int32_t k_;
    const double all_;
    std::vector<double> near_, degree_;
    std::vector<int32_t> foes_;
    std::vector<std::vector<int32_t>> others_;
    std::vector<int64_t> size_;
    std::vector<double> volume_, cut_;
};

}  // namespace

ClusteringValue evaluate_labels(const CutGraph& graph, const std::vector<int32_t>& labels, int32_t k) {
    std::vector<double> volume(k), cut(k);
    for (int64_t i = 0; i < graph.size(); ++i) {
        volume[labels[i]] += graph.volume[i];
        for (int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e)
            if (labels[graph.ends[e]] != labels[i]) cut[labels[i]] += graph.weights[e];
    }
    const double all = std::accumulate(volume.begin(), volume.end(), 0.0);
    int64_t broken = 0, clusters = 0;
    double sum = 0;
    for (const auto [one, other] : graph.pairs) broken += labels[one] == labels[other];
    for (int32_t c = 0; c < k; ++c) {
        clusters += volume[c] > 0;
        sum += over(cut[c], graph.divisor(volume[c], all));
    }
    return {broken, -clusters, sum};
}

CutGraph restrict_graph(const CutGraph& graph, const std::vector<int32_t>& nodes) {
    CutGraph part;
    part.is_ncut = graph.is_ncut;
    std::vector<int32_t> place(graph.size(), -1);
    for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = static_cast<int32_t>(i);
    part.starts.push_back(0);
    for (int32_t node : nodes) {
        for (int64_t e = graph.starts[node]; e < graph.starts[node + 1]; ++e)
            if (const int32_t end = place[graph.ends[e]]; end >= 0) {
                part.ends.push_back(end);
                part.weights.push_back(graph.weights[e]);
            }
        part.starts.push_back(static_cast<int64_t>(part.ends.size()));
        part.volume.push_back(graph.volume[node]);
    }
    for (const auto [one, other] : graph.pairs)
        if (place[one] >= 0 && place[other] >= 0) part.pairs.push_back({place[one], place[other]});
    return part;
}

CutGraph merge_graph(const CutGraph& graph, const std::vector<int32_t>& number, int32_t count) {
    CutGraph merged;
    merged.is_ncut = graph.is_ncut;
    merged.volume.resize(count);
    std::vector<int64_t> begin(count + 1);
    for (int64_t i = 0; i < graph.size(); ++i) {
        merged.volume[number[i]] += graph.volume[i];
        ++begin[number[i] + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int32_t> members(graph.size());
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (int64_t i = 0; i < graph.size(); ++i) members[next[number[i]]++] = static_cast<int32_t>(i);
    std::vector<double> sums(count);
    std::vector<int32_t> met;
    merged.starts.push_back(0);
    for (int32_t g = 0; g < count; ++g) {
        for (int64_t at = begin[g]; at < begin[g + 1]; ++at)
            for (int64_t e = graph.starts[members[at]]; e < graph.starts[members[at] + 1]; ++e) {
                const int32_t end = number[graph.ends[e]];
                if (end == g) continue;
                if (sums[end] == 0) met.push_back(end);
                sums[end] += graph.weights[e];
            }
        std::sort(met.begin(), met.end());
        for (int32_t end : met) {
            merged.ends.push_back(end);
            merged.weights.push_back(sums[end]);
            sums[end] = 0;
        }
        met.clear();
        merged.starts.push_back(static_cast<int64_t>(merged.ends.size()));
    }
    for (const auto [one, other] : graph.pairs) {
        const auto [low, high] = std::minmax(number[one], number[other]);
        if (low != high) merged.pairs.push_back({low, high});
    }
    std::sort(merged.pairs.begin(), merged.pairs.end());
    merged.pairs.erase(std::unique(merged.pairs.begin(), merged.pairs.end()), merged.pairs.end());
    return merged;
}

int32_t number_sides(const CutGraph& graph, std::vector<int32_t>& number) {
    const auto m = static_cast<int32_t>(graph.size());
    std::vector<std::vector<int32_t>> others(m);
    for (const auto [one, other] : graph.pairs) {
        others[one].push_back(other);
        others[other].push_back(one);
    }
    number.assign(m, -1);
    int32_t count = 0;
    for (int32_t first = 0; first < m; ++first) {
        if (number[first] >= 0) continue;
        const int32_t side = count++, opposite = others[first].empty() ? side : count++;
        number[first] = side;
        std::vector<int32_t> reached{first};
        for (size_t at = 0; at < reached.size(); ++at)
            for (int32_t other : others[reached[at]]) {
                const int32_t wanted = number[reached[at]] == side ? opposite : side;
                if (number[other] < 0) {
                    number[other] = wanted;
                    reached.push_back(other);
                } else if (number[other] != wanted) {
                    std::iota(number.begin(), number.end(), 0);
                    return m;
                }
            }
    }
    return count;
}

void improve_labels(const CutGraph& graph, std::vector<int32_t>& labels, int32_t k) {
    if (k < 2) return;
    MoveTable table(graph, labels, k);
    for (int64_t moves = 0; moves < graph.size() && table.improve(); ++moves) {}
}

}  // namespace linkwise
