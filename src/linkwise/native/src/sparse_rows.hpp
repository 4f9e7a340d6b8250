// Tables of which each row has few entries.
#pragma once

#include <cstdint>

namespace linkwise {

inline constexpr double kDecimals = 1e9;  // values that are equal when rounded like this count as equal

// The entries of row i stand at start[i] .. start[i + 1], their columns rise.
struct Sparse {
    const double* data;
    const int32_t *column, *start;
};

}  // namespace linkwise
