// A step of constrained k-means: all rows go to the nearest centre, those that constraints name are settled among
// each other, and the rows of each cluster are summed.
#include "checks.hpp"
#include "icm.hpp"
#include "metrics.hpp"
#include "points.hpp"
#include "sums.hpp"

namespace linkwise {

namespace {

using Ends = Vector<int64_t>;
using Rows = Vector<int32_t>;

template <typename T>
std::vector<T> take_rows(const T* X, int64_t d, const Vector<int64_t>& rows) {
    std::vector<T> some(rows.shape(0) * d);
    for (size_t i = 0; i < rows.shape(0); ++i) std::copy_n(X + rows.data()[i] * d, d, &some[i * d]);
    return some;
}

template <typename T>
void check_centers(const Matrix<T>& X, const Matrix<double>& centers) {
    check_rows("X", X);
    check_shape("centers", centers, kPositive, X.shape(1));
}

// Of n rows and k clusters. The values of a graph are those of pair_graph, which has checked them.
void check_step(const Vector<int64_t>& named, const Rows& order, const std::optional<Rows>& before,
                const Rows& must_pair, const Rows& cannot_pair, const Rows& group, const Matrix<double>& must_price,
                const Matrix<double>& cannot_price, int64_t n, int64_t k) {
    const int64_t m = group.shape(0);
    check_shape("rows", named, m);
    check_range("rows", named, 0, n - 1);
    check_shape("order", order, m);
    check_range("order", order, 0, m - 1);
    check_penalty("must_penalty", must_price, must_pair.shape(0) / 2, k);
    check_penalty("cannot_penalty", cannot_price, cannot_pair.shape(0) / 2, k);
    check_shape("before", before, n);
    for (int64_t i = 0; before && i < m; ++i) check_range("before", before->data() + named.data()[i], 1, 0, k - 1);
}

// What a step finds.
template <typename T>
struct Step {
    int64_t n, d, k;
    Result<int32_t> labels;
    Result<double> sums;
    Result<int64_t> counts;

    Step(int64_t rows, int64_t features, int64_t clusters)
        : n(rows), d(features), k(clusters), labels(n), sums(k * d), counts(k) {}
    void sum_up(const T* X, int threads) {
        sum_labelled(X, labels.get(), nullptr, n, d, k, threads, sums.get(), counts.get());
    }
};

template <typename T>
auto assign_named(Matrix<T> X, Matrix<double> centers, Vector<int64_t> named, std::optional<Rows> before,
                  Ends must_start, Rows must_other, Rows must_pair, Ends cannot_start, Rows cannot_other,
                  Rows cannot_pair, Ends member_start, Rows member, Rows group, Matrix<double> must_price,
                  Matrix<double> cannot_price, Rows order, int64_t max_sweeps, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0), m = named.shape(0);
    check_centers(X, centers);
    check_step(named, order, before, must_pair, cannot_pair, group, must_price, cannot_price, n, k);
    const int32_t* labels_before = data_or_null(before);
    const PairGraph graph{{must_start.data(), must_other.data(), must_pair.data()},
                          {cannot_start.data(), cannot_other.data(), cannot_pair.data()},
                          group.data(), member_start.data(), member.data()};
    const PairPrices prices{{must_price.data(), static_cast<int64_t>(must_price.shape(1))},
                            {cannot_price.data(), static_cast<int64_t>(cannot_price.shape(1))}};
    Step<T> step(n, d, k);
    Result<double> squares(n);
    {
        GilRelease release;
        std::vector<int64_t> nearest(n);
        fill_nearest(X.data(), n, d, centers.data(), k, threads, nearest.data(), squares.get());
        std::copy(nearest.begin(), nearest.end(), step.labels.get());
        const std::vector<T> rows = take_rows(X.data(), d, named);
        std::vector<double> costs(m * k);
        fill_squares(rows.data(), m, d, centers.data(), k, threads, costs.data());
        std::vector<int32_t> settled(m);
        for (int64_t i = 0; i < m; ++i)
            settled[i] = (labels_before ? labels_before : step.labels.get())[named.data()[i]];
        settle_rows(costs.data(), m, k, graph, prices, order.data(), max_sweeps, settled.data());
        for (int64_t i = 0; i < m; ++i) {
            step.labels.get()[named.data()[i]] = settled[i];
            squares.get()[named.data()[i]] = costs[i * k + settled[i]];
        }
        step.sum_up(X.data(), threads);
    }
    const size_t N = n, K = k, D = d;
    return std::make_tuple(step.labels.release({N}), squares.release({N}), step.sums.release({K, D}),
                           step.counts.release({K}));
}

template <typename T>
auto assign_named_under(Matrix<T> X, Matrix<double> centers, AnyMaps given_maps, Vector<double> offset,
                        Vector<int64_t> named, Rows before, Ends must_start, Rows must_other, Rows must_pair,
                        Ends cannot_start, Rows cannot_other, Rows cannot_pair, Ends member_start, Rows member,
                        Rows group, Matrix<double> must_price, Matrix<double> cannot_price, Rows order,
                        int64_t max_sweeps, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0), m = named.shape(0);
    check_centers(X, centers);
    check_maps(given_maps, centers);
    check_shape("offset", offset, k);
    check_step(named, order, before, must_pair, cannot_pair, group, must_price, cannot_price, n, k);
    const PairGraph graph{{must_start.data(), must_other.data(), must_pair.data()},
                          {cannot_start.data(), cannot_other.data(), cannot_pair.data()},
                          group.data(), member_start.data(), member.data()};
    const PairPrices prices{{must_price.data(), static_cast<int64_t>(must_price.shape(1))},
                            {cannot_price.data(), static_cast<int64_t>(cannot_price.shape(1))}};
    const Maps maps = maps_from(given_maps);
    Step<T> step(n, d, k);
    {
        GilRelease release;
        std::vector<double> least(n);
        measure_rows(X.data(), n, centers.data(), k, maps, offset.data(), threads, least.data(), step.labels.get());
        const std::vector<T> rows = take_rows(X.data(), d, named);
        std::vector<double> costs(m * k);
        measure_rows(rows.data(), m, centers.data(), k, maps, static_cast<const double*>(nullptr), threads, costs.data(),
                     static_cast<int32_t*>(nullptr));
        std::vector<int32_t> settled(m);
        for (int64_t i = 0; i < m; ++i) {
            settled[i] = before.data()[named.data()[i]];
            for (int64_t h = 0; h < k; ++h) costs[i * k + h] += offset.data()[h];
        }
        settle_rows(costs.data(), m, k, graph, prices, order.data(), max_sweeps, settled.data());
        for (int64_t i = 0; i < m; ++i) step.labels.get()[named.data()[i]] = settled[i];
        step.sum_up(X.data(), threads);
    }
    const size_t N = n, K = k, D = d;
    return std::make_tuple(step.labels.release({N}), step.sums.release({K, D}), step.counts.release({K}));
}

}  // namespace

void register_named_rows(nb::module_& m) {
    define(m, "assign_named", assign_named<float>, assign_named<double>,
           R"(Assign rows to the nearest centre, settle those with pairs by conditional_modes, and sum clusters.

named, (m,), are the rows with pairs; before, (n,), the labels from which these are moved, by default the nearest
centres; what follows is as pair_graph returns it; prices (p, 1 or k); order, (m,), that in which they move. Returns
labels (n,), squared distances to the centre of the cluster (n,), sums (k, d) as of label_sums, and counts (k,).)",
           nb::arg("X"), nb::arg("centers"), nb::arg("named"), nb::arg("before").none(), nb::arg("must_start"),
           nb::arg("must_other"), nb::arg("must_pair"), nb::arg("cannot_start"), nb::arg("cannot_other"),
           nb::arg("cannot_pair"), nb::arg("member_start"), nb::arg("member"), nb::arg("group"),
           nb::arg("must_price"), nb::arg("cannot_price"), nb::arg("order"), count("max_sweeps"),
           count("n_threads"));
    define(m, "assign_named_under", assign_named_under<float>, assign_named_under<double>,
           R"(Do as assign_named does, with distances after linear maps plus an offset, (k,), for each centre.

maps are those of metric_nearest. Returns labels (n,), sums (k, d) and counts (k,).)",
           nb::arg("X"), nb::arg("centers"), nb::arg("maps"), nb::arg("offset"), nb::arg("named"), nb::arg("before"),
           nb::arg("must_start"), nb::arg("must_other"), nb::arg("must_pair"), nb::arg("cannot_start"),
           nb::arg("cannot_other"), nb::arg("cannot_pair"), nb::arg("member_start"), nb::arg("member"),
           nb::arg("group"), nb::arg("must_price"), nb::arg("cannot_price"), nb::arg("order"), count("max_sweeps"),
           count("n_threads"));
}

}  // namespace linkwise
