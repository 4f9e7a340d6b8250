// Distances under metrics, for float and double rows.
#pragma once

#include "checks.hpp"

namespace linkwise {

// `data` holds for each map r x d numbers; r = 0 stands for a diagonal map, d numbers.
struct Maps {
    const double* data;
    int64_t count, r, d;
    const double* of(int64_t c) const { return data + (count > 1 ? c : 0) * (r ? r : 1) * d; }
};

using AnyMaps = AnyShape<double>;

inline Maps maps_from(const AnyMaps& maps) {
    const bool full = maps.ndim() == 3;
    return {maps.data(), static_cast<int64_t>(maps.shape(0)), full ? static_cast<int64_t>(maps.shape(1)) : 0,
            static_cast<int64_t>(maps.shape(maps.ndim() - 1))};
}

inline void check_maps(const AnyMaps& maps, const Matrix<double>& centers) {
    const size_t d = centers.shape(1), count = maps.ndim() > 0 && maps.shape(0) == 1 ? 1 : centers.shape(0);
    if (maps.ndim() < 3) check_shape("maps", maps, count, d);
    else check_shape("maps", maps, count, kPositive, d);
}

// Without `offset` all squared distances of n rows to k centres, n x k; else for each row the least of distance
// plus offset, and its centre.
template <typename T>
void measure_rows(const T* X, int64_t n, const double* centers, int64_t k, const Maps& maps, const double* offset,
                  int threads, double* out, int32_t* nearest);

}  // namespace linkwise
