// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small programs and kernels for the tests of runtime/. Two operators cover every argument letter.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "abi/named_data.h"
#include "base/bytes.h"
#include "formats/pte/program.h"
#include "kernels/kernels.h"
#include "thimble.h"

namespace thimble::runtime_test {

namespace pte = formats::pte;

// GCC defines __SANITIZE_ADDRESS__; clang has __has_feature.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Bytes aligned to a cache line, which calls beside a delegate require, without any byte after the
/// requested size: the address sanitizer detects every access after the end.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes)
      : data_(static_cast<uint8_t*>(::operator new(bytes, kAlignment))), bytes_(bytes) {}
  explicit AlignedBytes(ByteView bytes) : AlignedBytes(bytes.size()) {
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
  }
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{abi::kCacheLine};
  struct Deleter {
    void operator()(uint8_t* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<uint8_t, Deleter> data_;
  size_t bytes_;
};

/// Memory of exactly `bytes` under the address sanitizer, else with guard bytes on both sides.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes, uint8_t fill = 0)
      : bytes_(bytes), memory_(bytes + 2 * kGuard) {
    std::memset(memory_.data(), kUntouched, memory_.size());
    std::memset(data(), fill, bytes);
  }
  explicit GuardedMemory(ByteView content) : GuardedMemory(content.size()) {
    if (!content.empty()) std::memcpy(data(), content.data(), content.size());
  }
  [[nodiscard]] uint8_t* data() const { return memory_.data() + kGuard; }
  [[nodiscard]] size_t size() const { return bytes_; }
  /// Returns true if no guard byte was written.
  [[nodiscard]] bool intact() const {
    const auto is_untouched = [](uint8_t byte) { return byte == kUntouched; };
    return std::all_of(memory_.data(), data(), is_untouched) &&
           std::all_of(data() + bytes_, memory_.data() + memory_.size(), is_untouched);
  }

  static constexpr size_t kGuard = kAddressSanitizer ? 0 : 64;

 private:
  static constexpr uint8_t kUntouched = 0xC3;
  size_t bytes_;
  AlignedBytes memory_;
};

/// test::copy.out "To" copies bytes. test::everything.out "TtibdlRo" writes the sum of its
/// arguments to each byte. test::refuse.out "To" has a check that returns kBadDimOrder.
const thimble_kernels* test_kernels();
const thimble_kernels* no_kernels();

/// Value indices of sample_program().
enum : int32_t {
  kPlannedInput,
  kCallerInput,
  kConstant,
  kCopied,
  kInt,
  kBool,
  kDouble,
  kInt2,
  kInts,
  kTensors,
  kNull,
  kSum,
  kDead,
  kValues
};

/// copied = copy(planned); sum = everything(caller, None, 3, true, 0.5, [3, 7], [planned, caller,
/// constant]). Inputs: planned, caller. Outputs: copied, sum, caller, constant. All int8 [1, 4].
pte::Program sample_program();
inline pte::ExecutionPlan& plan_of(pte::Program& program) {
  return program.plans[0];
}
inline pte::Tensor& tensor_of(pte::Program& program, int32_t value) {
  return std::get<pte::Tensor>(plan_of(program).values[static_cast<size_t>(value)]);
}

/// Returns the bytes of the file; an error fails the test.
Bytes written(const pte::Program& program);

/// A loaded model with the memory it uses. `size_status` is the result of thimble_size(), `status`
/// of thimble_init(). The destructor fails the test if a byte of the file was changed or a byte
/// outside the model's memory was written.
struct LoadedModel {
  explicit LoadedModel(ByteView file, const thimble_kernels* kernels = test_kernels());
  LoadedModel(const LoadedModel&) = delete;
  ~LoadedModel();
  const Bytes content;  // of the file
  GuardedMemory file;
  thimble_needs needs{};
  thimble_status size_status;
  thimble_status status;
  std::unique_ptr<GuardedMemory> memory;
  thimble_model model{};
};

/// Gives each input a buffer of its own bytes, runs the model and returns the run's status. A run
/// that changes an input buffer or writes outside of it fails the test.
thimble_status run_with_input_buffers(LoadedModel& loaded);

/// Loads and runs a damaged file with run_with_input_buffers(). Returns true if the run succeeded;
/// false also if the model needs a mebibyte of memory or more, in which case it is not loaded.
bool damaged_file_runs(ByteView bytes, const thimble_kernels* kernels);

}  // namespace thimble::runtime_test
