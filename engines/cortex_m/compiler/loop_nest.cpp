// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/loop_nest.h"

#include <algorithm>
#include <cstring>

namespace thimble::engine::cortex_m {

std::optional<abi::LoopNest> make_loop_nest(const std::vector<LoopNestAxis>& axes,
                                            bool free_order) {
  std::vector<LoopNestAxis> melted;
  for (const LoopNestAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!melted.empty() && melted.back().first == axis.first * axis.extent &&
        melted.back().second == axis.second * axis.extent) {
      melted.back() = {melted.back().extent * axis.extent, axis.first, axis.second};
    } else {
      melted.push_back(axis);
    }
  }
  if (melted.size() > abi::LoopNest::kAxes) return {};
  if (free_order && !melted.empty()) {
    const auto longest = std::ranges::max_element(melted, {}, [](const LoopNestAxis& axis) {
      return std::pair(axis.first == 1 && axis.second == 1, axis.extent);
    });
    std::rotate(longest, longest + 1, melted.end());
  }
  abi::LoopNest nest = {};
  std::ranges::fill(nest.extent, 1U);
  size_t to = abi::LoopNest::kAxes - melted.size();
  for (const LoopNestAxis& axis : melted) {
    if (axis.first < 0 || axis.second < 0 || axis.first > INT32_MAX || axis.second > INT32_MAX) {
      return {};
    }
    nest.extent[to] = static_cast<uint32_t>(axis.extent);
    nest.step[0][to] = static_cast<uint32_t>(axis.first);
    nest.step[1][to] = static_cast<uint32_t>(axis.second);
    ++to;
  }
  return nest;
}

std::vector<size_t> memory_order(const ir::Type& type) {
  std::vector<size_t> order;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    order.push_back(type.dim_order.empty() ? i : type.dim_order[i]);
  }
  return order;
}

std::vector<int64_t> broadcast_strides(const ir::Type& operand, const ir::Shape& shape) {
  const std::vector<int64_t> own = ir::strides(operand.shape, operand.dim_order);
  std::vector<int64_t> result(shape.size(), 0);
  const size_t missing = shape.size() - operand.shape.size();
  for (size_t d = 0; d < own.size(); ++d) {
    if (operand.shape[d] != 1) result[missing + d] = own[d];
  }
  return result;
}

Argument operand(const ir::Graph& graph, ir::ValueId id) {
  const ir::Value& v = graph.value(id);
  if (!v.constant) return ValueRef{id};
  return Constant{
      std::make_shared<const std::vector<std::byte>>(ir::to_memory(*v.constant, v.type.dim_order)),
      v.type.dtype, v.type.shape, v.type.dim_order};
}

}  // namespace thimble::engine::cortex_m
