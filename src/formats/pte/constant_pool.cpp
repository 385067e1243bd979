// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/constant_pool.h"

#include <cassert>
#include <utility>

#include "abi/limits.h"

namespace thimble::formats::pte {

uint32_t ConstantPool::add(ByteView bytes, uint32_t alignment) {
  assert(alignment <= abi::kConstantAlignment);
  static_cast<void>(alignment);
  if (bytes.empty()) return 0;
  const auto known = index_of_.find(as_text(bytes));
  if (known != index_of_.end()) return known->second;
  const auto index = static_cast<uint32_t>(constants_.size());
  constants_.emplace_back(bytes.begin(), bytes.end());
  index_of_.emplace(as_text(constants_.back()), index);
  return index;
}

std::vector<Bytes> ConstantPool::take() {
  index_of_.clear();
  return std::exchange(constants_, std::vector<Bytes>(1));
}

}  // namespace thimble::formats::pte
