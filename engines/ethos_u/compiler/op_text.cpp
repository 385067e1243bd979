// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/op_text.h"

#include <fmt/format.h>

namespace thimble::engine::ethos_u {
namespace {

std::string window_text(const Window& window) {
  std::string text = fmt::format(" {}x{}", window.kernel_h, window.kernel_w);
  if (window.stride_h != 1 || window.stride_w != 1) {
    text += window.stride_h == window.stride_w
                ? fmt::format("/{}", window.stride_h)
                : fmt::format("/{}x{}", window.stride_h, window.stride_w);
  }
  return text;
}

std::string_view pool_text(PoolMode mode) {
  constexpr std::string_view kNames[] = {"MAX",  "AVERAGE", "REDUCE_SUM", "SUM",
                                         "NONE", "MIN",     "ARGMAX_X",   "ARGMAX_Y"};
  return kNames[static_cast<size_t>(mode)];
}

std::string_view elementwise_text(ElementwiseMode mode) {
  switch (mode) {
    case ElementwiseMode::kMul:
      return "MUL";
    case ElementwiseMode::kAdd:
      return "ADD";
    case ElementwiseMode::kSub:
      return "SUB";
    case ElementwiseMode::kMin:
      return "MIN";
    case ElementwiseMode::kMax:
      return "MAX";
    case ElementwiseMode::kLrelu:
      return "LRELU";
    case ElementwiseMode::kAbs:
      return "ABS";
    case ElementwiseMode::kClz:
      return "CLZ";
    case ElementwiseMode::kShr:
      return "SHR";
    case ElementwiseMode::kShl:
      return "SHL";
    default:
      return "ELEMENTWISE";
  }
}

}  // namespace

std::string op_text(const NpuOp& op) {
  const std::string table = op.table.kind == Table::Kind::kNone ? "" : " LUT";
  switch (op.kind) {
    case NpuOpKind::kConv:
      return "CONV" + window_text(op.window) + table;
    case NpuOpKind::kDepthwise:
      return "DEPTHWISE" + window_text(op.window) + table;
    case NpuOpKind::kPool: {
      const bool copies = op.window.kernel_h == 1 && op.window.kernel_w == 1 &&
                          (op.pool == PoolMode::kAverage || op.pool == PoolMode::kNone ||
                           op.transpose != thimble::ethos_u::Transpose::kHwc);
      if (copies) return table.empty() ? "COPY" : "LUT";
      return fmt::format("POOL {}{}{}", pool_text(op.pool), window_text(op.window), table);
    }
    case NpuOpKind::kElementwise:
      return std::string(elementwise_text(op.elementwise)) + table;
    case NpuOpKind::kResize:
      return "RESIZE" + table;
    case NpuOpKind::kDma:
      return "DMA";
  }
  return "";
}

}  // namespace thimble::engine::ethos_u
