// Products of sparse rows: for each row the others with the largest products, and the products of given pairs.
#include <limits>
#include <numeric>
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
// The rows in an order in which those that a row may go with are at most two ranges of places: those of its block
// before and after those of its source.
struct Order {
    std::vector<int32_t> row, place;  // of each place, and of each row
    const int64_t *block, *source;    // null: one block, and a source for each row

    Order(int64_t n, const int64_t* blocks, const int64_t* sources) : row(n), place(n), block(blocks), source(sources) {
        std::iota(row.begin(), row.end(), 0);
        if (source) sort_by(source);
        if (block) sort_by(block);
        for (int64_t at = 0; at < n; ++at) place[row[at]] = static_cast<int32_t>(at);
    }

    int32_t count() const { return static_cast<int32_t>(row.size()); }

    // Of a place: the first of its block and of its source, and behind the last of both.
    std::array<int32_t, 4> ranges_of(int32_t at) const {
        const int32_t first = block ? first_alike(block, 0, at) : 0;
        const int32_t last = block ? last_alike(block, at, count()) : count();
        if (!source) return {first, at, at + 1, last};
        return {first, first_alike(source, first, at), last_alike(source, at, last), last};
    }

   private:
    void sort_by(const int64_t* group) {
        std::stable_sort(row.begin(), row.end(), [group](int32_t i, int32_t j) { return group[i] < group[j]; });
    }
    int32_t first_alike(const int64_t* group, int32_t begin, int32_t at) const {
        const auto is_below = [group](int32_t i, int64_t value) { return group[i] < value; };
        const auto end = row.begin() + at;
        return static_cast<int32_t>(std::lower_bound(row.begin() + begin, end, group[row[at]], is_below) - row.begin());
    }
    int32_t last_alike(const int64_t* group, int32_t at, int32_t end) const {
        const auto is_above = [group](int64_t value, int32_t i) { return value < group[i]; };
        const auto begin = row.begin() + at;
        return static_cast<int32_t>(std::upper_bound(begin, row.begin() + end, group[row[at]], is_above) - row.begin());
    }
};

// The place of a row in the list of a column, with its value there.
struct Listed {
    int32_t place;
    float value;
};

// The places of the rows of each column that counts, ascending.
struct Lists {
    std::vector<int64_t> start;
    std::vector<Listed> entries;

    Lists(const Rows& rows, const bool* counts, const Order& order) : start(rows.width + 2) {
        const int64_t size = rows.start[rows.n];
        for (int64_t e = 0; e < size; ++e) start[rows.column[e] + 2] += counts[rows.column[e]];
        for (int64_t c = 2; c < rows.width + 2; ++c) start[c] += start[c - 1];
        entries.resize(start.back());
        for (int32_t at = 0; at < order.count(); ++at) {
            const int32_t i = order.row[at];
            for (int32_t e = rows.start[i]; e < rows.start[i + 1]; ++e)
                if (counts[rows.column[e]]) entries[start[rows.column[e] + 1]++] = {at, rows.data[e]};
        }
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

// What is left of the list of a column.
struct Rest {
    double value;  // of the row that is searched for
    const Listed *next, *end;
};

// What a thread needs for one row after another. It adds up the products with few places at once, which stay in a
// near cache, and notes those that reach the least of the largest so far.
class Search {
   public:
    Search(const Rows& rows, const Lists& lists, const Order& order, int64_t k)
        : rows_(rows), lists_(lists), order_(order), k_(k), tile_(std::clamp(order.count() / 32, 8192, 32768)),
          product_(tile_), noted_(tile_ + 1) {}

    void find(int32_t i, int32_t* out) {
        rest_.clear(), best_.clear();
        worst_ = {0, -1};
        for (int32_t e = rows_.start[i]; e < rows_.start[i + 1]; ++e) {
            const int64_t *start = &lists_.start[rows_.column[e]], size = start[1] - start[0];
            const Listed* first = lists_.entries.data() + start[0];
            if (size > 1) rest_.push_back({rows_.data[e], first, first + size});
        }
        const auto [begin, own, behind, end] = order_.ranges_of(order_.place[i]);
        scan(begin, own), scan(behind, end);
        std::sort(best_.begin(), best_.end());
        for (int64_t t = 0; t < k_; ++t) out[t] = t < static_cast<int64_t>(best_.size()) ? best_[t].row : -1;
    }

   private:
    void scan(int32_t begin, int32_t end) {
        for (Rest& rest : rest_) skip(rest, begin);
        for (int32_t from = begin; from < end; from += tile_) add_up(from, std::min(end, from + tile_));
    }

    static void skip(Rest& rest, int32_t begin) {
        if (rest.next == rest.end || rest.next->place >= begin) return;
        const auto is_before = [](const Listed& listed, int32_t place) { return listed.place < place; };
        rest.next = std::lower_bound(rest.next, rest.end, begin, is_before);
    }

    void add_up(int32_t from, int32_t to) {
        const double least = std::max(worst_.product, std::numeric_limits<double>::min());
        double* const product = product_.data();
        int32_t* noted = noted_.data();
        from_.clear();
        for (Rest& rest : rest_) {
            const Listed *next = rest.next, *const last = rest.end;
            const double value = rest.value;
            from_.push_back(next);
            for (; next != last && next->place < to; ++next) {
                const int32_t at = next->place - from;
                const double before = product[at], sum = before + value * next->value;
                product[at] = sum;
                *noted = next->place;
                noted += (before < least) & (sum >= least);
            }
            rest.next = next;
        }
        for (const int32_t* at = noted_.data(); at != noted; ++at) take({product[*at - from], order_.row[*at]});
        for (size_t c = 0; c < rest_.size(); ++c)
            for (const Listed *next = from_[c], *const last = rest_[c].next; next != last; ++next)
                product[next->place - from] = 0;
    }

    void take(Near now) {
        if (!(now < worst_)) return;
        best_.push_back(now);
        if (static_cast<int64_t>(best_.size()) < 4 * k_) return;
        std::nth_element(best_.begin(), best_.begin() + (k_ - 1), best_.end());
        best_.resize(k_);
        worst_ = best_.back();
    }

    const Rows& rows_;
    const Lists& lists_;
    const Order& order_;
    const int64_t k_;
    const int32_t tile_;
    std::vector<double> product_;  // with each place of a tile; 0 between tiles
    std::vector<int32_t> noted_;
    std::vector<Rest> rest_;
    std::vector<const Listed*> from_;
    std::vector<Near> best_;
    Near worst_{0, -1};
};

void check_groups(const std::optional<Vector<int64_t>>& block, const std::optional<Vector<int64_t>>& source,
                  int64_t n) {
    check_shape("block", block, n);
    check_shape("source", source, n);
}

// The sum of the squared lengths of the list of each column, within blocks.
void sum_work(const Rows& rows, const Order& order, double* work) {
    std::vector<int32_t> length(rows.width), last(rows.width, -1);
    std::fill_n(work, rows.width, 0.0);
    for (int32_t at = 0, first = 0; at < order.count(); ++at) {
        const int32_t i = order.row[at];
        if (order.block && at > 0 && order.block[i] != order.block[order.row[at - 1]]) first = at;
        for (int32_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
            const int32_t c = rows.column[e];
            if (last[c] < first) length[c] = 0;
            last[c] = at;
            work[c] += 2.0 * length[c]++ + 1;
        }
    }
}

auto column_work(Vector<float> data, Vector<int32_t> column, Vector<int32_t> start, int64_t width,
                 std::optional<Vector<int64_t>> block) {
    const Rows rows = check_rows_of(data, column, start, width);
    check_groups(block, std::nullopt, rows.n);
    Result<double> work(width);
    {
        GilRelease release;
        sum_work(rows, Order(rows.n, data_or_null(block), nullptr), work.get());
    }
    return work.release({static_cast<size_t>(width)});
}

auto largest_products(Vector<float> data, Vector<int32_t> column, Vector<int32_t> start, int64_t width,
                      Vector<bool> counts, Vector<int64_t> of, int64_t k, std::optional<Vector<int64_t>> block,
                      std::optional<Vector<int64_t>> source, int threads) {
    const Rows rows = check_rows_of(data, column, start, width);
    if (std::any_of(rows.data, rows.data + data.shape(0), [](float v) { return !(v > 0); }))
        refuse("data must be above 0. Remove entries of 0.");
    check_shape("counts", counts, width);
    check_range("of", of, 0, rows.n - 1);
    check_groups(block, source, rows.n);
    const int64_t q = of.shape(0);
    Result<int32_t> out(q * k);
    {
        GilRelease release;
        const Order order(rows.n, data_or_null(block), data_or_null(source));
        const Lists lists(rows, counts.data(), order);
        Crew crew(useful_threads(threads, q * 1000));
        std::vector<Search> searches(crew.size(), Search(rows, lists, order, k));
        constexpr int64_t kTask = 64;
        crew.run((q + kTask - 1) / kTask, [&](int64_t task, int thread) {
            for (int64_t t = task * kTask; t < std::min(q, (task + 1) * kTask); ++t)
                searches[thread].find(static_cast<int32_t>(of.data()[t]), out.get() + t * k);
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
        GilRelease release;
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
once. counts, (width,), says which columns count, and of, (q,), are the rows. Only rows of the same block, (n,), and of
another source, (n,), are found. Returns rows (q, k), largest products first, then lower rows; -1 where no other row
has a product above 0.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("width"), nb::arg("counts"), nb::arg("of"),
           count("k"), nb::arg("block").none(), nb::arg("source").none(), count("n_threads"));
    define(m, "column_work", column_work,
           R"(Count the products that largest_products adds for each column, if it searches for all rows of one source.

Rows and block are those of largest_products. Returns (width,).)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("width"), nb::arg("block").none());
    define(m, "multiply_pairs", multiply_pairs,
           R"(Compute the products of pairs of rows.

data, column, start and width are those of largest_products, with any values; first and second, (q,), the rows. Pairs
of the same first row in a row take less time. Returns (q,), added in float64.)",
           nb::arg("data"), nb::arg("column"), nb::arg("start"), nb::arg("width"), nb::arg("first"), nb::arg("second"),
           count("n_threads"));
}

}  // namespace linkwise
