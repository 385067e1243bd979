#pragma once
// Functions that read bytes of an unknown origin, for fuzzers. libfuzzer_main.cpp gives them the
// inputs of libFuzzer, replay.cpp the committed inputs and mutations of them.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

enum class Outcome : uint8_t {
  kRejected,  // an error without a further effect
  kAccepted,  // the bytes are a file of the format
};

struct Target {
  std::string name;
  /// Reads the bytes and uses the result. Must not crash, hang or allocate without a limit.
  Outcome (*run)(ByteView bytes);
  /// Changes the bytes in a way that keeps their form. `other` is a second input.
  Bytes (*mutate)(Bytes bytes, const Bytes& other, Random& random) = fuzz::mutate;
  /// Returns true if the bytes pass the first checks of the format: identifier, CRC, hash. Null:
  /// there are none.
  bool (*outer)(ByteView bytes) = nullptr;
};

/// Returns all targets, in the order of their names.
[[nodiscard]] std::span<const Target> targets();

/// Returns the target; null if none has this name.
[[nodiscard]] const Target* find_target(std::string_view name);

// The files of targets, by what they read.
[[nodiscard]] std::vector<Target> archive_targets();
[[nodiscard]] std::vector<Target> capi_targets();
[[nodiscard]] std::vector<Target> differential_targets();
[[nodiscard]] std::vector<Target> engine_targets();
[[nodiscard]] std::vector<Target> npu_run_targets();
[[nodiscard]] std::vector<Target> program_targets();
[[nodiscard]] std::vector<Target> serial_targets();
[[nodiscard]] std::vector<Target> text_targets();

}  // namespace thimble::fuzz
