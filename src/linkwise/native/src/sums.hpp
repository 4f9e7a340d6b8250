// Sums of the rows of each cluster, for any type of labels; those below 0 are in none.
#pragma once

#include <type_traits>
#include <vector>

#include "kernels.hpp"

namespace linkwise {

template <typename T, typename L>
struct LabelledRows {
    const T* X;
    const L* labels;
    const int64_t* weight;  // null: 1 each
    int64_t begin, end, d;
    double* sums;     // k x d
    int64_t* counts;  // k
};

template <typename T, typename L>
LINKWISE_INLINE void add_rows(const LabelledRows<T, L>& t) {
    for (int64_t i = t.begin; i < t.end; ++i) {
        const L label = t.labels[i];
        if constexpr (std::is_signed_v<L>)
            if (label < 0) continue;
        const int64_t weight = t.weight ? t.weight[i] : 1;
        const double w = static_cast<double>(weight);
        const T* x = t.X + i * t.d;
        double* sum = t.sums + label * t.d;
        for (int64_t a = 0; a < t.d; ++a) sum[a] += w * static_cast<double>(x[a]);
        t.counts[label] += weight;
    }
}

// Rows are cut into blocks that do not depend on the threads; each has sums of its own, so there are few
// of them where there are many clusters.
inline int64_t block_count(int64_t n, int64_t k) {
    return std::clamp<int64_t>(n / (4 * k), 1, std::min<int64_t>(64, chunk_count(n)));
}

// Compiled for each instruction set (sums.cpp).
void add_rows_block(const LabelledRows<float, int32_t>& t);
void add_rows_block(const LabelledRows<double, int32_t>& t);
void add_rows_block(const LabelledRows<float, uint8_t>& t);
void add_rows_block(const LabelledRows<double, uint8_t>& t);
void add_rows_block(const LabelledRows<float, uint16_t>& t);
void add_rows_block(const LabelledRows<double, uint16_t>& t);

// (k, d) sums and (k,) counts; the same for any number of threads.
template <typename T, typename L>
void sum_labelled(const T* X, const L* labels, const int64_t* weight, int64_t n, int64_t d, int64_t k, int threads,
                  double* sums, int64_t* counts) {
    const int64_t blocks = block_count(n, k);
    std::vector<double> more((blocks - 1) * k * d);
    std::vector<int64_t> further((blocks - 1) * k);
    std::fill_n(sums, k * d, 0.0);
    std::fill_n(counts, k, 0);
    Crew crew(std::min<int64_t>(useful_threads(threads, n * d), blocks));
    crew.run(blocks, [&](int64_t b, int) {
        add_rows_block(LabelledRows<T, L>{X, labels, weight, b * n / blocks, (b + 1) * n / blocks, d,
                                          b ? &more[(b - 1) * k * d] : sums, b ? &further[(b - 1) * k] : counts});
    });
    for (int64_t b = 1; b < blocks; ++b) {
        for (int64_t j = 0; j < k * d; ++j) sums[j] += more[(b - 1) * k * d + j];
        for (int64_t j = 0; j < k; ++j) counts[j] += further[(b - 1) * k + j];
    }
}

}  // namespace linkwise
