// k-means from given starts.
#include "checks.hpp"
#include "lloyd.hpp"

namespace linkwise {

LINKWISE_SIMD void assign_chunk(Assignment<float, int32_t>& t) { assign(t); }
LINKWISE_SIMD void assign_chunk(Assignment<double, int32_t>& t) { assign(t); }
LINKWISE_SIMD double inertia_chunk(const Inertia<float, int32_t>& t) { return inertia(t); }
LINKWISE_SIMD double inertia_chunk(const Inertia<double, int32_t>& t) { return inertia(t); }

namespace {

// Few chunks and many starts: a thread a start. Otherwise the threads share the chunks of each.
template <typename T>
auto lloyd(Matrix<T> X, Cube<double> starts, int max_iter, double tol, int threads,
           std::optional<Vector<int64_t>> weight) {
    const int64_t n = X.shape(0), d = X.shape(1), runs = starts.shape(0), k = starts.shape(1);
    check_rows("X", X);
    check_shape("starts", starts, kPositive, kPositive, d);
    check_shape("weight", weight, n);
    Result<int32_t> labels(runs * n);
    Result<double> centers(runs * k * d), inertia(runs);
    Result<int32_t> n_iter(runs);
    {
        GilRelease release;
        std::copy_n(starts.data(), runs * k * d, centers.get());
        const bool by_start = runs > 1 && chunk_count(n) < 4 * threads;
        const int64_t terms = n * d * k;
        Crew crew(by_start ? std::min<int64_t>(runs, useful_threads(threads, 4 * runs * terms))
                           : useful_threads(threads, terms));
        Crew alone(1);
        const Tiles tiles(X.data(), runs > 1 ? n : 0, d);  // each start has one pass over all rows
        std::vector<std::unique_ptr<Lloyd<T, int32_t>>> memory(by_start ? crew.size() : 1);
        for (auto& m : memory)
            m = std::make_unique<Lloyd<T, int32_t>>(X.data(), tiles, data_or_null(weight), n, d, k,
                                                    by_start ? alone : crew);
        (by_start ? crew : alone).run(runs, [&](int64_t r, int thread) {
            auto& run = *memory[thread];
            double* c = centers.get() + r * k * d;
            int32_t* l = labels.get() + r * n;
            n_iter.get()[r] = run.run(c, l, max_iter, tol);
            inertia.get()[r] = run.inertia(c, l);
        });
    }
    const size_t R = runs, N = n, K = k, D = d;
    return std::make_tuple(labels.release({R, N}), centers.release({R, K, D}), inertia.release({R}),
                           n_iter.release({R}));
}

}  // namespace

void register_lloyd(nb::module_& m) {
    define(m, "lloyd", lloyd<float>, lloyd<double>,
           R"(Run Lloyd's iteration from each of R starts, (R, k, d).

A run stops when no label changes, when the squared shift of all centres together is at most tol (in
squared units of X), or after max_iter iterations; in the last two cases labels are assigned once more,
so they are always those of the nearest centre (of equals the lower index). An empty cluster gets the
row farthest from its centre, from a cluster with other rows; if every row lies on its centre, it stays
empty and its centre does not move. weight, (n,), counts each row; copies move together.

Returns labels (R, n), centres (R, k, d), the sums of squared distances (R,), and iterations (R,),
counted as scikit-learn does.)",
           nb::arg("X"), nb::arg("starts"), count("max_iter"), nb::arg("tol"), count("n_threads"),
           nb::arg("weight") = nb::none());
}

}  // namespace linkwise
