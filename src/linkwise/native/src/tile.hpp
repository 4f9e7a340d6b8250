// Squared distances in float64, each summed in one fixed order, so that it depends neither on the
// instruction set, nor on the rows beside it, nor on the thread that computes it.
#pragma once

#include <cstring>
#include <vector>

#include "kernels.hpp"

namespace linkwise {

inline constexpr int64_t kTile = 32;      // rows of a tile
inline constexpr int64_t kFeatures = 32;  // features transposed at once: 8 KiB, well within L1

using Lanes = double __attribute__((vector_size(64)));
using LaneLabels = int64_t __attribute__((vector_size(64)));

struct alignas(64) TileRow {
    union {
        double value[kTile];
        Lanes lanes[kTile / 8];
    };
};

LINKWISE_INLINE Lanes smaller(const Lanes& a, const Lanes& b) { return a < b ? a : b; }

// Squared distances from x to eight rows, lane by lane: feature a of row j is rows[a][j].
LINKWISE_INLINE Lanes block_squares(const Lanes* rows, const double* x, int64_t d) {
    Lanes sum{};
    for (int64_t a = 0; a < d; ++a) {
        const Lanes q = rows[a] - x[a];
        sum += q * q;
    }
    return sum;
}

// |x - center|^2 of one row: feature a is summed in lane a mod 8, the lanes and the rest one by one.
template <typename T>
LINKWISE_INLINE double row_distance(const T* x, const double* center, int64_t d) {
    typedef T Part __attribute__((vector_size(8 * sizeof(T))));
    Lanes lanes{};
    int64_t a = 0;
    __builtin_prefetch(x + 4 * kTile * d);
    for (; a + 8 <= d; a += 8) {
        Part part;
        Lanes at;
        std::memcpy(&part, x + a, sizeof part);
        std::memcpy(&at, center + a, sizeof at);
        const Lanes q = __builtin_convertvector(part, Lanes) - at;
        lanes += q * q;
    }
    double sum = 0;
    for (int64_t j = 0; j < 8 && d >= 8; ++j) sum += lanes[j];
    for (; a < d; ++a) {
        const double q = static_cast<double>(x[a]) - center[a];
        sum += q * q;
    }
    return sum;
}

// Adds the squared differences of some features to 32 sums, which begin at 0 unless `further`.
LINKWISE_INLINE void add_squares(const TileRow* features, int64_t width, const double* center, bool further,
                                 Lanes* out) {
    Lanes s0{}, s1{}, s2{}, s3{};
    if (further) s0 = out[0], s1 = out[1], s2 = out[2], s3 = out[3];
    for (int64_t a = 0; a < width; ++a) {
        const Lanes* x = features[a].lanes;
        const Lanes q0 = x[0] - center[a], q1 = x[1] - center[a];
        const Lanes q2 = x[2] - center[a], q3 = x[3] - center[a];
        s0 += q0 * q0, s1 += q1 * q1, s2 += q2 * q2, s3 += q3 * q3;
    }
    out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;
}

// 32 rows to k centres, with SIMD over the rows and the features summed in their order:
// squares[c].value[j] = |X[rows[j]] - centers[c]|^2; scratch holds kFeatures tile rows.
template <typename T>
LINKWISE_INLINE void tile_distances(const T* X, int64_t d, const int32_t* rows, const double* centers,
                                    int64_t k, TileRow* scratch, TileRow* squares) {
    for (int64_t f = 0; f < d; f += kFeatures) {
        const int64_t width = std::min(kFeatures, d - f);
        for (int64_t j = 0; j < kTile; ++j) {
            const T* x = X + rows[j] * d + f;
            for (int64_t a = 0; a < width; a += 64 / static_cast<int64_t>(sizeof(T)))
                __builtin_prefetch(x + 4 * kTile * d + a);  // most often the next tiles lie there
            for (int64_t a = 0; a < width; ++a) scratch[a].value[j] = static_cast<double>(x[a]);
        }
        for (int64_t c = 0; c < k; ++c)
            add_squares(scratch, width, centers + c * d + f, f > 0, squares[c].lanes);
    }
}

// Few rows, transposed once for many passes: feature a of row 32 t + j is [t * d + a].value[j], and the last
// tile is filled with its last row. Empty for more rows than a core has near memory for.
class Tiles {
   public:
    static constexpr int64_t kNone = -1;  // in place of the number of rows: no tiles
    template <typename T>
    Tiles(const T* X, int64_t n, int64_t d) {
        if (n == kNone || n * d > kMost) return;
        columns_.resize(static_cast<size_t>((n + kTile - 1) / kTile * d));
        for (int64_t s = 0; s < n; s += kTile)
            for (int64_t j = 0; j < kTile; ++j)
                for (int64_t a = 0; a < d; ++a)
                    columns_[s / kTile * d + a].value[j] = static_cast<double>(X[std::min(s + j, n - 1) * d + a]);
    }
    // The tiles from a row on, which is the first of a tile; null where there are none.
    const TileRow* from(int64_t row, int64_t d) const {
        return columns_.empty() ? nullptr : &columns_[row / kTile * d];
    }

   private:
    static constexpr int64_t kMost = 1 << 17;  // entries: 1 MiB
    std::vector<TileRow> columns_;
};

// As `tile_distances`, of one transposed tile: the same bits.
LINKWISE_INLINE void column_distances(const TileRow* columns, int64_t d, const double* centers, int64_t k,
                                      TileRow* squares) {
    for (int64_t c = 0; c < k; ++c) add_squares(columns, d, centers + c * d, false, squares[c].lanes);
}

}  // namespace linkwise
