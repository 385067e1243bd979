#pragma once
// Small programs and kernels for the tests of runtime/. Two operators cover every argument letter.

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/bytes.h"
#include "formats/pte/program.h"
#include "kernels/kernels.h"
#include "thimble.h"

namespace thimble::runtime_test {

namespace pte = formats::pte;

/// Bytes aligned to 16, without any byte after the requested size: the address sanitizer detects
/// every access after the end.
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
  static constexpr std::align_val_t kAlignment{16};
  struct Delete {
    void operator()(uint8_t* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<uint8_t, Delete> data_;
  size_t bytes_;
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

/// A loaded model with the memory it uses. `size_status` is thimble_size()'s, `status` init's.
struct LoadedModel {
  explicit LoadedModel(ByteView file, const thimble_kernels* kernels = test_kernels());
  AlignedBytes file;
  thimble_needs needs{};
  thimble_status size_status;
  thimble_status status;
  std::unique_ptr<AlignedBytes> memory;
  thimble_model model{};
};

/// Gives each input a buffer of its own bytes, runs the model and returns the run's status.
thimble_status run_with_input_buffers(LoadedModel& loaded);

}  // namespace thimble::runtime_test
