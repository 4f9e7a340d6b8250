// The kernel of KIN: a weighted mean of kernels, mixed with how often trees put two rows into one leaf.
//
// The shared leaves are counted where they are mixed in, so no table of them is made.
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "checks.hpp"

namespace linkwise {

namespace {

constexpr int64_t kBeside = 128;   // rows that one row is compared with at once
constexpr int64_t kBandRows = 64;  // rows of a task

// Leaves as bytes, of which a tree has as many as tell its leaves apart, mostly one.
struct LeafBytes {
    int64_t n, trees, count;
    const int32_t* of_tree;  // bytes of each tree
    const uint8_t* row;      // n x count
    const uint8_t* block;    // blocks x count x kBeside
};

auto pack_leaves(Matrix<int32_t> leaves) {
    const int64_t n = leaves.shape(0), trees = leaves.shape(1), blocks = (n + kBeside - 1) / kBeside;
    check_rows("leaves", leaves);
    if (trees > 255) refuse("leaves has ", trees, " trees. Pass at most 255.");  // counts are bytes
    std::vector<int32_t> of_tree;
    std::vector<std::pair<int64_t, int>> from;  // tree and shift of each byte
    std::vector<uint32_t> differ(trees);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t t = 0; t < trees; ++t)
            differ[t] |= static_cast<uint32_t>(leaves.data()[i * trees + t] ^ leaves.data()[t]);
    for (int64_t t = 0; t < trees; ++t) {
        const size_t before = from.size();
        for (int shift = 0; shift < 32; shift += 8)
            if (differ[t] >> shift & 255) from.push_back({t, shift});
        if (from.size() == before) from.push_back({t, 0});  // all rows in one leaf
        of_tree.push_back(static_cast<int32_t>(from.size() - before));
    }
    const auto count = static_cast<int64_t>(from.size());
    Result<int32_t> bytes(trees);
    std::copy(of_tree.begin(), of_tree.end(), bytes.get());
    Result<uint8_t> row(n * count), block(blocks * count * kBeside);
    std::fill_n(block.get(), blocks * count * kBeside, uint8_t{0});
    for (int64_t i = 0; i < n; ++i)
        for (int64_t p = 0; p < count; ++p) {
            const auto [tree, shift] = from[p];
            const auto byte = static_cast<uint8_t>(static_cast<uint32_t>(leaves.data()[i * trees + tree]) >> shift);
            row.get()[i * count + p] = byte;
            block.get()[(i / kBeside * count + p) * kBeside + i % kBeside] = byte;
        }
    const auto rows = static_cast<size_t>(n), wide = static_cast<size_t>(count);
    return std::make_tuple(bytes.release({static_cast<size_t>(trees)}), row.release({rows, wide}),
                           block.release({static_cast<size_t>(blocks), wide, static_cast<size_t>(kBeside)}));
}

// The trees in which some rows share a leaf with each of a block, counted in registers. `Bytes` is a vector that the
// machine has: of comparisons of wider ones the compiler makes single bytes.
template <typename Bytes, int kRows, int kCount>
LINKWISE_INLINE void count_trees(const LeafBytes& p, const uint8_t* const* own, const uint8_t* with,
                                 uint8_t (*found)[kBeside]) {
    constexpr int64_t width = sizeof(Bytes);
    for (int64_t first = 0; first < kBeside; first += kCount * width) {
        Bytes sum[kRows][kCount]{};
        int64_t at = 0;
        for (int64_t t = 0; t < p.trees; ++t) {
            Bytes same[kRows][kCount];
            for (int32_t b = 0; b < p.of_tree[t]; ++b, ++at)
                for (int c = 0; c < kCount; ++c) {
                    Bytes leaf;
                    std::memcpy(&leaf, with + at * kBeside + first + c * width, sizeof leaf);
                    for (int r = 0; r < kRows; ++r) {
                        const Bytes equal = reinterpret_cast<Bytes>(leaf == Bytes{} + own[r][at]);
                        same[r][c] = b == 0 ? equal : same[r][c] & equal;
                    }
                }
            for (int r = 0; r < kRows; ++r)
                for (int c = 0; c < kCount; ++c) sum[r][c] -= same[r][c];  // -1 where they are equal
        }
        for (int r = 0; r < kRows; ++r) std::memcpy(found[r] + first, sum[r], sizeof sum[r]);
    }
}

// ---------------------------------------------------------------- whole rows
struct SharedRows {
    const LeafBytes& leaves;
    const int64_t* rows;
    int64_t begin, end;
    uint8_t* out;
};

template <typename Bytes, int kCount>
LINKWISE_INLINE void fill_shared(const SharedRows& t) {
    const LeafBytes& p = t.leaves;
    uint8_t found[1][kBeside];
    for (int64_t at = t.begin; at < t.end; ++at) {
        const uint8_t* own = p.row + t.rows[at] * p.count;
        for (int64_t first = 0; first < p.n; first += kBeside) {
            count_trees<Bytes, 1, kCount>(p, &own, p.block + first * p.count, found);
            std::copy_n(found[0], std::min(kBeside, p.n - first), t.out + at * p.n + first);
        }
    }
}

// ---------------------------------------------------------------- mixtures
struct Mixture {
    const float* mean;
    float weight;  // of the mean
    std::vector<const uint16_t*> families;
    const float* weights;  // of the families
    int64_t n;
    float* out;
};

LINKWISE_SIMD void mix_rows(const Mixture& t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        const float* mean = t.mean + i * t.n;
        float* out = t.out + i * t.n;
        for (int64_t j = 0; j <= i; ++j) out[j] = mean[j] * t.weight;
        for (size_t f = 0; f < t.families.size(); ++f) {
            const uint16_t* family = t.families[f] + i * t.n;
            const float weight = t.weights[f];
            for (int64_t j = 0; j <= i; ++j) out[j] += static_cast<float>(family[j]) * weight;
        }
    }
}

struct ForestBand {
    const LeafBytes& leaves;
    float kept, factor;
    int64_t begin, end;
    float* out;
};

template <typename Bytes, int kRows, int kCount>
LINKWISE_INLINE void mix_forest(const ForestBand& t) {
    const LeafBytes& p = t.leaves;
    uint8_t found[kRows][kBeside];
    for (int64_t first = 0; first < t.end; first += kBeside)
        for (int64_t i = std::max(t.begin, first); i < t.end; i += kRows) {
            const uint8_t* own[kRows];
            for (int64_t r = 0; r < kRows; ++r) own[r] = p.row + std::min(i + r, t.end - 1) * p.count;
            count_trees<Bytes, kRows, kCount>(p, own, p.block + first * p.count, found);
            for (int64_t r = 0; r < kRows && i + r < t.end; ++r) {
                float* out = t.out + (i + r) * p.n + first;
                const int64_t width = std::min(kBeside, i + r + 1 - first);
                for (int64_t j = 0; j < width; ++j)
                    out[j] = out[j] * t.kept + static_cast<float>(found[r][j]) * t.factor;
            }
        }
}

// ---------------------------------------------------------------- 16 bits
constexpr float kFull = 65535;

struct Packing {
    const float* table;
    float divisor;
    int64_t n;
    uint16_t* out;
};

LINKWISE_SIMD void pack_rows(const Packing& t) {
    for (int64_t i = 0; i < t.n; ++i) {
        const float* row = t.table + i * t.n;
        uint16_t* out = t.out + i * t.n;
        for (int64_t j = 0; j < i; ++j) {
            float part = row[j] / t.divisor;
            part = part > 0 ? part : 0;
            part = part < 1 ? part : 1;
            out[j] = static_cast<uint16_t>(static_cast<int32_t>(std::nearbyint(part * kFull)));
        }
        out[i] = static_cast<uint16_t>(kFull);
    }
}

Output<uint16_t> pack_lower(Matrix<float> table, float divisor) {
    constexpr int64_t side = 64;
    const int64_t n = table.shape(0);
    check_square("table", table);
    Result<uint16_t> found(n * n);
    {
        GilRelease release;
        uint16_t* out = found.get();
        pack_rows({table.data(), divisor, n, out});
        for (int64_t a = 0; a < n; a += side)
            for (int64_t b = 0; b <= a; b += side)
                for (int64_t j = b; j < std::min(n, b + side); ++j)
                    for (int64_t i = std::max(a, j + 1); i < std::min(n, a + side); ++i) out[j * n + i] = out[i * n + j];
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(n)});
}

typedef uint8_t NarrowBytes __attribute__((vector_size(16)));

void fill_shared_narrow(const SharedRows& t) { fill_shared<NarrowBytes, 8>(t); }
void mix_forest_narrow(const ForestBand& t) { mix_forest<NarrowBytes, 1, 8>(t); }

#ifdef LINKWISE_LEVELS
typedef uint8_t WideBytes __attribute__((vector_size(32)));
#define LINKWISE_WIDE __attribute__((target("arch=x86-64-v3")))

LINKWISE_WIDE void fill_shared_wide(const SharedRows& t) { fill_shared<WideBytes, 4>(t); }
LINKWISE_WIDE void mix_forest_wide(const ForestBand& t) { mix_forest<WideBytes, 2, 4>(t); }

bool has_wide_bytes() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v3") != 0;
}
#endif

LeafBytes read_leaves(const Vector<int32_t>& of_tree, const Matrix<uint8_t>& row, const Cube<uint8_t>& block) {
    const int64_t n = row.shape(0), trees = of_tree.shape(0), bytes = row.shape(1);
    check_shape("block", block, (n + kBeside - 1) / kBeside, bytes, kBeside);
    check_range("of_tree", of_tree, 1, bytes);
    if (std::accumulate(of_tree.data(), of_tree.data() + trees, int64_t{0}) != bytes)
        refuse("of_tree must hold numbers of bytes that add up to ", bytes, ".");
    return {n, trees, bytes, of_tree.data(), row.data(), block.data()};
}

Output<uint8_t> shared_leaves(Vector<int32_t> of_tree, Matrix<uint8_t> row, Cube<uint8_t> block, Vector<int64_t> rows,
                              int threads) {
    const LeafBytes leaves = read_leaves(of_tree, row, block);
    check_range("rows", rows, 0, leaves.n - 1);
    const int64_t count = rows.shape(0), chunks = (count + kBandRows - 1) / kBandRows;
    Result<uint8_t> found(count * leaves.n);
    {
        GilRelease release;
        auto* fill = &fill_shared_narrow;
#ifdef LINKWISE_LEVELS
        if (has_wide_bytes()) fill = &fill_shared_wide;
#endif
        Crew crew(std::min<int64_t>(useful_threads(threads, count * leaves.n * leaves.count / 8), chunks));
        crew.run(chunks, [&](int64_t c, int) {
            fill({leaves, rows.data(), c * kBandRows, std::min(count, (c + 1) * kBandRows), found.get()});
        });
    }
    return found.release({static_cast<size_t>(count), static_cast<size_t>(leaves.n)});
}

void mix_lower(Changed<float> out, Matrix<float> mean, float weight, nb::typed<nb::list, Output<uint16_t>> families,
               Vector<float> factors, Vector<int32_t> of_tree, Matrix<uint8_t> row, Cube<uint8_t> block, float kept,
               float factor, int threads) {
    const int64_t n = mean.shape(0), bands = (n + kBandRows - 1) / kBandRows;
    Mixture mixture{mean.data(), weight, {}, factors.data(), n, out.data()};
    check_square("mean", mean);
    check_shape("out", out, n, n);
    std::vector<Matrix<uint16_t>> tables;
    for (const nb::handle each : families) {
        tables.push_back(take_array<Matrix<uint16_t>>("families", each));
        check_shape("families", tables.back(), n, n);
        mixture.families.push_back(tables.back().data());
    }
    check_shape("factors", factors, tables.size());
    const LeafBytes leaves = read_leaves(of_tree, row, block);
    if (leaves.n > 0) check_shape("row", row, n, leaves.count);
    GilRelease release;
    auto* mix = &mix_forest_narrow;
#ifdef LINKWISE_LEVELS
    if (has_wide_bytes()) mix = &mix_forest_wide;
#endif
    Crew crew(std::min<int64_t>(useful_threads(threads, n * n), bands));
    crew.run(bands, [&](int64_t b, int) {
        const int64_t begin = b * kBandRows, end = std::min(n, begin + kBandRows);
        mix_rows(mixture, begin, end);
        if (leaves.n > 0) mix({leaves, kept, factor, begin, end, out.data()});
    });
}

}  // namespace

void register_mixtures(nb::module_& m) {
    define(m, "pack_leaves", pack_leaves,
           R"(Pack the leaves of at most 255 trees, (n, t), so that shared ones are counted fast.

Returns the bytes of each tree (t,), as many as tell its leaves apart; the leaves of each row as bytes (n, b); and the
same in blocks of 128 rows, byte by byte (ceil(n / 128), b, 128), where the last block ends in zeros.)",
           nb::arg("leaves"));
    define(m, "shared_leaves", shared_leaves,
           "Count the trees of pack_leaves in which some rows, (m,), share a leaf with each of all rows: (m, n).",
           nb::arg("of_tree"), nb::arg("row"), nb::arg("block"), nb::arg("rows"), count("n_threads"));
    define(m, "pack_lower", pack_lower,
           R"(Divide a symmetric table, (n, n), and keep the values from 0 to 1 in units of 1 / 65535: (n, n).

What is below its diagonal counts. The result is symmetric, with ones on its diagonal.)",
           nb::arg("table"), nb::arg("divisor"));
    define(m, "mix_lower", mix_lower,
           R"(Add up kernels, with a factor each, and mix a forest into the lower triangle of out, (n, n).

mean, (n, n), is the first kernel, times weight; families, (n, n) each, are further ones, times factors, (f,). All
this times `kept`, plus `factor` times the number of trees in which two rows share a leaf, is written, the diagonal
included; without rows in the forest, neither counts.)",
           nb::arg("out"), nb::arg("mean"), nb::arg("weight"), nb::arg("families"), nb::arg("factors"),
           nb::arg("of_tree"), nb::arg("row"), nb::arg("block"), nb::arg("kept"), nb::arg("factor"),
           count("n_threads"));
}

}  // namespace linkwise
