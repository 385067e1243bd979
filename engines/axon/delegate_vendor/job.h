// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of a program with the vendor's driver, and checks of its tensors.

#include "engines/axon/delegate_vendor/driver.h"
#include "runtime/exec/delegates.h"
#include "thimble_axon_vendor.h"

namespace thimble::runtime::axon_vendor {

inline const thimble_axon_silicon& chip_of(const DelegateSlot& slot) {
  return *static_cast<const thimble_axon_silicon*>(slot.backend->device);
}

/// A program that is ready to run.
struct Job {
  const Word* words = nullptr;
  uint32_t word_count = 0;
  uint32_t cycles = 0;                      // estimated cycles of one run
  thimble_axon_counter* counter = nullptr;  // null: calls are not counted
};

/// Checks that a tensor of the call matches the program's tensor and is in logical order.
Status check_tensor(const thimble_axon_tensor& place, const DelegateArgs& args, uint32_t index,
                    bool is_output);

/// Reserves the NPU, copies the inputs, runs the program, copies the outputs, and releases the NPU.
/// `operand_of(i)` returns the program's tensor i.
template <typename PlaceOf>
Status run_job(const thimble_axon_silicon& chip, const Job& job, const DelegateArgs& args,
               uint32_t input_count, PlaceOf&& operand_of);

/// Sets `row` to the counter row of `name`, or null if the product does not count calls. Returns
/// kBadArgument if no row is free.
Status take_row(const thimble_axon_silicon& chip, const char* name, thimble_axon_counter*& row);

/// Copies a dense tensor to or from the NPU's memory, which may have padded rows.
void copy_in(const thimble_axon_tensor& place, const void* from);
void copy_out(const thimble_axon_tensor& place, void* to);

/// Runs the program without copies.
Status run_words(const thimble_axon_silicon& chip, const Job& job);

template <typename PlaceOf>
Status run_job(const thimble_axon_silicon& chip, const Job& job, const DelegateArgs& args,
               uint32_t input_count, PlaceOf&& operand_of) {
  // The reservation includes the copies, so that no other run can start in between.
  if (!nrf_axon_platform_reserve_for_user()) return Status::kNpuFault;
  for (uint32_t i = 0; i < input_count; ++i) copy_in(operand_of(i), args.tensor(i).data);
  const Status status = run_words(chip, job);
  for (uint32_t i = input_count; status == Status::kOk && i < args.count(); ++i) {
    copy_out(operand_of(i), args.tensor(i).data);
  }
  nrf_axon_platform_free_reservation_from_user();
  return status;
}

}  // namespace thimble::runtime::axon_vendor
