// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/delegate/backend.h"

#include "abi/freestanding.h"
#include "engines/neutron/container/driver.h"
#include "engines/neutron/container/payload.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/delegate/networks.h"
#include "engines/neutron/delegate/transpose.h"
#include "runtime/exec/flatbuffer_decode.h"

namespace thimble::runtime::neutron {
namespace {

namespace npu = thimble::neutron;
namespace format = abi::neutron;
using format::PayloadFault;
using format::PayloadView;

static_assert(npu::kMagic == format::kKernelListMagic);
static_assert(npu::kVendorMagic == format::kMicrocodeMagic);
static_assert(sizeof(thimble_neutron_memory) == sizeof(NeutronConfig) &&
              offsetof(thimble_neutron_memory, wait) == offsetof(NeutronConfig, wait));

constexpr uint32_t kTimeoutSeconds = 60;
constexpr uint32_t kChannelDim = 1;
constexpr uint32_t kScratchOverflow = 0xFFFFFFFF;  // call_scratch(): more than the runtime accepts

/// Data of a delegate slot. The driver's context follows it if the context is small enough.
struct SlotData {
  NeutronModelConfig config;
  const uint8_t* payload;
  uint8_t* scratch;
  NeutronModelHandle handle;
  thimble_neutron_network* network;  // null: calls are not counted
  bool transposes;                   // true if at least one tensor must be transposed
};
constexpr uint32_t kContextInSlot = sizeof(DelegateSlot::data) - sizeof(SlotData);

const thimble_neutron& npu_of(const DelegateSlot& slot) {
  return *static_cast<const thimble_neutron*>(slot.backend->device);
}

Status status_of(PayloadFault fault) {
  switch (fault) {
    case PayloadFault::kMisaligned:
      return Status::kMisaligned;
    case PayloadFault::kVersion:
      return Status::kPayloadVersion;
    case PayloadFault::kMagic:
      return Status::kBadMagic;
    case PayloadFault::kInputMap:
    case PayloadFault::kOutputMap:
    case PayloadFault::kOutputTwice:
    case PayloadFault::kInputCount:
    case PayloadFault::kOutputCount:
      return Status::kPayloadCounts;
    default:
      return Status::kBadPayload;
  }
}

Status driver_status(const thimble_neutron& npu, NeutronError error) {
  if (error == NEUTRON_NO_ERROR) return Status::kOk;
  if (npu.error != nullptr) *npu.error = error;
  return Status::kDriverError;
}

/// A tensor of the network: its argument index in the call, and the memory order that it requires.
struct Io {
  uint32_t argument;
  bool channels_last;
};
Io io_of(const PayloadView& view, uint32_t index) {
  if (index < view.input_count) {
    return {view.input_map[index], view.input_formats[index] != 0};
  }
  const uint32_t output = index - view.input_count;
  return {view.arg_count + view.output_map[output], view.output_formats[output] != 0};
}
uint32_t io_count(const PayloadView& view) {
  return view.input_count + view.output_count;
}

/// Returns true if the tensor must be transposed. check() and call_scratch() also call this for
/// tensors whose order is not supported.
bool is_transposed(const kernels::Tensor& tensor, bool channels_last) {
  return channels_last && !is_in_order(tensor, kChannelDim);
}

/// Transposes the images of a tensor, to channels-last or back.
void transpose_images(const kernels::Tensor& tensor, const uint8_t* from, uint8_t* to,
                      bool to_channels_last) {
  const auto images = static_cast<uint32_t>(tensor.sizes[0]);
  const auto channels = static_cast<uint32_t>(tensor.sizes[kChannelDim]);
  if (tensor.bytes == 0) return;
  const uint32_t image_bytes = tensor.bytes / images;
  const uint32_t pixels = image_bytes / channels;
  for (uint32_t i = 0; i < images; ++i, from += image_bytes, to += image_bytes) {
    transpose(from, to, to_channels_last ? channels : pixels, to_channels_last ? pixels : channels);
  }
}

/// Checks a tensor against its record in the kernel list.
Status check_record(const npu::IoRecord& io, const kernels::Tensor& tensor, bool channels_last) {
  if (tensor.dtype != kernels::DType::kI8) return Status::kBadDType;
  // A scalar has no dimensions; the kernel list has one dimension of extent 1.
  const bool number = tensor.rank == 0 && io.rank == 1;
  if ((tensor.rank != io.rank && !number) || tensor.bytes != io.bytes) return Status::kBadShape;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (static_cast<uint32_t>(tensor.sizes[i]) != io.dims[i]) return Status::kBadShape;
  }
  return (io.channels_last != 0) == channels_last ? Status::kOk : Status::kBadPayload;
}

/// Checks a tensor of microcode, which only defines the memory order of bytes.
Status check_bytes(const kernels::Tensor& tensor, bool channels_last) {
  if (tensor.dtype != kernels::DType::kI8 && tensor.dtype != kernels::DType::kU8) {
    return Status::kBadDType;
  }
  return channels_last && tensor.rank < 3 ? Status::kBadDimOrder : Status::kOk;
}

/// Offset and sizes of a call's scratch memory in the arena.
struct Scratch {
  uint32_t start;
  uint32_t addresses;  // bytes of tensor addresses, at the start
  uint32_t program;    // bytes of the program's own scratch, after the addresses
  uint32_t all;
};
uint32_t address_bytes(const PayloadView& view) {
  return format::padded(8 * (io_count(view) + 3));
}

bool is_apart(uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes) {
  return a + a_bytes <= b || b + b_bytes <= a;
}

/// Returns true if a tensor may be at this offset. Tensors of a kernel list may be in its scratch,
/// as planned by the compiler. They must not overlap the addresses and the memory after the
/// scratch.
bool may_be_at(const PayloadView& view, const Scratch& scratch, uint32_t offset, uint32_t bytes) {
  if (view.magic != npu::kMagic) return is_apart(offset, bytes, scratch.start, scratch.all);
  const uint32_t front = scratch.addresses + scratch.program;
  return is_apart(offset, bytes, scratch.start, scratch.addresses) &&
         is_apart(offset, bytes, scratch.start + front, scratch.all - front);
}

Status check_tensor(const PayloadView& view, const Scratch& scratch, const DelegateArgs& args,
                    uint32_t index) {
  const Io io = io_of(view, index);
  const kernels::Tensor tensor = args.tensor(io.argument);
  Status status;
  if (view.magic == npu::kMagic) {
    // Records of outputs follow those of inputs.
    status = check_record(npu::Program(view.program).input(index), tensor, io.channels_last);
  } else {
    status = check_bytes(tensor, io.channels_last);
  }
  if (status != Status::kOk) return status;
  const bool passes = is_in_order(tensor, io.channels_last ? kChannelDim : abi::kMaxRank);
  if (!passes && !(io.channels_last && is_in_order(tensor))) return Status::kBadDimOrder;
  const uint32_t offset = args.offset(io.argument);
  const bool is_output = index >= view.input_count;
  if (offset == kNotPlanned) return is_output ? Status::kCorrupt : Status::kOk;
  if (is_output && tensor.is_constant) return Status::kCorrupt;
  return may_be_at(view, scratch, offset, tensor.bytes) ? Status::kOk : Status::kCorrupt;
}

/// Prepares the network with the driver.
Status prepare(DelegateSlot& slot, const PayloadView& view, uint8_t* persistent) {
  SlotData& data = slot_data<SlotData>(slot);
  const thimble_neutron& npu = npu_of(slot);
  const size_t context = neutronGetModelContextSize();
  data.handle = context <= kContextInSlot ? static_cast<void*>(slot.data + sizeof(SlotData))
                                          : static_cast<void*>(persistent);
  data.config.microcode = view.program;
  data.config.weights = view.program + format::padded(view.program_bytes);
  data.config.kernels =
      view.program + format::padded(view.program_bytes) + format::padded(view.weight_bytes);
  data.config.timeoutSeconds = npu.timeout_seconds != 0 ? npu.timeout_seconds : kTimeoutSeconds;
  Status status = driver_status(npu, neutronModelPrepare(&data.config, &data.handle));
  if (status == Status::kOk && npu.memory.copy != nullptr) {
    // The driver's parameter is not const, but the driver only reads it.
    const auto* const hooks = reinterpret_cast<const NeutronConfig*>(&npu.memory);
    status = driver_status(npu, neutronSetConfig(const_cast<NeutronConfig*>(hooks)));
  }
  if (status != Status::kOk || npu.networks == nullptr) return status;
  data.network = find_or_add_network(npu, view.program, data.handle);
  return data.network != nullptr ? Status::kOk : Status::kBadArgument;
}

/// Addresses of the parts of a call's scratch memory.
struct CallMemory {
  const void** inputs;
  void** outputs;
  uint8_t* spare;  // for transposed tensors
  uint8_t* prefetch;
};
uint8_t* take(uint8_t*& next, uint32_t bytes) {
  uint8_t* const taken = next;
  next += format::padded(bytes);
  return taken;
}
CallMemory memory_of(const PayloadView& view, uint8_t* scratch) {
  CallMemory memory;
  memory.inputs = reinterpret_cast<const void**>(scratch);
  memory.outputs = reinterpret_cast<void**>(scratch) + view.input_count;
  uint8_t* next = scratch + address_bytes(view);
  void** const more = memory.outputs + view.output_count;
  more[0] = take(next, view.scratch_bytes);
  more[1] = take(next, view.profile_bytes);
  more[2] = take(next, view.debug_bytes);
  memory.prefetch = take(next, view.prefetch_bytes);
  memory.spare = next;
  return memory;
}

/// Transposes inputs, and redirects transposed outputs to spare memory.
void transpose_inputs_and_redirect_outputs(const PayloadView& view, const DelegateArgs& args,
                                           CallMemory& memory) {
  for (uint32_t i = 0; i < io_count(view); ++i) {
    const Io io = io_of(view, i);
    const kernels::Tensor tensor = args.tensor(io.argument);
    if (!is_transposed(tensor, io.channels_last)) continue;
    uint8_t* const other = take(memory.spare, tensor.bytes);
    if (i < view.input_count) {
      memory.inputs[i] = other;
      transpose_images(tensor, static_cast<const uint8_t*>(tensor.data), other, true);
    } else {
      memory.outputs[i - view.input_count] = other;
    }
  }
}
/// Transposes the redirected outputs to their tensors.
void transpose_outputs(const PayloadView& view, const DelegateArgs& args,
                       const CallMemory& memory) {
  for (uint32_t i = view.input_count; i < io_count(view); ++i) {
    const Io io = io_of(view, i);
    const kernels::Tensor tensor = args.tensor(io.argument);
    if (!is_transposed(tensor, io.channels_last)) continue;
    const void* const other = memory.outputs[i - view.input_count];
    transpose_images(tensor, static_cast<const uint8_t*>(other), static_cast<uint8_t*>(tensor.data),
                     false);
  }
}

Status run_driver(const thimble_neutron& npu, const SlotData& data, const PayloadView& view,
                  const CallMemory& memory) {
  NeutronDataConfig tensors;
  tensors.inputs = memory.inputs;
  tensors.outputs = memory.outputs;
  tensors.scratch = memory.outputs[view.output_count];
  tensors.scratchWeights = view.prefetch_bytes != 0 ? memory.prefetch : nullptr;
  if (npu.gates_clock == 0) return driver_status(npu, neutronRunBlocking(data.handle, &tensors));
  Status status = driver_status(npu, neutronResume());
  if (status != Status::kOk) return status;
  status = driver_status(npu, neutronRunBlocking(data.handle, &tensors));
  // The clock is stopped even if the run failed; the error of the run has precedence.
  const NeutronError stopped = neutronSuspend();
  return status != Status::kOk ? status : driver_status(npu, stopped);
}

}  // namespace

DelegateBackend backend(const thimble_neutron* npu) {
  return {npu::kDelegateId, npu, open, check, run, call_scratch, persistent_bytes};
}
DelegateBackend vendor_backend(const thimble_neutron* npu) {
  return {npu::kVendorDelegateId, npu, open, check, run, call_scratch, persistent_bytes};
}

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes) {
  if (self.device == nullptr) return Status::kMissingDelegate;
  const ByteRegion& payload = source.payload;
  PayloadView view;
  format::PayloadProblem problem;
  if (!format::read_payload(payload.data, payload.bytes, view, problem)) {
    return status_of(problem.fault);
  }
  if (view.magic == npu::kMagic &&
      npu::check_interface(view.program, view.program_bytes) != npu::Status::kOk) {
    return Status::kBadPayload;
  }
  SlotData& data = *new (abi::Place{slot.data}) SlotData{};
  data.payload = payload.data;
  scratch_bytes = format::call_bytes(view);
  return Status::kOk;
}

uint32_t persistent_bytes(const DelegateBackend&) {
  const size_t context = neutronGetModelContextSize();
  return context <= kContextInSlot ? 0 : static_cast<uint32_t>(context);
}

uint32_t call_scratch(const DelegateSlot& slot, const DelegateArgs& args) {
  const PayloadView view = format::trusted_payload(slot_data<SlotData>(slot).payload);
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < io_count(view); ++i) {
    const Io io = io_of(view, i);
    if (io.argument >= args.count()) continue;  // check() rejects it
    const kernels::Tensor tensor = args.tensor(io.argument);
    if (!is_transposed(tensor, io.channels_last)) continue;
    bytes += format::padded(tensor.bytes);
    if (bytes > kernels::kMaxTensorBytes)
      return kScratchOverflow;  // before the sum overflows 32 bits
  }
  return bytes;
}

/// Checks the tensors; when memory is given, also prepares the network with the driver.
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args) {
  SlotData& data = slot_data<SlotData>(slot);
  const PayloadView view = format::trusted_payload(data.payload);
  if (args.count() != view.arg_count + view.output_count) return Status::kPayloadCounts;
  const uint32_t spare = call_scratch(slot, args);
  const Scratch scratch = {memory.scratch_offset, address_bytes(view),
                           format::padded(view.scratch_bytes), format::call_bytes(view) + spare};
  for (uint32_t i = 0; i < io_count(view); ++i)
    THIMBLE_RETURN_IF_ERROR(check_tensor(view, scratch, args, i));
  data.transposes = spare != 0;
  data.scratch = memory.scratch;
  return memory.scratch != nullptr ? prepare(slot, view, memory.persistent) : Status::kOk;
}

Status run(const DelegateSlot& slot, const DelegateArgs& args) {
  const SlotData& data = slot_data<SlotData>(slot);
  const thimble_neutron& npu = npu_of(slot);
  const PayloadView view = format::trusted_payload(data.payload);
  CallMemory memory = memory_of(view, data.scratch);
  for (uint32_t i = 0; i < view.input_count; ++i) memory.inputs[i] = args.data(view.input_map[i]);
  for (uint32_t i = 0; i < view.output_count; ++i) {
    memory.outputs[i] = args.data(view.arg_count + view.output_map[i]);
  }
  if (data.transposes) transpose_inputs_and_redirect_outputs(view, args, memory);
  THIMBLE_RETURN_IF_ERROR(run_driver(npu, data, view, memory));
  if (data.transposes) transpose_outputs(view, args, memory);
  if (data.network != nullptr) count_call(*data.network);
  if (npu.profiled != nullptr && view.profile_bytes != 0) {
    npu.profiled(&npu, view.program, memory.outputs[view.output_count + 1], view.profile_bytes);
  }
  return Status::kOk;
}

Status prepare(DelegateSlot& slot, uint8_t* persistent) {
  return prepare(slot, format::trusted_payload(slot_data<SlotData>(slot).payload), persistent);
}

void unprepare(DelegateSlot& slot) {
  const NeutronModelHandle handle = slot_data<SlotData>(slot).handle;
  // An error of the driver cannot be handled here.
  if (handle != nullptr) (void)neutronModelUnprepare(handle);
}

void set_scratch(DelegateSlot& slot, uint8_t* scratch) {
  slot_data<SlotData>(slot).scratch = scratch;
}

}  // namespace thimble::runtime::neutron
