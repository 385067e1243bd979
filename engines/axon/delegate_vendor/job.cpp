// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/delegate_vendor/job.h"

#include "engines/axon/delegate/counters.h"
#include "runtime/exec/flatbuffer_decode.h"

namespace thimble::runtime::axon_vendor {
namespace {

uint32_t rows_of(const thimble_axon_tensor& place) {
  return uint32_t{place.n} * place.c * place.h;
}

uint32_t row_bytes_of(const thimble_axon_tensor& place) {
  return uint32_t{place.w} * place.element_bytes;
}

}  // namespace

Status check_tensor(const thimble_axon_tensor& place, const DelegateArgs& args, uint32_t index,
                    bool is_output) {
  const kernels::Tensor tensor = args.tensor(index);
  if (tensor.dtype == kernels::DType::kF32 || tensor.dtype == kernels::DType::kI64 ||
      place.element_bytes != element_bytes(static_cast<uint32_t>(tensor.dtype))) {
    return Status::kBadDType;
  }
  if (tensor.bytes != rows_of(place) * row_bytes_of(place)) return Status::kBadShape;
  if (!is_in_order(tensor)) return Status::kBadDimOrder;
  if (is_output && (tensor.is_constant || args.offset(index) == kNotPlanned)) {
    return Status::kCorrupt;
  }
  return Status::kOk;
}

Status take_row(const thimble_axon_silicon& chip, const char* name, thimble_axon_counter*& row) {
  row = nullptr;
  if (chip.npu == nullptr || chip.npu->counters == nullptr) return Status::kOk;
  row = axon::find_or_add_counter(*chip.npu, name);
  return row != nullptr ? Status::kOk : Status::kBadArgument;
}

void copy_in(const thimble_axon_tensor& place, const void* from) {
  const uint32_t row = row_bytes_of(place);
  const uint32_t rows = rows_of(place);
  auto* to = static_cast<uint8_t*>(place.address);
  const auto* source = static_cast<const uint8_t*>(from);
  if (place.row_stride == row) {
    memcpy(to, source, rows * row);
    return;
  }
  for (uint32_t i = 0; i < rows; ++i, to += place.row_stride, source += row) {
    memcpy(to, source, row);
  }
}

void copy_out(const thimble_axon_tensor& place, void* to) {
  const uint32_t row = row_bytes_of(place);
  const uint32_t rows = rows_of(place);
  auto* target = static_cast<uint8_t*>(to);
  const auto* from = static_cast<const uint8_t*>(place.address);
  if (place.row_stride == row) {
    memcpy(target, from, rows * row);
    return;
  }
  for (uint32_t i = 0; i < rows; ++i, from += place.row_stride, target += row) {
    memcpy(target, from, row);
  }
}

Status run_words(const thimble_axon_silicon& chip, const Job& job) {
  CommandBuffer buffer;
  if (nrf_axon_init_command_buffer_info(&buffer, job.words, job.word_count) < 0) {
    return Status::kBadPayload;
  }
  const uint32_t start = chip.ticks != nullptr ? chip.ticks() : 0;
  constexpr bool kKeepReservation = true;
  const int mode = chip.wait_for_event != 0 ? kEvent : kPolling;
  const int result = nrf_axon_run_cmd_buf_sync(&buffer, mode, kKeepReservation);
  const uint32_t cycles = chip.ticks != nullptr ? chip.ticks() - start : job.cycles;
  if (result != 0) return result > 0 ? Status::kNpuTimeout : Status::kNpuFault;
  if (job.counter != nullptr) {
    job.counter->cycles += cycles;
    ++job.counter->calls;
  }
  return Status::kOk;
}

}  // namespace thimble::runtime::axon_vendor
