// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstring>

namespace thimble::fuzz {
namespace {

/// A part of at most 64 bytes.
std::pair<size_t, size_t> part_of(const Bytes& bytes, Random& random) {
  const size_t at = below(random, bytes.size());
  return {at, std::min(bytes.size() - at, 1 + below(random, 64))};
}

void set_word(Bytes& bytes, Random& random) {
  uint32_t value = word_limit(random);
  const size_t at = 4 * below(random, bytes.size() / 4);
  if (at + sizeof value > bytes.size()) return;
  if (random() % 2 == 0) {
    std::memcpy(&value, bytes.data() + at, sizeof value);
    value += static_cast<uint32_t>(below(random, 17)) - 8;
  }
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void copy_part(Bytes& bytes, const Bytes& from, Random& random) {
  if (from.empty()) return;
  const auto [source, count] = part_of(from, random);
  const size_t at = below(random, bytes.size());
  const size_t fits = std::min(count, bytes.size() - at);
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), fits,
              bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

void change(Bytes& bytes, const Bytes& other, Random& random) {
  const size_t at = below(random, bytes.size());
  const auto iterator = [&](size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (random() % 8) {
    case 0:
      bytes[at] ^= std::byte{1} << static_cast<int>(random() % 8);
      return;
    case 1:
      bytes[at] = static_cast<std::byte>(random());
      return;
    case 2:
      bytes.resize(at);
      return;
    case 3: {
      const auto [begin, count] = part_of(bytes, random);
      bytes.erase(iterator(begin), iterator(begin + count));
      return;
    }
    case 4: {
      const auto [begin, count] = part_of(bytes, random);
      const Bytes part(iterator(begin), iterator(begin + count));
      bytes.insert(iterator(at), part.begin(), part.end());
      return;
    }
    case 5:
      copy_part(bytes, other, random);
      return;
    default:
      set_word(bytes, random);
  }
}

}  // namespace

Bytes mutate(Bytes bytes, const Bytes& other, Random& random) {
  const size_t changes = 1 + below(random, 4);
  for (size_t i = 0; i < changes && !bytes.empty(); ++i) change(bytes, other, random);
  return bytes;
}

}  // namespace thimble::fuzz
