// The row nearest to each centre, among the rows that bear its label.
#include <limits>
#include <vector>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

inline constexpr double kNone = std::numeric_limits<double>::infinity();

// One chunk: for each centre the nearest of its rows so far; row -1 where there is none.
template <typename T>
struct Nearest {
    const T* X;              // all rows
    const int32_t* labels;   // of all rows
    const bool* allowed;     // of all rows, or null
    int64_t begin, end, d, k;
    const double* centers;
    double* square;          // out, k
    int64_t* row;            // out, k
};

template <typename T>
LINKWISE_INLINE void nearest(const Nearest<T>& t) {
    for (int64_t i = t.begin; i < t.end; ++i) {
        const int64_t c = t.labels[i];
        if (c < 0 || c >= t.k || (t.allowed && !t.allowed[i])) continue;
        const double s = row_distance(t.X + i * t.d, t.centers + c * t.d, t.d);
        if (t.row[c] < 0 || s < t.square[c]) t.square[c] = s, t.row[c] = i;
    }
}

LINKWISE_SIMD void nearest_chunk(const Nearest<float>& t) { nearest(t); }
LINKWISE_SIMD void nearest_chunk(const Nearest<double>& t) { nearest(t); }

template <typename T>
nb::ndarray<nb::numpy, int64_t> nearest_rows(Matrix<T> X, Vector<int32_t> labels, Matrix<double> centers,
                                             nb::object allowed, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0), chunks = chunk_count(n);
    const bool* may = nullptr;
    Vector<bool> mask;
    if (!allowed.is_none()) {
        mask = nb::cast<Vector<bool>>(allowed, false);
        may = mask.data();
    }
    Result<int64_t> found(k);
    {
        nb::gil_scoped_release release;
        std::vector<double> square(chunks * k, kNone);
        std::vector<int64_t> row(chunks * k, -1);
        Crew crew(useful_threads(threads, n * d));
        crew.run(chunks, [&](int64_t c, int) {
            nearest_chunk(Nearest<T>{X.data(), labels.data(), may, c * kChunk, std::min(n, (c + 1) * kChunk),
                                     d, k, centers.data(), &square[c * k], &row[c * k]});
        });
        for (int64_t j = 0; j < k; ++j) {
            int64_t best = -1;
            double least = kNone;
            for (int64_t c = 0; c < chunks; ++c) {
                const int64_t at = c * k + j;
                if (row[at] >= 0 && (best < 0 || square[at] < least)) best = row[at], least = square[at];
            }
            found.get()[j] = best;
        }
    }
    return found.release({static_cast<size_t>(k)});
}

}  // namespace

void register_nearest(nb::module_& m) {
    m.def("nearest_rows", &nearest_rows<float>, nb::arg("X").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("centers").noconvert(), nb::arg("allowed").none(), nb::arg("n_threads"));
    m.def("nearest_rows", &nearest_rows<double>, nb::arg("X").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("centers").noconvert(), nb::arg("allowed").none(), nb::arg("n_threads"));
}

}  // namespace linkwise
