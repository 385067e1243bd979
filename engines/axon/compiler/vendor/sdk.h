// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the vendor's compiler library in an installed SDK and calls it in a separate process
// (thimble-axon-sdk). A failure code, a crash, an endless loop or an incomplete file of the library
// becomes an error message here.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/axon/formats/ir_file.h"

namespace thimble::engine::axon {

inline constexpr char kSdkVariable[] = "SDK_EDGE_AI_PATH";

struct SdkOptions {
  std::filesystem::path root;    // folder of the SDK: the content of SDK_EDGE_AI_PATH
  std::filesystem::path helper;  // the program thimble-axon-sdk
  std::chrono::seconds time_limit{300};
};

/// A network compiled by the library.
struct SdkProgram {
  std::string header;           // C text
  uint32_t constant_bytes = 0;  // this and the next sizes: as the library reports them
  uint32_t interlayer_bytes = 0;
  uint32_t partial_sum_bytes = 0;
  uint32_t command_words = 0;
  std::string log;  // output of the library
};

/// A compiled network and the results of the library's simulator.
struct SdkInference {
  SdkProgram program;
  /// For each input vector, the elements of all outputs, concatenated.
  std::vector<std::vector<int32_t>> results;
  uint32_t cycles = 0;  // of one run, estimated by the simulator
};

/// Returns the path of the library's file for the host. If it does not exist, the error names the
/// expected path and the environment variable.
[[nodiscard]] Result<std::filesystem::path> find_sdk_library(const SdkOptions& options);

/// Tries the newest known IR layout first, then the one that the library expects.
[[nodiscard]] Result<SdkProgram> compile_with_sdk(const formats::axon::IrFile& network,
                                                  const SdkOptions& options);
/// `inputs`: for each vector, the elements of the network's input in C, H, W order.
[[nodiscard]] Result<SdkInference> infer_with_sdk(const formats::axon::IrFile& network,
                                                  const std::vector<std::vector<int32_t>>& inputs,
                                                  const SdkOptions& options);

/// Returns the code with its meaning: "-219 (the IR file was refused: another version, or
/// damaged)".
[[nodiscard]] std::string explain_sdk_code(int code);

}  // namespace thimble::engine::axon
