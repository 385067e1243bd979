// SPDX-License-Identifier: Apache-2.0
// Delegates that work while kernels run (BackgroundCalls). Only products with such delegates link
// this file.

#include "runtime/exec/delegates.h"
#include "runtime/exec/flatbuffer_decode.h"

namespace thimble::runtime {

Status wait_for_delegate(const Model& model, Background& background) {
  const uint32_t at = background.at;
  const Instruction instruction = instruction_at(model.flatbuffer, at);
  const DelegateSlot& slot = slots_of(model)[instruction.row];
  background = {};
  Status status;
  traced(model, slot.backend->id, at, [&] {
    status = slot.backend->background->wait(slot, {&model, instruction.args});
  });
  return status;
}

Status start_delegate(const Model& model, const Instruction& instruction, uint32_t index,
                      Background& background) {
  const DelegateSlot& slot = slots_of(model)[instruction.row];
  const BackgroundCalls& calls = *slot.backend->background;
  // Otherwise the delegate's memory shares cache lines with other memory.
  const bool has_lines = reinterpret_cast<uintptr_t>(model.arena) % abi::kCacheLine == 0;
  const uint32_t overlap = has_lines ? calls.overlap(slot) : 0;
  const auto function = overlap != 0 ? calls.start : slot.backend->run;
  const Status status = function(slot, {&model, instruction.args});
  if (status == Status::kOk && overlap != 0) {
    background = {index, index + overlap, wait_for_delegate};
  }
  return status;
}

}  // namespace thimble::runtime
