// The exponential function, the same bits for every instruction set.
#pragma once

#include <bit>

#include "tile.hpp"

namespace linkwise {

using LaneBits = uint64_t __attribute__((vector_size(64)));  // their sums may overflow

// e^x for x <= 0, to about one unit in the last place; 0 where that is below the smallest normal number.
// x = (k + f) log 2 with k whole and |f| <= 1/2; e^(f log 2) by its series; k goes into the exponent.
LINKWISE_INLINE Lanes exponential(const Lanes& x) {
    constexpr double kRound = 0x1.8p52;
    constexpr double kHigh = 0x1.62e42fefa0000p-1, kLow = 0x1.cf79abc9e3b39p-40;
    const Lanes shifted = x * 1.4426950408889634 + kRound;
    const Lanes whole = shifted - kRound;
    const Lanes r = (x - whole * kHigh) - whole * kLow;
    Lanes p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const LaneBits scaled = std::bit_cast<LaneBits>(p) + (std::bit_cast<LaneBits>(shifted) << 52);
    return x < -708.0 ? Lanes{} : std::bit_cast<Lanes>(scaled);
}

}  // namespace linkwise
