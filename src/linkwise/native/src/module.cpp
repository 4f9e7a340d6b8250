// The extension module: each kernel lives in a file of its own and registers itself here.
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

#include "kernels.hpp"

namespace {

// The version of the code that runs on this machine.
const char* simd() {
#ifdef LINKWISE_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
    if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
#endif
    return "baseline";
}

// Whether this thread takes subnormal numbers for 0, from now on; returns whether it did. Elsewhere nothing changes.
bool flush_subnormals(bool on) {
#if defined(__x86_64__) || defined(_M_X64)
    constexpr unsigned kBits = 0x8040;  // results, and operands
    const unsigned before = _mm_getcsr();
    _mm_setcsr(on ? before | kBits : before & ~kBits);
    return (before & kBits) == kBits;
#elif defined(__aarch64__) && defined(__GNUC__)
    constexpr uint64_t kBit = uint64_t{1} << 24;
    uint64_t before;
    asm volatile("mrs %0, fpcr" : "=r"(before));
    asm volatile("msr fpcr, %0" : : "r"(on ? before | kBit : before & ~kBit));
    return (before & kBit) != 0;
#else
    (void)on;
    return false;
#endif
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Compiled kernels of linkwise: arrays in, arrays out.";
    m.def("simd", &simd);
    m.def("flush_subnormals", &flush_subnormals, nanobind::arg("on"));
    linkwise::register_lloyd(m);
    linkwise::register_two_means(m);
    linkwise::register_plusplus(m);
    linkwise::register_nearest(m);
    linkwise::register_points(m);
    linkwise::register_farthest(m);
    linkwise::register_sums(m);
    linkwise::register_dbscan(m);
    linkwise::register_together(m);
    linkwise::register_colouring(m);
    linkwise::register_gaussian(m);
    linkwise::register_exchange(m);
    linkwise::register_priority(m);
    linkwise::register_passes(m);
    linkwise::register_hypotheses(m);
    linkwise::register_apart(m);
    linkwise::register_icm(m);
    linkwise::register_named_rows(m);
    linkwise::register_gains(m);
    linkwise::register_best_clusters(m);
    linkwise::register_chances(m);
    linkwise::register_covariance(m);
    linkwise::register_mixtures(m);
    linkwise::register_lower_triangles(m);
    linkwise::register_metrics(m);
    linkwise::register_bregman(m);
    linkwise::register_split(m);
    linkwise::register_tree_rows(m);
    linkwise::register_s_dbw(m);
    linkwise::register_forest(m);
    linkwise::register_value_trees(m);
    linkwise::register_agglomerate(m);
    linkwise::register_walk(m);
    linkwise::register_spanning(m);
    linkwise::register_one_spectral(m);
    linkwise::register_recut(m);
    linkwise::register_record_groups(m);
    linkwise::register_belief_moves(m);
    linkwise::register_tree_cuts(m);
    linkwise::register_sparse_products(m);
}
