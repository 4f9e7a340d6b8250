// The extension module: each kernel lives in a file of its own and registers itself here.
#include "kernels.hpp"

// The version of the code that runs on this machine.
static const char* simd() {
#ifdef LINKWISE_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
    if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
#endif
    return "baseline";
}

NB_MODULE(_kernels, m) {
    m.doc() = "Compiled kernels of linkwise: arrays in, arrays out.";
    m.def("simd", &simd);
    linkwise::register_lloyd(m);
    linkwise::register_two_means(m);
    linkwise::register_plusplus(m);
    linkwise::register_nearest(m);
    linkwise::register_points(m);
    linkwise::register_sums(m);
    linkwise::register_dbscan(m);
    linkwise::register_together(m);
    linkwise::register_colouring(m);
    linkwise::register_gaussian(m);
    linkwise::register_exchange(m);
    linkwise::register_priority(m);
    linkwise::register_hypotheses(m);
    linkwise::register_apart(m);
    linkwise::register_icm(m);
    linkwise::register_metrics(m);
    linkwise::register_bregman(m);
    linkwise::register_split(m);
    linkwise::register_s_dbw(m);
    linkwise::register_forest(m);
    linkwise::register_agglomerate(m);
    linkwise::register_walk(m);
    linkwise::register_one_spectral(m);
}
