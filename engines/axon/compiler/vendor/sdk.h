#pragma once
// The vendor's compiler library, which comes with an SDK that the user has: where it is, and a call
// of it in a process of its own (tools/axon_sdk). Nothing that it does (a failure code, a crash, an
// endless loop, half a file) becomes more than an error message here.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/axon/formats/ir_file.h"

namespace thimble::engine::axon {

inline constexpr char kSdkVariable[] = "SDK_EDGE_AI_PATH";

struct SdkOptions {
  std::filesystem::path root;    // of the SDK: the content of SDK_EDGE_AI_PATH
  std::filesystem::path helper;  // the program thimble-axon-sdk
  std::chrono::seconds time_limit{300};
};

/// A network as the library has compiled it.
struct SdkProgram {
  std::string header;           // C text
  uint32_t constant_bytes = 0;  // as the library counts
  uint32_t interlayer_bytes = 0;
  uint32_t partial_sum_bytes = 0;
  uint32_t command_words = 0;
  std::string log;  // what it printed
};

/// The same, and what its simulator makes of inputs.
struct SdkInference {
  SdkProgram program;
  /// Per vector, the elements of the outputs, one output after another.
  std::vector<std::vector<int32_t>> results;
  uint32_t cycles = 0;  // of one run, estimated by the simulator
};

/// The library's file for this machine, which is there; else an error that says where it was
/// expected and what the variable is.
[[nodiscard]] Result<std::filesystem::path> find_sdk_library(const SdkOptions& options);

/// Tries the newest layout that Thimble knows, then the one that the library asks for.
[[nodiscard]] Result<SdkProgram> compile_with_sdk(const formats::axon::IrFile& network,
                                                  const SdkOptions& options);
/// `inputs`: per vector, the elements of the network's input in C, H, W order.
[[nodiscard]] Result<SdkInference> infer_with_sdk(const formats::axon::IrFile& network,
                                                  const std::vector<std::vector<int32_t>>& inputs,
                                                  const SdkOptions& options);

/// "-219 (the IR file was refused: another version, or damaged)".
[[nodiscard]] std::string explain_sdk_code(int code);

}  // namespace thimble::engine::axon
