// Tables of which each row has few entries.
#pragma once

#include "checks.hpp"

namespace linkwise {

inline constexpr double kDecimals = 1e9;  // values that are equal when rounded like this count as equal

// The entries of row i stand at start[i] .. start[i + 1], their columns rise.
struct Sparse {
    const double* data;
    const int32_t *column, *start;
};

// Checks rows of so many columns; returns how many there are.
inline int64_t check_sparse(const Vector<double>& data, const Vector<int32_t>& column, const Vector<int32_t>& start,
                            int64_t width) {
    check_shape("column", column, data.shape(0));
    check_range("column", column, 0, width - 1);
    check_shape("start", start, kPositive);
    check_starts("start", start, data.shape(0));
    return static_cast<int64_t>(start.shape(0)) - 1;
}

}  // namespace linkwise
