// SPDX-License-Identifier: Apache-2.0
// Each candidate is entered under its first 16 bytes. One pass over the aligned positions of all
// buffers looks these bytes up and compares the rest. The cost is linear in the bytes of all
// buffers, unless many positions begin like a candidate, as in runs of one value: such candidates
// are not searched.

#include "formats/pte/parts.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace thimble::formats::pte {
namespace {

constexpr size_t kKeyBytes = 16;

std::string_view key_at(const Bytes& bytes, size_t offset) {
  return as_text(bytes).substr(offset, kKeyBytes);
}

bool is_run(std::string_view text) {
  return text.find_first_not_of(text[0]) == std::string_view::npos;
}

}  // namespace

std::map<size_t, PartOf> find_parts(const std::vector<Bytes>& buffers, uint32_t alignment) {
  std::unordered_map<std::string_view, std::vector<size_t>> candidates;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size() < kPartBytesMin || is_run(key_at(buffers[i], 0))) continue;
    candidates[key_at(buffers[i], 0)].push_back(i);
  }
  std::map<size_t, PartOf> found;
  for (size_t whole = 0; whole < buffers.size(); ++whole) {
    const Bytes& bytes = buffers[whole];
    for (size_t at = 0; at + kPartBytesMin <= bytes.size(); at += std::max(alignment, 1U)) {
      const auto same = candidates.find(key_at(bytes, at));
      if (same == candidates.end()) continue;
      for (const size_t part : same->second) {
        const size_t size = buffers[part].size();
        if (size >= bytes.size() || size > bytes.size() - at || found.contains(part)) continue;
        if (std::memcmp(buffers[part].data(), bytes.data() + at, size) != 0) continue;
        found[part] = {whole, at};
      }
    }
  }
  // A whole that is itself a part is stored in a larger buffer.
  for (auto& [part, of] : found) {
    for (auto next = found.find(of.whole); next != found.end(); next = found.find(of.whole)) {
      of = {next->second.whole, of.offset + next->second.offset};
    }
  }
  return found;
}

}  // namespace thimble::formats::pte
