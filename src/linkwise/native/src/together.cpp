// Which clusterings put which pairs together, a bit each, and the weight that joins every pair.
//
// The bits of 8 clusterings make a byte, and one row holds that byte of all pairs. A table of the 256
// sums that 8 weights can make turns the byte into a single addition. Sums are integers, so that their
// order does not matter.
#include <array>
#include <cstring>
#include <vector>

#include "checks.hpp"

namespace linkwise {

namespace {

// Eight labels of one row, and what becomes of them.
using Eight = int16_t __attribute__((vector_size(16)));
using EightBytes = uint8_t __attribute__((vector_size(8)));

// One byte of every pair.
struct Byte {
    const int16_t* labels;  // count x rows
    int64_t rows, count;    // count <= 8
    const int32_t *first, *second;
    int64_t n;
    uint8_t* bits;  // n
};

template <typename Task>
LINKWISE_INLINE void pack_pairs(const Task& t, const Eight* of) {
    const Eight bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const auto used = static_cast<uint8_t>((1 << t.count) - 1);
    for (int64_t p = 0; p < t.n; ++p) {
        const Eight same = (of[t.first[p]] == of[t.second[p]]) & bit;
        const EightBytes narrow = __builtin_convertvector(same, EightBytes);
        uint64_t lanes;
        std::memcpy(&lanes, &narrow, 8);
        t.bits[p] = static_cast<uint8_t>((lanes * 0x0101010101010101u) >> 56) & used;  // the sum of all lanes
    }
}

LINKWISE_SIMD void pack_byte(const Byte& t) {
    std::vector<Eight> of(t.rows);  // a row's labels side by side: two loads a pair
    for (int64_t k = 0; k < t.count; ++k)
        for (int64_t i = 0; i < t.rows; ++i) of[i][k] = t.labels[k * t.rows + i];
    pack_pairs(t, of.data());
}

Output<uint8_t> pack_together(Matrix<int16_t> labels, Vector<int32_t> first, Vector<int32_t> second, int threads) {
    const int64_t clusterings = labels.shape(0), rows = labels.shape(1), n = first.shape(0);
    check_rows("labels", labels);
    check_shape("first", first, kPositive);
    check_shape("second", second, n);
    check_range("first", first, 0, rows - 1);
    check_range("second", second, 0, rows - 1);
    const int64_t bytes = (clusterings + 7) / 8;
    Result<uint8_t> bits(bytes * n);
    {
        GilRelease release;
        Crew crew(useful_threads(threads, bytes * (n + rows)));
        crew.run(bytes, [&](int64_t b, int) {
            pack_byte({labels.data() + b * 8 * rows, rows, std::min<int64_t>(8, clusterings - b * 8),
                       first.data(), second.data(), n, bits.get() + b * n});
        });
    }
    return bits.release({static_cast<size_t>(bytes), static_cast<size_t>(n)});
}

inline constexpr int64_t kBlock = 2048;  // pairs whose sums and bytes stay in the first cache
inline constexpr size_t kAtOnce = 4;     // bytes that are added together

// Unsigned: weights too large for 64 bits wrap, as NumPy's do.
using Table = std::array<uint64_t, 256>;

Table sums_of(const int64_t* weights, int64_t count) {
    Table table{};
    for (int64_t k = 0; k < 8; ++k) {
        const uint64_t weight = k < count ? static_cast<uint64_t>(weights[k]) : 0;
        for (int64_t v = 0, half = 1 << k; v < half; ++v) table[half + v] = table[v] + weight;
    }
    return table;
}

// Bytes of which some clustering has a weight, and their tables.
struct Weighed {
    std::vector<Table> tables;
    std::vector<const uint8_t*> rows;

    Weighed(const uint8_t* bits, int64_t n, const int64_t* weights, int64_t clusterings) {
        for (int64_t c = 0; c < clusterings; c += 8) {
            const int64_t count = std::min<int64_t>(8, clusterings - c);
            const int64_t* own = weights + c;
            if (std::all_of(own, own + count, [](int64_t w) { return w == 0; })) continue;
            tables.push_back(sums_of(own, count));
            rows.push_back(bits + c / 8 * n);
        }
        while (tables.size() % kAtOnce) tables.push_back(Table{}), rows.push_back(bits);
    }
};

void add_up(const Weighed& t, int64_t begin, int64_t size, uint64_t* sums) {
    std::fill_n(sums, size, 0);
    for (size_t b = 0; b < t.rows.size(); b += kAtOnce) {
        const Table *t0 = &t.tables[b], *t1 = t0 + 1, *t2 = t0 + 2, *t3 = t0 + 3;
        const uint8_t *b0 = t.rows[b] + begin, *b1 = t.rows[b + 1] + begin;
        const uint8_t *b2 = t.rows[b + 2] + begin, *b3 = t.rows[b + 3] + begin;
        for (int64_t p = 0; p < size; ++p)
            sums[p] += ((*t0)[b0[p]] + (*t1)[b1[p]]) + ((*t2)[b2[p]] + (*t3)[b3[p]]);
    }
}

Output<int64_t> weighted_together(Matrix<uint8_t> bits, Vector<int64_t> weights, int threads) {
    check_shape("weights", weights, kPositive);
    check_shape("bits", bits, (weights.shape(0) + 7) / 8, kPositive);
    const int64_t n = bits.shape(1), blocks = (n + kBlock - 1) / kBlock;
    Result<int64_t> sums(n);
    {
        GilRelease release;
        const Weighed weighed(bits.data(), n, weights.data(), weights.shape(0));
        Crew crew(useful_threads(threads, n * static_cast<int64_t>(weighed.rows.size())));
        crew.run(blocks, [&](int64_t block, int) {
            const int64_t begin = block * kBlock;
            add_up(weighed, begin, std::min(n - begin, kBlock), reinterpret_cast<uint64_t*>(sums.get()) + begin);
        });
    }
    return sums.release({static_cast<size_t>(n)});
}

}  // namespace

void register_together(nb::module_& m) {
    define(m, "pack_together", pack_together,
           R"(Find which clusterings join which pairs of rows, one bit each: (ceil(C / 8), P).

labels, (C, n), are the clusters of each row; first and second, (P,), the rows of each pair. Bit k of row b, the
lowest first, is for clustering 8 b + k; bits beyond the last one are 0.)",
           nb::arg("labels"), nb::arg("first"), nb::arg("second"), count("n_threads"));
    define(m, "weighted_together", weighted_together,
           R"(Sum, for each pair, the weights, (C,), of the clusterings that join it: (P,), exact unless it overflows.

bits are those of pack_together. Time O(P C / 8); clusterings that weigh nothing cost nothing where all 8 of a
byte do.)",
           nb::arg("bits"), nb::arg("weights"), count("n_threads"));
}

}  // namespace linkwise
