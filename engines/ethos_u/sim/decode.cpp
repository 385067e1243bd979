// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/decode.h"

namespace thimble::ethos_u::sim {
namespace {

Fault at(Fault fault, uint32_t word) {
  fault.word = word;
  return fault;
}

bool is_kernel(Operation code) {
  return code == Operation::CONV || code == Operation::DEPTHWISE || code == Operation::POOL ||
         code == Operation::ELEMENTWISE || code == Operation::RESIZE;
}

}  // namespace

Fault Decoder::next(Step* step) {
  const Generation generation = config_.generation;
  while (position_ < count_) {
    const uint32_t at_word = position_;
    const uint32_t word = words_[position_++];
    const CommandRow* row = command_of(word, generation);
    if (row == nullptr) {
      return at(fault_of(FaultKind::kUnknownCommand, "an unknown command"), at_word);
    }
    uint32_t payload = 0;
    if (row->payload) {
      if (position_ == count_) {
        return at(fault_of(FaultKind::kTruncated, "the stream ends inside a command"), at_word);
      }
      payload = words_[position_++];
    }
    const uint16_t parameter = parameter_of(word);
    if ((parameter & ~parameter_mask(*row, generation)) != 0) {
      return at(fault_of(FaultKind::kUnknownCommand, "reserved bits of a parameter are set"),
                at_word);
    }
    if (!row->operation) {
      registers_.set(*row, parameter, payload);
      continue;
    }
    if (at_word < highest_branch_) repeat_cost_ += kOperationCost;
    step->word = at_word;
    step->parameter = parameter;
    return at(operation(static_cast<Operation>(row->code), payload, step), at_word);
  }
  return at(fault_of(FaultKind::kTruncated, "the stream ends without STOP"), count_);
}

Fault Decoder::branch(uint32_t target, uint64_t max_repeat_cost) {
  if (target < position_) repeat_cost_ += position_ - target;
  if (position_ > highest_branch_) highest_branch_ = position_;
  position_ = target;
  if (repeat_cost_ <= max_repeat_cost) return {};
  return fault_of(FaultKind::kCostLimit, "branches repeat more work than the job allows");
}

Fault Decoder::operation(Operation code, uint32_t payload, Step* step) {
  if (is_kernel(code)) {
    step->kind = StepKind::kKernel;
    return decode_kernel(config_, registers_, code, step->parameter, &step->kernel);
  }
  switch (code) {
    case Operation::STOP:
      step->kind = StepKind::kStop;
      break;
    case Operation::IRQ:
      step->kind = StepKind::kIrq;
      break;
    case Operation::PMU_MASK:
      step->kind = StepKind::kPmu;
      break;
    case Operation::DMA_START:
      step->kind = StepKind::kDma;
      return decode_dma(config_, registers_, &step->dma);
    case Operation::DMA_WAIT:
      step->kind = StepKind::kDmaWait;
      if (step->parameter > (config_.generation == Generation::kU85 ? 3 : 1)) {
        return fault_of(FaultKind::kBadRegister, "a wait for more DMAs than can be outstanding");
      }
      break;
    case Operation::KERNEL_WAIT:
      step->kind = StepKind::kKernelWait;
      if (step->parameter > (config_.generation == Generation::kU85 ? 1 : 3)) {
        return fault_of(FaultKind::kBadRegister, "a wait for more kernels than can be outstanding");
      }
      break;
    case Operation::BRANCH:
      step->kind = StepKind::kBranch;
      step->branch = static_cast<BranchMode>(step->parameter);
      step->target = payload / 4;
      if (step->parameter > 1) {
        return fault_of(FaultKind::kBadRegister, "a branch with an unknown condition");
      }
      if (payload % 4 != 0)
        return fault_of(FaultKind::kMisaligned,
                        "a branch target that is not a multiple of 4 bytes");
      if (step->target >= count_) {
        return fault_of(FaultKind::kOutOfRange, "a branch target outside the stream");
      }
      break;
    default:
      return fault_of(FaultKind::kUnknownCommand, "an unknown command");
  }
  return {};
}

}  // namespace thimble::ethos_u::sim
