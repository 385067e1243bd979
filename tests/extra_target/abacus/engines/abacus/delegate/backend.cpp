// SPDX-License-Identifier: Apache-2.0
#include "engines/abacus/delegate/backend.h"

#include <cstring>
#include <new>

namespace thimble::runtime::abacus {
namespace {

using thimble::abacus::Header;
using thimble::abacus::Job;
using thimble::abacus::kMaxPorts;

/// Contents of a delegate slot.
struct DelegateState {
  const uint8_t* program;
  uint8_t* scratch;
};
static_assert(sizeof(DelegateState) <= sizeof(DelegateSlot::data));

Header header_of(const DelegateState& work) {
  Header header;
  std::memcpy(&header, work.program, sizeof header);
  return header;
}

/// Checks that a tensor is int8, dense, of the program's size and does not overlap scratch.
Status check_tensor(const Header& header, const DelegateMemory& memory, const DelegateArgs& args,
                    uint32_t index) {
  const bool is_output = index >= header.input_count;
  const kernels::Tensor tensor = args.tensor(index);
  if (tensor.dtype != kernels::DType::kI8) return Status::kBadDType;
  const uint32_t bytes =
      is_output ? header.output_bytes[index - header.input_count] : header.input_bytes[index];
  if (tensor.bytes != bytes) return Status::kBadShape;
  if (!is_in_order(tensor)) return Status::kBadDimOrder;
  const uint32_t offset = args.offset(index);
  if (is_output && (offset == kNotPlanned || tensor.is_constant)) return Status::kCorrupt;
  if (offset == kNotPlanned) return Status::kOk;
  const uint32_t scratch = memory.scratch_offset;
  const bool apart = offset + tensor.bytes <= scratch || scratch + header.scratch_bytes <= offset;
  return apart ? Status::kOk : Status::kCorrupt;
}

}  // namespace

DelegateBackend backend(const Driver* driver) {
  return {thimble::abacus::kDelegateId, driver, open, check, run};
}

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes) {
  if (self.device == nullptr) return Status::kMissingDelegate;
  const ByteRegion& payload = source.payload;
  if (!thimble::abacus::is_valid(payload.data, payload.bytes)) return Status::kBadPayload;
  DelegateState& work = *new (slot.data) DelegateState{payload.data, nullptr};
  scratch_bytes = header_of(work).scratch_bytes;
  return Status::kOk;
}

Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args) {
  DelegateState& work = *reinterpret_cast<DelegateState*>(slot.data);
  const Header header = header_of(work);
  if (args.count() != header.input_count + header.output_count) return Status::kBadPayload;
  for (uint32_t i = 0; i < args.count(); ++i) {
    const Status status = check_tensor(header, memory, args, i);
    if (status != Status::kOk) return status;
  }
  work.scratch = memory.scratch;
  return Status::kOk;
}

Status run(const DelegateSlot& slot, const DelegateArgs& args) {
  const DelegateState& work = *reinterpret_cast<const DelegateState*>(slot.data);
  const Header header = header_of(work);
  const uint8_t* inputs[kMaxPorts];
  uint8_t* outputs[kMaxPorts];
  for (uint32_t i = 0; i < args.count(); ++i) {
    auto* const data = static_cast<uint8_t*>(args.data(i));
    if (i < header.input_count) {
      inputs[i] = data;
    } else {
      outputs[i - header.input_count] = data;
    }
  }
  static_cast<const Driver*>(slot.backend->device)
      ->run({work.program, inputs, outputs, work.scratch});
  return Status::kOk;
}

}  // namespace thimble::runtime::abacus
