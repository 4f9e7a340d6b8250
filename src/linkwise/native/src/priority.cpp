// One pass of constrained k-means with priorities (Okabe and Yamada 2018, Algorithm 2): for each row the two
// nearest centres, then the rows that constraints name, pair by pair in the order of their priorities.
#include "checks.hpp"
#include "sorting.hpp"
#include "two_nearest.hpp"

namespace linkwise {

namespace {

struct PutApart {
    int32_t *best, *second;
    double* square;  // to the best
    void operator()(int64_t row, int64_t nearest, int64_t next, double least) const {
        best[row] = static_cast<int32_t>(nearest);
        second[row] = static_cast<int32_t>(next);
        square[row] = least;
    }
};

LINKWISE_SIMD void two_chunk(const TwoNearest<float, PutApart>& t) { find_two(t); }
LINKWISE_SIMD void two_chunk(const TwoNearest<double, PutApart>& t) { find_two(t); }

// All that a pass needs of a row, in a quarter of a cache line.
struct alignas(16) Row {
    float square;  // rounded up or down: see nearer()
    int32_t best, second, label;
};

template <typename T>
auto two_nearest(Matrix<T> X, Matrix<double> centers, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0);
    check_rows("X", X);
    check_shape("centers", centers, kPositive, d);
    Result<int32_t> best(n), second(n);
    Result<double> square(n);
    {
        GilRelease release;
        Crew crew(useful_threads(threads, n * d * k));
        crew.run(chunk_count(n), [&](int64_t c, int) {
            const int64_t start = c * kChunk;
            two_chunk(TwoNearest<T, PutApart>{X.data() + start * d, std::min(kChunk, n - start), d, k, centers.data(),
                                              {best.get() + start, second.get() + start, square.get() + start}});
        });
    }
    const size_t N = n;
    return std::make_tuple(best.release({N}), second.release({N}), square.release({N}));
}

auto assign_by_priority(Vector<int32_t> best, Vector<int32_t> second, Vector<double> square, Matrix<int32_t> pairs,
                        Vector<uint8_t> must, Vector<int32_t> order) {
    const int64_t n = best.shape(0), m = pairs.shape(0);
    check_shape("second", second, n);
    check_shape("square", square, n);
    check_pairs("pairs", pairs, n);
    check_shape("must", must, m);
    check_shape("order", order, m);
    check_range("order", order, 0, m - 1);
    Result<int32_t> labels(n);
    Result<uint8_t> broken(m);
    {
        GilRelease release;
        std::unique_ptr<Row[]> rows(new Row[static_cast<size_t>(n)]);
        for (int64_t i = 0; i < n; ++i)
            rows[i] = {static_cast<float>(square.data()[i]), best.data()[i], second.data()[i], -1};
        const int32_t* ends = pairs.data();
        const double* exact = square.data();
        const auto nearer = [&](int32_t i, int32_t j) {  // as far is nearer: the first one is the lower row
            const float a = rows[i].square, b = rows[j].square;
            return a != b ? a < b : exact[i] <= exact[j];
        };
        const auto other_than = [](const Row& row, int32_t label) { return row.best != label ? row.best : row.second; };
        for (int64_t q = 0; q < m; ++q) {
            if (q + 24 < m) __builtin_prefetch(ends + 2 * order.data()[q + 24]);
            if (q + 12 < m) {
                const int32_t* ahead = ends + 2 * order.data()[q + 12];
                __builtin_prefetch(&rows[ahead[0]]), __builtin_prefetch(&rows[ahead[1]]);
            }
            const int32_t s = order.data()[q], i = ends[2 * s], j = ends[2 * s + 1];
            Row &a = rows[i], &b = rows[j];
            const bool joined = must.data()[s];
            if (a.label < 0 && b.label < 0) {
                if (joined) a.label = b.label = nearer(i, j) ? a.best : b.best;
                else if (a.best != b.best) a.label = a.best, b.label = b.best;
                else if (nearer(i, j)) a.label = a.best, b.label = b.second;
                else b.label = b.best, a.label = a.second;
            } else if (b.label < 0) {
                b.label = joined ? a.label : other_than(b, a.label);
            } else if (a.label < 0) {
                a.label = joined ? b.label : other_than(a, b.label);
            }
            broken.get()[s] = (a.label == b.label) != joined;  // no label changes any more
        }
        for (int64_t i = 0; i < n; ++i) labels.get()[i] = rows[i].label < 0 ? rows[i].best : rows[i].label;
    }
    return std::make_tuple(labels.release({static_cast<size_t>(n)}), broken.release({static_cast<size_t>(m)}));
}

// Places in the order of their values, the greatest first; equal ones keep the order in which they are given.
Output<int32_t> order_descending(Vector<double> values, Vector<int64_t> given) {
    const int64_t m = values.shape(0);
    check_shape("given", given, m);
    check_range("given", given, 0, m - 1);
    Result<int32_t> order(m);
    {
        GilRelease release;
        std::vector<Keyed> places(m), scratch;
        for (int64_t q = 0; q < m; ++q) {
            const int64_t at = given.data()[q];
            places[q] = {sort_key(-values.data()[at]), static_cast<int32_t>(at)};
        }
        sort_keys(places, scratch);
        for (int64_t q = 0; q < m; ++q) order.get()[q] = places[q].row;
    }
    return order.release({static_cast<size_t>(m)});
}

// Sums of the similarities of each row to the rows of each cluster.
Output<double> similarity_sums(Matrix<double> K, Vector<int32_t> labels, int64_t k, int threads) {
    const int64_t n = K.shape(0);
    check_rows("K", K);
    check_square("K", K);
    check_shape("labels", labels, n);
    check_range("labels", labels, 0, k - 1);
    Result<double> sums(n * k);
    {
        GilRelease release;
        Crew crew(useful_threads(threads, n * n));
        crew.run(n, [&](int64_t i, int) {
            double* sum = sums.get() + i * k;
            std::fill_n(sum, k, 0.0);
            const double* row = K.data() + i * n;
            for (int64_t j = 0; j < n; ++j) sum[labels.data()[j]] += row[j];
        });
    }
    return sums.release({static_cast<size_t>(n), static_cast<size_t>(k)});
}

}  // namespace

void register_priority(nb::module_& m) {
    define(m, "two_nearest", two_nearest<float>, two_nearest<double>,
           R"(Find the two nearest of k centres, (k, d), of every row.

Returns the nearest (n,), the lower number among equals; the next one (n,), the same where there is one centre only;
and the squared distance to the nearest (n,).)",
           nb::arg("X"), nb::arg("centers"), count("n_threads"));
    define(m, "assign_by_priority", assign_by_priority,
           R"(Assign rows to clusters: first those with constraints, pair by pair, then all others.

Two rows of a must-link without a cluster both get the nearest centre of the row that is nearer to it. Two rows of a
cannot-link each get their nearest centre; if it is the same, the nearer row gets it and the other row its second. If
only one row has a cluster, the other follows it, or gets the nearest other centre. If both have one, nothing changes.
The first three arrays are those of two_nearest; pairs, (s, 2), are rows, the lower one first, which wins ties of
distance; must, (s,), is 1 for a must-link, 0 for a cannot-link; order, (s,), names each pair once. Returns the cluster
of each row (n,), and 1 for each constraint that is broken (s,).

Okabe and Yamada (2018), Clustering using boosted constrained k-means algorithm, Algorithm 2.)",
           nb::arg("best"), nb::arg("second"), nb::arg("square"), nb::arg("pairs"), nb::arg("must"),
           nb::arg("order"));
    define(m, "order_descending", order_descending,
           R"(Order places by their values, (s,), the greatest first: (s,).

No value is NaN. `given`, (s,), holds each place once; those of equal values keep this order.)",
           nb::arg("values"), nb::arg("given"));
    define(m, "similarity_sums", similarity_sums,
           "Sum, for each row, its similarities K, (n, n), to the rows of each cluster: (n, k). labels are 0 to k - 1.",
           nb::arg("K"), nb::arg("labels"), count("k"), count("n_threads"));
}

}  // namespace linkwise
