// What moves centres: sums of the rows of each cluster. And how many rows two clusterings have in common.
#include "checks.hpp"
#include "sums.hpp"

namespace linkwise {

LINKWISE_SIMD void add_rows_block(const LabelledRows<float, int32_t>& t) { add_rows(t); }
LINKWISE_SIMD void add_rows_block(const LabelledRows<double, int32_t>& t) { add_rows(t); }
LINKWISE_SIMD void add_rows_block(const LabelledRows<float, uint8_t>& t) { add_rows(t); }
LINKWISE_SIMD void add_rows_block(const LabelledRows<double, uint8_t>& t) { add_rows(t); }
LINKWISE_SIMD void add_rows_block(const LabelledRows<float, uint16_t>& t) { add_rows(t); }
LINKWISE_SIMD void add_rows_block(const LabelledRows<double, uint16_t>& t) { add_rows(t); }

namespace {

template <typename T>
auto label_sums(Matrix<T> X, Vector<int32_t> labels, int64_t k, std::optional<Vector<int64_t>> weight, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1);
    check_rows("X", X);
    check_shape("labels", labels, n);
    check_shape("weight", weight, n);
    if (const int32_t most = *std::max_element(labels.data(), labels.data() + n); most >= k)
        refuse("labels must be below k = ", k, ", got ", most);
    Result<double> sums(k * d);
    Result<int64_t> counts(k);
    {
        GilRelease release;
        sum_labelled(X.data(), labels.data(), data_or_null(weight), n, d, k, threads, sums.get(), counts.get());
    }
    const size_t K = k, D = d;
    return std::make_tuple(sums.release({K, D}), counts.release({K}));
}

// Rows by their labels in two clusterings. A block of rows for each thread, which fills several tables in turn:
// most rows are counted where the row before was, and a table would wait for its own last sum.
Output<int64_t> count_pairs(Vector<int32_t> one, Vector<int32_t> other, int32_t low, int32_t other_low, int64_t k,
                            int64_t m, int threads) {
    const int64_t n = one.shape(0), size = k * m;
    check_shape("one", one, kPositive);
    check_shape("other", other, n);
    check_range("one", one, low, low + k - 1);
    check_range("other", other, other_low, other_low + m - 1);
    Result<int64_t> counts(size);
    {
        GilRelease release;
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
    define(m, "label_sums", label_sums<float>, label_sums<double>,
           R"(Sum the rows of each cluster: sums (k, d), and the number of rows (k,).

labels, (n,), are below k; a negative one belongs to no cluster. weight, (n,), counts each row. For many rows
the sums are those of up to 64 blocks of rows, added in their order.)",
           nb::arg("X"), nb::arg("labels"), count("k"), nb::arg("weight").none(), count("n_threads"));
    define(m, "count_pairs", count_pairs,
           "Count rows by their labels in two clusterings, (n,), from the lowest labels on: (k, m).",
           nb::arg("one"), nb::arg("other"), nb::arg("low"), nb::arg("other_low"), count("k"), count("m"),
           count("n_threads"));
}

}  // namespace linkwise
