// Squared distances of rows to points, for float and double rows.
#pragma once

#include <cstdint>

namespace linkwise {

// The nearest point of each of n rows, the first where several are equally near, and its squared distance.
template <typename T>
void fill_nearest(const T* X, int64_t n, int64_t d, const double* points, int64_t k, int threads, int64_t* nearest,
                  double* square);

// All squared distances, n x k.
template <typename T>
void fill_squares(const T* X, int64_t n, int64_t d, const double* points, int64_t k, int threads, double* squares);

}  // namespace linkwise
