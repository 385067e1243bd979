// SPDX-License-Identifier: Apache-2.0
#include "import/layout.h"

#include <algorithm>
#include <numeric>

namespace thimble::import_pt2 {
namespace {

bool has_order(const ir::Shape& shape, const std::vector<int64_t>& strides,
               const ir::DimOrder& order) {
  const auto dense = ir::strides(shape, order);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] != dense[i]) return false;
  }
  return true;
}

}  // namespace

ir::DimOrder dim_order(const ir::Shape& shape, const std::vector<int64_t>& strides) {
  if (strides.size() != shape.size() || has_order(shape, strides, {})) return {};
  if (shape.size() == 4 && has_order(shape, strides, ir::channels_last_order())) {
    return ir::channels_last_order();
  }
  ir::DimOrder order(shape.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](uint8_t a, uint8_t b) { return strides[a] > strides[b]; });
  return ir::is_contiguous(order) ? ir::DimOrder{} : order;
}

}  // namespace thimble::import_pt2
