// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/delegate/backend.h"

#include "abi/freestanding.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/delegate/counters.h"
#include "runtime/exec/flatbuffer_decode.h"

namespace thimble::runtime::axon {
namespace {

namespace npu = thimble::axon;
using npu::Container;
using npu::Header;
using npu::IoRecord;
using npu::Source;

/// Data of a delegate slot.
struct SlotData {
  Container container;
  uint32_t container_bytes;
  uint8_t* interlayer;
  thimble_axon_counter* counter;  // null: calls are not counted
};

const thimble_axon& npu_of(const DelegateSlot& slot) {
  return *static_cast<const thimble_axon*>(slot.backend->device);
}

uint32_t scratch_of(const Header& header) {
  return header.interlayer_bytes + header.persistent_bytes;
}

uint32_t dense_bytes(const IoRecord& io) {
  return uint32_t{io.n} * io.c * io.h * io.w * io.element_bytes;
}

/// Returns true if the tensor is dense and at its own address in the scratch memory, so that inputs
/// and outputs need no copy.
bool is_place(const Header& header, const IoRecord& io, const DelegateMemory& memory,
              uint32_t offset) {
  const bool dense =
      io.row_stride == uint32_t{io.w} * io.element_bytes || uint32_t{io.n} * io.c * io.h == 1;
  if (io.source == Source::kExternal || !dense) return false;
  const uint32_t base = io.source == Source::kPersistent ? header.interlayer_bytes : 0;
  return offset == memory.scratch_offset + base + io.offset;
}

/// Checks that a tensor matches the layer list, and is outside the scratch or at its address there.
Status check_tensor(const Header& header, const IoRecord& io, const DelegateMemory& memory,
                    const DelegateArgs& args, uint32_t index) {
  const bool is_output = index >= header.input_count;
  const kernels::Tensor tensor = args.tensor(index);
  if (tensor.dtype == kernels::DType::kF32 || tensor.dtype == kernels::DType::kI64 ||
      io.element_bytes != element_bytes(static_cast<uint32_t>(tensor.dtype))) {
    return Status::kBadDType;
  }
  if (tensor.bytes != dense_bytes(io)) return Status::kBadShape;
  if (!is_in_order(tensor)) return Status::kBadDimOrder;
  const uint32_t offset = args.offset(index);
  if (offset == kNotPlanned) return is_output ? Status::kCorrupt : Status::kOk;
  if (is_output && tensor.is_constant) return Status::kCorrupt;
  const uint32_t scratch = memory.scratch_offset;
  const bool apart = offset + tensor.bytes <= scratch || scratch + scratch_of(header) <= offset;
  return apart || is_place(header, io, memory, offset) ? Status::kOk : Status::kCorrupt;
}

}  // namespace

DelegateBackend backend(const thimble_axon* npu) {
  return {npu::kDelegateId, npu, open, check, run};
}

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes) {
  const auto* const driver = static_cast<const thimble_axon*>(self.device);
  if (driver == nullptr || driver->run == nullptr) return Status::kMissingDelegate;
  const ByteRegion& payload = source.payload;
  if (npu::check_interface(payload.data, payload.bytes) != npu::Status::kOk) {
    return Status::kBadPayload;
  }
  SlotData& data = *new (abi::Place{slot.data}) SlotData{};
  data.container = Container(payload.data);
  data.container_bytes = payload.bytes;
  scratch_bytes = scratch_of(data.container.header());
  if (driver->load == nullptr) return Status::kOk;
  return static_cast<Status>(driver->load(driver, payload.data, payload.bytes));
}

Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args) {
  SlotData& data = slot_data<SlotData>(slot);
  const Header header = data.container.header();
  if (args.count() != uint32_t{header.input_count} + header.output_count) {
    return Status::kBadPayload;
  }
  for (uint32_t i = 0; i < args.count(); ++i)
    THIMBLE_RETURN_IF_ERROR(check_tensor(header, data.container.input(i), memory, args, i));
  data.interlayer = memory.scratch;
  const thimble_axon& driver = npu_of(slot);
  if (driver.counters == nullptr || memory.scratch == nullptr) return Status::kOk;
  const auto* const text = reinterpret_cast<const char*>(data.container.data());
  data.counter = find_or_add_counter(driver, text + offsetof(Header, name));
  return data.counter != nullptr ? Status::kOk : Status::kBadArgument;
}

Status run(const DelegateSlot& slot, const DelegateArgs& args) {
  const SlotData& data = slot_data<SlotData>(slot);
  const Header header = data.container.header();
  const void* inputs[npu::kInputsMax];
  void* outputs[npu::kOutputsMax];
  for (uint32_t i = 0; i < args.count(); ++i) {
    void* const tensor = args.data(i);
    if (i < header.input_count) {
      inputs[i] = tensor;
    } else {
      outputs[i - header.input_count] = tensor;
    }
  }
  thimble_axon_job job;
  job.container = data.container.data();
  job.container_bytes = data.container_bytes;
  job.name = reinterpret_cast<const char*>(data.container.data()) + offsetof(Header, name);
  job.content_hash = header.content_hash;
  job.inputs = inputs;
  job.outputs = outputs;
  job.interlayer = data.interlayer;
  job.persistent = data.interlayer + header.interlayer_bytes;
  job.cycles = header.cycles;
  const thimble_axon& driver = npu_of(slot);
  const auto status = static_cast<Status>(driver.run(&driver, &job));
  if (status == Status::kOk && data.counter != nullptr) {
    data.counter->cycles += job.cycles;
    ++data.counter->calls;
  }
  return status;
}

void set_scratch(DelegateSlot& slot, uint8_t* scratch) {
  slot_data<SlotData>(slot).interlayer = scratch;
}

}  // namespace thimble::runtime::axon
