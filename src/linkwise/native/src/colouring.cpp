// Greedy colouring: vertices in order, each the lowest colour that no neighbour before it has.
#include <vector>

#include "kernels.hpp"

namespace linkwise {

namespace {

nb::ndarray<nb::numpy, int32_t> greedy_colours(Vector<int32_t> before, Vector<int32_t> after, int64_t n) {
    const int64_t edges = before.shape(0);
    Result<int32_t> colours(n);
    {
        nb::gil_scoped_release release;
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
    m.def("greedy_colours", &greedy_colours, nb::arg("before").noconvert(), nb::arg("after").noconvert(),
          nb::arg("n"));
}

}  // namespace linkwise
