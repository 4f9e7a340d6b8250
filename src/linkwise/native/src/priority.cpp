// One pass of constrained k-means with priorities (Okabe and Yamada 2018, Algorithm 2): for each row the two
// nearest centres, then the rows that constraints name, pair by pair in the order of their priorities.
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
nb::tuple two_nearest(Matrix<T> X, Matrix<double> centers, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0);
    Result<int32_t> best(n), second(n);
    Result<double> square(n);
    {
        nb::gil_scoped_release release;
        Crew crew(useful_threads(threads, n * d * k));
        crew.run(chunk_count(n), [&](int64_t c, int) {
            const int64_t start = c * kChunk;
            two_chunk(TwoNearest<T, PutApart>{X.data() + start * d, std::min(kChunk, n - start), d, k, centers.data(),
                                              {best.get() + start, second.get() + start, square.get() + start}});
        });
    }
    const size_t N = n;
    return nb::make_tuple(best.release({N}), second.release({N}), square.release({N}));
}

nb::tuple assign_by_priority(Vector<int32_t> best, Vector<int32_t> second, Vector<double> square,
                             nb::ndarray<const int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu> pairs,
                             Vector<uint8_t> must, Vector<int32_t> order) {
    const int64_t n = best.shape(0), m = order.shape(0);
    Result<int32_t> labels(n);
    Result<uint8_t> broken(m);
    {
        nb::gil_scoped_release release;
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
    return nb::make_tuple(labels.release({static_cast<size_t>(n)}), broken.release({static_cast<size_t>(m)}));
}

// Places in the order of their values, the greatest first; equal ones keep the order in which they are given.
nb::ndarray<nb::numpy, int32_t> order_descending(Vector<double> values, Vector<int64_t> given) {
    const int64_t m = values.shape(0);
    Result<int32_t> order(m);
    bool is_valid = true;
    {
        nb::gil_scoped_release release;
        std::vector<Keyed> places(m), scratch;
        for (int64_t q = 0; q < m; ++q) {
            const int64_t at = given.data()[q];
            if (at < 0 || at >= m) {
                is_valid = false;
                break;
            }
            places[q] = {sort_key(-values.data()[at]), static_cast<int32_t>(at)};
        }
        if (is_valid) sort_keys(places, scratch);
        for (int64_t q = 0; q < m; ++q) order.get()[q] = places[q].row;
    }
    if (!is_valid) throw nb::value_error("given names places beyond the values.");
    return order.release({static_cast<size_t>(m)});
}

// Sums of the similarities of each row to the rows of each cluster.
nb::ndarray<nb::numpy, double> similarity_sums(Matrix<double> K, Vector<int32_t> labels, int64_t k, int threads) {
    const int64_t n = K.shape(0);
    Result<double> sums(n * k);
    {
        nb::gil_scoped_release release;
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
    m.def("two_nearest", &two_nearest<float>, nb::arg("X").noconvert(), nb::arg("centers").noconvert(), nb::arg("n_threads"));
    m.def("two_nearest", &two_nearest<double>, nb::arg("X").noconvert(), nb::arg("centers").noconvert(), nb::arg("n_threads"));
    m.def("assign_by_priority", &assign_by_priority, nb::arg("best").noconvert(), nb::arg("second").noconvert(),
          nb::arg("square").noconvert(), nb::arg("pairs").noconvert(), nb::arg("must").noconvert(), nb::arg("order").noconvert());
    m.def("order_descending", &order_descending, nb::arg("values").noconvert(), nb::arg("given").noconvert());
    m.def("similarity_sums", &similarity_sums, nb::arg("K").noconvert(), nb::arg("labels").noconvert(), nb::arg("k"), nb::arg("n_threads"));
}

}  // namespace linkwise
