// Exact 2-means from a given start: Lloyd's iteration with labels of one byte.
#include "checks.hpp"
#include "lloyd.hpp"

namespace linkwise {

LINKWISE_SIMD void assign_chunk(Assignment<float, uint8_t>& t) { assign(t); }
LINKWISE_SIMD void assign_chunk(Assignment<double, uint8_t>& t) { assign(t); }
LINKWISE_SIMD double inertia_chunk(const Inertia<float, uint8_t>& t) { return inertia(t); }
LINKWISE_SIMD double inertia_chunk(const Inertia<double, uint8_t>& t) { return inertia(t); }

namespace {

template <typename T>
auto two_means(Matrix<T> X, Matrix<double> start, int max_iter, double tol, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1);
    check_rows("X", X);
    check_shape("start", start, 2, d);
    Result<uint8_t> labels(n);
    Result<double> centers(2 * d);
    int n_iter = 0;
    double inertia = 0;
    {
        GilRelease release;
        std::copy_n(start.data(), 2 * d, centers.get());
        Crew crew(useful_threads(threads, n * d * 2));
        const Tiles none(X.data(), 0, d);  // one pass over all rows
        Lloyd<T, uint8_t> run(X.data(), none, nullptr, n, d, 2, crew);
        n_iter = run.run(centers.get(), labels.get(), max_iter, tol);
        inertia = run.inertia(centers.get(), labels.get());
    }
    const size_t N = n, D = d;
    return std::make_tuple(labels.release({N}), centers.release({2, D}), inertia, n_iter);
}

}  // namespace

void register_two_means(nb::module_& m) {
    define(m, "two_means", two_means<float>, two_means<double>,
           R"(Run Lloyd's iteration for two clusters, as lloyd with one start, (2, d), but with labels of one byte.

Returns labels (n,), centres (2, d), the sum of squared distances and the number of iterations.)",
           nb::arg("X"), nb::arg("start"), count("max_iter"), nb::arg("tol"), count("n_threads"));
}

}  // namespace linkwise
