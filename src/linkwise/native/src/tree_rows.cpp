// The rows of a clustering tree: their order by each test, how a split parts them, and the leaf that each reaches.
#include "checks.hpp"
#include "sorting.hpp"

namespace linkwise {

namespace {

auto sort_values(Matrix<double> values, int threads) {
    const int64_t tests = values.shape(0), n = values.shape(1);
    check_rows("values", values);
    Result<int32_t> order(tests * n), rank(tests * n);
    Result<uint8_t> tied(tests);
    {
        GilRelease release;
        Crew crew(std::min<int64_t>(tests, useful_threads(threads, 32 * tests * n)));
        crew.run(tests, [&](int64_t t, int) {
            std::vector<Keyed> rows(n), scratch;
            for (int64_t i = 0; i < n; ++i) rows[i] = {sort_key(values.data()[t * n + i]), static_cast<int32_t>(i)};
            sort_keys(rows, scratch);
            bool any = false;
            for (int64_t q = 0; q < n; ++q) {
                order.get()[t * n + n - 1 - q] = rows[q].row;
                any |= q > 0 && rows[q].key == rows[q - 1].key;
            }
            tied.get()[t] = any;
            std::fill_n(rank.get() + t * n, n, 0);
            int32_t smaller = 0;
            for (int64_t q = 0; any && q < n; ++q) {
                smaller += q > 0 && rows[q].key != rows[q - 1].key;
                rank.get()[t * n + rows[q].row] = smaller;
            }
        });
    }
    const size_t T = tests, N = n;
    return std::make_tuple(order.release({T, N}), rank.release({T, N}), tied.release({T}));
}

// Rows of a leaf that a split parts: their features, and their orders by all tests.
struct Side {
    int64_t size;
    Result<int32_t> rows, order;
    Result<double> features;

    Side(int64_t rows_of_side, int64_t tests, int64_t width)
        : size(rows_of_side), rows(size), order(tests * size), features(size * width) {}
    void take(const double* Z, int64_t width, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            std::copy_n(Z + rows.get()[i] * width, width, features.get() + i * width);
    }
    auto release(size_t tests, size_t width) {
        const size_t S = size;
        return std::make_tuple(rows.release({S}), features.release({S, width}), order.release({tests, S}));
    }
};

auto split_leaf(Matrix<double> Z, Matrix<int32_t> order, int64_t number, int64_t size, int threads) {
    const int64_t tests = order.shape(0), m = order.shape(1), width = Z.shape(1);
    check_rows("Z", Z);
    check_shape("order", order, kPositive, Z.shape(0));
    check_between("number", number, 0, tests - 1);
    check_between("size", size, 1, m - 1);
    Side first(size, tests, width), second(m - size, tests, width);
    std::vector<uint8_t> is_valid(tests, 1);
    {
        GilRelease release;
        std::vector<int32_t> place(m, -1);  // on its side; on the second one ~place
        for (int64_t q = 0; q < size; ++q) {
            const auto row = static_cast<uint32_t>(order.data()[number * m + q]);
            if (row < m) place[row] = 0;
        }
        int64_t in_first = 0, in_second = 0;
        for (int64_t i = 0; i < m; ++i) {
            if (place[i] == 0 && in_first < size) {
                first.rows.get()[in_first] = static_cast<int32_t>(i);
                place[i] = static_cast<int32_t>(in_first++);
            } else if (in_second < m - size) {
                second.rows.get()[in_second] = static_cast<int32_t>(i);
                place[i] = ~static_cast<int32_t>(in_second++);
            }
        }
        if (in_first < size) is_valid[number] = 0;  // a row stands there twice
        Crew crew(useful_threads(threads, 4 * tests * m));
        if (is_valid[number])
            crew.run(tests, [&](int64_t t, int) {
                const int32_t* rows = order.data() + t * m;
                int32_t *yes = first.order.get() + t * size, *no = second.order.get() + t * (m - size);
                const int32_t *yes_end = yes + size, *no_end = no + (m - size);
                for (int64_t q = 0; q < m; ++q) {
                    const auto row = static_cast<uint32_t>(rows[q]);
                    const int32_t at = row < m ? place[row] : 0;
                    if (at >= 0 && yes < yes_end) *yes++ = at;
                    else if (at < 0 && no < no_end) *no++ = ~at;
                    else is_valid[t] = 0;
                }
            });
        if (std::find(is_valid.begin(), is_valid.end(), 0) == is_valid.end()) {
            const int64_t chunks = chunk_count(m);
            crew.run(chunks, [&](int64_t c, int) {
                for (Side* side : {&first, &second})
                    side->take(Z.data(), width, c * side->size / chunks, (c + 1) * side->size / chunks);
            });
        }
    }
    if (std::find(is_valid.begin(), is_valid.end(), 0) != is_valid.end())
        throw nb::value_error("Each test must order all rows of the leaf, each once.");
    return std::make_pair(first.release(tests, width), second.release(tests, width));
}

template <typename T>
Output<int32_t> apply_tree(Matrix<T> X, Vector<int32_t> column, Vector<double> value, Vector<uint8_t> equals,
                           Vector<int32_t> yes, Vector<int32_t> no, int threads) {
    const int64_t n = X.shape(0), d = X.shape(1), nodes = column.shape(0);
    check_rows("X", X);
    check_shape("column", column, kPositive);
    check_range("column", column, -1, d - 1);
    check_shape("value", value, nodes);
    check_shape("equals", equals, nodes);
    check_shape("yes", yes, nodes);
    check_shape("no", no, nodes);
    for (int64_t i = 0; i < nodes; ++i)
        for (const auto& [name, next] : {std::pair{"yes", yes.data()[i]}, std::pair{"no", no.data()[i]}})
            if (column.data()[i] >= 0 && (next <= i || next >= nodes))
                refuse(name, " must lead to higher nodes, up to ", nodes - 1, ", got ", next, " at ", i, ".");
    Result<int32_t> found(n);
    {
        GilRelease release;
        Crew crew(useful_threads(threads, 8 * n));
        crew.run(chunk_count(n), [&](int64_t c, int) {
            for (int64_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
                int32_t node = 0;
                while (column.data()[node] >= 0) {
                    const auto x = static_cast<double>(X.data()[i * d + column.data()[node]]);
                    const double bound = value.data()[node];
                    node = (equals.data()[node] ? x == bound : x > bound) ? yes.data()[node] : no.data()[node];
                }
                found.get()[i] = node;
            }
        });
    }
    return found.release({static_cast<size_t>(n)});
}

}  // namespace

void register_tree_rows(nb::module_& m) {
    define(m, "sort_values", sort_values,
           R"(Sort the rows by each of several tests, of which `values`, (t, n), are without NaN.

Returns the rows from the largest value to the smallest (t, n), of equal values the last row first; the number of
smaller distinct values of each row (t, n), all 0 for a test without equal values; and whether any are equal (t,).)",
           nb::arg("values"), count("n_threads"));
    define(m, "split_leaf", split_leaf,
           R"(Split the rows of a leaf into the first `size` by one test and the others, and number both sides anew.

Z, (m, p), are the features; order, (t, m), the rows 0 to m - 1, for each test in its order. Returns, for both sides, the
numbers of the rows before, ascending (s,); their features (s, p); and their positions among these, for each test in its
order (t, s).)",
           nb::arg("Z"), nb::arg("order"), nb::arg("number"), nb::arg("size"), count("n_threads"));
    define(m, "apply_tree", apply_tree<float>, apply_tree<double>,
           R"(Find the leaf of a tree that each row reaches: (n,).

column, (nodes,), is that of the test of each node, -1 at a leaf; node 0 is the root. The test is "equals" or else
"greater than" a value. yes and no, (nodes,), are the nodes that follow, with higher numbers.)",
           nb::arg("X"), nb::arg("column"), nb::arg("value"), nb::arg("equals"), nb::arg("yes"), nb::arg("no"),
           count("n_threads"));
}

}  // namespace linkwise
