// A step of constrained k-means: all rows go to the nearest centre, those that constraints name are settled among
// each other, and the rows of each cluster are summed.
#include <string>

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

// Positions that Python has not looked at: native code would read and write beyond its arrays.
template <typename T>
void check_below(const char* name, const T* values, int64_t size, int64_t bound) {
    for (int64_t i = 0; i < size; ++i)
        if (values[i] < 0 || values[i] >= bound)
            throw nb::value_error((std::string(name) + " holds " + std::to_string(values[i]) + ". Give 0 to " +
                                   std::to_string(bound - 1) + ".").c_str());
}

void check_step(const Vector<int64_t>& named, const Rows& order, const int32_t* before, int64_t n, int64_t k) {
    const auto m = static_cast<int64_t>(named.shape(0));
    check_below("rows", named.data(), m, n);
    check_below("order", order.data(), m, m);
    for (int64_t i = 0; before && i < m; ++i) check_below("before", before + named.data()[i], 1, k);
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
nb::tuple assign_named(Matrix<T> X, Matrix<double> centers, Vector<int64_t> named, nb::object before, Ends must_start,
                       Rows must_other, Rows must_pair, Ends cannot_start, Rows cannot_other, Rows cannot_pair,
                       Ends member_start, Rows member, Rows group, Matrix<double> must_price,
                       Matrix<double> cannot_price, Rows order, int64_t max_sweeps, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0), m = named.shape(0);
    Rows given;
    const int32_t* labels_before = nullptr;
    if (!before.is_none()) {
        given = nb::cast<Rows>(before, false);
        labels_before = given.data();
    }
    const PairGraph graph{{must_start.data(), must_other.data(), must_pair.data()},
                          {cannot_start.data(), cannot_other.data(), cannot_pair.data()},
                          group.data(), member_start.data(), member.data()};
    const PairPrices prices{{must_price.data(), static_cast<int64_t>(must_price.shape(1))},
                            {cannot_price.data(), static_cast<int64_t>(cannot_price.shape(1))}};
    check_step(named, order, labels_before, n, k);
    Step<T> step(n, d, k);
    Result<double> squares(n);
    {
        nb::gil_scoped_release release;
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
    return nb::make_tuple(step.labels.release({N}), squares.release({N}), step.sums.release({K, D}),
                          step.counts.release({K}));
}

template <typename T>
nb::tuple assign_named_under(Matrix<T> X, Matrix<double> centers, AnyMaps given_maps, Vector<double> offset,
                             Vector<int64_t> named, Rows before, Ends must_start, Rows must_other, Rows must_pair,
                             Ends cannot_start, Rows cannot_other, Rows cannot_pair, Ends member_start, Rows member,
                             Rows group, Matrix<double> must_price, Matrix<double> cannot_price, Rows order,
                             int64_t max_sweeps, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0), m = named.shape(0);
    const PairGraph graph{{must_start.data(), must_other.data(), must_pair.data()},
                          {cannot_start.data(), cannot_other.data(), cannot_pair.data()},
                          group.data(), member_start.data(), member.data()};
    const PairPrices prices{{must_price.data(), static_cast<int64_t>(must_price.shape(1))},
                            {cannot_price.data(), static_cast<int64_t>(cannot_price.shape(1))}};
    const Maps maps = maps_from(given_maps);
    check_step(named, order, before.data(), n, k);
    Step<T> step(n, d, k);
    {
        nb::gil_scoped_release release;
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
    return nb::make_tuple(step.labels.release({N}), step.sums.release({K, D}), step.counts.release({K}));
}

template <typename T>
void register_for(nb::module_& m) {
    m.def("assign_named", &assign_named<T>, nb::arg("X").noconvert(), nb::arg("centers").noconvert(),
          nb::arg("named").noconvert(), nb::arg("before").none(), nb::arg("must_start").noconvert(),
          nb::arg("must_other").noconvert(), nb::arg("must_pair").noconvert(), nb::arg("cannot_start").noconvert(),
          nb::arg("cannot_other").noconvert(), nb::arg("cannot_pair").noconvert(),
          nb::arg("member_start").noconvert(), nb::arg("member").noconvert(), nb::arg("group").noconvert(),
          nb::arg("must_price").noconvert(), nb::arg("cannot_price").noconvert(), nb::arg("order").noconvert(),
          nb::arg("max_sweeps"), nb::arg("n_threads"));
    m.def("assign_named_under", &assign_named_under<T>, nb::arg("X").noconvert(), nb::arg("centers").noconvert(),
          nb::arg("maps").noconvert(), nb::arg("offset").noconvert(), nb::arg("named").noconvert(),
          nb::arg("before").noconvert(), nb::arg("must_start").noconvert(), nb::arg("must_other").noconvert(),
          nb::arg("must_pair").noconvert(), nb::arg("cannot_start").noconvert(), nb::arg("cannot_other").noconvert(),
          nb::arg("cannot_pair").noconvert(), nb::arg("member_start").noconvert(), nb::arg("member").noconvert(),
          nb::arg("group").noconvert(), nb::arg("must_price").noconvert(), nb::arg("cannot_price").noconvert(),
          nb::arg("order").noconvert(), nb::arg("max_sweeps"), nb::arg("n_threads"));
}

}  // namespace

void register_named_rows(nb::module_& m) {
    register_for<float>(m);
    register_for<double>(m);
}

}  // namespace linkwise
