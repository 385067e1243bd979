// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/network.h"

#include <fmt/format.h>

namespace thimble::engine::neutron {

int64_t KernelOp::constant_bytes() const {
  const size_t words = bias.size() + multipliers.size() + shifts.size() + data.size();
  return static_cast<int64_t>(weights.size() + table.size() + 4 * words);
}

std::string kernel_text(const KernelOp& kernel) {
  std::string text = container::kernel_name(kernel.kernel);
  if (kernel.kernel_h > 0) text += fmt::format(" {}x{}", kernel.kernel_h, kernel.kernel_w);
  if (kernel.stride_h != kernel.stride_w) {
    text += fmt::format(" s{}x{}", kernel.stride_h, kernel.stride_w);
  } else if (kernel.stride_h > 1) {
    text += fmt::format(" s{}", kernel.stride_h);
  }
  if (kernel.table.empty()) return text;
  const bool named = kernel.function != Function::kNone;
  const std::string function = named ? container::function_name(kernel.function) : "TABLE";
  return kernel.kernel == Kernel::kTable ? (named ? function : text) : text + " with " + function;
}

}  // namespace thimble::engine::neutron
