// SPDX-License-Identifier: Apache-2.0
// Exhaustive checks of small pieces on which everything else relies: the arithmetic of
// requantization for all 32-bit values, the verification of a file with every value of every byte,
// and the placement of all small sets of buffers. `make proof` checks everything;
// without THIMBLE_PROOF=full, a sample of a second.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "memory/placement.h"
#include "numerics/fixed_point.h"
#include "tests/golden_files.h"
#include "tests/unit/runtime_support.h"

namespace thimble {
namespace {

bool is_full() {
  const char* const text = std::getenv("THIMBLE_PROOF");
  return text != nullptr && std::strcmp(text, "full") == 0;
}

/// Calls check(value) for all 32-bit values; for about 2^17 of them, all edges included, in a
/// sample. Returns the number of values for which it is false, and writes one of them to *failed.
template <class Check>
int64_t count_failures(const Check& check, int32_t* failed) {
  constexpr int64_t kBlocks = 4096;
  const int64_t step = is_full() ? 1 : 32749;  // a prime
  std::vector<int64_t> counts(kBlocks, 0);
  std::vector<int32_t> first(kBlocks, 0);
  for_each_index(kBlocks, machine_threads(), [&](int64_t block, int) {
    constexpr int64_t kValues = (int64_t{1} << 32) / kBlocks;
    const int64_t begin = INT32_MIN + block * kValues, end = begin + kValues;
    const auto at = static_cast<size_t>(block);
    const auto one = [&](int64_t value) {
      if (check(static_cast<int32_t>(value))) return;
      if (counts[at]++ == 0) first[at] = static_cast<int32_t>(value);
    };
    for (int64_t value = begin; value < end; value += step) one(value);
    one(end - 1);
    if (begin == 0) {
      for (int bit = 0; bit < 31; ++bit) {
        for (const int64_t near : {-1, 0, 1}) {
          one((int64_t{1} << bit) + near);
          one(-(int64_t{1} << bit) + near);
        }
      }
    }
  });
  for (size_t block = 0; block < first.size(); ++block) {
    if (counts[block] != 0) *failed = first[block];
  }
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

#define EXPECT_FOR_ALL_VALUES(...)                                                               \
  do {                                                                                           \
    int32_t failed_value = 0;                                                                    \
    EXPECT_EQ(count_failures(__VA_ARGS__, &failed_value), 0) << "one of them: " << failed_value; \
  } while (false)

/// floor(value / 2^bits).
int64_t floor_shift(int64_t value, int bits) {
  const int64_t unit = int64_t{1} << bits;
  const int64_t quotient = value / unit;
  return value % unit < 0 ? quotient - 1 : quotient;
}
/// value / 2^bits, to nearest, halves up. |value| <= 2^62.
int64_t half_up(int64_t value, int bits) {
  return bits == 0 ? value : floor_shift(value + (int64_t{1} << (bits - 1)), bits);
}
/// value / 2^bits, to nearest, halves away from zero.
int64_t half_away(int64_t value, int bits) {
  return value < 0 ? -half_up(-value, bits) : half_up(value, bits);
}

constexpr int32_t kMultipliers[] = {1 << 30, INT32_MAX, 1518500250};

TEST(Requantization, DivisionByPowersOfTwoForAllValues) {
  for (int bits = 0; bits <= 31; ++bits) {
    SCOPED_TRACE(bits);
    EXPECT_FOR_ALL_VALUES([bits](int32_t value) {
      return numerics::rounding_divide_by_pow2(value, bits) == half_away(value, bits);
    });
  }
}

TEST(Requantization, DoublingHighMultiplyForAllValues) {
  for (const int32_t mult : {1 << 30, INT32_MAX, 1518500250, 0, 1, -1, INT32_MIN + 1, INT32_MIN}) {
    SCOPED_TRACE(mult);
    EXPECT_FOR_ALL_VALUES([mult](int32_t value) {
      const int64_t exact = half_up(int64_t{value} * mult, 31);
      const int64_t expected = std::min(exact, int64_t{INT32_MAX});  // the only overflow
      return numerics::high_mult(value, mult) == expected;
    });
  }
}

TEST(Requantization, DoubleRoundingForAllValues) {
  for (const int32_t mult : kMultipliers) {
    for (const int32_t shift : {-31, -8, -1, 0, 7}) {
      SCOPED_TRACE(testing::Message() << mult << " " << shift);
      EXPECT_FOR_ALL_VALUES([=](int32_t value) {
        const auto shifted =
            static_cast<int32_t>(static_cast<uint32_t>(value) * (1U << std::max(shift, 0)));
        const int64_t high = half_up(int64_t{shifted} * mult, 31);
        return numerics::requantize(value, mult, shift) == half_away(high, std::max(-shift, 0));
      });
    }
  }
}

TEST(Requantization, SingleRoundingForAllValues) {
  for (const int32_t mult : kMultipliers) {
    for (const int32_t shift : {-31, -8, 0}) {
      SCOPED_TRACE(testing::Message() << mult << " " << shift);
      EXPECT_FOR_ALL_VALUES([=](int32_t value) {
        return numerics::requantize_single(value, mult, shift) ==
               half_up(int64_t{value} * mult, 31 - shift);
      });
    }
  }
}

TEST(Requantization, QuantizationOfAllFloats) {
  for (const float inverse : {16.0F, 3.7F}) {
    for (const int32_t zero_point : {-128, 3}) {
      SCOPED_TRACE(testing::Message() << inverse << " " << zero_point);
      EXPECT_FOR_ALL_VALUES([=](int32_t bits) {
        float value;
        std::memcpy(&value, &bits, sizeof value);
        const float scaled = value * inverse;
        const double rounded =
            std::isnan(scaled) ? 0
                               : std::nearbyint(std::clamp(static_cast<double>(scaled), -1e9, 1e9));
        const double expected = std::clamp(rounded + zero_point, -128.0, 127.0);
        return numerics::quantize_i8(value, inverse, zero_point) == static_cast<int8_t>(expected);
      });
    }
  }
}

// --- placement -----------------------------------------------------------------------------------

using memory::Buffer;
using memory::Placement;

bool live_together(const Buffer& a, const Buffer& b) {
  return a.life.first <= b.life.last && b.life.first <= a.life.last;
}

/// Returns the smallest peak of all placements: an optimal one is first fit of some order.
int64_t smallest_peak(const std::vector<Buffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offset(buffers.size(), -1);
    int64_t peak = 0;
    for (const size_t i : order) {
      int64_t at = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t k = 0; k < buffers.size(); ++k) {
          if (offset[k] < 0 || !live_together(buffers[i], buffers[k])) continue;
          if (at < offset[k] + buffers[k].bytes && offset[k] < at + buffers[i].bytes) {
            at = offset[k] + buffers[k].bytes;
            moved = true;
          }
        }
      }
      offset[i] = at;
      peak = std::max(peak, at + buffers[i].bytes);
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

int64_t largest_sum(const std::vector<Buffer>& buffers, int steps) {
  int64_t largest = 0;
  for (int step = 0; step < steps; ++step) {
    int64_t sum = 0;
    for (const Buffer& buffer : buffers) sum += buffer.life.contains(step) ? buffer.bytes : 0;
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Checks the placement of every multiset of `count` buffers of `kinds`. Returns their number.
int64_t place_all(const std::vector<Buffer>& kinds, size_t count, int steps) {
  int64_t sets = 0;
  std::vector<size_t> choice(count, 0);
  for (;;) {
    std::vector<Buffer> buffers;
    for (const size_t kind : choice) buffers.push_back(kinds[kind]);
    const Placement placement = memory::place(buffers, 1, {}, memory::kProgramSteps);
    ++sets;
    bool valid = true;  // computed here, not with memory::is_valid
    for (size_t a = 0; a < count; ++a) {
      const int64_t end = placement.offsets[a] + buffers[a].bytes;
      valid = valid && placement.offsets[a] >= 0 && end <= placement.peak_bytes;
      for (size_t b = 0; b < a; ++b) {
        const bool apart = end <= placement.offsets[b] ||
                           placement.offsets[b] + buffers[b].bytes <= placement.offsets[a];
        valid = valid && (apart || !live_together(buffers[a], buffers[b]));
      }
    }
    const int64_t minimum = smallest_peak(buffers);
    EXPECT_TRUE(valid && placement.peak_bytes == minimum && placement.proven_minimal() &&
                minimum >= largest_sum(buffers, steps))
        << testing::PrintToString(choice) << ": " << placement.peak_bytes << ", not " << minimum;
    if (testing::Test::HasFailure()) return sets;
    // The next choice in ascending order.
    size_t at = count;
    while (at > 0 && choice[at - 1] + 1 == kinds.size()) --at;
    if (at == 0) return sets;
    std::fill(choice.begin() + static_cast<ptrdiff_t>(at) - 1, choice.end(), choice[at - 1] + 1);
  }
}

TEST(Placement, AllSmallSetsOfBuffersAreMinimal) {
  constexpr int kSteps = 4;
  std::vector<Buffer> kinds;
  for (int first = 0; first < kSteps; ++first) {
    for (int last = first; last < kSteps; ++last) {
      for (const int64_t bytes : {1, 2, 3}) kinds.push_back({bytes, {first, last}});
    }
  }
  int64_t sets = 0;
  for (size_t count = 1; count <= (is_full() ? 5 : 3); ++count)
    sets += place_all(kinds, count, kSteps);
  EXPECT_EQ(sets, is_full() ? 324631 : 5455);
}

// --- verification of files -----------------------------------------------------------------------

using runtime_test::LoadedModel;
using runtime_test::run_with_input_buffers;

/// Replaces each byte by `values` others. Returns the number of files that were accepted; those
/// have run.
int64_t change_each_byte(const Bytes& file, int values) {
  int64_t accepted = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    for (int change = 1; change < 256; change += 256 / values) {
      Bytes bytes = file;
      bytes[at] ^= static_cast<std::byte>(change);
      thimble_needs needs = {};
      const runtime_test::AlignedBytes copy{ByteView(bytes)};
      if (thimble_size(copy.data(), copy.size(), thimble_all_kernels(), &needs) != 0) continue;
      if (needs.arena_bytes + needs.state_bytes > (1U << 20)) continue;
      SCOPED_TRACE(testing::Message() << "byte " << at << " with " << change);
      LoadedModel loaded(bytes, thimble_all_kernels());
      EXPECT_EQ(loaded.status, 0);
      if (loaded.status != 0) continue;
      ++accepted;
      EXPECT_EQ(run_with_input_buffers(loaded), 0);
    }
  }
  return accepted;
}

TEST(Verification, EveryValueOfEveryByteIsRefusedOrSafe) {
  for (const char* const name : {"sine", "sine_stock"}) {
    SCOPED_TRACE(name);
    const Bytes file = test::golden_file(name);
    EXPECT_GT(change_each_byte(file, is_full() ? 256 : 2), is_full() ? 10000 : 100);
  }
}

}  // namespace
}  // namespace thimble
