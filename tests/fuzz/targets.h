// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions that read bytes of an unknown origin, for fuzzers. libfuzzer_main.cpp gives them the
// inputs of libFuzzer, replay.cpp the committed inputs and mutations of them.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

enum class Outcome : uint8_t {
  kRejected,  // an error without a further effect
  kAccepted,  // a file of the format that was not executed, or not to its end
  kExecuted,  // a program that ran to its end
};

struct Target {
  std::string name;
  /// Reads the bytes and uses the result. Must not crash, hang or allocate without a limit. Aborts
  /// if memory that the program must not write has changed.
  Outcome (*run)(ByteView bytes);
  /// Changes the bytes in a way that keeps their form. `other` is a second input.
  Bytes (*mutate)(Bytes bytes, const Bytes& other, Random& random) = fuzz::mutate;
  /// Returns true if the bytes pass the first checks of the format: identifier, CRC, hash, or the
  /// syntax below the language of a text. Null: there are none.
  bool (*passes_first_checks)(ByteView bytes) = nullptr;
  /// Number of bytes of the compressed members of an archive when they are not compressed, which
  /// count for the limit of memory. Null: no archive.
  size_t (*inflated_bytes)(ByteView bytes) = nullptr;
  /// Corrects the hash of changed bytes, which the first checks compare. Null: there is none.
  Bytes (*repair)(Bytes bytes) = nullptr;
};

/// Time without a message after which host and board stop waiting. libFuzzer's program sets a
/// shorter one than the tests, which other processes may delay.
inline std::chrono::milliseconds serial_patience{1000};

/// Percent of the mutations of a target that must pass its first checks.
inline constexpr uint64_t kPassingPercentMin = 30;

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
[[nodiscard]] std::vector<Target> serial_board_targets();
[[nodiscard]] std::vector<Target> serial_targets();
[[nodiscard]] std::vector<Target> text_targets();

// First checks that two files use (npu_run_targets.cpp).
/// Identifier, version and size of a layer list are right.
[[nodiscard]] bool is_axon_list(ByteView bytes);
/// The blocks of the payload are complete; identifier, version, size and hash of its kernel list
/// are right.
[[nodiscard]] bool is_neutron_payload(ByteView bytes);

}  // namespace thimble::fuzz
