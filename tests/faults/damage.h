#pragma once
// Damages files of each format so that most of them still pass the outer checks: sums of zip
// members are correct, identifier and root of a FlatBuffer remain, texts remain lists of words.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::faults {

using Random = std::mt19937_64;

/// A valid file, and the places in it that damage chooses from.
struct Input {
  std::string name;
  Bytes bytes;
  std::vector<formats::testing::ZipMember> members;  // of an archive, not compressed
  std::vector<uint32_t> tables;                      // offsets of tables of a FlatBuffer
  std::vector<uint32_t> marks;  // offsets of further structures, such as records
  // Of a command stream: CONFIG of its NPU, region 0, and the size of region 1.
  uint32_t config = 0;
  Bytes constants;
  size_t scratch_bytes = 0;
};

/// Fill the members of Input that the function of the same format uses.
void prepare_zip(Input& input);
void prepare_flatbuffer(Input& input);

// Each returns the bytes of `input` after one to four changes. `other` is a file of the same format
// from which parts are copied.
[[nodiscard]] Bytes damage_zip(const Input& input, const Input& other, Random& random);
[[nodiscard]] Bytes damage_npy(const Input& input, const Input& other, Random& random);
[[nodiscard]] Bytes damage_flatbuffer(const Input& input, const Input& other, Random& random);
[[nodiscard]] Bytes damage_text(const Input& input, const Input& other, Random& random);
/// Words of a command stream: parameters, values, commands that are removed, repeated or moved.
[[nodiscard]] Bytes damage_stream(const Input& input, const Input& other, Random& random);
/// Little-endian words after a header of `kept` bytes, which remain in most results.
[[nodiscard]] Bytes damage_words(ByteView bytes, ByteView other, size_t kept, Random& random);

/// Returns a number below `limit`; 0 if the limit is 0.
[[nodiscard]] inline size_t below(Random& random, size_t limit) {
  return limit == 0 ? 0 : static_cast<size_t>(random() % limit);
}

}  // namespace thimble::faults
