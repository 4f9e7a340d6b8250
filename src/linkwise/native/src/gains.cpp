// Sums over pairs of items, of which each is a sparse row: by these KIN finds the cluster where each item gains most.
//
// Rows x and y belong together with weight x W y', where W is made of three blocks: `same`, `alike`, and `alike` with
// the other sign. Tables are read in tiles of 32 columns, so that what many rows need stays in a near cache and sums
// stay in registers. Each sum is added in the order of the columns, whatever the number of threads.
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "sparse_rows.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

struct Entries {
    std::vector<double> data;
    std::vector<int32_t> column, start{0};

    void end_row() { start.push_back(static_cast<int32_t>(data.size())); }
    auto release() const {
        Result<double> amount(data.size());
        Result<int32_t> where(column.size()), begin(start.size());
        std::copy(data.begin(), data.end(), amount.get());
        std::copy(column.begin(), column.end(), where.get());
        std::copy(start.begin(), start.end(), begin.get());
        return std::make_tuple(amount.release({data.size()}), where.release({column.size()}),
                               begin.release({start.size()}));
    }
};

int64_t tile_count(int64_t width) { return (width + kTile - 1) / kTile; }

// A tile holds 32 columns of all rows, one row after another; what is beyond the last column is 0. It is made where
// it is used, and is used as long as it is near.
using Tile = std::vector<TileRow>;

LINKWISE_SIMD void fill_tile(const double* table, int64_t n, int64_t width, int64_t tile, TileRow* rows) {
    const int64_t first = tile * kTile, many = std::min(kTile, width - first);
    for (int64_t i = 0; i < n; ++i) {
        std::copy_n(table + i * width + first, many, rows[i].value);
        std::fill(rows[i].value + many, rows[i].value + kTile, 0.0);
    }
}

#if defined(__clang__) || __GNUC__ >= 12
#define LINKWISE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else  // older ones have only the other name
#define LINKWISE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, LaneLabels{__VA_ARGS__})
#endif

// Eight rows of eight numbers the other way round.
LINKWISE_INLINE void transpose(Lanes* r) {
    for (int i = 0; i < 8; i += 2) {
        const Lanes a = r[i], b = r[i + 1];
        r[i] = LINKWISE_SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
        r[i + 1] = LINKWISE_SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (const int i : {0, 1, 4, 5}) {
        const Lanes a = r[i], b = r[i + 2];
        r[i] = LINKWISE_SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
        r[i + 2] = LINKWISE_SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; ++i) {
        const Lanes a = r[i], b = r[i + 4];
        r[i] = LINKWISE_SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        r[i + 4] = LINKWISE_SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

// The same of the table the other way round: its rows are columns here.
LINKWISE_SIMD void fill_tile_across(const double* table, int64_t n, int64_t width, int64_t tile, TileRow* rows) {
    for (int64_t c = 0; c < width; c += 8)
        for (int64_t j = 0; j < kTile; j += 8) {
            const int64_t i = tile * kTile + j, many = std::min<int64_t>(8, width - c);
            TileRow* to = rows + c;
            if (i + 8 <= n && many == 8) {
                Lanes eight[8];
                for (int64_t a = 0; a < 8; ++a) std::memcpy(&eight[a], table + (i + a) * width + c, sizeof(Lanes));
                transpose(eight);
                for (int64_t b = 0; b < 8; ++b) to[b].lanes[j / 8] = eight[b];
                continue;
            }
            for (int64_t b = 0; b < many; ++b)
                for (int64_t a = 0; a < 8; ++a)
                    to[b].value[j + a] = i + a < n ? table[(i + a) * width + c + b] : 0.0;
        }
}

LINKWISE_INLINE TileRow add_entries(const Sparse& rows, int32_t begin, int32_t end, const TileRow* tile, int32_t first) {
    Lanes s0{}, s1{}, s2{}, s3{};
    for (int32_t e = begin; e < end; ++e) {
        const Lanes* row = tile[rows.column[e] - first].lanes;
        const double factor = rows.data[e];
        s0 += factor * row[0], s1 += factor * row[1], s2 += factor * row[2], s3 += factor * row[3];
    }
    TileRow sum;
    sum.lanes[0] = s0, sum.lanes[1] = s1, sum.lanes[2] = s2, sum.lanes[3] = s3;
    return sum;
}

// ---------------------------------------------------------------- sparse rows
// For a row of k shares P with trust s: the products s P that are not too small, and the likeliest column.
struct Shares {
    const double* share;
    int64_t k;
    double trust, least;
    double* data;
    int32_t* column;
};

constexpr int64_t kBlock = 64;  // shares that are compared at once, since few are not too small

LINKWISE_INLINE double largest_of(const double* share, int64_t width) {
    Lanes most{};
    int64_t c = 0;
    for (; c + 8 <= width; c += 8) {
        Lanes here;
        std::memcpy(&here, share + c, sizeof here);
        most = here > most ? here : most;
    }
    double largest = 0;
    for (int64_t j = 0; j < 8; ++j) largest = most[j] > largest ? most[j] : largest;
    for (; c < width; ++c) largest = share[c] > largest ? share[c] : largest;
    return largest;
}

LINKWISE_SIMD int64_t split_row(const Shares& t, int32_t& likeliest, double& most) {
    int64_t count = 0;
    double largest = 0;
    for (int64_t begin = 0; begin < t.k; begin += kBlock) {
        const int64_t end = std::min(t.k, begin + kBlock);
        const double here = largest_of(t.share + begin, end - begin);
        largest = std::max(largest, here);
        if (here * t.trust < t.least) continue;
        for (int64_t c = begin; c < end; ++c) {
            const double part = t.share[c] * t.trust;
            t.data[count] = part;
            t.column[count] = static_cast<int32_t>(c);
            count += part >= t.least;
        }
    }
    const double rounded = std::nearbyint(largest * kDecimals), low = largest - 2 / kDecimals;
    int64_t first = 0;
    while (first + 1 < t.k && (t.share[first] < low || std::nearbyint(t.share[first] * kDecimals) != rounded)) ++first;
    likeliest = static_cast<int32_t>(first);
    most = largest * t.trust;
    return count;
}

// Sparse rows: the split shares, 1 for the fine cluster of the item, and its trust for that.
auto split_chances(Matrix<double> join, Vector<double> trust, Vector<int32_t> fine, double least, int64_t m) {
    const int64_t n = trust.shape(0), k = join.shape(1);
    check_shape("trust", trust, kPositive);
    check_shape("join", join, n, k);
    check_shape("fine", fine, n);
    check_range("fine", fine, 0, m - 1);
    Entries found;
    Result<int32_t> likeliest(n);
    Result<double> most(n);
    {
        GilRelease release;
        std::vector<double> data(k);
        std::vector<int32_t> column(k);
        for (int64_t i = 0; i < n; ++i) {
            const double s = trust.data()[i];
            const Shares row{join.data() + i * k, k, s, least, data.data(), column.data()};
            const int64_t count = split_row(row, likeliest.get()[i], most.get()[i]);
            found.data.insert(found.data.end(), data.begin(), data.begin() + count);
            found.column.insert(found.column.end(), column.begin(), column.begin() + count);
            const double more[] = {1.0, s};
            for (int64_t part = 0; part < (s == 0 ? 1 : 2); ++part) {
                found.data.push_back(more[part]);
                found.column.push_back(static_cast<int32_t>(k + part * m + fine.data()[i]));
            }
            found.end_row();
        }
    }
    const auto size = static_cast<size_t>(n);
    return std::make_tuple(found.release(), likeliest.release({size}), most.release({size}));
}

auto sum_rows(Vector<double> data, Vector<int32_t> column, Vector<int32_t> start, Vector<int32_t> items,
              Vector<double> weight, Vector<int32_t> label, int64_t n_groups, int64_t width) {
    check_range("items", items, 0, check_sparse(data, column, start, width) - 1);
    check_shape("weight", weight, items.shape(0));
    check_shape("label", label, items.shape(0));
    check_range("label", label, 0, n_groups - 1);
    Entries found;
    {
        GilRelease release;
        const int64_t a = items.shape(0);
        std::vector<int32_t> begin(n_groups + 1), order(a);
        for (int64_t at = 0; at < a; ++at) ++begin[label.data()[at] + 1];
        for (int64_t c = 0; c < n_groups; ++c) begin[c + 1] += begin[c];
        std::vector<int32_t> next(begin);
        for (int64_t at = 0; at < a; ++at) order[next[label.data()[at]]++] = static_cast<int32_t>(at);
        std::vector<double> sum(width);
        std::vector<uint64_t> is_touched(width / 64 + 1);  // a bit for each column
        for (int64_t c = 0; c < n_groups; ++c) {
            for (int32_t b = begin[c]; b < begin[c + 1]; ++b) {
                const int32_t at = order[b], i = items.data()[at];
                for (int32_t e = start.data()[i]; e < start.data()[i + 1]; ++e) {
                    const int32_t to = column.data()[e];
                    is_touched[to / 64] |= uint64_t{1} << (to % 64);
                    sum[to] += weight.data()[at] * data.data()[e];
                }
            }
            for (int32_t first = 0; first < width; first += 64) {
                for (uint64_t bits = is_touched[first / 64]; bits != 0; bits &= bits - 1) {
                    const int32_t to = first + std::countr_zero(bits);
                    found.data.push_back(sum[to]);
                    found.column.push_back(to);
                    sum[to] = 0;
                }
                is_touched[first / 64] = 0;
            }
            found.end_row();
        }
    }
    return found.release();
}

// ---------------------------------------------------------------- products
struct Form {
    const double *same, *alike;
    int64_t k, m;
};

// Where the entries of a row for each of the three blocks end.
LINKWISE_INLINE void find_blocks(const Sparse& rows, int64_t i, const Form& form, int32_t* bound) {
    bound[0] = rows.start[i], bound[3] = rows.start[i + 1];
    const int32_t *begin = rows.column + bound[0], *end = rows.column + bound[3];
    bound[1] = static_cast<int32_t>(std::lower_bound(begin, end, form.k) - rows.column);
    bound[2] = static_cast<int32_t>(std::lower_bound(begin, end, form.k + form.m) - rows.column);
}

struct FormProduct {
    Sparse rows;
    Form form;
    const int32_t* bound;  // n x 4
    double* out;           // n x (k + 2 m)
};

LINKWISE_SIMD void multiply_block(const FormProduct& t, int block, int64_t n, const TileRow* rows, int64_t tile) {
    const int64_t k = t.form.k, m = t.form.m, width = block == 0 ? k : m, all = k + 2 * m;
    const int64_t offset = block == 0 ? 0 : block == 1 ? k : k + m;
    const int64_t first = tile * kTile, many = std::min(kTile, width - first);
    for (int64_t i = 0; i < n; ++i) {
        const int32_t* bound = t.bound + 4 * i;
        const TileRow sum =
            add_entries(t.rows, bound[block], bound[block + 1], rows, static_cast<int32_t>(offset));
        double* to = t.out + i * all + offset + first;
        if (block < 2)
            for (int64_t j = 0; j < many; ++j) to[j] = sum.value[j];
        else
            for (int64_t j = 0; j < many; ++j) to[j] = -sum.value[j];
    }
}

// The same for rows of few entries, for which tiles are not worth their making.
LINKWISE_SIMD void multiply_few(const FormProduct& t, int64_t n) {
    const int64_t k = t.form.k, m = t.form.m, all = k + 2 * m;
    std::fill_n(t.out, n * all, 0.0);
    for (int64_t i = 0; i < n; ++i)
        for (int block = 0; block < 3; ++block) {
            const int64_t width = block == 0 ? k : m, offset = block == 0 ? 0 : block == 1 ? k : k + m;
            const double *table = block == 0 ? t.form.same : t.form.alike, sign = block < 2 ? 1 : -1;
            double* to = t.out + i * all + offset;
            for (int32_t e = t.bound[4 * i + block]; e < t.bound[4 * i + block + 1]; ++e) {
                const double* row = table + (t.rows.column[e] - offset) * width;
                const double factor = sign * t.rows.data[e];
                for (int64_t j = 0; j < width; ++j) to[j] += factor * row[j];
            }
        }
}

int64_t check_form(const Vector<double>& data, const Vector<int32_t>& column, const Vector<int32_t>& start,
                   const Matrix<double>& same, const Matrix<double>& alike) {
    check_square("same", same);
    check_square("alike", alike);
    return check_sparse(data, column, start, same.shape(0) + 2 * alike.shape(0));
}

Output<double> multiply_form(Vector<double> data, Vector<int32_t> column, Vector<int32_t> start, Matrix<double> same,
                             Matrix<double> alike, int threads) {
    const int64_t n = check_form(data, column, start, same, alike);
    const int64_t k = same.shape(0), m = alike.shape(0), width = k + 2 * m;
    Result<double> found(n * width);
    {
        GilRelease release;
        const Sparse rows{data.data(), column.data(), start.data()};
        const Form form{same.data(), alike.data(), k, m};
        std::vector<int32_t> bound(4 * n);
        for (int64_t i = 0; i < n; ++i) find_blocks(rows, i, form, &bound[4 * i]);
        if (static_cast<int64_t>(data.shape(0)) < 8 * (k + m)) {
            multiply_few({rows, form, bound.data(), found.get()}, n);
        } else {
            const FormProduct product{rows, form, bound.data(), found.get()};
            const int64_t of_same = tile_count(k), count = of_same + tile_count(m);
            Crew crew(std::min<int64_t>(useful_threads(threads, n * width), count));
            std::vector<Tile> tiles(crew.size(), Tile(std::max(k, m)));
            crew.run(count, [&](int64_t c, int worker) {
                TileRow* tile = tiles[worker].data();
                if (c < of_same) {
                    fill_tile(same.data(), k, k, c, tile);
                    multiply_block(product, 0, n, tile, c);
                } else {
                    fill_tile(alike.data(), m, m, c - of_same, tile);
                    for (int block = 1; block < 3; ++block) multiply_block(product, block, n, tile, c - of_same);
                }
            });
        }
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(width)});
}

double add_form(const Sparse& rows, int32_t begin, int32_t end, const double* table, int64_t width, int64_t first) {
    double total = 0;
    for (int32_t a = begin; a < end; ++a) {
        const double* row = table + (rows.column[a] - first) * width;
        double sum = 0;
        for (int32_t b = begin; b < end; ++b) sum += rows.data[b] * row[rows.column[b] - first];
        total += rows.data[a] * sum;
    }
    return total;
}

Output<double> evaluate_form(Vector<double> data, Vector<int32_t> column, Vector<int32_t> start, Matrix<double> same,
                             Matrix<double> alike) {
    const int64_t n = check_form(data, column, start, same, alike);
    Result<double> found(n);
    {
        GilRelease release;
        const Sparse rows{data.data(), column.data(), start.data()};
        const Form form{same.data(), alike.data(), static_cast<int64_t>(same.shape(0)),
                        static_cast<int64_t>(alike.shape(0))};
        for (int64_t i = 0; i < n; ++i) {
            int32_t bound[4];
            find_blocks(rows, i, form, bound);
            double total = add_form(rows, bound[0], bound[1], form.same, form.k, 0);
            total += add_form(rows, bound[1], bound[2], form.alike, form.m, form.k);
            total -= add_form(rows, bound[2], bound[3], form.alike, form.m, form.k + form.m);
            found.get()[i] = total;
        }
    }
    return found.release({static_cast<size_t>(n)});
}

LINKWISE_SIMD void multiply_tile(const Sparse& rows, const TileRow* tile, int64_t n, int64_t first, int64_t width,
                                 double* out) {
    const int64_t many = std::min(kTile, width - first);
    for (int64_t i = 0; i < n; ++i) {
        const TileRow sum = add_entries(rows, rows.start[i], rows.start[i + 1], tile, 0);
        std::copy_n(sum.value, many, out + i * width + first);
    }
}

LINKWISE_SIMD void mirror_tile(double* out, int64_t n, int64_t tile) {
    const int64_t first = tile * kTile, last = std::min(n, first + kTile);
    for (int64_t a = 0; a <= first; a += kTile)
        for (int64_t i = first; i < last; ++i)
            for (int64_t j = a; j < std::min(i, a + kTile); ++j) out[i * n + j] = out[j * n + i];
}

Output<double> multiply_across(Vector<double> data, Vector<int32_t> column, Vector<int32_t> start, Matrix<double> table,
                               bool is_symmetric, int threads) {
    const int64_t width = table.shape(0), inner = table.shape(1), count = tile_count(width);
    check_rows("table", table);
    const int64_t n = check_sparse(data, column, start, inner);
    if (is_symmetric && n != width) refuse(n, " rows times ", width, " rows are not symmetric.");
    Result<double> found(n * width);
    {
        GilRelease release;
        const Sparse rows{data.data(), column.data(), start.data()};
        Crew crew(std::min<int64_t>(useful_threads(threads, n * width), count));
        std::vector<Tile> tiles(crew.size(), Tile(inner));
        crew.run(count, [&](int64_t t, int worker) {
            TileRow* tile = tiles[worker].data();
            fill_tile_across(table.data(), width, inner, t, tile);
            multiply_tile(rows, tile, is_symmetric ? std::min(n, (t + 1) * kTile) : n, t * kTile, width, found.get());
        });
        if (is_symmetric) crew.run(count, [&](int64_t t, int) { mirror_tile(found.get(), n, t); });
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(width)});
}

LINKWISE_SIMD void fill_distances(const double* belonging, const double* size, int64_t n, double* found) {
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            found[i * n + j] =
                std::nearbyint((1 - belonging[i * n + j] / (size[i] * size[j])) * kDecimals) / kDecimals;
}

Output<double> mean_distances(Matrix<double> belonging, Vector<double> size) {
    const int64_t n = size.shape(0);
    check_shape("size", size, kPositive);
    check_shape("belonging", belonging, n, n);
    Result<double> found(n * n);
    {
        GilRelease release;
        fill_distances(belonging.data(), size.data(), n, found.get());
    }
    return found.release({static_cast<size_t>(n), static_cast<size_t>(n)});
}

// ---------------------------------------------------------------- groups that differ
// Groups in their order; each that is in one cluster with a group before it that it differs from goes where it gains
// most and may be, or makes a cluster of its own.
Output<int64_t> mend_clusters(Vector<int64_t> order, Vector<int64_t> some, Vector<int64_t> begin,
                              Vector<int64_t> differs, Matrix<double> gain, Vector<int64_t> label) {
    const int64_t n = label.shape(0), count = some.shape(0), clusters = gain.shape(1);
    check_shape("gain", gain, count, clusters);
    check_shape("order", order, count);
    check_range("order", order, 0, count - 1);
    check_range("some", some, 0, n - 1);
    check_shape("begin", begin, count + 1);
    check_starts("begin", begin, differs.shape(0));
    check_range("differs", differs, 0, n - 1);
    check_range("label", label, 0, clusters - 1);
    Result<int64_t> found(n);
    {
        GilRelease release;
        int64_t *mended = found.get(), fresh = clusters;
        std::copy_n(label.data(), n, mended);
        std::vector<int64_t> placed(n, -1), barred_by(clusters + count, -1);
        for (int64_t at = 0; at < count; ++at) {
            const int64_t number = order.data()[at], a = some.data()[number];
            for (int64_t e = begin.data()[number]; e < begin.data()[number + 1]; ++e)
                if (const int64_t to = placed[differs.data()[e]]; to >= 0) barred_by[to] = at;
            if (barred_by[mended[a]] == at) {
                const double* own = gain.data() + number * clusters;
                int64_t best = 0;
                double most = -HUGE_VAL;
                for (int64_t c = 0; c < clusters; ++c)
                    if (const double each = barred_by[c] == at ? 0.0 : own[c]; each > most) most = each, best = c;
                mended[a] = most > 0 ? best : fresh++;
            }
            placed[a] = mended[a];
        }
    }
    return found.release({static_cast<size_t>(n)});
}

}  // namespace

void register_gains(nb::module_& m) {
    define(m, "split_chances", split_chances,
           R"(Make sparse rows, (n, k + 2 m), of the shares, (n, k), the trust, (n,), and the fine cluster, (n,).

A row holds the shares times the trust, without those below `least`, then 1 and the trust in the columns of its fine
cluster, 0 to m - 1. Returns (data, column, start); the likeliest columns (n,), the first of the largest shares when
rounded to nine decimals; and the largest shares times the trust (n,).)",
           nb::arg("join"), nb::arg("trust"), nb::arg("fine"), nb::arg("least"), nb::arg("n_fine"));
    define(m, "sum_rows", sum_rows,
           R"(Sum sparse rows by their labels: (data, column, start) of (n_groups, width).

items, (a,), are the rows that are added, of which one may be there many times; weight, (a,), their factors; label,
(a,), the sums that they go to. The terms of a sum are added in their order. Time O(a e + n_groups), and the time to
sort the columns of each sum, for e entries of a row.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("items"), nb::arg("weight"),
           nb::arg("label"), nb::arg("n_groups"), nb::arg("width"));
    define(m, "multiply_form", multiply_form,
           R"(Multiply sparse rows, (n, k + 2 m), by the table of a form: X W, the terms in the order of their columns.

W has three blocks: same, (k, k); alike, (m, m); and alike with the other sign.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("same"), nb::arg("alike"),
           count("n_threads"));
    define(m, "evaluate_form", evaluate_form,
           "Compute x W x' for each sparse row x, (n,), W as of multiply_form. Time O(n e^2) for e entries a row.",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("same"), nb::arg("alike"));
    define(m, "multiply_across", multiply_across,
           R"(Multiply sparse rows, (n, w), by those of a dense table, (c, w): (n, c).

The terms of a sum are added in the order of their columns. If the result is symmetric, half of it is computed.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("table"), nb::arg("is_symmetric"),
           count("n_threads"));
    define(m, "mean_distances", mean_distances,
           R"(Compute how far groups are apart: 1 less the mean chance that their rows belong together, (g, g).

belonging, (g, g), are the expected pairs of rows of two groups that belong together; size, (g,), the rows of each.
Rounded to nine decimals.)",
           nb::arg("belonging"), nb::arg("size"));
    define(m, "mend_clusters", mend_clusters,
           R"(Take groups that are known to differ out of one cluster: (g,).

some, (s,), are the groups that differ from others, and order, (s,), places in it, in the order in which groups stay
where they are; those that each differs from begin in differs, (q,), at begin, (s + 1,). gain, (s, c), is what each
gains by each cluster; label, (g,), the cluster of each group. A group that differs from one before it in its cluster
goes where it gains most, or to a new cluster if it gains nowhere.)",
           nb::arg("order"), nb::arg("some"), nb::arg("begin"), nb::arg("differs"), nb::arg("gain"),
           nb::arg("label"));
}

}  // namespace linkwise
