// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hand-made programs for the NPU, their expected outputs, and the simulator's outputs.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::test {

using namespace thimble::engine::ethos_u;  // NOLINT: the words of the tests
using Config = thimble::ethos_u::Config;

/// Builds an int8 program tensor by tensor.
class ProgramBuilder {
 public:
  ProgramBuilder(const Config& config, uint64_t seed) : random_(seed) { program_.config = &config; }

  int input(Shape4 shape);
  void output(int tensor);
  int conv(int from, int64_t channels, int64_t kernel, int64_t stride, bool same = true);
  int depthwise(int from, int64_t kernel, int64_t stride, int64_t dilation = 1);
  int max_pool(int from, int64_t kernel, int64_t stride);
  int average(int from);  // over height and width
  /// Adds a convolution, depthwise convolution or maximum pool. Window, stride and padding are
  /// random, as far as they fit.
  int any_window(int from);
  int add(int a, int b);
  int table(int from);
  int upsampled_conv(int from, int64_t channels);
  int concat(int a, int b);  // along the channels, by copying each operand
  NpuProgram take() { return std::move(program_); }
  [[nodiscard]] Shape4 shape(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].shape;
  }

 private:
  int tensor(Shape4 shape, TensorRole role = TensorRole::kIntermediate);
  Operand whole(int tensor) const;
  NpuOp start(NpuOpKind kind, int from, int to) const;
  void weigh(NpuOp* op, int64_t out, int64_t kernel, int64_t in);
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  NpuProgram program_;
  std::mt19937_64 random_;
};

using Bytes = std::vector<uint8_t>;

/// Returns random inputs of a program.
std::vector<Bytes> random_inputs(const NpuProgram& program, uint64_t seed);
/// Computes the outputs by the definition of the operations, one after the other, in wide integers.
std::vector<Bytes> interpret(const NpuProgram& program, const std::vector<Bytes>& inputs);

struct Simulated {
  std::string error;  // the fault or hazard; empty: none
  std::vector<Bytes> outputs;
};
Simulated simulate(const NpuProgram& program, const NpuBlob& blob,
                   const std::vector<Bytes>& inputs);

/// Small networks: a chain of convolutions, a residual block, branches with tables, an upscale and
/// a concatenation.
NpuProgram chain(const Config& config);
NpuProgram residual(const Config& config);
NpuProgram branches(const Config& config);
/// Convolutions of one row with additions of earlier results, as a network for sound has them.
NpuProgram sequence_with_skips(const Config& config);
/// Convolutions whose windows skip rows: more rows are computed than are read.
NpuProgram chain_with_skipped_rows(const Config& config);
/// Three to six calls of any_window() in sequence.
NpuProgram random_chain(const Config& config, uint64_t seed);

/// Number of cycles of the blob's stream on the simulator's timeline.
double timeline_cycles(const NpuProgram& program, const NpuBlob& blob, MemoryMode mode);

/// A network with the layers of MobileNetV2 for images of `size` x `size`, with random weights.
NpuProgram mobilenet(const Config& config, int64_t size);

}  // namespace thimble::test
