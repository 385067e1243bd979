// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decodes the command stream into steps. Register writes are collected; an operation is decoded
// with the register values at that point.
//
//   Decoder decoder(config, words, count);
//   Step step;
//   while ((fault = decoder.next(&step)).none() && step.kind != StepKind::kStop) ...
//
// The caller decides whether a branch is taken: decoder.branch() continues at the target; without
// that call, next() continues after the branch.

#include "engines/ethos_u/isa/isa.h"
#include "engines/ethos_u/sim/fault.h"
#include "engines/ethos_u/sim/operation.h"
#include "engines/ethos_u/sim/registers.h"

namespace thimble::ethos_u::sim {

enum class StepKind : uint8_t { kKernel, kDma, kKernelWait, kDmaWait, kStop, kIrq, kPmu, kBranch };

struct Step {
  StepKind kind = StepKind::kStop;
  uint32_t word = 0;       // offset of the operation in the stream, in words
  uint16_t parameter = 0;  // waits: number that may stay outstanding; STOP, IRQ: the mask
  BranchMode branch = BranchMode::kAlways;
  uint32_t target = 0;  // branch target as word offset
  KernelOperation kernel;
  DmaOperation dma;
};

class Decoder {
 public:
  /// Cost of a repeated operation, in words: decoding it takes the time of as many register writes.
  static constexpr uint32_t kOperationCost = 64;

  Decoder(const Config& config, const uint32_t* words, uint32_t word_count)
      : config_(config), words_(words), count_(word_count), registers_(config.generation) {}

  /// Executes register writes up to the next operation. A fault holds the word of the command.
  [[nodiscard]] Fault next(Step* step);
  /// Continues at the target. Returns kCostLimit if the words and operations that branches back
  /// have repeated cost more than `max_repeat_cost`, as in a stream without an end. A word costs 1.
  [[nodiscard]] Fault branch(uint32_t target, uint64_t max_repeat_cost);

 private:
  [[nodiscard]] Fault operation(Operation code, uint32_t payload, Step* step);

  const Config& config_;
  const uint32_t* words_;
  uint32_t count_;
  uint32_t position_ = 0;
  uint32_t highest_branch_ = 0;  // operations before it are repeated
  uint64_t repeat_cost_ = 0;
  Registers registers_;
};

/// Decodes an operation from the current register values; returns a fault for values without a
/// meaning.
[[nodiscard]] Fault decode_kernel(const Config& config, const Registers& registers, Operation code,
                                  uint16_t parameter, KernelOperation* operation);
[[nodiscard]] Fault decode_dma(const Config& config, const Registers& registers,
                               DmaOperation* operation);

}  // namespace thimble::ethos_u::sim
