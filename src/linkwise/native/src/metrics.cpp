// Distances under metrics: |L (x - centre)|^2, where L is one linear map for all centres or one for each,
// or a scale for each feature.
#include <limits>
#include <vector>

#include "checks.hpp"
#include "metrics.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

template <typename T>
struct ToCenters {
    const T* X;  // first row of the chunk
    int64_t rows, d, k;
    const double* centers;
    Maps maps;
    const double* images;  // one full map: k x r, where it sends the centres, counted from the first
    TileRow* scratch;      // d + r + k
    const double* offset;  // null: write all distances; else the least of distance + offset
    double* out;           // rows x k, or rows
    int32_t* nearest;      // null, or rows
};

// image = L x for a tile
LINKWISE_INLINE void apply_row(const double* row, const TileRow* x, int64_t d, Lanes* out) {
    Lanes s0{}, s1{}, s2{}, s3{};
    for (int64_t a = 0; a < d; ++a) {
        s0 += x[a].lanes[0] * row[a], s1 += x[a].lanes[1] * row[a];
        s2 += x[a].lanes[2] * row[a], s3 += x[a].lanes[3] * row[a];
    }
    out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;
}

template <typename T>
LINKWISE_INLINE void load_tile(const T* X, int64_t d, int64_t s, int64_t m, const double* from, TileRow* x) {
    for (int64_t j = 0; j < kTile; ++j) {
        const T* row = X + (s + std::min(j, m - 1)) * d;
        for (int64_t a = 0; a < d; ++a) x[a].value[j] = static_cast<double>(row[a]) - from[a];
    }
}

LINKWISE_INLINE void shared_map(const Maps& maps, const double* images, int64_t k, const TileRow* x, TileRow* y,
                                TileRow* squares) {
    for (int64_t q = 0; q < maps.r; ++q) apply_row(maps.data + q * maps.d, x, maps.d, y[q].lanes);
    for (int64_t c = 0; c < k; ++c) {
        for (int64_t v = 0; v < kTile / 8; ++v) {
            Lanes sum{};
            for (int64_t q = 0; q < maps.r; ++q) {
                const Lanes diff = y[q].lanes[v] - images[c * maps.r + q];
                sum += diff * diff;
            }
            squares[c].lanes[v] = sum;
        }
    }
}

// x holds the rows less the first centre; `shift` is this centre less the first.
LINKWISE_INLINE void diagonal_map(const double* scale, const double* centers, int64_t c, int64_t d, const TileRow* x,
                                  TileRow& square) {
    for (int64_t v = 0; v < kTile / 8; ++v) {
        Lanes sum{};
        for (int64_t a = 0; a < d; ++a) {
            const Lanes diff = (x[a].lanes[v] - (centers[c * d + a] - centers[a])) * scale[a];
            sum += diff * diff;
        }
        square.lanes[v] = sum;
    }
}

LINKWISE_INLINE void own_map(const Maps& maps, int64_t c, const TileRow* x, TileRow& square) {
    std::fill_n(square.value, kTile, 0.0);
    for (int64_t q = 0; q < maps.r; ++q) {
        TileRow image;
        apply_row(maps.of(c) + q * maps.d, x, maps.d, image.lanes);
        for (int64_t v = 0; v < kTile / 8; ++v) square.lanes[v] += image.lanes[v] * image.lanes[v];
    }
}

template <typename T>
LINKWISE_INLINE void to_centers(const ToCenters<T>& t) {
    TileRow *x = t.scratch, *y = x + t.d, *squares = y + t.maps.r;
    for (int64_t s = 0; s < t.rows; s += kTile) {
        const int64_t m = std::min(kTile, t.rows - s);
        if (t.maps.r == 0 || t.images) load_tile(t.X, t.d, s, m, t.centers, x);
        if (t.images) shared_map(t.maps, t.images, t.k, x, y, squares);
        for (int64_t c = 0; c < t.k && !t.images; ++c) {
            if (t.maps.r == 0) {
                diagonal_map(t.maps.of(c), t.centers, c, t.d, x, squares[c]);
            } else {
                load_tile(t.X, t.d, s, m, t.centers + c * t.d, x);
                own_map(t.maps, c, x, squares[c]);
            }
        }
        for (int64_t j = 0; j < m; ++j) {
            if (!t.offset) {
                for (int64_t c = 0; c < t.k; ++c) t.out[(s + j) * t.k + c] = squares[c].value[j];
                continue;
            }
            double least = std::numeric_limits<double>::infinity();
            int32_t at = 0;
            for (int64_t c = 0; c < t.k; ++c) {
                const double value = squares[c].value[j] + t.offset[c];
                if (value < least) least = value, at = static_cast<int32_t>(c);
            }
            t.out[s + j] = least;
            t.nearest[s + j] = at;
        }
    }
}

LINKWISE_SIMD void to_centers_chunk(const ToCenters<float>& t) { to_centers(t); }
LINKWISE_SIMD void to_centers_chunk(const ToCenters<double>& t) { to_centers(t); }

// Where one full map sends the centres, counted from the first.
std::vector<double> images_of(const Maps& maps, const double* centers, int64_t k) {
    std::vector<double> images(k * maps.r);
    for (int64_t c = 0; c < k; ++c)
        for (int64_t q = 0; q < maps.r; ++q)
            for (int64_t a = 0; a < maps.d; ++a)
                images[c * maps.r + q] += maps.data[q * maps.d + a] * (centers[c * maps.d + a] - centers[a]);
    return images;
}

template <typename T>
auto metric_nearest(Matrix<T> X, Matrix<double> centers, AnyMaps maps, Vector<double> offset, int threads) {
    const size_t n = X.shape(0);
    check_rows("X", X);
    check_shape("centers", centers, kPositive, X.shape(1));
    check_maps(maps, centers);
    check_shape("offset", offset, centers.shape(0));
    Result<int32_t> nearest(n);
    Result<double> least(n);
    {
        GilRelease release;
        measure_rows(X.data(), n, centers.data(), centers.shape(0), maps_from(maps), offset.data(), threads, least.get(),
                     nearest.get());
    }
    return std::make_tuple(nearest.release({n}), least.release({n}));
}

}  // namespace

template <typename T>
void measure_rows(const T* X, int64_t n, const double* centers, int64_t k, const Maps& maps, const double* offset,
                  int threads, double* out, int32_t* nearest) {
    const int64_t d = maps.d;
    const bool shared = maps.r > 0 && maps.count == 1;
    const std::vector<double> images = shared ? images_of(maps, centers, k) : std::vector<double>();
    const int64_t terms = maps.r == 0 ? n * d * k : n * d * maps.r * maps.count;
    Crew crew(useful_threads(threads, terms));
    std::vector<std::vector<TileRow>> scratch(crew.size(), std::vector<TileRow>(d + maps.r + k));
    crew.run(chunk_count(n), [&](int64_t c, int thread) {
        const int64_t start = c * kChunk;
        to_centers_chunk(ToCenters<T>{X + start * d, std::min(kChunk, n - start), d, k, centers, maps,
                                      shared ? images.data() : nullptr, scratch[thread].data(), offset,
                                      out + start * (offset ? 1 : k), nearest ? nearest + start : nullptr});
    });
}

template void measure_rows(const float*, int64_t, const double*, int64_t, const Maps&, const double*, int, double*,
                           int32_t*);
template void measure_rows(const double*, int64_t, const double*, int64_t, const Maps&, const double*, int, double*,
                           int32_t*);

void register_metrics(nb::module_& m) {
    define(m, "metric_nearest", metric_nearest<float>, metric_nearest<double>,
           R"(Find the centre, of (k, d), of least squared distance |L (x - centre)|^2 plus offset, (k,), for each row.

maps are L of all centres, or of each: a factor for each feature, (1 or k, d), or a matrix, (1 or k, r, d).
Returns the number of the centre (n,), the lowest of equals, and this sum (n,).)",
           nb::arg("X"), nb::arg("centers"), nb::arg("maps"), nb::arg("offset"), count("n_threads"));
}

}  // namespace linkwise
