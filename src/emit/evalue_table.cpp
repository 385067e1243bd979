// SPDX-License-Identifier: Apache-2.0
#include "emit/evalue_table.h"

#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thimble::emit {

namespace pte = formats::pte;

int32_t EValueTable::add(pte::EValue value) {
  values_.push_back(std::move(value));
  return static_cast<int32_t>(values_.size() - 1);
}

int32_t EValueTable::intern(const std::string& key, pte::EValue value) {
  const auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  const int32_t index = add(std::move(value));
  index_[key] = index;
  return index;
}

int32_t EValueTable::integer(int64_t value) {
  return intern(fmt::format("i{}", value), pte::Int{value});
}
int32_t EValueTable::boolean(bool value) {
  return intern(fmt::format("b{}", value), pte::Bool{value});
}
int32_t EValueTable::number(double value) {
  return intern(fmt::format("d{:x}", std::bit_cast<uint64_t>(value)), pte::Double{value});
}
int32_t EValueTable::null() {
  return intern("null", pte::Null{});
}

int32_t EValueTable::integers(const std::vector<int64_t>& values) {
  pte::IntList list;
  for (const int64_t value : values) list.items.push_back(integer(value));
  return intern(fmt::format("l{}", values), list);
}

int32_t EValueTable::tensors(const std::vector<int32_t>& indices) {
  return intern(fmt::format("R{}", indices), pte::TensorList{indices});
}

int32_t EValueTable::tensor(const pte::Tensor& tensor) {
  const std::string place = tensor.allocation ? fmt::format("@{}+{}", tensor.allocation->memory_id,
                                                            tensor.allocation->offset)
                                              : std::string("@");
  return intern(fmt::format("T{} {} {} {} {}", static_cast<int>(tensor.scalar_type), tensor.sizes,
                            tensor.dim_order, tensor.data_buffer_idx, place),
                tensor);
}

}  // namespace thimble::emit
