// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace linkwise {

// SplitMix64 (Steele, Lea and Flood 2014): one state word, the same numbers everywhere.
struct SplitMix64 {
    uint64_t state;
    uint64_t word() {
        uint64_t z = (state += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(word() >> 11) * 0x1p-53; }
};

}  // namespace linkwise
