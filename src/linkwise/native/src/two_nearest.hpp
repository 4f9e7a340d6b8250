// The two nearest centres of each row.
#pragma once

#include <limits>

#include "kernels.hpp"
#include "tile.hpp"

namespace linkwise {

inline constexpr int64_t kBlock = 64;  // points whose distances to a tile stay in L1

// One chunk of rows; put(row, best, second, square) takes what is found.
template <typename T, typename Put>
struct TwoNearest {
    const T* X;  // first row of the chunk
    int64_t rows, d, k;
    const double* centers;
    Put put;
};

// The two nearest so far of each row of a tile; of equals the lower number is nearer.
LINKWISE_INLINE void tile_two(const TileRow* squares, int64_t first, int64_t count, TileRow* least, LaneLabels (*which)[kTile / 8]) {
    for (int64_t v = 0; v < kTile / 8; ++v) {
        Lanes a = least[0].lanes[v], b = least[1].lanes[v];
        LaneLabels i = which[0][v], j = which[1][v];
        for (int64_t c = 0; c < count; ++c) {
            const Lanes s = squares[c].lanes[v];
            const LaneLabels here = LaneLabels{} + (first + c);
            const LaneLabels nearer = s < a, second = s < b;
            j = nearer ? i : (second ? here : j);
            b = nearer ? a : (second ? s : b);
            i = nearer ? here : i;
            a = nearer ? s : a;
        }
        least[0].lanes[v] = a, least[1].lanes[v] = b;
        which[0][v] = i, which[1][v] = j;
    }
}

template <typename T, typename Put>
LINKWISE_INLINE void find_two(const TwoNearest<T, Put>& t) {
    TileRow scratch[kFeatures], squares[kBlock], least[2];
    alignas(64) LaneLabels which[2][kTile / 8];
    int32_t rows[kTile];
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s);
        for (int64_t j = 0; j < kTile; ++j) rows[j] = static_cast<int32_t>(s + std::min(j, m - 1));
        for (auto& part : least) std::fill_n(part.value, kTile, std::numeric_limits<double>::infinity());
        for (auto& part : which)
            for (auto& lanes : part) lanes = LaneLabels{};
        for (int64_t c = 0; c < t.k; c += kBlock) {
            const int64_t count = std::min(kBlock, t.k - c);
            tile_distances(t.X, t.d, rows, t.centers + c * t.d, count, scratch, squares);
            tile_two(squares, c, count, least, which);
        }
        for (int64_t j = 0; j < m; ++j)
            t.put(s + j, which[0][j / 8][j % 8], which[1][j / 8][j % 8], least[0].value[j]);
    }
}

}  // namespace linkwise
