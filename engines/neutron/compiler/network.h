// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subgraph as kernels of the NPU, before and after address assignment.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/neutron/container/program.h"
#include "ir/graph.h"
#include "memory/lifetime.h"

namespace thimble::engine::neutron {

namespace container = thimble::neutron;
using container::Function;
using container::Kernel;
using container::Memory;

/// Memory that one or more views refer to.
struct Buffer {
  Memory memory = Memory::kScratch;
  int index = 0;      // kInput, kOutput: index of the input or output
  int64_t bytes = 0;  // size
  /// Set by place(): position in the scratch memory, also of inputs and outputs planned there.
  int64_t offset = 0;
  std::vector<int8_t> content;  // kWeights
  memory::Lifetime life;        // in kernels
};

/// Elements of a buffer in the order in which a kernel iterates over them.
struct BufferView {
  int buffer = -1;
  int64_t offset = 0;  // in the buffer, in bytes
  std::vector<int64_t> dims, strides;

  bool operator==(const BufferView&) const = default;
  [[nodiscard]] int64_t elements() const { return ir::element_count(dims); }
};

struct KernelOp {
  Kernel kernel{};
  Function function = Function::kNone;
  int64_t rounding = 0, reduced = 0;
  int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t a_zero_point = 0, b_zero_point = 0, y_zero_point = 0, min = -128, max = 127;
  std::array<int64_t, 3> multiplier{}, shift{};
  std::vector<int32_t> multipliers, shifts, bias, data;
  std::vector<int8_t> weights, table;
  int64_t fill = 0;
  std::vector<BufferView> operands;
  BufferView output;
  std::optional<BufferView> padded;
  int64_t macs = 0, cycles = 0;
  int ir_op = -1;              // operator index in the legalized subgraph
  std::vector<int> fused_ops;  // indices of fused operators

  /// Bytes of the kernel's weights, bias, scales, table and data; constant operands are not
  /// counted.
  [[nodiscard]] int64_t constant_bytes() const;
};

/// An input or output of the subgraph.
struct NetworkIo {
  int buffer = -1;
  ir::Type type;
};

struct Network {
  std::vector<KernelOp> kernels;
  std::vector<Buffer> buffers;
  std::vector<NetworkIo> inputs, outputs;
  int64_t scratch_bytes = 0;

  [[nodiscard]] int64_t cycles() const {
    int64_t sum = 0;
    for (const KernelOp& kernel : kernels) sum += kernel.cycles;
    return sum;
  }
};

/// Returns a short description for reports: "Conv2DStandard 3x3 s2 with LOGISTIC".
[[nodiscard]] std::string kernel_text(const KernelOp& kernel);

}  // namespace thimble::engine::neutron
