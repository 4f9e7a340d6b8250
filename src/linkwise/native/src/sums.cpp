// What moves centres: sums of the rows of each cluster. And how many rows two clusterings have in common.
#include <vector>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

template <typename T>
struct Rows {
    const T* X;
    const int32_t* labels;
    const int64_t* weight;  // null: 1 each
    int64_t begin, end, d;
    double* sums;     // k x d
    int64_t* counts;  // k
};

template <typename T>
LINKWISE_INLINE void add_rows(const Rows<T>& t) {
    for (int64_t i = t.begin; i < t.end; ++i) {
        const int32_t label = t.labels[i];
        if (label < 0) continue;
        const int64_t weight = t.weight ? t.weight[i] : 1;
        const double w = static_cast<double>(weight);
        const T* x = t.X + i * t.d;
        double* sum = t.sums + label * t.d;
        for (int64_t a = 0; a < t.d; ++a) sum[a] += w * static_cast<double>(x[a]);
        t.counts[label] += weight;
    }
}

LINKWISE_SIMD void add_rows_block(const Rows<float>& t) { add_rows(t); }
LINKWISE_SIMD void add_rows_block(const Rows<double>& t) { add_rows(t); }

// Rows are cut into blocks that do not depend on the threads; each has sums of its own, so there are few
// of them where there are many clusters.
inline int64_t block_count(int64_t n, int64_t k) {
    return std::clamp<int64_t>(n / (4 * k), 1, std::min<int64_t>(64, chunk_count(n)));
}

template <typename T>
nb::tuple label_sums(Matrix<T> X, Vector<int32_t> labels, int64_t k, nb::object weight, int threads) {
    const Weights weights(weight);
    const int64_t n = X.shape(0), d = X.shape(1), blocks = block_count(n, k);
    Result<double> sums(k * d);
    Result<int64_t> counts(k);
    {
        nb::gil_scoped_release release;
        std::vector<double> more((blocks - 1) * k * d);
        std::vector<int64_t> further((blocks - 1) * k);
        std::fill_n(sums.get(), k * d, 0.0);
        std::fill_n(counts.get(), k, 0);
        Crew crew(std::min<int64_t>(useful_threads(threads, n * d), blocks));
        crew.run(blocks, [&](int64_t b, int) {
            add_rows_block(Rows<T>{X.data(), labels.data(), weights.data, b * n / blocks, (b + 1) * n / blocks, d,
                                   b ? &more[(b - 1) * k * d] : sums.get(), b ? &further[(b - 1) * k] : counts.get()});
        });
        for (int64_t b = 1; b < blocks; ++b) {
            for (int64_t j = 0; j < k * d; ++j) sums.get()[j] += more[(b - 1) * k * d + j];
            for (int64_t j = 0; j < k; ++j) counts.get()[j] += further[(b - 1) * k + j];
        }
    }
    const size_t K = k, D = d;
    return nb::make_tuple(sums.release({K, D}), counts.release({K}));
}

// Rows by their labels in two clusterings. A block of rows for each thread, which fills several tables in turn:
// most rows are counted where the row before was, and a table would wait for its own last sum.
nb::ndarray<nb::numpy, int64_t> count_pairs(Vector<int32_t> one, Vector<int32_t> other, int32_t low, int32_t other_low,
                                            int64_t k, int64_t m, int threads) {
    const int64_t n = one.shape(0), size = k * m;
    Result<int64_t> counts(size);
    {
        nb::gil_scoped_release release;
        constexpr int64_t kTables = 4;
        const int64_t blocks = std::min<int64_t>(useful_threads(threads, n), block_count(n, kTables * size));
        std::vector<int64_t> tables(blocks * kTables * size);
        Crew crew(static_cast<int>(blocks));
        crew.run(blocks, [&](int64_t b, int) {
            int64_t* found = &tables[b * kTables * size];
            for (int64_t i = b * n / blocks; i < (b + 1) * n / blocks; ++i)
                ++found[i % kTables * size + static_cast<int64_t>(one.data()[i] - low) * m +
                        (other.data()[i] - other_low)];
        });
        std::fill_n(counts.get(), size, 0);
        for (int64_t t = 0; t < blocks * kTables; ++t)
            for (int64_t j = 0; j < size; ++j) counts.get()[j] += tables[t * size + j];
    }
    return counts.release({static_cast<size_t>(k), static_cast<size_t>(m)});
}

}  // namespace

void register_sums(nb::module_& m) {
    m.def("label_sums", &label_sums<float>, nb::arg("X").noconvert(), nb::arg("labels").noconvert(), nb::arg("k"),
          nb::arg("weight").none(), nb::arg("n_threads"));
    m.def("label_sums", &label_sums<double>, nb::arg("X").noconvert(), nb::arg("labels").noconvert(), nb::arg("k"),
          nb::arg("weight").none(), nb::arg("n_threads"));
    m.def("count_pairs", &count_pairs, nb::arg("one").noconvert(), nb::arg("other").noconvert(), nb::arg("low"),
          nb::arg("other_low"), nb::arg("k"), nb::arg("m"), nb::arg("n_threads"));
}

}  // namespace linkwise
