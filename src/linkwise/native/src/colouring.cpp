// Greedy colouring: vertices in order, each the lowest colour that no neighbour before it has.
#include <vector>

#include "checks.hpp"

namespace linkwise {

namespace {

Output<int32_t> greedy_colours(Vector<int32_t> before, Vector<int32_t> after, int64_t n) {
    const int64_t edges = before.shape(0);
    check_shape("before", before, kPositive);
    check_shape("after", after, edges);
    for (int64_t e = 0; e < edges; ++e)
        if (const int32_t from = before.data()[e], to = after.data()[e]; from < 0 || from >= to || to >= n)
            refuse("An edge does not lead from a vertex to a later one, 0 to ", n - 1, ".");
    Result<int32_t> colours(n);
    {
        GilRelease release;
        std::vector<int64_t> start(n + 2);  // of each vertex's neighbours before it
        for (int64_t e = 0; e < edges; ++e) ++start[after.data()[e] + 2];
        for (int64_t v = 0; v < n; ++v) start[v + 2] += start[v + 1];
        std::vector<int32_t> neighbour(edges);
        for (int64_t e = 0; e < edges; ++e) neighbour[start[after.data()[e] + 1]++] = before.data()[e];
        std::vector<int64_t> taken_by(n + 1, -1);  // the last vertex that found a colour taken
        int32_t* colour = colours.get();
        for (int64_t v = 0; v < n; ++v) {
            for (int64_t at = start[v]; at < start[v + 1]; ++at) taken_by[colour[neighbour[at]]] = v;
            colour[v] = 0;
            while (taken_by[colour[v]] == v) ++colour[v];
        }
    }
    return colours.release({static_cast<size_t>(n)});
}

}  // namespace

void register_colouring(nb::module_& m) {
    define(m, "greedy_colours", greedy_colours,
           R"(Colour n vertices in order, each with the lowest colour that no earlier neighbour has: (n,).

before and after, (m,), are the ends of the edges, 0 <= before < after < n; an edge may be there many times.)",
           nb::arg("before"), nb::arg("after"), count("n"));
}

}  // namespace linkwise
