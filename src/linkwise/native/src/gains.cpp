// Sums over rows of sparse tables, by which KIN finds the cluster where each item gains most.
#include <cmath>
#include <vector>

#include "kernels.hpp"

namespace linkwise {

namespace {

// The entries of row i stand at start[i] .. start[i + 1].
struct Sparse {
    const double* data;
    const int32_t *column, *start;
};

LINKWISE_INLINE void add_multiple(double* sum, double factor, const double* row, int64_t length) {
    for (int64_t c = 0; c < length; ++c) sum[c] += factor * row[c];
}

// A table of mostly zeros: they cost nothing but a look.
struct Product {
    const double *one, *other;  // n x k, k x w
    int64_t inner, width;
    double* out;  // n x w
};

LINKWISE_SIMD void multiply_rows(const Product& t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        double* sum = t.out + i * t.width;
        std::fill_n(sum, t.width, 0.0);
        for (int64_t a = 0; a < t.inner; ++a)
            if (const double factor = t.one[i * t.inner + a]; factor != 0)
                add_multiple(sum, factor, t.other + a * t.width, t.width);
    }
}

nb::object multiply_sparse(Matrix<double> one, Matrix<double> other, int threads) {
    const int64_t n = one.shape(0), inner = one.shape(1), width = other.shape(1), chunks = (n + 63) / 64;
    Result<double> found(n * width);
    {
        nb::gil_scoped_release release;
        const Product product{one.data(), other.data(), inner, width, found.get()};
        Crew crew(std::min<int64_t>(useful_threads(threads, n * width), chunks));
        crew.run(chunks, [&](int64_t c, int) { multiply_rows(product, c * 64, std::min(n, (c + 1) * 64)); });
    }
    return nb::cast(found.release({static_cast<size_t>(n), static_cast<size_t>(width)}));
}

nb::object sparse_forms(Vector<double> data, Vector<int32_t> column, Vector<int32_t> start, Matrix<double> table) {
    const int64_t n = start.shape(0) - 1, k = table.shape(1);
    Result<double> found(n);
    {
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i) {
            double total = 0;
            for (int32_t a = start.data()[i]; a < start.data()[i + 1]; ++a) {
                const double* row = table.data() + column.data()[a] * k;
                double sum = 0;
                for (int32_t b = start.data()[i]; b < start.data()[i + 1]; ++b) sum += data.data()[b] * row[column.data()[b]];
                total += data.data()[a] * sum;
            }
            found.get()[i] = total;
        }
    }
    return nb::cast(found.release({static_cast<size_t>(n)}));
}

struct Gains {
    Sparse join;
    const double *by_join, *by_fine, *by_trust;  // k x C, m x C, m x C
    const double* cost;                          // C
    int64_t clusters;
    const int32_t *fine, *labels;
    const double *trust, *stay;
};

// Rounds as NumPy does: scores that differ by rounding errors are equal.
LINKWISE_SIMD void choose_clusters(const Gains& t, const int32_t* items, int64_t begin, int64_t end, double* sum,
                                   int32_t* found) {
    for (int64_t at = begin; at < end; ++at) {
        const int32_t i = items[at];
        const double* fine = t.by_fine + t.fine[i] * t.clusters;
        const double* trusted = t.by_trust + t.fine[i] * t.clusters;
        const double trust = t.trust[i];
        std::fill_n(sum, t.clusters, 0.0);
        for (int32_t e = t.join.start[i]; e < t.join.start[i + 1]; ++e)
            add_multiple(sum, t.join.data[e], t.by_join + t.join.column[e] * t.clusters, t.clusters);
        for (int64_t c = 0; c < t.clusters; ++c) {
            sum[c] += fine[c];
            sum[c] -= trust * trusted[c];
            sum[c] -= t.cost[c];
        }
        sum[t.labels[i]] -= t.stay[i];
        double best = std::nearbyint(sum[0] * 1e9);
        int32_t to = 0;
        for (int64_t c = 1; c < t.clusters; ++c)
            if (const double value = std::nearbyint(sum[c] * 1e9); value > best) {
                best = value;
                to = static_cast<int32_t>(c);
            }
        found[at] = to;
    }
}

nb::object best_clusters(Vector<int32_t> items, Vector<double> data, Vector<int32_t> column, Vector<int32_t> start,
                         Matrix<double> by_join, Matrix<double> by_fine, Matrix<double> by_trust, Vector<double> cost,
                         Vector<int32_t> fine, Vector<double> trust, Vector<double> stay, Vector<int32_t> labels,
                         int threads) {
    const int64_t n = items.shape(0), clusters = cost.shape(0), chunks = (n + 63) / 64;
    Result<int32_t> found(n);
    {
        nb::gil_scoped_release release;
        const Gains gains{{data.data(), column.data(), start.data()},
                          by_join.data(),
                          by_fine.data(),
                          by_trust.data(),
                          cost.data(),
                          clusters,
                          fine.data(),
                          labels.data(),
                          trust.data(),
                          stay.data()};
        Crew crew(std::min<int64_t>(useful_threads(threads, n * clusters), chunks));
        std::vector<double> sums(crew.size() * clusters);
        crew.run(chunks, [&](int64_t c, int thread) {
            choose_clusters(gains, items.data(), c * 64, std::min(n, (c + 1) * 64), &sums[thread * clusters],
                            found.get());
        });
    }
    return nb::cast(found.release({static_cast<size_t>(n)}));
}

}  // namespace

void register_gains(nb::module_& m) {
    m.def("multiply_sparse", &multiply_sparse, nb::arg("one").noconvert(), nb::arg("other").noconvert(),
          nb::arg("n_threads"));
    m.def("sparse_forms", &sparse_forms, nb::arg("data").noconvert(), nb::arg("column").noconvert(),
          nb::arg("start").noconvert(), nb::arg("table").noconvert());
    m.def("best_clusters", &best_clusters, nb::arg("items").noconvert(), nb::arg("data").noconvert(),
          nb::arg("column").noconvert(), nb::arg("start").noconvert(), nb::arg("by_join").noconvert(),
          nb::arg("by_fine").noconvert(), nb::arg("by_trust").noconvert(), nb::arg("cost").noconvert(),
          nb::arg("fine").noconvert(), nb::arg("trust").noconvert(), nb::arg("stay").noconvert(),
          nb::arg("labels").noconvert(), nb::arg("n_threads"));
}

}  // namespace linkwise
