// The posterior covariance of KIN: symmetric tables of which the lower triangle counts.
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

constexpr int64_t kWide = 256;  // rows of a table that one thread takes at a time

// ---------------------------------------------------------------- the upper triangle
template <typename T>
void mirror_tiles(T* table, int64_t n) {
    constexpr int64_t side = 64;
    for (int64_t a = 0; a < n; a += side)
        for (int64_t b = 0; b <= a; b += side)
            for (int64_t j = b; j < std::min(n, b + side); ++j)
                for (int64_t i = std::max(a, j + 1); i < std::min(n, a + side); ++i)
                    table[j * n + i] = table[i * n + j];
}

// Numbers of any type, by their bytes.
void mirror_lower(nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu> table) {
    check_square("table", table);
    const int64_t n = table.shape(0);
    const size_t bytes = table.itemsize();
    if (bytes != 1 && bytes != 2 && bytes != 4)
        throw nb::type_error("table must hold numbers of 1, 2 or 4 bytes, such as float32.");
    GilRelease release;
    if (bytes == 1) mirror_tiles(static_cast<uint8_t*>(table.data()), n);
    else if (bytes == 2) mirror_tiles(static_cast<uint16_t*>(table.data()), n);
    else mirror_tiles(static_cast<uint32_t*>(table.data()), n);
}

// ---------------------------------------------------------------- squares
struct Squares {
    float* table;  // n x n
    int64_t n;
    const float* column;  // what is taken from the table first is share column column'; null: nothing
    float share;
    const double* weight;
};

// Adds what a band of rows gives to all columns, and to the rows themselves.
template <bool kChanges>
LINKWISE_INLINE void add_row(const Squares& t, int64_t i, double* total) {
    typedef float Part __attribute__((vector_size(32)));
    float* row = t.table + i * t.n;
    const double own = t.weight[i];
    const float share = kChanges ? t.share * t.column[i] : 0;
    Lanes across{};
    int64_t j = 0;
    for (; j + 8 <= i; j += 8) {
        Part part;
        Lanes weight, sum;
        std::memcpy(&part, row + j, sizeof part);
        if constexpr (kChanges) {
            Part column;
            std::memcpy(&column, t.column + j, sizeof column);
            part -= share * column;
            std::memcpy(row + j, &part, sizeof part);
        }
        std::memcpy(&weight, t.weight + j, sizeof weight);
        std::memcpy(&sum, total + j, sizeof sum);
        const Lanes value = __builtin_convertvector(part, Lanes), square = value * value;
        across += square * weight;
        sum += square * own;
        std::memcpy(total + j, &sum, sizeof sum);
    }
    double rest = 0;
    for (int64_t lane = 0; lane < 8; ++lane) rest += across[lane];
    for (; j <= i; ++j) {
        if constexpr (kChanges) row[j] -= share * t.column[j];
        if (j == i) break;
        const double value = row[j], square = value * value;
        rest += square * t.weight[j];
        total[j] += square * own;
    }
    const double value = row[i];
    total[i] += rest + value * value * own;
}

LINKWISE_SIMD void add_squares(const Squares& t, int64_t begin, int64_t end, double* total) {
    if (t.column == nullptr)
        for (int64_t i = begin; i < end; ++i) add_row<false>(t, i, total);
    else
        for (int64_t i = begin; i < end; ++i) add_row<true>(t, i, total);
}

Output<double> sum_squares(const Squares& squares, int threads) {
    const int64_t n = squares.n, bands = (n + kWide - 1) / kWide;
    Result<double> found(n);
    {
        GilRelease release;
        std::vector<double> sums(bands * n);
        Crew crew(std::min<int64_t>(useful_threads(threads, n * n), bands));
        crew.run(bands, [&](int64_t b, int) {
            add_squares(squares, b * kWide, std::min(n, (b + 1) * kWide), &sums[b * n]);
        });
        std::fill_n(found.get(), n, 0.0);
        for (int64_t b = 0; b < bands; ++b)
            for (int64_t i = 0; i < std::min(n, (b + 1) * kWide); ++i) found.get()[i] += sums[b * n + i];
    }
    return found.release({static_cast<size_t>(n)});
}

Output<double> weighted_squares(Matrix<float> table, Vector<double> weight, int threads) {
    check_shape("weight", weight, kPositive);
    check_shape("table", table, weight.shape(0), weight.shape(0));
    return sum_squares({const_cast<float*>(table.data()), static_cast<int64_t>(weight.shape(0)), nullptr, 0, weight.data()},
                       threads);
}

Output<double> condition_on(Changed<float> table, int64_t item, double ridge, Vector<double> weight, int threads) {
    const int64_t n = table.shape(0);
    check_shape("weight", weight, kPositive);
    check_shape("table", table, weight.shape(0), weight.shape(0));
    check_between("item", item, 0, n - 1);
    const float* from = table.data();
    std::vector<float> column(n);
    for (int64_t j = 0; j < n; ++j) column[j] = j < item ? from[item * n + j] : from[j * n + item];
    const auto share = static_cast<float>(1 / (static_cast<double>(column[item]) + ridge));
    return sum_squares({table.data(), n, column.data(), share, weight.data()}, threads);
}

}  // namespace

void register_covariance(nb::module_& m) {
    define(m, "mirror_lower", mirror_lower, "Copy the lower triangle of a table, (n, n), to the upper one.",
           nb::arg("table"));
    define(m, "weighted_squares", weighted_squares,
           R"(Sum the weighted squares of each row of a symmetric table, (n, n), by the weights of the columns: (n,).

The lower triangle of the table counts.)",
           nb::arg("table"), nb::arg("weight"), count("n_threads"));
    define(m, "condition_on", condition_on,
           R"(Condition a covariance, (n, n), on one item, and return weighted_squares of the result: (n,).

The table is changed in place; its lower triangle counts. ridge is the variance of the item's noise.)",
           nb::arg("table"), nb::arg("item"), nb::arg("ridge"), nb::arg("weight"), count("n_threads"));
}

}  // namespace linkwise
