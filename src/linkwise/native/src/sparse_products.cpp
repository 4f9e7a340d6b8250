// Products of sparse rows: for each row the others with the largest products, and the products of given pairs.
#include <limits>
#include <vector>

#include "checks.hpp"

namespace linkwise {

namespace {

// The entries of row i stand at start[i] .. start[i + 1].
struct Rows {
    const float* data;
    const int32_t *column, *start;
    int64_t n, width;
};

Rows check_rows_of(const Vector<float>& data, const Vector<int32_t>& column, const Vector<int32_t>& start,
                   int64_t width) {
    check_between("width", width, 0, std::numeric_limits<int32_t>::max());
    check_shape("column", column, data.shape(0));
    check_range("column", column, 0, width - 1);
    check_shape("start", start, kPositive);
    check_starts("start", start, data.shape(0));
    return {data.data(), column.data(), start.data(), static_cast<int64_t>(start.shape(0)) - 1, width};
}

// ---------------------------------------------------------------- the largest products
// A row in the list of a column, with its value there.
struct Listed {
    int32_t row;
    float value;
};

// The rows of each column, ascending.
struct Lists {
    std::vector<int64_t> start;
    std::vector<Listed> entries;

    explicit Lists(const Rows& rows) : start(rows.width + 2), entries(rows.start[rows.n]) {
        const int64_t size = rows.start[rows.n];
        for (int64_t e = 0; e < size; ++e) ++start[rows.column[e] + 2];
        for (int64_t c = 2; c < rows.width + 2; ++c) start[c] += start[c - 1];
        for (int64_t i = 0; i < rows.n; ++i)
            for (int32_t e = rows.start[i]; e < rows.start[i + 1]; ++e)
                entries[start[rows.column[e] + 1]++] = {static_cast<int32_t>(i), rows.data[e]};
    }
};

struct Near {
    double product;
    int32_t row;

    // Larger products come first, and lower rows among equal ones.
    bool operator<(const Near& other) const {
        return product != other.product ? product > other.product : row < other.row;
    }
};

// What a thread needs for one row after another.
struct Search {
    std::vector<double> product;   // with each row; 0 between searches
    std::vector<int32_t> touched;  // the rows whose product is not 0
    std::vector<Near> best;

    explicit Search(int64_t n) : product(n), touched(n + 1) {}

    void find(const Rows& rows, const Lists& lists, int64_t i, int64_t k, const int64_t* source, int32_t* out) {
        int64_t n_touched = 0;
        for (int32_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
            const double value = rows.data[e];
            const int64_t end = lists.start[rows.column[e] + 1];
            for (int64_t l = lists.start[rows.column[e]]; l < end; ++l) {
                double& sum = product[lists.entries[l].row];
                touched[n_touched] = lists.entries[l].row;
                n_touched += sum == 0;
                sum += value * lists.entries[l].value;
            }
        }
        product[i] = 0;  // a row is not near itself
        best.clear();
        Near worst{0, 0};
        for (int64_t t = 0; t < n_touched; ++t) {
            const int32_t j = touched[t];
            const Near now{product[j], j};
            product[j] = 0;
            if (!(now < worst) || (source && source[j] == source[i])) continue;
            best.push_back(now);
            if (static_cast<int64_t>(best.size()) < 4 * k) continue;
            std::nth_element(best.begin(), best.begin() + (k - 1), best.end());
            best.resize(k);
            worst = best.back();
        }
        std::sort(best.begin(), best.end());
        for (int64_t t = 0; t < k; ++t) out[t] = t < static_cast<int64_t>(best.size()) ? best[t].row : -1;
    }
};

auto largest_products(Vector<float> data, Vector<int32_t> column, Vector<int32_t> start, int64_t width,
                      Vector<int64_t> of, int64_t k, std::optional<Vector<int64_t>> source, int threads) {
    const Rows rows = check_rows_of(data, column, start, width);
    if (std::any_of(rows.data, rows.data + data.shape(0), [](float v) { return !(v > 0); }))
        refuse("data must be above 0. Remove entries of 0.");
    check_range("of", of, 0, rows.n - 1);
    check_shape("source", source, rows.n);
    const int64_t q = of.shape(0);
    Result<int32_t> out(q * k);
    {
        nb::gil_scoped_release release;
        const Lists lists(rows);
        int64_t terms = 0;
        for (int64_t c = 0; c < width; ++c) {
            const int64_t length = lists.start[c + 1] - lists.start[c];
            terms += length * length;
        }
        Crew crew(useful_threads(threads, rows.n ? terms / rows.n * q : 0));
        std::vector<Search> searches(crew.size(), Search(rows.n));
        constexpr int64_t kTask = 64;
        crew.run((q + kTask - 1) / kTask, [&](int64_t task, int thread) {
            for (int64_t t = task * kTask; t < std::min(q, (task + 1) * kTask); ++t)
                searches[thread].find(rows, lists, of.data()[t], k, data_or_null(source), out.get() + t * k);
        });
    }
    return out.release({static_cast<size_t>(q), static_cast<size_t>(k)});
}

// ---------------------------------------------------------------- products of pairs
// One row spread over all columns, for its products with others.
struct Spread {
    std::vector<float> value;  // by column
    int64_t row = -1;

    void take(const Rows& rows, int64_t i) {
        if (i == row) return;
        if (row >= 0)
            for (int32_t e = rows.start[row]; e < rows.start[row + 1]; ++e) value[rows.column[e]] = 0;
        for (int32_t e = rows.start[i]; e < rows.start[i + 1]; ++e) value[rows.column[e]] = rows.data[e];
        row = i;
    }
    double times(const Rows& rows, int64_t j) const {
        double sum = 0;
        for (int32_t e = rows.start[j]; e < rows.start[j + 1]; ++e)
            sum += static_cast<double>(rows.data[e]) * value[rows.column[e]];
        return sum;
    }
};

auto multiply_pairs(Vector<float> data, Vector<int32_t> column, Vector<int32_t> start, int64_t width,
                    Vector<int64_t> first, Vector<int64_t> second, int threads) {
    const Rows rows = check_rows_of(data, column, start, width);
    const int64_t q = first.shape(0);
    check_range("first", first, 0, rows.n - 1);
    check_shape("second", second, q);
    check_range("second", second, 0, rows.n - 1);
    Result<float> out(q);
    {
        nb::gil_scoped_release release;
        const int64_t length = static_cast<int64_t>(data.shape(0)) / std::max<int64_t>(rows.n, 1);
        Crew crew(useful_threads(threads, q * (1 + length)));
        std::vector<Spread> spreads(crew.size(), Spread{std::vector<float>(width)});
        crew.run(chunk_count(q), [&](int64_t chunk, int thread) {
            for (int64_t t = chunk * kChunk; t < std::min(q, (chunk + 1) * kChunk); ++t) {
                spreads[thread].take(rows, first.data()[t]);
                out.get()[t] = static_cast<float>(spreads[thread].times(rows, second.data()[t]));
            }
        });
    }
    return out.release({static_cast<size_t>(q)});
}

}  // namespace

void register_sparse_products(nb::module_& m) {
    define(m, "largest_products", largest_products,
           R"(Find the k other rows with the largest products with each of some rows.

The entries of row i stand at start[i] .. start[i + 1] of data, above 0, and column, below width; each column at most
once. of, (q,), are the rows; source, (n,), says whence each row comes: those of one source do not count. Returns rows
(q, k), largest products first, then lower rows; -1 where no other row has a product above 0.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("width"), nb::arg("of"), count("k"),
           nb::arg("source").none(), count("n_threads"));
    define(m, "multiply_pairs", multiply_pairs,
           R"(Compute the products of pairs of rows.

data, column, start and width are those of largest_products, with any values; first and second, (q,), the rows. Pairs
of the same first row in a row take less time. Returns (q,), added in float64.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("width"), nb::arg("first"), nb::arg("second"),
           count("n_threads"));
}

}  // namespace linkwise
