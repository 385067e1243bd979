#pragma once
// One run of a program by the vendor's driver, and what its tensors must be.

#include "engines/axon/delegate_vendor/driver.h"
#include "runtime/exec/delegates.h"
#include "thimble_axon_vendor.h"

namespace thimble::runtime::axon_vendor {

/// What a slot keeps for its delegate.
template <typename Work>
Work& work_in(DelegateSlot& slot) {
  static_assert(sizeof(Work) <= sizeof(DelegateSlot::own) && alignof(Work) <= alignof(uintptr_t));
  return *reinterpret_cast<Work*>(slot.own);
}
template <typename Work>
const Work& work_in(const DelegateSlot& slot) {
  return *reinterpret_cast<const Work*>(slot.own);
}
inline const thimble_axon_silicon& chip_of(const DelegateSlot& slot) {
  return *static_cast<const thimble_axon_silicon*>(slot.delegate->device);
}

/// A program that is ready, and its memory.
struct Job {
  const Word* words = nullptr;
  uint32_t word_count = 0;
  uint32_t cycles = 0;                      // estimated
  thimble_axon_counter* counter = nullptr;  // null: not counted
};

/// A tensor of the call is what the program has there, in the order of its dimensions.
Status check_tensor(const thimble_axon_tensor& place, const DelegateArgs& args, uint32_t index,
                    bool is_output);

/// Reserves the NPU, brings the inputs in, runs, takes the outputs out, frees the NPU. `place_of`
/// answers where tensor i is.
template <typename PlaceOf>
Status run_job(const thimble_axon_silicon& chip, const Job& job, const DelegateArgs& args,
               uint32_t input_count, PlaceOf&& place_of);

/// The row of a name, if the chip counts; kBadArgument if no row is left.
Status take_row(const thimble_axon_silicon& chip, const char* name, thimble_axon_counter*& row);

/// Dense rows from or to rows in the NPU's memory.
void copy_in(const thimble_axon_tensor& place, const void* from);
void copy_out(const thimble_axon_tensor& place, void* to);

/// The run alone, between copies.
Status run_words(const thimble_axon_silicon& chip, const Job& job);

template <typename PlaceOf>
Status run_job(const thimble_axon_silicon& chip, const Job& job, const DelegateArgs& args,
               uint32_t input_count, PlaceOf&& place_of) {
  // The reservation spans the copies, so that nobody else's run comes between them and ours.
  if (!nrf_axon_platform_reserve_for_user()) return Status::kNpuFault;
  for (uint32_t i = 0; i < input_count; ++i) copy_in(place_of(i), args.tensor(i).data);
  const Status status = run_words(chip, job);
  for (uint32_t i = input_count; status == Status::kOk && i < args.count(); ++i) {
    copy_out(place_of(i), args.tensor(i).data);
  }
  nrf_axon_platform_free_reservation_from_user();
  return status;
}

}  // namespace thimble::runtime::axon_vendor
