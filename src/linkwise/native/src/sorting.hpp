// Sorting of rows by numbers of 64 bits, which keeps the order of equal ones.
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace linkwise {

// Numbers that are in the order of the values; zeros of both signs are equal.
inline uint64_t sort_key(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
}

struct Keyed {
    uint64_t key;
    int32_t row;
};

// Sorts by the key; equal ones keep their order. Three parts of the upper half, from the last, tell most numbers
// apart; the few that are alike in it are compared.
inline void sort_keys(std::vector<Keyed>& rows, std::vector<Keyed>& scratch) {
    constexpr int kBits = 11, kParts = 3, kLower = 64 - kParts * kBits;
    constexpr uint64_t kMask = (1 << kBits) - 1;
    const auto part = [](const Keyed& r, int p) { return r.key >> (kLower + p * kBits) & kMask; };
    std::vector<int64_t> counts(kParts << kBits);
    for (const Keyed& r : rows)
        for (int p = 0; p < kParts; ++p) ++counts[(p << kBits) + part(r, p)];
    scratch.resize(rows.size());
    for (int p = 0; p < kParts && !rows.empty(); ++p) {
        int64_t* start = &counts[p << kBits];
        if (start[part(rows[0], p)] == static_cast<int64_t>(rows.size())) continue;
        int64_t before = 0;
        for (uint64_t b = 0; b <= kMask; ++b) before += std::exchange(start[b], before);
        for (const Keyed& r : rows) scratch[start[part(r, p)]++] = r;
        rows.swap(scratch);
    }
    for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        bool is_sorted = true;
        for (end = begin + 1; end < rows.size() && rows[end].key >> kLower == rows[begin].key >> kLower; ++end)
            is_sorted &= rows[end - 1].key <= rows[end].key;
        if (!is_sorted)
            std::stable_sort(rows.begin() + begin, rows.begin() + end,
                             [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    }
}

}  // namespace linkwise
