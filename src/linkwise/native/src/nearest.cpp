// The row nearest to each centre, among the rows that bear its label.
#include <limits>
#include <vector>

#include "checks.hpp"
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
Output<int64_t> nearest_rows(Matrix<T> X, Vector<int32_t> labels, Matrix<double> centers,
                             std::optional<Vector<bool>> allowed, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), k = centers.shape(0), chunks = chunk_count(n);
    check_rows("X", X);
    check_shape("labels", labels, n);
    check_shape("centers", centers, kPositive, d);
    check_shape("allowed", allowed, n);
    const bool* may = data_or_null(allowed);
    Result<int64_t> found(k);
    {
        GilRelease release;
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

// The smallest values of a row, in order; of equal ones the first.
template <typename T>
struct Smallest {
    const T* table;  // n x m
    int64_t m, k;
    int64_t* found;  // n x k
};

template <typename T>
LINKWISE_INLINE void list_smallest(const Smallest<T>& t, int64_t begin, int64_t end, T* least) {
    constexpr int64_t together = 32;
    for (int64_t i = begin; i < end; ++i) {
        const T* row = t.table + i * t.m;
        int64_t* column = t.found + i * t.k;
        const auto insert = [&](int64_t j, int64_t at) {
            for (; at > 0 && row[j] < least[at - 1]; --at) {
                least[at] = least[at - 1];
                column[at] = column[at - 1];
            }
            least[at] = row[j];
            column[at] = j;
        };
        for (int64_t j = 0; j < t.k; ++j) insert(j, j);
        for (int64_t a = t.k; a < t.m; a += together) {
            const int64_t b = std::min(t.m, a + together);
            const T bound = least[t.k - 1];
            int is_any = 0;
            for (int64_t j = a; j < b; ++j) is_any |= row[j] < bound;
            if (!is_any) continue;
            for (int64_t j = a; j < b; ++j)
                if (row[j] < least[t.k - 1]) insert(j, t.k - 1);
        }
    }
}

LINKWISE_SIMD void list_smallest_block(const Smallest<float>& t, int64_t begin, int64_t end, float* least) {
    list_smallest(t, begin, end, least);
}
LINKWISE_SIMD void list_smallest_block(const Smallest<double>& t, int64_t begin, int64_t end, double* least) {
    list_smallest(t, begin, end, least);
}

template <typename T>
Output<int64_t> smallest_columns(Matrix<T> table, int64_t k, int threads) {
    const int64_t n = table.shape(0), m = table.shape(1), chunks = (n + 63) / 64;
    check_rows("table", table);
    check_between("k", k, 1, m);
    Result<int64_t> found(n * k);
    {
        GilRelease release;
        const Smallest<T> work{table.data(), m, k, found.get()};
        Crew crew(std::min<int64_t>(useful_threads(threads, n * m), chunks));
        std::vector<T> least(crew.size() * k);
        crew.run(chunks, [&](int64_t c, int thread) {
            list_smallest_block(work, c * 64, std::min(n, (c + 1) * 64), &least[thread * k]);
        });
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(k)});
}

}  // namespace

void register_nearest(nb::module_& m) {
    define(m, "smallest_columns", smallest_columns<float>, smallest_columns<double>,
           R"(List the columns of the k smallest values of each row, (n, k): the smallest first, of equals the first.)",
           nb::arg("table"), count("k"), count("n_threads"));
    define(m, "nearest_rows", nearest_rows<float>, nearest_rows<double>,
           R"(Find, for each centre (k, d), the nearest row with its label: (k,), of equals the first, -1 for none.

A label outside 0..k-1 (such as -1, noise) belongs to no centre. Rows that are not allowed, (n,), do not
count.)",
           nb::arg("X"), nb::arg("labels"), nb::arg("centers"), nb::arg("allowed").none(), count("n_threads"));
}

}  // namespace linkwise
