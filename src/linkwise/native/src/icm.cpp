// Iterated conditional modes: rows that constraints name move, one or a component at a time, to the cluster
// where they cost least, until none can gain.
#include <vector>

#include "kernels.hpp"

namespace linkwise {

namespace {

// The pairs of each row: those of row i stand at start[i] .. start[i + 1].
struct Ends {
    std::vector<int64_t> start;
    std::vector<int32_t> other, pair;
    Ends(const int32_t* pairs, int64_t count, int64_t m) : start(m + 2), other(2 * count), pair(2 * count) {
        for (int64_t e = 0; e < 2 * count; ++e) ++start[pairs[e] + 2];
        for (int64_t i = 0; i < m; ++i) start[i + 2] += start[i + 1];
        for (int64_t e = 0; e < 2 * count; ++e) {
            const int64_t at = start[pairs[e] + 1]++;
            other[at] = pairs[e ^ 1];
            pair[at] = static_cast<int32_t>(e / 2);
        }
    }
};

// What it costs to break a pair in a cluster: one column for all clusters, or one for each.
struct Penalty {
    const double* data;
    int64_t columns;
    double in(int64_t pair, int64_t h) const { return data[pair * columns + (columns > 1 ? h : 0)]; }
    double between(int64_t pair, int64_t g, int64_t h) const { return (in(pair, g) + in(pair, h)) / 2; }
};

struct Modes {
    const double* costs;  // m x k
    int64_t m, k;
    Penalty must, cannot;
    Ends must_of, cannot_of;
    const int32_t* group;
    int32_t* labels;
    std::vector<double> total;  // k

    // To the cheapest cluster, where that gains more than rounding.
    bool better(double now, int32_t& label) {
        int64_t best = 0;
        for (int64_t h = 1; h < k; ++h)
            if (total[h] < total[best]) best = h;
        const double least = total[best];
        if (!(least < now - 1e-12 * std::max(least < 0 ? -least : least, now < 0 ? -now : now))) return false;
        label = static_cast<int32_t>(best);
        return true;
    }

    bool move_row(int64_t i) {
        std::copy_n(costs + i * k, k, total.begin());
        for (int64_t at = must_of.start[i]; at < must_of.start[i + 1]; ++at) {
            const int32_t b = labels[must_of.other[at]];
            for (int64_t h = 0; h < k; ++h)
                if (h != b) total[h] += must.between(must_of.pair[at], h, b);
        }
        for (int64_t at = cannot_of.start[i]; at < cannot_of.start[i + 1]; ++at) {
            const int32_t b = labels[cannot_of.other[at]];
            total[b] += cannot.in(cannot_of.pair[at], b);
        }
        return better(total[labels[i]], labels[i]);
    }

    // All rows of a component together. Must-links never leave it.
    bool move_group(const int32_t* rows, int64_t size) {
        std::fill(total.begin(), total.end(), 0.0);
        double now = 0;
        for (int64_t r = 0; r < size; ++r) {
            const int64_t i = rows[r];
            const int32_t a = labels[i];
            now += costs[i * k + a];
            for (int64_t h = 0; h < k; ++h) total[h] += costs[i * k + h];
            for (int64_t at = must_of.start[i]; at < must_of.start[i + 1]; ++at) {
                const int32_t j = must_of.other[at];
                if (i < j && labels[j] != a) now += must.between(must_of.pair[at], a, labels[j]);
            }
            for (int64_t at = cannot_of.start[i]; at < cannot_of.start[i + 1]; ++at) {
                const int32_t j = cannot_of.other[at], p = cannot_of.pair[at], b = labels[j];
                const bool inside = group[j] == group[i];
                if (inside && j < i) continue;
                if (a == b) now += cannot.in(p, a);
                if (!inside) total[b] += cannot.in(p, b);
                else for (int64_t h = 0; h < k; ++h) total[h] += cannot.in(p, h);
            }
        }
        int32_t label = -1;
        if (!better(now, label)) return false;
        for (int64_t r = 0; r < size; ++r) labels[rows[r]] = label;
        return true;
    }
};

nb::ndarray<nb::numpy, int32_t> conditional_modes(Matrix<double> costs, Vector<int32_t> labels, Matrix<int32_t> must,
                                                  Matrix<double> must_penalty, Matrix<int32_t> cannot,
                                                  Matrix<double> cannot_penalty, Vector<int32_t> group,
                                                  Vector<int32_t> order, int64_t max_sweeps) {
    const int64_t m = costs.shape(0), k = costs.shape(1);
    Result<int32_t> found(m);
    {
        nb::gil_scoped_release release;
        std::copy_n(labels.data(), m, found.get());
        const int64_t groups = *std::max_element(group.data(), group.data() + m) + 1;
        std::vector<int64_t> start(groups + 2);
        for (int64_t i = 0; i < m; ++i) ++start[group.data()[i] + 2];
        for (int64_t g = 0; g < groups; ++g) start[g + 2] += start[g + 1];
        std::vector<int32_t> member(m);
        for (int64_t i = 0; i < m; ++i) member[start[group.data()[i] + 1]++] = static_cast<int32_t>(i);
        Modes modes{costs.data(),
                    m,
                    k,
                    {must_penalty.data(), static_cast<int64_t>(must_penalty.shape(1))},
                    {cannot_penalty.data(), static_cast<int64_t>(cannot_penalty.shape(1))},
                    Ends(must.data(), must.shape(0), m),
                    Ends(cannot.data(), cannot.shape(0), m),
                    group.data(),
                    found.get(),
                    std::vector<double>(k)};
        std::vector<int64_t> seen(groups, -1);  // in which sweep a component last had its turn
        bool moved = true;
        for (int64_t sweep = 0; moved && sweep < max_sweeps; ++sweep) {
            moved = false;
            for (int64_t q = 0; q < m; ++q) moved |= modes.move_row(order.data()[q]);
            for (int64_t q = 0; q < m; ++q) {  // a component's turn comes with that of its first row in this order
                const int32_t g = group.data()[order.data()[q]];
                const int64_t size = start[g + 1] - start[g];
                if (size > 1 && seen[g] < sweep) moved |= modes.move_group(&member[start[g]], size);
                seen[g] = sweep;
            }
        }
    }
    return found.release({static_cast<size_t>(m)});
}

}  // namespace

void register_icm(nb::module_& m) {
    m.def("conditional_modes", &conditional_modes, nb::arg("costs").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("must").noconvert(), nb::arg("must_penalty").noconvert(), nb::arg("cannot").noconvert(),
          nb::arg("cannot_penalty").noconvert(), nb::arg("group").noconvert(), nb::arg("order").noconvert(),
          nb::arg("max_sweeps"));
}

}  // namespace linkwise
