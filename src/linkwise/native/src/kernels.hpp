// What the kernels share: array types, results, fixed chunks of rows, the SIMD macro.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <thread>

#include "crew.hpp"

// ThreadSanitizer is not there yet when the version is chosen.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
// One machine-code version per x86-64 level, chosen when the module is loaded. It goes on plain
// functions; what they call must be a LINKWISE_INLINE template, so that it is compiled within each.
#define LINKWISE_LEVELS 1
#define LINKWISE_SIMD __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define LINKWISE_SIMD
#endif
#define LINKWISE_INLINE [[gnu::always_inline]] inline

namespace linkwise {

namespace nb = nanobind;

// Lets other threads run Python while it lives. Before 3.14 Python ends a thread that wants the GIL back while the
// program ends, by unwinding it; that would pass frames that must not throw, and abort the program. So such a thread
// waits here until the process is gone.
class GilRelease {
   public:
    GilRelease() : state_(PyEval_SaveThread()) {}
    ~GilRelease() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

   private:
    PyThreadState* state_;
};

template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Rows are always cut into these chunks, whatever the number of threads: a chunk's sum is made by
// one thread and the sums are added in the order of the chunks, so that results never differ.
inline constexpr int64_t kChunk = 2048;

inline int64_t chunk_count(int64_t n) { return (n + kChunk - 1) / kChunk; }

// Starting a thread costs about as much as this many distance terms (rows x features x centres).
inline int useful_threads(int threads, int64_t terms) {
    constexpr int64_t worth = 1'000'000;
    return static_cast<int>(std::clamp<int64_t>(terms / worth, 1, threads));
}

// A new array that Python will own.
template <typename T>
struct Result {
    std::unique_ptr<T[]> data;
    explicit Result(int64_t size) : data(new T[static_cast<size_t>(std::max<int64_t>(size, 1))]) {}
    T* get() { return data.get(); }
    nb::ndarray<nb::numpy, T> release(std::initializer_list<size_t> shape) {
        return release(shape.begin(), shape.size());
    }
    nb::ndarray<nb::numpy, T> release(const size_t* shape, size_t ndim) {
        T* raw = data.get();
        nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        data.release();
        return nb::ndarray<nb::numpy, T>(raw, ndim, shape, owner);
    }
};

void register_lloyd(nb::module_& m);
void register_two_means(nb::module_& m);
void register_plusplus(nb::module_& m);
void register_nearest(nb::module_& m);
void register_points(nb::module_& m);
void register_farthest(nb::module_& m);
void register_sums(nb::module_& m);
void register_dbscan(nb::module_& m);
void register_together(nb::module_& m);
void register_colouring(nb::module_& m);
void register_gaussian(nb::module_& m);
void register_exchange(nb::module_& m);
void register_priority(nb::module_& m);
void register_passes(nb::module_& m);
void register_hypotheses(nb::module_& m);
void register_apart(nb::module_& m);
void register_icm(nb::module_& m);
void register_named_rows(nb::module_& m);
void register_gains(nb::module_& m);
void register_best_clusters(nb::module_& m);
void register_chances(nb::module_& m);
void register_covariance(nb::module_& m);
void register_mixtures(nb::module_& m);
void register_lower_triangles(nb::module_& m);
void register_metrics(nb::module_& m);
void register_bregman(nb::module_& m);
void register_split(nb::module_& m);
void register_tree_rows(nb::module_& m);
void register_s_dbw(nb::module_& m);
void register_forest(nb::module_& m);
void register_value_trees(nb::module_& m);
void register_agglomerate(nb::module_& m);
void register_walk(nb::module_& m);
void register_spanning(nb::module_& m);
void register_one_spectral(nb::module_& m);
void register_recut(nb::module_& m);
void register_record_groups(nb::module_& m);
void register_belief_moves(nb::module_& m);
void register_tree_cuts(nb::module_& m);
void register_sparse_products(nb::module_& m);

}  // namespace linkwise
